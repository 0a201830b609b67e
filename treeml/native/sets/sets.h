/* sets/: all trees up to a cost, counted without being made, and made one by one or many at once.

   A state is a set of rows that a node can hold, the number of levels that may follow, and tags for the priced columns
   tested above it. For every state, a histogram says how many trees cost how much. It follows from the histograms of
   the two sides of every split, so 10^9 trees are counted as fast as 10^3. Only states that occur in a wanted tree are
   kept: a branch and bound search (search.c) knows the least cost of every side, and what is left of the budget.

   Trees are numbered from 0 in the order of their costs; trees of one cost are in the order of leaves (if counted), of
   limited sums, and then of tests. A tree is never a split of two leaves that predict the same, unless a requirement on
   leaves forbids that prediction to one leaf instead of the two. All numbers are integers.

   Sums over the predictions of all rows may be limited. Then a leaf may predict any class (if labels are free), and the
   histograms count trees by cost and limited sums. Guides keep them small: a guide is a combination factor[0] * cost +
   factor[i] * sum i, of which every wanted tree has at most what follows from the budget and the limits. The least
   value of a guide on every state bounds what the rest of a tree takes.

     treeml_sets *sets = NULL;
     int code = treeml_sets_create (&input, &sets);
     if (code == TREEML_SETS_OK && (code = treeml_sets_build (sets, budget, -1)) == TREEML_SETS_OK)
       ... treeml_sets_values (sets), treeml_sets_tree (sets, rank, 0, ...) ...
     treeml_sets_free (sets);
*/
#ifndef TREEML_SETS_H
#define TREEML_SETS_H

#include "treeml.h"

#include <stdint.h>

enum {
  TREEML_SETS_OK = 0,
  TREEML_SETS_MEMORY = 1,   /* the byte limit was reached, or an allocation failed */
  TREEML_SETS_TIME = 2,     /* the deadline passed */
  TREEML_SETS_INPUT = 3,    /* a null pointer, or a number out of range */
  TREEML_SETS_STOPPED = 4,  /* the function `stopped` asked for it */
  TREEML_SETS_OVERFLOW = 5, /* there are 2^126 trees or more */
  TREEML_SETS_FAILED = 6    /* the user's function of leaf costs failed */
};

enum { TREEML_SETS_CLASSES = 0, TREEML_SETS_SQUARED = 1, TREEML_SETS_QUANTILE = 2, TREEML_SETS_CUSTOM = 3 };

typedef struct treeml_sets treeml_sets;

/* The cost of a leaf with these rows; a non-zero return value ends the search. */
typedef int32_t (*treeml_sets_leaf) (const int32_t *rows, int32_t count, int64_t *cost);

typedef struct treeml_sets_input {
  int32_t rows, tests, columns;
  int32_t model;           /* what a leaf costs */
  int32_t width;           /* classes, or outputs */
  int32_t depth;           /* most levels of splits */
  int32_t last;            /* whether the last of several best classes is predicted instead of the first */
  int32_t grain;           /* squared: costs are in units of 2^-grain */
  int64_t leaves;          /* most leaves; 0: any number, and leaves are not counted */
  int64_t support;         /* fewest rows of a leaf, by `count` */
  int64_t price;           /* of a leaf */
  int64_t above, below;    /* quantile: the factors of targets above and below the constant */
  int64_t limit;           /* most of `limit_cost` in a leaf, for the class that it predicts */
  int64_t pure, pure_of;   /* the largest class of a leaf has at least this share of `purity_weight` */
  int64_t max_bytes;       /* 0: no limit */
  int64_t fail_allocation; /* the number of the allocation that fails, for tests; 0 for none */
  const uint64_t *bits;    /* tests x words(rows): which rows answer yes */
  const int32_t *column;   /* of every test */
  const int32_t
      *group; /* of every test: two tests of a group that split a state in the same way count once; -1: none */
  const int64_t *count;         /* of every row, positive */
  const int64_t *cost;          /* classes: rows x width, not negative, at most 2^60 in all; otherwise the targets */
  const int64_t *weight;        /* of every row, for squared and quantile */
  const int64_t *column_cost;   /* of every column, per row and path, or null */
  const int64_t *limit_cost;    /* rows x width, or null */
  const int64_t *purity_weight; /* rows x width, or null */
  int32_t limited, guides;      /* numbers of limited sums and of guides; classes only */
  int32_t free;                 /* with limited sums: whether a leaf may predict any class, not the cheapest only */
  const int64_t *limited_cost;  /* limited x rows x width */
  const int64_t *low, *high;    /* of every limited sum */
  const int64_t *factor;        /* guides x (1 + limited), the first not negative */
  treeml_sets_leaf leaf;        /* custom */
  int32_t (*stopped) (void);    /* called from time to time to ask whether to stop, or null */
} treeml_sets_input;

TREEML_PUBLIC int treeml_sets_create (const treeml_sets_input *input, treeml_sets **result);
TREEML_PUBLIC void treeml_sets_free (treeml_sets *);

/* The least cost of a tree, if it is at most `upper`; otherwise a lower bound above it. The number of leaves is not
   limited, and splits of equal leaves are allowed. `seconds` < 0: no limit. */
TREEML_PUBLIC int treeml_sets_optimum (treeml_sets *, int64_t upper, double seconds, int64_t *value);

/* Counts all trees that cost at most `budget`. If it fails, nothing is counted. */
TREEML_PUBLIC int treeml_sets_build (treeml_sets *, int64_t budget, double seconds);

/* The histogram: `values` different costs, each with its number of leaves (0 if not counted) and the number of trees
   in two words, the lower one first. A cost comes several times if limited sums differ. */
TREEML_PUBLIC int64_t treeml_sets_values (const treeml_sets *);
TREEML_PUBLIC int treeml_sets_histogram (const treeml_sets *, int64_t *cost, int32_t *leaves, uint64_t *trees);

/* The number of trees without a split on this column. */
TREEML_PUBLIC int treeml_sets_without (treeml_sets *, int32_t column, double seconds, uint64_t *trees);

/* For classes: votes[row, class] = the number of trees that predict the class for the row, in two words. */
TREEML_PUBLIC int treeml_sets_votes (treeml_sets *, double seconds, uint64_t *votes);

/* One tree by its number, given in two words: node 0 is the root, children come after their parent, test -1 marks a
   leaf, whose `yes` is its class (-1 if leaves hold numbers). `room` is the room of the arrays. */
TREEML_PUBLIC int treeml_sets_tree (treeml_sets *, uint64_t rank, uint64_t rank_high, int64_t room, int32_t *test,
                                    int32_t *yes, int32_t *no, int64_t *nodes);

/* Trees `first` to `first + trees` - 1: their roots. The sides of a root are numbers of nodes that all trees share. */
TREEML_PUBLIC int treeml_sets_trees (treeml_sets *, int64_t first, int64_t trees, double seconds, int32_t *test,
                                     int32_t *yes, int32_t *no);
TREEML_PUBLIC int64_t treeml_sets_nodes (const treeml_sets *);
/* Nodes `first` to `first + count` - 1; children have smaller numbers than their parent. `state` has the rows. */
TREEML_PUBLIC int treeml_sets_read_nodes (const treeml_sets *, int64_t first, int64_t count, int32_t *test,
                                          int32_t *yes, int32_t *no, int32_t *state);

/* What tests ask of the values of their columns, which are numbered from 0. */
typedef struct treeml_sets_domain {
  const int64_t *values; /* of every column: how many there are */
  const uint8_t *begins; /* of every test: whether value 0 answers yes */
  const int64_t *first;  /* of every test: the first of its changes; and their number at the end */
  const int64_t *change; /* values that answer otherwise than the one before, in order */
} treeml_sets_domain;

/* After treeml_sets_trees: a number for every tree with these roots. Trees have the same number if and only if they
   predict the same for all values of the columns. `leaves` are those of every tree. */
TREEML_PUBLIC int treeml_sets_functions (treeml_sets *, const treeml_sets_domain *, int64_t trees, const int32_t *test,
                                         const int32_t *yes, const int32_t *no, double seconds, int32_t *function,
                                         int32_t *leaves);

TREEML_PUBLIC int64_t treeml_sets_states (const treeml_sets *);
/* The rows of some states: count x words(rows). */
TREEML_PUBLIC int treeml_sets_rows (const treeml_sets *, const int32_t *states, int64_t count, uint64_t *rows);
TREEML_PUBLIC int64_t treeml_sets_bytes (const treeml_sets *, int peak);

#endif
