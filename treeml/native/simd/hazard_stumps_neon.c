/* Stumps of survival times for ARM processors of 64 bits. */
#if defined(__aarch64__) && defined(__ARM_NEON)
#include "simd/hazard_stumps_body.h"
const struct hazard_stumps *hazard_stumps_neon (void) { return &functions; }
#else
#include "simd/hazard_stumps.h"
const struct hazard_stumps *hazard_stumps_neon (void) { return 0; }
#endif
