/* The model for squared loss: the loss of every cell follows from its sums of weights and of weighted targets. */
#include "pair/packed_moments.h"

#include <math.h>
#include <string.h>

static int sums_make (struct worker *worker, struct cell_sums *sums, int with_pairs) {
  struct arena *arena = &worker->solver->arena;
  const struct shape *shape = &worker->rows->shape;
  const size_t channels = (size_t) worker->rows->channels, stride = (size_t) shape->stride;
  sums->channels = worker->rows->channels;
  if (with_pairs)
    sums->real = arena_allocate (arena, channels * (size_t) shape->padded * stride + 64, sizeof *sums->real);
  sums->real_test = arena_allocate (arena, (channels + 1) * stride + 64, sizeof *sums->real_test);
  sums->real_total = arena_allocate (arena, channels, sizeof *sums->real_total);
  if (worker->rows->packed && with_pairs) {
    const size_t matrices = worker->rows->joined ? 1 : 2;
    sums->whole = arena_allocate (arena, matrices * (size_t) shape->padded * stride + 64, sizeof *sums->whole);
    sums->whole_test = arena_allocate (arena, 2 * stride + 64, sizeof *sums->whole_test);
    sums->whole_total = arena_allocate (arena, 2, sizeof *sums->whole_total);
    if (!sums->whole || !sums->whole_test || !sums->whole_total)
      return 0;
  }
  return (sums->real || !with_pairs) && sums->real_test && sums->real_total;
}

static void sums_release (struct worker *worker, struct cell_sums *sums) {
  arena_release (&worker->solver->arena, sums->real);
  arena_release (&worker->solver->arena, sums->real_test);
  arena_release (&worker->solver->arena, sums->real_total);
  arena_release (&worker->solver->arena, sums->whole);
  arena_release (&worker->solver->arena, sums->whole_test);
  arena_release (&worker->solver->arena, sums->whole_total);
}

static int subproblem_make (struct worker *worker, struct subproblem *problem) {
  return sums_make (worker, &problem->sums, !problem->spare);
}

static void subproblem_release (struct worker *worker, struct subproblem *problem) {
  sums_release (worker, &problem->sums);
}

static int worker_make (struct worker *worker) {
  struct arena *arena = &worker->solver->arena;
  const size_t tests = (size_t) worker->rows->shape.stride + 64;
  int fits = sums_make (worker, &worker->small_sums, 1);
  /* A pass needs no worths, and needs the count only if support is bounded. */
  worker->small_sums.channels = worker->rows->outputs + 1 + (worker->solver->options.support > 1);
  worker->workspace = arena_reserve (arena, 64 * tests * (size_t) worker->rows->channels, sizeof (double));
  fits = fits && worker->workspace && packed_make (worker);
  for (int side = 0; side < 2; side++) {
    worker->answer.real_leaf[side] = arena_allocate (arena, tests, sizeof (double));
    worker->answer.real_best[side] = arena_allocate (arena, tests, sizeof (double));
    worker->answer.float_leaf[side] = arena_allocate (arena, tests, sizeof (float));
    worker->answer.float_best[side] = arena_allocate (arena, tests, sizeof (float));
    fits = fits && worker->answer.real_leaf[side] && worker->answer.real_best[side] &&
           worker->answer.float_leaf[side] && worker->answer.float_best[side];
  }
  return fits;
}

static void worker_release (struct worker *worker) {
  sums_release (worker, &worker->small_sums);
  packed_release (worker);
  arena_release (&worker->solver->arena, worker->workspace);
  for (int side = 0; side < 2; side++) {
    arena_release (&worker->solver->arena, worker->answer.real_leaf[side]);
    arena_release (&worker->solver->arena, worker->answer.real_best[side]);
    arena_release (&worker->solver->arena, worker->answer.float_leaf[side]);
    arena_release (&worker->solver->arena, worker->answer.float_best[side]);
  }
}

double squares_of (const struct worker *worker, const int32_t *ids, int32_t count) {
  /* Several sums at once, since each waits for its last addition; squares are multiples of a grain, so that no order
     of them rounds. */
  const double *square = worker->rows->square;
  double sum[4] = {0};
  int32_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (int k = 0; k < 4; k++)
      sum[k] += square[ids[i + k]];
  for (; i < count; i++)
    sum[0] += square[ids[i]];
  return sum[0] + sum[1] + sum[2] + sum[3];
}

static void measure (struct worker *worker, struct subproblem *problem) {
  const struct rows *rows = worker->rows;
  double *total = problem->sums.real_total;
  memset (total, 0, (size_t) rows->channels * sizeof *total);
  for (int32_t i = 0; i < problem->start[1]; i++)
    for (int32_t channel = 0; channel < rows->channels; channel++)
      total[channel] += rows->moment[(int64_t) problem->ids[i] * rows->channels + channel];
  problem->squares = squares_of (worker, problem->ids, problem->start[1]);
}

/* Negative if there are too few rows. */
double leaf_gain (const struct worker *worker, const double *total) {
  const int32_t outputs = worker->rows->outputs;
  if (worker->solver->options.support > 1 && total[1 + outputs] < (double) worker->solver->options.support)
    return -1;
  double gain = 0;
  for (int32_t output = 1; output <= outputs && total[0] > 0.5; output++)
    gain += total[output] * total[output] / total[0];
  return gain;
}

int64_t value_of_gain (const struct worker *worker, double squares, double gain, int64_t leaves) {
  if (gain < 0)
    return UNREACHABLE;
  const double left = squares - gain;
  return (left > 0 ? (int64_t) llrint (left * worker->solver->unit) : 0) + leaves * worker->shared->price;
}

static int64_t leaf (const struct worker *worker, const struct subproblem *problem) {
  return value_of_gain (worker, problem->squares, leaf_gain (worker, problem->sums.real_total), 1);
}

/* Returns 0 if the search was stopped in between; the sums are then incomplete. */
static int add_rows (struct worker *worker, const int32_t *ids, int32_t count, struct cell_sums *sums) {
  enum { piece = 64 };
  const struct rows *rows = worker->rows;
  const int32_t tests = rows->shape.tests;
  const int64_t matrix = (int64_t) rows->shape.padded * rows->shape.stride;
  const int64_t wide = 4000000 / ((int64_t) rows->shape.stride * sums->channels), lines = wide < 16 ? 16 : wide;
  for (int32_t channel = 0; channel < sums->channels; channel++) {
    memset (sums->real + channel * matrix, 0, (size_t) matrix * sizeof *sums->real);
    worker->work += matrix;
    if (poll_search (worker))
      return 0;
  }
  memset (sums->real_total, 0, (size_t) sums->channels * sizeof *sums->real_total);
  for (int32_t first = 0; first < count; first += piece) {
    const int32_t here = count - first < piece ? count - first : piece;
    for (int64_t from = 0; from < tests; from += lines) {
      const int64_t to = smaller (from + lines, tests);
      worker->cells->add_moments (&rows->shape, rows->row_bits, rows->row_bytes, ids + first, here, rows->moment,
                                  rows->channels, sums, worker->workspace, (int32_t) from, (int32_t) to);
      worker->work += (to - from) * rows->shape.stride * (here + 16) / 16;
      if (poll_search (worker))
        return 0;
    }
  }
  for (int32_t channel = 0; channel < sums->channels; channel++) {
    worker->cells->mirror_moments (&rows->shape, sums, channel);
    worker->work += matrix * 2;
    if (poll_search (worker))
      return 0;
  }
  return 1;
}

/* The squares of the rows that pass each test, behind the channels. */
static double *test_squares (const struct worker *worker, const struct subproblem *problem) {
  return problem->sums.real_test + (int64_t) worker->rows->channels * worker->rows->shape.stride;
}

static void add_tests (struct worker *worker, const struct subproblem *problem, const double *numbers,
                       int64_t number_stride, double *to) {
  const struct rows *rows = worker->rows;
  memset (to, 0, (size_t) rows->shape.stride * sizeof *to);
  worker->cells->add_tests (&rows->shape, rows->row_bits, rows->row_bytes, problem->ids, problem->start[1], numbers,
                            number_stride, to);
}

static void sums (struct worker *worker, struct subproblem *problem) {
  const struct rows *rows = worker->rows;
  for (int32_t channel = 0; channel < rows->channels; channel++)
    add_tests (worker, problem, rows->moment + channel, rows->channels,
               problem->sums.real_test + (int64_t) channel * rows->shape.stride);
  add_tests (worker, problem, rows->square, 1, test_squares (worker, problem));
}

int64_t value_of_sides (const struct worker *worker, const double *leaf, const double *best, double squares) {
  int64_t leaves = 0;
  const double price = price_in_squares (worker);
  const double yes = side_gain (price, leaf[1], best[1], &leaves), no = side_gain (price, leaf[0], best[0], &leaves);
  return yes < 0 || no < 0 ? UNREACHABLE : value_of_gain (worker, squares, yes + no, leaves);
}

static int64_t root_value (const struct worker *worker, const struct cell_answer *answer, double squares,
                           int32_t test) {
  const double leaf[2] = {answer->real_leaf[0][test], answer->real_leaf[1][test]};
  const double best[2] = {answer->real_best[0][test], answer->real_best[1][test]};
  return value_of_sides (worker, leaf, best, squares);
}

int ask_moments (struct worker *worker, const struct cell_sums *all, const struct cell_sums *without, int screens) {
  const struct shape *shape = &worker->rows->shape;
  const int64_t support = worker->solver->options.support;
  const int64_t wide = 2000000 / ((int64_t) shape->stride * worker->rows->outputs) / 16 * 16,
                piece = wide < 16 ? 16 : wide;
  struct cell_question question = {
      worker->rows->outputs, support > INT32_MAX ? INT32_MAX : (int32_t) support, 0, 0, worker->rows->shift,
      worker->rows->joined};
  for (; question.to < shape->tests; question.from = question.to) {
    question.to = (int32_t) smaller (question.from + piece, shape->tests);
    (screens ? worker->cells->screen_moments : worker->cells->moments) (shape, &question, all, without,
                                                                        &worker->answer);
    worker->work += (int64_t) (question.to - question.from) * shape->stride * worker->rows->outputs * 2;
    if (poll_search (worker))
      return 0;
  }
  return 1;
}

static double test_count (const struct worker *worker, const struct subproblem *problem, int32_t test) {
  return problem->sums.real_test[(1 + (int64_t) worker->rows->outputs) * worker->rows->shape.stride + test];
}

static int idle (const struct worker *worker, const struct subproblem *problem, int32_t test) {
  const double sum = test_count (worker, problem, test);
  return sum < 0.5 || sum > problem->sums.real_total[1 + worker->rows->outputs] - 0.5;
}

/* The sums of the worths over pairs, of packed rows. A sub-problem whose splits are not searched does not need them. */
static int add_worths (struct worker *worker, struct subproblem *problem) {
  const struct rows *rows = worker->rows;
  struct cell_sums *sums = &problem->sums, *worths = &worker->small_sums;
  const int64_t stride = rows->shape.stride, matrix = (int64_t) rows->shape.padded * stride;
  if (!add_packed_rows (worker, problem->ids, problem->start[1], 1, worths))
    return 0;
  for (int64_t i = 0; i < matrix; i++)
    sums->real[3 * matrix + i] = worths->whole[i] * rows->worth_grain;
  for (int64_t i = 0; i < stride; i++)
    sums->real_test[3 * stride + i] = worths->whole_test[stride + i] * rows->worth_grain;
  problem->has_worths = 1;
  return 1;
}

/* The sums of an opened problem. If the rows are packed, the counts are the weights. Threads that search the splits of
   one problem together find its worths complete. */
static int add_problem_rows (struct worker *worker, struct subproblem *problem) {
  const struct rows *rows = worker->rows;
  struct cell_sums *sums = &problem->sums;
  const int64_t stride = rows->shape.stride, matrix = (int64_t) rows->shape.padded * stride;
  problem->has_worths = !rows->packed;
  if (!rows->packed)
    return add_rows (worker, problem->ids, problem->start[1], sums);
  packed_open (worker, problem);
  if (!add_packed_rows (worker, problem->ids, problem->start[1], 0, sums) ||
      (worker->shared->pool && !add_worths (worker, problem)))
    return 0;
  for (int64_t i = 0; i < matrix; i++) {
    sums->real[i] = rows->joined ? sums->whole[i] & ((1 << rows->shift) - 1) : sums->whole[i];
    sums->real[matrix + i] = rows->joined ? sums->whole[i] >> rows->shift : sums->whole[matrix + i];
  }
  for (int64_t i = 0; i < stride; i++) {
    sums->real_test[i] = sums->real_test[2 * stride + i] = sums->whole_test[i];
    sums->real_test[stride + i] = sums->whole_test[stride + i];
  }
  return 1;
}

static int pairs (struct worker *worker, struct subproblem *problem) {
  if (!add_problem_rows (worker, problem))
    return 0;
  if (!ask_moments (worker, &problem->sums, NULL, 0))
    return 0;
  add_tests (worker, problem, worker->rows->square, 1, test_squares (worker, problem));
  for (int32_t test = 0; test < worker->rows->shape.tests; test++)
    problem->root_value[test] = root_value (worker, &worker->answer, problem->squares, test);
  return 1;
}

static int64_t side_leaf (const struct worker *worker, const struct subproblem *problem, int32_t test, int yes) {
  const struct rows *rows = worker->rows;
  double total[1024 + 3];
  for (int32_t channel = 0; channel < rows->channels; channel++) {
    const double mine = problem->sums.real_test[(int64_t) channel * rows->shape.stride + test];
    total[channel] = yes ? mine : problem->sums.real_total[channel] - mine;
  }
  const double mine = test_squares (worker, problem)[test], squares = yes ? mine : problem->squares - mine;
  return value_of_gain (worker, squares, leaf_gain (worker, total), 1);
}

static int larger_side (const struct worker *worker, const struct subproblem *problem, int32_t test) {
  return 2 * test_count (worker, problem, test) >= problem->sums.real_total[1 + worker->rows->outputs];
}

/* The counterpart of information for numbers: the loss that remains after a stump. */
static double information (const struct worker *worker, const struct subproblem *problem, int32_t test) {
  return (double) plus (side_leaf (worker, problem, test, 0), side_leaf (worker, problem, test, 1));
}

static int64_t best_value (struct worker *worker, const struct cell_sums *all, const struct cell_sums *without,
                           double squares) {
  double total[1024 + 3];
  total[1 + worker->rows->outputs] = 1;
  for (int32_t channel = 0; channel < worker->small_sums.channels; channel++)
    total[channel] = all->real_total[channel] - (without ? without->real_total[channel] : 0);
  int64_t best = value_of_gain (worker, squares, leaf_gain (worker, total), 1);
  if (!ask_moments (worker, all, without, 0))
    return UNREACHABLE;
  for (int32_t test = 0; test < worker->rows->shape.tests; test++)
    best = smaller (best, root_value (worker, &worker->answer, squares, test));
  return best;
}

static enum passed pass (struct worker *worker, struct subproblem *problem, int32_t test, int small_is_yes,
                         int64_t upper, int64_t *yes, int64_t *no) {
  const int32_t count = worker->small_start[1];
  (void) upper;
  if (worker->rows->packed)
    return pass_packed (worker, problem, test, small_is_yes, yes, no);
  if (!add_rows (worker, worker->small_ids, count, &worker->small_sums))
    return pass_stopped;
  const double squares = squares_of (worker, worker->small_ids, count);
  *(small_is_yes ? yes : no) = best_value (worker, &worker->small_sums, NULL, squares);
  *(small_is_yes ? no : yes) = best_value (worker, &problem->sums, &worker->small_sums, problem->squares - squares);
  return solver_stopping (worker->solver) ? pass_stopped : pass_exact;
}

static void similar (struct worker *worker, struct subproblem *problem, int32_t test, int64_t yes, int64_t no) {
  const struct shape *shape = &worker->rows->shape;
  const int64_t channel = 2 + worker->rows->outputs;
  if (!problem->has_worths && !add_worths (worker, problem))
    return;
  worker->cells->similar_real (shape->tests, problem->sums.real + (channel * shape->padded + test) * shape->stride,
                               problem->sums.real_test + channel * shape->stride, problem->sums.real_total[channel],
                               test, worker->solver->unit, yes, no, problem->low_yes, problem->low_no);
}

const struct model moment_model = {
    subproblem_make, subproblem_release, worker_make, worker_release, measure, leaf, sums, pairs,       idle,
    side_leaf,       information,        side_rows,   pass,           NULL,    NULL, NULL, larger_side, similar,
    packed_stump,    packed_side};
