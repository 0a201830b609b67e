/* The public functions: they check what comes in, pack it, and hand it to one of the searches. */
#include "solver.h"

#include <math.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *treeml_version (void) { return "0.1.0"; }

double solver_clock (void) {
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

int solver_fail (treeml_solver *solver, int code, const char *format, ...) {
  va_list arguments;
  va_start (arguments, format);
  vsnprintf (solver->message, sizeof solver->message, format, arguments);
  va_end (arguments);
  solver->code = code;
  return code;
}

void solver_stop (treeml_solver *solver, int why) {
  int expected = 0;
  atomic_compare_exchange_strong (&solver->stopping, &expected, 1 + why);
}

void treeml_interrupt (treeml_solver *solver) {
  if (solver)
    atomic_store (&solver->interrupted, 1);
}

int solver_poll (treeml_solver *solver, int calls_back, int64_t value, int64_t bound, int better) {
  if (atomic_load_explicit (&solver->interrupted, memory_order_relaxed))
    solver_stop (solver, TREEML_INTERRUPTED);
  const double now = solver_clock ();
  if (now >= solver->deadline)
    solver_stop (solver, TREEML_TIME);
  if (calls_back && solver->watch && (better || now >= solver->next_watch)) {
    solver->next_watch = now + 1e-3 * (double) solver->options.poll_milliseconds;
    if (solver->watch (solver->watch_state, now - solver->began, value, bound, better))
      solver_stop (solver, TREEML_INTERRUPTED);
  }
  return solver_stopping (solver);
}

treeml_solver *treeml_create (void) {
  treeml_solver *solver = calloc (1, sizeof *solver);
  if (!solver)
    return NULL;
  solver->arena.limit = SIZE_MAX;
  solver->unit = 1;
  solver->enough_loss = INFINITY;
  options_initialize (&solver->options);
  return solver;
}

static void drop (treeml_solver *solver, void *pointer_to_field) {
  void **field = pointer_to_field;
  arena_release (&solver->arena, *field);
  *field = NULL;
}

static void drop_answers (treeml_solver *solver) {
  for (int32_t i = 0; i < solver->answer_count; i++)
    tree_release (&solver->arena, &solver->answers[i].tree);
  drop (solver, &solver->answers);
  solver->answer_count = solver->chosen = 0;
}

static void drop_goal (treeml_solver *solver) {
  drop (solver, &solver->label);
  drop (solver, &solver->cost);
  drop (solver, &solver->target);
  drop (solver, &solver->weight);
  drop (solver, &solver->level);
  solver->goal = goal_none;
  solver->offset = 0;
  solver->rounds = solver->asked_to_round;
  solver->unit = 1;
  solver->classes = solver->outputs = 0;
  solver->levels = 1;
}

static void drop_extras (treeml_solver *solver) {
  drop (solver, &solver->column_cost);
  drop (solver, &solver->limited_cost);
  drop (solver, &solver->purity_weight);
  tree_release (&solver->arena, &solver->start);
}

void treeml_destroy (treeml_solver *solver) {
  if (!solver)
    return;
  drop_answers (solver);
  drop_goal (solver);
  drop_extras (solver);
  drop (solver, &solver->columns);
  drop (solver, &solver->column_of);
  drop (solver, &solver->count);
  drop (solver, &solver->forbidden);
  free (solver);
}

const char *treeml_message (const treeml_solver *solver) { return solver ? solver->message : "no solver"; }

static void *copy (treeml_solver *solver, const void *from, int64_t count, size_t size) {
  void *to = arena_allocate (&solver->arena, (size_t) count, size);
  if (to)
    memcpy (to, from, (size_t) count * size);
  else
    solver_fail (solver, TREEML_OUT_OF_MEMORY, "no memory for %lld values", (long long) count);
  return to;
}

/* Eight bytes of 0 or 1 become the bits of one byte by one multiplication, the first byte the lowest bit. */
static int pack (const uint8_t *bytes, int64_t count, uint64_t *words) {
  const uint64_t ones = 0x0101010101010101u;
  uint64_t strange = 0;
  int64_t i = 0;
  for (; i + 64 <= count; i += 64) {
    uint64_t word = 0;
    for (int part = 0; part < 8; part++) {
      uint64_t eight = 0;
      memcpy (&eight, bytes + i + 8 * part, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
      eight = __builtin_bswap64 (eight);
#endif
      strange |= eight & ~ones;
      word |= (eight * 0x0102040810204080u >> 56) << (8 * part);
    }
    *words++ = word;
  }
  if (i < count) {
    uint64_t word = 0;
    for (int64_t k = 0; i + k < count; k++) {
      strange |= bytes[i + k] & 254u;
      word |= (uint64_t) (bytes[i + k] & 1) << k;
    }
    *words = word;
  }
  return strange == 0;
}

int treeml_tests (treeml_solver *solver, const uint8_t *bits, int64_t tests, int64_t rows, const int32_t *columns) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (tests < 0 || rows < 1 || (tests && !bits))
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "there must be at least one row, and bits for every test");
  if (rows > INT32_MAX / 2 || tests > INT32_MAX / 4)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "%lld tests on %lld rows are too many", (long long) tests,
                        (long long) rows);
  drop_answers (solver);
  drop_goal (solver);
  drop_extras (solver);
  drop (solver, &solver->columns);
  drop (solver, &solver->column_of);
  drop (solver, &solver->count);
  drop (solver, &solver->forbidden);
  solver->rows = solver->asked_to_round = 0;
  solver->beside = 0;
  solver->enough_loss = INFINITY;
  const int64_t words = (rows + 63) / 64;
  uint64_t *packed = arena_allocate (&solver->arena, (size_t) (tests * words), sizeof *packed);
  if (!packed)
    return solver_fail (solver, TREEML_OUT_OF_MEMORY, "no memory for the bits of %lld tests on %lld rows",
                        (long long) tests, (long long) rows);
  solver->columns = packed;
  for (int64_t test = 0; test < tests; test++)
    if (!pack (bits + test * rows, rows, packed + test * words))
      return solver_fail (solver, TREEML_BAD_ARGUMENT, "test %lld has a byte other than 0 and 1", (long long) test);
  if (columns) {
    solver->column_of = copy (solver, columns, tests, sizeof *columns);
    if (!solver->column_of)
      return solver->code;
    for (int64_t test = 0; test < tests; test++)
      if (columns[test] < 0)
        return solver_fail (solver, TREEML_BAD_ARGUMENT, "test %lld has a negative column", (long long) test);
  }
  solver->tests = tests;
  solver->rows = rows;
  solver->words = words;
  return TREEML_OK;
}

static int has_rows (treeml_solver *solver) {
  if (!solver)
    return 0;
  if (!solver->rows)
    solver_fail (solver, TREEML_NO_DATA, "treeml_tests must come first");
  return solver->rows > 0;
}

static int code_of (treeml_solver *solver) { return solver ? solver->code : TREEML_BAD_ARGUMENT; }

/* Sums of up to this keep all arithmetic of the searches within 64 bits. */
static const int64_t most = INT64_MAX / 16;

enum { most_classes = 1 << 24 };

static int sum_fits (const int64_t *values, int64_t count) {
  int64_t sum = 0;
  for (int64_t i = 0; i < count; i++) {
    const int64_t value = values[i];
    if (value < -most || value > most || add_overflows (sum, value < 0 ? -value : value, &sum) || sum > most)
      return 0;
  }
  return 1;
}

static int check_weights (treeml_solver *solver, const int64_t *weight) {
  if (!weight)
    return TREEML_OK;
  for (int64_t i = 0; i < solver->rows; i++)
    if (weight[i] < 0)
      return solver_fail (solver, TREEML_BAD_ARGUMENT, "row %lld has a negative weight", (long long) i);
  if (!sum_fits (weight, solver->rows))
    return solver_fail (solver, TREEML_OVERFLOW, "the sum of the weights is too large");
  return TREEML_OK;
}

int treeml_counts (treeml_solver *solver, const int64_t *count) {
  if (!has_rows (solver))
    return code_of (solver);
  drop (solver, &solver->count);
  if (!count)
    return TREEML_OK;
  if (check_weights (solver, count))
    return solver->code;
  solver->count = copy (solver, count, solver->rows, sizeof *count);
  return solver->count ? TREEML_OK : solver->code;
}

int treeml_forbid (treeml_solver *solver, const uint8_t *forbidden) {
  if (!has_rows (solver))
    return code_of (solver);
  drop (solver, &solver->forbidden);
  if (!forbidden)
    return TREEML_OK;
  solver->forbidden = copy (solver, forbidden, solver->tests, sizeof *forbidden);
  return solver->forbidden ? TREEML_OK : solver->code;
}

int treeml_labels (treeml_solver *solver, const int32_t *labels, int32_t classes, const int64_t *weight) {
  if (!has_rows (solver))
    return code_of (solver);
  drop_goal (solver);
  if (!labels || classes < 1)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "labels of at least one class are needed");
  if (classes > most_classes)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "%d classes are too many", classes);
  for (int64_t i = 0; i < solver->rows; i++)
    if (labels[i] < 0 || labels[i] >= classes)
      return solver_fail (solver, TREEML_BAD_ARGUMENT, "row %lld has label %d, which is not one of %d classes",
                          (long long) i, labels[i], classes);
  if (check_weights (solver, weight))
    return solver->code;
  solver->label = copy (solver, labels, solver->rows, sizeof *labels);
  if (!solver->label)
    return solver->code;
  if (weight) {
    solver->weight = copy (solver, weight, solver->rows, sizeof *weight);
    if (!solver->weight)
      return solver->code;
  }
  solver->classes = classes;
  solver->goal = goal_classes;
  return TREEML_OK;
}

int treeml_costs (treeml_solver *solver, const int64_t *cost, int32_t classes) {
  if (!has_rows (solver))
    return code_of (solver);
  drop_goal (solver);
  if (!cost || classes < 1)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "costs of at least one class are needed");
  if (classes > most_classes)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "%d classes are too many", classes);
  if (!sum_fits (cost, solver->rows * classes))
    return solver_fail (solver, TREEML_OVERFLOW, "the sum of the costs is too large");
  solver->cost = copy (solver, cost, solver->rows * classes, sizeof *cost);
  if (!solver->cost)
    return solver->code;
  for (int64_t row = 0; row < solver->rows; row++) {
    int64_t *here = solver->cost + row * classes, least = here[0];
    for (int32_t k = 1; k < classes; k++)
      if (here[k] < least)
        least = here[k];
    for (int32_t k = 0; k < classes; k++)
      here[k] -= least;
    solver->offset += least;
  }
  solver->classes = classes;
  solver->goal = goal_classes;
  return TREEML_OK;
}

int treeml_round (treeml_solver *solver, double beside, double most_wanted) {
  if (!has_rows (solver))
    return code_of (solver);
  if (!(beside >= 0 && beside < 0x1p960 && most_wanted > 0))
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "amounts beside the costs must be finite, and not negative");
  drop_goal (solver);
  solver->asked_to_round = 1;
  solver->beside = beside;
  solver->enough_loss = most_wanted;
  return TREEML_OK;
}

/* Amounts that the caller adds to costs are in units too, so the unit is settled with the goal. */
static int settle_unit (treeml_solver *solver) {
  struct leaf_state *leaf = leaf_create (solver);
  uint64_t *all = arena_allocate (&solver->arena, (size_t) solver->words, sizeof *all);
  int code = TREEML_OUT_OF_MEMORY;
  if (leaf && all) {
    for (int64_t row = 0; row < solver->rows; row++)
      all[row >> 6] |= (uint64_t) 1 << (row & 63);
    code = leaf_choose_unit (leaf, all);
  } else
    solver_fail (solver, TREEML_OUT_OF_MEMORY, "no memory to settle the unit");
  leaf_destroy (leaf);
  arena_release (&solver->arena, all);
  if (code)
    solver->goal = goal_none;
  return code;
}

int treeml_targets (treeml_solver *solver, int32_t loss, const int64_t *targets, int32_t outputs, const int64_t *weight,
                    const int64_t *levels, int32_t level_count, int64_t level_scale) {
  if (!has_rows (solver))
    return code_of (solver);
  drop_goal (solver);
  if (!targets || outputs < 1 || loss < TREEML_SQUARED || loss > TREEML_QUANTILE)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "a known loss and at least one output are needed");
  if (check_weights (solver, weight))
    return solver->code;
  if (loss == TREEML_QUANTILE) {
    if (!levels || level_count < 1 || level_count > 1024 || level_scale < 1 || level_scale > most)
      return solver_fail (solver, TREEML_BAD_ARGUMENT, "a quantile loss needs levels and their scale");
    for (int32_t i = 0; i < level_count; i++)
      if (levels[i] < 0 || levels[i] > level_scale)
        return solver_fail (solver, TREEML_BAD_ARGUMENT, "a quantile level lies outside of 0 to 1");
  }
  int64_t largest = 0;
  for (int64_t i = 0; i < solver->rows * outputs; i++) {
    if (targets[i] < -most || targets[i] > most)
      return solver_fail (solver, TREEML_OVERFLOW, "a target is too large");
    const int64_t size = targets[i] < 0 ? -targets[i] : targets[i];
    if (size > largest)
      largest = size;
  }
  int64_t whole = 0, product = 0;
  for (int64_t i = 0; i < solver->rows; i++)
    whole += weight ? weight[i] : 1;
  if (loss != TREEML_SQUARED && !solver->asked_to_round &&
      (multiply_overflows (2 * largest + 1, whole, &product) || multiply_overflows (product, outputs, &product) ||
       multiply_overflows (product, loss == TREEML_QUANTILE ? level_scale : 1, &product) || product > most))
    return solver_fail (solver, TREEML_OVERFLOW, "targets times weights are too large");
  solver->target = copy (solver, targets, solver->rows * outputs, sizeof *targets);
  if (!solver->target)
    return solver->code;
  if (weight) {
    solver->weight = copy (solver, weight, solver->rows, sizeof *weight);
    if (!solver->weight)
      return solver->code;
  }
  if (loss == TREEML_QUANTILE) {
    solver->level = copy (solver, levels, level_count, sizeof *levels);
    if (!solver->level)
      return solver->code;
    solver->levels = level_count;
    solver->level_scale = level_scale;
  }
  solver->loss = loss;
  solver->outputs = outputs;
  solver->goal = goal_loss;
  solver->rounds = solver->asked_to_round;
  return settle_unit (solver);
}

int treeml_custom (treeml_solver *solver, treeml_leaf_costs custom, void *state) {
  if (!has_rows (solver))
    return code_of (solver);
  drop_goal (solver);
  if (!custom)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "a function is needed");
  solver->custom = custom;
  solver->custom_state = state;
  solver->goal = goal_custom;
  return settle_unit (solver);
}

int treeml_column_costs (treeml_solver *solver, const int64_t *cost, int32_t columns) {
  if (!has_rows (solver))
    return code_of (solver);
  drop (solver, &solver->column_cost);
  if (!cost)
    return TREEML_OK;
  if (!solver->column_of)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "column costs need the column of every test");
  for (int64_t test = 0; test < solver->tests; test++)
    if (solver->column_of[test] >= columns)
      return solver_fail (solver, TREEML_BAD_ARGUMENT, "test %lld belongs to a column without a cost",
                          (long long) test);
  int64_t whole = 0, product = 0, sum = 0;
  for (int64_t i = 0; i < solver->rows; i++)
    whole += solver->count ? solver->count[i] : 1;
  for (int32_t i = 0; i < columns; i++) {
    if (cost[i] < 0)
      return solver_fail (solver, TREEML_BAD_ARGUMENT, "column %d has a negative cost", i);
    if (add_overflows (sum, cost[i], &sum) || multiply_overflows (sum, whole, &product) || product > most)
      return solver_fail (solver, TREEML_OVERFLOW, "column costs times rows are too large");
  }
  solver->column_cost = copy (solver, cost, columns, sizeof *cost);
  if (!solver->column_cost)
    return solver->code;
  solver->column_count = columns;
  return TREEML_OK;
}

int treeml_leaf_limit (treeml_solver *solver, const int64_t *cost, int64_t limit) {
  if (!has_rows (solver))
    return code_of (solver);
  drop (solver, &solver->limited_cost);
  if (!cost)
    return TREEML_OK;
  if (solver->goal != goal_classes)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "a limit on the errors of a leaf needs classes");
  if (!sum_fits (cost, solver->rows * solver->classes))
    return solver_fail (solver, TREEML_OVERFLOW, "the sum of the costs is too large");
  solver->limited_cost = copy (solver, cost, solver->rows * solver->classes, sizeof *cost);
  solver->leaf_limit = limit;
  return solver->limited_cost ? TREEML_OK : solver->code;
}

int treeml_purity (treeml_solver *solver, const int64_t *weight, int64_t numerator, int64_t denominator) {
  if (!has_rows (solver))
    return code_of (solver);
  drop (solver, &solver->purity_weight);
  if (!weight)
    return TREEML_OK;
  if (solver->goal != goal_classes)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "purity needs classes");
  if (numerator < 0 || denominator < 1 || numerator > denominator)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "a purity is a share from 0 to 1");
  for (int64_t i = 0; i < solver->rows * solver->classes; i++)
    if (weight[i] < 0)
      return solver_fail (solver, TREEML_BAD_ARGUMENT, "row %lld has a negative weight",
                          (long long) (i / solver->classes));
  int64_t sum = 0;
  for (int64_t i = 0; i < solver->rows * solver->classes; i++)
    if (add_overflows (sum, weight[i], &sum) || sum > most)
      return solver_fail (solver, TREEML_OVERFLOW, "the sum of the weights is too large");
  solver->purity_weight = copy (solver, weight, solver->rows * solver->classes, sizeof *weight);
  solver->purity_numerator = numerator;
  solver->purity_denominator = denominator;
  return solver->purity_weight ? TREEML_OK : solver->code;
}

int treeml_start (treeml_solver *solver, const int32_t *test, const int32_t *yes, const int32_t *no, int64_t nodes) {
  if (!has_rows (solver))
    return code_of (solver);
  tree_release (&solver->arena, &solver->start);
  if (!test)
    return TREEML_OK;
  if (!yes || !no || nodes < 1 || nodes > INT32_MAX)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "a start tree needs nodes");
  for (int64_t i = 0; i < nodes; i++)
    if (test[i] >= 0 && (test[i] >= solver->tests || yes[i] <= i || no[i] <= i || yes[i] >= nodes || no[i] >= nodes))
      return solver_fail (solver, TREEML_BAD_ARGUMENT,
                          "node %lld of the start tree has an unknown test, or a child that does not come after it",
                          (long long) i);
  uint8_t *reached = arena_allocate (&solver->arena, (size_t) nodes, 1);
  int64_t twice = -1, deepest = 0;
  for (int64_t i = 0; reached && i < nodes; i++)
    if (test[i] >= 0) {
      if (reached[yes[i]]++ || reached[no[i]]++)
        twice = i;
      deepest++;
    }
  const int allocated = reached != NULL;
  arena_release (&solver->arena, reached);
  if (!allocated)
    return solver_fail (solver, TREEML_OUT_OF_MEMORY, "no memory for the start tree");
  if (twice >= 0 || deepest > 100000)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "the start tree is too large or reaches a node twice");
  if (tree_reserve (&solver->arena, &solver->start, nodes))
    return solver_fail (solver, TREEML_OUT_OF_MEMORY, "no memory for the start tree");
  memcpy (solver->start.test, test, (size_t) nodes * sizeof *test);
  memcpy (solver->start.yes, yes, (size_t) nodes * sizeof *yes);
  memcpy (solver->start.no, no, (size_t) nodes * sizeof *no);
  solver->start.nodes = nodes;
  return TREEML_OK;
}

int treeml_set (treeml_solver *solver, const char *option, int64_t value) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  int64_t low, high, *field = option ? options_find (&solver->options, option, &low, &high) : NULL;
  if (!field)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "there is no option '%s'", option ? option : "");
  if (value < low || value > high)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "%s = %lld is outside of %lld to %lld", option, (long long) value,
                        (long long) low, (long long) high);
  *field = value;
  if (field == &solver->options.fail_allocation)
    atomic_store (&solver->arena.until_failure, value);
  return TREEML_OK;
}

int treeml_get (const treeml_solver *solver, const char *option, int64_t *value) {
  int64_t low, high;
  if (!solver || !option || !value)
    return TREEML_BAD_ARGUMENT;
  struct options options = solver->options;
  const int64_t *field = options_find (&options, option, &low, &high);
  if (!field)
    return TREEML_BAD_ARGUMENT;
  *value = *field;
  return TREEML_OK;
}

int treeml_watch (treeml_solver *solver, treeml_progress watch, void *state) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  solver->watch = watch;
  solver->watch_state = state;
  return TREEML_OK;
}

static int64_t most_leaves (const treeml_solver *solver) {
  int64_t leaves = solver->rows < solver->options.leaves ? solver->rows : solver->options.leaves;
  if (solver->options.depth < 32 && leaves > INT64_C (1) << solver->options.depth)
    leaves = INT64_C (1) << solver->options.depth;
  return leaves + 1; /* a bound may count one more */
}

int64_t solver_upper (const treeml_solver *solver, int64_t offset) {
  const int64_t upper = solver->options.upper;
  if (upper > UNREACHABLE)
    return UNREACHABLE;
  return (upper < -UNREACHABLE ? -UNREACHABLE : upper) - offset;
}

int treeml_solve (treeml_solver *solver) {
  if (!has_rows (solver))
    return code_of (solver);
  if (solver->goal == goal_none)
    return solver_fail (solver, TREEML_NO_DATA, "nothing says what a leaf costs");
  if (solver->options.leaf_price > most / most_leaves (solver))
    return solver_fail (solver, TREEML_OVERFLOW, "the price of a leaf times the leaves exceeds 2^59");
  drop_answers (solver);
  solver->code = TREEML_OK;
  solver->message[0] = 0;
  memset (&solver->statistics, 0, sizeof solver->statistics);
  solver->slack = solver_slack (solver, 0);
  solver->began = solver_clock ();
  const int64_t limit = solver->options.milliseconds;
  solver->deadline = limit == UNLIMITED ? 1e300 : solver->began + 1e-3 * (double) limit;
  solver->next_watch = solver->began + 1e-3 * (double) solver->options.poll_milliseconds;
  atomic_store (&solver->stopping, 0);
  atomic_store (&solver->interrupted, 0);
  const size_t bytes = solver->options.memory == UNLIMITED ? SIZE_MAX : (size_t) solver->options.memory;
  solver->arena.limit = bytes;
  atomic_store (&solver->arena.peak, atomic_load (&solver->arena.used));
  solver->answers = arena_allocate (&solver->arena, (size_t) solver->levels, sizeof *solver->answers);
  if (!solver->answers)
    return solver_fail (solver, TREEML_OUT_OF_MEMORY, "no memory for the answer");
  solver->answer_count = solver->levels;
  const int code = search_takes (solver) ? search_run (solver) : general_run (solver);
  const double ended = solver_clock ();
  solver->arena.limit = SIZE_MAX;
  solver->statistics.peak_memory = (int64_t) atomic_load (&solver->arena.peak);
  solver->statistics.solve_microseconds =
      (int64_t) (1e6 * (ended - solver->began)) - solver->statistics.build_microseconds;
  const int stopping = solver_stopping (solver);
  solver->stop = stopping ? stopping - 1 : TREEML_PROVED;
  if (code)
    drop_answers (solver);
  return code;
}

int treeml_choose (treeml_solver *solver, int32_t level) {
  if (!solver || level < 0 || level >= solver->answer_count)
    return TREEML_BAD_ARGUMENT;
  solver->chosen = level;
  return TREEML_OK;
}

static const struct answer *answer (const treeml_solver *solver) {
  return solver && solver->answer_count ? &solver->answers[solver->chosen] : NULL;
}

int32_t treeml_status (const treeml_solver *solver) { return answer (solver) ? answer (solver)->status : TREEML_UNKNOWN; }

int32_t treeml_stop (const treeml_solver *solver) { return solver ? solver->stop : 0; }

int64_t treeml_value (const treeml_solver *solver) { return answer (solver) ? answer (solver)->value : 0; }

int64_t treeml_bound (const treeml_solver *solver) { return answer (solver) ? answer (solver)->bound : 0; }

double treeml_unit (const treeml_solver *solver) { return solver ? solver->unit : 1; }

int treeml_rounds (const treeml_solver *solver) { return solver && solver->rounds; }

int64_t treeml_slack (const treeml_solver *solver) { return solver ? solver->slack : 0; }

/* A cost of a leaf is off by half a unit, by the roundings that led to it, and by `error`. A bound on a set of rows is off
   by as much for every leaf that its tree can have, whether it was found for these rows or for others that differ little.
   What is proved lies between a bound and a value that are both off, so twice that. */
int64_t solver_slack (const treeml_solver *solver, double error) {
  if (!solver->rounds)
    return 0;
  const int64_t limit = solver->options.leaves < solver->rows ? solver->options.leaves : solver->rows;
  const int64_t depth = solver->options.depth;
  const double leaves = depth < 40 && ((int64_t) 1 << depth) < limit ? ldexp (1, (int) depth) : (double) limit;
  const double slack = ceil (2 * leaves * (1.25 + error * solver->unit)) + 2;
  return slack < 0x1p60 ? (int64_t) slack : (int64_t) 1 << 60;
}

int64_t treeml_nodes (const treeml_solver *solver) { return answer (solver) ? answer (solver)->tree.nodes : 0; }

int treeml_tree (const treeml_solver *solver, int32_t *test, int32_t *yes, int32_t *no, int32_t *label) {
  if (!answer (solver) || !test || !yes || !no || !label)
    return TREEML_BAD_ARGUMENT;
  const struct tree *tree = &answer (solver)->tree;
  if (!tree->nodes)
    return TREEML_OK;
  const size_t bytes = (size_t) tree->nodes * sizeof (int32_t);
  memcpy (test, tree->test, bytes);
  memcpy (yes, tree->yes, bytes);
  memcpy (no, tree->no, bytes);
  memcpy (label, tree->label, bytes);
  return TREEML_OK;
}

const char *treeml_kernel (const treeml_solver *solver) {
  return solver && solver->kernel ? solver->kernel->name : "none";
}
