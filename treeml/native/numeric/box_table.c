/* A hash table with linear probing, which grows while there is memory for it. */
#include "numeric/box_table.h"

enum { first_size = 1 << 10, probes = 16 };
static const uint64_t most_bytes = UINT64_C (1) << 28;

/* The finalizer of splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t mix (uint64_t number) {
  number = (number ^ (number >> 30)) * UINT64_C (0xbf58476d1ce4e5b9);
  number = (number ^ (number >> 27)) * UINT64_C (0x94d049bb133111eb);
  return number ^ (number >> 31);
}

struct box_key box_key_of_row (int64_t row) {
  const uint64_t step = UINT64_C (0x9e3779b97f4a7c15), number = 2 * (uint64_t) row + 1;
  return (struct box_key) {mix (number * step), mix ((number + 1) * step)};
}

static uint64_t home (const struct box_table *table, struct box_key key, int32_t size) {
  return (key.low ^ mix (key.high + (uint64_t) size)) & (table->size - 1);
}

static int is_entry (const struct box *box, struct box_key key, int32_t size) {
  return box->size == size && box->key.low == key.low && box->key.high == key.high;
}

/* The entry of a set, or the place for it: a free one, or one to overwrite if there is none nearby. */
static struct box *place (const struct box_table *table, struct box_key key, int32_t size) {
  const uint64_t first = home (table, key, size);
  for (uint64_t i = 0; i < probes; i++) {
    struct box *box = &table->box[(first + i) & (table->size - 1)];
    if (!box->size || is_entry (box, key, size))
      return box;
  }
  return &table->box[first];
}

const struct box *box_table_find (const struct box_table *table, struct box_key key, int32_t size) {
  if (!table->size)
    return NULL;
  const struct box *box = place (table, key, size);
  return is_entry (box, key, size) ? box : NULL;
}

/* Doubles the table. Memory for what the search cannot do without comes first. */
static void grow (struct box_table *table) {
  struct box_table grown = {.arena = table->arena, .size = table->size ? 2 * table->size : first_size};
  const uint64_t bytes = grown.size * sizeof *grown.box;
  if (bytes <= most_bytes && bytes <= table->arena->limit / 8)
    grown.box = arena_allocate (table->arena, (size_t) grown.size, sizeof *grown.box);
  table->full = !grown.box;
  if (table->full)
    return;
  for (uint64_t i = 0; i < table->size; i++)
    if (table->box[i].size) {
      struct box *to = place (&grown, table->box[i].key, table->box[i].size);
      grown.used += !to->size;
      *to = table->box[i];
    }
  arena_release (table->arena, table->box);
  *table = grown;
}

void box_table_keep (struct box_table *table, const struct box *kept) {
  if (2 * table->used >= table->size && !table->full)
    grow (table);
  if (!table->size)
    return;
  struct box *box = place (table, kept->key, kept->size);
  table->used += !box->size;
  if (!is_entry (box, kept->key, kept->size) || box->bound <= kept->bound)
    *box = *kept;
}

void box_table_destroy (struct box_table *table) {
  arena_release (table->arena, table->box);
  *table = (struct box_table) {.arena = table->arena};
}
