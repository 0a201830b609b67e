/* Branch and bound for every additive goal and every constraint (Aglin et al. 2020, with the leaf as first candidate).

   The search assumes only that the cost of a leaf depends on its rows. Whatever else is known about a goal tightens
   it: a lower bound on the cost of a set of rows, and the most that a row can be worth, which bounds a split by the
   splits that are already solved. Several quantile levels are searched at once with one bound each; a split is
   skipped if it is hopeless for all of them (Aglin 2022, section 8.2.2). A limit on the leaves is exact: the state
   includes the number of leaves left, and a split distributes them in every possible way (size-indexed dynamic
   programming). */
#include "general/search.h"
#include "general/hazards.h"

#include "common/bits.h"

#include <string.h>

/* By how much the optimum of a set of rows can exceed that of another set that lacks `missing` of them. If only nested
   sets are compared, that is a matter of rounding if no row is missing, and unknown otherwise. */
static int64_t most_excess (const struct general *general, int64_t missing, int32_t depth) {
  if (!general->nested)
    return general->worth * missing;
  return missing ? UNREACHABLE / 4 : 2 + (depth < 30 ? (int64_t) 1 << depth : general->solver->rows);
}

/* Bounds all splits by one that is solved: a tree for the rows A costs more on the rows B by at most what the rows
   are worth that only B has. Among the thresholds of one column, one side of each contains that of the next, so a
   threshold is eliminated by its neighbours on both sides (Aglin 2022, section 8.3.3). */
static void spread_similarity (struct general *general, struct general_subproblem *problem, int32_t depth,
                               int32_t solved) {
  const uint64_t *mine = general_column (general, solved);
  const int32_t levels = general->levels;
  for (int32_t test = 0; test < general->tests; test++) {
    if (!problem->usable[test] || test == solved)
      continue;
    const uint64_t *mask = general_column (general, test);
    int64_t yes_yes = 0, no_no = 0, yes_no = 0, no_yes = 0; /* solved side first */
    for (int64_t w = 0; w < general->words; w++) {
      const uint64_t rows = problem->rows[w];
      yes_yes += count_bits (rows & mine[w] & mask[w]);
      yes_no += count_bits (rows & mine[w] & ~mask[w]);
      no_yes += count_bits (rows & ~mine[w] & mask[w]);
      no_no += count_bits (rows & ~mine[w] & ~mask[w]);
    }
    const int64_t excess[4] = {most_excess (general, yes_no, depth - 1), most_excess (general, no_no, depth - 1),
                               most_excess (general, yes_yes, depth - 1), most_excess (general, no_yes, depth - 1)};
    for (int32_t q = 0; q < levels; q++) {
      const int64_t yes = problem->low[1][solved * levels + q], no = problem->low[0][solved * levels + q];
      int64_t *low_yes = &problem->low[1][test * levels + q], *low_no = &problem->low[0][test * levels + q];
      *low_yes = larger (*low_yes, larger (yes - excess[0], no - excess[1]));
      *low_no = larger (*low_no, larger (yes - excess[2], no - excess[3]));
    }
  }
  general->work += 4 * general->words * general->tests;
}

void general_push (struct general *general, int32_t test, int yes) {
  general->path[general->path_length++] = 2 * test + yes;
  if (general->used)
    general->used[general_column_number (general, test)]++;
}

void general_pop (struct general *general) {
  const int32_t literal = general->path[--general->path_length];
  if (general->used)
    general->used[general_column_number (general, literal / 2)]--;
}

/* At most as many leaves as a tree of the depth can have; 0 stands for no limit. */
int64_t general_useful_leaves (int64_t leaves, int32_t depth) {
  return !leaves || (depth < 30 && leaves >= (int64_t) 1 << depth) ? 0 : leaves;
}

/* Solves one side of a split with the given number of leaves; bounds and values go to problem->child. */
static void solve_side (struct general *general, struct general_subproblem *problem, int32_t depth, int64_t leaves,
                        int32_t test, int side) {
  struct general_subproblem *below = general_subproblem_at (general, depth - 1);
  if (!below)
    return;
  general_enter (general, problem, below->rows, test, side);
  general_push (general, test, side);
  memcpy (below->upper, problem->child_upper, (size_t) general->levels * sizeof *below->upper);
  general_solve (general, depth - 1, general_useful_leaves (leaves, depth - 1),
                 problem->leaf[side] + (int64_t) test * general->levels);
  memcpy (problem->child[side], below->fact, (size_t) general->levels * sizeof *below->fact);
  general_pop (general);
  general_leave (general);
}

static int hopeful (const struct general *general, const struct general_subproblem *problem, int32_t test) {
  for (int32_t q = 0; q < general->levels; q++) {
    const int64_t at = (int64_t) test * general->levels + q;
    const int64_t low = plus (plus (problem->low[0][at], problem->low[1][at]), problem->pay[test]);
    if (low < smaller (problem->upper[q], problem->fact[q].upper))
      return 1;
  }
  return 0;
}

/* Solves both sides of a split with the given numbers of leaves. With `whole`, the bounds hold for the split with
   any numbers of leaves. */
static void try_shares (struct general *general, struct general_subproblem *problem, int32_t depth, int32_t test,
                        int64_t yes_leaves, int64_t no_leaves, int whole, int64_t *lowest) {
  const struct options *options = &general->solver->options;
  const int32_t levels = general->levels;
  const int64_t at = (int64_t) test * levels;
  int first = 1;
  if (options->dynamic)
    first = problem->low[1][at] != problem->low[0][at] ? problem->low[1][at] > problem->low[0][at]
                                                       : problem->leaf[1][at] >= problem->leaf[0][at];
  int64_t low[2];
  for (int32_t q = 0; q < levels; q++)
    for (int side = 0; side < 2; side++)
      problem->child[side][q] = (struct fact) {problem->low[side][at + q], problem->leaf[side][at + q], is_leaf, 0};
  for (int turn = 0; turn < 2; turn++) {
    const int side = turn ? !first : first;
    int wanted = 0;
    for (int32_t q = 0; q < levels; q++) {
      const int64_t goal = smaller (problem->upper[q], problem->fact[q].upper);
      const int64_t other = problem->child[!side][q].lower;
      problem->child_upper[q] = minus (minus (goal, problem->pay[test]), other);
      if (!options->hierarchical &&
          plus (plus (problem->low[0][at + q], problem->low[1][at + q]), problem->pay[test]) < goal)
        problem->child_upper[q] = UNREACHABLE;
      wanted |= problem->child[side][q].lower < problem->child_upper[q];
    }
    if (!wanted || solver_stopping (general->solver))
      break;
    solve_side (general, problem, depth, side ? yes_leaves : no_leaves, test, side);
    for (int32_t q = 0; q < levels; q++)
      problem->child[side][q].lower = larger (problem->child[side][q].lower, problem->low[side][at + q]);
  }
  for (int32_t q = 0; q < levels; q++) {
    for (int side = 0; side < 2; side++) {
      low[side] = problem->child[side][q].lower;
      if (whole)
        problem->low[side][at + q] = larger (problem->low[side][at + q], low[side]);
    }
    lowest[q] = smaller (lowest[q], plus (plus (low[0], low[1]), problem->pay[test]));
    const int64_t value = plus (plus (problem->child[0][q].upper, problem->child[1][q].upper), problem->pay[test]);
    if (value < problem->fact[q].upper) {
      problem->fact[q].upper = value;
      problem->fact[q].split = test;
      problem->fact[q].shallow = (int32_t) yes_leaves;
    }
  }
}

static void try_split (struct general *general, struct general_subproblem *problem, int32_t depth, int64_t leaves,
                       int32_t test, int64_t *lowest) {
  for (int32_t q = 0; q < general->levels; q++)
    lowest[q] = UNREACHABLE;
  if (!leaves) {
    try_shares (general, problem, depth, test, 0, 0, 1, lowest);
    return;
  }
  const int64_t most = depth - 1 < 30 ? (int64_t) 1 << (depth - 1) : leaves;
  for (int64_t yes = 1; yes < leaves && !solver_stopping (general->solver); yes++) {
    const int64_t no = leaves - yes;
    if (yes > most || no > most)
      continue;
    try_shares (general, problem, depth, test, yes, no, 0, lowest);
  }
}

static void search_splits (struct general *general, struct general_subproblem *problem, int32_t depth, int64_t leaves,
                           const int64_t *floor, const double *value) {
  treeml_solver *solver = general->solver;
  const int32_t levels = general->levels;
  const int at_root = general->path_length == 0;
  general_order (general, problem, at_root, value);
  for (int32_t test = 0; test < general->tests; test++) {
    if (!problem->usable[test])
      continue;
    for (int32_t q = 0; q < levels; q++) {
      const int64_t at = (int64_t) test * levels + q;
      if (!general->floors) /* otherwise they are known since the problem was opened */
        problem->low[0][at] = problem->low[1][at] = general->has_floor ? general->price : no_floor;
      problem->bound[at] = INT64_MIN;
    }
  }
  int64_t found[most_levels];
  for (int32_t i = 0; i < general->tests; i++) {
    const int32_t test = problem->order[i];
    if (!problem->usable[test])
      continue;
    if (!hopeful (general, problem, test)) {
      solver->statistics.skipped++;
      continue;
    }
    if (general_poll (general, general->words))
      break;
    solver->statistics.splits++;
    int64_t before[most_levels];
    for (int32_t q = 0; q < levels; q++)
      before[q] = problem->fact[q].upper;
    try_split (general, problem, depth, leaves, test, found);
    int finished = 1;
    for (int32_t q = 0; q < levels; q++) {
      if (!solver_stopping (solver) || !leaves)
        problem->bound[test * levels + q] = found[q];
      if (at_root && problem->fact[q].upper < before[q])
        general_publish (general, problem, depth, leaves, q);
      finished &= problem->fact[q].upper <= floor[q];
    }
    if (finished)
      break;
    if ((general->similar || general->nested) && !leaves && depth >= 2)
      spread_similarity (general, problem, depth, test);
  }
  for (int32_t q = 0; q < levels; q++) {
    int64_t bound = problem->fact[q].upper;
    for (int32_t test = 0; test < general->tests; test++)
      if (problem->usable[test]) {
        const int64_t at = (int64_t) test * levels + q;
        const int64_t low = plus (plus (problem->low[0][at], problem->low[1][at]), problem->pay[test]);
        bound = smaller (bound, larger (problem->bound[at], low));
      }
    if (!solver->options.strong && !solver_stopping (solver) && bound < problem->fact[q].upper)
      bound = smaller (bound, problem->upper[q]);
    problem->fact[q].lower = larger (problem->fact[q].lower, bound);
  }
}

/* First facts about a problem from its costs as a leaf. Returns whether any quantile level needs a search. */
static int begin_facts (const struct general *general, struct general_subproblem *problem, int can_split,
                        const int64_t *leaf, int64_t *floor) {
  int active = 0;
  for (int32_t q = 0; q < general->levels; q++) {
    int64_t split = general->has_floor ? 2 * general->price : no_floor;
    if (general->floors)
      split = plus (split, leaf_floor (general->leaf, problem->rows));
    floor[q] = smaller (leaf[q], split);
    problem->fact[q] = (struct fact) {floor[q], leaf[q], leaf[q] < UNREACHABLE ? is_leaf : is_unknown, 0};
    if (!can_split)
      problem->fact[q].lower = leaf[q];
    active |= problem->fact[q].lower < smaller (leaf[q], problem->upper[q]);
  }
  return active;
}

/* Improves the facts with those in the cache. Returns whether any quantile level still needs a search. */
static int look_up (struct general *general, struct general_subproblem *problem, int32_t depth, int64_t leaves) {
  treeml_solver *solver = general->solver;
  int active = 0;
  for (int32_t q = 0; q < general->levels; q++) {
    struct fact known, *fact = &problem->fact[q];
    const struct key key = general_key (general, problem->rows, depth, leaves, q);
    solver->statistics.lookups++;
    if (cache_find (solver->cache, &key, &known)) {
      fact->lower = larger (fact->lower, known.lower);
      if (known.split != is_unknown && known.upper < fact->upper) {
        fact->upper = known.upper;
        fact->split = known.split;
        fact->shallow = known.shallow;
      }
      solver->statistics.hits += fact->lower >= smaller (fact->upper, problem->upper[q]);
    }
    active |= fact->lower < smaller (fact->upper, problem->upper[q]);
  }
  return active;
}

/* Stumps are all there is at depth one, and give a first tree at larger depths. */
static void try_stumps (const struct general *general, struct general_subproblem *problem) {
  for (int32_t test = 0; test < general->tests; test++)
    for (int32_t q = 0; q < general->levels && problem->usable[test]; q++) {
      const int64_t at = (int64_t) test * general->levels + q;
      const int64_t value = plus (plus (problem->leaf[0][at], problem->leaf[1][at]), problem->pay[test]);
      if (value < problem->fact[q].upper)
        problem->fact[q] = (struct fact) {problem->fact[q].lower, value, test, -1};
    }
}

/* Protects the entries of a problem from being wiped, or ends the protection. */
static void protect (struct general *general, const struct general_subproblem *problem, int32_t depth, int64_t leaves,
                     int enter) {
  struct cache *cache = general->solver->cache;
  for (int32_t q = 0; q < general->levels && solver_wipes (general->solver); q++) {
    const struct key key = general_key (general, problem->rows, depth, leaves, q);
    if (enter)
      cache_enter (cache, &key);
    else
      cache_leave (cache, &key);
  }
}

/* Finds the optimum of the rows of the problem if it is below the problem's upper bound, otherwise a lower bound that
   is not. The caller has computed the costs of the leaf. */
void general_solve (struct general *general, int32_t depth, int64_t leaves, const int64_t *leaf) {
  treeml_solver *solver = general->solver;
  const int32_t levels = general->levels;
  struct general_subproblem *problem = general->problem[depth];
  const int64_t nodes = solver->statistics.nodes++;
  int64_t floor[most_levels];
  int64_t rows = 0;
  for (int64_t w = 0; w < general->words; w++)
    rows += count_bits (problem->rows[w]);
  const int32_t useful = (int32_t) smaller (depth, rows - 1);
  leaves = general_useful_leaves (leaves, useful);
  const int can_split = useful >= 1 && leaves != 1 && general->tests;
  if (!begin_facts (general, problem, can_split, leaf, floor) || !look_up (general, problem, useful, leaves))
    return;
  const int paired = general->hazards && useful > 1 && !leaves;
  general_open (general, problem, paired);
  const int at_root = general->path_length == 0, stopped = solver_stopping (solver);
  if (stopped && (paired || !at_root))
    return;
  if (paired)
    hazards_two (general, problem, depth, useful);
  else
    try_stumps (general, problem);
  for (int32_t q = 0; q < levels; q++) {
    if (at_root)
      general_publish (general, problem, depth, leaves, q);
    if (!stopped && (useful == 1 || leaves == 2))
      problem->fact[q].lower = problem->fact[q].upper;
  }
  if (stopped) /* the best of the splits that were looked at in time */
    return;
  if (useful > 1 && leaves != 2 && !(useful == 2 && paired)) {
    protect (general, problem, useful, leaves, 1);
    search_splits (general, problem, depth, leaves, floor, paired ? problem->two : NULL);
    protect (general, problem, useful, leaves, 0);
  }
  for (int32_t q = 0; q < levels; q++) {
    const struct fact *fact = &problem->fact[q];
    solver->statistics.failures += fact->lower < fact->upper;
    if (!solver->options.infeasible && fact->lower < fact->upper && !solver_stopping (solver))
      continue;
    const struct key key = general_key (general, problem->rows, useful, leaves, q);
    cache_store (solver->cache, &key, fact, solver->statistics.nodes - nodes);
  }
}
