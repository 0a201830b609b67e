/* The loops of cells.h for one instruction set: plain loops over lanes that the compiler vectorizes. Included with
   CELLS_NAME and CELLS_FUNCTION defined. */
#include "simd/cells.h"
#include "simd/lanes.h"

#include <math.h>
#include <string.h>

/* LARGER computes the lane-wise maximum of two vectors of CELLS_BYTES bytes. */
DEFINE_LANES (wholes, int32_t, CELLS_BYTES, 4);
enum { whole_lanes = sizeof (wholes) / 4 };

/* Written with vector types where the compiler does not vectorize by itself: eight numbers of 64 bits, if it has them.
 */
DEFINE_LANES (reals, double, 64, 8);
DEFINE_LANES (real_masks, int64_t, 64, 8);
enum { real_lanes = sizeof (reals) / sizeof (double) };

/* All bits set in the lanes of the tests from J on that a row passes. No function: it would return a vector that not
   every processor has. */
#ifdef TREEML_EXTENDED_C
#define PASSES(ROW, J) (((real_masks) {1, 2, 4, 8, 16, 32, 64, 128} & (int64_t) (ROW)[(J) >> 3]) != 0)
#else
#define PASSES(ROW, J) (-(int64_t) ((ROW)[(J) >> 3] >> ((J) & 7) & 1))
#endif

/* Sums of one side: the matrix itself, or its difference to another one. */
static inline wholes wholes_at (const int32_t *from, const int32_t *without, int64_t at) {
  wholes all = *(const wholes *) (from + at);
  if (without)
    all -= *(const wholes *) (without + at);
  return all;
}

static inline int32_t whole_at (const int32_t *from, const int32_t *without, int64_t at) {
  return without ? from[at] - without[at] : from[at];
}

/* Negative if one of two cells has too few rows: no sum of savings is as large as -INVALID. */
static inline wholes too_few (wholes one, wholes two, int32_t support) {
  return (HOLDS (wholes, one < support) | HOLDS (wholes, two < support)) & INVALID;
}

/* Callers pass constants for `classes` and `supported`, so that two classes need no loop and no branch. */
static inline ALWAYS_INLINE void classes_of (const struct shape *shape, const struct cell_question *question,
                                             const struct cell_sums *sums, const struct cell_sums *without,
                                             struct cell_answer *answer, const int32_t classes, const int supported) {
  const int64_t stride = shape->stride, matrix = (int64_t) shape->padded * stride;
  const int32_t *pair = sums->whole, *test = sums->whole_test, support = question->support;
  const int32_t *less_pair = without ? without->whole : NULL, *less_test = without ? without->whole_test : NULL;
  int32_t total[most_lists];
  for (int32_t k = 0; k < classes + supported; k++)
    total[k] = (int32_t) (sums->whole_total[k] - (without ? without->whole_total[k] : 0));
  for (int32_t j = question->from; j < question->to; j += whole_lanes) {
    wholes mine[most_lists], rest[most_lists], leaf_yes = {0}, leaf_no = {0};
    for (int32_t k = 0; k < classes + supported; k++) {
      mine[k] = wholes_at (test, less_test, k * stride + j);
      rest[k] = total[k] - mine[k];
    }
    for (int32_t k = 0; k < classes; k++) {
      leaf_yes = LARGER (leaf_yes, mine[k]);
      leaf_no = LARGER (leaf_no, rest[k]);
    }
    if (supported) {
      leaf_yes += too_few (mine[classes], mine[classes], support);
      leaf_no += too_few (rest[classes], rest[classes], support);
    }
    wholes best_yes = leaf_yes, best_no = leaf_no;
    for (int32_t i = 0; i < shape->tests; i++) {
      wholes yes_yes = {0}, yes_no = {0}, no_yes = {0}, no_no = {0};
      for (int32_t k = 0; k < classes; k++) {
        const wholes both = wholes_at (pair, less_pair, k * matrix + i * stride + j);
        const wholes other = whole_at (test, less_test, k * stride + i) - both;
        yes_yes = LARGER (yes_yes, both);
        yes_no = LARGER (yes_no, mine[k] - both);
        no_yes = LARGER (no_yes, other);
        no_no = LARGER (no_no, rest[k] - other);
      }
      wholes yes = yes_yes + yes_no, no = no_yes + no_no;
      if (supported) {
        const wholes both = wholes_at (pair, less_pair, classes * matrix + i * stride + j);
        const wholes other = whole_at (test, less_test, classes * stride + i) - both;
        yes += too_few (both, mine[classes] - both, support);
        no += too_few (other, rest[classes] - other, support);
      }
      best_yes = LARGER (best_yes, yes);
      best_no = LARGER (best_no, no);
    }
    *(wholes *) (answer->whole_leaf[1] + j) = leaf_yes;
    *(wholes *) (answer->whole_leaf[0] + j) = leaf_no;
    *(wholes *) (answer->whole_best[1] + j) = best_yes;
    *(wholes *) (answer->whole_best[0] + j) = best_no;
  }
}

static inline ALWAYS_INLINE void classes_within (const struct shape *shape, const struct cell_question *question,
                                                 const struct cell_sums *sums, const struct cell_sums *without,
                                                 struct cell_answer *answer, const int supported) {
  if (question->classes == 2)
    classes_of (shape, question, sums, without, answer, 2, supported);
  else
    classes_of (shape, question, sums, without, answer, question->classes, supported);
}

static void classes (const struct shape *shape, const struct cell_question *question, const struct cell_sums *sums,
                     const struct cell_sums *without, struct cell_answer *answer) {
  if (question->support && without)
    classes_within (shape, question, sums, without, answer, 1);
  else if (question->support)
    classes_within (shape, question, sums, NULL, answer, 1);
  else if (without)
    classes_within (shape, question, sums, without, answer, 0);
  else
    classes_within (shape, question, sums, NULL, answer, 0);
}

static inline double real_at (const double *from, const double *without, int64_t at) {
  return without ? from[at] - without[at] : from[at];
}

/* sum^2 / weight, and 0 for a cell without weight. */
static inline double share (double sum, double weight) { return weight > 0.5 ? sum * sum / weight : 0; }

/* What two cells save together, with one division; 0 if one of them is empty, since the leaf covers that case. */
static inline double shares (double one, double one_weight, double two, double two_weight) {
  const double product = one_weight * two_weight;
  return (one * one * two_weight + two * two * one_weight) / (product > 0.25 ? product : 1e300);
}

static inline ALWAYS_INLINE void moments_of (const struct shape *shape, const struct cell_question *question,
                                             const struct cell_sums *sums, const struct cell_sums *without,
                                             struct cell_answer *answer, const int supported, const int32_t outputs) {
  enum { width = 8 };
  const int64_t stride = shape->stride, matrix = (int64_t) shape->padded * stride;
  const int32_t counting = 1 + outputs;
  const double *test_without = without ? without->real_test : NULL, *pair_without = without ? without->real : NULL;
  const double *total_without = without ? without->real_total : NULL;
  const double invalid = -1e300, support = question->support;
  for (int32_t j = question->from; j < question->to; j += width) {
    double best[2][width], leaf[2][width] = {{0}}, weight[width];
    const double total_weight = real_at (sums->real_total, total_without, 0);
    for (int l = 0; l < width; l++)
      weight[l] = real_at (sums->real_test, test_without, j + l);
    for (int32_t o = 1; o <= outputs; o++) {
      const double total = real_at (sums->real_total, total_without, o);
      for (int l = 0; l < width; l++) {
        const double mine = real_at (sums->real_test, test_without, o * stride + j + l);
        leaf[1][l] += share (mine, weight[l]);
        leaf[0][l] += share (total - mine, total_weight - weight[l]);
      }
    }
    if (supported) {
      const double count = real_at (sums->real_total, total_without, counting);
      for (int l = 0; l < width; l++) {
        const double mine = real_at (sums->real_test, test_without, counting * stride + j + l);
        leaf[1][l] = mine >= support ? leaf[1][l] : invalid;
        leaf[0][l] = count - mine >= support ? leaf[0][l] : invalid;
      }
    }
    memcpy (best, leaf, sizeof best);
    for (int32_t i = 0; i < shape->tests; i++) {
      double yes[width] = {0}, no[width] = {0}, heavy[width];
      const double other_weight = real_at (sums->real_test, test_without, i);
      for (int l = 0; l < width; l++)
        heavy[l] = real_at (sums->real, pair_without, i * stride + j + l);
      for (int32_t o = 1; o <= outputs; o++) {
        const double total = real_at (sums->real_total, total_without, o);
        const double other = real_at (sums->real_test, test_without, o * stride + i);
        for (int l = 0; l < width; l++) {
          const double both = real_at (sums->real, pair_without, o * matrix + i * stride + j + l);
          const double mine = real_at (sums->real_test, test_without, o * stride + j + l);
          yes[l] += shares (both, heavy[l], mine - both, weight[l] - heavy[l]);
          no[l] += shares (other - both, other_weight - heavy[l], total - mine - other + both,
                           total_weight - weight[l] - other_weight + heavy[l]);
        }
      }
      if (supported) {
        const double count = real_at (sums->real_total, total_without, counting);
        const double other_count = real_at (sums->real_test, test_without, counting * stride + i);
        for (int l = 0; l < width; l++) {
          const double both = real_at (sums->real, pair_without, counting * matrix + i * stride + j + l);
          const double mine = real_at (sums->real_test, test_without, counting * stride + j + l);
          yes[l] = both >= support && mine - both >= support ? yes[l] : invalid;
          no[l] = other_count - both >= support && count - mine - other_count + both >= support ? no[l] : invalid;
        }
      }
      for (int l = 0; l < width; l++) {
        best[1][l] = best[1][l] > yes[l] ? best[1][l] : yes[l];
        best[0][l] = best[0][l] > no[l] ? best[0][l] : no[l];
      }
    }
    for (int side = 0; side < 2; side++) {
      memcpy (answer->real_leaf[side] + j, leaf[side], sizeof leaf[side]);
      memcpy (answer->real_best[side] + j, best[side], sizeof best[side]);
    }
  }
}

static void moments (const struct shape *shape, const struct cell_question *question, const struct cell_sums *sums,
                     const struct cell_sums *without, struct cell_answer *answer) {
  if (question->support > 1)
    moments_of (shape, question, sums, without, answer, 1, question->classes);
  else if (question->classes > 1)
    moments_of (shape, question, sums, without, answer, 0, question->classes);
  else if (without) /* the most frequent case, without loops over outputs */
    moments_of (shape, question, sums, without, answer, 0, 1);
  else
    moments_of (shape, question, sums, NULL, answer, 0, 1);
}

/* Adds several vectors of the listed rows to a line, keeping them in registers. */
static inline ALWAYS_INLINE void add_lines (double *line, const double *lanes, const int32_t *rows, int32_t count,
                                            int64_t stride, const int vectors) {
  reals sum[4];
  for (int v = 0; v < vectors; v++)
    sum[v] = *(const reals *) (line + real_lanes * v);
  for (int32_t r = 0; r < count; r++) {
    const double *row = lanes + rows[r] * stride;
    for (int v = 0; v < vectors; v++)
      sum[v] += *(const reals *) (row + real_lanes * v);
  }
  for (int v = 0; v < vectors; v++)
    *(reals *) (line + real_lanes * v) = sum[v];
}

/* Takes rows in chunks. The moments of a row are placed in the lanes of the tests that it passes, and the line of a
   test adds up the rows that pass it, in registers. Only lanes at or right of the diagonal are complete until they
   are mirrored. */
static void add_moments (const struct shape *shape, const uint8_t *row_bits, int64_t row_bytes, const int32_t *ids,
                         int32_t count, const double *moment, int32_t moment_stride, struct cell_sums *sums,
                         double *scratch, int32_t from, int32_t to) {
  enum { chunk = 64, width = real_lanes };
  const int64_t stride = shape->stride, matrix = (int64_t) shape->padded * stride;
  const int32_t channels = sums->channels, tests = shape->tests;
  for (int32_t first = 0; first < count; first += chunk) {
    const int32_t here = count - first < chunk ? count - first : chunk;
    for (int32_t r = 0; r < here; r++) {
      const double *numbers = moment + (int64_t) ids[first + r] * moment_stride;
      const uint8_t *row = row_bits + ids[first + r] * row_bytes;
      for (int32_t c = 0; c < channels; c++) {
        const reals number = numbers[c] - (reals) {0};
        double *lanes = scratch + (c * chunk + r) * stride;
        if (!from)
          sums->real_total[c] += numbers[c];
        for (int32_t j = 0; j < stride; j += width)
          *(reals *) (lanes + j) = WHERE (reals, real_masks, PASSES (row, j), number);
      }
    }
    for (int32_t i = from; i < to; i++) {
      int32_t passing[chunk], length = 0;
      for (int32_t r = 0; r < here; r++) {
        passing[length] = r;
        length += row_bits[ids[first + r] * row_bytes + (i >> 3)] >> (i & 7) & 1;
      }
      for (int32_t c = 0; c < channels; c++) {
        double *line = sums->real + c * matrix + i * stride;
        const double *lanes = scratch + (int64_t) c * chunk * stride;
        int32_t j = i / width * width;
        for (; j + 4 * width <= stride && j < tests; j += 4 * width)
          add_lines (line + j, lanes + j, passing, length, stride, 4);
        for (; j < tests; j += width)
          add_lines (line + j, lanes + j, passing, length, stride, 1);
      }
    }
  }
}

/* In square blocks, so that a line is not fetched again for each of its numbers. */
static void mirror_moments (const struct shape *shape, struct cell_sums *sums, int32_t channel) {
  enum { width = real_lanes, square = 64 };
  const int64_t stride = shape->stride, matrix = (int64_t) shape->padded * stride;
  const int32_t tests = shape->tests;
  double *restrict pairs = sums->real + channel * matrix;
  for (int32_t i = 0; i < tests; i++)
    sums->real_test[channel * stride + i] = pairs[i * stride + i];
  for (int32_t top = 0; top < tests; top += square)
    for (int32_t left = top; left < tests; left += square)
      for (int32_t i = top; i < top + square && i < tests; i++) {
        const int32_t begin = i / width * width + width;
        for (int32_t j = begin > left ? begin : left; j < left + square && j < tests; j++)
          pairs[j * stride + i] = pairs[i * stride + j];
      }
}

static void add_tests (const struct shape *shape, const uint8_t *row_bits, int64_t row_bytes, const int32_t *ids,
                       int32_t count, const double *numbers, int64_t number_stride, double *sums) {
  for (int32_t r = 0; r < count; r++) {
    const uint8_t *row = row_bits + ids[r] * row_bytes;
    const reals number = numbers[ids[r] * number_stride] - (reals) {0};
    for (int32_t j = 0; j < shape->tests; j += real_lanes)
      *(reals *) (sums + j) += WHERE (reals, real_masks, PASSES (row, j), number);
  }
}

#include "simd/packed_body.h"

static void similar_whole (int32_t tests, const int32_t *restrict common, const int32_t *restrict weights,
                           int64_t all_weight, int32_t test, int64_t scale, int64_t yes, int64_t no,
                           int64_t *restrict low_yes, int64_t *restrict low_no) {
  const int64_t own = weights[test], rest = all_weight - own;
  for (int32_t f = 0; f < tests; f++) {
    const int64_t both = common[f], weight = weights[f];
    const int64_t first = yes - scale * (own - both), second = no - scale * (rest - weight + both);
    const int64_t third = yes - scale * both, fourth = no - scale * (weight - both);
    const int64_t a = first > second ? first : second, b = third > fourth ? third : fourth;
    low_yes[f] = low_yes[f] > a ? low_yes[f] : a;
    low_no[f] = low_no[f] > b ? low_no[f] : b;
  }
}

static void similar_real (int32_t tests, const double *restrict common, const double *restrict weights,
                          double all_weight, int32_t test, double unit, int64_t yes, int64_t no,
                          int64_t *restrict low_yes, int64_t *restrict low_no) {
  const double own = weights[test], rest = all_weight - own;
  for (int32_t f = 0; f < tests; f++) {
    const double both = common[f], weight = weights[f];
    const double first = (double) yes - unit * (own - both), second = (double) no - unit * (rest - weight + both);
    const double third = (double) yes - unit * both, fourth = (double) no - unit * (weight - both);
    const double a = first > second ? first : second, b = third > fourth ? third : fourth;
    const int64_t low_a = a > 0 ? (int64_t) a - 1 : 0, low_b = b > 0 ? (int64_t) b - 1 : 0;
    low_yes[f] = low_yes[f] > low_a ? low_yes[f] : low_a;
    low_no[f] = low_no[f] > low_b ? low_no[f] : low_b;
  }
}

const struct cells *CELLS_FUNCTION (void) {
  static const struct cells cells = {CELLS_NAME,     classes,    moments,       add_moments, mirror_moments,
                                     add_packed,     sum_packed, mirror_packed, copy_lanes,  add_tests,
                                     screen_moments, one_root,   similar_whole, similar_real};
  return &cells;
}
