/* The functions that read the tables of options and statistics. */
#include "coupled_numeric/solver.h"

#include <stdio.h>
#include <string.h>

struct option_row {
  const char *name;
  int64_t low, high, initial;
  const char *help;
  size_t offset;
};
#define OPTION(NAME, LOW, HIGH, INITIAL, HELP) \
  {#NAME, LOW, HIGH, INITIAL, HELP, offsetof (struct threshold_options, NAME)},
static const struct option_row options[] = {THRESHOLD_OPTIONS (OPTION)};
enum { option_count = sizeof options / sizeof *options };

struct statistic_row {
  const char *name, *help;
  size_t offset;
};
#define STATISTIC(NAME, HELP) {#NAME, HELP, offsetof (struct threshold_statistics, NAME)},
static const struct statistic_row statistics[] = {THRESHOLD_STATISTICS (STATISTIC)};
enum { statistic_count = sizeof statistics / sizeof *statistics };

void threshold_options_initialize (struct threshold_options *fields) {
  for (int i = 0; i < option_count; i++)
    *(int64_t *) ((char *) fields + options[i].offset) = options[i].initial;
}

int threshold_options_set (struct threshold_options *fields, const char *name, int64_t value, char *message,
                           size_t room) {
  for (int i = 0; name && i < option_count; i++) {
    const struct option_row *row = &options[i];
    if (strcmp (row->name, name))
      continue;
    if (value < row->low || value > row->high) {
      snprintf (message, room, "option %.60s takes values from %lld to %lld, not %lld", name, (long long) row->low,
                (long long) row->high, (long long) value);
      return TREEML_BAD_ARGUMENT;
    }
    *(int64_t *) ((char *) fields + row->offset) = value;
    return TREEML_OK;
  }
  snprintf (message, room, "there is no option '%.60s'", name ? name : "");
  return TREEML_BAD_ARGUMENT;
}

int32_t treeml_coupled_numeric_options (void) { return option_count; }

int treeml_coupled_numeric_option (int32_t index, const char **name, int64_t *low, int64_t *high, int64_t *initial,
                                   const char **help) {
  if (index < 0 || index >= option_count || !name || !low || !high || !initial || !help)
    return TREEML_BAD_ARGUMENT;
  *name = options[index].name;
  *low = options[index].low;
  *high = options[index].high;
  *initial = options[index].initial;
  *help = options[index].help;
  return TREEML_OK;
}

int32_t treeml_coupled_numeric_statistics (void) { return statistic_count; }

int treeml_coupled_numeric_statistic (const treeml_coupled_numeric *solver, int32_t index, const char **name,
                                      double *value, const char **help) {
  if (!solver || index < 0 || index >= statistic_count || !name || !value || !help)
    return TREEML_BAD_ARGUMENT;
  *name = statistics[index].name;
  *help = statistics[index].help;
  *value = (double) *(const int64_t *) ((const char *) &solver->statistics + statistics[index].offset);
  return TREEML_OK;
}
