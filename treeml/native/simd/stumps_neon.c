/* Stumps from pair sums for ARM processors of 64 bits. */
#if defined(__aarch64__) && defined(__ARM_NEON)
#include "simd/stumps_body.h"
const struct stumps *stumps_neon (void) { return &functions; }
#else
#include "simd/stumps.h"
const struct stumps *stumps_neon (void) { return 0; }
#endif
