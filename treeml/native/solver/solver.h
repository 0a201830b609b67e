/* solver/: the handle behind treeml.h. It checks and stores the data (input.c), merges tests (merge_tests.c), defines
   what a leaf costs (leaf.c, squared_loss.h), keeps what is known about sub-problems (cache.h) and checks every tree
   against the data before anybody sees it (tree.c); solver.c runs a solve. The search itself is in pair/ for goals that
   follow from pair counts, and in general/ for everything else. */
#ifndef TREEML_SOLVER_H
#define TREEML_SOLVER_H

#include "common/arena.h"
#include "common/clock.h"
#include "common/memory.h"
#include "solver/cache.h"
#include "simd/pair_kernel.h"
#include "common/options.h"
#include "common/statistics.h"
#include "treeml.h"

#include <stdatomic.h>

enum goal_kind { goal_none, goal_classes, goal_loss, goal_hazards, goal_impurity, goal_custom };

/* A flat tree over the caller's tests; test -1 marks a leaf. */
struct tree {
  int32_t *test, *yes, *no, *label;
  int64_t nodes, room;
};

struct answer {
  struct tree tree;
  int64_t value, bound;
  int32_t status;
};

struct treeml_solver {
  struct arena arena;
  struct options options;
  struct statistics statistics;
  char message[256];
  int code;

  /* The data as given: one bit for each row, test after test. */
  int64_t tests, rows, words;
  uint64_t *columns;
  int32_t *column_of;
  int64_t *count;
  uint8_t *forbidden;

  enum goal_kind goal;
  int32_t classes;
  int32_t *label;
  int64_t *cost;  /* rows x classes, 0 for the cheapest class of each row; NULL if the goal is labels and weights */
  int64_t offset; /* the total that was subtracted from the costs */
  int rounds;     /* whether the costs of leaves are real numbers, rounded to units */
  int asked_to_round;
  double beside;      /* the largest amount that the caller adds to them */
  double enough_loss; /* trees with a larger loss are of no interest; infinity for no limit */
  int32_t loss, outputs, levels;
  int64_t *target, *weight, *level;
  int64_t level_scale;
  int64_t *hazard, *death_cost; /* of each row, see solver/hazard.h */
  uint8_t *died;
  struct impurity *impurity; /* costs of the mixture of classes, or NULL; see solver/impurity.h */
  struct lines *lines;       /* linear models of leaves, or NULL; see solver/lines.h */
  treeml_leaf_costs custom;
  void *custom_state;
  int64_t *column_cost;
  int32_t column_count;
  int32_t *discounted, *discount_after; /* the column that costs less, and the one whose test above makes it so */
  int64_t *discount_cost;
  int32_t discounts;
  int64_t *limited_cost;
  int64_t leaf_limit;
  int64_t *purity_weight;
  int64_t purity_numerator, purity_denominator;
  struct tree start;

  treeml_progress watch;
  void *watch_state;

  /* The state of the search that is running. */
  double began, deadline, next_watch;
  atomic_int stopping; /* 1 + enum treeml_stop, or 0 */
  atomic_int interrupted;
  struct cache *cache;
  const struct pair_kernel *kernel, *narrow_kernel; /* the second one for sums that fit in fewer bits */
  double unit;
  int64_t slack; /* how many units the bound of the last search may be too high, or its value off */
  struct answer *answers;
  int32_t answer_count, chosen;
  int32_t stop;
};

int solver_fail (treeml_solver *, int code, const char *format, ...);
/* Whether there are data; sets an error code if not. */
int solver_has_rows (treeml_solver *);
int64_t solver_column_price (const treeml_solver *, const int32_t *tested, int32_t column);
static inline int code_of (const treeml_solver *solver) { return solver ? solver->code : TREEML_BAD_ARGUMENT; }
void solver_release_answers (treeml_solver *);
void solver_release_input (treeml_solver *); /* and the answers */
/* New data: room for its bits, and once they are packed its size. */
int solver_begin_tests (treeml_solver *, const uint8_t *bits, int64_t tests, int64_t rows);
void solver_end_tests (treeml_solver *, int64_t tests, int64_t rows);
/* The value that trees must stay below, without the cost that all trees share; UNREACHABLE for no limit. */
int64_t solver_upper (const treeml_solver *, int64_t offset);

/* Every long loop calls this. A non-zero result means: return with the best tree so far. */
int solver_poll (treeml_solver *, int calls_back, int64_t value, int64_t bound, int better);
/* Whether entries of the cache can be wiped. If so, the path under search is protected and trees are built at once. */
static inline int solver_wipes (const treeml_solver *solver) {
  return solver->options.memory != UNLIMITED || solver->options.cache != UNLIMITED;
}

static inline int solver_stopping (treeml_solver *solver) {
  return atomic_load_explicit (&solver->stopping, memory_order_relaxed);
}
void solver_stop (treeml_solver *, int why);

/* Trees. */
int tree_reserve (struct arena *, struct tree *, int64_t nodes);
void tree_release (struct arena *, struct tree *);
int64_t tree_add (struct arena *, struct tree *, int32_t test, int32_t label); /* -1 if out of memory */
int64_t tree_height (const struct tree *); /* number of splits on the longest path */
/* Whether the tree uses only allowed tests, and columns only as often as a path may. */
int tree_allowed (const treeml_solver *, const struct tree *);
/* Whether it also keeps the limits on depth and leaves. */
int tree_keeps_limits (const treeml_solver *, const struct tree *);
int tree_copy (struct arena *, struct tree *, const struct tree *);

/* The cost of a leaf for any goal; rows are a bit set of solver->words words. */
struct leaf_state;
struct leaf_state *leaf_create (treeml_solver *);
void leaf_destroy (struct leaf_state *);
/* The costs, one for each quantile level, including the price of a leaf; UNREACHABLE if the leaf violates a
   constraint. */
void leaf_costs (struct leaf_state *, const uint64_t *rows, int64_t *costs);
/* What the leaves of every tree for these rows cost at least, without their price. */
int64_t leaf_floor (struct leaf_state *, const uint64_t *rows);
int32_t leaf_label (struct leaf_state *, const uint64_t *rows, int32_t level);
int64_t leaf_evaluations (const struct leaf_state *);
/* Converts real costs to whole numbers of 1 / unit. */
int leaf_choose_unit (struct leaf_state *, const uint64_t *all_rows);
int64_t leaf_fixed (treeml_solver *, double cost);
/* A loss in units. Losses that are too large to be of interest become some number beyond the limit. */
int64_t leaf_rounded (const treeml_solver *, double loss);

/* The loss of all rows is scaled to 2^UNIT_BITS units, so that a double can still represent half a unit. */
enum { UNIT_BITS = 50 };
/* How many units a search may be off in total, if a leaf may be off by half a unit, a few roundings, and `error`. */
int64_t solver_slack (const treeml_solver *, double error);

/* Sums up to this size keep all arithmetic of the searches within 64 bits. */
#define LARGEST_SUM (INT64_MAX / 16)

/* The value of a tree that does not exist. */
#define UNREACHABLE (INT64_MAX / 4)

/* Recomputes a tree from the data as given: drops splits with an empty side, merges sibling leaves with the same
   label, sets the labels, and returns the value for a quantile level, or UNREACHABLE. */
int64_t tree_finish (treeml_solver *, struct leaf_state *, struct tree *, int32_t level);

/* The tests that remain after merging, as numbers of the caller's tests. */
int merge_tests (treeml_solver *, int32_t **kept, int32_t *count);

/* The two searches: pair/ and general/. */
int search_takes (treeml_solver *);
int search_run (treeml_solver *);
int general_run (treeml_solver *);

#endif
