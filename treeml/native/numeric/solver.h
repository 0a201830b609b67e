/* numeric/: the search over columns of numbers with every threshold. numeric.h is the public interface.

   columns.h and sort.h turn columns into ranks, data.c makes planes of costs, row_set.c and child.h hold sets of rows,
   depth_two.c finds the best tree of depth two, with intervals.h, rivals.h (many classes), quantile_stump.h and
   quantile_walk.h, and search.c those of any depth, with side.c, raise.c, trace.h and neighbours.h; greedy.c finds
   first trees and improve.h better ones, with reroute.h, leaf.c evaluates leaves exactly, tree.c holds trees, run.c
   runs a solve from the first trees to the proof, solver.c is the handle, and matrix.c a short way to it. This header
   declares what they share. */
#ifndef TREEML_NUMERIC_SOLVER_H
#define TREEML_NUMERIC_SOLVER_H

#include "common/arena.h"
#include "common/clock.h"
#include "common/memory.h"
#include "common/options.h"
#include "common/platform.h"
#include "common/statistics.h"
#include "numeric/numeric.h"
#include "numeric/quantile.h"
#include "simd/numeric_kernel.h"

#include <stdatomic.h>

#define NUMERIC_NONE (INT64_MAX / 4)    /* the value if there is no tree */
#define NUMERIC_ALL (INT64_C (1) << 62) /* the most leaves if nothing but the depth limits them */

enum numeric_goal {
  numeric_goal_none,
  numeric_goal_two,
  numeric_goal_many,
  numeric_goal_squared,
  numeric_goal_quantile
};

/* A tree over the kept columns; column -1 marks a leaf, and node 0 is the root. */
struct numeric_tree {
  int32_t *column, *cut, *yes, *no, *label;
  int64_t nodes, room;
};

/* Rows in the order of every column and, made when needed, the codes of one column in the order of another. */
struct numeric_set {
  int64_t rows;
  int32_t **order;
  void **pair;     /* [in the order of g][codes of f] at g * columns + f, or NULL */
  void **plane;    /* values of the rows in the order of g at g * planes + k */
  int64_t **worth; /* running sums of the rows' worth, rows + 1 of them; NULL where every row is worth 1 */
  int complete;    /* whether planes and worths have been made */
};

struct numeric_worker;

struct treeml_numeric {
  struct arena arena;
  struct options options;
  struct statistics statistics;
  char message[256];
  int code;

  int64_t rows;
  int32_t given;         /* number of given columns */
  int32_t columns;       /* number of kept columns: neither constant nor equal to another */
  int32_t *source;       /* for each kept column: its number among the given ones */
  int32_t *alias;        /* for each given column: the kept column equal to it, or -1 if it is constant */
  int32_t **alias_codes; /* for each given column equal to another: its own code of every rank */
  int32_t *single;       /* for each given column: its first code */
  int32_t **rank;        /* for each kept column: the rank of every row */
  int32_t **code_of;     /* for each kept column: the code of every rank, or NULL if that is the rank */
  int32_t *levels;
  int32_t **order;
  uint64_t *key;      /* for each kept column: a hash of its ranks */
  int32_t ranked;     /* number of given columns that are sorted */
  int32_t **unranked; /* the codes of the others */
  int32_t *group;     /* for each given column: columns of one group are paid for once on a path; NULL without fees */
  int64_t *fee;       /* for each given column: what a row pays, times its count, for the first test of the group */
  int64_t *count;     /* how many rows each row represents, or NULL */
  int has_zero;       /* whether a count is 0 */
  int64_t total_count;

  enum numeric_goal goal;
  int32_t classes, planes;
  int64_t **value; /* a number of every row for each plane; then its worth; then its class, or its square as the bits of
                      a double, or the places of its targets */
  int32_t value_planes;
  int unit_worth;
  int labelled; /* whether there are many classes and every row counts the same: planes are made from labels */
  int pure;     /* whether a row gains its worth from one class and nothing from the others */
  int64_t base; /* the cost that all trees share and the search does not see */
  int64_t worth_sum, worth_most;
  double unit, square_sum;
  int64_t up, down; /* quantile loss: the cost per unit above and below what is predicted */
  int32_t outputs;  /* of a quantile loss */
  struct numeric_targets *targets;
  int weighted;  /* whether a row has another weight than 1 */
  int shift;     /* number of low bits of weight times target that are dropped; the unit accounts for them */
  double amount; /* the largest amount that the caller adds to losses */
  double error;  /* how far a leaf may be off before the unit is applied, apart from rounding to units */
  struct numeric_tree start;
  struct numeric_tree proposal; /* of the caller, while a search runs; without nodes if there is none */

  treeml_numeric_progress watch;
  void *watch_state;

  /* The state of the search that is running. */
  const struct numeric_kernel *kernel;
  int64_t depth, leaves;
  int any_leaves;        /* whether rows and depth limit the leaves enough */
  int decided;           /* whether the best tree is known to be optimal before all cuts are closed */
  int64_t known;         /* no tree up to this depth is better than the best one, if leaves have a price */
  int64_t upper, enough; /* in the values that the search sees */
  int64_t claimed;       /* the value of the best tree of the whole problem that the search believes to have found */
  double began, deadline, next_watch;
  atomic_int stopping; /* 1 + enum treeml_stop, or 0 */
  atomic_int interrupted;
  struct numeric_tree best; /* in the caller's columns and codes once the search has ended */
  int best_is_given;        /* whether `best` is in the caller's columns and codes */
  atomic_llong best_value, bound;
  thread_lock best_lock;
  int better; /* since the last call of the progress function */
  int32_t status, stop;
};

int numeric_fail (treeml_numeric *, int code, const char *format, ...);

/* Every long loop of a worker calls this. A non-zero result means: return. */
int numeric_poll (struct numeric_worker *);
void numeric_stop_search (treeml_numeric *, int why);
/* Goes on after the allowance of a worker was used up; returns whether it was. */
int numeric_resume (treeml_numeric *);
static inline int numeric_stopping (treeml_numeric *solver) {
  return atomic_load_explicit (&solver->stopping, memory_order_relaxed);
}

/* Whether a leaf with rows can have fewer than the support. */
static inline int numeric_needs_support (const treeml_numeric *solver) {
  return solver->options.support > 1 || solver->has_zero;
}

/* The groups that are tested above a node. */
struct numeric_path {
  const struct numeric_path *above;
  int32_t group;
};
static inline struct numeric_path numeric_path_add (const treeml_numeric *solver, const struct numeric_path *above,
                                                    int32_t column) {
  return (struct numeric_path) {above, solver->group ? solver->group[solver->source[column]] : -1};
}
/* What each of the user's rows pays for a test of a column below a path. */
static inline int64_t numeric_fee (const treeml_numeric *solver, const struct numeric_path *path, int32_t column) {
  if (!solver->group || column < 0)
    return 0;
  const int32_t given = solver->source[column];
  for (; path; path = path->above)
    if (path->group == solver->group[given])
      return 0;
  return solver->fee[given];
}

/* What the leaves of a tree that is deeper than this cost at least. */
static inline int64_t numeric_deeper_price (int64_t price, int64_t depth) { return (depth + 2) * price; }
/* The depth beyond which the prices of the leaves alone reach the budget. */
static inline int64_t numeric_useful_depth (const treeml_numeric *solver, int64_t depth, int64_t budget) {
  const int64_t price = solver->options.leaf_price, leaves = price > 0 && budget > 0 ? (budget - 1) / price : 0;
  if (price <= 0 || leaves > depth)
    return depth;
  return leaves > 1 ? leaves - 1 : 0;
}

/* The caller's code for a rank of a kept column. */
static inline int32_t numeric_given_code (const treeml_numeric *solver, int32_t column, int32_t rank) {
  return solver->code_of[column] ? solver->code_of[column][rank] : rank;
}

/* Trees. */
int64_t numeric_tree_add (struct arena *, struct numeric_tree *, int32_t column, int32_t cut); /* -1 if out of memory */
int64_t numeric_tree_append (struct arena *, struct numeric_tree *,
                             const struct numeric_tree *); /* its new root, or -1 */
int numeric_tree_copy (struct arena *, struct numeric_tree *, const struct numeric_tree *);
void numeric_tree_release (struct arena *, struct numeric_tree *);
/* Drops splits with an empty side and sets labels; returns the value without `base`, or NUMERIC_NONE if a constraint
   is violated. */
int64_t numeric_tree_finish (treeml_numeric *, struct numeric_tree *);

/* Sets. */
struct numeric_filter { /* rows on one side of a cut */
  int32_t column;
  int64_t cut;
  int side; /* 0: codes up to the cut; 1: larger codes */
};
int numeric_set_root (treeml_numeric *, struct numeric_set *);
/* Returns 0 if out of memory, or if the search is stopping. */
int numeric_set_split (struct numeric_worker *, const struct numeric_set *, int column, int64_t cut, int side,
                       struct numeric_set *);
/* Takes every `step`-th row. */
int numeric_set_sample (struct numeric_worker *, const struct numeric_set *, int64_t step, struct numeric_set *);
/* Takes the rows that pass all filters. */
int numeric_set_filter (struct numeric_worker *, const struct numeric_set *, const struct numeric_filter *, int filters,
                        struct numeric_set *);
/* Takes the rows whose mark, a 0 or a 1, is 1. */
int numeric_set_marked (struct numeric_worker *, const struct numeric_set *, const uint8_t *marked,
                        struct numeric_set *);
void numeric_set_release (treeml_numeric *, struct numeric_set *);
/* Codes of one column in the order of another: stored with the set if `keep`, else written to `room`. */
const void *numeric_set_pair (treeml_numeric *, struct numeric_set *, int order, int column, int keep, void *room);
int numeric_set_values (struct numeric_worker *, struct numeric_set *); /* likewise */
/* Makes everything that searches of the set may need, so that threads only read. */
int numeric_set_prepare (struct numeric_worker *, struct numeric_set *);
static inline int64_t numeric_worth (const struct numeric_set *set, int column, int64_t position) {
  return set->worth ? set->worth[column][position] : position;
}

/* Leaves. `sums` are those of the planes; `top` and `square` are totals over the rows. */
int64_t numeric_leaf (enum numeric_goal, int32_t planes, const int64_t *sums, int64_t top, double square, double unit);
int32_t numeric_label (const treeml_numeric *, const int64_t *sums);
/* The loss of all leaves of a tree together, for a quantile loss; `leaf` is the leaf of every row. -1 if out of
   memory. */
int64_t numeric_quantile_value (treeml_numeric *, const int32_t *leaf, int64_t leaves);
static inline double numeric_square (const treeml_numeric *solver, int64_t row) {
  union {
    int64_t whole;
    double real;
  } bits = {solver->value[solver->planes + 1][row]};
  return bits.real;
}

/* Adds the gains of a row: of one class only if rows are pure. */
static inline void numeric_add (const treeml_numeric *solver, int64_t *sums, int32_t row) {
  if (solver->goal == numeric_goal_many && solver->pure)
    sums[solver->value[solver->planes + 1][row]] += solver->value[solver->planes][row];
  else
    for (int32_t k = 0; k < solver->planes; k++)
      sums[k] += solver->value[k][row];
}

/* A leaf, or the best split into two leaves, of the rows that pass all filters. */
struct numeric_stump {
  int64_t value;  /* including the price of leaves; NUMERIC_NONE if there is none */
  int32_t column; /* -1: a leaf */
  int64_t cut;
};
/* `only`: the column of the split, or -1 for any. */
struct numeric_stump numeric_best_stump (struct numeric_worker *, const struct numeric_set *,
                                         const struct numeric_filter *, int filters, int64_t leaves, int32_t only,
                                         const struct numeric_path *);

/* The result of a search of a set. */
struct numeric_outcome {
  int64_t value; /* of the best tree below the budget, or NUMERIC_NONE */
  int64_t bound; /* no tree of these rows, or of more rows, is better, even without a bound on support */
};

/* Depth two. */
struct numeric_trace;
struct numeric_part { /* the rows of a set on one side of a cut, or all of them */
  struct numeric_set *set;
  int32_t column; /* -1 for all rows */
  int64_t cut;
  int side;
  const struct numeric_path *path;   /* includes the column */
  const struct numeric_trace *trace; /* of a part with fewer rows, or NULL */
};
struct numeric_found { /* the root of the best tree, from which the rest can be rebuilt */
  int kind;            /* 0 none, 1 a leaf or a stump, 2 a split at depth two */
  int32_t column;
  int64_t cut;
  int32_t stump[2]; /* the columns of the splits below, or -1 for any */
};
struct numeric_outcome numeric_depth_two (struct numeric_worker *, const struct numeric_part *, int64_t depth,
                                          int64_t leaves, int64_t budget, int root, struct numeric_found *);
int numeric_depth_two_tree (struct numeric_worker *, const struct numeric_part *, int64_t leaves,
                            const struct numeric_found *, struct numeric_tree *);

/* Any depth. `warm` holds the bounds of neighbours and receives new ones; or NULL. */
struct numeric_warm;
struct numeric_task {
  int64_t depth, leaves, budget; /* only trees of a value below the budget are wanted */
  int64_t known;                 /* trees up to this depth need not be found: none is below the budget */
  int root;                      /* whether it is the whole problem */
  const struct numeric_path *path;
};
struct numeric_outcome numeric_search (struct numeric_worker *, struct numeric_set *, const struct numeric_task *,
                                       struct numeric_tree *, struct numeric_warm *warm);
struct numeric_split {
  double score;
  int32_t column; /* -1 if there is none */
  int64_t cut;
};
/* The split that separates the classes or targets best; `only`: of this column, or -1 for any. */
struct numeric_split numeric_separating_split (struct numeric_worker *, const struct numeric_set *, int32_t only);
/* The split with which the best tree of depth two begins; that of CART if depth two is of no use. */
struct numeric_split numeric_look_ahead (struct numeric_worker *, struct numeric_set *, int64_t depth, int64_t leaves);
/* With a guide, a tree over the same rows, its splits are followed except for the last two of a path, which are
   solved. Without one, `ahead` = 1 chooses splits by the best trees of depth two; 1 and 2 solve the last two, too, and
   go on below the leaves of a guide. */
int numeric_greedy (struct numeric_worker *, struct numeric_set *, int64_t depth, int64_t leaves,
                    const struct numeric_tree *guide, int64_t at, int ahead, struct numeric_tree *);
/* Finishes a tree for all rows, and keeps and reports it if it is better. */
void numeric_offer (struct numeric_worker *, const struct numeric_tree *);
/* The same for a tree of the search, which prunes by this value from now on: without such a tree nothing is proved. */
void numeric_offer_found (struct numeric_worker *, const struct numeric_tree *, int64_t value);
void numeric_release_data (treeml_numeric *);
void numeric_release_columns (treeml_numeric *);
/* Sorts the columns that are not sorted yet, or only some of them if a search is stopping. Returns 0 if out of
   memory. */
int numeric_rank_columns (treeml_numeric *, struct numeric_worker *);
void numeric_raise_bound (treeml_numeric *, int64_t bound);
/* Offers the tree that the caller proposed, if there is one. */
void numeric_take_proposal (struct numeric_worker *);

/* How far the lower bound has been raised, see climb.h. */
struct numeric_climb {
  int64_t effort;                /* in polls, as numeric_worker.allowance */
  int64_t polls;                 /* of all climbing so far */
  int64_t bound;                 /* no tree is better */
  int64_t hard;                  /* the last target that took too much effort, or 0 */
  int tries;                     /* how often it did */
  int relaxing;                  /* whether relaxed splits raise it */
  int final;                     /* whether they cannot raise it any further */
  struct numeric_set *hard_rows; /* that are hard to predict, see hard.h; or NULL */
  int sought;                    /* whether such rows were looked for */
  struct numeric_set *sample;    /* every `step`-th row; or NULL */
  int64_t step, most_step;       /* steps above `most_step`, unless that is 0, leave too few rows */
};

struct numeric_child;
struct numeric_grouping;
struct numeric_relaxation;
struct numeric_improvement;
struct numeric_worker {
  treeml_numeric *solver;
  struct statistics statistics;
  int number; /* worker 0 runs in the caller's thread and is the only one to call back */
  int64_t until_clock, polls;
  int64_t allowance; /* number of polls after which a search pauses, or 0 */
  int64_t slack;     /* as the option */
  int64_t first;     /* as the option, until the search of all splits begins: no parts are replaced before */
  int64_t spare;     /* numeric_greedy gives up if its trees of depth two cost this much; NUMERIC_NONE: never */
  int climbing;      /* whether it looks for a tree below a target that is probably too low, see climb.h */
  struct numeric_child *child;
  struct numeric_climb climb;
  struct numeric_relaxation *relaxation;   /* what is known about relaxed splits, or NULL */
  struct numeric_grouping *grouping;       /* of targets, if leaves predict one number; or NULL */
  struct numeric_improvement *improvement; /* the search for trees by replacing parts of them, or NULL */
  int64_t *sums;                           /* memory for sums of every plane */
  int32_t *row;                            /* memory for every row */
  int64_t *most;                           /* likewise */
  struct numeric_quantile quantile;        /* for quantile losses only */
};

int numeric_worker_create (struct numeric_worker *); /* 0 if out of memory */
void numeric_worker_destroy (struct numeric_worker *);

/* Counts work on this many rows outside of sweeps, which is slower. A non-zero result means: return. */
static inline int numeric_spent (struct numeric_worker *worker, int64_t rows) {
  worker->until_clock -= 8 * rows;
  return worker->until_clock <= 0 ? numeric_poll (worker) : numeric_stopping (worker->solver);
}

/* Loops that visit rows in scattered order poll after this many rows. */
enum { numeric_block = 1 << 16 };

struct numeric_child *numeric_child_create (treeml_numeric *);
void numeric_child_destroy (treeml_numeric *, struct numeric_child *);

static inline int64_t numeric_cell (const void *cells, int width, int64_t index) {
  return width == 2   ? ((const int16_t *) cells)[index]
         : width == 4 ? ((const int32_t *) cells)[index]
                      : ((const int64_t *) cells)[index];
}
static inline int64_t numeric_code (const void *cells, int width, int64_t index) {
  return numeric_cell (cells, width, index) + (width == 2 ? 32768 : 0);
}

#endif
