/* What a bounded cache wipes, by every strategy, and what it never wipes. The cache is included as a whole, so that its
   trie can be looked at. The program prints what does not hold, and ends with 0 if all of it does. */
#include "solver/cache.c"

#include <stdio.h>

enum { room = 8 };

static int failures;

static void expect (int holds, const char *what, enum wipe_strategy strategy, enum cache_kind kind) {
  if (holds)
    return;
  printf ("strategy %d, kind %d: %s\n", (int) strategy, (int) kind, what);
  failures++;
}

static int32_t paths[64][3];

/* Paths of one to three literals, all different. */
static struct key key_of (int number) {
  paths[number][0] = 2 * number;
  paths[number][1] = 2 * number + 1000;
  paths[number][2] = 2 * number + 2000;
  const uint64_t code = (uint64_t) number + 1;
  return (struct key) {.hash = {code * 0x9e3779b97f4a7c15u, code * 0xbf58476d1ce4e5b9u},
                       .path = paths[number],
                       .length = 1 + number % 3,
                       .depth = 1 + number % room};
}

static void store (struct cache *cache, int number, int64_t descendants) {
  const struct key key = key_of (number);
  cache_store (cache, &key, &(struct fact) {.lower = number, .upper = number + 1, .split = number}, descendants);
}

static int holds (struct cache *cache, int number) {
  const struct key key = key_of (number);
  struct fact fact;
  return cache_find (cache, &key, &fact) && fact.lower == number && fact.upper == number + 1 && fact.split == number;
}

static void reuse (struct cache *cache, int number, int times) {
  while (times--)
    holds (cache, number);
}

static struct cache *full_cache (struct arena *arena, enum cache_kind kind, enum wipe_strategy strategy) {
  struct cache *cache = cache_create (arena, kind, strategy, 50, 1, room);
  for (int number = 0; cache && number < room; number++)
    store (cache, number, number == 0 || number == 5 ? 100 : 1);
  return cache;
}

/* The next entry wipes half of the others: the two that are worth most stay, whichever they are. */
static void keeps_the_best (enum cache_kind kind, enum wipe_strategy strategy) {
  struct arena arena = {.limit = SIZE_MAX};
  struct cache *cache = full_cache (&arena, kind, strategy);
  if (!cache)
    return expect (0, "no memory", strategy, kind);
  reuse (cache, 1, 3);
  reuse (cache, 2, 3);
  store (cache, room, 1);
  expect (cache->shard[0].wipes == 1 && cache->shard[0].wiped == room / 2, "half is wiped", strategy, kind);
  if (strategy == keep_reused)
    expect (holds (cache, 1) && holds (cache, 2) && !holds (cache, 0), "reused entries stay", strategy, kind);
  if (strategy == keep_descendants)
    expect (holds (cache, 0) && holds (cache, 5) && !holds (cache, 1), "large searches stay", strategy, kind);
  if (strategy == keep_deep)
    expect (holds (cache, 7) && holds (cache, 6) && !holds (cache, 0), "deep problems stay", strategy, kind);
  expect (holds (cache, room), "the new entry is stored", strategy, kind);
  if (kind == trie_cache) {
    uint32_t most = 1;
    for (int number = 0; number <= room; number++)
      most += holds (cache, number) ? (uint32_t) key_of (number).length : 0;
    expect (cache->shard[0].step_used == most, "no step of the trie leads nowhere", strategy, kind);
  }
  cache_destroy (cache);
}

/* Entries of the path under search, and those of the best tree, are never wiped. */
static void keeps_what_is_needed (enum cache_kind kind, enum wipe_strategy strategy) {
  struct arena arena = {.limit = SIZE_MAX};
  struct cache *cache = full_cache (&arena, kind, strategy);
  if (!cache)
    return expect (0, "no memory", strategy, kind);
  const struct key path = key_of (3), tree = key_of (4);
  cache_enter (cache, &path);
  cache_enter (cache, &path);
  cache_leave (cache, &path);
  cache_require (cache, &tree);
  for (int number = room; number < 60; number++)
    store (cache, number, 1000);
  expect (cache->shard[0].wipes > 3, "it is wiped again and again", strategy, kind);
  expect (holds (cache, 3), "the path stays", strategy, kind);
  expect (holds (cache, 4), "the best tree stays", strategy, kind);
  cache_leave (cache, &path);
  cache_release_required (cache);
  for (int number = 8; number < 60; number++)
    for (int times = 0; times < 30; times++)
      store (cache, number, 1000000);
  if (strategy == keep_required || strategy == keep_descendants)
    expect (!holds (cache, 3) && !holds (cache, 4), "what is needed no longer goes", strategy, kind);
  cache_destroy (cache);
}

int main (void) {
  for (int kind = rows_cache; kind <= closed_cache; kind++)
    for (int strategy = keep_reused; strategy <= keep_deep; strategy++) {
      if (strategy != keep_required)
        keeps_the_best ((enum cache_kind) kind, (enum wipe_strategy) strategy);
      keeps_what_is_needed ((enum cache_kind) kind, (enum wipe_strategy) strategy);
    }
  return failures ? 1 : 0;
}
