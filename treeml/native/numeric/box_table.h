/* What is known about sets of rows: a lower bound for every size of trees, their depth or leaves. Sets are identified
   by the sums of random keys of their rows, 128 bits. */
#ifndef TREEML_NUMERIC_BOX_TABLE_H
#define TREEML_NUMERIC_BOX_TABLE_H

#include "common/arena.h"

struct box_key {
  uint64_t low, high;
};

struct box {
  struct box_key key;
  int64_t bound;
  int32_t size;         /* of the trees; 0 if there is no entry */
  int32_t final;        /* whether the bound cannot be raised */
  int32_t column, code; /* of a cut that costs no more, if it is final; -1: a leaf, -2: a tree of depth two */
};

struct box_table {
  struct arena *arena;
  struct box *box;
  uint64_t size, used; /* the size is a power of two, or 0 */
  int full;            /* whether there is no memory for a larger one */
};

static inline struct box_key box_key_add (struct box_key a, struct box_key b) {
  return (struct box_key) {a.low + b.low, a.high + b.high};
}
static inline struct box_key box_key_subtract (struct box_key a, struct box_key b) {
  return (struct box_key) {a.low - b.low, a.high - b.high};
}
/* A random key of a row. */
struct box_key box_key_of_row (int64_t row);

/* The entry of a set, or NULL. */
const struct box *box_table_find (const struct box_table *, struct box_key, int32_t size);
/* Keeps an entry, unless a higher bound is known. If memory is short, an older entry gives way. */
void box_table_keep (struct box_table *, const struct box *);
void box_table_destroy (struct box_table *);

#endif
