/* Limited sums over the predictions: guides that bound what the rest of a tree takes, and the leaves of every class.

   A tree that is wanted costs at most the budget, and its sums are within their limits. So it has at most
   factor[0] * budget + factor[i] * limit i of every guide, with the upper limit if the factor is positive and the lower
   one if it is negative. A part of the tree has at most that, less the least value of the other parts. Every guide is a
   condition that wanted trees meet, so all of them together leave out no wanted tree, whatever the factors are; the
   exact limits are applied to whole trees. */
#include "sets/states.h"

#include "common/bits.h"

#include <string.h>

/* The guide's cost of every row and class, shifted so that the least of a row is 0. */
static int64_t *combined_cost (treeml_sets *sets, struct guide *guide) {
  const treeml_sets_input *in = &sets->input;
  const int64_t rows = in->rows, width = in->width;
  int64_t *cost = arena_reserve (sets->arena, (size_t) (rows * width), sizeof *cost);
  guide->shift = arena_reserve (sets->arena, (size_t) rows, sizeof *guide->shift);
  if (!cost || !guide->shift) {
    arena_release (sets->arena, cost);
    sets_fail (sets, TREEML_SETS_MEMORY);
    return NULL;
  }
  for (int64_t row = 0; row < rows; row++) {
    int64_t *here = cost + row * width, least = INT64_MAX;
    for (int64_t c = 0; c < width; c++) {
      here[c] = guide->factor[0] * in->cost[row * width + c];
      for (int32_t i = 0; i < in->limited; i++)
        here[c] += guide->factor[1 + i] * in->limited_cost[(i * rows + row) * width + c];
      least = here[c] < least ? here[c] : least;
    }
    for (int64_t c = 0; c < width; c++)
      here[c] -= least;
    guide->shift[row] = least;
    guide->shifts += least;
  }
  return cost;
}

static int make_guide (treeml_sets *sets, struct guide *guide) {
  treeml_sets_input input = sets->input;
  int64_t *cost = combined_cost (sets, guide), *column_cost = NULL;
  int ok = cost != NULL;
  if (ok && input.column_cost) {
    column_cost = arena_reserve (sets->arena, (size_t) input.columns, sizeof *column_cost);
    for (int32_t column = 0; column_cost && column < input.columns; column++)
      column_cost[column] = guide->factor[0] * input.column_cost[column];
    ok = column_cost ? 1 : sets_fail (sets, TREEML_SETS_MEMORY);
  }
  input.cost = cost;
  input.column_cost = column_cost;
  input.price *= guide->factor[0];
  input.limited = input.guides = 0;
  const int code = ok ? sets_create (&input, sets->arena, &guide->sets) : sets->code;
  arena_release (sets->arena, cost);
  arena_release (sets->arena, column_cost);
  if (code != TREEML_SETS_OK)
    return sets_fail (sets, code);
  guide->total = arena_reserve (sets->arena, (size_t) guide->sets->sums, sizeof *guide->total);
  return guide->total ? 1 : sets_fail (sets, TREEML_SETS_MEMORY);
}

int sets_make_guides (treeml_sets *sets) {
  const treeml_sets_input *in = &sets->input;
  if (!in->limited)
    return 1;
  sets->sums_here = arena_reserve (sets->arena, (size_t) in->limited, sizeof *sets->sums_here);
  if (!sets->sums_here)
    return sets_fail (sets, TREEML_SETS_MEMORY);
  if (!in->guides)
    return 1;
  sets->guides = arena_allocate (sets->arena, (size_t) in->guides, sizeof *sets->guides);
  if (!sets->guides)
    return sets_fail (sets, TREEML_SETS_MEMORY);
  int ok = 1;
  for (int32_t i = 0; i < in->guides && ok; i++) {
    sets->guides[i].factor = in->factor + (int64_t) i * (1 + in->limited);
    ok = make_guide (sets, &sets->guides[i]);
  }
  return ok;
}

void sets_free_guides (treeml_sets *sets) {
  for (int32_t i = 0; sets->guides && i < sets->input.guides; i++) {
    struct guide *guide = &sets->guides[i];
    treeml_sets_free (guide->sets);
    arena_release (sets->arena, guide->shift);
    arena_release (sets->arena, guide->total);
    arena_release (sets->arena, guide->of);
  }
  arena_release (sets->arena, sets->guides);
}

static int32_t number_of_guides (const treeml_sets *sets) { return sets->guides ? sets->input.guides : 0; }

/* The most that a wanted tree has of a guide, less the shifts of all rows. */
static int64_t most_of (const treeml_sets *sets, const struct guide *guide, int64_t budget) {
  wide most = (wide) guide->factor[0] * budget - guide->shifts;
  for (int32_t i = 0; i < sets->input.limited; i++) {
    const int64_t factor = guide->factor[1 + i];
    most += (wide) factor * (factor > 0 ? sets->input.high[i] : sets->input.low[i]);
  }
  return most < 0 ? -1 : most >= NO_TREE ? NO_TREE - 1 : (int64_t) most;
}

static int remember (treeml_sets *sets, struct guide *guide, int32_t state, int32_t of) {
  void *block = guide->of;
  const int ok = sets_grow (sets, &block, &guide->room, state + 1, sizeof *guide->of);
  guide->of = block;
  if (ok)
    guide->of[state] = of;
  return ok;
}

/* A failure of a guide is one of the whole search. */
static int went_well (treeml_sets *sets, const treeml_sets *guide) {
  return guide->code == TREEML_SETS_OK ? 1 : sets_fail (sets, guide->code);
}

int sets_start_guides (treeml_sets *sets, int64_t budget) {
  for (int32_t i = 0; i < number_of_guides (sets); i++) {
    struct guide *guide = &sets->guides[i];
    treeml_sets *other = guide->sets;
    for (int64_t state = 0; state < other->used; state++)
      other->states[state].budget = -1;
    for (int32_t depth = 0; depth <= other->states[0].depth; depth++)
      other->heads[depth] = -1;
    const int64_t most = most_of (sets, guide, budget);
    if (most < 0 || sets_optimum (other, 0, most) > most || !went_well (sets, other))
      return 0;
    sets_want (other, 0, most);
    if (!remember (sets, guide, 0, 0))
      return 0;
  }
  return 1;
}

int sets_expand_guides (treeml_sets *sets, int32_t state) {
  for (int32_t i = 0; i < number_of_guides (sets); i++) {
    struct guide *guide = &sets->guides[i];
    treeml_sets *other = guide->sets;
    const int32_t at = guide->of[state];
    struct level *level = sets_level (other, other->states[at].depth);
    if (!level)
      return sets_fail (sets, other->code);
    sets_sum_rows (other, at, guide->total);
    sets_split_sums (other, at, level->sums);
    if (!went_well (sets, other))
      return 0;
  }
  return 1;
}

/* Whether a split of a state that is expanded occurs in a wanted tree, as far as one guide knows. */
static int allows (treeml_sets *sets, struct guide *guide, int32_t state, int32_t test) {
  treeml_sets *other = guide->sets;
  const int32_t at = guide->of[state];
  const int64_t *sums = other->levels[other->states[at].depth].sums + (int64_t) test * other->sums;
  const int64_t rest = other->states[at].budget - sets_test_cost (other, at, test);
  if (!sets_children (other, at, test, sums, guide->total, &guide->yes, &guide->no))
    return went_well (sets, other);
  const int64_t low = other->states[guide->no].bound;
  if (other->states[guide->yes].bound + low > rest)
    return 0;
  const int64_t best_yes = sets_optimum (other, guide->yes, rest - low);
  if (!went_well (sets, other) || best_yes + low > rest)
    return 0;
  const int64_t best_no = sets_optimum (other, guide->no, rest - best_yes);
  guide->for_yes = rest - best_no;
  guide->for_no = rest - best_yes;
  return went_well (sets, other) && best_yes + best_no <= rest;
}

int sets_guides_allow (treeml_sets *sets, int32_t state, int32_t test) {
  for (int32_t i = 0; i < number_of_guides (sets); i++)
    if (!allows (sets, &sets->guides[i], state, test))
      return 0;
  return 1;
}

/* After `sets_guides_allow`: the sides of the split are wanted. */
int sets_want_guides (treeml_sets *sets, int32_t yes, int32_t no) {
  for (int32_t i = 0; i < number_of_guides (sets); i++) {
    struct guide *guide = &sets->guides[i];
    if (!remember (sets, guide, yes, guide->yes) || !remember (sets, guide, no, guide->no))
      return 0;
    sets_want (guide->sets, guide->yes, guide->for_yes);
    sets_want (guide->sets, guide->no, guide->for_no);
  }
  return 1;
}

/* Leaves. */

static void add_facts (treeml_sets *sets, int32_t state, int64_t *facts) {
  const treeml_sets_input *in = &sets->input;
  const int64_t rows = in->rows, width = in->width, each = 1 + in->limited;
  int64_t *shifts = facts + width * each;
  const uint64_t *key = sets_key (sets, state);
  memset (facts, 0, (size_t) (width * each + number_of_guides (sets)) * sizeof *facts);
  for (int w = 0; w < sets->words; w++)
    for (uint64_t rest = key[w]; rest; rest &= rest - 1) {
      const int64_t row = 64 * w + lowest_bit (rest);
      for (int64_t c = 0; c < width; c++) {
        facts[c * each] += in->cost[row * width + c];
        for (int32_t i = 0; i < in->limited; i++)
          facts[c * each + 1 + i] += in->limited_cost[(i * rows + row) * width + c];
      }
      for (int32_t i = 0; i < number_of_guides (sets); i++)
        shifts[i] += sets->guides[i].shift[row];
    }
  int64_t *total = sets->facts_total;
  sets_sum_rows (sets, state, total);
  for (int32_t c = 0; c < in->width; c++)
    if (sets_allows_label (sets, total, c) && (in->free || c == sets->states[state].label))
      facts[c * each] += in->price;
    else
      facts[c * each] = NO_TREE;
}

/* For every wanted state: the leaves of all classes, and the shifts. */
int sets_make_facts (treeml_sets *sets) {
  const treeml_sets_input *in = &sets->input;
  if (!in->limited)
    return 1;
  const int64_t each = (int64_t) in->width * (1 + in->limited) + number_of_guides (sets);
  sets->facts_used = 0;
  void *places = sets->facts_at;
  const int grown = sets_grow (sets, &places, &sets->facts_at_room, sets->used, sizeof *sets->facts_at);
  sets->facts_at = places;
  if (!sets->facts_total)
    sets->facts_total = arena_reserve (sets->arena, (size_t) sets->sums, sizeof *sets->facts_total);
  if (!grown || !sets->facts_total)
    return sets_fail (sets, TREEML_SETS_MEMORY);
  for (int32_t depth = 0; depth <= sets->states[0].depth; depth++)
    for (int32_t state = sets->heads[depth]; state >= 0; state = sets->states[state].next) {
      void *facts = sets->facts;
      const int ok = sets_grow (sets, &facts, &sets->facts_room, sets->facts_used + each, sizeof *sets->facts);
      sets->facts = facts;
      if (!ok || !sets_go_on (sets, in->rows))
        return 0;
      sets->facts_at[state] = sets->facts_used;
      add_facts (sets, state, sets->facts + sets->facts_used);
      sets->facts_used += each;
    }
  return 1;
}

/* Whether a tree of a state with this cost and these sums can be part of a wanted tree, as far as the guides know; for
   the root, whether it is wanted. */
int sets_is_useful (const treeml_sets *sets, int32_t state, int64_t cost, const int64_t *sums) {
  const treeml_sets_input *in = &sets->input;
  if (!state)
    for (int32_t i = 0; i < in->limited; i++)
      if (sums[i] < in->low[i] || sums[i] > in->high[i])
        return 0;
  const int64_t *shifts = sets_label (sets, state, in->width);
  for (int32_t i = 0; i < number_of_guides (sets); i++) {
    const struct guide *guide = &sets->guides[i];
    int64_t value = guide->factor[0] * cost - shifts[i];
    for (int32_t j = 0; j < in->limited; j++)
      value += guide->factor[1 + j] * sums[j];
    if (value > guide->sets->states[guide->of[state]].budget)
      return 0;
  }
  return 1;
}
