/* The loops of cells.h for one target whose sums of weights and of weighted targets are small whole numbers. Included
   by cells_body.h.

   A row is sum * 2^shift + weight, and so is a sum of rows, as long as neither part outgrows its bits: then the weight
   is the lowest bits of it, and the sum of targets is the number shifted, whatever its sign. If the sums of all rows
   fit (`joined`), a pair of tests has one such number; otherwise 64 rows fit, and are then added to two numbers. */

DEFINE_LANES (packs, int32_t, 64, 4);
enum { pack_lanes = sizeof (packs) / sizeof (int32_t), pack_block = 8 * pack_lanes };

/* A number in the lanes of the tests from J on that a row passes. */
#if defined(PACKED_WHERE)
#elif defined(TREEML_EXTENDED_C)
#define PACKED_WHERE(ROW, J, NUMBER) \
  ((((packs) {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768} & \
     ((ROW)[(J) >> 3] | (ROW)[((J) >> 3) + 1] << 8)) != 0) & \
   (NUMBER))
#else
#define PACKED_WHERE(ROW, J, NUMBER) (-((ROW)[(J) >> 3] >> ((J) & 7) & 1) & (NUMBER))
#endif

/* The rows that pass each test, as the bits of a word. */
static void words_of_rows (const struct shape *shape, const struct packed_rows *rows, uint64_t *words) {
  for (int32_t first = 0; first < shape->tests; first += 64) {
    const size_t lanes = shape->stride - first < 64 ? (size_t) (shape->stride - first) : 64;
    uint64_t block[64] = {0};
    for (int32_t r = 0; r < rows->count; r++) {
      memcpy (&block[r], rows->row_bits + rows->ids[r] * rows->row_bytes + first / 8, lanes / 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
      block[r] = reverse_bytes (block[r]);
#endif
    }
    transpose_bits (block);
    memcpy (words + first, block, lanes * sizeof *block);
  }
}

/* Adds the listed rows to several vectors of a line. `others` lists the rows that do not pass: what remains of the sum
   of all rows are those that do. `sums` is NULL if both parts stay in one number. */
static inline ALWAYS_INLINE void packed_lines (int32_t *weights, int32_t *sums, const int32_t *lanes,
                                               const int32_t *all, uint64_t rows, int others, int64_t stride,
                                               int32_t shift, const int vectors) {
  packs sum[8];
  for (int v = 0; v < vectors; v++)
    sum[v] = (packs) {0};
  for (; rows; rows &= rows - 1) {
    const int32_t *row = lanes + lowest_bit (rows) * stride;
    for (int v = 0; v < vectors; v++)
      sum[v] += *(const packs *) (row + pack_lanes * v);
  }
  for (int v = 0; v < vectors; v++) {
    packs here = sum[v];
    if (others)
      here = *(const packs *) (all + pack_lanes * v) - here;
    if (sums) {
      *(packs *) (weights + pack_lanes * v) += here & ((1 << shift) - 1);
      *(packs *) (sums + pack_lanes * v) += here >> shift;
    } else
      *(packs *) (weights + pack_lanes * v) += here;
  }
}

/* Spreads the numbers of rows over the lanes of the tests that they pass, and adds them up in `all`. */
static void spread_rows (const struct shape *shape, const struct packed_rows *rows, int32_t *lanes, int32_t *all) {
  const uint8_t *row[64];
  int32_t number[64];
  for (int32_t r = 0; r < rows->count; r++) {
    row[r] = rows->row_bits + rows->ids[r] * rows->row_bytes;
    number[r] = rows->packed[rows->ids[r]];
  }
  for (int32_t j = 0; j < shape->tests; j += pack_lanes) {
    packs sum = {0};
    for (int32_t r = 0; r < rows->count; r++) {
      const packs on = PACKED_WHERE (row[r], j, number[r]);
      *(packs *) (lanes + r * (int64_t) shape->stride + j) = on;
      sum += on;
    }
    *(packs *) (all + j) = sum;
  }
}

/* Adds the rows to the weights and the sums of the tests that they pass. */
static void sum_packed (const struct shape *shape, const struct packed_rows *rows, int32_t *sums) {
  const uint8_t *row[64];
  int32_t number[64];
  for (int32_t r = 0; r < rows->count; r++) {
    row[r] = rows->row_bits + rows->ids[r] * rows->row_bytes;
    number[r] = rows->packed[rows->ids[r]];
  }
  for (int32_t j = 0; j < shape->tests; j += pack_lanes) {
    packs sum = {0};
    for (int32_t r = 0; r < rows->count; r++)
      sum += PACKED_WHERE (row[r], j, number[r]);
    *(packs *) (sums + j) += sum & ((1 << rows->shift) - 1);
    *(packs *) (sums + shape->stride + j) += sum >> rows->shift;
  }
}

/* A block of lanes at a time, so that the lanes of all rows stay in the fastest cache. */
static inline ALWAYS_INLINE void add_packed_block (const struct shape *shape, const struct packed_rows *rows,
                                                   struct cell_sums *sums, const int32_t *lanes, const int32_t *all,
                                                   const uint64_t *words, int32_t block, int32_t from, int32_t to,
                                                   const int joined) {
  enum { width = pack_lanes };
  const int64_t stride = shape->stride, matrix = (int64_t) shape->padded * stride;
  const uint64_t present = rows->count < 64 ? ((uint64_t) 1 << rows->count) - 1 : ~(uint64_t) 0;
  const int32_t end = block + pack_block < shape->tests ? block + pack_block : shape->tests;
  for (int32_t i = from; i < to && i < end; i++) {
    if (rows->known && rows->known[i])
      continue;
    const int others = count_bits (words[i]) * 2 > rows->count;
    const uint64_t listed = others ? ~words[i] & present : words[i];
    const int32_t j = i / width * width > block ? i / width * width : block;
    int32_t *weights = sums->whole + i * stride + j, *line = joined ? NULL : weights + matrix;
    const int32_t vectors = (end - j + width - 1) / width;
    switch (vectors) { /* constants, so that all sums stay in registers */
#define CASE(VECTORS) \
  case VECTORS: \
    packed_lines (weights, line, lanes + j, all + j, listed, others, stride, rows->shift, VECTORS); \
    break
      CASE (1);
      CASE (2);
      CASE (3);
      CASE (4);
      CASE (5);
      CASE (6);
      CASE (7);
      CASE (8);
#undef CASE
    default:
      break;
    }
  }
}

static void add_packed (const struct shape *shape, const struct packed_rows *rows, struct cell_sums *sums,
                        int32_t *scratch, int32_t from, int32_t to) {
  const int64_t stride = shape->stride;
  uint64_t *words = (uint64_t *) (void *) (scratch + 65 * stride); /* read in lines of the same length */
  int32_t *all = scratch + 64 * stride;
  if (!from) {
    words_of_rows (shape, rows, words);
    spread_rows (shape, rows, scratch, all);
  }
  for (int32_t block = from / pack_block * pack_block; block < shape->tests; block += pack_block)
    if (rows->joined)
      add_packed_block (shape, rows, sums, scratch, all, words, block, from, to, 1);
    else
      add_packed_block (shape, rows, sums, scratch, all, words, block, from, to, 0);
}

static void mirror_packed (const struct shape *shape, const struct packed_rows *rows, struct cell_sums *sums) {
  enum { width = pack_lanes };
  const int64_t stride = shape->stride, matrix = (int64_t) shape->padded * stride;
  for (int channel = 0; channel < (rows->joined ? 1 : 2); channel++) {
    int32_t *restrict pairs = sums->whole + channel * matrix;
    for (int32_t top = 0; top < shape->tests; top += width)
      for (int32_t j = top + width; j < shape->tests; j++)
        for (int32_t i = top; i < top + width; i++) /* padded lines may be written too */
          pairs[j * stride + i] = pairs[i * stride + j];
  }
  for (int32_t i = 0; i < shape->tests; i++) {
    const int32_t *own = sums->whole + i * stride + i;
    sums->whole_test[i] = rows->joined ? *own & ((1 << rows->shift) - 1) : *own;
    sums->whole_test[stride + i] = rows->joined ? *own >> rows->shift : own[matrix];
  }
}

static void copy_lanes (int32_t *to, const int32_t *from, const int32_t *minuend, int64_t lanes) {
  for (int64_t j = 0; j < lanes; j += pack_lanes) {
    packs here = *(const packs *) (from + j);
    if (minuend)
      here = *(const packs *) (minuend + j) - here;
    *(packs *) (to + j) = here;
  }
}

DEFINE_LANES (singles, float, CELLS_BYTES, 4);

static inline ALWAYS_INLINE singles singles_of (wholes whole) { return CONVERTED (whole, singles); }

/* The best fraction so far. Its floats are compared with others by products, each rounded once: one that counts as
   larger is larger, and one that does not is larger by at most 2^-23 of itself. */
struct fraction {
  singles over, under;
};

/* What two cells save together, (a^2 w + b^2 v) / (v w). If one of them is empty, both numbers are 0, which is larger
   than nothing. */
static inline ALWAYS_INLINE void keep_larger (struct fraction *best, singles a, singles v, singles b, singles w) {
  const singles over = a * a * w + b * b * v, under = v * w;
  const wholes is_larger = HOLDS (wholes, over * best->under > best->over * under);
  best->over = EITHER (singles, wholes, is_larger, over, best->over);
  best->under = EITHER (singles, wholes, is_larger, under, best->under);
}

static inline ALWAYS_INLINE singles quotient (singles over, singles under) {
  return WHERE (singles, wholes, HOLDS (wholes, under > 0.5f), over / under);
}

/* Differences are taken of whole numbers, or of floats that hold them exactly (`joined`), so that no digits are lost.
 */
static inline ALWAYS_INLINE void screen_of (const struct shape *shape, const struct cell_question *question,
                                            const struct cell_sums *sums, const struct cell_sums *without,
                                            struct cell_answer *answer, const int joined) {
  const int64_t stride = shape->stride, matrix = (int64_t) shape->padded * stride;
  const int32_t *less = without ? without->whole : NULL, *less_test = without ? without->whole_test : NULL;
  const int32_t shift = question->shift, mask = (1 << shift) - 1;
  const int32_t total_weight = (int32_t) (sums->whole_total[0] - (without ? without->whole_total[0] : 0));
  const int32_t total = (int32_t) (sums->whole_total[1] - (without ? without->whole_total[1] : 0));
  for (int32_t j = question->from; j < question->to; j += whole_lanes) {
    const wholes weight = wholes_at (sums->whole_test, less_test, j);
    const wholes mine = wholes_at (sums->whole_test, less_test, stride + j);
    const wholes rest_weight = total_weight - weight, rest = total - mine;
    const singles own = singles_of (mine), own_weight = singles_of (weight);
    const singles left = singles_of (rest), left_weight = singles_of (rest_weight);
    struct fraction yes = {own * own, own_weight}, no = {left * left, left_weight};
    const singles leaf_yes = quotient (yes.over, yes.under), leaf_no = quotient (no.over, no.under);
    for (int32_t i = 0; i < shape->tests; i++) {
      const int32_t other_weight = whole_at (sums->whole_test, less_test, i);
      const int32_t other = whole_at (sums->whole_test, less_test, stride + i);
      if (joined) {
        const wholes pair = wholes_at (sums->whole, less, i * stride + j);
        const singles v = singles_of (pair & mask), a = singles_of (pair >> shift);
        const singles beside_weight = (float) other_weight - v, beside = (float) other - a;
        keep_larger (&yes, a, v, own - a, own_weight - v);
        keep_larger (&no, beside, beside_weight, left - beside, left_weight - beside_weight);
      } else {
        const wholes heavy = wholes_at (sums->whole, less, i * stride + j);
        const wholes both = wholes_at (sums->whole, less, matrix + i * stride + j);
        const wholes beside_weight = other_weight - heavy, beside = other - both;
        keep_larger (&yes, singles_of (both), singles_of (heavy), singles_of (mine - both),
                     singles_of (weight - heavy));
        keep_larger (&no, singles_of (beside), singles_of (beside_weight), singles_of (rest - beside),
                     singles_of (rest_weight - beside_weight));
      }
    }
    *(singles *) (answer->float_leaf[1] + j) = leaf_yes;
    *(singles *) (answer->float_leaf[0] + j) = leaf_no;
    *(singles *) (answer->float_best[1] + j) = quotient (yes.over, yes.under);
    *(singles *) (answer->float_best[0] + j) = quotient (no.over, no.under);
  }
}

static void screen_moments (const struct shape *shape, const struct cell_question *question,
                            const struct cell_sums *sums, const struct cell_sums *without, struct cell_answer *answer) {
  if (question->joined && without)
    screen_of (shape, question, sums, without, answer, 1);
  else if (question->joined)
    screen_of (shape, question, sums, NULL, answer, 1);
  else if (without)
    screen_of (shape, question, sums, without, answer, 0);
  else
    screen_of (shape, question, sums, NULL, answer, 0);
}

/* The sums of pairs are symmetric, so the line of the root holds what its lane holds in all lines. */
static inline ALWAYS_INLINE void root_of (const struct shape *shape, const struct cell_question *question,
                                          const struct cell_sums *sums, const struct cell_sums *without, int32_t root,
                                          double *leaf, double *best, const int joined) {
  const int64_t stride = shape->stride, matrix = (int64_t) shape->padded * stride, line = root * stride;
  const int32_t *less = without ? without->whole : NULL, *less_test = without ? without->whole_test : NULL;
  const double all_weight = (double) (sums->whole_total[0] - (without ? without->whole_total[0] : 0));
  const double all = (double) (sums->whole_total[1] - (without ? without->whole_total[1] : 0));
  const double weight = whole_at (sums->whole_test, less_test, root);
  const double mine = whole_at (sums->whole_test, less_test, stride + root);
  best[1] = leaf[1] = share (mine, weight);
  best[0] = leaf[0] = share (all - mine, all_weight - weight);
  for (int32_t i = 0; i < shape->tests; i++) {
    const int32_t pair = whole_at (sums->whole, less, line + i);
    const double heavy = joined ? pair & ((1 << question->shift) - 1) : pair;
    const double both = joined ? pair >> question->shift : whole_at (sums->whole, less, matrix + line + i);
    const double other_weight = whole_at (sums->whole_test, less_test, i);
    const double other = whole_at (sums->whole_test, less_test, stride + i);
    const double yes = shares (both, heavy, mine - both, weight - heavy);
    const double no = shares (other - both, other_weight - heavy, all - mine - other + both,
                              all_weight - weight - other_weight + heavy);
    best[1] = best[1] > yes ? best[1] : yes;
    best[0] = best[0] > no ? best[0] : no;
  }
}

static void one_root (const struct shape *shape, const struct cell_question *question, const struct cell_sums *sums,
                      const struct cell_sums *without, int32_t root, double *leaf, double *best) {
  if (question->joined)
    root_of (shape, question, sums, without, root, leaf, best, 1);
  else
    root_of (shape, question, sums, without, root, leaf, best, 0);
}
