/* Sweeps over rows of more than two classes; included by numeric_body.h. */

/* Many classes: a first sweep computes the sums of the rows before each lane. */
static inline ALWAYS_INLINE void NAME (sweep_many) (const struct numeric_lanes *lanes, const void *codes,
                                                    int64_t threshold, struct numeric_sides *sides, const int planes,
                                                    vec *inside, vec *sum_in, vec *sum_out) {
  const vec *code = codes, *edges = lanes->edge;
  const int32_t length = lanes->length;
  const vec limit = NAME (fill) ((CELL) (threshold - BIAS));
  CELL *starts = (CELL *) (sum_out + planes);
  for (int v = 0; v < VECTORS; v++) {
    for (int k = 0; k < planes; k++)
      inside[k] = NAME (fill) (0);
    for (int32_t j = 0; j < length; j++) {
      const int64_t at = (int64_t) j * VECTORS + v;
      const vec yes = HOLDS (vec, code[at] <= limit);
      for (int k = 0; k < planes; k++)
        inside[k] += yes & ((const vec *) lanes->plane[k])[at];
    }
    for (int k = 0; k < planes; k++)
      ((vec *) (starts + k * LANES))[v] = inside[k];
  }
  for (int k = 0; k < planes; k++) {
    CELL running = 0;
    for (int l = 0; l < LANES; l++) {
      const CELL own = starts[k * LANES + l];
      starts[k * LANES + l] = running;
      running = (CELL) (running + own);
    }
    sum_in[k] = NAME (fill) (running);
    sum_out[k] = NAME (fill) ((CELL) (lanes->sum[k] - running));
  }
  _Alignas (64) CELL best[2][LANES];
  for (int v = 0; v < VECTORS; v++) {
    for (int k = 0; k < planes; k++)
      inside[k] = ((const vec *) (starts + k * LANES))[v];
    vec best_in = NAME (fill) (0), best_out = best_in;
    for (int32_t j = 0; j < length; j++) {
      const int64_t at = (int64_t) j * VECTORS + v;
      const vec yes = HOLDS (vec, code[at] <= limit), edge = edges[at];
      vec left_in = {0}, right_in = {0}, left_out = {0}, right_out = {0};
      for (int k = 0; k < planes; k++) {
        inside[k] += yes & ((const vec *) lanes->plane[k])[at];
        const vec after = sum_in[k] - inside[k];
        const vec outside = ((const vec *) lanes->total[k])[at] - inside[k];
        const vec beyond = sum_out[k] - outside;
        left_in = NAME (most) (left_in, inside[k]);
        right_in = NAME (most) (right_in, after);
        left_out = NAME (most) (left_out, outside);
        right_out = NAME (most) (right_out, beyond);
      }
      best_in = NAME (most) (best_in, edge & (left_in + right_in));
      best_out = NAME (most) (best_out, edge & (left_out + right_out));
    }
    ((vec *) best[0])[v] = best_in;
    ((vec *) best[1])[v] = best_out;
  }
  int64_t alone[2] = {0, 0};
  for (int k = 0; k < planes; k++) {
    const int64_t in = (int64_t) LANE (sum_in[k], 0), out = (int64_t) LANE (sum_out[k], 0);
    alone[0] = in > alone[0] ? in : alone[0];
    alone[1] = out > alone[1] ? out : alone[1];
  }
  for (int s = 0; s < 2; s++) {
    int64_t score = alone[s];
    for (int l = 0; l < LANES; l++)
      score = best[s][l] > score ? best[s][l] : score;
    sides->cost[s] = sides->top[s] - score;
  }
}

static void NAME (stump_many) (const struct numeric_lanes *lanes, const void *codes, int64_t threshold,
                               struct numeric_sides *sides) {
  const int planes = lanes->planes;
  /* Sums of up to 16 classes are on the stack; beyond that, the memory behind `sum` is used. */
  vec near[16 * (3 + VECTORS)];
  vec *room = planes <= 16 ? near : (vec *) (((uintptr_t) (lanes->sum + planes) + 63) / 64 * 64);
  switch (planes) {
#define CASE(K) \
  case K: \
    NAME (sweep_many) (lanes, codes, threshold, sides, K, room, room + K, room + 2 * K); \
    break;
    CASE (2)
    CASE (3)
    CASE (4)
    CASE (5)
    CASE (6)
    CASE (7)
    CASE (8)
#undef CASE
  default:
    NAME (sweep_many) (lanes, codes, threshold, sides, planes, room, room + planes, room + 2 * planes);
  }
}

#if defined(NUMERIC_AVX512) && NUMERIC_CELL == 16
static void NAME (count_labels) (struct numeric_lanes *lanes) {
  const __m512i *label = lanes->label, one = _mm512_set1_epi16 (1);
  for (int k = 0; k < lanes->planes; k++) {
    const __m512i wanted = _mm512_set1_epi16 ((short) lanes->active[k]);
    __m512i sums = _mm512_setzero_si512 ();
    for (int32_t j = 0; j < lanes->length; j++)
      sums = _mm512_mask_add_epi16 (sums, _mm512_cmpeq_epi16_mask (label[j], wanted), sums, one);
    for (int by = 1; by < LANES; by *= 2)
      sums = _mm512_add_epi16 (sums, NAME (shift_lanes) (sums, by));
    _mm512_storeu_si512 (lanes->before + k * LANES, NAME (shift_lanes) (sums, 1));
    lanes->sum[k] = (int16_t) _mm_extract_epi16 (_mm512_extracti32x4_epi32 (sums, 3), 7);
  }
}

/* Keeps the counts of the classes in registers: two comparisons per class instead of two planes to read. */
static inline ALWAYS_INLINE void NAME (sweep_labels) (const struct numeric_lanes *lanes, const void *codes,
                                                      int64_t threshold, struct numeric_sides *sides, const int planes,
                                                      const int wanted) {
  const __m512i *code = codes, *label = lanes->label;
  const int32_t length = lanes->length;
  const __m512i limit = _mm512_set1_epi16 ((short) (threshold - BIAS)), one = _mm512_set1_epi16 (1);
  __m512i inside[8], outside[8], sum_in[8], sum_out[8], label_of[8];
  int64_t alone[2] = {0, 0};
  for (int k = 0; k < planes; k++) {
    inside[k] = _mm512_setzero_si512 ();
    label_of[k] = _mm512_set1_epi16 ((short) lanes->active[k]);
  }
  for (int32_t j = 0; j < length; j++) {
    const __mmask32 yes = _mm512_cmple_epi16_mask (code[j], limit);
    const __m512i own = label[j];
    for (int k = 0; k < planes; k++)
      inside[k] =
          _mm512_mask_add_epi16 (inside[k], _mm512_mask_cmpeq_epi16_mask (yes, own, label_of[k]), inside[k], one);
  }
  for (int k = 0; k < planes; k++) {
    __m512i sums = inside[k];
    for (int by = 1; by < LANES; by *= 2)
      sums = _mm512_add_epi16 (sums, NAME (shift_lanes) (sums, by));
    const int64_t all = (int16_t) _mm_extract_epi16 (_mm512_extracti32x4_epi32 (sums, 3), 7);
    inside[k] = NAME (shift_lanes) (sums, 1);
    outside[k] = _mm512_sub_epi16 (_mm512_loadu_si512 (lanes->before + k * LANES), inside[k]);
    sum_in[k] = _mm512_set1_epi16 ((short) all);
    sum_out[k] = _mm512_set1_epi16 ((short) (lanes->sum[k] - all));
    alone[0] = all > alone[0] ? all : alone[0];
    alone[1] = lanes->sum[k] - all > alone[1] ? lanes->sum[k] - all : alone[1];
  }
  __m512i best_in = _mm512_setzero_si512 (), best_out = best_in;
  for (int32_t j = 0; j < length; j++) {
    const __mmask32 yes = _mm512_cmple_epi16_mask (code[j], limit), no = ~yes, edge = lanes->edge_bits[j];
    const __m512i own = label[j];
    __m512i left_in = _mm512_setzero_si512 (), right_in = left_in, left_out = left_in, right_out = left_in;
    for (int k = 0; k < planes; k++) {
      if (wanted & 1) {
        inside[k] =
            _mm512_mask_add_epi16 (inside[k], _mm512_mask_cmpeq_epi16_mask (yes, own, label_of[k]), inside[k], one);
        left_in = _mm512_max_epi16 (left_in, inside[k]);
        right_in = _mm512_max_epi16 (right_in, _mm512_sub_epi16 (sum_in[k], inside[k]));
      }
      if (wanted & 2) {
        outside[k] =
            _mm512_mask_add_epi16 (outside[k], _mm512_mask_cmpeq_epi16_mask (no, own, label_of[k]), outside[k], one);
        left_out = _mm512_max_epi16 (left_out, outside[k]);
        right_out = _mm512_max_epi16 (right_out, _mm512_sub_epi16 (sum_out[k], outside[k]));
      }
    }
    best_in = _mm512_mask_max_epi16 (best_in, edge, best_in, _mm512_add_epi16 (left_in, right_in));
    best_out = _mm512_mask_max_epi16 (best_out, edge, best_out, _mm512_add_epi16 (left_out, right_out));
  }
  const __m512i zero = _mm512_setzero_si512 ();
  const int64_t best[2] = {-NAME (lowest) (_mm512_sub_epi16 (zero, best_in)),
                           -NAME (lowest) (_mm512_sub_epi16 (zero, best_out))};
  for (int s = 0; s < 2; s++)
    sides->cost[s] = sides->top[s] - (best[s] > alone[s] ? best[s] : alone[s]);
}

static void NAME (stump_labels) (const struct numeric_lanes *lanes, const void *codes, int64_t threshold,
                                 struct numeric_sides *sides) {
  switch (lanes->planes) {
#define CASE(K) \
  case K: \
    if (sides->wanted == 1) \
      NAME (sweep_labels) (lanes, codes, threshold, sides, K, 1); \
    else if (sides->wanted == 2) \
      NAME (sweep_labels) (lanes, codes, threshold, sides, K, 2); \
    else \
      NAME (sweep_labels) (lanes, codes, threshold, sides, K, 3); \
    break;
    CASE (1)
    CASE (2)
    CASE (3)
    CASE (4)
    CASE (5)
    CASE (6)
    CASE (7)
    CASE (8)
#undef CASE
  default:
    NAME (stump_many) (lanes, codes, threshold, sides);
  }
}

/* The lanes of one side joined: running differences, and their extremes within each lane, begin at 0 there. A lane
   without a cut holds extremes that no sum before it can bring to the other side of 0. */
static inline void NAME (join_lead) (__m512i before, __m512i low, __m512i high, int s, struct numeric_lead *lead) {
  const int64_t least = NAME (lowest) (_mm512_adds_epi16 (low, before));
  const int64_t most = -NAME (lowest) (_mm512_subs_epi16 (_mm512_setzero_si512 (), _mm512_adds_epi16 (high, before)));
  lead->least[s] = least < 0 ? least : 0;
  lead->most[s] = most > 0 ? most : 0;
}

static inline __m512i NAME (before_lanes) (__m512i sums) {
  for (int by = 1; by < LANES; by *= 2)
    sums = _mm512_add_epi16 (sums, NAME (shift_lanes) (sums, by));
  return NAME (shift_lanes) (sums, 1);
}

/* A table of 32 entries says what a row of each class adds to the difference; rows beyond the last have class 31. */
static inline ALWAYS_INLINE void NAME (lead_of_side) (const struct numeric_lanes *lanes, const __m512i *code,
                                                      __m512i limit, __m512i table, const int s,
                                                      struct numeric_lead *lead) {
  const __m512i *label = lanes->label;
  __m512i ahead = _mm512_setzero_si512 (), low = _mm512_set1_epi16 (INT16_MAX), high = _mm512_set1_epi16 (-INT16_MAX);
  for (int32_t j = 0; j < lanes->length; j++) {
    const __mmask32 edge = lanes->edge_bits[j];
    const __mmask32 own = s ? _mm512_cmpgt_epi16_mask (code[j], limit) : _mm512_cmple_epi16_mask (code[j], limit);
    ahead = _mm512_mask_add_epi16 (ahead, own, ahead, _mm512_permutexvar_epi16 (label[j], table));
    low = _mm512_mask_min_epi16 (low, edge, low, ahead);
    high = _mm512_mask_max_epi16 (high, edge, high, ahead);
  }
  NAME (join_lead) (NAME (before_lanes) (ahead), low, high, s, lead);
}

static inline void NAME (lead_of_both) (const struct numeric_lanes *lanes, const __m512i *code, __m512i limit,
                                        __m512i table, struct numeric_lead *lead) {
  const __m512i *label = lanes->label;
  __m512i inside = _mm512_setzero_si512 (), outside = inside;
  __m512i low_in = _mm512_set1_epi16 (INT16_MAX), high_in = _mm512_set1_epi16 (-INT16_MAX);
  __m512i low_out = low_in, high_out = high_in;
  for (int32_t j = 0; j < lanes->length; j++) {
    const __mmask32 yes = _mm512_cmple_epi16_mask (code[j], limit), edge = lanes->edge_bits[j];
    const __m512i adds = _mm512_permutexvar_epi16 (label[j], table);
    inside = _mm512_mask_add_epi16 (inside, yes, inside, adds);
    outside = _mm512_mask_add_epi16 (outside, ~yes, outside, adds);
    low_in = _mm512_mask_min_epi16 (low_in, edge, low_in, inside);
    high_in = _mm512_mask_max_epi16 (high_in, edge, high_in, inside);
    low_out = _mm512_mask_min_epi16 (low_out, edge, low_out, outside);
    high_out = _mm512_mask_max_epi16 (high_out, edge, high_out, outside);
  }
  NAME (join_lead) (NAME (before_lanes) (inside), low_in, high_in, 0, lead);
  NAME (join_lead) (NAME (before_lanes) (outside), low_out, high_out, 1, lead);
}

static void NAME (lead) (const struct numeric_lanes *lanes, const void *codes, int64_t threshold, const int32_t pair[2],
                         struct numeric_lead *lead) {
  short adds[LANES] = {0};
  adds[lanes->active[pair[0]]] = 1;
  adds[lanes->active[pair[1]]] = -1;
  const __m512i limit = _mm512_set1_epi16 ((short) (threshold - BIAS)), table = _mm512_loadu_si512 (adds);
  if (lead->wanted == 1)
    NAME (lead_of_side) (lanes, codes, limit, table, 0, lead);
  else if (lead->wanted == 2)
    NAME (lead_of_side) (lanes, codes, limit, table, 1, lead);
  else
    NAME (lead_of_both) (lanes, codes, limit, table, lead);
}
#endif
