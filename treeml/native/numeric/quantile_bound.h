/* Lower bounds of quantile losses that are cheaper than the losses.

   The targets are divided into up to 256 buckets of neighbours. As rows are added to a set, only the bucket of its
   quantile is tracked: rows in other buckets add the same to the loss wherever in its bucket the quantile is, and rows
   in the same bucket add at least nothing. What is lost is little, as a bucket is narrow; and buckets, unlike the
   chains of quantile.h, stay in the fastest memory. */
#ifndef TREEML_NUMERIC_QUANTILE_BOUND_H
#define TREEML_NUMERIC_QUANTILE_BOUND_H

#include "numeric/quantile.h"

enum { most_buckets = 256 };

/* The buckets of one output. */
struct numeric_buckets {
  uint8_t *of_place;
  int32_t first[most_buckets + 1]; /* the first place of each bucket, and the number of places */
};

/* Makes the buckets of an output; `of_place` has room for its places. */
void numeric_buckets_make (const struct numeric_targets *, struct numeric_buckets *);
/* Like numeric_quantile_sweep, but `front` and `back` become lower bounds, and no chain is needed. */
void numeric_quantile_bounds (struct numeric_quantile *, const struct numeric_buckets *, int32_t output,
                              const int32_t *place, const int64_t *weight, int64_t rows);
/* The exact loss of some rows of an output as one leaf. Overwrites the weights of a chain of sweeps. */
int64_t numeric_quantile_exact (struct numeric_quantile *, const struct numeric_buckets *, int32_t output,
                                const int32_t *place, const int64_t *weight, int64_t rows);

#endif
