/* Chooses the multipliers of the bounded sums: those at which the dual bound is greatest, and others around them.

   Any multipliers are right; good ones make the lists short. So they are chosen by the bound for trees of depth two,
   and then, if deeper trees are wanted, by depth three below a few cuts. One sum after the other is varied while the
   others stay, WIDTH values at a time. */
#include "coupled_numeric/solver.h"

#include <math.h>
#include <string.h>

enum { narrow_cuts = 6 }; /* of all rows, for the estimate of deeper trees */

/* Multipliers of the sums 1, 2 ... as multiples of `scale`; `value` is the weight of the value, 0 or 1. */
struct choice {
  double value, sum[most_sums];
};

struct chooser {
  threshold_solver *solver;
  const struct threshold_rows *set;
  double extent[most_sums]; /* how much each sum can vary over all trees */
  double scale[most_sums];
  struct choice best;
  double bound;   /* of `best` */
  double shallow; /* the bound of the best choice for depth two */
};

static void greatest_fees (const threshold_solver *solver, double *fees) {
  int64_t vector[most_sums + 1] = {0};
  vector[0] = solver->fees[0].of_row;
  if (solver->limited_fees)
    vector[solver->limited_fees] = solver->fees[1].of_row;
  threshold_weigh (solver, vector, fees);
}

int threshold_weights (threshold_solver *solver) {
  const int64_t classes = solver->classes, active = solver->active;
  double fees[WIDTH]; /* of a row, at most */
  greatest_fees (solver, fees);
  solver->table.filled = NULL;
  for (int64_t row = 0; row < solver->rows; row++) {
    double *cost = solver->cost + row * classes * WIDTH, *weight = solver->weight + row * solver->pairs * WIDTH;
    for (int i = 0; i < WIDTH; i++) {
      double least = INFINITY, most = -INFINITY;
      for (int64_t k = 0; k < classes; k++) {
        int64_t sum = 0;
        for (int64_t j = 0; j < active; j++)
          sum += solver->coefficient[i][j] * solver->relative[(row * classes + k) * active + j];
        cost[k * WIDTH + i] = (double) sum;
        least = fmin (least, (double) sum);
        most = fmax (most, (double) sum);
      }
      solver->floor[row * WIDTH + i] = least;
      solver->range[row * WIDTH + i] = most - least + (double) (solver->count ? solver->count[row] : 1) * fees[i];
    }
    for (int64_t a = 0; a < classes; a++)
      for (int64_t b = a + 1; b < classes; b++, weight += WIDTH)
        for (int i = 0; i < WIDTH; i++)
          weight[i] = cost[b * WIDTH + i] - cost[a * WIDTH + i];
  }
  for (int i = 0; i < WIDTH; i++)
    solver->price[i] = (double) (solver->coefficient[i][0] * solver->options.leaf_price);
  return !threshold_spent (solver, 20 * solver->rows * classes * active);
}

/* Whole numbers in the proportion of a choice, as exact as about one percent and so small that all sums are exact. */
static void round_choice (const struct chooser *chooser, const struct choice *choice, int64_t *coefficient) {
  const threshold_solver *solver = chooser->solver;
  double real[most_sums] = {choice->value}, least = choice->value ? 1 : INFINITY,
         size = choice->value * chooser->extent[0];
  for (int32_t j = 1; j < solver->active; j++) {
    real[j] = choice->sum[j] * chooser->scale[j];
    if (real[j] != 0)
      least = fmin (least, fabs (real[j]));
    size += fabs (real[j]) * chooser->extent[j];
  }
  double factor = fmin (128 / least, 0x1p49 / fmax (size, 1));
  for (int32_t j = 0; j < solver->active; j++)
    coefficient[j] = (int64_t) rint (real[j] * factor);
}

static void set_choices (struct chooser *chooser, const struct choice *choices) {
  for (int i = 0; i < WIDTH; i++)
    round_choice (chooser, &choices[i], chooser->solver->coefficient[i]);
}

/* Estimates the dual bound of WIDTH choices, all with weight 1 for the value; keeps the best. */
static int estimate (struct chooser *chooser, const struct choice *choices, int deep, double *bound) {
  threshold_solver *solver = chooser->solver;
  double limit[WIDTH];
  set_choices (chooser, choices);
  solver->statistics.evaluations += WIDTH;
  if (!threshold_weights (solver))
    return 0;
  for (int i = 0; i < WIDTH; i++)
    limit[i] = INFINITY;
  if (deep) {
    struct threshold_node node = {0};
    solver->narrow = narrow_cuts;
    const int fine = threshold_node_create (solver, &node, chooser->set, 3, solver->leaves) &&
                     threshold_explore (solver, &node, limit, 1);
    solver->narrow = 0;
    threshold_node_release (solver, &node);
    if (!fine)
      return 0;
  } else {
    struct threshold_least least;
    if (!threshold_least (solver, chooser->set, solver->depth < 2 ? solver->depth : 2, solver->leaves, limit, &least))
      return 0;
    memcpy (limit, least.supported, sizeof limit);
  }
  for (int i = 0; i < WIDTH; i++) {
    double constant = 0;
    const int64_t *coefficient = solver->coefficient[i];
    for (int32_t j = 1; j < solver->active; j++)
      constant += (double) coefficient[j] * (double) (coefficient[j] > 0 ? solver->most[j] : solver->least[j]);
    bound[i] = coefficient[0] > 0 ? (limit[i] - constant) / (double) coefficient[0] : -INFINITY;
    if (bound[i] > chooser->bound) {
      chooser->bound = bound[i];
      chooser->best = choices[i];
    }
  }
  return 1;
}

/* Varies the multiplier of one sum over these values. */
static int vary (struct chooser *chooser, int32_t sum, const double *values, int deep) {
  struct choice choices[WIDTH];
  double bound[WIDTH];
  for (int i = 0; i < WIDTH; i++) {
    choices[i] = chooser->best;
    choices[i].sum[sum] = values[i];
  }
  return estimate (chooser, choices, deep, bound);
}

static int vary_widely (struct chooser *chooser, int32_t sum) {
  static const double wide[WIDTH] = {0, 1.0 / 256, 1.0 / 64, 1.0 / 16, 1.0 / 4, 1, 4, 16};
  double values[WIDTH];
  if (!vary (chooser, sum, wide, 0))
    return 0;
  if (chooser->solver->window[sum - 1] < 0)
    return 1;
  for (int i = 0; i < WIDTH; i++)
    values[i] = -wide[i];
  return vary (chooser, sum, values, 0);
}

/* Narrows the range around the best multiplier, which lies within a factor of `spread`. */
static int vary_nearby (struct chooser *chooser, int32_t sum, double spread, int deep) {
  double values[WIDTH];
  const double best = chooser->best.sum[sum];
  for (int i = 0; i < WIDTH; i++)
    values[i] = best * pow (spread, (2.0 * i - WIDTH) / WIDTH);
  return vary (chooser, sum, values, deep);
}

static int search_choice (struct chooser *chooser) {
  const threshold_solver *solver = chooser->solver;
  const int32_t sums = solver->active - 1, cycles = sums > 1 ? 2 : 1;
  for (int32_t cycle = 0; cycle < cycles; cycle++)
    for (int32_t j = 1; j <= sums; j++) {
      if (cycle == 0 && !vary_widely (chooser, j))
        return 0;
      if (!vary_nearby (chooser, j, 4, 0) || !vary_nearby (chooser, j, 1.5, 0))
        return 0;
    }
  chooser->shallow = chooser->bound;
  if (solver->depth < 3 || solver->leaves < 4)
    return 1;
  /* The estimate for deeper trees is lower. */
  chooser->bound = -INFINITY;
  for (int32_t j = 1; j <= sums; j++)
    if (!vary_nearby (chooser, j, 4, 1))
      return 0;
  return 1;
}

/* Without bounded sums there is nothing to choose. */
static int estimate_value (struct chooser *chooser) {
  struct choice choices[WIDTH];
  double bound[WIDTH];
  for (int i = 0; i < WIDTH; i++)
    choices[i] = (struct choice) {.value = 1};
  const int fine = estimate (chooser, choices, 0, bound);
  chooser->shallow = chooser->bound;
  return fine;
}

/* The best choice, choices around it, and such that consider the value, or one of the sums, alone. */
static void spread_choices (struct chooser *chooser, struct choice *choices) {
  static const double factors[] = {0.75, 1.33, 0.5, 2, 4};
  const threshold_solver *solver = chooser->solver;
  const int32_t sums = solver->active - 1;
  struct choice base = chooser->best;
  int at = 0;
  choices[at++] = base;
  choices[at++] = (struct choice) {.value = 1};
  for (int32_t j = 1; j <= sums; j++)
    for (int direction = 1; direction >= -1 && at < WIDTH - 2; direction -= 2)
      if (direction > 0 || solver->window[j - 1] >= 0) {
        choices[at] = (struct choice) {.value = 0};
        choices[at++].sum[j] = direction;
      }
  for (int32_t j = 1; j <= sums; j++)
    if (base.sum[j] == 0 && sums == 1)
      base.sum[j] = 0.25;
  for (int f = 0; at < WIDTH; f++) {
    const int32_t j = sums ? 1 + f % sums : 1;
    choices[at] = base;
    choices[at++].sum[j] *= factors[sums > 1 ? (f / sums) % 4 : f % 5];
  }
}

/* A whole number between the least and the greatest value of a tree. */
static int64_t likely (const threshold_solver *solver, double bound) {
  const double value = fmax (ceil (bound - 1e-6), (double) solver->least_value);
  return (int64_t) fmin (value, (double) solver->most_value);
}

int threshold_choose (threshold_solver *solver, const struct threshold_rows *set, int64_t start[2]) {
  struct chooser chooser = {.solver = solver, .set = set, .best = {.value = 1}, .bound = -INFINITY};
  struct choice choices[WIDTH];
  for (int32_t j = 0; j < solver->active; j++) {
    double extent = 0;
    for (int64_t row = 0; row < solver->rows; row++) {
      double most = 0;
      for (int64_t k = 0; k < solver->classes; k++)
        most = fmax (most, fabs ((double) solver->relative[(row * solver->classes + k) * solver->active + j]));
      extent += most;
    }
    if (!j)
      extent += (double) solver->options.leaf_price * (double) solver->leaves + (double) solver->fees[0].greatest;
    else if (j == solver->limited_fees)
      extent += (double) solver->fees[1].greatest;
    chooser.extent[j] = fmax (extent, 1);
    chooser.scale[j] = chooser.extent[0] / chooser.extent[j];
    if (j)
      chooser.extent[j] += fabs ((double) solver->least[j]) + fabs ((double) solver->most[j]);
    else
      chooser.extent[j] += fabs ((double) solver->most_value) + fabs ((double) solver->least_value);
  }
  if (solver->active > 1 ? !search_choice (&chooser) : !estimate_value (&chooser))
    return 0;
  spread_choices (&chooser, choices);
  set_choices (&chooser, choices);
  start[0] = likely (solver, chooser.shallow);
  start[1] = likely (solver, chooser.bound);
  return threshold_weights (solver);
}
