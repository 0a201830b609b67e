/* Sweeps over the rows of a set, in the order of one column: the inner loops of the numeric search.

   A column's order is cut into 32 stretches of equal length that lie side by side, so that a vector register holds one
   row of each: running sums then need no sums across a register. Codes and values are cells of one width (16, 32 or
   64 bits), chosen for the whole data set. */
#ifndef TREEML_NUMERIC_KERNEL_H
#define TREEML_NUMERIC_KERNEL_H

#include <stdint.h>

enum { LANES = 32, BLOCK = 8 };

/* One column of a set of rows, in lanes. */
struct numeric_lanes {
  int32_t length;      /* rows of a lane, a multiple of BLOCK */
  int32_t planes;
  void **plane;        /* values of the rows, one plane per class (two classes: one plane of signed weights) */
  void **total;        /* running sums of the planes; of two classes each lane begins at 0 */
  void *label;         /* the class of every row, and nothing elsewhere; only where rows count alike */
  const int32_t *active; /* the class of every plane */
  int16_t *before;     /* planes x LANES: how many rows of the class are before each lane */
  void *edge;          /* or NULL: all bits set where the next row has another code, so that a cut is possible */
  uint32_t *edge_bits; /* the same, one bit a lane */
  int64_t offset[LANES + 1]; /* two classes: sum of the plane before each lane */
  int16_t offsets[LANES];    /* the same, where `narrow` says that they fit */
  int narrow;                /* two classes: all sums fit in 16 bits */
  int64_t *sum;              /* of each plane */
};

/* The two sides of a cut of another column, and what the best stump on each of them costs. */
struct numeric_sides {
  int64_t top[2];   /* what the rows of a side can cost at most */
  double square[2]; /* squared error: weight * target^2 of a side */
  double unit;
  int wanted; /* 1: the rows up to the cut; 2: the others; 3: both. Labels alone make use of it. */
  int64_t cost[2];
};

struct numeric_kernel {
  const char *name;
  int cell; /* bytes */
  int edge_bits_only; /* whether sweeps of two classes and of labels read the bits of edges alone */
  void (*gather_codes) (const int32_t *code, const int32_t *order, int64_t rows, void *cells);
  void (*gather_values) (const int64_t *value, const int32_t *order, int64_t rows, void *cells);
  /* bits of the rows with a code at most (above: greater than) the threshold; returns how many */
  int64_t (*select) (const void *codes, int64_t rows, int64_t threshold, int above, uint64_t *bits);
  /* the cells of these rows, in order; writes up to 32 cells beyond */
  void (*compress) (const void *cells, const uint64_t *bits, int64_t rows, void *to);
  /* from row order to lanes; cells beyond the rows become codes greater than all others, or zeros */
  void (*spread) (void *cells, int64_t rows, int32_t length, int codes, void *lanes);
  int64_t (*sum) (const void *cells, int64_t rows);
  /* 1 where the label is this one, else 0 */
  void (*expand) (const void *labels, int32_t label, int32_t length, void *plane);
  void (*subtract) (void *lanes, const void *others, int32_t length);
  void (*edges) (const void *codes, struct numeric_lanes *);
  void (*totals) (struct numeric_lanes *, int two);
  /* `before` and `sum` from labels; where there is `stump_labels`. */
  void (*count_labels) (struct numeric_lanes *);
  void (*stump_two) (const struct numeric_lanes *, const void *codes, int64_t threshold, struct numeric_sides *);
  void (*stump_many) (const struct numeric_lanes *, const void *codes, int64_t threshold, struct numeric_sides *);
  /* The same from the classes of the rows, where all rows count alike; NULL if there is nothing faster. */
  void (*stump_labels) (const struct numeric_lanes *, const void *codes, int64_t threshold, struct numeric_sides *);
  void (*stump_squared) (const struct numeric_lanes *, const void *codes, int64_t threshold, struct numeric_sides *);
};

/* `wanted`: 0 the best of this processor, 1 portable, 2 AVX2, 3 AVX-512. NULL if this processor lacks it. */
const struct numeric_kernel *numeric_kernel (int cell, int wanted);

const struct numeric_kernel *numeric_portable (int cell);
const struct numeric_kernel *numeric_avx2 (int cell);
const struct numeric_kernel *numeric_avx512 (int cell);

#endif
