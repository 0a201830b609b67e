/* Finds decision trees of least cost over columns of numbers: every threshold, without making tests of them.

   A column is a code for every row; a split sends the rows with a code of at most `cut` to the yes side. Only the order
   of the codes matters. Like `treeml.h`: functions return 0 or an error code, `treeml_numeric_message` says what was
   wrong, one solver belongs to one thread at a time, and only `treeml_numeric_interrupt` may come from another.

   The example is compiled and run as a test:

   <example>
     const int32_t codes[] = {0, 1, 2, 3, 4, 5,
                              0, 0, 1, 1, 0, 1};
     const int32_t labels[] = {0, 0, 1, 1, 0, 0};
     treeml_numeric *solver = treeml_numeric_create ();
     treeml_numeric_columns (solver, codes, 2, 6);
     treeml_numeric_labels (solver, labels, 2, NULL);
     treeml_numeric_set (solver, "depth", 2);
     treeml_numeric_solve (solver);
     printf ("%d errors, bound %d, %d nodes\n", (int) treeml_numeric_value (solver),
             (int) treeml_numeric_bound (solver), (int) treeml_numeric_nodes (solver));
     treeml_numeric_destroy (solver);
   </example>
*/
#ifndef TREEML_NUMERIC_H
#define TREEML_NUMERIC_H

#include "treeml.h"

#include <stdint.h>

typedef struct treeml_numeric treeml_numeric;

/* Called from time to time, and whenever a better tree is known. A non-zero return value stops the search with the
   best tree so far. */
typedef int (*treeml_numeric_progress) (void *state, double seconds, int64_t value, int64_t bound, int better);

TREEML_PUBLIC treeml_numeric *treeml_numeric_create (void);
TREEML_PUBLIC void treeml_numeric_destroy (treeml_numeric *);
TREEML_PUBLIC const char *treeml_numeric_message (const treeml_numeric *);

/* The data, column after column; codes are whole numbers from 0. Arrays are copied; no pointer is kept. */
TREEML_PUBLIC int treeml_numeric_columns (treeml_numeric *, const int32_t *codes, int64_t columns, int64_t rows);
/* The same from finite numbers. The codes, which cuts refer to, are the ranks of the distinct numbers, from 0. */
TREEML_PUBLIC int treeml_numeric_values (treeml_numeric *, const double *values, int64_t columns, int64_t rows);
/* The rank of every row in a column. */
TREEML_PUBLIC int treeml_numeric_rank (treeml_numeric *, int32_t column, int32_t *ranks);
/* A row with the largest code up to a cut and one with the smallest code beyond it; -1 if there is none. */
TREEML_PUBLIC int treeml_numeric_beside (treeml_numeric *, int32_t column, int32_t cut, int32_t rows[2]);
/* How many of the user's rows each row represents; 1 without this call, or with NULL. */
TREEML_PUBLIC int treeml_numeric_counts (treeml_numeric *, const int64_t *count);

/* What a row pays, times its count, if a column is tested on its path: once for all columns of a group, which have the
   same fee. To be called after the columns and before anything that ranks them. */
TREEML_PUBLIC int treeml_numeric_fees (treeml_numeric *, const int32_t *group, const int64_t *fee);

/* Numbers and labels at once: a matrix, row after row, and the class of every row, any number. What was found: the
   number of cuts, of columns with a cut, of columns that hold only 0 and 1 (each counts one cut), of classes, and the
   labels of the classes in ascending order, at most `most` of them. An error if a number is not finite. */
enum {
  treeml_matrix_cuts,
  treeml_matrix_columns,
  treeml_matrix_truths,
  treeml_matrix_classes,
  treeml_matrix_labels, /* the first of them */
  treeml_matrix_node = 7
};
TREEML_PUBLIC int treeml_numeric_matrix (treeml_numeric *, const double *values, int64_t rows, int64_t columns,
                                         const int64_t *labels, int32_t most, int64_t *found);
/* Solves, and reports what treeml_numeric_answer does, followed by `treeml_matrix_node` numbers for every node: its
   column, how many distinct values that has, a row on either side of the cut as in treeml_numeric_beside, the nodes on
   the yes and the no side, and the label. There must be room for all nodes and all statistics. */
TREEML_PUBLIC int treeml_numeric_best (treeml_numeric *, int64_t depth, int64_t microseconds, int64_t room,
                                       int64_t *answer, double *statistics);

/* One of these defines what a leaf costs: weights of misclassified rows, costs by row and class, or a loss. */
TREEML_PUBLIC int treeml_numeric_labels (treeml_numeric *, const int32_t *labels, int32_t classes,
                                         const int64_t *weight);
TREEML_PUBLIC int treeml_numeric_costs (treeml_numeric *, const int64_t *cost, int32_t classes);
TREEML_PUBLIC int treeml_numeric_targets (treeml_numeric *, const int64_t *targets, int32_t outputs,
                                          const int64_t *weight);
/* Absolute and quantile loss: a leaf costs `up` per unit of a target above its best constant and `down` per unit below.
   Output by output, `target` holds the distinct targets in ascending order, `places` how many there are, and `place`
   the number of every row's target among them. */
TREEML_PUBLIC int treeml_numeric_quantile (treeml_numeric *, const int32_t *place, const int64_t *target,
                                           const int32_t *places, int32_t outputs, const int64_t *weight, int64_t up,
                                           int64_t down);

/* To be called before targets: the caller will add amounts up to this to losses, so units are coarse enough for
   them. */
TREEML_PUBLIC int treeml_numeric_round (treeml_numeric *, double amount);

/* A tree to begin with: node 0 is the root, column -1 marks a leaf. */
TREEML_PUBLIC int treeml_numeric_start (treeml_numeric *, const int32_t *column, const int32_t *cut, const int32_t *yes,
                                        const int32_t *no, int64_t nodes);

/* A tree to go on from while a search runs, to be called within the progress function only. It is checked like any
   other, is the answer if it is best, and spares the search all trees that are not better. */
TREEML_PUBLIC int treeml_numeric_propose (treeml_numeric *, const int32_t *column, const int32_t *cut,
                                          const int32_t *yes, const int32_t *no, int64_t nodes);

/* Options are a table; a name that is not in it is an error. */
TREEML_PUBLIC int treeml_numeric_set (treeml_numeric *, const char *option, int64_t value);
TREEML_PUBLIC int treeml_numeric_get (const treeml_numeric *, const char *option, int64_t *value);
TREEML_PUBLIC int32_t treeml_numeric_options (void);
TREEML_PUBLIC int treeml_numeric_option (int32_t index, const char **name, int64_t *low, int64_t *high,
                                         int64_t *initial, const char **help);
TREEML_PUBLIC int treeml_numeric_watch (treeml_numeric *, treeml_numeric_progress, void *state);

TREEML_PUBLIC int treeml_numeric_solve (treeml_numeric *);
/* Ends the solve that runs in another thread, or the next one if none does: it may come before the search. */
TREEML_PUBLIC void treeml_numeric_interrupt (treeml_numeric *);

/* The answer to the last treeml_numeric_solve; status and stop as in treeml.h. */
TREEML_PUBLIC int32_t treeml_numeric_status (const treeml_numeric *);
TREEML_PUBLIC int32_t treeml_numeric_stop (const treeml_numeric *);
TREEML_PUBLIC int64_t treeml_numeric_value (const treeml_numeric *);
TREEML_PUBLIC int64_t treeml_numeric_bound (const treeml_numeric *);
/* Values are whole numbers of 1 / unit: 1 for costs, a power of two for squared error. */
TREEML_PUBLIC double treeml_numeric_unit (const treeml_numeric *);
/* Squared errors are real numbers: the best tree may miss the optimum, and the bound may be too high, by this many
   units with the current options. */
TREEML_PUBLIC int64_t treeml_numeric_slack (const treeml_numeric *);
/* Status, stop, value, bound and number of nodes at once. */
TREEML_PUBLIC int treeml_numeric_answer (const treeml_numeric *, int64_t answer[5]);
/* These may also be called within the progress function, where they describe the best tree so far. */
TREEML_PUBLIC int64_t treeml_numeric_nodes (const treeml_numeric *);
TREEML_PUBLIC int treeml_numeric_tree (const treeml_numeric *, int32_t *column, int32_t *cut, int32_t *yes, int32_t *no,
                                       int32_t *label);

TREEML_PUBLIC int32_t treeml_numeric_statistics (void);
TREEML_PUBLIC int treeml_numeric_statistic (const treeml_numeric *, int32_t index, const char **name, double *value,
                                            const char **help);
TREEML_PUBLIC const char *treeml_numeric_kernel (const treeml_numeric *);

#endif
