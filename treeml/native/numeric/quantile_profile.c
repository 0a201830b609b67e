/* Fills profiles of stumps and moves rows; see quantile_profile.h. */
#include "numeric/quantile_profile.h"

#include <string.h>

static int64_t least (int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t greatest (int64_t a, int64_t b) { return a > b ? a : b; }

/* Rows in blocks cost their distance from intervals, which grow with the block; few rows in front of a block or behind
   it make the intervals wide. The square root of their number keeps about constant what is given away. */
static int64_t block_size (int64_t begin, int64_t rows) {
  const int64_t few = least (begin, rows - begin), size = (int64_t) (sqrt ((double) few) * 2 / 3);
  return least (greatest (size, 1), rows - begin);
}

int32_t numeric_profile_blocks (int64_t rows) {
  int64_t blocks = 1;
  for (int64_t begin = 0; begin < rows; begin += block_size (begin, rows))
    blocks++;
  return (int32_t) blocks;
}

/* What is the same for all blocks. */
struct filling {
  const struct numeric_quantile *quantile;
  const struct numeric_buckets *buckets;
  const struct numeric_sequence *sequence;
  const int64_t *target; /* of every place */
  int32_t last_bucket;
};

static struct filling begin_filling (const struct numeric_quantile *quantile, const struct numeric_buckets *buckets,
                                     const struct numeric_sequence *sequence) {
  const struct numeric_targets *targets = &quantile->targets[0];
  return (struct filling) {.quantile = quantile,
                           .buckets = buckets,
                           .sequence = sequence,
                           .target = targets->target + 1,
                           .last_bucket = buckets->of_place[targets->places - 1]};
}

/* Adds rows to a crowd, or removes them if the sign is -1; returns their weight. The bucket of the quantile changes
   only when all are added, so that sums stay in registers until then. */
static int64_t add_rows (const struct filling *filling, struct numeric_crowd *crowd, int64_t begin, int64_t end,
                         int sign) {
  const struct numeric_sequence *sequence = filling->sequence;
  const int32_t *place = sequence->place, at = crowd->at;
  const int64_t *own = sequence->weight, *target = filling->target;
  const int64_t up = filling->quantile->up, down = filling->quantile->down, slopes[3] = {down, 0, -up};
  const uint8_t *bucket = filling->buckets->of_place;
  int64_t sum = 0, pull = 0, total = 0;
  for (int64_t i = begin; i < end; i++) {
    const int32_t here = bucket[place[i]];
    const int64_t weight = own ? sign * own[i] : sign, moment = weight * target[place[i]];
    const int64_t slope = slopes[(here > at) - (here < at) + 1];
    crowd->weight[here] += weight;
    crowd->sum[here] += moment;
    pull += slope * weight;
    total -= slope * moment;
    sum += weight;
  }
  crowd->pull += pull;
  crowd->total += total;
  crowd->here = crowd->weight[at];
  numeric_crowd_settle (crowd, up, down);
  return sign * sum;
}

void numeric_profile_crowd (const struct numeric_quantile *quantile, const struct numeric_buckets *buckets,
                            const struct numeric_sequence *sequence, struct numeric_crowd *crowd) {
  const struct filling filling = begin_filling (quantile, buckets, sequence);
  memset (crowd, 0, sizeof *crowd);
  add_rows (&filling, crowd, 0, sequence->rows, 1);
}

/* Buckets that hold the quantile of a crowd, and the slopes of its loss before the first and after the last of them. */
struct span {
  int32_t first, last;
  int64_t before, after;
};

static struct span span_of (const struct filling *filling, const struct numeric_crowd *crowd) {
  return (struct span) {crowd->at, crowd->at, crowd->pull - filling->quantile->up * crowd->here,
                        crowd->pull + filling->quantile->down * crowd->here};
}

void numeric_profile_tilt (const struct numeric_quantile *quantile, const int64_t join[most_buckets],
                           const int64_t leave[most_buckets], struct numeric_tilt *tilt) {
  const int64_t up = quantile->up, down = quantile->down;
  int64_t joined = 0, left = 0;
  for (int32_t b = 0; b < most_buckets; b++) {
    tilt->rise[b] = down * joined;
    left += leave[b];
    joined += join[b];
    tilt->fall[b] = down * left;
  }
  joined = left = 0;
  for (int32_t b = most_buckets - 1; b >= 0; b--) {
    tilt->fall[b] = greatest (tilt->fall[b], up * joined);
    left += leave[b];
    joined += join[b];
    tilt->rise[b] = greatest (tilt->rise[b], up * left);
  }
}

/* Adds buckets so that they hold the quantile even if rows of a weight join, and rows move: beyond them slopes keep
   their signs, or there are no more targets, and no quantile is beyond all targets. `tilt` may be NULL. */
static inline void widen (const struct filling *filling, const struct numeric_crowd *crowd, int64_t weight,
                          const struct numeric_tilt *tilt, struct span *span) {
  const int64_t up = filling->quantile->up, down = filling->quantile->down;
  while (span->first > 0 && span->before + down * weight + (tilt ? tilt->rise[span->first] : 0) > 0)
    span->before -= (up + down) * crowd->weight[--span->first];
  while (span->last < filling->last_bucket && span->after - up * weight - (tilt ? tilt->fall[span->last] : 0) < 0)
    span->after += (up + down) * crowd->weight[++span->last];
}

/* The first and last target of some buckets. */
struct ends {
  int64_t low, high;
};

static struct ends ends_of (const struct filling *filling, const struct span *span) {
  const int32_t *first = filling->buckets->first;
  return (struct ends) {filling->target[first[span->first]], filling->target[first[span->last + 1] - 1]};
}

/* The least cost of a row of weight 1 whose leaf has its quantile between two ends. */
static inline int64_t distance (int64_t up, int64_t down, struct ends ends, int64_t target) {
  return greatest (0, greatest (up * (target - ends.high), down * (ends.low - target)));
}

/* The least cost of the cuts before the rows begin .. end - 1, without the rows outside of the block. INT64_MAX if
   there is no cut. */
static int64_t least_within (const struct filling *filling, int64_t begin, int64_t end, const struct ends ends[2]) {
  const struct numeric_sequence *sequence = filling->sequence;
  const int32_t *place = sequence->place, *code = sequence->code;
  const int64_t up = filling->quantile->up, down = filling->quantile->down, *own = sequence->weight;
  const struct ends front = ends[0], behind = ends[1];
  int64_t best = INT64_MAX, all = 0, moved = 0;
  for (int64_t i = begin; i < end; i++) {
    if (i >= sequence->first && i <= sequence->last && (!i || code[i] != code[i - 1]))
      best = least (best, moved);
    const int64_t target = filling->target[place[i]], weight = own ? own[i] : 1;
    const int64_t far = weight * distance (up, down, behind, target);
    all += far;
    moved += weight * distance (up, down, front, target) - far;
  }
  return best < INT64_MAX ? all + best : INT64_MAX;
}

/* Adds the cuts before the rows begin .. end - 1, or the one behind all rows. */
static void add_block (const struct filling *filling, struct numeric_profile *profile, int64_t begin, int64_t end,
                       int64_t known, const struct span span[2]) {
  const struct numeric_sequence *sequence = filling->sequence;
  const int32_t at = profile->blocks++;
  profile->front[at] = begin ? sequence->code[begin - 1] : INT32_MIN;
  profile->behind[at] = end > begin ? sequence->code[end - 1] : INT32_MAX;
  profile->known[at] = known;
  for (int i = 0; i < 2; i++) {
    const struct ends ends = ends_of (filling, &span[i]);
    profile->low[i][at] = ends.low;
    profile->high[i][at] = ends.high;
  }
}

void numeric_profile_fill (const struct numeric_quantile *quantile, const struct numeric_buckets *buckets,
                           const struct numeric_sequence *sequence, const struct numeric_crowd *all,
                           const struct numeric_tilt *tilt, struct numeric_profile *profile) {
  const struct filling filling = begin_filling (quantile, buckets, sequence);
  const int64_t rows = sequence->rows;
  struct numeric_crowd crowd[2]; /* the rows in front of a block, and those behind it */
  memset (&crowd[0], 0, sizeof *crowd);
  memcpy (&crowd[1], all, sizeof *crowd);
  profile->blocks = 0;
  for (int64_t begin = 0, end; begin <= rows; begin = end) {
    end = profile->blocks + 2 >= profile->room ? rows : begin + block_size (begin, rows);
    const int64_t own = add_rows (&filling, &crowd[1], begin, end, -1);
    struct span span[2];
    struct ends ends[2];
    for (int i = 0; i < 2; i++) {
      span[i] = span_of (&filling, &crowd[i]);
      widen (&filling, &crowd[i], own, NULL, &span[i]);
      ends[i] = ends_of (&filling, &span[i]);
      widen (&filling, &crowd[i], own, tilt, &span[i]);
    }
    int64_t within = sequence->last == rows ? 0 : INT64_MAX;
    if (begin < rows)
      within = least_within (&filling, begin, end, ends);
    if (within < INT64_MAX) {
      const int64_t outside = numeric_crowd_bound (&crowd[0]) + numeric_crowd_bound (&crowd[1]);
      add_block (&filling, profile, begin, end, outside + within, span);
    }
    if (begin == rows)
      return;
    add_rows (&filling, &crowd[0], begin, end, 1);
  }
}

void numeric_profile_reset (struct numeric_profile *profile) {
  memcpy (profile->now, profile->known, (size_t) profile->blocks * sizeof *profile->now);
}

int64_t numeric_profile_least (const struct numeric_profile *profile) {
  int64_t best = INT64_MAX;
  for (int32_t b = 0; b < profile->blocks; b++)
    best = least (best, profile->known[b]);
  return best;
}

/* The first of ascending codes that is at least, or beyond, another one. */
static int32_t first_from (const int32_t *codes, int32_t count, int32_t code, int beyond) {
  int32_t low = 0, high = count;
  while (low < high) {
    const int32_t half = (low + high) / 2;
    if (codes[half] > code || (!beyond && codes[half] == code))
      high = half;
    else
      low = half + 1;
  }
  return low;
}

/* What a row changes if its leaf has its quantile between two ends: the least that it adds, or the most that it takes.
 */
static inline int64_t change (const struct numeric_mover *mover, int64_t low, int64_t high) {
  if (mover->leaves)
    return -greatest (mover->up * (mover->target - low), mover->down * (high - mover->target));
  return greatest (0, greatest (mover->up * (mover->target - high), mover->down * (low - mover->target)));
}

static int64_t move_one_way (struct numeric_profile *profile, const struct numeric_mover *mover, int i, int32_t begin,
                             int32_t end) {
  const int64_t *low = profile->low[i], *high = profile->high[i];
  int64_t best = INT64_MAX;
  for (int32_t b = begin; b < end; b++) {
    profile->now[b] += change (mover, low[b], high[b]);
    best = least (best, profile->now[b]);
  }
  return best;
}

int64_t numeric_profile_move (struct numeric_profile *profile, const struct numeric_mover *mover, int32_t code) {
  const int32_t blocks = profile->blocks, within = first_from (profile->behind, blocks, code, 1),
                beyond = first_from (profile->front, blocks, code, 0);
  int64_t best = least (move_one_way (profile, mover, 1, 0, within), move_one_way (profile, mover, 0, beyond, blocks));
  for (int32_t b = within; b < beyond; b++) { /* the row is in front of some cuts and behind others */
    profile->now[b] += least (change (mover, profile->low[0][b], profile->high[0][b]),
                              change (mover, profile->low[1][b], profile->high[1][b]));
    best = least (best, profile->now[b]);
  }
  return best;
}
