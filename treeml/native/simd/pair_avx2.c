/* The pair kernel for AVX2. It has no vector population count, so bits are counted by looking up nibbles. */
#include "simd/pair_kernel.h"
#include "common/bits.h"
#include "simd/products.h"

#if defined(__x86_64__) && defined(__AVX2__)

#include <immintrin.h>
#include <string.h>

#define KERNEL_NAME "avx2"
#define V __m256i
#define LOAD(P) _mm256_load_si256 ((const __m256i *) (const void *) (P))
#define STORE(P, X) _mm256_store_si256 ((__m256i *) (void *) (P), X)
#define STORE_UNALIGNED(P, X) _mm256_storeu_si256 ((__m256i *) (void *) (P), X)
#define ZERO() _mm256_setzero_si256 ()
#define AND _mm256_and_si256
#define BROADCAST_TWICE(P) _mm256_set1_epi32 ((int) *(P))

/* Copies the numbers at the set bits of a word. */
static inline int32_t select_bits (uint64_t word, const int32_t *ids, int32_t *to) {
  int32_t length = 0;
  for (; word; word &= word - 1)
    to[length++] = ids[lowest_bit (word)];
  return length;
}

#define SELECT select_bits
#define EXPAND expand_bits
#define VECTORS 4 /* number of vectors of sums held at once */

static inline __m256i popcount_bytes (__m256i v) {
  const __m256i table =
      _mm256_setr_epi8 (0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i nibble = _mm256_set1_epi8 (15);
  const __m256i low = _mm256_shuffle_epi8 (table, _mm256_and_si256 (v, nibble));
  const __m256i high = _mm256_shuffle_epi8 (table, _mm256_and_si256 (_mm256_srli_epi16 (v, 4), nibble));
  return _mm256_add_epi8 (low, high);
}

static inline __m256i popcount_16 (__m256i v) {
  return _mm256_maddubs_epi16 (popcount_bytes (v), _mm256_set1_epi8 (1));
}

static inline __m256i popcount_32 (__m256i v) { return _mm256_madd_epi16 (popcount_16 (v), _mm256_set1_epi16 (1)); }

static inline __m256i popcount_64 (__m256i v) { return _mm256_sad_epu8 (popcount_bytes (v), _mm256_setzero_si256 ()); }

static inline __m256i maximum_64 (__m256i a, __m256i b) { return _mm256_blendv_epi8 (b, a, _mm256_cmpgt_epi64 (a, b)); }

static inline __m256i absolute_64 (__m256i v) {
  const __m256i sign = _mm256_cmpgt_epi64 (_mm256_setzero_si256 (), v);
  return _mm256_sub_epi64 (_mm256_xor_si256 (v, sign), sign);
}

/* The positions in the dense lanes of the rows at the set bits of a word. */
static inline int32_t expand_bits (uint64_t word, int32_t row, int32_t stride, int32_t *to) {
  int32_t length = 0;
  for (; word; word &= word - 1)
    to[length++] = (row + lowest_bit (word)) * stride;
  return length;
}

static inline __m256i choose_32 (const uint8_t *row, int32_t j, int32_t number) {
  const __m256i lane = _mm256_setr_epi32 (1, 2, 4, 8, 16, 32, 64, 128);
  const __m256i chosen = _mm256_cmpeq_epi32 (_mm256_and_si256 (_mm256_set1_epi32 (row[j / 8]), lane), lane);
  return _mm256_and_si256 (chosen, _mm256_set1_epi32 (number));
}

static inline __m256i choose_64 (const uint8_t *row, int32_t j, int64_t number) {
  const __m256i lane = _mm256_setr_epi64x (1, 2, 4, 8);
  const __m256i bits = _mm256_set1_epi64x (row[j / 8] >> (j & 4));
  return _mm256_and_si256 (_mm256_cmpeq_epi64 (_mm256_and_si256 (bits, lane), lane), _mm256_set1_epi64x (number));
}

static void build_16 (struct slice *slice, const struct shape *shape, int32_t group, const uint8_t *row_bits,
                      int64_t row_bytes, const int32_t *ids, int32_t count) {
  uint16_t *words = slice->words;
  const __m256i lane = _mm256_setr_epi16 (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, -32768);
  for (int32_t start = 0; start < count; start += 16, group++) {
    const int32_t here = count - start < 16 ? count - start : 16;
    for (int32_t j = 0; j < shape->stride; j += 16) {
      __m256i word = _mm256_setzero_si256 ();
      for (int32_t r = 0; r < here; r++) {
        uint16_t mask;
        memcpy (&mask, row_bits + ids[start + r] * row_bytes + j / 8, sizeof mask);
        const __m256i chosen = _mm256_cmpeq_epi16 (_mm256_and_si256 (_mm256_set1_epi16 ((short) mask), lane), lane);
        word = _mm256_or_si256 (word, _mm256_and_si256 (chosen, _mm256_set1_epi16 ((short) (1u << r))));
      }
      const int64_t at = (int64_t) group * shape->stride + j;
      _mm256_store_si256 ((__m256i *) (void *) (words + at), word);
      for (int32_t k = 0; k < 16; k++)
        slice->twice[at + k] = (uint32_t) words[at + k] * 65537u;
    }
  }
}

static void build_32 (struct slice *slice, const struct shape *shape, int32_t group, const uint8_t *row_bits,
                      int64_t row_bytes, const int32_t *ids, int32_t count) {
  uint32_t *words = slice->words;
  const __m256i lane = _mm256_setr_epi32 (1, 2, 4, 8, 16, 32, 64, 128);
  for (int32_t start = 0; start < count; start += 32, group++) {
    const int32_t here = count - start < 32 ? count - start : 32;
    for (int32_t j = 0; j < shape->stride; j += 8) {
      __m256i word = _mm256_setzero_si256 ();
      for (int32_t r = 0; r < here; r++) {
        const int mask = row_bits[ids[start + r] * row_bytes + j / 8];
        const __m256i chosen = _mm256_cmpeq_epi32 (_mm256_and_si256 (_mm256_set1_epi32 (mask), lane), lane);
        word = _mm256_or_si256 (word, _mm256_and_si256 (chosen, _mm256_set1_epi32 ((int) (1u << r))));
      }
      _mm256_store_si256 ((__m256i *) (void *) (words + (int64_t) group * shape->stride + j), word);
    }
  }
}

static void build_64 (struct slice *slice, const struct shape *shape, int32_t group, const uint8_t *row_bits,
                      int64_t row_bytes, const int32_t *ids, int32_t count) {
  uint64_t *words = slice->words;
  for (int32_t start = 0; start < count; start += 64, group++) {
    uint64_t *line = words + (int64_t) group * shape->stride;
    memset (line, 0, (size_t) shape->stride * sizeof *line);
    for (int32_t r = 0; r < 64 && start + r < count; r++) {
      const uint8_t *row = row_bits + ids[start + r] * row_bytes;
      for (int32_t j = 0; j < shape->tests; j++)
        line[j] |= (uint64_t) (row[j >> 3] >> (j & 7) & 1) << r;
    }
  }
}

#define BITS 16
#define LANES 16
#define T int16_t
#define ADD _mm256_add_epi16
#define SUB _mm256_sub_epi16
#define SET(X) _mm256_set1_epi16 (X)
#define BROADCAST(P) _mm256_set1_epi16 (*(P))
#define ABS _mm256_abs_epi16
#define MAX _mm256_max_epi16
#define KEEP(V, A, B, LEAST) \
  _mm256_andnot_si256 (_mm256_or_si256 (_mm256_cmpgt_epi16 (LEAST, A), _mm256_cmpgt_epi16 (LEAST, B)), V)
#define POPCOUNT popcount_16
#include "simd/pair_body.h"
#include "simd/pair_undefine_width.h"

#define BITS 32
#define LANES 8
#define T int32_t
#define ADD _mm256_add_epi32
#define SUB _mm256_sub_epi32
#define SET(X) _mm256_set1_epi32 (X)
#define BROADCAST(P) _mm256_set1_epi32 (*(P))
#define ABS _mm256_abs_epi32
#define MAX _mm256_max_epi32
#define KEEP(V, A, B, LEAST) \
  _mm256_andnot_si256 (_mm256_or_si256 (_mm256_cmpgt_epi32 (LEAST, A), _mm256_cmpgt_epi32 (LEAST, B)), V)
#define POPCOUNT popcount_32
#define CHOOSE choose_32
#include "simd/pair_body.h"
#include "simd/pair_undefine_width.h"

#define BITS 64
#define LANES 4
#define T int64_t
#define ADD _mm256_add_epi64
#define SUB _mm256_sub_epi64
#define SET(X) _mm256_set1_epi64x (X)
#define BROADCAST(P) _mm256_set1_epi64x (*(P))
#define ABS absolute_64
#define MAX maximum_64
#define KEEP(V, A, B, LEAST) \
  _mm256_andnot_si256 (_mm256_or_si256 (_mm256_cmpgt_epi64 (LEAST, A), _mm256_cmpgt_epi64 (LEAST, B)), V)
#define POPCOUNT popcount_64
#define CHOOSE choose_64
#include "simd/pair_body.h"

const struct pair_kernel *pair_avx2 (int lane_bits) {
  return lane_bits == 16 ? &kernel_16 : lane_bits == 32 ? &kernel_32 : &kernel_64;
}

#else

const struct pair_kernel *pair_avx2 (int lane_bits) {
  (void) lane_bits;
  return 0;
}

#endif
