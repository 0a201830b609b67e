/* The order of the rows by a column, and the ranks of its numbers. */
#ifndef TREEML_NUMERIC_SORT_H
#define TREEML_NUMERIC_SORT_H

#include "common/arena.h"

#include <stdint.h>

/* Memory that is reused for one column after the other. */
struct numeric_sorter {
  struct arena *arena;
  int64_t rows;
  uint64_t *words;  /* two for every row */
  uint32_t *counts; /* counts of some digits */
};

/* One of the two pointers is NULL. */
struct numeric_column {
  const double *values;
  const int32_t *codes;
};

int numeric_sorter_create (struct numeric_sorter *, struct arena *, int64_t rows); /* 0 if out of memory */
void numeric_sorter_destroy (struct numeric_sorter *);

/* Sorts the rows by number, equal ones by row, and computes the rank of every row. Returns the number of distinct
   values, 0 if out of memory, or -1 if a number is not finite; for a constant column, order and ranks are not
   written. */
int32_t numeric_sort (struct numeric_sorter *, const struct numeric_column *, int32_t *order, int32_t *rank);

#endif
