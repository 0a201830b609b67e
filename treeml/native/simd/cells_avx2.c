/* The loops of cells.h for AVX2. */
#include "common/bits.h"

#define CELLS_NAME "avx2"
#define CELLS_FUNCTION cells_avx2
#if defined(__AVX2__) && defined(TREEML_EXTENDED_C)
#include <immintrin.h>
#define CELLS_BYTES 32
#define LARGER(a, b) ((wholes) _mm256_max_epi32 ((__m256i) (a), (__m256i) (b)))
#include "simd/cells_body.h"
#else
#include "simd/cells.h"
const struct cells *cells_avx2 (void) { return 0; }
#endif
