/* Depth two for squared loss from packed rows: see simd/packed_body.h.

   The sum of the rows that pass three tests is part of three passes: those of each of the three tests. So a pass keeps
   the lines of the tests that are still to come, which then need not be added again: of all sums, only a third is
   computed. */
#ifndef TREEML_PACKED_MOMENTS_H
#define TREEML_PACKED_MOMENTS_H

#include "pair/search.h"

int packed_make (struct worker *); /* 0 if out of memory */
void packed_release (struct worker *);

/* Sums over pairs of tests of some rows, whose numbers are those of the target, or the worths. Returns 0 if the search
   was stopped in between; the sums are then incomplete. */
int add_packed_rows (struct worker *, const int32_t *ids, int32_t count, int worths, struct cell_sums *);

/* To be called when the rows of a sub-problem have changed: nothing is known of its passes. */
void packed_open (struct worker *, const struct subproblem *);

/* As `pass` of a model. The sums of pairs of the problem are complete. */
enum passed pass_packed (struct worker *, struct subproblem *, int32_t test, int small_is_yes, int64_t *yes,
                         int64_t *no);

/* As `stump` and `found_side` of a model. */
int packed_stump (struct worker *, struct subproblem *, struct fact *);
int packed_side (const struct worker *, const struct subproblem *, int32_t test, int yes, struct fact *);

/* moment_model.c: what a mean saves of the squares, and the value of a root test given what its no and its yes side
   save as a leaf and at best. */
double leaf_gain (const struct worker *, const double *total);
int64_t value_of_gain (const struct worker *, double squares, double gain, int64_t leaves);
int64_t value_of_sides (const struct worker *, const double *leaf, const double *best, double squares);
double squares_of (const struct worker *, const int32_t *ids, int32_t count);
/* Evaluates wide problems in pieces, so that a deadline is kept. Returns 0 if the search was stopped in between. */
int ask_moments (struct worker *, const struct cell_sums *all, const struct cell_sums *without, int screens);

/* What a side saves at best, given what it saves as a leaf and with one more test; `price` is that of a leaf in the
   unit of the squares. */
static inline double side_gain (double price, double leaf_saves, double best_saves, int64_t *leaves) {
  const int splits = best_saves >= 0 && (leaf_saves < 0 || best_saves - leaf_saves > price);
  *leaves += splits ? 2 : 1;
  return splits ? best_saves : leaf_saves;
}

static inline double price_in_squares (const struct worker *worker) {
  return (double) worker->shared->price / worker->solver->unit;
}

#endif
