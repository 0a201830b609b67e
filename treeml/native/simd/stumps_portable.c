/* Stumps from pair sums for any processor. */
#include "simd/stumps_body.h"

const struct stumps *stumps_portable (void) { return &functions; }
