/* The vectors of all trees at a place that may be part of a tree within the limits and up to the target value.

   At every multiplier such a tree stays within a budget, and every other part of it scores at least its bound; so a
   part is left out if it exceeds the budget minus the bounds of the rest at some multiplier. Intersecting these
   necessary conditions keeps the lists short without losing a tree that is wanted. */
#include "coupled/search.h"

#include <math.h>
#include <string.h>

void choose_multipliers (struct search *search) {
  static const double factors[] = {0.8, 1.25, 0.5, 2, 0, 4};
  const int count = search->requirements == 1 ? 6 : search->requirements == 2 ? 4 : 2;
  const int limit = most_multipliers - 2;
  search->multipliers = 1;
  for (int r = 0; r < search->requirements; r++)
    for (int i = 0; i < count && search->multipliers < limit; i++) {
      double lambda[vector_most_sums];
      memcpy (lambda, search->lambda, sizeof lambda);
      const double size = fabs (lambda[r]) > 0.02 ? fabs (lambda[r]) : 0.02;
      const double step = (factors[i] - 1) * size;
      lambda[r] += lambda[r] < 0 ? -step : step;
      multiplier_of (search, lambda, 0, &search->multiplier[search->multipliers++]);
    }
  for (int r = 0; r < search->requirements; r++) /* what the rest of the tree can still reach */
    for (int sign = 1; sign >= (search->requirement[r].two_sided ? -1 : 1); sign -= 2) {
      double lambda[vector_most_sums] = {0};
      lambda[r] = sign;
      if (search->multipliers < most_multipliers)
        multiplier_of (search, lambda, 1, &search->multiplier[search->multipliers++]);
    }
  bounds_clear (search, ~(uint64_t) 1);
  bounds_make_slots (search, search->multipliers);
  for (int l = 0; l < search->multipliers; l++)
    memcpy (search->weights + l * (1 + search->requirements), search->multiplier[l].weights,
            (1 + (size_t) search->requirements) * sizeof *search->weights);
}

void box_budgets (const struct search *search, const struct box *box, int64_t *budgets) {
  for (int l = 0; l < search->multipliers; l++) {
    const int64_t *weights = search->multiplier[l].weights;
    wide budget = (wide) weights[0] * box->most;
    for (int r = 0; r < search->requirements; r++)
      budget += (wide) weights[1 + r] * (weights[1 + r] < 0 ? box->low[r] : box->high[r]);
    /* No score exceeds LARGEST_SCORE. */
    budgets[l] = budget > LARGEST_SCORE    ? LARGEST_SCORE
                 : budget < -LARGEST_SCORE ? -LARGEST_SCORE - 1
                                           : (int64_t) budget;
  }
}

static int add (struct search *search, struct vector_list *list, const int64_t *vector) {
  if (vector_list_add (list, vector))
    return 1;
  search_out_of_memory (search);
  return 0;
}

static int add_leaves (struct search *search, const int64_t *sums, const struct vector_filter *filter,
                       struct vector_list *list) {
  if (!cell_allowed (search, sums))
    return 1;
  for (int32_t k = 0; k < search->coupled->classes; k++) {
    int64_t vector[1 + vector_most_sums];
    leaf_vector (search, sums, k, vector);
    if (leaf_allowed (search, sums, k) && vector_fits (filter, vector, search->requirements) &&
        !add (search, list, vector))
      return 0;
  }
  return 1;
}

/* All stumps of two leaves of different classes. Leaves of one class are as good as a single leaf, unless there are
   rules for leaves. */
static int add_stump (struct search *search, const int64_t *yes, const int64_t *no, const int64_t fees[fee_kinds],
                      const struct vector_filter *filter, struct vector_list *list) {
  const int width = 1 + search->requirements, rules = coupled_has_rules (search->coupled);
  for (int32_t a = 0; a < search->coupled->classes; a++) {
    int64_t first[1 + vector_most_sums], second[1 + vector_most_sums];
    leaf_vector (search, yes, a, first);
    if (rules && !leaf_allowed (search, yes, a))
      continue;
    fees_add (search, fees, first);
    for (int32_t b = 0; b < search->coupled->classes; b++) {
      if (rules ? !leaf_allowed (search, no, b) : a == b)
        continue;
      leaf_vector (search, no, b, second);
      for (int j = 0; j < width; j++)
        second[j] += first[j];
      if (vector_fits (filter, second, search->requirements) && !add (search, list, second))
        return 0;
    }
  }
  return 1;
}

static int reduce (struct search *search, struct vector_list *list, int only_if_long) {
  const int done = only_if_long ? vector_list_reduce_if_long (list, search->windows, &search->work)
                                : vector_list_reduce (list, search->windows, &search->work);
  if (!done)
    search_out_of_memory (search);
  if (!only_if_long) {
    search->statistics.lists++;
    if ((int64_t) list->count > search->statistics.longest_list)
      search->statistics.longest_list = (int64_t) list->count;
  }
  return done;
}

/* Leaves and stumps on one side of a test, or on all rows of the table if the test is -1. */
static int enumerate_stumps (struct search *search, int32_t test, int side, const int64_t *budgets,
                             struct vector_list *list) {
  const struct merged *merged = search->merged;
  const struct vector_filter filter = {search->multipliers, search->weights, budgets};
  int64_t *yes = search->cells, *no = yes + merged->channels, fees[fee_kinds] = {0};
  vector_list_clear (list);
  table_side (search, test, side, yes);
  if (!add_leaves (search, yes, &filter, list))
    return 0;
  for (int32_t other = 0; other < merged->tests; other++) {
    if (!may_follow (search, test, other))
      continue;
    table_cells (search, test, side, other, yes, no);
    if (!cell_allowed (search, yes) || !cell_allowed (search, no))
      continue;
    if (search->has_fees)
      split_fees (search, test, other, count_of (search, yes) + count_of (search, no), fees);
    if (!add_stump (search, yes, no, fees, &filter, list) || !reduce (search, list, 1))
      return 0;
  }
  return reduce (search, list, 0);
}

int enumerate_prepare (struct search *search, const struct place *place) {
  if (place->depth != 2)
    return 1;
  if (!table_at (search, place))
    return 0;
  for (int l = 0; l < search->multipliers; l++)
    table_pass (search, l);
  return 1;
}

static int exceeds (const struct search *search, const int64_t *yes, const int64_t *no, const int64_t *budgets,
                    int first, int last) {
  (void) search;
  for (int l = first; l < last; l++)
    if (yes[l] + no[l] > budgets[l])
      return 1;
  return 0;
}

static void remaining (const struct search *search, const int64_t *budgets, const int64_t *other, int64_t *rest) {
  for (int l = 0; l < search->multipliers; l++)
    rest[l] = budgets[l] - other[l];
}

/* The fees of the split are taken off the budgets of its sides, and then belong to the vectors of the yes side. */
static void pay_fees (const struct search *search, const int64_t fees[fee_kinds], const int64_t *budgets,
                      int64_t *rest) {
  for (int l = 0; l < search->multipliers; l++)
    rest[l] = budgets[l] - fees_score (&search->multiplier[l], fees);
}

static void add_fees (const struct search *search, const int64_t fees[fee_kinds], struct vector_list *list) {
  for (size_t i = 0; search->has_fees && i < list->count; i++)
    fees_add (search, fees, vector_at (list, i));
}

static int sides_of_table (struct search *search, int32_t test, const int64_t *budgets, struct vector_list *yes,
                           struct vector_list *no) {
  const int64_t stride = search->merged->stride;
  int64_t first[most_multipliers], second[most_multipliers], rest[most_multipliers], fees[fee_kinds];
  for (int l = 0; l < search->multipliers; l++) {
    first[l] = search->best[1][l * stride + test];
    second[l] = search->best[0][l * stride + test];
  }
  split_fees (search, -1, test, count_of (search, search->table->total), fees);
  pay_fees (search, fees, budgets, rest);
  if (exceeds (search, first, second, rest, 0, search->multipliers))
    return 0;
  const struct vector_filter filter = {search->multipliers, search->weights, budgets};
  remaining (search, rest, second, rest);
  if (!enumerate_stumps (search, test, 1, rest, yes))
    return -1;
  if (!yes->count)
    return 0;
  add_fees (search, fees, yes);
  vector_list_least (yes, &filter, first);
  remaining (search, budgets, first, rest);
  if (!enumerate_stumps (search, test, 0, rest, no))
    return -1;
  return no->count > 0;
}

static int sides_below (struct search *search, const struct place *sides, const int64_t fees[fee_kinds],
                        const int64_t *budgets, struct vector_list *yes, struct vector_list *no) {
  int64_t first[most_multipliers], second[most_multipliers], rest[most_multipliers];
  pay_fees (search, fees, budgets, rest);
  const uint64_t all = ((uint64_t) 1 << search->multipliers) - 1;
  if (!bounds_at (search, &sides[1], 1, first) || !bounds_at (search, &sides[0], 1, second))
    return -1;
  if (exceeds (search, first, second, rest, 0, 1))
    return 0;
  if (!bounds_at (search, &sides[1], all, first) || !bounds_at (search, &sides[0], all, second))
    return -1;
  if (exceeds (search, first, second, rest, 0, search->multipliers))
    return 0;
  const struct vector_filter filter = {search->multipliers, search->weights, budgets};
  remaining (search, rest, second, rest);
  if (!enumerate_at (search, &sides[1], rest, yes))
    return -1;
  if (!yes->count)
    return 0;
  add_fees (search, fees, yes);
  vector_list_least (yes, &filter, first);
  remaining (search, budgets, first, rest);
  if (!enumerate_at (search, &sides[0], rest, no))
    return -1;
  return no->count > 0;
}

int enumerate_sides (struct search *search, const struct place *place, int32_t test, const int64_t *budgets,
                     struct place *sides, struct vector_list *yes, struct vector_list *no) {
  if (!test_allowed (search, test))
    return 0;
  if (place->depth == 2)
    return sides_of_table (search, test, budgets, yes, no);
  struct level *level = &search->levels[place->depth];
  place_child (search, place, test, 1, level->yes, &sides[1]);
  place_child (search, place, test, 0, level->no, &sides[0]);
  if (!place_splits (search, level->yes, level->no))
    return 0;
  int64_t fees[fee_kinds];
  place_fees (search, place, test, fees);
  path_push (search, test);
  const int result = sides_below (search, sides, fees, budgets, yes, no);
  path_pop (search, test);
  return result;
}

int enumerate_at (struct search *search, const struct place *place, const int64_t *budgets, struct vector_list *list) {
  const struct vector_filter filter = {search->multipliers, search->weights, budgets};
  vector_list_clear (list);
  if (place->depth == 1)
    return table_at (search, place) && enumerate_stumps (search, -1, 0, budgets, list);
  place_total (search, place, search->cells);
  if (!add_leaves (search, search->cells, &filter, list))
    return 0;
  if (place->depth <= 0)
    return reduce (search, list, 0);
  if (!enumerate_prepare (search, place))
    return 0;
  struct level *level = &search->levels[place->depth];
  for (int32_t test = 0; test < search->merged->tests; test++) {
    struct place sides[2];
    const int both = enumerate_sides (search, place, test, budgets, sides, &level->yes_list, &level->no_list);
    if (both < 0 || search_poll (search, 0))
      return 0;
    if (both && !vector_list_join (list, &level->yes_list, &level->no_list, &filter, search->windows, &search->work)) {
      search_out_of_memory (search);
      return 0;
    }
  }
  return reduce (search, list, 0);
}
