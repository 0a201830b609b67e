/* The least cost of a tree on every state, by branch and bound, and the splits that occur in a wanted tree. */
#include "common/bits.h"
#include "common/sort_by_score.h"
#include "sets/states.h"

#include <string.h>

struct level *sets_level (treeml_sets *sets, int32_t depth) {
  struct level *level = &sets->levels[depth];
  const size_t tests = (size_t) sets->input.tests;
  if (!level->sums)
    level->sums = arena_reserve (sets->arena, tests * (size_t) sets->sums, sizeof *level->sums);
  if (!level->score)
    level->score = arena_reserve (sets->arena, tests, sizeof *level->score);
  if (!level->order)
    level->order = arena_reserve (sets->arena, tests, sizeof *level->order);
  if (sets->has_steps && !level->low)
    level->low = arena_reserve (sets->arena, 2 * tests, sizeof *level->low);
  if (level->sums && level->score && level->order && (level->low || !sets->has_steps))
    return level;
  sets_fail (sets, TREEML_SETS_MEMORY);
  return NULL;
}

/* The costs of leaves on the two sides of a split, prices included; 0 if a side has no rows or too few. */
struct sides {
  int64_t leaf[2];
  int32_t label[2];
};

/* Whether a split is that of the cut before it, given the sums of the yes sides of all tests. */
static int is_repeated (const treeml_sets *sets, int32_t test, const int64_t *sums) {
  const int32_t inner = sets->inner[test];
  return inner >= 0 && sets->is_chain[test] && inner == test - 1 &&
         sets->input.group[test] == sets->input.group[inner] &&
         sums[(int64_t) test * sets->sums] == sums[(int64_t) inner * sets->sums];
}

static int look (treeml_sets *sets, int32_t state, int32_t test, const int64_t *yes, const int64_t *total,
                 struct sides *sides) {
  const int64_t rest = total[0] - yes[0], fewest = sets->input.support > 1 ? sets->input.support : 1;
  if (yes[0] < fewest || rest < fewest)
    return 0;
  const int sums = sets->sums;
  int64_t no[64], *other = no;
  if (sums > 64) {
    other = arena_reserve (sets->arena, (size_t) sums, sizeof *other);
    if (!other)
      return sets_fail (sets, TREEML_SETS_MEMORY);
  }
  for (int v = 0; v < sums; v++)
    other[v] = total[v] - yes[v];
  if (sets->input.model >= TREEML_SETS_QUANTILE)
    sets_sides (sets, state, test);
  sides->leaf[0] = sets_leaf (sets, sets->child, yes, &sides->label[0]);
  sides->leaf[1] = sets_leaf (sets, sets->child + sets->stride, other, &sides->label[1]);
  for (int i = 0; i < 2; i++)
    sides->leaf[i] = sides->leaf[i] >= NO_TREE ? NO_TREE : sides->leaf[i] + sets->input.price;
  if (other != no)
    arena_release (sets->arena, other);
  return 1;
}

/* The sums of all rows of a state. */
void sets_sum_rows (const treeml_sets *sets, int32_t state, int64_t *total) {
  memset (total, 0, (size_t) sets->sums * sizeof *total);
  const uint64_t *key = sets_key (sets, state);
  for (int w = 0; w < sets->words; w++)
    for (uint64_t rest = key[w]; rest; rest &= rest - 1) {
      const int64_t *values = sets->row_sums + (64 * w + lowest_bit (rest)) * (int64_t) sets->sums;
      for (int v = 0; v < sets->sums; v++)
        total[v] += values[v];
    }
}

/* Makes the states of both sides. `sums` are those of the yes side, `total` those of the state. */
int sets_children (treeml_sets *sets, int32_t state, int32_t test, const int64_t *sums, const int64_t *total,
                   int32_t *yes, int32_t *no) {
  int64_t rest[64], *other = rest;
  const int32_t depth = sets->states[state].depth - 1;
  if (sets->sums > 64) {
    other = arena_reserve (sets->arena, (size_t) sets->sums, sizeof *other);
    if (!other)
      return sets_fail (sets, TREEML_SETS_MEMORY);
  }
  for (int v = 0; v < sets->sums; v++)
    other[v] = total[v] - sums[v];
  sets_sides (sets, state, test);
  *yes = sets_intern (sets, sets->child, depth, sums);
  *no = *yes < 0 ? -1 : sets_intern (sets, sets->child + sets->stride, depth, other);
  if (other != rest)
    arena_release (sets->arena, other);
  return *no >= 0;
}

/* A lower bound on trees of this many more levels, if a leaf costs this much. */
static int64_t quick_bound (const treeml_sets *sets, int64_t leaf, int32_t depth) {
  return depth && leaf > 2 * sets->input.price ? 2 * sets->input.price : leaf;
}

/* The best tree with one split, or a leaf: exact. */
static int64_t best_stump (treeml_sets *sets, int32_t state, const struct level *level, const int64_t *total) {
  int64_t best = sets->states[state].leaf;
  struct sides sides;
  for (int32_t test = 0; test < sets->input.tests; test++)
    if (!is_repeated (sets, test, level->sums) &&
        look (sets, state, test, level->sums + (int64_t) test * sets->sums, total, &sides)) {
      const int64_t value = sides.leaf[0] + sides.leaf[1] + sets_test_cost (sets, state, test);
      if (value < best)
        best = value;
    }
  return best;
}

/* Orders the tests by the costs of leaves on both sides; returns how many split the state. */
static int32_t order_tests (treeml_sets *sets, int32_t state, struct level *level, const int64_t *total) {
  struct sides sides;
  int32_t number = 0;
  for (int32_t test = 0; test < sets->input.tests; test++)
    if (!is_repeated (sets, test, level->sums) &&
        look (sets, state, test, level->sums + (int64_t) test * sets->sums, total, &sides)) {
      level->score[test] = (double) sides.leaf[0] + (double) sides.leaf[1];
      level->order[number++] = test;
    }
  sort_by_score (level->order, level->score, number);
  return number;
}

/* Bounds from neighbouring cuts. */

enum { most_steps = 64 /* cuts that are looked at on each side */, share_beyond = 32 };

static void forget_bounds (const treeml_sets *sets, struct level *level) {
  if (sets->has_steps)
    for (int64_t i = 0; i < 2 * (int64_t) sets->input.tests; i++)
      level->low[i] = -1;
}

static void keep_bounds (const treeml_sets *sets, struct level *level, int32_t test, int32_t yes, int32_t no) {
  if (sets->has_steps) {
    level->low[2 * (int64_t) test] = sets->states[yes].bound;
    level->low[2 * (int64_t) test + 1] = sets->states[no].bound;
  }
}

/* A bound on a split from a cut whose bounds are known: one side of the split has all rows of the same side there and
   more, and the other side lacks rows that cost at most `step`. */
static int64_t bound_from (const struct level *level, int32_t other, int is_inner, int64_t step) {
  const int64_t yes = level->low[2 * (int64_t) other], no = level->low[2 * (int64_t) other + 1];
  const int64_t more = is_inner ? yes : no, fewer = (is_inner ? no : yes) - step;
  return more + (fewer > 0 ? fewer : 0);
}

/* A bound on a split from the nearest cuts with known bounds; 0 if there are none. */
static int64_t bound_from_neighbours (const treeml_sets *sets, const struct level *level, int32_t test) {
  if (!sets->has_steps || !sets->is_chain[test])
    return 0;
  const int32_t group = sets->input.group[test], last = sets->sums - 1;
  const int64_t *sums = level->sums, own = sums[(int64_t) test * sets->sums + last];
  int64_t bound = 0;
  for (int side = -1; side <= 1; side += 2)
    for (int32_t other = test + side, steps = 0; steps < most_steps; other += side, steps++) {
      if (other < 0 || other >= sets->input.tests || sets->input.group[other] != group)
        break;
      if (level->low[2 * (int64_t) other] < 0)
        continue;
      const int64_t step = sums[(int64_t) other * sets->sums + last] - own;
      const int64_t found = bound_from (level, other, side < 0, step < 0 ? -step : step);
      bound = found > bound ? found : bound;
      break;
    }
  return bound;
}

/* How far beyond what is asked for the sides of a cut are searched. A bound that is just large enough excludes no
   neighbour; one that is larger by this much excludes those with as many rows in between. */
static int64_t beyond (const treeml_sets *sets, int32_t state, int32_t test, const int64_t *total) {
  if (!sets->has_steps || !sets->is_chain[test] || sets->states[state].depth < 3)
    return 0;
  return total[sets->sums - 1] / share_beyond;
}

/* The least cost of this split, if it is at most `upper`; otherwise a bound above it. */
static int64_t best_split (treeml_sets *sets, int32_t state, int32_t test, struct level *level, const int64_t *total,
                           int64_t upper) {
  const int64_t cost = sets_test_cost (sets, state, test), rest = upper - cost;
  const int64_t stepped = bound_from_neighbours (sets, level, test);
  if (stepped > rest)
    return stepped + cost;
  int32_t yes, no;
  if (!sets_children (sets, state, test, level->sums + (int64_t) test * sets->sums, total, &yes, &no))
    return 0;
  const int64_t low_no = sets->states[no].bound;
  int64_t value = sets->states[yes].bound + low_no;
  if (value <= rest) {
    const int64_t more = beyond (sets, state, test, total);
    const int64_t best_yes = sets_optimum (sets, yes, rest - low_no + more);
    value = best_yes + low_no;
    if (value <= rest + more)
      value = best_yes + sets_optimum (sets, no, rest - best_yes + more);
  }
  keep_bounds (sets, level, test, yes, no);
  return value + cost;
}

static int64_t search (treeml_sets *sets, int32_t state, int64_t upper, int64_t *total) {
  const int32_t depth = sets->states[state].depth;
  struct level *level = sets_level (sets, depth);
  if (!level)
    return 0;
  sets_sum_rows (sets, state, total);
  sets_split_sums (sets, state, level->sums);
  int64_t best = sets->states[state].leaf, least = NO_TREE;
  if (depth == 1) {
    best = best_stump (sets, state, level, total);
  } else {
    const int32_t number = order_tests (sets, state, level, total);
    forget_bounds (sets, level);
    for (int32_t place = 0; place < number && sets->code == TREEML_SETS_OK; place++) {
      const int64_t most = best - 1 < upper ? best - 1 : upper;
      if (most < 2 * sets->input.price) {
        /* No split can cost that little. */
        least = least < 2 * sets->input.price ? least : 2 * sets->input.price;
        break;
      }
      const int32_t test = level->order[place];
      const int64_t value = best_split (sets, state, test, level, total, most);
      if (value <= most)
        best = value;
      else if (value < least)
        least = value;
    }
  }
  if (sets->code != TREEML_SETS_OK)
    return 0;
  struct state *at = &sets->states[state];
  if (best <= upper || depth == 1 || best <= least) {
    at->exact = 1;
    at->bound = best;
  } else if (least > at->bound)
    at->bound = least;
  return at->bound;
}

/* The least cost of a tree, if it is at most `upper`; otherwise a bound above it. 0 after a failure. */
int64_t sets_optimum (treeml_sets *sets, int32_t state, int64_t upper) {
  const struct state *at = &sets->states[state];
  if (at->exact || at->bound > upper)
    return at->bound;
  if (!sets_go_on (sets, 16))
    return 0;
  int64_t few[64], *total = few;
  if (sets->sums > 64) {
    total = arena_reserve (sets->arena, (size_t) sets->sums, sizeof *total);
    if (!total)
      return sets_fail (sets, TREEML_SETS_MEMORY);
  }
  const int64_t value = search (sets, state, upper, total);
  if (total != few)
    arena_release (sets->arena, total);
  return value;
}

int treeml_sets_optimum (treeml_sets *sets, int64_t upper, double seconds, int64_t *value) {
  sets_until (sets, seconds);
  *value = sets_optimum (sets, 0, upper < NO_TREE ? upper : NO_TREE - 1);
  return sets->code;
}

/* The splits of wanted trees. */

void sets_want (treeml_sets *sets, int32_t state, int64_t budget) {
  struct state *at = &sets->states[state];
  if (at->budget < 0) {
    at->next = sets->heads[at->depth];
    sets->heads[at->depth] = state;
  }
  if (budget > at->budget)
    at->budget = budget;
}

/* Whether the state has this split already, by a test of the same group. */
static int is_known (const treeml_sets *sets, int32_t state, int32_t test, int32_t yes, int32_t no) {
  const int32_t group = sets->input.group[test];
  if (group < 0 || sets->is_chain[test])
    return 0;
  for (int64_t i = sets->states[state].first_arc; i < sets->arcs_used; i++) {
    const struct arc *arc = &sets->arcs[i];
    if (sets->input.group[arc->test] == group &&
        ((arc->yes == yes && arc->no == no) || (arc->yes == no && arc->no == yes)))
      return 1;
  }
  return 0;
}

static int add_arc (treeml_sets *sets, int32_t state, int32_t test, int32_t yes, int32_t no) {
  void *arcs = sets->arcs;
  const int ok = sets_grow (sets, &arcs, &sets->arc_room, sets->arcs_used + 1, sizeof *sets->arcs);
  sets->arcs = arcs;
  if (!ok)
    return 0;
  const int64_t cost = sets_test_cost (sets, state, test);
  sets->arcs[sets->arcs_used++] = (struct arc) {test, yes, no, sets_alike (sets, state, yes, no), cost};
  sets->states[state].arcs++;
  return 1;
}

/* Adds the split if some tree within the budget of the state has it. */
static int consider (treeml_sets *sets, int32_t state, int32_t test, struct level *level, const int64_t *total) {
  const int64_t *sums = level->sums + (int64_t) test * sets->sums;
  const int32_t depth = sets->states[state].depth;
  const int64_t rest = sets->states[state].budget - sets_test_cost (sets, state, test);
  struct sides sides;
  if (!look (sets, state, test, sums, total, &sides))
    return sets->code == TREEML_SETS_OK;
  if (quick_bound (sets, sides.leaf[0], depth - 1) + quick_bound (sets, sides.leaf[1], depth - 1) > rest)
    return 1;
  if (depth == 1 && sets->input.model == TREEML_SETS_CLASSES && !sets->input.limited &&
      sides.label[0] == sides.label[1] && sides.label[0] == sets->states[state].label)
    return 1; /* two leaves of one class are one leaf, if its requirements allow that */
  if (bound_from_neighbours (sets, level, test) > rest)
    return 1;
  int32_t yes, no;
  if (!sets_children (sets, state, test, sums, total, &yes, &no))
    return 0;
  const int64_t low_no = sets->states[no].bound;
  keep_bounds (sets, level, test, yes, no);
  if (sets->states[yes].bound + low_no > rest)
    return 1;
  const int64_t best_yes = sets_optimum (sets, yes, rest - low_no);
  keep_bounds (sets, level, test, yes, no);
  if (sets->code != TREEML_SETS_OK || best_yes + low_no > rest)
    return sets->code == TREEML_SETS_OK;
  const int64_t best_no = sets_optimum (sets, no, rest - best_yes);
  keep_bounds (sets, level, test, yes, no);
  if (sets->code != TREEML_SETS_OK || best_yes + best_no > rest)
    return sets->code == TREEML_SETS_OK;
  if (is_known (sets, state, test, yes, no))
    return 1;
  if (!sets_guides_allow (sets, state, test))
    return sets->code == TREEML_SETS_OK;
  if (!sets_want_guides (sets, yes, no))
    return 0;
  sets_want (sets, yes, rest - best_no);
  sets_want (sets, no, rest - best_yes);
  return add_arc (sets, state, test, yes, no);
}

static int expand (treeml_sets *sets, int32_t state, int64_t *total) {
  sets->states[state].first_arc = sets->arcs_used;
  sets->states[state].arcs = 0;
  const struct state *at = &sets->states[state];
  if (!at->depth || at->budget < 2 * sets->input.price)
    return 1;
  /* The search below uses the levels of smaller depths only. */
  struct level *level = sets_level (sets, at->depth);
  if (!level)
    return 0;
  sets_sum_rows (sets, state, total);
  sets_split_sums (sets, state, level->sums);
  forget_bounds (sets, level);
  if (!sets_expand_guides (sets, state))
    return 0;
  for (int32_t test = 0; test < sets->input.tests; test++)
    if (!is_repeated (sets, test, level->sums) && !consider (sets, state, test, level, total))
      return 0;
  return sets->code == TREEML_SETS_OK;
}

static int find_arcs (treeml_sets *sets, int64_t budget) {
  const int32_t depths = sets->states[0].depth;
  for (int64_t state = 0; state < sets->used; state++)
    sets->states[state].budget = -1;
  for (int32_t depth = 0; depth <= depths; depth++)
    sets->heads[depth] = -1;
  sets->arcs_used = 0;
  const int64_t best = sets_optimum (sets, 0, budget);
  if (sets->code != TREEML_SETS_OK)
    return 0;
  if (best > budget || !sets_start_guides (sets, budget))
    return sets->code == TREEML_SETS_OK;
  sets_want (sets, 0, budget);
  int64_t *total = arena_reserve (sets->arena, (size_t) sets->sums, sizeof *total);
  if (!total)
    return sets_fail (sets, TREEML_SETS_MEMORY);
  int ok = 1;
  for (int32_t depth = depths; depth >= 0 && ok; depth--)
    for (int32_t state = sets->heads[depth]; state >= 0 && ok; state = sets->states[state].next)
      ok = expand (sets, state, total);
  arena_release (sets->arena, total);
  return ok;
}

int treeml_sets_build (treeml_sets *sets, int64_t budget, double seconds) {
  sets_until (sets, seconds);
  sets->built = 0;
  sets->nodes_used = 0;
  arena_release (sets->arena, sets->made);
  sets->made = NULL;
  sets->made_room = 0;
  sets_release_histograms (sets, &sets->counted);
  sets_release_functions (sets);
  if (budget >= NO_TREE)
    return TREEML_SETS_INPUT;
  if (find_arcs (sets, budget) && sets_make_facts (sets) && sets_count (sets, &sets->counted, -1))
    sets->built = 1;
  else
    sets_release_histograms (sets, &sets->counted);
  return sets->code;
}
