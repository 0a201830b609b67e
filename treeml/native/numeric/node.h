/* A node of the search: the cuts of a set, and what is known about them. */
#ifndef TREEML_NUMERIC_NODE_H
#define TREEML_NUMERIC_NODE_H

#include "numeric/climb.h"
#include "numeric/neighbours.h"
#include "numeric/trace.h"

#include "common/platform.h"

/* The open cuts of one column. */
struct numeric_column {
  int32_t cuts, open;
  int64_t fee;       /* that all rows pay for a test of the column */
  int32_t *position; /* for every cut: the number of rows on its yes side */
  int32_t *alive;    /* the open cuts, ascending */
  int64_t *low[2];   /* for every cut: lower bounds of its sides */
  uint8_t *busy;     /* whether it is being solved */
};

struct numeric_node {
  treeml_numeric *solver;
  struct numeric_set *set;
  const struct numeric_path *path;
  int64_t depth, leaves[2]; /* depth of the sides, and the most leaves of each */
  int64_t upper, lowest;
  int64_t beyond; /* what one of the sides of a tree costs that is deeper than those that are known */
  int found, root, symmetric;
  int bounds; /* whether the open cuts are all that is left of the whole problem */
  int pauses; /* whether the search pauses to raise the bound of the whole problem and to look for better trees */
  int decided;
  int64_t all_leaves; /* the most leaves of the tree */
  struct numeric_tree *tree;
  struct numeric_column *column;
  struct numeric_trace **trace;    /* the same for sides of depth two */
  struct numeric_neighbour **near; /* solved sides of the cuts of every column, for their neighbours; or NULL */
  int64_t busy;
  int32_t first_column; /* a cut to start with, or -1 */
  int64_t first_cut;
  thread_lock lock;
  thread_signal changed;
  int shared; /* whether several threads work on it */
};

static inline void numeric_node_lock (struct numeric_node *node) {
  if (node->shared)
    lock_take (&node->lock);
}
static inline void numeric_node_unlock (struct numeric_node *node) {
  if (node->shared)
    lock_leave (&node->lock);
}

/* What was found for one side of a cut: a tree, or the root of one of depth two if the tree has no nodes. */
struct numeric_side {
  struct numeric_outcome outcome;
  struct numeric_found found;
  struct numeric_tree tree;
};
/* The best tree below the budget of one side of a cut, or a bound. The bound may be higher than the budget, by up to
   `slack` if that is no harder to find. */
struct numeric_outcome numeric_solve_side (struct numeric_node *, struct numeric_worker *, int32_t column, int64_t cut,
                                           int side, int64_t budget, int64_t slack, struct numeric_side *);

/* Raises the bounds of the other cuts of the same column. */
void numeric_raise_own (struct numeric_node *, int32_t column, int32_t solved, const int64_t bound[2]);
/* Raises the bounds of the cuts of all other columns. `bits` and `room` are memory for every row. */
void numeric_raise_others (struct numeric_node *, int32_t column, int32_t solved, int64_t code, const int64_t bound[2],
                           uint64_t *bits, void *room, struct numeric_worker *);

#endif
