/* The sweeps of the numeric search for ARM processors of 64 bits. */
#include "common/bits.h"

#if defined(__aarch64__) && defined(__ARM_NEON) && defined(TREEML_EXTENDED_C)
#include <arm_neon.h>
#define NUMERIC_NEON
#define KERNEL "neon"
#define VECTOR 16
#define SET numeric_neon
#include "simd/numeric_widths.h"
#else
#include "simd/numeric_kernel.h"
const struct numeric_kernel *numeric_neon (int cell) {
  (void) cell;
  return 0;
}
#endif
