/* Exact sums of doubles. Numbers that are multiples of a grain (a power of two) can be added and subtracted in any
   order without rounding, as long as all sums stay below 2^53 grains. */
#ifndef TREEML_ROUNDING_H
#define TREEML_ROUNDING_H

#include "common/wide.h"

#include <math.h>

/* The grain for numbers whose absolute values add up to `total`; 0 if the total is 0. */
static inline double grain_of (double total) {
  int exponent = 0;
  if (!(total > 0))
    return 0;
  frexp (total, &exponent);
  return ldexp (1, exponent - 51);
}

/* Rounds a number to a multiple of the grain and carries the remainder to the next number, so that each number, and
   the sum of all of them, is off by at most one grain. */
static inline double round_to_grain (double value, double grain, double *carry) {
  if (!(grain > 0))
    return value;
  const double wanted = value / grain + *carry, rounded = rint (wanted);
  *carry = wanted - rounded;
  return rounded * grain;
}

#endif
