/* pair/: the search for goals whose leaf costs follow from sums over pairs of tests: errors and costs of classes, and
   squared loss.

   rows.h prepares the rows and run.c runs the search. search.c is the branch and bound, leaf_limit.c its variant
   with a limit on leaves, subproblem.c the state of one depth, worker.c the state of one thread, team.h and
   team_search.c the sharing of work among threads, climb.c the lower bound of a deep search, archive.c and
   depth_two_table.h what is remembered beside the cache, near.c and near_bound.c a bound from rows that one test tells
   apart, and rebuild.c builds the trees. The models (signed_model.c,
   class_model.c, moment_model.c with packed_moments.h) compute leaf costs from sums. This header declares what models
   and search share. */
#ifndef TREEML_PAIR_SEARCH_H
#define TREEML_PAIR_SEARCH_H

#include "simd/select.h"
#include "common/platform.h"
#include "pair/rows.h"
#include "pair/depth_two_table.h"
#include "pair/near.h"

struct worker;

/* One sub-problem under search; there is one for each remaining depth. */
struct subproblem {
  int spare;  /* whether it is used for sums only, not for pairs */
  int paired; /* whether the pairs are those of these rows; used by the search with a limit on leaves */
  int32_t *ids;
  int32_t start[most_lists + 1];
  uint64_t hash[2];
  int64_t *root_value; /* best depth-two value with each test at the root */
  int64_t *low_yes, *low_no, *bound;
  int32_t *order;

  /* For signed rows. */
  const struct pair_kernel *kernel; /* as wide as the weight of these rows needs */
  int64_t total, weight;
  struct slice slice;
  void *doubled, *weights; /* pair matrices */
  void *test_weights;      /* their diagonal */
  struct side side;
  /* For classes and moments. */
  struct cell_sums sums;
  double squares;
  int has_worths; /* whether the sums of worths over pairs are there */
};

enum passed { pass_stopped, pass_exact, pass_bounds };

/* A model: how the cost of a leaf follows from sums over its rows. */
struct model {
  int (*subproblem_make) (struct worker *, struct subproblem *); /* 0 if out of memory */
  void (*subproblem_release) (struct worker *, struct subproblem *);
  int (*worker_make) (struct worker *);
  void (*worker_release) (struct worker *);
  void (*measure) (struct worker *, struct subproblem *); /* totals, once the rows are known */
  int64_t (*leaf) (const struct worker *, const struct subproblem *);
  void (*sums) (struct worker *, struct subproblem *); /* sums of every test */
  int (*pairs) (struct worker *, struct subproblem *); /* sums of every pair too; fills root_value. 0 if stopped */
  int (*idle) (const struct worker *, const struct subproblem *, int32_t test); /* whether all rows are on one side */
  int64_t (*side_leaf) (const struct worker *, const struct subproblem *, int32_t test, int yes);
  double (*information) (const struct worker *, const struct subproblem *,
                         int32_t test); /* the information that remains after the test */
  /* Writes the rows of one side of a test, list after list, to `ids` and `start`; to be called after `pairs`. */
  void (*side_rows) (const struct worker *, const struct subproblem *, int32_t test, int yes, int32_t *ids,
                     int32_t *start);
  /* Solves both sides of the gathered test to depth two. If they cannot be below `upper`, bounds are enough. */
  enum passed (*pass) (struct worker *, struct subproblem *, int32_t test, int small_is_yes, int64_t upper,
                       int64_t *yes, int64_t *no);
  /* The same by number of leaves, [1] to [4]; NULL if the model does not support a limit on leaves. */
  int (*pass_sizes) (struct worker *, struct subproblem *, int32_t test, int small_is_yes, int64_t *yes, int64_t *no);
  int64_t (*side_stump) (const struct worker *, const struct subproblem *, int32_t test,
                         int yes); /* to be called after `pairs` */
  /* With a price per leaf, to be called after `pairs`: lower bounds of both sides of every test, whatever their depth,
     in low_yes and low_no; a test that no best tree needs gets the bound UNREACHABLE. NULL if the model has none. */
  void (*paid_sides) (struct worker *, struct subproblem *);
  int (*larger_side) (const struct worker *, const struct subproblem *, int32_t test); /* 1 for yes */
  void (*similar) (struct worker *, struct subproblem *, int32_t test, int64_t yes, int64_t no);
  /* Finds the best stump without `sums`; 0 if this problem needs them. NULL if all do. */
  int (*stump) (struct worker *, struct subproblem *, struct fact *);
  /* The best tree of depth two that a pass has found for one side of a test; 0 if it is not remembered. NULL if the
     model remembers none. */
  int (*found_side) (const struct worker *, const struct subproblem *, int32_t test, int yes, struct fact *);
};

extern const struct model signed_model, class_model, moment_model;

/* What the passes over packed rows of one sub-problem have kept: see pair/packed_moments.h. */
struct kept_lines {
  const struct subproblem *owner;
  uint64_t hash[2]; /* of its rows */
  uint8_t *known;   /* the tests whose pass is done and kept */
  int32_t *list;    /* these tests */
  int32_t count;
  int64_t *begin;   /* where the lines of each of them begin */
  int32_t *root[2]; /* the best test for the no and the yes side of each test, is_leaf or is_unknown */
  int64_t *value[2];
  int32_t *lanes;
  int64_t room, used;
};

struct worker {
  struct shared *shared;
  treeml_solver *solver;
  const struct rows *rows;
  const struct pair_kernel *kernel;
  const struct cells *cells;
  const struct model *model;
  struct subproblem **problems;
  struct subproblem *spare;
  int32_t problem_count;
  struct slice small;
  struct products products;
  int32_t *small_ids;
  int32_t small_start[most_lists + 1];
  struct side counted, rest;
  int64_t relaxed[2]; /* lower bounds of the sides of a split if leaves may have any number of rows */
  struct cell_sums small_sums;
  struct cell_answer answer;
  struct kept_lines kept;
  void *workspace; /* private to the model */
  void *scratch;
  int32_t *path, *path_stack;
  int32_t *path_kept; /* copies of the path while helping other threads */
  int32_t path_length;
  struct leaf_state *leaf;
  struct depth_two_table *two; /* the thread's own table, or the shared one */
  struct depth_two_table own_two;
  int64_t work;      /* work since the last poll */
  int64_t allowance; /* polls until the search pauses; 0 for no pause */
  int first;         /* whether this thread may call the progress function */
  int completing;    /* whether it completes a tree after the search was stopped, and no longer looks at the clock */
  struct near_work near;
  struct statistics statistics;
  struct archive_entry *archive;
  int32_t archive_size, archive_next;
  uint64_t *present;
};

/* The state that all threads share. */
struct shared {
  thread_lock lock;
  struct tree tree; /* over the caller's tests */
  int64_t tree_value;
  struct fact fact; /* fact of the root, if it is better than the tree */
  int pending;
  atomic_llong value; /* value of the best known tree, without the offset */
  atomic_llong bound; /* lower bound at the root */
  int64_t price;
  int64_t support; /* fewest rows of a leaf */
  int64_t leaves;  /* most leaves; 0 if only the depth limits them */
  int64_t slack;   /* by how many units real values may be off */
  int32_t depth;   /* current depth of the root */
  int32_t whole_depth;
  int any_depth; /* whether no tree is deeper than whole_depth, so that facts found there hold for all */
  int has_tree;
  int similar;                /* whether the similarity bound holds */
  atomic_int is_slow;         /* whether a tree cannot be completed in a moment after the search was stopped */
  struct pool *pool;          /* pool of threads, or NULL */
  struct depth_two_table two; /* shared by all threads if there are several */
  struct near_pairs near;
  atomic_int near_known; /* 1 if there are pairs, -1 if there are none, 0 before they are looked for */
};

static inline int64_t larger (int64_t a, int64_t b) { return a > b ? a : b; }

static inline int64_t smaller (int64_t a, int64_t b) { return a < b ? a : b; }

/* A sum that is unreachable if one of its parts is. */
static inline int64_t plus (int64_t a, int64_t b) { return a >= UNREACHABLE || b >= UNREACHABLE ? UNREACHABLE : a + b; }

/* The remainder of an upper bound. */
static inline int64_t minus (int64_t upper, int64_t part) {
  return part >= UNREACHABLE ? -UNREACHABLE : upper >= UNREACHABLE ? UNREACHABLE : upper - part;
}

/* Whether the search must end. Looks at the clock after a certain amount of work. */
int poll_search (struct worker *);

int slice_allocate (struct worker *, struct slice *);
void slice_release (struct worker *, struct slice *);

/* Writes the rows of one side of a test, list after list, to `ids` and `start`, whether or not there are pairs. */
void side_rows (const struct worker *, const struct subproblem *, int32_t test, int yes, int32_t *ids, int32_t *start);

#endif
