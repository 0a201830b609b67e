/* What leaves and stumps score and add to the sums. */
#include "coupled/search.h"

int cell_allowed (const struct search *search, const int64_t *sums) {
  return !search->merged->counted || sums[search->merged->channels - 1] >= search->support;
}

void leaf_vector (const struct search *search, const int64_t *sums, int32_t k, int64_t *vector) {
  const int64_t *of_class = sums + (k - 1) * (1 + search->coupled->sums); /* not read for class 0 */
  vector[0] = search->price + (k ? of_class[0] : 0);
  for (int r = 0; r < search->requirements; r++) {
    const struct requirement *requirement = &search->requirement[r];
    vector[1 + r] = !requirement->sum ? 1 : k ? requirement->sign * of_class[requirement->sum] : 0;
  }
}

int64_t leaf_score (const struct search *search, const struct multiplier *multiplier, const int64_t *sums,
                    int32_t *best) {
  const int32_t width = 1 + search->coupled->sums;
  int64_t least = 0;
  if (best)
    *best = 0;
  for (int32_t k = 1; k < search->coupled->classes; k++) {
    int64_t score = 0;
    for (int32_t j = 0; j < width; j++)
      score += multiplier->by_sum[j] * sums[(k - 1) * width + j];
    if (score < least) {
      least = score;
      if (best)
        *best = k;
    }
  }
  return cell_allowed (search, sums) ? least + multiplier->price : IMPOSSIBLE;
}

int64_t stump_score (struct search *search, const struct multiplier *multiplier, int32_t test, int side,
                     int32_t *best) {
  int64_t *yes = search->cells, *no = yes + search->merged->channels;
  table_side (search, test, side, yes);
  int64_t least = leaf_score (search, multiplier, yes, NULL);
  *best = -1;
  for (int32_t other = 0; other < search->merged->tests; other++) {
    if (!may_follow (search, test, other))
      continue;
    table_cells (search, test, side, other, yes, no);
    const int64_t score = leaf_score (search, multiplier, yes, NULL) + leaf_score (search, multiplier, no, NULL);
    if (score < least) {
      least = score;
      *best = other;
    }
  }
  return least;
}
