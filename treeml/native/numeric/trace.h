/* What a search of depth two learned about the cuts of a set, kept for sets that hold the same rows and more. */
#ifndef TREEML_NUMERIC_TRACE_H
#define TREEML_NUMERIC_TRACE_H

#include "numeric/child.h"

/* A point as in child.h, in half the memory. */
struct numeric_mark {
  int32_t code; /* the cut: a cell of its column */
  int32_t leaf[2], stump[2];
  int32_t column[2];
};

/* The points that were evaluated on one side of a cut at `position` of the parent's column. */
struct numeric_trace {
  struct numeric_trace *next;
  int32_t position, used;    /* used: the number of searches that use it now */
  int32_t *first;            /* the first mark of each column, and the number of all */
  struct numeric_mark *mark; /* by column and code */
  int32_t *cost;             /* of each mark: two sides x columns */
};

/* Whether costs are whole numbers that fit. */
int numeric_trace_fits (const treeml_numeric *);
/* The points of the search that a worker has just ended whose stumps cost at least this much; NULL if there are none,
   or out of memory. */
struct numeric_trace *numeric_trace_create (struct numeric_worker *, int64_t least);
/* Adds an entry to a list, which is sorted by position. */
void numeric_trace_add (struct numeric_trace **list, struct numeric_trace *);
/* Drops the entries that are not the nearest to any open cut. `alive` numbers the open cuts, in ascending order. */
void numeric_trace_prune (struct arena *, struct numeric_trace **list, int side, const int32_t *position,
                          const int32_t *alive, int32_t open);
/* The nearest entry whose rows are among those of this side of a cut at a position, or NULL; then it is in use. */
struct numeric_trace *numeric_trace_find (struct numeric_trace *list, int32_t position, int side);
/* Reads a mark as a point, which gets no position, and its costs. */
void numeric_trace_read (const struct numeric_trace *, int64_t number, int32_t columns, struct numeric_point *,
                         int64_t *cost);
void numeric_trace_destroy (struct arena *, struct numeric_trace *list);

#endif
