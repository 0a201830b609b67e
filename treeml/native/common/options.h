/* common/: what the programs share: memory (memory.h, arena.h), options, statistics, the clock, sizes, rounding,
   sorting.

   This is the table of the options of all programs. Each row gives a name, the lowest, highest and initial value, and a
   help text; from it come the fields of `struct options`, the defaults, the checks and what Python reads. EVERY marks
   options of all searches; TESTS, NUMBERS and COUPLED those of the search over tests (treeml.h), over columns of
   numbers (numeric/numeric.h) and for coupled requirements (coupled/coupled.h over tests,
   coupled_numeric/coupled_numeric.h over columns of numbers), or of two of them. NUMBERS_RANGE gives an option of TESTS
   to all others as well, with another range.
 */
#ifndef TREEML_OPTIONS_H
#define TREEML_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#define UNLIMITED INT64_MAX

#define OPTIONS(EVERY, TESTS, NUMBERS, COUPLED, TESTS_NUMBERS, TESTS_COUPLED, NUMBERS_COUPLED, NUMBERS_RANGE) \
  EVERY (depth, 0, 1000000, 1000000, "largest depth of the tree") \
  EVERY (support, 1, UNLIMITED, 1, "fewest rows in a leaf") \
  EVERY (leaves, 1, UNLIMITED, UNLIMITED, "most leaves of the tree") \
  EVERY (leaf_price, 0, UNLIMITED, 0, "added to the value for every leaf, in units of the value") \
  EVERY (upper, INT64_MIN, UNLIMITED, UNLIMITED, "only trees of a value below this are wanted") \
  EVERY (enough, INT64_MIN, UNLIMITED, INT64_MIN, "stop at the first tree of a value below this") \
  COUPLED (table_memory, 0, UNLIMITED, 5 << 24, "most bytes of pair sums that are kept") \
  COUPLED (early, 0, 1, 1, "look for first trees of less depth and with other classes in the leaves") \
  COUPLED (lower, INT64_MIN, UNLIMITED, INT64_MIN, "a bound on the value that is already proved") \
  TESTS_COUPLED (once, 0, 1, 0, "test a column at most once on a path") \
  TESTS (milliseconds, 0, UNLIMITED, UNLIMITED, "time limit") \
  NUMBERS_COUPLED (microseconds, 0, UNLIMITED, UNLIMITED, "time limit") \
  EVERY (memory, 1 << 16, UNLIMITED, UNLIMITED, "limit on allocated bytes") \
  EVERY (threads, 1, 256, 1, "most worker threads; goals and constraints without pair counts use one") \
  TESTS (cache, 1, UNLIMITED, UNLIMITED, "most sub-problems kept in the cache") \
  TESTS (cache_kind, 0, 4, 1, \
         "0 none, 1 hash of the row set, 2 of the path, 3 trie of paths, 4 hash of the closed itemset") \
  TESTS (small_cache, 0, 1 << 26, 1 << 18, "most depth-two results kept; a power of two, 0 for none") \
  TESTS (wipe, 0, 3, 0, \
         "when memory is full keep: 0 the most reused, 1 those with most descendants, 2 only what is " \
         "required, 3 the deepest and youngest") \
  TESTS (wipe_share, 1, 100, 40, "percentage of the cache that a wipe removes") \
  TESTS (pairs, 0, 1, 1, "solve depth two from pair counts") \
  TESTS (small_side, 0, 1, 1, "count pairs of the smaller side only") \
  TESTS (similarity, 0, 1, 1, "bound a split by the splits of the same sub-problem that are already solved") \
  TESTS (archive, 0, 64, 0, "how many solved row sets of a depth to compare with") \
  TESTS (unavoidable, 0, 1, 1, "remove rows that no test tells from a row of another class") \
  TESTS (merge_tests, 0, 1, 1, "merge equal and complementary tests") \
  TESTS (infeasible, 0, 1, 1, "store the bound of a search that failed") \
  TESTS (strong, 0, 1, 1, "stored bound: best over the tests of summed child bounds") \
  TESTS (hierarchical, 0, 1, 1, "pass what is left of the upper bound to the second child") \
  TESTS (dynamic, 0, 1, 1, "search the side with the higher bound first") \
  TESTS (order, 0, 3, 1, "tests: 0 as in the data, 1 by depth-two value, 2 by information gain, 3 by its opposite") \
  TESTS (order_everywhere, 0, 1, 1, "order the tests at every node and not at the root only") \
  TESTS (deepening, 0, 1, 1, "solve smaller depths first for an upper bound") \
  TESTS (nonnegative, 0, 1, 0, "the user's leaf cost is never negative, so that it can be bounded") \
  TESTS (reversible, 0, 1, 0, "general search: reversible sparse bitsets instead of plain ones") \
  TESTS (general, 0, 1, 0, "always use the general search") \
  NUMBERS (cross, 0, 1, 1, "bound the thresholds of a column by the solved thresholds of the others") \
  NUMBERS (near, 0, 1, 1, "begin with the bounds learned for sets that differ in few rows") \
  NUMBERS (lazy, 0, 1, 1, "sweep only the columns, and count only the classes, that may make the best stump") \
  NUMBERS (greedy, 0, 1, 1, "begin with a greedy tree") \
  NUMBERS (deepen, 0, UNLIMITED, 200, "effort spent on shallower trees first, in millions of rows swept") \
  NUMBERS (first, 0, 1 << 30, 0, \
           "deep trees: effort for the split of the first tree before parts are replaced, in millions of rows swept") \
  NUMBERS ( \
      brief, 0, 1 << 30, 4096, \
      "trees of depth three: effort before the first attempt to raise the lower bound, in millions of rows swept") \
  NUMBERS (improve, 0, 1, 1, "deep trees: replace parts of the best tree between the parts of the search") \
  TESTS (neighbours, 0, 1 << 30, 128, \
         "sub-problems after which rows that one test tells apart are looked for, to raise bounds; 0: never") \
  TESTS_NUMBERS (climb, 0, 1 << 30, 256, \
                 "deep trees: effort between two attempts to raise the lower bound, at first, in millions of rows " \
                 "swept or words counted; 0: none") \
  NUMBERS (slack, 0, 1000, 50, "how far beyond the upper bound to solve a threshold, in percent of its open interval") \
  TESTS (kernel, 0, 5, 0, "0 best for this processor, 1 portable, 2 AVX2, 3 AVX-512, 4 AVX-512 and AMX, 5 NEON") \
  NUMBERS_RANGE (kernel, 0, 5, 0, "0 best for this processor, 1 portable, 2 AVX2, 3 AVX-512, 5 NEON") \
  NUMBERS (cell, 0, 64, 0, "bits of a cell: 0 as few as the data allow, or 16, 32, 64") \
  EVERY (poll_milliseconds, 1, 1000, 20, "time between two calls of the progress function") \
  TESTS_NUMBERS (seed, 0, UNLIMITED, 0, "seed of random numbers: keys of row sets, or which parts are replaced") \
  EVERY (fail_allocation, 0, UNLIMITED, 0, "the number of the allocation that fails, for tests; 0 for none")

struct options {
#define FIELD(NAME, LOW, HIGH, INITIAL, HELP) int64_t NAME;
#define NO_FIELD(NAME, LOW, HIGH, INITIAL, HELP)
  OPTIONS (FIELD, FIELD, FIELD, FIELD, FIELD, FIELD, FIELD, NO_FIELD)
#undef FIELD
#undef NO_FIELD
};

/* The programs that have options and statistics. */
enum program { program_tests = 1, program_numbers = 2, program_coupled = 4, program_coupled_numbers = 8 };

void options_initialize (struct options *, enum program);
/* 0, or an error code with the reason in `message`. */
int options_set (struct options *, enum program, const char *name, int64_t value, char *message, size_t size);
int options_get (const struct options *, enum program, const char *name, int64_t *value);

int32_t options_count (enum program);
int options_describe (enum program, int32_t index, const char **name, int64_t *low, int64_t *high, int64_t *initial,
                      const char **help);

#endif
