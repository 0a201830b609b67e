/* general/: the search for goals and constraints that do not follow from pair counts. search.c is the branch and
   bound, hazards.c and hazard_table.c know survival times, custom.c asks a function for leaf costs, subproblem.c holds
   the state of one depth, run.c goes from the rows to the answer, and sparse_bitset.h is an alternative representation
   of row sets. This header declares what these files share. */
#ifndef TREEML_GENERAL_SEARCH_H
#define TREEML_GENERAL_SEARCH_H

#include "solver/solver.h"
#include "general/sparse_bitset.h"

enum { most_levels = 1024 };

/* The lower bound of costs about which nothing is known. */
static const int64_t no_floor = -UNREACHABLE / 2;

/* One sub-problem under search; there is one for each remaining depth. */
struct general_subproblem {
  uint64_t *rows;
  int64_t *leaf[2];  /* cost of the no and yes side of each test as a leaf: tests x quantile levels */
  int64_t *low[2];   /* lower bounds of the sides */
  int64_t *bound;    /* lower bound of each split */
  int64_t *upper;    /* upper bounds given, one for each quantile level */
  struct fact *fact; /* bounds and values found */
  struct fact *child[2];
  int64_t *child_upper;
  int64_t *pay;                      /* for each test */
  double *two;                       /* value of each test as a root of depth two, if the goal has pair sums */
  struct hazard_table *table, *part; /* memory for pair sums, see hazard_table.h */
  const struct hazard_table *sums;   /* those of the rows that were searched last, or NULL */
  uint8_t *usable;
  int32_t *order;
};

struct general {
  treeml_solver *solver;
  struct leaf_state *leaf;
  int32_t *kept;
  int32_t tests, levels; /* number of quantile levels */
  int32_t depths;
  int64_t words;
  int64_t price;
  int similar; /* whether the similarity bound holds */
  int nested;  /* whether it holds for sets of which one contains the other only */
  int has_floor;
  int floors;    /* whether every set of rows has a lower bound of its own, see leaf_floor */
  int64_t worth; /* the most that a row is worth */
  struct general_subproblem **problem;
  struct sparse_bitset sparse;
  uint64_t *scratch;
  int32_t *path, *sorted;
  int32_t path_length;
  int32_t *used; /* how many tests on the path use each column */
  int64_t work;
  int32_t root_depth;
  int64_t *best; /* value of the best tree of each quantile level */
  struct tree *tree;
  int64_t *root_bound;
  struct hazards *hazards; /* sums of pairs of tests, or NULL; see hazards.h */
  struct custom *custom;   /* leaf costs that a function computes, or NULL; see custom.h */
};

static inline int64_t larger (int64_t a, int64_t b) { return a > b ? a : b; }

static inline int64_t smaller (int64_t a, int64_t b) { return a < b ? a : b; }

/* A sum that is unreachable if one of its parts is. */
static inline int64_t plus (int64_t a, int64_t b) { return a >= UNREACHABLE || b >= UNREACHABLE ? UNREACHABLE : a + b; }

/* The remainder of an upper bound. */
static inline int64_t minus (int64_t upper, int64_t part) {
  if (part >= UNREACHABLE)
    return INT64_MIN / 4;
  return upper >= UNREACHABLE ? UNREACHABLE : upper - part;
}

const uint64_t *general_column (const struct general *general, int32_t test);
int32_t general_column_number (const struct general *general, int32_t test);
void general_subproblem_release (struct general *general, struct general_subproblem *problem);
struct general_subproblem *general_subproblem_at (struct general *general, int32_t depth);
struct key general_key (struct general *general, const uint64_t *rows, int32_t depth, int64_t leaves, int32_t quantile);
/* The same for a leaf, whose cost depends on nothing but its rows. */
struct key general_key_of_leaf (const struct general *general, const uint64_t *rows);
int64_t general_count (const struct general *general, const uint64_t *rows);
enum { GENERAL_CLOCK_WORK = 1000000 }; /* between two looks at the clock */
int general_poll (struct general *general, int64_t work);
void general_enter (struct general *general, const struct general_subproblem *from, uint64_t *to, int32_t test,
                    int yes);
void general_leave (struct general *general);
/* With `paired`, only the usable tests: what they cost follows from pair sums. */
void general_open (struct general *general, struct general_subproblem *problem, int paired);
/* `value`: what each test is worth as a root of depth two, or NULL if that is not known. */
void general_order (struct general *general, struct general_subproblem *problem, int at_root, const double *value);
void general_push (struct general *general, int32_t test, int yes);
void general_pop (struct general *general);
int64_t general_useful_leaves (int64_t leaves, int32_t depth);
void general_solve (struct general *general, int32_t depth, int64_t leaves, const int64_t *leaf);
void general_publish (struct general *general, struct general_subproblem *problem, int32_t depth, int64_t leaves,
                      int32_t q);

#endif
