/* Squared losses from exact sums. */
#ifndef TREEML_EXACT_H
#define TREEML_EXACT_H

#include "grain.h"
#include "treeml.h"

/* The loss of rows about their mean, squares - sum^2 / weight, is (squares about q) - r^2 / weight for any whole number
   q, with the rest r = sum - q weight. For the q next to the mean |r| <= weight / 2. Targets are whole numbers, so the
   squares about q are at least |r|, and r^2 / weight is at most half of them: no digits cancel. Where the squares about q
   are known to a few roundings of themselves, so is the loss. */
struct nearest {
  int64_t q;
  wide r;
};

static inline struct nearest nearest_mean (wide sum, wide weight) {
  struct nearest near = {0, 0};
  if (weight <= 0)
    return near;
  wide q = sum / weight, r = sum - q * weight;
  if (2 * r > weight) {
    q++;
    r -= weight;
  } else if (2 * r < -weight) {
    q--;
    r += weight;
  }
  near.q = (int64_t) q;
  near.r = r;
  return near;
}

static inline double loss_about (double squares, const struct nearest *near, wide weight) {
  const double loss = weight > 0 ? squares - (double) near->r * (double) near->r / (double) weight : 0;
  return loss > 0 ? loss : 0;
}

/* A sum of numbers that are not negative, to a rounding of itself (Neumaier 1974). */
struct total {
  double sum, lost;
};

static inline void total_add (struct total *total, double number) {
  const double before = total->sum;
  total->sum += number;
  total->lost += before >= number ? (before - total->sum) + number : (number - total->sum) + before;
}

static inline double weighted_square (int64_t weight, int64_t distance) {
  return (double) weight * (double) distance * (double) distance;
}

/* The whole number next to the weighted mean of an output, and the sum of weights times the square of the range, which
   bounds all sums about it. */
int64_t exact_centre (const treeml_solver *, int32_t output, double *reach);

#endif
