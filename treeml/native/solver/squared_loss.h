/* Squared losses from exact sums, without cancellation. */
#ifndef TREEML_SQUARED_LOSS_H
#define TREEML_SQUARED_LOSS_H

#include "common/rounding.h"
#include "treeml.h"

/* Around the mean, the loss is squares - sum^2 / weight. For any whole number q it equals (squares around q) - r^2 /
   weight, with the remainder r = sum - q * weight. For the q nearest to the mean, |r| <= weight / 2. Targets are
   whole numbers, so the squares around q are at least |r|, and r^2 / weight is at most half of them: no digits
   cancel. If the squares around q are accurate to a few roundings, so is the loss. */
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

/* A sum of non-negative numbers, accurate to one rounding of the result (Neumaier 1974). */
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

/* The whole number nearest to the weighted mean of an output. `reach` receives the sum of weights times the square
   of the range, which bounds all sums around that number. */
int64_t centre_of_targets (const treeml_solver *, int32_t output, double *reach);

#endif
