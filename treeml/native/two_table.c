/* Two places for every key; grows while more than half is in use, up to its limit. */
#include "two_table.h"

#include <string.h>

struct two_entry {
  uint64_t hash[2];
  int64_t value; /* plus one; 0 where the place is free */
};

enum { first_size = 1024 };

void two_table_release (struct arena *arena, struct two_table *table) {
  arena_release (arena, table->entries);
  memset (table, 0, sizeof *table);
}

static int same (const struct two_entry *entry, const uint64_t hash[2]) {
  return entry->value && entry->hash[0] == hash[0] && entry->hash[1] == hash[1];
}

int two_table_find (const struct two_table *table, const uint64_t hash[2], int64_t *value) {
  if (!table->size)
    return 0;
  const struct two_entry *entry = &table->entries[hash[0] & (uint64_t) (table->size - 1)];
  if (!same (entry, hash)) {
    entry = &table->entries[(hash[0] & (uint64_t) (table->size - 1)) ^ 1];
    if (!same (entry, hash))
      return 0;
  }
  *value = entry->value - 1;
  return 1;
}

static void put (struct two_table *table, const uint64_t hash[2], int64_t value) {
  struct two_entry *entry = &table->entries[hash[0] & (uint64_t) (table->size - 1)];
  struct two_entry *beside = &table->entries[(hash[0] & (uint64_t) (table->size - 1)) ^ 1];
  if (entry->value && !beside->value)
    entry = beside;
  table->used += !entry->value;
  entry->hash[0] = hash[0];
  entry->hash[1] = hash[1];
  entry->value = value + 1;
}

static void grow (struct arena *arena, struct two_table *table) {
  struct two_table larger = *table;
  larger.size = table->size ? 2 * table->size : table->most < first_size ? table->most : first_size;
  larger.used = 0;
  larger.entries = arena_allocate (arena, (size_t) larger.size, sizeof *larger.entries);
  if (!larger.entries) { /* it stays as it is */
    table->most = table->size;
    return;
  }
  for (int64_t i = 0; i < table->size; i++)
    if (table->entries[i].value)
      put (&larger, table->entries[i].hash, table->entries[i].value - 1);
  arena_release (arena, table->entries);
  *table = larger;
}

void two_table_store (struct arena *arena, struct two_table *table, const uint64_t hash[2], int64_t value) {
  if (2 * table->used >= table->size && table->size < table->most && table->most > 1)
    grow (arena, table);
  if (table->size)
    put (table, hash, value);
}
