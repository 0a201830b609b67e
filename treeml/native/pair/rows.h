/* The rows in the form that the pair search needs: the answers of each row side by side, and lists of rows by channel
   and bit of the weight.

   A channel is a number that is summed over rows: with two classes, what predicting class 1 saves; with more
   classes, what predicting each class saves. A list holds the rows of one channel, one sign and one bit of the
   number, so that a sum over a set of rows is computed by counting. */
#ifndef TREEML_ROWS_H
#define TREEML_ROWS_H

#include "simd/pair_kernel.h"
#include "solver/solver.h"

struct rows {
  struct shape shape;
  int32_t *kept; /* the caller's number of each test */
  int32_t rows;
  uint8_t *row_bits; /* answers of each row */
  int64_t row_bytes;
  uint64_t *code; /* two random words for each row */
  int dense;      /* whether weights are added row by row; then there is one list with all rows */
  int64_t *sign;  /* the signed weights, if dense */
  int32_t digits; /* the digits of the signed weights and of the worths, for products */
  int8_t *sign_digits, *worth_digits;
  int64_t *worth; /* what a row can cost beyond its cheapest class, in units of `scale` */
  int32_t channels, planes, lists;
  int32_t *ids; /* the rows of each list, list after list */
  int32_t start[most_lists + 1];
  int64_t entries;       /* total length of all lists */
  int64_t whole;         /* sum of the worths */
  int64_t scale;         /* greatest common divisor of all numbers */
  int64_t offset;        /* the cost that no tree avoids */
  int32_t outputs;       /* for squared loss */
  double *moment;        /* rows x channels: weight, weight times each target, count, worth */
  int32_t *packed;       /* one target and no bound on support: sum * 2^shift + weight, if 64 rows fit; or NULL */
  int32_t *packed_worth; /* then also the worths, in units of worth_grain */
  double worth_grain;
  int32_t shift;
  int joined;     /* whether the sums of all rows fit too */
  double *square; /* of each row: weight times squared target, summed over the outputs */
  double error;   /* how far the cost of a leaf computed from moments may be off, apart from rounding to units */
};

/* Two classes: channel 0 is signed. Lists 2p and 2p + 1 are the positive and the negative rows of plane p. */
int rows_make_signed (treeml_solver *, struct rows *);
/* More classes: one channel for each class, one for the count if support is bounded, and the last one for the worth.
   The list of plane p of a channel is channel * planes + p. Returns TREEML_OK with lists = 0 if there would be too
   many lists. */
int rows_make_classes (treeml_solver *, struct rows *);
/* Squared loss: one list with all rows (moment_rows.c). */
int rows_make_moments (treeml_solver *, struct rows *);
/* Two classes: whether each row counts once and all mistakes cost the same. */
int rows_are_alike (const treeml_solver *);

void rows_release (treeml_solver *, struct rows *);

/* Steps that all of them share. Merges the tests and stores the answers of each row. */
int rows_begin (treeml_solver *, struct rows *);
/* For every row the first row with the same answers to all tests; 0 if out of memory, as below. */
int rows_find_equal (treeml_solver *, const struct rows *, int32_t *first);
int rows_make_codes (treeml_solver *, struct rows *);
/* Releases the rows, and returns the code of this failure. */
int rows_lack_memory (treeml_solver *, struct rows *);

#endif
