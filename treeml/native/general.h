/* The general search: its state, and what its parts know of each other. */
#ifndef TREEML_GENERAL_H
#define TREEML_GENERAL_H

#include "solver.h"
#include "sparse_bitset.h"

enum { most_levels = 1024 };

/* Where nothing is known of the costs. */
static const int64_t no_floor = -UNREACHABLE / 2;

/* One sub-problem under search; there is one for each depth left. */
struct level {
  uint64_t *rows;
  int64_t *leaf[2];     /* cost of each test's no and yes side as a leaf: tests x levels */
  int64_t *low[2];      /* bounds of the sides */
  int64_t *bound;       /* of each split */
  int64_t *upper;       /* asked for, one a quantile level */
  struct fact *fact;    /* found */
  struct fact *child[2];
  int64_t *child_upper;
  int64_t *pay;         /* of each test */
  uint8_t *usable;
  int32_t *order;
};

struct general {
  treeml_solver *solver;
  struct leaf_state *leaf;
  int32_t *kept;
  int32_t tests, levels; /* of quantiles */
  int32_t depths;
  int64_t words;
  int64_t price;
  int similar;           /* does the similarity bound hold? */
  int has_floor;
  int64_t worth;         /* of a row, at most */
  double range;          /* of the targets, summed over the outputs */
  struct level **level;
  struct sparse_bitset sparse;
  uint64_t *scratch;
  int32_t *path, *sorted;
  int32_t path_length;
  int32_t *used;         /* how often each column lies on the path */
  int64_t work;
  int32_t root_depth;
  int64_t *best;         /* value of the best tree of each quantile level */
  struct tree *tree;
  int64_t *root_bound;
  int64_t *custom_starts;
  int32_t *custom_rows;
  double *custom_costs;
  int64_t custom_room;
};

static inline int64_t larger (int64_t a, int64_t b) { return a > b ? a : b; }

static inline int64_t smaller (int64_t a, int64_t b) { return a < b ? a : b; }

/* Nothing reaches what a part does not reach. */
static inline int64_t plus (int64_t a, int64_t b) { return a >= UNREACHABLE || b >= UNREACHABLE ? UNREACHABLE : a + b; }

/* What is left of an upper bound. */
static inline int64_t minus (int64_t upper, int64_t part) {
  if (part >= UNREACHABLE)
    return INT64_MIN / 4;
  return upper >= UNREACHABLE ? UNREACHABLE : upper - part;
}

const uint64_t *general_column (const struct general *general, int32_t test);
int32_t general_column_number (const struct general *general, int32_t test);
void general_level_release (struct general *general, struct level *level);
struct level *general_level_at (struct general *general, int32_t depth);
struct key general_key (struct general *general, const uint64_t *rows, int32_t depth, int64_t leaves, int32_t level);
int64_t general_count (const struct general *general, const uint64_t *rows);
int general_poll (struct general *general, int64_t work);
void general_enter (struct general *general, const struct level *from, uint64_t *to, int32_t test, int yes);
void general_leave (struct general *general);
void general_open (struct general *general, struct level *level);
void general_order (struct general *general, struct level *level, int at_root);
void general_push (struct general *general, int32_t test, int yes);
void general_pop (struct general *general);
int64_t general_useful_leaves (int64_t leaves, int32_t depth);
void general_solve (struct general *general, int32_t depth, int64_t leaves, const int64_t *leaf);
void general_publish (struct general *general, struct level *level, int32_t depth, int64_t leaves, int32_t q);

#endif
