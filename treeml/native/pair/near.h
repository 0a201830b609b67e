/* Pairs of rows that a single test tells apart: a lower bound that needs no search.

   Rows that no test tells apart and that need different classes cost an error in every tree (the equivalent-points
   bound of Angelino et al. 2017; rows.c takes it out). This bound is about rows that one test tells apart: unless a
   tree has this test, both are in the same leaf, which is wrong about one of them. The pairs are a matching, in which
   a row gives away no more than its weight, so their errors add up. Every test that a tree has saves the errors of its
   pairs and costs a leaf. */
#ifndef TREEML_PAIR_NEAR_H
#define TREEML_PAIR_NEAR_H

#include "pair/rows.h"

struct near_pair {
  int16_t test;
  int16_t amount;  /* the error, in grains, if the test does not tell the rows apart */
  int16_t list;    /* of the first pair of a row: the list in which the row is looked at, since it may be in several */
  int16_t is_last; /* whether the row has no more pairs */
};

/* Pair number `row` is the first one of that row, with list -1 if it has none, and next[pair] is the one after it. Each
   pair belongs to its negative row. A sub-problem that has one of the rows has both, unless the test is on its path. */
struct near_pairs {
  struct near_pair *pair;
  int32_t *next;
  int32_t count; /* of pairs that are not empty */
  int64_t grain; /* in weights; larger than 1 if the amounts would not fit in 16 bits */
};

/* Looks for pairs. Leaves the struct empty if there are none, if finding them is too much work, or if there is no
   memory for them: the search does not depend on them. */
void near_pairs_make (treeml_solver *, const struct rows *, struct near_pairs *);
void near_pairs_release (treeml_solver *, struct near_pairs *);

/* A pair of the sub-problem under search. */
struct near_member {
  int32_t row;
  int16_t test, amount;
};

/* What the bounds of one sub-problem are computed in, for each thread. */
struct near_work {
  struct near_member *member;
  int16_t *all;           /* the errors of all pairs of each test */
  uint64_t *inside;       /* tests x stride of 16 bits: those whose rows answer another test with yes */
  int16_t *sum[2];        /* for the sides of each test: errors, each test counted up to the price of a leaf, */
  int16_t *largest[2][2]; /* and the largest two of these */
  uint64_t (*mask)[2];    /* 16 ones for every bit of a byte */
};

#endif
