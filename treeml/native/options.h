/* The table of options: name, lowest, highest, initial value, help. Python reads it through treeml_option. */
#ifndef TREEML_OPTIONS_H
#define TREEML_OPTIONS_H

#include <stdint.h>

#define UNLIMITED INT64_MAX

#define OPTIONS(OPTION) \
  OPTION (depth, 0, 1000000, 1000000, "largest depth of the tree") \
  OPTION (support, 1, UNLIMITED, 1, "fewest rows in a leaf") \
  OPTION (leaves, 1, UNLIMITED, UNLIMITED, "most leaves of the tree") \
  OPTION (leaf_price, 0, UNLIMITED, 0, "added to the value for every leaf") \
  OPTION (upper, INT64_MIN, UNLIMITED, UNLIMITED, "only trees of a value below this are wanted") \
  OPTION (enough, INT64_MIN, UNLIMITED, INT64_MIN, "stop at the first tree of a value below this") \
  OPTION (once, 0, 1, 0, "test a column at most once on a path") \
  OPTION (milliseconds, 0, UNLIMITED, UNLIMITED, "time limit") \
  OPTION (memory, 1 << 16, UNLIMITED, UNLIMITED, "limit on allocated bytes") \
  OPTION (threads, 1, 256, 1, "most worker threads; goals and constraints without pair counts use one") \
  OPTION (cache, 1, UNLIMITED, UNLIMITED, "most sub-problems kept in the cache") \
  OPTION (cache_kind, 0, 3, 1, "0 none, 1 hash of the row set, 2 hash of the path, 3 trie of paths") \
  OPTION (small_cache, 0, 1 << 26, 1 << 18, "most depth-two results kept; a power of two, 0 for none") \
  OPTION (wipe, 0, 3, 0, "when memory is full keep: 0 the most reused, 1 those with most descendants, 2 only what is " \
                         "required, 3 the deepest and youngest") \
  OPTION (wipe_share, 1, 100, 40, "percentage of the cache that a wipe removes") \
  OPTION (pairs, 0, 1, 1, "solve depth two from pair counts") \
  OPTION (small_side, 0, 1, 1, "count pairs of the smaller side only") \
  OPTION (similarity, 0, 1, 1, "bound a split by the splits solved beside it") \
  OPTION (archive, 0, 64, 0, "how many solved row sets of a depth to compare with") \
  OPTION (unavoidable, 0, 1, 1, "take out rows that no test tells from a row of another class") \
  OPTION (merge_tests, 0, 1, 1, "merge equal and complementary tests") \
  OPTION (infeasible, 0, 1, 1, "store the bound of a search that failed") \
  OPTION (strong, 0, 1, 1, "stored bound: best over the tests of summed child bounds") \
  OPTION (hierarchical, 0, 1, 1, "pass what is left of the upper bound to the second child") \
  OPTION (dynamic, 0, 1, 1, "search the side with the higher bound first") \
  OPTION (order, 0, 3, 1, "tests: 0 as in the data, 1 by depth-two value, 2 by information gain, 3 by its opposite") \
  OPTION (order_everywhere, 0, 1, 1, "order the tests at every node and not at the root only") \
  OPTION (deepening, 0, 1, 1, "solve smaller depths first for an upper bound") \
  OPTION (nonnegative, 0, 1, 0, "the user's leaf cost is never negative, so that it can be bounded") \
  OPTION (reversible, 0, 1, 0, "general search: reversible sparse bitsets instead of plain ones") \
  OPTION (general, 0, 1, 0, "always use the general search") \
  OPTION (kernel, 0, 4, 0, "0 best for this processor, 1 portable, 2 AVX2, 3 AVX-512, 4 AVX-512 and AMX") \
  OPTION (poll_milliseconds, 1, 1000, 20, "time between two calls of the progress function") \
  OPTION (seed, 0, UNLIMITED, 0, "of the keys of row sets") \
  OPTION (fail_allocation, 0, UNLIMITED, 0, "the number of the allocation that fails, for tests; 0 for none")

struct options {
#define OPTION(NAME, LOW, HIGH, INITIAL, HELP) int64_t NAME;
  OPTIONS (OPTION)
#undef OPTION
};

void options_initialize (struct options *);
int64_t *options_find (struct options *, const char *name, int64_t *low, int64_t *high);

#endif
