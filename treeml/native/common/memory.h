/* The only functions that take memory from the system. A request that is too large to be counted fails like one that
   the system refuses: the result is NULL, which every caller turns into an error code. */
#ifndef TREEML_MEMORY_H
#define TREEML_MEMORY_H

#include <stddef.h>

/* Zeroed memory, or NULL. Never NULL merely because the size is zero. */
void *memory_allocate (size_t count, size_t size);
/* The same with undefined contents. */
void *memory_reserve (size_t count, size_t size);
/* Moves a block to one of another size; NULL leaves the old block as it was. */
void *memory_resize (void *block, size_t count, size_t size);
void memory_release (void *block);

#endif
