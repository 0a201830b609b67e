/* Rows counted by buckets of their targets (see quantile_bound.h), and the bucket of their quantile. */
#ifndef TREEML_NUMERIC_CROWD_H
#define TREEML_NUMERIC_CROWD_H

#include "numeric/quantile_bound.h"

#include <math.h>

/* If the quantile is q, rows in other buckets than its own cost total + q * pull. */
struct numeric_crowd {
  int64_t weight[most_buckets], sum[most_buckets];
  int32_t at;
  int64_t here; /* the weight of the bucket */
  int64_t pull, total;
};

static inline void numeric_crowd_up (struct numeric_crowd *crowd, int64_t up, int64_t down) {
  crowd->pull += down * crowd->here;
  crowd->total -= down * crowd->sum[crowd->at++];
  crowd->here = crowd->weight[crowd->at];
  crowd->pull += up * crowd->here;
  crowd->total -= up * crowd->sum[crowd->at];
}

static inline void numeric_crowd_down (struct numeric_crowd *crowd, int64_t up, int64_t down) {
  crowd->pull -= up * crowd->here;
  crowd->total += up * crowd->sum[crowd->at--];
  crowd->here = crowd->weight[crowd->at];
  crowd->pull -= down * crowd->here;
  crowd->total += down * crowd->sum[crowd->at];
}

/* Moves to a bucket out of which a step in either direction would not lower the loss. */
static inline void numeric_crowd_settle (struct numeric_crowd *crowd, int64_t up, int64_t down) {
  while (crowd->pull + down * crowd->here < 0)
    numeric_crowd_up (crowd, up, down);
  while (crowd->pull - up * crowd->here > 0)
    numeric_crowd_down (crowd, up, down);
}

/* Adds rows to a bucket, or removes them if their weight is negative; `moment` is their weight times their target. The
   crowd is to be settled afterwards. */
static inline void numeric_crowd_add (struct numeric_crowd *crowd, int32_t bucket, int64_t weight, int64_t moment,
                                      const int64_t slopes[3]) {
  const int32_t side = (bucket > crowd->at) - (bucket < crowd->at);
  const int64_t slope = slopes[side + 1];
  crowd->weight[bucket] += weight;
  crowd->sum[bucket] += moment;
  crowd->pull += slope * weight;
  crowd->total -= slope * moment;
  crowd->here += side ? 0 : weight;
}

/* If all rows of the bucket had the mean of their targets, they would cost no more, since costs are convex; and the
   quantile would be that mean. */
static inline int64_t numeric_crowd_bound (const struct numeric_crowd *crowd) {
  if (!crowd->here) /* then nothing pulls */
    return crowd->total;
  const double mean = (double) crowd->sum[crowd->at] / (double) crowd->here, shift = mean * (double) crowd->pull;
  const double sure = shift - fabs (shift) * 0x1p-50;
  const int64_t whole = (int64_t) sure;
  return crowd->total + whole - ((double) whole > sure);
}

#endif
