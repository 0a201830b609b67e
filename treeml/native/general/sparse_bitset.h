/* A set of rows that shrinks on the way down a path and grows back on the way up (Demeulenaere et al. 2016). */
#ifndef TREEML_SPARSE_BITSET_H
#define TREEML_SPARSE_BITSET_H

#include "common/arena.h"

#include <stdint.h>

struct sparse_bitset {
  uint64_t *words; /* the set itself; words that are not in the index are zero */
  int32_t *index;  /* numbers of the words, the non-zero ones first */
  int32_t size;    /* number of words */
  int32_t limit;   /* how many words are not zero */
  int32_t *limits; /* at each depth */
  uint64_t *saved; /* previous values of the words, in order of change */
  int32_t *saved_at;
  int64_t saved_count, saved_room;
  int64_t *saved_mark; /* at each depth */
  int32_t depth, depths;
};

/* Creates the set of all `rows` rows, for paths of up to `depths` steps; non-zero if out of memory. */
int sparse_bitset_create (struct arena *, struct sparse_bitset *, int64_t rows, int32_t depths);
void sparse_bitset_destroy (struct arena *, struct sparse_bitset *);
/* Goes one step down: keeps the rows of the mask, or those outside of it. */
void sparse_bitset_intersect (struct sparse_bitset *, const uint64_t *mask, int inside);
void sparse_bitset_backtrack (struct sparse_bitset *);
int64_t sparse_bitset_count (const struct sparse_bitset *);

#endif
