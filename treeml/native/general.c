/* Branch and bound for every additive goal and every constraint (Aglin et al. 2020, with the leaf as first candidate).

   Nothing is assumed of the cost of a leaf but that it depends on its rows. What more is known of a goal tightens the
   search: a floor under the cost of a set of rows, and what a row can be worth at most, which bounds a split by the
   splits solved beside it. Several quantile levels are searched at once with one bound each; a split is left out when
   it is hopeless for all of them (Aglin 2022, section 8.2.2). A bound on the leaves is exact: the state has the leaves
   that are left, and a split shares them out in every way (size-indexed dynamic programming). */
#include "solver.h"
#include "sparse_bitset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { most_levels = 1024 };

/* Where nothing is known of the costs. */
static const int64_t no_floor = -UNREACHABLE / 2;

/* One sub-problem under search; there is one for each depth left. */
struct level {
  uint64_t *rows;
  int64_t *leaf[2];     /* cost of each test's no and yes side as a leaf: tests x levels */
  int64_t *low[2];      /* bounds of the sides */
  int64_t *bound;       /* of each split */
  int64_t *upper;       /* asked for, one a quantile level */
  struct fact *fact;    /* found */
  struct fact *child[2];
  int64_t *child_upper;
  int64_t *pay;         /* of each test */
  uint8_t *usable;
  int32_t *order;
};

struct general {
  treeml_solver *solver;
  struct leaf_state *leaf;
  int32_t *kept;
  int32_t tests, levels; /* of quantiles */
  int32_t depths;
  int64_t words;
  int64_t price;
  int similar;           /* does the similarity bound hold? */
  int has_floor;
  int64_t worth;         /* of a row, at most */
  double range;          /* of the targets, summed over the outputs */
  struct level **level;
  struct sparse_bitset sparse;
  uint64_t *scratch;
  int32_t *path, *sorted;
  int32_t path_length;
  int32_t *used;         /* how often each column lies on the path */
  int64_t work;
  int32_t root_depth;
  int64_t *best;         /* value of the best tree of each quantile level */
  struct tree *tree;
  int64_t *root_bound;
  int64_t *custom_starts;
  int32_t *custom_rows;
  double *custom_costs;
  int64_t custom_room;
};

static int64_t larger (int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t smaller (int64_t a, int64_t b) { return a < b ? a : b; }

/* Nothing reaches what a part does not reach. */
static int64_t plus (int64_t a, int64_t b) { return a >= UNREACHABLE || b >= UNREACHABLE ? UNREACHABLE : a + b; }

/* What is left of an upper bound. */
static int64_t minus (int64_t upper, int64_t part) {
  if (part >= UNREACHABLE)
    return INT64_MIN / 4;
  return upper >= UNREACHABLE ? UNREACHABLE : upper - part;
}

static const uint64_t *column (const struct general *general, int32_t test) {
  return general->solver->columns + (int64_t) general->kept[test] * general->words;
}

static int32_t column_number (const struct general *general, int32_t test) {
  return general->solver->column_of ? general->solver->column_of[general->kept[test]] : general->kept[test];
}

static void level_release (struct general *general, struct level *level) {
  struct arena *arena = &general->solver->arena;
  if (!level)
    return;
  if (!general->sparse.words)
    arena_release (arena, level->rows);
  for (int side = 0; side < 2; side++) {
    arena_release (arena, level->leaf[side]);
    arena_release (arena, level->low[side]);
    arena_release (arena, level->child[side]);
  }
  arena_release (arena, level->bound);
  arena_release (arena, level->upper);
  arena_release (arena, level->fact);
  arena_release (arena, level->child_upper);
  arena_release (arena, level->pay);
  arena_release (arena, level->usable);
  arena_release (arena, level->order);
  arena_release (arena, level);
}

static struct level *level_at (struct general *general, int32_t depth) {
  if (general->level[depth])
    return general->level[depth];
  struct arena *arena = &general->solver->arena;
  const size_t tests = (size_t) general->tests + 1, levels = (size_t) general->levels;
  struct level *level = arena_allocate (arena, 1, sizeof *level);
  int fits = level != NULL;
  if (fits) {
    level->rows = general->sparse.words ? general->sparse.words
                                        : arena_allocate (arena, (size_t) general->words, sizeof *level->rows);
    for (int side = 0; side < 2; side++) {
      level->leaf[side] = arena_allocate (arena, tests * levels, sizeof *level->leaf[side]);
      level->low[side] = arena_allocate (arena, tests * levels, sizeof *level->low[side]);
      level->child[side] = arena_allocate (arena, levels, sizeof *level->child[side]);
      fits = fits && level->leaf[side] && level->low[side] && level->child[side];
    }
    level->bound = arena_allocate (arena, tests * levels, sizeof *level->bound);
    level->upper = arena_allocate (arena, levels, sizeof *level->upper);
    level->fact = arena_allocate (arena, levels, sizeof *level->fact);
    level->child_upper = arena_allocate (arena, levels, sizeof *level->child_upper);
    level->pay = arena_allocate (arena, tests, sizeof *level->pay);
    level->usable = arena_allocate (arena, tests, sizeof *level->usable);
    level->order = arena_allocate (arena, tests, sizeof *level->order);
    fits = fits && level->rows && level->bound && level->upper && level->fact && level->child_upper && level->pay &&
           level->usable && level->order;
  }
  if (!fits) {
    level_release (general, level);
    solver_stop (general->solver, TREEML_MEMORY);
    return NULL;
  }
  return general->level[depth] = level;
}

static uint64_t mix (uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static int compare_literals (const void *a, const void *b) { return *(const int32_t *) a - *(const int32_t *) b; }

/* Rows, and what of the path changes the cost or the tests below; or the path itself. */
static struct key key_of (struct general *general, const uint64_t *rows, int32_t depth, int64_t leaves, int32_t level) {
  const treeml_solver *solver = general->solver;
  struct key key = {.path = general->sorted,
                    .length = general->path_length,
                    .depth = depth,
                    .leaves = (int32_t) (leaves * general->levels + level)};
#ifdef TREEML_CHECK
  for (int64_t row = 0; row < solver->rows; row++)
    if (rows[row >> 6] >> (row & 63) & 1)
      key.check += key_check ((uint64_t) row);
#endif
  if (solver->options.cache_kind >= path_cache) {
    memcpy (general->sorted, general->path, (size_t) general->path_length * sizeof *general->path);
    qsort (general->sorted, (size_t) general->path_length, sizeof *general->sorted, compare_literals);
    for (int32_t i = 0; i < general->path_length; i++) {
      const uint64_t code = mix ((uint64_t) general->sorted[i] + 0x9e3779b97f4a7c15u);
      key.hash[0] += code;
      key.hash[1] += mix (code + 0x632be59bd9b4e019u);
    }
    return key;
  }
  uint64_t first = (uint64_t) solver->options.seed, second = ~first;
  for (int64_t w = 0; w < general->words; w++) {
    first = mix (first ^ rows[w]);
    second = (second ^ rows[w]) * 0x9fb21c651e98df25u;
    second ^= second >> 29;
  }
  key.hash[0] = first;
  key.hash[1] = second;
  if (solver->options.once || solver->column_cost)
    for (int32_t i = 0; i < general->path_length; i++) {
      const int32_t test = general->path[i] / 2, number = column_number (general, test);
      int repeated = 0;
      for (int32_t j = 0; j < i && !repeated; j++)
        repeated = column_number (general, general->path[j] / 2) == number;
      if (!repeated) {
        const uint64_t code = mix ((uint64_t) number + 0x9e3779b97f4a7c15u);
        key.hash[0] += code;
        key.hash[1] += mix (code + 0x632be59bd9b4e019u);
      }
    }
  return key;
}

static int64_t count_rows (const struct general *general, const uint64_t *rows) {
  const int64_t *count = general->solver->count;
  int64_t sum = 0;
  for (int64_t w = 0; w < general->words; w++)
    if (count)
      for (uint64_t rest = rows[w]; rest; rest &= rest - 1)
        sum += count[64 * w + __builtin_ctzll (rest)];
    else
      sum += __builtin_popcountll (rows[w]);
  return sum;
}

static int poll_now (struct general *general, int64_t work) {
  treeml_solver *solver = general->solver;
  if (solver_stopping (solver))
    return 1;
  general->work += work;
  if (general->work < 1000000)
    return 0;
  general->work = 0;
  return solver_poll (solver, 1, general->best[0] + solver->offset, general->root_bound[0] + solver->offset, 0);
}

static void enter_side (struct general *general, const struct level *from, uint64_t *to, int32_t test, int yes) {
  const uint64_t *mask = column (general, test);
  if (general->sparse.words)
    sparse_bitset_intersect (&general->sparse, mask, yes);
  else
    for (int64_t w = 0; w < general->words; w++)
      to[w] = from->rows[w] & (yes ? mask[w] : ~mask[w]);
}

static void leave_side (struct general *general) {
  if (general->sparse.words)
    sparse_bitset_backtrack (&general->sparse);
}

/* Both sides of every test as leaves, in calls of as many sets as fit. */
static void custom_leaves (struct general *general, struct level *level) {
  treeml_solver *solver = general->solver;
  const int64_t price = general->price;
  int32_t first = 0;
  while (first < general->tests && !solver_stopping (solver)) {
    int64_t sets = 0, rows = 0;
    int32_t last = first;
    for (; last < general->tests; last++) {
      if (!level->usable[last])
        continue;
      if (rows + solver->rows > general->custom_room)
        break;
      for (int side = 0; side < 2; side++) {
        uint64_t *members = general->sparse.words ? general->sparse.words : general->scratch;
        enter_side (general, level, members, last, side);
        general->custom_starts[sets++] = rows;
        for (int64_t w = 0; w < general->words; w++)
          for (uint64_t rest = members[w]; rest; rest &= rest - 1)
            general->custom_rows[rows++] = (int32_t) (64 * w + __builtin_ctzll (rest));
        leave_side (general);
      }
    }
    general->custom_starts[sets] = rows;
    if (sets) {
      solver->statistics.batches++;
      solver->statistics.leaf_costs += sets;
      if (solver->custom (solver->custom_state, sets, general->custom_starts, general->custom_rows,
                          general->custom_costs)) {
        solver_fail (solver, TREEML_CALLBACK_FAILED, "the leaf cost function failed");
        solver_stop (solver, TREEML_INTERRUPTED);
        return;
      }
    }
    sets = 0;
    for (int32_t test = first; test < last; test++)
      if (level->usable[test])
        for (int side = 0; side < 2; side++, sets++) {
          const int64_t cost = leaf_fixed (solver, general->custom_costs[sets]);
          const int64_t size = general->custom_starts[sets + 1] - general->custom_starts[sets];
          int supported = size >= solver->options.support;
          if (solver->count) {
            int64_t counted = 0;
            for (int64_t i = general->custom_starts[sets]; i < general->custom_starts[sets + 1]; i++)
              counted += solver->count[general->custom_rows[i]];
            supported = counted >= solver->options.support;
          }
          if (general->has_floor && cost < 0 && !solver->code) {
            solver_fail (solver, TREEML_CALLBACK_FAILED, "the leaf cost function returned a negative cost");
            solver_stop (solver, TREEML_INTERRUPTED);
          }
          level->leaf[side][test] = supported ? plus (cost, price) : UNREACHABLE;
        }
    first = last;
  }
}

/* Which tests say something here, what they add to the value, and what their sides cost as leaves. */
static void open_level (struct general *general, struct level *level) {
  treeml_solver *solver = general->solver;
  const int32_t levels = general->levels;
  const int64_t counted = solver->column_cost ? count_rows (general, level->rows) : 0;
  for (int32_t test = 0; test < general->tests; test++) {
    const uint64_t *mask = column (general, test);
    const int32_t number = column_number (general, test);
    uint64_t yes = 0, no = 0;
    for (int64_t w = 0; w < general->words; w++) {
      yes |= level->rows[w] & mask[w];
      no |= level->rows[w] & ~mask[w];
    }
    level->usable[test] = yes && no && !(solver->options.once && general->used[number]);
    level->pay[test] = solver->column_cost && !general->used[number] ? counted * solver->column_cost[number] : 0;
  }
  if (solver->goal == goal_custom)
    custom_leaves (general, level);
  else
    for (int32_t test = 0; test < general->tests; test++)
      if (level->usable[test] && !poll_now (general, 8 * general->words))
        for (int side = 0; side < 2; side++) {
          uint64_t *members = general->sparse.words ? general->sparse.words : general->scratch;
          enter_side (general, level, members, test, side);
          leaf_costs (general->leaf, members, level->leaf[side] + (int64_t) test * levels);
          leave_side (general);
        }
}

static void sort_order (int32_t *order, const double *score, int32_t count) {
  for (int32_t gap = count / 2; gap > 0; gap = gap == 2 ? 1 : (int32_t) (gap / 2.2))
    for (int32_t i = gap; i < count; i++) {
      const int32_t moved = order[i];
      int32_t j = i;
      for (; j >= gap && (score[order[j - gap]] > score[moved] ||
                          (score[order[j - gap]] == score[moved] && order[j - gap] > moved));
           j -= gap)
        order[j] = order[j - gap];
      order[j] = moved;
    }
}

/* By what each test costs as a stump; for classes also by the information it gives. */
static void order_tests (struct general *general, struct level *level, int at_root) {
  treeml_solver *solver = general->solver;
  const int64_t how = solver->options.order;
  double *score = (double *) (void *) level->bound; /* not in use yet */
  for (int32_t i = 0; i < general->tests; i++)
    level->order[i] = i;
  if (how == 0)
    return;
  if (!at_root && !solver->options.order_everywhere) {
    memcpy (level->order, general->level[general->root_depth]->order, (size_t) general->tests * sizeof *level->order);
    return;
  }
  for (int32_t test = 0; test < general->tests; test++) {
    score[test] = INFINITY;
    if (!level->usable[test])
      continue;
    if (how == 1 || solver->goal != goal_classes || solver->cost) {
      score[test] = (double) plus (plus (level->leaf[0][test * general->levels], level->leaf[1][test * general->levels]),
                                   level->pay[test]);
      if (how == 3)
        score[test] = -score[test];
      continue;
    }
    double left = 0;
    for (int side = 0; side < 2; side++) {
      double whole = 0, sum[64] = {0};
      const uint64_t *mask = column (general, test);
      for (int64_t w = 0; w < general->words; w++)
        for (uint64_t rest = level->rows[w] & (side ? mask[w] : ~mask[w]); rest; rest &= rest - 1) {
          const int64_t row = 64 * w + __builtin_ctzll (rest);
          const double weight = solver->weight ? (double) solver->weight[row] : 1;
          sum[solver->label[row] & 63] += weight;
          whole += weight;
        }
      for (int k = 0; k < 64; k++)
        if (sum[k] > 0)
          left += sum[k] * log (whole / sum[k]);
    }
    score[test] = how == 2 ? left : -left;
  }
  sort_order (level->order, score, general->tests);
}

/* Bounds of all splits from one that is solved: a tree for the rows A costs, on the rows B, at most what the rows that
   only B has are worth more. */
static void spread_similarity (struct general *general, struct level *level, int32_t solved) {
  const uint64_t *mine = column (general, solved);
  const int32_t levels = general->levels;
  for (int32_t test = 0; test < general->tests; test++) {
    if (!level->usable[test] || test == solved)
      continue;
    const uint64_t *mask = column (general, test);
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

static void solve (struct general *general, int32_t depth, int64_t leaves, const int64_t *leaf);
static void publish (struct general *general, struct level *level, int32_t depth, int64_t leaves, int32_t q);

static void push (struct general *general, int32_t test, int yes) {
  general->path[general->path_length++] = 2 * test + yes;
  if (general->used)
    general->used[column_number (general, test)]++;
}

static void pop (struct general *general) {
  const int32_t literal = general->path[--general->path_length];
  if (general->used)
    general->used[column_number (general, literal / 2)]--;
}

/* No more leaves than a tree of the depth can have; 0 stands for no limit. */
static int64_t useful_leaves (int64_t leaves, int32_t depth) {
  return !leaves || (depth < 30 && leaves >= (int64_t) 1 << depth) ? 0 : leaves;
}

/* One side of a split with so many leaves; bounds and values go to level->child. */
static void solve_side (struct general *general, struct level *level, int32_t depth, int64_t leaves, int32_t test,
                        int side) {
  struct level *below = level_at (general, depth - 1);
  if (!below)
    return;
  enter_side (general, level, below->rows, test, side);
  push (general, test, side);
  memcpy (below->upper, level->child_upper, (size_t) general->levels * sizeof *below->upper);
  solve (general, depth - 1, useful_leaves (leaves, depth - 1), level->leaf[side] + (int64_t) test * general->levels);
  memcpy (level->child[side], below->fact, (size_t) general->levels * sizeof *below->fact);
  pop (general);
  leave_side (general);
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
  order_tests (general, level, at_root);
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
    if (poll_now (general, general->words))
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
        publish (general, level, depth, leaves, q);
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
static void solve (struct general *general, int32_t depth, int64_t leaves, const int64_t *leaf) {
  treeml_solver *solver = general->solver;
  const int32_t levels = general->levels;
  struct level *level = general->level[depth];
  const int64_t nodes = solver->statistics.nodes++;
  int64_t floor[most_levels];
  int64_t rows = 0;
  for (int64_t w = 0; w < general->words; w++)
    rows += __builtin_popcountll (level->rows[w]);
  const int32_t useful = (int32_t) smaller (depth, rows - 1);
  leaves = useful_leaves (leaves, useful);
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
    const struct key key = key_of (general, level->rows, useful, leaves, q);
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
  open_level (general, level);
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
      publish (general, level, depth, leaves, q);
    if (useful == 1 || leaves == 2)
      level->fact[q].lower = level->fact[q].upper;
  }
  if (useful > 1 && leaves != 2) {
    const int protect = solver_wipes (solver);
    for (int32_t q = 0; q < levels && protect; q++) {
      const struct key key = key_of (general, level->rows, useful, leaves, q);
      cache_enter (solver->cache, &key);
    }
    search_splits (general, level, depth, leaves, floor);
    for (int32_t q = 0; q < levels && protect; q++) {
      const struct key key = key_of (general, level->rows, useful, leaves, q);
      cache_leave (solver->cache, &key);
    }
  }
  for (int32_t q = 0; q < levels; q++) {
    const struct fact *fact = &level->fact[q];
    solver->statistics.failures += fact->lower < fact->upper;
    if (!solver->options.infeasible && fact->lower < fact->upper && !solver_stopping (solver))
      continue;
    const struct key key = key_of (general, level->rows, useful, leaves, q);
    cache_store (solver->cache, &key, fact, solver->statistics.nodes - nodes);
  }
}

static int32_t emit (struct general *general, struct tree *tree, int32_t test) {
  const int64_t node = tree_add (&general->solver->arena, tree, test < 0 ? -1 : general->kept[test], -1);
  if (node < 0)
    solver_stop (general->solver, TREEML_MEMORY);
  return (int32_t) node;
}

static int32_t rebuild (struct general *general, struct tree *tree, struct level *level, int32_t depth, int64_t leaves,
                        const struct fact *fact, int32_t q);

/* The tree of one side; what the cache no longer holds is solved again, just well enough. */
static int32_t rebuild_side (struct general *general, struct tree *tree, struct level *level, int32_t depth,
                             int64_t leaves, int32_t test, int side, int32_t q, int64_t *target) {
  struct level *below = level_at (general, depth - 1);
  if (!below)
    return -1;
  int64_t leaf[most_levels];
  enter_side (general, level, below->rows, test, side);
  push (general, test, side);
  leaf_costs (general->leaf, below->rows, leaf);
  for (int32_t other = 0; other < general->levels; other++)
    below->upper[other] = INT64_MIN / 4;
  below->upper[q] = *target < UNREACHABLE ? *target + 1 : UNREACHABLE;
  const int64_t nodes = general->solver->statistics.nodes;
  solve (general, depth - 1, useful_leaves (leaves, depth - 1), leaf);
  general->solver->statistics.rebuilt += general->solver->statistics.nodes - nodes - 1;
  const struct fact fact = below->fact[q];
  *target = minus (*target, fact.upper);
  const int32_t node = rebuild (general, tree, below, depth - 1, leaves, &fact, q);
  pop (general);
  leave_side (general);
  return node;
}

static int32_t rebuild (struct general *general, struct tree *tree, struct level *level, int32_t depth, int64_t leaves,
                        const struct fact *fact, int32_t q) {
  const struct fact here = *fact;
  const int32_t node = emit (general, tree, here.split < 0 ? -1 : here.split);
  if (node < 0 || here.split < 0)
    return node;
  int64_t target = here.upper;
  if (general->solver->column_cost && !general->used[column_number (general, here.split)])
    target -= count_rows (general, level->rows) *
              general->solver->column_cost[column_number (general, here.split)];
  for (int side = 1; side >= 0; side--) {
    int32_t child;
    if (here.shallow < 0)
      child = emit (general, tree, -1);
    else {
      const int64_t share = here.shallow == 0 ? 0 : side ? here.shallow : leaves - here.shallow;
      child = rebuild_side (general, tree, level, depth, share, here.split, side, q, &target);
    }
    if (child < 0)
      return -1;
    (side ? tree->yes : tree->no)[node] = child;
  }
  return node;
}

/* A better tree at the root: kept as a tree at once. */
static void publish (struct general *general, struct level *level, int32_t depth, int64_t leaves, int32_t q) {
  treeml_solver *solver = general->solver;
  struct fact fact = level->fact[q];
  if (fact.upper >= general->best[q])
    return;
  struct tree tree = {0};
  if (rebuild (general, &tree, level, depth, leaves, &fact, q) < 0) {
    tree_release (&solver->arena, &tree);
    return;
  }
  if (solver_stopping (solver)) { /* parts may have been left as leaves */
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
  for (int32_t i = 0; general->level && i <= general->depths; i++)
    level_release (general, general->level[i]);
  arena_release (arena, general->level);
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
  arena_release (arena, general->custom_starts);
  arena_release (arena, general->custom_rows);
  arena_release (arena, general->custom_costs);
  arena_release (arena, general->kept);
  leaf_destroy (general->leaf);
}

/* What a row can be worth at most, where trees for other rows say something about these. */
static void set_worth (struct general *general) {
  const treeml_solver *solver = general->solver;
  const struct options *options = &solver->options;
  general->has_floor = solver->goal != goal_custom || options->nonnegative;
  general->similar = options->similarity && options->support <= 1 && !solver->count && !solver->purity_weight &&
                     !solver->limited_cost && !options->once && !solver->column_cost && solver->goal != goal_custom;
  if (!general->similar)
    return;
  double worth = 0;
  for (int64_t row = 0; row < solver->rows; row++) {
    double here = 0;
    const double weight = solver->weight ? (double) solver->weight[row] : 1;
    if (solver->goal == goal_classes) {
      here = weight;
      if (solver->cost) {
        here = 0;
        for (int32_t k = 0; k < solver->classes; k++)
          here = fmax (here, (double) solver->cost[row * solver->classes + k]);
      }
    } else
      for (int32_t output = 0; output < solver->outputs; output++) {
        const int64_t *target = solver->target + output;
        double low = (double) target[0], high = low;
        for (int64_t other = 0; other < solver->rows && !row; other++) {
          low = fmin (low, (double) target[other * solver->outputs]);
          high = fmax (high, (double) target[other * solver->outputs]);
        }
        if (!row) {
          const double range = high - low;
          general->range = solver->loss == TREEML_SQUARED ? general->range + range * range : general->range + range;
        }
        here = weight * general->range;
      }
    worth = fmax (worth, here);
  }
  if (solver->goal == goal_loss && solver->loss != TREEML_ABSOLUTE)
    worth *= solver->unit;
  general->worth = worth < (double) UNREACHABLE / 64 / (double) solver->rows ? (int64_t) ceil (worth) + 1 : 0;
  if (solver->goal == goal_classes)
    general->worth = (int64_t) worth;
  general->similar = general->worth > 0 && worth * (double) solver->rows < (double) UNREACHABLE / 4;
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
    if (column_number (general, test) >= columns)
      columns = column_number (general, test) + 1;
  general->level = arena_allocate (arena, (size_t) general->depths + 1, sizeof *general->level);
  general->scratch = arena_allocate (arena, (size_t) general->words, sizeof *general->scratch);
  general->path = arena_allocate (arena, (size_t) general->depths + 1, sizeof *general->path);
  general->sorted = arena_allocate (arena, (size_t) general->depths + 1, sizeof *general->sorted);
  general->used = arena_allocate (arena, (size_t) columns + 1, sizeof *general->used);
  general->best = arena_allocate (arena, (size_t) general->levels, sizeof *general->best);
  general->root_bound = arena_allocate (arena, (size_t) general->levels, sizeof *general->root_bound);
  general->tree = arena_allocate (arena, (size_t) general->levels, sizeof *general->tree);
  if (!general->level || !general->scratch || !general->path || !general->sorted || !general->used || !general->best ||
      !general->root_bound || !general->tree)
    return 0;
  if (solver->options.reversible && sparse_bitset_create (arena, &general->sparse, solver->rows, general->depths + 2))
    return 0;
  if (solver->goal == goal_custom) {
    general->custom_room = larger (4 * solver->rows, smaller (2 * general->tests * solver->rows, 1 << 20));
    const size_t sets = 2 * (size_t) general->tests + 2;
    general->custom_starts = arena_allocate (arena, sets + 1, sizeof *general->custom_starts);
    general->custom_rows = arena_allocate (arena, (size_t) general->custom_room, sizeof *general->custom_rows);
    general->custom_costs = arena_allocate (arena, sets, sizeof *general->custom_costs);
    if (!general->custom_starts || !general->custom_rows || !general->custom_costs)
      return 0;
  }
  return 1;
}

static int finish (struct general *general) {
  treeml_solver *solver = general->solver;
  if (solver_stopping (solver) == 1 + TREEML_MEMORY)
    solver->arena.limit = SIZE_MAX; /* room to hand over what was found */
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
      return solver->code ? solver->code : solver_fail (solver, TREEML_OUT_OF_MEMORY, "no memory to hand over the tree");
    if (!tree_keeps_limits (solver, &general->tree[q]))
      return solver_fail (solver, TREEML_INTERNAL, "the tree found breaks a bound on its shape");
    if (value > general->best[q])
      return solver_fail (solver, TREEML_INTERNAL, "the tree found costs %lld, not %lld as claimed", (long long) value,
                          (long long) general->best[q]);
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
    return solver_fail (solver, TREEML_OUT_OF_MEMORY, "no memory for the search");
  /* Under a memory limit the levels come first, and the cache gets what is left. */
  int fits = 1;
  for (int32_t depth = 0; fits && solver->options.memory != UNLIMITED && depth < general->depths && depth <= 64; depth++)
    fits = level_at (general, depth) != NULL;
  struct level *root = fits ? level_at (general, general->depths) : NULL;
  if (!root)
    return solver_fail (solver, TREEML_OUT_OF_MEMORY, "no memory for the search");
  uint64_t *all = root->rows;
  for (int64_t row = 0; row < solver->rows; row++)
    all[row >> 6] |= (uint64_t) 1 << (row & 63);
  set_worth (general);
  for (int32_t q = 0; q < general->levels; q++)
    general->best[q] = solver->options.upper == UNLIMITED ? UNREACHABLE : solver->options.upper - solver->offset;
  begin_with_start (general);
  int64_t leaf[most_levels];
  leaf_costs (general->leaf, all, leaf);
  solver->statistics.build_microseconds = (int64_t) (1e6 * (solver_clock () - solver->began));
  const int64_t limit = solver->options.leaves == UNLIMITED ? 0 : solver->options.leaves;
  const int64_t capped = smaller (limit, solver->rows);
  int32_t depth = solver->options.deepening && general->depths > 2 ? 1 : general->depths;
  while (!solver->code) {
    struct level *level = level_at (general, depth);
    if (!level)
      break;
    general->root_depth = depth;
    if (level->rows != all)
      memcpy (level->rows, all, (size_t) general->words * sizeof *all);
    int finished = 1;
    for (int32_t q = 0; q < general->levels; q++) {
      level->fact[q] = (struct fact){no_floor, leaf[q], is_leaf, 0};
      publish (general, level, depth, capped, q);
      level->upper[q] = general->best[q];
      general->root_bound[q] = general->has_floor ? smaller (leaf[q], 2 * general->price) : no_floor;
      finished &= general->best[q] <= general->root_bound[q];
    }
    if (finished)
      break;
    solve (general, depth, useful_leaves (capped, depth), leaf);
    for (int32_t q = 0; q < general->levels; q++) {
      publish (general, level, depth, useful_leaves (capped, depth), q);
      if (depth == general->depths)
        general->root_bound[q] = level->fact[q].lower;
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
    code = solver_fail (solver, TREEML_OUT_OF_MEMORY, "no memory for the cache");
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
