/* The table of statistics: name, help. Python reads it through treeml_statistic. */
#ifndef TREEML_STATISTICS_H
#define TREEML_STATISTICS_H

#include <stdint.h>

#define STATISTICS(STATISTIC) \
  STATISTIC (nodes, "sub-problems opened") \
  STATISTIC (failures, "sub-problems that held no tree below their upper bound") \
  STATISTIC (passes, "depth-two passes") \
  STATISTIC (known_sides, "sides of depth-two passes that were known") \
  STATISTIC (splits, "splits looked at") \
  STATISTIC (skipped, "splits skipped by their bound") \
  STATISTIC (leaf_costs, "leaf costs evaluated one by one") \
  STATISTIC (lookups, "cache look-ups") \
  STATISTIC (hits, "cache look-ups that ended a sub-problem") \
  STATISTIC (entries, "entries in the cache at the end") \
  STATISTIC (wipes, "times the cache was wiped") \
  STATISTIC (wiped, "entries wiped") \
  STATISTIC (rebuilt, "sub-problems solved again to rebuild the tree") \
  STATISTIC (tests, "tests after merging") \
  STATISTIC (rows, "rows after taking out contradictory ones") \
  STATISTIC (unavoidable, "cost that no tree avoids") \
  STATISTIC (improvements, "better trees found at the root") \
  STATISTIC (batches, "calls of the user's leaf cost") \
  STATISTIC (peak_memory, "most bytes allocated") \
  STATISTIC (build_microseconds, "time until the search began") \
  STATISTIC (solve_microseconds, "time of the search")

struct statistics {
#define STATISTIC(NAME, HELP) int64_t NAME;
  STATISTICS (STATISTIC)
#undef STATISTIC
};

void statistics_add (struct statistics *, const struct statistics *);

#endif
