/* A hash table with two places for every key. It doubles when more than half of it is in use, up to its limit. */
#include "pair/depth_two_table.h"

#include <stdatomic.h>
#include <string.h>

struct two_entry {
  atomic_ullong mixed[2], value; /* the value plus one; 0 if the place is empty */
};

enum { first_size = 1024 };

void depth_two_table_release (struct arena *arena, struct depth_two_table *table) {
  arena_release (arena, table->entries);
  memset (table, 0, sizeof *table);
}

static uint64_t look (const atomic_ullong *word) { return atomic_load_explicit (word, memory_order_relaxed); }

static void set (atomic_ullong *word, uint64_t to) { atomic_store_explicit (word, to, memory_order_relaxed); }

/* The value stored for a key plus one; 0 if the place is empty or holds another key. */
static uint64_t value_at (const struct two_entry *entry, const uint64_t hash[2]) {
  const uint64_t value = look (&entry->value);
  return (look (&entry->mixed[0]) ^ value) == hash[0] && (look (&entry->mixed[1]) ^ value) == hash[1] ? value : 0;
}

int depth_two_table_find (const struct depth_two_table *table, const uint64_t hash[2], int64_t *value) {
  if (!table->size)
    return 0;
  const uint64_t place = hash[0] & (uint64_t) (table->size - 1);
  uint64_t found = value_at (&table->entries[place], hash);
  if (!found)
    found = value_at (&table->entries[place ^ 1], hash);
  *value = (int64_t) found - 1;
  return found != 0;
}

static void put (struct depth_two_table *table, const uint64_t hash[2], uint64_t value) {
  const uint64_t place = hash[0] & (uint64_t) (table->size - 1);
  struct two_entry *entry = &table->entries[place], *beside = &table->entries[place ^ 1];
  if (look (&entry->value) && !look (&beside->value))
    entry = beside;
  if (!table->shared)
    table->used += !look (&entry->value);
  set (&entry->mixed[0], hash[0] ^ value);
  set (&entry->mixed[1], hash[1] ^ value);
  set (&entry->value, value);
}

static void grow (struct arena *arena, struct depth_two_table *table) {
  struct depth_two_table larger = *table;
  larger.size = table->size ? 2 * table->size : table->most < first_size ? table->most : first_size;
  larger.used = 0;
  larger.entries = arena_allocate (arena, (size_t) larger.size, sizeof *larger.entries);
  if (!larger.entries) { /* without memory it keeps its size */
    table->most = table->size;
    return;
  }
  for (int64_t i = 0; i < table->size; i++) {
    const uint64_t value = look (&table->entries[i].value);
    const uint64_t hash[2] = {look (&table->entries[i].mixed[0]) ^ value, look (&table->entries[i].mixed[1]) ^ value};
    if (value)
      put (&larger, hash, value);
  }
  arena_release (arena, table->entries);
  *table = larger;
}

void depth_two_table_share (struct arena *arena, struct depth_two_table *table) {
  if (table->most <= 1)
    return;
  table->entries = arena_allocate (arena, (size_t) table->most, sizeof *table->entries);
  table->size = table->entries ? table->most : 0;
  table->shared = 1;
}

void depth_two_table_store (struct arena *arena, struct depth_two_table *table, const uint64_t hash[2], int64_t value) {
  if (!table->shared && 2 * table->used >= table->size && table->size < table->most && table->most > 1)
    grow (arena, table);
  if (table->size)
    put (table, hash, (uint64_t) value + 1);
}
