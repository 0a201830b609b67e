/* Tables of pair sums. From the sums over the rows that answer yes to two tests follow those of all four cells of every
   pair of tests, so one pass over a table gives the best tree of depth two at a multiplier. */
#include "coupled/search.h"

#include "common/bits.h"

#include <string.h>

enum { sums_between_polls = 1 << 24 };

/* Places. */

/* A tree has no more leaves than rows, so with few rows left it is less deep than allowed. */
static int32_t depth_of_rows (const struct merged *merged, const uint64_t *rows, int32_t most) {
  int64_t count = 0;
  for (int64_t w = 0; w < merged->words && count <= most; w++)
    count += count_bits (rows[w]);
  return count > most ? most : count > 1 ? (int32_t) count - 1 : 0;
}

void place_child (const struct search *search, const struct place *place, int32_t test, int side, uint64_t *rows,
                  struct place *child) {
  const struct merged *merged = search->merged;
  const uint64_t *column = merged->columns + test * merged->words;
  for (int64_t w = 0; w < merged->words; w++)
    rows[w] = place->rows[w] & (side ? column[w] : ~column[w]);
  *child = *place;
  child->rows = rows;
  child->depth--;
  if (child->depth > 2)
    child->depth = depth_of_rows (merged, rows, child->depth);
  if (child->literals++ >= most_literals)
    return; /* such places are not stored */
  const int32_t literal = 2 * test + side;
  int32_t at = child->literals - 1;
  for (; at && child->literal[at - 1] > literal; at--)
    child->literal[at] = child->literal[at - 1];
  child->literal[at] = literal;
}

static int has_enough (const struct search *search, const uint64_t *rows) {
  const struct merged *merged = search->merged;
  int64_t count = 0;
  for (int64_t w = 0; w < merged->words; w++) {
    if (rows[w] && !merged->counted)
      return 1;
    for (uint64_t rest = rows[w]; rest; rest &= rest - 1) {
      const int64_t row = 64 * w + lowest_bit (rest);
      count += merged->values[row * merged->channels + merged->count];
      if (count >= search->support)
        return 1;
    }
  }
  return 0;
}

int place_splits (const struct search *search, const uint64_t *yes, const uint64_t *no) {
  return has_enough (search, yes) && has_enough (search, no);
}

int test_allowed (const struct search *search, int32_t test) {
  return !search->used || !search->used[search->merged->column[test]];
}

void path_push (struct search *search, int32_t test) {
  if (search->used)
    search->used[search->merged->column[test]] = 1;
  if (search->has_fees)
    fees_push (search, test);
  search->path_length++;
}

void path_pop (struct search *search, int32_t test) {
  if (search->used)
    search->used[search->merged->column[test]] = 0;
  search->path_length--;
}

/* Tables. */

static size_t sum_bytes (const struct merged *merged) { return merged->narrow ? sizeof (int32_t) : sizeof (int64_t); }

static size_t table_numbers (const struct merged *merged) {
  return times ((size_t) merged->channels, times ((size_t) merged->tests, (size_t) merged->stride));
}

struct table *table_create (struct arena *arena, const struct merged *merged) {
  const size_t head = (sizeof (struct table) + (size_t) merged->channels * sizeof (int64_t) + 127) / 64 * 64;
  char *block = arena_reserve (arena, 1, head + times (table_numbers (merged), sum_bytes (merged)));
  if (!block)
    return NULL;
  struct table *table = (void *) block;
  table->total = (int64_t *) (table + 1);
  table->sums = block + head;
  return table;
}

void tables_release (treeml_coupled *coupled) {
  struct tables *tables = &coupled->merged.tables;
  struct arena *arena = &coupled->arena;
  const int32_t tests = coupled->merged.tests;
  for (int32_t f = 0; tables->pairs && f < tests; f++) {
    for (int32_t g = 0; tables->pairs[f] && g < tests; g++)
      arena_release (arena, tables->pairs[f][g]);
    arena_release (arena, tables->pairs[f]);
  }
  for (int32_t f = 0; tables->singles && f < tests; f++)
    arena_release (arena, tables->singles[f]);
  arena_release (arena, tables->root);
  arena_release (arena, tables->singles);
  arena_release (arena, tables->pairs);
  memset (tables, 0, sizeof *tables);
}

/* Adds the channels of a row to all pairs of its tests, as (a, b) with a <= b. */
#define ADD_ROW(NAME, SUM) \
  static void NAME (const struct merged *merged, int64_t row, SUM *sums) { \
    const int64_t *value = merged->values + row * merged->channels, stride = merged->stride; \
    const int32_t *items = merged->items + merged->first[row]; \
    const int32_t count = (int32_t) (merged->first[row + 1] - merged->first[row]); \
    for (int32_t v = 0; v < merged->channels; v++, sums += merged->tests * stride) { \
      const SUM number = (SUM) value[v]; \
      for (int32_t a = 0; number && a < count; a++) { \
        SUM *line = sums + items[a] * stride; \
        for (int32_t b = a; b < count; b++) \
          line[items[b]] += number; \
      } \
    } \
  }

ADD_ROW (add_narrow_row, int32_t)
ADD_ROW (add_wide_row, int64_t)

#define MIRROR(NAME, SUM) \
  static void NAME (const struct merged *merged, SUM *sums) { \
    const int64_t stride = merged->stride; \
    for (int32_t v = 0; v < merged->channels; v++, sums += merged->tests * stride) \
      for (int32_t i = 0; i < merged->tests; i++) \
        for (int32_t j = 0; j < i; j++) \
          sums[i * stride + j] = sums[j * stride + i]; \
  }

MIRROR (mirror_narrow, int32_t)
MIRROR (mirror_wide, int64_t)

static void sum_rows (const struct merged *merged, const uint64_t *rows, int64_t *total) {
  memset (total, 0, (size_t) merged->channels * sizeof *total);
  for (int64_t w = 0; w < merged->words; w++)
    for (uint64_t rest = rows[w]; rest; rest &= rest - 1) {
      const int64_t *value = merged->values + (64 * w + lowest_bit (rest)) * merged->channels;
      for (int32_t v = 0; v < merged->channels; v++)
        total[v] += value[v];
    }
}

/* The sums of the rows over all pairs of tests; 0 if the search must stop. With thousands of tests, a row takes long.
 */
static int count_rows (struct search *search, const uint64_t *rows, struct table *table) {
  const struct merged *merged = search->merged;
  const int64_t pairs = (int64_t) merged->tests * merged->tests * merged->channels;
  int64_t added = 0;
  search->statistics.tables++;
  sum_rows (merged, rows, table->total);
  memset (table->sums, 0, table_numbers (merged) * sum_bytes (merged));
  for (int64_t w = 0; w < merged->words; w++)
    for (uint64_t rest = rows[w]; rest; rest &= rest - 1) {
      const int64_t row = 64 * w + lowest_bit (rest);
      if (merged->narrow)
        add_narrow_row (merged, row, table->sums);
      else
        add_wide_row (merged, row, table->sums);
      added += pairs;
      if (added > sums_between_polls) {
        added = 0;
        if (search_poll (search, 0))
          return 0;
      }
    }
  if (merged->narrow)
    mirror_narrow (merged, table->sums);
  else
    mirror_wide (merged, table->sums);
  return 1;
}

/* out = one - other - third + fourth; the last two may be NULL. */
#define COMBINE(NAME, SUM) \
  static void NAME (SUM *restrict out, const SUM *restrict one, const SUM *restrict other, const SUM *restrict third, \
                    const SUM *restrict fourth, size_t count) { \
    if (third) \
      for (size_t i = 0; i < count; i++) \
        out[i] = one[i] - other[i] - third[i] + fourth[i]; \
    else \
      for (size_t i = 0; i < count; i++) \
        out[i] = one[i] - other[i]; \
  }

COMBINE (combine_narrow, int32_t)
COMBINE (combine_wide, int64_t)

static void combine (const struct merged *merged, struct table *out, const struct table *one, const struct table *other,
                     const struct table *third, const struct table *fourth) {
  const size_t count = table_numbers (merged);
  combine_wide (out->total, one->total, other->total, third ? third->total : NULL, third ? fourth->total : NULL,
                (size_t) merged->channels);
  if (merged->narrow)
    combine_narrow (out->sums, one->sums, other->sums, third ? third->sums : NULL, third ? fourth->sums : NULL, count);
  else
    combine_wide (out->sums, one->sums, other->sums, third ? third->sums : NULL, third ? fourth->sums : NULL, count);
}

/* Where the table of the rows that answer yes to two tests (-1: no test) is kept; NULL if memory is short. */
static table_pointer *slot_of (struct search *search, int32_t first, int32_t second) {
  struct tables *tables = &search->coupled->merged.tables;
  struct arena *arena = &search->coupled->arena;
  const size_t tests = (size_t) search->merged->tests;
  if (first < 0)
    return &tables->root;
  if (second < 0) {
    if (!tables->singles)
      tables->singles = arena_allocate (arena, tests, sizeof *tables->singles);
    return tables->singles ? &tables->singles[first] : NULL;
  }
  if (!tables->pairs)
    tables->pairs = arena_allocate (arena, tests, sizeof *tables->pairs);
  if (tables->pairs && !tables->pairs[first])
    tables->pairs[first] = arena_allocate (arena, tests, sizeof **tables->pairs);
  return tables->pairs && tables->pairs[first] ? &tables->pairs[first][second] : NULL;
}

/* Finds the place of a table under the lock, and sets aside memory for it if it is to be made. */
static table_pointer *reserve_slot (struct search *search, int32_t first, int32_t second, size_t bytes) {
  struct tables *tables = &search->coupled->merged.tables;
  const struct options *options = &search->coupled->options;
  /* Half of the memory stays free for bounds and lists. */
  const int64_t limit = options->table_memory < options->memory / 2 ? options->table_memory : options->memory / 2;
  lock_take (&search->shared->lock);
  table_pointer *slot = slot_of (search, first, second);
  if (slot && !atomic_load_explicit (slot, memory_order_relaxed)) {
    if (first >= 0 && (int64_t) (tables->bytes + bytes) > limit)
      slot = NULL;
    else
      tables->bytes += bytes;
  }
  lock_leave (&search->shared->lock);
  return slot;
}

static void return_bytes (struct search *search, size_t bytes) {
  lock_take (&search->shared->lock);
  search->coupled->merged.tables.bytes -= bytes;
  lock_leave (&search->shared->lock);
}

/* The kept table of one or two tests answered with yes, made if there is room for it; otherwise NULL. */
static const struct table *kept_table (struct search *search, int32_t first, int32_t second) {
  const struct merged *merged = search->merged;
  const size_t bytes = times (table_numbers (merged), sum_bytes (merged));
  table_pointer *slot = reserve_slot (search, first, second, bytes);
  struct table *table = slot ? atomic_load_explicit (slot, memory_order_acquire) : NULL;
  if (!slot || table)
    return table;
  table = table_create (&search->coupled->arena, merged);
  if (!table) {
    return_bytes (search, bytes);
    return NULL;
  }
  for (int64_t w = 0; w < merged->words; w++) {
    search->some_rows[w] = search->all_rows[w];
    if (first >= 0)
      search->some_rows[w] &= merged->columns[first * merged->words + w];
    if (second >= 0)
      search->some_rows[w] &= merged->columns[second * merged->words + w];
  }
  if (!count_rows (search, search->some_rows, table)) {
    arena_release (&search->coupled->arena, table);
    return_bytes (search, bytes);
    return NULL;
  }
  struct table *other = NULL;
  if (!atomic_compare_exchange_strong (slot, &other, table)) { /* another thread was faster */
    arena_release (&search->coupled->arena, table);
    return_bytes (search, bytes);
    return other;
  }
  return table;
}

/* The table of a place with up to two literals from kept tables, or NULL. */
static const struct table *table_from_kept (struct search *search, const struct place *place) {
  const struct table *parts[4] = {NULL};
  const int32_t count = place->literals;
  const int32_t first = count > 0 ? place->literal[0] / 2 : -1, second = count > 1 ? place->literal[1] / 2 : -1;
  const int no_first = count > 0 && !(place->literal[0] & 1), no_second = count > 1 && !(place->literal[1] & 1);
  if (!(parts[0] = kept_table (search, first, second)))
    return NULL;
  if (!no_first && !no_second)
    return parts[0];
  if (no_first && !(parts[1] = kept_table (search, second, -1)))
    return NULL;
  if (no_second && !(parts[2] = kept_table (search, first, -1)))
    return NULL;
  if (no_first && no_second && !(parts[3] = kept_table (search, -1, -1)))
    return NULL;
  if (no_first && no_second)
    combine (search->merged, search->scratch, parts[3], parts[1], parts[2], parts[0]);
  else
    combine (search->merged, search->scratch, parts[no_first ? 1 : 2], parts[0], NULL, NULL);
  return search->scratch;
}

static int same_place (const struct place *one, const struct place *other) {
  if (one->literals != other->literals || one->literals > most_literals)
    return 0;
  return !memcmp (one->literal, other->literal, (size_t) one->literals * sizeof *one->literal);
}

static int has_table_of (const struct search *search, const struct place *place) {
  return search->table && same_place (&search->table_place, place);
}

void place_total (const struct search *search, const struct place *place, int64_t *sums) {
  if (has_table_of (search, place))
    memcpy (sums, search->table->total, (size_t) search->merged->channels * sizeof *sums);
  else
    sum_rows (search->merged, place->rows, sums);
}

int table_at (struct search *search, const struct place *place) {
  if (search_poll (search, 0))
    return 0;
  if (has_table_of (search, place))
    return 1;
  search->table_place = *place;
  search->passed = 0;
  if (search->scratch_filled && same_place (&search->scratch_place, place)) {
    search->table = search->scratch;
    return 1;
  }
  search->table = place->literals <= 2 ? table_from_kept (search, place) : NULL;
  if (search->table && search->table != search->scratch)
    return 1;
  if (!search->table && (search_stopped (search) || !count_rows (search, place->rows, search->scratch))) {
    search->scratch_filled = 0;
    return 0;
  }
  search->table = search->scratch;
  search->scratch_place = *place;
  search->scratch_filled = 1;
  return 1;
}

static inline int64_t sum_at (const struct search *search, int32_t channel, int32_t test, int32_t other) {
  const struct merged *merged = search->merged;
  const int64_t at = ((int64_t) channel * merged->tests + test) * merged->stride + other;
  return merged->narrow ? ((const int32_t *) search->table->sums)[at] : ((const int64_t *) search->table->sums)[at];
}

void table_side (const struct search *search, int32_t test, int side, int64_t *sums) {
  for (int32_t v = 0; v < search->merged->channels; v++) {
    const int64_t total = search->table->total[v];
    sums[v] = test < 0 ? total : side ? sum_at (search, v, test, test) : total - sum_at (search, v, test, test);
  }
}

void table_cells (const struct search *search, int32_t test, int side, int32_t other, int64_t *yes, int64_t *no) {
  table_side (search, test, side, no);
  for (int32_t v = 0; v < search->merged->channels; v++) {
    const int64_t alone = sum_at (search, v, other, other);
    const int64_t both = test < 0 ? alone : sum_at (search, v, test, other);
    yes[v] = test < 0 || side ? both : alone - both;
    no[v] -= yes[v];
  }
}

int may_follow (const struct search *search, int32_t test, int32_t other) {
  if (other == test || !test_allowed (search, other))
    return 0;
  return !search->used || test < 0 || search->merged->column[other] != search->merged->column[test];
}

/* What the loops over stumps have to know about fees. */
static void task_fees (const struct search *search, const struct multiplier *multiplier, struct stumps_task *task) {
  const int64_t stride = search->merged->stride;
  task->fee_column = search->fee_column;
  for (int kind = 0; kind < fee_kinds; kind++) {
    if (!search->fees[kind])
      continue;
    task->fee[kind] = search->fees[kind] + search->path_length * stride;
    task->fee_below[kind] = search->fees_below[kind] + stride;
    task->fee_weight[kind] = multiplier->fee[kind];
  }
}

/* Fills best[side][multiplier]. */
static void score_stumps (struct search *search, int index) {
  const struct merged *merged = search->merged;
  const struct multiplier *multiplier = &search->multiplier[index];
  struct stumps_task task = {.tests = merged->tests,
                             .stride = merged->stride,
                             .classes = search->coupled->classes,
                             .width = 1 + search->coupled->sums,
                             .sums = search->table->sums,
                             .total = search->table->total,
                             .price = multiplier->price,
                             .support = merged->counted ? search->support : 0,
                             .column = search->used ? merged->column : NULL,
                             .used = search->used,
                             .purity = merged->purity,
                             .cost = merged->cost,
                             .most_cost = search->coupled->rules.most_cost,
                             .room = search->room};
  memcpy (task.weights, multiplier->by_sum, (size_t) task.width * sizeof *task.weights);
  if (search->has_fees)
    task_fees (search, multiplier, &task);
  int64_t *const best[2] = {search->best[0] + (int64_t) index * merged->stride,
                            search->best[1] + (int64_t) index * merged->stride};
  search->statistics.passes++;
  (merged->narrow ? search->stumps->narrow : search->stumps->wide) (&task, best);
  search->passed |= (uint64_t) 1 << index;
}

int64_t table_pass (struct search *search, int index) {
  const struct merged *merged = search->merged;
  const struct multiplier *multiplier = &search->multiplier[index];
  if (!(search->passed >> index & 1))
    score_stumps (search, index);
  const int64_t *best[2] = {search->best[0] + (int64_t) index * merged->stride,
                            search->best[1] + (int64_t) index * merged->stride};
  int64_t least = leaf_score (search, multiplier, search->table->total, NULL);
  const int64_t count = count_of (search, search->table->total);
  for (int32_t test = 0; test < merged->tests; test++) {
    const int64_t score = best[0][test] + best[1][test] + split_score (search, multiplier, -1, test, count);
    least = score < least ? score : least;
  }
  return possible (least);
}
