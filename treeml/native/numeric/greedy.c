/* First trees. As in CART (Breiman, Friedman, Olshen and Stone, 1984), each split separates the classes best by the
   Gini index, or the targets by their squared error; the last split of a path is chosen by cost. With many rows a
   sample comes first, so that there is a tree soon, followed by all rows. Then the best trees of depth two replace the
   last two splits of every path. Finally, each split is the one with which the best tree of depth two of its rows
   begins (one step further than CART, after Babbar et al., 2025). When interrupted, undecided nodes become leaves. */
#include "numeric/solver.h"

#include <string.h>

/* The rows of a set in the order of a column, and their totals. */
struct sweep {
  treeml_numeric *solver;
  struct numeric_worker *worker;
  const int32_t *order, *rank;
  int64_t rows, *all, *left, *right, top, total;
  int64_t top_left, count; /* sums over the rows passed */
  double squares[2];       /* sums of squared class sums on either side, if each row has one class */
  int32_t column;
  struct numeric_split best;
};

static double ratio (double squares, double size) { return size > 0 ? squares / size : 0; }

/* How well the sides are separated: the squares of their class sums over their sizes; higher is better. */
static double separation (struct sweep *sweep) {
  const treeml_numeric *solver = sweep->solver;
  const double left = (double) sweep->top_left, right = (double) (sweep->top - sweep->top_left);
  if (solver->goal == numeric_goal_two) {
    const double balance = (double) sweep->left[0], other = (double) (sweep->all[0] - sweep->left[0]);
    return ratio (balance * balance, left) + ratio (other * other, right);
  }
  if (solver->goal == numeric_goal_many && solver->pure)
    return ratio (sweep->squares[0], left) + ratio (sweep->squares[1], right);
  const int first = solver->goal == numeric_goal_squared || solver->goal == numeric_goal_quantile;
  double squares[2] = {0, 0};
  for (int32_t k = first; k < solver->planes; k++) {
    const double other = (double) (sweep->all[k] - sweep->left[k]);
    squares[0] += (double) sweep->left[k] * (double) sweep->left[k];
    squares[1] += other * other;
  }
  if (!first)
    return ratio (squares[0], left) + ratio (squares[1], right);
  return ratio (squares[0], (double) sweep->left[0]) + ratio (squares[1], (double) (sweep->all[0] - sweep->left[0]));
}

static void add (struct sweep *sweep, int32_t row) {
  const treeml_numeric *solver = sweep->solver;
  const int64_t worth = solver->value[solver->planes][row];
  if (solver->goal == numeric_goal_two)
    sweep->left[0] += solver->value[0][row];
  else if (solver->goal == numeric_goal_many && solver->pure) {
    const int64_t label = solver->value[solver->planes + 1][row], here = sweep->left[label];
    const int64_t there = sweep->all[label] - here;
    sweep->squares[0] += (double) worth * (double) (2 * here + worth);
    sweep->squares[1] -= (double) worth * (double) (2 * there - worth);
    sweep->left[label] = here + worth;
  } else
    numeric_add (solver, sweep->left, row);
  sweep->top_left += worth;
  sweep->count += solver->count ? solver->count[row] : 1;
}

/* Returns whether the search goes on. */
static int sweep_column (struct sweep *sweep) {
  treeml_numeric *solver = sweep->solver;
  const int64_t support = solver->options.support;
  memset (sweep->left, 0, (size_t) solver->planes * sizeof *sweep->left);
  sweep->top_left = sweep->count = 0;
  sweep->squares[0] = sweep->squares[1] = 0;
  for (int32_t k = 0; k < solver->planes; k++)
    sweep->squares[1] += (double) sweep->all[k] * (double) sweep->all[k];
  for (int64_t begin = 0; begin < sweep->rows; begin += numeric_block) {
    const int64_t end = begin + numeric_block < sweep->rows ? begin + numeric_block : sweep->rows;
    for (int64_t i = begin; i < end; i++) {
      const int32_t row = sweep->order[i];
      if (i && sweep->rank[row] != sweep->rank[sweep->order[i - 1]] && sweep->count >= support &&
          sweep->total - sweep->count >= support) {
        const double score = separation (sweep);
        if (score > sweep->best.score)
          sweep->best =
              (struct numeric_split) {.score = score, .column = sweep->column, .cut = sweep->rank[sweep->order[i - 1]]};
      }
      add (sweep, row);
    }
    if (numeric_spent (sweep->worker, end - begin))
      return 0;
  }
  return 1;
}

struct numeric_split numeric_separating_split (struct numeric_worker *worker, const struct numeric_set *set,
                                               int32_t only) {
  treeml_numeric *solver = worker->solver;
  const int32_t planes = solver->planes;
  struct sweep sweep = {.solver = solver,
                        .worker = worker,
                        .rows = set->rows,
                        .all = worker->sums,
                        .left = worker->sums + planes,
                        .best = {.score = -1, .column = -1}};
  memset (sweep.all, 0, (size_t) planes * sizeof *sweep.all);
  int going = 1;
  for (int64_t i = 0; going && i < set->rows; i++) {
    const int32_t row = set->order[0][i];
    numeric_add (solver, sweep.all, row);
    sweep.top += solver->value[planes][row];
    sweep.total += solver->count ? solver->count[row] : 1;
    if (i % numeric_block == numeric_block - 1)
      going = !numeric_spent (worker, numeric_block);
  }
  for (int32_t f = only < 0 ? 0 : only; going && f < (only < 0 ? solver->columns : only + 1); f++) {
    sweep.column = f;
    sweep.order = set->order[f];
    sweep.rank = solver->rank[f];
    going = sweep_column (&sweep);
  }
  return sweep.best;
}

/* Replaces the last splits by the best tree of depth two, unless that costs too much. */
static int end_exactly (struct numeric_worker *worker, struct numeric_set *set, int64_t depth, int64_t leaves,
                        struct numeric_tree *tree) {
  struct arena *arena = &worker->solver->arena;
  const struct numeric_part part = {.set = set, .column = -1};
  struct numeric_found found;
  struct numeric_tree below = {0};
  const int64_t value = numeric_depth_two (worker, &part, depth, leaves, worker->spare, 0, &found).value;
  if (worker->spare < NUMERIC_NONE && value >= worker->spare)
    return 0;
  worker->spare -= worker->spare < NUMERIC_NONE ? value : 0;
  const int fine = found.kind ? numeric_depth_two_tree (worker, &part, leaves, &found, &below)
                              : numeric_tree_add (arena, &below, -1, 0) >= 0;
  const int kept = fine && numeric_tree_append (arena, tree, &below) >= 0;
  numeric_tree_release (arena, &below);
  return kept;
}

static struct numeric_split choose (struct numeric_worker *worker, const struct numeric_set *set, int64_t depth,
                                    int64_t leaves) {
  if (depth == 0 || leaves < 2 || numeric_stopping (worker->solver))
    return (struct numeric_split) {.column = -1};
  if (depth > 1 && leaves > 2)
    return numeric_separating_split (worker, set, -1);
  const struct numeric_stump last = numeric_best_stump (worker, set, NULL, 0, 2, -1, NULL);
  return (struct numeric_split) {.column = last.column, .cut = last.cut};
}

struct numeric_split numeric_look_ahead (struct numeric_worker *worker, struct numeric_set *set, int64_t depth,
                                         int64_t leaves) {
  if (leaves < 3 || numeric_stopping (worker->solver))
    return choose (worker, set, depth, leaves);
  const struct numeric_part part = {.set = set, .column = -1};
  struct numeric_found found;
  numeric_depth_two (worker, &part, 2, leaves < 4 ? leaves : 4, NUMERIC_NONE, 0, &found);
  if (found.kind != 2)
    return choose (worker, set, depth, leaves);
  return (struct numeric_split) {.column = found.column, .cut = found.cut};
}

int numeric_greedy (struct numeric_worker *worker, struct numeric_set *set, int64_t depth, int64_t leaves,
                    const struct numeric_tree *guide, int64_t at, int ahead, struct numeric_tree *tree) {
  treeml_numeric *solver = worker->solver;
  struct arena *arena = &solver->arena;
  if (!set->rows) /* the guide is of other rows, which it divides differently */
    return numeric_tree_add (arena, tree, -1, 0) >= 0;
  if ((guide || ahead) && depth <= 2 && !numeric_stopping (solver))
    return end_exactly (worker, set, depth, leaves, tree);
  struct numeric_split split;
  if (guide && ahead && guide->column[at] < 0)
    guide = NULL;
  if (guide)
    split = (struct numeric_split) {.column = guide->column[at], .cut = guide->cut[at]};
  else
    split = ahead == 1 ? numeric_look_ahead (worker, set, depth, leaves) : choose (worker, set, depth, leaves);
  const int64_t node = numeric_tree_add (arena, tree, split.column, (int32_t) split.cut);
  if (node < 0)
    return 0;
  for (int side = 0; split.column >= 0 && side < 2; side++) {
    const int64_t below = tree->nodes;
    struct numeric_set part = {0};
    int fine;
    if (depth > 1 && leaves > 2 && numeric_set_split (worker, set, split.column, split.cut, side, &part))
      fine = numeric_greedy (worker, &part, depth - 1, side ? leaves / 2 : leaves - leaves / 2, guide,
                             guide ? (side ? guide->no[at] : guide->yes[at]) : 0, ahead, tree);
    else
      fine = numeric_tree_add (arena, tree, -1, 0) >= 0;
    numeric_set_release (solver, &part);
    if (!fine)
      return 0;
    if (side)
      tree->no[node] = (int32_t) below;
    else
      tree->yes[node] = (int32_t) below;
  }
  return 1;
}
