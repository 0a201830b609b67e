/* The loops of cells.h for ARM processors of 64 bits. */
#include "common/bits.h"

#define CELLS_NAME "neon"
#define CELLS_FUNCTION cells_neon
#if defined(__aarch64__) && defined(__ARM_NEON) && defined(TREEML_EXTENDED_C)
#include <arm_neon.h>
#define CELLS_BYTES 16
#define LARGER(a, b) ((wholes) vmaxq_s32 ((int32x4_t) (a), (int32x4_t) (b)))
#include "simd/cells_body.h"
#else
#include "simd/cells.h"
const struct cells *cells_neon (void) { return 0; }
#endif
