/* The state behind the opaque handle. */
#ifndef TREEML_SOLVER_H
#define TREEML_SOLVER_H

#include "arena.h"
#include "cache.h"
#include "kernel.h"
#include "options.h"
#include "statistics.h"
#include "treeml.h"

#include <stdatomic.h>

enum goal_kind { goal_none, goal_classes, goal_loss, goal_custom };

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

  /* The data as given: one bit a row, test after test. */
  int64_t tests, rows, words;
  uint64_t *columns;
  int32_t *column_of;
  int64_t *count;
  uint8_t *forbidden;

  enum goal_kind goal;
  int32_t classes;
  int32_t *label;
  int64_t *cost; /* rows x classes, the cheapest class of a row 0; or NULL: then labels and weights */
  int64_t offset; /* what was subtracted from the costs */
  int rounds;     /* are the costs of leaves real numbers, rounded to units? */
  int asked_to_round;
  double beside;  /* the largest amount that the caller adds to them */
  double enough_loss; /* trees of a larger loss are of no interest; infinity for none */
  int32_t loss, outputs, levels;
  int64_t *target, *weight, *level;
  int64_t level_scale;
  treeml_leaf_costs custom;
  void *custom_state;
  int64_t *column_cost;
  int32_t column_count;
  int64_t *limited_cost;
  int64_t leaf_limit;
  int64_t *purity_weight;
  int64_t purity_numerator, purity_denominator;
  struct tree start;

  treeml_progress watch;
  void *watch_state;

  /* The search under way. */
  double began, deadline, next_watch;
  atomic_int stopping; /* 1 + enum treeml_stop, or 0 */
  atomic_int interrupted;
  struct cache *cache;
  const struct kernel *kernel, *narrow_kernel; /* the second for small sums */
  int kernel_choice;
  double unit;
  int64_t slack; /* units by which the bound of the last search may pass the truth, and the value be off */
  struct answer *answers;
  int32_t answer_count, chosen;
  int32_t stop;
};

int solver_fail (treeml_solver *, int code, const char *format, ...);
/* The value that trees must stay below, without what every tree costs; UNREACHABLE where any will do. */
int64_t solver_upper (const treeml_solver *, int64_t offset);

/* The moment a search must end: called by every long loop. Non-zero: unwind with the best tree so far. */
int solver_poll (treeml_solver *, int calls_back, int64_t value, int64_t bound, int better);
/* Can what was stored be gone later? Then the path under search is protected and trees are built at once. */
static inline int solver_wipes (const treeml_solver *solver) {
  return solver->options.memory != UNLIMITED || solver->options.cache != UNLIMITED;
}

static inline int solver_stopping (treeml_solver *solver) {
  return atomic_load_explicit (&solver->stopping, memory_order_relaxed);
}
void solver_stop (treeml_solver *, int why);
double solver_clock (void);

/* Trees. */
int tree_reserve (struct arena *, struct tree *, int64_t nodes);
void tree_release (struct arena *, struct tree *);
int64_t tree_add (struct arena *, struct tree *, int32_t test, int32_t label); /* -1 without memory */
int64_t tree_height (const struct tree *); /* splits on the longest path */
/* Does it keep to the tests, and the columns of a path, that may be used? */
int tree_allowed (const treeml_solver *, const struct tree *);
/* And to the bounds on depth and leaves? */
int tree_keeps_limits (const treeml_solver *, const struct tree *);
int tree_copy (struct arena *, struct tree *, const struct tree *);

/* Sums that may not fit: 0 if they do. */
static inline int add_overflows (int64_t a, int64_t b, int64_t *sum) { return __builtin_add_overflow (a, b, sum); }
static inline int multiply_overflows (int64_t a, int64_t b, int64_t *product) {
  return __builtin_mul_overflow (a, b, product);
}

/* The cost of a leaf, for any goal; rows are a bit set of solver->words words. */
struct leaf_state;
struct leaf_state *leaf_create (treeml_solver *);
void leaf_destroy (struct leaf_state *);
/* Costs, with the price of a leaf, one for each quantile level; UNREACHABLE where the leaf breaks a constraint. */
void leaf_costs (struct leaf_state *, const uint64_t *rows, int64_t *costs);
int32_t leaf_label (struct leaf_state *, const uint64_t *rows, int32_t level);
int64_t leaf_evaluations (const struct leaf_state *);
/* Real costs become whole numbers of 1 / unit. */
int leaf_choose_unit (struct leaf_state *, const uint64_t *all_rows);
int64_t leaf_fixed (treeml_solver *, double cost);

/* Losses of all rows are made this large, so that a double still tells half a unit. */
enum { UNIT_BITS = 50 };
/* By how many units a search may be off in all, where a leaf may be by half a unit, a few roundings, and `error`. */
int64_t solver_slack (const treeml_solver *, double error);

#define UNREACHABLE (INT64_MAX / 4)

/* Recomputes a tree from the data as given: drops splits with an empty side and joins leaves that agree, sets labels,
   returns its value for a level, or UNREACHABLE. */
int64_t tree_finish (treeml_solver *, struct leaf_state *, struct tree *, int32_t level);

/* The tests that differ, as numbers of the caller's tests. */
int merge_tests (treeml_solver *, int32_t **kept, int32_t *count);

/* The two searches. */
int search_takes (treeml_solver *);
int search_run (treeml_solver *);
int general_run (treeml_solver *);

#endif
