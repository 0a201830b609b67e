/* Merges tests that split the rows in the same way: constant tests are dropped, and of equal or complementary tests
   only the first is kept. Fewer tests make every search faster. */
#include "solver/solver.h"

#include <string.h>

static uint64_t mix (uint64_t x) {
  x ^= x >> 31;
  x *= 0x9e3779b97f4a7c15u;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9u;
  return x ^ x >> 32;
}

/* A word of the column, complemented if the first row answers yes, so that complementary tests look equal. */
static uint64_t normal (const treeml_solver *solver, int64_t test, int64_t word) {
  const uint64_t *column = solver->columns + test * solver->words;
  uint64_t value = column[word];
  if (column[0] & 1) {
    value = ~value;
    if (word == solver->words - 1 && solver->rows % 64)
      value &= ~(uint64_t) 0 >> (64 - solver->rows % 64);
  }
  return value;
}

static int equal (const treeml_solver *solver, int64_t a, int64_t b) {
  for (int64_t w = 0; w < solver->words; w++)
    if (normal (solver, a, w) != normal (solver, b, w))
      return 0;
  return 1;
}

int merge_tests (treeml_solver *solver, int32_t **kept_, int32_t *count_) {
  /* Equal tests of different columns are not interchangeable if columns have a cost or can be used only once. */
  const int apart = solver->options.once || solver->column_cost;
  int64_t slots = 64;
  while (slots < 2 * solver->tests)
    slots *= 2;
  int32_t *table = arena_allocate (&solver->arena, (size_t) slots, sizeof *table);
  int32_t *kept = arena_allocate (&solver->arena, (size_t) solver->tests + 1, sizeof *kept);
  if (!table || !kept) {
    arena_release (&solver->arena, table);
    arena_release (&solver->arena, kept);
    return solver_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory to merge %lld tests",
                        (long long) solver->tests);
  }
  int32_t count = 0;
  for (int64_t test = 0; test < solver->tests; test++) {
    if (solver->forbidden && solver->forbidden[test])
      continue;
    uint64_t hash = 0, any = 0;
    for (int64_t w = 0; w < solver->words; w++) {
      const uint64_t value = normal (solver, test, w);
      any |= value;
      hash = mix (hash ^ value);
    }
    if (!any)
      continue;
    if (solver->options.merge_tests) {
      const int64_t column = apart && solver->column_of ? solver->column_of[test] : 0;
      uint64_t slot = mix (hash + (uint64_t) column) & (uint64_t) (slots - 1);
      int found = 0;
      for (; table[slot]; slot = (slot + 1) & (uint64_t) (slots - 1)) {
        const int32_t other = table[slot] - 1;
        if ((!apart || !solver->column_of || solver->column_of[other] == column) && equal (solver, test, other)) {
          found = 1;
          break;
        }
      }
      if (found)
        continue;
      table[slot] = (int32_t) test + 1;
    }
    kept[count++] = (int32_t) test;
  }
  arena_release (&solver->arena, table);
  *kept_ = kept;
  *count_ = count;
  return TREEML_OK;
}
