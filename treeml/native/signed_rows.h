/* A two-class goal as one signed whole number a row: what predicting class 1 instead of class 0 saves. */
#ifndef TREEML_SIGNED_ROWS_H
#define TREEML_SIGNED_ROWS_H

#include "kernel.h"
#include "solver.h"

struct signed_rows {
  struct shape shape;
  int32_t *kept;      /* the caller's number of each test */
  int32_t rows;       /* distinct lists entries come from these */
  uint8_t *row_bits;  /* tests of each row */
  int64_t row_bytes;
  int64_t *weight;    /* of each row, without sign, in units of `scale` */
  uint64_t *code;     /* two random words a row */
  int32_t planes;
  int32_t *ids;       /* the rows of each list, list after list */
  int32_t start[most_lists + 1];
  int64_t entries;    /* all lists together */
  int64_t whole;      /* sum of the weights */
  int64_t scale;      /* their greatest common divisor */
  int64_t offset;     /* what no tree avoids */
};

int signed_rows_fit (treeml_solver *);
int signed_rows_make (treeml_solver *, struct signed_rows *);
void signed_rows_release (treeml_solver *, struct signed_rows *);

#endif
