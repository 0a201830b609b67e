/* Counting over bit sets for ARM processors of 64 bits. The compiler vectorizes all but the intersections, which count
   two words at a time and add up once for each set. */
#if defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>

#include "simd/counts_body.h"

static void intersections_neon (const uint64_t *sets, const uint64_t *test, int32_t set_count, int32_t words,
                                int32_t *counts) {
  for (int32_t i = 0; i < set_count; i++, sets += words) {
    uint32x4_t sum = vdupq_n_u32 (0);
    int32_t w = 0;
    for (; w + 2 <= words; w += 2) {
      const uint8x16_t both = vreinterpretq_u8_u64 (vandq_u64 (vld1q_u64 (test + w), vld1q_u64 (sets + w)));
      sum = vpadalq_u16 (sum, vpaddlq_u8 (vcntq_u8 (both)));
    }
    counts[i] = (int32_t) vaddvq_u32 (sum);
    if (w < words)
      counts[i] += count_bits (test[w] & sets[w]);
  }
}

const struct counts *counts_neon (void) {
  static const struct counts table = {add_masked, add_pairs, intersections_neon};
  return &table;
}
#else
#include "simd/counts.h"
const struct counts *counts_neon (void) { return 0; }
#endif
