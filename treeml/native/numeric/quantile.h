/* Losses that are least at a quantile of a leaf's targets: absolute error, and the pinball loss of any level.

   A chain links the targets that occur in a set of rows in ascending order. Rows leave it one by one, and the quantile
   follows: with equal weights it moves by one target at most. So the losses of all first rows of a sequence, and of
   all last rows, take constant time per row. */
#ifndef TREEML_NUMERIC_QUANTILE_H
#define TREEML_NUMERIC_QUANTILE_H

#include "common/arena.h"

#include <stdint.h>

/* The quantile and the sums on either side of it. */
struct numeric_balance {
  int32_t at;
  int64_t below, here, above; /* weights */
  int64_t sum_below, sum_above;
};

/* Places are numbered from 0 by ascending target; node i + 1 is place i, and the first and last node are ends. */
struct numeric_chain {
  int32_t *before, *after;
  int64_t *weight;
  struct numeric_balance balance;
};

/* The distinct targets of one output. */
struct numeric_targets {
  int32_t places;
  int64_t *target; /* of every node, ends included */
};

struct numeric_profile;
struct numeric_quantile {
  int64_t up, down; /* the cost per unit of a target above and below what is predicted */
  int32_t outputs;
  const struct numeric_targets *targets; /* of every output */
  struct numeric_chain *whole;           /* of both sides of a cut, for every output: 2 * output + side */
  struct numeric_chain live[2];
  int64_t *front, *back; /* losses of the first i rows, and of the rows from i on */
  int32_t *place, *code; /* memory for a sequence of rows: their places, codes and weights, */
  int64_t *weight;
  uint64_t *bits;                  /* for a choice of all rows, */
  void *cells;                     /* and for their cells */
  struct numeric_profile *profile; /* of stumps of both sides, see quantile_walk.c; made when needed, */
  int64_t *numbers;                /* its memory, */
  int64_t *costs;                  /* and a part of that for the costs of a point */
};

/* `targets` are those of all rows. Returns 0 if out of memory. */
int numeric_quantile_create (struct arena *, struct numeric_quantile *, const struct numeric_targets *, int32_t outputs,
                             int64_t rows);
void numeric_quantile_destroy (struct arena *, struct numeric_quantile *);

/* Links the targets of the rows of a side; `weight` is NULL if every row has weight 1. */
void numeric_quantile_link (struct numeric_quantile *, int32_t output, int side, const int32_t *place,
                            const int64_t *weight, int64_t rows);
/* The loss of all rows of a side as one leaf. */
int64_t numeric_quantile_leaf (const struct numeric_quantile *, int side);
/* For a sequence of all rows of a side: fills `front` and `back` if the output is the first, and adds to them if not.
 */
void numeric_quantile_sweep (struct numeric_quantile *, int32_t output, int side, const int32_t *place,
                             const int64_t *weight, int64_t rows);

#endif
