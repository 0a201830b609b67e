/* Depth two for costs that are not a single signed number: the four cells of a pair of tests, from the sums of each
   channel. */
#ifndef TREEML_SIMD_CELLS_H
#define TREEML_SIMD_CELLS_H

#include "simd/pair_kernel.h"

/* Sums of every channel: over all rows, for every test, and for every pair of tests. Classes use `whole`, moments
   `real`. */
struct cell_sums {
  int32_t channels;
  int32_t *whole;      /* channels x padded x stride */
  int32_t *whole_test; /* channels x stride */
  int64_t *whole_total;
  double *real;
  double *real_test;
  double *real_total;
};

/* The question. If `support` is not 0, one more channel after the classes counts rows. */
struct cell_question {
  int32_t classes; /* number of channels to compare, or of targets to sum */
  int32_t support;
  int32_t from, to; /* root tests; `from` is a multiple of 16 */
  int32_t shift;    /* of packed rows */
  int joined;
};

/* Rows of one target whose weight and sum are one whole number: see simd/packed_body.h. */
struct packed_rows {
  const uint8_t *row_bits;
  int64_t row_bytes;
  const int32_t *ids;
  int32_t count;
  const int32_t *packed; /* of every row, by its id: sum * 2^shift + weight */
  int32_t shift;
  int joined; /* whether sums of all rows fit in 32 bits together with those of their weights; `whole` then has
                 one channel of both, and otherwise two: weights and sums */
  const uint8_t *known; /* tests whose lines need not be added, or NULL */
};

/* For each root test: what its yes and no side save as a leaf, and at best with one more test; INVALID if they may
   not be leaves. */
struct cell_answer {
  int32_t *whole_leaf[2], *whole_best[2];
  double *real_leaf[2], *real_best[2];
  float *float_leaf[2], *float_best[2];
};

#define INVALID (-(1 << 30))

struct cells {
  const char *name;
  void (*classes) (const struct shape *, const struct cell_question *, const struct cell_sums *,
                   const struct cell_sums *minus, struct cell_answer *);
  void (*moments) (const struct shape *, const struct cell_question *, const struct cell_sums *,
                   const struct cell_sums *minus, struct cell_answer *);
  /* Adds the moments of rows to the pairs of their tests, for lines from .. to - 1; `scratch` holds 64 rows of every
     channel. */
  void (*add_moments) (const struct shape *, const uint8_t *row_bits, int64_t row_bytes, const int32_t *ids,
                       int32_t count, const double *moment, int32_t moment_stride, struct cell_sums *, double *scratch,
                       int32_t from, int32_t to);
  /* Completes a channel of the matrix and of the sums of tests after all rows were added. */
  void (*mirror_moments) (const struct shape *, struct cell_sums *, int32_t channel);
  /* The same for packed rows, at most 64 at a time: adds them to `whole`, for lines from .. to - 1. Lanes left of the
     line's own vector are left out. `scratch` holds 67 lines of lanes. */
  void (*add_packed) (const struct shape *, const struct packed_rows *, struct cell_sums *, int32_t *scratch,
                      int32_t from, int32_t to);
  /* Adds packed rows, at most 64 at a time, to the weights of the tests that they pass, and a stride behind these to
     the sums. */
  void (*sum_packed) (const struct shape *, const struct packed_rows *, int32_t *sums);
  /* Completes the lines, and the sums of tests. */
  void (*mirror_packed) (const struct shape *, const struct packed_rows *, struct cell_sums *);
  /* Copies lanes, as many as whole vectors have, or what they leave of `minuend` if it is not NULL. */
  void (*copy_lanes) (int32_t *to, const int32_t *from, const int32_t *minuend, int64_t lanes);
  /* Adds a number of each row to the lanes of the tests that it passes. */
  void (*add_tests) (const struct shape *, const uint8_t *row_bits, int64_t row_bytes, const int32_t *ids,
                     int32_t count, const double *numbers, int64_t number_stride, double *sums);
  /* As `moments`, for the sums of packed rows in `sums` without those in `minus`, in single precision: every number is
     off by at most 2^-20 of itself. Writes float_leaf and float_best. */
  void (*screen_moments) (const struct shape *, const struct cell_question *, const struct cell_sums *,
                          const struct cell_sums *minus, struct cell_answer *);
  /* What `moments` would write for one root test: leaf and best of the no and of the yes side. */
  void (*one_root) (const struct shape *, const struct cell_question *, const struct cell_sums *,
                    const struct cell_sums *minus, int32_t root, double *leaf, double *best);
  /* As in simd/pair_kernel.h, for integer and for real weights. */
  void (*similar_whole) (int32_t tests, const int32_t *common, const int32_t *weights, int64_t all_weight, int32_t test,
                         int64_t scale, int64_t yes, int64_t no, int64_t *low_yes, int64_t *low_no);
  void (*similar_real) (int32_t tests, const double *common, const double *weights, double all_weight, int32_t test,
                        double unit, int64_t yes, int64_t no, int64_t *low_yes, int64_t *low_no);
};

/* The functions of each instruction set; NULL where the compiler could not build them. Use simd/select.h. */
const struct cells *cells_portable (void);
const struct cells *cells_avx2 (void);
const struct cells *cells_neon (void);
const struct cells *cells_avx512 (void);

#endif
