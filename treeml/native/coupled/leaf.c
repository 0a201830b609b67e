/* What leaves and stumps score and add to the sums. */
#include "coupled/search.h"

int cell_allowed (const struct search *search, const int64_t *sums) {
  const struct merged *merged = search->merged;
  if (merged->counted && sums[merged->count] < search->support)
    return 0;
  for (int32_t k = 0; merged->purity && k < search->coupled->classes; k++)
    if (sums[merged->purity + k] >= 0)
      return 1;
  return !merged->purity;
}

int leaf_allowed (const struct search *search, const int64_t *sums, int32_t k) {
  const struct merged *merged = search->merged;
  return cell_allowed (search, sums) && (!merged->cost || sums[merged->cost + k] <= search->coupled->rules.most_cost);
}

void leaf_vector (const struct search *search, const int64_t *sums, int32_t k, int64_t *vector) {
  const int64_t *of_class = sums + (k - 1) * (1 + search->coupled->sums); /* not read for class 0 */
  vector[0] = search->price + (k ? of_class[0] : 0);
  for (int r = 0; r < search->requirements; r++) {
    const struct requirement *requirement = &search->requirement[r];
    vector[1 + r] = requirement->sum == sum_of_leaves ? 1
                    : k && requirement->sum > 0       ? requirement->sign * of_class[requirement->sum]
                                                      : 0;
  }
}

int64_t leaf_score (const struct search *search, const struct multiplier *multiplier, const int64_t *sums,
                    int32_t *best) {
  const int32_t width = 1 + search->coupled->sums;
  const struct merged *merged = search->merged;
  int64_t least = IMPOSSIBLE;
  if (best)
    *best = 0;
  for (int32_t k = 0; k < search->coupled->classes; k++) {
    if (merged->cost && sums[merged->cost + k] > search->coupled->rules.most_cost)
      continue;
    int64_t score = 0;
    for (int32_t j = 0; k && j < width; j++)
      score += multiplier->by_sum[j] * sums[(k - 1) * width + j];
    if (score < least) {
      least = score;
      if (best)
        *best = k;
    }
  }
  return cell_allowed (search, sums) ? possible (least + multiplier->price) : IMPOSSIBLE;
}

int64_t stump_score (struct search *search, const struct multiplier *multiplier, int32_t test, int side,
                     int32_t *best) {
  int64_t *yes = search->cells, *no = yes + search->merged->channels;
  table_side (search, test, side, yes);
  int64_t least = leaf_score (search, multiplier, yes, NULL);
  const int64_t count = count_of (search, yes);
  *best = -1;
  for (int32_t other = 0; other < search->merged->tests; other++) {
    if (!may_follow (search, test, other))
      continue;
    table_cells (search, test, side, other, yes, no);
    const int64_t score = leaf_score (search, multiplier, yes, NULL) + leaf_score (search, multiplier, no, NULL) +
                          split_score (search, multiplier, test, other, count);
    if (score < least) {
      least = score;
      *best = other;
    }
  }
  return possible (least);
}
