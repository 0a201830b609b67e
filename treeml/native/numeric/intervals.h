/* The cuts of a search of depth two that are still open, and the points that were evaluated. */
#ifndef TREEML_NUMERIC_INTERVALS_H
#define TREEML_NUMERIC_INTERVALS_H

#include "numeric/trace.h"

/* Walks (see quantile_walk.c) are tried less often where they close few cuts. */
enum { numeric_first_credit = 64 };

struct numeric_bisection {
  struct numeric_worker *worker;
  treeml_numeric *solver;
  struct numeric_child *child;
  const struct numeric_part *part;
  int64_t price, leaves, upper, lowest;
  int64_t count; /* of all rows, if there are fees */
  int root;
  int64_t credit;             /* how many cuts walks have closed beyond their price, within limits */
  int64_t next_report, polls; /* next_report is a number of sweeps */
  struct numeric_found *found;
};

static inline int64_t numeric_least (int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t numeric_greatest (int64_t a, int64_t b) { return a > b ? a : b; }

/* The cost of a cut whose sides have these costs as leaves and as stumps. */
int64_t numeric_cost_of_cut (const struct numeric_bisection *, int32_t column, const int64_t leaf[2],
                             const int64_t stump[2]);
/* A lower bound of all cuts of an interval. */
int64_t numeric_least_between (const struct numeric_bisection *, const struct numeric_interval *);
/* The number of a new point, or -1 if out of memory. */
int32_t numeric_point_add (struct numeric_bisection *);
/* Puts a point between two others of its column. */
void numeric_point_link (struct numeric_child *, int32_t column, int32_t left, int32_t made, int32_t right);
/* Drops the cuts that are too near to a point beside them to be better than the best tree. */
void numeric_interval_shrink (struct numeric_bisection *, struct numeric_interval *);
/* Adds the cuts low .. high between two points, unless none can be better than the best tree. 0 if out of memory. */
int numeric_interval_push (struct numeric_bisection *, int32_t column, int32_t left, int32_t right, int64_t low,
                           int64_t high);
/* The same between the ends of a column, beginning with the points that were evaluated for fewer rows. */
int numeric_interval_push_traced (struct numeric_bisection *, int32_t column, int64_t low, int64_t high);
/* The cut nearest to the middle at which the code changes; 0 if there is none. */
int64_t numeric_interval_middle (const struct numeric_bisection *, const struct numeric_interval *);

#endif
