/* A set of rows that shrinks on the way down a path and grows back on the way up (Demeulenaere et al. 2016). */
#ifndef TREEML_SPARSE_BITSET_H
#define TREEML_SPARSE_BITSET_H

#include "arena.h"

#include <stdint.h>

struct sparse_bitset {
  uint64_t *words;    /* the set itself: words outside of the index are zero */
  int32_t *index;     /* numbers of the words; those that are not zero come first */
  int32_t size;       /* of words */
  int32_t limit;      /* how many words are not zero */
  int32_t *limits;    /* at each depth */
  uint64_t *saved;    /* words as they were, in order of change */
  int32_t *saved_at;
  int64_t saved_count, saved_room;
  int64_t *saved_mark; /* at each depth */
  int32_t depth, depths;
};

/* All `rows` rows, for paths of up to `depths` steps; non-zero without memory. */
int sparse_bitset_create (struct arena *, struct sparse_bitset *, int64_t rows, int32_t depths);
void sparse_bitset_destroy (struct arena *, struct sparse_bitset *);
/* Keeps the rows of the mask, or those outside of it; one step down. */
void sparse_bitset_intersect (struct sparse_bitset *, const uint64_t *mask, int inside);
void sparse_bitset_backtrack (struct sparse_bitset *);
int64_t sparse_bitset_count (const struct sparse_bitset *);

#endif
