/* coupled_numeric/: trees over columns of numbers whose leaves are coupled by bounds on sums. coupled_numeric.h is the
   public interface.

   A tree that meets all bounds and has a value of at most a target also has, for every choice of multipliers of the
   sums, a weighted sum of at most a known limit. WIDTH such choices are used at once. The search lists the vectors
   (value, sums, leaves) of all trees of a sub-problem that can be part of a tree within all limits: table.c computes
   what stumps can reach, bound.c the least weighted sums of deeper trees, enumerate.c the vectors, multipliers.c
   chooses the multipliers, conditions.c knows what tests cost and which leaves are allowed, team.c shares the work
   among threads, run.c raises the target until there is a tree. data.c and rows.c hold the data and sets of rows,
   tree.c the trees, solver.c is the handle. This header declares what they share. */
#ifndef TREEML_COUPLED_NUMERIC_SOLVER_H
#define TREEML_COUPLED_NUMERIC_SOLVER_H

#include "common/arena.h"
#include "common/clock.h"
#include "common/memory.h"
#include "common/options.h"
#include "common/sizes.h"
#include "common/statistics.h"
#include "coupled/path_fees.h"
#include "coupled/vector_list.h"
#include "coupled_numeric/coupled_numeric.h"
#include "simd/stump_trees.h"

#include <stdatomic.h>
#include <stddef.h>

enum { WIDTH = STUMP_WIDTH };
enum { most_classes = 12, most_sums = vector_most_sums };

/* A further reason to stop: a search for a first tree has done its share of the work. */
enum { threshold_paused = 100 };

#define THRESHOLD_NONE (INT64_MAX / 4) /* the value if there is no tree */

/* A tree over kept columns and ranks: column -1 marks a leaf; or, as an answer, over given columns and codes. */
struct threshold_tree {
  int32_t *column, *cut, *yes, *no, *label;
  int64_t nodes, room;
};

/* Nodes of trees that lists of vectors refer to. The first `classes` nodes are the leaves. */
struct threshold_split {
  int32_t column, cut, yes, no;
};

struct threshold_rows {
  int64_t rows, count;
  int32_t *order; /* columns x rows: the rows in the order of each column */
};

/* The least weighted sums of the trees of a set of rows, or lower bounds of them. */
struct threshold_least {
  double supported[WIDTH]; /* of trees with enough rows in every leaf */
  double relaxed[WIDTH];   /* of all trees; without the least that each row can cost */
};

/* The best stumps on both sides of every cut of a set; see table.c. */
struct threshold_table {
  const int32_t *filled; /* the order of the set that the table holds the stumps of, or NULL */
  int32_t *level;        /* columns x all rows: level of a row among those of the set */
  int32_t *end;          /* columns x all rows: rows up to each level */
  int32_t *levels;       /* of each column */
  int64_t *first;        /* number of the first cut of each column */
  double *total;         /* cuts of a column x 2 sides x classes x WIDTH */
  double *leaf;          /* cuts x 2 sides x WIDTH */
  double *supported;     /* likewise, of the best stump */
  double *relaxed;
  double *tree;
  int64_t *tree_count;
  double *inner;       /* with fees: cuts of a column x 2 sides x WIDTH, supported and relaxed, for one inner column */
  int64_t *side_count; /* likewise: cuts of a column x 2 sides */
};

/* What every leaf has to keep by itself: rows x classes, or NULL. */
struct threshold_rules {
  int64_t *purity, *cost, most_cost;
};
/* The sums of some rows for the rules, for each class. */
struct threshold_ruled {
  int64_t purity[most_classes], cost[most_classes];
};

struct treeml_coupled_numeric {
  struct arena arena;
  struct options options;
  struct statistics statistics;
  char message[256];
  int code;

  int64_t rows, given;
  int32_t columns;  /* kept ones: neither constant nor a copy or mirror image of another */
  int32_t *codes;   /* given columns x rows */
  int32_t *source;  /* for each kept column: its number among the given ones */
  int32_t *rank;    /* kept columns x rows */
  int32_t *code_of; /* kept columns x rows: the code of every rank */
  int32_t *levels;
  int32_t *order; /* kept columns x rows */
  int64_t *count; /* or NULL */
  int has_zero;   /* whether a count is 0 */
  int64_t total_count;

  int32_t sums, classes, pairs;
  int64_t *values;                         /* sums x rows x classes, as given */
  int64_t low[most_sums], high[most_sums]; /* as given */
  struct path_fees fees[fee_kinds];
  int64_t most_fees;
  int32_t *group; /* of each given column, or NULL: there are no fees */
  struct threshold_rules rules;

  /* The search that is running. */
  const struct stump_trees *kernel;
  int64_t depth, leaves;
  int32_t narrow;    /* how many cuts of a node are considered; 0 for all: only then are bounds proved */
  int64_t allowance; /* work after which a narrow search gives up */
  int leaves_matter; /* whether the limit on leaves cuts off trees of this depth */
  /* The value and the sums whose bounds matter are numbered 0 .. active - 1; those with a lower bound only change their
     sign. Values of class 0 are subtracted, so that a leaf of class 0 adds nothing. */
  int32_t active;
  int32_t place[most_sums]; /* the number of the sum among the given ones */
  int64_t sign[most_sums], base[most_sums];
  int64_t *relative;                         /* rows x classes x active */
  int64_t least[most_sums], most[most_sums]; /* bounds of the relative sums; no lower bound if the window is negative */
  int64_t least_value, most_value;           /* what any tree can reach, relative and with prices */
  int64_t window[most_sums];                 /* of sum 1, 2 ..., and of the leaves; as in coupled/vector_list.h */
  int32_t limited_fees;                      /* the number of the sum of limited fees, or 0 */
  int32_t *path;                             /* groups of the columns tested above, with fees */
  int64_t path_length;
  int32_t compared; /* numbers of a vector besides its value: sums, and leaves if they matter */
  int64_t coefficient[WIDTH][most_sums];
  double price[WIDTH];
  double *weight; /* rows x pairs x WIDTH */
  double *cost;   /* rows x classes x WIDTH */
  double *floor;  /* rows x WIDTH: the least cost of a row */
  double *range;  /* rows x WIDTH: its greatest less its least cost */
  struct threshold_table table;
  struct stump_hit *hits;
  int64_t hit_room;
  struct vector_work work;
  struct threshold_split *split;
  int64_t splits, split_room;

  struct threshold_tree start;
  struct threshold_tree best; /* in the caller's columns and codes */
  int64_t best_value;         /* relative; INT64_MAX if there is none */
  int64_t totals[most_sums];
  int64_t bound;  /* relative: every tree has at least this value */
  int64_t target; /* relative: trees of at most this value are searched */
  double began, deadline, next_watch;
  int64_t until_clock;
  atomic_int interrupted;
  int stopping; /* 1 + enum treeml_stop, or 0 */
  int better;
  int32_t status, stop;
  treeml_coupled_numeric_progress watch;
  void *watch_state;

  struct threshold_team *team;      /* of several threads, or NULL */
  struct threshold_team *member_of; /* in a worker: its team */
};

typedef struct treeml_coupled_numeric threshold_solver;

int threshold_fail (threshold_solver *, int code, const char *format, ...);
void threshold_stop (threshold_solver *, int why);
int threshold_poll (threshold_solver *);
int threshold_poll_lists (void *solver); /* the same, for long work on lists */
/* Counts work, about a nanosecond each. A non-zero result means: return. */
static inline int threshold_spent (threshold_solver *solver, int64_t work) {
  solver->until_clock -= work;
  solver->allowance -= work;
  if (solver->allowance < 0)
    threshold_stop (solver, threshold_paused);
  return solver->until_clock <= 0 ? threshold_poll (solver) : solver->stopping;
}

/* A limit on the value as the search sees it. */
static inline int64_t threshold_relative (const threshold_solver *solver, int64_t limit) {
  return limit > THRESHOLD_NONE ? THRESHOLD_NONE : limit < -THRESHOLD_NONE ? -THRESHOLD_NONE : limit - solver->base[0];
}

/* Whether a leaf with rows can have fewer than the support. */
static inline int threshold_checked (const threshold_solver *solver) {
  return solver->options.support > 1 || solver->has_zero;
}

/* team.c: the work on the cuts of all rows, item by item, by all threads. */
typedef int (*threshold_job) (threshold_solver *worker, void *task, int64_t item); /* 0 if it had to stop */
int threshold_team_create (threshold_solver *); /* if the options allow several threads */
void threshold_team_release (threshold_solver *);
int threshold_team_run (threshold_solver *, threshold_job, void *task, int64_t items);
int threshold_team_poll (threshold_solver *worker);

/* conditions.c */
static inline int threshold_has_fees (const threshold_solver *solver) {
  return solver->fees[0].below || solver->fees[1].below;
}
static inline int threshold_has_rules (const threshold_solver *solver) {
  return solver->rules.purity || solver->rules.cost;
}
void threshold_conditions_release (threshold_solver *);
int threshold_path_create (threshold_solver *); /* 0 if out of memory */
void threshold_path_push (threshold_solver *, int32_t column);
static inline void threshold_path_pop (threshold_solver *solver) { solver->path_length--; }
/* The fees of splitting a number of rows by a column, below a split by another one (-1: none): weighted, and as a
   vector that is added to. */
void threshold_fee (const threshold_solver *, int32_t above, int32_t column, int64_t count, double *fee);
void threshold_fee_add (const threshold_solver *, int32_t above, int32_t column, int64_t count, int64_t *vector);
/* The fees of a whole tree in the caller's columns and codes, and whether all leaves keep the rules; -1 if out of
   memory. */
int threshold_conditions_hold (threshold_solver *, const struct threshold_tree *, int64_t fees[fee_kinds]);
void threshold_ruled_add (const threshold_solver *, int32_t row, struct threshold_ruled *);
int threshold_leaf_allowed (const threshold_solver *, const struct threshold_ruled *, int32_t k);

/* Data. */
int threshold_rank_columns (threshold_solver *);
int threshold_prepare (threshold_solver *); /* relative values and kept columns */
void threshold_release (threshold_solver *);

/* Rows. Functions return 0 if out of memory; the search is then stopping. */
int threshold_rows_all (threshold_solver *, struct threshold_rows *);
/* The rows with a rank of at most `cut` in a column (side 0), or with a greater one. */
int threshold_rows_split (threshold_solver *, const struct threshold_rows *, int32_t column, int32_t cut, int side,
                          struct threshold_rows *);
void threshold_rows_release (threshold_solver *, struct threshold_rows *);
static inline const int32_t *threshold_order (const struct threshold_rows *set, int32_t column) {
  return set->order + column * set->rows;
}
static inline const int32_t *threshold_rank (const threshold_solver *solver, int32_t column) {
  return solver->rank + column * solver->rows;
}

/* The table. */
int threshold_table_create (threshold_solver *);
void threshold_table_release (threshold_solver *);
/* Numbers the levels of every column on this set. */
void threshold_table_levels (threshold_solver *, const struct threshold_rows *);
/* Levels, and the best stumps for all cuts. */
int threshold_table_fill (threshold_solver *, const struct threshold_rows *);
/* The rank that a level of a column stands for, and the count of the rows up to it. */
static inline int32_t threshold_table_rank (const threshold_solver *solver, const struct threshold_rows *set,
                                            int32_t column, int32_t level) {
  const int32_t last = solver->table.end[column * solver->rows + level] - 1;
  return threshold_rank (solver, column)[threshold_order (set, column)[last]];
}

/* Bounds. `most` are weighted sums beyond which the search for the least one may end. */
int threshold_least (threshold_solver *, const struct threshold_rows *, int64_t depth, int64_t leaves,
                     const double *most, struct threshold_least *);
/* The least weighted sum of two sides of a cut from the table with at most the given number of leaves, with the fee of
   the cut. */
void threshold_join_sides (const threshold_solver *, int64_t cut, int64_t leaves, const double *stump,
                           const double *fee, double *value);
/* The cuts of a column of the table that leave enough rows on both sides; first > last if there are none. */
void threshold_supported (const threshold_solver *, const struct threshold_rows *, int32_t column, int32_t *first,
                          int32_t *last);

/* A set of rows with the bounds of its cuts, for depth three and more. */
struct threshold_column {
  int32_t cuts, first, last; /* first .. last have enough rows on both sides */
  double fee[WIDTH];         /* of a split on this column */
  int32_t *rank;             /* of each cut */
  uint8_t *known;
  double *worth;                /* cuts x WIDTH: the ranges of the rows up to each cut */
  struct threshold_least *side; /* cuts x 2 */
};
struct threshold_node {
  struct threshold_rows set;
  int64_t depth, leaves;
  double floor[WIDTH];
  struct threshold_column *column;
  int apart;    /* whether bounds of some rows say nothing about others */
  int explored; /* by a narrow search */
};
int threshold_node_create (threshold_solver *, struct threshold_node *, const struct threshold_rows *, int64_t depth,
                           int64_t leaves); /* takes no ownership of the rows */
void threshold_node_release (threshold_solver *, struct threshold_node *);
/* Evaluates cuts until all others are known to exceed the limit for some multiplier (every = 0), or for all. With
   `every`, limits are lowered to the least values found. In a narrow search, a few
   promising cuts are evaluated instead. */
int threshold_explore (threshold_solver *, struct threshold_node *, double *limit, int every);

/* Vectors of a list: value, sums, leaves if they matter, and the node of the tree. */
static inline void threshold_list_start (threshold_solver *solver, struct vector_list *list) {
  vector_list_start (list, &solver->arena, solver->compared);
  list->carried = 1;
}
/* The weighted sums of a vector. */
void threshold_weigh (const threshold_solver *, const int64_t *vector, double *value);
static inline int threshold_within (const double *value, const double *limit) {
  int beyond = 0;
  for (int i = 0; i < WIDTH; i++)
    beyond |= value[i] > limit[i];
  return !beyond;
}

/* Enumeration: all vectors within the limit, but for dominated ones. */
int threshold_enumerate (threshold_solver *, const struct threshold_rows *, int64_t depth, int64_t leaves,
                         const double *limit, struct vector_list *);
/* The same for all rows, which looks for one tree: offers better trees, lowers the target. */
int threshold_enumerate_root (threshold_solver *, const struct threshold_rows *, struct threshold_node *);
/* The limits of all rows that follow from the target. */
void threshold_limits (const threshold_solver *, double *limit);

/* Multipliers. */
/* Sets the coefficients; `start` are likely least values for depth two and for greater depths. */
int threshold_choose (threshold_solver *, const struct threshold_rows *, int64_t start[2]);
int threshold_weights (threshold_solver *); /* fills weight, cost, floor and range */

/* Trees. */
int64_t threshold_split_add (threshold_solver *, int32_t column, int32_t cut, int32_t yes, int32_t no); /* or -1 */
int64_t threshold_tree_add (struct arena *, struct threshold_tree *, int32_t column, int32_t cut, int32_t label);
void threshold_tree_release (struct arena *, struct threshold_tree *);
/* Offers a tree of kept columns and ranks, whose root is a node of `split`. */
int threshold_offer_split (threshold_solver *, int64_t node, int64_t expected);
/* Offers a tree in the caller's columns and codes, if it meets all constraints; 1 if it is better. */
int threshold_offer (threshold_solver *, struct threshold_tree *);

/* Everything between the data and the answer. */
void threshold_run (threshold_solver *);

#endif
