/* The best classes for the leaves of a tree whose splits stay as they are. The least tree at some multiplier often
   misses a limit by little; other classes in a leaf or two may keep it. This is a search for good trees, not for
   proofs: long lists are cut off. */
#include "coupled/search.h"

#include <string.h>

enum { longest = 2048 };

void collect_leaf (struct search *search, int64_t node, const int64_t *sums) {
  struct leaves *leaves = &search->leaves;
  if (leaves->count < most_collected) {
    leaves->node[leaves->count] = node;
    memcpy (leaves->sums + leaves->count * search->merged->channels, sums,
            (size_t) search->merged->channels * sizeof *sums);
  }
  leaves->count++;
}

/* lists[i]: what the first i leaves can add up to. */
static int make_lists (struct search *search, struct vector_list *lists, int count) {
  int64_t vector[1 + vector_most_sums] = {0};
  if (!vector_list_add (&lists[0], vector))
    return 0;
  const int64_t *sums = search->leaves.sums;
  for (int i = 0; i < count; i++, sums += search->merged->channels) {
    for (size_t at = 0; at < lists[i].count; at++)
      for (int32_t k = 0; k < search->coupled->classes; k++) {
        if (!leaf_allowed (search, sums, k))
          continue;
        leaf_vector (search, sums, k, vector);
        for (int j = 0; j <= search->requirements; j++)
          vector[j] += vector_at (&lists[i], at)[j];
        if (!vector_list_add (&lists[i + 1], vector))
          return 0;
      }
    if (!vector_list_reduce (&lists[i + 1], search->windows, &search->work))
      return 0;
    if (lists[i + 1].count > longest)
      lists[i + 1].count = longest;
  }
  return 1;
}

/* Gives the leaves classes whose vectors add up to one in the box; 0 if there are none. */
static int set_labels (struct search *search, const struct vector_list *lists, int count, struct box *box,
                       struct tree *tree) {
  for (int i = count - 1; i >= 0; i--) {
    struct box rest;
    int found = 0;
    for (int32_t k = 0; k < search->coupled->classes && !found; k++) {
      int64_t vector[1 + vector_most_sums];
      const int64_t *sums = search->leaves.sums + i * search->merged->channels;
      if (!leaf_allowed (search, sums, k))
        continue;
      leaf_vector (search, sums, k, vector);
      box_beside (search, box, vector, box->most, &rest);
      for (size_t at = 0; at < lists[i].count && !found; at++)
        found = box_holds (search, &rest, vector_at (&lists[i], at));
      if (found)
        tree->label[search->leaves.node[i]] = k;
    }
    if (!found)
      return 0;
    *box = rest;
  }
  return 1;
}

int repair (struct search *search, struct tree *tree) {
  const int count = search->leaves.count;
  if (count > most_collected || search_stopped (search))
    return 0;
  struct vector_list lists[most_collected + 1];
  for (int i = 0; i <= count; i++)
    vector_list_start (&lists[i], &search->coupled->arena, search->requirements);
  int found = 0;
  if (make_lists (search, lists, count)) {
    struct box limits, box;
    int64_t fees[1 + vector_most_sums] = {0};
    fees_add (search, search->leaves.fees, fees);
    box_of_limits (search, search->upper, &limits);
    box_beside (search, &limits, fees, limits.most, &box);
    const struct vector_list *last = &lists[count];
    for (size_t at = 0; at < last->count && !found; at++)
      if ((found = box_holds (search, &box, vector_at (last, at))))
        box.most = vector_at (last, at)[0];
    found = found && set_labels (search, lists, count, &box, tree);
  }
  for (int i = 0; i <= count; i++)
    vector_list_release (&lists[i]);
  return found;
}
