/* What the files of this folder share: the handle, the data after merging, and the state of a search.

   Leaf numbers are relative to class 0: every row is in exactly one leaf, so a tree's sums are those of predicting
   class 0 everywhere, plus, for every leaf of another class k, the sums of the differences values[k] - values[0] over
   its rows. These differences are the channels: channel (k - 1) * (1 + sums) + j for class k and sum j, one more
   channel with the counts of rows if they matter, and one for each class and each rule of leaves. */
#ifndef TREEML_COUPLED_SEARCH_H
#define TREEML_COUPLED_SEARCH_H

#include "coupled/coupled.h"
#include "coupled/path_fees.h"
#include "coupled/vector_list.h"
#include "common/arena.h"
#include "common/clock.h"
#include "common/options.h"
#include "common/platform.h"
#include "common/sizes.h"
#include "common/statistics.h"
#include "common/wide.h"
#include "simd/select.h"
#include "solver/solver.h"

enum { most_sums = 60, most_classes = 32, most_multipliers = 24, most_literals = 8 };
enum { sum_of_leaves = 0, sum_of_fees = -1 };

/* Sums of the given values, and the price of all leaves, stay below 2^58; scores at multipliers stay below
   LARGEST_SCORE; IMPOSSIBLE is the score of a part that cannot be a tree. */
#define LARGEST_VALUE ((int64_t) 1 << 58)
#define LARGEST_SCORE ((int64_t) 1 << 60)
#define LARGEST_NARROW_SCORE ((int64_t) 1 << 51)
#define LARGEST_NARROW_PRICE ((int64_t) 1 << 40)
#define IMPOSSIBLE ((int64_t) 1 << 61)

/* Sums of the channels over the rows of a place that answer yes to two tests. */
struct table {
  int64_t *total; /* channels */
  void *sums;     /* channels x tests x stride, of 32 or 64 bits; the diagonal has the sums of one test */
};

/* Tables that are kept: those of all rows, of the rows that answer yes to one test, and to two tests. The others follow
   by subtraction. */
typedef _Atomic (struct table *) table_pointer;
struct tables {
  table_pointer root, *singles, **pairs;
  size_t bytes;
};

/* The data as the search sees them. */
struct merged {
  int valid, once; /* once: whether tests of different columns were kept apart */
  int32_t tests, stride;
  int32_t *kept;    /* the caller's test */
  uint8_t *flipped; /* whether rows that answer yes to the kept test answer no to the caller's test */
  int32_t *column;
  int64_t rows, words;
  int32_t *row_of;   /* the caller's row -> row */
  uint64_t *columns; /* tests x words */
  int64_t *first;    /* rows + 1: where the tests that a row answers with yes begin in `items` */
  int32_t *items;
  int values_valid, counted;
  int32_t count, purity, cost; /* channels of the counts and of the first class of a rule; 0 if there are none */
  int narrow;                  /* whether all sums of channels fit in 31 bits */
  int64_t unit[1 + most_sums]; /* the differences of a sum are multiples of this, and given as such multiples */
  int32_t channels;
  int64_t *values; /* rows x channels */
  struct tables tables;
};

/* Rules for leaves as given: rows x classes, or NULL. */
struct rules {
  int64_t *purity, *cost, most_cost;
};

struct treeml_coupled {
  struct arena arena;
  struct options options;
  struct statistics statistics;
  char message[256];

  int64_t tests, rows, words;
  uint64_t *columns;
  int32_t *column_of;
  int64_t *count;
  uint8_t *forbidden;
  int32_t sums, classes;
  int64_t *values;
  int64_t offset[1 + most_sums];  /* the sums of predicting class 0 everywhere */
  int64_t largest[1 + most_sums]; /* the sums of the largest differences of the rows */
  int64_t low[most_sums], high[most_sums];
  struct path_fees fees[fee_kinds];
  int64_t most_fees; /* of kind 1 */
  struct rules rules;
  struct tree start;
  struct merged merged;

  treeml_progress watch;
  void *watch_state;
  double began, deadline, next_watch;
  atomic_int interrupted;
  atomic_int stop_reason; /* 1 + enum treeml_stop, or 0 */
  enum simd kernel;       /* of the last search */

  struct tree answer;
  int64_t value, bound, totals[1 + most_sums];
  int32_t status, stop;
};

int coupled_fail (treeml_coupled *, int code, const char *format, ...);
void coupled_release_merged (treeml_coupled *);
void coupled_release_answer (treeml_coupled *);
/* What a merge depends on. */
struct merge_options {
  int once, counted; /* whether tests of different columns are kept apart, and whether counts of rows matter */
  int64_t price, leaves;
};
/* Whether a search that merges its data is to stop. A tree to start from is the answer even then, and to check it takes
   the merged data. */
int coupled_is_over (treeml_coupled *);
/* Merges tests and rows and adds up the values, unless that was done before. Returns 0 if out of memory, or if the
   search is to stop. */
int coupled_merge (treeml_coupled *, const struct merge_options *);
static inline int coupled_has_fees (const treeml_coupled *coupled) {
  return coupled->fees[0].below || coupled->fees[1].below;
}
static inline int coupled_has_rules (const treeml_coupled *coupled) {
  return coupled->rules.purity || coupled->rules.cost;
}
void fees_release (treeml_coupled *);
void rules_release (treeml_coupled *);
/* Whether the caller's rows may be a leaf of this class, by the rules. */
int rules_allow (const treeml_coupled *, const uint64_t *rows, int32_t label);
void tables_release (treeml_coupled *);

/* A requirement that can be violated: low <= sign * sum <= high in differences; without `two_sided` only the upper
   limit. `sum` is one of the caller's, or sum_of_leaves, or sum_of_fees. */
struct requirement {
  int sum, sign, two_sided;
  int64_t low, high, largest;
};

/* Weights of the value and of the requirements; `by_sum` are the same by the caller's sums. */
struct multiplier {
  int64_t weights[1 + vector_most_sums];
  int64_t by_sum[1 + most_sums];
  int64_t price;          /* of a leaf */
  int64_t fee[fee_kinds]; /* for one unit */
  int64_t limit; /* the weighted limits: a tree of value v is within the limits only if score - limit <= weight * v */
};

/* A set of rows that the first tests of a tree leave: a literal is 2 * test + 1 for yes and 2 * test for no. */
struct place {
  int32_t depth, literals;
  int32_t literal[most_literals];
  const uint64_t *rows;
};

struct level {
  uint64_t *yes, *no;
  struct vector_list yes_list, no_list;
};

/* What is known about places: bounds at the multipliers. */
struct entry {
  int32_t literal[most_literals];
  int32_t depth, literals;
  uint64_t known;
  int64_t bound[]; /* for each multiplier that there is room for */
};

struct store {
  char *entries; /* entry_room entries of entry_bytes each, with `slots` bounds */
  size_t entry_count, entry_room, entry_bytes;
  int slots;
};

/* What the threads of a search share. */
struct shared {
  thread_lock lock; /* of the store, and of the places of kept tables */
  struct store store;
};

/* The leaves of the tree that is being built, for repair.c; if there are more, only their number is known. */
enum { most_collected = 64 };
struct leaves {
  int count;
  int64_t fees[fee_kinds]; /* of the splits above them */
  int64_t node[most_collected];
  int64_t *sums; /* most_collected x channels */
};

struct search {
  treeml_coupled *coupled;
  struct shared *shared;
  struct statistics statistics;
  struct search *workers; /* one less than threads, for the thread that the caller came with; it is NULL in workers */
  int threads, is_worker;
  const struct merged *merged;
  int32_t depth;
  int64_t support;
  int64_t price;
  int requirements;
  struct requirement requirement[vector_most_sums];
  int64_t windows[vector_most_sums];
  int64_t largest; /* of the value */
  int64_t most_leaves;

  int multipliers;
  struct multiplier multiplier[most_multipliers];
  double lambda[vector_most_sums]; /* of multiplier 0, in units of the largest value and the largest sums */
  int64_t weights[most_multipliers * (1 + vector_most_sums)]; /* of those in use, for filters */

  const struct table *table; /* of the last table_at */
  struct place table_place;  /* whose table it is */
  uint64_t passed;           /* the multipliers for which `best` holds the stumps of this table */
  struct table *scratch;     /* for tables that are not kept */
  struct place scratch_place;
  int scratch_filled;
  const struct stumps *stumps;
  struct level *levels;
  uint64_t *all_rows, *some_rows;
  uint8_t *used;  /* columns on the path, if each may be used once */
  int64_t *room;  /* for passes */
  int64_t *cells; /* 2 x channels */
  int has_fees, fee_requirement;
  int64_t *fees_below[fee_kinds]; /* (1 + columns) x stride: as given, but by test, and in the unit of the value */
  int64_t *fees[fee_kinds];       /* (1 + depth) x stride: the fee of every test below the path of some length */
  int32_t *fee_column;            /* of every test */
  int32_t path_length;
  int64_t *best[2]; /* multipliers x tests: the best stump on the no and on the yes side of every test */
  struct vector_work work;
  struct leaves leaves;

  int64_t bound;       /* proved, in differences; while trees of less depth are searched, it holds for them alone */
  int64_t whole_bound; /* then this one holds for all trees, and is reported */
  int is_shallower;
  int64_t upper; /* only trees up to this value are wanted, in differences */
};

/* Whether the search must stop; called now and then. */
int search_poll (struct search *, int better);
void search_out_of_memory (struct search *);
static inline int search_stopped (const struct search *search) {
  return atomic_load_explicit (&search->coupled->stop_reason, memory_order_relaxed) != 0;
}

/* team.c: threads that take the tests of the root one after the other. */
typedef void (*team_job) (struct search *, void *task, int32_t item);
/* Runs the job for the items 0 .. count - 1, with several threads if the search has workers. */
void team_run (struct search *, team_job, void *task, int32_t count);

/* places */
void place_child (const struct search *, const struct place *, int32_t test, int side, uint64_t *rows, struct place *);
/* Whether the two sides of a test both have enough rows. */
int place_splits (const struct search *, const uint64_t *yes, const uint64_t *no);
int test_allowed (const struct search *, int32_t test);
void path_push (struct search *, int32_t test);
void path_pop (struct search *, int32_t test);

/* fees.c */
int fees_make_room (struct search *); /* 0 if memory is short */
void fees_share (const struct search *, struct search *worker);
void fees_push (struct search *, int32_t test);
/* The fees of testing `other` below a test (-1: none) at the end of the path, for a number of rows. */
void split_fees (const struct search *, int32_t above, int32_t other, int64_t count, int64_t fees[fee_kinds]);
/* The fees of a test at a place that is the end of the path; overwrites the cells. */
void place_fees (struct search *, const struct place *, int32_t test, int64_t fees[fee_kinds]);
/* The same as a score, and added to a vector. */
int64_t fees_score (const struct multiplier *, const int64_t fees[fee_kinds]);
void fees_add (const struct search *, const int64_t fees[fee_kinds], int64_t *vector);
/* The score of the fees of a split at the end of the path; 0 without fees. */
static inline int64_t split_score (const struct search *search, const struct multiplier *multiplier, int32_t above,
                                   int32_t other, int64_t count) {
  int64_t fees[fee_kinds];
  if (!search->has_fees)
    return 0;
  split_fees (search, above, other, count, fees);
  return fees_score (multiplier, fees);
}

/* table.c */
/* Sets the table of a place; 0 if the search must stop. */
int table_at (struct search *, const struct place *);
struct table *table_create (struct arena *, const struct merged *);
/* The sums of the channels over all rows of a place. */
void place_total (const struct search *, const struct place *, int64_t *sums);
/* The sums over the rows on one side of `test` (or all rows if it is -1) that answer yes and no to `other`. */
void table_cells (const struct search *, int32_t test, int side, int32_t other, int64_t *yes, int64_t *no);
void table_side (const struct search *, int32_t test, int side, int64_t *sums);
/* Whether `other` may be tested on a side of `test`. */
int may_follow (const struct search *, int32_t test, int32_t other);
/* The least score of a tree of depth two on the table; fills best[side][multiplier], unless that was done before. */
int64_t table_pass (struct search *, int multiplier);

/* A score, or IMPOSSIBLE if a part of it was. */
static inline int64_t possible (int64_t score) { return score < IMPOSSIBLE / 2 ? score : IMPOSSIBLE; }

/* leaf.c */
int cell_allowed (const struct search *, const int64_t *sums);
/* Whether these rows may be a leaf of class k. */
int leaf_allowed (const struct search *, const int64_t *sums, int32_t k);
/* The count of the rows with these sums; 0 if counts do not matter. */
static inline int64_t count_of (const struct search *search, const int64_t *sums) {
  return search->merged->counted ? sums[search->merged->count] : 0;
}
/* The vector of a leaf of class k. */
void leaf_vector (const struct search *, const int64_t *sums, int32_t k, int64_t *vector);
/* The least score of a leaf, and its class. */
int64_t leaf_score (const struct search *, const struct multiplier *, const int64_t *sums, int32_t *k);
/* The best stump (or leaf, `other` -1) on a side of a test of the table, and the classes of its yes and no leaf. */
int64_t stump_score (struct search *, const struct multiplier *, int32_t test, int side, int32_t *other);

/* bounds.c */
/* The least scores of trees at a place, for the multipliers of the mask; 0 if the search must stop. */
int bounds_at (struct search *, const struct place *, uint64_t mask, int64_t *bounds);
/* Adds the tree of least score to `tree` and its vector to `vector`; the node, or -1 if the search must stop. */
int64_t bounds_tree (struct search *, const struct place *, int multiplier, struct tree *tree, int64_t *vector);
/* A split in a tree over the caller's tests, whose sides may be the other way round; -1 if memory is short. */
int64_t tree_add_split (struct search *, struct tree *, int32_t test);
void tree_set_side (struct search *, struct tree *, int64_t node, int32_t test, int side, int64_t child);
/* Makes the bounds and stumps of these multipliers unknown. */
void bounds_clear (struct search *, uint64_t mask);
/* Makes room for the bounds of this many multipliers; what is known about them stays. */
void bounds_make_slots (struct search *, int slots);
void bounds_exchange (struct search *, int one, int other);

/* dual.c */
/* Raises the bound of the search; the best multiplier is number 0 afterwards. 0 if the search must stop. */
int dual_run (struct search *, const struct place *root);
/* From weights of the requirements beside a weight of 1 for the value; `pure`: beside a weight of 0. */
void multiplier_of (const struct search *, const double *lambda, int pure, struct multiplier *);

/* check.c: the tree without useless splits, and its sums with the price of its leaves; 1 if it is within all limits. */
int tree_check (struct search *, const struct tree *from, struct tree *to, int64_t *totals);

/* run.c */
/* Proposes a tree; keeps it and returns 1 if it is within all limits and better. */
int search_offer (struct search *, const struct tree *);

/* enumerate.c */
struct box {
  int64_t most; /* of the value */
  int64_t low[vector_most_sums], high[vector_most_sums];
};
void box_budgets (const struct search *, const struct box *, int64_t *budgets);
int enumerate_at (struct search *, const struct place *, const int64_t *budgets, struct vector_list *);
/* Both sides of a test below a place of depth two or more. Returns 1 if both lists have vectors, 0 if not, -1 if the
   search must stop. */
int enumerate_sides (struct search *, const struct place *, int32_t test, const int64_t *budgets, struct place *sides,
                     struct vector_list *yes, struct vector_list *no);
/* What enumerate_sides needs to know about a place of depth two. 0 if the search must stop. */
int enumerate_prepare (struct search *, const struct place *);
/* Chooses the multipliers around number 0 that filter vectors. */
void choose_multipliers (struct search *);

/* repair.c */
void collect_leaf (struct search *, int64_t node, const int64_t *sums);
/* Changes the classes of the collected leaves so that the tree is within the limits and better; 1 if it found such. */
int repair (struct search *, struct tree *);

/* rebuild.c */
int box_holds (const struct search *, const struct box *, const int64_t *vector);
/* What one side may be if the other side is this vector. */
void box_beside (const struct search *, const struct box *, const int64_t *vector, int64_t most, struct box *result);
/* All trees within the limits up to a value. */
void box_of_limits (const struct search *, int64_t most, struct box *);
/* The best tree in a box. Returns 1, 0 if there is none, or -1 if the search must stop. */
int find_in_box (struct search *, const struct place *, const struct box *, int64_t *vector, struct tree *,
                 int64_t *node);

#endif
