/* Labels, costs or targets -> planes of values.

   Costs become gains: a row of worth w costs at most w more than its cheapest class, and predicting class k gains
   value[k] of that. The cost of a leaf is its worth minus the largest sum of gains, so two classes need only one
   signed plane. */
#include "numeric/solver.h"
#include "common/bits.h"
#include "common/rounding.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
  most_classes = 1 << 24,
  most_labels = 10000 /* most classes that a narrow cell can distinguish */
};

static void release_goal (treeml_numeric *solver) {
  for (int32_t k = 0; k < solver->value_planes; k++)
    arena_release (&solver->arena, solver->value[k]);
  arena_release (&solver->arena, solver->value);
  for (int32_t o = 0; solver->targets && o < solver->outputs; o++)
    arena_release (&solver->arena, solver->targets[o].target);
  arena_release (&solver->arena, solver->targets);
  solver->value = NULL;
  solver->targets = NULL;
  solver->outputs = 0;
  solver->value_planes = solver->planes = solver->classes = 0;
  solver->goal = numeric_goal_none;
}

void numeric_release_data (treeml_numeric *solver) {
  numeric_release_columns (solver);
  release_goal (solver);
  arena_release (&solver->arena, solver->count);
  solver->count = NULL;
  solver->has_zero = 0;
  solver->rows = 0;
}

/* Allocates the planes from `first` on; the earlier ones are made from the labels when needed. */
static int begin_goal (treeml_numeric *solver, int32_t planes, int32_t first) {
  if (!solver->rows)
    return numeric_fail (solver, TREEML_NO_DATA, "the columns must be set before the goal");
  release_goal (solver);
  solver->value = arena_allocate (&solver->arena, (size_t) planes, sizeof *solver->value);
  if (!solver->value)
    return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for costs");
  solver->value_planes = planes;
  for (int32_t k = first; k < planes; k++) {
    solver->value[k] = arena_allocate (&solver->arena, (size_t) solver->rows, sizeof **solver->value);
    if (!solver->value[k]) {
      release_goal (solver);
      return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for costs");
    }
  }
  solver->base = 0;
  solver->unit = 1;
  solver->shift = 0;
  solver->error = 0;
  solver->square_sum = 0;
  return TREEML_OK;
}

/* Sums of worths must leave room for prices and differences. */
static int end_goal (treeml_numeric *solver) {
  const int64_t *worth = solver->value[solver->planes];
  solver->worth_sum = solver->worth_most = 0;
  solver->unit_worth = solver->pure = 1;
  for (int64_t i = 0; i < solver->rows; i++) {
    if (add_overflows (solver->worth_sum, worth[i], &solver->worth_sum) || solver->worth_sum > INT64_MAX / 8) {
      release_goal (solver);
      return numeric_fail (solver, TREEML_OVERFLOW, "the weights or costs of the rows add up to more than 2^60");
    }
    solver->worth_most = worth[i] > solver->worth_most ? worth[i] : solver->worth_most;
    solver->unit_worth &= worth[i] == 1;
    int64_t gains = 0, most = 0;
    for (int32_t k = 0; solver->goal == numeric_goal_many && k < solver->planes; k++) {
      gains |= solver->value[k][i] != worth[i] && solver->value[k][i];
      most += solver->value[k][i] == worth[i];
    }
    solver->pure &= !gains && (most == 1 || !worth[i]);
    for (int32_t k = 0; solver->goal == numeric_goal_many && k < solver->planes; k++)
      if (solver->value[k][i])
        solver->value[solver->planes + 1][i] = k;
  }
  solver->labelled =
      solver->goal == numeric_goal_many && solver->pure && solver->unit_worth && solver->planes < most_labels;
  return TREEML_OK;
}

int treeml_numeric_labels (treeml_numeric *solver, const int32_t *labels, int32_t classes, const int64_t *weight) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (!labels || classes < 1)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "labels need at least one class and must not be NULL");
  if (classes > most_classes)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "%d classes are too many", classes);
  for (int64_t i = 0; i < solver->rows; i++) {
    if (labels[i] < 0 || labels[i] >= classes)
      return numeric_fail (solver, TREEML_BAD_ARGUMENT, "the label of row %lld is not between 0 and %d", (long long) i,
                           classes - 1);
    if (weight && weight[i] < 0)
      return numeric_fail (solver, TREEML_BAD_ARGUMENT, "the weight of row %lld is negative", (long long) i);
  }
  const int32_t planes = classes == 2 ? 1 : classes;
  const int labelled = classes != 2 && !weight && planes < most_labels;
  const int code = begin_goal (solver, planes + 2, labelled ? planes : 0);
  if (code)
    return code;
  for (int64_t i = 0; i < solver->rows; i++) {
    const int64_t own = weight ? weight[i] : 1;
    if (classes == 2)
      solver->value[0][i] = labels[i] ? own : -own;
    else if (!labelled)
      solver->value[labels[i]][i] = own;
    solver->value[planes][i] = own;
    solver->value[planes + 1][i] = labels[i];
  }
  solver->goal = classes == 2 ? numeric_goal_two : numeric_goal_many;
  solver->classes = classes;
  solver->planes = planes;
  if (weight)
    return end_goal (solver);
  solver->worth_sum = solver->rows;
  solver->worth_most = solver->unit_worth = solver->pure = 1;
  solver->labelled = labelled;
  return TREEML_OK;
}

int treeml_numeric_costs (treeml_numeric *solver, const int64_t *cost, int32_t classes) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (!cost || classes < 1)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "costs need at least one class and must not be NULL");
  if (classes > most_classes)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "%d classes are too many", classes);
  const int32_t planes = classes == 2 ? 1 : classes;
  const int code = begin_goal (solver, planes + 2, 0);
  if (code)
    return code;
  for (int64_t i = 0; i < solver->rows; i++) {
    const int64_t *own = cost + i * classes;
    int64_t low = own[0], high = own[0], worth;
    for (int32_t k = 1; k < classes; k++) {
      low = own[k] < low ? own[k] : low;
      high = own[k] > high ? own[k] : high;
    }
    if (subtract_overflows (high, low, &worth) || add_overflows (solver->base, low, &solver->base) ||
        solver->base > INT64_MAX / 4 || solver->base < -(INT64_MAX / 4)) {
      release_goal (solver);
      return numeric_fail (solver, TREEML_OVERFLOW, "the costs of the rows add up to more than 2^61");
    }
    if (classes == 2)
      solver->value[0][i] = own[0] > own[1] ? worth : -worth;
    else
      for (int32_t k = 0; k < classes; k++)
        solver->value[k][i] = high - own[k];
    solver->value[planes][i] = worth;
  }
  solver->goal = classes == 2 ? numeric_goal_two : numeric_goal_many;
  solver->classes = classes;
  solver->planes = planes;
  return end_goal (solver);
}

int treeml_numeric_round (treeml_numeric *solver, double amount) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (!(amount >= 0 && amount < 0x1p960))
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "an amount added to the costs must be finite and not negative");
  solver->amount = amount;
  return TREEML_OK;
}

/* Rounds whole numbers to the nearest multiple of 2^shift. */
static int64_t shifted (wide number, int shift) {
  if (!shift)
    return (int64_t) number;
  const wide half = (wide) 1 << (shift - 1), size = number < 0 ? -number : number;
  const int64_t moved = (int64_t) ((size + half) >> shift);
  return number < 0 ? -moved : moved;
}

/* Chooses the centre of each output, about the prediction of a single leaf, and how many low bits of weight times
   target are dropped so that sums fit in 64 bits. Returns 0 if the targets are too far apart. */
static int centre_targets (treeml_numeric *solver, const int64_t *targets, int32_t outputs, int64_t *middle,
                           double *single) {
  const int64_t rows = solver->rows, *weight = solver->value[0];
  wide whole = 0;
  for (int64_t i = 0; i < rows; i++)
    whole += weight[i];
  for (int32_t o = 0; o < outputs; o++) {
    wide sum = 0, absolute = 0;
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (int64_t i = 0; i < rows; i++) {
      const int64_t own = targets[i * outputs + o];
      sum += (wide) own * weight[i];
      low = own < low ? own : low;
      high = own > high ? own : high;
    }
    const double range = (double) high - (double) low;
    if (!(range < 0x1p60))
      return 0;
    middle[o] = whole > 0 ? (int64_t) (sum / whole) : 0;
    for (int64_t i = 0; i < rows; i++) {
      const wide away = (wide) targets[i * outputs + o] - middle[o], product = away * weight[i];
      absolute += product < 0 ? -product : product;
      *single += (double) product * (double) away;
    }
    while (absolute >> solver->shift >= (wide) 1 << 60)
      solver->shift++;
  }
  return 1;
}

/* The unit: a power of two that makes the loss of a single leaf, and the amounts added to it, about 2^50, or less if
   the worths of many rows must add up. */
static double choose_unit (const treeml_numeric *solver, double single) {
  int exponent = 0, bits = 50;
  while (ldexp ((double) solver->rows, bits) > 0x1p58)
    bits--;
  const double most = single > solver->amount ? single : solver->amount;
  frexp (most > 0 ? most : 1, &exponent);
  bits -= exponent;
  return ldexp (1, bits < DBL_MAX_EXP ? bits : DBL_MAX_EXP - 1); /* beyond, the unit would be infinite */
}

static int check_target_weights (treeml_numeric *solver, const int64_t *weight) {
  int64_t whole = 0;
  for (int64_t i = 0; weight && i < solver->rows; i++) {
    if (weight[i] < 0)
      return numeric_fail (solver, TREEML_BAD_ARGUMENT, "the weight of row %lld is negative", (long long) i);
    if (add_overflows (whole, weight[i], &whole) || whole > INT64_MAX / 8)
      return numeric_fail (solver, TREEML_OVERFLOW, "the weights of the rows add up to more than 2^60");
  }
  return TREEML_OK;
}

/* Fills the plane of one output, and adds to the squares and squared ranges of the rows. Returns the distance of the
   target that is farthest from the middle. */
static double add_output (treeml_numeric *solver, const int64_t *targets, int32_t outputs, int32_t output,
                          int64_t middle, double *square, double *range) {
  int64_t low = INT64_MAX, high = INT64_MIN;
  double far = 0;
  for (int64_t i = 0; i < solver->rows; i++) {
    const int64_t own = targets[i * outputs + output];
    low = own < low ? own : low;
    high = own > high ? own : high;
  }
  for (int64_t i = 0; i < solver->rows; i++) {
    const int64_t target = targets[i * outputs + output], own = target - middle;
    const double heavy = (double) solver->value[0][i], away = (double) own;
    const double below = (double) target - (double) low, above = (double) high - (double) target;
    solver->value[output + 1][i] = shifted ((wide) own * solver->value[0][i], solver->shift);
    square[i] += ldexp (heavy * away * away, -2 * solver->shift);
    range[i] += heavy * (below > above ? below * below : above * above);
    far = away > far ? away : -away > far ? -away : far;
  }
  return far;
}

/* Targets are shifted by their rounded mean, so that squares stay small. A row is worth at most its weight times the
   square of the range.

   Sums of weights and of weighted targets are whole numbers. Squares are multiples of a grain that keeps their sums
   exact. So a leaf is off only by the rounding of its quotient and by the low bits that were dropped: if these add
   up to d, and no target is farther than M from the centre, they change it by at most 2 M d + d^2. */
int treeml_numeric_targets (treeml_numeric *solver, const int64_t *targets, int32_t outputs, const int64_t *weight) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (!targets || outputs < 1 || outputs > 1000)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "targets need 1 to 1,000 outputs and must not be NULL");
  if (check_target_weights (solver, weight))
    return solver->code;
  const int32_t planes = outputs + 1;
  const int code = begin_goal (solver, planes + 2, 0);
  if (code)
    return code;
  const int64_t rows = solver->rows;
  double *square = (double *) solver->value[planes + 1], single = 0;
  double *range = arena_allocate (&solver->arena, (size_t) rows, sizeof *range);
  int64_t *middle = arena_allocate (&solver->arena, (size_t) outputs, sizeof *middle);
  for (int64_t i = 0; i < rows; i++)
    solver->value[0][i] = weight ? weight[i] : 1;
  if (!range || !middle || !centre_targets (solver, targets, outputs, middle, &single)) {
    const int failed = range && middle;
    arena_release (&solver->arena, range);
    arena_release (&solver->arena, middle);
    release_goal (solver);
    return failed ? numeric_fail (solver, TREEML_OVERFLOW, "targets are farther apart than 2^60")
                  : numeric_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for targets");
  }
  double far = 0, squares = 0, carry = 0;
  for (int32_t o = 0; o < outputs; o++) {
    const double farthest = add_output (solver, targets, outputs, o, middle[o], square, range);
    far = farthest > far ? farthest : far;
  }
  arena_release (&solver->arena, middle);
  for (int64_t i = 0; i < rows; i++)
    squares += square[i];
  const double grain = grain_of (squares), unit = choose_unit (solver, single),
               left = solver->shift ? 0.5 * (double) rows : 0;
  solver->unit = ldexp (unit, 2 * solver->shift);
  for (int64_t i = 0; i < rows; i++) {
    const double worth = range[i] * (1 + 0x1p-40) * unit + 2;
    solver->value[planes][i] = (int64_t) (worth < ldexp (single, 1) * unit + 2 ? worth : ldexp (single, 1) * unit + 2);
    square[i] = round_to_grain (square[i], grain, &carry);
    solver->square_sum += square[i];
  }
  far = ldexp (far, -solver->shift);
  solver->error = (16 + outputs) * 0x1p-53 * squares + 2 * grain + outputs * (2 * far * left + left * left);
  arena_release (&solver->arena, range);
  solver->goal = numeric_goal_squared;
  solver->classes = 0;
  solver->planes = planes;
  const int ended = end_goal (solver);
  solver->unit_worth = 0;
  return ended;
}

static int check_quantile (treeml_numeric *solver, const int32_t *place, const int64_t *target, const int32_t *places,
                           int32_t outputs, int64_t up, int64_t down) {
  if (!place || !target || !places || outputs < 1 || outputs > 1000 || up < 0 || down < 0 || up > INT64_MAX / 16 - down)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT,
                         "a quantile loss needs places, targets, and costs per unit that are not negative");
  for (int32_t o = 0; o < outputs; o++, place += solver->rows) {
    if (places[o] < 1)
      return numeric_fail (solver, TREEML_BAD_ARGUMENT, "output %d of a quantile loss has no targets", o);
    for (int32_t i = 1; i < places[o]; i++)
      if (target[i - 1] >= target[i])
        return numeric_fail (solver, TREEML_BAD_ARGUMENT,
                             "the targets of a quantile loss must be distinct and ascending");
    for (int64_t i = 0; i < solver->rows; i++)
      if (place[i] < 0 || place[i] >= places[o])
        return numeric_fail (solver, TREEML_BAD_ARGUMENT, "the place of row %lld is not between 0 and %d",
                             (long long) i, places[o] - 1);
    target += places[o];
  }
  return TREEML_OK;
}

static int copy_targets (treeml_numeric *solver, const int64_t *target, const int32_t *places, int32_t outputs) {
  struct arena *arena = &solver->arena;
  if (!(solver->targets = arena_allocate (arena, (size_t) outputs, sizeof *solver->targets)))
    return 0;
  solver->outputs = outputs;
  for (int32_t o = 0; o < outputs; o++) {
    struct numeric_targets *own = &solver->targets[o];
    if (!(own->target = arena_allocate (arena, (size_t) places[o] + 2, sizeof *target)))
      return 0;
    own->places = places[o];
    memcpy (own->target + 1, target, (size_t) places[o] * sizeof *target);
    target += places[o];
  }
  return 1;
}

/* The moments and places of the rows, and what an output adds to their worths: at most the weight times the cost of the
   farthest target. Returns 0 if sums would overflow. */
static int fill_output (treeml_numeric *solver, const int32_t *place, int32_t output) {
  const int32_t planes = solver->outputs + 1;
  const int64_t *target = solver->targets[output].target + 1;
  const int64_t low = target[0], high = target[solver->targets[output].places - 1];
  const wide steps = (wide) solver->up + solver->down, limit = ((wide) 1 << 60) / solver->outputs;
  const wide range = (wide) high - low, size = high > -(wide) low ? high : -(wide) low;
  const wide far = range > size ? range : size;
  wide all = 0;
  for (int64_t i = 0; i < solver->rows; i++) {
    const int64_t weight = solver->value[0][i], own = target[place[i]];
    const wide above = (wide) solver->up * (own - low), below = (wide) solver->down * (high - own);
    all += weight;
    if (far >= limit || steps * all >= limit || (far + 1) * all >= limit || (far + 1) * all * steps >= limit)
      return 0;
    solver->value[output + 1][i] = weight * own;
    solver->value[planes][i] += weight * (int64_t) (above > below ? above : below);
    solver->value[planes + 1 + output][i] = place[i];
  }
  return 1;
}

int treeml_numeric_quantile (treeml_numeric *solver, const int32_t *place, const int64_t *target, const int32_t *places,
                             int32_t outputs, const int64_t *weight, int64_t up, int64_t down) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (check_quantile (solver, place, target, places, outputs, up, down) || check_target_weights (solver, weight))
    return solver->code;
  const int code = begin_goal (solver, 2 * outputs + 2, 0);
  if (code)
    return code;
  if (!copy_targets (solver, target, places, outputs)) {
    release_goal (solver);
    return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for targets");
  }
  solver->up = up;
  solver->down = down;
  solver->weighted = 0;
  for (int64_t i = 0; i < solver->rows; i++) {
    solver->value[0][i] = weight ? weight[i] : 1;
    solver->weighted |= solver->value[0][i] != 1;
  }
  for (int32_t o = 0; o < outputs; o++)
    if (!fill_output (solver, place + o * solver->rows, o)) {
      release_goal (solver);
      return numeric_fail (solver, TREEML_OVERFLOW, "the weighted distances between targets exceed 2^60");
    }
  solver->goal = numeric_goal_quantile;
  solver->planes = outputs + 1;
  const int ended = end_goal (solver);
  solver->unit_worth = 0;
  return ended;
}
