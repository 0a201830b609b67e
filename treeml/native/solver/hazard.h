/* The loss of a leaf of survival times, from sums over its rows (LeBlanc and Crowley 1992). */
#ifndef TREEML_HAZARD_H
#define TREEML_HAZARD_H

#include "simd/hazard_stumps.h"
#include "solver/solver.h"

#include <math.h>

/* Whole numbers, so that the sums of a side follow exactly from those of the other one. */
struct hazard_sums {
  int64_t hazard; /* cumulative hazards, in units of 1 / HAZARD_UNIT */
  int64_t cost;   /* minus the logarithms of the hazards of the rows that died, in the same units */
  int64_t deaths, count;
};

#define HAZARD_UNIT ((double) (INT64_C (1) << HAZARD_BITS))

static inline struct hazard_sums hazard_difference (const struct hazard_sums *all, const struct hazard_sums *part) {
  return (struct hazard_sums) {all->hazard - part->hazard, all->cost - part->cost, all->deaths - part->deaths,
                               all->count - part->count};
}

static inline void hazard_add (struct hazard_sums *sums, const struct hazard_sums *row) {
  sums->hazard += row->hazard;
  sums->cost += row->cost;
  sums->deaths += row->deaths;
  sums->count += row->count;
}

/* The sums of one row; its count is how many of the user's rows it represents. */
static inline struct hazard_sums hazard_of_row (const treeml_solver *solver, int64_t row) {
  return (struct hazard_sums) {solver->hazard[row], solver->death_cost[row], solver->died[row],
                               solver->count ? solver->count[row] : 1};
}

/* A loss cannot be negative, but the rounding of logarithms can make it so. */
static inline double hazard_loss (const struct hazard_sums *sums) {
  if (!sums->deaths)
    return 0;
  const double deaths = (double) sums->deaths;
  const double loss = (double) sums->cost / HAZARD_UNIT + deaths * log ((double) sums->hazard / (deaths * HAZARD_UNIT));
  return loss > 0 ? loss : 0;
}

/* The cost of a leaf with its price, or UNREACHABLE if it has too few rows. */
static inline int64_t hazard_leaf (const treeml_solver *solver, const struct hazard_sums *sums) {
  if (sums->count < solver->options.support)
    return UNREACHABLE;
  return leaf_rounded (solver, hazard_loss (sums)) + solver->options.leaf_price;
}

#endif
