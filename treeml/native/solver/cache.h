/* What is known about the sub-problems met so far. Both searches over tests use it. */
#ifndef TREEML_CACHE_H
#define TREEML_CACHE_H

#include "common/arena.h"
#include "common/platform.h"

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

/* The closed itemset of some rows holds every answer that all of them give, so it stands for the same set of rows as
   their hash does (Nijssen and Fromont 2010). It costs a look at every answer of every row. */
enum cache_kind { no_cache, rows_cache, path_cache, trie_cache, closed_cache };
enum wipe_strategy { keep_reused, keep_descendants, keep_required, keep_deep };

/* Keeps at most `most` entries, divided evenly among the shards of several threads. */
struct cache *cache_create (struct arena *, enum cache_kind, enum wipe_strategy, int wipe_share, int threads,
                            int64_t most);
static inline int is_keyed_by_path (int64_t kind) { return kind == path_cache || kind == trie_cache; }

/* Adds 64 answers that all rows give, all yes or all no, to the hash of a closed itemset. */
static inline void add_to_closure (uint64_t hash[2], uint64_t answers, uint64_t place) {
  uint64_t x = (answers ^ (place + 1) * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  hash[0] += x ^ x >> 31;
  x = x * 0x9fb21c651e98df25u + 0x632be59bd9b4e019u;
  hash[1] += x ^ x >> 28;
}

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
