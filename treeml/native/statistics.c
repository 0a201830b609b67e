/* One table makes the structure, the sum over threads and what Python reads. */
#include "statistics.h"
#include "solver.h"
#include "treeml.h"

#include <stddef.h>

struct description {
  const char *name, *help;
  size_t offset;
};

static const struct description table[] = {
#define STATISTIC(NAME, HELP) {#NAME, HELP, offsetof (struct statistics, NAME)},
    STATISTICS (STATISTIC)
#undef STATISTIC
};

enum { size = sizeof table / sizeof *table };

void statistics_add (struct statistics *to, const struct statistics *from) {
#define STATISTIC(NAME, HELP) to->NAME += from->NAME;
  STATISTICS (STATISTIC)
#undef STATISTIC
}

int32_t treeml_statistics (void) { return size; }

int treeml_statistic (const treeml_solver *solver, int32_t index, const char **name, double *value, const char **help) {
  if (!solver || index < 0 || index >= size || !name || !value || !help)
    return TREEML_BAD_ARGUMENT;
  *name = table[index].name;
  *help = table[index].help;
  *value = (double) *(const int64_t *) ((const char *) &solver->statistics + table[index].offset);
  return TREEML_OK;
}
