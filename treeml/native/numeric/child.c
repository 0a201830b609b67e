/* Lays out a part of a set of rows for sweeps: picks its rows from the parent's arrays, column by column, and spreads
   them over lanes.

   Only what every search needs is made at once. The codes of a column in the order of another column are made when a
   cut of that column is evaluated for the first time. */
#include "numeric/child.h"

#include <string.h>

static int32_t lane_length (int64_t rows) {
  const int64_t length = (rows + LANES - 1) / LANES;
  return (int32_t) ((length + BLOCK - 1) / BLOCK * BLOCK);
}

/* Padding for vectors that read and write beyond the last row. */
static size_t padded (int64_t rows) { return (size_t) lane_length (rows) * LANES + 2 * 64; }

/* All memory of a child comes from one block: its parts are measured first and then assigned. */
struct dealer {
  char *block;
  size_t used;
};

static void *deal (struct dealer *dealer, size_t count, size_t size) {
  void *part = dealer->block ? dealer->block + dealer->used : NULL;
  dealer->used += (count * size + 63) / 64 * 64;
  return part;
}

static size_t cell_bytes (const treeml_numeric *solver) {
  return (padded (solver->rows) * (size_t) solver->kernel->cell + 63) / 64 * 64;
}

/* If sweeps count labels, planes are needed only when two classes are left. */
static int32_t planes_of (const treeml_numeric *solver) {
  const int by_label = solver->labelled && solver->kernel->stump_labels && solver->planes <= 8;
  return by_label && solver->planes > 2 ? 2 : solver->planes;
}

static void deal_column (treeml_numeric *solver, struct numeric_child *child, int32_t g, struct dealer *dealer) {
  const size_t planes = (size_t) solver->planes, bytes = cell_bytes (solver);
  const size_t sums = planes * (sizeof (int64_t) * (8 + 2 * LANES) + 3 * 64) + 128;
  uint64_t *bits = deal (dealer, (size_t) child->room / 64 + 2, sizeof *bits);
  void *own = deal (dealer, bytes, 1);
  struct numeric_lanes made = {.narrow = solver->worth_sum < INT16_MAX, .active = child->active};
  made.plane = deal (dealer, planes, sizeof *made.plane);
  made.total = deal (dealer, planes, sizeof *made.total);
  made.edge =
      solver->kernel->edge_bits_only && (solver->goal == numeric_goal_two || planes_of (solver) < solver->planes)
          ? NULL
          : deal (dealer, bytes, 1);
  made.edge_bits = deal (dealer, (size_t) lane_length (child->room), sizeof *made.edge_bits);
  made.sum = deal (dealer, sums, 1);
  made.before = deal (dealer, planes * LANES, sizeof *made.before);
  made.label = solver->labelled ? deal (dealer, bytes, 1) : NULL;
  const int squared = solver->goal == numeric_goal_squared;
  int64_t *worth = solver->unit_worth ? NULL : deal (dealer, (size_t) child->room + 1, sizeof *worth);
  double *square = squared ? deal (dealer, (size_t) child->room + 1, sizeof *square) : NULL;
  const int quantile = solver->goal == numeric_goal_quantile;
  for (int32_t o = 0; quantile && o < solver->outputs; o++) {
    int32_t *place = deal (dealer, (size_t) child->room, sizeof *place);
    void *cells = deal (dealer, bytes, 1);
    if (dealer->block) {
      child->place[g * solver->outputs + o] = place;
      child->place_cells[g * solver->outputs + o] = cells;
    }
  }
  int64_t *weight = quantile && solver->weighted ? deal (dealer, (size_t) child->room, sizeof *weight) : NULL;
  for (int32_t k = 0; !quantile && k < planes_of (solver); k++) {
    void *plane = deal (dealer, bytes, 1), *total = deal (dealer, bytes, 1);
    if (dealer->block) {
      made.plane[k] = plane;
      made.total[k] = total;
    }
  }
  if (!dealer->block)
    return;
  child->lanes[g] = made;
  child->bits[g] = bits;
  child->own[g] = own;
  if (worth)
    child->worth[g] = worth;
  if (square)
    child->square[g] = square;
  if (quantile)
    child->weight[g] = weight;
}

static void deal_places (treeml_numeric *solver, struct numeric_child *child, struct dealer *dealer) {
  const size_t columns = (size_t) solver->columns, outputs = (size_t) solver->outputs;
  child->place = deal (dealer, columns * outputs, sizeof *child->place);
  child->place_cells = deal (dealer, columns * outputs, sizeof *child->place_cells);
  child->weight = deal (dealer, columns, sizeof *child->weight);
  child->renumbered = deal (dealer, outputs, sizeof *child->renumbered);
  child->targets = deal (dealer, outputs, sizeof *child->targets);
  child->buckets = deal (dealer, outputs, sizeof *child->buckets);
  for (int32_t o = 0; o < solver->outputs; o++) {
    const size_t places = (size_t) solver->targets[o].places;
    int32_t *renumbered = deal (dealer, places, sizeof *renumbered);
    int64_t *target = deal (dealer, places + 2, sizeof *target);
    uint8_t *bucket = deal (dealer, places, 1);
    if (!dealer->block)
      continue;
    child->buckets[o].of_place = bucket;
    child->renumbered[o] = renumbered;
    child->targets[o].target = target;
  }
}

static void deal_child (treeml_numeric *solver, struct numeric_child *child, struct dealer *dealer) {
  const size_t columns = (size_t) solver->columns;
  child->bits = deal (dealer, columns, sizeof *child->bits);
  child->own = deal (dealer, columns, sizeof *child->own);
  child->lanes = deal (dealer, columns, sizeof *child->lanes);
  child->block = deal (dealer, columns, sizeof *child->block);
  child->made = deal (dealer, columns * columns, 1);
  child->worth_made = deal (dealer, columns, 1);
  child->turn = deal (dealer, columns, sizeof *child->turn);
  child->head = deal (dealer, columns, sizeof *child->head);
  child->active = deal (dealer, (size_t) solver->planes, sizeof *child->active);
  child->scratch = deal (dealer, cell_bytes (solver), 1);
  child->worth = solver->unit_worth ? NULL : deal (dealer, columns, sizeof *child->worth);
  child->square = solver->goal == numeric_goal_squared ? deal (dealer, columns, sizeof *child->square) : NULL;
  if (solver->goal == numeric_goal_quantile)
    deal_places (solver, child, dealer);
  for (int32_t g = 0; g < solver->columns; g++)
    deal_column (solver, child, g, dealer);
}

struct numeric_child *numeric_child_create (treeml_numeric *solver) {
  struct arena *arena = &solver->arena;
  struct numeric_child *child = arena_allocate (arena, 1, sizeof *child);
  if (!child)
    return NULL;
  child->room = solver->rows;
  child->shared = -1;
  struct dealer dealer = {0};
  deal_child (solver, child, &dealer);
  if (!(child->all = dealer.block = arena_reserve (arena, dealer.used, 1))) {
    arena_release (arena, child);
    return NULL;
  }
  dealer.used = 0;
  deal_child (solver, child, &dealer);
  memset (child->block, 0, (size_t) solver->columns * sizeof *child->block);
  /* Memory for all pairs of columns if that is modest, otherwise for the pairs of one column at a time. */
  const double bytes = (double) solver->columns * (double) solver->columns * (double) cell_bytes (solver);
  const double modest = solver->arena.limit < (size_t) 1 << 32 ? (double) solver->arena.limit / 8 : 5e8;
  child->blocks = bytes <= modest ? solver->columns : 0;
  return child;
}

void numeric_child_destroy (treeml_numeric *solver, struct numeric_child *child) {
  struct arena *arena = &solver->arena;
  if (!child)
    return;
  for (int32_t f = 0; f < solver->columns; f++)
    arena_release (arena, child->block[f]);
  arena_release (arena, child->all);
  arena_release (arena, child->point);
  arena_release (arena, child->cost);
  arena_release (arena, child->queue);
  arena_release (arena, child);
}

/* Picks the cells of the rows of the part, in their order, from those of the whole set. */
static void pick (struct numeric_worker *worker, int order, const void *from, void *to) {
  treeml_numeric *solver = worker->solver;
  struct numeric_child *child = worker->child;
  const struct numeric_part *part = child->part;
  if (part->column < 0 && to != from)
    memcpy (to, from, (size_t) part->set->rows * (size_t) solver->kernel->cell);
  else if (part->column >= 0)
    solver->kernel->compress (from, child->bits[order], part->set->rows, to);
}

/* Writes the values of the part's rows, in the order of a column, to the scratch memory. */
static void fetch (struct numeric_worker *worker, int32_t g, int32_t plane) {
  treeml_numeric *solver = worker->solver;
  const struct numeric_set *set = worker->child->part->set;
  if (set->complete)
    pick (worker, g, set->plane[(int64_t) g * solver->value_planes + plane], worker->child->scratch);
  else
    solver->kernel->gather_values (solver->value[plane], set->order[g], set->rows, worker->child->scratch);
}

/* Classes without rows need no plane; two classes share one plane of signed weights. */
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
    fetch (worker, 0, solver->planes + 1);
    for (int64_t i = 0; i < child->rows; i++)
      child->active[numeric_cell (child->scratch, solver->kernel->cell, i)] = 1;
  }
  for (int32_t k = 0; k < solver->planes; k++) {
    int present = solver->labelled && child->active[k];
    if (!solver->labelled) {
      fetch (worker, 0, k);
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

/* Returns 0 if the search is stopping. */
static int lay_planes (struct numeric_worker *worker, int32_t g) {
  treeml_numeric *solver = worker->solver;
  const struct numeric_kernel *kernel = solver->kernel;
  struct numeric_child *child = worker->child;
  struct numeric_lanes *lanes = &child->lanes[g];
  lanes->planes = child->planes;
  if (solver->labelled) {
    fetch (worker, g, solver->planes + 1);
    kernel->spread (child->scratch, child->rows, lanes->length, 1, lanes->label);
  }
  if (child->by_label && planes_of (solver) < solver->planes) {
    kernel->count_labels (lanes);
    return 1;
  }
  for (int32_t i = 0; i < child->planes; i++) {
    if (solver->labelled) {
      kernel->expand (lanes->label, child->active[i], lanes->length, lanes->plane[i]);
      continue;
    }
    fetch (worker, g, child->active[i]);
    kernel->spread (child->scratch, child->rows, lanes->length, 0, lanes->plane[i]);
    if (numeric_spent (worker, child->rows / 4))
      return 0;
  }
  if (child->goal == numeric_goal_two && child->planes == 2) {
    kernel->subtract (lanes->plane[0], lanes->plane[1], lanes->length);
    lanes->planes = 1;
  }
  kernel->totals (lanes, child->goal == numeric_goal_two);
  return 1;
}

/* Numbers the targets of an output that are left by ascending target. */
static void renumber_places (struct numeric_worker *worker, int32_t output) {
  treeml_numeric *solver = worker->solver;
  struct numeric_child *child = worker->child;
  const struct numeric_targets *all = &solver->targets[output];
  struct numeric_targets *left = &child->targets[output];
  int32_t *number = child->renumbered[output];
  memset (number, 0, (size_t) all->places * sizeof *number);
  fetch (worker, 0, solver->planes + 1 + output);
  for (int64_t i = 0; i < child->rows; i++)
    number[numeric_cell (child->scratch, solver->kernel->cell, i)] = 1;
  left->places = 0;
  left->target[0] = 0;
  for (int32_t i = 0; i < all->places; i++)
    if (number[i]) {
      number[i] = left->places++;
      left->target[left->places] = all->target[i + 1];
    }
  left->target[left->places + 1] = 0;
  numeric_buckets_make (left, &child->buckets[output]);
}

static inline void set_cell (void *cells, int width, int64_t index, int32_t value) {
  if (width == 2)
    ((int16_t *) cells)[index] = (int16_t) value;
  else if (width == 4)
    ((int32_t *) cells)[index] = value;
  else
    ((int64_t *) cells)[index] = value;
}

static void lay_places (struct numeric_worker *worker, int32_t g) {
  treeml_numeric *solver = worker->solver;
  struct numeric_child *child = worker->child;
  const int cell = solver->kernel->cell;
  for (int32_t o = 0; o < solver->outputs; o++) {
    int32_t *place = child->place[g * solver->outputs + o];
    if (!g)
      renumber_places (worker, o);
    fetch (worker, g, solver->planes + 1 + o);
    for (int64_t i = 0; i < child->rows; i++) {
      place[i] = child->renumbered[o][numeric_cell (child->scratch, cell, i)];
      set_cell (child->place_cells[g * solver->outputs + o], cell, i, place[i]);
    }
  }
  if (!solver->weighted)
    return;
  fetch (worker, g, 0);
  for (int64_t i = 0; i < child->rows; i++)
    child->weight[g][i] = numeric_cell (child->scratch, cell, i);
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
  if (split && !numeric_set_values (worker, set))
    return 0;
  for (int32_t g = 0; g < solver->columns; g++) {
    struct numeric_lanes *lanes = &child->lanes[g];
    if (split) {
      const void *codes = numeric_set_pair (solver, set, g, part->column, keep, child->scratch);
      child->rows = kernel->select (codes, set->rows, part->cut, part->side, child->bits[g]);
    }
    child->length = lanes->length = lane_length (child->rows);
    if (split)
      pick (worker, g, numeric_set_pair (solver, set, g, g, keep, child->scratch), child->own[g]);
    else
      kernel->gather_codes (solver->rank[g], set->order[g], set->rows, child->own[g]);
    if (!g)
      find_active (worker);
    if (solver->goal == numeric_goal_quantile) {
      lay_places (worker, g);
      if (numeric_spent (worker, set->rows / 4))
        return 0;
      continue;
    }
    if (!lay_planes (worker, g))
      return 0;
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
  /* If there is not enough memory for all pairs, row 0 of the table holds the pairs of the column in use. A column's
     own codes are needed only to make the edges and are not kept. */
  const int whole = child->blocks == columns, split = child->part->column >= 0;
  const int64_t place = (whole ? (int64_t) column * columns : 0) + order;
  if (!whole && column != order && child->shared != column) {
    memset (child->made, 0, (size_t) columns);
    child->shared = column;
  }
  char **block = &child->block[whole ? column : 0];
  if (!*block && !(*block = arena_reserve (&solver->arena, (size_t) columns, cell_bytes (solver))))
    return NULL;
  void *lanes = *block + (size_t) order * cell_bytes (solver);
  const int kept = whole || column != order;
  if (kept && child->made[place])
    return lanes;
  void *from = child->scratch; /* spreading writes beyond the last row, for which only a child has room */
  if (column == order)
    from = child->own[order];
  else /* the scratch memory holds all rows of the set, from which a part is picked in place */
    pick (worker, order, numeric_set_pair (solver, child->part->set, order, column, whole && split, child->scratch),
          from);
  if (solver->goal == numeric_goal_quantile)
    memcpy (lanes, from, (size_t) child->rows * (size_t) solver->kernel->cell);
  else
    solver->kernel->spread (from, child->rows, child->length, 1, lanes);
  child->made[place] = (uint8_t) kept;
  if (!kept)
    child->shared = -1;
  return lanes;
}

void numeric_child_worths (struct numeric_worker *worker, int column) {
  treeml_numeric *solver = worker->solver;
  struct numeric_child *child = worker->child;
  if (!child->worth || child->worth_made[column])
    return;
  fetch (worker, column, solver->planes);
  int64_t *worth = child->worth[column];
  worth[0] = 0;
  for (int64_t i = 0; i < child->rows; i++)
    worth[i + 1] = worth[i] + numeric_cell (child->scratch, solver->kernel->cell, i);
  if (child->square) {
    fetch (worker, column, solver->planes + 1);
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
  if (worker->child->by_label && planes_of (solver) < solver->planes) {
    int64_t *of_label = sums + solver->planes; /* indexed by label */
    for (int32_t k = 0; k < worker->child->planes; k++)
      of_label[lanes->active[k]] = position ? lanes->before[k * LANES + lane] : 0;
    for (int64_t i = lane; position && i <= at; i += LANES)
      of_label[numeric_cell (lanes->label, cell, i)]++;
    for (int32_t k = 0; k < worker->child->planes; k++)
      sums[k] = of_label[lanes->active[k]];
    return;
  }
  for (int32_t k = 0; k < worker->child->planes; k++) {
    if (position == 0)
      sums[k] = 0;
    else
      sums[k] = numeric_cell (lanes->total[k], cell, at) +
                (worker->child->goal == numeric_goal_two ? lanes->offset[lane] : 0);
  }
}
