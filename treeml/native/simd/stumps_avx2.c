/* Stumps from pair sums for processors with AVX2. */
#if defined(__AVX2__)
#include "simd/stumps_body.h"
const struct stumps *stumps_avx2 (void) { return &functions; }
#else
#include "simd/stumps.h"
const struct stumps *stumps_avx2 (void) { return 0; }
#endif
