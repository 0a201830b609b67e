/* The loops of cells.h for AVX-512. */
#include "common/bits.h"

#define CELLS_NAME "avx512"
#define CELLS_FUNCTION cells_avx512
#if defined(__AVX512BW__) && defined(TREEML_EXTENDED_C)
#include <immintrin.h>
#define CELLS_BYTES 64
#define LARGER(a, b) ((wholes) _mm512_max_epi32 ((__m512i) (a), (__m512i) (b)))
#define PACKED_WHERE(ROW, J, NUMBER) \
  ((packs) _mm512_maskz_set1_epi32 ((__mmask16) ((ROW)[(J) >> 3] | (ROW)[((J) >> 3) + 1] << 8), NUMBER))
#include "simd/cells_body.h"
#else
#include "simd/cells.h"
const struct cells *cells_avx512 (void) { return 0; }
#endif
