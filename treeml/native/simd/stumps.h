/* The best stumps on both sides of every test, from a table of pair sums: the inner loop of the search for coupled
   requirements. A narrow table has sums of 32 bits, and scores are whole numbers in doubles, which are exact because
   they stay below 2^52; a wide one has 64 bits for both. */
#ifndef TREEML_SIMD_STUMPS_H
#define TREEML_SIMD_STUMPS_H

#include <stdint.h>

/* The score of a side that cannot be a leaf. */
#define STUMPS_IMPOSSIBLE ((int64_t) 1 << 61)

enum { stumps_most_classes = 32, stumps_most_width = 64 };

struct stumps_task {
  int32_t tests, stride; /* the stride is a multiple of 8; lines are filled up with zeros */
  int32_t classes, width;
  const void *sums;     /* (classes - 1) * width channels, then the counts: channels x tests x stride */
  const int64_t *total; /* for each channel, over all rows */
  int64_t weights[stumps_most_width];
  int64_t price;         /* of a leaf */
  int64_t support;       /* least count of a leaf; 0: the table has no counts */
  const int32_t *column; /* of every test, or NULL; a test may not follow one of its column */
  const uint8_t *used;   /* by column, if there are columns: those that may not be tested */
  /* Leaf rules: the first of `classes` channels behind the counts, or 0 if there is no such rule. A leaf needs a class
     whose purity is at least 0, and its own class may cost at most `most_cost`. */
  int32_t purity, cost;
  int64_t most_cost;
  /* Fees: what testing `other` costs per row that comes by, as a score. NULL if there are none; with fees there are
     counts. Each of the two lines is for one kind of fee; a test below another costs the lesser of both numbers. */
  const int64_t *fee[2];       /* by test: the fee below the tests above this table */
  const int64_t *fee_below[2]; /* fee columns x stride: the fee below a test of a column */
  const int32_t *fee_column;   /* of every test */
  int64_t fee_weight[2];
  void *room; /* stumps_most_classes + (classes + 8) x stride numbers of 8 bytes */
};

struct stumps {
  /* best[side][test]: the least score of a leaf or a stump on the no side (0) and the yes side (1) of the test. */
  void (*narrow) (const struct stumps_task *, int64_t *const best[2]);
  void (*wide) (const struct stumps_task *, int64_t *const best[2]);
};

const struct stumps *stumps_portable (void);
const struct stumps *stumps_avx2 (void);   /* NULL where the compiler could not build it */
const struct stumps *stumps_avx512 (void); /* likewise */
const struct stumps *stumps_neon (void);   /* the same */

#endif
