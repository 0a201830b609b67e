/* Sums over pairs of tests for survival times.

   The sums over the rows on the first side of two tests give those of the other three corners by subtraction, in whole
   numbers. The first side of a test is the rarer answer, so that few rows are added. The sums of the larger side of a
   split are those of all rows minus those of the smaller side. */
#ifndef TREEML_GENERAL_HAZARD_TABLE_H
#define TREEML_GENERAL_HAZARD_TABLE_H

#include "general/search.h"
#include "simd/select.h"
#include "solver/hazard.h"

struct hazard_table {
  uint64_t *rows;           /* the rows that are summed */
  uint8_t *usable;          /* the tests whose sums are known */
  struct hazard_cell *cell; /* the pairs of tests i <= j, row after row */
  struct hazard_cell *side; /* those with i = j */
  int64_t *cost;            /* costs of the deaths on the first side of each test */
  struct hazard_sums all;
  int64_t generation; /* changes whenever the sums do */
  int64_t cut_from;   /* generation of the table that these rows are a part of, 0 for none */
};

/* What all problems share. */
struct hazards {
  const struct hazard_stumps *kernel;
  int32_t *first;  /* for every row: where its tests begin */
  int32_t *listed; /* the tests to which it gives the rarer answer */
  int32_t *here;   /* those of the row at hand that are usable */
  uint8_t *rarer;  /* for every test: whether its first side is the yes side */
  double *best[2]; /* best stump on the second and the first side of each test */
  double *room;    /* for the kernel */
  int64_t generations;
  struct hazard_table *shared; /* the only table if there are too many tests for one per depth, else NULL */
};

/* Cells of test i are at row[j] for j >= i. */
static inline struct hazard_cell *hazard_row (const struct general *general, const struct hazard_table *table,
                                              int64_t i) {
  return table->cell + i * general->tests - i * (i + 1) / 2;
}

/* NULL if out of memory. */
struct hazard_table *hazard_table_make (struct general *);
void hazard_table_release (struct general *, struct hazard_table *);
/* The sums of the rows of a problem whose usable tests are known. */
const struct hazard_table *hazard_table_of (struct general *, struct general_subproblem *, int32_t depth);

#endif
