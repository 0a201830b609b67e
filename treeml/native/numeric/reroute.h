/* The split that suits two given subtrees best (Carreira-Perpinan and Tavallali 2018). */
#ifndef TREEML_NUMERIC_REROUTE_H
#define TREEML_NUMERIC_REROUTE_H

#include "numeric/solver.h"

/* Whether the cost of a row is known from the label of its leaf. */
static inline int numeric_reroute_fits (const treeml_numeric *solver) {
  return solver->goal == numeric_goal_two || solver->goal == numeric_goal_many;
}

struct numeric_route {
  struct numeric_split split; /* column -1 if there is none */
  int swapped;                /* whether rows up to the cut go to the second subtree */
};

/* The best cut of some columns for rows whose two sides go on to the subtrees at `yes` and `no`. Column f is looked at
   if bit f modulo 64 of `columns` is set. */
struct numeric_route numeric_reroute (struct numeric_worker *, const struct numeric_set *, const struct numeric_tree *,
                                      int64_t yes, int64_t no, uint64_t columns);

#endif
