/* The public functions of coupled_numeric.h: creation, options, the course of a solve, and reading the answer. */
#include "coupled_numeric/solver.h"
#include "simd/select.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { work_between_clocks = 1000000 };

int threshold_fail (threshold_solver *solver, int code, const char *format, ...) {
  va_list arguments;
  va_start (arguments, format);
  vsnprintf (solver->message, sizeof solver->message, format, arguments);
  va_end (arguments);
  return solver->code = code;
}

treeml_coupled_numeric *treeml_coupled_numeric_create (void) {
  treeml_coupled_numeric *solver = memory_allocate (1, sizeof *solver);
  if (!solver)
    return NULL;
  solver->arena.limit = SIZE_MAX;
  solver->best_value = THRESHOLD_NONE;
  options_initialize (&solver->options, program_coupled_numbers);
  return solver;
}

void treeml_coupled_numeric_destroy (treeml_coupled_numeric *solver) {
  if (!solver)
    return;
  threshold_release (solver);
  memory_release (solver);
}

const char *treeml_coupled_numeric_message (const treeml_coupled_numeric *solver) {
  return solver ? solver->message : "";
}

int treeml_coupled_numeric_set (treeml_coupled_numeric *solver, const char *option, int64_t value) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  return options_set (&solver->options, program_coupled_numbers, option, value, solver->message,
                      sizeof solver->message);
}

int32_t treeml_coupled_numeric_options (void) { return options_count (program_coupled_numbers); }

int treeml_coupled_numeric_option (int32_t index, const char **name, int64_t *low, int64_t *high, int64_t *initial,
                                   const char **help) {
  return options_describe (program_coupled_numbers, index, name, low, high, initial, help);
}

int32_t treeml_coupled_numeric_statistics (void) { return statistics_count (program_coupled_numbers); }

int treeml_coupled_numeric_statistic (const treeml_coupled_numeric *solver, int32_t index, const char **name,
                                      double *value, const char **help) {
  return solver ? statistics_read (&solver->statistics, program_coupled_numbers, index, name, value, help)
                : TREEML_BAD_ARGUMENT;
}

int treeml_coupled_numeric_numbers (const treeml_coupled_numeric *solver, double *values) {
  if (!solver || !values)
    return TREEML_BAD_ARGUMENT;
  statistics_numbers (&solver->statistics, program_coupled_numbers, values);
  return TREEML_OK;
}

const char *treeml_coupled_numeric_kernel (const treeml_coupled_numeric *solver) {
  return solver && solver->kernel ? solver->kernel->name : "";
}

int treeml_coupled_numeric_watch (treeml_coupled_numeric *solver, treeml_coupled_numeric_progress watch, void *state) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  solver->watch = watch;
  solver->watch_state = state;
  return TREEML_OK;
}

void treeml_coupled_numeric_interrupt (treeml_coupled_numeric *solver) {
  if (solver)
    atomic_store (&solver->interrupted, 1);
}

int treeml_coupled_numeric_start (treeml_coupled_numeric *solver, const int32_t *column, const int32_t *cut,
                                  const int32_t *yes, const int32_t *no, const int32_t *label, int64_t nodes) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  threshold_tree_release (&solver->arena, &solver->start);
  if (!nodes)
    return TREEML_OK;
  if (!column || !cut || !yes || !no || !label || nodes < 0 || !solver->sums)
    return threshold_fail (solver, TREEML_BAD_ARGUMENT,
                           "a start tree needs columns, cuts, children and labels, and comes after the values");
  for (int64_t i = 0; i < nodes; i++) {
    const int split = column[i] >= 0;
    if (split ? column[i] >= solver->given || yes[i] <= i || no[i] <= i || yes[i] >= nodes || no[i] >= nodes
              : column[i] != -1 || label[i] < 0 || label[i] >= solver->classes) {
      threshold_tree_release (&solver->arena, &solver->start);
      return threshold_fail (solver, TREEML_BAD_ARGUMENT, "node %lld of the start tree is invalid", (long long) i);
    }
    const int64_t node = threshold_tree_add (&solver->arena, &solver->start, column[i], cut[i], label[i]);
    if (node < 0) {
      threshold_tree_release (&solver->arena, &solver->start);
      return threshold_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for the start");
    }
    solver->start.yes[node] = split ? yes[i] : -1;
    solver->start.no[node] = split ? no[i] : -1;
  }
  return TREEML_OK;
}

void threshold_stop (threshold_solver *solver, int why) {
  if (!solver->stopping)
    solver->stopping = 1 + why;
}

static int64_t shown_bound (const threshold_solver *solver) {
  const int64_t bound = solver->bound < solver->best_value ? solver->bound : solver->best_value;
  return bound + solver->base[0];
}

static int64_t shown_value (const threshold_solver *solver) {
  return solver->best_value < THRESHOLD_NONE ? solver->best_value + solver->base[0] : INT64_MAX;
}

static void call_back (threshold_solver *solver, double now) {
  const int better = solver->better;
  solver->better = 0;
  if (solver->watch (solver->watch_state, now - solver->began, shown_value (solver), shown_bound (solver), better))
    threshold_stop (solver, TREEML_INTERRUPTED);
}

int threshold_poll (threshold_solver *solver) {
  solver->until_clock = work_between_clocks;
  if (solver->member_of)
    return threshold_team_poll (solver);
  const double now = clock_seconds ();
  if (atomic_load_explicit (&solver->interrupted, memory_order_relaxed))
    threshold_stop (solver, TREEML_INTERRUPTED);
  if (now >= solver->deadline)
    threshold_stop (solver, TREEML_TIME);
  if (solver->watch && now >= solver->next_watch) {
    solver->next_watch = now + 1e-3 * (double) solver->options.poll_milliseconds;
    call_back (solver, now);
  }
  return solver->stopping;
}

int threshold_poll_lists (void *solver) { return threshold_poll (solver); }

static int check (threshold_solver *solver) {
  if (!solver->rows || !solver->sums)
    return threshold_fail (solver, TREEML_NO_DATA, "columns and values come before a solve");
  if (solver->options.leaf_price > (INT64_C (1) << 50) / (solver->rows + 1))
    return threshold_fail (solver, TREEML_OVERFLOW, "the price of a leaf times the rows exceeds 2^50");
  const enum simd set = simd_select (solver->options.kernel, simd_avx512);
  solver->kernel = simd_stump_trees (set);
  if (!solver->kernel)
    return threshold_fail (solver, TREEML_BAD_ARGUMENT, "this processor cannot run the kernel asked for");
  return TREEML_OK;
}

static void begin_solve (threshold_solver *solver) {
  solver->began = clock_seconds ();
  solver->code = TREEML_OK;
  solver->message[0] = 0;
  memset (&solver->statistics, 0, sizeof solver->statistics);
  solver->best.nodes = 0;
  solver->best_value = THRESHOLD_NONE;
  solver->base[0] = 0;
  solver->bound = -THRESHOLD_NONE;
  solver->target = THRESHOLD_NONE;
  solver->status = TREEML_UNKNOWN;
  solver->stop = TREEML_PROVED;
  solver->stopping = 0;
  solver->narrow = 0;
  solver->allowance = INT64_MAX;
  solver->better = 0;
  solver->until_clock = work_between_clocks;
  solver->deadline =
      solver->options.microseconds == INT64_MAX ? 1e300 : solver->began + 1e-6 * (double) solver->options.microseconds;
  solver->next_watch = solver->began + 1e-3 * (double) solver->options.poll_milliseconds;
  solver->arena.limit = solver->options.memory == INT64_MAX ? SIZE_MAX : (size_t) solver->options.memory;
  atomic_store (&solver->arena.until_failure, solver->options.fail_allocation);
}

static void conclude (threshold_solver *solver) {
  const int found = solver->best_value < THRESHOLD_NONE;
  if (!solver->stopping) {
    solver->status = found ? TREEML_OPTIMAL : TREEML_INFEASIBLE;
    if (found)
      solver->bound = solver->best_value;
  } else {
    solver->stop = solver->stopping - 1;
    solver->status = found ? TREEML_FEASIBLE : TREEML_UNKNOWN;
  }
}

int treeml_coupled_numeric_solve (treeml_coupled_numeric *solver) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  begin_solve (solver);
  if (check (solver))
    return solver->code;
  threshold_run (solver);
  atomic_store (&solver->interrupted, 0);
  atomic_store (&solver->arena.until_failure, 0);
  solver->arena.limit = SIZE_MAX;
  if (solver->code)
    return solver->code;
  conclude (solver);
  if (solver->watch && solver->better)
    call_back (solver, clock_seconds ());
  solver->statistics.peak_memory = (int64_t) atomic_load (&solver->arena.peak);
  solver->statistics.solve_microseconds = (int64_t) (1e6 * (clock_seconds () - solver->began));
  if (solver->status == TREEML_UNKNOWN && solver->stop == TREEML_MEMORY)
    return threshold_fail (solver, TREEML_OUT_OF_MEMORY, "the memory limit is too low for the search");
  return TREEML_OK;
}

int treeml_coupled_numeric_answer (const treeml_coupled_numeric *solver, int64_t answer[5]) {
  if (!solver || !answer)
    return TREEML_BAD_ARGUMENT;
  answer[0] = solver->status;
  answer[1] = solver->stop;
  answer[2] = shown_value (solver);
  answer[3] = solver->status == TREEML_INFEASIBLE ? INT64_MAX : shown_bound (solver);
  answer[4] = solver->best_value < THRESHOLD_NONE ? solver->best.nodes : 0;
  return TREEML_OK;
}

int treeml_coupled_numeric_totals (const treeml_coupled_numeric *solver, int64_t *totals) {
  if (!solver || !totals || solver->best_value >= THRESHOLD_NONE)
    return TREEML_BAD_ARGUMENT;
  memcpy (totals, solver->totals, (size_t) solver->sums * sizeof *totals);
  return TREEML_OK;
}

int64_t treeml_coupled_numeric_nodes (const treeml_coupled_numeric *solver) {
  return solver && solver->best_value < THRESHOLD_NONE ? solver->best.nodes : 0;
}

int treeml_coupled_numeric_tree (const treeml_coupled_numeric *solver, int32_t *column, int32_t *cut, int32_t *yes,
                                 int32_t *no, int32_t *label) {
  if (!solver || !column || !cut || !yes || !no || !label)
    return TREEML_BAD_ARGUMENT;
  const size_t size = (size_t) treeml_coupled_numeric_nodes (solver) * sizeof *column;
  if (!size)
    return TREEML_OK;
  memcpy (column, solver->best.column, size);
  memcpy (cut, solver->best.cut, size);
  memcpy (yes, solver->best.yes, size);
  memcpy (no, solver->best.no, size);
  memcpy (label, solver->best.label, size);
  return TREEML_OK;
}
