/* Columns of codes or numbers -> ranks and orders.

   A column is stored as the ranks of its codes and the order of the rows by rank, so that nothing is sorted later. */
#include "numeric/columns.h"
#include "common/bits.h"

#include <stdlib.h>
#include <string.h>

void numeric_release_columns (treeml_numeric *solver) {
  struct arena *arena = &solver->arena;
  for (int32_t f = 0; f < solver->columns; f++) {
    arena_release (arena, solver->rank[f]);
    arena_release (arena, solver->code_of[f]);
    arena_release (arena, solver->order[f]);
  }
  arena_release (arena, solver->rank);
  arena_release (arena, solver->code_of);
  arena_release (arena, solver->order);
  arena_release (arena, solver->source);
  arena_release (arena, solver->levels);
  for (int32_t i = 0; solver->alias_codes && i < solver->given; i++)
    arena_release (arena, solver->alias_codes[i]);
  arena_release (arena, solver->alias_codes);
  arena_release (arena, solver->alias);
  arena_release (arena, solver->single);
  arena_release (arena, solver->group);
  arena_release (arena, solver->fee);
  solver->group = NULL;
  solver->fee = NULL;
  arena_release (arena, solver->key);
  for (int32_t i = 0; solver->unranked && i < solver->given; i++)
    arena_release (arena, solver->unranked[i]);
  arena_release (arena, solver->unranked);
  solver->key = NULL;
  solver->unranked = NULL;
  solver->ranked = 0;
  solver->alias = solver->single = NULL;
  solver->alias_codes = NULL;
  solver->rank = solver->code_of = solver->order = NULL;
  solver->source = solver->levels = NULL;
  solver->columns = 0;
}

static uint64_t fingerprint (const int32_t *rank, int64_t rows) {
  uint64_t key = 0, step = 0x9e3779b97f4a7c15u;
  for (int64_t i = 0; i < rows; i++, step += 0xff51afd7ed558ccdu)
    key += (step ^ (step >> 29)) * (uint64_t) rank[i];
  return key;
}

/* The code of every rank; NULL if that is the rank itself, as for numbers, and for codes without gaps. */
static int list_codes (treeml_numeric *solver, const int32_t *codes, const int32_t *rank, int32_t levels,
                       int32_t **code_of) {
  *code_of = NULL;
  if (!codes || !memcmp (codes, rank, (size_t) solver->rows * sizeof *codes))
    return 1;
  if (!(*code_of = arena_reserve (&solver->arena, (size_t) levels, sizeof **code_of)))
    return 0;
  for (int64_t i = 0; i < solver->rows; i++)
    (*code_of)[rank[i]] = codes[i];
  return 1;
}

int32_t numeric_keep_column (treeml_numeric *solver, struct numeric_sorter *sorter, const struct numeric_column *column,
                             int32_t number) {
  struct arena *arena = &solver->arena;
  const int64_t rows = solver->rows;
  const int32_t f = solver->columns;
  solver->single[number] = column->codes ? column->codes[0] : 0;
  solver->alias[number] = -1;
  int32_t *order = arena_reserve (arena, (size_t) rows, sizeof *order);
  int32_t *rank = arena_reserve (arena, (size_t) rows, sizeof *rank), *code_of = NULL, equal = -1;
  const int32_t levels = order && rank ? numeric_sort (sorter, column, order, rank) : 0;
  const int fine = levels == 1 || (levels > 1 && list_codes (solver, column->codes, rank, levels, &code_of));
  if (levels > 1 && fine) {
    solver->key[f] = fingerprint (rank, rows);
    for (int32_t g = 0; g < f && equal < 0; g++)
      if (solver->key[g] == solver->key[f] &&
          (!solver->group || solver->group[solver->source[g]] == solver->group[number]) &&
          !memcmp (solver->rank[g], rank, (size_t) rows * sizeof *rank))
        equal = g;
  }
  if (!fine || levels == 1 || equal >= 0) {
    arena_release (arena, order);
    arena_release (arena, rank);
    solver->alias[number] = equal;
    solver->alias_codes[number] = code_of;
    return fine ? levels : 0;
  }
  solver->order[f] = order;
  solver->rank[f] = rank;
  solver->code_of[f] = code_of;
  solver->levels[f] = levels;
  solver->source[f] = number;
  solver->alias[number] = f;
  solver->columns = f + 1;
  return levels;
}

int numeric_no_room (treeml_numeric *solver, int64_t columns, int64_t rows) {
  numeric_release_data (solver);
  return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for %lld columns of %lld rows",
                       (long long) columns, (long long) rows);
}

int numeric_begin_columns (treeml_numeric *solver, int64_t columns, int64_t rows) {
  numeric_release_data (solver);
  struct arena *arena = &solver->arena;
  const size_t room = (size_t) columns + 1;
  solver->rows = solver->total_count = rows;
  solver->given = (int32_t) columns;
  solver->rank = arena_allocate (arena, room, sizeof *solver->rank);
  solver->code_of = arena_allocate (arena, room, sizeof *solver->code_of);
  solver->order = arena_allocate (arena, room, sizeof *solver->order);
  solver->source = arena_allocate (arena, room, sizeof *solver->source);
  solver->levels = arena_allocate (arena, room, sizeof *solver->levels);
  solver->alias = arena_allocate (arena, room, sizeof *solver->alias);
  solver->alias_codes = arena_allocate (arena, room, sizeof *solver->alias_codes);
  solver->single = arena_allocate (arena, room, sizeof *solver->single);
  solver->key = arena_allocate (arena, room, sizeof *solver->key);
  solver->unranked = arena_allocate (arena, room, sizeof *solver->unranked);
  return solver->rank && solver->code_of && solver->order && solver->source && solver->levels && solver->alias &&
         solver->alias_codes && solver->single && solver->key && solver->unranked;
}

int numeric_check_shape (treeml_numeric *solver, const void *given, int64_t columns, int64_t rows) {
  if (rows <= 0)
    return numeric_fail (solver, TREEML_NO_DATA, "there are no rows");
  if (columns < 0 || columns > 1000000)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "%lld columns are not between 0 and 1,000,000",
                         (long long) columns);
  if (rows > INT32_MAX / 2)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "%lld rows are too many", (long long) rows);
  if (columns && !given)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "the columns must not be NULL");
  return TREEML_OK;
}

int treeml_numeric_columns (treeml_numeric *solver, const int32_t *codes, int64_t columns, int64_t rows) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  const int code = numeric_check_shape (solver, codes, columns, rows);
  if (code)
    return code;
  for (int64_t f = 0; f < columns; f++) {
    int32_t any = 0;
    for (int64_t i = 0; i < rows; i++)
      any |= codes[f * rows + i];
    for (int64_t i = 0; any < 0 && i < rows; i++)
      if (codes[f * rows + i] < 0)
        return numeric_fail (solver, TREEML_BAD_ARGUMENT, "the code of column %lld, row %lld is negative",
                             (long long) f, (long long) i);
  }
  int fine = numeric_begin_columns (solver, columns, rows);
  for (int64_t f = 0; fine && f < columns; f++) {
    if ((fine = !!(solver->unranked[f] = arena_reserve (&solver->arena, (size_t) rows, sizeof *codes))))
      memcpy (solver->unranked[f], codes + f * rows, (size_t) rows * sizeof *codes);
  }
  return fine ? TREEML_OK : numeric_no_room (solver, columns, rows);
}

int treeml_numeric_values (treeml_numeric *solver, const double *values, int64_t columns, int64_t rows) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  const int code = numeric_check_shape (solver, values, columns, rows);
  if (code)
    return code;
  struct numeric_sorter sorter = {0};
  int fine = numeric_begin_columns (solver, columns, rows) && numeric_sorter_create (&sorter, &solver->arena, rows);
  int32_t f = 0;
  for (; fine && f < columns; f++) {
    const struct numeric_column column = {.values = values + f * rows};
    fine = numeric_keep_column (solver, &sorter, &column, f);
  }
  solver->ranked = solver->given;
  numeric_sorter_destroy (&sorter);
  if (fine)
    return TREEML_OK;
  const double *last = values + (f ? f - 1 : 0) * rows;
  for (int64_t i = 0; f && i < rows; i++)
    if (last[i] - last[i] != 0) {
      numeric_release_data (solver);
      return numeric_fail (solver, TREEML_BAD_ARGUMENT, "column %d, row %lld is not a finite number", f - 1,
                           (long long) i);
    }
  return numeric_no_room (solver, columns, rows);
}

int numeric_rank_columns (treeml_numeric *solver, struct numeric_worker *worker) {
  if (solver->ranked == solver->given)
    return 1;
  struct numeric_sorter sorter;
  int fine = numeric_sorter_create (&sorter, &solver->arena, solver->rows);
  while (fine && solver->ranked < solver->given) {
    int32_t **codes = &solver->unranked[solver->ranked];
    const struct numeric_column column = {.codes = *codes};
    if (!(fine = numeric_keep_column (solver, &sorter, &column, solver->ranked)))
      break;
    arena_release (&solver->arena, *codes);
    *codes = NULL;
    solver->ranked++;
    if (worker && numeric_spent (worker, 16 * solver->rows))
      break;
  }
  numeric_sorter_destroy (&sorter);
  return fine;
}

int treeml_numeric_rank (treeml_numeric *solver, int32_t column, int32_t *ranks) {
  if (!solver || !ranks || column < 0 || column >= solver->given)
    return TREEML_BAD_ARGUMENT;
  if (!numeric_rank_columns (solver, NULL))
    return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for ranks");
  const int32_t kept = solver->alias[column];
  if (kept < 0)
    memset (ranks, 0, (size_t) solver->rows * sizeof *ranks);
  else
    memcpy (ranks, solver->rank[kept], (size_t) solver->rows * sizeof *ranks);
  return TREEML_OK;
}

int treeml_numeric_counts (treeml_numeric *solver, const int64_t *count) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (!solver->rows)
    return numeric_fail (solver, TREEML_NO_DATA, "the columns must be set before the counts");
  arena_release (&solver->arena, solver->count);
  solver->count = NULL;
  solver->has_zero = 0;
  solver->total_count = solver->rows;
  if (!count)
    return TREEML_OK;
  int64_t total = 0, ones = 1;
  for (int64_t i = 0; i < solver->rows; i++) {
    if (count[i] < 0)
      return numeric_fail (solver, TREEML_BAD_ARGUMENT, "the count of row %lld is negative", (long long) i);
    if (add_overflows (total, count[i], &total))
      return numeric_fail (solver, TREEML_OVERFLOW, "the counts of the rows add up to more than 2^63");
    ones &= count[i] == 1;
  }
  if (ones)
    return TREEML_OK;
  if (!(solver->count = arena_allocate (&solver->arena, (size_t) solver->rows, sizeof *count)))
    return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for counts");
  memcpy (solver->count, count, (size_t) solver->rows * sizeof *count);
  for (int64_t i = 0; i < solver->rows; i++)
    solver->has_zero |= !count[i];
  solver->total_count = total;
  return TREEML_OK;
}

struct grouped {
  int32_t group;
  int64_t fee;
};

static int compare_groups (const void *one, const void *other) {
  const struct grouped *a = one, *b = other;
  return a->group < b->group ? -1 : a->group > b->group;
}

/* Whether all columns of a group have one fee: otherwise a path could be made cheaper by a test that splits nothing. -1
   if out of memory. */
static int fees_agree (treeml_numeric *solver, const int32_t *group, const int64_t *fee) {
  const size_t given = (size_t) solver->given;
  struct grouped *pairs = arena_reserve (&solver->arena, given + 1, sizeof *pairs);
  if (!pairs)
    return -1;
  for (size_t i = 0; i < given; i++)
    pairs[i] = (struct grouped) {group[i], fee[i]};
  qsort (pairs, given, sizeof *pairs, compare_groups);
  int agree = 1;
  for (size_t i = 1; i < given; i++)
    agree &= pairs[i].group != pairs[i - 1].group || pairs[i].fee == pairs[i - 1].fee;
  arena_release (&solver->arena, pairs);
  return agree;
}

int treeml_numeric_fees (treeml_numeric *solver, const int32_t *group, const int64_t *fee) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (!group || !fee || !solver->rows || solver->ranked || solver->group)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "fees must be set once, right after columns of codes");
  const size_t given = (size_t) solver->given;
  for (size_t i = 0; i < given; i++)
    if (fee[i] < 0 || fee[i] > INT64_MAX / 16 / (solver->total_count + 1))
      return numeric_fail (solver, TREEML_OVERFLOW, "a fee must not be negative, and not exceed 2^59 for all rows");
  const int agree = fees_agree (solver, group, fee);
  if (!agree)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "columns of one group have different fees");
  solver->group = arena_allocate (&solver->arena, given, sizeof *group);
  solver->fee = arena_allocate (&solver->arena, given, sizeof *fee);
  if (agree < 0 || !solver->group || !solver->fee)
    return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for fees");
  memcpy (solver->group, group, given * sizeof *group);
  memcpy (solver->fee, fee, given * sizeof *fee);
  return TREEML_OK;
}
