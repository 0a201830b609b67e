/* Fees of tests: a row pays for every column that is tested on its path, once, and maybe less below a test of another
   column. Both coupled searches use them. */
#ifndef TREEML_PATH_FEES_H
#define TREEML_PATH_FEES_H

#include "common/arena.h"

#include <stdint.h>

/* Part of the value, and limited. */
enum { fee_kinds = 2 };

struct path_fees {
  int32_t columns;
  int64_t *below;   /* (1 + columns) x columns: without a test above, and below a test of each column; NULL: no fees */
  int64_t of_row;   /* what a row pays at most */
  int64_t greatest; /* what all rows pay together at most */
  int discounts;    /* whether a column costs less below another one */
};

/* Copies a table of fees; `rows` are the counts of all rows. Returns 1, 0 if memory is short, or -1 if a fee is
   negative or the greatest sum is beyond `largest`. */
int path_fees_copy (struct path_fees *, struct arena *, const int64_t *below, int32_t columns, int64_t rows,
                    int64_t largest);
void path_fees_release (struct path_fees *, struct arena *);
/* The fee of a column below the columns of a path; 0 if there are no fees. */
int64_t path_fee (const struct path_fees *, const int32_t *path, int64_t length, int32_t column);

#endif
