/* The best stumps on both sides of every cut of a column, for several objectives at once.

   The objectives are linear combinations of the same sums; WIDTH of them are evaluated side by side, as doubles that
   hold whole numbers. For a column f, the rows are inserted in the order of f into a binary tree over the levels of
   another column g. Every node of the tree holds the sum of its rows and the least and the greatest running sum within
   it, so that the best cut of g on the rows inserted so far is read off after each level of f. Removing the rows again
   in the same order gives the other side of every cut. */
#ifndef TREEML_SIMD_STUMP_TREES_H
#define TREEML_SIMD_STUMP_TREES_H

#include <stdint.h>

enum { STUMP_WIDTH = 8 };

/* A pair of columns f and g on one set of rows. */
struct stump_pass {
  const int32_t *order; /* the rows in the order of f */
  const int32_t *end;   /* for each level of f: the number of rows up to it */
  int32_t levels;       /* of f */
  const int32_t *level; /* of every row in g */
  int32_t inner_levels; /* of g */
  int32_t classes;      /* at least two */
  const double *weight; /* rows x pairs of classes (a < b) x WIDTH: the cost of b less that of a */
  const double *total;  /* cuts of f x 2 sides x classes x WIDTH: the cost of the side as a leaf of a class */
  const int64_t *count; /* of every row, or NULL for 1 */
  int64_t support;      /* fewest rows of a leaf */
  int checked;          /* whether a leaf can have too few rows without being empty */
  double *tree; /* zeroed memory for size x pairs x 4 x WIDTH, size = levels of g up to a power of two; zero again at
                   the end */
  int64_t *tree_count; /* zeroed memory for 2 * size nodes; likewise */
  double *supported;   /* cuts x 2 sides x WIDTH: lowered to the best stump with enough rows in its leaves */
  double *relaxed;     /* the same without a limit on the rows of a leaf */
};

/* One column g swept on a part of the rows: which stumps stay within a budget? */
struct stump_sweep {
  const int32_t *order; /* the rows in the order of g */
  int64_t rows;
  const int32_t *level; /* of every row in g */
  const int32_t *side;  /* of every row: level in the column f of the cut above; NULL for all rows */
  int32_t cut;          /* rows with side <= cut are wanted, or with side > cut if `above` */
  int above;
  int32_t classes;
  const double *weight; /* as above */
  const double *total;  /* classes x WIDTH */
  const double *budget; /* WIDTH */
  const int64_t *count; /* or NULL */
  int64_t support, all; /* `all`: the count of all wanted rows */
};
struct stump_hit {
  int32_t level;   /* of g, up to which rows go to the yes side */
  int32_t yes, no; /* classes */
};

struct stump_trees {
  const char *name;
  void (*pass) (const struct stump_pass *);
  /* Writes at most `room` hits and returns how many there are. */
  int64_t (*sweep) (const struct stump_sweep *, struct stump_hit *, int64_t room);
};

const struct stump_trees *stump_trees_portable (void);
const struct stump_trees *stump_trees_avx2 (void);
const struct stump_trees *stump_trees_neon (void);
const struct stump_trees *stump_trees_avx512 (void);

#endif
