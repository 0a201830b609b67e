/* Raises the lower bound of a whole problem, a little whenever the search for better trees pauses. */
#ifndef TREEML_NUMERIC_CLIMB_H
#define TREEML_NUMERIC_CLIMB_H

#include "numeric/solver.h"

/* Goes on until the effort is used up. Returns whether everything is decided: then `tree` is an optimal tree, or it is
   empty and no tree is better than `upper`. */
int numeric_climb (struct numeric_worker *, struct numeric_set *, int64_t depth, int64_t leaves, int64_t upper,
                   struct numeric_climb *, struct numeric_tree *tree);

void numeric_climb_release (treeml_numeric *, struct numeric_climb *);

/* The most polls for anything else before it is the bound's turn again. */
int64_t numeric_climb_turn (const struct numeric_climb *);

#endif
