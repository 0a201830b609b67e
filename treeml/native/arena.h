/* All memory of a solver: counted, limited, and able to fail on purpose. */
#ifndef TREEML_ARENA_H
#define TREEML_ARENA_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct arena {
  atomic_size_t used, peak;
  size_t limit;
  atomic_llong until_failure; /* 0: never; n: the n-th allocation from now fails */
};

/* Zeroed and aligned to 64 bytes, or NULL. */
void *arena_allocate (struct arena *, size_t count, size_t size);
/* The same with anything in it: for what is written before it is read. */
void *arena_reserve (struct arena *, size_t count, size_t size);
void arena_release (struct arena *, void *);

#endif
