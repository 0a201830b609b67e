/* The sweeps for one width of cells and one width of registers. Included with CELL, NAME and VECTOR defined. */

DEFINE_LANES (NAME (vector), CELL, VECTOR, VECTOR);
#define vec NAME (vector)
enum { NAME (width) = sizeof (vec) / sizeof (CELL), NAME (vectors) = LANES * sizeof (CELL) / sizeof (vec) };
#define WIDTH NAME (width)
#define VECTORS NAME (vectors)
#define BIG ((CELL) (sizeof (CELL) == 2 ? INT16_MAX : sizeof (CELL) == 4 ? INT32_MAX : INT64_MAX))
#define BIAS (sizeof (CELL) == 2 ? 32768 : 0)

static inline vec NAME (fill) (CELL value) {
  vec zero = {0};
  return (vec) (zero + value);
}

static inline vec NAME (choose) (vec mask, vec yes, vec no) { return (yes & mask) | (no & ~mask); }

#if defined(NUMERIC_AVX512) && NUMERIC_CELL == 16
static inline vec NAME (least) (vec a, vec b) { return (vec) _mm512_min_epi16 ((__m512i) a, (__m512i) b); }
static inline vec NAME (most) (vec a, vec b) { return (vec) _mm512_max_epi16 ((__m512i) a, (__m512i) b); }
#elif defined(NUMERIC_AVX512) && NUMERIC_CELL == 32
static inline vec NAME (least) (vec a, vec b) { return (vec) _mm512_min_epi32 ((__m512i) a, (__m512i) b); }
static inline vec NAME (most) (vec a, vec b) { return (vec) _mm512_max_epi32 ((__m512i) a, (__m512i) b); }
#elif defined(NUMERIC_AVX512) && NUMERIC_CELL == 64
static inline vec NAME (least) (vec a, vec b) { return (vec) _mm512_min_epi64 ((__m512i) a, (__m512i) b); }
static inline vec NAME (most) (vec a, vec b) { return (vec) _mm512_max_epi64 ((__m512i) a, (__m512i) b); }
#elif defined(NUMERIC_AVX2) && NUMERIC_CELL == 16
static inline vec NAME (least) (vec a, vec b) { return (vec) _mm256_min_epi16 ((__m256i) a, (__m256i) b); }
static inline vec NAME (most) (vec a, vec b) { return (vec) _mm256_max_epi16 ((__m256i) a, (__m256i) b); }
#elif defined(NUMERIC_AVX2) && NUMERIC_CELL == 32
static inline vec NAME (least) (vec a, vec b) { return (vec) _mm256_min_epi32 ((__m256i) a, (__m256i) b); }
static inline vec NAME (most) (vec a, vec b) { return (vec) _mm256_max_epi32 ((__m256i) a, (__m256i) b); }
#elif defined(NUMERIC_NEON) && NUMERIC_CELL == 16
static inline vec NAME (least) (vec a, vec b) { return (vec) vminq_s16 ((int16x8_t) a, (int16x8_t) b); }
static inline vec NAME (most) (vec a, vec b) { return (vec) vmaxq_s16 ((int16x8_t) a, (int16x8_t) b); }
#elif defined(NUMERIC_NEON) && NUMERIC_CELL == 32
static inline vec NAME (least) (vec a, vec b) { return (vec) vminq_s32 ((int32x4_t) a, (int32x4_t) b); }
static inline vec NAME (most) (vec a, vec b) { return (vec) vmaxq_s32 ((int32x4_t) a, (int32x4_t) b); }
#else
static inline vec NAME (least) (vec a, vec b) { return NAME (choose) (HOLDS (vec, a < b), a, b); }
static inline vec NAME (most) (vec a, vec b) { return NAME (choose) (HOLDS (vec, a > b), a, b); }
#endif

static void NAME (gather_codes) (const int32_t *code, const int32_t *order, int64_t rows, void *cells) {
  CELL *to = cells;
  int64_t i = 0;
#if defined(NUMERIC_AVX512) && NUMERIC_CELL == 16
  const __m512i bias = _mm512_set1_epi32 (BIAS);
  for (; i + 16 <= rows; i += 16) {
    const __m512i found = _mm512_i32gather_epi32 (_mm512_loadu_si512 (order + i), code, 4);
    _mm256_storeu_si256 ((__m256i *) (to + i), _mm512_cvtepi32_epi16 (_mm512_sub_epi32 (found, bias)));
  }
#endif
  for (; i < rows; i++)
    to[i] = (CELL) (code[order[i]] - BIAS);
}

static void NAME (gather_values) (const int64_t *value, const int32_t *order, int64_t rows, void *cells) {
  CELL *to = cells;
  int64_t i = 0;
#if defined(NUMERIC_AVX512) && NUMERIC_CELL == 16
  for (; i + 8 <= rows; i += 8) {
    const __m512i found = _mm512_i32gather_epi64 (_mm256_loadu_si256 ((const __m256i *) (order + i)), value, 8);
    _mm_storeu_si128 ((__m128i *) (to + i), _mm512_cvtepi64_epi16 (found));
  }
#endif
  for (; i < rows; i++)
    to[i] = (CELL) value[order[i]];
}

static int64_t NAME (sum) (const void *cells, int64_t rows) {
  const CELL *from = cells;
  int64_t sum = 0;
  for (int64_t i = 0; i < rows; i++)
    sum += from[i];
  return sum;
}

static void NAME (expand) (const void *labels, int32_t label, int32_t length, void *plane) {
  const vec *from = labels, wanted = NAME (fill) ((CELL) label);
  vec *to = plane;
  for (int64_t i = 0; i < (int64_t) length * VECTORS; i++)
    to[i] = -HOLDS (vec, from[i] == wanted);
}

static void NAME (subtract) (void *lanes, const void *others, int32_t length) {
  vec *to = lanes;
  const vec *from = others;
  for (int64_t i = 0; i < (int64_t) length * VECTORS; i++)
    to[i] -= from[i];
}

static int64_t NAME (select) (const void *codes, int64_t rows, int64_t threshold, int above, uint64_t *bits) {
  const CELL *from = codes;
  const CELL limit = (CELL) (threshold - BIAS);
  const uint64_t flip = above ? ~UINT64_C (0) : 0;
  int64_t count = 0;
  for (int64_t i = 0; i < rows; i += 64) {
    uint64_t word = 0;
#if defined(NUMERIC_AVX512) && NUMERIC_CELL == 16
    const __m512i limits = _mm512_set1_epi16 (limit);
    word = (uint64_t) _mm512_cmple_epi16_mask (_mm512_loadu_si512 (from + i), limits);
    if (i + 32 < rows)
      word |= (uint64_t) _mm512_cmple_epi16_mask (_mm512_loadu_si512 (from + i + 32), limits) << 32;
#else
    const int64_t stop = rows - i < 64 ? rows - i : 64;
    for (int64_t b = 0; b < stop; b++)
      word |= (uint64_t) (from[i + b] <= limit) << b;
#endif
    word ^= flip;
    if (rows - i < 64)
      word &= (UINT64_C (1) << (rows - i)) - 1;
    bits[i / 64] = word;
    count += count_bits (word);
  }
  return count;
}

static void NAME (compress) (const void *cells, const uint64_t *bits, int64_t rows, void *to) {
  const CELL *from = cells;
  CELL *out = to;
#if defined(NUMERIC_AVX512) && NUMERIC_CELL == 16
  const uint32_t *masks = (const uint32_t *) bits;
  for (int64_t i = 0; i < rows; i += 32) {
    const uint32_t mask = masks[i / 32];
    _mm512_storeu_si512 (out, _mm512_maskz_compress_epi16 (mask, _mm512_loadu_si512 (from + i)));
    out += count_bits (mask);
  }
#elif defined(NUMERIC_AVX512) && NUMERIC_CELL == 32
  const uint16_t *masks = (const uint16_t *) bits;
  for (int64_t i = 0; i < rows; i += 16) {
    const uint16_t mask = masks[i / 16];
    _mm512_storeu_si512 (out, _mm512_maskz_compress_epi32 (mask, _mm512_loadu_si512 (from + i)));
    out += count_bits (mask);
  }
#else
  for (int64_t i = 0; i < rows; i += 64)
    for (uint64_t word = bits[i / 64]; word; word &= word - 1)
      *out++ = from[i + lowest_bit (word)];
#endif
}

static void NAME (spread) (void *cells, int64_t rows, int32_t length, int codes, void *lanes) {
  CELL *from = cells, *to = lanes;
  const int64_t slots = (int64_t) length * LANES;
  const CELL pad = codes ? BIG : 0;
  for (int64_t i = rows; i < slots; i++)
    from[i] = pad;
#if defined(NUMERIC_AVX512) && NUMERIC_CELL == 16
  for (int32_t j = 0; j < length; j += BLOCK) {
    __m512i a[BLOCK], b[BLOCK];
    for (int r = 0; r < BLOCK; r++) {
      const CELL *at = from + (int64_t) r * length + j;
      const int64_t step = (int64_t) BLOCK * length;
      __m512i row = _mm512_castsi128_si512 (_mm_loadu_si128 ((const __m128i *) at));
      row = _mm512_inserti32x4 (row, _mm_loadu_si128 ((const __m128i *) (at + step)), 1);
      row = _mm512_inserti32x4 (row, _mm_loadu_si128 ((const __m128i *) (at + 2 * step)), 2);
      a[r] = _mm512_inserti32x4 (row, _mm_loadu_si128 ((const __m128i *) (at + 3 * step)), 3);
    }
    for (int r = 0; r < 4; r++) {
      b[2 * r] = _mm512_unpacklo_epi16 (a[2 * r], a[2 * r + 1]);
      b[2 * r + 1] = _mm512_unpackhi_epi16 (a[2 * r], a[2 * r + 1]);
    }
    for (int r = 0; r < 8; r += 4) {
      a[r] = _mm512_unpacklo_epi32 (b[r], b[r + 2]);
      a[r + 1] = _mm512_unpackhi_epi32 (b[r], b[r + 2]);
      a[r + 2] = _mm512_unpacklo_epi32 (b[r + 1], b[r + 3]);
      a[r + 3] = _mm512_unpackhi_epi32 (b[r + 1], b[r + 3]);
    }
    for (int r = 0; r < 4; r++) {
      _mm512_store_si512 (to + (int64_t) (j + 2 * r) * LANES, _mm512_unpacklo_epi64 (a[r], a[r + 4]));
      _mm512_store_si512 (to + (int64_t) (j + 2 * r + 1) * LANES, _mm512_unpackhi_epi64 (a[r], a[r + 4]));
    }
  }
#else
  for (int32_t j = 0; j < length; j += BLOCK)
    for (int l = 0; l < LANES; l++) {
      const CELL *at = from + (int64_t) l * length + j;
      for (int r = 0; r < BLOCK; r++)
        to[(int64_t) (j + r) * LANES + l] = at[r];
    }
#endif
}

static void NAME (edges) (const void *codes, struct numeric_lanes *lanes) {
  const CELL *from = codes;
  CELL *edge = lanes->edge;
  const int32_t length = lanes->length;
  for (int32_t j = 0; j < length; j++) {
    const CELL *row = from + (int64_t) j * LANES;
    uint32_t word = 0;
    if (j + 1 < length) {
#if defined(NUMERIC_AVX512) && NUMERIC_CELL == 16
      word = _mm512_cmpneq_epi16_mask (_mm512_load_si512 (row), _mm512_load_si512 (row + LANES));
      if (edge)
        _mm512_store_si512 (edge + (int64_t) j * LANES, _mm512_movm_epi16 (word));
      lanes->edge_bits[j] = word;
      continue;
#endif
      for (int l = 0; l < LANES; l++)
        word |= (uint32_t) (row[l] != row[l + LANES]) << l;
    } else
      for (int l = 0; l + 1 < LANES; l++)
        word |= (uint32_t) (row[l] != from[l + 1]) << l;
    lanes->edge_bits[j] = word;
    for (int l = 0; edge && l < LANES; l++)
      edge[(int64_t) j * LANES + l] = (CELL) - (CELL) (word >> l & 1);
  }
}

static void NAME (totals) (struct numeric_lanes *lanes, int two) {
  const int32_t length = lanes->length;
  for (int32_t k = 0; k < lanes->planes; k++) {
    const vec *plane = lanes->plane[k];
    vec *total = lanes->total[k];
    _Alignas (64) CELL last[LANES];
    for (int v = 0; v < VECTORS; v++) {
      vec running = {0};
      for (int32_t j = 0; j < length; j++) {
        running += plane[(int64_t) j * VECTORS + v];
        total[(int64_t) j * VECTORS + v] = running;
      }
      ((vec *) last)[v] = running;
    }
    int64_t sum = 0;
    _Alignas (64) CELL before[LANES];
    for (int l = 0; l < LANES; l++) {
      before[l] = (CELL) sum;
      lanes->before[k * LANES + l] = (int16_t) sum;
      if (!k) {
        lanes->offset[l] = sum;
        lanes->offsets[l] = (int16_t) sum;
      }
      sum += last[l];
    }
    if (!k)
      lanes->offset[LANES] = sum;
    lanes->sum[k] = sum;
    if (!two)
      for (int v = 0; v < VECTORS; v++) {
        const vec start = ((const vec *) before)[v];
        for (int32_t j = 0; j < length; j++)
          total[(int64_t) j * VECTORS + v] += start;
      }
  }
}

/* The costs of the best stumps, from the smallest and largest running sum on either side. */
static inline void NAME (stump_costs) (const struct numeric_lanes *lanes, int64_t inside, const int64_t least[2],
                                       const int64_t most[2], struct numeric_sides *sides) {
  const int64_t balance[2] = {inside, lanes->offset[LANES] - inside};
  for (int s = 0; s < 2; s++) {
    const int64_t zeros = (sides->top[s] - balance[s]) / 2, ones = (sides->top[s] + balance[s]) / 2;
    const int64_t up = zeros + least[s], down = ones - most[s];
    sides->cost[s] = up < down ? up : down;
  }
}

#if defined(NUMERIC_AVX512) && NUMERIC_CELL == 16
static inline __m512i NAME (shift_lanes) (__m512i x, int by) {
  short place[LANES];
  for (int l = 0; l < LANES; l++)
    place[l] = (short) (l >= by ? l - by : 0);
  return _mm512_maskz_permutexvar_epi16 (~UINT32_C (0) << by, _mm512_loadu_si512 (place), x);
}

static inline int64_t NAME (lowest) (__m512i x) {
  const __m256i half = _mm256_min_epi16 (_mm512_castsi512_si256 (x), _mm512_extracti64x4_epi64 (x, 1));
  const __m128i part = _mm_min_epi16 (_mm256_castsi256_si128 (half), _mm256_extracti128_si256 (half, 1));
  const __m128i biased = _mm_xor_si128 (part, _mm_set1_epi16 ((short) 0x8000));
  return (int16_t) ((unsigned) _mm_extract_epi16 (_mm_minpos_epu16 (biased), 0) ^ 0x8000u);
}

/* The same as the loop over lanes below, if every sum fits in 16 bits. A lane without a cut holds extreme values
   that keep their sign whatever sum is added, so that they never win. */
static inline void NAME (join_lanes) (const struct numeric_lanes *lanes, vec inside, vec low_in, vec high_in,
                                      vec low_out, vec high_out, struct numeric_sides *sides) {
  __m512i sums = (__m512i) inside;
  for (int by = 1; by < LANES; by *= 2)
    sums = _mm512_add_epi16 (sums, NAME (shift_lanes) (sums, by));
  const int64_t all = (int16_t) _mm_extract_epi16 (_mm512_extracti32x4_epi32 (sums, 3), 7);
  const __m512i before = NAME (shift_lanes) (sums, 1);
  const __m512i beyond = _mm512_sub_epi16 (_mm512_loadu_si512 (lanes->offsets), before);
  const __m512i zero = _mm512_setzero_si512 ();
  const __m512i l0 = _mm512_adds_epi16 ((__m512i) low_in, before), h0 = _mm512_adds_epi16 ((__m512i) high_in, before);
  const __m512i l1 = _mm512_adds_epi16 ((__m512i) low_out, beyond), h1 = _mm512_adds_epi16 ((__m512i) high_out, beyond);
  const int64_t low[2] = {NAME (lowest) (l0), NAME (lowest) (l1)};
  const int64_t high[2] = {-NAME (lowest) (_mm512_subs_epi16 (zero, h0)),
                           -NAME (lowest) (_mm512_subs_epi16 (zero, h1))};
  const int64_t least[2] = {low[0] < 0 ? low[0] : 0, low[1] < 0 ? low[1] : 0};
  const int64_t most[2] = {high[0] > 0 ? high[0] : 0, high[1] > 0 ? high[1] : 0};
  NAME (stump_costs) (lanes, all, least, most, sides);
}
#endif

/* If weights of class 1 count as positive and those of class 0 as negative, a stump that predicts 0 up to a cut and
   1 beyond it errs by the weight of class 0 plus the running sum at the cut; the opposite stump errs by the weight
   of class 1 minus the running sum. */
static void NAME (stump_two) (const struct numeric_lanes *lanes, const void *codes, int64_t threshold,
                              struct numeric_sides *sides) {
  const vec *code = codes, *plane = lanes->plane[0], *total = lanes->total[0];
  const int32_t length = lanes->length;
  const vec limit = NAME (fill) ((CELL) (threshold - BIAS));
  _Alignas (64) CELL sums[LANES];
  _Alignas (64) CELL low[2][LANES], high[2][LANES];
  for (int v = 0; v < VECTORS; v++) {
    vec inside = {0};
    vec low_in = NAME (fill) (BIG), high_in = NAME (fill) (-BIG), low_out = low_in, high_out = high_in;
#if defined(NUMERIC_AVX512) && NUMERIC_CELL == 16
    for (int32_t j = 0; j < length; j++) {
      const __mmask32 yes = _mm512_cmple_epi16_mask ((__m512i) code[j], (__m512i) limit), edge = lanes->edge_bits[j];
      inside = (vec) _mm512_mask_add_epi16 ((__m512i) inside, yes, (__m512i) inside, (__m512i) plane[j]);
      const vec outside = total[j] - inside;
      low_in = (vec) _mm512_mask_min_epi16 ((__m512i) low_in, edge, (__m512i) low_in, (__m512i) inside);
      high_in = (vec) _mm512_mask_max_epi16 ((__m512i) high_in, edge, (__m512i) high_in, (__m512i) inside);
      low_out = (vec) _mm512_mask_min_epi16 ((__m512i) low_out, edge, (__m512i) low_out, (__m512i) outside);
      high_out = (vec) _mm512_mask_max_epi16 ((__m512i) high_out, edge, (__m512i) high_out, (__m512i) outside);
    }
#elif defined(NUMERIC_AVX512) && NUMERIC_CELL == 32
    for (int32_t j = 0; j < length; j++) {
      const int64_t at = (int64_t) j * VECTORS + v;
      const __mmask16 yes = _mm512_cmple_epi32_mask ((__m512i) code[at], (__m512i) limit);
      const __mmask16 edge = (__mmask16) (lanes->edge_bits[j] >> (16 * v));
      inside = (vec) _mm512_mask_add_epi32 ((__m512i) inside, yes, (__m512i) inside, (__m512i) plane[at]);
      const vec outside = total[at] - inside;
      low_in = (vec) _mm512_mask_min_epi32 ((__m512i) low_in, edge, (__m512i) low_in, (__m512i) inside);
      high_in = (vec) _mm512_mask_max_epi32 ((__m512i) high_in, edge, (__m512i) high_in, (__m512i) inside);
      low_out = (vec) _mm512_mask_min_epi32 ((__m512i) low_out, edge, (__m512i) low_out, (__m512i) outside);
      high_out = (vec) _mm512_mask_max_epi32 ((__m512i) high_out, edge, (__m512i) high_out, (__m512i) outside);
    }
#else
    const vec *edges = lanes->edge;
    for (int32_t j = 0; j < length; j++) {
      const int64_t at = (int64_t) j * VECTORS + v;
      const vec edge = edges[at];
      inside += HOLDS (vec, code[at] <= limit) & plane[at];
      const vec outside = total[at] - inside;
      low_in = NAME (choose) (edge, NAME (least) (low_in, inside), low_in);
      high_in = NAME (choose) (edge, NAME (most) (high_in, inside), high_in);
      low_out = NAME (choose) (edge, NAME (least) (low_out, outside), low_out);
      high_out = NAME (choose) (edge, NAME (most) (high_out, outside), high_out);
    }
#endif
#if defined(NUMERIC_AVX512) && NUMERIC_CELL == 16
    if (lanes->narrow) {
      NAME (join_lanes) (lanes, inside, low_in, high_in, low_out, high_out, sides);
      return;
    }
#endif
    ((vec *) sums)[v] = inside;
    ((vec *) low[0])[v] = low_in;
    ((vec *) high[0])[v] = high_in;
    ((vec *) low[1])[v] = low_out;
    ((vec *) high[1])[v] = high_out;
  }
  int64_t before = 0, least[2] = {0, 0}, most[2] = {0, 0};
  for (int l = 0; l < LANES; l++) {
    if (low[0][l] != BIG) {
      const int64_t beyond = lanes->offset[l] - before;
      least[0] = low[0][l] + before < least[0] ? low[0][l] + before : least[0];
      most[0] = high[0][l] + before > most[0] ? high[0][l] + before : most[0];
      least[1] = low[1][l] + beyond < least[1] ? low[1][l] + beyond : least[1];
      most[1] = high[1][l] + beyond > most[1] ? high[1][l] + beyond : most[1];
    }
    before += sums[l];
  }
  NAME (stump_costs) (lanes, before, least, most, sides);
}

#include "simd/numeric_classes_body.h"

#if NUMERIC_CELL == 64
static inline double NAME (share) (const int64_t *sums, int planes) {
  double score = 0;
  for (int k = 1; k < planes; k++)
    score += (double) sums[k] * (double) sums[k];
  return sums[0] > 0 ? score / (double) sums[0] : 0;
}

DEFINE_LANES (NAME (reals), double, VECTOR, VECTOR);

static inline NAME (reals) NAME (real) (vec whole) { return CONVERTED (whole, NAME (reals)); }

/* Some lanes of a vector: a register of bits if the processor has them. */
#if defined(NUMERIC_AVX512)
typedef __mmask8 NAME (mask);
static inline NAME (mask) NAME (side) (vec code, vec limit, int side) {
  return (NAME (mask)) (_mm512_cmple_epi64_mask ((__m512i) code, (__m512i) limit) ^ -side);
}
static inline vec NAME (add) (vec sum, NAME (mask) where, vec more) {
  return (vec) _mm512_mask_add_epi64 ((__m512i) sum, where, (__m512i) sum, (__m512i) more);
}
static inline NAME (mask) NAME (edge) (const struct numeric_lanes *lanes, int32_t row, int part) {
  return (NAME (mask)) (lanes->edge_bits[row] >> (WIDTH * part));
}
static inline NAME (mask) NAME (exceeds) (NAME (reals) a, NAME (reals) b, NAME (mask) where) {
  return _mm512_mask_cmp_pd_mask (where, (__m512d) a, (__m512d) b, _CMP_GT_OQ);
}
static inline NAME (reals) NAME (quotient) (NAME (mask) where, NAME (reals) a, NAME (reals) b, NAME (reals) other) {
  return (NAME (reals)) _mm512_mask_div_pd ((__m512d) other, where, (__m512d) a, (__m512d) b);
}
/* Where a number is not one, which is 0 / 0, the other is taken. */
static inline NAME (reals) NAME (larger) (NAME (mask) where, NAME (reals) a, NAME (reals) other) {
  return (NAME (reals)) _mm512_mask_max_pd ((__m512d) other, where, (__m512d) a, (__m512d) other);
}
static inline int NAME (any) (NAME (mask) mask) { return mask != 0; }
#else
typedef vec NAME (mask);
static inline NAME (mask) NAME (side) (vec code, vec limit, int side) {
  return HOLDS (vec, code <= limit) ^ -(int64_t) side;
}
static inline vec NAME (add) (vec sum, NAME (mask) where, vec more) { return sum + (where & more); }
static inline NAME (mask) NAME (edge) (const struct numeric_lanes *lanes, int32_t row, int part) {
  return ((const vec *) lanes->edge)[(int64_t) row * VECTORS + part];
}
static inline NAME (mask) NAME (exceeds) (NAME (reals) a, NAME (reals) b, NAME (mask) where) {
  return HOLDS (vec, a > b) & where;
}
static inline NAME (reals) NAME (quotient) (NAME (mask) where, NAME (reals) a, NAME (reals) b, NAME (reals) other) {
  return EITHER (NAME (reals), vec, where, a / b, other);
}
static inline NAME (reals) NAME (larger) (NAME (mask) where, NAME (reals) a, NAME (reals) other) {
  return EITHER (NAME (reals), vec, HOLDS (vec, a > other) & where, a, other);
}
static inline int NAME (any) (NAME (mask) mask) {
  int64_t all = 0;
  for (int i = 0; i < WIDTH; i++)
    all |= LANE (mask, i);
  return all != 0;
}
#endif

static inline double NAME (largest) (NAME (reals) numbers) {
  double most = LANE (numbers, 0);
  for (int i = 1; i < WIDTH; i++)
    most = LANE (numbers, i) > most ? LANE (numbers, i) : most;
  return most;
}

static inline NAME (reals) NAME (repeated) (double number) { return number - (NAME (reals)) {0}; }

/* The best score of a split of one side: the squared sums of its parts over their weights, added up. `start` holds the
   sums of the side before each lane, `all` its totals, and `left` is memory for VECTORS vectors of each plane. With
   many rows a score seldom exceeds the best so far (`rare`): then fractions are compared and few are divided. */
static inline ALWAYS_INLINE double NAME (best_score) (const struct numeric_lanes *lanes, const vec *code,
                                                      int64_t threshold, int side, int planes, const int64_t *start,
                                                      const int64_t *all, vec *left, double known, int rare) {
  const vec limit = NAME (fill) (threshold);
  NAME (reals) best = NAME (repeated) (known), own[VECTORS];
  for (int v = 0; v < VECTORS; v++)
    own[v] = best;
  for (int i = 0; i < planes * VECTORS; i++)
    left[i] = ((const vec *) start)[i];
  for (int32_t j = 0; j < lanes->length; j++) {
    NAME (reals) over[VECTORS], under[VECTORS];
    NAME (mask) better[VECTORS], any = {0};
    for (int v = 0; v < VECTORS; v++) {
      const int64_t at = (int64_t) j * VECTORS + v;
      const NAME (mask) inside = NAME (side) (code[at], limit, side);
      NAME (reals) one = {0}, other = {0};
      left[v] = NAME (add) (left[v], inside, ((const vec *) lanes->plane[0])[at]);
      for (int k = 1; k < planes; k++) {
        vec *sum = &left[k * VECTORS + v];
        *sum = NAME (add) (*sum, inside, ((const vec *) lanes->plane[k])[at]);
        const NAME (reals) l = NAME (real) (*sum), r = NAME (real) (all[k] - *sum);
        one += l * l;
        other += r * r;
      }
      const NAME (reals) weight = NAME (real) (left[v]), rest = NAME (real) (all[0] - left[v]);
      over[v] = one * rest + other * weight;
      under[v] = weight * rest;
      const NAME (mask) edge = NAME (edge) (lanes, j, v);
      if (!rare) {
        own[v] = NAME (larger) (edge, over[v] / under[v], own[v]);
        continue;
      }
      better[v] = NAME (exceeds) (over[v], best * under[v], edge);
      any |= better[v];
    }
    if (!rare || !NAME (any) (any))
      continue;
    double most = LANE (best, 0);
    for (int v = 0; v < VECTORS; v++) {
      const double score = NAME (largest) (NAME (quotient) (better[v], over[v], under[v], best));
      most = score > most ? score : most;
    }
    best = NAME (repeated) (most);
  }
  double most = NAME (largest) (best);
  for (int v = 0; v < VECTORS; v++)
    most = NAME (largest) (own[v]) > most ? NAME (largest) (own[v]) : most;
  return most;
}

/* The same for one output, whose running sums stay in registers. */
static double NAME (best_single) (const struct numeric_lanes *lanes, const vec *code, int64_t threshold, int side,
                                  const int64_t *start, const int64_t *all, double known) {
  vec left[2 * VECTORS];
  return lanes->length > few_rows ? NAME (best_score) (lanes, code, threshold, side, 2, start, all, left, known, 1)
                                  : NAME (best_score) (lanes, code, threshold, side, 2, start, all, left, known, 0);
}

/* Plane 0 holds the weight, the others weight * target. Sums are exact; only products and quotients are rounded. */
static void NAME (stump_squared) (const struct numeric_lanes *lanes, const void *codes, int64_t threshold,
                                  struct numeric_sides *sides) {
  const vec *code = codes, limit = NAME (fill) (threshold);
  const int planes = lanes->planes;
  /* The memory behind the sums: running sums and sums before each lane for every plane, then totals. */
  vec *left = (vec *) lanes->sum + (planes * (int) sizeof (int64_t) + (int) sizeof (vec) - 1) / (int) sizeof (vec);
  int64_t *start = (int64_t *) (left + planes * VECTORS),
          *all[2] = {start + planes * LANES, start + planes * (LANES + 1)};
  for (int k = 0; k < planes; k++) {
    const vec *plane = lanes->plane[k];
    for (int v = 0; v < VECTORS; v++) {
      vec sum = {0};
      for (int32_t j = 0; j < lanes->length; j++)
        sum += HOLDS (vec, code[(int64_t) j * VECTORS + v] <= limit) & plane[(int64_t) j * VECTORS + v];
      ((vec *) (start + (int64_t) k * LANES))[v] = sum;
    }
    all[0][k] = 0;
    for (int l = 0; l < LANES; l++) {
      const int64_t own = start[(int64_t) k * LANES + l];
      start[(int64_t) k * LANES + l] = all[0][k];
      all[0][k] += own;
    }
    all[1][k] = lanes->sum[k] - all[0][k];
  }
  for (int s = 0; s < 2; s++) {
    double best = NAME (share) (all[s], planes);
    for (int k = 0; s && k < planes; k++) { /* the sums of all rows before each lane, without those of the other side */
      const int64_t *ends = (const int64_t *) lanes->total[k] + (int64_t) (lanes->length - 1) * LANES;
      for (int l = 1; l < LANES; l++)
        start[(int64_t) k * LANES + l] = ends[l - 1] - start[(int64_t) k * LANES + l];
    }
    if (!(sides->wanted >> s & 1))
      best = 0;
    else if (planes == 2)
      best = NAME (best_single) (lanes, code, threshold, s, start, all[s], best);
    else
      best = NAME (best_score) (lanes, code, threshold, s, planes, start, all[s], left, best, 1);
    const double cost = (sides->square[s] - best) * sides->unit;
    sides->cost[s] = cost > 0 ? (int64_t) cost : 0;
  }
}
#endif

static const struct numeric_kernel NAME (table) = {
    .name = KERNEL,
    .cell = sizeof (CELL),
#if defined(NUMERIC_AVX512) && NUMERIC_CELL < 64
    .edge_bits_only = 1,
#endif
    .gather_codes = NAME (gather_codes),
    .gather_values = NAME (gather_values),
    .select = NAME (select),
    .compress = NAME (compress),
    .spread = NAME (spread),
    .sum = NAME (sum),
    .expand = NAME (expand),
    .subtract = NAME (subtract),
    .edges = NAME (edges),
    .totals = NAME (totals),
    .stump_two = NAME (stump_two),
    .stump_many = NAME (stump_many),
#if defined(NUMERIC_AVX512) && NUMERIC_CELL == 16
    .count_labels = NAME (count_labels),
    .stump_labels = NAME (stump_labels),
    .lead = NAME (lead),
#endif
#if NUMERIC_CELL == 64
    .stump_squared = NAME (stump_squared),
#endif
};

#undef vec
#undef WIDTH
#undef VECTORS
#undef BIG
#undef BIAS
