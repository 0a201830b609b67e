/* Matrix products with the tiles of AMX: one instruction handles sixteen tests by sixteen tests and sixty-four rows. */
#include "simd/products.h"

#include "common/bits.h"

/* A tile has sixteen lines of sixty-four bytes. The tiles of both matrices are stored contiguously, one after the
   other: lines far apart would compete for the same sets of the cache. */
enum { tile = 16, tile_rows = 64, tile_bytes = tile * tile_rows, group_digits = 3 };

int64_t product_room (const struct shape *shape, int32_t digits, int32_t piece) {
  const int64_t tests = (shape->tests + tile - 1) / tile * tile;
  return piece * (tests * digits + shape->stride) + group_digits * tile * tile * 4;
}

#if defined(__x86_64__) && defined(__linux__) && defined(__AMX_TILE__) && defined(__AMX_INT8__) && defined(__AVX512BW__)

#include <immintrin.h>
#include <string.h>

/* The numbers of digits and bits are constants once these functions are inlined. */
#define INLINE static inline ALWAYS_INLINE

/* The digits of sixty-four rows from `first` on, one vector for each digit; 0 beyond the last row. */
INLINE void gather_digits (const struct product *product, int32_t first, __m512i *number, const int32_t count) {
  const struct slice *slice = product->slice;
  for (int32_t half = 0; half < count; half += 4) {
    __m512i words[4];
    for (int32_t k = 0; k < 4; k++) {
      const int32_t at = first + 16 * k, left = slice->dense_rows - at;
      const __mmask16 here = left >= 16 ? 0xffff : left > 0 ? (__mmask16) ((1 << left) - 1) : 0;
      const __m512i ids = _mm512_maskz_loadu_epi32 (here, slice->ids + at);
      words[k] = _mm512_mask_i32gather_epi32 (_mm512_setzero_si512 (), here, ids, product->digits + half, most_digits);
    }
    for (int32_t d = half; d < count && d < half + 4; d++) {
      const unsigned shift = (unsigned) (digit_bits * (d - half));
      number[d] = _mm512_castsi128_si512 (_mm512_cvtepi32_epi8 (_mm512_srli_epi32 (words[0], shift)));
      number[d] = _mm512_inserti32x4 (number[d], _mm512_cvtepi32_epi8 (_mm512_srli_epi32 (words[1], shift)), 1);
      number[d] = _mm512_inserti32x4 (number[d], _mm512_cvtepi32_epi8 (_mm512_srli_epi32 (words[2], shift)), 2);
      number[d] = _mm512_inserti32x4 (number[d], _mm512_cvtepi32_epi8 (_mm512_srli_epi32 (words[3], shift)), 3);
    }
  }
}

/* The left matrix: for every test and digit, the digits of the rows that pass it, and 0 for the others. For every 64
   rows it stores the tiles of all tests, digit after digit. */
INLINE void fill_left (const struct product *product, int8_t *left, int32_t first, int32_t rows, const int32_t count,
                       const int32_t bits) {
  const struct slice *slice = product->slice;
  const int32_t tests = product->shape->tests, padded = (tests + tile - 1) / tile * tile;
  const int64_t stride = product->shape->stride, groups = (slice->dense_rows + bits - 1) / bits;
  for (int32_t block = 0; block < rows; block += tile_rows) {
    __m512i number[most_digits];
    gather_digits (product, first + block, number, count);
    const int64_t group = (first + block) / bits;
    for (int32_t test = 0; test < padded; test++) {
      uint64_t passing = 0;
      if (test < tests && bits == 64)
        passing = ((const uint64_t *) slice->words)[group * stride + test];
      else if (test < tests) {
        const uint32_t *words = (const uint32_t *) slice->words + group * stride + test;
        passing = *words;
        if (group + 1 < groups)
          passing |= (uint64_t) words[stride] << 32;
      }
      int8_t *to = left + ((int64_t) block * padded + test / tile * tile_bytes) * count + test % tile * tile_rows;
      for (int32_t d = 0; d < count; d++)
        _mm512_store_si512 (to + d * tile_bytes, _mm512_maskz_mov_epi8 (passing, number[d]));
    }
  }
}

/* The right matrix: 1 if a row passes, with four rows side by side in the lane of a test. For every sixteen tests it
   stores the tiles of all rows. */
static void fill_right (const struct product *product, uint8_t *right, int32_t first, int32_t rows) {
  const struct slice *slice = product->slice;
  /* Rows beyond the last one have no effect: their digits are 0. */
  const uint8_t *nobody = slice->row_bits;
  for (int32_t r = 0; r < rows; r += 4) {
    const uint8_t *row[4];
    for (int32_t k = 0; k < 4; k++)
      row[k] =
          first + r + k < slice->dense_rows ? slice->row_bits + slice->ids[first + r + k] * slice->row_bytes : nobody;
    for (int32_t j = product->from / tile * tile; j < product->to; j += tile) {
      __m512i ones = _mm512_setzero_si512 ();
      for (int32_t k = 0; k < 4; k++) {
        uint16_t mask;
        memcpy (&mask, row[k] + j / 8, sizeof mask);
        ones = _mm512_mask_or_epi32 (ones, mask, ones, _mm512_set1_epi32 (1 << (8 * k)));
      }
      _mm512_store_si512 (right + (int64_t) j * product->piece + r / 4 * tile_rows, ones);
    }
  }
}

/* Adds sixteen by sixteen sums of some digits, from `counts`, to the sums, or stores them. */
INLINE void put (const struct product *product, const int32_t *counts, const int32_t digits, int32_t lowest, int32_t i,
                 int32_t j, int onto, const int32_t bits) {
  const int64_t stride = product->shape->stride;
  const int32_t lines = product->shape->tests - i < tile ? product->shape->tests - i : tile;
  for (int32_t line = 0; line < lines; line++) {
    __m512i low = _mm512_setzero_si512 (), high = low;
    for (int32_t d = digits - 1; d >= 0; d--) {
      const __m512i count = _mm512_load_si512 (counts + (d * tile + line) * tile);
      const unsigned shift = (unsigned) (digit_bits * (lowest + d));
      if (bits == 32)
        low = _mm512_add_epi32 (low, _mm512_slli_epi32 (count, shift));
      else {
        low = _mm512_add_epi64 (low, _mm512_slli_epi64 (_mm512_cvtepi32_epi64 (_mm512_castsi512_si256 (count)), shift));
        high = _mm512_add_epi64 (
            high, _mm512_slli_epi64 (_mm512_cvtepi32_epi64 (_mm512_extracti64x4_epi64 (count, 1)), shift));
      }
    }
    if (bits == 32) {
      int32_t *to = (int32_t *) product->sums + (i + line) * stride + j;
      _mm512_store_si512 (to, onto ? _mm512_add_epi32 (low, _mm512_load_si512 (to)) : low);
    } else {
      int64_t *to = (int64_t *) product->sums + (i + line) * stride + j;
      _mm512_store_si512 (to, onto ? _mm512_add_epi64 (low, _mm512_load_si512 (to)) : low);
      _mm512_store_si512 (to + 8, onto ? _mm512_add_epi64 (high, _mm512_load_si512 (to + 8)) : high);
    }
  }
}

INLINE void multiply_digits (const struct product *product, const int32_t count, const int32_t bits) {
  const int32_t tests = product->shape->tests, padded = (tests + tile - 1) / tile * tile;
  const int64_t stride = product->shape->stride;
  int8_t *left = product->room;
  uint8_t *right = (uint8_t *) left + (int64_t) padded * count * product->piece;
  int32_t *counts = (int32_t *) (void *) (right + stride * product->piece);
  struct {
    uint8_t palette, start, reserved[14];
    uint16_t bytes[16];
    uint8_t lines[16];
  } shape = {.palette = 1};
  for (int t = 0; t < 8; t++) {
    shape.bytes[t] = 64;
    shape.lines[t] = tile;
  }
  _tile_loadconfig (&shape);
  for (int32_t first = 0; first == 0 || first < product->slice->dense_rows; first += product->piece) {
    const int32_t rest = product->slice->dense_rows - first, some = rest < product->piece ? rest : product->piece;
    const int32_t rows = (some + tile_rows - 1) / tile_rows * tile_rows;
    fill_left (product, left, first, rows, count, bits);
    fill_right (product, right, first, rows);
    for (int32_t i = 0; i < tests; i += tile)
      for (int32_t j = product->triangle && i > product->from ? i : product->from; j < product->to; j += tile)
        for (int32_t lowest = 0; lowest < count; lowest += group_digits) {
          const int32_t here = count - lowest < group_digits ? count - lowest : group_digits;
          const int8_t *from = left + (int64_t) (i / tile * count + lowest) * tile_bytes;
          _tile_zero (0);
          _tile_zero (1);
          _tile_zero (2);
          for (int32_t block = 0; block < rows; block += tile_rows, from += (int64_t) padded * count * tile_rows) {
            _tile_loadd (6, right + (int64_t) j * product->piece + block * tile, tile_rows);
            _tile_loadd (3, from, tile_rows);
            _tile_dpbsud (0, 3, 6);
            if (here > 1) {
              _tile_loadd (4, from + tile_bytes, tile_rows);
              _tile_dpbsud (1, 4, 6);
            }
            if (here > 2) {
              _tile_loadd (5, from + 2 * tile_bytes, tile_rows);
              _tile_dpbsud (2, 5, 6);
            }
          }
          _tile_stored (0, counts, 64);
          _tile_stored (1, counts + tile * tile, 64);
          _tile_stored (2, counts + 2 * tile * tile, 64);
          put (product, counts, here, lowest, i, j, first > 0 || lowest > 0, bits);
        }
  }
  _tile_release ();
}

/* Most weights need three digits of eight bits, so that case is compiled separately. */
static void multiply (const struct product *product) {
  if (product->count == 3 && product->lane_bits == 32)
    multiply_digits (product, 3, 32);
  else if (product->count == 3)
    multiply_digits (product, 3, 64);
  else if (product->lane_bits == 32)
    multiply_digits (product, product->count, 32);
  else
    multiply_digits (product, product->count, 64);
}

product_function *products_amx (void) { return multiply; }

#else

product_function *products_amx (void) { return 0; }

#endif
