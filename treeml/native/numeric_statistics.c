/* One table makes the structure, the sum over threads and what Python reads. */
#include "numeric_statistics.h"
#include "numeric_solver.h"

#include <stddef.h>

struct description {
  const char *name, *help;
  size_t offset;
};

static const struct description table[] = {
#define STATISTIC(NAME, HELP) {#NAME, HELP, offsetof (struct numeric_statistics, NAME)},
    NUMERIC_STATISTICS (STATISTIC)
#undef STATISTIC
};

enum { size = sizeof table / sizeof *table };

void numeric_statistics_add (struct numeric_statistics *to, const struct numeric_statistics *from) {
#define STATISTIC(NAME, HELP) to->NAME += from->NAME;
  NUMERIC_STATISTICS (STATISTIC)
#undef STATISTIC
}

int32_t treeml_numeric_statistics (void) { return size; }

int treeml_numeric_statistic (const treeml_numeric *solver, int32_t index, const char **name, double *value,
                              const char **help) {
  if (!solver || index < 0 || index >= size || !name || !value || !help)
    return TREEML_BAD_ARGUMENT;
  *name = table[index].name;
  *help = table[index].help;
  *value = (double) *(const int64_t *) ((const char *) &solver->statistics + table[index].offset);
  return TREEML_OK;
}
