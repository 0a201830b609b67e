/* The sweeps of the numeric search for AVX2. */
#include "common/bits.h"

#if defined(__AVX2__) && defined(__POPCNT__) && defined(TREEML_EXTENDED_C)
#include <immintrin.h>
#define NUMERIC_AVX2
#define KERNEL "avx2"
#define VECTOR 32
#define SET numeric_avx2
#include "simd/numeric_widths.h"
#else
#include "simd/numeric_kernel.h"
const struct numeric_kernel *numeric_avx2 (int cell) {
  (void) cell;
  return 0;
}
#endif
