/* Targets in buckets, and the best division of the buckets into groups; see grouping.h. */
#include "numeric/grouping.h"
#include "numeric/sort.h"

#include <math.h>
#include <string.h>

enum {
  most_buckets = 128,
  most_groups = 32 /* a higher limit on leaves without a price says too little */
};

/* Rows whose targets are neighbours. */
struct bucket {
  int64_t weight, sum; /* `sum`: of weights times targets */
  double square;
  int32_t first; /* the least rank of its targets */
  int mixed;     /* whether it may have several targets, so that it can be in two groups */
};

struct numeric_grouping {
  int32_t *rank; /* of the target of every row; equal targets have equal ranks */
  struct bucket bucket[most_buckets + 1];
  int64_t cost[most_buckets][most_buckets]; /* of a group from one bucket to another, as a leaf without a price */
  int64_t least[most_buckets + 1];          /* of the first buckets, */
  int64_t fewer[most_buckets + 1];          /* and the same with a group less */
};

static int64_t least (int64_t a, int64_t b) { return a < b ? a : b; }

int numeric_grouping_fits (const treeml_numeric *solver) {
  return solver->goal >= numeric_goal_squared && solver->planes == 2;
}

/* Ranks targets by size. Rows without weight cost nothing, so any rank is right for them. */
static int rank_targets (treeml_numeric *solver, int32_t *rank) {
  struct arena *arena = &solver->arena;
  const int64_t *weight = solver->value[0], *sum = solver->value[1];
  struct numeric_sorter sorter;
  double *target = arena_reserve (arena, (size_t) solver->rows, sizeof *target);
  int32_t *order = arena_reserve (arena, (size_t) solver->rows, sizeof *order), found = 0;
  for (int64_t i = 0; target && i < solver->rows; i++)
    target[i] = weight[i] ? (double) sum[i] / (double) weight[i] : 0;
  const struct numeric_column column = {.values = target};
  memset (rank, 0, (size_t) solver->rows * sizeof *rank); /* as it stays if all targets are equal */
  if (numeric_sorter_create (&sorter, arena, solver->rows) && target && order)
    found = numeric_sort (&sorter, &column, order, rank);
  numeric_sorter_destroy (&sorter);
  arena_release (arena, target);
  arena_release (arena, order);
  return found > 0;
}

static struct numeric_grouping *create (treeml_numeric *solver) {
  struct numeric_grouping *grouping = arena_reserve (&solver->arena, 1, sizeof *grouping);
  if (!grouping)
    return NULL;
  grouping->rank = arena_reserve (&solver->arena, (size_t) solver->rows, sizeof *grouping->rank);
  if (grouping->rank && solver->goal == numeric_goal_quantile)
    for (int64_t i = 0; i < solver->rows; i++)
      grouping->rank[i] = (int32_t) solver->value[solver->planes + 1][i];
  else if (!grouping->rank || !rank_targets (solver, grouping->rank)) {
    numeric_grouping_destroy (solver, grouping);
    return NULL;
  }
  return grouping;
}

struct numeric_grouping *numeric_grouping_of (struct numeric_worker *worker) {
  if (!worker->grouping && !(worker->grouping = create (worker->solver)))
    numeric_stop_search (worker->solver, TREEML_MEMORY);
  return worker->grouping;
}

void numeric_grouping_destroy (treeml_numeric *solver, struct numeric_grouping *grouping) {
  if (!grouping)
    return;
  arena_release (&solver->arena, grouping->rank);
  arena_release (&solver->arena, grouping);
}

/* Fills buckets of equal width in ranks; returns how many hold rows. */
static int32_t fill_buckets (const treeml_numeric *solver, struct numeric_grouping *grouping, const int32_t *row,
                             int64_t rows) {
  const int32_t *rank = grouping->rank;
  int32_t low = INT32_MAX, high = 0, count = 0;
  for (int64_t i = 0; i < rows; i++) {
    low = rank[row[i]] < low ? rank[row[i]] : low;
    high = rank[row[i]] > high ? rank[row[i]] : high;
  }
  const int64_t width = ((int64_t) high - low) / most_buckets + 1;
  struct bucket *bucket = grouping->bucket;
  memset (bucket, 0, sizeof grouping->bucket);
  for (int64_t i = 0; i < rows; i++) {
    const int32_t here = rank[row[i]];
    struct bucket *own = &bucket[(here - low) / width];
    own->mixed |= own->weight && own->first != here;
    own->first = here;
    own->weight += solver->value[0][row[i]];
    own->sum += solver->value[1][row[i]];
    own->square += solver->goal == numeric_goal_squared ? numeric_square (solver, row[i]) : 0;
  }
  for (int32_t i = 0; i < most_buckets; i++)
    if (bucket[i].weight)
      bucket[count++] = bucket[i];
  return count;
}

static void fill_squared (const treeml_numeric *solver, struct numeric_grouping *grouping, int32_t count) {
  for (int32_t a = 0; a < count; a++) {
    int64_t sums[2] = {0, 0};
    double square = 0;
    for (int32_t b = a; b < count; b++) {
      sums[0] += grouping->bucket[b].weight;
      sums[1] += grouping->bucket[b].sum;
      square += grouping->bucket[b].square;
      grouping->cost[a][b] = numeric_leaf (solver->goal, solver->planes, sums, 0, square, solver->unit);
    }
  }
}

/* If all rows of the bucket of the quantile had the mean of their targets, they would cost no more, since costs are
   convex; and the quantile would be that mean. `below` and `above` are the sums of the other buckets. */
static int64_t quantile_cost (const treeml_numeric *solver, const struct bucket *below, const struct bucket *at,
                              const struct bucket *above) {
  const int64_t pull = solver->down * below->weight - solver->up * above->weight;
  const double shift = (double) at->sum / (double) at->weight * (double) pull;
  const int64_t total = solver->up * above->sum - solver->down * below->sum;
  const int64_t cost = total + (int64_t) floor (shift - fabs (shift) * 0x1p-50);
  return cost > 0 ? cost : 0;
}

static void fill_quantile (const treeml_numeric *solver, struct numeric_grouping *grouping, int32_t count) {
  const struct bucket *bucket = grouping->bucket;
  for (int32_t a = 0; a < count; a++) {
    struct bucket below = {0}, above = {0};
    int32_t at = a;
    for (int32_t b = a; b < count; b++) {
      if (b > a) {
        above.weight += bucket[b].weight;
        above.sum += bucket[b].sum;
      }
      while (at < b && solver->down * (below.weight + bucket[at].weight) < solver->up * above.weight) {
        below.weight += bucket[at].weight;
        below.sum += bucket[at].sum;
        at++;
        above.weight -= bucket[at].weight;
        above.sum -= bucket[at].sum;
      }
      grouping->cost[a][b] = quantile_cost (solver, &below, &bucket[at], &above);
    }
  }
}

/* What groups up to a bucket cost at least if the next one begins with this bucket. Both may share the bucket before;
   then its rows are left out of both. */
static int64_t before (const struct numeric_grouping *grouping, const int64_t *known, int32_t begin) {
  if (begin && grouping->bucket[begin - 1].mixed)
    return least (known[begin], known[begin - 1]);
  return known[begin];
}

/* One group more than in `fewer`; or any number of them, if that is `least` itself. A group may have no bucket of its
   own: it shares the one before and the one after it. */
static void add_group (struct numeric_grouping *grouping, const int64_t *fewer, int32_t count, int64_t price) {
  grouping->least[0] = 0;
  for (int32_t end = 1; end <= count; end++) {
    grouping->least[end] = NUMERIC_NONE;
    int64_t best = least (before (grouping, fewer, end) + price, NUMERIC_NONE);
    for (int32_t begin = end - 1; begin >= 0; begin--) {
      const int64_t own = grouping->cost[begin][end - 1] + price;
      if (own >= best) /* more buckets cost more */
        break;
      best = least (best, own + before (grouping, fewer, begin));
    }
    grouping->least[end] = fewer == grouping->least ? best : least (best, fewer[end]);
  }
}

static int64_t cost_of_groups (struct numeric_grouping *grouping, int32_t count, int64_t leaves, int64_t price) {
  if (leaves > most_groups && !price)
    return 0;
  if (leaves > most_groups) {
    add_group (grouping, grouping->least, count, price);
    return before (grouping, grouping->least, count);
  }
  for (int32_t i = 0; i <= count; i++)
    grouping->least[i] = i ? NUMERIC_NONE : 0;
  int64_t best = NUMERIC_NONE;
  for (int64_t i = 1; i <= leaves && i <= count; i++) {
    memcpy (grouping->fewer, grouping->least, sizeof grouping->fewer);
    add_group (grouping, grouping->fewer, count, price);
    const int64_t here = before (grouping, grouping->least, count);
    if (here >= best && price) /* costs are convex in the number of groups: from here on, more of them cost more */
      break;
    best = here;
  }
  return best;
}

int64_t numeric_grouping_bound (struct numeric_worker *worker, const int32_t *row, int64_t rows, int64_t leaves) {
  const treeml_numeric *solver = worker->solver;
  struct numeric_grouping *grouping = numeric_grouping_of (worker);
  const int64_t price = solver->options.leaf_price;
  if (!grouping || numeric_spent (worker, rows / 2))
    return price;
  const int32_t count = fill_buckets (solver, grouping, row, rows);
  if (!count)
    return price;
  if (solver->goal == numeric_goal_squared)
    fill_squared (solver, grouping, count);
  else
    fill_quantile (solver, grouping, count);
  int64_t bound = cost_of_groups (grouping, count, leaves, price);
  if (solver->goal == numeric_goal_squared) { /* quotients are rounded, as in treeml_numeric_slack, and so are ranks */
    const double of_leaf = 1.25 + solver->error * solver->unit, of_ranks = 0x1p-44 * solver->square_sum * solver->unit;
    const double rounding = ceil ((double) least (leaves, count) * of_leaf + of_ranks);
    bound = rounding < (double) bound ? bound - (int64_t) rounding : 0;
  }
  return bound > price ? bound : price;
}
