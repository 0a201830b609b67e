/* A shell sort: there are few tests and most of them are in order already, so nothing faster is needed. */
#include "common/sort_by_score.h"

void sort_by_score (int32_t *order, const double *score, int32_t count) {
  for (int32_t gap = count / 2; gap > 0; gap = gap == 2 ? 1 : (int32_t) (gap / 2.2))
    for (int32_t i = gap; i < count; i++) {
      const int32_t moved = order[i];
      int32_t j = i;
      for (; j >= gap && (score[order[j - gap]] > score[moved] ||
                          (score[order[j - gap]] == score[moved] && order[j - gap] > moved));
           j -= gap)
        order[j] = order[j - gap];
      order[j] = moved;
    }
}
