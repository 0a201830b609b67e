/* The data of one treeml_sets, and what its files share. */
#ifndef TREEML_SETS_STATES_H
#define TREEML_SETS_STATES_H

#include "common/arena.h"
#include "common/wide.h"
#include "sets/sets.h"

#define NO_TREE (INT64_MAX / 4) /* the cost where there is no tree */

enum { most_labels = 64 /* classes where sums are limited */ };

typedef unsigned_wide tally; /* a number of trees */

struct state {
  int64_t leaf;   /* cost of a leaf, its price included; NO_TREE if no leaf is allowed here */
  int64_t bound;  /* no tree costs less */
  int64_t budget; /* trees up to this cost are wanted; -1 if none are */
  int64_t count;  /* of its rows */
  int64_t first_arc;
  int32_t arcs;
  int32_t depth; /* levels that may follow */
  int32_t label; /* class that a leaf predicts; -1 if leaves hold numbers */
  int32_t next;  /* of the list of wanted states of its depth; -1 at the end */
  uint8_t exact; /* `bound` is the least cost */
};

/* A split of a state in a wanted tree. */
struct arc {
  int32_t test, yes, no;
  int32_t alike; /* whether leaves on both sides would be one leaf */
  int64_t cost;  /* of the test itself */
};

/* How many trees of a state cost this much. */
struct bin {
  int64_t cost;
  tally trees;
  int32_t leaves;
};

/* The histograms of all states. */
struct histograms {
  struct bin *bins;
  int64_t *sums; /* of every bin: the limited sums */
  int64_t used, room, sum_room;
  int64_t *first; /* of every state */
  int32_t *size;
};

/* A tree whose subtrees are shared. */
struct node {
  int32_t test, yes, no, state;
};

/* What a search needs at one depth: the sums of the yes sides of all tests, and their order. */
struct level {
  int64_t *sums;
  int64_t *low; /* of every test: bounds of its yes and its no side, -1 if they are not known */
  double *score;
  int32_t *order;
};

/* A combination of cost and limited sums with a search of its own. */
struct guide {
  treeml_sets *sets;
  const int64_t *factor; /* of the cost, and of every limited sum */
  int64_t *shift;        /* of every row: what was subtracted so that no cost is negative */
  int64_t shifts;        /* all of them */
  int64_t *total;        /* the sums of a state that is expanded */
  int32_t *of;           /* of every wanted state: the state of the guide */
  int64_t room;
  int32_t yes, no;         /* the sides of the last split */
  int64_t for_yes, for_no; /* and what is left for them */
};

struct treeml_sets {
  struct arena own, *arena; /* guides use the arena of their sets */
  treeml_sets_input input;  /* with copies of all arrays */
  int words, stride;        /* words of the rows of a state, and of its rows and tags */
  int sums;                 /* numbers added up over rows: the count first */
  int has_steps;      /* whether the last sum is that of the largest costs of the rows, which bounds follow from */
  int64_t *row_sums;  /* rows x sums */
  int32_t *inner;     /* of every test: an earlier one that fewer rows answer with yes, all of them here too; or -1 */
  uint8_t *is_chain;  /* of every test: its group is one chain of cuts, each around the one before */
  int64_t *row_start; /* the tests that a row answers with yes, but not their inner tests: */
  int32_t *row_tests; /* row_tests[row_start[r]] and on */
  int32_t *by_target; /* quantile: for every output, the rows in the order of their targets */
  int32_t *tag;       /* of every column: its bit in the tags, or -1 */
  int32_t *scratch_rows;
  struct level *levels; /* one for each depth */

  struct state *states;
  uint64_t *keys;
  int64_t used, state_room, key_room;
  int32_t *slots; /* hash table: state + 1, or 0 */
  uint64_t slot_mask;
  uint64_t *child; /* keys of two sides */

  struct guide *guides;
  int64_t *facts; /* of wanted states: cost and limited sums of a leaf of every class, and the shifts of all guides */
  int64_t facts_used, facts_room;
  int64_t *facts_at; /* of every state */
  int64_t facts_at_room;
  int64_t *facts_total; /* the sums of one state */
  int64_t *sums_here;   /* limited sums of one tree */

  struct arc *arcs;
  int64_t arcs_used, arc_room;
  int32_t *heads; /* of every depth: the first wanted state */
  struct histograms counted;
  int built;

  tally *dense; /* accumulates a histogram */
  uint64_t *touched;
  int64_t dense_room;
  struct bin *table;   /* the same for wide ranges: a hash table, */
  int64_t *table_sums; /* with the limited sums, */
  int64_t *places;     /* and the places that are used */
  int64_t table_room, table_used;

  struct node *nodes;
  int64_t nodes_used, node_room;
  int64_t *made; /* of every bin: its first node, or -1 */
  int64_t made_room;
  struct functions *functions;

  double deadline;
  int64_t work; /* since the clock was read */
  int code;
};

/* memory.c */
int sets_grow (treeml_sets *, void **block, int64_t *room, int64_t need, size_t size);
int sets_fail (treeml_sets *, int code); /* keeps the first code; returns 0 */
int sets_go_on (treeml_sets *, int64_t work);
void sets_until (treeml_sets *, double seconds);

/* leaf.c: the cost of a leaf without its price, and its class */
int64_t sets_leaf (treeml_sets *, const uint64_t *rows, const int64_t *sums, int32_t *label);
int sets_alike (treeml_sets *, int32_t state, int32_t yes, int32_t no);
int64_t sets_prediction (const treeml_sets *, int32_t state, int64_t *words); /* of a number, as integers */
int sets_allows_label (const treeml_sets *, const int64_t *sums, int32_t label);

/* states.c */
int sets_create (const treeml_sets_input *, struct arena *shared, treeml_sets **);
void sets_split_sums (treeml_sets *, int32_t state, int64_t *sums);
int64_t sets_test_cost (const treeml_sets *, int32_t state, int32_t test);
int sets_sides (treeml_sets *, int32_t state, int32_t test);
int32_t sets_intern (treeml_sets *, const uint64_t *key, int32_t depth, const int64_t *sums);
static inline uint64_t *sets_key (const treeml_sets *sets, int32_t state) {
  return sets->keys + (int64_t) state * sets->stride;
}

/* search.c */
int64_t sets_optimum (treeml_sets *, int32_t state, int64_t upper);
int sets_children (treeml_sets *, int32_t state, int32_t test, const int64_t *sums, const int64_t *total, int32_t *yes,
                   int32_t *no);
struct level *sets_level (treeml_sets *, int32_t depth);

void sets_sum_rows (const treeml_sets *, int32_t state, int64_t *total);
void sets_want (treeml_sets *, int32_t state, int64_t budget);

/* limited.c */
int sets_make_guides (treeml_sets *);
void sets_free_guides (treeml_sets *);
int sets_start_guides (treeml_sets *, int64_t budget); /* 0 if no tree is wanted, or after a failure */
int sets_expand_guides (treeml_sets *, int32_t state);
int sets_guides_allow (treeml_sets *, int32_t state, int32_t test);
int sets_want_guides (treeml_sets *, int32_t yes, int32_t no);
int sets_make_facts (treeml_sets *);
int sets_is_useful (const treeml_sets *, int32_t state, int64_t cost, const int64_t *sums);
/* A leaf of a class: its cost, NO_TREE if it is not allowed, and its limited sums. */
static inline const int64_t *sets_label (const treeml_sets *sets, int32_t state, int32_t label) {
  return sets->facts + sets->facts_at[state] + (int64_t) label * (1 + sets->input.limited);
}

/* count.c */
int sets_count (treeml_sets *, struct histograms *, int32_t without);
void sets_release_histograms (treeml_sets *, struct histograms *);
int64_t sets_find (const treeml_sets *, int32_t state, int64_t cost, int32_t leaves, const int64_t *sums);

/* The pairs of trees of one split that belong to a bin. */
struct block {
  const struct arc *arc;
  int64_t yes, no; /* bins of the sides */
  tally pairs;
  int32_t skipped;            /* how many pairs are left out: two leaves that are one leaf */
  tally skip[most_labels];    /* their places among all pairs, in order */
  int32_t label[most_labels]; /* their classes */
};

/* functions.c */
void sets_release_functions (treeml_sets *);

/* unrank.c */
int sets_labels (const treeml_sets *, int32_t state, int64_t bin, int32_t *labels);
int sets_next_block (const treeml_sets *, int32_t state, int64_t bin, int32_t *split, int32_t *place, struct block *);

#endif
