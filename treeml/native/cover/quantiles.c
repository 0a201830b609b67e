/* Losses of sets around their best constant: rows are sorted by target once, and every set visits them in that
   order. */
#include "cover/shared.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  int64_t target;
  int32_t row;
} ranked_row;

static int by_target (const void *left, const void *right) {
  const ranked_row *a = left, *b = right;
  if (a->target != b->target)
    return a->target < b->target ? -1 : 1;
  return a->row < b->row ? -1 : a->row > b->row;
}

/* Rows come in order of their targets, so the best constant is where the cumulative weight reaches its share. */
static int64_t pinball (const int32_t *rows, int64_t size, const int64_t *target, const int64_t *weight, int64_t above,
                        int64_t below) {
  int64_t total = 0, reached = 0, value = 0, loss = 0;
  for (int64_t i = 0; i < size; i++)
    total += weight[rows[i]];
  if (total == 0)
    return 0;
  for (int64_t i = 0; i < size; i++) {
    reached += weight[rows[i]];
    value = target[rows[i]];
    if ((above + below) * reached >= above * total)
      break;
  }
  for (int64_t i = 0; i < size; i++) {
    int64_t distance = target[rows[i]] - value;
    loss += weight[rows[i]] * (distance > 0 ? above * distance : -below * distance);
  }
  return loss;
}

/* Whether the whole weight at the largest distance costs less than 2^62. */
static int losses_fit (int32_t rows, const int64_t *target, const int64_t *weight, int64_t above, int64_t below) {
  int64_t low = target[0], high = target[0], range, weights = 0, levels, loss;
  for (int row = 0; row < rows; row++) {
    low = target[row] < low ? target[row] : low;
    high = target[row] > high ? target[row] : high;
    if (weight[row] < 0 || __builtin_add_overflow (weights, weight[row], &weights))
      return 0;
  }
  if (__builtin_sub_overflow (high, low, &range) || __builtin_add_overflow (above, below, &levels))
    return 0;
  return !__builtin_mul_overflow (weights, levels, &loss) && !__builtin_mul_overflow (loss, range ? range : 1, &loss) &&
         loss < INT64_MAX / 2;
}

int treeml_cover_quantiles (int32_t rows, int32_t tests, const uint64_t *bits, int64_t sets, int32_t stride,
                            const uint64_t *keys, const int64_t *target, const int64_t *weight, int64_t above,
                            int64_t below, int64_t *out) {
  if (rows <= 0 || tests < 0 || sets < 0 || !keys || !target || !weight || !out || (tests > 0 && !bits))
    return TREEML_COVER_INPUT;
  if (above < 0 || below < 0 || !cover_sets_fit (rows, sets, stride, keys))
    return TREEML_COVER_INPUT;
  if (!losses_fit (rows, target, weight, above, below))
    return TREEML_COVER_OVERFLOW;
  const int words = cover_words (rows);
  ranked_row *order = memory_reserve ((size_t) rows, sizeof *order);
  int32_t *lists = memory_reserve (3 * (size_t) rows, sizeof *lists);
  if (!order || !lists) {
    memory_release (order);
    memory_release (lists);
    return TREEML_COVER_MEMORY;
  }
  for (int row = 0; row < rows; row++)
    order[row] = (ranked_row) {target[row], row};
  qsort (order, (size_t) rows, sizeof *order, by_target);
  int32_t *all = lists, *yes = lists + rows, *no = yes + rows;
  for (int64_t set = 0; set < sets; set++) {
    const uint64_t *key = keys + set * stride;
    int64_t size = 0;
    for (int i = 0; i < rows; i++)
      if (key[order[i].row / 64] >> (order[i].row % 64) & 1)
        all[size++] = order[i].row;
    int64_t *place = out + set * (tests + 1) * 2;
    for (int j = 0; j < tests; j++) {
      const uint64_t *column = bits + (int64_t) j * words;
      int64_t first = 0, second = 0;
      for (int64_t i = 0; i < size; i++) {
        if (column[all[i] / 64] >> (all[i] % 64) & 1)
          yes[first++] = all[i];
        else
          no[second++] = all[i];
      }
      place[2 * j] = pinball (yes, first, target, weight, above, below);
      place[2 * j + 1] = pinball (no, second, target, weight, above, below);
    }
    place[2 * tests] = pinball (all, size, target, weight, above, below);
    place[2 * tests + 1] = 0;
  }
  memory_release (order);
  memory_release (lists);
  return TREEML_COVER_OK;
}
