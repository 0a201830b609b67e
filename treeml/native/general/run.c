/* Runs the general search from the rows to the answer, and rebuilds the trees behind the facts in the cache. */
#include "general/search.h"
#include "general/custom.h"
#include "general/hazards.h"
#include "solver/impurity.h"

#include <math.h>
#include <string.h>

static int32_t emit (struct general *general, struct tree *tree, int32_t test) {
  const int64_t node = tree_add (&general->solver->arena, tree, test < 0 ? -1 : general->kept[test], -1);
  if (node < 0)
    solver_stop (general->solver, TREEML_MEMORY);
  return (int32_t) node;
}

static int32_t rebuild (struct general *general, struct tree *tree, struct general_subproblem *problem, int32_t depth,
                        int64_t leaves, const struct fact *fact, int32_t q);

/* The tree of one side. If the cache no longer holds it, it is solved again with the known value as upper bound. */
static int32_t rebuild_side (struct general *general, struct tree *tree, struct general_subproblem *problem,
                             int32_t depth, int64_t leaves, int32_t test, int side, int32_t q, int64_t *target) {
  struct general_subproblem *below = general_subproblem_at (general, depth - 1);
  if (!below)
    return -1;
  int64_t leaf[most_levels];
  general_enter (general, problem, below->rows, test, side);
  general_push (general, test, side);
  leaf_costs (general->leaf, below->rows, leaf);
  for (int32_t other = 0; other < general->levels; other++)
    below->upper[other] = INT64_MIN / 4;
  below->upper[q] = *target < UNREACHABLE ? *target + 1 : UNREACHABLE;
  const int64_t nodes = general->solver->statistics.nodes;
  general_solve (general, depth - 1, general_useful_leaves (leaves, depth - 1), leaf);
  general->solver->statistics.rebuilt += general->solver->statistics.nodes - nodes - 1;
  const struct fact fact = below->fact[q];
  *target = minus (*target, fact.upper);
  const int32_t node = rebuild (general, tree, below, depth - 1, leaves, &fact, q);
  general_pop (general);
  general_leave (general);
  return node;
}

static int32_t rebuild (struct general *general, struct tree *tree, struct general_subproblem *problem, int32_t depth,
                        int64_t leaves, const struct fact *fact, int32_t q) {
  const struct fact here = *fact;
  const int32_t node = emit (general, tree, here.split < 0 ? -1 : here.split);
  if (node < 0 || here.split < 0)
    return node;
  int64_t target = here.upper;
  if (general->solver->column_cost)
    target -= general_count (general, problem->rows) *
              solver_column_price (general->solver, general->used, general_column_number (general, here.split));
  for (int side = 1; side >= 0; side--) {
    int32_t child;
    if (here.shallow < 0)
      child = emit (general, tree, -1);
    else {
      const int64_t share = here.shallow == 0 ? 0 : side ? here.shallow : leaves - here.shallow;
      child = rebuild_side (general, tree, problem, depth, share, here.split, side, q, &target);
    }
    if (child < 0)
      return -1;
    (side ? tree->yes : tree->no)[node] = child;
  }
  return node;
}

/* Stores a better tree at the root as soon as it is found. */
void general_publish (struct general *general, struct general_subproblem *problem, int32_t depth, int64_t leaves,
                      int32_t q) {
  treeml_solver *solver = general->solver;
  struct fact fact = problem->fact[q];
  if (fact.upper >= general->best[q])
    return;
  struct tree tree = {0};
  if (rebuild (general, &tree, problem, depth, leaves, &fact, q) < 0) {
    tree_release (&solver->arena, &tree);
    return;
  }
  if (solver_stopping (solver)) { /* parts of the tree may have been left as leaves */
    const int64_t value = tree_finish (solver, general->leaf, &tree, q);
    if (value >= general->best[q]) {
      tree_release (&solver->arena, &tree);
      return;
    }
    fact.upper = value;
  }
  tree_release (&solver->arena, &general->tree[q]);
  general->tree[q] = tree;
  general->best[q] = fact.upper;
  solver->statistics.improvements++;
  if (plus (fact.upper, solver->offset) < solver->options.enough)
    solver_stop (solver, TREEML_ENOUGH);
  solver_poll (solver, 1, general->best[0] + solver->offset, general->root_bound[0] + solver->offset, 1);
}

static void general_release (struct general *general) {
  struct arena *arena = &general->solver->arena;
  for (int32_t i = 0; general->problem && i <= general->depths; i++)
    general_subproblem_release (general, general->problem[i]);
  arena_release (arena, general->problem);
  if (general->sparse.words)
    sparse_bitset_destroy (arena, &general->sparse);
  arena_release (arena, general->scratch);
  arena_release (arena, general->path);
  arena_release (arena, general->sorted);
  arena_release (arena, general->used);
  arena_release (arena, general->best);
  arena_release (arena, general->root_bound);
  for (int32_t q = 0; general->tree && q < general->levels; q++)
    tree_release (arena, &general->tree[q]);
  arena_release (arena, general->tree);
  hazards_release (general);
  custom_release (general);
  arena_release (arena, general->kept);
  leaf_destroy (general->leaf);
}

/* The most that a row can cost beyond its cheapest class: a whole number, since a double would lose its last digits. */
static int64_t worth_of_classes (const treeml_solver *solver) {
  int64_t worth = 0;
  for (int64_t row = 0; row < solver->rows; row++) {
    if (!solver->cost)
      worth = larger (worth, solver->weight ? solver->weight[row] : 1);
    for (int32_t k = 0; solver->cost && k < solver->classes; k++)
      worth = larger (worth, solver->cost[row * solver->classes + k]);
  }
  return worth;
}

/* The same for losses, rounded up; 0 if it is too large to be of use. */
static int64_t worth_of_losses (const treeml_solver *solver) {
  const int squares = solver->loss == TREEML_SQUARED;
  double heaviest = solver->weight ? 0 : 1, range = 0; /* the range is summed over the outputs */
  for (int64_t row = 0; solver->weight && row < solver->rows; row++)
    heaviest = fmax (heaviest, (double) solver->weight[row]);
  for (int32_t output = 0; output < solver->outputs; output++) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t row = 0; row < solver->rows; row++) {
      low = fmin (low, (double) solver->target[row * solver->outputs + output]);
      high = fmax (high, (double) solver->target[row * solver->outputs + output]);
    }
    range += squares ? (high - low) * (high - low) : high - low;
  }
  double worth = heaviest * range * (1 + 0x1p-40); /* for the roundings of doubles */
  if (solver->rounds || solver->loss == TREEML_QUANTILE)
    worth *= solver->unit;
  if (solver->rounds) /* no row is worth more than all losses */
    worth = fmin (worth, ldexp (1, UNIT_BITS));
  return worth < (double) UNREACHABLE / 64 / (double) solver->rows ? (int64_t) ceil (worth) + 1 : 0;
}

/* The most that a row can be worth, if trees for other rows say something about these rows. */
static void set_worth (struct general *general) {
  const treeml_solver *solver = general->solver;
  const struct options *options = &solver->options;
  general->has_floor = solver->goal != goal_custom || solver->lines || options->nonnegative;
  const int comparable = options->similarity && options->support <= 1 && !solver->count && !solver->purity_weight &&
                         !solver->limited_cost && !options->once && !solver->column_cost && isinf (solver->enough_loss);
  const int mixes = solver->goal == goal_hazards || solver->goal == goal_impurity;
  general->floors = impurity_has_floor (solver);
  general->nested = comparable && mixes; /* a leaf costs no less than parts of it */
  if (!comparable || solver->goal == goal_custom || mixes)
    return;
  general->worth = solver->goal == goal_classes ? worth_of_classes (solver) : worth_of_losses (solver);
  general->similar = general->worth > 0 && general->worth < UNREACHABLE / 4 / solver->rows;
}

static int general_make (struct general *general) {
  treeml_solver *solver = general->solver;
  struct arena *arena = &solver->arena;
  general->levels = solver->levels;
  general->words = solver->words;
  general->price = solver->options.leaf_price;
  general->leaf = leaf_create (solver);
  if (!general->leaf)
    return 0;
  const int64_t deepest = smaller (solver->options.depth, smaller (solver->rows - 1, general->tests));
  general->depths = (int32_t) deepest;
  int32_t columns = 0;
  for (int32_t test = 0; test < general->tests; test++)
    if (general_column_number (general, test) >= columns)
      columns = general_column_number (general, test) + 1;
  general->problem = arena_allocate (arena, (size_t) general->depths + 1, sizeof *general->problem);
  general->scratch = arena_allocate (arena, (size_t) general->words, sizeof *general->scratch);
  general->path = arena_allocate (arena, (size_t) general->depths + 1, sizeof *general->path);
  general->sorted = arena_allocate (arena, (size_t) general->depths + 1, sizeof *general->sorted);
  general->used = arena_allocate (arena, (size_t) columns + 1, sizeof *general->used);
  general->best = arena_allocate (arena, (size_t) general->levels, sizeof *general->best);
  general->root_bound = arena_allocate (arena, (size_t) general->levels, sizeof *general->root_bound);
  general->tree = arena_allocate (arena, (size_t) general->levels, sizeof *general->tree);
  if (!general->problem || !general->scratch || !general->path || !general->sorted || !general->used ||
      !general->best || !general->root_bound || !general->tree)
    return 0;
  if (solver->options.reversible && sparse_bitset_create (arena, &general->sparse, solver->rows, general->depths + 2))
    return 0;
  return custom_make (general) && hazards_make (general);
}

static int finish (struct general *general) {
  treeml_solver *solver = general->solver;
  if (solver_stopping (solver) == 1 + TREEML_MEMORY)
    solver->arena.limit = SIZE_MAX; /* memory to return what was found */
  for (int32_t q = 0; q < general->levels; q++) {
    struct answer *answer = &solver->answers[q];
    answer->bound = plus (general->root_bound[q], solver->offset);
    answer->value = INT64_MAX;
    if (!general->tree[q].nodes) {
      const int proved = !solver_stopping (solver) && general->root_bound[q] >= general->best[q];
      answer->status = proved ? TREEML_INFEASIBLE : TREEML_UNKNOWN;
      continue;
    }
    const int64_t value = tree_finish (solver, general->leaf, &general->tree[q], q);
    if (value >= UNREACHABLE)
      return solver->code ? solver->code
                          : solver_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory to return the tree");
    if (!tree_keeps_limits (solver, &general->tree[q]))
      return solver_fail (solver, TREEML_INTERNAL,
                          "internal error: the tree found violates a limit on depth or leaves");
    if (value > general->best[q])
      return solver_fail (solver, TREEML_INTERNAL, "internal error: the tree found costs %lld, not %lld",
                          (long long) value, (long long) general->best[q]);
    answer->tree = general->tree[q];
    memset (&general->tree[q], 0, sizeof general->tree[q]);
    answer->value = value + solver->offset;
    answer->bound = smaller (answer->bound, answer->value);
    answer->status = answer->bound >= answer->value ? TREEML_OPTIMAL : TREEML_FEASIBLE;
  }
  return TREEML_OK;
}

static void begin_with_start (struct general *general) {
  treeml_solver *solver = general->solver;
  if (!solver->start.nodes || tree_height (&solver->start) > solver->options.depth)
    return;
  for (int32_t q = 0; q < general->levels; q++) {
    struct tree start = {0};
    if (tree_copy (&solver->arena, &start, &solver->start))
      return;
    const int64_t value = tree_finish (solver, general->leaf, &start, q);
    if (value < general->best[q] && tree_keeps_limits (solver, &start)) {
      tree_release (&solver->arena, &general->tree[q]);
      general->tree[q] = start;
      general->best[q] = value;
    } else
      tree_release (&solver->arena, &start);
  }
}

static int run (struct general *general) {
  treeml_solver *solver = general->solver;
  if (!general_make (general))
    return solver_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for the search");
  /* Under a memory limit the levels are allocated first, and the cache gets the remainder. */
  int fits = 1;
  for (int32_t depth = 0; fits && solver->options.memory != UNLIMITED && depth < general->depths && depth <= 64;
       depth++)
    fits = general_subproblem_at (general, depth) != NULL;
  struct general_subproblem *root = fits ? general_subproblem_at (general, general->depths) : NULL;
  if (!root)
    return solver_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for the search");
  uint64_t *all = root->rows;
  for (int64_t row = 0; row < solver->rows; row++)
    all[row >> 6] |= (uint64_t) 1 << (row & 63);
  set_worth (general);
  for (int32_t q = 0; q < general->levels; q++)
    general->best[q] = solver_upper (solver, solver->offset);
  begin_with_start (general);
  int64_t leaf[most_levels];
  leaf_costs (general->leaf, all, leaf);
  solver->statistics.build_microseconds = (int64_t) (1e6 * (clock_seconds () - solver->began));
  const int64_t limit = solver->options.leaves == UNLIMITED ? 0 : solver->options.leaves;
  const int64_t capped = smaller (limit, solver->rows);
  int32_t depth = solver->options.deepening && general->depths > 2 ? 1 : general->depths;
  while (!solver->code) {
    struct general_subproblem *problem = general_subproblem_at (general, depth);
    if (!problem)
      break;
    general->root_depth = depth;
    if (problem->rows != all)
      memcpy (problem->rows, all, (size_t) general->words * sizeof *all);
    int finished = 1;
    for (int32_t q = 0; q < general->levels; q++) {
      problem->fact[q] = (struct fact) {no_floor, leaf[q], is_leaf, 0};
      general_publish (general, problem, depth, capped, q);
      problem->upper[q] = general->best[q];
      general->root_bound[q] = general->has_floor ? smaller (leaf[q], 2 * general->price) : no_floor;
      finished &= general->best[q] <= general->root_bound[q];
    }
    if (finished)
      break;
    general_solve (general, depth, general_useful_leaves (capped, depth), leaf);
    for (int32_t q = 0; q < general->levels; q++) {
      general_publish (general, problem, depth, general_useful_leaves (capped, depth), q);
      if (depth == general->depths)
        general->root_bound[q] = problem->fact[q].lower;
    }
    if (solver_stopping (solver) || depth == general->depths)
      break;
    depth = depth < 4 ? depth + 1 : general->depths;
    if (depth > general->depths)
      depth = general->depths;
  }
  return solver->code ? solver->code : finish (general);
}

int general_run (treeml_solver *solver) {
  struct general general = {0};
  general.solver = solver;
  solver->kernel = NULL;
  if (merge_tests (solver, &general.kept, &general.tests))
    return solver->code;
  solver->cache = cache_create (&solver->arena, (enum cache_kind) solver->options.cache_kind,
                                (enum wipe_strategy) solver->options.wipe, (int) solver->options.wipe_share, 1,
                                solver->options.cache);
  int code;
  if (!solver->cache)
    code = solver_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for the cache");
  else
    code = run (&general);
  if (general.leaf)
    solver->statistics.leaf_costs += leaf_evaluations (general.leaf);
  solver->statistics.tests = general.tests;
  solver->statistics.rows = solver->rows;
  if (solver->cache)
    cache_count (solver->cache, &solver->statistics.entries, &solver->statistics.wipes, &solver->statistics.wiped);
  general_release (&general);
  cache_destroy (solver->cache);
  solver->cache = NULL;
  return code;
}
