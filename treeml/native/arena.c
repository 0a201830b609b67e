/* A header before each block remembers its size and where it really begins, so that the sum in use is known at any
   moment. Threads share the arena, hence the atomic counters. */
#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { header = 64, large = 1 << 20 };

struct block {
  size_t bytes;
  void *begins;
};

/* Aligned, and zeroed if asked. The system gives large blocks as empty pages, which cost nothing until they are used. */
static struct block *take (size_t bytes, int zeroed) {
  const int pages = zeroed && bytes >= large;
  char *begins = pages ? calloc (1, bytes + header) : aligned_alloc (header, bytes);
  if (!begins)
    return NULL;
  if (zeroed && !pages)
    memset (begins, 0, bytes);
  struct block *block = (void *) (((uintptr_t) begins + header - 1) / header * header);
  *block = (struct block){bytes, begins};
  return block;
}

static int must_fail (struct arena *arena) {
  if (!atomic_load_explicit (&arena->until_failure, memory_order_relaxed))
    return 0;
  return atomic_fetch_sub (&arena->until_failure, 1) == 1;
}

static void *allocate (struct arena *arena, size_t count, size_t size, int zeroed) {
  if (size && count > (SIZE_MAX / 2 - 2 * header) / size)
    return NULL;
  size_t bytes = (count * size + 2 * header - 1) / header * header;
  if (bytes < 2 * header)
    bytes = 2 * header;
  if (must_fail (arena))
    return NULL;
  size_t used = atomic_fetch_add (&arena->used, bytes) + bytes;
  if (used > arena->limit) {
    atomic_fetch_sub (&arena->used, bytes);
    return NULL;
  }
  struct block *block = take (bytes, zeroed);
  if (!block) {
    atomic_fetch_sub (&arena->used, bytes);
    return NULL;
  }
  size_t peak = atomic_load (&arena->peak);
  while (used > peak && !atomic_compare_exchange_weak (&arena->peak, &peak, used))
    ;
  return (char *) block + header;
}

void *arena_allocate (struct arena *arena, size_t count, size_t size) { return allocate (arena, count, size, 1); }

void *arena_reserve (struct arena *arena, size_t count, size_t size) { return allocate (arena, count, size, 0); }

void arena_release (struct arena *arena, void *pointer) {
  if (!pointer)
    return;
  struct block *block = (void *) ((char *) pointer - header);
  atomic_fetch_sub (&arena->used, block->bytes);
  free (block->begins);
}
