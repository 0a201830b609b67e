/* Cores: sets of rows that close the cuts of many columns at once.

   Rows that cost the target with one level less close every cut, of whatever column, that leaves all of them on one
   side. So before the rows on one side of a cut are bounded, those that lie beyond an open cut of another column are
   dropped, as long as enough of the cost is left. Where columns are correlated, one search then closes the cuts of all
   of them. */
#ifndef TREEML_NUMERIC_CORE_H
#define TREEML_NUMERIC_CORE_H

#include "numeric/solver.h"

struct numeric_span { /* ranks from `low` to before `high`, or up to `high` */
  int32_t low, high;
};

struct numeric_core {
  struct numeric_span *open;     /* for every column: its open cuts, by the last rank on the yes side */
  struct numeric_span *extent;   /* for every column: the least and the greatest rank of the rows of the core */
  struct numeric_filter *filter; /* which rows of the set belong to it; the first is the cut whose side it is */
  int64_t *left;                 /* for every column: what its filter would leave */
  int filters;
  int32_t *row;
  int64_t rows;
};

/* Opens all cuts of a set. Returns 0 if out of memory; `numeric_core_release` is called in any case. */
int numeric_core_create (treeml_numeric *, const struct numeric_set *, struct numeric_core *);
void numeric_core_release (treeml_numeric *, struct numeric_core *);

/* Begins with the rows on one side of a cut, of which `position` are on the yes side. */
void numeric_core_begin (struct numeric_worker *, struct numeric_core *, const struct numeric_set *,
                         const struct numeric_filter *side, int64_t position);
/* Drops rows beyond cuts of later columns; a leaf of the rest costs at least this many percent of what it costs now. */
void numeric_core_narrow (struct numeric_worker *, struct numeric_core *, const struct numeric_set *, int64_t percent);
/* Closes the cuts that leave the core on one side. */
void numeric_core_close (const treeml_numeric *, struct numeric_core *);

/* A lower bound of the trees of at most `most` leaves: they predict no more classes, and rows of all others cost. */
int64_t numeric_core_classes (struct numeric_worker *, const struct numeric_core *, int64_t most);

#endif
