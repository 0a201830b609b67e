/* Closes the cuts beside one that was evaluated, for a quantile loss, by moving rows one by one. */
#ifndef TREEML_NUMERIC_QUANTILE_WALK_H
#define TREEML_NUMERIC_QUANTILE_WALK_H

#include "numeric/intervals.h"

/* Looks for a cut of an interval that cannot be better than the best tree, first at a position, which it may change,
   and for all cuts beside it for which the same can be shown: closed[0] .. closed[1]. Returns a point for the cut, with
   lower bounds of its costs, or -1 if there is none, if walks are not possible, or if they are not likely to succeed.
 */
int32_t numeric_quantile_walk (struct numeric_bisection *, const struct numeric_interval *, int64_t *position,
                               int64_t closed[2]);

#endif
