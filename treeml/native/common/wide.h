/* Integers of 128 bits, for products of 64-bit numbers and for numbers of trees: those of GCC and Clang, or else those
   of C23. They wrap around alike and divide towards 0 alike; tests/native/compare_wide.c compares them. */
#ifndef TREEML_WIDE_H
#define TREEML_WIDE_H

#include <limits.h>
#include <stdint.h>

#if defined(__SIZEOF_INT128__) && !defined(TREEML_PLAIN_C)
__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;
#elif defined(BITINT_MAXWIDTH) && BITINT_MAXWIDTH >= 128
typedef _BitInt (128) wide;
typedef unsigned _BitInt (128) unsigned_wide;
#else
#error "integers of 128 bits are needed: __int128 or _BitInt (128) of C23"
#endif

/* The nearest double. Processors convert 64 bits at once, and most numbers have no more. */
static inline double real_of_wide (wide number) {
  const int64_t low = (int64_t) number;
  return low == number ? (double) low : (double) number;
}

#endif
