/* The table of statistics of the numeric search: name, help. */
#ifndef TREEML_NUMERIC_STATISTICS_H
#define TREEML_NUMERIC_STATISTICS_H

#include <stdint.h>

#define NUMERIC_STATISTICS(STATISTIC) \
  STATISTIC (nodes, "sub-problems deeper than two opened") \
  STATISTIC (failures, "sub-problems that held no tree below their upper bound") \
  STATISTIC (thresholds, "thresholds solved above depth two") \
  STATISTIC (pairs, "sub-problems of depth two") \
  STATISTIC (cuts, "thresholds of depth two evaluated") \
  STATISTIC (sweeps, "columns swept for the best stump") \
  STATISTIC (columns, "columns that are not constant") \
  STATISTIC (improvements, "better trees found at the root") \
  STATISTIC (peak_memory, "most bytes allocated") \
  STATISTIC (build_microseconds, "time until the search began") \
  STATISTIC (solve_microseconds, "time of the search")

struct numeric_statistics {
#define STATISTIC(NAME, HELP) int64_t NAME;
  NUMERIC_STATISTICS (STATISTIC)
#undef STATISTIC
};

void numeric_statistics_add (struct numeric_statistics *, const struct numeric_statistics *);

#endif
