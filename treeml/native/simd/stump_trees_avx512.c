/* Best stumps by trees over levels for processors with AVX-512. */
#if defined(__AVX512F__)
#include "simd/stump_trees_body.h"

const struct stump_trees *stump_trees_avx512 (void) {
  static const struct stump_trees table = {"avx512", stump_pass, stump_sweep};
  return &table;
}
#else
#include "simd/stump_trees.h"
const struct stump_trees *stump_trees_avx512 (void) { return 0; }
#endif
