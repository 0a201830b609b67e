/* Better trees by replacing parts of the best one, a little whenever the search pauses. */
#ifndef TREEML_NUMERIC_IMPROVE_H
#define TREEML_NUMERIC_IMPROVE_H

#include "numeric/solver.h"

struct numeric_improvement;
struct numeric_improvement *numeric_improvement_create (treeml_numeric *); /* NULL if out of memory */
void numeric_improvement_destroy (treeml_numeric *, struct numeric_improvement *);

/* Whether there are upper splits to replace: the last two of a path are solved anyway. */
int numeric_improvement_fits (const treeml_numeric *);
/* Solves the last levels of a tree, and goes on from it the next time, even if the best tree is a little better. */
void numeric_improve_from (struct numeric_worker *, struct numeric_set *, const struct numeric_tree *);
/* Goes on with the best tree for a while, twice as long as the last time, or until the search stops; offers every
   better tree. If the last time brought none, it takes a smaller share of that. */
void numeric_improve (struct numeric_worker *, struct numeric_set *all);

#endif
