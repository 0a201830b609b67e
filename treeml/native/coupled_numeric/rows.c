/* Sets of rows in the order of every column: children inherit the orders, so that nothing is sorted twice. */
#include "coupled_numeric/solver.h"

#include <string.h>

static int reserve (threshold_solver *solver, struct threshold_rows *set, int64_t rows) {
  set->rows = rows;
  set->count = 0;
  set->order = arena_reserve (&solver->arena, times ((size_t) solver->columns + 1, (size_t) rows), sizeof *set->order);
  if (!set->order)
    threshold_stop (solver, TREEML_MEMORY);
  return set->order != NULL;
}

int threshold_rows_all (threshold_solver *solver, struct threshold_rows *set) {
  if (!reserve (solver, set, solver->rows))
    return 0;
  for (int64_t row = 0; !solver->columns && row < set->rows; row++)
    set->order[row] = (int32_t) row;
  memcpy (set->order, solver->order, (size_t) solver->columns * (size_t) solver->rows * sizeof *set->order);
  set->count = solver->total_count;
  return 1;
}

int threshold_rows_split (threshold_solver *solver, const struct threshold_rows *from, int32_t column, int32_t cut,
                          int side, struct threshold_rows *set) {
  const int32_t *rank = threshold_rank (solver, column), *own = threshold_order (from, column);
  int64_t low = 0, high = from->rows; /* rows up to the cut */
  while (low < high) {
    const int64_t half = (low + high) / 2;
    if (rank[own[half]] <= cut)
      low = half + 1;
    else
      high = half;
  }
  if (!reserve (solver, set, side ? from->rows - low : low))
    return 0;
  int32_t *to = set->order;
  for (int32_t f = 0; f < solver->columns; f++) {
    const int32_t *order = threshold_order (from, f);
    for (int64_t i = 0; i < from->rows; i++)
      if ((rank[order[i]] > cut) == side)
        *to++ = order[i];
  }
  for (int64_t i = 0; i < set->rows; i++)
    set->count += solver->count ? solver->count[set->order[i]] : 1;
  return !threshold_spent (solver, from->rows * solver->columns);
}

void threshold_rows_release (threshold_solver *solver, struct threshold_rows *set) {
  if (solver->table.filled == set->order)
    solver->table.filled = NULL; /* another set may get the same memory */
  arena_release (&solver->arena, set->order);
  set->order = NULL;
}
