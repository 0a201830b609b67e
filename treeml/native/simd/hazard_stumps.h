/* The best stumps on both sides of every test, from sums over pairs of tests, for survival times. Costs are doubles in
   units of the search, without the part that all trees of the same rows share, and accurate to a few roundings. */
#ifndef TREEML_SIMD_HAZARD_STUMPS_H
#define TREEML_SIMD_HAZARD_STUMPS_H

#include <stdint.h>

/* The unit of a cumulative hazard is 2^-HAZARD_BITS. */
enum { HAZARD_BITS = 40 };

/* Sums over some rows. The number of rows is below 2^31, so that both fit in one number. */
struct hazard_cell {
  int64_t hazard;
  int64_t people; /* deaths * 2^32 + rows */
};

struct hazard_stumps_task {
  int32_t from, tests;            /* the partners of the test: from <= j < tests */
  const struct hazard_cell *both; /* [j]: the rows on the first side of the test and of j */
  const struct hazard_cell *side; /* [j]: the rows on the first side of j */
  struct hazard_cell one, rest;   /* the two sides of the test */
  int64_t support;                /* fewest rows of a leaf */
  double unit, price;
  double *best[2]; /* [j]: best stump on the second and first side of j, to be lowered */
  double *room;    /* 2 * tests numbers */
};

struct hazard_stumps {
  /* The best stumps on the second and the first side of the test, made with its partners. */
  void (*stumps) (const struct hazard_stumps_task *, double best[2]);
};

const struct hazard_stumps *hazard_stumps_portable (void);
const struct hazard_stumps *hazard_stumps_avx2 (void);   /* NULL where the compiler could not build it */
const struct hazard_stumps *hazard_stumps_avx512 (void); /* likewise */
const struct hazard_stumps *hazard_stumps_neon (void);   /* the same */

#endif
