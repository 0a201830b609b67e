/* Sweeps over the rows of a set in the order of one column: the inner loops of the numeric search.

   The rows in the order of a column are divided into 32 stretches of equal length, stored side by side, so that a
   vector register holds one row of each and running sums need no sums across a register. Codes and values are cells
   of one width (16, 32 or 64 bits), chosen for the whole data set. */
#ifndef TREEML_SIMD_NUMERIC_KERNEL_H
#define TREEML_SIMD_NUMERIC_KERNEL_H

#include "common/bits.h"

#include <stdint.h>

enum { LANES = 32, BLOCK = 8 };
enum { few_rows = 32 }; /* per lane: up to this many, sweeps of squared losses divide everywhere */

/* One column of a set of rows, in lanes. */
struct numeric_lanes {
  int32_t length; /* rows per lane, a multiple of BLOCK */
  int32_t planes;
  void **plane;              /* values of the rows, one plane per class (two classes: one plane of signed weights) */
  void **total;              /* running sums of the planes; with two classes each lane starts at 0 */
  void *label;               /* the class of every row, and no class elsewhere; only if all rows count the same */
  const int32_t *active;     /* the class of every plane */
  int16_t *before;           /* planes x LANES: how many rows of the class are before each lane */
  void *edge;                /* or NULL: all bits set if the next row has another code, so that a cut is possible */
  uint32_t *edge_bits;       /* the same with one bit per lane */
  int64_t offset[LANES + 1]; /* two classes: sum of the plane before each lane */
  int16_t offsets[LANES];    /* the same if `narrow` says that they fit */
  int narrow;                /* two classes: whether all sums fit in 16 bits */
  int64_t *sum;              /* sum of each plane */
};

/* The two sides of a cut of another column, and the cost of the best stump on each of them. */
struct numeric_sides {
  int64_t top[2];   /* the most that the rows of a side can cost */
  double square[2]; /* squared error: weight * target^2 of a side */
  double unit;
  int wanted; /* 1: the rows up to the cut; 2: the others; 3: both. Sweeps of two classes make both. */
  int64_t cost[2];
};

struct numeric_lead {
  int wanted; /* as above */
  int64_t most[2], least[2];
};

struct numeric_kernel {
  const char *name;
  int cell;           /* in bytes */
  int edge_bits_only; /* whether sweeps of two classes and of labels need only `edge_bits` */
  void (*gather_codes) (const int32_t *code, const int32_t *order, int64_t rows, void *cells);
  void (*gather_values) (const int64_t *value, const int32_t *order, int64_t rows, void *cells);
  /* sets the bits of the rows with a code of at most (above: greater than) the threshold; returns how many */
  int64_t (*select) (const void *codes, int64_t rows, int64_t threshold, int above, uint64_t *bits);
  /* copies the cells of these rows in order; writes up to 32 cells beyond the end */
  void (*compress) (const void *cells, const uint64_t *bits, int64_t rows, void *to);
  /* from row order to lanes; cells beyond the rows become codes greater than all others, or zeros */
  void (*spread) (void *cells, int64_t rows, int32_t length, int codes, void *lanes);
  int64_t (*sum) (const void *cells, int64_t rows);
  /* 1 if the label is this one, else 0 */
  void (*expand) (const void *labels, int32_t label, int32_t length, void *plane);
  void (*subtract) (void *lanes, const void *others, int32_t length);
  void (*edges) (const void *codes, struct numeric_lanes *);
  void (*totals) (struct numeric_lanes *, int two);
  /* Computes `before` and `sum` from labels; present if `stump_labels` is. */
  void (*count_labels) (struct numeric_lanes *);
  void (*stump_two) (const struct numeric_lanes *, const void *codes, int64_t threshold, struct numeric_sides *);
  void (*stump_many) (const struct numeric_lanes *, const void *codes, int64_t threshold, struct numeric_sides *);
  /* The same from the classes of the rows, if all rows count the same; NULL if that is not faster. */
  void (*stump_labels) (const struct numeric_lanes *, const void *codes, int64_t threshold, struct numeric_sides *);
  /* By how many rows at most (at least) one class, pair[0], is ahead of another, pair[1], on the rows of a side up to
     any cut, or up to none: most[s] >= 0 >= least[s] of the sides that are wanted. There are at most 31 classes;
     present if `stump_labels` is. */
  void (*lead) (const struct numeric_lanes *, const void *codes, int64_t threshold, const int32_t pair[2],
                struct numeric_lead *);
  void (*stump_squared) (const struct numeric_lanes *, const void *codes, int64_t threshold, struct numeric_sides *);
};

/* The functions of each instruction set; NULL where the compiler could not build them. Use simd/select.h. */
const struct numeric_kernel *numeric_portable (int cell);
const struct numeric_kernel *numeric_avx2 (int cell);
const struct numeric_kernel *numeric_neon (int cell);
const struct numeric_kernel *numeric_avx512 (int cell);

#endif
