/* What the files of the cover share: checks of sets and sums, and a loop over states on several threads. */
#ifndef TREEML_COVER_SHARED_H
#define TREEML_COVER_SHARED_H

#include "cover/cover.h"
#include "common/clock.h"
#include "common/memory.h"
#include "common/sizes.h"
#include "simd/select.h"

typedef int (*cover_range) (void *task, int64_t begin, int64_t end);

/* Runs the function over 0 .. size in as many ranges as threads; returns the code of one that failed, or
   TREEML_COVER_OK. */
int cover_over_ranges (cover_range function, void *task, int64_t size, int threads);

static inline int cover_words (int rows) { return rows <= 0 ? 1 : rows / 64 + (rows % 64 > 0); }

/* Whether sets that are `stride` words apart have room for the rows, and contain no rows beyond them. */
int cover_sets_fit (int32_t rows, int64_t sets, int32_t stride, const uint64_t *keys);
/* Whether every sum over some rows of a column, whatever the signs, stays below 2^62. */
int cover_sums_fit (int32_t rows, int32_t width, const int64_t *values);

#endif
