/* Stumps of survival times for processors with AVX2. */
#if defined(__AVX2__)
#include "simd/hazard_stumps_body.h"
const struct hazard_stumps *hazard_stumps_avx2 (void) { return &functions; }
#else
#include "simd/hazard_stumps.h"
const struct hazard_stumps *hazard_stumps_avx2 (void) { return 0; }
#endif
