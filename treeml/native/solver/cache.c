/* The cache of sub-problems: facts in a pool of chunks, found through hash buckets or through a trie of paths.

   The pool grows by one chunk at a time, so that a byte limit can be filled without the doubling that a flat table
   needs. When no further chunk can be allocated, part of the entries is wiped (Aglin 2022, chapter 5): the survivors
   move to the front of the pool and the index is rebuilt. A search stores its result when it leaves a node and looks
   it up again by key, so no pointer into the pool outlives a call, and an entry that was wiped is simply solved
   again. The cache is divided into shards, each with its own lock. */
#include "solver/cache.h"

#include <assert.h>
#include <string.h>

enum { chunk_bits = 9, chunk_entries = 1 << chunk_bits, most_shards = 64, first_buckets = 256 };

struct entry {
  uint64_t hash[2];
  int64_t lower, upper;
  int32_t split;
  int32_t depth, leaves;
  uint32_t reuses, descendants;
  uint32_t next;  /* 1 + index of the next entry in the bucket, or of the same trie step */
  uint32_t moved; /* during a wipe: 1 + the index it moves to, or 0 if it is removed */
  int32_t shallow;
  uint16_t required; /* whether it belongs to the incumbent */
  uint16_t entered;  /* number of paths under search that it lies on */
#ifdef TREEML_CHECK
  uint64_t check;
#endif
};

/* A trie node. Children are a list of siblings with ascending literals; the facts of a path hang on its last node. */
struct step {
  int32_t literal;
  uint32_t sibling, child; /* 1 + index */
  uint32_t facts;          /* 1 + index of an entry */
};

/* A list of entries. Most keys that are looked up are not there, which one of 32 marks tells without a look at the
   entries. */
struct bucket {
  uint32_t first, marks; /* 1 + index of an entry; a bit for the mark of each of them */
};

struct shard {
  thread_lock lock;
  struct entry **chunks;
  uint32_t chunk_room, chunk_count, used;
  struct bucket *buckets;
  uint32_t bucket_count;
  struct step *steps;
  uint32_t step_room, step_used;
  int64_t wipes, wiped;
};

struct cache {
  struct arena *arena;
  enum cache_kind kind;
  enum wipe_strategy strategy;
  int share, threads, shards;
  uint32_t most; /* entries of a shard */
  struct shard shard[];
};

static struct entry *entry_at (const struct shard *shard, uint32_t index) {
  return &shard->chunks[index >> chunk_bits][index & (chunk_entries - 1)];
}

struct cache *cache_create (struct arena *arena, enum cache_kind kind, enum wipe_strategy strategy, int share,
                            int threads, int64_t most) {
  const int shards = threads > 1 && kind != trie_cache ? most_shards : 1;
  struct cache *cache = arena_allocate (arena, 1, sizeof *cache + (size_t) shards * sizeof (struct shard));
  if (!cache)
    return NULL;
  cache->arena = arena;
  cache->kind = kind;
  cache->strategy = strategy;
  cache->share = share;
  cache->threads = threads;
  cache->shards = shards;
  cache->most = most / shards < UINT32_MAX ? (uint32_t) (most / shards) : UINT32_MAX;
  if (!cache->most)
    cache->most = 1;
  for (int i = 0; i < shards; i++)
    lock_make (&cache->shard[i].lock);
  return cache;
}

void cache_destroy (struct cache *cache) {
  if (!cache)
    return;
  for (int i = 0; i < cache->shards; i++) {
    struct shard *shard = &cache->shard[i];
    for (uint32_t c = 0; c < shard->chunk_count; c++)
      arena_release (cache->arena, shard->chunks[c]);
    arena_release (cache->arena, shard->chunks);
    arena_release (cache->arena, shard->buckets);
    arena_release (cache->arena, shard->steps);
    lock_destroy (&shard->lock);
  }
  arena_release (cache->arena, cache);
}

static struct shard *lock_shard (struct cache *cache, const struct key *key) {
  struct shard *shard = &cache->shard[cache->shards == 1 ? 0 : key->hash[1] % (uint64_t) cache->shards];
  if (cache->threads > 1)
    lock_take (&shard->lock);
  return shard;
}

static void unlock_shard (struct cache *cache, struct shard *shard) {
  if (cache->threads > 1)
    lock_leave (&shard->lock);
}

static int matches (const struct entry *entry, const struct key *key) {
  return entry->hash[0] == key->hash[0] && entry->hash[1] == key->hash[1] && entry->depth == key->depth &&
         entry->leaves == key->leaves;
}

static uint32_t bucket_of (const struct shard *shard, const struct key *key) {
  const uint64_t depth = (uint64_t) (uint32_t) key->depth + ((uint64_t) (uint32_t) key->leaves << 32);
  return (uint32_t) ((key->hash[0] ^ depth * 0x9e3779b97f4a7c15u) >> 20) & (shard->bucket_count - 1);
}

static uint32_t mark_of (const struct key *key) { return (uint32_t) 1 << (key->hash[1] >> 59); }

/* The trie node of a path, or 0 if there is none. With `create` it is made if needed, and 0 means out of memory. */
static uint32_t walk (struct cache *cache, struct shard *shard, const struct key *key, int create) {
  if (!shard->steps) {
    if (!create)
      return 0;
    shard->steps = arena_allocate (cache->arena, 256, sizeof *shard->steps);
    if (!shard->steps)
      return 0;
    shard->step_room = 256;
    shard->step_used = 1;
    shard->steps[0].literal = -1;
  }
  uint32_t at = 0;
  for (int32_t i = 0; i < key->length; i++) {
    uint32_t before = 0, next = shard->steps[at].child;
    while (next && shard->steps[next - 1].literal < key->path[i]) {
      before = next;
      next = shard->steps[next - 1].sibling;
    }
    if (!next || shard->steps[next - 1].literal != key->path[i]) {
      if (!create)
        return 0;
      if (shard->step_used == shard->step_room) {
        struct step *more = arena_allocate (cache->arena, 2 * (size_t) shard->step_room, sizeof *more);
        if (!more)
          return 0;
        memcpy (more, shard->steps, shard->step_used * sizeof *more);
        arena_release (cache->arena, shard->steps);
        shard->steps = more;
        shard->step_room *= 2;
      }
      const uint32_t made = ++shard->step_used;
      struct step *step = &shard->steps[made - 1];
      step->literal = key->path[i];
      step->sibling = next;
      step->child = step->facts = 0;
      if (before)
        shard->steps[before - 1].sibling = made;
      else
        shard->steps[at].child = made;
      next = made;
    }
    at = next - 1;
  }
  return at + 1;
}

static struct entry *find (struct cache *cache, struct shard *shard, const struct key *key) {
  uint32_t index;
  if (cache->kind == trie_cache) {
    const uint32_t step = walk (cache, shard, key, 0);
    if (!step)
      return NULL;
    index = shard->steps[step - 1].facts;
    for (; index; index = entry_at (shard, index - 1)->next) {
      struct entry *entry = entry_at (shard, index - 1);
      if (entry->depth == key->depth && entry->leaves == key->leaves)
        return entry;
    }
    return NULL;
  }
  if (!shard->bucket_count)
    return NULL;
  const struct bucket *bucket = &shard->buckets[bucket_of (shard, key)];
  if (!(bucket->marks & mark_of (key)))
    return NULL;
  for (index = bucket->first; index; index = entry_at (shard, index - 1)->next)
    if (matches (entry_at (shard, index - 1), key))
      return entry_at (shard, index - 1);
  return NULL;
}

static void link_entry (struct shard *shard, uint32_t index) {
  struct entry *entry = entry_at (shard, index);
  const struct key key = {.hash = {entry->hash[0], entry->hash[1]}, .depth = entry->depth, .leaves = entry->leaves};
  struct bucket *bucket = &shard->buckets[bucket_of (shard, &key)];
  entry->next = bucket->first;
  bucket->first = index + 1;
  bucket->marks |= mark_of (&key);
}

static int grow_buckets (struct cache *cache, struct shard *shard) {
  const uint32_t count = shard->bucket_count ? 2 * shard->bucket_count : first_buckets;
  struct bucket *buckets = arena_allocate (cache->arena, count, sizeof *buckets);
  if (!buckets)
    return shard->bucket_count != 0; /* longer chains are slower, not wrong */
  arena_release (cache->arena, shard->buckets);
  shard->buckets = buckets;
  shard->bucket_count = count;
  for (uint32_t i = 0; i < shard->used; i++)
    link_entry (shard, i);
  return 1;
}

static int grow_pool (struct cache *cache, struct shard *shard) {
  if (shard->chunk_count == shard->chunk_room) {
    const uint32_t room = shard->chunk_room ? 2 * shard->chunk_room : 16;
    struct entry **chunks = arena_allocate (cache->arena, room, sizeof *chunks);
    if (!chunks)
      return 0;
    if (shard->chunk_count)
      memcpy (chunks, shard->chunks, shard->chunk_count * sizeof *chunks);
    arena_release (cache->arena, shard->chunks);
    shard->chunks = chunks;
    shard->chunk_room = room;
  }
  struct entry *chunk = arena_allocate (cache->arena, chunk_entries, sizeof *chunk);
  if (!chunk)
    return 0;
  shard->chunks[shard->chunk_count++] = chunk;
  return 1;
}

/* How much an entry is worth keeping. Entries are stored in order of arrival, so that among equals the older ones
   go. */
static uint32_t score (const struct cache *cache, const struct entry *entry) {
  return cache->strategy == keep_reused ? entry->reuses
         : cache->strategy == keep_deep ? (uint32_t) entry->depth
                                        : entry->descendants;
}

static int is_protected (const struct entry *entry) { return entry->required || entry->entered; }

/* The score at or below which entries are removed: a quantile, found with a histogram over bit lengths. */
static uint32_t wipe_threshold (const struct cache *cache, const struct shard *shard, uint32_t *at_threshold) {
  uint32_t histogram[1025] = {0}, unprotected = 0;
  for (uint32_t i = 0; i < shard->used; i++) {
    const struct entry *entry = entry_at (shard, i);
    if (is_protected (entry))
      continue;
    const uint32_t s = score (cache, entry);
    histogram[s < 1024 ? s : 1024]++;
    unprotected++;
  }
  uint64_t wanted = (uint64_t) unprotected * (uint64_t) cache->share / 100;
  if (!wanted)
    wanted = 1;
  uint64_t sum = 0;
  for (uint32_t s = 0; s <= 1024; s++) {
    if (sum + histogram[s] >= wanted) {
      *at_threshold = (uint32_t) (wanted - sum);
      return s;
    }
    sum += histogram[s];
  }
  *at_threshold = 0;
  return 1024;
}

/* Copies a trie without the nodes that no longer lead to a fact; returns 1 + the index of the copy, or 0. */
static uint32_t copy_steps (const struct step *old, struct step *to, uint32_t *used, uint32_t from) {
  const uint32_t made = (*used)++;
  to[made].literal = old[from].literal;
  to[made].facts = old[from].facts;
  to[made].sibling = to[made].child = 0;
  uint32_t last = 0;
  for (uint32_t next = old[from].child; next; next = old[next - 1].sibling) {
    const uint32_t child = copy_steps (old, to, used, next - 1);
    if (!child)
      continue;
    if (last)
      to[last - 1].sibling = child;
    else
      to[made].child = child;
    last = child;
  }
  if (to[made].facts || last || !from)
    return made + 1;
  *used = made;
  return 0;
}

static void relink_trie (struct cache *cache, struct shard *shard) {
  for (uint32_t s = 0; s < shard->step_used; s++) {
    uint32_t list = 0;
    for (uint32_t index = shard->steps[s].facts, next; index; index = next) {
      struct entry *entry = entry_at (shard, index - 1);
      next = entry->next;
      if (!entry->moved)
        continue;
      entry->next = list;
      list = entry->moved;
    }
    shard->steps[s].facts = list;
  }
  struct step *steps = shard->step_room ? arena_allocate (cache->arena, shard->step_room, sizeof *steps) : NULL;
  if (!steps)
    return;
  uint32_t used = 0;
  copy_steps (shard->steps, steps, &used, 0);
  arena_release (cache->arena, shard->steps);
  shard->steps = steps;
  shard->step_used = used;
}

static void wipe (struct cache *cache, struct shard *shard) {
  uint32_t at_threshold = 0, threshold = 0, kept = 0;
  if (cache->strategy != keep_required)
    threshold = wipe_threshold (cache, shard, &at_threshold);
  for (uint32_t i = 0; i < shard->used; i++) {
    struct entry *entry = entry_at (shard, i);
    const uint32_t whole = score (cache, entry), s = whole < 1024 ? whole : 1024;
    int gone = 0;
    if (is_protected (entry))
      ;
    else if (cache->strategy == keep_required || s < threshold)
      gone = 1;
    else if (s == threshold && at_threshold) {
      gone = 1;
      at_threshold--;
    }
    entry->moved = gone ? 0 : ++kept;
    entry->reuses /= 2; /* so that old reuses count less than recent ones */
  }
  if (cache->kind == trie_cache)
    relink_trie (cache, shard);
  for (uint32_t i = 0; i < shard->used; i++) {
    const struct entry *entry = entry_at (shard, i);
    if (entry->moved && entry->moved - 1 != i)
      *entry_at (shard, entry->moved - 1) = *entry;
  }
  shard->wipes++;
  shard->wiped += shard->used - kept;
  shard->used = kept;
  if (cache->kind == trie_cache || !shard->buckets)
    return;
  memset (shard->buckets, 0, shard->bucket_count * sizeof *shard->buckets);
  for (uint32_t i = 0; i < kept; i++)
    link_entry (shard, i);
}

static struct entry *insert (struct cache *cache, struct shard *shard, const struct key *key) {
  if (shard->used >= cache->most || (shard->used == shard->chunk_count << chunk_bits && !grow_pool (cache, shard))) {
    if (!shard->used)
      return NULL;
    wipe (cache, shard);
    if (shard->used >= cache->most || shard->used == shard->chunk_count << chunk_bits)
      return NULL;
  }
  uint32_t step = 0;
  if (cache->kind == trie_cache) {
    step = walk (cache, shard, key, 1);
    if (!step) {
      wipe (cache, shard);
      step = walk (cache, shard, key, 1);
      if (!step)
        return NULL;
    }
  } else if (shard->used >= shard->bucket_count && !grow_buckets (cache, shard))
    return NULL;
  const uint32_t index = shard->used++;
  struct entry *entry = entry_at (shard, index);
  memset (entry, 0, sizeof *entry);
  entry->hash[0] = key->hash[0];
  entry->hash[1] = key->hash[1];
  entry->depth = key->depth;
  entry->leaves = key->leaves;
  entry->lower = INT64_MIN;
  entry->upper = INT64_MAX;
  entry->split = is_unknown;
#ifdef TREEML_CHECK
  entry->check = key->check;
#endif
  if (step) {
    entry->next = shard->steps[step - 1].facts;
    shard->steps[step - 1].facts = index + 1;
  } else
    link_entry (shard, index);
  return entry;
}

int cache_find (struct cache *cache, const struct key *key, struct fact *fact) {
  if (cache->kind == no_cache)
    return 0;
  struct shard *shard = lock_shard (cache, key);
  struct entry *entry = find (cache, shard, key);
#ifdef TREEML_CHECK
  assert (!entry || entry->check == key->check);
#endif
  if (entry) {
    if (entry->reuses < UINT32_MAX)
      entry->reuses++;
    fact->lower = entry->lower;
    fact->upper = entry->upper;
    fact->split = entry->split;
    fact->shallow = entry->shallow;
  }
  unlock_shard (cache, shard);
  return entry != NULL;
}

void cache_store (struct cache *cache, const struct key *key, const struct fact *fact, int64_t descendants) {
  if (cache->kind == no_cache)
    return;
  struct shard *shard = lock_shard (cache, key);
  struct entry *entry = find (cache, shard, key);
  if (!entry)
    entry = insert (cache, shard, key);
  if (entry) {
    if (fact->lower > entry->lower)
      entry->lower = fact->lower;
    if (fact->upper < entry->upper || entry->split == is_unknown) {
      entry->upper = fact->upper;
      entry->split = fact->split;
      entry->shallow = fact->shallow;
    }
    const uint64_t sum = entry->descendants + (uint64_t) descendants;
    entry->descendants = sum < UINT32_MAX ? (uint32_t) sum : UINT32_MAX;
  }
  unlock_shard (cache, shard);
}

void cache_require (struct cache *cache, const struct key *key) {
  if (cache->kind == no_cache)
    return;
  struct shard *shard = lock_shard (cache, key);
  struct entry *entry = find (cache, shard, key);
  if (entry)
    entry->required = 1;
  unlock_shard (cache, shard);
}

void cache_release_required (struct cache *cache) {
  for (int i = 0; i < cache->shards; i++) {
    struct shard *shard = &cache->shard[i];
    if (cache->threads > 1)
      lock_take (&shard->lock);
    for (uint32_t e = 0; e < shard->used; e++)
      entry_at (shard, e)->required = 0;
    unlock_shard (cache, shard);
  }
}

static void change_entered (struct cache *cache, const struct key *key, int by) {
  if (cache->kind == no_cache)
    return;
  struct shard *shard = lock_shard (cache, key);
  struct entry *entry = find (cache, shard, key);
  if (entry && (by > 0 || entry->entered))
    entry->entered = (uint16_t) (entry->entered + by);
  unlock_shard (cache, shard);
}

void cache_enter (struct cache *cache, const struct key *key) { change_entered (cache, key, 1); }

void cache_leave (struct cache *cache, const struct key *key) { change_entered (cache, key, -1); }

void cache_count (struct cache *cache, int64_t *entries, int64_t *wipes, int64_t *wiped) {
  *entries = *wipes = *wiped = 0;
  for (int i = 0; i < cache->shards; i++) {
    *entries += cache->shard[i].used;
    *wipes += cache->shard[i].wipes;
    *wiped += cache->shard[i].wiped;
  }
}
