/* The best subtree of depth two on every state. Pair sums are popcounts over bit planes of the costs, compressed to
   the rows of the state. */
#include "cover/shared.h"

#include "common/bits.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  int32_t rows, tests, stride, classes, planes, kinds;
  const struct counts *counts;
  const uint64_t *keys;
  const int64_t *cost, *count;
  const uint64_t *row_tests;  /* rows x words(tests): the tests that a row answers yes to */
  const uint64_t *plane_rows; /* planes x words(rows) */
  const int32_t *plane_kind;  /* the class, or `classes` for the count */
  const int32_t *plane_shift;
  int64_t support, price;
  double deadline;
  int64_t *best;
  int32_t *best_tests;
} pair_task;

static const int64_t NEVER = INT64_MAX / 8;

static inline int64_t least_of (const int64_t *values, int classes) {
  int64_t least = values[0];
  for (int c = 1; c < classes; c++)
    if (values[c] < least)
      least = values[c];
  return least;
}

/* The costs of both sides of every test as leaves. */
static void single_tests (const pair_task *task, const int64_t *sums, const int64_t *totals, int64_t *one,
                          int64_t *zero, int32_t *one_test, int32_t *zero_test) {
  const int tests = task->tests, classes = task->classes, counts = task->kinds > classes;
  const int64_t square = (int64_t) tests * tests, price = task->price, support = task->support;
  int64_t yy[64], nn[64];
  for (int f = 0; f < tests; f++) {
    for (int c = 0; c < classes; c++) {
      yy[c] = sums[c * square + (int64_t) f * tests + f];
      nn[c] = totals[c] - yy[c];
    }
    one[f] = least_of (yy, classes) + price;
    zero[f] = least_of (nn, classes) + price;
    if (counts) {
      int64_t part = sums[classes * square + (int64_t) f * tests + f];
      if (part < support)
        one[f] = NEVER;
      if (totals[classes] - part < support)
        zero[f] = NEVER;
    }
    one_test[f] = zero_test[f] = -1;
  }
}

/* Finds the best subtree of one state from its pair sums D[kind][f][g] (g >= f), whose diagonal holds the sums of
   single tests. */
static void best_pair (const pair_task *task, const int64_t *sums, const int64_t *totals, int64_t *one, int64_t *zero,
                       int32_t *one_test, int32_t *zero_test, int64_t *best, int32_t *tests_out) {
  const int tests = task->tests, classes = task->classes, counts = task->kinds > classes;
  const int64_t square = (int64_t) tests * tests, price = task->price, support = task->support;
  int64_t yy[64], yn[64], ny[64], nn[64];
  single_tests (task, sums, totals, one, zero, one_test, zero_test);
  for (int f = 0; f < tests; f++) {
    const int64_t *row = sums + (int64_t) f * tests;
    for (int g = f + 1; g < tests; g++) {
      for (int c = 0; c < classes; c++) {
        int64_t both = row[c * square + g];
        int64_t only_f = row[c * square + f], only_g = sums[c * square + (int64_t) g * tests + g];
        yy[c] = both;
        yn[c] = only_f - both;
        ny[c] = only_g - both;
        nn[c] = totals[c] - only_f - only_g + both;
      }
      int64_t a = least_of (yy, classes), b = least_of (yn, classes), c = least_of (ny, classes),
              d = least_of (nn, classes);
      if (counts) {
        int64_t both = row[classes * square + g], only_f = row[classes * square + f];
        int64_t only_g = sums[classes * square + (int64_t) g * tests + g];
        if (both < support)
          a = NEVER;
        if (only_f - both < support)
          b = NEVER;
        if (only_g - both < support)
          c = NEVER;
        if (totals[classes] - only_f - only_g + both < support)
          d = NEVER;
      }
      if (a + b + 2 * price < one[f])
        one[f] = a + b + 2 * price, one_test[f] = g;
      if (c + d + 2 * price < zero[f])
        zero[f] = c + d + 2 * price, zero_test[f] = g;
      if (a + c + 2 * price < one[g])
        one[g] = a + c + 2 * price, one_test[g] = f;
      if (b + d + 2 * price < zero[g])
        zero[g] = b + d + 2 * price, zero_test[g] = f;
    }
  }
  *best = least_of (totals, classes) + price;
  tests_out[0] = tests_out[1] = tests_out[2] = -1;
  for (int f = 0; f < tests; f++)
    if (one[f] + zero[f] < *best) {
      *best = one[f] + zero[f];
      tests_out[0] = f;
      tests_out[1] = one_test[f];
      tests_out[2] = zero_test[f];
    }
}

static int pair_range (void *argument, int64_t begin, int64_t end) {
  const pair_task *task = argument;
  const int words = cover_words (task->rows), tests = task->tests, test_words = cover_words (task->tests);
  const int64_t square = (int64_t) tests * tests;
  int64_t *sums = memory_reserve (times ((size_t) task->kinds, (size_t) (square ? square : 1)), sizeof *sums);
  int64_t *sides = memory_reserve (2 * ((size_t) tests + 1), sizeof *sides);
  int32_t *side_tests = memory_reserve (2 * ((size_t) tests + 1), sizeof *side_tests);
  uint64_t *columns = memory_reserve (times ((size_t) tests + 1, (size_t) words), sizeof *columns);
  int code = sums && sides && side_tests && columns ? TREEML_COVER_OK : TREEML_COVER_MEMORY;
  int64_t totals[65];
  for (int64_t set = begin; set < end && code == TREEML_COVER_OK; set++) {
    if (task->deadline >= 0 && (set & 31) == 0 && clock_seconds () > task->deadline) {
      code = TREEML_COVER_TIME;
      break;
    }
    const uint64_t *key = task->keys + set * task->stride;
    memset (sums, 0, (size_t) task->kinds * (size_t) square * sizeof *sums);
    memset (totals, 0, sizeof totals);
    for (int p = 0; p < task->planes; p++) {
      const uint64_t *plane = task->plane_rows + (int64_t) p * words;
      int64_t size = 0;
      for (int w = 0; w < words; w++)
        size += count_bits (key[w] & plane[w]);
      if (!size)
        continue;
      totals[task->plane_kind[p]] += size << task->plane_shift[p];
      const int narrow = (int) ((size + 63) / 64);
      memset (columns, 0, (size_t) tests * (size_t) narrow * sizeof *columns);
      int64_t place = 0;
      for (int w = 0; w < words; w++)
        for (uint64_t rest = key[w] & plane[w]; rest; rest &= rest - 1, place++) {
          const uint64_t *row = task->row_tests + (int64_t) (64 * w + lowest_bit (rest)) * test_words;
          const uint64_t bit = (uint64_t) 1 << (place % 64);
          for (int v = 0; v < test_words; v++)
            for (uint64_t left = row[v]; left; left &= left - 1)
              columns[(int64_t) (64 * v + lowest_bit (left)) * narrow + place / 64] |= bit;
        }
      task->counts->add_pairs (columns, narrow, tests, task->plane_shift[p], sums + task->plane_kind[p] * square);
    }
    best_pair (task, sums, totals, sides, sides + tests, side_tests, side_tests + tests, task->best + set,
               task->best_tests + 3 * set);
  }
  memory_release (sums);
  memory_release (sides);
  memory_release (side_tests);
  memory_release (columns);
  return code;
}

static int bits_needed (int64_t value) {
  int bits = 0;
  while (value > 0)
    bits++, value >>= 1;
  return bits;
}

/* A number of a row: its cost for a class, or its count after the classes. */
static int64_t number_of (const pair_task *task, int kind, int64_t row) {
  return kind < task->classes ? task->cost[row * task->classes + kind] : task->count[row];
}

/* Counts the bits of all numbers; -1 if one of them is negative. */
static int count_planes (const pair_task *task) {
  int planes = 0;
  for (int kind = 0; kind < task->kinds; kind++) {
    int64_t largest = 0;
    for (int row = 0; row < task->rows; row++) {
      const int64_t value = number_of (task, kind, row);
      if (value < 0)
        return -1;
      if (value > largest)
        largest = value;
    }
    planes += bits_needed (largest);
  }
  return planes;
}

/* Fills the bit planes of the numbers, and the tests of every row. */
static void fill_planes (const pair_task *task, const uint64_t *bits, uint64_t *plane_rows, int32_t *plane_kind,
                         int32_t *plane_shift, uint64_t *row_tests) {
  const int words = cover_words (task->rows), test_words = cover_words (task->tests);
  int plane = 0;
  for (int kind = 0; kind < task->kinds; kind++) {
    int64_t all = 0;
    for (int row = 0; row < task->rows; row++)
      all |= number_of (task, kind, row);
    for (int shift = 0; shift < bits_needed (all); shift++, plane++) {
      plane_kind[plane] = kind;
      plane_shift[plane] = shift;
      for (int row = 0; row < task->rows; row++)
        if (number_of (task, kind, row) >> shift & 1)
          plane_rows[(int64_t) plane * words + row / 64] |= (uint64_t) 1 << (row % 64);
    }
  }
  for (int j = 0; j < task->tests; j++)
    for (int row = 0; row < task->rows; row++)
      if (bits[(int64_t) j * words + row / 64] >> (row % 64) & 1)
        row_tests[(int64_t) row * test_words + j / 64] |= (uint64_t) 1 << (j % 64);
}

int treeml_cover_pairs (int32_t rows, int32_t tests, const uint64_t *bits, int64_t sets, int32_t stride,
                        const uint64_t *keys, int32_t classes, const int64_t *cost, const int64_t *count,
                        int64_t support, int64_t price, double seconds, int32_t threads, int64_t *best,
                        int32_t *best_tests) {
  if (rows <= 0 || tests < 0 || sets < 0 || !keys || !cost || !count || !best || !best_tests)
    return TREEML_COVER_INPUT;
  if (classes <= 0 || classes > 64 || (tests > 0 && !bits))
    return TREEML_COVER_INPUT;
  if (!cover_sets_fit (rows, sets, stride, keys))
    return TREEML_COVER_INPUT;
  /* A sum has at most four leaves, and a side at most two of them. */
  const int64_t most_price = INT64_MAX / 16;
  if (price < -most_price || price > most_price || !cover_sums_fit (rows, classes, cost) ||
      (support > 1 && !cover_sums_fit (rows, 1, count)))
    return TREEML_COVER_OVERFLOW;
  pair_task task = {.rows = rows,
                    .tests = tests,
                    .stride = stride,
                    .classes = classes,
                    .kinds = classes + (support > 1),
                    .counts = simd_counts (),
                    .keys = keys,
                    .cost = cost,
                    .count = count,
                    .support = support,
                    .price = price,
                    .deadline = seconds < 0 ? -1.0 : clock_seconds () + seconds,
                    .best = best,
                    .best_tests = best_tests};
  const int planes = task.planes = count_planes (&task);
  if (planes < 0)
    return TREEML_COVER_INPUT;
  const size_t words = (size_t) cover_words (rows), test_words = (size_t) cover_words (tests);
  uint64_t *plane_rows = memory_allocate (times ((size_t) planes + 1, words), sizeof *plane_rows);
  uint64_t *row_tests = memory_allocate (times ((size_t) rows, test_words), sizeof *row_tests);
  int32_t *plane_kind = memory_allocate (2 * ((size_t) planes + 1), sizeof *plane_kind);
  int code = TREEML_COVER_MEMORY;
  if (plane_rows && row_tests && plane_kind) {
    int32_t *plane_shift = plane_kind + planes + 1;
    fill_planes (&task, bits, plane_rows, plane_kind, plane_shift, row_tests);
    task.row_tests = row_tests;
    task.plane_rows = plane_rows;
    task.plane_kind = plane_kind;
    task.plane_shift = plane_shift;
    code = cover_over_ranges (pair_range, &task, sets, threads);
  }
  memory_release (plane_rows);
  memory_release (row_tests);
  memory_release (plane_kind);
  return code;
}
