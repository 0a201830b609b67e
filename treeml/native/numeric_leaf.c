/* What leaves and stumps cost, row by row: slow, with every constraint, for the few places that decide. */
#include "numeric_solver.h"

#include <string.h>

int64_t numeric_leaf (enum numeric_goal goal, int32_t planes, const int64_t *sums, int64_t top, double square,
                      double unit) {
  if (goal == numeric_goal_two) {
    const int64_t balance = sums[0] < 0 ? -sums[0] : sums[0];
    return (top - balance) / 2;
  }
  if (goal == numeric_goal_many) {
    int64_t most = sums[0];
    for (int32_t k = 1; k < planes; k++)
      most = sums[k] > most ? sums[k] : most;
    return top - most;
  }
  double score = 0;
  for (int32_t k = 1; k < planes; k++)
    score += (double) sums[k] * (double) sums[k];
  const double cost = (square - (sums[0] > 0 ? score / (double) sums[0] : 0)) * unit;
  return cost > 0 ? (int64_t) cost : 0;
}

/* The same for sums over all planes of the data. */
static int64_t cost_of (const treeml_numeric *solver, const int64_t *sums, int64_t top, double square) {
  return numeric_leaf (solver->goal, solver->planes, sums, top, square, solver->unit);
}

int32_t numeric_label (const treeml_numeric *solver, const int64_t *sums) {
  if (solver->goal == numeric_goal_squared)
    return -1;
  if (solver->goal == numeric_goal_two)
    return sums[0] > 0;
  int32_t best = 0;
  for (int32_t k = 1; k < solver->planes; k++)
    best = sums[k] > sums[best] ? k : best;
  return best;
}

struct running {
  int64_t *sums, top, count;
  double square;
};

static inline int passes (const treeml_numeric *solver, int32_t row, const struct numeric_filter *filter, int filters) {
  for (int i = 0; i < filters; i++)
    if ((solver->rank[filter[i].column][row] > filter[i].cut) != filter[i].side)
      return 0;
  return 1;
}

static inline void add (const treeml_numeric *solver, struct running *running, int32_t row) {
  numeric_add (solver, running->sums, row);
  running->top += solver->value[solver->planes][row];
  running->count += solver->count ? solver->count[row] : 1;
  if (solver->goal == numeric_goal_squared)
    running->square += numeric_square (solver, row);
}

struct numeric_stump numeric_exact (struct numeric_worker *worker, const struct numeric_set *set,
                                    const struct numeric_filter *filter, int filters, int64_t leaves, int32_t only) {
  treeml_numeric *solver = worker->solver;
  const int64_t price = solver->options.leaf_price, support = solver->options.support;
  const size_t bytes = (size_t) solver->planes * sizeof *worker->sums;
  struct numeric_stump best = {.value = NUMERIC_NONE, .column = -1};
  struct running all = {.sums = worker->sums}, left = {.sums = worker->sums + solver->planes};
  int64_t *right = worker->sums + 2 * solver->planes;
  memset (all.sums, 0, bytes);
  const int32_t *any = set->order[0];
  for (int64_t i = 0; i < set->rows; i++)
    if (passes (solver, any[i], filter, filters))
      add (solver, &all, any[i]);
  if (all.count >= support)
    best.value = cost_of (solver, all.sums, all.top, all.square) + price;
  if (leaves < 2 || all.count < 2 * support)
    return best;
  for (int32_t f = only < 0 ? 0 : only; f < (only < 0 ? solver->columns : only + 1); f++) {
    memset (left.sums, 0, bytes);
    left.top = left.count = 0;
    left.square = 0;
    int32_t last = -1;
    for (int64_t i = 0; i < set->rows; i++) {
      const int32_t row = set->order[f][i];
      if (!passes (solver, row, filter, filters))
        continue;
      const int32_t rank = solver->rank[f][row];
      if (last >= 0 && rank != last && left.count >= support && all.count - left.count >= support) {
        for (int32_t k = 0; k < solver->planes; k++)
          right[k] = all.sums[k] - left.sums[k];
        const int64_t value = cost_of (solver, left.sums, left.top, left.square) +
                              cost_of (solver, right, all.top - left.top, all.square - left.square) + 2 * price;
        if (value < best.value)
          best = (struct numeric_stump){.value = value, .column = f, .cut = last};
      }
      add (solver, &left, row);
      last = rank;
    }
    if (numeric_spent (worker, set->rows))
      break;
  }
  return best;
}
