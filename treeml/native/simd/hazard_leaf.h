/* What a leaf of survival times costs, without a branch or a call, so that loops over it become vector code. */
#ifndef TREEML_SIMD_HAZARD_LEAF_H
#define TREEML_SIMD_HAZARD_LEAF_H

#include "simd/hazard_stumps.h"

#include <math.h>
#include <string.h>

static inline double double_of_bits (uint64_t bits) {
  double number;
  memcpy (&number, &bits, sizeof number);
  return number;
}

static inline uint64_t bits_of_double (double number) {
  uint64_t bits;
  memcpy (&bits, &number, sizeof bits);
  return bits;
}

/* Numbers below 2^52 become doubles by way of their bits: not every instruction set converts 64 bits. */
static inline double small_number (uint64_t number) {
  return double_of_bits (number | UINT64_C (0x4330000000000000)) - 0x1p52;
}

/* The logarithm of a positive normal number: x = 2^k m with m near 1, and log m = 2 atanh ((m - 1) / (m + 1)). */
static inline double plain_logarithm (double x) {
  const uint64_t least = UINT64_C (0x3fe6a09e667f3bcd); /* the square root of a half */
  const uint64_t shifted = bits_of_double (x) - least + (UINT64_C (1023) << 52);
  const double exponent = small_number (shifted >> 52) - 1023;
  const double m = double_of_bits ((shifted & UINT64_C (0xfffffffffffff)) + least);
  const double s = (m - 1) / (m + 1), z = s * s;
  double series = 1.0 / 21;
  series = series * z + 1.0 / 19;
  series = series * z + 1.0 / 17;
  series = series * z + 1.0 / 15;
  series = series * z + 1.0 / 13;
  series = series * z + 1.0 / 11;
  series = series * z + 1.0 / 9;
  series = series * z + 1.0 / 7;
  series = series * z + 1.0 / 5;
  series = series * z + 1.0 / 3;
  return exponent * 0.69314718055994530942 + (2 * s + 2 * s * z * series);
}

/* D log (H / D) units for D deaths and the hazard H, and the price of a leaf; infinity if the leaf has too few rows. */
static inline double hazard_leaf_units (struct hazard_cell cell, int64_t support, double unit, double price) {
  const uint64_t hazard = (uint64_t) cell.hazard, deaths = (uint64_t) cell.people >> 32;
  const double high = small_number (hazard >> 32) * 0x1p32, whole = high + small_number (hazard & 0xffffffff);
  /* No deaths, and perhaps no rows: any positive numbers will do. */
  const uint64_t any = deaths == 0;
  const double ratio = (whole + small_number (any)) / small_number (deaths + any);
  const double logarithm = plain_logarithm (ratio) - HAZARD_BITS * 0.69314718055994530942;
  const uint64_t cost = bits_of_double (small_number (deaths) * logarithm * unit + price);
  const uint64_t few = -(uint64_t) ((cell.people & 0xffffffff) < support);
  return double_of_bits ((cost & ~few) | (UINT64_C (0x7ff0000000000000) & few));
}

static inline struct hazard_cell hazard_cell_difference (struct hazard_cell all, struct hazard_cell part) {
  return (struct hazard_cell) {all.hazard - part.hazard, all.people - part.people};
}

#endif
