/* Given arrays -> ranks of kept columns, and the sums that matter with values relative to class 0. */
#include "coupled_numeric/solver.h"
#include "common/bits.h"
#include "numeric/sort.h"

#include <string.h>

static int copy_array (threshold_solver *solver, void **to, const void *from, size_t count, size_t size) {
  arena_release (&solver->arena, *to);
  *to = arena_reserve (&solver->arena, count, size);
  if (!*to)
    return threshold_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for the data");
  memcpy (*to, from, count * size);
  return TREEML_OK;
}

static void forget_columns (threshold_solver *solver) {
  void *blocks[] = {solver->codes, solver->source, solver->rank, solver->code_of, solver->levels, solver->order};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    arena_release (&solver->arena, blocks[i]);
  solver->codes = solver->source = solver->rank = solver->code_of = solver->levels = solver->order = NULL;
  arena_release (&solver->arena, solver->count);
  solver->count = NULL;
  solver->has_zero = 0;
  threshold_conditions_release (solver);
  arena_release (&solver->arena, solver->values);
  solver->values = NULL;
  solver->rows = solver->given = solver->sums = 0;
  solver->columns = 0;
}

void threshold_release (threshold_solver *solver) {
  forget_columns (solver);
  threshold_tree_release (&solver->arena, &solver->start);
  threshold_tree_release (&solver->arena, &solver->best);
}

/* Whether a column orders the rows like a kept one, or the other way round: both allow the same splits. */
static int is_copy (const threshold_solver *solver, int32_t kept, int32_t column) {
  if (solver->levels[kept] != solver->levels[column])
    return 0;
  const int32_t *a = threshold_rank (solver, kept), *b = threshold_rank (solver, column),
                top = solver->levels[kept] - 1;
  int same = 1, mirrored = 1;
  for (int64_t row = 0; row < solver->rows && (same || mirrored); row++) {
    same = same && a[row] == b[row];
    mirrored = mirrored && a[row] == top - b[row];
  }
  return same || mirrored;
}

/* Ranks one given column into the place of the next kept one, and keeps it unless it is constant or a copy. */
static int rank_column (threshold_solver *solver, struct numeric_sorter *sorter, int64_t given) {
  const int64_t rows = solver->rows;
  const int32_t at = solver->columns, *codes = solver->codes + given * rows;
  int32_t *order = solver->order + at * rows, *rank = solver->rank + at * rows;
  const struct numeric_column column = {.codes = codes};
  const int32_t levels = numeric_sort (sorter, &column, order, rank);
  if (levels < 1)
    return 0;
  if (levels == 1)
    return 1;
  solver->levels[at] = levels;
  for (int64_t row = 0; row < rows; row++)
    solver->code_of[at * rows + rank[row]] = codes[row];
  for (int32_t kept = 0; kept < at; kept++)
    if ((!solver->group || solver->group[solver->source[kept]] == solver->group[given]) && is_copy (solver, kept, at))
      return 1;
  solver->source[solver->columns++] = (int32_t) given;
  return 1;
}

int threshold_rank_columns (threshold_solver *solver) {
  const size_t cells = times ((size_t) solver->given, (size_t) solver->rows);
  struct numeric_sorter sorter = {0};
  void *blocks[] = {solver->source, solver->rank, solver->code_of, solver->levels, solver->order};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    arena_release (&solver->arena, blocks[i]);
  solver->columns = 0;
  solver->source = arena_reserve (&solver->arena, (size_t) solver->given, sizeof *solver->source);
  solver->levels = arena_reserve (&solver->arena, (size_t) solver->given, sizeof *solver->levels);
  solver->rank = arena_reserve (&solver->arena, cells, sizeof *solver->rank);
  solver->order = arena_reserve (&solver->arena, cells, sizeof *solver->order);
  solver->code_of = arena_reserve (&solver->arena, cells, sizeof *solver->code_of);
  int fine = solver->source && solver->levels && solver->rank && solver->order && solver->code_of &&
             numeric_sorter_create (&sorter, &solver->arena, solver->rows);
  for (int64_t f = 0; fine && f < solver->given; f++)
    fine = rank_column (solver, &sorter, f);
  if (sorter.arena)
    numeric_sorter_destroy (&sorter);
  return fine;
}

int treeml_coupled_numeric_columns (treeml_coupled_numeric *solver, const int32_t *codes, int64_t columns,
                                    int64_t rows) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (columns < 0 || rows < 1 || (columns && !codes) || rows > INT32_MAX / 4 || columns > INT32_MAX / 4)
    return threshold_fail (solver, TREEML_BAD_ARGUMENT, "columns need codes and at least one row");
  for (int64_t i = 0; i < columns * rows; i++)
    if (codes[i] < 0)
      return threshold_fail (solver, TREEML_BAD_ARGUMENT, "codes must not be negative");
  forget_columns (solver);
  threshold_tree_release (&solver->arena, &solver->start);
  solver->rows = rows;
  solver->given = columns;
  solver->total_count = rows;
  void *block = NULL;
  const int code = copy_array (solver, &block, codes, times ((size_t) columns, (size_t) rows), sizeof *solver->codes);
  solver->codes = block;
  if (code)
    return code;
  if (!threshold_rank_columns (solver)) {
    forget_columns (solver);
    return threshold_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for the columns");
  }
  return TREEML_OK;
}

int treeml_coupled_numeric_counts (treeml_coupled_numeric *solver, const int64_t *count) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (!solver->rows)
    return threshold_fail (solver, TREEML_NO_DATA, "columns come before counts");
  int64_t total = 0;
  for (int64_t row = 0; count && row < solver->rows; row++)
    if (count[row] < 0 || add_overflows (total, count[row], &total) || total > INT64_MAX / 4)
      return threshold_fail (solver, TREEML_BAD_ARGUMENT, "counts must not be negative, and their sum is below 2^61");
  arena_release (&solver->arena, solver->count);
  solver->count = NULL;
  solver->has_zero = 0;
  for (int kind = 0; kind < fee_kinds; kind++)
    path_fees_release (&solver->fees[kind], &solver->arena);
  for (int64_t row = 0; count && row < solver->rows; row++)
    solver->has_zero |= !count[row];
  solver->total_count = count ? total : solver->rows;
  if (!count)
    return TREEML_OK;
  void *block = NULL;
  const int code = copy_array (solver, &block, count, (size_t) solver->rows, sizeof *count);
  solver->count = block;
  return code;
}

int treeml_coupled_numeric_values (treeml_coupled_numeric *solver, const int64_t *values, int64_t sums,
                                   int32_t classes) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (!solver->rows)
    return threshold_fail (solver, TREEML_NO_DATA, "columns come before values");
  if (!values || sums < 1 || sums >= most_sums || classes < 1 || classes > most_classes)
    return threshold_fail (solver, TREEML_BAD_ARGUMENT, "there can be 1 to %d sums and 1 to %d classes", most_sums - 1,
                           most_classes);
  const int64_t cells = solver->rows * classes, largest = INT64_C (1) << 50;
  for (int64_t j = 0; j < sums; j++) {
    int64_t total = 0;
    for (int64_t i = 0; i < cells; i++) {
      const int64_t value = values[j * cells + i];
      if (value > largest || value < -largest || (total += value < 0 ? -value : value) > largest)
        return threshold_fail (solver, TREEML_OVERFLOW, "the values of a sum add up to more than 2^50");
    }
  }
  arena_release (&solver->arena, solver->rules.purity);
  arena_release (&solver->arena, solver->rules.cost);
  solver->rules = (struct threshold_rules) {0};
  void *block = solver->values;
  solver->values = NULL;
  const int code = copy_array (solver, &block, values, (size_t) (sums * cells), sizeof *values);
  solver->values = block;
  solver->sums = code ? 0 : (int32_t) sums;
  solver->classes = classes;
  solver->pairs = classes * (classes - 1) / 2;
  for (int64_t j = 0; j < most_sums; j++) {
    solver->low[j] = INT64_MIN;
    solver->high[j] = INT64_MAX;
  }
  return code;
}

int treeml_coupled_numeric_bounds (treeml_coupled_numeric *solver, const int64_t *low, const int64_t *high) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (!solver->sums || (solver->sums > 1 && (!low || !high)))
    return threshold_fail (solver, TREEML_BAD_ARGUMENT, "bounds need values first, and both arrays");
  for (int32_t j = 1; j < solver->sums; j++) {
    solver->low[j] = low[j - 1];
    solver->high[j] = high[j - 1];
  }
  return TREEML_OK;
}

/* The least and greatest total of a sum over any choice of classes. */
static void extremes (const threshold_solver *solver, int32_t sum, int64_t *least, int64_t *most) {
  const int64_t *values = solver->values + sum * solver->rows * solver->classes;
  *least = *most = 0;
  for (int64_t row = 0; row < solver->rows; row++) {
    int64_t low = values[row * solver->classes], high = low;
    for (int32_t k = 1; k < solver->classes; k++) {
      const int64_t value = values[row * solver->classes + k];
      low = value < low ? value : low;
      high = value > high ? value : high;
    }
    *least += low;
    *most += high;
  }
}

/* Adds a sum to the active ones, if its bounds matter. Returns 0 if no tree can meet them. */
static int activate (threshold_solver *solver, int32_t sum) {
  int64_t least, most, low = solver->low[sum], high = solver->high[sum];
  extremes (solver, sum, &least, &most);
  if (low > high || low > most || high < least)
    return 0;
  if (low <= least && high >= most)
    return 1;
  const int32_t at = solver->active++;
  solver->place[at] = sum;
  solver->sign[at] = 1;
  solver->window[at - 1] = vector_one_sided;
  if (low <= least)
    low = least;
  else if (high >= most) {
    solver->sign[at] = -1;
    high = -low;
    low = -most;
  } else
    solver->window[at - 1] = high - low;
  solver->least[at] = low;
  solver->most[at] = high;
  return 1;
}

/* Limited fees are one more sum, if a tree can exceed the limit. Returns 0 if no tree can keep it. */
static int activate_fees (threshold_solver *solver) {
  solver->limited_fees = 0;
  if (!solver->fees[1].below || solver->most_fees >= solver->fees[1].greatest)
    return 1;
  const int32_t at = solver->limited_fees = solver->active++;
  solver->place[at] = -1;
  solver->sign[at] = 1;
  solver->window[at - 1] = vector_one_sided;
  solver->least[at] = 0;
  solver->most[at] = solver->most_fees;
  return solver->most_fees >= 0;
}

/* Fills `relative`, and takes the values of class 0 off the bounds. */
static int make_relative (threshold_solver *solver) {
  const int64_t rows = solver->rows, classes = solver->classes, active = solver->active;
  solver->relative =
      arena_reserve (&solver->arena, times ((size_t) (rows * classes), (size_t) active), sizeof *solver->relative);
  if (!solver->relative)
    return threshold_stop (solver, TREEML_MEMORY), 0;
  for (int64_t j = 0; j < active; j++) {
    solver->base[j] = 0;
    if (solver->place[j] < 0) { /* fees, to which predictions add nothing */
      for (int64_t i = 0; i < rows * classes; i++)
        solver->relative[i * active + j] = 0;
      continue;
    }
    const int64_t *values = solver->values + solver->place[j] * rows * classes, sign = solver->sign[j];
    for (int64_t row = 0; row < rows; row++) {
      solver->base[j] += sign * values[row * classes];
      for (int64_t k = 0; k < classes; k++)
        solver->relative[(row * classes + k) * active + j] = sign * (values[row * classes + k] - values[row * classes]);
    }
    if (j) {
      solver->least[j] -= solver->base[j];
      solver->most[j] -= solver->base[j];
    }
  }
  return 1;
}

int threshold_prepare (threshold_solver *solver) {
  int64_t least, most;
  solver->active = 1;
  solver->place[0] = 0;
  solver->sign[0] = 1;
  for (int32_t j = 1; j < solver->sums; j++)
    if (!activate (solver, j))
      return 0;
  if (!activate_fees (solver))
    return 0;
  extremes (solver, 0, &least, &most);
  if (!make_relative (solver))
    return 0;
  const int64_t price = solver->options.leaf_price;
  solver->least_value = least - solver->base[0] + price;
  solver->most_value = most - solver->base[0] + price * solver->leaves + solver->fees[0].greatest;
  solver->compared = solver->active - 1 + solver->leaves_matter;
  if (solver->leaves_matter)
    solver->window[solver->active - 1] = vector_one_sided;
  return 1;
}
