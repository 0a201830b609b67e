/* Fees of tests along a path: what is paid there, and which columns are paid for; see path_fees.h. */
#include "coupled/path_fees.h"

#include "common/sizes.h"

#include <string.h>

void path_fees_release (struct path_fees *fees, struct arena *arena) {
  arena_release (arena, fees->below);
  *fees = (struct path_fees) {0};
}

int path_fees_copy (struct path_fees *fees, struct arena *arena, const int64_t *below, int32_t columns, int64_t rows,
                    int64_t largest) {
  int64_t total = 0;
  for (int64_t i = 0; i < (1 + (int64_t) columns) * columns; i++)
    if (below[i] < 0 || below[i] > largest)
      return -1;
  for (int32_t column = 0; column < columns; column++)
    if ((total += below[column]) > largest)
      return -1;
  if (total > largest / (rows ? rows : 1))
    return -1;
  const size_t size = times (1 + (size_t) columns, (size_t) columns);
  int64_t *copy = arena_reserve (arena, size + 1, sizeof *copy);
  if (!copy)
    return 0;
  memcpy (copy, below, size * sizeof *copy);
  *fees = (struct path_fees) {columns, copy, total, total * rows, 0};
  for (int64_t above = 0; above < columns; above++)
    for (int64_t column = 0; column < columns; column++)
      fees->discounts |= above != column && below[(1 + above) * columns + column] < below[column];
  return 1;
}

int64_t path_fee (const struct path_fees *fees, const int32_t *path, int64_t length, int32_t column) {
  if (!fees->below)
    return 0;
  int64_t fee = fees->below[column];
  for (int64_t i = 0; i < length; i++) {
    const int64_t below = fees->below[(1 + (int64_t) path[i]) * fees->columns + column];
    fee = path[i] == column ? 0 : below < fee ? below : fee;
  }
  return fee;
}
