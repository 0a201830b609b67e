/* Finds decision trees of least cost, proved best.

   A solver holds one data set and can be asked many times. Rows are numbered from 0, tests are yes-or-no questions
   given as bytes (0 or 1), test after test. All functions return 0 or an error code; `treeml_message` then says what
   was wrong. One solver belongs to one thread at a time; only `treeml_interrupt` may be called from another.

   The example is compiled and run as a test:

   <example>
     const uint8_t bits[] = {0, 0, 1, 1,
                             0, 1, 0, 1};
     const int32_t labels[] = {0, 1, 1, 0};
     treeml_solver *solver = treeml_create ();
     treeml_tests (solver, bits, 2, 4, NULL);
     treeml_labels (solver, labels, 2, NULL);
     treeml_set (solver, "depth", 2);
     treeml_solve (solver);
     printf ("%d errors, bound %d, %d nodes\n", (int) treeml_value (solver), (int) treeml_bound (solver),
             (int) treeml_nodes (solver));
     treeml_destroy (solver);
   </example>
*/
#ifndef TREEML_H
#define TREEML_H

#include <stdint.h>

#if defined(_WIN32)
#define TREEML_PUBLIC __declspec (dllexport)
#elif defined(__GNUC__)
#define TREEML_PUBLIC __attribute__ ((visibility ("default")))
#else
#define TREEML_PUBLIC
#endif

typedef struct treeml_solver treeml_solver;

/* What a call returns. */
enum treeml_code {
  TREEML_OK = 0,
  TREEML_BAD_ARGUMENT = 1,
  TREEML_OUT_OF_MEMORY = 2,
  TREEML_OVERFLOW = 3,
  TREEML_CALLBACK_FAILED = 4,
  TREEML_NO_DATA = 5,
  TREEML_INTERNAL = 6 /* the answer failed its own check */
};

/* What is known after treeml_solve. */
enum treeml_status {
  TREEML_UNKNOWN = 0,   /* neither a tree nor a proof */
  TREEML_OPTIMAL = 1,   /* the tree is best */
  TREEML_FEASIBLE = 2,  /* a tree, not proved best */
  TREEML_INFEASIBLE = 3 /* proved: no tree meets the constraints, or none is below the upper limit */
};

/* Why treeml_solve ended. */
enum treeml_stop {
  TREEML_PROVED = 0,
  TREEML_TIME = 1,
  TREEML_INTERRUPTED = 2,
  TREEML_MEMORY = 3,
  TREEML_ENOUGH = 4 /* a tree better than the value asked for was found */
};

/* What the cost of a leaf is. */
enum treeml_loss { TREEML_SQUARED = 0, TREEML_ABSOLUTE = 1, TREEML_QUANTILE = 2 };

/* Writes the costs of `sets` leaves: the rows of leaf i are rows[starts[i]] to rows[starts[i + 1] - 1]. A non-zero
   return value stops the search. */
typedef int (*treeml_leaf_costs) (void *state, int64_t sets, const int64_t *starts, const int32_t *rows, double *costs);

/* Called from time to time, and whenever a better tree is known. A non-zero return value stops the search with the
   best tree so far. */
typedef int (*treeml_progress) (void *state, double seconds, int64_t value, int64_t bound, int better);

TREEML_PUBLIC treeml_solver *treeml_create (void);
TREEML_PUBLIC void treeml_destroy (treeml_solver *);
TREEML_PUBLIC const char *treeml_message (const treeml_solver *);
TREEML_PUBLIC const char *treeml_version (void);

/* The data. `columns` is the column that each test was made from, or NULL. Arrays are copied or packed; no pointer
   is kept. */
TREEML_PUBLIC int treeml_tests (treeml_solver *, const uint8_t *bits, int64_t tests, int64_t rows,
                                const int32_t *columns);
/* The same from packed bits, the first row in the lowest bit of the first word; every test begins a new word. */
TREEML_PUBLIC int treeml_packed_tests (treeml_solver *, const uint64_t *words, int64_t tests, int64_t rows,
                                       const int32_t *columns);
/* How many of the user's rows each row represents; 1 without this call. */
TREEML_PUBLIC int treeml_counts (treeml_solver *, const int64_t *count);
/* Tests with a non-zero byte are never used. */
TREEML_PUBLIC int treeml_forbid (treeml_solver *, const uint8_t *forbidden);

/* One of these defines what a leaf costs. */
TREEML_PUBLIC int treeml_labels (treeml_solver *, const int32_t *labels, int32_t classes, const int64_t *weight);
TREEML_PUBLIC int treeml_costs (treeml_solver *, const int64_t *cost, int32_t classes);
TREEML_PUBLIC int treeml_targets (treeml_solver *, int32_t loss, const int64_t *targets, int32_t outputs,
                                  const int64_t *weight, const int64_t *levels, int32_t level_count,
                                  int64_t level_scale);
/* Survival times: the cumulative hazard of each row in units of 2^-40, whether it died, and minus the logarithm of the
   hazard in the same units for rows that died, 0 for others. A leaf with D deaths, sum of costs C and sum of hazards H
   costs C + D log (H / D). */
TREEML_PUBLIC int treeml_hazards (treeml_solver *, const int64_t *hazard, const int64_t *cost, const uint8_t *died);
/* What the mixture of classes of a leaf costs, whatever it predicts: see solver/impurity.c for the three kinds. A row
   counts weight * unit, or 1 if `weight` is NULL. */
enum { TREEML_CODE_LENGTH, TREEML_ENTROPY, TREEML_GINI };
TREEML_PUBLIC int treeml_impurity (treeml_solver *, int32_t kind, const int32_t *labels, int32_t classes,
                                   const int64_t *weight, double unit);
/* Linear models in the leaves: `values` is rows x columns. A leaf costs the least sum over its rows of weight *
   (squared residual + ridge * squared slopes), with slopes per spread of each column (NULL: 1); the intercept is free.
   A simple model has a slope for one column. */
TREEML_PUBLIC int treeml_lines (treeml_solver *, const double *values, const double *spread, int32_t columns,
                                const double *target, const double *weight, double ridge, int32_t is_simple);
TREEML_PUBLIC int treeml_custom (treeml_solver *, treeml_leaf_costs, void *state);

/* To be called before them: costs of leaves are rounded to units even if whole numbers would be exact, because the
   caller will add amounts up to `beside` to them. Squared losses and the user's own costs are always rounded. If
   only trees with a loss up to `most` are of interest, units are fractions of that, and all larger losses count as
   some larger loss; pass infinity otherwise. */
TREEML_PUBLIC int treeml_round (treeml_solver *, double beside, double most);

/* Further terms and constraints. Column costs are in units. */
TREEML_PUBLIC int treeml_column_costs (treeml_solver *, const int64_t *cost, int32_t columns);
/* After them: column[i] costs only cost[i] on paths that tested before[i] first. */
TREEML_PUBLIC int treeml_column_discounts (treeml_solver *, const int32_t *column, const int32_t *before,
                                           const int64_t *cost, int32_t discounts);
TREEML_PUBLIC int treeml_leaf_limit (treeml_solver *, const int64_t *cost, int64_t limit);
TREEML_PUBLIC int treeml_purity (treeml_solver *, const int64_t *weight, int64_t numerator, int64_t denominator);

/* A tree to begin with: node 0 is the root, test -1 marks a leaf with its label in `yes`. */
TREEML_PUBLIC int treeml_start (treeml_solver *, const int32_t *test, const int32_t *yes, const int32_t *no,
                                int64_t nodes);

/* Options are a table; a name that is not in it is an error. */
TREEML_PUBLIC int treeml_set (treeml_solver *, const char *option, int64_t value);
TREEML_PUBLIC int treeml_get (const treeml_solver *, const char *option, int64_t *value);
TREEML_PUBLIC int32_t treeml_options (void);
TREEML_PUBLIC int treeml_option (int32_t index, const char **name, int64_t *low, int64_t *high, int64_t *initial,
                                 const char **help);
TREEML_PUBLIC int treeml_watch (treeml_solver *, treeml_progress, void *state);

TREEML_PUBLIC int treeml_solve (treeml_solver *);
/* Ends the solve that runs in another thread, or the next one if none does: it may come before the search. */
TREEML_PUBLIC void treeml_interrupt (treeml_solver *);

/* The answer to the last treeml_solve; for several quantile levels, of the level chosen by treeml_choose. */
TREEML_PUBLIC int treeml_choose (treeml_solver *, int32_t level);
TREEML_PUBLIC int32_t treeml_status (const treeml_solver *);
TREEML_PUBLIC int32_t treeml_stop (const treeml_solver *);
TREEML_PUBLIC int64_t treeml_value (const treeml_solver *);
TREEML_PUBLIC int64_t treeml_bound (const treeml_solver *);
/* Values are whole numbers of 1 / unit; 1 for counts and costs, a power of two for losses. */
TREEML_PUBLIC double treeml_unit (const treeml_solver *);
/* Whether costs of leaves are rounded to units. If so, treeml_slack is the number of units by which the best tree
   may miss the optimum and the bound may be too high. */
TREEML_PUBLIC int treeml_rounds (const treeml_solver *);
TREEML_PUBLIC int64_t treeml_slack (const treeml_solver *);
TREEML_PUBLIC int64_t treeml_nodes (const treeml_solver *);
TREEML_PUBLIC int treeml_tree (const treeml_solver *, int32_t *test, int32_t *yes, int32_t *no, int32_t *label);

/* Statistics are a table too. */
TREEML_PUBLIC int32_t treeml_statistics (void);
TREEML_PUBLIC int treeml_statistic (const treeml_solver *, int32_t index, const char **name, double *value,
                                    const char **help);
/* The values of all of them at once. */
TREEML_PUBLIC int treeml_all_statistics (const treeml_solver *, double *values);
TREEML_PUBLIC const char *treeml_kernel (const treeml_solver *);

/* The short way, for brief searches: the tests as a matrix of bytes, row after row, and the squared loss of one number
   for every row. The answer is a head, and for each node its test (-1: a leaf), the nodes behind yes and no, and the
   rows and the sum of numbers that the matrix has there if it is a leaf. `needless` says whether a question has the
   same questions and the same means on both of its sides. */
enum {
  treeml_squares_status,
  treeml_squares_value,
  treeml_squares_bound,
  treeml_squares_slack,
  treeml_squares_height,
  treeml_squares_needless,
  treeml_squares_size, /* the number of nodes */
  treeml_squares_head,
  treeml_squares_part = 5,       /* numbers of a node */
  treeml_squares_depth = 10,     /* at most */
  treeml_squares_not_whole = 100 /* returned if `numbers` has a fraction */
};
/* Solves and reports at once. Either `numbers`, which must be whole, or `whole_numbers` are given. `answer` has room
   for the head and the nodes of a tree of this depth, `reals` for the unit and the sum of squares, `statistics` for all
   of them, and `message` for 256 characters that say what was wrong. `watch` may be NULL. */
TREEML_PUBLIC int treeml_least_squares (const uint8_t *cells, const double *numbers, const int64_t *whole_numbers,
                                        int64_t rows, int64_t columns, int64_t depth, int64_t milliseconds,
                                        treeml_progress watch, int64_t *answer, double *reals, double *statistics,
                                        char *message);

#endif
