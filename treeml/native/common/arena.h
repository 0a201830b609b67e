/* All memory of one solver: counted, limited, and able to fail on purpose for tests. Where there is no solver to
   count for, common/memory.h is used directly. */
#ifndef TREEML_ARENA_H
#define TREEML_ARENA_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct arena {
  atomic_size_t used, peak;
  size_t limit;
  atomic_llong until_failure; /* 0 for never; n lets the n-th allocation from now on fail */
};

/* Zeroed and aligned to 64 bytes, or NULL. */
void *arena_allocate (struct arena *, size_t count, size_t size);
/* The same with undefined contents, for memory that is written before it is read. */
void *arena_reserve (struct arena *, size_t count, size_t size);
void arena_release (struct arena *, void *);

#endif
