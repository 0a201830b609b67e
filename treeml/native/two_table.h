/* Depth-two optima by row set: a set is met once for every order of the tests that lead to it.

   A table of its own beside the cache: these entries are many and small, none is needed to build a tree, and so a place
   that is taken is simply taken over. One a thread, without locks. */
#ifndef TREEML_TWO_TABLE_H
#define TREEML_TWO_TABLE_H

#include "arena.h"

#include <stdint.h>

struct two_table {
  struct two_entry *entries;
  int64_t size, used, most;
};

void two_table_release (struct arena *, struct two_table *);
int two_table_find (const struct two_table *, const uint64_t hash[2], int64_t *value);
void two_table_store (struct arena *, struct two_table *, const uint64_t hash[2], int64_t value);

#endif
