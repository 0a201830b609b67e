/* Only non-zero words are visited, and only words that change are saved. The loop runs from the last word to the
   first, so that the word swapped into a place has been visited already. */
#include "general/sparse_bitset.h"

#include "common/bits.h"

#include <string.h>

int sparse_bitset_create (struct arena *arena, struct sparse_bitset *set, int64_t rows, int32_t depths) {
  memset (set, 0, sizeof *set);
  set->size = (int32_t) ((rows + 63) / 64);
  set->depths = depths;
  set->saved_room = (int64_t) set->size * (depths + 1);
  set->words = arena_allocate (arena, (size_t) set->size, sizeof *set->words);
  set->index = arena_allocate (arena, (size_t) set->size, sizeof *set->index);
  set->limits = arena_allocate (arena, (size_t) depths + 1, sizeof *set->limits);
  set->saved = arena_allocate (arena, (size_t) set->saved_room, sizeof *set->saved);
  set->saved_at = arena_allocate (arena, (size_t) set->saved_room, sizeof *set->saved_at);
  set->saved_mark = arena_allocate (arena, (size_t) depths + 1, sizeof *set->saved_mark);
  if (!set->words || !set->index || !set->limits || !set->saved || !set->saved_at || !set->saved_mark) {
    sparse_bitset_destroy (arena, set);
    return 1;
  }
  for (int32_t i = 0; i < set->size; i++)
    set->index[i] = i;
  for (int64_t row = 0; row < rows; row++)
    set->words[row >> 6] |= (uint64_t) 1 << (row & 63);
  set->limit = set->size;
  return 0;
}

void sparse_bitset_destroy (struct arena *arena, struct sparse_bitset *set) {
  arena_release (arena, set->words);
  arena_release (arena, set->index);
  arena_release (arena, set->limits);
  arena_release (arena, set->saved);
  arena_release (arena, set->saved_at);
  arena_release (arena, set->saved_mark);
  memset (set, 0, sizeof *set);
}

void sparse_bitset_intersect (struct sparse_bitset *set, const uint64_t *mask, int inside) {
  set->limits[set->depth] = set->limit;
  set->saved_mark[set->depth++] = set->saved_count;
  for (int32_t i = set->limit - 1; i >= 0; i--) {
    const int32_t at = set->index[i];
    const uint64_t before = set->words[at], after = before & (inside ? mask[at] : ~mask[at]);
    if (before == after)
      continue;
    set->saved[set->saved_count] = before;
    set->saved_at[set->saved_count++] = at;
    set->words[at] = after;
    if (!after) {
      set->limit--;
      set->index[i] = set->index[set->limit];
      set->index[set->limit] = at;
    }
  }
}

void sparse_bitset_backtrack (struct sparse_bitset *set) {
  set->depth--;
  set->limit = set->limits[set->depth];
  while (set->saved_count > set->saved_mark[set->depth]) {
    set->saved_count--;
    set->words[set->saved_at[set->saved_count]] = set->saved[set->saved_count];
  }
}

int64_t sparse_bitset_count (const struct sparse_bitset *set) {
  int64_t count = 0;
  for (int32_t i = 0; i < set->limit; i++)
    count += count_bits (set->words[set->index[i]]);
  return count;
}
