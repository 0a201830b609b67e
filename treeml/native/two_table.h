/* Depth-two optima by row set: a set is met once for every order of the tests that lead to it.

   A table of its own beside the cache: these entries are many and small, none is needed to build a tree, and so a place
   that is taken is simply taken over. Threads share it without locks: a key is stored mixed with its value, so that what
   two of them wrote at the same time is nobody's key. */
#ifndef TREEML_TWO_TABLE_H
#define TREEML_TWO_TABLE_H

#include "arena.h"

#include <stdint.h>

struct two_table {
  struct two_entry *entries;
  int64_t size, used, most;
  int shared; /* then it does not grow */
};

void two_table_release (struct arena *, struct two_table *);
/* Makes it as large as it may become, for several threads. */
void two_table_share (struct arena *, struct two_table *);
int two_table_find (const struct two_table *, const uint64_t hash[2], int64_t *value);
void two_table_store (struct arena *, struct two_table *, const uint64_t hash[2], int64_t value);

#endif
