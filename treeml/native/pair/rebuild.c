/* Builds the tree behind a fact of the root: facts only say which test is best, so the subtrees are found again. */
#include "pair/search_parts.h"

static int32_t emit (struct worker *worker, struct tree *tree, int32_t test) {
  const int64_t node = tree_add (&worker->solver->arena, tree, test < 0 ? -1 : worker->rows->kept[test], -1);
  if (node < 0)
    solver_stop (worker->solver, TREEML_MEMORY);
  return (int32_t) node;
}

/* One side of a split as a stump or a leaf, whichever is better. */
static int32_t emit_side (struct worker *worker, struct tree *tree, const struct subproblem *problem, int32_t test,
                          int yes) {
  struct subproblem *spare = worker->spare;
  load_child (worker, problem, spare, test, yes);
  struct fact fact = {0, worker->model->leaf (worker, spare), is_leaf, 0};
  solve_stump (worker, spare, &fact);
  const int32_t node = emit (worker, tree, fact.split);
  if (node < 0 || fact.split < 0)
    return node;
  const int32_t left = emit (worker, tree, -1), right = emit (worker, tree, -1);
  if (left < 0 || right < 0)
    return -1;
  tree->yes[node] = left;
  tree->no[node] = right;
  return node;
}

/* One side as a stump and the other as a leaf: the better of the two ways. */
static int32_t emit_one_stump (struct worker *worker, struct tree *tree, const struct subproblem *problem, int32_t test,
                               int side) {
  int64_t value[2];
  for (int stump = 0; stump < 2; stump++) {
    load_child (worker, problem, worker->spare, test, stump);
    struct fact fact = {0, worker->model->leaf (worker, worker->spare), is_leaf, 0};
    const int64_t leaf = fact.upper;
    solve_stump (worker, worker->spare, &fact);
    value[stump] = leaf - fact.upper;
  }
  return side == (value[1] >= value[0]) ? emit_side (worker, tree, problem, test, side) : emit (worker, tree, -1);
}

static int32_t rebuild (struct worker *worker, struct tree *tree, struct subproblem *problem, int32_t depth,
                        int64_t leaves, const struct fact *fact);

/* The tree of one side. If the cache no longer holds it, it is solved again with the known value as upper bound
   (Aglin 2022, algorithm 9). */
static int32_t rebuild_child (struct worker *worker, struct tree *tree, struct subproblem *problem, int32_t depth,
                              int64_t leaves, int32_t test, int yes, int64_t *target) {
  if (!leaves)
    depth = useful_depth (worker, problem, depth); /* as in the search, so that its facts are found */
  struct subproblem *below = subproblem_at (worker, depth - 1);
  if (!below)
    return -1;
  load_child (worker, problem, below, test, yes);
  push_path (worker, test, yes);
  struct fact fact;
  const int64_t nodes = worker->statistics.nodes, upper = *target < UNREACHABLE ? *target + 1 : UNREACHABLE;
  if (!leaves && depth == pass_depth && worker->model->found_side &&
      worker->model->found_side (worker, problem, test, yes, &fact))
    worker->statistics.nodes++;
  else if (leaves)
    solve_with_leaves (worker, depth - 1, leaves, upper, &fact);
  else
    solve (worker, depth - 1, upper, &fact);
  worker->statistics.rebuilt += worker->statistics.nodes - nodes - 1;
  *target = minus (*target, fact.upper);
  const int32_t node = rebuild (worker, tree, below, depth - 1, leaves, &fact);
  worker->path_length--;
  return node;
}

/* How many of the leaves the yes side of the best split gets; the no side gets the others. */
static int64_t share_of_yes (struct worker *worker, struct subproblem *problem, int32_t depth, int64_t leaves,
                             const struct fact *fact) {
  int64_t value[2][most_leaves + 1], best = 1, least = UNREACHABLE;
  struct subproblem *below = subproblem_at (worker, depth - 1);
  if (!below)
    return best;
  for (int side = 0; side < 2; side++) {
    load_child (worker, problem, below, fact->split, side);
    push_path (worker, fact->split, side);
    for (int64_t share = 1; share < leaves; share++) {
      struct fact part;
      solve_with_leaves (worker, depth - 1, share, plus (fact->upper, 1), &part);
      value[side][share] = part.upper;
    }
    worker->path_length--;
  }
  for (int64_t share = 1; share < leaves; share++) {
    const int64_t sum = plus (value[1][share], value[0][leaves - share]);
    if (sum < least) {
      least = sum;
      best = share;
    }
  }
  return best;
}

static int32_t rebuild (struct worker *worker, struct tree *tree, struct subproblem *problem, int32_t depth,
                        int64_t leaves, const struct fact *fact) {
  const int32_t node = emit (worker, tree, fact->split < 0 ? -1 : fact->split);
  if (node < 0 || fact->split < 0)
    return node;
  leaves = leaves ? useful_leaves (worker, problem, depth, leaves) : 0;
  const int64_t yes = leaves && !fact->shallow ? share_of_yes (worker, problem, depth, leaves, fact) : 0;
  int64_t target = fact->upper;
  for (int side = 1; side >= 0; side--) {
    const int32_t child = fact->shallow == both_leaves  ? emit (worker, tree, -1)
                          : fact->shallow == one_stump  ? emit_one_stump (worker, tree, problem, fact->split, side)
                          : fact->shallow == two_stumps ? emit_side (worker, tree, problem, fact->split, side)
                                                        : rebuild_child (worker, tree, problem, depth,
                                                                         !leaves ? 0
                                                                         : side  ? yes
                                                                                 : leaves - yes,
                                                                         fact->split, side, &target);
    if (child < 0)
      return -1;
    (side ? tree->yes : tree->no)[node] = child;
  }
  return node;
}

/* Rebuilds the tree of a fact. Its lowest levels are not in the cache and are solved again, even if the search has been
   stopped: that takes no longer than one of its many passes. Only if a pass is slow, they become leaves then. */
static int32_t rebuild_root (struct worker *worker, struct tree *tree, struct subproblem *problem, int32_t depth) {
  treeml_solver *solver = worker->solver;
  struct shared *shared = worker->shared;
  for (;;) {
    const int stopped = solver_stopping (solver);
    worker->completing = stopped && !atomic_load (&shared->is_slow);
    const int32_t root = rebuild (worker, tree, problem, depth, shared->leaves, &shared->fact);
    worker->completing = 0;
    if (stopped || atomic_load (&shared->is_slow) || !solver_stopping (solver))
      return root;
    tree_release (&solver->arena, tree); /* stopped in between: once more, without looking at the clock */
    *tree = (struct tree) {0};
  }
}

/* The tree behind the best fact of the root. Parts that are missing from the cache are solved again. If the search has
   been stopped, parts that took a search become leaves, and the tree may be worse than its fact says. */
void settle (struct worker *worker, struct subproblem *problem, int32_t depth) {
  treeml_solver *solver = worker->solver;
  struct shared *shared = worker->shared;
  struct tree tree = {0};
  if (!shared->pending)
    return;
  shared->pending = 0;
  int64_t value = shared->fact.upper;
  const int32_t root = rebuild_root (worker, &tree, problem, depth);
  if (root >= 0 && solver_stopping (solver))
    value = minus (tree_finish (solver, worker->leaf, &tree, 0), worker->rows->offset);
  if (root < 0 || value < -shared->slack || value >= shared->tree_value) {
    tree_release (&solver->arena, &tree);
    atomic_store (&shared->value, shared->tree_value);
    return;
  }
  tree_release (&solver->arena, &shared->tree);
  shared->tree = tree;
  shared->tree_value = value;
  shared->has_tree = 1;
  atomic_store (&shared->value, value);
}

/* Reports a better tree at the root. If the cache can lose its parts, or if time could run out while the tree is built,
   it is built at once. */
void publish (struct worker *worker, struct subproblem *problem, int32_t depth, const struct fact *fact) {
  treeml_solver *solver = worker->solver;
  struct shared *shared = worker->shared;
  lock_take (&shared->lock);
  if (fact->upper >= atomic_load (&shared->value)) {
    lock_leave (&shared->lock);
    return;
  }
  shared->fact = *fact;
  shared->pending = 1;
  atomic_store (&shared->value, fact->upper);
  worker->statistics.improvements++;
  const int64_t offset = worker->rows->offset + solver->offset;
  /* A tree that is good enough ends the search, so it must be built before the search is told to stop. */
  const int last = fact->upper + offset < solver->options.enough;
  if (!solver->options.cache_kind || solver_wipes (solver) || atomic_load (&shared->is_slow) ||
      solver_stopping (solver) || last)
    settle (worker, problem, depth);
  lock_leave (&shared->lock);
  const int64_t value = atomic_load (&shared->value);
  if (value + offset < solver->options.enough)
    solver_stop (solver, TREEML_ENOUGH);
  solver_poll (solver, worker->first, value + offset, atomic_load (&shared->bound) + offset, 1);
}
