/* A solve from the data to the answer: the dual bound first, which mostly finds a tree within the limits, then targets
   that rise from the bound until one holds a tree or all trees are ruled out. */
#include "coupled/search.h"

#include <stdio.h>
#include <string.h>

/* Stops and progress. */

static void stop (treeml_coupled *coupled, int why) {
  int expected = 0;
  atomic_compare_exchange_strong (&coupled->stop_reason, &expected, 1 + why);
}

void search_out_of_memory (struct search *search) { stop (search->coupled, TREEML_MEMORY); }

static int64_t reported_bound (const struct search *search) {
  const int64_t own = search->is_shallower ? search->whole_bound : search->bound;
  if (own == INT64_MIN)
    return INT64_MIN;
  const int64_t bound = own > search->upper ? search->upper + 1 : own;
  return bound * search->merged->unit[0] + search->coupled->offset[0];
}

static void look_around (treeml_coupled *coupled, double now) {
  if (atomic_load_explicit (&coupled->interrupted, memory_order_relaxed))
    stop (coupled, TREEML_INTERRUPTED);
  if (now >= coupled->deadline)
    stop (coupled, TREEML_TIME);
}

int coupled_is_over (treeml_coupled *coupled) {
  if (coupled->start.nodes)
    return 0;
  look_around (coupled, clock_seconds ());
  return coupled->stop_reason;
}

int search_poll (struct search *search, int better) {
  treeml_coupled *coupled = search->coupled;
  const double now = clock_seconds ();
  look_around (coupled, now);
  if (coupled->watch && !search->is_worker && (better || now >= coupled->next_watch)) {
    coupled->next_watch = now + 1e-3 * (double) coupled->options.poll_milliseconds;
    if (coupled->watch (coupled->watch_state, now - coupled->began, coupled->value, reported_bound (search), better))
      stop (coupled, TREEML_INTERRUPTED);
  }
  return coupled->stop_reason;
}

static int search_poll_lists (void *search) { return search_poll (search, 0); }

int search_offer (struct search *search, const struct tree *tree) {
  treeml_coupled *coupled = search->coupled;
  struct tree checked = {0};
  int64_t totals[1 + most_sums];
  const int64_t unit = search->merged->unit[0];
  if (!tree_check (search, tree, &checked, totals) || (totals[0] - coupled->offset[0]) / unit > search->upper) {
    tree_release (&coupled->arena, &checked);
    return 0;
  }
  tree_release (&coupled->arena, &coupled->answer);
  coupled->answer = checked;
  coupled->value = totals[0];
  memcpy (coupled->totals, totals, sizeof totals);
  search->upper = (totals[0] - coupled->offset[0]) / unit - 1;
  search->statistics.improvements++;
  if (coupled->value < coupled->options.enough)
    stop (coupled, TREEML_ENOUGH);
  search_poll (search, 1);
  return 1;
}

/* Preparation. */

static int64_t smaller (int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger (int64_t a, int64_t b) { return a > b ? a : b; }

static wide divide_down (wide number, int64_t by) { return number / by - (number % by < 0); }

/* The limit on fees, if a tree can exceed it. Returns 0 if none can keep it. */
static int set_fee_requirement (struct search *search) {
  const treeml_coupled *coupled = search->coupled;
  const struct path_fees *fees = &coupled->fees[1];
  if (!fees->below || coupled->most_fees >= fees->greatest)
    return 1;
  search->requirement[search->requirements++] = (struct requirement) {
      .sum = sum_of_fees, .sign = 1, .low = INT64_MIN, .high = coupled->most_fees, .largest = fees->greatest};
  search->fee_requirement = search->requirements;
  return coupled->most_fees >= 0;
}

/* The limits in differences, without those that every tree keeps. Returns 0 if no tree can keep one. */
static int set_requirements (struct search *search) {
  const treeml_coupled *coupled = search->coupled;
  for (int32_t sum = 1; sum <= coupled->sums; sum++) {
    const int64_t low = coupled->low[sum - 1], high = coupled->high[sum - 1], unit = search->merged->unit[sum];
    const int64_t largest = coupled->largest[sum] / unit;
    const wide below = low == INT64_MIN ? -(wide) largest : -divide_down (coupled->offset[sum] - (wide) low, unit);
    const wide above = high == INT64_MAX ? (wide) largest : divide_down ((wide) high - coupled->offset[sum], unit);
    if (below > above || below > largest || above < -(wide) largest)
      return 0;
    const int has_low = below > -(wide) largest, has_high = above < largest;
    if (!has_low && !has_high)
      continue;
    struct requirement *requirement = &search->requirement[search->requirements++];
    *requirement = (struct requirement) {.sum = sum, .sign = 1, .two_sided = has_low && has_high, .largest = largest};
    requirement->low = has_low ? (int64_t) below : INT64_MIN;
    requirement->high = has_high ? (int64_t) above : INT64_MAX;
    if (!has_high) {
      requirement->sign = -1;
      requirement->high = -requirement->low;
      requirement->low = INT64_MIN;
    }
  }
  if (coupled->options.leaves < search->most_leaves)
    search->requirement[search->requirements++] = (struct requirement) {
        .sign = 1, .low = INT64_MIN, .high = coupled->options.leaves, .largest = search->most_leaves};
  if (!set_fee_requirement (search))
    return 0;
  for (int r = 0; r < search->requirements; r++) {
    const struct requirement *requirement = &search->requirement[r];
    search->windows[r] = requirement->two_sided ? requirement->high - requirement->low : vector_one_sided;
  }
  return 1;
}

static int64_t most_leaves (int64_t depth, int64_t rows) {
  return depth < 62 ? smaller (rows, (int64_t) 1 << depth) : rows;
}

static int make_levels (struct search *search) {
  struct arena *arena = &search->coupled->arena;
  const struct merged *merged = search->merged;
  search->levels = arena_allocate (arena, (size_t) search->depth + 1, sizeof *search->levels);
  if (!search->levels)
    return 0;
  for (int32_t depth = 0; depth <= search->depth; depth++) {
    struct level *level = &search->levels[depth];
    vector_list_start (&level->yes_list, arena, search->requirements);
    vector_list_start (&level->no_list, arena, search->requirements);
    level->yes = arena_reserve (arena, (size_t) merged->words, sizeof *level->yes);
    level->no = arena_reserve (arena, (size_t) merged->words, sizeof *level->no);
    if (!level->yes || !level->no)
      return 0;
  }
  return 1;
}

static int make_room (struct search *search) {
  struct arena *arena = &search->coupled->arena;
  const struct merged *merged = search->merged;
  const size_t channels = (size_t) merged->channels, stride = (size_t) merged->stride + 8;
  const size_t classes = (size_t) search->coupled->classes;
  search->room = arena_allocate (arena, stumps_most_classes + (classes + 9) * stride, sizeof *search->room);
  search->cells = arena_allocate (arena, 2 * channels + 1, sizeof *search->cells);
  search->leaves.sums = arena_allocate (arena, most_collected * channels + 1, sizeof *search->leaves.sums);
  for (int side = 0; side < 2; side++)
    search->best[side] = arena_allocate (arena, most_multipliers * stride, sizeof *search->best[side]);
  search->all_rows = arena_allocate (arena, (size_t) merged->words, sizeof *search->all_rows);
  search->some_rows = arena_allocate (arena, (size_t) merged->words, sizeof *search->some_rows);
  search->scratch = table_create (arena, merged);
  if (search->coupled->options.once) {
    search->used = arena_allocate (arena, (size_t) merged->tests, 1);
    if (!search->used)
      return 0;
  }
  if (!search->room || !search->cells || !search->leaves.sums || !search->best[0] || !search->best[1] ||
      !search->all_rows || !search->some_rows || !search->scratch)
    return 0;
  for (int64_t row = 0; row < merged->rows; row++)
    search->all_rows[row / 64] |= (uint64_t) 1 << (row % 64);
  search->work = (struct vector_work) {.arena = arena, .stopped = search_poll_lists, .state = search};
  return fees_make_room (search) && make_levels (search);
}

static void release_room (struct search *search) {
  struct arena *arena = &search->coupled->arena;
  for (int i = 0; search->workers && i < search->threads - 1; i++)
    release_room (&search->workers[i]);
  arena_release (arena, search->workers);
  for (int32_t depth = 0; search->levels && depth <= search->depth; depth++) {
    struct level *level = &search->levels[depth];
    vector_list_release (&level->yes_list);
    vector_list_release (&level->no_list);
    arena_release (arena, level->yes);
    arena_release (arena, level->no);
  }
  void *blocks[] = {search->leaves.sums, search->room,      search->cells,   search->best[0], search->best[1],
                    search->all_rows,    search->some_rows, search->scratch, search->used,    search->levels};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    arena_release (arena, blocks[i]);
  for (int kind = 0; kind < fee_kinds; kind++) {
    arena_release (arena, search->fees[kind]);
    if (!search->is_worker)
      arena_release (arena, search->fees_below[kind]);
  }
  if (!search->is_worker)
    arena_release (arena, search->fee_column);
  if (search->work.arena)
    vector_work_release (&search->work);
}

/* Searches with room of their own for the other threads. */
static int make_workers (struct search *search) {
  const int64_t threads = smaller (search->coupled->options.threads, larger (1, search->merged->tests));
  search->threads = (int) threads;
  if (threads < 2 || search->depth < 3)
    return 1;
  struct search *workers = arena_allocate (&search->coupled->arena, (size_t) threads - 1, sizeof *workers);
  if (!workers)
    return 0;
  const struct search fresh = {.coupled = search->coupled,
                               .shared = search->shared,
                               .merged = search->merged,
                               .stumps = search->stumps,
                               .depth = search->depth,
                               .support = search->support,
                               .price = search->price,
                               .requirements = search->requirements,
                               .largest = search->largest,
                               .most_leaves = search->most_leaves,
                               .fee_requirement = search->fee_requirement,
                               .is_worker = 1};
  search->workers = workers;
  for (int i = 0; i < threads - 1; i++) {
    workers[i] = fresh;
    memcpy (workers[i].requirement, search->requirement, sizeof fresh.requirement);
    memcpy (workers[i].windows, search->windows, sizeof fresh.windows);
    fees_share (search, &workers[i]);
  }
  for (int i = 0; i < threads - 1; i++)
    if (!make_room (&workers[i]))
      return 0;
  return 1;
}

/* The search. */

static int64_t times_16_by_10 (int64_t slack) {
  return slack > INT64_MAX / 4 ? slack : slack + slack / 2 + slack / 10 + 1;
}

static int64_t first_slack (const struct search *search) { return larger (1, search->largest / 2048); }

/* Raises the target until a tree is found or none is left. Returns a code. */
static int raise_targets (struct search *search, const struct place *root) {
  treeml_coupled *coupled = search->coupled;
  int64_t slack = first_slack (search);
  while (search->bound <= search->upper && !search_stopped (search)) {
    struct box box;
    box_of_limits (search, slack > search->upper - search->bound ? search->upper : search->bound + slack - 1, &box);
    struct tree tree = {0};
    int64_t vector[1 + vector_most_sums], node;
    const int found = find_in_box (search, root, &box, vector, &tree, &node);
    int code = TREEML_OK;
    if (found > 0) {
      if (!search_offer (search, &tree) && !search_stopped (search))
        code = coupled_fail (coupled, TREEML_INTERNAL, "a tree that was found failed its check");
      search->bound = vector[0];
    } else if (!found) {
      if (tree.nodes)
        code = coupled_fail (coupled, TREEML_INTERNAL, "a vector that was found has no tree");
      search->bound = box.most + 1;
      search->statistics.targets++;
    }
    tree_release (&coupled->arena, &tree);
    if (code)
      return code;
    slack = times_16_by_10 (slack);
    search_poll (search, 0);
  }
  return TREEML_OK;
}

/* Trees of a single leaf. */
static void offer_leaves (struct search *search) {
  const struct place all = {.rows = search->all_rows};
  for (int32_t k = 0; k < search->coupled->classes; k++) {
    int64_t vector[1 + vector_most_sums];
    struct box box;
    box_of_limits (search, search->upper, &box);
    place_total (search, &all, search->cells);
    leaf_vector (search, search->cells, k, vector);
    struct tree tree = {0};
    if (box_holds (search, &box, vector) && tree_add (&search->coupled->arena, &tree, -1, k) == 0)
      search_offer (search, &tree);
    tree_release (&search->coupled->arena, &tree);
  }
}

/* Trees of less depth are found much faster: they are what a stopped search has to offer. Their bounds hold for them
   alone. */
static void dual_of_less_depth (struct search *search) {
  const int64_t bound = search->whole_bound = search->bound;
  search->is_shallower = 1;
  for (int32_t depth = 2; depth < search->depth && !search_stopped (search); depth++) {
    const struct place root = {.depth = depth, .rows = search->all_rows};
    dual_run (search, &root);
    search->bound = bound;
  }
  search->is_shallower = 0;
}

/* The best trees of less depth, if there is a wide gap to close, within a share of the time. */
static int targets_of_less_depth (struct search *search) {
  treeml_coupled *coupled = search->coupled;
  const int64_t bound = search->whole_bound = search->bound;
  const double deadline = coupled->deadline;
  int code = TREEML_OK;
  search->is_shallower = 1;
  for (int32_t depth = 2; depth < search->depth && !code && !search_stopped (search); depth++) {
    if (search->upper - bound <= 16 * first_slack (search))
      break;
    const struct place root = {.depth = depth, .rows = search->all_rows};
    const double now = clock_seconds (), share = 0.01 + 0.5 * (now - coupled->began);
    if (now + share < deadline)
      coupled->deadline = now + share;
    code = raise_targets (search, &root);
    if (atomic_load (&coupled->stop_reason) == 1 + TREEML_TIME && clock_seconds () < deadline)
      atomic_store (&coupled->stop_reason, 0);
    coupled->deadline = deadline;
    search->bound = bound;
  }
  search->is_shallower = 0;
  search->statistics.targets = 0;
  return code;
}

static int has_enough_rows (const treeml_coupled *coupled) {
  int64_t total = 0;
  for (int64_t row = 0; row < coupled->rows; row++)
    total += coupled->count[row];
  return total >= coupled->options.support;
}

static int run (struct search *search) {
  treeml_coupled *coupled = search->coupled;
  if (!has_enough_rows (coupled) || !set_requirements (search)) {
    search->bound = INT64_MAX;
    return TREEML_OK;
  }
  if (!make_room (search) || !make_workers (search)) {
    search_out_of_memory (search);
    return TREEML_OK;
  }
  if (coupled->start.nodes)
    search_offer (search, &coupled->start);
  search->statistics.build_microseconds = (int64_t) (1e6 * (clock_seconds () - coupled->began));
  const struct place root = {.depth = search->depth, .rows = search->all_rows};
  if (search->bound > search->upper || search_poll (search, 0))
    return TREEML_OK;
  const int early = coupled->options.early != 0;
  if (early)
    offer_leaves (search);
  if (early && search->depth >= 4)
    dual_of_less_depth (search);
  if (search_stopped (search) || !dual_run (search, &root) || search->bound > search->upper)
    return TREEML_OK;
  choose_multipliers (search);
  const int code = early ? targets_of_less_depth (search) : TREEML_OK;
  return code ? code : raise_targets (search, &root);
}

/* What no tree can undercut: every row in the class that is cheapest for it. */
static int64_t least_of_rows (const struct search *search) {
  const struct merged *merged = search->merged;
  const int32_t width = 1 + search->coupled->sums;
  int64_t total = 0;
  for (int64_t row = 0; row < merged->rows; row++) {
    int64_t least = 0;
    for (int32_t k = 1; k < search->coupled->classes; k++)
      least = smaller (least, merged->values[row * merged->channels + (k - 1) * width]);
    total += least;
  }
  return total;
}

static int start_search (struct search *search) {
  treeml_coupled *coupled = search->coupled;
  const struct options *options = &coupled->options;
  const int fees = coupled_has_fees (coupled);
  int counted = options->support > 1 || fees || coupled_has_rules (coupled);
  for (int64_t row = 0; row < coupled->rows && !counted; row++)
    counted = !coupled->count[row];
  const int64_t most = smaller (most_leaves (options->depth, coupled->rows), options->leaves);
  const struct merge_options merge = {options->once || fees, counted, options->leaf_price, most};
  if (!coupled_merge (coupled, &merge))
    return 0;
  const struct merged *merged = search->merged = &coupled->merged;
  search->depth = (int32_t) smaller (options->depth, smaller (merged->tests, merged->rows - 1));
  search->most_leaves = most_leaves (search->depth, merged->rows);
  search->support = options->support;
  const int64_t unit = merged->unit[0];
  search->price = options->leaf_price / unit;
  search->statistics.tests = merged->tests;
  search->statistics.rows = merged->rows;
  const int64_t prices = smaller (search->most_leaves, options->leaves) * search->price;
  search->largest = coupled->largest[0] / unit + prices + coupled->fees[0].greatest / unit;
  search->upper = search->largest;
  if (options->upper != UNLIMITED) {
    const wide upper = divide_down ((wide) options->upper - 1 - coupled->offset[0], unit);
    if (upper < search->upper)
      search->upper = upper < -search->largest - 1 ? -search->largest - 1 : (int64_t) upper;
  }
  search->bound = least_of_rows (search) + search->price;
  if (options->lower != INT64_MIN) {
    const wide lower = -divide_down (coupled->offset[0] - (wide) options->lower, unit);
    if (lower > search->bound)
      search->bound = lower > search->largest + 1 ? search->largest + 1 : (int64_t) lower;
  }
  return 1;
}

static void finish (struct search *search) {
  treeml_coupled *coupled = search->coupled;
  const int has_tree = coupled->answer.nodes > 0, proved = search->bound > search->upper;
  coupled->status = proved     ? has_tree ? TREEML_OPTIMAL : TREEML_INFEASIBLE
                    : has_tree ? TREEML_FEASIBLE
                               : TREEML_UNKNOWN;
  coupled->bound = proved ? has_tree ? coupled->value : INT64_MAX : reported_bound (search);
  coupled->stop = proved || !coupled->stop_reason ? TREEML_PROVED : coupled->stop_reason - 1;
  search->statistics.entries = (int64_t) search->shared->store.entry_count;
  statistics_add (&coupled->statistics, &search->statistics);
}

static int solve_with_room (treeml_coupled *coupled) {
  struct search *search = arena_allocate (&coupled->arena, 1, sizeof *search);
  struct shared shared = {.store = {0}};
  if (!search || lock_make (&shared.lock)) {
    arena_release (&coupled->arena, search);
    return coupled_fail (coupled, TREEML_OUT_OF_MEMORY, "not enough memory for the search");
  }
  search->coupled = coupled;
  search->shared = &shared;
  search->stumps = simd_stumps (coupled->kernel);
  int code = TREEML_OK;
  if (!start_search (search) && coupled->stop_reason) {
    coupled->status = TREEML_UNKNOWN;
    coupled->bound = INT64_MIN;
    coupled->stop = coupled->stop_reason - 1;
  } else if (!search->merged)
    code = coupled_fail (coupled, TREEML_OUT_OF_MEMORY, "not enough memory for the data");
  else {
    code = run (search);
    finish (search);
  }
  release_room (search);
  arena_release (&coupled->arena, shared.store.entries);
  arena_release (&coupled->arena, search);
  lock_destroy (&shared.lock);
  return code;
}

int treeml_coupled_solve (treeml_coupled *coupled) {
  if (!coupled)
    return TREEML_BAD_ARGUMENT;
  if (!coupled->rows || !coupled->classes)
    return coupled_fail (coupled, TREEML_NO_DATA, "there are no tests or no values yet");
  const int64_t leaves = smaller (most_leaves (coupled->options.depth, coupled->rows), coupled->options.leaves);
  if (coupled->options.leaf_price > LARGEST_VALUE / leaves)
    return coupled_fail (coupled, TREEML_OVERFLOW, "the price of a leaf times the leaves exceeds 2^58");
  coupled->kernel = simd_select (coupled->options.kernel, simd_avx512);
  if (coupled->kernel == simd_none)
    return coupled_fail (coupled, TREEML_BAD_ARGUMENT, "this processor cannot run the kernel that was asked for");
  coupled_release_answer (coupled);
  memset (&coupled->statistics, 0, sizeof coupled->statistics);
  coupled->message[0] = 0;
  coupled->began = clock_seconds ();
  const int64_t limit = coupled->options.microseconds;
  coupled->deadline = limit == UNLIMITED ? 1e300 : coupled->began + 1e-6 * (double) limit;
  coupled->next_watch = coupled->began + 1e-3 * (double) coupled->options.poll_milliseconds;
  atomic_store (&coupled->stop_reason, 0);
  coupled->arena.limit = coupled->options.memory == UNLIMITED ? SIZE_MAX : (size_t) coupled->options.memory;
  if (atomic_load (&coupled->arena.used) > coupled->arena.limit / 2)
    tables_release (coupled); /* kept by a search that had more memory */
  atomic_store (&coupled->arena.peak, atomic_load (&coupled->arena.used));
  const int code = solve_with_room (coupled);
  atomic_store (&coupled->interrupted, 0);
  coupled->arena.limit = SIZE_MAX;
  coupled->statistics.peak_memory = (int64_t) atomic_load (&coupled->arena.peak);
  coupled->statistics.solve_microseconds =
      (int64_t) (1e6 * (clock_seconds () - coupled->began)) - coupled->statistics.build_microseconds;
  if (code)
    coupled_release_answer (coupled);
  return code;
}

/* The rest of the interface. */

void treeml_coupled_interrupt (treeml_coupled *coupled) {
  if (coupled)
    atomic_store (&coupled->interrupted, 1);
}

const char *treeml_coupled_message (const treeml_coupled *coupled) { return coupled ? coupled->message : "no handle"; }

int treeml_coupled_set (treeml_coupled *coupled, const char *option, int64_t value) {
  if (!coupled)
    return TREEML_BAD_ARGUMENT;
  const int code =
      options_set (&coupled->options, program_coupled, option, value, coupled->message, sizeof coupled->message);
  if (!code && !strcmp (option, "fail_allocation"))
    atomic_store (&coupled->arena.until_failure, value);
  return code;
}

int32_t treeml_coupled_options (void) { return options_count (program_coupled); }

int treeml_coupled_option (int32_t index, const char **name, int64_t *low, int64_t *high, int64_t *initial,
                           const char **help) {
  return options_describe (program_coupled, index, name, low, high, initial, help);
}

int32_t treeml_coupled_statistics (void) { return statistics_count (program_coupled); }

int treeml_coupled_statistic (const treeml_coupled *coupled, int32_t index, const char **name, double *value,
                              const char **help) {
  return coupled ? statistics_read (&coupled->statistics, program_coupled, index, name, value, help)
                 : TREEML_BAD_ARGUMENT;
}

int treeml_coupled_numbers (const treeml_coupled *coupled, double *values) {
  if (!coupled || !values)
    return TREEML_BAD_ARGUMENT;
  statistics_numbers (&coupled->statistics, program_coupled, values);
  return TREEML_OK;
}

int treeml_coupled_watch (treeml_coupled *coupled, treeml_progress watch, void *state) {
  if (!coupled)
    return TREEML_BAD_ARGUMENT;
  coupled->watch = watch;
  coupled->watch_state = state;
  return TREEML_OK;
}

int32_t treeml_coupled_status (const treeml_coupled *coupled) { return coupled ? coupled->status : TREEML_UNKNOWN; }
int32_t treeml_coupled_stop (const treeml_coupled *coupled) { return coupled ? coupled->stop : 0; }
int64_t treeml_coupled_value (const treeml_coupled *coupled) { return coupled ? coupled->value : INT64_MAX; }
int64_t treeml_coupled_bound (const treeml_coupled *coupled) { return coupled ? coupled->bound : INT64_MIN; }

int64_t treeml_coupled_sum (const treeml_coupled *coupled, int32_t sum) {
  return coupled && sum >= 0 && sum <= coupled->sums && coupled->answer.nodes ? coupled->totals[sum] : 0;
}

int64_t treeml_coupled_nodes (const treeml_coupled *coupled) { return coupled ? coupled->answer.nodes : 0; }

int treeml_coupled_tree (const treeml_coupled *coupled, int32_t *test, int32_t *yes, int32_t *no, int32_t *label) {
  if (!coupled || !test || !yes || !no || !label)
    return TREEML_BAD_ARGUMENT;
  const struct tree *tree = &coupled->answer;
  const size_t bytes = (size_t) tree->nodes * sizeof (int32_t);
  if (!bytes)
    return TREEML_OK;
  memcpy (test, tree->test, bytes);
  memcpy (yes, tree->yes, bytes);
  memcpy (no, tree->no, bytes);
  memcpy (label, tree->label, bytes);
  return TREEML_OK;
}

const char *treeml_coupled_kernel (const treeml_coupled *coupled) {
  return simd_name (coupled ? coupled->kernel : simd_none);
}
