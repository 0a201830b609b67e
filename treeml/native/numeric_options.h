/* The table of options of the numeric search: name, lowest, highest, initial value, help. */
#ifndef TREEML_NUMERIC_OPTIONS_H
#define TREEML_NUMERIC_OPTIONS_H

#include <stdint.h>

#define NUMERIC_OPTIONS(OPTION) \
  OPTION (depth, 0, 1000000, 1000000, "largest depth of the tree") \
  OPTION (support, 1, INT64_MAX, 1, "fewest rows in a leaf") \
  OPTION (leaves, 1, INT64_MAX, INT64_MAX, "most leaves of the tree") \
  OPTION (leaf_price, 0, INT64_MAX, 0, "added to the value for every leaf, in units of the value") \
  OPTION (upper, INT64_MIN, INT64_MAX, INT64_MAX, "only trees of a value below this are wanted") \
  OPTION (enough, INT64_MIN, INT64_MAX, INT64_MIN, "stop at the first tree of a value below this") \
  OPTION (microseconds, 0, INT64_MAX, INT64_MAX, "time limit") \
  OPTION (memory, 1 << 16, INT64_MAX, INT64_MAX, "limit on allocated bytes") \
  OPTION (threads, 1, 256, 1, "worker threads") \
  OPTION (cross, 0, 1, 1, "bound the thresholds of a column by those solved of the others") \
  OPTION (near, 0, 1, 1, "begin with the bounds learnt of sets that differ in few rows") \
  OPTION (lazy, 0, 1, 1, "sweep only the columns that may hold the best stump") \
  OPTION (greedy, 0, 1, 1, "begin with a greedy tree") \
  OPTION (deepen, 0, INT64_MAX, 200, "work on shallower trees that show where to begin, in millions of rows swept") \
  OPTION (slack, 0, 1000, 50, "how far beyond the upper bound to solve a threshold, in percent of its open interval") \
  OPTION (kernel, 0, 3, 0, "0 best for this processor, 1 portable, 2 AVX2, 3 AVX-512") \
  OPTION (cell, 0, 64, 0, "bits of a cell: 0 as few as the data allow, or 16, 32, 64") \
  OPTION (poll_milliseconds, 1, 1000, 20, "time between two calls of the progress function") \
  OPTION (fail_allocation, 0, INT64_MAX, 0, "the number of the allocation that fails, for tests; 0 for none")

struct numeric_options {
#define OPTION(NAME, LOW, HIGH, INITIAL, HELP) int64_t NAME;
  NUMERIC_OPTIONS (OPTION)
#undef OPTION
};

void numeric_options_initialize (struct numeric_options *);
int64_t *numeric_options_find (struct numeric_options *, const char *name, int64_t *low, int64_t *high);

#endif
