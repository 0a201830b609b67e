/* The pair search with a limit on the leaves: the state includes the number of leaves left, and a split distributes
   them in every possible way.

   More leaves never make the optimum worse, so the bound of a side for the most leaves that it can get is a bound
   for all its shares: it prunes splits and bounds other splits as in the search without a limit. One pass gives the
   value of a side as a tree of one, two, three and four leaves. */
#include "pair/search_parts.h"

#include <string.h>

enum { few = 4 }; /* leaves of a tree of depth two */

/* The number of leaves that can make a difference, or 0 if the depth alone limits them. */
int64_t useful_leaves (const struct worker *worker, const struct subproblem *problem, int32_t depth, int64_t leaves) {
  const int32_t useful = useful_depth (worker, problem, depth);
  return useful < 62 && leaves >= (int64_t) 1 << useful ? 0 : leaves;
}

static int64_t most_of_side (int32_t useful, int64_t leaves) {
  return useful - 1 < 62 && leaves - 1 > (int64_t) 1 << (useful - 1) ? (int64_t) 1 << (useful - 1) : leaves - 1;
}

/* Each number of leaves has its own key; depth two has at most four leaves. */
static void sized_hash (const uint64_t hash[2], int size, uint64_t *to) {
  to[0] = hash[0] + (uint64_t) (few - size) * 0x9e3779b97f4a7c15u;
  to[1] = hash[1] + (uint64_t) (few - size) * 0xd1342543de82ef95u;
}

static int find_sizes (const struct worker *worker, const uint64_t hash[2], int64_t *value) {
  for (int size = 1; size <= few; size++) {
    uint64_t key[2];
    sized_hash (hash, size, key);
    if (!depth_two_table_find (worker->two, key, &value[size]))
      return 0;
  }
  return 1;
}

static void store_sizes (struct worker *worker, const uint64_t hash[2], const int64_t *value) {
  for (int size = 1; size <= few; size++) {
    uint64_t key[2];
    sized_hash (hash, size, key);
    depth_two_table_store (&worker->solver->arena, worker->two, key, value[size]);
  }
}

/* The values of both sides of a depth-three split by number of leaves, in `value[side][1]` to `[4]`. Returns 0 if
   stopped. */
static int pass_sizes (struct worker *worker, struct subproblem *problem, int32_t test, int64_t value[2][few + 1]) {
  struct halves halves;
  halve (worker, problem, test, &halves);
  const int known[2] = {find_sizes (worker, halves.hash[0], value[0]), find_sizes (worker, halves.hash[1], value[1])};
  worker->statistics.known_sides += known[0] + known[1];
  if (known[0] && known[1])
    return 1;
  if (!worker->model->pass_sizes (worker, problem, test, halves.small, value[1], value[0]))
    return 0;
  worker->statistics.passes++;
  for (int side = 0; side < 2 && worker->two->most; side++)
    if (!known[side])
      store_sizes (worker, halves.hash[side], value[side]);
  return 1;
}

/* Solves a side for every share of the leaves that can matter, in descending order: fewer leaves never cost less. */
static void solve_side (struct worker *worker, struct subproblem *problem, int32_t depth, int32_t test, int yes,
                        int64_t leaves, int64_t most, int64_t goal, const int64_t *other, int64_t *low, int64_t *high) {
  struct subproblem *below = subproblem_at (worker, depth - 1);
  for (int64_t share = most; share >= 1; share--)
    high[share] = UNREACHABLE;
  if (!below)
    return;
  load_child (worker, problem, below, test, yes);
  push_path (worker, test, yes);
  for (int64_t share = most; share >= 1; share--) {
    const int64_t rest = smaller (leaves - share, most), upper = minus (goal, other[rest]);
    low[share] = larger (low[share], share < most ? low[share + 1] : 0);
    if (low[share] >= upper || solver_stopping (worker->solver))
      continue;
    struct fact fact;
    solve_with_leaves (worker, depth - 1, share, upper, &fact);
    low[share] = larger (low[share], fact.lower);
    high[share] = fact.upper;
  }
  worker->path_length--;
}

void split_with_leaves (struct worker *worker, struct subproblem *problem, int32_t depth, int32_t useful,
                        int64_t leaves, int32_t test, int64_t goal, struct fact *fact, int64_t *side_low) {
  const int64_t most = most_of_side (useful, leaves);
  int64_t low[2][most_leaves + 1], high[2][most_leaves + 1];
  side_low[0] = problem->low_no[test];
  side_low[1] = problem->low_yes[test];
  worker->statistics.splits++;
  *fact = (struct fact) {plus (side_low[0], side_low[1]), UNREACHABLE, test, 0};
  for (int side = 0; side < 2; side++)
    for (int64_t share = 1; share <= most; share++)
      low[side][share] = side_low[side];
  if (useful == pass_depth) {
    int64_t value[2][few + 1];
    if (!pass_sizes (worker, problem, test, value))
      return;
    for (int side = 0; side < 2; side++)
      for (int64_t share = 1; share <= most; share++)
        low[side][share] = high[side][share] = value[side][share];
  } else {
    const int first = worker->model->larger_side (worker, problem, test);
    solve_side (worker, problem, depth, test, first, leaves, most, goal, low[!first], low[first], high[first]);
    if (solver_stopping (worker->solver))
      return;
    solve_side (worker, problem, depth, test, !first, leaves, most, goal, low[first], low[!first], high[!first]);
  }
  fact->lower = UNREACHABLE;
  for (int64_t share = 1; share <= most; share++) {
    const int64_t rest = smaller (leaves - share, most);
    fact->lower = smaller (fact->lower, plus (low[1][share], low[0][rest]));
    fact->upper = smaller (fact->upper, plus (high[1][share], high[0][rest]));
  }
  for (int side = 0; side < 2; side++)
    side_low[side] = low[side][most];
}

/* The best tree of depth two with at most three leaves. */
static void best_of_three (const struct worker *worker, const struct subproblem *problem, struct fact *fact) {
  for (int32_t test = 0; test < worker->rows->shape.tests; test++) {
    if (worker->model->idle (worker, problem, test))
      continue;
    const int64_t leaf[2] = {worker->model->side_leaf (worker, problem, test, 0),
                             worker->model->side_leaf (worker, problem, test, 1)};
    const int64_t two = plus (leaf[0], leaf[1]);
    const int64_t three = smaller (plus (worker->model->side_stump (worker, problem, test, 0), leaf[1]),
                                   plus (worker->model->side_stump (worker, problem, test, 1), leaf[0]));
    if (two < fact->upper)
      *fact = (struct fact) {fact->lower, two, test, both_leaves};
    if (three < fact->upper)
      *fact = (struct fact) {fact->lower, three, test, one_stump};
  }
}

void solve_with_leaves (struct worker *worker, int32_t depth, int64_t leaves, int64_t upper, struct fact *fact) {
  treeml_solver *solver = worker->solver;
  struct subproblem *problem = worker->problems[depth];
  if (!useful_leaves (worker, problem, depth, leaves)) {
    solve (worker, depth, upper, fact);
    return;
  }
  const int64_t leaf = worker->model->leaf (worker, problem), nodes = worker->statistics.nodes++;
  *fact = (struct fact) {smaller (leaf, 2 * worker->shared->price), leaf, leaf < UNREACHABLE ? is_leaf : is_unknown, 0};
  const int32_t useful = (int32_t) smaller (useful_depth (worker, problem, depth), leaves - 1);
  if (!useful || !worker->rows->shape.tests)
    fact->lower = leaf;
  if (fact->lower >= leaf || fact->lower >= upper)
    return;
  struct key key = key_of (worker, problem, useful);
  struct fact known;
  if (cache_find (solver->cache, &key, &known)) /* more leaves are never worse */
    fact->lower = larger (fact->lower, known.lower);
  key.leaves = (int32_t) leaves;
  worker->statistics.lookups++;
  if (cache_find (solver->cache, &key, &known))
    adopt (fact, &known);
  if (fact->lower >= fact->upper || fact->lower >= upper) {
    worker->statistics.hits++;
    return;
  }
  if (useful == 1) {
    problem->paired = 0;
    solve_stump (worker, problem, fact);
    return;
  }
  if (!problem->paired &&
      !(worker->path_length ? worker->model->pairs (worker, problem) : pairs_of_root (worker, problem, fact)))
    return;
  problem->paired = 1;
  if (leaves == 3)
    best_of_three (worker, problem, fact);
  else
    best_root (worker, problem, fact);
  if (useful == 2) {
    fact->lower = fact->upper;
    return;
  }
  if (worker->path_length == 0)
    publish (worker, problem, depth, fact);
  if (fact->upper > fact->lower && !worker->completing) {
    const int protect = solver_wipes (solver);
    if (protect)
      cache_enter (solver->cache, &key);
    search_splits (worker, problem, depth, useful, leaves, upper, fact);
    key = key_of (worker, problem, useful); /* keys share one array for their path */
    key.leaves = (int32_t) leaves;
    if (protect)
      cache_leave (solver->cache, &key);
    worker->statistics.failures += fact->upper > fact->lower;
  }
  if (solver->options.infeasible || fact->upper <= fact->lower || solver_stopping (solver))
    cache_store (solver->cache, &key, fact, worker->statistics.nodes - nodes);
}
