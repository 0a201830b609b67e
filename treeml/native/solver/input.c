/* The functions of treeml.h that set data, goals and constraints: they check the arrays, then copy or pack them. */
#include "solver/impurity.h"
#include "solver/lines.h"

#include "common/bits.h"
#include "common/pack.h"

#include <math.h>
#include <string.h>

static void drop (treeml_solver *solver, void *pointer_to_field) {
  void **field = pointer_to_field;
  arena_release (&solver->arena, *field);
  *field = NULL;
}

void solver_release_answers (treeml_solver *solver) {
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
  drop (solver, &solver->hazard);
  drop (solver, &solver->death_cost);
  drop (solver, &solver->died);
  impurity_release (solver);
  lines_release (solver);
  solver->goal = goal_none;
  solver->offset = 0;
  solver->rounds = solver->asked_to_round;
  solver->unit = 1;
  solver->classes = solver->outputs = 0;
  solver->levels = 1;
}

static void drop_column_costs (treeml_solver *solver) {
  drop (solver, &solver->column_cost);
  drop (solver, &solver->discounted);
  drop (solver, &solver->discount_after);
  drop (solver, &solver->discount_cost);
  solver->discounts = 0;
}

static void drop_extras (treeml_solver *solver) {
  drop_column_costs (solver);
  drop (solver, &solver->limited_cost);
  drop (solver, &solver->purity_weight);
  tree_release (&solver->arena, &solver->start);
}

/* Releases the data, everything that depends on it, and the answers. */
void solver_release_input (treeml_solver *solver) {
  solver_release_answers (solver);
  drop_goal (solver);
  drop_extras (solver);
  drop (solver, &solver->columns);
  drop (solver, &solver->column_of);
  drop (solver, &solver->count);
  drop (solver, &solver->forbidden);
}

static void *copy (treeml_solver *solver, const void *from, int64_t count, size_t size) {
  void *to = arena_allocate (&solver->arena, (size_t) count, size);
  if (to)
    memcpy (to, from, (size_t) count * size);
  else
    solver_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for %lld values", (long long) count);
  return to;
}

/* Checks the size of the data, releases what was there, and reserves room for the bits. */
int solver_begin_tests (treeml_solver *solver, const uint8_t *bits, int64_t tests, int64_t rows) {
  if (tests < 0 || rows < 1 || (tests && !bits))
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "there must be at least one row, and bits for every test");
  if (rows > INT32_MAX / 2 || tests > INT32_MAX / 4)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "%lld tests on %lld rows are too many", (long long) tests,
                        (long long) rows);
  solver_release_input (solver);
  solver->rows = solver->asked_to_round = 0;
  solver->beside = 0;
  solver->enough_loss = INFINITY;
  solver->columns = arena_allocate (&solver->arena, (size_t) (tests * ((rows + 63) / 64)), sizeof *solver->columns);
  if (!solver->columns)
    return solver_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for the bits of %lld tests on %lld rows",
                        (long long) tests, (long long) rows);
  return TREEML_OK;
}

void solver_end_tests (treeml_solver *solver, int64_t tests, int64_t rows) {
  solver->tests = tests;
  solver->rows = rows;
  solver->words = (rows + 63) / 64;
}

/* Notes the columns of the tests whose bits are there. */
static int keep_tests (treeml_solver *solver, int64_t tests, int64_t rows, const int32_t *columns) {
  if (columns) {
    solver->column_of = copy (solver, columns, tests, sizeof *columns);
    if (!solver->column_of)
      return solver->code;
    for (int64_t test = 0; test < tests; test++)
      if (columns[test] < 0)
        return solver_fail (solver, TREEML_BAD_ARGUMENT, "test %lld has a negative column", (long long) test);
  }
  solver_end_tests (solver, tests, rows);
  return TREEML_OK;
}

int treeml_tests (treeml_solver *solver, const uint8_t *bits, int64_t tests, int64_t rows, const int32_t *columns) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (solver_begin_tests (solver, bits, tests, rows))
    return solver->code;
  const int64_t words = (rows + 63) / 64;
  for (int64_t test = 0; test < tests; test++)
    if (!pack_bits (bits + test * rows, rows, solver->columns + test * words))
      return solver_fail (solver, TREEML_BAD_ARGUMENT, "test %lld has a byte other than 0 and 1", (long long) test);
  return keep_tests (solver, tests, rows, columns);
}

int treeml_packed_tests (treeml_solver *solver, const uint64_t *words, int64_t tests, int64_t rows,
                         const int32_t *columns) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (solver_begin_tests (solver, (const uint8_t *) words, tests, rows))
    return solver->code;
  const int64_t of_test = (rows + 63) / 64;
  for (int64_t test = 0; rows % 64 && test < tests; test++)
    if (words[(test + 1) * of_test - 1] >> rows % 64)
      return solver_fail (solver, TREEML_BAD_ARGUMENT, "test %lld has a bit beyond the last row", (long long) test);
  if (tests)
    memcpy (solver->columns, words, (size_t) (tests * of_test) * sizeof *words);
  return keep_tests (solver, tests, rows, columns);
}

int solver_has_rows (treeml_solver *solver) {
  if (!solver)
    return 0;
  if (!solver->rows)
    solver_fail (solver, TREEML_NO_DATA, "treeml_tests must come first");
  return solver->rows > 0;
}

enum { most_classes = 1 << 24 };

static int sum_fits (const int64_t *values, int64_t count) {
  int64_t sum = 0;
  for (int64_t i = 0; i < count; i++) {
    const int64_t value = values[i];
    if (value < -LARGEST_SUM || value > LARGEST_SUM || add_overflows (sum, value < 0 ? -value : value, &sum) ||
        sum > LARGEST_SUM)
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
  if (!solver_has_rows (solver))
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
  if (!solver_has_rows (solver))
    return code_of (solver);
  drop (solver, &solver->forbidden);
  if (!forbidden)
    return TREEML_OK;
  solver->forbidden = copy (solver, forbidden, solver->tests, sizeof *forbidden);
  return solver->forbidden ? TREEML_OK : solver->code;
}

int treeml_labels (treeml_solver *solver, const int32_t *labels, int32_t classes, const int64_t *weight) {
  if (!solver_has_rows (solver))
    return code_of (solver);
  drop_goal (solver);
  if (!labels || classes < 1)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "labels need at least one class and must not be NULL");
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
  if (!solver_has_rows (solver))
    return code_of (solver);
  drop_goal (solver);
  if (!cost || classes < 1)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "costs need at least one class and must not be NULL");
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
  if (!solver_has_rows (solver))
    return code_of (solver);
  if (!(beside >= 0 && beside < 0x1p960 && most_wanted > 0))
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "amounts added to the costs must be finite and not negative");
  drop_goal (solver);
  solver->asked_to_round = 1;
  solver->beside = beside;
  solver->enough_loss = most_wanted;
  return TREEML_OK;
}

/* Chooses the unit of the costs as soon as the goal is known: amounts that the caller adds later are in units too. */
static int settle_unit (treeml_solver *solver) {
  struct leaf_state *leaf = leaf_create (solver);
  uint64_t *all = arena_allocate (&solver->arena, (size_t) solver->words, sizeof *all);
  int code = TREEML_OUT_OF_MEMORY;
  if (leaf && all) {
    for (int64_t row = 0; row < solver->rows; row++)
      all[row >> 6] |= (uint64_t) 1 << (row & 63);
    code = leaf_choose_unit (leaf, all);
  } else
    solver_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory to choose the unit");
  leaf_destroy (leaf);
  arena_release (&solver->arena, all);
  if (code)
    solver->goal = goal_none;
  return code;
}

static int check_targets (treeml_solver *solver, int32_t loss, const int64_t *targets, int32_t outputs,
                          const int64_t *weight, const int64_t *levels, int32_t level_count, int64_t level_scale) {
  if (!targets || outputs < 1 || loss < TREEML_SQUARED || loss > TREEML_QUANTILE)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "targets need a known loss and at least one output");
  if (check_weights (solver, weight))
    return solver->code;
  if (loss == TREEML_QUANTILE) {
    if (!levels || level_count < 1 || level_count > 1024 || level_scale < 1 || level_scale > LARGEST_SUM)
      return solver_fail (solver, TREEML_BAD_ARGUMENT, "a quantile loss needs levels and their scale");
    for (int32_t i = 0; i < level_count; i++)
      if (levels[i] < 0 || levels[i] > level_scale)
        return solver_fail (solver, TREEML_BAD_ARGUMENT, "a quantile level is outside of 0 to 1");
  }
  int64_t largest = 0;
  for (int64_t i = 0; i < solver->rows * outputs; i++) {
    if (targets[i] < -LARGEST_SUM || targets[i] > LARGEST_SUM)
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
       multiply_overflows (product, loss == TREEML_QUANTILE ? level_scale : 1, &product) || product > LARGEST_SUM))
    return solver_fail (solver, TREEML_OVERFLOW, "targets times weights are too large");
  return TREEML_OK;
}

/* Moves the targets of every output to the middle of their range. The squared loss stays the same, and its sums are
   smaller. */
static void centre_targets (treeml_solver *solver, int32_t outputs) {
  int64_t *target = solver->target;
  for (int32_t k = 0; k < outputs; k++) {
    int64_t low = target[k], high = target[k];
    for (int64_t row = 1; row < solver->rows; row++) {
      const int64_t value = target[row * outputs + k];
      low = value < low ? value : low;
      high = value > high ? value : high;
    }
    const int64_t middle = low + (high - low) / 2;
    for (int64_t row = 0; middle && row < solver->rows; row++)
      target[row * outputs + k] -= middle;
  }
}

int treeml_targets (treeml_solver *solver, int32_t loss, const int64_t *targets, int32_t outputs, const int64_t *weight,
                    const int64_t *levels, int32_t level_count, int64_t level_scale) {
  if (!solver_has_rows (solver))
    return code_of (solver);
  drop_goal (solver);
  if (check_targets (solver, loss, targets, outputs, weight, levels, level_count, level_scale))
    return solver->code;
  solver->target = copy (solver, targets, solver->rows * outputs, sizeof *targets);
  if (!solver->target)
    return solver->code;
  if (loss == TREEML_SQUARED)
    centre_targets (solver, outputs);
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

static int check_hazards (treeml_solver *solver, const int64_t *hazard, const int64_t *cost, const uint8_t *died) {
  if (!hazard || !cost || !died)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "hazards, costs and deaths must not be NULL");
  int64_t hazards = 0, costs = 0;
  for (int64_t row = 0; row < solver->rows; row++) {
    if (hazard[row] <= 0 || died[row] > 1 || (!died[row] && cost[row]))
      return solver_fail (solver, TREEML_BAD_ARGUMENT,
                          "row %lld: a hazard must be positive, a death 0 or 1, and only deaths cost", (long long) row);
    const int64_t size = cost[row] < 0 ? cost[row] < -LARGEST_SUM ? LARGEST_SUM + 1 : -cost[row] : cost[row];
    if (hazard[row] > LARGEST_SUM - hazards || size > LARGEST_SUM - costs)
      return solver_fail (solver, TREEML_OVERFLOW, "the sum of the hazards or of their costs is too large");
    hazards += hazard[row];
    costs += size;
  }
  return TREEML_OK;
}

int treeml_hazards (treeml_solver *solver, const int64_t *hazard, const int64_t *cost, const uint8_t *died) {
  if (!solver_has_rows (solver))
    return code_of (solver);
  drop_goal (solver);
  if (check_hazards (solver, hazard, cost, died))
    return solver->code;
  solver->hazard = copy (solver, hazard, solver->rows, sizeof *hazard);
  solver->death_cost = copy (solver, cost, solver->rows, sizeof *cost);
  solver->died = copy (solver, died, solver->rows, sizeof *died);
  if (!solver->hazard || !solver->death_cost || !solver->died)
    return solver->code;
  solver->goal = goal_hazards;
  return settle_unit (solver);
}

int treeml_impurity (treeml_solver *solver, int32_t kind, const int32_t *labels, int32_t classes, const int64_t *weight,
                     double unit) {
  if (!solver_has_rows (solver))
    return code_of (solver);
  drop_goal (solver);
  if (kind < TREEML_CODE_LENGTH || kind > TREEML_GINI || !labels || classes < 1 || classes > most_classes ||
      !(unit > 0) || isinf (unit))
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "an impurity needs a kind, labels, classes and a positive unit");
  for (int64_t row = 0; row < solver->rows; row++)
    if (labels[row] < 0 || labels[row] >= classes)
      return solver_fail (solver, TREEML_BAD_ARGUMENT, "row %lld has the label %d, which is not a class",
                          (long long) row, labels[row]);
  if (check_weights (solver, weight))
    return solver->code;
  if (weight) {
    solver->weight = copy (solver, weight, solver->rows, sizeof *weight);
    if (!solver->weight)
      return solver->code;
  }
  solver->classes = classes;
  if (impurity_make (solver, kind, labels, weight ? unit : 1))
    return solver->code;
  return settle_unit (solver);
}

int treeml_lines (treeml_solver *solver, const double *values, const double *spread, int32_t columns,
                  const double *target, const double *weight, double ridge, int32_t is_simple) {
  if (!solver_has_rows (solver))
    return code_of (solver);
  drop_goal (solver);
  if (!values || !target || !weight || columns < 1 || columns > 1024 || !(ridge >= 0) || isinf (ridge))
    return solver_fail (solver, TREEML_BAD_ARGUMENT,
                        "linear models need 1 to 1024 columns, targets, weights and a ridge that is not negative");
  if (lines_make (solver, values, spread, columns, target, weight, ridge, is_simple != 0))
    return solver->code;
  return settle_unit (solver);
}

int treeml_custom (treeml_solver *solver, treeml_leaf_costs custom, void *state) {
  if (!solver_has_rows (solver))
    return code_of (solver);
  drop_goal (solver);
  if (!custom)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "the function must not be NULL");
  solver->custom = custom;
  solver->custom_state = state;
  solver->goal = goal_custom;
  return settle_unit (solver);
}

int treeml_column_costs (treeml_solver *solver, const int64_t *cost, int32_t columns) {
  if (!solver_has_rows (solver))
    return code_of (solver);
  drop_column_costs (solver);
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
    if (add_overflows (sum, cost[i], &sum) || multiply_overflows (sum, whole, &product) || product > LARGEST_SUM)
      return solver_fail (solver, TREEML_OVERFLOW, "column costs times rows are too large");
  }
  solver->column_cost = copy (solver, cost, columns, sizeof *cost);
  if (!solver->column_cost)
    return solver->code;
  solver->column_count = columns;
  return TREEML_OK;
}

int treeml_column_discounts (treeml_solver *solver, const int32_t *column, const int32_t *before, const int64_t *cost,
                             int32_t discounts) {
  if (!solver_has_rows (solver))
    return code_of (solver);
  if (!solver->column_cost)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "discounts need the costs of columns");
  for (int32_t i = 0; i < discounts; i++) {
    if (column[i] < 0 || column[i] >= solver->column_count || before[i] < 0 || before[i] >= solver->column_count)
      return solver_fail (solver, TREEML_BAD_ARGUMENT, "discount %d names a column without a cost", i);
    if (cost[i] < 0 || cost[i] > solver->column_cost[column[i]])
      return solver_fail (solver, TREEML_BAD_ARGUMENT, "discount %d is not between 0 and the cost of its column", i);
  }
  solver->discounted = copy (solver, column, discounts, sizeof *column);
  solver->discount_after = copy (solver, before, discounts, sizeof *before);
  solver->discount_cost = copy (solver, cost, discounts, sizeof *cost);
  if (!solver->discounted || !solver->discount_after || !solver->discount_cost)
    return solver->code;
  solver->discounts = discounts;
  return TREEML_OK;
}

/* What a row pays for a test of the column, given the columns that were tested above. */
int64_t solver_column_price (const treeml_solver *solver, const int32_t *tested, int32_t column) {
  if (!solver->column_cost || tested[column])
    return 0;
  int64_t price = solver->column_cost[column];
  for (int32_t i = 0; i < solver->discounts; i++)
    if (solver->discounted[i] == column && tested[solver->discount_after[i]] && solver->discount_cost[i] < price)
      price = solver->discount_cost[i];
  return price;
}

int treeml_leaf_limit (treeml_solver *solver, const int64_t *cost, int64_t limit) {
  if (!solver_has_rows (solver))
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
  if (!solver_has_rows (solver))
    return code_of (solver);
  drop (solver, &solver->purity_weight);
  if (!weight)
    return TREEML_OK;
  if (solver->goal != goal_classes)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "purity needs classes");
  if (numerator < 0 || denominator < 1 || numerator > denominator)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "a purity must be between 0 and 1");
  for (int64_t i = 0; i < solver->rows * solver->classes; i++)
    if (weight[i] < 0)
      return solver_fail (solver, TREEML_BAD_ARGUMENT, "row %lld has a negative weight",
                          (long long) (i / solver->classes));
  int64_t sum = 0;
  for (int64_t i = 0; i < solver->rows * solver->classes; i++)
    if (add_overflows (sum, weight[i], &sum) || sum > LARGEST_SUM)
      return solver_fail (solver, TREEML_OVERFLOW, "the sum of the weights is too large");
  solver->purity_weight = copy (solver, weight, solver->rows * solver->classes, sizeof *weight);
  solver->purity_numerator = numerator;
  solver->purity_denominator = denominator;
  return solver->purity_weight ? TREEML_OK : solver->code;
}

int treeml_start (treeml_solver *solver, const int32_t *test, const int32_t *yes, const int32_t *no, int64_t nodes) {
  if (!solver_has_rows (solver))
    return code_of (solver);
  tree_release (&solver->arena, &solver->start);
  if (!test)
    return TREEML_OK;
  if (!yes || !no || nodes < 1 || nodes > INT32_MAX)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "a start tree needs nodes");
  for (int64_t i = 0; i < nodes; i++)
    if (test[i] >= 0 ? test[i] >= solver->tests || yes[i] <= i || no[i] <= i || yes[i] >= nodes || no[i] >= nodes
                     : test[i] != -1)
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
    return solver_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for the start tree");
  if (twice >= 0 || deepest > 100000)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "the start tree is too large or reaches a node twice");
  if (tree_reserve (&solver->arena, &solver->start, nodes))
    return solver_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for the start tree");
  memcpy (solver->start.test, test, (size_t) nodes * sizeof *test);
  memcpy (solver->start.yes, yes, (size_t) nodes * sizeof *yes);
  memcpy (solver->start.no, no, (size_t) nodes * sizeof *no);
  solver->start.nodes = nodes;
  return TREEML_OK;
}
