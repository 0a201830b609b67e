/* A part of a set of rows laid out for sweeps, in memory that is reused. */
#ifndef TREEML_NUMERIC_CHILD_H
#define TREEML_NUMERIC_CHILD_H

#include "numeric/quantile_bound.h"
#include "numeric/solver.h"

/* A cut that was evaluated: the costs of each side as a leaf and as its best stump, without prices. */
struct numeric_point {
  int32_t next; /* the point that follows in the column */
  int64_t position;
  int64_t leaf[2], stump[2];
  int32_t column[2]; /* column of the best stump of each side */
};

/* The cuts low .. high of a column that are still open, between two evaluated points. A cut at p puts p rows on the
   yes side. */
struct numeric_interval {
  int32_t column;
  int32_t left, right; /* numbers of the points */
  int64_t low, high;
};

struct numeric_child {
  int64_t rows, room; /* number of rows, and the most there can be */
  int32_t length;
  const struct numeric_part *part;
  enum numeric_goal goal; /* goal for these rows: if two of many classes are left, it is a problem of two classes */
  int32_t planes;
  int32_t *active;             /* classes that are left */
  int by_label;                /* whether the lanes hold the classes of the rows */
  uint64_t **bits;             /* the part's rows in the order of each column */
  void **own;                  /* sorted codes of each column */
  struct numeric_lanes *lanes; /* of each column */
  char **block;                /* for a column f: its codes in the lanes of every column, made when needed */
  void *all;                   /* the memory that holds everything else */
  uint8_t *made;               /* which pairs are laid out for these rows */
  int32_t blocks;  /* number of columns f whose pairs have their own memory; the others share the last block */
  int32_t shared;  /* the column whose pairs are in the shared block, or -1 */
  int64_t **worth; /* running sums in the order of f, made when needed */
  double **square;
  uint8_t *worth_made;
  int32_t **place;      /* quantile loss: columns x outputs: the places of the targets in the order of each column; */
  void **place_cells;   /* the same as cells; */
  int64_t **weight;     /* in the order of each column, or NULL if all are 1 */
  int32_t **renumbered; /* for each output: the places that are left are numbered anew, */
  struct numeric_targets *targets; /* and these are their targets */
  struct numeric_buckets *buckets; /* of the same */
  void *scratch;

  struct numeric_point *point;
  int64_t *cost; /* lower bounds of the stumps of a point: two sides x columns */
  int32_t *head; /* the first point of each column; 1, the end, if there is none */
  int64_t points, point_room;
  struct numeric_interval *queue;
  int64_t queued, queue_room;
  int32_t *turn; /* columns in the order in which they are swept */
};

int numeric_child_build (struct numeric_worker *, const struct numeric_part *);
const void *numeric_child_codes (struct numeric_worker *, int column, int order);
void numeric_child_worths (struct numeric_worker *, int column);
/* Sums of the planes over the first `position` rows in the order of a column. */
void numeric_child_sums (struct numeric_worker *, int column, int64_t position, int64_t *sums);

static inline int64_t numeric_child_worth (const struct numeric_child *child, int column, int64_t position) {
  return child->worth ? child->worth[column][position] : position;
}

#endif
