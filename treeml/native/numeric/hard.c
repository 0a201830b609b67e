/* Rows whose neighbours are of other classes; see hard.h. */
#include "numeric/hard.h"

#include <math.h>
#include <string.h>

enum {
  neighbours = 15,
  fewest_rows = 400,    /* of the answer */
  rows_of_strange = 3,  /* at least this many rows are marked for every row that lies among other classes */
  most_work = 1 << 28,  /* in rows times rows compared with times columns */
  least_compared = 512, /* if fewer rows can be compared with, neighbours say too little */
  leaves_of_pair = 4,   /* of a tree of depth two */
  share_of_rest = 16    /* classes beyond these are worth counting if they have more than rows / share_of_rest rows */
};

/* Rows as points: in every column the share of the rows below. */
struct points {
  struct numeric_worker *worker;
  const struct numeric_set *set;
  int64_t count, step; /* of the points that rows are compared with: every `step`-th row */
  float *place;        /* columns x rows of the solver */
  float *compared;     /* columns x count */
  float *distance;     /* of one row */
  int32_t *row;        /* that is compared with */
  uint8_t *strange;    /* for every row: how many of its neighbours are of another class */
};

static int64_t class_of (const treeml_numeric *solver, int32_t row) {
  return solver->goal == numeric_goal_two ? solver->value[0][row] > 0 : solver->value[solver->planes + 1][row];
}

/* Rows with the same code have the same place: the middle of theirs. */
static void find_places (struct points *points) {
  const treeml_numeric *solver = points->worker->solver;
  const int64_t rows = points->set->rows;
  for (int32_t f = 0; f < solver->columns; f++) {
    const int32_t *order = points->set->order[f], *rank = solver->rank[f];
    for (int64_t i = 0, end; i < rows; i = end) {
      for (end = i + 1; end < rows && rank[order[end]] == rank[order[i]];)
        end++;
      for (int64_t j = i; j < end; j++)
        points->place[f * solver->rows + order[j]] = (float) (i + end) / (2 * (float) rows);
    }
    for (int64_t j = 0; j < points->count; j++)
      points->compared[f * points->count + j] = points->place[f * solver->rows + points->row[j]];
    if (numeric_spent (points->worker, rows))
      return;
  }
}

/* How many of the nearest points are of another class than the row. */
static uint8_t count_strangers (struct points *points, int32_t row) {
  const treeml_numeric *solver = points->worker->solver;
  float *distance = points->distance, nearest[neighbours];
  int32_t who[neighbours], found = 0;
  memset (distance, 0, (size_t) points->count * sizeof *distance);
  for (int32_t f = 0; f < solver->columns; f++) {
    const float here = points->place[f * solver->rows + row], *there = points->compared + f * points->count;
    for (int64_t j = 0; j < points->count; j++)
      distance[j] += fabsf (there[j] - here);
  }
  for (int64_t j = 0; j < points->count; j++) {
    if ((found == neighbours && distance[j] >= nearest[found - 1]) || points->row[j] == row)
      continue;
    int32_t at = found < neighbours ? found++ : found - 1;
    for (; at > 0 && nearest[at - 1] > distance[j]; at--) {
      nearest[at] = nearest[at - 1];
      who[at] = who[at - 1];
    }
    nearest[at] = distance[j];
    who[at] = points->row[j];
  }
  uint8_t strangers = 0;
  for (int32_t i = 0; i < found; i++)
    strangers += class_of (solver, who[i]) != class_of (solver, row);
  return strangers;
}

/* Marks the rows with the most strangers around them. Rows among other classes alone are not enough: without those that
   they lie among, a tree predicts them easily. Returns how many it marks. */
static int64_t mark_hard (struct points *points) {
  const int64_t rows = points->set->rows;
  const int32_t *order = points->set->order[0];
  int64_t with[neighbours + 1] = {0}, wanted = 0, kept = 0;
  for (int64_t i = 0; i < rows; i++)
    with[points->strange[order[i]]]++;
  for (int32_t k = neighbours / 2 + 1; k <= neighbours; k++)
    wanted += rows_of_strange * with[k];
  wanted = wanted > fewest_rows ? wanted : fewest_rows;
  int32_t least = neighbours;
  for (kept = with[least]; least > 1 && kept < wanted; kept += with[least])
    least--;
  for (int64_t i = 0; i < rows; i++)
    points->strange[order[i]] = points->strange[order[i]] >= least;
  return kept;
}

static int64_t find_hard (struct points *points) {
  const treeml_numeric *solver = points->worker->solver;
  const int32_t *order = points->set->order[0];
  for (int64_t j = 0; j < points->count; j++)
    points->row[j] = order[j * points->step];
  find_places (points);
  for (int64_t i = 0; i < points->set->rows; i++) {
    points->strange[order[i]] = count_strangers (points, order[i]);
    if (numeric_spent (points->worker, points->count * solver->columns / 32))
      return 0;
  }
  return mark_hard (points);
}

/* Whether counting classes bounds trees well: then all rows are better than those without a class. */
static int has_many_classes (struct numeric_worker *worker, const struct numeric_set *set) {
  const treeml_numeric *solver = worker->solver;
  int64_t *sums = worker->sums, top[leaves_of_pair] = {0}, rest = 0;
  if (solver->goal == numeric_goal_two)
    return 0;
  memset (sums, 0, (size_t) solver->planes * sizeof *sums);
  for (int64_t i = 0; i < set->rows; i++)
    sums[class_of (solver, set->order[0][i])]++;
  for (int32_t k = 0; k < solver->planes; k++) {
    int64_t count = sums[k];
    for (int i = 0; i < leaves_of_pair; i++)
      if (count > top[i]) {
        const int64_t smaller = top[i];
        top[i] = count;
        count = smaller;
      }
    rest += count;
  }
  return rest > set->rows / share_of_rest;
}

struct numeric_set *numeric_hard_create (struct numeric_worker *worker, const struct numeric_set *set) {
  treeml_numeric *solver = worker->solver;
  struct arena *arena = &solver->arena;
  const int64_t rows = set->rows, columns = solver->columns, most = most_work / rows / columns;
  if (solver->goal != numeric_goal_two && (solver->goal != numeric_goal_many || !solver->pure))
    return NULL;
  if (has_many_classes (worker, set))
    return NULL;
  struct points points = {.worker = worker, .set = set, .step = most ? (rows + most - 1) / most : rows};
  points.count = rows / points.step;
  if (points.count < least_compared)
    return NULL;
  points.place = arena_reserve (arena, (size_t) (columns * solver->rows), sizeof (float));
  points.compared = arena_reserve (arena, (size_t) (columns * points.count), sizeof (float));
  points.distance = arena_reserve (arena, (size_t) points.count, sizeof (float));
  points.row = arena_reserve (arena, (size_t) points.count, sizeof *points.row);
  points.strange = arena_allocate (arena, (size_t) solver->rows, 1);
  struct numeric_set *hard = arena_allocate (arena, 1, sizeof *hard);
  int fine = points.place && points.compared && points.distance && points.row && points.strange && hard;
  if (fine) {
    const int64_t kept = find_hard (&points);
    fine = kept && 4 * kept <= 3 * rows && numeric_set_marked (worker, set, points.strange, hard);
  }
  arena_release (arena, points.place);
  arena_release (arena, points.compared);
  arena_release (arena, points.distance);
  arena_release (arena, points.row);
  arena_release (arena, points.strange);
  if (fine)
    return hard;
  numeric_hard_destroy (solver, hard);
  return NULL;
}

void numeric_hard_destroy (treeml_numeric *solver, struct numeric_set *hard) {
  if (!hard)
    return;
  numeric_set_release (solver, hard);
  arena_release (&solver->arena, hard);
}
