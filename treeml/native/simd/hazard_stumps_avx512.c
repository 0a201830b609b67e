/* Stumps of survival times for processors with AVX-512. */
#if defined(__AVX512DQ__) && defined(__AVX512VL__)
#include "simd/hazard_stumps_body.h"
const struct hazard_stumps *hazard_stumps_avx512 (void) { return &functions; }
#else
#include "simd/hazard_stumps.h"
const struct hazard_stumps *hazard_stumps_avx512 (void) { return 0; }
#endif
