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

static uint64_t home (const struct box_table *table, struct box_key key, int32_t depth) {
  return (key.low ^ mix (key.high + (uint64_t) depth)) & (table->size - 1);
}

static int is_entry (const struct box *box, struct box_key key, int32_t depth) {
  return box->depth == depth && box->key.low == key.low && box->key.high == key.high;
}

/* The entry of a set, or the place for it: a free one, or one to overwrite if there is none nearby. */
static struct box *place (const struct box_table *table, struct box_key key, int32_t depth) {
  const uint64_t first = home (table, key, depth);
  for (uint64_t i = 0; i < probes; i++) {
    struct box *box = &table->box[(first + i) & (table->size - 1)];
    if (!box->depth || is_entry (box, key, depth))
      return box;
  }
  return &table->box[first];
}

const struct box *box_table_find (const struct box_table *table, struct box_key key, int32_t depth) {
  if (!table->size)
    return NULL;
  const struct box *box = place (table, key, depth);
  return is_entry (box, key, depth) ? box : NULL;
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
    if (table->box[i].depth) {
      struct box *to = place (&grown, table->box[i].key, table->box[i].depth);
      grown.used += !to->depth;
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
  struct box *box = place (table, kept->key, kept->depth);
  table->used += !box->depth;
  if (!is_entry (box, kept->key, kept->depth) || box->bound <= kept->bound)
    *box = *kept;
}

void box_table_destroy (struct box_table *table) {
  arena_release (table->arena, table->box);
  *table = (struct box_table) {.arena = table->arena};
}
