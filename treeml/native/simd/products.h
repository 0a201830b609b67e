/* Pair sums of weighted rows as matrix products: tests x rows with the weights, times rows x tests.

   A weight is split into signed digits of eight bits, which the matrix units of a processor can multiply. The
   products of each digit are added separately and combined at the end, so that sums are exact. */
#ifndef TREEML_SIMD_PRODUCTS_H
#define TREEML_SIMD_PRODUCTS_H

#include "simd/pair_kernel.h"

enum { digit_bits = 8, most_digits = 8 };

/* The arguments of one multiplication. */
struct product {
  const struct slice *slice; /* its words and rows */
  const struct shape *shape;
  const int8_t *digits; /* rows x most_digits, the lowest first */
  int32_t count;        /* number of digits that are not 0 everywhere */
  int32_t lane_bits;    /* width of the words and of the sums: 32 or 64 */
  int32_t from, to;     /* columns; `from` is a multiple of 16 */
  int32_t triangle;     /* skip the blocks of 16 that are left of the diagonal */
  void *sums;           /* tests x stride */
  int32_t piece;        /* rows at a time, a multiple of 64 */
  void *room;           /* memory of the size that product_room returns */
};

typedef void product_function (const struct product *);

/* What a slice needs to compute its pair sums as products. */
struct products {
  product_function *multiply;
  const int8_t *sign_digits, *worth_digits;
  int32_t digits, piece;
  void *room;
};

/* NULL where the compiler could not build it. Use simd/select.h. */
product_function *products_amx (void);

int64_t product_room (const struct shape *, int32_t digits, int32_t piece);

#endif
