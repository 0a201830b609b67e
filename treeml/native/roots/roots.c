/* In a subtree of depth two, every cell that two tests make is a sum over pairs of tests (Demirovic et al. 2022). A
   root leaves two such subtrees; the smaller side is counted, and the other one is the difference to the whole. With
   one class besides class 0, a leaf gains the larger of 0 and its sum, and two leaves a and b gain (a + b + max(|a +
   b|, |a - b|)) / 2. The second test with the largest |a - b| has either the largest or the smallest sum of its row,
   so that no pair is visited twice. */
#include "roots/roots.h"
#include "common/sizes.h"
#include "common/memory.h"

#include <float.h>
#include <string.h>

struct pair_sums {
  double *pair;  /* planes x tests x tests: the sum over rows that pass both */
  double *sum;   /* planes x tests */
  double *total; /* planes */
};

struct work {
  const double *gain;
  int32_t tests, rows, planes;
  int32_t *starts, *passed; /* for every row with a gain: the tests that it passes */
  struct pair_sums whole, part, rest;
  double *yes, *no; /* for every second test, if there are several planes */
};

static double larger (double a, double b) { return a > b ? a : b; }
static double smaller (double a, double b) { return a < b ? a : b; }
static double size_of (double a) { return a < 0 ? -a : a; }

static int make_cells (struct pair_sums *c, int32_t planes, int32_t tests) {
  const size_t p = (size_t) planes, n = (size_t) tests;
  c->pair = memory_allocate (times (p, times (n, n)) + times (p, n) + p, sizeof *c->pair);
  if (!c->pair)
    return 0;
  c->sum = c->pair + p * n * n;
  c->total = c->sum + p * n;
  return 1;
}

/* Sums over the rows that answer `side` to the root, or over all rows if there is no root. */
static void count (const struct work *w, struct pair_sums *c, const uint8_t *root, uint8_t side) {
  const size_t n = (size_t) w->tests;
  memset (c->pair, 0, ((size_t) w->planes * (n * n + n + 1)) * sizeof *c->pair);
  for (int32_t plane = 0; plane < w->planes; plane++) {
    double *pair = c->pair + (size_t) plane * n * n, *sum = c->sum + (size_t) plane * n;
    const double *gain = w->gain + (size_t) plane * (size_t) w->rows;
    for (int32_t row = 0; row < w->rows; row++) {
      const double value = gain[row];
      if (value == 0 || (root && root[row] != side))
        continue;
      const int32_t *passed = w->passed + w->starts[row];
      const int32_t length = w->starts[row + 1] - w->starts[row];
      c->total[plane] += value;
      for (int32_t a = 0; a < length; a++) {
        double *line = pair + (size_t) passed[a] * n;
        for (int32_t b = 0; b <= a; b++)
          line[passed[b]] += value;
      }
    }
    for (size_t i = 0; i < n; i++) {
      sum[i] = pair[i * n + i];
      for (size_t j = 0; j < i; j++)
        pair[j * n + i] = pair[i * n + j];
    }
  }
}

static void leave (const struct work *w, const struct pair_sums *whole, const struct pair_sums *part,
                   struct pair_sums *rest) {
  const size_t n = (size_t) w->tests, all = (size_t) w->planes * (n * n + n + 1);
  for (size_t at = 0; at < all; at++)
    rest->pair[at] = whole->pair[at] - part->pair[at];
}

/* The class of one of the four cells that tests i and j make: both, only i, only j, neither. */
static int32_t class_of (const struct work *w, const struct pair_sums *c, int32_t i, int32_t j, int which) {
  const size_t n = (size_t) w->tests;
  double best = 0;
  int32_t label = 0;
  for (int32_t plane = 0; plane < w->planes; plane++) {
    const double both = c->pair[(size_t) plane * n * n + (size_t) i * n + (size_t) j];
    const double si = c->sum[(size_t) plane * n + (size_t) i], sj = c->sum[(size_t) plane * n + (size_t) j];
    const double value = which == 0   ? both
                         : which == 1 ? si - both
                         : which == 2 ? sj - both
                                      : c->total[plane] - si - sj + both;
    if (value > best)
      best = value, label = plane + 1;
  }
  return label;
}

/* The gain of test i at the root of a subtree of depth two, for one plane. */
static double worth_of_one (const struct work *w, const struct pair_sums *c, int32_t i) {
  const int32_t n = w->tests;
  const double *line = c->pair + (size_t) i * (size_t) n, *sum = c->sum;
  const double si = sum[i], out = c->total[0] - si;
  double high = -DBL_MAX, low = DBL_MAX, high_out = -DBL_MAX, low_out = DBL_MAX;
  for (int32_t j = 0; j < n; j++) {
    const double both = line[j], other = sum[j] - both;
    high = larger (high, both), low = smaller (low, both);
    high_out = larger (high_out, other), low_out = smaller (low_out, other);
  }
  const double yes = larger (size_of (si), larger (2 * high - si, si - 2 * low));
  const double no = larger (size_of (out), larger (2 * high_out - out, out - 2 * low_out));
  return (si + yes) / 2 + (out + no) / 2;
}

/* The gains of every second test under i on both sides, in w->yes and w->no. */
static void second_tests (const struct work *w, const struct pair_sums *c, int32_t i) {
  const int32_t n = w->tests;
  memset (w->yes, 0, 4 * (size_t) n * sizeof *w->yes);
  double *both = w->yes, *only = w->yes + n, *other = w->no, *neither = w->no + n;
  for (int32_t plane = 0; plane < w->planes; plane++) {
    const double *line = c->pair + ((size_t) plane * (size_t) n + (size_t) i) * (size_t) n;
    const double *sum = c->sum + (size_t) plane * (size_t) n;
    const double si = sum[i], out = c->total[plane] - si;
    for (int32_t j = 0; j < n; j++) {
      both[j] = larger (both[j], line[j]);
      only[j] = larger (only[j], si - line[j]);
      other[j] = larger (other[j], sum[j] - line[j]);
      neither[j] = larger (neither[j], out - sum[j] + line[j]);
    }
  }
  for (int32_t j = 0; j < n; j++)
    both[j] += only[j], other[j] += neither[j];
}

static int32_t first_largest (const double *values, int32_t n) {
  int32_t best = 0;
  for (int32_t j = 1; j < n; j++)
    if (values[j] > values[best])
      best = j;
  return best;
}

static double worth_of (const struct work *w, const struct pair_sums *c, int32_t i) {
  if (w->planes == 1)
    return worth_of_one (w, c, i);
  second_tests (w, c, i);
  return w->yes[first_largest (w->yes, w->tests)] + w->no[first_largest (w->no, w->tests)];
}

/* The subtree of depth two under test i: its tests on both sides, and the classes of its four leaves. */
static void describe (const struct work *w, const struct pair_sums *c, int32_t i, int32_t *yes, int32_t *no,
                      int32_t *labels) {
  second_tests (w, c, i);
  *yes = first_largest (w->yes, w->tests);
  *no = first_largest (w->no, w->tests);
  for (int which = 0; which < 4; which++)
    labels[which] = class_of (w, c, i, which < 2 ? *yes : *no, which);
}

static double best_subtree (const struct work *w, const struct pair_sums *c, int32_t *test) {
  double best = -1;
  for (int32_t i = 0; i < w->tests; i++) {
    const double worth = worth_of (w, c, i);
    if (worth > best)
      best = worth, *test = i;
  }
  return best;
}

/* The tree of depth one under a root. */
static double stump (const struct work *w, int32_t root, int32_t *labels) {
  double worth = 0;
  for (int side = 0; side < 2; side++) {
    double best = 0;
    labels[side] = 0;
    for (int32_t plane = 0; plane < w->planes; plane++) {
      const double yes = w->whole.sum[(size_t) plane * (size_t) w->tests + (size_t) root];
      const double value = side == 0 ? yes : w->whole.total[plane] - yes;
      if (value > best)
        best = value, labels[side] = plane + 1;
    }
    worth += best;
  }
  return worth;
}

/* The tree of depth three under a root. */
static double deep (struct work *w, const uint8_t *bits, int32_t root, int32_t *node) {
  const uint8_t *answers = bits + (size_t) root * (size_t) w->rows;
  int32_t passing = 0, valued = 0;
  for (int32_t row = 0; row < w->rows; row++) {
    const int has = w->starts[row + 1] > w->starts[row];
    valued += has, passing += has && answers[row];
  }
  const int yes_is_smaller = 2 * passing <= valued;
  count (w, &w->part, answers, yes_is_smaller ? 1 : 0);
  leave (w, &w->whole, &w->part, &w->rest);
  double worth = 0;
  for (int side = 0; side < 2; side++) {
    const struct pair_sums *c = (side == 0) == yes_is_smaller ? &w->part : &w->rest;
    int32_t test = 0;
    worth += best_subtree (w, c, &test);
    node[1 + side] = test;
    describe (w, c, test, node + 3 + 2 * side, node + 4 + 2 * side, node + 7 + 4 * side);
  }
  return worth;
}

/* Lists the tests that each row with a gain passes. */
static int list_tests (struct work *w, const uint8_t *bits) {
  int64_t passed = 0;
  w->starts = memory_allocate ((size_t) w->rows + 1, sizeof *w->starts);
  if (!w->starts)
    return 0;
  for (int32_t test = 0; test < w->tests; test++)
    for (int32_t row = 0; row < w->rows; row++)
      passed += bits[(size_t) test * (size_t) w->rows + (size_t) row] != 0;
  if (passed > INT32_MAX)
    return 0;
  w->passed = memory_reserve (((size_t) passed + 1), sizeof *w->passed);
  if (!w->passed)
    return 0;
  int32_t at = 0;
  for (int32_t row = 0; row < w->rows; row++) {
    w->starts[row] = at;
    int has_gain = 0;
    for (int32_t plane = 0; plane < w->planes; plane++)
      has_gain |= w->gain[(size_t) plane * (size_t) w->rows + (size_t) row] != 0;
    for (int32_t test = 0; has_gain && test < w->tests; test++)
      if (bits[(size_t) test * (size_t) w->rows + (size_t) row])
        w->passed[at++] = test;
  }
  w->starts[w->rows] = at;
  return 1;
}

static int prepare (struct work *w, const uint8_t *bits, int32_t depth) {
  w->yes = memory_reserve (4 * (size_t) w->tests, sizeof *w->yes);
  if (!w->yes || !list_tests (w, bits) || !make_cells (&w->whole, w->planes, w->tests))
    return 0;
  w->no = w->yes + 2 * (size_t) w->tests;
  return depth < 3 || (make_cells (&w->part, w->planes, w->tests) && make_cells (&w->rest, w->planes, w->tests));
}

int treeml_best_under_roots (const uint8_t *bits, int64_t tests, int64_t rows, const double *gain, int32_t planes,
                             int32_t depth, const int32_t *roots, int64_t number, double *worth, int32_t *nodes) {
  if (!bits || !gain || !roots || !worth || !nodes || tests < 1 || tests > INT32_MAX || rows < 1 || rows >= INT32_MAX ||
      planes < 1 || depth < 1 || depth > 3)
    return TREEML_BAD_ARGUMENT;
  for (int64_t at = 0; at < number; at++)
    if (roots[at] < 0 || roots[at] >= tests)
      return TREEML_BAD_ARGUMENT;
  struct work w = {.gain = gain, .tests = (int32_t) tests, .rows = (int32_t) rows, .planes = planes};
  const int ready = prepare (&w, bits, depth);
  if (ready) {
    const int32_t inner = (1 << depth) - 1, room = 2 * inner + 1;
    count (&w, &w.whole, 0, 0);
    for (int64_t at = 0; at < number; at++) {
      int32_t *node = nodes + at * room;
      const int32_t root = node[0] = roots[at];
      if (depth == 1)
        worth[at] = stump (&w, root, node + 1);
      else if (depth == 2) {
        worth[at] = worth_of (&w, &w.whole, root);
        describe (&w, &w.whole, root, node + 1, node + 2, node + 3);
      } else
        worth[at] = deep (&w, bits, root, node);
    }
  }
  memory_release (w.yes), memory_release (w.starts), memory_release (w.passed);
  memory_release (w.whole.pair), memory_release (w.part.pair), memory_release (w.rest.pair);
  return ready ? TREEML_OK : TREEML_OUT_OF_MEMORY;
}
