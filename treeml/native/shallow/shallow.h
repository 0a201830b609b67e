/* shallow/: is there a tree with at most a given number of levels that separates the classes of the rows?

   Every class has a weight, the number of levels that a caller will attach below its leaves, so that a leaf of class c
   at depth d counts as d + weight[c] levels. A guide is a tree that classifies all rows already: where it is shallow
   enough for a set of rows, it is used as it is.

   The search splits a set by the most promising test first. `slack` limits how far it may deviate from that order: on
   every path, the ranks of the chosen tests, counted from 0, add up to at most the slack. With an unlimited slack (-1)
   the answer "none" is a proof. What was proved is kept between the searches of one solver.

     treeml_shallow *solver = treeml_shallow_create (&input);
     int answer = treeml_shallow_search (solver, 4, -1, 1000000000, -1.0, NULL);
     if (answer == TREEML_SHALLOW_FOUND) { ... treeml_shallow_tree (solver, test, yes, no, label) ... }
     treeml_shallow_free (solver);
*/
#ifndef TREEML_SHALLOW_H
#define TREEML_SHALLOW_H

#include <stdint.h>

#include "treeml.h"

enum treeml_shallow_answer {
  TREEML_SHALLOW_FOUND = 0,
  TREEML_SHALLOW_NONE = 1,   /* proved: no tree has this few levels */
  TREEML_SHALLOW_MISSED = 2, /* not found within the slack */
  TREEML_SHALLOW_WORK = 3,   /* the work or the time was used up */
  TREEML_SHALLOW_MEMORY = 4,
  TREEML_SHALLOW_STOPPED = 5, /* the poll function asked for it */
  TREEML_SHALLOW_INPUT = 6
};

typedef struct treeml_shallow treeml_shallow;

struct treeml_shallow_input {
  int32_t rows, tests, classes;
  int32_t guide_nodes;                              /* 0 for no guide */
  int64_t memory;                                   /* limit in bytes; 0 for no limit */
  const uint8_t *bits;                              /* tests x rows: 1 where the row answers yes */
  const int32_t *label;                             /* class of every row */
  const int32_t *weight;                            /* weight of every class */
  const int32_t *guide_test, *guide_yes, *guide_no; /* node 0 is the root; test -1 marks a leaf */
};

/* Called from time to time; a non-zero return value stops the search. */
typedef int (*treeml_shallow_poll) (void);

TREEML_PUBLIC treeml_shallow *treeml_shallow_create (const struct treeml_shallow_input *);
TREEML_PUBLIC void treeml_shallow_free (treeml_shallow *);
/* `work` limits the number of machine words read; negative seconds mean no limit. */
TREEML_PUBLIC int32_t treeml_shallow_search (treeml_shallow *, int32_t depth, int32_t slack, int64_t work,
                                             double seconds, treeml_shallow_poll);
/* The number of words that the last search read. */
TREEML_PUBLIC int64_t treeml_shallow_work (const treeml_shallow *);
/* The tree of the last search that found one. The arrays may be NULL to learn the number of nodes. */
TREEML_PUBLIC int64_t treeml_shallow_tree (treeml_shallow *, int32_t *test, int32_t *yes, int32_t *no, int32_t *label);

#endif
