/* What tests cost. A row pays for every column that is tested on its path, once, and maybe less below a test of another
   column. A split pays for all rows that come by, so fees belong to splits as values belong to leaves. They depend on
   the path: the search keeps the current fee of every test for each length of it. */
#include "coupled/search.h"

#include <string.h>

static int64_t smaller (int64_t a, int64_t b) { return a < b ? a : b; }

void fees_release (treeml_coupled *coupled) {
  for (int kind = 0; kind < fee_kinds; kind++)
    path_fees_release (&coupled->fees[kind], &coupled->arena);
}

int treeml_coupled_fees (treeml_coupled *coupled, int32_t kind, const int64_t *below, int32_t columns, int64_t most) {
  if (!coupled)
    return TREEML_BAD_ARGUMENT;
  if (!coupled->rows)
    return coupled_fail (coupled, TREEML_NO_DATA, "there are no tests and rows yet");
  if (kind < 0 || kind >= fee_kinds || columns < 0)
    return coupled_fail (coupled, TREEML_BAD_ARGUMENT, "there are fees of kind 0 and of kind 1");
  coupled_release_answer (coupled);
  coupled_release_merged (coupled);
  path_fees_release (&coupled->fees[kind], &coupled->arena);
  if (!below)
    return TREEML_OK;
  for (int64_t test = 0; test < coupled->tests; test++)
    if (coupled->column_of[test] < 0 || coupled->column_of[test] >= columns)
      return coupled_fail (coupled, TREEML_BAD_ARGUMENT, "test %lld has no column with a fee", (long long) test);
  int64_t rows = 0;
  for (int64_t row = 0; row < coupled->rows; row++)
    rows += coupled->count[row];
  const int copied = path_fees_copy (&coupled->fees[kind], &coupled->arena, below, columns, rows, LARGEST_VALUE);
  if (copied < 0)
    return coupled_fail (coupled, TREEML_OVERFLOW, "fees are negative, or add up to more than 2^58");
  if (!copied)
    return coupled_fail (coupled, TREEML_OUT_OF_MEMORY, "not enough memory for the fees");
  if (kind)
    coupled->most_fees = most;
  return TREEML_OK;
}

/* One line for each column above a test, and one without any. */
static int make_below (struct search *search, int kind) {
  const struct merged *merged = search->merged;
  const struct path_fees *fees = &search->coupled->fees[kind];
  const int64_t unit = kind ? 1 : merged->unit[0];
  int64_t *below = search->fees_below[kind] = arena_allocate (
      &search->coupled->arena, times (1 + (size_t) fees->columns, (size_t) merged->stride + 1), sizeof *below);
  if (!below)
    return 0;
  for (int32_t above = -1; above < fees->columns; above++)
    for (int32_t test = 0; test < merged->tests; test++)
      below[(1 + (int64_t) above) * merged->stride + test] =
          path_fee (fees, &above, above >= 0, search->fee_column[test]) / unit;
  return 1;
}

int fees_make_room (struct search *search) {
  struct arena *arena = &search->coupled->arena;
  const struct merged *merged = search->merged;
  const size_t lines = times ((size_t) search->depth + 1, (size_t) merged->stride + 1);
  search->has_fees = coupled_has_fees (search->coupled);
  if (!search->has_fees)
    return 1;
  if (!search->fee_column) {
    search->fee_column = arena_allocate (arena, (size_t) merged->stride + 1, sizeof *search->fee_column);
    for (int32_t test = 0; search->fee_column && test < merged->tests; test++)
      search->fee_column[test] = search->coupled->column_of[merged->kept[test]];
  }
  int fine = search->fee_column != NULL;
  for (int kind = 0; fine && kind < fee_kinds; kind++) {
    if (!search->coupled->fees[kind].below)
      continue;
    search->fees[kind] = arena_allocate (arena, lines, sizeof *search->fees[kind]);
    fine = search->fees[kind] && (search->fees_below[kind] || make_below (search, kind));
    if (fine)
      memcpy (search->fees[kind], search->fees_below[kind], (size_t) merged->stride * sizeof *search->fees[kind]);
  }
  return fine;
}

void fees_share (const struct search *search, struct search *worker) {
  memcpy (worker->fees_below, search->fees_below, sizeof worker->fees_below);
  worker->fee_column = search->fee_column;
}

void fees_push (struct search *search, int32_t test) {
  const int64_t stride = search->merged->stride;
  for (int kind = 0; kind < fee_kinds; kind++) {
    if (!search->fees[kind])
      continue;
    const int64_t *above = search->fees[kind] + search->path_length * stride;
    const int64_t *below = search->fees_below[kind] + (1 + (int64_t) search->fee_column[test]) * stride;
    int64_t *now = search->fees[kind] + (search->path_length + 1) * stride;
    for (int64_t i = 0; i < stride; i++)
      now[i] = smaller (above[i], below[i]);
  }
}

void split_fees (const struct search *search, int32_t above, int32_t other, int64_t count, int64_t fees[fee_kinds]) {
  const int64_t stride = search->merged->stride;
  for (int kind = 0; kind < fee_kinds; kind++) {
    fees[kind] = 0;
    if (!search->fees[kind])
      continue;
    int64_t fee = search->fees[kind][search->path_length * stride + other];
    if (above >= 0)
      fee = smaller (fee, search->fees_below[kind][(1 + (int64_t) search->fee_column[above]) * stride + other]);
    fees[kind] = fee * count;
  }
}

void place_fees (struct search *search, const struct place *place, int32_t test, int64_t fees[fee_kinds]) {
  int64_t count = 0;
  if (search->has_fees) {
    place_total (search, place, search->cells);
    count = count_of (search, search->cells);
  }
  split_fees (search, -1, test, count, fees);
}

int64_t fees_score (const struct multiplier *multiplier, const int64_t fees[fee_kinds]) {
  return multiplier->fee[0] * fees[0] + multiplier->fee[1] * fees[1];
}

void fees_add (const struct search *search, const int64_t fees[fee_kinds], int64_t *vector) {
  vector[0] += fees[0];
  if (search->fee_requirement)
    vector[search->fee_requirement] += fees[1];
}
