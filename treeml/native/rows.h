/* The rows as the pair searches see them: their tests side by side, and lists of them by channel and weight.

   A channel is a number that is summed over rows: with two classes, what predicting class 1 saves; with more, what
   predicting each class saves. A list holds the rows of one channel, one sign and one bit of the number, so that the sum
   over a set of rows is a matter of counting. */
#ifndef TREEML_ROWS_H
#define TREEML_ROWS_H

#include "kernel.h"
#include "solver.h"

struct rows {
  struct shape shape;
  int32_t *kept;     /* the caller's number of each test */
  int32_t rows;
  uint8_t *row_bits; /* tests of each row */
  int64_t row_bytes;
  uint64_t *code;    /* two random words a row */
  int dense;         /* weights are added row by row: one list with all rows */
  int64_t *sign;     /* then: their signed weights */
  int32_t digits;    /* and the digits of these and of the worths, for products */
  int8_t *sign_digits, *worth_digits;
  int64_t *worth;    /* what a row can cost more than its cheapest class, in units of `scale` */
  int32_t channels, planes, lists;
  int32_t *ids;      /* the rows of each list, list after list */
  int32_t start[most_lists + 1];
  int64_t entries;   /* of all lists together */
  int64_t whole;     /* sum of the worths */
  int64_t scale;     /* greatest common divisor of all numbers */
  int64_t offset;    /* what no tree avoids */
  int32_t outputs;   /* of moments */
  double *moment;    /* rows x channels: weight, weight times each target, count, worth */
  double *square;    /* of each row: weight times squared target, summed over the outputs */
  double error;      /* what a leaf computed from moments may be off by, rounding to units aside */
};

/* Two classes: channel 0 with sign. Lists 2p and 2p + 1 are the positive and negative rows of plane p. */
int rows_make_signed (treeml_solver *, struct rows *);
/* More classes: one channel a class, one with the count where support is bounded, and the last with the worth. The list of
   plane p of a channel is channel * planes + p. Returns TREEML_OK with lists = 0 where there would be too many. */
int rows_make_classes (treeml_solver *, struct rows *);
/* Numbers: one list with all rows. */
int rows_make_moments (treeml_solver *, struct rows *);
/* Two classes: does each row count once, and is every mistake as dear as any other? */
int rows_are_alike (const treeml_solver *);

void rows_release (treeml_solver *, struct rows *);

#endif
