/* Stumps of survival times for any processor. */
#include "simd/hazard_stumps_body.h"

const struct hazard_stumps *hazard_stumps_portable (void) { return &functions; }
