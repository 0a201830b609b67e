/* The sweeps of the numeric search for AVX-512 with byte, word and compress instructions. */
#include "common/bits.h"

#if defined(__AVX512BW__) && defined(__AVX512VL__) && defined(__AVX512VBMI2__) && defined(TREEML_EXTENDED_C)
#include <immintrin.h>
#define NUMERIC_AVX512
#define KERNEL "avx512"
#define VECTOR 64
#define SET numeric_avx512
#include "simd/numeric_widths.h"
#else
#include "simd/numeric_kernel.h"
const struct numeric_kernel *numeric_avx512 (int cell) {
  (void) cell;
  return 0;
}
#endif
