/* The cells for one processor: plain loops over lanes that the compiler turns into its vectors. Included with CELLS_NAME
   and CELLS_FUNCTION defined. */
#include "cells.h"

#include <math.h>
#include <string.h>

enum { block = 16 };

/* Said as vectors where the compiler does not see them by itself. */
typedef double eight_reals __attribute__ ((vector_size (64), aligned (8), may_alias));
typedef int64_t eight_wholes __attribute__ ((vector_size (64), aligned (8), may_alias));

/* Sums of one side: the matrix as it is, or what is left of it without another. */
static inline int32_t whole_at (const int32_t *from, const int32_t *without, int64_t at) {
  return without ? from[at] - without[at] : from[at];
}

static inline __attribute__ ((always_inline)) void
classes_of (const struct shape *shape, const struct cell_question *question, const struct cell_sums *sums,
            const struct cell_sums *without, struct cell_answer *answer, const int supported) {
  const int64_t stride = shape->stride, matrix = (int64_t) shape->padded * stride;
  const int32_t classes = question->classes;
  for (int32_t j = 0; j < shape->tests; j += block) {
    int32_t best_yes[block], best_no[block], leaf_yes[block], leaf_no[block];
    for (int l = 0; l < block; l++)
      best_yes[l] = best_no[l] = leaf_yes[l] = leaf_no[l] = INVALID;
    for (int32_t k = 0; k < classes; k++) {
      const int64_t at = k * stride + j;
      const int32_t total = (int32_t) (sums->whole_total[k] - (without ? without->whole_total[k] : 0));
      for (int l = 0; l < block; l++) {
        const int32_t mine = whole_at (sums->whole_test, without ? without->whole_test : NULL, at + l);
        leaf_yes[l] = leaf_yes[l] > mine ? leaf_yes[l] : mine;
        leaf_no[l] = leaf_no[l] > total - mine ? leaf_no[l] : total - mine;
      }
    }
    if (supported) {
      const int64_t at = classes * stride + j;
      const int32_t total = (int32_t) (sums->whole_total[classes] - (without ? without->whole_total[classes] : 0));
      for (int l = 0; l < block; l++) {
        const int32_t mine = whole_at (sums->whole_test, without ? without->whole_test : NULL, at + l);
        leaf_yes[l] = mine >= question->support ? leaf_yes[l] : INVALID;
        leaf_no[l] = total - mine >= question->support ? leaf_no[l] : INVALID;
      }
    }
    for (int l = 0; l < block; l++) {
      best_yes[l] = leaf_yes[l];
      best_no[l] = leaf_no[l];
    }
    for (int32_t i = 0; i < shape->tests; i++) {
      int32_t yes_yes[block], yes_no[block], no_yes[block], no_no[block];
      for (int l = 0; l < block; l++)
        yes_yes[l] = yes_no[l] = no_yes[l] = no_no[l] = 0;
      for (int32_t k = 0; k < classes + (supported ? 1 : 0); k++) {
        const int64_t at = k * matrix + i * stride + j, test = k * stride;
        const int32_t total = (int32_t) (sums->whole_total[k] - (without ? without->whole_total[k] : 0));
        const int32_t other = whole_at (sums->whole_test, without ? without->whole_test : NULL, test + i);
        if (k < classes)
          for (int l = 0; l < block; l++) {
            const int32_t both = whole_at (sums->whole, without ? without->whole : NULL, at + l);
            const int32_t mine = whole_at (sums->whole_test, without ? without->whole_test : NULL, test + j + l);
            const int32_t b = mine - both, c = other - both, d = total - mine - other + both;
            yes_yes[l] = yes_yes[l] > both ? yes_yes[l] : both;
            yes_no[l] = yes_no[l] > b ? yes_no[l] : b;
            no_yes[l] = no_yes[l] > c ? no_yes[l] : c;
            no_no[l] = no_no[l] > d ? no_no[l] : d;
          }
        else
          for (int l = 0; l < block; l++) {
            const int32_t both = whole_at (sums->whole, without ? without->whole : NULL, at + l);
            const int32_t mine = whole_at (sums->whole_test, without ? without->whole_test : NULL, test + j + l);
            const int32_t b = mine - both, c = other - both, d = total - mine - other + both;
            const int32_t s = question->support;
            yes_yes[l] = both >= s && b >= s ? yes_yes[l] : INVALID;
            no_yes[l] = c >= s && d >= s ? no_yes[l] : INVALID;
          }
      }
      for (int l = 0; l < block; l++) {
        const int32_t yes = yes_yes[l] + yes_no[l], no = no_yes[l] + no_no[l];
        best_yes[l] = best_yes[l] > yes ? best_yes[l] : yes;
        best_no[l] = best_no[l] > no ? best_no[l] : no;
      }
    }
    memcpy (answer->whole_leaf[1] + j, leaf_yes, sizeof leaf_yes);
    memcpy (answer->whole_leaf[0] + j, leaf_no, sizeof leaf_no);
    memcpy (answer->whole_best[1] + j, best_yes, sizeof best_yes);
    memcpy (answer->whole_best[0] + j, best_no, sizeof best_no);
  }
}

static void classes (const struct shape *shape, const struct cell_question *question, const struct cell_sums *sums,
                     const struct cell_sums *without, struct cell_answer *answer) {
  if (question->support)
    classes_of (shape, question, sums, without, answer, 1);
  else
    classes_of (shape, question, sums, without, answer, 0);
}

static inline double real_at (const double *from, const double *without, int64_t at) {
  return without ? from[at] - without[at] : from[at];
}

/* sum^2 / weight, and 0 for a cell without weight. */
static inline double share (double sum, double weight) { return weight > 0.5 ? sum * sum / weight : 0; }

/* What two cells save together, in one division; nothing where one of them is empty, which the leaf covers. */
static inline double shares (double one, double one_weight, double two, double two_weight) {
  const double product = one_weight * two_weight;
  return (one * one * two_weight + two * two * one_weight) / (product > 0.25 ? product : 1e300);
}

static inline __attribute__ ((always_inline)) void
moments_of (const struct shape *shape, const struct cell_question *question, const struct cell_sums *sums,
            const struct cell_sums *without, struct cell_answer *answer, const int supported) {
  enum { width = 8 };
  const int64_t stride = shape->stride, matrix = (int64_t) shape->padded * stride;
  const int32_t outputs = question->classes, counting = 1 + outputs;
  const double *test_without = without ? without->real_test : NULL, *pair_without = without ? without->real : NULL;
  const double *total_without = without ? without->real_total : NULL;
  const double invalid = -1e300, support = question->support;
  for (int32_t j = 0; j < shape->tests; j += width) {
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
    moments_of (shape, question, sums, without, answer, 1);
  else
    moments_of (shape, question, sums, without, answer, 0);
}

/* Rows in chunks: their numbers stand in the lanes of the tests they pass, and the line of a test sums the rows that pass
   it, in registers. Only lines at or above the diagonal are complete until they are mirrored. */
static void add_moments (const struct shape *shape, const uint8_t *row_bits, int64_t row_bytes, const int32_t *ids,
                         int32_t count, const double *moment, int32_t moment_stride, struct cell_sums *sums,
                         double *scratch) {
  enum { chunk = 64, width = 8 };
  const int64_t stride = shape->stride, matrix = (int64_t) shape->padded * stride;
  const int32_t channels = sums->channels, tests = shape->tests;
  const eight_wholes lane = {1, 2, 4, 8, 16, 32, 64, 128};
  for (int32_t first = 0; first < count; first += chunk) {
    const int32_t here = count - first < chunk ? count - first : chunk;
    for (int32_t r = 0; r < here; r++) {
      const double *numbers = moment + (int64_t) ids[first + r] * moment_stride;
      const uint8_t *row = row_bits + ids[first + r] * row_bytes;
      for (int32_t c = 0; c < channels; c++) {
        const eight_reals number = numbers[c] - (eight_reals){0};
        double *lanes = scratch + (c * chunk + r) * stride;
        sums->real_total[c] += numbers[c];
        for (int32_t j = 0; j < stride; j += width) {
          const eight_wholes on = ((lane & (int64_t) row[j >> 3]) != 0) & (eight_wholes) number;
          *(eight_reals *) (lanes + j) = (eight_reals) on;
        }
      }
    }
    for (int32_t i = 0; i < tests; i++) {
      int32_t passing[chunk], length = 0;
      for (int32_t r = 0; r < here; r++) {
        passing[length] = r;
        length += row_bits[ids[first + r] * row_bytes + (i >> 3)] >> (i & 7) & 1;
      }
      for (int32_t c = 0; c < channels; c++) {
        double *line = sums->real + c * matrix + i * stride;
        const double *lanes = scratch + (int64_t) c * chunk * stride;
        for (int32_t j = i / width * width; j < tests; j += width) {
          eight_reals sum = *(const eight_reals *) (line + j);
          for (int32_t p = 0; p < length; p++)
            sum += *(const eight_reals *) (lanes + passing[p] * stride + j);
          *(eight_reals *) (line + j) = sum;
        }
      }
    }
  }
}

static void mirror_moments (const struct shape *shape, struct cell_sums *sums) {
  enum { width = 8 };
  const int64_t stride = shape->stride, matrix = (int64_t) shape->padded * stride;
  const int32_t tests = shape->tests;
  for (int32_t c = 0; c < sums->channels; c++) {
    double *restrict pairs = sums->real + c * matrix;
    for (int32_t i = 0; i < tests; i++) {
      sums->real_test[c * stride + i] = pairs[i * stride + i];
      for (int32_t j = i / width * width + width; j < tests; j++)
        pairs[j * stride + i] = pairs[i * stride + j];
    }
  }
}

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
  static const struct cells cells = {CELLS_NAME, classes, moments, add_moments, mirror_moments, similar_whole,
                                     similar_real};
  return &cells;
}
