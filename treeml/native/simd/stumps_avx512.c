/* Stumps from pair sums for processors with AVX-512. */
#if defined(__AVX512DQ__) && defined(__AVX512VL__)
#include "simd/stumps_body.h"
const struct stumps *stumps_avx512 (void) { return &functions; }
#else
#include "simd/stumps.h"
const struct stumps *stumps_avx512 (void) { return 0; }
#endif
