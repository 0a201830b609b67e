/* Best stumps by trees over levels for any processor. */
#include "simd/stump_trees_body.h"

const struct stump_trees *stump_trees_portable (void) {
  static const struct stump_trees table = {"portable", stump_pass, stump_sweep};
  return &table;
}
