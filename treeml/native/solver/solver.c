/* The functions of treeml.h apart from the input: the life of a solver, options, the solve, and the answer. */
#include "solver/solver.h"
#include "solver/hazard.h"
#include "solver/impurity.h"

#include <math.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *treeml_version (void) { return "0.2.0"; }

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
  const double now = clock_seconds ();
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
  treeml_solver *solver = memory_allocate (1, sizeof *solver);
  if (!solver)
    return NULL;
  solver->arena.limit = SIZE_MAX;
  solver->unit = 1;
  solver->enough_loss = INFINITY;
  options_initialize (&solver->options, program_tests);
  return solver;
}

void treeml_destroy (treeml_solver *solver) {
  if (!solver)
    return;
  solver_release_input (solver);
  memory_release (solver);
}

const char *treeml_message (const treeml_solver *solver) { return solver ? solver->message : "no solver"; }

int treeml_set (treeml_solver *solver, const char *option, int64_t value) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  const int code =
      options_set (&solver->options, program_tests, option, value, solver->message, sizeof solver->message);
  if (code)
    return solver->code = code;
  if (!strcmp (option, "fail_allocation"))
    atomic_store (&solver->arena.until_failure, value);
  return TREEML_OK;
}

int treeml_get (const treeml_solver *solver, const char *option, int64_t *value) {
  return solver ? options_get (&solver->options, program_tests, option, value) : TREEML_BAD_ARGUMENT;
}

int32_t treeml_options (void) { return options_count (program_tests); }

int treeml_option (int32_t index, const char **name, int64_t *low, int64_t *high, int64_t *initial, const char **help) {
  return options_describe (program_tests, index, name, low, high, initial, help);
}

int32_t treeml_statistics (void) { return statistics_count (program_tests); }

int treeml_statistic (const treeml_solver *solver, int32_t index, const char **name, double *value, const char **help) {
  return solver ? statistics_read (&solver->statistics, program_tests, index, name, value, help) : TREEML_BAD_ARGUMENT;
}

int treeml_all_statistics (const treeml_solver *solver, double *values) {
  const char *name, *help;
  if (!values)
    return TREEML_BAD_ARGUMENT;
  for (int32_t i = 0; i < treeml_statistics (); i++)
    if (treeml_statistic (solver, i, &name, &values[i], &help))
      return TREEML_BAD_ARGUMENT;
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
  return leaves + 1; /* one more, because a bound may count one leaf too many */
}

int64_t solver_upper (const treeml_solver *solver, int64_t offset) {
  const int64_t upper = solver->options.upper;
  if (upper > UNREACHABLE)
    return UNREACHABLE;
  return (upper < -UNREACHABLE ? -UNREACHABLE : upper) - offset;
}

/* The rounding errors of a loss of survival times: it is a small difference of logarithms below 64 and their sums. */
static double error_of_hazards (const treeml_solver *solver) {
  double magnitude = 0;
  for (int64_t row = 0; solver->goal == goal_hazards && row < solver->rows; row++)
    magnitude += solver->died[row] ? 64 + fabs ((double) solver->death_cost[row]) / HAZARD_UNIT : 0;
  return ldexp (magnitude, -51);
}

int treeml_solve (treeml_solver *solver) {
  if (!solver_has_rows (solver))
    return code_of (solver);
  if (solver->goal == goal_none)
    return solver_fail (solver, TREEML_NO_DATA, "there is no goal: set labels, costs or targets first");
  if (solver->options.leaf_price > LARGEST_SUM / most_leaves (solver))
    return solver_fail (solver, TREEML_OVERFLOW, "the price of a leaf times the leaves exceeds 2^59");
  solver_release_answers (solver);
  solver->code = TREEML_OK;
  solver->message[0] = 0;
  memset (&solver->statistics, 0, sizeof solver->statistics);
  solver->slack = solver_slack (solver, error_of_hazards (solver) + impurity_error (solver));
  solver->began = clock_seconds ();
  const int64_t limit = solver->options.milliseconds;
  solver->deadline = limit == UNLIMITED ? 1e300 : solver->began + 1e-3 * (double) limit;
  solver->next_watch = solver->began + 1e-3 * (double) solver->options.poll_milliseconds;
  atomic_store (&solver->stopping, 0);
  const size_t bytes = solver->options.memory == UNLIMITED ? SIZE_MAX : (size_t) solver->options.memory;
  solver->arena.limit = bytes;
  atomic_store (&solver->arena.peak, atomic_load (&solver->arena.used));
  solver->answers = arena_allocate (&solver->arena, (size_t) solver->levels, sizeof *solver->answers);
  if (!solver->answers)
    return solver_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for the answer");
  solver->answer_count = solver->levels;
  const int code = search_takes (solver) ? search_run (solver) : general_run (solver);
  atomic_store (&solver->interrupted, 0);
  const double ended = clock_seconds ();
  solver->arena.limit = SIZE_MAX;
  solver->statistics.peak_memory = (int64_t) atomic_load (&solver->arena.peak);
  solver->statistics.solve_microseconds =
      (int64_t) (1e6 * (ended - solver->began)) - solver->statistics.build_microseconds;
  const int stopping = solver_stopping (solver);
  solver->stop = stopping ? stopping - 1 : TREEML_PROVED;
  if (code)
    solver_release_answers (solver);
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

int32_t treeml_status (const treeml_solver *solver) {
  return answer (solver) ? answer (solver)->status : TREEML_UNKNOWN;
}

int32_t treeml_stop (const treeml_solver *solver) { return solver ? solver->stop : 0; }

int64_t treeml_value (const treeml_solver *solver) { return answer (solver) ? answer (solver)->value : 0; }

int64_t treeml_bound (const treeml_solver *solver) { return answer (solver) ? answer (solver)->bound : 0; }

double treeml_unit (const treeml_solver *solver) { return solver ? solver->unit : 1; }

int treeml_rounds (const treeml_solver *solver) { return solver && solver->rounds; }

int64_t treeml_slack (const treeml_solver *solver) { return solver ? solver->slack : 0; }

/* The cost of a leaf is off by half a unit, by the roundings that led to it, and by `error`. A bound on a set of
   rows is off by as much for every leaf that its tree can have, no matter whether it was computed for these rows or
   for similar ones. A proof compares a bound with a value, both of which are off, hence the factor of two. */
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
