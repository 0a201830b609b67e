/* The loop that takes most of a depth-two pass, with NEON as in simd/pair_neon.c and with SVE2: how many rows pass both
   of two tests, for all pairs of 128 tests and 2,000 rows in words of 16 bits. `make native-arm` counts the
   instructions of each under an emulator, to see whether loops for SVE2 would pay.

     count_sve2 neon|sve2 TIMES     ends with 1 if a count is wrong */
#include <arm_neon.h>
#include <arm_sve.h>
#include <stdint.h>
#include <string.h>

enum { tests = 128, groups = 125 };

static int16_t words[groups * tests + 64], sums[tests * tests + 64];

#define COUNT(K) \
  low##K = vaddq_u8 (low##K, vcntq_u8 (vreinterpretq_u8_s16 (vandq_s16 (low, vdupq_lane_s16 (four, K))))); \
  high##K = vaddq_u8 (high##K, vcntq_u8 (vreinterpretq_u8_s16 (vandq_s16 (high, vdupq_lane_s16 (four, K)))));
#define WIDEN(K) \
  sum##K[0] = vaddq_s16 (sum##K[0], vreinterpretq_s16_u16 (vpaddlq_u8 (low##K))); \
  sum##K[1] = vaddq_s16 (sum##K[1], vreinterpretq_s16_u16 (vpaddlq_u8 (high##K)));
#define KEEP(K) \
  vst1q_s16 (sums + (i + K) * tests + j, sum##K[0]); \
  vst1q_s16 (sums + (i + K) * tests + j + 8, sum##K[1]);

/* Counts of up to 31 words are added as bytes. */
static void with_neon (void) {
  for (int j = 0; j < tests; j += 16)
    for (int i = 0; i < tests; i += 4) {
      const int16x8_t zero = vdupq_n_s16 (0);
      int16x8_t sum0[2] = {zero, zero}, sum1[2] = {zero, zero}, sum2[2] = {zero, zero}, sum3[2] = {zero, zero};
      for (int from = 0; from < groups; from += 31) {
        const int to = from + 31 < groups ? from + 31 : groups;
        uint8x16_t low0 = vdupq_n_u8 (0), low1 = low0, low2 = low0, low3 = low0;
        uint8x16_t high0 = low0, high1 = low0, high2 = low0, high3 = low0;
        for (int g = from; g < to; g++) {
          const int16x8_t low = vld1q_s16 (words + g * tests + j), high = vld1q_s16 (words + g * tests + j + 8);
          const int16x4_t four = vld1_s16 (words + g * tests + i);
          COUNT (0)
          COUNT (1)
          COUNT (2)
          COUNT (3)
        }
        WIDEN (0)
        WIDEN (1)
        WIDEN (2)
        WIDEN (3)
      }
      KEEP (0)
      KEEP (1)
      KEEP (2)
      KEEP (3)
    }
}

#define COUNT_SVE(K) \
  low##K = svadd_u16_x (all, low##K, svcnt_u16_x (all, svand_u16_x (all, low, svdup_lane_u16 (four, K)))); \
  high##K = svadd_u16_x (all, high##K, svcnt_u16_x (all, svand_u16_x (all, high, svdup_lane_u16 (four, K))));
#define KEEP_SVE(K) \
  svst1_u16 (all, to + (i + K) * tests + j, low##K); \
  svst1_u16 (all, to + (i + K) * tests + j + lanes, high##K);

/* SVE2 counts in lanes of 16 bits, so nothing has to be widened. */
static void with_sve2 (void) {
  const uint16_t *from = (const uint16_t *) words;
  uint16_t *to = (uint16_t *) sums;
  const svbool_t all = svptrue_b16 ();
  const int lanes = (int) svcnth ();
  for (int j = 0; j < tests; j += 2 * lanes)
    for (int i = 0; i < tests; i += 4) {
      svuint16_t low0 = svdup_n_u16 (0), low1 = low0, low2 = low0, low3 = low0;
      svuint16_t high0 = low0, high1 = low0, high2 = low0, high3 = low0;
      for (int g = 0; g < groups; g++) {
        const svuint16_t low = svld1_u16 (all, from + g * tests + j);
        const svuint16_t high = svld1_u16 (all, from + g * tests + j + lanes);
        const svuint16_t four = svld1rq_u16 (all, from + g * tests + i);
        COUNT_SVE (0)
        COUNT_SVE (1)
        COUNT_SVE (2)
        COUNT_SVE (3)
      }
      KEEP_SVE (0)
      KEEP_SVE (1)
      KEEP_SVE (2)
      KEEP_SVE (3)
    }
}

int main (int count, char **arguments) {
  uint32_t state = 2463534242u;
  for (int i = 0; i < groups * tests; i++) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    words[i] = (int16_t) state;
  }
  const int sve = count > 1 && !strcmp (arguments[1], "sve2"), times = count > 2 ? arguments[2][0] - '0' : 1;
  for (int i = 0; i < times; i++) {
    if (sve)
      with_sve2 ();
    else
      with_neon ();
    __asm__ volatile ("" ::: "memory");
  }
  for (int i = 0; i < tests; i += 37)
    for (int j = 0; j < tests; j++) {
      int expected = 0;
      for (int g = 0; g < groups; g++)
        expected += __builtin_popcount ((uint16_t) (words[g * tests + i] & words[g * tests + j]));
      if (sums[i * tests + j] != expected)
        return 1;
    }
  return 0;
}
