/* The counting loops for one instruction set, in plain C that the compiler vectorizes. */
#include "simd/counts.h"
#include "common/bits.h"

static void add_masked (int64_t *sum, const int64_t *mask, int64_t value, int32_t size) {
  for (int32_t i = 0; i < size; i++)
    sum[i] += mask[i] & value;
}

static void add_pairs (const uint64_t *columns, int32_t words, int32_t tests, int32_t shift, int64_t *sums) {
  for (int32_t f = 0; f < tests; f++) {
    const uint64_t *one = columns + (int64_t) f * words;
    int64_t *out = sums + (int64_t) f * tests;
    if (words == 1) {
      const uint64_t only = one[0];
      for (int32_t g = f; g < tests; g++)
        out[g] += (int64_t) count_bits (only & columns[g]) << shift;
    } else {
      for (int32_t g = f; g < tests; g++) {
        const uint64_t *two = columns + (int64_t) g * words;
        int64_t total = 0;
        for (int32_t w = 0; w < words; w++)
          total += count_bits (one[w] & two[w]);
        out[g] += total << shift;
      }
    }
  }
}

static inline void intersections (const uint64_t *sets, const uint64_t *test, int32_t set_count, int32_t words,
                                  int32_t *counts) {
  for (int32_t i = 0; i < set_count; i++, sets += words) {
    int32_t sum = 0;
    for (int32_t w = 0; w < words; w++)
      sum += count_bits (test[w] & sets[w]);
    counts[i] = sum;
  }
}
