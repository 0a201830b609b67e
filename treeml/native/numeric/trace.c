/* Traces: the sides of two cuts of the same column differ only in the rows between the cuts.

   If a side holds all rows of another one, then each of its cuts costs at least as much as there, and so does the stump
   of each column on either side of the cut. So a search begins with the points that were evaluated for the nearest side
   with fewer rows, where their costs still suffice, and looks again only between them. */
#include "numeric/trace.h"

/* An empty trace with room for these points, in one block. */
static struct numeric_trace *allocate (struct arena *arena, int32_t columns, int64_t points) {
  const size_t count = (size_t) points, head = sizeof (struct numeric_trace);
  const size_t marks = count * sizeof (struct numeric_mark), first = ((size_t) columns + 1) * sizeof (int32_t);
  const size_t bytes = head + marks + first + 2 * count * (size_t) columns * sizeof (int32_t);
  char *block = arena_reserve (arena, bytes, 1);
  struct numeric_trace *trace = (struct numeric_trace *) block;
  if (!block)
    return NULL;
  *trace = (struct numeric_trace) {.mark = (struct numeric_mark *) (block + head),
                                   .first = (int32_t *) (block + head + marks),
                                   .cost = (int32_t *) (block + head + marks + first)};
  return trace;
}

static void write_mark (struct numeric_worker *worker, struct numeric_trace *trace, int64_t at, int32_t column,
                        int32_t number) {
  const struct numeric_child *child = worker->child;
  const struct numeric_point *point = &child->point[number];
  const int64_t costs = 2 * (int64_t) worker->solver->columns;
  struct numeric_mark *mark = &trace->mark[at];
  mark->code = (int32_t) numeric_cell (child->own[column], worker->solver->kernel->cell, point->position - 1);
  for (int s = 0; s < 2; s++) {
    mark->leaf[s] = (int32_t) point->leaf[s];
    mark->stump[s] = (int32_t) point->stump[s];
    mark->column[s] = point->column[s];
  }
  const int64_t *from = &child->cost[number * costs];
  int32_t *to = &trace->cost[at * costs];
  for (int64_t i = 0; i < costs; i++)
    to[i] = (int32_t) from[i];
}

int numeric_trace_fits (const treeml_numeric *solver) {
  return (solver->goal == numeric_goal_two || solver->goal == numeric_goal_many) && solver->worth_sum < INT32_MAX / 4;
}

/* The number of points of a column that are worth a mark, and the marks if `trace` is given: those between which the
   staircases alone would not close all cuts with some margin. */
static int32_t mark_column (struct numeric_worker *worker, int32_t column, int64_t least, struct numeric_trace *trace,
                            int32_t marks) {
  const struct numeric_child *child = worker->child;
  const int64_t margin = least / 8;
  int64_t left = 0; /* the stump on the yes side of the last mark */
  for (int32_t i = child->head[column]; i > 1; i = child->point[i].next) {
    const struct numeric_point *point = &child->point[i];
    if (point->stump[0] + point->stump[1] < least || left + child->point[point->next].stump[1] >= least + margin)
      continue;
    left = point->stump[0];
    if (trace)
      write_mark (worker, trace, marks, column, i);
    marks++;
  }
  return marks;
}

struct numeric_trace *numeric_trace_create (struct numeric_worker *worker, int64_t least) {
  const int32_t columns = worker->solver->columns;
  int32_t marks = 0, written = 0;
  for (int32_t f = 0; f < columns; f++)
    marks = mark_column (worker, f, least, NULL, marks);
  /* Memory for what the search cannot do without comes first. */
  const struct arena *arena = &worker->solver->arena;
  if (atomic_load (&arena->used) > arena->limit / 2)
    return NULL;
  struct numeric_trace *trace = marks ? allocate (&worker->solver->arena, columns, marks) : NULL;
  for (int32_t f = 0; trace && f < columns; f++) {
    trace->first[f] = written;
    written = mark_column (worker, f, least, trace, written);
  }
  if (trace)
    trace->first[columns] = written;
  return trace;
}

void numeric_trace_read (const struct numeric_trace *trace, int64_t number, int32_t columns,
                         struct numeric_point *point, int64_t *cost) {
  const struct numeric_mark *mark = &trace->mark[number];
  for (int s = 0; s < 2; s++) {
    point->leaf[s] = mark->leaf[s];
    point->stump[s] = mark->stump[s];
    point->column[s] = mark->column[s];
  }
  for (int64_t i = 0; i < 2 * (int64_t) columns; i++)
    cost[i] = trace->cost[number * 2 * columns + i];
}

void numeric_trace_add (struct numeric_trace **list, struct numeric_trace *trace) {
  while (*list && (*list)->position < trace->position)
    list = &(*list)->next;
  trace->next = *list;
  *list = trace;
}

void numeric_trace_prune (struct arena *arena, struct numeric_trace **list, int side, const int32_t *position,
                          const int32_t *alive, int32_t open) {
  int32_t last = -1, i = 0; /* the position of the entry before */
  for (struct numeric_trace **at = list; *at;) {
    struct numeric_trace *trace = *at;
    const int32_t from = side ? last : trace->position;
    const int32_t to = side ? trace->position : trace->next ? trace->next->position : INT32_MAX;
    while (i < open && position[alive[i]] <= from)
      i++;
    last = trace->position;
    if (trace->used || (i < open && position[alive[i]] < to)) {
      at = &trace->next;
      continue;
    }
    *at = trace->next;
    arena_release (arena, trace);
  }
}

struct numeric_trace *numeric_trace_find (struct numeric_trace *list, int32_t position, int side) {
  struct numeric_trace *best = NULL;
  for (; list && (side ? !best : list->position < position); list = list->next)
    if (!side || list->position > position)
      best = list;
  if (best)
    best->used++;
  return best;
}

void numeric_trace_destroy (struct arena *arena, struct numeric_trace *list) {
  while (list) {
    struct numeric_trace *next = list->next;
    arena_release (arena, list);
    list = next;
  }
}
