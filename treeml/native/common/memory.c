/* One file calls malloc and its relatives, so that no overflow of a size and no failure goes unchecked. */
#include "common/memory.h"

#include "common/sizes.h"

#include <stdlib.h>

/* At least one byte: the system may answer a request for nothing with NULL, which would look like a failure. */
static size_t bytes_of (size_t count, size_t size) {
  const size_t bytes = times (count, size);
  return bytes ? bytes : 1;
}

void *memory_allocate (size_t count, size_t size) { return calloc (1, bytes_of (count, size)); }

void *memory_reserve (size_t count, size_t size) { return malloc (bytes_of (count, size)); }

void *memory_resize (void *block, size_t count, size_t size) { return realloc (block, bytes_of (count, size)); }

void memory_release (void *block) { free (block); }
