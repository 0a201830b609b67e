/* The functions that read the table of statistics. */
#include "common/statistics.h"
#include "treeml.h"

#include <stddef.h>

struct description {
  const char *name;
  int programs;
  const char *help;
  size_t offset;
};

#define ROW(PROGRAMS, NAME, HELP) {#NAME, PROGRAMS, HELP, offsetof (struct statistics, NAME)},
#define EVERY(...) ROW (program_tests | program_numbers | program_coupled | program_coupled_numbers, __VA_ARGS__)
#define TESTS(...) ROW (program_tests, __VA_ARGS__)
#define NUMBERS(...) ROW (program_numbers, __VA_ARGS__)
#define COUPLED(...) ROW (program_coupled | program_coupled_numbers, __VA_ARGS__)
#define TESTS_NUMBERS(...) ROW (program_tests | program_numbers, __VA_ARGS__)
#define TESTS_COUPLED(...) ROW (program_tests | program_coupled, __VA_ARGS__)

static const struct description table[] = {STATISTICS (EVERY, TESTS, NUMBERS, COUPLED, TESTS_NUMBERS, TESTS_COUPLED)};

enum { size = sizeof table / sizeof *table };

void statistics_add (struct statistics *to, const struct statistics *from) {
#define ADD(NAME, HELP) to->NAME += from->NAME;
  STATISTICS (ADD, ADD, ADD, ADD, ADD, ADD)
#undef ADD
}

int32_t statistics_count (enum program program) {
  int32_t count = 0;
  for (int i = 0; i < size; i++)
    count += (table[i].programs & program) != 0;
  return count;
}

int statistics_read (const struct statistics *statistics, enum program program, int32_t index, const char **name,
                     double *value, const char **help) {
  if (index < 0 || !name || !value || !help)
    return TREEML_BAD_ARGUMENT;
  for (int i = 0; i < size; i++) {
    if (!(table[i].programs & program) || index-- > 0)
      continue;
    *name = table[i].name;
    *help = table[i].help;
    *value = (double) *(const int64_t *) ((const char *) statistics + table[i].offset);
    return TREEML_OK;
  }
  return TREEML_BAD_ARGUMENT;
}

void statistics_numbers (const struct statistics *statistics, enum program program, double *values) {
  for (int i = 0; i < size; i++)
    if (table[i].programs & program)
      *values++ = (double) *(const int64_t *) ((const char *) statistics + table[i].offset);
}
