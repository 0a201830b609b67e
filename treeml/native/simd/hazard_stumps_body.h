/* The loop over the partners of a test for one instruction set, in plain C that the compiler vectorizes. */
#include "simd/hazard_leaf.h"

enum { hazard_lanes = 8 };

/* A minimum in separate lanes: the compiler may not reorder the comparisons of doubles itself. */
static double least_of (const double *numbers, int32_t count) {
  double lane[hazard_lanes];
  for (int32_t i = 0; i < hazard_lanes; i++)
    lane[i] = (double) INFINITY;
  int32_t j = 0;
  for (; j + hazard_lanes <= count; j += hazard_lanes)
    for (int32_t i = 0; i < hazard_lanes; i++)
      lane[i] = numbers[j + i] < lane[i] ? numbers[j + i] : lane[i];
  for (; j < count; j++)
    lane[0] = numbers[j] < lane[0] ? numbers[j] : lane[0];
  for (int32_t i = 1; i < hazard_lanes; i++)
    lane[0] = lane[i] < lane[0] ? lane[i] : lane[0];
  return lane[0];
}

static void stumps (const struct hazard_stumps_task *task, double best[2]) {
  const struct hazard_cell *restrict pair = task->both, *restrict side = task->side;
  const struct hazard_cell one = task->one, rest = task->rest;
  const int64_t support = task->support;
  const double unit = task->unit, price = task->price;
  double *restrict second_best = task->best[0], *restrict first_best = task->best[1];
  double *restrict low = task->room, *restrict high = task->room + task->tests;
  for (int32_t j = task->from; j < task->tests; j++) {
    const struct hazard_cell both = pair[j];
    const struct hazard_cell mine = hazard_cell_difference (one, both), other = hazard_cell_difference (side[j], both);
    const struct hazard_cell none = hazard_cell_difference (rest, other);
    const double in_both = hazard_leaf_units (both, support, unit, price);
    const double in_mine = hazard_leaf_units (mine, support, unit, price);
    const double in_other = hazard_leaf_units (other, support, unit, price);
    const double in_none = hazard_leaf_units (none, support, unit, price);
    high[j] = in_both + in_mine;
    low[j] = in_other + in_none;
    const double first = in_both + in_other, second = in_mine + in_none;
    first_best[j] = first < first_best[j] ? first : first_best[j];
    second_best[j] = second < second_best[j] ? second : second_best[j];
  }
  best[1] = least_of (high + task->from, task->tests - task->from);
  best[0] = least_of (low + task->from, task->tests - task->from);
}

static const struct hazard_stumps functions = {stumps};
