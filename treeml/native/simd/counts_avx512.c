/* Counting over bit sets for processors with AVX-512. */
#if defined(__AVX512VPOPCNTDQ__) && defined(__AVX512VL__)
#include "simd/counts_body.h"

const struct counts *counts_avx512 (void) {
  static const struct counts table = {add_masked, add_pairs, intersections_avx2};
  return &table;
}
#else
#include "simd/counts.h"
const struct counts *counts_avx512 (void) { return 0; }
#endif
