/* The model for two classes with any costs: one signed number per row, solved by the kernels of simd/pair_kernel.h. */
#include "pair/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t lane_bytes (const struct worker *worker) { return (size_t) worker->kernel->lane_bits / 8; }

static int64_t lane (const struct pair_kernel *kernel, const void *lanes, int64_t index) {
  return kernel->lane_bits == 16   ? ((const int16_t *) lanes)[index]
         : kernel->lane_bits == 32 ? ((const int32_t *) lanes)[index]
                                   : ((const int64_t *) lanes)[index];
}

static int side_allocate (struct worker *worker, struct side *side) {
  struct arena *arena = &worker->solver->arena;
  const size_t lanes = (size_t) worker->rows->shape.stride + 64;
  side->sum = arena_allocate (arena, lanes, lane_bytes (worker));
  side->yes = arena_allocate (arena, lanes, lane_bytes (worker));
  side->no = arena_allocate (arena, lanes, lane_bytes (worker));
  side->count = arena_allocate (arena, lanes, lane_bytes (worker));
  return side->sum && side->yes && side->no && side->count;
}

static void side_release (struct worker *worker, struct side *side) {
  arena_release (&worker->solver->arena, side->sum);
  arena_release (&worker->solver->arena, side->yes);
  arena_release (&worker->solver->arena, side->no);
  arena_release (&worker->solver->arena, side->count);
}

static int subproblem_make (struct worker *worker, struct subproblem *problem) {
  struct arena *arena = &worker->solver->arena;
  const struct shape *shape = &worker->rows->shape;
  const size_t pairs = (size_t) (shape->padded + 4) * (size_t) shape->stride;
  if (!problem->spare) {
    problem->doubled = arena_allocate (arena, pairs, lane_bytes (worker));
    problem->weights = arena_allocate (arena, pairs, lane_bytes (worker));
  }
  const int slice = slice_allocate (worker, &problem->slice), side = side_allocate (worker, &problem->side);
  problem->test_weights = problem->side.count;
  return slice && side && (problem->spare || (problem->doubled && problem->weights));
}

static void subproblem_release (struct worker *worker, struct subproblem *problem) {
  struct arena *arena = &worker->solver->arena;
  slice_release (worker, &problem->slice);
  arena_release (arena, problem->doubled);
  arena_release (arena, problem->weights);
  side_release (worker, &problem->side);
}

/* Large weights are multiplied as matrices if the processor has instructions for that. */
static int products_make (struct worker *worker) {
  const struct rows *rows = worker->rows;
  if (!rows->digits || simd_select (worker->solver->options.kernel, simd_amx) != simd_amx)
    return 1;
  product_function *multiply = products_amx ();
  const int32_t piece = rows->rows < 512 ? (rows->rows + 63) / 64 * 64 : 512;
  void *room = arena_allocate (&worker->solver->arena, (size_t) product_room (&rows->shape, rows->digits, piece), 1);
  worker->products = (struct products) {multiply, rows->sign_digits, rows->worth_digits, rows->digits, piece, room};
  return room != NULL;
}

static int worker_make (struct worker *worker) {
  const struct shape *shape = &worker->rows->shape;
  if (worker->rows->dense) {
    const size_t pairs = (size_t) (shape->padded + 4) * (size_t) shape->stride;
    worker->small.before = arena_allocate (&worker->solver->arena, pairs, lane_bytes (worker));
    if (!worker->small.before || !products_make (worker))
      return 0;
  }
  return slice_allocate (worker, &worker->small) && side_allocate (worker, &worker->counted) &&
         side_allocate (worker, &worker->rest);
}

static void worker_release (struct worker *worker) {
  arena_release (&worker->solver->arena, worker->small.before);
  arena_release (&worker->solver->arena, worker->products.room);
  slice_release (worker, &worker->small);
  side_release (worker, &worker->counted);
  side_release (worker, &worker->rest);
}

static void measure (struct worker *worker, struct subproblem *problem) {
  const struct rows *rows = worker->rows;
  problem->total = problem->weight = 0;
  for (int32_t i = 0; rows->dense && i < problem->start[1]; i++) {
    problem->total += rows->sign[problem->ids[i]];
    problem->weight += rows->worth[problem->ids[i]];
  }
  for (int32_t list = 0; !rows->dense && list < rows->lists; list++) {
    const int64_t size = (int64_t) (problem->start[list + 1] - problem->start[list]) << (rows->planes - 1 - list / 2);
    problem->weight += size;
    problem->total += list & 1 ? -size : size;
  }
  problem->kernel = problem->weight <= INT32_MAX ? worker->solver->narrow_kernel : worker->kernel;
}

static int enough (const struct worker *worker, int64_t weight) {
  return worker->shared->support <= 1 || weight >= worker->shared->support;
}

static int64_t leaf (const struct worker *worker, const struct subproblem *problem) {
  if (!enough (worker, problem->weight))
    return UNREACHABLE;
  return worker->rows->scale * ((problem->weight - llabs (problem->total)) / 2) + worker->shared->price;
}

static void build_slice (const struct worker *worker, const struct pair_kernel *kernel, struct slice *slice,
                         const int32_t *ids, const int32_t *start) {
  const struct rows *rows = worker->rows;
  slice->ids = ids;
  slice->row_bits = rows->row_bits;
  slice->row_bytes = rows->row_bytes;
  slice->sign = rows->sign;
  slice->dense_rows = rows->dense ? start[1] : 0;
  slice->filled = -1;
  int32_t group = 0;
  for (int32_t list = 0; list < rows->lists; list++) {
    const int32_t count = start[list + 1] - start[list];
    slice->group[list] = group;
    kernel->build (slice, &rows->shape, group, rows->row_bits, rows->row_bytes, ids + start[list], count);
    group += (count + kernel->lane_bits - 1) / kernel->lane_bits;
  }
  slice->group[rows->lists] = group;
}

/* Absolute sums are twice the gain, so sides are compared by halves. */
static int64_t depth_two (const struct worker *worker, int64_t weight, int64_t yes, int64_t no, int64_t yes_leaf,
                          int64_t no_leaf) {
  const int64_t price = worker->shared->price, scale = worker->rows->scale;
  if (!price)
    return scale * ((weight - yes - no) / 2);
  const int64_t more[2] = {yes - yes_leaf, no - no_leaf};
  int64_t gain = yes_leaf + no_leaf, leaves = 2;
  for (int side = 0; side < 2; side++)
    if (scale * (more[side] / 2) > price) {
      gain += more[side];
      leaves++;
    }
  return scale * ((weight - gain) / 2) + leaves * price;
}

static int64_t best_of_side (struct worker *worker, const struct pair_kernel *kernel, const struct side *side,
                             int64_t weight) {
  const int64_t price = worker->shared->price;
  const int64_t leaf = worker->rows->scale * ((weight - llabs (side->total)) / 2) + price;
  if (!price) {
    const int64_t gain = kernel->best (&worker->rows->shape, side);
    const int64_t value = worker->rows->scale * ((weight - gain) / 2);
    return value < leaf ? value : leaf;
  }
  int64_t best = leaf;
  for (int32_t test = 0; test < worker->rows->shape.tests; test++) {
    const int64_t sum = lane (kernel, side->sum, test);
    const int64_t value = depth_two (worker, weight, lane (kernel, side->yes, test), lane (kernel, side->no, test),
                                     llabs (sum), llabs (side->total - sum));
    if (value < best)
      best = value;
  }
  return best;
}

/* If support is bounded, all rows weigh one, so weights are numbers of rows. They must fit in a lane. */
static int64_t needed (const struct worker *worker, const struct pair_kernel *kernel) {
  return smaller (worker->shared->support, kernel->lane_bits == 16 ? INT16_MAX : INT32_MAX);
}

static int64_t supported_root (const struct worker *worker, const struct pair_kernel *kernel, const struct side *side,
                               int32_t test) {
  const int64_t rows = lane (kernel, side->count, test), sum = lane (kernel, side->sum, test);
  if (!enough (worker, rows) || !enough (worker, side->weight - rows))
    return UNREACHABLE;
  return depth_two (worker, side->weight, lane (kernel, side->yes, test), lane (kernel, side->no, test), llabs (sum),
                    llabs (side->total - sum));
}

static int64_t supported_best (const struct worker *worker, const struct pair_kernel *kernel, const struct side *side) {
  int64_t best = UNREACHABLE;
  if (enough (worker, side->weight))
    best = worker->rows->scale * ((side->weight - llabs (side->total)) / 2) + worker->shared->price;
  for (int32_t test = 0; test < worker->rows->shape.tests; test++)
    best = smaller (best, supported_root (worker, kernel, side, test));
  return best;
}

static void sums (struct worker *worker, struct subproblem *problem) {
  build_slice (worker, problem->kernel, &problem->slice, problem->ids, problem->start);
  problem->kernel->sums (&problem->slice, &worker->rows->shape, problem->side.sum, problem->test_weights);
  problem->side.total = problem->total;
}

/* Reads the sums of the tests off the diagonal of the pair sums, which are then doubled; lanes without a test are
   zero. */
static void take_diagonal (struct worker *worker, struct subproblem *problem) {
  const int64_t tests = worker->rows->shape.tests, stride = worker->rows->shape.stride;
  for (int64_t test = 0; test < stride; test++) {
    const int64_t at = test * (stride + 1);
    const int64_t sum = test < tests ? lane (problem->kernel, problem->doubled, at) : 0;
    const int64_t weight = test < tests ? lane (problem->kernel, problem->weights, at) : 0;
    if (problem->kernel->lane_bits == 32) {
      ((int32_t *) problem->side.sum)[test] = (int32_t) sum;
      ((int32_t *) problem->test_weights)[test] = (int32_t) weight;
    } else {
      ((int64_t *) problem->side.sum)[test] = sum;
      ((int64_t *) problem->test_weights)[test] = weight;
    }
  }
  problem->side.total = problem->total;
  if (problem->kernel->lane_bits == 32)
    for (int64_t i = 0; i < tests * stride; i++)
      ((uint32_t *) problem->doubled)[i] *= 2;
  else
    for (int64_t i = 0; i < tests * stride; i++)
      ((uint64_t *) problem->doubled)[i] *= 2;
}

static int pairs (struct worker *worker, struct subproblem *problem) {
  const struct shape *shape = &worker->rows->shape;
  const int multiplied = problem->slice.products != NULL;
  if (multiplied)
    build_slice (worker, problem->kernel, &problem->slice, problem->ids, problem->start);
  else
    sums (worker, problem);
  /* Counts wide problems in pieces, so that a deadline is kept. */
  const int64_t groups = problem->slice.group[worker->rows->lists] + problem->slice.dense_rows;
  int64_t piece = 8000000 / (shape->padded * (8 + groups)) / 64 * 64;
  piece = piece < 64 ? 64 : piece;
  for (int64_t from = 0; from < shape->tests; from += piece) {
    const int64_t to = smaller (from + piece, shape->tests);
    problem->kernel->pairs (&problem->slice, shape, problem->doubled, problem->weights, (int32_t) from, (int32_t) to);
    worker->work += shape->padded * (to - from) * (8 + groups) / 8;
    if (to < shape->tests && poll_search (worker))
      return 0;
  }
  if (multiplied)
    take_diagonal (worker, problem);
  if (worker->shared->support > 1) {
    problem->side.weight = problem->weight;
    problem->kernel->own_supported (shape, problem->doubled, problem->weights, &problem->side,
                                    needed (worker, problem->kernel), worker->scratch);
    for (int32_t test = 0; test < shape->tests; test++)
      problem->root_value[test] = supported_root (worker, problem->kernel, &problem->side, test);
    return 1;
  }
  problem->kernel->own (shape, problem->doubled, &problem->side, worker->scratch);
  for (int32_t test = 0; test < shape->tests; test++) {
    const int64_t sum = lane (problem->kernel, problem->side.sum, test);
    problem->root_value[test] =
        depth_two (worker, problem->weight, lane (problem->kernel, problem->side.yes, test),
                   lane (problem->kernel, problem->side.no, test), llabs (sum), llabs (problem->total - sum));
  }
  return 1;
}

static int idle (const struct worker *worker, const struct subproblem *problem, int32_t test) {
  const int64_t weight = lane (problem->kernel, problem->test_weights, test);
  return !weight || weight == problem->weight || !enough (worker, weight) || !enough (worker, problem->weight - weight);
}

static int64_t side_leaf (const struct worker *worker, const struct subproblem *problem, int32_t test, int yes) {
  const int64_t sum = lane (problem->kernel, problem->side.sum, test), total = yes ? sum : problem->total - sum;
  const int64_t mine = lane (problem->kernel, problem->test_weights, test),
                weight = yes ? mine : problem->weight - mine;
  if (!enough (worker, weight))
    return UNREACHABLE;
  return worker->rows->scale * ((weight - llabs (total)) / 2) + worker->shared->price;
}

static int larger_side (const struct worker *worker, const struct subproblem *problem, int32_t test) {
  (void) worker;
  return 2 * lane (problem->kernel, problem->test_weights, test) >= problem->weight;
}

static double entropy (double a, double b) {
  const double n = a + b;
  return (a > 0 ? a * log (n / a) : 0) + (b > 0 ? b * log (n / b) : 0);
}

static double information (const struct worker *worker, const struct subproblem *problem, int32_t test) {
  (void) worker;
  const double sum = (double) lane (problem->kernel, problem->side.sum, test);
  const double all = (double) lane (problem->kernel, problem->test_weights, test);
  const double rest = (double) problem->total - sum, others = (double) problem->weight - all;
  return entropy ((all + sum) / 2, (all - sum) / 2) + entropy ((others + rest) / 2, (others - rest) / 2);
}

static void selected_rows (const struct worker *worker, const struct subproblem *problem, int32_t test, int yes,
                           int32_t *ids, int32_t *start) {
  const struct rows *rows = worker->rows;
  int32_t at = 0;
  for (int32_t list = 0; list < rows->lists; list++) {
    start[list] = at;
    const int32_t count = problem->start[list + 1] - problem->start[list];
    at += problem->kernel->select (&problem->slice, &rows->shape, problem->slice.group[list], count, test, yes,
                                   problem->ids + problem->start[list], ids + at);
  }
  start[rows->lists] = at;
}

static void subtract (const struct pair_kernel *kernel, const struct shape *shape, const void *from, const void *what,
                      void *to) {
  if (kernel->lane_bits == 16)
    for (int32_t i = 0; i < shape->stride; i++)
      ((int16_t *) to)[i] = (int16_t) (((const int16_t *) from)[i] - ((const int16_t *) what)[i]);
  else if (kernel->lane_bits == 32)
    for (int32_t i = 0; i < shape->stride; i++)
      ((int32_t *) to)[i] = ((const int32_t *) from)[i] - ((const int32_t *) what)[i];
  else
    for (int32_t i = 0; i < shape->stride; i++)
      ((int64_t *) to)[i] = ((const int64_t *) from)[i] - ((const int64_t *) what)[i];
}

/* Computes the gains of both sides of a test in `counted` and `rest`; returns the weight of the counted side. */
static int64_t count_sides (struct worker *worker, struct subproblem *problem, int32_t test, int small_is_yes) {
  const struct rows *rows = worker->rows;
  const struct shape *shape = &rows->shape;
  const struct pair_kernel *kernel = problem->kernel;
  const int64_t yes_weight = lane (problem->kernel, problem->test_weights, test);
  struct side *counted = &worker->counted, *rest = &worker->rest;
  build_slice (worker, kernel, &worker->small, worker->small_ids, worker->small_start);
  kernel->sums (&worker->small, shape, counted->sum, counted->count);
  const int64_t yes_total = lane (problem->kernel, problem->side.sum, test);
  counted->total = small_is_yes ? yes_total : problem->total - yes_total;
  rest->total = problem->total - counted->total;
  subtract (kernel, shape, problem->side.sum, counted->sum, rest->sum);
  kernel->both (&worker->small, shape, problem->doubled, counted, rest, worker->scratch);
  worker->work +=
      (int64_t) shape->padded * shape->stride * (12 + worker->small.group[rows->lists] + worker->small.dense_rows) / 8;
  return small_is_yes ? yes_weight : problem->weight - yes_weight;
}

static enum passed pass (struct worker *worker, struct subproblem *problem, int32_t test, int small_is_yes,
                         int64_t upper, int64_t *yes, int64_t *no) {
  const struct pair_kernel *kernel = problem->kernel;
  const struct side *counted = &worker->counted, *rest = &worker->rest;
  const int64_t counted_weight = count_sides (worker, problem, test, small_is_yes);
  const int64_t counted_value = best_of_side (worker, kernel, counted, counted_weight);
  const int64_t rest_value = best_of_side (worker, kernel, rest, problem->weight - counted_weight);
  *yes = small_is_yes ? counted_value : rest_value;
  *no = small_is_yes ? rest_value : counted_value;
  if (worker->shared->support <= 1)
    return pass_exact;
  /* So far leaves may have any size: that is cheaper to compute and sufficient for most splits. */
  worker->relaxed[1] = *yes;
  worker->relaxed[0] = *no;
  if (plus (*yes, *no) >= upper)
    return pass_bounds;
  worker->counted.weight = counted_weight;
  worker->rest.weight = problem->weight - counted_weight;
  subtract (kernel, &worker->rows->shape, problem->test_weights, counted->count, rest->count);
  kernel->both_supported (&worker->small, &worker->rows->shape, problem->doubled, problem->weights, &worker->counted,
                          &worker->rest, needed (worker, kernel), worker->scratch);
  *(small_is_yes ? yes : no) = supported_best (worker, kernel, counted);
  *(small_is_yes ? no : yes) = supported_best (worker, kernel, rest);
  return pass_exact;
}

/* The least costs of trees with at most one, two, three and four leaves on a side. */
static void values_by_size (const struct worker *worker, const struct pair_kernel *kernel, const struct side *side,
                            int64_t weight, int64_t *value) {
  int64_t gain[5] = {0, llabs (side->total)};
  kernel->sizes (&worker->rows->shape, side, gain);
  for (int size = 1; size <= 4; size++) {
    value[size] = worker->rows->scale * ((weight - gain[size]) / 2) + size * worker->shared->price;
    if (size > 1)
      value[size] = smaller (value[size], value[size - 1]);
  }
}

static int pass_sizes (struct worker *worker, struct subproblem *problem, int32_t test, int small_is_yes, int64_t *yes,
                       int64_t *no) {
  const int64_t weight = count_sides (worker, problem, test, small_is_yes);
  values_by_size (worker, problem->kernel, &worker->counted, weight, small_is_yes ? yes : no);
  values_by_size (worker, problem->kernel, &worker->rest, problem->weight - weight, small_is_yes ? no : yes);
  return 1;
}

static int64_t side_stump (const struct worker *worker, const struct subproblem *problem, int32_t test, int yes) {
  const int64_t mine = lane (problem->kernel, problem->test_weights, test),
                weight = yes ? mine : problem->weight - mine;
  const int64_t gain = lane (problem->kernel, yes ? problem->side.yes : problem->side.no, test);
  return worker->rows->scale * ((weight - gain) / 2) + 2 * worker->shared->price;
}

/* Parts of prices and of errors are rounded down to weights, so that the kernel can compute in lanes. */
static void paid_sides (struct worker *worker, struct subproblem *problem) {
  const struct shape *shape = &worker->rows->shape;
  const struct pair_kernel *kernel = problem->kernel;
  const int64_t scale = worker->rows->scale, price = worker->shared->price;
  const int64_t largest = kernel->lane_bits == 64 ? INT64_MAX : ((int64_t) 1 << (kernel->lane_bits - 1)) - 1;
  const int64_t weighed = smaller (price / scale, largest);
  void *yes = worker->scratch, *no = (int64_t *) worker->scratch + shape->stride;
  problem->side.weight = problem->weight;
  kernel->paid (shape, problem->doubled, problem->weights, &problem->side, weighed, yes, no);
  for (int32_t test = 0; test < shape->tests; test++) {
    const int64_t mine = lane (kernel, problem->test_weights, test), weight[2] = {problem->weight - mine, mine};
    int64_t least[2];
    for (int side = 0; side < 2; side++) {
      const int64_t beyond = lane (kernel, side ? yes : no, test);
      const int64_t leaf = side_leaf (worker, problem, test, side);
      least[side] = beyond == largest ? leaf : smaller (leaf, scale * beyond + 2 * price);
    }
    problem->low_no[test] = least[0];
    problem->low_yes[test] = least[1];
    /* A side that costs no less than all its rows as errors: the tree of the other side does as well for all rows. */
    if (least[0] >= scale * weight[0] || least[1] >= scale * weight[1])
      problem->bound[test] = UNREACHABLE;
  }
}

static void similar (struct worker *worker, struct subproblem *problem, int32_t test, int64_t yes, int64_t no) {
  const struct shape *shape = &worker->rows->shape;
  const struct pair_kernel *kernel = problem->kernel;
  const char *row = (const char *) problem->weights + (int64_t) test * shape->stride * kernel->lane_bits / 8;
  kernel->similar (shape, row, problem->test_weights, lane (kernel, problem->test_weights, test), problem->weight,
                   worker->rows->scale, yes, no, problem->low_yes, problem->low_no);
}

const struct model signed_model = {subproblem_make,
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
                                   selected_rows,
                                   pass,
                                   pass_sizes,
                                   side_stump,
                                   paid_sides,
                                   larger_side,
                                   similar,
                                   NULL,
                                   NULL};
