/* Finds the number that targets are centred on, so that their squares stay small. */
#include "solver/squared_loss.h"

#include "solver/solver.h"

int64_t centre_of_targets (const treeml_solver *solver, int32_t output, double *reach) {
  wide sum = 0, weight = 0;
  int64_t low = INT64_MAX, high = INT64_MIN;
  for (int64_t row = 0; row < solver->rows; row++) {
    const int64_t w = solver->weight ? solver->weight[row] : 1, y = solver->target[row * solver->outputs + output];
    sum += (wide) w * y;
    weight += w;
    low = y < low ? y : low;
    high = y > high ? y : high;
  }
  const double range = (double) high - (double) low;
  *reach = (double) weight * range * range;
  if (weight <= 0)
    return low;
  const wide half = sum < 0 ? -weight / 2 : weight / 2;
  return (int64_t) ((sum + half) / weight);
}
