/* Sums of multiples of a grain are exact in doubles, in any order and after any subtraction, while they stay below 2^53
   grains. */
#ifndef TREEML_GRAIN_H
#define TREEML_GRAIN_H

#include <math.h>

__extension__ typedef __int128 wide;

/* For numbers whose sizes add up to `total`; 0 where that is 0. */
static inline double grain_of (double total) {
  int exponent = 0;
  if (!(total > 0))
    return 0;
  frexp (total, &exponent);
  return ldexp (1, exponent - 51);
}

/* A number as a multiple of the grain; what is left over is carried to the next, so that a sum of all is off by at most
   one grain, and each number too. */
static inline double round_to_grain (double value, double grain, double *carry) {
  if (!(grain > 0))
    return value;
  const double wanted = value / grain + *carry, rounded = rint (wanted);
  *carry = wanted - rounded;
  return rounded * grain;
}

#endif
