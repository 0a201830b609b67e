/* Pairs of classes that the two leaves of a stump may predict.

   A stump that predicts classes a and b is right about no more rows than have these classes. So with many classes only
   a few pairs can lead to a stump that is good enough, often none, and then nothing needs to be swept. For one pair, a
   sweep looks only at the difference of the two counts: where it is largest (smallest), the rows before the cut get one
   class and the rows behind it the other. */
#ifndef TREEML_NUMERIC_RIVALS_H
#define TREEML_NUMERIC_RIVALS_H

#include "numeric/child.h"

enum { most_rival_classes = 8, most_rivals = most_rival_classes * (most_rival_classes - 1) / 2 };

/* For both sides of a cut: all pairs of classes by descending number of rows. */
struct numeric_rivals {
  int32_t pairs;
  int64_t count[2][most_rival_classes]; /* of the rows of every class */
  struct {
    int32_t number; /* two classes, as a * most_rival_classes + b */
    int64_t rows;
  } pair[2][most_rivals];
};

/* The column that is swept, and the cut of another column that makes the sides. */
struct numeric_swept {
  const struct numeric_kernel *kernel;
  const struct numeric_lanes *lanes;
  const void *codes;
  int64_t threshold;
};

/* Whether they can be used for the rows of a child. */
int numeric_rivals_fit (const treeml_numeric *, const struct numeric_child *);
/* `sums` holds the numbers of rows of the classes on the yes side, then on the no side, `stride` apart. */
void numeric_rivals_list (struct numeric_rivals *, int32_t classes, const int64_t *sums, int32_t stride);
/* Computes lower bounds of the stumps of the sides that are wanted on one column, as sweeps do. A cost below `target`
   is exact; others may be lower than the true cost, but not below the target. Returns 0 if that would take longer than
   a sweep of all classes; then nothing is computed. */
int numeric_rivals_sweep (const struct numeric_rivals *, const struct numeric_swept *, const int64_t target[2],
                          struct numeric_sides *);

#endif
