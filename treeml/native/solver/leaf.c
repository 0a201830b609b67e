/* The cost of one leaf for any goal, computed from the definition. The general search, start trees and the check of
   every answer share it, so that what is fast elsewhere is compared with what is plain here. */
#include "solver/solver.h"

#include "common/bits.h"
#include "common/wide.h"

#include "solver/hazard.h"
#include "solver/impurity.h"
#include "solver/squared_loss.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct leaf_state {
  treeml_solver *solver;
  int64_t *sums;      /* one for each class */
  int64_t *limited;   /* one for each class */
  int64_t *pure;      /* one for each class */
  int32_t *ascending; /* for each output, the rows sorted by target */
  int64_t *centre;    /* for each output, subtracted before squaring */
  int narrow;         /* do sums of weighted squares fit in 64 bits? */
  int32_t *members;   /* rows of the leaf, for the user's function */
  double *share;      /* one for each class, for impurities */
  int64_t evaluations;
};

static int compare_targets (const void *a_, const void *b_) {
  const int64_t *a = a_, *b = b_;
  return a[0] != b[0] ? (a[0] < b[0] ? -1 : 1) : a[1] < b[1] ? -1 : a[1] > b[1];
}

static int sort_targets (struct leaf_state *state) {
  treeml_solver *solver = state->solver;
  const int64_t rows = solver->rows;
  int64_t *pairs = arena_allocate (&solver->arena, (size_t) rows, 2 * sizeof *pairs);
  state->ascending = arena_allocate (&solver->arena, (size_t) (rows * solver->outputs), sizeof *state->ascending);
  if (!pairs || !state->ascending) {
    arena_release (&solver->arena, pairs);
    return 0;
  }
  for (int32_t output = 0; output < solver->outputs; output++) {
    for (int64_t i = 0; i < rows; i++) {
      pairs[2 * i] = solver->target[i * solver->outputs + output];
      pairs[2 * i + 1] = i;
    }
    qsort (pairs, (size_t) rows, 2 * sizeof *pairs, compare_targets);
    for (int64_t i = 0; i < rows; i++)
      state->ascending[output * rows + i] = (int32_t) pairs[2 * i + 1];
  }
  arena_release (&solver->arena, pairs);
  return 1;
}

static int64_t weight_of (const treeml_solver *solver, int64_t row) { return solver->weight ? solver->weight[row] : 1; }

struct leaf_state *leaf_create (treeml_solver *solver) {
  struct arena *arena = &solver->arena;
  struct leaf_state *state = arena_allocate (arena, 1, sizeof *state);
  if (!state)
    return NULL;
  state->solver = solver;
  int fits = 1;
  if (solver->goal == goal_classes) {
    state->sums = arena_allocate (arena, (size_t) solver->classes, sizeof *state->sums);
    state->limited = arena_allocate (arena, (size_t) solver->classes, sizeof *state->limited);
    state->pure = arena_allocate (arena, (size_t) solver->classes, sizeof *state->pure);
    fits = state->sums && state->limited && state->pure;
  } else if (solver->goal == goal_loss && solver->loss != TREEML_SQUARED)
    fits = sort_targets (state);
  else if (solver->goal == goal_loss) {
    state->centre = arena_allocate (arena, (size_t) solver->outputs, sizeof *state->centre);
    fits = state->centre != NULL;
    double most = 0;
    for (int32_t output = 0; fits && output < solver->outputs; output++) {
      double reach;
      state->centre[output] = centre_of_targets (solver, output, &reach);
      most = reach > most ? reach : most;
    }
    state->narrow = most < 0x1p61;
  } else if (solver->goal == goal_impurity) {
    state->share = arena_allocate (arena, (size_t) solver->classes, sizeof *state->share);
    fits = state->share != NULL;
  } else if (solver->goal == goal_custom) {
    state->members = arena_allocate (arena, (size_t) solver->rows, sizeof *state->members);
    fits = state->members != NULL;
  }
  if (!fits) {
    leaf_destroy (state);
    return NULL;
  }
  return state;
}

void leaf_destroy (struct leaf_state *state) {
  if (!state)
    return;
  struct arena *arena = &state->solver->arena;
  arena_release (arena, state->sums);
  arena_release (arena, state->limited);
  arena_release (arena, state->pure);
  arena_release (arena, state->ascending);
  arena_release (arena, state->centre);
  arena_release (arena, state->members);
  arena_release (arena, state->share);
  arena_release (arena, state);
}

int64_t leaf_evaluations (const struct leaf_state *state) { return state->evaluations; }

#define FOR_ROWS(ROW, ROWS, WORDS) \
  for (int64_t word_ = 0; word_ < (WORDS); word_++) \
    for (uint64_t rest_ = (ROWS)[word_]; rest_; rest_ &= rest_ - 1) \
      for (int64_t ROW = 64 * word_ + lowest_bit (rest_), once_ = 1; once_; once_ = 0)

static int has_support (struct leaf_state *state, const uint64_t *rows) {
  const treeml_solver *solver = state->solver;
  int64_t count = 0;
  if (!solver->count)
    for (int64_t w = 0; w < solver->words; w++)
      count += count_bits (rows[w]);
  else
    FOR_ROWS (row, rows, solver->words) count += solver->count[row];
  return count >= solver->options.support;
}

static void class_costs (const treeml_solver *solver, const uint64_t *rows, int64_t *sums) {
  const int32_t classes = solver->classes;
  memset (sums, 0, (size_t) classes * sizeof *sums);
  if (solver->cost) {
    FOR_ROWS (row, rows, solver->words)
    for (int32_t k = 0; k < classes; k++)
      sums[k] += solver->cost[row * classes + k];
    return;
  }
  int64_t whole = 0;
  FOR_ROWS (row, rows, solver->words) {
    const int64_t weight = weight_of (solver, row);
    sums[solver->label[row]] -= weight;
    whole += weight;
  }
  for (int32_t k = 0; k < classes; k++)
    sums[k] += whole;
}

/* The class that a leaf predicts and its cost: the cheapest class that the constraints allow. */
static int64_t cheapest_class (struct leaf_state *state, const uint64_t *rows, int32_t *label) {
  const treeml_solver *solver = state->solver;
  const int32_t classes = solver->classes;
  *label = 0;
  if (solver->purity_weight) {
    memset (state->pure, 0, (size_t) classes * sizeof *state->pure);
    int64_t whole = 0, heaviest = 0;
    FOR_ROWS (row, rows, solver->words)
    for (int32_t k = 0; k < classes; k++)
      state->pure[k] += solver->purity_weight[row * classes + k];
    for (int32_t k = 0; k < classes; k++) {
      whole += state->pure[k];
      if (state->pure[k] > heaviest)
        heaviest = state->pure[k];
    }
    if ((wide) heaviest * solver->purity_denominator < (wide) whole * solver->purity_numerator)
      return UNREACHABLE;
  }
  if (solver->limited_cost) {
    memset (state->limited, 0, (size_t) classes * sizeof *state->limited);
    FOR_ROWS (row, rows, solver->words)
    for (int32_t k = 0; k < classes; k++)
      state->limited[k] += solver->limited_cost[row * classes + k];
  }
  class_costs (solver, rows, state->sums);
  int64_t best = UNREACHABLE;
  for (int32_t k = 0; k < classes; k++)
    if (state->sums[k] < best && (!solver->limited_cost || state->limited[k] <= solver->leaf_limit)) {
      best = state->sums[k];
      *label = k;
    }
  return best;
}

/* Accurate to a few roundings of the result, for any targets (see solver/squared_loss.h). */
static double squared_loss (struct leaf_state *state, const uint64_t *rows) {
  const treeml_solver *solver = state->solver;
  const int64_t *target = solver->target;
  double loss = 0;
  for (int32_t output = 0; output < solver->outputs; output++) {
    const int64_t centre = state->centre[output];
    if (state->narrow) { /* squares about q are squares - q (sum + r) */
      int64_t weight = 0, sum = 0, squares = 0;
      FOR_ROWS (row, rows, solver->words) {
        const int64_t w = weight_of (solver, row), y = target[row * solver->outputs + output] - centre;
        weight += w;
        sum += w * y;
        squares += w * y * y;
      }
      const struct nearest near = nearest_mean (sum, weight);
      loss += loss_about ((double) ((wide) squares - near.q * (sum + near.r)), &near, weight);
      continue;
    }
    wide weight = 0, sum = 0;
    FOR_ROWS (row, rows, solver->words) {
      weight += weight_of (solver, row);
      sum += (wide) weight_of (solver, row) * (target[row * solver->outputs + output] - centre);
    }
    const struct nearest near = nearest_mean (sum, weight);
    struct total squares = {0, 0};
    FOR_ROWS (row, rows, solver->words)
    total_add (&squares,
               weighted_square (weight_of (solver, row), target[row * solver->outputs + output] - centre - near.q));
    loss += loss_about (squares.sum + squares.lost, &near, weight);
  }
  return loss;
}

static int is_in (const uint64_t *rows, int64_t row) { return rows[row >> 6] >> (row & 63) & 1; }

/* The first target at which the cumulative weight reaches level / scale of the total. */
static int64_t quantile (const treeml_solver *solver, const int32_t *ascending, const uint64_t *rows, int32_t output,
                         int64_t level, int64_t scale) {
  wide whole = 0, below = 0;
  for (int64_t i = 0; i < solver->rows; i++)
    if (is_in (rows, ascending[i]))
      whole += weight_of (solver, ascending[i]);
  for (int64_t i = 0; i < solver->rows; i++)
    if (is_in (rows, ascending[i])) {
      below += weight_of (solver, ascending[i]);
      if (below * scale >= whole * level)
        return solver->target[ascending[i] * (int64_t) solver->outputs + output];
    }
  return 0;
}

/* The pinball loss times `scale`, summed over the outputs, in exact integers. */
static int64_t pinball_loss (struct leaf_state *state, const uint64_t *rows, int64_t level, int64_t scale) {
  const treeml_solver *solver = state->solver;
  int64_t loss = 0;
  for (int32_t output = 0; output < solver->outputs; output++) {
    const int32_t *ascending = state->ascending + output * solver->rows;
    const int64_t middle = quantile (solver, ascending, rows, output, level, scale);
    for (int64_t i = 0; i < solver->rows; i++)
      if (is_in (rows, ascending[i])) {
        const int64_t distance = solver->target[ascending[i] * (int64_t) solver->outputs + output] - middle;
        const int64_t weight = weight_of (solver, ascending[i]);
        loss += weight * (distance >= 0 ? level * distance : (scale - level) * -distance);
      }
  }
  return loss;
}

/* The pinball loss where the integers would need more than 64 bits: exact except for the final rounding. */
static double wide_pinball_loss (struct leaf_state *state, const uint64_t *rows, int64_t level, int64_t scale) {
  const treeml_solver *solver = state->solver;
  double loss = 0;
  for (int32_t output = 0; output < solver->outputs; output++) {
    const int32_t *ascending = state->ascending + output * solver->rows;
    const int64_t middle = quantile (solver, ascending, rows, output, level, scale);
    wide above = 0, below = 0;
    for (int64_t i = 0; i < solver->rows; i++)
      if (is_in (rows, ascending[i])) {
        const int64_t distance = solver->target[ascending[i] * (int64_t) solver->outputs + output] - middle;
        *(distance >= 0 ? &above : &below) += (wide) weight_of (solver, ascending[i]) * distance;
      }
    loss += (double) above * (double) level - (double) below * (double) (scale - level);
  }
  return loss;
}

int64_t leaf_rounded (const treeml_solver *solver, double loss) {
  const double units = loss * solver->unit, most = (double) ((int64_t) 1 << (UNIT_BITS + 2));
  return (int64_t) llrint (units < most ? units : most);
}

static int64_t pinball_units (struct leaf_state *state, const uint64_t *rows, int64_t level, int64_t scale,
                              double divisor) {
  if (!state->solver->rounds)
    return pinball_loss (state, rows, level, scale);
  return leaf_rounded (state->solver, wide_pinball_loss (state, rows, level, scale) / divisor);
}

static double loss_of_hazards (const struct leaf_state *state, const uint64_t *rows) {
  struct hazard_sums sums = {0, 0, 0, 0};
  FOR_ROWS (row, rows, state->solver->words) {
    const struct hazard_sums here = hazard_of_row (state->solver, row);
    hazard_add (&sums, &here);
  }
  return hazard_loss (&sums);
}

/* Calls the user's function for one set of rows; the general search calls it for many sets at once. */
static int64_t custom_cost (struct leaf_state *state, const uint64_t *rows) {
  treeml_solver *solver = state->solver;
  int64_t starts[2] = {0, 0};
  double cost = 0;
  FOR_ROWS (row, rows, solver->words) state->members[starts[1]++] = (int32_t) row;
  solver->statistics.batches++;
  if (solver->custom (solver->custom_state, 1, starts, state->members, &cost)) {
    solver_fail (solver, TREEML_CALLBACK_FAILED, "the leaf cost function failed");
    solver_stop (solver, TREEML_INTERRUPTED);
    return UNREACHABLE;
  }
  return leaf_fixed (solver, cost);
}

int64_t leaf_fixed (treeml_solver *solver, double cost) {
  const double scaled = cost * solver->unit;
  if (!(fabs (scaled) < (double) (INT64_MAX / 64))) {
    if (cost > 0 && isinf (cost))
      return UNREACHABLE;
    solver_fail (solver, TREEML_CALLBACK_FAILED, "the leaf cost function returned a value that is not a usable number");
    solver_stop (solver, TREEML_INTERRUPTED);
    return UNREACHABLE;
  }
  return (int64_t) llrint (scaled);
}

void leaf_costs (struct leaf_state *state, const uint64_t *rows, int64_t *costs) {
  treeml_solver *solver = state->solver;
  state->evaluations++;
  int32_t label;
  if (!has_support (state, rows)) {
    for (int32_t level = 0; level < solver->levels; level++)
      costs[level] = UNREACHABLE;
    return;
  }
  if (solver->goal == goal_classes)
    costs[0] = cheapest_class (state, rows, &label);
  else if (solver->goal == goal_custom)
    costs[0] = custom_cost (state, rows);
  else if (solver->goal == goal_hazards)
    costs[0] = leaf_rounded (solver, loss_of_hazards (state, rows));
  else if (solver->goal == goal_impurity)
    costs[0] = leaf_rounded (solver, impurity_cost (solver, rows, state->share, NULL));
  else if (solver->loss == TREEML_SQUARED)
    costs[0] = leaf_rounded (solver, squared_loss (state, rows));
  else if (solver->loss == TREEML_ABSOLUTE)
    costs[0] = pinball_units (state, rows, 1, 2, 1);
  else
    for (int32_t level = 0; level < solver->levels; level++)
      costs[level] =
          pinball_units (state, rows, solver->level[level], solver->level_scale, (double) solver->level_scale);
  for (int32_t level = 0; level < solver->levels; level++)
    if (costs[level] < UNREACHABLE)
      costs[level] += solver->options.leaf_price;
}

int32_t leaf_label (struct leaf_state *state, const uint64_t *rows, int32_t level) {
  int32_t label = -1;
  (void) level;
  if (state->solver->goal == goal_classes)
    cheapest_class (state, rows, &label);
  return label;
}

int64_t leaf_floor (struct leaf_state *state, const uint64_t *rows) {
  const treeml_solver *solver = state->solver;
  if (!impurity_has_floor (solver))
    return 0;
  double least;
  impurity_cost (solver, rows, state->share, &least);
  /* Every leaf may be rounded down by half a unit, and there are no more leaves than rows. */
  const int64_t floor = leaf_rounded (solver, least) - solver->rows;
  return floor > 0 ? floor : 0;
}

/* Chooses the unit, a power of two so that whole numbers stay whole: the cost of all rows, and the amounts that the
   caller adds to it, become about 2^50. */
int leaf_choose_unit (struct leaf_state *state, const uint64_t *rows) {
  treeml_solver *solver = state->solver;
  const int loss = solver->goal == goal_loss, quantile = loss && solver->loss == TREEML_QUANTILE;
  const int logarithms = solver->goal == goal_hazards || solver->goal == goal_impurity;
  if (solver->goal == goal_custom || logarithms || (loss && solver->loss == TREEML_SQUARED))
    solver->rounds = 1;
  solver->unit = quantile ? (double) solver->level_scale : 1;
  if (!solver->rounds)
    return TREEML_OK;
  double whole = 0;
  if (solver->goal == goal_custom) {
    int64_t starts[2] = {0, 0};
    FOR_ROWS (row, rows, solver->words) state->members[starts[1]++] = (int32_t) row;
    solver->statistics.batches++;
    if (solver->custom (solver->custom_state, 1, starts, state->members, &whole))
      return solver_fail (solver, TREEML_CALLBACK_FAILED, "the leaf cost function failed");
    if (isnan (whole))
      return solver_fail (solver, TREEML_CALLBACK_FAILED, "the leaf cost function returned NaN");
    if (isinf (whole))
      whole = 1;
  } else if (solver->goal == goal_hazards)
    whole = loss_of_hazards (state, rows);
  else if (solver->goal == goal_impurity)
    whole = impurity_cost (solver, rows, state->share, NULL);
  else if (solver->loss == TREEML_SQUARED)
    whole = squared_loss (state, rows);
  else if (solver->loss == TREEML_ABSOLUTE)
    whole = wide_pinball_loss (state, rows, 1, 2);
  else
    for (int32_t level = 0; level < solver->levels; level++)
      whole = fmax (whole, wide_pinball_loss (state, rows, solver->level[level], solver->level_scale) /
                               (double) solver->level_scale);
  int exponent = 0;
  whole = fmax (fmin (fabs (whole), solver->enough_loss), solver->beside);
  frexp (whole > 0 ? whole : 1, &exponent);
  const int bits = (solver->goal == goal_custom || logarithms ? 40 : UNIT_BITS) - exponent;
  solver->unit = ldexp (1, bits < DBL_MAX_EXP ? bits : DBL_MAX_EXP - 1); /* beyond, the unit would be infinite */
  return TREEML_OK;
}
