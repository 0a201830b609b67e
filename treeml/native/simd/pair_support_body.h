/* Depth two with a bound on support, for rows of equal weight, so that weights are numbers of rows. Included by
   pair_body.h. A stump with a cell of too few rows gains nothing; its side remains a leaf. */

static void NAME (own_supported) (const struct shape *shape, const void *doubled_, const void *weights_,
                                  struct side *side, int64_t support, void *scratch) {
  const T *doubled = doubled_, *weights = weights_, *sum = side->sum, *count = side->count;
  T *shift = scratch;
  const V total = SET ((T) side->total), all = SET ((T) side->weight), least = SET ((T) support);
  NAME (shifts) (shape, side, shift);
  for (int32_t j = 0; j < shape->tests; j += LANES) {
    const V s = LOAD (sum + j), rows = LOAD (count + j), others = SUB (all, rows);
    V best_yes = ABS (s), best_no = ABS (SUB (total, s));
    for (int32_t i = 0; i < shape->tests; i++) {
      const int64_t at = (int64_t) i * shape->stride + j;
      const V difference = SUB (LOAD (doubled + at), s), inside = LOAD (weights + at);
      const V outside = SUB (BROADCAST (count + i), inside);
      best_yes = MAX (best_yes, KEEP (ABS (difference), inside, SUB (rows, inside), least));
      best_no =
          MAX (best_no, KEEP (ABS (ADD (difference, BROADCAST (shift + i))), outside, SUB (others, outside), least));
    }
    STORE ((T *) side->yes + j, best_yes);
    STORE ((T *) side->no + j, best_no);
  }
}

static void NAME (both_supported) (struct slice *slice, const struct shape *shape, const void *doubled_,
                                   const void *weights_, struct side *counted, struct side *rest, int64_t support,
                                   void *scratch) {
  const T *doubled = doubled_, *weights = weights_;
  const T *counted_count = counted->count, *rest_count = rest->count;
  T *counted_shift = scratch, *rest_shift = (T *) scratch + shape->stride;
  const int64_t stride = shape->stride;
  const V counted_total = SET ((T) counted->total), rest_total = SET ((T) rest->total), least = SET ((T) support);
  NAME (shifts) (shape, counted, counted_shift);
  NAME (shifts) (shape, rest, rest_shift);
  for (int32_t j = 0; j < shape->tests; j += LANES) {
    const V a = LOAD ((const T *) counted->sum + j), b = LOAD ((const T *) rest->sum + j);
    const V rows_a = LOAD (counted_count + j), rows_b = LOAD (rest_count + j);
    const V others_a = SUB (SET ((T) counted->weight), rows_a), others_b = SUB (SET ((T) rest->weight), rows_b);
    V counted_yes = ABS (a), counted_no = ABS (SUB (counted_total, a));
    V rest_yes = ABS (b), rest_no = ABS (SUB (rest_total, b));
    for (int32_t i = 0; i < shape->padded; i += 4) {
      V positive[4], negative[4];
      for (int k = 0; k < 4; k++)
        positive[k] = negative[k] = ZERO ();
      NAME (add_groups) (slice, stride, i, j, slice->group[0], slice->group[1], positive);
      NAME (add_groups) (slice, stride, i, j, slice->group[1], slice->group[2], negative);
      for (int k = 0; k < 4; k++) {
        const V sum = SUB (positive[k], negative[k]), twice = ADD (sum, sum), difference = SUB (twice, a);
        const V inside = ADD (positive[k], negative[k]), outside = SUB (BROADCAST (counted_count + i + k), inside);
        counted_yes = MAX (counted_yes, KEEP (ABS (difference), inside, SUB (rows_a, inside), least));
        counted_no = MAX (counted_no, KEEP (ABS (ADD (difference, BROADCAST (counted_shift + i + k))), outside,
                                            SUB (others_a, outside), least));
        const V other = SUB (SUB (LOAD (doubled + (i + k) * stride + j), twice), b);
        const V left = SUB (LOAD (weights + (i + k) * stride + j), inside);
        const V beside = SUB (BROADCAST (rest_count + i + k), left);
        rest_yes = MAX (rest_yes, KEEP (ABS (other), left, SUB (rows_b, left), least));
        rest_no = MAX (rest_no,
                       KEEP (ABS (ADD (other, BROADCAST (rest_shift + i + k))), beside, SUB (others_b, beside), least));
      }
    }
    STORE ((T *) counted->yes + j, counted_yes);
    STORE ((T *) counted->no + j, counted_no);
    STORE ((T *) rest->yes + j, rest_yes);
    STORE ((T *) rest->no + j, rest_no);
  }
}
