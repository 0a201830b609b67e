/* Sets of rows in the order of every column. A part of a set inherits the orders, so nothing is sorted twice. */
#include "numeric/child.h"

#include <string.h>

static int allocate (treeml_numeric *solver, struct numeric_set *set) {
  const size_t columns = (size_t) solver->columns;
  set->order = arena_allocate (&solver->arena, columns + 1, sizeof *set->order);
  set->pair = arena_allocate (&solver->arena, columns * columns + 1, sizeof *set->pair);
  return set->order && set->pair;
}

int numeric_set_root (treeml_numeric *solver, struct numeric_set *set) {
  memset (set, 0, sizeof *set);
  set->rows = solver->rows;
  if (!allocate (solver, set))
    return 0;
  for (int32_t g = 0; g < solver->columns; g++)
    set->order[g] = solver->order[g];
  return 1;
}

/* Selects rows of a set: every `step`-th row if `step` is positive, those that are marked if there are marks, or those
   that pass all filters. */
struct some {
  int64_t step;
  const uint8_t *marked;
  const struct numeric_filter *filter;
  int filters;
};

static inline int is_some (const treeml_numeric *solver, const struct some *some, int32_t row) {
  if (some->step)
    return row % some->step == 0;
  if (some->marked)
    return some->marked[row];
  for (int i = 0; i < some->filters; i++)
    if ((solver->rank[some->filter[i].column][row] > some->filter[i].cut) != some->filter[i].side)
      return 0;
  return 1;
}

static int take (struct numeric_worker *worker, const struct numeric_set *from, const struct some *some,
                 struct numeric_set *set) {
  treeml_numeric *solver = worker->solver;
  memset (set, 0, sizeof *set);
  if (!allocate (solver, set))
    return 0;
  int64_t rows = 0;
  for (int64_t i = 0; i < from->rows; i++)
    rows += is_some (solver, some, from->order[0][i]);
  set->rows = rows;
  if (numeric_spent (worker, from->rows))
    return 0;
  for (int32_t g = 0; g < solver->columns; g++) {
    int32_t *to = set->order[g] = arena_reserve (&solver->arena, (size_t) rows + 1, sizeof *to);
    if (!to)
      return 0;
    for (int64_t i = 0, kept = 0; i < from->rows; i++) {
      const int32_t row = from->order[g][i];
      to[kept] = row;
      kept += is_some (solver, some, row);
    }
    if (numeric_spent (worker, from->rows))
      return 0;
  }
  return 1;
}

int numeric_set_split (struct numeric_worker *worker, const struct numeric_set *from, int column, int64_t cut, int side,
                       struct numeric_set *set) {
  const struct numeric_filter filter = {column, cut, side};
  return numeric_set_filter (worker, from, &filter, 1, set);
}

int numeric_set_filter (struct numeric_worker *worker, const struct numeric_set *from,
                        const struct numeric_filter *filter, int filters, struct numeric_set *set) {
  const struct some some = {.filter = filter, .filters = filters};
  return take (worker, from, &some, set);
}

int numeric_set_marked (struct numeric_worker *worker, const struct numeric_set *from, const uint8_t *marked,
                        struct numeric_set *set) {
  const struct some some = {.marked = marked};
  return take (worker, from, &some, set);
}

int numeric_set_sample (struct numeric_worker *worker, const struct numeric_set *from, int64_t step,
                        struct numeric_set *set) {
  const struct some some = {.step = step};
  return take (worker, from, &some, set);
}

void numeric_set_release (treeml_numeric *solver, struct numeric_set *set) {
  struct arena *arena = &solver->arena;
  const int32_t columns = solver->columns;
  for (int32_t g = 0; set->order && g < columns; g++)
    if (set->order[g] != solver->order[g])
      arena_release (arena, set->order[g]);
  for (int64_t i = 0; set->pair && i < (int64_t) columns * columns; i++)
    arena_release (arena, set->pair[i]);
  for (int64_t i = 0; set->plane && i < (int64_t) columns * solver->value_planes; i++)
    arena_release (arena, set->plane[i]);
  for (int32_t g = 0; set->worth && g < columns; g++)
    arena_release (arena, set->worth[g]);
  arena_release (arena, set->order);
  arena_release (arena, set->pair);
  arena_release (arena, set->plane);
  arena_release (arena, set->worth);
  memset (set, 0, sizeof *set);
}

const void *numeric_set_pair (treeml_numeric *solver, struct numeric_set *set, int order, int column, int keep,
                              void *room) {
  void **kept = &set->pair[(int64_t) order * solver->columns + column];
  if (*kept)
    return *kept;
  void *to = room;
  if (keep) {
    void *made = arena_reserve (&solver->arena, (size_t) set->rows + 2 * 64, (size_t) solver->kernel->cell);
    if (made)
      to = *kept = made;
  }
  solver->kernel->gather_codes (solver->rank[column], set->order[order], set->rows, to);
  return to;
}

/* Whether the search for this goal reads a plane in the order of columns. */
static int is_read (const treeml_numeric *solver, int64_t k) {
  if (solver->goal == numeric_goal_quantile)
    return !k || k >= solver->planes; /* the moments serve first trees only */
  if (k < solver->planes)
    return !solver->labelled;
  return k == solver->planes ? !solver->unit_worth : solver->goal == numeric_goal_squared || solver->labelled;
}

/* After an interruption it continues where it stopped. */
int numeric_set_values (struct numeric_worker *worker, struct numeric_set *set) {
  treeml_numeric *solver = worker->solver;
  if (set->complete)
    return 1;
  const int64_t columns = solver->columns, planes = solver->value_planes;
  if (!set->plane)
    set->plane = arena_allocate (&solver->arena, (size_t) (columns * planes) + 1, sizeof *set->plane);
  if (!set->worth && !solver->unit_worth)
    set->worth = arena_allocate (&solver->arena, (size_t) columns + 1, sizeof *set->worth);
  if (!set->plane || (!solver->unit_worth && !set->worth))
    return 0;
  for (int64_t g = 0; g < columns; g++) {
    for (int64_t k = 0; k < planes; k++) {
      void **plane = &set->plane[g * planes + k];
      if (*plane || !is_read (solver, k))
        continue;
      *plane = arena_reserve (&solver->arena, (size_t) set->rows + 2 * 64, (size_t) solver->kernel->cell);
      if (!*plane)
        return 0;
      solver->kernel->gather_values (solver->value[k], set->order[g], set->rows, *plane);
      if (numeric_spent (worker, set->rows))
        return 0;
    }
    if (solver->unit_worth || set->worth[g])
      continue;
    int64_t *worth = set->worth[g] = arena_reserve (&solver->arena, (size_t) set->rows + 1, sizeof *worth);
    if (!worth)
      return 0;
    worth[0] = 0;
    for (int64_t i = 0; i < set->rows; i++)
      worth[i + 1] = worth[i] + solver->value[solver->planes][set->order[g][i]];
    if (numeric_spent (worker, set->rows))
      return 0;
  }
  return set->complete = 1;
}

int numeric_set_prepare (struct numeric_worker *worker, struct numeric_set *set) {
  treeml_numeric *solver = worker->solver;
  if (!numeric_set_values (worker, set))
    return 0;
  if (worker->child->blocks < solver->columns)
    return 1;
  for (int32_t g = 0; g < solver->columns; g++)
    for (int32_t f = 0; f < solver->columns; f++) {
      numeric_set_pair (solver, set, g, f, 1, worker->child->scratch);
      if (!set->pair[(int64_t) g * solver->columns + f])
        return 0;
    }
  return 1;
}
