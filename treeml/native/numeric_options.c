/* One table makes the structure, the defaults, the checks and the help text. */
#include "numeric_options.h"
#include "numeric.h"

#include <stddef.h>
#include <string.h>

struct description {
  const char *name;
  int64_t low, high, initial;
  const char *help;
  size_t offset;
};

static const struct description table[] = {
#define OPTION(NAME, LOW, HIGH, INITIAL, HELP) \
  {#NAME, LOW, HIGH, INITIAL, HELP, offsetof (struct numeric_options, NAME)},
    NUMERIC_OPTIONS (OPTION)
#undef OPTION
};

enum { size = sizeof table / sizeof *table };

static int64_t *field (struct numeric_options *options, int index) {
  return (int64_t *) ((char *) options + table[index].offset);
}

void numeric_options_initialize (struct numeric_options *options) {
  for (int i = 0; i < size; i++)
    *field (options, i) = table[i].initial;
}

int64_t *numeric_options_find (struct numeric_options *options, const char *name, int64_t *low, int64_t *high) {
  for (int i = 0; i < size; i++)
    if (!strcmp (table[i].name, name)) {
      *low = table[i].low;
      *high = table[i].high;
      return field (options, i);
    }
  return NULL;
}

int32_t treeml_numeric_options (void) { return size; }

int treeml_numeric_option (int32_t index, const char **name, int64_t *low, int64_t *high, int64_t *initial,
                           const char **help) {
  if (index < 0 || index >= size || !name || !low || !high || !initial || !help)
    return TREEML_BAD_ARGUMENT;
  *name = table[index].name;
  *low = table[index].low;
  *high = table[index].high;
  *initial = table[index].initial;
  *help = table[index].help;
  return TREEML_OK;
}
