/* The best tree whose value and sums lie in a box. The whole problem is such a question at the root; when the first
   test and the vectors of both sides are known, each side is the same question with a smaller box, so trees need not be
   stored while vectors are enumerated. */
#include "coupled/search.h"

#include "common/sort_by_score.h"

#include <string.h>

int box_holds (const struct search *search, const struct box *box, const int64_t *vector) {
  if (vector[0] > box->most)
    return 0;
  for (int r = 0; r < search->requirements; r++)
    if (vector[1 + r] < box->low[r] || vector[1 + r] > box->high[r])
      return 0;
  return 1;
}

void box_beside (const struct search *search, const struct box *box, const int64_t *vector, int64_t most,
                 struct box *result) {
  result->most = most - vector[0];
  for (int r = 0; r < search->requirements; r++) {
    result->low[r] = box->low[r] == INT64_MIN ? INT64_MIN : box->low[r] - vector[1 + r];
    result->high[r] = box->high[r] - vector[1 + r];
  }
}

void box_of_limits (const struct search *search, int64_t most, struct box *box) {
  box->most = most;
  for (int r = 0; r < search->requirements; r++) {
    box->low[r] = search->requirement[r].low;
    box->high[r] = search->requirement[r].high;
  }
}

/* The best choice at a place so far: a leaf (test -1) or a test with the vectors of its sides. */
struct choice {
  int found;
  int32_t test, label, other_label;
  int64_t vector[1 + vector_most_sums], yes[1 + vector_most_sums], no[1 + vector_most_sums];
};

static void take (const struct search *search, struct choice *choice, struct box *box, const int64_t *vector,
                  int32_t test) {
  choice->found = 1;
  choice->test = test;
  memcpy (choice->vector, vector, (1 + (size_t) search->requirements) * sizeof *vector);
  box->most = vector[0] - 1;
}

static void try_leaves (const struct search *search, const int64_t *sums, struct box *box, struct choice *choice) {
  if (!cell_allowed (search, sums))
    return;
  for (int32_t k = 0; k < search->coupled->classes; k++) {
    int64_t vector[1 + vector_most_sums];
    leaf_vector (search, sums, k, vector);
    if (leaf_allowed (search, sums, k) && box_holds (search, box, vector)) {
      take (search, choice, box, vector, -1);
      choice->label = k;
    }
  }
}

/* Stumps on a side of a test of the table. */
static void try_stumps (struct search *search, int32_t test, int side, struct box *box, struct choice *choice) {
  int64_t *yes = search->cells, *no = yes + search->merged->channels, fees[fee_kinds];
  const int rules = coupled_has_rules (search->coupled);
  for (int32_t other = 0; other < search->merged->tests; other++) {
    if (!may_follow (search, test, other))
      continue;
    table_cells (search, test, side, other, yes, no);
    if (!cell_allowed (search, yes) || !cell_allowed (search, no))
      continue;
    split_fees (search, test, other, count_of (search, yes) + count_of (search, no), fees);
    for (int32_t a = 0; a < search->coupled->classes; a++)
      for (int32_t b = 0; b < search->coupled->classes; b++) {
        int64_t first[1 + vector_most_sums], second[1 + vector_most_sums];
        leaf_vector (search, yes, a, first);
        leaf_vector (search, no, b, second);
        for (int j = 0; j <= search->requirements; j++)
          first[j] += second[j];
        fees_add (search, fees, first);
        if (rules ? !leaf_allowed (search, yes, a) || !leaf_allowed (search, no, b) : a == b)
          continue;
        if (box_holds (search, box, first)) {
          take (search, choice, box, first, other);
          choice->label = a;
          choice->other_label = b;
        }
      }
  }
}

/* Tests in the order of their bounds at the first multiplier. */
static int order_tests (struct search *search, const struct place *place, int32_t *order, double *score) {
  struct level *level = &search->levels[place->depth];
  const int32_t tests = search->merged->tests;
  place_total (search, place, search->cells);
  const int64_t count = count_of (search, search->cells);
  for (int32_t test = 0; test < tests; test++) {
    int64_t yes[most_multipliers] = {0}, no[most_multipliers] = {0};
    order[test] = test;
    if (place->depth == 2) {
      yes[0] = search->best[1][test];
      no[0] = search->best[0][test];
    } else if (test_allowed (search, test)) {
      struct place sides[2];
      place_child (search, place, test, 1, level->yes, &sides[1]);
      place_child (search, place, test, 0, level->no, &sides[0]);
      if (place_splits (search, level->yes, level->no)) {
        path_push (search, test);
        const int done = bounds_at (search, &sides[1], 1, yes) && bounds_at (search, &sides[0], 1, no);
        path_pop (search, test);
        if (!done)
          return 0;
      }
    }
    score[test] =
        (double) yes[0] + (double) no[0] + (double) split_score (search, &search->multiplier[0], -1, test, count);
  }
  sort_by_score (order, score, tests);
  return 1;
}

/* The splits of a place, which several threads try if it is the root. */
struct splits_task {
  const struct place *place;
  const int32_t *order;
  struct box *box;
  struct choice *choice;
  thread_lock lock; /* of the box and the choice */
  atomic_int failed;
};

static void offer_pair (struct search *search, struct splits_task *task, int32_t test, const struct vector_list *yes,
                        const struct vector_list *no, size_t at_yes, size_t at_no) {
  int64_t total[1 + vector_most_sums];
  const size_t width = 1 + (size_t) search->requirements;
  for (size_t j = 0; j < width; j++)
    total[j] = vector_at (yes, at_yes)[j] + vector_at (no, at_no)[j];
  lock_take (&task->lock);
  if (total[0] <= task->box->most) {
    memcpy (task->choice->yes, vector_at (yes, at_yes), width * sizeof *total);
    memcpy (task->choice->no, vector_at (no, at_no), width * sizeof *total);
    take (search, task->choice, task->box, total, test);
  }
  lock_leave (&task->lock);
}

static void try_split (struct search *search, void *argument, int32_t item) {
  struct splits_task *task = argument;
  struct level *level = &search->levels[task->place->depth];
  struct vector_list *yes = &level->yes_list, *no = &level->no_list;
  struct place sides[2];
  int64_t budgets[most_multipliers];
  if (atomic_load_explicit (&task->failed, memory_order_relaxed))
    return;
  lock_take (&task->lock);
  const struct box box = *task->box;
  lock_leave (&task->lock);
  box_budgets (search, &box, budgets);
  const int both = enumerate_sides (search, task->place, task->order[item], budgets, sides, yes, no);
  if (both < 0)
    atomic_store (&task->failed, 1);
  if (both <= 0)
    return;
  size_t at_yes, at_no;
  const int found = vector_list_best_pair (yes, no, box.low, box.high, box.most, &search->work, &at_yes, &at_no);
  if (found < 0) {
    search_out_of_memory (search);
    atomic_store (&task->failed, 1);
  }
  if (found > 0)
    offer_pair (search, task, task->order[item], yes, no, at_yes, at_no);
}

static int try_splits (struct search *search, const struct place *place, struct box *box, struct choice *choice,
                       const int32_t *order) {
  struct splits_task task = {.place = place, .order = order, .box = box, .choice = choice};
  if (lock_make (&task.lock)) {
    search_out_of_memory (search);
    return 0;
  }
  const int32_t tests = search->merged->tests;
  if (place->literals || place->depth < 3)
    for (int32_t i = 0; i < tests; i++)
      try_split (search, &task, i);
  else
    team_run (search, try_split, &task, tests);
  lock_destroy (&task.lock);
  return !atomic_load (&task.failed);
}

static int choose (struct search *search, const struct place *place, struct box *box, struct choice *choice) {
  if (search_poll (search, 0))
    return 0;
  place_total (search, place, search->cells);
  try_leaves (search, search->cells, box, choice);
  if (place->depth <= 0 || !search->merged->tests)
    return 1;
  if (!enumerate_prepare (search, place))
    return 0;
  const size_t tests = (size_t) search->merged->tests;
  double *score = arena_reserve (&search->coupled->arena, tests, sizeof *score + sizeof (int32_t));
  if (!score) {
    search_out_of_memory (search);
    return 0;
  }
  int32_t *order = (int32_t *) (score + tests);
  const int done = order_tests (search, place, order, score) && try_splits (search, place, box, choice, order);
  arena_release (&search->coupled->arena, score);
  return done;
}

static int64_t add_leaf (struct search *search, struct tree *tree, int32_t label) {
  const int64_t node = tree_add (&search->coupled->arena, tree, -1, label);
  if (node < 0)
    search_out_of_memory (search);
  return node;
}

/* The best leaf or stump in a box on a side of a test of the table (all of it if the test is -1). */
static int find_stump (struct search *search, int32_t test, int side, const struct box *box, int64_t *vector,
                       struct tree *tree, int64_t *node) {
  struct choice choice = {0};
  struct box rest = *box;
  table_side (search, test, side, search->cells);
  try_leaves (search, search->cells, &rest, &choice);
  try_stumps (search, test, side, &rest, &choice);
  if (!choice.found)
    return 0;
  memcpy (vector, choice.vector, (1 + (size_t) search->requirements) * sizeof *vector);
  if (choice.test < 0)
    return (*node = add_leaf (search, tree, choice.label)) < 0 ? -1 : 1;
  if ((*node = tree_add_split (search, tree, choice.test)) < 0)
    return -1;
  for (int answer = 1; answer >= 0; answer--) {
    const int64_t leaf = add_leaf (search, tree, answer ? choice.label : choice.other_label);
    if (leaf < 0)
      return -1;
    tree_set_side (search, tree, *node, choice.test, answer, leaf);
  }
  return 1;
}

static int find_side (struct search *search, const struct place *place, int32_t test, int side, const struct box *box,
                      int64_t *vector, struct tree *tree, int64_t *node) {
  if (place->depth == 2)
    return table_at (search, place) ? find_stump (search, test, side, box, vector, tree, node) : -1;
  struct level *level = &search->levels[place->depth];
  struct place part;
  place_child (search, place, test, side, side ? level->yes : level->no, &part);
  path_push (search, test);
  const int found = find_in_box (search, &part, box, vector, tree, node);
  path_pop (search, test);
  return found;
}

/* Adds the sides of a chosen test to the tree; the vector becomes their sum. */
static int find_sides (struct search *search, const struct place *place, const struct box *box,
                       const struct choice *choice, int64_t *vector, struct tree *tree, int64_t node) {
  int64_t parts[2][1 + vector_most_sums], child, fees[fee_kinds];
  const size_t width = 1 + (size_t) search->requirements;
  memcpy (parts[0], choice->no, width * sizeof *parts[0]);
  place_fees (search, place, choice->test, fees);
  for (int side = 1; side >= 0; side--) {
    struct box below;
    int64_t rest[1 + vector_most_sums]; /* the other side and the split itself */
    memcpy (rest, parts[!side], width * sizeof *rest);
    fees_add (search, fees, rest);
    box_beside (search, box, rest, choice->vector[0], &below);
    const int found = find_side (search, place, choice->test, side, &below, parts[side], tree, &child);
    if (found <= 0)
      return found;
    tree_set_side (search, tree, node, choice->test, side, child);
  }
  for (size_t j = 0; j < width; j++)
    vector[j] = parts[0][j] + parts[1][j];
  fees_add (search, fees, vector);
  return 1;
}

int find_in_box (struct search *search, const struct place *place, const struct box *box, int64_t *vector,
                 struct tree *tree, int64_t *node) {
  struct choice choice = {0};
  struct box rest = *box;
  if (place->depth == 1)
    return table_at (search, place) ? find_stump (search, -1, 0, box, vector, tree, node) : -1;
  if (!choose (search, place, &rest, &choice))
    return -1;
  if (!choice.found)
    return 0;
  memcpy (vector, choice.vector, (1 + (size_t) search->requirements) * sizeof *vector);
  if (choice.test < 0)
    return (*node = add_leaf (search, tree, choice.label)) < 0 ? -1 : 1;
  if ((*node = tree_add_split (search, tree, choice.test)) < 0)
    return -1;
  return find_sides (search, place, box, &choice, vector, tree, *node);
}
