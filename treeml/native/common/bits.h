/* What GCC and Clang have beyond ISO C, each with a fallback: counting bits, sums that report overflow, hints. Their
   vectors have one in simd/lanes.h, their integers of 128 bits in common/wide.h. TREEML_PLAIN_C selects all fallbacks,
   so that they can be tested. */
#ifndef TREEML_BITS_H
#define TREEML_BITS_H

#include <stdint.h>

#if (defined(__GNUC__) || defined(__clang__)) && !defined(TREEML_PLAIN_C)
#define TREEML_EXTENDED_C
#endif

/* Without an instruction for it, which the oldest processors with 64 bits lack, compilers call a function. */
#if defined(TREEML_EXTENDED_C) && (defined(__POPCNT__) || !(defined(__x86_64__) || defined(__i386__)))
static inline int count_bits (uint64_t bits) { return __builtin_popcountll (bits); }
#else
static inline int count_bits (uint64_t bits) {
  bits -= bits >> 1 & UINT64_C (0x5555555555555555);
  bits = (bits & UINT64_C (0x3333333333333333)) + (bits >> 2 & UINT64_C (0x3333333333333333));
  bits = (bits + (bits >> 4)) & UINT64_C (0x0f0f0f0f0f0f0f0f);
  return (int) (bits * UINT64_C (0x0101010101010101) >> 56);
}
#endif

#ifdef TREEML_EXTENDED_C

#define ALWAYS_INLINE __attribute__ ((always_inline))

/* The number of the lowest bit set in a word that is not 0. */
static inline int lowest_bit (uint64_t bits) { return __builtin_ctzll (bits); }
/* The number of bits that a whole number needs: 0 for 0. */
static inline int bit_length (uint64_t bits) { return bits ? 64 - __builtin_clzll (bits) : 0; }
static inline uint64_t reverse_bytes (uint64_t bits) { return __builtin_bswap64 (bits); }
/* Whether the exact result does not fit; the results are undefined then. */
static inline int add_overflows (int64_t a, int64_t b, int64_t *sum) { return __builtin_add_overflow (a, b, sum); }
static inline int subtract_overflows (int64_t a, int64_t b, int64_t *difference) {
  return __builtin_sub_overflow (a, b, difference);
}
static inline int multiply_overflows (int64_t a, int64_t b, int64_t *product) {
  return __builtin_mul_overflow (a, b, product);
}

#else

#define ALWAYS_INLINE

static inline int lowest_bit (uint64_t bits) { return count_bits (~bits & (bits - 1)); }

static inline int bit_length (uint64_t bits) {
  int length = 0;
  for (; bits; bits >>= 1)
    length++;
  return length;
}

static inline uint64_t reverse_bytes (uint64_t bits) {
  uint64_t reversed = 0;
  for (int i = 0; i < 8; i++, bits >>= 8)
    reversed = reversed << 8 | (bits & 255);
  return reversed;
}

static inline int add_overflows (int64_t a, int64_t b, int64_t *sum) {
  if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
    return 1;
  *sum = a + b;
  return 0;
}

static inline int subtract_overflows (int64_t a, int64_t b, int64_t *difference) {
  if (b > 0 ? a < INT64_MIN + b : a > INT64_MAX + b)
    return 1;
  *difference = a - b;
  return 0;
}

static inline int multiply_overflows (int64_t a, int64_t b, int64_t *product) {
  if (a > 0 ? (b > 0 ? a > INT64_MAX / b : b < INT64_MIN / a)
            : (b > 0 ? a < INT64_MIN / b : a != 0 && b < INT64_MAX / a))
    return 1;
  *product = a * b;
  return 0;
}

#endif

/* Exchanges the upper bits of some words, those of the mask after a shift, with the lower bits of others. */
static inline ALWAYS_INLINE void exchange_bits (uint64_t *words, int count, int distance, int shift, uint64_t mask) {
  for (int top = 0; top < 64; top += 2 * distance)
    for (int i = top; i < top + count; i++) {
      const uint64_t swap = ((words[i] >> shift) ^ words[i + distance]) & mask;
      words[i] ^= swap << shift;
      words[i + distance] ^= swap;
    }
}

/* Transposes a 64 x 64 block of bits. Words that are exchanged are always eight or more apart, so that vectors hold
   them: for the last three steps the block is stored with the two digits of its numbers, to the base of 8, swapped. */
static inline void transpose_bits (uint64_t block[64]) {
  uint64_t swapped[64];
  exchange_bits (block, 32, 32, 32, UINT64_C (0x00000000ffffffff));
  exchange_bits (block, 16, 16, 16, UINT64_C (0x0000ffff0000ffff));
  exchange_bits (block, 8, 8, 8, UINT64_C (0x00ff00ff00ff00ff));
  for (int i = 0; i < 64; i++)
    swapped[i] = block[i % 8 * 8 + i / 8];
  exchange_bits (swapped, 32, 32, 4, UINT64_C (0x0f0f0f0f0f0f0f0f));
  exchange_bits (swapped, 16, 16, 2, UINT64_C (0x3333333333333333));
  exchange_bits (swapped, 8, 8, 1, UINT64_C (0x5555555555555555));
  for (int i = 0; i < 64; i++)
    block[i] = swapped[i % 8 * 8 + i / 8];
}

#endif
