/* The functions of simd/stump_trees.h, compiled once for each instruction set: loops over WIDTH doubles become vector
   instructions. */
#include "simd/stump_trees.h"

#include <math.h>

#define EACH for (int i = 0; i < STUMP_WIDTH; i++)

/* A node: for each pair of classes the sum, and the least and greatest running sum. */
enum { node_sum = 0, node_least = STUMP_WIDTH, node_greatest = 2 * STUMP_WIDTH, node_size = 3 * STUMP_WIDTH };

static inline double lesser (double a, double b) { return a < b ? a : b; }
static inline double larger (double a, double b) { return a > b ? a : b; }

static inline void combine (double *restrict node, const double *restrict yes, const double *restrict no) {
  EACH {
    const double before = yes[node_sum + i];
    node[node_sum + i] = before + no[node_sum + i];
    node[node_least + i] = lesser (yes[node_least + i], before + no[node_least + i]);
    node[node_greatest + i] = larger (yes[node_greatest + i], before + no[node_greatest + i]);
  }
}

static void refresh (const struct stump_pass *pass, int32_t pairs, int64_t node) {
  const int64_t stride = (int64_t) pairs * node_size;
  double *at = pass->tree + node * stride;
  const double *yes = pass->tree + 2 * node * stride, *no = yes + stride;
  for (int32_t p = 0; p < pairs; p++)
    combine (at + p * node_size, yes + p * node_size, no + p * node_size);
}

/* Adds the rows of one level of f to the tree, or takes them out. */
static void move_rows (const struct stump_pass *pass, int32_t pairs, int32_t size, int32_t level, int out) {
  const int32_t begin = level ? pass->end[level - 1] : 0, end = pass->end[level];
  const int64_t stride = (int64_t) pairs * node_size;
  int32_t height = 1;
  while (1 << height < size)
    height++;
  const int whole = (int64_t) (end - begin) * height > size;
  for (int32_t r = begin; r < end; r++) {
    const int32_t row = pass->order[r];
    int64_t node = size + pass->level[row];
    double *leaf = pass->tree + node * stride;
    const double *weight = pass->weight + (int64_t) row * pairs * STUMP_WIDTH;
    for (int32_t p = 0; p < pairs; p++)
      EACH {
        const double add = weight[p * STUMP_WIDTH + i], sum = leaf[p * node_size + i] + (out ? -add : add);
        leaf[p * node_size + node_sum + i] = sum;
        leaf[p * node_size + node_least + i] = sum;
        leaf[p * node_size + node_greatest + i] = sum;
      }
    if (pass->support > 1) {
      const int64_t many = pass->count ? pass->count[row] : 1;
      for (int64_t n = node; n; n /= 2)
        pass->tree_count[n] += out ? -many : many;
    }
    if (!whole)
      for (node /= 2; node; node /= 2)
        refresh (pass, pairs, node);
  }
  if (whole)
    for (int64_t node = size - 1; node; node--)
      refresh (pass, pairs, node);
}

/* The first level up to which the tree holds at least so many rows. */
static int32_t reaches (const struct stump_pass *pass, int32_t size, int64_t many) {
  int64_t node = 1, before = 0;
  while (node < size) {
    node *= 2;
    if (before + pass->tree_count[node] < many)
      before += pass->tree_count[node++];
  }
  return (int32_t) (node - size);
}

/* Least and greatest running sums at the levels low .. high. */
static void between (const struct stump_pass *pass, int32_t pairs, int32_t p, int32_t size, int32_t low, int32_t high,
                     double *restrict least, double *restrict greatest) {
  const int64_t stride = (int64_t) pairs * node_size;
  double before[STUMP_WIDTH] = {0};
  EACH {
    least[i] = INFINITY;
    greatest[i] = -INFINITY;
  }
  for (int64_t node = size + low; node > 1; node /= 2)
    if (node & 1) {
      const double *at = pass->tree + (node - 1) * stride + p * node_size;
      EACH before[i] += at[node_sum + i];
    }
  for (int32_t level = low; level <= high;) {
    int32_t block = level ? level & -level : size;
    while (level + block - 1 > high)
      block /= 2;
    const double *at = pass->tree + ((int64_t) size + level) / block * stride + p * node_size;
    EACH {
      least[i] = lesser (least[i], before[i] + at[node_least + i]);
      greatest[i] = larger (greatest[i], before[i] + at[node_greatest + i]);
      before[i] += at[node_sum + i];
    }
    level += block;
  }
}

/* Lowers the cost of a side to that of its best stump, given the extreme running sums of a pair of classes. */
static inline void lower (double *restrict cost, const double *restrict total_a, const double *restrict total_b,
                          const double *restrict least, const double *restrict greatest) {
  EACH {
    const double one = total_b[i] - greatest[i], other = total_a[i] + least[i];
    cost[i] = lesser (cost[i], lesser (one, other));
  }
}

/* Reads off the best stump on the rows in the tree, which are one side of a cut. */
static void read_side (const struct stump_pass *pass, int32_t pairs, int32_t size, int32_t cut, int side) {
  const int64_t place = 2 * (int64_t) cut + side;
  const double *total = pass->total + place * pass->classes * STUMP_WIDTH;
  const int64_t all = pass->tree_count[1];
  int32_t low = 0, high = -1;
  if (pass->support > 1 && all >= 2 * pass->support) {
    low = reaches (pass, size, pass->support);
    high = reaches (pass, size, all - pass->support + 1) - 1;
  }
  int32_t p = 0;
  for (int32_t a = 0; a < pass->classes; a++)
    for (int32_t b = a + 1; b < pass->classes; b++, p++) {
      const double *total_a = total + a * STUMP_WIDTH, *total_b = total + b * STUMP_WIDTH;
      const double *root = pass->tree + (pairs + p) * node_size;
      lower (pass->relaxed + place * STUMP_WIDTH, total_a, total_b, root + node_least, root + node_greatest);
      if (low > high)
        continue;
      double least[STUMP_WIDTH], greatest[STUMP_WIDTH];
      between (pass, pairs, p, size, low, high, least, greatest);
      lower (pass->supported + place * STUMP_WIDTH, total_a, total_b, least, greatest);
    }
}

static void stump_pass (const struct stump_pass *pass) {
  const int32_t pairs = pass->classes * (pass->classes - 1) / 2;
  int32_t size = 2;
  while (size < pass->inner_levels)
    size *= 2;
  for (int out = 0; out < 2; out++)
    for (int32_t level = 0; level < pass->levels; level++) {
      move_rows (pass, pairs, size, level, out);
      if (level + 1 < pass->levels)
        read_side (pass, pairs, size, level, out);
    }
}

static int64_t stump_sweep (const struct stump_sweep *sweep, struct stump_hit *hits, int64_t room) {
  const int32_t classes = sweep->classes, pairs = classes * (classes - 1) / 2;
  double before[STUMP_WIDTH * 66];
  for (int32_t k = 0; k < pairs * STUMP_WIDTH; k++)
    before[k] = 0;
  int64_t found = 0, seen = 0;
  int32_t last = -1;
  for (int64_t r = 0; r < sweep->rows; r++) {
    const int32_t row = sweep->order[r];
    if (sweep->side && (sweep->side[row] > sweep->cut) != sweep->above)
      continue;
    if (last >= 0 && sweep->level[row] != last && seen >= sweep->support && sweep->all - seen >= sweep->support) {
      int32_t p = 0;
      for (int32_t a = 0; a < classes; a++)
        for (int32_t b = a + 1; b < classes; b++, p++) {
          int one = 0, other = 0;
          const double *run = before + p * STUMP_WIDTH;
          EACH {
            one += sweep->total[b * STUMP_WIDTH + i] - run[i] > sweep->budget[i];
            other += sweep->total[a * STUMP_WIDTH + i] + run[i] > sweep->budget[i];
          }
          if (!one && found++ < room)
            hits[found - 1] = (struct stump_hit) {last, a, b};
          if (!other && found++ < room)
            hits[found - 1] = (struct stump_hit) {last, b, a};
        }
    }
    last = sweep->level[row];
    seen += sweep->count ? sweep->count[row] : 1;
    const double *weight = sweep->weight + (int64_t) row * pairs * STUMP_WIDTH;
    for (int32_t k = 0; k < pairs * STUMP_WIDTH; k++)
      before[k] += weight[k];
  }
  return found;
}
