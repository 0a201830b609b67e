/* What a bounded cache keeps: every wipe halves the counts of reuses, so that recent reuses weigh more than old ones.
   The program ends with 0 if all of it holds. */
#include "solver/cache.h"

#include <stdio.h>

static struct key key_of (uint64_t number) {
  return (struct key) {.hash = {number * 0x9e3779b97f4a7c15u, number * 0xbf58476d1ce4e5b9u + 1}, .depth = 1};
}

static void store (struct cache *cache, uint64_t number) {
  const struct key key = key_of (number);
  cache_store (cache, &key, &(struct fact) {.lower = 0, .upper = 1, .split = is_leaf}, 0);
}

static int find (struct cache *cache, uint64_t number, int times) {
  const struct key key = key_of (number);
  struct fact fact;
  int found = 0;
  while (times--)
    found = cache_find (cache, &key, &fact);
  return found;
}

/* Entry 1 is reused `before` times before a wipe, entries 5 and 6 `after` times after it. Is 1 kept by the second? */
static int is_old_entry_kept (int before, int after) {
  struct arena arena = {.limit = SIZE_MAX};
  struct cache *cache = cache_create (&arena, rows_cache, keep_reused, 50, 1, 4);
  if (!cache)
    return -1;
  for (uint64_t number = 1; number <= 4; number++)
    store (cache, number);
  find (cache, 1, before);
  store (cache, 5); /* the cache is full: half of its entries go, 2 and 3 */
  store (cache, 6);
  int64_t entries, wipes, wiped;
  cache_count (cache, &entries, &wipes, &wiped);
  if (entries != 4 || wipes != 1 || wiped != 2)
    return -1;
  find (cache, 5, after);
  find (cache, 6, after);
  store (cache, 7); /* entry 4 goes, which was never reused, and one more */
  const int kept = find (cache, 1, 1), others = find (cache, 5, 1) + find (cache, 6, 1);
  const int is_right = !find (cache, 4, 1) && find (cache, 7, 1) && kept + others == 2;
  cache_destroy (cache);
  return is_right ? kept : -1;
}

int main (void) {
  /* Four old reuses count as two: three recent ones are worth more, one is worth less. */
  const int first = is_old_entry_kept (4, 3), second = is_old_entry_kept (4, 1);
  printf ("%d %d\n", first, second);
  return first == 0 && second == 1 ? 0 : 1;
}
