/* Rows, a goal and a bound -> claims that prove that no tree costs less than the bound.

   This is a second pass: the optimum is known, and the search only has to refute every better tree. It writes down what
   it needs for that, in the format of docs/certificates.md; a checker that shares no code with it reads the claims.
   Equal rows are merged, and their cheapest class costs nothing: the caller does that (treeml/native/certify.py). */

#ifndef TREEML_CERTIFY_H
#define TREEML_CERTIFY_H

#include "treeml.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

enum { CERTIFY_CHANNELS = 65, CERTIFY_DEPTH = 60, CERTIFY_LEAVES = 62 };
#define CERTIFY_LIMIT ((int64_t) 1 << 53)

/* Evidence for one side of a test, as in the file. Inside the search a negative code refers to a claim about the same
   set, which may be recomputed in place. */
enum { CERTIFY_TRIVIAL = 0, CERTIFY_RECOMPUTE = 1, CERTIFY_CLAIM = 2 };

/* A set of rows with a depth and a number of leaves, and what is known about its best tree. */
typedef struct certify_node {
  struct certify_node *next;        /* in the same slot of the table */
  struct certify_node *older;       /* of the same depth */
  struct certify_node *older_alike; /* of the same depth, whose path ends with the same test */
  const uint64_t *set;
  const int32_t *path;
  uint64_t hash;
  int64_t lower;
  int64_t claim; /* -1 if there is none yet */
  int32_t path_size, depth, leaves;
  int exact;
} certify_node;

typedef struct {
  int64_t bound;
  const int32_t *path;
  int64_t *entries; /* low, high, fewest, most, yes, no */
  int64_t entry_count;
  int64_t uses;   /* by claims that are needed */
  int64_t number; /* in the file; -1 if it is not written */
  int32_t path_size, depth, leaves;
} certify_claim;

/* A column in the order in which a claim tries them. */
typedef struct {
  int64_t score; /* of a double: 1 if it splits the other way around */
  int32_t family, double_of;
} certify_column;

typedef struct certify_block {
  struct certify_block *next;
  size_t used, room;
} certify_block;

typedef struct treeml_certify {
  /* the problem */
  int64_t rows, families, tests, channels;
  int64_t price, support;
  int32_t depth, leaves; /* leaves 0: not limited */
  int squared;
  int32_t deepest;      /* what checkers recompute: 2 if every family is one test, otherwise 1 */
  const int32_t *place; /* families x rows */
  int64_t *first;       /* the first test of every family, and the number of tests */
  int64_t *vector;      /* rows x channels */
  int64_t *loss, *count;
  size_t words;
  uint64_t **yes; /* families of one test */
  int32_t *order; /* families x rows, by place; only where there are cuts */
  int same_loss;  /* the loss of every row if all are equal, else 0 */
  /* depth two */
  int64_t pair_tests;
  int32_t *ones, *one_place;
  int64_t *pair, *single, *split;
  int32_t *listed, *active, *compressed;
  /* the search */
  certify_node **table;
  size_t table_size, node_count;
  certify_node *newest[CERTIFY_DEPTH + 1];
  certify_node **alike; /* the newest node for every answer to a test and every depth */
  certify_claim *claims;
  size_t claim_count, claim_room;
  double deadline;
  int stopped;
  volatile int interrupted;
  uint64_t *side[2 * (CERTIFY_DEPTH + 2)]; /* two sets for every depth, and two for depth two */
  certify_column *columns[CERTIFY_DEPTH + 1];
  int32_t *cut[CERTIFY_DEPTH + 1], *cut_end[CERTIFY_DEPTH + 1];
  int64_t *moved[CERTIFY_DEPTH + 1];
  uint64_t *seen;       /* hashes of the splits of a set */
  int32_t *seen_family; /* twice the family, and whether the hash is that of the no side */
  size_t seen_room;
  /* memory and the answer */
  certify_block *blocks;
  jmp_buf failed;
  char *text;
  size_t text_size, text_room;
  int64_t root, claims_written, recomputed;
} treeml_certify;

/* The problem: `place` is families x rows, a test sends rows with place <= cut to its yes side; `cuts` are the numbers
   of cuts. `vector` is rows x channels: the cost of every class, or weight, sum and sum of squares if `squared`. */
TREEML_PUBLIC treeml_certify *treeml_certify_create (const int32_t *place, const int64_t *cuts, int64_t families,
                                                     int64_t rows, const int64_t *vector, int64_t channels,
                                                     const int64_t *count, int32_t squared);
TREEML_PUBLIC void treeml_certify_destroy (treeml_certify *);
/* Limits of the trees; leaves 0 means any number. To be set once, before the first proof. */
TREEML_PUBLIC int treeml_certify_limits (treeml_certify *, int32_t depth, int32_t leaves, int64_t support,
                                         int64_t price);
/* Proves that no tree costs less than `bound`; `proved` is the bound that was reached and can be less: 0 if all went
   well and the least cost is below, 1 if the time was over, 2 without memory. What is learned is kept. */
TREEML_PUBLIC int treeml_certify_prove (treeml_certify *, int64_t bound, double seconds, int64_t *proved);
TREEML_PUBLIC void treeml_certify_interrupt (treeml_certify *);
/* The claims of the last proof, one per line. */
TREEML_PUBLIC int treeml_certify_text (treeml_certify *, const char **text, int64_t *size, int64_t *claims,
                                       int64_t *recomputed);

void *certify_make (treeml_certify *, size_t count, size_t size);

/* depth_two.c */
void certify_index_pairs (treeml_certify *);
int64_t certify_leaf (const treeml_certify *, const int64_t *sum);
int64_t certify_leaf_of (treeml_certify *, const uint64_t *set, int64_t *lines);
/* The least cost of a tree of a depth that checkers recompute. */
int64_t certify_recompute (treeml_certify *, const uint64_t *set, int depth, int leaves);

/* search.c */
void certify_take_side (const treeml_certify *, const uint64_t *from, int64_t family, int32_t cut, int yes,
                        uint64_t *to);
int64_t certify_root (treeml_certify *, int64_t bound, int64_t *claim);

#endif
