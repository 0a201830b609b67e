/* Optimal values of depth two by row set: the same set is met once for every order of the tests that lead to it.

   This table is separate from the cache because its entries are many and small and none is needed to build a tree,
   so an entry may simply overwrite another. Threads share it without locks: a key is stored mixed with its value, so
   that an entry written by two threads at once matches no key. */
#ifndef TREEML_DEPTH_TWO_TABLE_H
#define TREEML_DEPTH_TWO_TABLE_H

#include "common/arena.h"

#include <stdint.h>

struct depth_two_table {
  struct two_entry *entries;
  int64_t size, used, most;
  int shared; /* a shared table does not grow */
};

void depth_two_table_release (struct arena *, struct depth_two_table *);
/* Allocates the table at its largest size, for use by several threads. */
void depth_two_table_share (struct arena *, struct depth_two_table *);
int depth_two_table_find (const struct depth_two_table *, const uint64_t hash[2], int64_t *value);
void depth_two_table_store (struct arena *, struct depth_two_table *, const uint64_t hash[2], int64_t value);

#endif
