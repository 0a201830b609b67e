/* What is known about the sub-problems met so far. Both searches over tests use it. */
#ifndef TREEML_CACHE_H
#define TREEML_CACHE_H

#include "common/arena.h"

#include <pthread.h>
#include <stdint.h>

/* Identifies a sub-problem: by its rows or its path as 128 bits, or by the path itself in a trie. */
struct key {
  uint64_t hash[2];
  const int32_t *path; /* ascending literals, 2 * test + side */
  int32_t length;
  int32_t depth, leaves; /* limits of the subtree */
#ifdef TREEML_CHECK
  uint64_t check; /* a second hash of the rows, made in another way: equal keys must have equal checks */
#endif
};

#ifdef TREEML_CHECK
static inline uint64_t key_check (uint64_t row) {
  uint64_t x = (row + 1) * 0xd1342543de82ef95u;
  x = (x ^ x >> 32) * 0xaef17502108ef2d9u;
  return x ^ x >> 29;
}
#endif

/* Values of `split` for a leaf and for a sub-problem without a known tree. */
enum { is_leaf = -1, is_unknown = -2 };

struct fact {
  int64_t lower, upper; /* bounds of the optimum; `upper` is the value of a tree with root `split` */
  int32_t split;
  int32_t shallow; /* a note of the search about the tree behind `upper`: its depth, or the leaves of its yes side */
};

struct cache;

enum cache_kind { no_cache, rows_cache, path_cache, trie_cache };
enum wipe_strategy { keep_reused, keep_descendants, keep_required, keep_deep };

/* Keeps at most `most` entries, divided evenly among the shards of several threads. */
struct cache *cache_create (struct arena *, enum cache_kind, enum wipe_strategy, int wipe_share, int threads,
                            int64_t most);
void cache_destroy (struct cache *);
int cache_find (struct cache *, const struct key *, struct fact *);
/* Combines facts about one key: the higher lower bound and the better tree are kept. */
void cache_store (struct cache *, const struct key *, const struct fact *, int64_t descendants);
/* Entries of the incumbent are never wiped. */
void cache_require (struct cache *, const struct key *);
void cache_release_required (struct cache *);
/* Protects the entries of the path under search from being wiped; calls can be nested. */
void cache_enter (struct cache *, const struct key *);
void cache_leave (struct cache *, const struct key *);
void cache_count (struct cache *, int64_t *entries, int64_t *wipes, int64_t *wiped);

#endif
