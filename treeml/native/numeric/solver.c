/* The public functions of numeric.h apart from the solve, which is in run.c: the life of a solver, options, trees of
   the caller, and reading the answer. */
#include "numeric/solver.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

int numeric_fail (treeml_numeric *solver, int code, const char *format, ...) {
  va_list arguments;
  va_start (arguments, format);
  vsnprintf (solver->message, sizeof solver->message, format, arguments);
  va_end (arguments);
  return solver->code = code;
}

treeml_numeric *treeml_numeric_create (void) {
  treeml_numeric *solver = memory_allocate (1, sizeof *solver);
  if (!solver)
    return NULL;
  solver->arena.limit = SIZE_MAX;
  options_initialize (&solver->options, program_numbers);
  lock_make (&solver->best_lock);
  return solver;
}

void treeml_numeric_destroy (treeml_numeric *solver) {
  if (!solver)
    return;
  numeric_release_data (solver);
  numeric_tree_release (&solver->arena, &solver->start);
  numeric_tree_release (&solver->arena, &solver->proposal);
  numeric_tree_release (&solver->arena, &solver->best);
  lock_destroy (&solver->best_lock);
  memory_release (solver);
}

const char *treeml_numeric_message (const treeml_numeric *solver) { return solver ? solver->message : ""; }

int treeml_numeric_set (treeml_numeric *solver, const char *option, int64_t value) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  const int code =
      options_set (&solver->options, program_numbers, option, value, solver->message, sizeof solver->message);
  if (code)
    solver->code = code;
  return code;
}

int treeml_numeric_get (const treeml_numeric *solver, const char *option, int64_t *value) {
  return solver ? options_get (&solver->options, program_numbers, option, value) : TREEML_BAD_ARGUMENT;
}

int32_t treeml_numeric_options (void) { return options_count (program_numbers); }

int treeml_numeric_option (int32_t index, const char **name, int64_t *low, int64_t *high, int64_t *initial,
                           const char **help) {
  return options_describe (program_numbers, index, name, low, high, initial, help);
}

int32_t treeml_numeric_statistics (void) { return statistics_count (program_numbers); }

int treeml_numeric_statistic (const treeml_numeric *solver, int32_t index, const char **name, double *value,
                              const char **help) {
  return solver ? statistics_read (&solver->statistics, program_numbers, index, name, value, help)
                : TREEML_BAD_ARGUMENT;
}

int treeml_numeric_watch (treeml_numeric *solver, treeml_numeric_progress watch, void *state) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  solver->watch = watch;
  solver->watch_state = state;
  return TREEML_OK;
}

/* The last rank whose code is not above the given cut; -1 if there is none. */
static int32_t rank_of (const treeml_numeric *solver, int32_t column, int32_t cut) {
  const int32_t kept = solver->alias[column];
  const int32_t *codes = solver->source[kept] == column ? solver->code_of[kept] : solver->alias_codes[column];
  int32_t low = 0, high = solver->levels[kept];
  while (low < high) {
    const int32_t half = low + (high - low) / 2;
    if ((codes ? codes[half] : half) <= cut)
      low = half + 1;
    else
      high = half;
  }
  return low - 1;
}

int treeml_numeric_beside (treeml_numeric *solver, int32_t column, int32_t cut, int32_t rows[2]) {
  if (!solver || !rows || column < 0 || column >= solver->given)
    return TREEML_BAD_ARGUMENT;
  if (!numeric_rank_columns (solver, NULL))
    return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for ranks");
  const int32_t kept = solver->alias[column];
  rows[0] = rows[1] = -1;
  if (kept < 0) {
    rows[solver->single[column] > cut] = 0;
    return TREEML_OK;
  }
  const int32_t rank = rank_of (solver, column, cut), *order = solver->order[kept];
  int64_t low = 0, high = solver->rows; /* number of rows up to the cut */
  while (low < high) {
    const int64_t half = low + (high - low) / 2;
    if (solver->rank[kept][order[half]] <= rank)
      low = half + 1;
    else
      high = half;
  }
  if (low > 0)
    rows[0] = order[low - 1];
  if (low < solver->rows)
    rows[1] = order[low];
  return TREEML_OK;
}

/* Reads a tree of the caller into kept columns and ranks; without nodes if there is only one tree. */
static int read_tree (treeml_numeric *solver, const int32_t *column, const int32_t *cut, const int32_t *yes,
                      const int32_t *no, int64_t nodes, struct numeric_tree *tree) {
  tree->nodes = 0;
  if (!column || !cut || !yes || !no || nodes < 0 || !solver->rows)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT,
                         "a tree needs columns, cuts and children, and must be set after the data");
  for (int64_t i = 0; i < nodes; i++) {
    const int split = column[i] >= 0;
    if (split ? column[i] >= solver->given || yes[i] <= i || no[i] <= i || yes[i] >= nodes || no[i] >= nodes
              : column[i] != -1) {
      tree->nodes = 0;
      return numeric_fail (solver, TREEML_BAD_ARGUMENT, "node %lld of the tree is invalid", (long long) i);
    }
    /* A constant column sends all rows one way. Any other column does the same with a cut beyond its ends. */
    int32_t kept = split ? solver->alias[column[i]] : -1, rank = 0;
    if (split && kept < 0 && !solver->columns)
      return tree->nodes = 0, TREEML_OK; /* without columns there is only one tree */
    if (split && kept < 0) {
      kept = 0;
      rank = solver->single[column[i]] <= cut[i] ? solver->levels[0] - 1 : -1;
    } else if (split)
      rank = rank_of (solver, column[i], cut[i]);
    const int64_t node = numeric_tree_add (&solver->arena, tree, kept, rank);
    if (node < 0) {
      tree->nodes = 0;
      return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for a tree");
    }
    tree->yes[node] = split ? yes[i] : -1;
    tree->no[node] = split ? no[i] : -1;
  }
  return TREEML_OK;
}

int treeml_numeric_start (treeml_numeric *solver, const int32_t *column, const int32_t *cut, const int32_t *yes,
                          const int32_t *no, int64_t nodes) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  solver->start.nodes = 0;
  if (!nodes)
    return TREEML_OK;
  if (solver->rows && !numeric_rank_columns (solver, NULL))
    return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for ranks");
  return read_tree (solver, column, cut, yes, no, nodes, &solver->start);
}

int treeml_numeric_propose (treeml_numeric *solver, const int32_t *column, const int32_t *cut, const int32_t *yes,
                            const int32_t *no, int64_t nodes) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (!nodes || solver->ranked < solver->given)
    return TREEML_OK;
  return read_tree (solver, column, cut, yes, no, nodes, &solver->proposal);
}

void treeml_numeric_interrupt (treeml_numeric *solver) {
  if (solver)
    atomic_store (&solver->interrupted, 1);
}

int32_t treeml_numeric_status (const treeml_numeric *solver) { return solver ? solver->status : TREEML_UNKNOWN; }

int32_t treeml_numeric_stop (const treeml_numeric *solver) { return solver ? solver->stop : TREEML_PROVED; }

int64_t treeml_numeric_value (const treeml_numeric *solver) {
  const int64_t value = solver ? atomic_load (&solver->best_value) : NUMERIC_NONE;
  return value < NUMERIC_NONE ? value + solver->base : INT64_MAX;
}

int64_t treeml_numeric_bound (const treeml_numeric *solver) {
  return solver ? atomic_load (&solver->bound) + solver->base : INT64_MIN;
}

int treeml_numeric_answer (const treeml_numeric *solver, int64_t answer[5]) {
  if (!solver || !answer)
    return TREEML_BAD_ARGUMENT;
  answer[0] = solver->status;
  answer[1] = solver->stop;
  answer[2] = treeml_numeric_value (solver);
  answer[3] = treeml_numeric_bound (solver);
  answer[4] = solver->best.nodes;
  return TREEML_OK;
}

double treeml_numeric_unit (const treeml_numeric *solver) {
  return solver ? ldexp (solver->unit, -2 * solver->shift) : 1;
}

/* Like solver_slack: for every leaf that a tree can have, one unit and the error of its quotient; twice, for a bound
   and a value. */
int64_t treeml_numeric_slack (const treeml_numeric *solver) {
  if (!solver || solver->goal != numeric_goal_squared)
    return 0;
  int64_t leaves = solver->options.leaves < solver->rows ? solver->options.leaves : solver->rows;
  if (solver->options.depth < 40 && leaves > INT64_C (1) << solver->options.depth)
    leaves = INT64_C (1) << solver->options.depth;
  const double slack = ceil (2 * (double) leaves * (1.25 + solver->error * solver->unit)) + 2;
  return slack < 0x1p60 ? (int64_t) slack : INT64_C (1) << 60;
}

int64_t treeml_numeric_nodes (const treeml_numeric *solver) { return solver ? solver->best.nodes : 0; }

int treeml_numeric_tree (const treeml_numeric *solver, int32_t *column, int32_t *cut, int32_t *yes, int32_t *no,
                         int32_t *label) {
  if (!solver || !column || !cut || !yes || !no || !label)
    return TREEML_BAD_ARGUMENT;
  const struct numeric_tree *best = &solver->best;
  for (int64_t i = 0; i < best->nodes; i++) {
    const int translated = solver->best_is_given || best->column[i] < 0;
    column[i] = translated ? best->column[i] : solver->source[best->column[i]];
    cut[i] = translated ? best->cut[i] : numeric_given_code (solver, best->column[i], best->cut[i]);
    yes[i] = best->yes[i];
    no[i] = best->no[i];
    label[i] = best->label[i];
  }
  return TREEML_OK;
}

const char *treeml_numeric_kernel (const treeml_numeric *solver) {
  return solver && solver->kernel ? solver->kernel->name : "";
}
