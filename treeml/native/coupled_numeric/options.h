/* The options and statistics of the search over coupled sums: one table each, from which come the fields, the checks
   and what Python reads. */
#ifndef TREEML_COUPLED_NUMERIC_OPTIONS_H
#define TREEML_COUPLED_NUMERIC_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#define THRESHOLD_OPTIONS(ROW) \
  ROW (depth, 0, 1000000, 1000000, "largest depth of the tree") \
  ROW (support, 1, INT64_MAX, 1, "fewest rows in a leaf") \
  ROW (leaves, 1, INT64_MAX, INT64_MAX, "most leaves of the tree") \
  ROW (leaf_price, 0, INT64_MAX, 0, "added to the value for every leaf") \
  ROW (upper, INT64_MIN, INT64_MAX, INT64_MAX, "only trees of a value below this are wanted") \
  ROW (lower, INT64_MIN, INT64_MAX, INT64_MIN, "a known lower bound of the value") \
  ROW (microseconds, 0, INT64_MAX, INT64_MAX, "time limit") \
  ROW (memory, 1 << 16, INT64_MAX, INT64_MAX, "limit on allocated bytes") \
  ROW (kernel, 0, 3, 0, "0 best for this processor, 1 portable, 2 AVX2, 3 AVX-512") \
  ROW (poll_milliseconds, 1, 1000, 20, "time between two calls of the progress function") \
  ROW (fail_allocation, 0, INT64_MAX, 0, "the number of the allocation that fails, for tests; 0 for none")

#define THRESHOLD_STATISTICS(ROW) \
  ROW (rounds, "targets tried") \
  ROW (tables, "sets of rows whose stumps were computed") \
  ROW (cuts, "cuts above depth two whose bounds were computed") \
  ROW (lists, "sub-problems whose vectors were listed") \
  ROW (pairs, "cuts of depth two whose stumps were listed") \
  ROW (vectors, "vectors added to lists") \
  ROW (longest, "most vectors in one list") \
  ROW (columns, "columns that are not constant and no copy of another") \
  ROW (improvements, "better trees found") \
  ROW (peak_memory, "most bytes allocated") \
  ROW (choose_microseconds, "time until the multipliers were chosen") \
  ROW (first_microseconds, "time until the search for a proof began") \
  ROW (solve_microseconds, "time of the whole search")

struct threshold_options {
#define FIELD(NAME, LOW, HIGH, INITIAL, HELP) int64_t NAME;
  THRESHOLD_OPTIONS (FIELD)
#undef FIELD
};

struct threshold_statistics {
#define FIELD(NAME, HELP) int64_t NAME;
  THRESHOLD_STATISTICS (FIELD)
#undef FIELD
};

void threshold_options_initialize (struct threshold_options *);
int threshold_options_set (struct threshold_options *, const char *name, int64_t value, char *message, size_t room);

#endif
