/* The pair kernel for one instruction set and one lane width. Included with V, T, LANES and the vector operations
   defined. */

#define JOIN_(A, B) A##B
#define JOIN(A, B) JOIN_ (A, B)
#define NAME(A) JOIN (JOIN (A, _), BITS)

#ifndef COUNT_GROUPS
static inline V NAME (broadcast) (const struct slice *slice, int64_t index) {
#if BITS == 16
  return BROADCAST_TWICE (slice->twice + index);
#else
  return BROADCAST ((const T *) slice->words + index);
#endif
}

/* Adds to four sums, in the lanes of the tests from j on, how many rows of some groups pass both that test and one of
   the tests i to i + 3. */
static inline ALWAYS_INLINE void NAME (add_groups) (const struct slice *slice, int64_t stride, int32_t i, int32_t j,
                                                    int32_t from, int32_t to, V *sum) {
  for (int32_t g = from; g < to; g++) {
    const V word = LOAD ((const T *) slice->words + g * stride + j);
    for (int k = 0; k < 4; k++)
      sum[k] = ADD (sum[k], POPCOUNT (AND (word, NAME (broadcast) (slice, g * stride + i + k))));
  }
}

/* The same, subtracted. */
static inline ALWAYS_INLINE void NAME (subtract_groups) (const struct slice *slice, int64_t stride, int32_t i,
                                                         int32_t j, int32_t from, int32_t to, V *sum) {
  for (int32_t g = from; g < to; g++) {
    const V word = LOAD ((const T *) slice->words + g * stride + j);
    for (int k = 0; k < 4; k++)
      sum[k] = SUB (sum[k], POPCOUNT (AND (word, NAME (broadcast) (slice, g * stride + i + k))));
  }
}
#endif

static int32_t NAME (select) (const struct slice *slice, const struct shape *shape, int32_t group, int32_t count,
                              int32_t test, int passing, const int32_t *ids, int32_t *to) {
  const T *words = (const T *) slice->words + (int64_t) group * shape->stride + test;
  const uint64_t flip = passing ? 0 : ~(uint64_t) 0, width = ~(uint64_t) 0 >> (64 - BITS);
  int32_t length = 0;
  for (; count >= BITS; count -= BITS, ids += BITS, words += shape->stride)
    length += SELECT (((uint64_t) *words ^ flip) & width, ids, to + length);
  if (count > 0)
    length += SELECT (((uint64_t) *words ^ flip) & (((uint64_t) 1 << count) - 1), ids, to + length);
  return length;
}

#if BITS > 16
#include "simd/pair_dense_body.h"
#endif

static void NAME (sums) (struct slice *slice, const struct shape *shape, void *sum_, void *weight_) {
  const T *words = slice->words;
  T *sum = sum_, *weight = weight_;
#if BITS > 16
  if (slice->dense) {
    NAME (weigh) (slice, shape, sum, weight);
    return;
  }
#endif
  for (int32_t j = 0; j < shape->stride; j += LANES) {
    V signed_sum = ZERO (), all = ZERO ();
    for (int32_t p = 0; p < slice->planes; p++) {
      V positive = ZERO (), negative = ZERO ();
      for (int32_t g = slice->group[2 * p]; g < slice->group[2 * p + 1]; g++)
        positive = ADD (positive, POPCOUNT (LOAD (words + (int64_t) g * shape->stride + j)));
      for (int32_t g = slice->group[2 * p + 1]; g < slice->group[2 * p + 2]; g++)
        negative = ADD (negative, POPCOUNT (LOAD (words + (int64_t) g * shape->stride + j)));
      signed_sum = ADD (ADD (signed_sum, signed_sum), SUB (positive, negative));
      all = ADD (ADD (all, all), ADD (positive, negative));
    }
    STORE (sum + j, signed_sum);
    STORE (weight + j, all);
  }
}

static void NAME (pairs) (struct slice *slice, const struct shape *shape, void *doubled_, void *weight_, int32_t from,
                          int32_t to) {
  T *doubled = doubled_, *weight = weight_;
  const int64_t stride = shape->stride;
#if BITS > 16
  if (slice->dense) {
    NAME (dense_pairs) (slice, shape, doubled, weight, from, to);
    return;
  }
#endif
  for (int32_t j = from; j < to; j += LANES)
    for (int32_t i = 0; i < shape->padded; i += 4) {
      V sum[4], all[4];
      for (int k = 0; k < 4; k++)
        sum[k] = all[k] = ZERO ();
      for (int32_t p = 0; p < slice->planes; p++) {
        V positive[4], negative[4];
        for (int k = 0; k < 4; k++)
          positive[k] = negative[k] = ZERO ();
        NAME (add_groups) (slice, stride, i, j, slice->group[2 * p], slice->group[2 * p + 1], positive);
        NAME (add_groups) (slice, stride, i, j, slice->group[2 * p + 1], slice->group[2 * p + 2], negative);
        for (int k = 0; k < 4; k++) {
          sum[k] = ADD (ADD (sum[k], sum[k]), SUB (positive[k], negative[k]));
          all[k] = ADD (ADD (all[k], all[k]), ADD (positive[k], negative[k]));
        }
      }
      for (int k = 0; k < 4; k++) {
        STORE (doubled + (i + k) * stride + j, ADD (sum[k], sum[k]));
        STORE (weight + (i + k) * stride + j, all[k]);
      }
    }
}

/* total - 2 sum_i, which turns 2 d_ij - d_j into the difference of the two cells where j is no. */
static inline void NAME (shifts) (const struct shape *shape, const struct side *side, T *shift) {
  const T *sum = side->sum;
  const V total = SET ((T) side->total);
  for (int32_t i = 0; i < shape->stride; i += LANES) {
    const V s = LOAD (sum + i);
    STORE (shift + i, SUB (total, ADD (s, s)));
  }
}

static void NAME (own) (const struct shape *shape, const void *doubled_, struct side *side, void *scratch) {
  const T *doubled = doubled_;
  const T *sum = side->sum;
  T *yes = side->yes, *no = side->no, *shift = scratch;
  const V total = SET ((T) side->total);
  NAME (shifts) (shape, side, shift);
  for (int32_t j = 0; j < shape->tests; j += LANES) {
    const V s = LOAD (sum + j);
    V best_yes = ABS (s), best_no = ABS (SUB (total, s));
    for (int32_t i = 0; i < shape->tests; i++) {
      const V difference = SUB (LOAD (doubled + (int64_t) i * shape->stride + j), s);
      best_yes = MAX (best_yes, ABS (difference));
      best_no = MAX (best_no, ABS (ADD (difference, BROADCAST (shift + i))));
    }
    STORE (yes + j, best_yes);
    STORE (no + j, best_no);
  }
}

static void NAME (both) (struct slice *slice, const struct shape *shape, const void *doubled_, struct side *counted,
                         struct side *rest, void *scratch) {
  const T *doubled = doubled_;
  const T *counted_sum = counted->sum, *rest_sum = rest->sum;
  T *counted_shift = scratch, *rest_shift = (T *) scratch + shape->stride;
  const int64_t stride = shape->stride;
  const V counted_total = SET ((T) counted->total), rest_total = SET ((T) rest->total);
  NAME (shifts) (shape, counted, counted_shift);
  NAME (shifts) (shape, rest, rest_shift);
  const int32_t planes = slice->planes;
#if BITS > 16
  if (slice->dense) {
    NAME (dense_both) (slice, shape, doubled, counted, rest, counted_shift, rest_shift, rest_shift + shape->stride);
    return;
  }
#endif
  for (int32_t j = 0; j < shape->tests; j += LANES) {
    const V a = LOAD (counted_sum + j), b = LOAD (rest_sum + j);
    V counted_yes = ABS (a), counted_no = ABS (SUB (counted_total, a));
    V rest_yes = ABS (b), rest_no = ABS (SUB (rest_total, b));
    for (int32_t i = 0; i < shape->padded; i += 4) {
      V sum[4];
      for (int k = 0; k < 4; k++)
        sum[k] = ZERO ();
      for (int32_t p = 0; p < planes; p++) {
        for (int k = 0; k < 4; k++)
          sum[k] = ADD (sum[k], sum[k]);
        NAME (add_groups) (slice, stride, i, j, slice->group[2 * p], slice->group[2 * p + 1], sum);
        NAME (subtract_groups) (slice, stride, i, j, slice->group[2 * p + 1], slice->group[2 * p + 2], sum);
      }
      for (int k = 0; k < 4; k++) {
        const V twice = ADD (sum[k], sum[k]);
        const V difference = SUB (twice, a);
        counted_yes = MAX (counted_yes, ABS (difference));
        counted_no = MAX (counted_no, ABS (ADD (difference, BROADCAST (counted_shift + i + k))));
        const V other = SUB (SUB (LOAD (doubled + (i + k) * stride + j), twice), b);
        rest_yes = MAX (rest_yes, ABS (other));
        rest_no = MAX (rest_no, ABS (ADD (other, BROADCAST (rest_shift + i + k))));
      }
    }
    STORE ((T *) counted->yes + j, counted_yes);
    STORE ((T *) counted->no + j, counted_no);
    STORE ((T *) rest->yes + j, rest_yes);
    STORE ((T *) rest->no + j, rest_no);
  }
}

#include "simd/pair_support_body.h"

static int64_t NAME (largest) (V best) {
  T lanes[LANES];
  STORE_UNALIGNED (lanes, best);
  int64_t result = 0;
  for (int i = 0; i < LANES; i++)
    if (lanes[i] > result)
      result = lanes[i];
  return result;
}

static int64_t NAME (best) (const struct shape *shape, const struct side *side) {
  const T *yes = side->yes, *no = side->no;
  V best = ZERO ();
  for (int32_t j = 0; j < shape->tests; j += LANES)
    best = MAX (best, ADD (LOAD (yes + j), LOAD (no + j)));
  return NAME (largest) (best);
}

/* Each side is a leaf or a stump. Lanes without a test have at most the gain of a leaf. */
static void NAME (sizes) (const struct shape *shape, const struct side *side, int64_t *gain) {
  const T *sum = side->sum, *yes = side->yes, *no = side->no;
  const V total = SET ((T) side->total);
  V two = ZERO (), three = ZERO (), four = ZERO ();
  for (int32_t j = 0; j < shape->tests; j += LANES) {
    const V mine = LOAD (sum + j), leaf_yes = ABS (mine), leaf_no = ABS (SUB (total, mine));
    const V stump_yes = LOAD (yes + j), stump_no = LOAD (no + j);
    two = MAX (two, ADD (leaf_yes, leaf_no));
    three = MAX (three, MAX (ADD (stump_yes, leaf_no), ADD (leaf_yes, stump_no)));
    four = MAX (four, ADD (stump_yes, stump_no));
  }
  gain[2] = NAME (largest) (two);
  gain[3] = NAME (largest) (three);
  gain[4] = NAME (largest) (four);
}

/* The errors of a cell, or the price of one more leaf that could remove them all. */
static inline ALWAYS_INLINE T NAME (least_of_cell) (T weight, T sum, T price) {
  const T errors = (T) ((T) (weight - (T) (sum < 0 ? -sum : sum)) >> 1);
  return errors < price ? errors : price;
}

/* The least cost of a stump so far, or of one with these two cells. A cell that costs no less than all its rows as
   errors is better left to the tree beside it. */
static inline ALWAYS_INLINE T NAME (cheaper_stump) (T before, T weight, T sum, T other_weight, T other_sum, T price) {
  const T cell = NAME (least_of_cell) (weight, sum, price);
  const T other = NAME (least_of_cell) (other_weight, other_sum, price);
  const T both = (T) (cell + other), least = before < both ? before : both;
  return (((T) (weight - cell) > price) & ((T) (other_weight - other) > price)) ? least : before;
}

static void NAME (paid) (const struct shape *shape, const void *doubled_, const void *weights_, const struct side *side,
                         int64_t price_, void *yes_, void *no_) {
  const T *restrict sum = side->sum, *restrict weight = side->count;
  T *restrict yes = yes_, *restrict no = no_;
  const T price = (T) price_, total = (T) side->total, all = (T) side->weight;
  for (int32_t j = 0; j < shape->tests; j++)
    yes[j] = no[j] = (T) (~(uint64_t) 0 >> (65 - BITS));
  for (int32_t i = 0; i < shape->tests; i++) {
    const T *restrict doubled = (const T *) doubled_ + (int64_t) i * shape->stride;
    const T *restrict weights = (const T *) weights_ + (int64_t) i * shape->stride;
    const T own_sum = sum[i], own_weight = weight[i];
    for (int32_t j = 0; j < shape->tests; j++) {
      /* Half of sum + difference, which itself may not fit in a lane. */
      const T difference = (T) (doubled[j] - sum[j]);
      const T inside = (T) ((T) (sum[j] & difference) + (T) ((T) (sum[j] ^ difference) >> 1)), both = weights[j];
      const T outside = (T) (own_sum - inside), beside = (T) (own_weight - both);
      yes[j] = NAME (cheaper_stump) (yes[j], both, inside, (T) (weight[j] - both), (T) (sum[j] - inside), price);
      no[j] = NAME (cheaper_stump) (no[j], beside, outside, (T) (all - weight[j] - beside),
                                    (T) (total - sum[j] - outside), price);
    }
  }
}

static void NAME (similar) (const struct shape *shape, const void *weight_row_, const void *weights_,
                            int64_t own_weight, int64_t all_weight, int64_t scale, int64_t yes, int64_t no,
                            int64_t *restrict low_yes, int64_t *restrict low_no) {
  const T *restrict common = weight_row_, *restrict weights = weights_;
  const int64_t rest = all_weight - own_weight;
  for (int32_t f = 0; f < shape->tests; f++) {
    const int64_t both = common[f], weight = weights[f];
    const int64_t from_yes = yes - scale * (own_weight - both);
    const int64_t from_no = no - scale * (rest - weight + both);
    const int64_t no_from_yes = yes - scale * both;
    const int64_t no_from_no = no - scale * (weight - both);
    const int64_t first = from_yes > from_no ? from_yes : from_no;
    const int64_t second = no_from_yes > no_from_no ? no_from_yes : no_from_no;
    low_yes[f] = low_yes[f] > first ? low_yes[f] : first;
    low_no[f] = low_no[f] > second ? low_no[f] : second;
  }
}

static const struct pair_kernel NAME (kernel) = {
    .name = KERNEL_NAME,
    .lane_bits = BITS,
    .build = NAME (build),
    .select = NAME (select),
    .sums = NAME (sums),
    .pairs = NAME (pairs),
    .own = NAME (own),
    .both = NAME (both),
    .own_supported = NAME (own_supported),
    .both_supported = NAME (both_supported),
    .best = NAME (best),
    .sizes = NAME (sizes),
    .paid = NAME (paid),
    .similar = NAME (similar),
};

#undef JOIN_
#undef JOIN
#undef NAME
