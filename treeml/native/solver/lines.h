/* The cost of leaves that have linear models. */
#ifndef TREEML_LINES_H
#define TREEML_LINES_H

#include "solver/solver.h"

/* Copies the arrays, and makes their cost that of a leaf; 0 or an error code. */
int lines_make (treeml_solver *, const double *values, const double *spread, int32_t columns, const double *target,
                const double *weight, double ridge, int is_simple);
void lines_release (treeml_solver *);
/* About how many operations the cost of a leaf takes for each of its rows; 1 if leaves have no linear models. */
int64_t lines_work (const treeml_solver *);

#endif
