/* Rows of large weight: the weight of each row is placed in the lanes of the tests that it passes, and added row by
   row. Included by pair_body.h.

   Rows are taken in chunks that fit in the fastest cache. For each test, the rows of the chunk that pass it are
   listed once and added to as many registers as a row has vectors. Pair sums are symmetric: those left of the test's
   own vector were computed from the other side, so that one sum serves both of its tests. */

static const uint64_t NAME (all_ones) = ~(uint64_t) 0 >> (64 - BITS);

static inline int32_t NAME (chunk_rows) (const struct shape *shape) {
  const int32_t rows = dense_bytes / (int32_t) sizeof (T) / shape->stride / 64 * 64;
  return rows < 64 ? 64 : rows;
}

/* Writes the weights of a chunk of rows to `dense`, and their signed and unsigned sums to `chunk`. */
static void NAME (fill) (struct slice *slice, const struct shape *shape, int32_t first) {
  const int32_t most = NAME (chunk_rows) (shape), left = slice->dense_rows - first, count = left < most ? left : most;
  if (slice->filled == first)
    return;
  slice->filled = first;
  T *lanes = slice->dense, *sums = slice->chunk, *weights = sums + shape->stride;
  for (int32_t r = 0; r < count; r++, lanes += shape->stride) {
    const int32_t id = slice->ids[first + r];
    const uint8_t *row = slice->row_bits + id * slice->row_bytes;
    const T number = (T) slice->sign[id];
    for (int32_t j = 0; j < shape->stride; j += LANES)
      STORE (lanes + j, CHOOSE (row, j, number));
  }
  for (int32_t j = 0; j < shape->stride; j += LANES) {
    V signed_sum = ZERO (), all = ZERO ();
    const T *from = (const T *) slice->dense + j;
    for (int32_t r = 0; r < count; r++, from += shape->stride) {
      const V number = LOAD (from);
      signed_sum = ADD (signed_sum, number);
      all = ADD (all, ABS (number));
    }
    STORE (sums + j, signed_sum);
    STORE (weights + j, all);
  }
}

static void NAME (multiply) (const struct slice *, const struct shape *, const int8_t *, T *, int, int32_t, int32_t);

/* Signed and unsigned sums of every test. For a slice that is solved to depth two, the sums are on the diagonal of
   its products and the weights are not needed. */
static void NAME (weigh) (struct slice *slice, const struct shape *shape, T *sum, T *weight) {
  if (slice->products && slice->before) {
    const T *sums = slice->before;
    NAME (multiply) (slice, shape, slice->products->sign_digits, slice->before, 1, 0, shape->tests);
    for (int32_t j = 0; j < shape->stride; j++)
      sum[j] = j < shape->tests ? sums[(int64_t) j * shape->stride + j] : 0;
    return;
  }
  const int32_t most = NAME (chunk_rows) (shape);
  const T *sums = slice->chunk, *weights = sums + shape->stride;
  for (int32_t first = 0; first == 0 || first < slice->dense_rows; first += most) {
    NAME (fill) (slice, shape, first);
    for (int32_t j = 0; j < shape->stride; j += LANES) {
      STORE (sum + j, first ? ADD (LOAD (sum + j), LOAD (sums + j)) : LOAD (sums + j));
      STORE (weight + j, first ? ADD (LOAD (weight + j), LOAD (weights + j)) : LOAD (weights + j));
    }
  }
}

/* Lists where the rows of a chunk that pass a test start in the dense lanes; or the other rows if they are fewer,
   whose sums are then subtracted from those of the chunk. Returns how many there are, and in `others` which of the
   two it is. */
static inline int32_t NAME (list_rows) (const struct slice *slice, const struct shape *shape, int32_t first,
                                        int32_t test, int *others) {
  const T *words = (const T *) slice->words + (int64_t) (first / BITS) * shape->stride + test;
  const int32_t most = NAME (chunk_rows) (shape), left = slice->dense_rows - first, count = left < most ? left : most;
  int32_t passing = 0, length = 0;
  for (int32_t row = 0, at = 0; row < count; row += BITS, at += shape->stride)
    passing += count_bits ((uint64_t) words[at] & NAME (all_ones));
  *others = 2 * passing > count;
  for (int32_t row = 0; row < count; row += BITS, words += shape->stride) {
    const uint64_t present = count - row < BITS ? ((uint64_t) 1 << (count - row)) - 1 : NAME (all_ones);
    length += EXPAND (*others ? ~(uint64_t) *words & present : (uint64_t) *words & present, row, shape->stride,
                      slice->passing + length);
  }
  return length;
}

/* Sums the listed rows in `count` vectors from j on. */
static inline ALWAYS_INLINE void NAME (add_listed) (const struct slice *slice, int32_t length, int others, int32_t j,
                                                    V *sum, const int count) {
  const T *lanes = (const T *) slice->dense + j, *sums = (const T *) slice->chunk + j;
  for (int v = 0; v < count; v++)
    sum[v] = ZERO ();
  for (int32_t p = 0; p < length; p++) {
    const T *row = lanes + slice->passing[p];
    for (int v = 0; v < count; v++)
      sum[v] = ADD (sum[v], LOAD (row + v * LANES));
  }
  if (others)
    for (int v = 0; v < count; v++)
      sum[v] = SUB (LOAD (sums + v * LANES), sum[v]);
}

static inline ALWAYS_INLINE void NAME (pair_block) (const struct slice *slice, const struct shape *shape,
                                                    int32_t length, int others, int32_t first, int32_t j, T *doubled,
                                                    T *weight, const int count) {
  const T *lanes = (const T *) slice->dense + j, *sums = (const T *) slice->chunk + j;
  V sum[VECTORS / 2], all[VECTORS / 2];
  for (int v = 0; v < count; v++)
    sum[v] = all[v] = ZERO ();
  for (int32_t p = 0; p < length; p++) {
    const T *row = lanes + slice->passing[p];
    for (int v = 0; v < count; v++) {
      const V number = LOAD (row + v * LANES);
      sum[v] = ADD (sum[v], number);
      all[v] = ADD (all[v], ABS (number));
    }
  }
  for (int v = 0; v < count; v++) {
    const int32_t at = j + v * LANES;
    V twice = others ? SUB (LOAD (sums + v * LANES), sum[v]) : sum[v];
    V heavy = others ? SUB (LOAD (sums + shape->stride + v * LANES), all[v]) : all[v];
    twice = ADD (twice, twice);
    STORE (doubled + at, first ? ADD (twice, LOAD (doubled + at)) : twice);
    STORE (weight + at, first ? ADD (heavy, LOAD (weight + at)) : heavy);
  }
}

/* Computes all pair sums of a slice as products; `triangle` skips those left of the diagonal. */
static void NAME (multiply) (const struct slice *slice, const struct shape *shape, const int8_t *digits, T *sums,
                             int triangle, int32_t from, int32_t to) {
  const struct products *with = slice->products;
  const struct product product = {.slice = slice,
                                  .shape = shape,
                                  .digits = digits,
                                  .count = with->digits,
                                  .lane_bits = BITS,
                                  .from = from,
                                  .to = to,
                                  .triangle = triangle,
                                  .sums = sums,
                                  .piece = with->piece,
                                  .room = with->room};
  with->multiply (&product);
}

static void NAME (dense_pairs) (struct slice *slice, const struct shape *shape, T *doubled, T *weight, int32_t from,
                                int32_t to) {
  if (slice->products) {
    NAME (multiply) (slice, shape, slice->products->sign_digits, doubled, 0, from, to);
    NAME (multiply) (slice, shape, slice->products->worth_digits, weight, 0, from, to);
    return;
  }
  const int32_t most = NAME (chunk_rows) (shape), half = VECTORS / 2;
  for (int32_t first = 0; first == 0 || first < slice->dense_rows; first += most) {
    NAME (fill) (slice, shape, first);
    for (int32_t i = 0; i < shape->tests; i++) {
      const int64_t row = (int64_t) i * shape->stride;
      int others;
      const int32_t length = NAME (list_rows) (slice, shape, first, i, &others);
      int32_t j = from;
      for (; j + half * LANES <= to; j += half * LANES)
        NAME (pair_block) (slice, shape, length, others, first, j, doubled + row, weight + row, VECTORS / 2);
      for (; j < to; j += LANES)
        NAME (pair_block) (slice, shape, length, others, first, j, doubled + row, weight + row, 1);
    }
  }
}

/* What is known about both sides, and where their depth-two values are collected. */
struct NAME (gains) {
  const T *sum[2], *shift[2], *doubled;
  T *yes[2], *no[2], *before;
};

/* Evaluates `count` vectors of sums of test i from j on, in the last chunk: values of both sides for both tests. */
static inline ALWAYS_INLINE void NAME (both_block) (const struct slice *slice, const struct NAME (gains) * gains,
                                                    int32_t length, int others, int32_t started, int32_t last,
                                                    int32_t i, int64_t row, int32_t j, V *best, const int count) {
  V sum[VECTORS];
  NAME (add_listed) (slice, length, others, j, sum, count);
  if (started)
    for (int v = 0; v < count; v++)
      sum[v] = ADD (sum[v], LOAD (gains->before + row + j + v * LANES));
  if (!last) {
    for (int v = 0; v < count; v++)
      STORE (gains->before + row + j + v * LANES, sum[v]);
    return;
  }
  const V counted_i = BROADCAST (gains->sum[0] + i), counted_shift = BROADCAST (gains->shift[0] + i);
  const V rest_i = BROADCAST (gains->sum[1] + i), rest_shift = BROADCAST (gains->shift[1] + i);
  for (int v = 0; v < count; v++) {
    const int32_t at = j + v * LANES;
    const V counted = ADD (sum[v], sum[v]), rest = SUB (LOAD (gains->doubled + row + at), counted);
    const V difference = SUB (counted, LOAD (gains->sum[0] + at)), other = SUB (rest, LOAD (gains->sum[1] + at));
    STORE (gains->yes[0] + at, MAX (LOAD (gains->yes[0] + at), ABS (difference)));
    STORE (gains->no[0] + at, MAX (LOAD (gains->no[0] + at), ABS (ADD (difference, counted_shift))));
    STORE (gains->yes[1] + at, MAX (LOAD (gains->yes[1] + at), ABS (other)));
    STORE (gains->no[1] + at, MAX (LOAD (gains->no[1] + at), ABS (ADD (other, rest_shift))));
    const V mine = SUB (counted, counted_i), left = SUB (rest, rest_i);
    best[0] = MAX (best[0], ABS (mine));
    best[1] = MAX (best[1], ABS (ADD (mine, LOAD (gains->shift[0] + at))));
    best[2] = MAX (best[2], ABS (left));
    best[3] = MAX (best[3], ABS (ADD (left, LOAD (gains->shift[1] + at))));
  }
}

static inline T NAME (highest) (V lanes) {
#ifdef HIGHEST
  return HIGHEST (lanes);
#else
  T each[LANES], most = 0;
  STORE_UNALIGNED (each, lanes);
  for (int i = 0; i < LANES; i++)
    most = each[i] > most ? each[i] : most;
  return most;
#endif
}

static void NAME (dense_both) (struct slice *slice, const struct shape *shape, const T *doubled, struct side *counted,
                               struct side *rest, const T *counted_shift, const T *rest_shift, T *first_values) {
  struct NAME (gains) gains = {{counted->sum, rest->sum}, {counted_shift, rest_shift}, doubled,
                               {counted->yes, rest->yes}, {counted->no, rest->no},     slice->before};
  for (int s = 0; s < 2; s++) {
    const V total = SET ((T) (s ? rest : counted)->total);
    for (int32_t j = 0; j < shape->stride; j += LANES) {
      const V sum = LOAD (gains.sum[s] + j);
      STORE (gains.yes[s] + j, ABS (sum));
      STORE (gains.no[s] + j, ABS (SUB (total, sum)));
    }
  }
  for (int k = 0; k < 4; k++) /* lanes without a test have no gain */
    STORE (first_values + k * shape->stride + (shape->tests - 1) / LANES * LANES, ZERO ());
  const int32_t most = slice->products ? INT32_MAX / 2 : NAME (chunk_rows) (shape);
  for (int32_t first = 0; first == 0 || first < slice->dense_rows; first += most) {
    const int32_t before = slice->products || first;
    const int32_t last = slice->products || first + most >= slice->dense_rows;
    if (!slice->products)
      NAME (fill) (slice, shape, first);
    for (int32_t i = 0; i < shape->tests; i++) {
      const int64_t row = (int64_t) i * shape->stride;
      int others = 0;
      const int32_t length = slice->products ? 0 : NAME (list_rows) (slice, shape, first, i, &others);
      int32_t j = i / LANES * LANES, vectors = (shape->tests - j + LANES - 1) / LANES;
      V best[4] = {ZERO (), ZERO (), ZERO (), ZERO ()};
      for (; vectors > VECTORS; vectors -= VECTORS, j += VECTORS * LANES)
        NAME (both_block) (slice, &gains, length, others, before, last, i, row, j, best, VECTORS);
#define REST(COUNT) \
  case COUNT: \
    NAME (both_block) (slice, &gains, length, others, before, last, i, row, j, best, COUNT); \
    break;
      switch (vectors) {
        REST (1)
        REST (2)
        REST (3)
        REST (4)
#if VECTORS > 4
        REST (5)
        REST (6)
        REST (7)
        REST (8)
#endif
      }
#undef REST
      if (last)
        for (int k = 0; k < 4; k++)
          first_values[k * shape->stride + i] = NAME (highest) (best[k]);
    }
  }
  T *to[4] = {gains.yes[0], gains.no[0], gains.yes[1], gains.no[1]};
  for (int k = 0; k < 4; k++)
    for (int32_t j = 0; j < shape->tests; j += LANES)
      STORE (to[k] + j, MAX (LOAD (to[k] + j), LOAD (first_values + k * shape->stride + j)));
}
