/* The pair kernel: pair sums of rows with signed weights, tests in lanes.

   A two-class problem with any costs is one signed number per row: what predicting class 1 saves. The stump with test j
   on the rows that answer yes to i errs (n_i - max |d_ij| + |d_i - d_ij|) / 2, where d are sums of signed weights, and
   |a| + |b| over its two cells is the larger of |a + b| and |a - b| = |2 d_ij - d_i|. So one matrix of signed sums, one
   subtraction, one absolute value and one maximum per pair solve depth two (pair counts: Demirovic et al. 2022).

   Rows are stored in words as wide as a lane, the words of all tests side by side, so that no sum is horizontal and
   a count ends up in the lane where it is used. Small weights are stored as bit planes: a row is in the list of each
   bit of its weight. Large weights are added row by row. */
#ifndef TREEML_SIMD_PAIR_KERNEL_H
#define TREEML_SIMD_PAIR_KERNEL_H

#include "common/bits.h"

#include <stdint.h>

enum { most_planes = 63, most_lists = 2 * most_planes };

/* The rows of a sub-problem. List 2p holds the positive rows of plane p, list 2p + 1 the negative ones; plane 0 is
   the highest bit. */
struct slice {
  void *words;     /* groups x stride lanes */
  uint32_t *twice; /* 16-bit lanes only: each word twice, for broadcasts straight from memory */
  int32_t planes;
  int32_t group[most_lists + 1]; /* first group of each list */
  /* For rows of large weight instead: one list, and the weight of each row in the lanes of the tests that it passes,
     for one chunk of rows at a time. 32- and 64-bit lanes only. */
  void *dense;
  int32_t dense_rows, filled; /* number of rows; first row of the chunk in `dense`, or -1 */
  int32_t *passing;           /* memory for the starts of the rows of a test in `dense` */
  void *chunk;                /* sums and weights of the tests in the chunk */
  void *before;               /* memory for the pair sums of earlier chunks */
  const int32_t *ids;
  const uint8_t *row_bits;
  int64_t row_bytes;
  const int64_t *sign;
  const struct products *products; /* used instead of lists of rows if the processor multiplies matrices */
};

enum { dense_bytes = 96 * 1024 }; /* size of a chunk, unless 64 rows need more */

struct shape {
  int32_t tests;  /* number of tests, F */
  int32_t padded; /* F rounded up to a multiple of 4: lines of a pair matrix */
  int32_t stride; /* F rounded up to a multiple of 64: lanes of a line */
};

/* The gains on one side: for each root test the best absolute sum on its yes and its no side, in lanes. */
struct side {
  void *sum; /* signed sum of each test */
  int64_t total;
  void *yes, *no;
  void *count; /* weight of each test, if support is bounded */
  int64_t weight;
};

struct pair_kernel {
  const char *name;
  int32_t lane_bits;
  /* Packs one list of rows into words from `group` on; `row_bits` holds the answers of each row, row_bytes apart. */
  void (*build) (struct slice *, const struct shape *, int32_t group, const uint8_t *row_bits, int64_t row_bytes,
                 const int32_t *ids, int32_t count);
  /* Selects, among the `count` rows of a list that starts at `group`, those that pass a test, or those that do not;
     returns how many. `to` has room for 16 more. */
  int32_t (*select) (const struct slice *, const struct shape *, int32_t group, int32_t count, int32_t test,
                     int passing, const int32_t *ids, int32_t *to);
  /* Signed sums and weights of every test. */
  void (*sums) (struct slice *, const struct shape *, void *sum, void *weight);
  /* Twice the signed sum (once, if it is multiplied) and the weight of every pair whose second test is in from .. to
     - 1; `from` is a multiple of 64. Sums may wrap around when doubled: the results computed from them fit again. */
  void (*pairs) (struct slice *, const struct shape *, void *doubled, void *weight, int32_t from, int32_t to);
  /* Solves depth two for the rows of a matrix. */
  void (*own) (const struct shape *, const void *doubled, struct side *, void *scratch);
  /* Solves depth two for a slice and for the other rows of the matrix; `scratch` holds six lines of lanes. */
  void (*both) (struct slice *, const struct shape *, const void *doubled, struct side *counted, struct side *rest,
                void *scratch);
  /* The same with a bound on support, if all rows weigh the same; `support` fits in a lane. */
  void (*own_supported) (const struct shape *, const void *doubled, const void *weights, struct side *, int64_t support,
                         void *scratch);
  void (*both_supported) (struct slice *, const struct shape *, const void *doubled, const void *weights,
                          struct side *counted, struct side *rest, int64_t support, void *scratch);
  /* The largest gains with two, three and four leaves over all tests, in gain[2] to gain[4]. */
  void (*sizes) (const struct shape *, const struct side *, int64_t *gain);
  /* The largest yes + no over all tests. */
  int64_t (*best) (const struct shape *, const struct side *);
  /* With a price per leaf: for each test, what the best stump on its yes and on its no side costs beyond the price of
     two leaves, if a cell may be split again and then has no errors. Cells that are not worth their leaf are left
     out; the largest number of a lane means that there is no such stump. `price`, in weights, fits in a lane. */
  void (*paid) (const struct shape *, const void *doubled, const void *weights, const struct side *, int64_t price,
                void *yes, void *no);
  /* Bounds all splits by one solved split: the similarity bound of pair/search.c. */
  void (*similar) (const struct shape *, const void *weight_row, const void *weights, int64_t own_weight,
                   int64_t all_weight, int64_t scale, int64_t yes, int64_t no, int64_t *low_yes, int64_t *low_no);
};

/* The functions of each instruction set; NULL where the compiler could not build them. Use simd/select.h. */
const struct pair_kernel *pair_portable (int lane_bits);
const struct pair_kernel *pair_avx2 (int lane_bits);
const struct pair_kernel *pair_neon (int lane_bits);
const struct pair_kernel *pair_avx512 (int lane_bits);

#endif
