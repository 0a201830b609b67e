/* Two classes with any costs: one signed number a row, solved by the kernels of kernel.h. */
#include "search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t lane_bytes (const struct worker *worker) { return (size_t) worker->kernel->lane_bits / 8; }

static int64_t lane (const struct kernel *kernel, const void *lanes, int64_t index) {
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

static int level_make (struct worker *worker, struct level *level) {
  struct arena *arena = &worker->solver->arena;
  const struct shape *shape = &worker->rows->shape;
  const size_t pairs = (size_t) (shape->padded + 4) * (size_t) shape->stride;
  if (!level->spare) {
    level->doubled = arena_allocate (arena, pairs, lane_bytes (worker));
    level->weights = arena_allocate (arena, pairs, lane_bytes (worker));
  }
  const int slice = slice_allocate (worker, &level->slice), side = side_allocate (worker, &level->side);
  level->test_weights = level->side.count;
  return slice && side && (level->spare || (level->doubled && level->weights));
}

static void level_release (struct worker *worker, struct level *level) {
  struct arena *arena = &worker->solver->arena;
  slice_release (worker, &level->slice);
  arena_release (arena, level->doubled);
  arena_release (arena, level->weights);
  side_release (worker, &level->side);
}

/* Weights are multiplied where the processor has units for it. */
static int products_make (struct worker *worker) {
  const struct rows *rows = worker->rows;
  const int choice = worker->solver->kernel_choice;
  product_function *multiply = rows->digits && (choice == 0 || choice == 4) ? products_find () : NULL;
  if (!multiply)
    return 1;
  const int32_t piece = rows->rows < 512 ? (rows->rows + 63) / 64 * 64 : 512;
  void *room = arena_allocate (&worker->solver->arena, (size_t) product_room (&rows->shape, rows->digits, piece), 1);
  worker->products = (struct products){multiply, rows->sign_digits, rows->worth_digits, rows->digits, piece, room};
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

static void measure (struct worker *worker, struct level *level) {
  const struct rows *rows = worker->rows;
  level->total = level->weight = 0;
  for (int32_t i = 0; rows->dense && i < level->start[1]; i++) {
    level->total += rows->sign[level->ids[i]];
    level->weight += rows->worth[level->ids[i]];
  }
  for (int32_t list = 0; !rows->dense && list < rows->lists; list++) {
    const int64_t size = (int64_t) (level->start[list + 1] - level->start[list]) << (rows->planes - 1 - list / 2);
    level->weight += size;
    level->total += list & 1 ? -size : size;
  }
  level->kernel = level->weight <= INT32_MAX ? worker->solver->narrow_kernel : worker->kernel;
}

static int enough (const struct worker *worker, int64_t weight) {
  return worker->shared->support <= 1 || weight >= worker->shared->support;
}

static int64_t leaf (const struct worker *worker, const struct level *level) {
  if (!enough (worker, level->weight))
    return UNREACHABLE;
  return worker->rows->scale * ((level->weight - llabs (level->total)) / 2) + worker->shared->price;
}

static void build_slice (const struct worker *worker, const struct kernel *kernel, struct slice *slice,
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

/* Gains of |.| are twice what they save, so the sides are compared by halves. */
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

static int64_t best_of_side (struct worker *worker, const struct kernel *kernel, const struct side *side,
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

/* Where leaves need rows, all rows weigh one, so that weights are numbers of rows; in a lane's width. */
static int64_t needed (const struct worker *worker, const struct kernel *kernel) {
  return smaller (worker->shared->support, kernel->lane_bits == 16 ? INT16_MAX : INT32_MAX);
}

static int64_t supported_root (const struct worker *worker, const struct kernel *kernel, const struct side *side,
                               int32_t test) {
  const int64_t rows = lane (kernel, side->count, test), sum = lane (kernel, side->sum, test);
  if (!enough (worker, rows) || !enough (worker, side->weight - rows))
    return UNREACHABLE;
  return depth_two (worker, side->weight, lane (kernel, side->yes, test), lane (kernel, side->no, test), llabs (sum),
                    llabs (side->total - sum));
}

static int64_t supported_best (const struct worker *worker, const struct kernel *kernel, const struct side *side) {
  int64_t best = UNREACHABLE;
  if (enough (worker, side->weight))
    best = worker->rows->scale * ((side->weight - llabs (side->total)) / 2) + worker->shared->price;
  for (int32_t test = 0; test < worker->rows->shape.tests; test++)
    best = smaller (best, supported_root (worker, kernel, side, test));
  return best;
}

static void sums (struct worker *worker, struct level *level) {
  build_slice (worker, level->kernel, &level->slice, level->ids, level->start);
  level->kernel->sums (&level->slice, &worker->rows->shape, level->side.sum, level->test_weights);
  level->side.total = level->total;
}

/* The sums of the tests out of those of the pairs, which are doubled then; lanes without a test are empty. */
static void take_diagonal (struct worker *worker, struct level *level) {
  const int64_t tests = worker->rows->shape.tests, stride = worker->rows->shape.stride;
  for (int64_t test = 0; test < stride; test++) {
    const int64_t at = test * (stride + 1);
    const int64_t sum = test < tests ? lane (level->kernel, level->doubled, at) : 0;
    const int64_t weight = test < tests ? lane (level->kernel, level->weights, at) : 0;
    if (level->kernel->lane_bits == 32) {
      ((int32_t *) level->side.sum)[test] = (int32_t) sum;
      ((int32_t *) level->test_weights)[test] = (int32_t) weight;
    } else {
      ((int64_t *) level->side.sum)[test] = sum;
      ((int64_t *) level->test_weights)[test] = weight;
    }
  }
  level->side.total = level->total;
  if (level->kernel->lane_bits == 32)
    for (int64_t i = 0; i < tests * stride; i++)
      ((uint32_t *) level->doubled)[i] *= 2;
  else
    for (int64_t i = 0; i < tests * stride; i++)
      ((uint64_t *) level->doubled)[i] *= 2;
}

static int pairs (struct worker *worker, struct level *level) {
  const struct shape *shape = &worker->rows->shape;
  const int multiplied = level->slice.products != NULL;
  if (multiplied)
    build_slice (worker, level->kernel, &level->slice, level->ids, level->start);
  else
    sums (worker, level);
  /* Wide problems are counted in pieces, so that a deadline is kept. */
  const int64_t groups = level->slice.group[worker->rows->lists] + level->slice.dense_rows;
  int64_t piece = 8000000 / (shape->padded * (8 + groups)) / 64 * 64;
  piece = piece < 64 ? 64 : piece;
  for (int64_t from = 0; from < shape->tests; from += piece) {
    const int64_t to = smaller (from + piece, shape->tests);
    level->kernel->pairs (&level->slice, shape, level->doubled, level->weights, (int32_t) from, (int32_t) to);
    worker->work += shape->padded * (to - from) * (8 + groups) / 8;
    if (to < shape->tests && poll_search (worker))
      return 0;
  }
  if (multiplied)
    take_diagonal (worker, level);
  if (worker->shared->support > 1) {
    level->side.weight = level->weight;
    level->kernel->own_supported (shape, level->doubled, level->weights, &level->side, needed (worker, level->kernel),
                                  worker->scratch);
    for (int32_t test = 0; test < shape->tests; test++)
      level->root_value[test] = supported_root (worker, level->kernel, &level->side, test);
    return 1;
  }
  level->kernel->own (shape, level->doubled, &level->side, worker->scratch);
  for (int32_t test = 0; test < shape->tests; test++) {
    const int64_t sum = lane (level->kernel, level->side.sum, test);
    level->root_value[test] = depth_two (worker, level->weight, lane (level->kernel, level->side.yes, test),
                                         lane (level->kernel, level->side.no, test), llabs (sum), llabs (level->total - sum));
  }
  return 1;
}

static int idle (const struct worker *worker, const struct level *level, int32_t test) {
  const int64_t weight = lane (level->kernel, level->test_weights, test);
  return !weight || weight == level->weight || !enough (worker, weight) || !enough (worker, level->weight - weight);
}

static int64_t side_leaf (const struct worker *worker, const struct level *level, int32_t test, int yes) {
  const int64_t sum = lane (level->kernel, level->side.sum, test), total = yes ? sum : level->total - sum;
  const int64_t mine = lane (level->kernel, level->test_weights, test), weight = yes ? mine : level->weight - mine;
  if (!enough (worker, weight))
    return UNREACHABLE;
  return worker->rows->scale * ((weight - llabs (total)) / 2) + worker->shared->price;
}

static int larger_side (const struct worker *worker, const struct level *level, int32_t test) {
  (void) worker;
  return 2 * lane (level->kernel, level->test_weights, test) >= level->weight;
}

static double entropy (double a, double b) {
  const double n = a + b;
  return (a > 0 ? a * log (n / a) : 0) + (b > 0 ? b * log (n / b) : 0);
}

static double information (const struct worker *worker, const struct level *level, int32_t test) {
  (void) worker;
  const double sum = (double) lane (level->kernel, level->side.sum, test);
  const double all = (double) lane (level->kernel, level->test_weights, test);
  const double rest = (double) level->total - sum, others = (double) level->weight - all;
  return entropy ((all + sum) / 2, (all - sum) / 2) + entropy ((others + rest) / 2, (others - rest) / 2);
}

static int gather (struct worker *worker, const struct level *level, int32_t test) {
  const struct rows *rows = worker->rows;
  const int64_t yes_weight = lane (level->kernel, level->test_weights, test);
  const int small_is_yes = !worker->solver->options.small_side || 2 * yes_weight <= level->weight;
  int32_t *start = worker->small_start, at = 0;
  for (int32_t list = 0; list < rows->lists; list++) {
    start[list] = at;
    const int32_t count = level->start[list + 1] - level->start[list];
    at += level->kernel->select (&level->slice, &rows->shape, level->slice.group[list], count, test, small_is_yes,
                                  level->ids + level->start[list], worker->small_ids + at);
  }
  start[rows->lists] = at;
  return small_is_yes;
}

static void subtract (const struct kernel *kernel, const struct shape *shape, const void *from, const void *what, void *to) {
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

/* The gains of both sides of a test into `counted` and `rest`; returns the weight of what is counted. */
static int64_t count_sides (struct worker *worker, struct level *level, int32_t test, int small_is_yes) {
  const struct rows *rows = worker->rows;
  const struct shape *shape = &rows->shape;
  const struct kernel *kernel = level->kernel;
  const int64_t yes_weight = lane (level->kernel, level->test_weights, test);
  struct side *counted = &worker->counted, *rest = &worker->rest;
  build_slice (worker, kernel, &worker->small, worker->small_ids, worker->small_start);
  kernel->sums (&worker->small, shape, counted->sum, counted->count);
  const int64_t yes_total = lane (level->kernel, level->side.sum, test);
  counted->total = small_is_yes ? yes_total : level->total - yes_total;
  rest->total = level->total - counted->total;
  subtract (kernel, shape, level->side.sum, counted->sum, rest->sum);
  kernel->both (&worker->small, shape, level->doubled, counted, rest, worker->scratch);
  worker->work += (int64_t) shape->padded * shape->stride *
                  (12 + worker->small.group[rows->lists] + worker->small.dense_rows) / 8;
  return small_is_yes ? yes_weight : level->weight - yes_weight;
}

static enum passed pass (struct worker *worker, struct level *level, int32_t test, int small_is_yes, int64_t upper,
                         int64_t *yes, int64_t *no) {
  const struct kernel *kernel = level->kernel;
  const struct side *counted = &worker->counted, *rest = &worker->rest;
  const int64_t counted_weight = count_sides (worker, level, test, small_is_yes);
  const int64_t counted_value = best_of_side (worker, kernel, counted, counted_weight);
  const int64_t rest_value = best_of_side (worker, kernel, rest, level->weight - counted_weight);
  *yes = small_is_yes ? counted_value : rest_value;
  *no = small_is_yes ? rest_value : counted_value;
  if (worker->shared->support <= 1)
    return pass_exact;
  /* So far leaves of any size: cheaper, and enough for most splits. */
  worker->relaxed[1] = *yes;
  worker->relaxed[0] = *no;
  if (plus (*yes, *no) >= upper)
    return pass_bounds;
  worker->counted.weight = counted_weight;
  worker->rest.weight = level->weight - counted_weight;
  subtract (kernel, &worker->rows->shape, level->test_weights, counted->count, rest->count);
  kernel->both_supported (&worker->small, &worker->rows->shape, level->doubled, level->weights, &worker->counted,
                          &worker->rest, needed (worker, kernel), worker->scratch);
  *(small_is_yes ? yes : no) = supported_best (worker, kernel, counted);
  *(small_is_yes ? no : yes) = supported_best (worker, kernel, rest);
  return pass_exact;
}

/* The least that trees of at most one, two, three and four leaves cost on a side. */
static void values_by_size (const struct worker *worker, const struct kernel *kernel, const struct side *side,
                            int64_t weight, int64_t *value) {
  int64_t gain[5] = {0, llabs (side->total)};
  kernel->sizes (&worker->rows->shape, side, gain);
  for (int size = 1; size <= 4; size++) {
    value[size] = worker->rows->scale * ((weight - gain[size]) / 2) + size * worker->shared->price;
    if (size > 1)
      value[size] = smaller (value[size], value[size - 1]);
  }
}

static int pass_sizes (struct worker *worker, struct level *level, int32_t test, int small_is_yes, int64_t *yes,
                       int64_t *no) {
  const int64_t weight = count_sides (worker, level, test, small_is_yes);
  values_by_size (worker, level->kernel, &worker->counted, weight, small_is_yes ? yes : no);
  values_by_size (worker, level->kernel, &worker->rest, level->weight - weight, small_is_yes ? no : yes);
  return 1;
}

static int64_t side_stump (const struct worker *worker, const struct level *level, int32_t test, int yes) {
  const int64_t mine = lane (level->kernel, level->test_weights, test), weight = yes ? mine : level->weight - mine;
  const int64_t gain = lane (level->kernel, yes ? level->side.yes : level->side.no, test);
  return worker->rows->scale * ((weight - gain) / 2) + 2 * worker->shared->price;
}

static void similar (struct worker *worker, struct level *level, int32_t test, int64_t yes, int64_t no) {
  const struct shape *shape = &worker->rows->shape;
  const struct kernel *kernel = level->kernel;
  const char *row = (const char *) level->weights + (int64_t) test * shape->stride * kernel->lane_bits / 8;
  kernel->similar (shape, row, level->test_weights, lane (kernel, level->test_weights, test), level->weight,
                   worker->rows->scale, yes, no, level->low_yes, level->low_no);
}

const struct model signed_model = {level_make, level_release, worker_make, worker_release, measure,     leaf, sums, pairs,
                                   idle,       side_leaf,     information, gather, pass, pass_sizes, side_stump, larger_side, similar};
