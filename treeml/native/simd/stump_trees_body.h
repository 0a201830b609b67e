/* The functions of simd/stump_trees.h, compiled once for each instruction set: loops over WIDTH doubles become vector
   instructions. */
#include "simd/stump_trees.h"

#include <math.h>

#define EACH for (int i = 0; i < STUMP_WIDTH; i++)

/* A node above the levels: for each pair of classes the sum, and the least and greatest running sum. A level has only
   its sum, in `leaf`. */
enum { node_sum = 0, node_least = STUMP_WIDTH, node_greatest = 2 * STUMP_WIDTH, node_size = 3 * STUMP_WIDTH };

static inline double lesser (double a, double b) { return a < b ? a : b; }
static inline double larger (double a, double b) { return a > b ? a : b; }

/* The tree of a pass while it runs. */
struct stump_tree {
  const struct stump_pass *pass;
  int32_t pairs, size; /* `size`: levels, rounded up to a power of two */
  double *leaf;        /* size x pairs x WIDTH */
  double *node;        /* size x pairs x node_size; node 0 is not used */
};

static inline void combine (double *restrict node, const double *restrict yes, const double *restrict no) {
  EACH {
    const double before = yes[node_sum + i];
    node[node_sum + i] = before + no[node_sum + i];
    node[node_least + i] = lesser (yes[node_least + i], before + no[node_least + i]);
    node[node_greatest + i] = larger (yes[node_greatest + i], before + no[node_greatest + i]);
  }
}

static inline void combine_levels (double *restrict node, const double *restrict yes, const double *restrict no) {
  EACH {
    const double before = yes[i], both = before + no[i];
    node[node_sum + i] = both;
    node[node_least + i] = lesser (before, both);
    node[node_greatest + i] = larger (before, both);
  }
}

static inline void refresh (const struct stump_tree *tree, int64_t node) {
  const int32_t pairs = tree->pairs;
  double *at = tree->node + node * pairs * node_size;
  int64_t *count = tree->pass->tree_count;
  count[node] = count[2 * node] + count[2 * node + 1];
  if (2 * node >= tree->size) {
    const double *yes = tree->leaf + (2 * node - tree->size) * pairs * STUMP_WIDTH, *no = yes + pairs * STUMP_WIDTH;
    for (int32_t p = 0; p < pairs; p++)
      combine_levels (at + p * node_size, yes + p * STUMP_WIDTH, no + p * STUMP_WIDTH);
    return;
  }
  const double *yes = tree->node + 2 * node * pairs * node_size, *no = yes + pairs * node_size;
  for (int32_t p = 0; p < pairs; p++)
    combine (at + p * node_size, yes + p * node_size, no + p * node_size);
}

/* Adds the rows of one level of f to the tree, or takes them out. */
static void move_rows (const struct stump_tree *tree, int32_t level, int out) {
  const struct stump_pass *pass = tree->pass;
  const int32_t begin = level ? pass->end[level - 1] : 0, end = pass->end[level], size = tree->size;
  const int32_t width = tree->pairs * STUMP_WIDTH;
  for (int32_t r = begin; r < end; r++) {
    const int32_t row = pass->order[r], at = pass->level[row];
    double *restrict leaf = tree->leaf + (int64_t) at * width;
    const double *restrict weight = pass->weight + (int64_t) row * width;
    const int64_t many = pass->count ? pass->count[row] : 1;
    pass->tree_count[size + at] += out ? -many : many;
    for (int32_t p = 0; p < width; p += STUMP_WIDTH)
      EACH leaf[p + i] += out ? -weight[p + i] : weight[p + i];
  }
  int32_t height = 0;
  while (1 << height < size)
    height++;
  if ((int64_t) (end - begin) * height > size) {
    for (int64_t node = size - 1; node; node--)
      refresh (tree, node);
    return;
  }
  for (int32_t r = begin; r < end; r++)
    for (int64_t node = (size + pass->level[pass->order[r]]) / 2; node; node /= 2)
      refresh (tree, node);
}

/* The first level up to which the tree holds at least the given number of rows. */
static int32_t reaches (const struct stump_pass *pass, int32_t size, int64_t many) {
  int64_t node = 1, before = 0;
  while (node < size) {
    node *= 2;
    if (before + pass->tree_count[node] < many)
      before += pass->tree_count[node++];
  }
  return (int32_t) (node - size);
}

/* Least and greatest running sums of a pair of classes at the levels low .. high. */
static void between (const struct stump_tree *tree, int32_t p, int32_t low, int32_t high, double *restrict least,
                     double *restrict greatest) {
  const int32_t size = tree->size;
  const int64_t stride = (int64_t) tree->pairs * node_size;
  const double *nodes = tree->node + p * node_size, *leaves = tree->leaf + p * STUMP_WIDTH;
  const int64_t width = (int64_t) tree->pairs * STUMP_WIDTH;
  double before[STUMP_WIDTH] = {0};
  EACH {
    least[i] = INFINITY;
    greatest[i] = -INFINITY;
  }
  for (int64_t node = size + low; node > 1; node /= 2)
    if (node & 1) {
      const double *at = node >= size ? leaves + (node - 1 - size) * width : nodes + (node - 1) * stride;
      EACH before[i] += at[i];
    }
  for (int32_t level = low; level <= high;) {
    int32_t block = level ? level & -level : size;
    while (level + block - 1 > high)
      block /= 2;
    if (block == 1) {
      const double *at = leaves + level * width;
      EACH {
        before[i] += at[i];
        least[i] = lesser (least[i], before[i]);
        greatest[i] = larger (greatest[i], before[i]);
      }
    } else {
      const double *at = nodes + ((int64_t) size + level) / block * stride;
      EACH {
        least[i] = lesser (least[i], before[i] + at[node_least + i]);
        greatest[i] = larger (greatest[i], before[i] + at[node_greatest + i]);
        before[i] += at[node_sum + i];
      }
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

/* Lowers the costs with support of a side, unless no stump of this column can. */
static void read_supported (const struct stump_tree *tree, const double *total, const double *relaxed,
                            double *supported) {
  const struct stump_pass *pass = tree->pass;
  const int64_t all = pass->tree_count[1];
  int better = 0;
  EACH better |= relaxed[i] < supported[i];
  if (!better || all < 2 * pass->support)
    return;
  const int32_t low = reaches (pass, tree->size, pass->support);
  const int32_t high = reaches (pass, tree->size, all - pass->support + 1) - 1;
  if (low > high)
    return;
  int32_t p = 0;
  for (int32_t a = 0; a < pass->classes; a++)
    for (int32_t b = a + 1; b < pass->classes; b++, p++) {
      double least[STUMP_WIDTH], greatest[STUMP_WIDTH];
      between (tree, p, low, high, least, greatest);
      lower (supported, total + a * STUMP_WIDTH, total + b * STUMP_WIDTH, least, greatest);
    }
}

/* Reads off the best stump on the rows in the tree, which are one side of a cut. */
static void read_side (const struct stump_tree *tree, int32_t cut, int side) {
  const struct stump_pass *pass = tree->pass;
  const int64_t place = 2 * (int64_t) cut + side;
  const double *total = pass->total + place * pass->classes * STUMP_WIDTH;
  double cost[STUMP_WIDTH], *relaxed = pass->relaxed + place * STUMP_WIDTH;
  EACH cost[i] = INFINITY;
  int32_t p = 0;
  for (int32_t a = 0; a < pass->classes; a++)
    for (int32_t b = a + 1; b < pass->classes; b++, p++) {
      const double *root = tree->node + (tree->pairs + p) * node_size;
      lower (cost, total + a * STUMP_WIDTH, total + b * STUMP_WIDTH, root + node_least, root + node_greatest);
    }
  EACH relaxed[i] = lesser (relaxed[i], cost[i]);
  if (pass->checked)
    read_supported (tree, total, cost, pass->supported + place * STUMP_WIDTH);
}

static void stump_pass (const struct stump_pass *pass) {
  const int32_t pairs = pass->classes * (pass->classes - 1) / 2;
  struct stump_tree tree = {.pass = pass, .pairs = pairs, .size = 2, .leaf = pass->tree};
  while (tree.size < pass->inner_levels)
    tree.size *= 2;
  tree.node = pass->tree + (int64_t) tree.size * pairs * STUMP_WIDTH;
  for (int out = 0; out < 2; out++)
    for (int32_t level = 0; level < pass->levels; level++) {
      move_rows (&tree, level, out);
      if (level + 1 < pass->levels)
        read_side (&tree, level, out);
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
