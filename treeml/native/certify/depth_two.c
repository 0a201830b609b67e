/* The exact best tree of depth at most two on a set of rows, as the checkers recompute it.

   Where every column is one test, the costs of all pairs of tests are added up row by row. Otherwise checkers recompute
   trees with one test only, by a pass over the sorted rows of every column. */

#include "certify/certify.h"

#include "common/bits.h"

#include <string.h>

static int64_t least (int64_t a, int64_t b) { return a < b ? a : b; }

int64_t certify_leaf (const treeml_certify *c, const int64_t *sum) {
  if (c->squared) {
    int64_t weight = sum[0] ? sum[0] : 1;
    return sum[2] - (sum[1] * sum[1] + weight - 1) / weight + c->price;
  }
  int64_t best = sum[0];
  for (int64_t i = 1; i < c->channels; i++)
    best = least (best, sum[i]);
  return best + c->price;
}

/* The sums of a set; its rows are listed. */
static int64_t sum_rows (const treeml_certify *c, const uint64_t *set, int32_t *listed, int64_t *sum, int64_t *lines) {
  int64_t size = 0;
  memset (sum, 0, (size_t) c->channels * sizeof *sum);
  *lines = 0;
  for (size_t w = 0; w < c->words; w++)
    for (uint64_t left = set[w]; left; left &= left - 1) {
      size_t row = 64 * w + (size_t) lowest_bit (left);
      for (int64_t i = 0; i < c->channels; i++)
        sum[i] += c->vector[row * (size_t) c->channels + (size_t) i];
      *lines += c->count[row];
      listed[size++] = (int32_t) row;
    }
  return size;
}

int64_t certify_leaf_of (treeml_certify *c, const uint64_t *set, int64_t *lines) {
  int64_t sum[CERTIFY_CHANNELS];
  sum_rows (c, set, c->listed, sum, lines);
  return certify_leaf (c, sum);
}

/* The tests that differ on the rows, each as the list of rows with the rarer answer. */
void certify_index_pairs (treeml_certify *c) {
  size_t kept = 0, total = 0;
  uint64_t **bits = certify_make (c, (size_t) c->families, sizeof *bits);
  uint64_t last = c->rows % 64 ? ~(~(uint64_t) 0 << c->rows % 64) : ~(uint64_t) 0;
  for (int64_t f = 0; f < c->families; f++) {
    uint64_t *own = certify_make (c, c->words, sizeof *own);
    int64_t yes = 0;
    int same = 0;
    for (size_t w = 0; w < c->words; w++)
      yes += count_bits (own[w] = c->yes[f][w]);
    if (2 * yes > c->rows || (2 * yes == c->rows && (own[0] & 1))) {
      for (size_t w = 0; w < c->words; w++)
        own[w] = ~own[w] & (w + 1 == c->words ? last : ~(uint64_t) 0);
      yes = c->rows - yes;
    }
    for (size_t g = 0; g < kept && !same; g++)
      same = !memcmp (bits[g], own, c->words * sizeof *own);
    if (!same && yes) {
      bits[kept++] = own;
      total += (size_t) yes;
    }
  }
  c->pair_tests = (int64_t) kept;
  c->ones = certify_make (c, total, sizeof *c->ones);
  c->one_place = certify_make (c, (size_t) c->rows + 1, sizeof *c->one_place);
  total = 0;
  for (size_t row = 0; row < (size_t) c->rows; row++) {
    c->one_place[row] = (int32_t) total;
    for (size_t t = 0; t < kept; t++)
      if (bits[t][row / 64] >> row % 64 & 1)
        c->ones[total++] = (int32_t) t;
  }
  c->one_place[c->rows] = (int32_t) total;
  size_t channels = (size_t) c->channels + 1;
  c->pair = certify_make (c, kept * kept * channels, sizeof *c->pair);
  c->single = certify_make (c, kept * channels, sizeof *c->single);
  c->split = certify_make (c, 2 * kept, sizeof *c->split);
  c->active = certify_make (c, kept, sizeof *c->active);
  c->compressed = certify_make (c, kept, sizeof *c->compressed);
}

static int64_t cell_cost (const treeml_certify *c, const int64_t *sum) {
  return sum[c->channels] < c->support ? CERTIFY_LIMIT : certify_leaf (c, sum);
}

/* Numbers the tests that split the rows; returns how many there are. */
static int64_t active_tests (treeml_certify *c, int64_t size) {
  int64_t found = 0;
  memset (c->active, 0, (size_t) c->pair_tests * sizeof *c->active);
  for (int64_t i = 0; i < size; i++)
    for (int32_t at = c->one_place[c->listed[i]]; at < c->one_place[c->listed[i] + 1]; at++)
      c->active[c->ones[at]]++;
  for (int64_t t = 0; t < c->pair_tests; t++)
    c->active[t] = c->active[t] && c->active[t] < size ? (int32_t) found++ : -1;
  return found;
}

/* Adds up the rows of every test and, if `deep`, of every pair of tests. */
static void add_pairs (treeml_certify *c, int64_t size, size_t tests, size_t channels, int deep) {
  memset (c->single, 0, tests * channels * sizeof *c->single);
  if (deep)
    memset (c->pair, 0, tests * tests * channels * sizeof *c->pair);
  for (int64_t i = 0; i < size; i++) {
    size_t row = (size_t) c->listed[i], many = 0;
    const int64_t *value = c->vector + row * (size_t) c->channels;
    for (int32_t at = c->one_place[row]; at < c->one_place[row + 1]; at++)
      if (c->active[c->ones[at]] >= 0)
        c->compressed[many++] = c->active[c->ones[at]];
    for (size_t k = 0; k < channels; k++) {
      int64_t add = k < (size_t) c->channels ? value[k] : c->count[row];
      if (!add)
        continue;
      int64_t *single = c->single + k * tests, *plane = c->pair + k * tests * tests;
      for (size_t a = 0; a < many; a++) {
        int64_t *line = plane + (size_t) c->compressed[a] * tests;
        single[c->compressed[a]] += add;
        for (size_t b = a + 1; deep && b < many; b++)
          line[c->compressed[b]] += add;
      }
    }
  }
}

/* Two classes and no least number of rows: the costs of the four cells of every pair, without branches. */
static void split_two (treeml_certify *c, const int64_t *all, size_t tests) {
  const int64_t *x = c->single, *y = c->single + tests;
  int64_t price = 2 * c->price;
  for (size_t a = 0; a < tests; a++) {
    const int64_t *p = c->pair + a * tests, *q = p + tests * tests;
    int64_t yes = c->split[a], no = c->split[tests + a];
    for (size_t b = a + 1; b < tests; b++) {
      int64_t both = least (p[b], q[b]), one = least (x[a] - p[b], y[a] - q[b]);
      int64_t other = least (x[b] - p[b], y[b] - q[b]);
      int64_t none = least (all[0] - x[a] - x[b] + p[b], all[1] - y[a] - y[b] + q[b]);
      yes = least (yes, both + one + price);
      no = least (no, other + none + price);
      c->split[b] = least (c->split[b], both + other + price);
      c->split[tests + b] = least (c->split[tests + b], one + none + price);
    }
    c->split[a] = yes;
    c->split[tests + a] = no;
  }
}

static void split_any (treeml_certify *c, const int64_t *all, size_t tests, size_t channels) {
  for (size_t a = 0; a < tests; a++)
    for (size_t b = a + 1; b < tests; b++) {
      int64_t cell[4][CERTIFY_CHANNELS + 1] = {{0}}, cost[4];
      for (size_t k = 0; k < channels; k++) {
        int64_t both = c->pair[(k * tests + a) * tests + b], x = c->single[k * tests + a], y = c->single[k * tests + b];
        cell[0][k] = both, cell[1][k] = x - both, cell[2][k] = y - both, cell[3][k] = all[k] - x - y + both;
      }
      for (int i = 0; i < 4; i++)
        cost[i] = c->support > 1 ? cell_cost (c, cell[i]) : certify_leaf (c, cell[i]);
      c->split[a] = least (c->split[a], cost[0] + cost[1]);
      c->split[tests + a] = least (c->split[tests + a], cost[2] + cost[3]);
      c->split[b] = least (c->split[b], cost[0] + cost[2]);
      c->split[tests + b] = least (c->split[tests + b], cost[1] + cost[3]);
    }
}

static int64_t best_pair (treeml_certify *c, int64_t size, int64_t *all, int64_t lines, int deep, int leaves) {
  size_t tests = (size_t) active_tests (c, size), channels = (size_t) c->channels + (c->support > 1);
  int64_t best = 2 * CERTIFY_LIMIT;
  all[c->channels] = lines;
  add_pairs (c, size, tests, channels, deep);
  for (size_t t = 0; t < 2 * tests; t++)
    c->split[t] = 2 * CERTIFY_LIMIT;
  if (deep && c->channels == 2 && c->support == 1 && !c->squared)
    split_two (c, all, tests);
  else if (deep)
    split_any (c, all, tests, channels);
  for (size_t t = 0; t < tests; t++) {
    int64_t own[CERTIFY_CHANNELS + 1], other[CERTIFY_CHANNELS + 1];
    own[c->channels] = other[c->channels] = c->support;
    for (size_t k = 0; k < channels; k++) {
      own[k] = c->single[k * tests + t];
      other[k] = all[k] - own[k];
    }
    int64_t yes = cell_cost (c, own), no = cell_cost (c, other);
    best = least (best, yes + no);
    if (leaves >= 3)
      best = least (best, least (c->split[t] + no, yes + c->split[tests + t]));
    if (leaves >= 4)
      best = least (best, c->split[t] + c->split[tests + t]);
  }
  return best;
}

/* The least cost of two leaves on a set. */
static int64_t best_stump (const treeml_certify *c, const uint64_t *set, const int64_t *sum, int64_t lines) {
  int64_t best = 2 * CERTIFY_LIMIT;
  for (int64_t f = 0; f < c->families; f++) {
    const int32_t *order = c->order + f * c->rows, *place = c->place + f * c->rows;
    int64_t left[CERTIFY_CHANNELS] = {0}, right[CERTIFY_CHANNELS], before = 0;
    int32_t last = -1;
    for (int64_t i = 0; i < c->rows; i++) {
      size_t row = (size_t) order[i];
      if (!(set[row / 64] >> row % 64 & 1))
        continue;
      if (before >= c->support && lines - before >= c->support && place[row] != last) {
        for (int64_t k = 0; k < c->channels; k++)
          right[k] = sum[k] - left[k];
        best = least (best, certify_leaf (c, left) + certify_leaf (c, right));
      }
      last = place[row];
      for (int64_t k = 0; k < c->channels; k++)
        left[k] += c->vector[row * (size_t) c->channels + (size_t) k];
      before += c->count[row];
    }
  }
  return best;
}

int64_t certify_recompute (treeml_certify *c, const uint64_t *set, int depth, int leaves) {
  int64_t sum[CERTIFY_CHANNELS + 1], lines, size = sum_rows (c, set, c->listed, sum, &lines);
  int64_t best = certify_leaf (c, sum);
  if (lines < c->support && c->support > 1)
    return CERTIFY_LIMIT;
  if (!depth || leaves == 1 || !size)
    return best;
  if (c->deepest == 2)
    return least (best, best_pair (c, size, sum, lines, depth > 1 && leaves > 2, leaves));
  return least (best, best_stump (c, set, sum, lines));
}
