/* A first tree: the split that separates the classes best by the Gini index (or the targets by their squared error),
   and so on below, as CART does (Breiman, Friedman, Olshen and Stone, 1984); the last split of a path by cost. */
#include "numeric_solver.h"

#include <string.h>

struct split {
  double score;
  int32_t column;
  int64_t cut;
};

/* How well a side is separated: the sum of the squares of its class sums over its size; more is better. */
static double separation (const treeml_numeric *solver, const int64_t *sums, int64_t top) {
  if (solver->goal == numeric_goal_two) {
    const double ones = (double) (top + sums[0]) / 2, zeros = (double) (top - sums[0]) / 2;
    return top > 0 ? (ones * ones + zeros * zeros) / (double) top : 0;
  }
  const int first = solver->goal == numeric_goal_squared;
  const double size = first ? (double) sums[0] : (double) top;
  double score = 0;
  for (int32_t k = first; k < solver->planes; k++)
    score += (double) sums[k] * (double) sums[k];
  return size > 0 ? score / size : 0;
}

static struct split best_split (struct numeric_worker *worker, const struct numeric_set *set) {
  treeml_numeric *solver = worker->solver;
  const int32_t planes = solver->planes;
  const int64_t support = solver->options.support;
  int64_t *all = worker->sums, *left = all + planes, *right = left + planes, top = 0, total = 0;
  struct split best = {.score = -1, .column = -1};
  memset (all, 0, (size_t) planes * sizeof *all);
  for (int64_t i = 0; i < set->rows; i++) {
    const int32_t row = set->order[0][i];
    numeric_add (solver, all, row);
    top += solver->value[planes][row];
    total += solver->count ? solver->count[row] : 1;
  }
  for (int32_t f = 0; f < solver->columns; f++) {
    const int32_t *order = set->order[f], *rank = solver->rank[f];
    int64_t top_left = 0, count = 0;
    memset (left, 0, (size_t) planes * sizeof *left);
    for (int64_t i = 0; i < set->rows; i++) {
      const int32_t row = order[i];
      if (i && rank[row] != rank[order[i - 1]] && count >= support && total - count >= support) {
        for (int32_t k = 0; k < planes; k++)
          right[k] = all[k] - left[k];
        const double score = separation (solver, left, top_left) + separation (solver, right, top - top_left);
        if (score > best.score)
          best = (struct split){.score = score, .column = f, .cut = rank[order[i - 1]]};
      }
      numeric_add (solver, left, row);
      top_left += solver->value[planes][row];
      count += solver->count ? solver->count[row] : 1;
    }
    if (numeric_spent (worker, set->rows))
      break;
  }
  return best;
}

int numeric_greedy (struct numeric_worker *worker, struct numeric_set *set, int64_t depth, int64_t leaves,
                    struct numeric_tree *tree) {
  treeml_numeric *solver = worker->solver;
  struct arena *arena = &solver->arena;
  struct split split = {.column = -1};
  if (depth > 1 && leaves > 2 && !numeric_stopping (solver))
    split = best_split (worker, set);
  else if (depth > 0 && leaves > 1) {
    const struct numeric_stump last = numeric_exact (worker, set, NULL, 0, 2, -1);
    split = (struct split){.column = last.column, .cut = last.cut};
  }
  const int64_t node = numeric_tree_add (arena, tree, split.column, (int32_t) split.cut);
  if (node < 0)
    return 0;
  if (split.column < 0)
    return 1;
  for (int side = 0; side < 2; side++) {
    const int64_t below = tree->nodes;
    if (depth == 1 || leaves == 2) {
      if (numeric_tree_add (arena, tree, -1, 0) < 0)
        return 0;
    } else {
      struct numeric_set part;
      const int fine = numeric_set_split (worker, set, split.column, split.cut, side, &part) &&
                       numeric_greedy (worker, &part, depth - 1, side ? leaves / 2 : leaves - leaves / 2, tree);
      numeric_set_release (solver, &part);
      if (!fine)
        return 0;
    }
    if (side)
      tree->no[node] = (int32_t) below;
    else
      tree->yes[node] = (int32_t) below;
  }
  return 1;
}
