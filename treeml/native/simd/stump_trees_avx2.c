/* Best stumps by trees over levels for processors with AVX2. */
#if defined(__AVX2__)
#include "simd/stump_trees_body.h"

const struct stump_trees *stump_trees_avx2 (void) {
  static const struct stump_trees table = {"avx2", stump_pass, stump_sweep};
  return &table;
}
#else
#include "simd/stump_trees.h"
const struct stump_trees *stump_trees_avx2 (void) { return 0; }
#endif
