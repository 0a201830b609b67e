/* The table of the statistics of all programs: name and help text, marked as in common/options.h. From it come the
   fields of `struct statistics`, the sum over threads and what Python reads. */
#ifndef TREEML_STATISTICS_H
#define TREEML_STATISTICS_H

#include "common/options.h"

#include <stdint.h>

#define STATISTICS(EVERY, TESTS, NUMBERS, COUPLED, TESTS_NUMBERS, TESTS_COUPLED) \
  EVERY (nodes, "sub-problems opened; searches over numbers count those deeper than two") \
  EVERY (failures, "sub-problems that held no tree below their upper bound") \
  TESTS_COUPLED (passes, "depth-two passes") \
  TESTS (known_sides, "sides of depth-two passes that were known") \
  TESTS (splits, "splits looked at") \
  TESTS (skipped, "splits skipped by their bound") \
  TESTS (leaf_costs, "leaf costs evaluated one by one") \
  TESTS (lookups, "cache look-ups") \
  TESTS (hits, "cache look-ups that ended a sub-problem") \
  TESTS_COUPLED (entries, "entries in the cache at the end") \
  TESTS (wipes, "times the cache was wiped") \
  TESTS (wiped, "entries wiped") \
  TESTS (rebuilt, "sub-problems solved again to rebuild the tree") \
  TESTS_COUPLED (tests, "tests after merging") \
  TESTS_COUPLED (rows, "rows after taking out contradictory ones") \
  TESTS (unavoidable, "cost that no tree avoids") \
  TESTS (near_pairs, "pairs of rows of different classes that one test tells apart, if they were used for bounds") \
  NUMBERS (thresholds, "thresholds solved above depth two") \
  TESTS_NUMBERS (climbs, "targets that raised the lower bound of a deep tree") \
  NUMBERS (replacements, "better trees found by replacing parts of a tree") \
  NUMBERS (routes, "splits tried because they suit the splits below best") \
  NUMBERS (boxes, "sets of rows that were bounded by relaxed splits to raise the lower bound") \
  NUMBERS (samples, "targets that a sample of the rows reached to raise the lower bound") \
  NUMBERS (cores, "sets of rows that closed the cuts of several columns at once") \
  NUMBERS (hard_rows, "rows that are hard to predict, by which the lower bound was raised first; 0 if by all rows") \
  NUMBERS (pairs, "sub-problems of depth two") \
  NUMBERS (cuts, "thresholds of depth two evaluated") \
  NUMBERS (sweeps, "columns swept for the best stump") \
  NUMBERS (columns, "columns that are not constant") \
  COUPLED (evaluations, "multipliers at which the dual bound was evaluated") \
  COUPLED (tables, "tables of pair sums, or of the stumps of all thresholds, built") \
  COUPLED (targets, "target values for which the search was completed") \
  COUPLED (lists, "lists of vectors enumerated") \
  COUPLED (longest_list, "vectors of the longest list") \
  EVERY (improvements, "better trees found at the root") \
  TESTS (batches, "calls of the user's leaf cost") \
  EVERY (peak_memory, "most bytes allocated") \
  EVERY (build_microseconds, "time until the search began") \
  EVERY (solve_microseconds, "time of the search")

struct statistics {
#define FIELD(NAME, HELP) int64_t NAME;
  STATISTICS (FIELD, FIELD, FIELD, FIELD, FIELD, FIELD)
#undef FIELD
};

void statistics_add (struct statistics *, const struct statistics *);
int32_t statistics_count (enum program);
int statistics_read (const struct statistics *, enum program, int32_t index, const char **name, double *value,
                     const char **help);
/* All values, in the order of their indices. */
void statistics_numbers (const struct statistics *, enum program, double *values);

#endif
