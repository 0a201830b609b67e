/* Losses of sets around their best constant: rows are sorted by target once, and every set visits them in that
   order. */
#include "common/bits.h"
#include "common/wide.h"
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

/* Whether no product of `pinball` exceeds 2^62. No loss is negative, and no set of rows loses more than all rows do
   around their best constant, so the loss of all rows bounds every sum. Shares of the weight and distances are bounded
   on their own. */
static int losses_fit (int32_t rows, const ranked_row *order, const int64_t *weight, int64_t above, int64_t below) {
  const int64_t most = INT64_MAX / 2;
  int64_t weights = 0, levels, range, product;
  for (int row = 0; row < rows; row++)
    if (weight[row] < 0 || add_overflows (weights, weight[row], &weights))
      return 0;
  if (subtract_overflows (order[rows - 1].target, order[0].target, &range))
    return 0;
  if (add_overflows (above, below, &levels))
    return 0;
  if (multiply_overflows (levels, weights, &product) || product > most)
    return 0;
  if (multiply_overflows (levels, range, &product) || product > most)
    return 0;
  int64_t reached = 0, value = 0;
  for (int i = 0; i < rows; i++) {
    reached += weight[order[i].row];
    value = order[i].target;
    if (levels * reached >= above * weights)
      break;
  }
  wide loss = 0;
  for (int i = 0; i < rows && loss <= most; i++) {
    int64_t distance = order[i].target - value;
    loss += (wide) weight[order[i].row] * (distance > 0 ? above * distance : -below * distance);
  }
  return loss <= most;
}

int treeml_cover_quantiles (int32_t rows, int32_t tests, const uint64_t *bits, int64_t sets, int32_t stride,
                            const uint64_t *keys, const int64_t *target, const int64_t *weight, int64_t above,
                            int64_t below, int64_t *out) {
  if (rows <= 0 || tests < 0 || sets < 0 || !keys || !target || !weight || !out || (tests > 0 && !bits))
    return TREEML_COVER_INPUT;
  if (above < 0 || below < 0 || !cover_sets_fit (rows, sets, stride, keys))
    return TREEML_COVER_INPUT;
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
  if (!losses_fit (rows, order, weight, above, below)) {
    memory_release (order);
    memory_release (lists);
    return TREEML_COVER_OVERFLOW;
  }
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
