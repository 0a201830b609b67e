/* Lower bounds by relaxed splits.

   A split of a column is an interval of its cuts: the rows below all of them are on the yes side, those above all of
   them on the no side, and the rows between are free. Removing rows never makes a tree more expensive, so the interval
   costs at least what both sides cost with one level less. Where that is less than a target, the interval is divided,
   until all cuts reach the target or single cuts show that the optimum is lower. So the bound converges to the optimum.
   If leaves have a price, every side costs at least one leaf, and trees whose leaves alone cost the target need no
   look. If a few leaves are allowed, all ways to divide them between the sides are looked at.

   Cuts lie at round ranks, so that the same boxes of rows appear in many orders of splits; what is known about a box is
   kept for all targets. */
#ifndef TREEML_NUMERIC_RELAX_H
#define TREEML_NUMERIC_RELAX_H

#include "numeric/solver.h"

struct numeric_relaxation;
/* `upper`: no target will be higher. NULL if out of memory. */
struct numeric_relaxation *numeric_relaxation_create (treeml_numeric *, int64_t depth, int64_t leaves, int64_t upper);
void numeric_relaxation_destroy (treeml_numeric *, struct numeric_relaxation *);

/* Whether splits can be relaxed for targets up to `upper`: the depth, a price or a small number limits the leaves, and
   tests cost nothing. */
int numeric_relaxation_fits (const treeml_numeric *, int64_t depth, int64_t leaves, int64_t upper);

/* The highest target up to an upper bound: beyond it, leaves would be so cheap that trees could be too deep. */
int64_t numeric_relaxation_most (const treeml_numeric *, int64_t depth, int64_t upper);

/* A lower bound of all trees of this depth, at least the target if the optimum is. A lower result is the optimum if
   there is no bound on support, and none on the depth beside one on the leaves. If the search is stopping afterwards,
   the result means nothing. */
int64_t numeric_relax (struct numeric_worker *, struct numeric_relaxation *, struct numeric_set *, int64_t depth,
                       int64_t target);
/* The tree behind a result below the target, without a bound on support. Returns 0 if it is not known any more. */
int numeric_relaxed_tree (struct numeric_worker *, struct numeric_relaxation *, struct numeric_set *, int64_t depth,
                          struct numeric_tree *);

#endif
