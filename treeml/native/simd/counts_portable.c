/* Counting over bit sets for any processor. */
#include "simd/counts_body.h"

const struct counts *counts_portable (void) {
  static const struct counts table = {add_masked, add_pairs, intersections};
  return &table;
}
