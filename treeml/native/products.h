/* Pair sums of weighted rows as products of matrices: tests x rows with the weights, times rows x tests.

   A weight is cut into digits of eight bits, the sign among them, which is what the matrix units of a processor multiply; the
   products of each digit are counted apart and put together at the end, so that sums are exact. */
#ifndef TREEML_PRODUCTS_H
#define TREEML_PRODUCTS_H

#include "kernel.h"

enum { digit_bits = 8, most_digits = 8 };

/* What one multiplication is about. */
struct product {
  const struct slice *slice; /* its words and rows */
  const struct shape *shape;
  const int8_t *digits; /* rows x most_digits, the lowest first */
  int32_t count;        /* of the digits that are not 0 everywhere */
  int32_t lane_bits;  /* of the words and of the sums: 32 or 64 */
  int32_t from, to;   /* columns; `from` is a multiple of 16 */
  int32_t triangle;   /* only what is not left of the diagonal, by blocks of 16 */
  void *sums;         /* tests x stride */
  int32_t piece;      /* rows at a time, a multiple of 64 */
  void *room;         /* as much as product_room says */
};

typedef void product_function (const struct product *);

/* All that a slice needs to have its pair sums multiplied. */
struct products {
  product_function *multiply;
  const int8_t *sign_digits, *worth_digits;
  int32_t digits, piece;
  void *room;
};

/* NULL where this processor, or the system it runs under, has no unit for it. */
product_function *products_find (void);

int64_t product_room (const struct shape *, int32_t digits, int32_t piece);

#endif
