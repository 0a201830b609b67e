/* A lower bound by parts of the rows.

   No tree costs less than the least that each part of the rows costs with a tree of its own, all of them together. Small
   parts are solved in a moment, and large ones bound better: so all parts are solved, and then pairs of them, joined.
   Noise makes the best tree of a small part better than any tree of all rows, and hardly so that of a larger one. */
#ifndef TREEML_NUMERIC_PARTS_H
#define TREEML_NUMERIC_PARTS_H

#include "numeric/solver.h"

struct numeric_parts;

/* Whether trees of parts can be added up: a price of leaves would be paid more than once. */
int numeric_parts_fit (const treeml_numeric *, int64_t depth);
/* Goes on until the effort is used up or all parts of a half of the rows are solved. Raises the bound of the whole
   problem with every part. `parts` is NULL at first. */
void numeric_parts_raise (struct numeric_worker *, struct numeric_set *, int64_t depth, int64_t leaves,
                          struct numeric_parts **parts);
/* Whether nothing is left to do. */
int numeric_parts_done (const struct numeric_parts *);
void numeric_parts_destroy (treeml_numeric *, struct numeric_parts *);

#endif
