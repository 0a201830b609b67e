/* A header before each block remembers its size, so that the sum in use is known at any moment. Threads share the
   arena, hence the atomic counters. */
#include "arena.h"

#include <stdlib.h>
#include <string.h>

enum { header = 64 };

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
  char *block = aligned_alloc (header, bytes);
  if (!block) {
    atomic_fetch_sub (&arena->used, bytes);
    return NULL;
  }
  if (zeroed)
    memset (block + header, 0, bytes - header);
  *(size_t *) block = bytes;
  size_t peak = atomic_load (&arena->peak);
  while (used > peak && !atomic_compare_exchange_weak (&arena->peak, &peak, used))
    ;
  return block + header;
}

void *arena_allocate (struct arena *arena, size_t count, size_t size) { return allocate (arena, count, size, 1); }

void *arena_reserve (struct arena *arena, size_t count, size_t size) { return allocate (arena, count, size, 0); }

void arena_release (struct arena *arena, void *pointer) {
  if (!pointer)
    return;
  char *block = (char *) pointer - header;
  atomic_fetch_sub (&arena->used, *(size_t *) block);
  free (block);
}
