/* Raises the lower bound of a whole problem, a little whenever the search for better trees pauses. */
#ifndef TREEML_NUMERIC_CLIMB_H
#define TREEML_NUMERIC_CLIMB_H

#include "numeric/solver.h"

struct numeric_climb {
  int64_t effort; /* in polls, as numeric_worker.allowance */
  int64_t bound;  /* no tree is better */
  int64_t hard;   /* the last target that took too much effort, or 0 */
  int tries;      /* how often it did */
  int final;      /* whether relaxed splits cannot raise the bound any further */
};

/* Goes on until the effort is used up. Returns whether everything is decided: then `tree` is an optimal tree, or it is
   empty and no tree is better than `upper`. */
int numeric_climb (struct numeric_worker *, struct numeric_set *, int64_t depth, int64_t leaves, int64_t upper,
                   struct numeric_climb *, struct numeric_tree *tree);

#endif
