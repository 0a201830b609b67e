/* Leaves whose cost follows from the counts of their classes, whatever they predict. */
#ifndef TREEML_IMPURITY_H
#define TREEML_IMPURITY_H

#include "solver/solver.h"

/* Copies the labels and prepares sums; 0 or an error code. A row counts weight * unit. */
int impurity_make (treeml_solver *, int32_t kind, const int32_t *label, double unit);
void impurity_release (treeml_solver *);

/* The cost of a leaf with these rows; `count` has room for one number per class. With `least`, also an amount that the
   leaves of no tree for these rows stay below. */
double impurity_cost (const treeml_solver *, const uint64_t *rows, double *count, double *least);
/* Whether that amount can be more than 0. */
int impurity_has_floor (const treeml_solver *);
/* A bound on the rounding errors of the cost of a tree. */
double impurity_error (const treeml_solver *);

#endif
