/* The pair kernel for any processor, with the compiler's own vectors of 16 bytes if it has them. */
#include "simd/pair_kernel.h"
#include "common/bits.h"
#include "simd/lanes.h"
#include "simd/products.h"

#include <string.h>

#define KERNEL_NAME "portable"

#define AND(A, B) ((A) & (B))

#define DEFINE(BITS) \
  DEFINE_LANES (vector_##BITS, int##BITS##_t, 16, 16); \
  DEFINE_LANES (unsigned_##BITS, uint##BITS##_t, 16, 16); \
  static inline vector_##BITS load_##BITS (const int##BITS##_t *from) { \
    vector_##BITS v; \
    memcpy (&v, from, sizeof v); \
    return v; \
  } \
  static inline void store_##BITS (int##BITS##_t *to, vector_##BITS v) { memcpy (to, &v, sizeof v); } \
  static inline vector_##BITS set_##BITS (int##BITS##_t x) { \
    const vector_##BITS zero = {0}; \
    return (vector_##BITS) (zero + x); \
  } \
  static inline vector_##BITS add_##BITS (vector_##BITS a, vector_##BITS b) { \
    return (vector_##BITS) ((unsigned_##BITS) a + (unsigned_##BITS) b); \
  } \
  static inline vector_##BITS subtract_##BITS (vector_##BITS a, vector_##BITS b) { \
    return (vector_##BITS) ((unsigned_##BITS) a - (unsigned_##BITS) b); \
  } \
  static inline vector_##BITS absolute_##BITS (vector_##BITS v) { \
    const vector_##BITS sign = HOLDS (vector_##BITS, v < 0); \
    return (vector_##BITS) ((v ^ sign) - sign); \
  } \
  static inline vector_##BITS maximum_##BITS (vector_##BITS a, vector_##BITS b) { \
    return EITHER (vector_##BITS, vector_##BITS, HOLDS (vector_##BITS, a > b), a, b); \
  } \
  static inline vector_##BITS keep_##BITS (vector_##BITS v, vector_##BITS a, vector_##BITS b, vector_##BITS least) { \
    return v & HOLDS (vector_##BITS, a >= least) & HOLDS (vector_##BITS, b >= least); \
  } \
  static inline vector_##BITS popcount_##BITS (vector_##BITS v) { \
    unsigned_##BITS x = (unsigned_##BITS) v; \
    const uint##BITS##_t ones = (uint##BITS##_t) (-1); \
    x = x - ((x >> 1) & (uint##BITS##_t) (ones / 3)); \
    x = (x & (uint##BITS##_t) (ones / 5)) + ((x >> 2) & (uint##BITS##_t) (ones / 5)); \
    x = (x + (x >> 4)) & (uint##BITS##_t) (ones / 17); \
    for (int shift = 8; shift < BITS; shift *= 2) \
      x = x + (x >> shift); \
    return (vector_##BITS) (x & (uint##BITS##_t) 127); \
  } \
  static void build_##BITS (struct slice *slice, const struct shape *shape, int32_t group, const uint8_t *row_bits, \
                            int64_t row_bytes, const int32_t *ids, int32_t count) { \
    uint##BITS##_t *words = slice->words; \
    for (int32_t start = 0; start < count; start += BITS, group++) { \
      uint##BITS##_t *line = words + (int64_t) group * shape->stride; \
      memset (line, 0, (size_t) shape->stride * sizeof *line); \
      for (int32_t r = 0; r < BITS && start + r < count; r++) { \
        const uint8_t *row = row_bits + ids[start + r] * row_bytes; \
        for (int32_t j = 0; j < shape->tests; j++) \
          line[j] |= (uint##BITS##_t) ((uint##BITS##_t) (row[j >> 3] >> (j & 7) & 1) << r); \
      } \
      if (BITS == 16) \
        for (int32_t j = 0; j < shape->stride; j++) \
          slice->twice[(int64_t) group * shape->stride + j] = (uint32_t) line[j] * 65537u; \
    } \
  }

DEFINE (16)
DEFINE (32)
DEFINE (64)

enum {
  lanes_16 = sizeof (vector_16) / sizeof (int16_t),
  lanes_32 = sizeof (vector_32) / sizeof (int32_t),
  lanes_64 = sizeof (vector_64) / sizeof (int64_t)
};

/* The positions in the dense lanes of the rows at the set bits of a word. */
static inline int32_t expand_bits (uint64_t word, int32_t row, int32_t stride, int32_t *to) {
  int32_t length = 0;
  for (; word; word &= word - 1)
    to[length++] = (row + lowest_bit (word)) * stride;
  return length;
}

static inline vector_32 choose_32 (const uint8_t *row, int32_t j, int32_t number) {
  int32_t lanes[lanes_32];
  for (int l = 0; l < lanes_32; l++)
    lanes[l] = row[(j + l) >> 3] >> ((j + l) & 7) & 1 ? number : 0;
  return load_32 (lanes);
}

static inline vector_64 choose_64 (const uint8_t *row, int32_t j, int64_t number) {
  int64_t lanes[lanes_64];
  for (int l = 0; l < lanes_64; l++)
    lanes[l] = row[(j + l) >> 3] >> ((j + l) & 7) & 1 ? number : 0;
  return load_64 (lanes);
}

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

#define BROADCAST_TWICE(P) SET ((int16_t) *(P))

#define BITS 16
#define LANES lanes_16
#define T int16_t
#define V vector_16
#define LOAD load_16
#define STORE store_16
#define STORE_UNALIGNED store_16
#define ADD add_16
#define SUB subtract_16
#define BROADCAST(P) SET (*(P))
#define SET set_16
#define ZERO() set_16 (0)
#define ABS absolute_16
#define MAX maximum_16
#define KEEP keep_16
#define POPCOUNT popcount_16
#include "simd/pair_body.h"
#include "simd/pair_undefine_vectors.h"

#define BITS 32
#define LANES lanes_32
#define T int32_t
#define V vector_32
#define LOAD load_32
#define STORE store_32
#define STORE_UNALIGNED store_32
#define ADD add_32
#define SUB subtract_32
#define BROADCAST(P) SET (*(P))
#define SET set_32
#define ZERO() set_32 (0)
#define ABS absolute_32
#define MAX maximum_32
#define KEEP keep_32
#define POPCOUNT popcount_32
#define CHOOSE choose_32
#include "simd/pair_body.h"
#include "simd/pair_undefine_vectors.h"

#define BITS 64
#define LANES lanes_64
#define T int64_t
#define V vector_64
#define LOAD load_64
#define STORE store_64
#define STORE_UNALIGNED store_64
#define ADD add_64
#define SUB subtract_64
#define BROADCAST(P) SET (*(P))
#define SET set_64
#define ZERO() set_64 (0)
#define ABS absolute_64
#define MAX maximum_64
#define KEEP keep_64
#define POPCOUNT popcount_64
#define CHOOSE choose_64
#include "simd/pair_body.h"
#include "simd/pair_undefine_vectors.h"

const struct pair_kernel *pair_portable (int lane_bits) {
  return lane_bits == 16 ? &kernel_16 : lane_bits == 32 ? &kernel_32 : &kernel_64;
}
