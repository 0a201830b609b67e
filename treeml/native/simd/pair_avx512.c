/* The pair kernel for AVX-512 with BITALG and VPOPCNTDQ. */
#include "simd/pair_kernel.h"
#include "common/bits.h"
#include "simd/products.h"

#if defined(__x86_64__) && defined(__AVX512BW__) && defined(__AVX512BITALG__) && defined(__AVX512VPOPCNTDQ__)

#include <immintrin.h>
#include <string.h>

#define KERNEL_NAME "avx512"
#define V __m512i
#define LOAD(P) _mm512_load_si512 ((const void *) (P))
#define STORE(P, X) _mm512_store_si512 ((void *) (P), X)
#define STORE_UNALIGNED(P, X) _mm512_storeu_si512 ((void *) (P), X)
#define ZERO() _mm512_setzero_si512 ()
#define AND _mm512_and_si512
#define BROADCAST_TWICE(P) _mm512_set1_epi32 ((int) *(P))

/* Copies the numbers at the set bits of a word, sixteen at a time, without branches that depend on the data. */
static inline int32_t select_bits (uint64_t word, const int32_t *ids, int32_t *to) {
  int32_t length = 0;
  do {
    const __mmask16 here = (__mmask16) word;
    const __m512i numbers = _mm512_maskz_loadu_epi32 (here, ids);
    _mm512_storeu_si512 (to + length, _mm512_maskz_compress_epi32 (here, numbers));
    length += count_bits (here);
    ids += 16;
    word >>= 16;
  } while (word);
  return length;
}

#define SELECT select_bits
#define EXPAND expand_bits
#define VECTORS 8 /* number of vectors of sums held at once */

/* The positions in the dense lanes of the rows at the set bits of a word, sixteen at a time. */
static inline int32_t expand_bits (uint64_t word, int32_t row, int32_t stride, int32_t *to) {
  const __m512i lane = _mm512_setr_epi32 (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  int32_t length = 0;
  for (; word; word >>= 16, row += 16) {
    const __mmask16 here = (__mmask16) word;
    const __m512i places =
        _mm512_mullo_epi32 (_mm512_add_epi32 (lane, _mm512_set1_epi32 (row)), _mm512_set1_epi32 (stride));
    _mm512_storeu_si512 (to + length, _mm512_maskz_compress_epi32 (here, places));
    length += count_bits (here);
  }
  return length;
}

static inline __m512i choose_32 (const uint8_t *row, int32_t j, int32_t number) {
  uint16_t mask;
  memcpy (&mask, row + j / 8, sizeof mask);
  return _mm512_maskz_set1_epi32 (mask, number);
}

static inline __m512i choose_64 (const uint8_t *row, int32_t j, int64_t number) {
  return _mm512_maskz_set1_epi64 (row[j / 8], number);
}

static void build_16 (struct slice *slice, const struct shape *shape, int32_t group, const uint8_t *row_bits,
                      int64_t row_bytes, const int32_t *ids, int32_t count) {
  uint16_t *words = slice->words;
  const __m512i sixteen_bits = _mm512_set1_epi32 (65537);
  for (int32_t start = 0; start < count; start += 16, group++) {
    const int32_t here = count - start < 16 ? count - start : 16;
    for (int32_t j = 0; j < shape->stride; j += 32) {
      __m512i word = _mm512_setzero_si512 ();
      for (int32_t r = 0; r < here; r++) {
        uint32_t mask;
        memcpy (&mask, row_bits + ids[start + r] * row_bytes + j / 8, sizeof mask);
        word = _mm512_mask_add_epi16 (word, mask, word, _mm512_set1_epi16 ((short) (1u << r)));
      }
      const int64_t at = (int64_t) group * shape->stride + j;
      _mm512_store_si512 (words + at, word);
      const __m512i low = _mm512_cvtepu16_epi32 (_mm512_castsi512_si256 (word));
      const __m512i high = _mm512_cvtepu16_epi32 (_mm512_extracti64x4_epi64 (word, 1));
      _mm512_store_si512 (slice->twice + at, _mm512_mullo_epi32 (low, sixteen_bits));
      _mm512_store_si512 (slice->twice + at + 16, _mm512_mullo_epi32 (high, sixteen_bits));
    }
  }
}

static void build_32 (struct slice *slice, const struct shape *shape, int32_t group, const uint8_t *row_bits,
                      int64_t row_bytes, const int32_t *ids, int32_t count) {
  uint32_t *words = slice->words;
  for (int32_t start = 0; start < count; start += 32, group++) {
    const int32_t here = count - start < 32 ? count - start : 32;
    for (int32_t j = 0; j < shape->stride; j += 16) {
      __m512i word = _mm512_setzero_si512 ();
      for (int32_t r = 0; r < here; r++) {
        uint16_t mask;
        memcpy (&mask, row_bits + ids[start + r] * row_bytes + j / 8, sizeof mask);
        word = _mm512_mask_or_epi32 (word, mask, word, _mm512_set1_epi32 ((int) (1u << r)));
      }
      _mm512_store_si512 (words + (int64_t) group * shape->stride + j, word);
    }
  }
}

static void build_64 (struct slice *slice, const struct shape *shape, int32_t group, const uint8_t *row_bits,
                      int64_t row_bytes, const int32_t *ids, int32_t count) {
  uint64_t *words = slice->words;
  for (int32_t start = 0; start < count; start += 64, group++) {
    const int32_t here = count - start < 64 ? count - start : 64;
    for (int32_t j = 0; j < shape->stride; j += 8) {
      __m512i word = _mm512_setzero_si512 ();
      for (int32_t r = 0; r < here; r++) {
        const uint8_t mask = row_bits[ids[start + r] * row_bytes + j / 8];
        word = _mm512_mask_or_epi64 (word, mask, word, _mm512_set1_epi64 ((long long) (1ull << r)));
      }
      _mm512_store_si512 (words + (int64_t) group * shape->stride + j, word);
    }
  }
}

#define BITS 16
#define LANES 32
#define T int16_t
#define ADD _mm512_add_epi16
#define SUB _mm512_sub_epi16
#define SET(X) _mm512_set1_epi16 (X)
#define BROADCAST(P) _mm512_set1_epi16 (*(P))
#define ABS _mm512_abs_epi16
#define MAX _mm512_max_epi16
#define KEEP(V, A, B, LEAST) \
  _mm512_maskz_mov_epi16 (_mm512_mask_cmpge_epi16_mask (_mm512_cmpge_epi16_mask (A, LEAST), B, LEAST), V)
#define POPCOUNT _mm512_popcnt_epi16
#include "simd/pair_body.h"
#include "simd/pair_undefine_width.h"

#define BITS 32
#define LANES 16
#define T int32_t
#define ADD _mm512_add_epi32
#define SUB _mm512_sub_epi32
#define SET(X) _mm512_set1_epi32 (X)
#define BROADCAST(P) _mm512_set1_epi32 (*(P))
#define ABS _mm512_abs_epi32
#define MAX _mm512_max_epi32
#define KEEP(V, A, B, LEAST) \
  _mm512_maskz_mov_epi32 (_mm512_mask_cmpge_epi32_mask (_mm512_cmpge_epi32_mask (A, LEAST), B, LEAST), V)
#define POPCOUNT _mm512_popcnt_epi32
#define CHOOSE choose_32
#define HIGHEST _mm512_reduce_max_epi32
#include "simd/pair_body.h"
#include "simd/pair_undefine_width.h"

#define BITS 64
#define LANES 8
#define T int64_t
#define ADD _mm512_add_epi64
#define SUB _mm512_sub_epi64
#define SET(X) _mm512_set1_epi64 (X)
#define BROADCAST(P) _mm512_set1_epi64 (*(P))
#define ABS _mm512_abs_epi64
#define MAX _mm512_max_epi64
#define KEEP(V, A, B, LEAST) \
  _mm512_maskz_mov_epi64 (_mm512_mask_cmpge_epi64_mask (_mm512_cmpge_epi64_mask (A, LEAST), B, LEAST), V)
#define POPCOUNT _mm512_popcnt_epi64
#define CHOOSE choose_64
#define HIGHEST _mm512_reduce_max_epi64
#include "simd/pair_body.h"

const struct pair_kernel *pair_avx512 (int lane_bits) {
  return lane_bits == 16 ? &kernel_16 : lane_bits == 32 ? &kernel_32 : &kernel_64;
}

#else

const struct pair_kernel *pair_avx512 (int lane_bits) {
  (void) lane_bits;
  return 0;
}

#endif
