/* Best stumps by trees over levels for ARM processors of 64 bits. */
#if defined(__aarch64__) && defined(__ARM_NEON)
#include "simd/stump_trees_body.h"

const struct stump_trees *stump_trees_neon (void) {
  static const struct stump_trees table = {"neon", stump_pass, stump_sweep};
  return &table;
}
#else
#include "simd/stump_trees.h"
const struct stump_trees *stump_trees_neon (void) { return 0; }
#endif
