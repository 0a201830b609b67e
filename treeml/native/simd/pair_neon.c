/* The pair kernel for ARM processors of 64 bits, all of which have NEON. It counts bits in bytes, so the counts of up
   to 31 words are added as bytes before they are widened to lanes. A vector of the kernel is two registers, which share
   the word of the other test and the instructions around the loops. */
#include "simd/pair_kernel.h"
#include "simd/products.h"

#if defined(__aarch64__) && defined(__ARM_NEON)

#include <arm_neon.h>
#include <string.h>

#define KERNEL_NAME "neon"

/* Copies the numbers at the set bits of a word. */
static inline int32_t select_bits (uint64_t word, const int32_t *ids, int32_t *to) {
  int32_t length = 0;
  for (; word; word &= word - 1)
    to[length++] = ids[lowest_bit (word)];
  return length;
}

/* The positions in the dense lanes of the rows at the set bits of a word. */
static inline int32_t expand_bits (uint64_t word, int32_t row, int32_t stride, int32_t *to) {
  int32_t length = 0;
  for (; word; word &= word - 1)
    to[length++] = (row + lowest_bit (word)) * stride;
  return length;
}

#define SELECT select_bits
#define EXPAND expand_bits
#define VECTORS 4 /* number of vectors of sums held at once */

/* All bits of the lanes whose tests a row passes: those from j on, as many as a vector has. */
static inline uint16x8_t passed_16 (const uint8_t *row, int32_t j) {
  const uint16x8_t lane = {1, 2, 4, 8, 16, 32, 64, 128};
  return vtstq_u16 (vdupq_n_u16 (row[j / 8]), lane);
}

static inline uint32x4_t passed_32 (const uint8_t *row, int32_t j) {
  const uint32x4_t lane = {1, 2, 4, 8};
  return vtstq_u32 (vdupq_n_u32 ((uint32_t) row[j / 8] >> (j & 4)), lane);
}

static inline uint64x2_t passed_64 (const uint8_t *row, int32_t j) {
  const uint64x2_t lane = {1, 2};
  return vtstq_u64 (vdupq_n_u64 ((uint64_t) row[j / 8] >> (j & 6)), lane);
}

static void build_16 (struct slice *slice, const struct shape *shape, int32_t group, const uint8_t *row_bits,
                      int64_t row_bytes, const int32_t *ids, int32_t count) {
  uint16_t *words = slice->words;
  for (int32_t start = 0; start < count; start += 16, group++) {
    const int32_t here = count - start < 16 ? count - start : 16;
    for (int32_t j = 0; j < shape->stride; j += 8) {
      uint16x8_t word = vdupq_n_u16 (0);
      for (int32_t r = 0; r < here; r++) {
        const uint8_t *row = row_bits + ids[start + r] * row_bytes;
        word = vorrq_u16 (word, vandq_u16 (passed_16 (row, j), vdupq_n_u16 ((uint16_t) (1u << r))));
      }
      const int64_t at = (int64_t) group * shape->stride + j;
      vst1q_u16 (words + at, word);
      vst1q_u32 (slice->twice + at, vreinterpretq_u32_u16 (vzip1q_u16 (word, word)));
      vst1q_u32 (slice->twice + at + 4, vreinterpretq_u32_u16 (vzip2q_u16 (word, word)));
    }
  }
}

static void build_32 (struct slice *slice, const struct shape *shape, int32_t group, const uint8_t *row_bits,
                      int64_t row_bytes, const int32_t *ids, int32_t count) {
  uint32_t *words = slice->words;
  for (int32_t start = 0; start < count; start += 32, group++) {
    const int32_t here = count - start < 32 ? count - start : 32;
    for (int32_t j = 0; j < shape->stride; j += 4) {
      uint32x4_t word = vdupq_n_u32 (0);
      for (int32_t r = 0; r < here; r++) {
        const uint8_t *row = row_bits + ids[start + r] * row_bytes;
        word = vorrq_u32 (word, vandq_u32 (passed_32 (row, j), vdupq_n_u32 (1u << r)));
      }
      vst1q_u32 (words + (int64_t) group * shape->stride + j, word);
    }
  }
}

static void build_64 (struct slice *slice, const struct shape *shape, int32_t group, const uint8_t *row_bits,
                      int64_t row_bytes, const int32_t *ids, int32_t count) {
  uint64_t *words = slice->words;
  for (int32_t start = 0; start < count; start += 64, group++) {
    const int32_t here = count - start < 64 ? count - start : 64;
    for (int32_t j = 0; j < shape->stride; j += 2) {
      uint64x2_t word = vdupq_n_u64 (0);
      for (int32_t r = 0; r < here; r++) {
        const uint8_t *row = row_bits + ids[start + r] * row_bytes;
        word = vorrq_u64 (word, vandq_u64 (passed_64 (row, j), vdupq_n_u64 (UINT64_C (1) << r)));
      }
      vst1q_u64 (words + (int64_t) group * shape->stride + j, word);
    }
  }
}

/* Bytes -> sums of the bytes of each lane. */
static inline int16x8_t widen_16 (uint8x16_t bytes) { return vreinterpretq_s16_u16 (vpaddlq_u8 (bytes)); }
static inline int32x4_t widen_32 (uint8x16_t bytes) { return vreinterpretq_s32_u32 (vpaddlq_u16 (vpaddlq_u8 (bytes))); }
static inline int64x2_t widen_64 (uint8x16_t bytes) {
  return vreinterpretq_s64_u64 (vpaddlq_u32 (vpaddlq_u16 (vpaddlq_u8 (bytes))));
}

/* NEON has no maximum of 64-bit lanes. */
static inline int64x2_t maximum_64 (int64x2_t a, int64x2_t b) { return vbslq_s64 (vcgtq_s64 (a, b), a, b); }
#define maximum_32 vmaxq_s32
#define maximum_16 vmaxq_s16

/* The words of four tests, and one of them in all lanes. */
static inline int16x4_t four_16 (const int16_t *from) { return vld1_s16 (from); }
static inline int32x4_t four_32 (const int32_t *from) { return vld1q_s32 (from); }
static inline int64x2x2_t four_64 (const int64_t *from) { return vld1q_s64_x2 (from); }
#define EACH_16(FOUR, K) vdupq_lane_s16 (FOUR, K)
#define EACH_32(FOUR, K) vdupq_laneq_s32 (FOUR, K)
#define EACH_64(FOUR, K) vdupq_laneq_s64 ((FOUR).val[(K) / 2], (K) % 2)

/* Two registers of lanes, and the functions add_groups and subtract_groups of pair_body.h. */
#define BOTH(BITS, X, Y) ((vector_##BITS) {{X, Y}})
#define COUNT_TEST(BITS, K) \
  bytes[K][0] = vaddq_u8 (bytes[K][0], vcntq_u8 (vreinterpretq_u8_s##BITS (low & EACH_##BITS (four, K)))); \
  bytes[K][1] = vaddq_u8 (bytes[K][1], vcntq_u8 (vreinterpretq_u8_s##BITS (high & EACH_##BITS (four, K))));

#define DEFINE(BITS, HALF) \
  typedef int##BITS##x##HALF##x2_t vector_##BITS; \
  typedef int##BITS##x##HALF##_t half_##BITS; \
  static inline vector_##BITS load_##BITS (const int##BITS##_t *from) { \
    return BOTH (BITS, vld1q_s##BITS (from), vld1q_s##BITS (from + HALF)); \
  } \
  static inline void store_##BITS (int##BITS##_t *to, vector_##BITS v) { \
    vst1q_s##BITS (to, v.val[0]); \
    vst1q_s##BITS (to + HALF, v.val[1]); \
  } \
  static inline vector_##BITS set_##BITS (int##BITS##_t x) { \
    return BOTH (BITS, vdupq_n_s##BITS (x), vdupq_n_s##BITS (x)); \
  } \
  static inline vector_##BITS add_##BITS (vector_##BITS a, vector_##BITS b) { \
    return BOTH (BITS, vaddq_s##BITS (a.val[0], b.val[0]), vaddq_s##BITS (a.val[1], b.val[1])); \
  } \
  static inline vector_##BITS subtract_##BITS (vector_##BITS a, vector_##BITS b) { \
    return BOTH (BITS, vsubq_s##BITS (a.val[0], b.val[0]), vsubq_s##BITS (a.val[1], b.val[1])); \
  } \
  static inline vector_##BITS absolute_##BITS (vector_##BITS v) { \
    return BOTH (BITS, vabsq_s##BITS (v.val[0]), vabsq_s##BITS (v.val[1])); \
  } \
  static inline vector_##BITS larger_##BITS (vector_##BITS a, vector_##BITS b) { \
    return BOTH (BITS, maximum_##BITS (a.val[0], b.val[0]), maximum_##BITS (a.val[1], b.val[1])); \
  } \
  static inline half_##BITS keep_half_##BITS (half_##BITS v, half_##BITS a, half_##BITS b, half_##BITS least) { \
    return v & (half_##BITS) (vcgeq_s##BITS (a, least) & vcgeq_s##BITS (b, least)); \
  } \
  static inline vector_##BITS keep_##BITS (vector_##BITS v, vector_##BITS a, vector_##BITS b, vector_##BITS least) { \
    return BOTH (BITS, keep_half_##BITS (v.val[0], a.val[0], b.val[0], least.val[0]), \
                 keep_half_##BITS (v.val[1], a.val[1], b.val[1], least.val[1])); \
  } \
  static inline vector_##BITS popcount_##BITS (vector_##BITS v) { \
    return BOTH (BITS, widen_##BITS (vcntq_u8 (vreinterpretq_u8_s##BITS (v.val[0]))), \
                 widen_##BITS (vcntq_u8 (vreinterpretq_u8_s##BITS (v.val[1])))); \
  } \
  static inline vector_##BITS choose_##BITS (const uint8_t *row, int32_t j, int##BITS##_t number) { \
    const half_##BITS all = vdupq_n_s##BITS (number); \
    return BOTH (BITS, (half_##BITS) passed_##BITS (row, j) & all, (half_##BITS) passed_##BITS (row, j + HALF) & all); \
  } \
  static inline ALWAYS_INLINE void count_groups_##BITS (const struct slice *slice, int64_t stride, int32_t i, \
                                                        int32_t j, int32_t from, int32_t to, vector_##BITS *sum, \
                                                        const int add) { \
    const int##BITS##_t *words = (const int##BITS##_t *) slice->words + from * stride; \
    while (from < to) { \
      const int32_t stop = to - from < 31 ? to : from + 31; \
      uint8x16_t bytes[4][2]; \
      for (int k = 0; k < 8; k++) \
        bytes[k / 2][k % 2] = vdupq_n_u8 (0); \
      for (; from < stop; from++, words += stride) { \
        const half_##BITS low = vld1q_s##BITS (words + j), high = vld1q_s##BITS (words + j + HALF); \
        const FOUR_##BITS four = four_##BITS (words + i); \
        COUNT_TEST (BITS, 0) \
        COUNT_TEST (BITS, 1) \
        COUNT_TEST (BITS, 2) \
        COUNT_TEST (BITS, 3) \
      } \
      for (int k = 0; k < 4; k++) { \
        const vector_##BITS more = BOTH (BITS, widen_##BITS (bytes[k][0]), widen_##BITS (bytes[k][1])); \
        sum[k] = add ? add_##BITS (sum[k], more) : subtract_##BITS (sum[k], more); \
      } \
    } \
  } \
  static inline ALWAYS_INLINE void add_groups_##BITS (const struct slice *slice, int64_t stride, int32_t i, int32_t j, \
                                                      int32_t from, int32_t to, vector_##BITS *sum) { \
    count_groups_##BITS (slice, stride, i, j, from, to, sum, 1); \
  } \
  static inline ALWAYS_INLINE void subtract_groups_##BITS (const struct slice *slice, int64_t stride, int32_t i, \
                                                           int32_t j, int32_t from, int32_t to, vector_##BITS *sum) { \
    count_groups_##BITS (slice, stride, i, j, from, to, sum, 0); \
  }

#define FOUR_16 int16x4_t
#define FOUR_32 int32x4_t
#define FOUR_64 int64x2x2_t
DEFINE (16, 8)
DEFINE (32, 4)
DEFINE (64, 2)

#define COUNT_GROUPS /* defined above */

#define BITS 16
#define LANES 16
#define T int16_t
#define V vector_16
#define LOAD load_16
#define STORE store_16
#define STORE_UNALIGNED store_16
#define ADD add_16
#define SUB subtract_16
#define SET set_16
#define ZERO() set_16 (0)
#define BROADCAST(P) set_16 (*(P))
#define ABS absolute_16
#define MAX larger_16
#define KEEP keep_16
#define POPCOUNT popcount_16
#include "simd/pair_body.h"
#include "simd/pair_undefine_vectors.h"

#define BITS 32
#define LANES 8
#define T int32_t
#define V vector_32
#define LOAD load_32
#define STORE store_32
#define STORE_UNALIGNED store_32
#define ADD add_32
#define SUB subtract_32
#define SET set_32
#define ZERO() set_32 (0)
#define BROADCAST(P) set_32 (*(P))
#define ABS absolute_32
#define MAX larger_32
#define KEEP keep_32
#define POPCOUNT popcount_32
#define CHOOSE choose_32
#include "simd/pair_body.h"
#include "simd/pair_undefine_vectors.h"

#define BITS 64
#define LANES 4
#define T int64_t
#define V vector_64
#define LOAD load_64
#define STORE store_64
#define STORE_UNALIGNED store_64
#define ADD add_64
#define SUB subtract_64
#define SET set_64
#define ZERO() set_64 (0)
#define BROADCAST(P) set_64 (*(P))
#define ABS absolute_64
#define MAX larger_64
#define KEEP keep_64
#define POPCOUNT popcount_64
#define CHOOSE choose_64
#include "simd/pair_body.h"

const struct pair_kernel *pair_neon (int lane_bits) {
  return lane_bits == 16 ? &kernel_16 : lane_bits == 32 ? &kernel_32 : &kernel_64;
}

#else

const struct pair_kernel *pair_neon (int lane_bits) {
  (void) lane_bits;
  return 0;
}

#endif
