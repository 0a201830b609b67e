/* Filling a solver with columns: numeric_begin_columns once, then numeric_keep_column for one after the other. */
#ifndef TREEML_NUMERIC_COLUMNS_H
#define TREEML_NUMERIC_COLUMNS_H

#include "numeric/solver.h"
#include "numeric/sort.h"

int numeric_check_shape (treeml_numeric *, const void *given, int64_t columns, int64_t rows); /* an error code */
int numeric_begin_columns (treeml_numeric *, int64_t columns, int64_t rows);                  /* 0 if out of memory */
/* Keeps a column, given as codes or numbers, unless it is constant or equal to a column that is kept already. Returns
   the number of its distinct values, or 0 if out of memory or if a number is not finite. */
int32_t numeric_keep_column (treeml_numeric *, struct numeric_sorter *, const struct numeric_column *, int32_t number);
/* Releases the data; returns the error code after setting the message. */
int numeric_no_room (treeml_numeric *, int64_t columns, int64_t rows);

#endif
