/* Laying out a part of a set: pick its rows from the parent's arrays, column by column, and spread them over lanes.

   Only what every search needs is made at once; the codes of a column in the order of another are made when a cut of
   that column is evaluated for the first time. */
#include "numeric_child.h"

#include <string.h>

static int32_t lane_length (int64_t rows) {
  const int64_t length = (rows + LANES - 1) / LANES;
  return (int32_t) ((length + BLOCK - 1) / BLOCK * BLOCK);
}

/* Enough for vectors that read and write beyond the last row. */
static size_t padded (int64_t rows) { return (size_t) lane_length (rows) * LANES + 2 * 64; }

static void *cells (treeml_numeric *solver, int64_t rows) {
  return arena_allocate (&solver->arena, padded (rows), (size_t) solver->kernel->cell);
}

/* Where sweeps count labels, planes are only a step on the way to totals; the first is also that of two classes. */
static int shares_plane (const treeml_numeric *solver, int32_t k) {
  return k > 0 && solver->labelled && solver->kernel->stump_labels && solver->planes <= 8;
}

static int allocate_column (treeml_numeric *solver, struct numeric_child *child, int32_t g) {
  struct arena *arena = &solver->arena;
  struct numeric_lanes *lanes = &child->lanes[g];
  const int32_t planes = lanes->planes = solver->planes;
  lanes->narrow = solver->worth_sum < INT16_MAX;
  const size_t room = (size_t) planes * (sizeof (int64_t) * (8 + LANES) + 3 * 64) + 128;
  child->bits[g] = arena_allocate (arena, (size_t) child->room / 64 + 2, sizeof (uint64_t));
  child->own[g] = cells (solver, child->room);
  lanes->plane = arena_allocate (arena, (size_t) planes, sizeof *lanes->plane);
  lanes->total = arena_allocate (arena, (size_t) planes, sizeof *lanes->total);
  lanes->edge = cells (solver, child->room);
  lanes->edge_bits = arena_allocate (arena, (size_t) lane_length (child->room), sizeof *lanes->edge_bits);
  lanes->sum = arena_allocate (arena, room, 1);
  lanes->before = arena_allocate (arena, (size_t) planes * LANES, sizeof *lanes->before);
  lanes->label = solver->labelled ? cells (solver, child->room) : NULL;
  lanes->active = child->active;
  if (!child->bits[g] || !child->own[g] || !lanes->plane || !lanes->total || !lanes->edge || !lanes->edge_bits ||
      !lanes->sum || !lanes->before || (solver->labelled && !lanes->label))
    return 0;
  for (int32_t k = 0; k < planes; k++) {
    lanes->plane[k] = g && shares_plane (solver, k) ? child->lanes[0].plane[k] : cells (solver, child->room);
    if (!lanes->plane[k] || !(lanes->total[k] = cells (solver, child->room)))
      return 0;
  }
  if (child->worth &&
      !(child->worth[g] = arena_allocate (arena, (size_t) child->room + 1, sizeof **child->worth)))
    return 0;
  if (child->square &&
      !(child->square[g] = arena_allocate (arena, (size_t) child->room + 1, sizeof **child->square)))
    return 0;
  return 1;
}

struct numeric_child *numeric_child_create (treeml_numeric *solver) {
  struct arena *arena = &solver->arena;
  const size_t columns = (size_t) solver->columns;
  struct numeric_child *child = arena_allocate (arena, 1, sizeof *child);
  if (!child)
    return NULL;
  child->room = solver->rows;
  child->shared = -1;
  child->bits = arena_allocate (arena, columns, sizeof *child->bits);
  child->own = arena_allocate (arena, columns, sizeof *child->own);
  child->lanes = arena_allocate (arena, columns, sizeof *child->lanes);
  child->pair = arena_allocate (arena, columns * columns, sizeof *child->pair);
  child->made = arena_allocate (arena, columns * columns, 1);
  child->worth_made = arena_allocate (arena, columns, 1);
  child->turn = arena_allocate (arena, columns, sizeof *child->turn);
  child->active = arena_allocate (arena, (size_t) solver->planes, sizeof *child->active);
  child->scratch = cells (solver, child->room);
  int fine = child->bits && child->own && child->lanes && child->pair && child->made && child->worth_made &&
             child->turn && child->active && child->scratch;
  if (fine && !solver->unit_worth)
    fine = !!(child->worth = arena_allocate (arena, columns, sizeof *child->worth));
  if (fine && solver->goal == numeric_goal_squared)
    fine = !!(child->square = arena_allocate (arena, columns, sizeof *child->square));
  for (int32_t g = 0; fine && g < solver->columns; g++)
    fine = allocate_column (solver, child, g);
  /* Room for all pairs, if that is modest; else for the pairs of one column at a time. */
  const double bytes = (double) columns * (double) columns * (double) padded (child->room) * solver->kernel->cell;
  const double modest = solver->arena.limit < (size_t) 1 << 32 ? (double) solver->arena.limit / 8 : 5e8;
  child->blocks = bytes <= modest ? solver->columns : 0;
  if (fine)
    return child;
  numeric_child_destroy (solver, child);
  return NULL;
}

void numeric_child_destroy (treeml_numeric *solver, struct numeric_child *child) {
  struct arena *arena = &solver->arena;
  if (!child)
    return;
  for (int32_t g = 0; g < solver->columns; g++) {
    if (child->lanes) {
      struct numeric_lanes *lanes = &child->lanes[g];
      for (int32_t k = 0; k < solver->planes; k++) {
        if (!g || !shares_plane (solver, k))
          arena_release (arena, lanes->plane ? lanes->plane[k] : NULL);
        arena_release (arena, lanes->total ? lanes->total[k] : NULL);
      }
      arena_release (arena, lanes->plane);
      arena_release (arena, lanes->total);
      arena_release (arena, lanes->edge);
      arena_release (arena, lanes->edge_bits);
      arena_release (arena, lanes->sum);
      arena_release (arena, lanes->before);
      arena_release (arena, lanes->label);
    }
    arena_release (arena, child->bits ? child->bits[g] : NULL);
    arena_release (arena, child->own ? child->own[g] : NULL);
    arena_release (arena, child->worth ? child->worth[g] : NULL);
    arena_release (arena, child->square ? child->square[g] : NULL);
  }
  for (int64_t i = 0; child->pair && i < (int64_t) solver->columns * solver->columns; i++)
    arena_release (arena, child->pair[i]);
  arena_release (arena, child->bits);
  arena_release (arena, child->own);
  arena_release (arena, child->lanes);
  arena_release (arena, child->pair);
  arena_release (arena, child->made);
  arena_release (arena, child->worth);
  arena_release (arena, child->square);
  arena_release (arena, child->worth_made);
  arena_release (arena, child->turn);
  arena_release (arena, child->active);
  arena_release (arena, child->scratch);
  arena_release (arena, child->point);
  arena_release (arena, child->cost);
  arena_release (arena, child->queue);
  arena_release (arena, child);
}

/* The cells of the part's rows, in their order, from those of the whole set. */
static void pick (struct numeric_worker *worker, int order, const void *from, void *to) {
  treeml_numeric *solver = worker->solver;
  struct numeric_child *child = worker->child;
  const struct numeric_part *part = child->part;
  if (part->column < 0)
    memcpy (to, from, (size_t) part->set->rows * (size_t) solver->kernel->cell);
  else
    solver->kernel->compress (from, child->bits[order], part->set->rows, to);
}

/* Classes without a row among these need no plane; two classes need one plane of signed weights. */
static void find_active (struct numeric_worker *worker) {
  treeml_numeric *solver = worker->solver;
  struct numeric_child *child = worker->child;
  child->goal = solver->goal;
  child->planes = solver->planes;
  child->by_label = 0;
  for (int32_t k = 0; k < solver->planes; k++)
    child->active[k] = solver->labelled ? 0 : k;
  if (solver->goal != numeric_goal_many)
    return;
  int32_t active = 0;
  if (solver->labelled) {
    pick (worker, 0, child->part->set->plane[solver->planes + 1], child->scratch);
    for (int64_t i = 0; i < child->rows; i++)
      child->active[numeric_cell (child->scratch, solver->kernel->cell, i)] = 1;
  }
  for (int32_t k = 0; k < solver->planes; k++) {
    int present = solver->labelled && child->active[k];
    if (!solver->labelled) {
      pick (worker, 0, child->part->set->plane[k], child->scratch);
      present = !!solver->kernel->sum (child->scratch, child->rows);
    }
    if (present)
      child->active[active++] = k;
  }
  child->planes = active ? active : 1;
  if (solver->pure && active <= 2)
    child->goal = numeric_goal_two;
  child->by_label = child->goal == numeric_goal_many && solver->labelled && solver->kernel->stump_labels;
}

static void lay_planes (struct numeric_worker *worker, int32_t g) {
  treeml_numeric *solver = worker->solver;
  const struct numeric_kernel *kernel = solver->kernel;
  struct numeric_child *child = worker->child;
  struct numeric_lanes *lanes = &child->lanes[g];
  void **plane = &child->part->set->plane[(int64_t) g * solver->value_planes];
  lanes->planes = child->planes;
  if (solver->labelled) {
    pick (worker, g, plane[solver->planes + 1], child->scratch);
    kernel->spread (child->scratch, child->rows, lanes->length, 1, lanes->label);
  }
  for (int32_t i = 0; i < child->planes; i++) {
    if (solver->labelled) {
      kernel->expand (lanes->label, child->active[i], lanes->length, lanes->plane[i]);
      continue;
    }
    pick (worker, g, plane[child->active[i]], child->scratch);
    kernel->spread (child->scratch, child->rows, lanes->length, 0, lanes->plane[i]);
  }
  if (child->goal == numeric_goal_two && child->planes == 2) {
    kernel->subtract (lanes->plane[0], lanes->plane[1], lanes->length);
    lanes->planes = 1;
  }
  kernel->totals (lanes, child->goal == numeric_goal_two);
}

int numeric_child_build (struct numeric_worker *worker, const struct numeric_part *part) {
  treeml_numeric *solver = worker->solver;
  const struct numeric_kernel *kernel = solver->kernel;
  struct numeric_child *child = worker->child;
  struct numeric_set *set = part->set;
  const int split = part->column >= 0, keep = split && child->blocks == solver->columns;
  child->part = part;
  child->rows = set->rows;
  child->shared = -1;
  const size_t columns = (size_t) solver->columns;
  memset (child->made, 0, columns * columns);
  memset (child->worth_made, 0, columns);
  if (!numeric_set_values (worker, set))
    return 0;
  for (int32_t g = 0; g < solver->columns; g++) {
    struct numeric_lanes *lanes = &child->lanes[g];
    if (split) {
      const void *codes = numeric_set_pair (solver, set, g, part->column, keep, child->scratch);
      child->rows = kernel->select (codes, set->rows, part->cut, part->side, child->bits[g]);
    }
    child->length = lanes->length = lane_length (child->rows);
    pick (worker, g, numeric_set_pair (solver, set, g, g, keep, child->scratch), child->own[g]);
    if (!g)
      find_active (worker);
    lay_planes (worker, g);
    const void *codes = numeric_child_codes (worker, g, g);
    if (!codes)
      return 0;
    kernel->edges (codes, lanes);
    if (numeric_spent (worker, set->rows / 4))
      return 0;
  }
  if (child->goal == numeric_goal_two)
    child->planes = 1;
  return 1;
}

const void *numeric_child_codes (struct numeric_worker *worker, int column, int order) {
  treeml_numeric *solver = worker->solver;
  struct numeric_child *child = worker->child;
  const int32_t columns = solver->columns;
  /* Without room for all, row 0 of the table holds the pairs of whatever column is at work; a column's own codes, from
     which the edges are made, need no place once that is done. */
  const int whole = child->blocks == columns;
  const int64_t place = (whole ? (int64_t) column * columns : 0) + order;
  if (!whole && column != order && child->shared != column) {
    memset (child->made, 0, (size_t) columns);
    child->shared = column;
  }
  const int kept = whole || column != order;
  if (kept && child->made[place])
    return child->pair[place];
  if (!child->pair[place] && !(child->pair[place] = cells (solver, child->room)))
    return NULL;
  if (column == order)
    memcpy (child->scratch, child->own[order], (size_t) child->rows * (size_t) solver->kernel->cell);
  else if (child->part->column < 0)
    numeric_set_pair (solver, child->part->set, order, column, 0, child->scratch);
  else {
    /* The scratch has room for the rows of the set, which are picked in place. */
    const void *from = numeric_set_pair (solver, child->part->set, order, column, whole, child->scratch);
    pick (worker, order, from, child->scratch);
  }
  solver->kernel->spread (child->scratch, child->rows, child->length, 1, child->pair[place]);
  child->made[place] = (uint8_t) kept;
  if (!kept)
    child->shared = -1;
  return child->pair[place];
}

void numeric_child_worths (struct numeric_worker *worker, int column) {
  treeml_numeric *solver = worker->solver;
  struct numeric_child *child = worker->child;
  if (!child->worth || child->worth_made[column])
    return;
  void **plane = &child->part->set->plane[(int64_t) column * solver->value_planes + solver->planes];
  pick (worker, column, plane[0], child->scratch);
  int64_t *worth = child->worth[column];
  worth[0] = 0;
  for (int64_t i = 0; i < child->rows; i++)
    worth[i + 1] = worth[i] + numeric_cell (child->scratch, solver->kernel->cell, i);
  if (child->square) {
    pick (worker, column, plane[1], child->scratch);
    double *square = child->square[column];
    square[0] = 0;
    for (int64_t i = 0; i < child->rows; i++)
      square[i + 1] = square[i] + ((const double *) child->scratch)[i];
  }
  child->worth_made[column] = 1;
}

void numeric_child_sums (struct numeric_worker *worker, int column, int64_t position, int64_t *sums) {
  treeml_numeric *solver = worker->solver;
  const struct numeric_lanes *lanes = &worker->child->lanes[column];
  const int cell = solver->kernel->cell;
  const int64_t lane = (position - 1) / lanes->length, at = (position - 1) % lanes->length * LANES + lane;
  for (int32_t k = 0; k < worker->child->planes; k++) {
    if (position == 0)
      sums[k] = 0;
    else
      sums[k] = numeric_cell (lanes->total[k], cell, at) +
                (worker->child->goal == numeric_goal_two ? lanes->offset[lane] : 0);
  }
}
