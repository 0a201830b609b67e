/* What the files of the cover share: time, words, and a loop over states on several threads. */
#ifndef TREEML_COVER_SHARED_H
#define TREEML_COVER_SHARED_H

#include "cover.h"
#include "sizes.h"

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif

typedef int (*cover_range)(void *task, int64_t begin, int64_t end);

/* Runs the function over 0 .. size in as many ranges as threads; the code of one that failed, or TREEML_COVER_OK. */
int cover_over_ranges(cover_range function, void *task, int64_t size, int threads);
double cover_now(void);

static inline int cover_words(int rows) { return rows <= 0 ? 1 : rows / 64 + (rows % 64 > 0); }

/* Whether sets that lie `stride` words apart have room for the rows, and hold none beyond them. */
int cover_sets_fit(int32_t rows, int64_t sets, int32_t stride, const uint64_t *keys);
/* Whether every sum over some rows of a column, whatever the signs, stays below 2^62. */
int cover_sums_fit(int32_t rows, int32_t width, const int64_t *values);

#endif
