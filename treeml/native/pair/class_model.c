/* The model for any number of classes, with costs and a bound on support: one sum per class, and the best class of
   every cell. */
#include "pair/search.h"
#include "common/sizes.h"

#include <math.h>
#include <string.h>

static int supported (const struct worker *worker) { return worker->solver->options.support > 1; }

static int32_t worth_channel (const struct worker *worker) { return worker->rows->channels - 1; }

static int sums_make (struct worker *worker, struct cell_sums *sums, int with_pairs) {
  struct arena *arena = &worker->solver->arena;
  const struct shape *shape = &worker->rows->shape;
  const size_t channels = (size_t) worker->rows->channels, stride = (size_t) shape->stride;
  sums->channels = worker->rows->channels;
  if (with_pairs)
    sums->whole =
        arena_allocate (arena, times (channels, times ((size_t) shape->padded, stride)) + 64, sizeof *sums->whole);
  sums->whole_test = arena_allocate (arena, times (channels, stride) + 64, sizeof *sums->whole_test);
  sums->whole_total = arena_allocate (arena, channels, sizeof *sums->whole_total);
  return (sums->whole || !with_pairs) && sums->whole_test && sums->whole_total;
}

static void sums_release (struct worker *worker, struct cell_sums *sums) {
  arena_release (&worker->solver->arena, sums->whole);
  arena_release (&worker->solver->arena, sums->whole_test);
  arena_release (&worker->solver->arena, sums->whole_total);
}

static int subproblem_make (struct worker *worker, struct subproblem *problem) {
  const int slice = slice_allocate (worker, &problem->slice);
  return sums_make (worker, &problem->sums, !problem->spare) && slice;
}

static void subproblem_release (struct worker *worker, struct subproblem *problem) {
  slice_release (worker, &problem->slice);
  sums_release (worker, &problem->sums);
}

static int worker_make (struct worker *worker) {
  struct arena *arena = &worker->solver->arena;
  const struct shape *shape = &worker->rows->shape;
  int fits = slice_allocate (worker, &worker->small);
  fits = sums_make (worker, &worker->small_sums, 1) && fits;
  worker->workspace =
      arena_allocate (arena, times ((size_t) shape->padded + 4, (size_t) shape->stride), sizeof (int32_t));
  for (int side = 0; side < 2; side++) {
    struct cell_answer *answer = &worker->answer;
    answer->whole_leaf[side] = arena_allocate (arena, (size_t) shape->stride + 64, sizeof (int32_t));
    answer->whole_best[side] = arena_allocate (arena, (size_t) shape->stride + 64, sizeof (int32_t));
    fits = fits && answer->whole_leaf[side] && answer->whole_best[side];
  }
  return fits && worker->workspace;
}

static void worker_release (struct worker *worker) {
  slice_release (worker, &worker->small);
  sums_release (worker, &worker->small_sums);
  arena_release (&worker->solver->arena, worker->workspace);
  for (int side = 0; side < 2; side++) {
    arena_release (&worker->solver->arena, worker->answer.whole_leaf[side]);
    arena_release (&worker->solver->arena, worker->answer.whole_best[side]);
  }
}

static void count_totals (const struct worker *worker, const int32_t *start, int64_t *total) {
  const struct rows *rows = worker->rows;
  for (int32_t channel = 0; channel < rows->channels; channel++) {
    total[channel] = 0;
    for (int32_t plane = 0; plane < rows->planes; plane++) {
      const int32_t list = channel * rows->planes + plane;
      total[channel] += (int64_t) (start[list + 1] - start[list]) << (rows->planes - 1 - plane);
    }
  }
}

static void measure (struct worker *worker, struct subproblem *problem) {
  count_totals (worker, problem->start, problem->sums.whole_total);
}

/* What predicting the best class saves; negative if there are too few rows. */
static int64_t leaf_gain (const struct worker *worker, const int64_t *total) {
  const int32_t classes = worker->solver->classes;
  if (supported (worker) && total[classes] < worker->solver->options.support)
    return INVALID;
  int64_t best = total[0];
  for (int32_t k = 1; k < classes; k++)
    best = total[k] > best ? total[k] : best;
  return best;
}

static int64_t value_of (const struct worker *worker, int64_t worth, int64_t gain, int64_t leaves) {
  return gain < 0 ? UNREACHABLE : worker->rows->scale * (worth - gain) + leaves * worker->shared->price;
}

static int64_t leaf (const struct worker *worker, const struct subproblem *problem) {
  return value_of (worker, problem->sums.whole_total[worth_channel (worker)],
                   leaf_gain (worker, problem->sums.whole_total), 1);
}

static void build_slice (struct worker *worker, struct slice *slice, const int32_t *ids, const int32_t *start) {
  const struct rows *rows = worker->rows;
  int32_t group = 0;
  for (int32_t list = 0; list < rows->lists; list++) {
    const int32_t count = start[list + 1] - start[list];
    slice->group[list] = group;
    worker->kernel->build (slice, &rows->shape, group, rows->row_bits, rows->row_bytes, ids + start[list], count);
    group += (count + worker->kernel->lane_bits - 1) / worker->kernel->lane_bits;
  }
  slice->group[rows->lists] = group;
}

/* The lists of one channel, all of them positive, in the form that the kernel expects. */
static struct slice view (const struct worker *worker, const struct slice *slice, int32_t channel) {
  const int32_t planes = worker->rows->planes;
  struct slice one = {.words = slice->words, .twice = slice->twice, .planes = planes};
  for (int32_t plane = 0; plane < planes; plane++) {
    one.group[2 * plane] = slice->group[channel * planes + plane];
    one.group[2 * plane + 1] = one.group[2 * plane + 2] = slice->group[channel * planes + plane + 1];
  }
  return one;
}

static void count_tests (struct worker *worker, const struct slice *slice, struct cell_sums *sums) {
  const struct shape *shape = &worker->rows->shape;
  for (int32_t channel = 0; channel < worker->rows->channels; channel++) {
    struct slice one = view (worker, slice, channel);
    worker->kernel->sums (&one, shape, worker->scratch, sums->whole_test + (int64_t) channel * shape->stride);
  }
}

/* Counts wide problems in pieces, so that a deadline is kept. Returns 0 if the search was stopped in between. */
static int count_pairs (struct worker *worker, const struct slice *slice, struct cell_sums *sums, int with_worth) {
  const struct shape *shape = &worker->rows->shape;
  const int64_t groups = slice->group[worker->rows->lists] / worker->rows->channels + 8;
  const int64_t wide = 8000000 / (shape->padded * groups) / 64 * 64, piece = wide < 64 ? 64 : wide;
  const int64_t matrix = (int64_t) shape->padded * shape->stride;
  for (int32_t channel = 0; channel < worker->rows->channels; channel++) {
    if (channel == worth_channel (worker) && !with_worth)
      continue;
    struct slice one = view (worker, slice, channel);
    for (int64_t from = 0; from < shape->tests; from += piece) {
      const int64_t to = smaller (from + piece, shape->tests);
      worker->kernel->pairs (&one, shape, worker->workspace, sums->whole + channel * matrix, (int32_t) from,
                             (int32_t) to);
      worker->work += shape->padded * (to - from) * groups / 4;
      if (poll_search (worker))
        return 0;
    }
  }
  return 1;
}

static void sums (struct worker *worker, struct subproblem *problem) {
  build_slice (worker, &problem->slice, problem->ids, problem->start);
  count_tests (worker, &problem->slice, &problem->sums);
}

/* A side is a leaf or a stump. */
static int64_t side_value (const struct worker *worker, int64_t leaf_saves, int64_t best_saves) {
  const int64_t one = value_of (worker, 0, leaf_saves, 1), two = value_of (worker, 0, best_saves, 2);
  return one < two ? one : best_saves < 0 ? UNREACHABLE : smaller (one, two);
}

static int64_t root_value (const struct worker *worker, const struct cell_answer *answer, int64_t worth, int32_t test) {
  const int64_t yes = side_value (worker, answer->whole_leaf[1][test], answer->whole_best[1][test]);
  const int64_t no = side_value (worker, answer->whole_leaf[0][test], answer->whole_best[0][test]);
  return plus (plus (yes, no), worker->rows->scale * worth);
}

static int ask (struct worker *worker, const struct cell_sums *all, const struct cell_sums *without) {
  const struct shape *shape = &worker->rows->shape;
  const int32_t classes = worker->solver->classes;
  const int64_t wide = 4000000 / ((int64_t) shape->stride * classes) / 16 * 16, piece = wide < 16 ? 16 : wide;
  struct cell_question question = {classes, supported (worker) ? (int32_t) worker->solver->options.support : 0, 0, 0, 0,
                                   0};
  for (; question.to < shape->tests; question.from = question.to) {
    question.to = (int32_t) smaller (question.from + piece, shape->tests);
    worker->cells->classes (shape, &question, all, without, &worker->answer);
    worker->work += (int64_t) (question.to - question.from) * shape->stride * classes;
    if (poll_search (worker))
      return 0;
  }
  return 1;
}

static int idle (const struct worker *worker, const struct subproblem *problem, int32_t test) {
  const int32_t channel = supported (worker) ? worker->solver->classes : worth_channel (worker);
  const int64_t sum = problem->sums.whole_test[(int64_t) channel * worker->rows->shape.stride + test];
  return sum == 0 || sum == problem->sums.whole_total[channel];
}

static int pairs (struct worker *worker, struct subproblem *problem) {
  sums (worker, problem);
  if (!count_pairs (worker, &problem->slice, &problem->sums, worker->shared->similar) ||
      !ask (worker, &problem->sums, NULL))
    return 0;
  const int64_t worth = problem->sums.whole_total[worth_channel (worker)];
  for (int32_t test = 0; test < worker->rows->shape.tests; test++)
    problem->root_value[test] = root_value (worker, &worker->answer, worth, test);
  return 1;
}

static void side_totals (const struct worker *worker, const struct subproblem *problem, int32_t test, int yes,
                         int64_t *total) {
  for (int32_t channel = 0; channel < worker->rows->channels; channel++) {
    const int64_t mine = problem->sums.whole_test[(int64_t) channel * worker->rows->shape.stride + test];
    total[channel] = yes ? mine : problem->sums.whole_total[channel] - mine;
  }
}

static int64_t side_leaf (const struct worker *worker, const struct subproblem *problem, int32_t test, int yes) {
  int64_t total[most_lists];
  side_totals (worker, problem, test, yes, total);
  return value_of (worker, total[worth_channel (worker)], leaf_gain (worker, total), 1);
}

static int larger_side (const struct worker *worker, const struct subproblem *problem, int32_t test) {
  const int32_t channel = worth_channel (worker);
  const int64_t mine = problem->sums.whole_test[(int64_t) channel * worker->rows->shape.stride + test];
  return 2 * mine >= problem->sums.whole_total[channel];
}

static double information (const struct worker *worker, const struct subproblem *problem, int32_t test) {
  double left = 0;
  for (int side = 0; side < 2; side++) {
    int64_t total[most_lists];
    double whole = 0;
    side_totals (worker, problem, test, side, total);
    for (int32_t k = 0; k < worker->solver->classes; k++)
      whole += (double) total[k];
    for (int32_t k = 0; k < worker->solver->classes; k++)
      if (total[k] > 0)
        left += (double) total[k] * log (whole / (double) total[k]);
  }
  return left;
}

static int64_t best_value (struct worker *worker, const struct cell_sums *all, const struct cell_sums *without) {
  int64_t total[most_lists];
  for (int32_t channel = 0; channel < worker->rows->channels; channel++)
    total[channel] = all->whole_total[channel] - (without ? without->whole_total[channel] : 0);
  const int64_t worth = total[worth_channel (worker)];
  int64_t best = value_of (worker, worth, leaf_gain (worker, total), 1);
  if (!ask (worker, all, without))
    return UNREACHABLE;
  for (int32_t test = 0; test < worker->rows->shape.tests; test++)
    best = smaller (best, root_value (worker, &worker->answer, worth, test));
  return best;
}

static enum passed pass (struct worker *worker, struct subproblem *problem, int32_t test, int small_is_yes,
                         int64_t upper, int64_t *yes, int64_t *no) {
  (void) test;
  (void) upper;
  count_totals (worker, worker->small_start, worker->small_sums.whole_total);
  build_slice (worker, &worker->small, worker->small_ids, worker->small_start);
  count_tests (worker, &worker->small, &worker->small_sums);
  if (!count_pairs (worker, &worker->small, &worker->small_sums, 0))
    return pass_stopped;
  *(small_is_yes ? yes : no) = best_value (worker, &worker->small_sums, NULL);
  *(small_is_yes ? no : yes) = best_value (worker, &problem->sums, &worker->small_sums);
  return solver_stopping (worker->solver) ? pass_stopped : pass_exact;
}

static void similar (struct worker *worker, struct subproblem *problem, int32_t test, int64_t yes, int64_t no) {
  const struct shape *shape = &worker->rows->shape;
  const int32_t channel = worth_channel (worker);
  const int32_t *matrix = problem->sums.whole + (int64_t) channel * shape->padded * shape->stride;
  worker->cells->similar_whole (shape->tests, matrix + (int64_t) test * shape->stride,
                                problem->sums.whole_test + (int64_t) channel * shape->stride,
                                problem->sums.whole_total[channel], test, worker->rows->scale, yes, no,
                                problem->low_yes, problem->low_no);
}

const struct model class_model = {subproblem_make,
                                  subproblem_release,
                                  worker_make,
                                  worker_release,
                                  measure,
                                  leaf,
                                  sums,
                                  pairs,
                                  idle,
                                  side_leaf,
                                  information,
                                  side_rows,
                                  pass,
                                  NULL,
                                  NULL,
                                  NULL,
                                  larger_side,
                                  similar,
                                  NULL,
                                  NULL};
