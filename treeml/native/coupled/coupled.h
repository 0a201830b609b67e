/* coupled/: trees of least cost whose bounded sums over all rows stay within limits, such as fairness, recall,
   precision, rates and budgets. These requirements couple the leaves: what one leaf may predict depends on the others.

   Every row has, for every class k and every j = 0 .. sums, a whole number values[j][row][k]: what predicting k there
   adds to sum j. Sum 0 is the cost. A tree is wanted of least cost + leaf_price * leaves with low[j] <= sum j <=
   high[j] for j = 1 .. sums. Tests may have fees, which are part of the value or are limited, and leaves may have to
   keep rules of their own.

   input.c checks and merges rows and tests, fees.c and rules.c know what tests cost and which leaves are allowed,
   table.c sums over pairs of tests, bounds.c bounds trees at fixed
   multipliers of the requirements, dual.c looks for the multipliers of the best bound, enumerate.c closes the gap that
   is left with lists of vectors (vector_list.h), rebuild.c makes trees, and run.c runs a solve.

     treeml_coupled *coupled = treeml_coupled_create ();
     treeml_coupled_tests (coupled, bits, tests, rows, NULL);
     treeml_coupled_values (coupled, values, sums, classes);
     treeml_coupled_limits (coupled, low, high);
     treeml_coupled_set (coupled, "depth", 3);
     treeml_coupled_solve (coupled);
     ... treeml_coupled_value (coupled), treeml_coupled_tree (coupled, test, yes, no, label) ...
     treeml_coupled_destroy (coupled);

   Codes, statuses, reasons to stop and the progress function are those of treeml.h. */
#ifndef TREEML_COUPLED_H
#define TREEML_COUPLED_H

#include "treeml.h"

#include <stdint.h>

typedef struct treeml_coupled treeml_coupled;

TREEML_PUBLIC treeml_coupled *treeml_coupled_create (void);
TREEML_PUBLIC void treeml_coupled_destroy (treeml_coupled *);
TREEML_PUBLIC const char *treeml_coupled_message (const treeml_coupled *);

/* The data; all arrays are copied. `bits` are tests x rows bytes, 0 or 1; `columns` the column of every test, or NULL.
   New tests remove everything else. */
TREEML_PUBLIC int treeml_coupled_tests (treeml_coupled *, const uint8_t *bits, int64_t tests, int64_t rows,
                                        const int32_t *columns);
/* How many rows a row stands for (1 if not given; this removes fees), and the tests that may not be used (bytes, or
   NULL for none). */
TREEML_PUBLIC int treeml_coupled_counts (treeml_coupled *, const int64_t *count);
TREEML_PUBLIC int treeml_coupled_forbid (treeml_coupled *, const uint8_t *forbidden);
/* (1 + sums) x rows x classes. May be given again with other numbers; limits and rules are then none. */
TREEML_PUBLIC int treeml_coupled_values (treeml_coupled *, const int64_t *values, int32_t sums, int32_t classes);
/* Limits of every sum; INT64_MIN and INT64_MAX for none. */
TREEML_PUBLIC int treeml_coupled_limits (treeml_coupled *, const int64_t *low, const int64_t *high);
/* Fees: what each row pays for a test of a column on its path. `below` is (1 + columns) x columns: the fee of a column
   if nothing was tested above it, then its fee below a test of column 0, 1 ...; the least one counts, and that of a
   column below itself is 0. Fees of kind 0 are part of the value. Fees of kind 1 add up to at most `most`. Columns are
   those of treeml_coupled_tests; NULL removes the fees of this kind. Rows pay by their counts. */
TREEML_PUBLIC int treeml_coupled_fees (treeml_coupled *, int32_t kind, const int64_t *below, int32_t columns,
                                       int64_t most);
/* Rules for every leaf, after the values: there must be a class k with a sum of purity[row][k] of at least 0, and the
   sum of cost[row][class of the leaf] is at most `most`. Both are rows x classes, or NULL for no such rule. */
TREEML_PUBLIC int treeml_coupled_rules (treeml_coupled *, const int64_t *purity, const int64_t *cost, int64_t most);
/* A tree to begin with: node 0 is the root, test -1 marks a leaf. It is ignored if it violates a limit. */
TREEML_PUBLIC int treeml_coupled_start (treeml_coupled *, const int32_t *test, const int32_t *yes, const int32_t *no,
                                        const int32_t *label, int64_t nodes);

TREEML_PUBLIC int treeml_coupled_set (treeml_coupled *, const char *option, int64_t value);
TREEML_PUBLIC int32_t treeml_coupled_options (void);
TREEML_PUBLIC int treeml_coupled_option (int32_t index, const char **name, int64_t *low, int64_t *high,
                                         int64_t *initial, const char **help);
/* INT64_MAX stands for a value, INT64_MIN for a bound that is not known yet. */
TREEML_PUBLIC int treeml_coupled_watch (treeml_coupled *, treeml_progress, void *state);

TREEML_PUBLIC int treeml_coupled_solve (treeml_coupled *);
/* Ends the solve that runs in another thread, or the next one if none does: it may come before the search. */
TREEML_PUBLIC void treeml_coupled_interrupt (treeml_coupled *);

/* The answer to the last solve. */
TREEML_PUBLIC int32_t treeml_coupled_status (const treeml_coupled *);
TREEML_PUBLIC int32_t treeml_coupled_stop (const treeml_coupled *);
TREEML_PUBLIC int64_t treeml_coupled_value (const treeml_coupled *);
TREEML_PUBLIC int64_t treeml_coupled_bound (const treeml_coupled *);
TREEML_PUBLIC int64_t treeml_coupled_sum (const treeml_coupled *, int32_t sum); /* 1 .. sums */
TREEML_PUBLIC int64_t treeml_coupled_nodes (const treeml_coupled *);
TREEML_PUBLIC int treeml_coupled_tree (const treeml_coupled *, int32_t *test, int32_t *yes, int32_t *no,
                                       int32_t *label);

TREEML_PUBLIC int32_t treeml_coupled_statistics (void);
TREEML_PUBLIC int treeml_coupled_statistic (const treeml_coupled *, int32_t index, const char **name, double *value,
                                            const char **help);
/* The values of all statistics, in the order of their indices. */
TREEML_PUBLIC int treeml_coupled_numbers (const treeml_coupled *, double *values);
TREEML_PUBLIC const char *treeml_coupled_kernel (const treeml_coupled *);

#endif
