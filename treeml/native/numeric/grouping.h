/* A lower bound of losses by the targets alone.

   A tree divides rows into one group per leaf. If any rows could share a leaf, the best groups would be intervals of
   the sorted targets, and dynamic programming finds them (k-means on a line, Fisher 1958). No tree with as many leaves
   costs less. */
#ifndef TREEML_NUMERIC_GROUPING_H
#define TREEML_NUMERIC_GROUPING_H

#include "numeric/solver.h"

struct numeric_grouping;

/* Whether leaves predict one number. */
int numeric_grouping_fits (const treeml_numeric *);
/* What the worker keeps for this, made when it is needed first; NULL if out of memory. */
struct numeric_grouping *numeric_grouping_of (struct numeric_worker *);
void numeric_grouping_destroy (treeml_numeric *, struct numeric_grouping *);
/* What these rows cost at least with up to this many leaves, prices included. */
int64_t numeric_grouping_bound (struct numeric_worker *, const int32_t *row, int64_t rows, int64_t leaves);

#endif
