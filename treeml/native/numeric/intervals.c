/* Open intervals of cuts, by staircases (see depth_two.c), and by the worths of the rows beside an evaluated point. */
#include "numeric/intervals.h"

#include <string.h>

/* The cost of a cut whose sides have these costs as leaves and as stumps. */
int64_t numeric_cost_of_cut (const struct numeric_bisection *search, int32_t column, const int64_t leaf[2],
                             const int64_t stump[2]) {
  const int64_t fee = numeric_fee (search->solver, search->part->path, column) * search->count;
  int64_t one[2], two[2];
  for (int s = 0; s < 2; s++) {
    one[s] = leaf[s] + search->price;
    two[s] = numeric_least (one[s], stump[s] + 2 * search->price);
  }
  if (search->leaves >= 4)
    return two[0] + two[1] + fee;
  return numeric_least (one[0] + two[1], two[0] + one[1]) + fee;
}

int64_t numeric_least_between (const struct numeric_bisection *search, const struct numeric_interval *open) {
  const struct numeric_point *a = &search->child->point[open->left], *b = &search->child->point[open->right];
  const int64_t leaf[2] = {a->leaf[0], b->leaf[1]}, stump[2] = {a->stump[0], b->stump[1]};
  return numeric_cost_of_cut (search, open->column, leaf, stump);
}

static int grow (struct arena *arena, void **array, int64_t used, int64_t *room, size_t size) {
  const int64_t more = *room ? 2 * *room : 256;
  void *grown = arena_allocate (arena, (size_t) more, size);
  if (!grown)
    return 0;
  if (used)
    memcpy (grown, *array, (size_t) used * size);
  arena_release (arena, *array);
  *array = grown;
  *room = more;
  return 1;
}

int32_t numeric_point_add (struct numeric_bisection *search) {
  struct numeric_child *child = search->child;
  const size_t costs = 2 * (size_t) search->solver->columns * sizeof *child->cost;
  if (child->points == child->point_room) {
    int64_t room = child->point_room;
    void *points = child->point, *cost = child->cost;
    const int fine = grow (&search->solver->arena, &points, child->points, &room, sizeof *child->point);
    child->point = points;
    room = child->point_room;
    if (!fine || !grow (&search->solver->arena, &cost, child->points, &room, costs))
      return -1;
    child->cost = cost;
    child->point_room = room;
  }
  return (int32_t) child->points++;
}

/* The first position whose worth in the order of a column exceeds a limit, between two positions. */
static int64_t first_beyond (const struct numeric_child *child, int32_t column, int64_t limit, int64_t from,
                             int64_t to) {
  if (!child->worth)
    return numeric_greatest (from, numeric_least (to, limit + 1));
  const int64_t *worth = child->worth[column];
  while (from < to) {
    const int64_t half = from + (to - from) / 2;
    if (worth[half] > limit)
      to = half;
    else
      from = half + 1;
  }
  return from;
}

void numeric_interval_shrink (struct numeric_bisection *search, struct numeric_interval *open) {
  const struct numeric_child *child = search->child;
  const struct numeric_point *a = &child->point[open->left], *b = &child->point[open->right];
  if (search->solver->group) /* a worth does not include the fees of a row */
    return;
  const int64_t left = numeric_cost_of_cut (search, open->column, a->leaf, a->stump) - search->upper;
  const int64_t right = numeric_cost_of_cut (search, open->column, b->leaf, b->stump) - search->upper;
  const int64_t low = open->low, high = open->high;
  if (left >= 0) {
    const int64_t limit = numeric_child_worth (child, open->column, a->position) + left;
    open->low = first_beyond (child, open->column, limit, open->low, open->high + 1);
  }
  if (right >= 0 && open->low <= open->high) {
    const int64_t limit = numeric_child_worth (child, open->column, b->position) - right;
    open->high = first_beyond (child, open->column, limit - 1, open->low, open->high + 1) - 1;
  }
  if (open->low != low || open->high != high)
    search->lowest = numeric_least (search->lowest, search->upper);
}

void numeric_point_link (struct numeric_child *child, int32_t column, int32_t left, int32_t made, int32_t right) {
  if (left)
    child->point[left].next = made;
  else
    child->head[column] = made;
  child->point[made].next = right;
}

int numeric_interval_push (struct numeric_bisection *search, int32_t column, int32_t left, int32_t right, int64_t low,
                           int64_t high) {
  struct numeric_child *child = search->child;
  if (low > high)
    return 1;
  struct numeric_interval open = {.column = column, .left = left, .right = right, .low = low, .high = high};
  const int64_t bound = numeric_least_between (search, &open);
  if (bound >= search->upper) {
    search->lowest = numeric_least (search->lowest, bound);
    return 1;
  }
  numeric_interval_shrink (search, &open);
  if (open.low > open.high)
    return 1;
  if (child->queued == child->queue_room) {
    void *queue = child->queue;
    const int fine = grow (&search->solver->arena, &queue, child->queued, &child->queue_room, sizeof *child->queue);
    child->queue = queue;
    if (!fine)
      return 0;
  }
  child->queue[child->queued++] = open;
  return 1;
}

/* The cut nearest to the middle at which the code changes; 0 if there is none. */
int64_t numeric_interval_middle (const struct numeric_bisection *search, const struct numeric_interval *open) {
  const void *own = search->child->own[open->column];
  const int cell = search->solver->kernel->cell;
  const int64_t at = open->low + (open->high - open->low) / 2, code = numeric_cell (own, cell, at);
  if (numeric_cell (own, cell, at - 1) != code)
    return at;
  int64_t low = 0, high = at; /* first row with this code */
  while (low < high) {
    const int64_t half = (low + high) / 2;
    if (numeric_cell (own, cell, half) < code)
      low = half + 1;
    else
      high = half;
  }
  const int64_t before = low;
  low = at + 1, high = search->child->rows; /* first row with a larger code */
  while (low < high) {
    const int64_t half = (low + high) / 2;
    if (numeric_cell (own, cell, half) <= code)
      low = half + 1;
    else
      high = half;
  }
  const int before_fits = before >= open->low, after_fits = low <= open->high;
  if (before_fits && after_fits)
    return at - before < low - at ? before : low;
  return before_fits ? before : after_fits ? low : 0;
}

/* The first row of a column, from a position on, whose cell is beyond a cut. */
static int64_t rows_up_to (const struct numeric_bisection *search, int32_t column, int64_t position, int64_t code) {
  const int cell = search->solver->kernel->cell;
  int64_t end = search->child->rows;
  while (position < end) {
    const int64_t half = position + (end - position) / 2;
    if (numeric_cell (search->child->own[column], cell, half) > code)
      end = half;
    else
      position = half + 1;
  }
  return position;
}

/* Begins with the points of a column that were evaluated for fewer rows, if they still close their cuts. */
int numeric_interval_push_traced (struct numeric_bisection *search, int32_t column, int64_t low, int64_t high) {
  const struct numeric_trace *trace = search->part->trace;
  struct numeric_child *child = search->child;
  const int64_t costs = 2 * (int64_t) search->solver->columns;
  int32_t left = 0;
  int64_t position = 0;
  for (int32_t i = trace->first[column]; i < trace->first[column + 1]; i++) {
    const struct numeric_mark *mark = &trace->mark[i];
    const int64_t leaf[2] = {mark->leaf[0], mark->leaf[1]}, stump[2] = {mark->stump[0], mark->stump[1]};
    if (numeric_cost_of_cut (search, column, leaf, stump) < search->upper)
      continue;
    position = rows_up_to (search, column, position, mark->code);
    if (position < low || position > high)
      continue;
    const int32_t made = numeric_point_add (search);
    if (made < 0)
      return 0;
    numeric_trace_read (trace, i, search->solver->columns, &child->point[made], &child->cost[made * costs]);
    numeric_point_link (child, column, left, made, 1);
    child->point[made].position = position;
    search->lowest = numeric_least (search->lowest, search->upper);
    if (!numeric_interval_push (search, column, left, made, low, position - 1))
      return 0;
    left = made;
    low = position + 1;
  }
  return numeric_interval_push (search, column, left, 1, low, high);
}
