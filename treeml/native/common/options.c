/* The functions that read the table of options: no other file knows how many there are or how they are stored. */
#include "common/options.h"
#include "treeml.h"

#include <stdio.h>
#include <string.h>

struct description {
  const char *name;
  int programs;
  int64_t low, high, initial;
  const char *help;
  size_t offset;
};

#define ROW(PROGRAMS, NAME, LOW, HIGH, INITIAL, HELP) \
  {#NAME, PROGRAMS, LOW, HIGH, INITIAL, HELP, offsetof (struct options, NAME)},
#define EVERY(...) ROW (program_tests | program_numbers | program_coupled | program_coupled_numbers, __VA_ARGS__)
#define TESTS(...) ROW (program_tests, __VA_ARGS__)
#define NUMBERS(...) ROW (program_numbers, __VA_ARGS__)
#define COUPLED(...) ROW (program_coupled | program_coupled_numbers, __VA_ARGS__)
#define TESTS_NUMBERS(...) ROW (program_tests | program_numbers, __VA_ARGS__)
#define TESTS_COUPLED(...) ROW (program_tests | program_coupled, __VA_ARGS__)
#define NUMBERS_COUPLED(...) ROW (program_numbers | program_coupled | program_coupled_numbers, __VA_ARGS__)

static const struct description table[] = {
    OPTIONS (EVERY, TESTS, NUMBERS, COUPLED, TESTS_NUMBERS, TESTS_COUPLED, NUMBERS_COUPLED, NUMBERS_COUPLED)};

enum { size = sizeof table / sizeof *table };

static int64_t *field (struct options *options, const struct description *row) {
  return (int64_t *) ((char *) options + row->offset);
}

static const struct description *find (enum program program, const char *name) {
  for (int i = 0; name && i < size; i++)
    if (table[i].programs & program && !strcmp (table[i].name, name))
      return &table[i];
  return NULL;
}

void options_initialize (struct options *options, enum program program) {
  for (int i = 0; i < size; i++)
    if (table[i].programs & program)
      *field (options, &table[i]) = table[i].initial;
}

int options_set (struct options *options, enum program program, const char *name, int64_t value, char *message,
                 size_t room) {
  const struct description *row = find (program, name);
  if (!row) {
    snprintf (message, room, "there is no option '%.60s'", name ? name : "");
    return TREEML_BAD_ARGUMENT;
  }
  if (value < row->low || value > row->high) {
    snprintf (message, room, "option %.60s takes values from %lld to %lld, not %lld", name, (long long) row->low,
              (long long) row->high, (long long) value);
    return TREEML_BAD_ARGUMENT;
  }
  *field (options, row) = value;
  return TREEML_OK;
}

int options_get (const struct options *options, enum program program, const char *name, int64_t *value) {
  const struct description *row = find (program, name);
  if (!row || !value)
    return TREEML_BAD_ARGUMENT;
  *value = *(const int64_t *) ((const char *) options + row->offset);
  return TREEML_OK;
}

int32_t options_count (enum program program) {
  int32_t count = 0;
  for (int i = 0; i < size; i++)
    count += (table[i].programs & program) != 0;
  return count;
}

int options_describe (enum program program, int32_t index, const char **name, int64_t *low, int64_t *high,
                      int64_t *initial, const char **help) {
  if (index < 0 || !name || !low || !high || !initial || !help)
    return TREEML_BAD_ARGUMENT;
  for (int i = 0; i < size; i++) {
    if (!(table[i].programs & program) || index-- > 0)
      continue;
    *name = table[i].name;
    *low = table[i].low;
    *high = table[i].high;
    *initial = table[i].initial;
    *help = table[i].help;
    return TREEML_OK;
  }
  return TREEML_BAD_ARGUMENT;
}
