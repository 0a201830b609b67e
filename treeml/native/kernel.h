/* Pair sums of rows with signed weights, features in lanes.

   A two-class problem (with any costs) is one signed number a row: what predicting class 1 saves. The stump with test j
   on the rows that answer yes to i errs (n_i - max |d_ij| + |d_i - d_ij|) / 2, where d are sums of signed weights, and
   |a| + |b| over its two cells is the larger of |a + b| and |a - b| = |2 d_ij - d_i|. So one matrix of signed sums, one
   subtraction, one absolute value and one maximum a pair solve depth two (pair counts: Demirovic et al. 2022).

   Rows lie in words of one lane's width, the words of all tests side by side, so that no sum is horizontal and a
   count comes out in the lane where it is used. Small weights are bit planes: a row lies in the list of each bit of its
   weight. Large weights are added row by row. */
#ifndef TREEML_KERNEL_H
#define TREEML_KERNEL_H

#include <stdint.h>

enum { most_planes = 63, most_lists = 2 * most_planes };

/* The rows of a sub-problem. List 2p holds the positive rows of plane p, list 2p + 1 the negative ones; plane 0 is
   the highest bit. */
struct slice {
  void *words;     /* groups x stride lanes */
  uint32_t *twice; /* 16-bit lanes only: each word twice, for broadcasts straight from memory */
  int32_t planes;
  int32_t group[most_lists + 1]; /* first group of each list */
  /* Rows of large weights, instead: one list, and each row's weight in the lanes of the tests it passes, for a chunk of
     the rows at a time. 32- and 64-bit lanes. */
  void *dense;
  int32_t dense_rows, filled; /* in all; the first row of the chunk in `dense`, or -1 */
  int32_t *passing;           /* room for where each row of a test begins in `dense` */
  void *chunk;                /* sums and weights of the tests in it */
  void *before;               /* room for the pair sums of earlier chunks */
  const int32_t *ids;
  const uint8_t *row_bits;
  int64_t row_bytes;
  const int64_t *sign;
  const struct products *products; /* instead of lists of rows, where there are units for it */
};

enum { dense_bytes = 96 * 1024 }; /* of a chunk, unless 64 rows need more */

struct shape {
  int32_t tests;  /* F */
  int32_t padded; /* F rounded up to 4: rows of a pair matrix */
  int32_t stride; /* F rounded up to 64: lanes of a row of the matrix */
};

/* What one side is worth: for each root test the best |.| on its yes and its no side. Sums of lanes. */
struct side {
  void *sum; /* signed sum of each test */
  int64_t total;
  void *yes, *no;
  void *count; /* weight of each test, where a bound on support asks for it */
  int64_t weight;
};

struct kernel {
  const char *name;
  int32_t lane_bits;
  /* One list of rows into words at `group`; `row_bits` holds the tests of each row, row_bytes apart. */
  void (*build) (struct slice *, const struct shape *, int32_t group, const uint8_t *row_bits, int64_t row_bytes,
                 const int32_t *ids, int32_t count);
  /* Those of the `count` rows of a list, which begins at `group`, that pass a test, or that do not; returns how many. `to` has
     room for 16 more. */
  int32_t (*select) (const struct slice *, const struct shape *, int32_t group, int32_t count, int32_t test, int passing,
                     const int32_t *ids, int32_t *to);
  /* Signed sums and weights of every test. */
  void (*sums) (struct slice *, const struct shape *, void *sum, void *weight);
  /* Twice the signed sum (once, where it is multiplied), and the weight, of every pair whose second test is in from ..
     to - 1; from is a multiple of 64. Sums may wrap around when they are doubled: what is made of them fits again. */
  void (*pairs) (struct slice *, const struct shape *, void *doubled, void *weight, int32_t from, int32_t to);
  /* Depth two on the rows of a matrix. */
  void (*own) (const struct shape *, const void *doubled, struct side *, void *scratch);
  /* Depth two on a slice and on the rest of the matrix's rows; scratch holds six lines of lanes. */
  void (*both) (struct slice *, const struct shape *, const void *doubled, struct side *counted,
                struct side *rest, void *scratch);
  /* The same where a leaf needs so many rows, all of which weigh the same; `support` fits in a lane. */
  void (*own_supported) (const struct shape *, const void *doubled, const void *weights, struct side *, int64_t support,
                         void *scratch);
  void (*both_supported) (struct slice *, const struct shape *, const void *doubled, const void *weights,
                          struct side *counted, struct side *rest, int64_t support, void *scratch);
  /* The largest gains of two, three and four leaves over all tests, into gain[2] to gain[4]. */
  void (*sizes) (const struct shape *, const struct side *, int64_t *gain);
  /* The largest yes + no over all tests. */
  int64_t (*best) (const struct shape *, const struct side *);
  /* Bounds of all splits from one solved split: see similar.h. */
  void (*similar) (const struct shape *, const void *weight_row, const void *weights, int64_t own_weight,
                   int64_t all_weight, int64_t scale, int64_t yes, int64_t no, int64_t *low_yes, int64_t *low_no);
};

/* choice: 0 best, 1 portable, 2 AVX2, 3 AVX-512. NULL if this processor lacks it. */
const struct kernel *kernel_find (int choice, int lane_bits);

const struct kernel *kernel_portable (int lane_bits);
const struct kernel *kernel_avx2 (int lane_bits);
const struct kernel *kernel_avx512 (int lane_bits);

#endif
