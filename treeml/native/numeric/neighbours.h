/* Bounds learned for the cuts of one set, kept for sets that differ from it in few rows. */
#ifndef TREEML_NUMERIC_NEIGHBOURS_H
#define TREEML_NUMERIC_NEIGHBOURS_H

#include "common/arena.h"

#include <stdint.h>

/* The cuts of one column of a set: ascending codes, and lower bounds of both sides. */
struct numeric_table {
  int32_t cuts, top; /* top: the largest code of the set */
  int32_t *code;
  int64_t *low[2];
};

/* One solved side of a cut at `position` of the parent's column. */
struct numeric_neighbour {
  int32_t position, used; /* used: the number of searches that use it now */
  int32_t columns;
  struct numeric_table *table;
  struct numeric_neighbour *next;
};

/* The two nearest neighbours, the worth of the rows that they have and the set has not, and the bounds learned here. */
struct numeric_warm {
  struct numeric_neighbour *from[2];
  int64_t loss[2];
  struct numeric_neighbour *made;
};

struct numeric_neighbour *numeric_neighbours_create (struct arena *, int32_t columns); /* or NULL */
void numeric_neighbours_destroy (struct arena *, struct numeric_neighbour *);
/* Adds an entry to a list, replacing the oldest one that is not in use. */
void numeric_neighbours_add (struct arena *, struct numeric_neighbour **list, struct numeric_neighbour *);
/* The nearest entries on either side of a position, or NULL; both are then marked as used. */
void numeric_neighbours_find (struct numeric_neighbour *list, int32_t position, struct numeric_neighbour *found[2]);
/* Raises the bounds of the cuts of a column, given by ascending codes, by those of a neighbour. */
void numeric_neighbours_raise (const struct numeric_table *, int64_t loss, const struct numeric_table *to);

#endif
