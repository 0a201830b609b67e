/* The order of the rows by a column, and the ranks of its numbers. */
#ifndef TREEML_NUMERIC_SORT_H
#define TREEML_NUMERIC_SORT_H

#include "arena.h"

#include <stdint.h>

/* Room that serves one column after the other. */
struct numeric_sorter {
  struct arena *arena;
  int64_t rows;
  uint64_t *words;  /* two for every row */
  uint32_t *counts; /* of some digits */
};

/* One of the two is null. */
struct numeric_column {
  const double *values;
  const int32_t *codes;
};

int numeric_sorter_create (struct numeric_sorter *, struct arena *, int64_t rows); /* 0 without memory */
void numeric_sorter_destroy (struct numeric_sorter *);

/* Rows by number, of equal ones the earlier first, and the rank of every row. Returns how many different numbers there
   are, 0 without memory, or -1 where one is not finite; of a constant column order and ranks are left alone. */
int32_t numeric_sort (struct numeric_sorter *, const struct numeric_column *, int32_t *order, int32_t *rank);

#endif
