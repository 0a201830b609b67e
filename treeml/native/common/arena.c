/* Every block starts with a header that stores its size and its real beginning, so that the number of bytes in use
   is always known. The counters are atomic because threads share an arena. */
#include "common/arena.h"

#include "common/memory.h"

#include <stdint.h>
#include <string.h>

enum { header = 64, large = 1 << 20 };

struct block {
  size_t bytes;
  void *begins;
};

/* An aligned block, zeroed on request. The system hands out large zeroed blocks as empty pages, which cost nothing
   until they are used. */
static struct block *take (size_t bytes, int zeroed) {
  const int pages = zeroed && bytes >= large;
  char *begins = pages ? memory_allocate (1, bytes + header) : memory_reserve (1, bytes + header);
  if (!begins)
    return NULL;
  struct block *block = (void *) (((uintptr_t) begins + header - 1) / header * header);
  if (zeroed && !pages)
    memset (block, 0, bytes);
  *block = (struct block) {bytes, begins};
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
  memory_release (block->begins);
}
