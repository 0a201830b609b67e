/* Leaves with linear models: the cost of a leaf as a cost function like those of users, in C.

   A leaf costs the least sum of weighted squares plus ridge * weight of the leaf * the sum of its squared slopes; the
   intercept is free. Without a ridge the residual comes from a QR decomposition with pivots (Businger and Golub 1965),
   with the same tolerance for dependent columns as LAPACK's least squares; with one, from Cholesky's. A simple model
   has a slope for one column only, the one with which it costs least. Numbers are centered before anything rounds
   them, so that those far from 0 keep the digits in which they differ. */
#include "solver/lines.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct lines {
  int64_t rows;
  int32_t columns;
  double *values; /* rows x columns */
  double *spread; /* of each column: the unit of its values once they are centered */
  double *target, *weight;
  double ridge;
  int is_simple;
  double *left;  /* the columns of a leaf, one after the other, centered and times the root of the weights */
  double *right; /* its targets, likewise */
  double *share; /* its weights */
  double *square, *slope, *norm;
};

void lines_release (treeml_solver *solver) {
  struct arena *arena = &solver->arena;
  struct lines *lines = solver->lines;
  if (!lines)
    return;
  arena_release (arena, lines->values);
  arena_release (arena, lines->spread);
  arena_release (arena, lines->target);
  arena_release (arena, lines->weight);
  arena_release (arena, lines->left);
  arena_release (arena, lines->right);
  arena_release (arena, lines->share);
  arena_release (arena, lines->square);
  arena_release (arena, lines->slope);
  arena_release (arena, lines->norm);
  arena_release (arena, lines);
  solver->lines = NULL;
}

/* Centers numbers, and multiplies them by the roots of the weights. The mean is rounded like the largest of them, so
   what is left of it is subtracted, too. Where nothing varies, all are 0 exactly. */
static void center_numbers (double *numbers, const double *weight, int64_t count, double total, double spread) {
  double mean = 0, left = 0, known = 0;
  int any = 0, varies = 0;
  for (int64_t i = 0; i < count; i++) {
    mean += weight[i] * numbers[i];
    if (weight[i] > 0) {
      varies |= any && numbers[i] != known;
      known = numbers[i];
      any = 1;
    }
  }
  mean /= total;
  for (int64_t i = 0; i < count; i++) {
    numbers[i] -= mean;
    left += weight[i] * numbers[i];
  }
  left /= total;
  for (int64_t i = 0; i < count; i++)
    numbers[i] = varies ? sqrt (weight[i]) * ((numbers[i] - left) / spread) : 0;
}

static double weight_of (const struct lines *lines, const int32_t *rows, int64_t count) {
  double total = 0;
  for (int64_t i = 0; i < count; i++)
    total += lines->weight[rows[i]];
  return total;
}

/* Fills `left` and `right` with rows of this weight. */
static void center (struct lines *lines, const int32_t *rows, int64_t count, double total) {
  const int32_t columns = lines->columns;
  for (int64_t i = 0; i < count; i++) {
    lines->share[i] = lines->weight[rows[i]];
    lines->right[i] = lines->target[rows[i]];
    for (int32_t j = 0; j < columns; j++)
      lines->left[j * count + i] = lines->values[rows[i] * (int64_t) columns + j];
  }
  center_numbers (lines->right, lines->share, count, total, 1);
  for (int32_t j = 0; j < columns; j++)
    center_numbers (lines->left + j * count, lines->share, count, total, lines->spread[j]);
}

static double product (const double *a, const double *b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; i++)
    sum += a[i] * b[i];
  return sum;
}

/* The squares that are left with the slopes that a ridge of this price allows, plus its price. */
static double ridge_loss (struct lines *lines, int64_t count, double price) {
  const int32_t columns = lines->columns;
  double *square = lines->square, *slope = lines->slope;
  for (int32_t i = 0; i < columns; i++) { /* Cholesky's factor, row by row, and the first substitution */
    for (int32_t j = 0; j <= i; j++) {
      double sum = product (lines->left + i * count, lines->left + j * count, count) + (i == j ? price : 0);
      for (int32_t k = 0; k < j; k++)
        sum -= square[i * columns + k] * square[j * columns + k];
      square[i * columns + j] = i == j ? sqrt (sum > 0 ? sum : DBL_MIN) : sum / square[j * columns + j];
    }
    slope[i] = product (lines->left + i * count, lines->right, count);
    for (int32_t k = 0; k < i; k++)
      slope[i] -= square[i * columns + k] * slope[k];
    slope[i] /= square[i * columns + i];
  }
  for (int32_t i = columns - 1; i >= 0; i--) {
    for (int32_t k = i + 1; k < columns; k++)
      slope[i] -= square[k * columns + i] * slope[k];
    slope[i] /= square[i * columns + i];
  }
  double loss = price * product (slope, slope, columns);
  for (int64_t i = 0; i < count; i++) {
    double rest = lines->right[i];
    for (int32_t j = 0; j < columns; j++)
      rest -= lines->left[j * count + i] * slope[j];
    loss += rest * rest;
  }
  return loss;
}

/* Reflects `vector` at the plane that `mirror` is orthogonal to; `length` is the square of the mirror's. */
static void reflect (double *vector, const double *mirror, double length, int64_t count) {
  const double twice = 2 * product (vector, mirror, count) / length;
  for (int64_t i = 0; i < count; i++)
    vector[i] -= twice * mirror[i];
}

/* The squares that are left with the best slopes. */
static double plain_loss (struct lines *lines, int64_t count) {
  const int32_t columns = lines->columns;
  double first = 0;
  int64_t rank = 0;
  for (; rank < columns && rank < count; rank++) {
    int32_t longest = (int32_t) rank;
    for (int32_t j = (int32_t) rank; j < columns; j++) {
      const double *column = lines->left + j * count + rank;
      lines->norm[j] = product (column, column, count - rank);
      if (lines->norm[j] > lines->norm[longest])
        longest = j;
    }
    const double length = sqrt (lines->norm[longest]);
    if (!rank)
      first = length;
    if (length <= first * DBL_EPSILON * (double) (count > columns ? count : columns))
      break;
    double *mirror = lines->left + rank * count;
    if (longest != rank)
      for (int64_t i = 0; i < count; i++) {
        const double kept = mirror[i];
        mirror[i] = lines->left[longest * count + i];
        lines->left[longest * count + i] = kept;
      }
    mirror += rank;
    mirror[0] += mirror[0] < 0 ? -length : length;
    const double squared = product (mirror, mirror, count - rank);
    for (int64_t j = rank + 1; j < columns; j++)
      reflect (lines->left + j * count + rank, mirror, squared, count - rank);
    reflect (lines->right + rank, mirror, squared, count - rank);
  }
  return product (lines->right + rank, lines->right + rank, count - rank);
}

/* The same with the slope of one column: that which explains most. */
static double simple_loss (struct lines *lines, int64_t count, double price) {
  double slope = 0, most = 0;
  const double *chosen = NULL;
  for (int32_t j = 0; j < lines->columns; j++) {
    const double *column = lines->left + j * count;
    const double squares = product (column, column, count), both = product (column, lines->right, count);
    if (squares <= 0 || both * both <= most * (squares + price))
      continue;
    most = both * both / (squares + price);
    slope = both / (squares + price);
    chosen = column;
  }
  double loss = price * slope * slope;
  for (int64_t i = 0; i < count; i++) {
    const double rest = lines->right[i] - (chosen ? slope * chosen[i] : 0);
    loss += rest * rest;
  }
  return loss;
}

static int line_costs (void *state, int64_t sets, const int64_t *starts, const int32_t *rows, double *costs) {
  struct lines *lines = state;
  for (int64_t set = 0; set < sets; set++) {
    const int64_t count = starts[set + 1] - starts[set];
    const double total = weight_of (lines, rows + starts[set], count), price = lines->ridge * total;
    costs[set] = 0; /* of rows that weigh nothing */
    if (total <= 0)
      continue;
    center (lines, rows + starts[set], count, total);
    if (lines->is_simple)
      costs[set] = simple_loss (lines, count, price);
    else
      costs[set] = price > 0 ? ridge_loss (lines, count, price) : plain_loss (lines, count);
  }
  return 0;
}

int64_t lines_work (const treeml_solver *solver) {
  const struct lines *lines = solver->lines;
  if (!lines)
    return 1;
  const int64_t columns = 1 + (int64_t) lines->columns;
  return lines->is_simple ? columns : columns * columns;
}

static double *copy_numbers (treeml_solver *solver, const double *from, int64_t count) {
  double *to = arena_allocate (&solver->arena, (size_t) count, sizeof *to);
  if (to && from)
    memcpy (to, from, (size_t) count * sizeof *to);
  return to;
}

int lines_make (treeml_solver *solver, const double *values, const double *spread, int32_t columns,
                const double *target, const double *weight, double ridge, int is_simple) {
  const int64_t rows = solver->rows, cells = rows * columns;
  for (int64_t i = 0; i < cells; i++)
    if (!isfinite (values[i]))
      return solver_fail (solver, TREEML_BAD_ARGUMENT, "the columns of linear models must be finite numbers");
  for (int64_t row = 0; row < rows; row++)
    if (!isfinite (target[row]) || !isfinite (weight[row]) || weight[row] < 0)
      return solver_fail (solver, TREEML_BAD_ARGUMENT, "targets must be finite, and weights also not negative");
  for (int32_t j = 0; spread && j < columns; j++)
    if (!(spread[j] > 0) || !isfinite (spread[j]))
      return solver_fail (solver, TREEML_BAD_ARGUMENT, "the spread of a column must be a number above 0");
  struct lines *lines = solver->lines = arena_allocate (&solver->arena, 1, sizeof *lines);
  if (lines) {
    *lines = (struct lines) {.rows = rows, .columns = columns, .ridge = ridge, .is_simple = is_simple};
    lines->values = copy_numbers (solver, values, cells);
    lines->spread = copy_numbers (solver, spread, columns);
    lines->target = copy_numbers (solver, target, rows);
    lines->weight = copy_numbers (solver, weight, rows);
    lines->left = copy_numbers (solver, NULL, cells);
    lines->right = copy_numbers (solver, NULL, rows);
    lines->share = copy_numbers (solver, NULL, rows);
    lines->square = copy_numbers (solver, NULL, (int64_t) columns * columns);
    lines->slope = copy_numbers (solver, NULL, columns);
    lines->norm = copy_numbers (solver, NULL, columns);
  }
  if (!lines || !lines->values || !lines->spread || !lines->target || !lines->weight || !lines->left || !lines->right ||
      !lines->share || !lines->square || !lines->slope || !lines->norm) {
    lines_release (solver);
    return solver_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for linear models");
  }
  for (int32_t j = 0; !spread && j < columns; j++)
    lines->spread[j] = 1;
  solver->custom = line_costs;
  solver->custom_state = lines;
  solver->goal = goal_custom;
  return TREEML_OK;
}
