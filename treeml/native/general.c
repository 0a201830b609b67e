/* Branch and bound for every additive goal and every constraint (Aglin et al. 2020, with the leaf as first candidate).

   Nothing is assumed of the cost of a leaf but that it depends on its rows. What more is known of a goal tightens the
   search: a floor under the cost of a set of rows, and what a row can be worth at most, which bounds a split by the
   splits solved beside it. Several quantile levels are searched at once with one bound each; a split is left out when
   it is hopeless for all of them (Aglin 2022, section 8.2.2). A bound on the leaves is exact: the state has the leaves
   that are left, and a split shares them out in every way (size-indexed dynamic programming). */
#include "general.h"

#include <string.h>

/* Bounds of all splits from one that is solved: a tree for the rows A costs, on the rows B, at most what the rows that
   only B has are worth more. */
static void spread_similarity (struct general *general, struct level *level, int32_t solved) {
  const uint64_t *mine = general_column (general, solved);
  const int32_t levels = general->levels;
  for (int32_t test = 0; test < general->tests; test++) {
    if (!level->usable[test] || test == solved)
      continue;
    const uint64_t *mask = general_column (general, test);
    int64_t yes_yes = 0, no_no = 0, yes_no = 0, no_yes = 0; /* solved side first */
    for (int64_t w = 0; w < general->words; w++) {
      const uint64_t rows = level->rows[w];
      yes_yes += __builtin_popcountll (rows & mine[w] & mask[w]);
      yes_no += __builtin_popcountll (rows & mine[w] & ~mask[w]);
      no_yes += __builtin_popcountll (rows & ~mine[w] & mask[w]);
      no_no += __builtin_popcountll (rows & ~mine[w] & ~mask[w]);
    }
    for (int32_t q = 0; q < levels; q++) {
      const int64_t yes = level->low[1][solved * levels + q], no = level->low[0][solved * levels + q];
      int64_t *low_yes = &level->low[1][test * levels + q], *low_no = &level->low[0][test * levels + q];
      *low_yes = larger (*low_yes, larger (yes - general->worth * yes_no, no - general->worth * no_no));
      *low_no = larger (*low_no, larger (yes - general->worth * yes_yes, no - general->worth * no_yes));
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

/* No more leaves than a tree of the depth can have; 0 stands for no limit. */
int64_t general_useful_leaves (int64_t leaves, int32_t depth) {
  return !leaves || (depth < 30 && leaves >= (int64_t) 1 << depth) ? 0 : leaves;
}

/* One side of a split with so many leaves; bounds and values go to level->child. */
static void solve_side (struct general *general, struct level *level, int32_t depth, int64_t leaves, int32_t test,
                        int side) {
  struct level *below = general_level_at (general, depth - 1);
  if (!below)
    return;
  general_enter (general, level, below->rows, test, side);
  general_push (general, test, side);
  memcpy (below->upper, level->child_upper, (size_t) general->levels * sizeof *below->upper);
  general_solve (general, depth - 1, general_useful_leaves (leaves, depth - 1), level->leaf[side] + (int64_t) test * general->levels);
  memcpy (level->child[side], below->fact, (size_t) general->levels * sizeof *below->fact);
  general_pop (general);
  general_leave (general);
}

static int hopeful (const struct general *general, const struct level *level, int32_t test) {
  for (int32_t q = 0; q < general->levels; q++) {
    const int64_t at = (int64_t) test * general->levels + q;
    const int64_t low = plus (plus (level->low[0][at], level->low[1][at]), level->pay[test]);
    if (low < smaller (level->upper[q], level->fact[q].upper))
      return 1;
  }
  return 0;
}

/* Both sides of a split with given leaves. Where `whole`, what is learnt holds for the split as such. */
static void try_shares (struct general *general, struct level *level, int32_t depth, int32_t test, int64_t yes_leaves,
                        int64_t no_leaves, int whole, int64_t *lowest) {
  const struct options *options = &general->solver->options;
  const int32_t levels = general->levels;
  const int64_t at = (int64_t) test * levels;
  int first = 1;
  if (options->dynamic)
    first = level->low[1][at] != level->low[0][at] ? level->low[1][at] > level->low[0][at]
                                                   : level->leaf[1][at] >= level->leaf[0][at];
  int64_t low[2];
  for (int32_t q = 0; q < levels; q++)
    for (int side = 0; side < 2; side++)
      level->child[side][q] = (struct fact){level->low[side][at + q], level->leaf[side][at + q], is_leaf, 0};
  for (int turn = 0; turn < 2; turn++) {
    const int side = turn ? !first : first;
    int wanted = 0;
    for (int32_t q = 0; q < levels; q++) {
      const int64_t goal = smaller (level->upper[q], level->fact[q].upper);
      const int64_t other = level->child[!side][q].lower;
      level->child_upper[q] = minus (minus (goal, level->pay[test]), other);
      if (!options->hierarchical && plus (plus (level->low[0][at + q], level->low[1][at + q]), level->pay[test]) < goal)
        level->child_upper[q] = UNREACHABLE;
      wanted |= level->child[side][q].lower < level->child_upper[q];
    }
    if (!wanted || solver_stopping (general->solver))
      break;
    solve_side (general, level, depth, side ? yes_leaves : no_leaves, test, side);
    for (int32_t q = 0; q < levels; q++)
      level->child[side][q].lower = larger (level->child[side][q].lower, level->low[side][at + q]);
  }
  for (int32_t q = 0; q < levels; q++) {
    for (int side = 0; side < 2; side++) {
      low[side] = level->child[side][q].lower;
      if (whole)
        level->low[side][at + q] = larger (level->low[side][at + q], low[side]);
    }
    lowest[q] = smaller (lowest[q], plus (plus (low[0], low[1]), level->pay[test]));
    const int64_t value = plus (plus (level->child[0][q].upper, level->child[1][q].upper), level->pay[test]);
    if (value < level->fact[q].upper) {
      level->fact[q].upper = value;
      level->fact[q].split = test;
      level->fact[q].shallow = (int32_t) yes_leaves;
    }
  }
}

static void try_split (struct general *general, struct level *level, int32_t depth, int64_t leaves, int32_t test,
                       int64_t *lowest) {
  for (int32_t q = 0; q < general->levels; q++)
    lowest[q] = UNREACHABLE;
  if (!leaves) {
    try_shares (general, level, depth, test, 0, 0, 1, lowest);
    return;
  }
  const int64_t most = depth - 1 < 30 ? (int64_t) 1 << (depth - 1) : leaves;
  for (int64_t yes = 1; yes < leaves && !solver_stopping (general->solver); yes++) {
    const int64_t no = leaves - yes;
    if (yes > most || no > most)
      continue;
    try_shares (general, level, depth, test, yes, no, 0, lowest);
  }
}

static void search_splits (struct general *general, struct level *level, int32_t depth, int64_t leaves,
                           const int64_t *floor) {
  treeml_solver *solver = general->solver;
  const int32_t levels = general->levels;
  const int at_root = general->path_length == 0;
  general_order (general, level, at_root);
  for (int32_t test = 0; test < general->tests; test++) {
    if (!level->usable[test])
      continue;
    for (int32_t q = 0; q < levels; q++) {
      const int64_t at = (int64_t) test * levels + q;
      level->low[0][at] = level->low[1][at] = general->has_floor ? general->price : no_floor;
      level->bound[at] = INT64_MIN;
    }
  }
  int64_t found[most_levels];
  for (int32_t i = 0; i < general->tests; i++) {
    const int32_t test = level->order[i];
    if (!level->usable[test])
      continue;
    if (!hopeful (general, level, test)) {
      solver->statistics.skipped++;
      continue;
    }
    if (general_poll (general, general->words))
      break;
    solver->statistics.splits++;
    int64_t before[most_levels];
    for (int32_t q = 0; q < levels; q++)
      before[q] = level->fact[q].upper;
    try_split (general, level, depth, leaves, test, found);
    int finished = 1;
    for (int32_t q = 0; q < levels; q++) {
      if (!solver_stopping (solver) || !leaves)
        level->bound[test * levels + q] = found[q];
      if (at_root && level->fact[q].upper < before[q])
        general_publish (general, level, depth, leaves, q);
      finished &= level->fact[q].upper <= floor[q];
    }
    if (finished)
      break;
    if (general->similar && !leaves && depth >= 2)
      spread_similarity (general, level, test);
  }
  for (int32_t q = 0; q < levels; q++) {
    int64_t bound = level->fact[q].upper;
    for (int32_t test = 0; test < general->tests; test++)
      if (level->usable[test]) {
        const int64_t at = (int64_t) test * levels + q;
        const int64_t low = plus (plus (level->low[0][at], level->low[1][at]), level->pay[test]);
        bound = smaller (bound, larger (level->bound[at], low));
      }
    if (!solver->options.strong && !solver_stopping (solver) && bound < level->fact[q].upper)
      bound = smaller (bound, level->upper[q]);
    level->fact[q].lower = larger (level->fact[q].lower, bound);
  }
}

/* The optimum of the rows of the level, where it is below the level's upper bound; otherwise a bound that is not. The
   leaf's costs are known from above. */
void general_solve (struct general *general, int32_t depth, int64_t leaves, const int64_t *leaf) {
  treeml_solver *solver = general->solver;
  const int32_t levels = general->levels;
  struct level *level = general->level[depth];
  const int64_t nodes = solver->statistics.nodes++;
  int64_t floor[most_levels];
  int64_t rows = 0;
  for (int64_t w = 0; w < general->words; w++)
    rows += __builtin_popcountll (level->rows[w]);
  const int32_t useful = (int32_t) smaller (depth, rows - 1);
  leaves = general_useful_leaves (leaves, useful);
  int active = 0;
  for (int32_t q = 0; q < levels; q++) {
    const int64_t split = general->has_floor ? 2 * general->price : no_floor;
    floor[q] = smaller (leaf[q], split);
    level->fact[q] = (struct fact){floor[q], leaf[q], leaf[q] < UNREACHABLE ? is_leaf : is_unknown, 0};
    if (useful < 1 || leaves == 1 || !general->tests)
      level->fact[q].lower = leaf[q];
    active |= level->fact[q].lower < smaller (leaf[q], level->upper[q]);
  }
  if (!active)
    return;
  active = 0;
  for (int32_t q = 0; q < levels; q++) {
    struct fact known, *fact = &level->fact[q];
    const struct key key = general_key (general, level->rows, useful, leaves, q);
    solver->statistics.lookups++;
    if (cache_find (solver->cache, &key, &known)) {
      fact->lower = larger (fact->lower, known.lower);
      if (known.split != is_unknown && known.upper < fact->upper) {
        fact->upper = known.upper;
        fact->split = known.split;
        fact->shallow = known.shallow;
      }
      solver->statistics.hits += fact->lower >= smaller (fact->upper, level->upper[q]);
    }
    active |= fact->lower < smaller (fact->upper, level->upper[q]);
  }
  if (!active)
    return;
  general_open (general, level);
  if (solver_stopping (solver))
    return;
  /* Stumps first: all there is at depth one, and a first tree above. */
  for (int32_t test = 0; test < general->tests; test++)
    for (int32_t q = 0; q < levels && level->usable[test]; q++) {
      const int64_t at = (int64_t) test * levels + q;
      const int64_t value = plus (plus (level->leaf[0][at], level->leaf[1][at]), level->pay[test]);
      if (value < level->fact[q].upper)
        level->fact[q] = (struct fact){level->fact[q].lower, value, test, -1};
    }
  const int at_root = general->path_length == 0;
  for (int32_t q = 0; q < levels; q++) {
    if (at_root)
      general_publish (general, level, depth, leaves, q);
    if (useful == 1 || leaves == 2)
      level->fact[q].lower = level->fact[q].upper;
  }
  if (useful > 1 && leaves != 2) {
    const int protect = solver_wipes (solver);
    for (int32_t q = 0; q < levels && protect; q++) {
      const struct key key = general_key (general, level->rows, useful, leaves, q);
      cache_enter (solver->cache, &key);
    }
    search_splits (general, level, depth, leaves, floor);
    for (int32_t q = 0; q < levels && protect; q++) {
      const struct key key = general_key (general, level->rows, useful, leaves, q);
      cache_leave (solver->cache, &key);
    }
  }
  for (int32_t q = 0; q < levels; q++) {
    const struct fact *fact = &level->fact[q];
    solver->statistics.failures += fact->lower < fact->upper;
    if (!solver->options.infeasible && fact->lower < fact->upper && !solver_stopping (solver))
      continue;
    const struct key key = general_key (general, level->rows, useful, leaves, q);
    cache_store (solver->cache, &key, fact, solver->statistics.nodes - nodes);
  }
}
