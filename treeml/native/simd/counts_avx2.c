/* Counting over bit sets for processors with AVX2 and a population count instruction. */
#if defined(__AVX2__) && defined(__POPCNT__)
#include "simd/counts_body.h"

void intersections_avx2 (const uint64_t *sets, const uint64_t *test, int32_t set_count, int32_t words,
                         int32_t *counts) {
  intersections (sets, test, set_count, words, counts);
}

const struct counts *counts_avx2 (void) {
  static const struct counts table = {add_masked, add_pairs, intersections_avx2};
  return &table;
}
#else
#include "simd/counts.h"
const struct counts *counts_avx2 (void) { return 0; }
#endif
