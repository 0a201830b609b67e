/* What was learnt of the cuts of one set, for sets that differ from it in few rows. */
#ifndef TREEML_NUMERIC_NEAR_H
#define TREEML_NUMERIC_NEAR_H

#include "arena.h"

#include <stdint.h>

/* The cuts of one column of a set: codes, ascending, and lower bounds of either side. */
struct numeric_table {
  int32_t cuts, top; /* top: the greatest code of the set */
  int32_t *code;
  int64_t *low[2];
};

/* One solved side of a cut at `position` of the parent's column. */
struct numeric_near {
  int32_t position, used; /* used: by how many searches now */
  int32_t columns;
  struct numeric_table *table;
  struct numeric_near *next;
};

/* The two neighbours to begin with, what rows they have that the set has not are worth, and what was learnt. */
struct numeric_warm {
  struct numeric_near *from[2];
  int64_t loss[2];
  struct numeric_near *made;
};

struct numeric_near *numeric_near_create (struct arena *, int32_t columns); /* or NULL */
void numeric_near_destroy (struct arena *, struct numeric_near *);
/* Adds to a list, of which the oldest that is not used goes. */
void numeric_near_add (struct arena *, struct numeric_near **list, struct numeric_near *);
/* The nearest on either side of a position, or NULL; both are then used. */
void numeric_near_find (struct numeric_near *list, int32_t position, struct numeric_near *found[2]);
/* Raises the bounds of the cuts of a column, whose codes ascend, by those of a neighbour. */
void numeric_near_raise (const struct numeric_table *, int64_t loss, const struct numeric_table *to);

#endif
