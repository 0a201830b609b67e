/* Finds decision trees over columns of numbers whose leaves are coupled by bounds on sums over all rows.

   Every row has, for each class and each of several sums, a whole number. Each leaf chooses a class, and a tree adds up
   the numbers of its rows. Sum 0, plus the price of the leaves, is the value and is made as small as possible; all
   other sums have to stay between their bounds. Tests may have fees, and leaves rules. A column is a code for every
   row; a split sends rows with a code of at most `cut` to the yes side. As in `treeml.h`, functions return 0 or an
   error code, `treeml_coupled_numeric_message` says what was wrong, one solver belongs to one thread at a time, and
   only `treeml_coupled_numeric_interrupt` may be called from another. */
#ifndef TREEML_COUPLED_NUMERIC_H
#define TREEML_COUPLED_NUMERIC_H

#include "treeml.h"

#include <stdint.h>

typedef struct treeml_coupled_numeric treeml_coupled_numeric;

/* Called from time to time, and whenever a better tree is known. A non-zero return value stops the search with the
   best tree so far. */
typedef int (*treeml_coupled_numeric_progress) (void *state, double seconds, int64_t value, int64_t bound, int better);

TREEML_PUBLIC treeml_coupled_numeric *treeml_coupled_numeric_create (void);
TREEML_PUBLIC void treeml_coupled_numeric_destroy (treeml_coupled_numeric *);
TREEML_PUBLIC const char *treeml_coupled_numeric_message (const treeml_coupled_numeric *);

/* The data, column after column; codes are whole numbers from 0. Arrays are copied; no pointer is kept. */
TREEML_PUBLIC int treeml_coupled_numeric_columns (treeml_coupled_numeric *, const int32_t *codes, int64_t columns,
                                                  int64_t rows);
/* How many of the user's rows each row represents; 1 without this call, or with NULL. */
TREEML_PUBLIC int treeml_coupled_numeric_counts (treeml_coupled_numeric *, const int64_t *count);
/* sums x rows x classes. */
TREEML_PUBLIC int treeml_coupled_numeric_values (treeml_coupled_numeric *, const int64_t *values, int64_t sums,
                                                 int32_t classes);
/* For the sums 1, 2 ...: lowest and highest total; INT64_MIN and INT64_MAX mean none. */
TREEML_PUBLIC int treeml_coupled_numeric_bounds (treeml_coupled_numeric *, const int64_t *low, const int64_t *high);

/* Fees of tests, after the counts, which remove them: as treeml_coupled_fees, but of groups of columns; `group` has the
   group of every column. Fees of both kinds have the same groups. */
TREEML_PUBLIC int treeml_coupled_numeric_fees (treeml_coupled_numeric *, int32_t kind, const int64_t *below,
                                               int32_t groups, const int32_t *group, int64_t most);
/* Rules for every leaf, after the values, as treeml_coupled_rules. */
TREEML_PUBLIC int treeml_coupled_numeric_rules (treeml_coupled_numeric *, const int64_t *purity, const int64_t *cost,
                                                int64_t most);

/* A tree to begin with: node 0 is the root, column -1 marks a leaf of class `label`. It is dropped if it violates a
   constraint. */
TREEML_PUBLIC int treeml_coupled_numeric_start (treeml_coupled_numeric *, const int32_t *column, const int32_t *cut,
                                                const int32_t *yes, const int32_t *no, const int32_t *label,
                                                int64_t nodes);

/* Options are a table; a name that is not in it is an error. */
TREEML_PUBLIC int treeml_coupled_numeric_set (treeml_coupled_numeric *, const char *option, int64_t value);
TREEML_PUBLIC int32_t treeml_coupled_numeric_options (void);
TREEML_PUBLIC int treeml_coupled_numeric_option (int32_t index, const char **name, int64_t *low, int64_t *high,
                                                 int64_t *initial, const char **help);
TREEML_PUBLIC int treeml_coupled_numeric_watch (treeml_coupled_numeric *, treeml_coupled_numeric_progress, void *state);

TREEML_PUBLIC int treeml_coupled_numeric_solve (treeml_coupled_numeric *);
/* Ends the solve that runs in another thread, or the next one if none does: it may come before the search. */
TREEML_PUBLIC void treeml_coupled_numeric_interrupt (treeml_coupled_numeric *);

/* Status, stop, value, bound and number of nodes; status and stop as in treeml.h. The bound is INT64_MAX if there is no
   tree. */
TREEML_PUBLIC int treeml_coupled_numeric_answer (const treeml_coupled_numeric *, int64_t answer[5]);
/* The totals of all sums for the best tree, without the price of leaves. */
TREEML_PUBLIC int treeml_coupled_numeric_totals (const treeml_coupled_numeric *, int64_t *totals);
/* These may also be called within the progress function, where they describe the best tree so far. */
TREEML_PUBLIC int64_t treeml_coupled_numeric_nodes (const treeml_coupled_numeric *);
TREEML_PUBLIC int treeml_coupled_numeric_tree (const treeml_coupled_numeric *, int32_t *column, int32_t *cut,
                                               int32_t *yes, int32_t *no, int32_t *label);

TREEML_PUBLIC int32_t treeml_coupled_numeric_statistics (void);
TREEML_PUBLIC int treeml_coupled_numeric_statistic (const treeml_coupled_numeric *, int32_t index, const char **name,
                                                    double *value, const char **help);
/* The values of all statistics, in the order of their indices. */
TREEML_PUBLIC int treeml_coupled_numeric_numbers (const treeml_coupled_numeric *, double *values);
TREEML_PUBLIC const char *treeml_coupled_numeric_kernel (const treeml_coupled_numeric *);

#endif
