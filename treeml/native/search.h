/* Branch and bound over pair sums: what every model of a leaf's cost shares. */
#ifndef TREEML_SEARCH_H
#define TREEML_SEARCH_H

#include "cells.h"
#include "products.h"
#include "rows.h"
#include "two_table.h"

#include <pthread.h>

struct worker;

/* One sub-problem under search; there is one for each depth left. */
struct level {
  int spare;  /* for sums alone, not for pairs */
  int paired; /* are the pairs those of these rows? Only the search with a bound on leaves asks */
  int32_t *ids;
  int32_t start[most_lists + 1];
  uint64_t hash[2];
  int64_t *root_value; /* best depth-two value with each test at the root */
  int64_t *low_yes, *low_no, *bound;
  int32_t *order;

  /* Signed rows. */
  const struct kernel *kernel; /* as wide as their weight needs */
  int64_t total, weight;
  struct slice slice;
  void *doubled, *weights; /* pair matrices */
  void *test_weights;      /* their diagonal */
  struct side side;
  /* Classes and moments. */
  struct cell_sums sums;
  double squares;
};

enum passed { pass_stopped, pass_exact, pass_bounds };

/* How a leaf's cost follows from sums over its rows. */
struct model {
  int (*level_make) (struct worker *, struct level *); /* 0 without memory */
  void (*level_release) (struct worker *, struct level *);
  int (*worker_make) (struct worker *);
  void (*worker_release) (struct worker *);
  void (*measure) (struct worker *, struct level *);         /* totals, once the rows are known */
  int64_t (*leaf) (const struct worker *, const struct level *);
  void (*sums) (struct worker *, struct level *);            /* of every test */
  int (*pairs) (struct worker *, struct level *);            /* and of every pair; fills root_value. 0 if stopped */
  int (*idle) (const struct worker *, const struct level *, int32_t test); /* all rows on one side? */
  int64_t (*side_leaf) (const struct worker *, const struct level *, int32_t test, int yes);
  double (*information) (const struct worker *, const struct level *, int32_t test); /* what is left of it */
  /* The rows of the smaller side into worker->small_ids and small_start; returns whether that is the yes side. */
  int (*gather) (struct worker *, const struct level *, int32_t test);
  /* Both sides of the test gathered, solved to depth two; where they cannot be below `upper`, bounds may do. */
  enum passed (*pass) (struct worker *, struct level *, int32_t test, int small_is_yes, int64_t upper, int64_t *yes,
                       int64_t *no);
  /* The same by the number of leaves, [1] to [4]; NULL where the search with a bound on leaves is not for the model. */
  int (*pass_sizes) (struct worker *, struct level *, int32_t test, int small_is_yes, int64_t *yes, int64_t *no);
  int64_t (*side_stump) (const struct worker *, const struct level *, int32_t test, int yes); /* after pairs */
  int (*larger_side) (const struct worker *, const struct level *, int32_t test); /* 1 for yes */
  void (*similar) (struct worker *, struct level *, int32_t test, int64_t yes, int64_t no);
};

extern const struct model signed_model, class_model, moment_model;

struct worker {
  struct shared *shared;
  treeml_solver *solver;
  const struct rows *rows;
  const struct kernel *kernel;
  const struct cells *cells;
  const struct model *model;
  struct level **levels;
  struct level *spare;
  int32_t level_count;
  struct slice small;
  struct products products;
  int32_t *small_ids;
  int32_t small_start[most_lists + 1];
  struct side counted, rest;
  int64_t relaxed[2]; /* what the sides of a split cost at least if leaves may have any number of rows */
  struct cell_sums small_sums;
  struct cell_answer answer;
  void *workspace; /* of the model */
  void *scratch;
  int32_t *path, *path_stack;
  int32_t *path_kept; /* while helping others */
  int32_t path_length;
  struct leaf_state *leaf;
  struct two_table *two; /* the thread's own, or that of all */
  struct two_table own_two;
  int64_t work; /* since the last poll */
  int first;    /* the thread that may call back */
  struct statistics statistics;
  struct archive_entry *archive;
  int32_t archive_size, archive_next;
  uint64_t *present;
};

/* What the threads share. */
struct shared {
  pthread_mutex_t lock;
  struct tree tree;     /* over the caller's tests */
  int64_t tree_value;
  struct fact fact;     /* of the root, where it is better than the tree */
  int pending;
  atomic_llong value;   /* of the best known, without the offset */
  atomic_llong bound;   /* of the root */
  int64_t price;
  int64_t support;      /* rows that a leaf needs */
  int64_t leaves;       /* at most; 0 where depth alone bounds them */
  int64_t slack;        /* by which real values may be off */
  int32_t depth;        /* of the root now */
  int32_t whole_depth;
  int has_tree;
  int similar;          /* does the similarity bound hold? */
  struct pool *pool;    /* of threads, or NULL */
  struct two_table two; /* of all threads, where there are several */
};

static inline int64_t larger (int64_t a, int64_t b) { return a > b ? a : b; }

static inline int64_t smaller (int64_t a, int64_t b) { return a < b ? a : b; }

/* Nothing reaches what a part does not reach. */
static inline int64_t plus (int64_t a, int64_t b) { return a >= UNREACHABLE || b >= UNREACHABLE ? UNREACHABLE : a + b; }

/* What is left of an upper bound. */
static inline int64_t minus (int64_t upper, int64_t part) {
  return part >= UNREACHABLE ? -UNREACHABLE : upper >= UNREACHABLE ? UNREACHABLE : upper - part;
}

/* Is the search to end? Looks at the clock after enough work. */
int poll_search (struct worker *);

int slice_allocate (struct worker *, struct slice *);
void slice_release (struct worker *, struct slice *);

/* The rows of one side of a test, list after list, into ids and start. */
void side_rows (const struct worker *, const struct level *, int32_t test, int yes, int32_t *ids, int32_t *start);

#endif
