/* The best bound that multipliers of the requirements give. At multipliers lambda every tree within the limits costs
   at least the least score minus the weighted limits; this bound is concave in lambda. Kelley's cutting planes maximize
   it: every least tree is a plane, and a small linear program over the planes gives the next lambda. The program is
   solved in floating point, which only chooses lambda; bounds are computed in whole numbers. */
#include "coupled/search.h"

#include <math.h>
#include <string.h>

enum { most_cuts = 96, most_rows = 2 * vector_most_sums };

struct planes {
  int count, rows;
  int requirement[most_rows], direction[most_rows]; /* +1 upper limit, -1 lower limit */
  int64_t vector[most_cuts][1 + vector_most_sums];
  double cost[most_cuts], excess[most_cuts][most_rows];
};

/* One small linear program: convex weights of the planes of least cost whose average excess is at most 0 in every row;
   an excess above 0 costs `penalty`. */
struct linear_program {
  int rows, columns; /* without the right-hand side */
  int basis[most_rows + 1];
  double cell[most_rows + 2][most_cuts + 2 * most_rows + 1]; /* the last row has the reduced costs */
};

static void program_start (struct linear_program *program, const struct planes *planes, double penalty) {
  const int rows = planes->rows, count = planes->count, columns = count + 2 * rows;
  program->rows = rows + 1;
  program->columns = columns;
  for (int row = 0; row <= rows + 1; row++)
    memset (program->cell[row], 0, ((size_t) columns + 1) * sizeof **program->cell);
  double *goal = program->cell[rows + 1];
  for (int i = 0; i < count; i++) {
    program->cell[0][i] = 1;
    goal[i] = planes->cost[i] - planes->cost[0];
  }
  program->cell[0][columns] = 1;
  goal[columns] = -planes->cost[0];
  program->basis[0] = 0;
  for (int r = 0; r < rows; r++) {
    double *line = program->cell[1 + r];
    const double first = planes->excess[0][r], sign = first > 0 ? -1 : 1;
    for (int i = 0; i < count; i++)
      line[i] = sign * (planes->excess[i][r] - first);
    line[count + r] = sign;
    line[count + rows + r] = -sign;
    line[columns] = -sign * first;
    program->basis[1 + r] = first > 0 ? count + rows + r : count + r;
    goal[count + rows + r] += penalty;
    if (first > 0)
      for (int i = 0; i <= columns; i++)
        goal[i] -= penalty * line[i];
  }
}

static void pivot (struct linear_program *program, int row, int column) {
  const double scale = 1 / program->cell[row][column];
  for (int i = 0; i <= program->columns; i++)
    program->cell[row][i] *= scale;
  for (int other = 0; other <= program->rows; other++) {
    const double factor = program->cell[other][column];
    if (other == row || factor == 0)
      continue;
    for (int i = 0; i <= program->columns; i++)
      program->cell[other][i] -= factor * program->cell[row][i];
    program->cell[other][column] = 0;
  }
  program->basis[row] = column;
}

static void program_solve (struct linear_program *program) {
  const double *goal = program->cell[program->rows];
  for (int step = 0; step < 500; step++) {
    int enter = -1;
    for (int i = 0; i < program->columns; i++)
      if (goal[i] < -1e-11 && (enter < 0 || (step < 200 && goal[i] < goal[enter])))
        enter = i;
    if (enter < 0)
      return;
    int leave = -1;
    double least = INFINITY;
    for (int r = 0; r < program->rows; r++) {
      if (program->cell[r][enter] <= 1e-11)
        continue;
      const double ratio = program->cell[r][program->columns] / program->cell[r][enter];
      if (ratio < least - 1e-13 || (ratio < least + 1e-13 && leave >= 0 && program->basis[r] < program->basis[leave])) {
        least = ratio;
        leave = r;
      }
    }
    if (leave < 0)
      return;
    pivot (program, leave, enter);
  }
}

/* The next lambda in units of the largest numbers, and the value of the program. Returns whether an excess is left. */
static int next_lambda (const struct planes *planes, double penalty, struct linear_program *program, double *lambda,
                        double *value) {
  program_start (program, planes, penalty);
  program_solve (program);
  const double *goal = program->cell[program->rows];
  memset (lambda, 0, vector_most_sums * sizeof *lambda);
  for (int r = 0; r < planes->rows; r++) {
    const double price = goal[planes->count + r];
    lambda[planes->requirement[r]] += planes->direction[r] * (price > 0 ? price : 0);
  }
  *value = -goal[program->columns];
  int left = 0;
  for (int r = 0; r < program->rows; r++)
    left |= program->basis[r] >= planes->count + planes->rows && program->cell[r][program->columns] > 1e-9;
  return left;
}

/* Multipliers. */

static int64_t at_least_one (int64_t number) { return number > 1 ? number : 1; }

void multiplier_of (const struct search *search, const double *lambda, int pure, struct multiplier *multiplier) {
  const double cost = (double) at_least_one (search->largest);
  double size = pure ? 0 : cost;
  for (int r = 0; r < search->requirements; r++)
    size += fabs (lambda[r]) * cost;
  /* Scores are at most `size` times the scale, and a power of two is an exact weight. */
  double scale = 1, shrink = 1;
  const double room = (double) (search->merged->narrow ? LARGEST_NARROW_SCORE : LARGEST_SCORE) / 2;
  while (scale * size * 2 < room && (scale < 0x1p10 || scale * size < 0x1p48))
    scale *= 2;
  if (scale * size > room && size > cost) {
    shrink = (room - (pure ? 0 : cost)) / (size - (pure ? 0 : cost));
    shrink = shrink < 0 ? 0 : shrink;
  }
  *multiplier = (struct multiplier) {0};
  multiplier->weights[0] = multiplier->by_sum[0] = pure ? 0 : (int64_t) scale;
  multiplier->price = multiplier->weights[0] * search->price;
  multiplier->fee[0] = multiplier->weights[0];
  for (int r = 0; r < search->requirements; r++) {
    const struct requirement *requirement = &search->requirement[r];
    const double wanted = lambda[r] * shrink * scale * cost / (double) at_least_one (requirement->largest);
    int64_t weight = (int64_t) wanted; /* towards 0, so that scores stay small enough */
    if (weight < 0 && !requirement->two_sided)
      weight = 0;
    multiplier->weights[1 + r] = weight;
    multiplier->limit += weight * (weight < 0 ? requirement->low : requirement->high);
    if (requirement->sum > 0)
      multiplier->by_sum[requirement->sum] += requirement->sign * weight;
    else if (requirement->sum == sum_of_leaves)
      multiplier->price += weight;
    else
      multiplier->fee[1] = weight;
  }
}

/* The loop. */

static void planes_start (const struct search *search, struct planes *planes) {
  planes->count = planes->rows = 0;
  for (int r = 0; r < search->requirements; r++)
    for (int direction = 1; direction >= (search->requirement[r].two_sided ? -1 : 1); direction -= 2) {
      planes->requirement[planes->rows] = r;
      planes->direction[planes->rows++] = direction;
    }
}

/* Returns 0 if the plane is known already or there is no room. */
static int planes_add (const struct search *search, struct planes *planes, const int64_t *vector) {
  const size_t bytes = (1 + (size_t) search->requirements) * sizeof *vector;
  for (int i = 0; i < planes->count; i++)
    if (!memcmp (planes->vector[i], vector, bytes))
      return 0;
  if (planes->count == most_cuts)
    return 0;
  memcpy (planes->vector[planes->count], vector, bytes);
  planes->cost[planes->count] = (double) vector[0] / (double) at_least_one (search->largest);
  for (int row = 0; row < planes->rows; row++) {
    const struct requirement *requirement = &search->requirement[planes->requirement[row]];
    const int64_t sum = vector[1 + planes->requirement[row]];
    const double excess =
        planes->direction[row] > 0 ? (double) (sum - requirement->high) : (double) (requirement->low - sum);
    planes->excess[planes->count][row] = excess / (double) at_least_one (requirement->largest);
  }
  planes->count++;
  return 1;
}

static int64_t divide_up (int64_t number, int64_t by) { return number / by + (number % by > 0); }

/* Evaluates multiplier 1, offers its tree and raises the bound. Returns 0 if the search must stop. */
static int evaluate (struct search *search, const struct place *root, int64_t *vector, double *score) {
  int64_t bounds[most_multipliers];
  const struct multiplier *multiplier = &search->multiplier[1];
  search->statistics.evaluations++;
  bounds_clear (search, 2);
  if (!bounds_at (search, root, 2, bounds))
    return 0;
  const int64_t rest = bounds[1] - multiplier->limit;
  if (bounds[1] >= IMPOSSIBLE || (!multiplier->weights[0] && rest > 0)) {
    search->bound = INT64_MAX; /* no tree at all is within the limits */
    return 1;
  }
  if (multiplier->weights[0]) {
    const int64_t bound = divide_up (rest, multiplier->weights[0]);
    if (bound > search->bound)
      search->bound = bound;
    *score = (double) rest / (double) multiplier->weights[0] / (double) at_least_one (search->largest);
  } else
    *score = -INFINITY;
  struct tree tree = {0};
  struct box box;
  memset (vector, 0, (1 + vector_most_sums) * sizeof *vector);
  search->leaves.count = 0;
  memset (search->leaves.fees, 0, sizeof search->leaves.fees);
  const int64_t node = bounds_tree (search, root, 1, &tree, vector);
  box_of_limits (search, search->upper, &box);
  if (node >= 0 && (box_holds (search, &box, vector) || (search->coupled->options.early && repair (search, &tree))))
    search_offer (search, &tree);
  tree_release (&search->coupled->arena, &tree);
  return node >= 0 && !search_poll (search, 0);
}

int dual_run (struct search *search, const struct place *root) {
  struct planes *planes = arena_reserve (&search->coupled->arena, 1, sizeof *planes);
  struct linear_program *program = arena_reserve (&search->coupled->arena, 1, sizeof *program);
  int done = planes && program;
  if (!done)
    search_out_of_memory (search);
  double lambda[vector_most_sums] = {0}, best = -INFINITY, penalty = 2;
  int pure = 0;
  search->multipliers = 2;
  bounds_make_slots (search, 2);
  if (done)
    planes_start (search, planes);
  while (done) {
    int64_t vector[1 + vector_most_sums];
    double score = -INFINITY, value;
    multiplier_of (search, lambda, pure, &search->multiplier[1]);
    if (!(done = evaluate (search, root, vector, &score)) || search->bound > search->upper)
      break;
    if (score > best) {
      best = score;
      bounds_exchange (search, 0, 1);
      search->multiplier[0] = search->multiplier[1];
      memcpy (search->lambda, lambda, sizeof lambda);
    }
    const int fresh = planes_add (search, planes, vector);
    if (!fresh && pure)
      break;
    int left = next_lambda (planes, penalty, program, lambda, &value);
    if (!fresh && left) { /* the penalty is too small, or no mixture of trees is within the limits */
      penalty *= 64;
      pure = penalty > 1e6;
      if (penalty > 1e9)
        break;
      left = next_lambda (planes, penalty, program, lambda, &value);
    } else if (!fresh || planes->count == most_cuts)
      break;
    const double whole = value * (double) at_least_one (search->largest);
    if (!left && (value <= best + 1e-9 || ceil (whole - 1e-6) <= (double) search->bound))
      break;
    if (!left)
      pure = 0;
    if (pure) {
      double largest = 0;
      for (int r = 0; r < search->requirements; r++)
        largest = fmax (largest, fabs (lambda[r]));
      for (int r = 0; r < search->requirements; r++)
        lambda[r] /= largest > 0 ? largest : 1;
    }
  }
  arena_release (&search->coupled->arena, planes);
  arena_release (&search->coupled->arena, program);
  return done;
}
