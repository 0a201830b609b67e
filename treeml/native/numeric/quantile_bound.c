/* Buckets of targets, to which rows are added; see quantile_bound.h. */
#include "common/bits.h"
#include "numeric/crowd.h"

#include <string.h>

/* Many buckets are narrow, so that bounds are tight; few buckets are left less often. */
enum { fewest_buckets = 64, places_of_bucket = 16 };

void numeric_buckets_make (const struct numeric_targets *targets, struct numeric_buckets *buckets) {
  const int32_t places = targets->places;
  int32_t count = places / places_of_bucket;
  count = count < fewest_buckets ? fewest_buckets : count > most_buckets ? most_buckets : count;
  count = count > places ? places : count;
  for (int32_t b = 0; b <= most_buckets; b++)
    buckets->first[b] = places;
  for (int32_t i = places - 1; i >= 0; i--) {
    const int32_t bucket = (int32_t) ((int64_t) i * count / places);
    buckets->of_place[i] = (uint8_t) bucket;
    buckets->first[bucket] = i;
  }
}

/* Bounds of the losses of the first rows of a sequence, which goes forwards or backwards: bound[i] is that of the rows
   that come before i on its way. */
static inline ALWAYS_INLINE void bound_on_way (const struct numeric_quantile *quantile,
                                               const struct numeric_buckets *buckets, int32_t output,
                                               const int32_t *place, const int64_t *weight, int64_t rows, int backwards,
                                               int64_t *bound) {
  const int64_t *target = quantile->targets[output].target + 1, up = quantile->up, down = quantile->down;
  const int64_t slopes[3] = {down, 0, -up}; /* of a row below the bucket of the quantile, in it, and above */
  const uint8_t *bucket = buckets->of_place;
  struct numeric_crowd crowd = {.at = 0};
  for (int64_t i = 1; i < rows; i++) {
    const int64_t row = backwards ? rows - i : i - 1, to = backwards ? rows - i : i;
    const int64_t own = weight ? weight[row] : 1, moment = own * target[place[row]];
    numeric_crowd_add (&crowd, bucket[place[row]], own, moment, slopes);
    if ((crowd.pull + down * crowd.here < 0) | (crowd.pull - up * crowd.here > 0))
      numeric_crowd_settle (&crowd, up, down);
    bound[to] = numeric_crowd_bound (&crowd) + (output ? bound[to] : 0);
  }
}

void numeric_quantile_bounds (struct numeric_quantile *quantile, const struct numeric_buckets *buckets, int32_t output,
                              const int32_t *place, const int64_t *weight, int64_t rows) {
  if (weight) {
    bound_on_way (quantile, buckets, output, place, weight, rows, 0, quantile->front);
    bound_on_way (quantile, buckets, output, place, weight, rows, 1, quantile->back);
  } else {
    bound_on_way (quantile, buckets, output, place, NULL, rows, 0, quantile->front);
    bound_on_way (quantile, buckets, output, place, NULL, rows, 1, quantile->back);
  }
}

/* The loss if the quantile is in the bucket of the crowd: it is the first target with enough weight up to it. */
static int64_t loss_within (const struct numeric_crowd *crowd, const struct numeric_quantile *quantile,
                            const int64_t *target, const int64_t *at_place, int32_t first, int32_t last) {
  const int64_t up = quantile->up, down = quantile->down;
  int64_t pull = crowd->pull - up * crowd->here, total = crowd->total + up * crowd->sum[crowd->at];
  int32_t at = first;
  for (; at + 1 < last; at++) {
    const int64_t own = at_place[at - first];
    if (pull + (up + down) * own >= 0)
      break;
    pull += (up + down) * own;
    total -= (up + down) * own * target[at];
  }
  return total + target[at] * pull;
}

int64_t numeric_quantile_exact (struct numeric_quantile *quantile, const struct numeric_buckets *buckets,
                                int32_t output, const int32_t *place, const int64_t *weight, int64_t rows) {
  const int64_t *target = quantile->targets[output].target + 1, up = quantile->up, down = quantile->down;
  struct numeric_crowd crowd = {.at = 0};
  for (int64_t i = 0; i < rows; i++) {
    const int64_t own = weight ? weight[i] : 1;
    crowd.weight[buckets->of_place[place[i]]] += own;
    crowd.sum[buckets->of_place[place[i]]] += own * target[place[i]];
  }
  crowd.here = crowd.weight[0];
  for (int32_t b = 1; b < most_buckets; b++) {
    crowd.pull -= up * crowd.weight[b];
    crowd.total += up * crowd.sum[b];
  }
  numeric_crowd_settle (&crowd, up, down);
  const int32_t first = buckets->first[crowd.at], last = buckets->first[crowd.at + 1];
  int64_t *at_place = quantile->live[0].weight;
  memset (at_place, 0, (size_t) (last - first) * sizeof *at_place);
  for (int64_t i = 0; i < rows; i++)
    if (place[i] >= first && place[i] < last)
      at_place[place[i] - first] += weight ? weight[i] : 1;
  return loss_within (&crowd, quantile, target, at_place, first, last);
}
