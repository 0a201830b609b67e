/* Rows that are hard to predict.

   Most rows of a table lie among rows of their own class, and any good tree predicts them. Without them, the optimum is
   only a little lower, and trees are bounded in a fraction of the time. A bound for some of the rows holds for all. */
#ifndef TREEML_NUMERIC_HARD_H
#define TREEML_NUMERIC_HARD_H

#include "numeric/solver.h"

/* The rows with neighbours of other classes; NULL if that leaves out too few, or if leaves do not predict classes. */
struct numeric_set *numeric_hard_create (struct numeric_worker *, const struct numeric_set *);
void numeric_hard_destroy (treeml_numeric *, struct numeric_set *);

#endif
