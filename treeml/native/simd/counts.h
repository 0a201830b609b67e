/* Counting over bit sets: the inner loops of the cover states and of the shallow search. */
#ifndef TREEML_SIMD_COUNTS_H
#define TREEML_SIMD_COUNTS_H

#include <stdint.h>

struct counts {
  /* sum[i] += value where mask[i] has all bits set; masks are 0 or -1. */
  void (*add_masked) (int64_t *sum, const int64_t *mask, int64_t value, int32_t size);
  /* For every pair f <= g of columns (`words` words each): sums[f, g] += (rows set in both) << shift. */
  void (*add_pairs) (const uint64_t *columns, int32_t words, int32_t tests, int32_t shift, int64_t *sums);
  /* For each of the sets (`words` words each): how many of its members are in `test`. */
  void (*intersections) (const uint64_t *sets, const uint64_t *test, int32_t set_count, int32_t words, int32_t *counts);
};

const struct counts *counts_portable (void);
const struct counts *counts_avx2 (void);   /* NULL where the compiler could not build it */
const struct counts *counts_avx512 (void); /* likewise */
const struct counts *counts_neon (void);   /* the same */

/* Sets are a few words long, too short for vector registers, so AVX-512 uses this function of AVX2 as well. */
void intersections_avx2 (const uint64_t *sets, const uint64_t *test, int32_t set_count, int32_t words, int32_t *counts);

#endif
