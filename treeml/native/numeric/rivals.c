/* Which pairs of classes are worth a sweep, and the sweeps; see rivals.h. */
#include "numeric/rivals.h"

#include "common/bits.h"

static int64_t least (int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t greatest (int64_t a, int64_t b) { return a > b ? a : b; }

int numeric_rivals_fit (const treeml_numeric *solver, const struct numeric_child *child) {
  return child->by_label && child->planes <= most_rival_classes && solver->planes < LANES && solver->kernel->lead &&
         solver->options.lazy;
}

void numeric_rivals_list (struct numeric_rivals *rivals, int32_t classes, const int64_t *sums, int32_t stride) {
  for (int s = 0; s < 2; s++) {
    int64_t *count = rivals->count[s];
    int32_t pairs = 0;
    for (int32_t b = 0; b < classes; b++) {
      count[b] = sums[s * stride + b];
      for (int32_t a = 0; a < b; a++) {
        const int64_t rows = count[a] + count[b];
        int32_t place = pairs++;
        for (; place && rivals->pair[s][place - 1].rows < rows; place--)
          rivals->pair[s][place] = rivals->pair[s][place - 1];
        rivals->pair[s][place].number = a * most_rival_classes + b;
        rivals->pair[s][place].rows = rows;
      }
    }
    rivals->pairs = pairs;
  }
}

/* The pairs of a side, as bits, with which a stump may cost less than the target; `beyond` is what a stump with
   another pair costs at least. */
static uint64_t promising (const struct numeric_rivals *rivals, int s, int64_t top, int64_t target, int64_t *beyond) {
  uint64_t pairs = 0;
  *beyond = INT64_MAX;
  for (int32_t i = 0; i < rivals->pairs; i++) {
    if (top - rivals->pair[s][i].rows >= target) {
      *beyond = top - rivals->pair[s][i].rows;
      break;
    }
    pairs |= UINT64_C (1) << rivals->pair[s][i].number;
  }
  return pairs;
}

/* Whether a stump of a side that predicts this pair can cost less than what was found. */
static int is_worth (const struct numeric_rivals *rivals, const struct numeric_sides *sides, int s,
                     const int32_t pair[2]) {
  return sides->top[s] - rivals->count[s][pair[0]] - rivals->count[s][pair[1]] < sides->cost[s];
}

static void sweep_pair (const struct numeric_rivals *rivals, const struct numeric_swept *task, int number, int wanted,
                        struct numeric_sides *sides) {
  const int32_t pair[2] = {number / most_rival_classes, number % most_rival_classes};
  struct numeric_lead lead = {.wanted = 0};
  for (int s = 0; s < 2; s++)
    lead.wanted |= (wanted >> s & 1 && is_worth (rivals, sides, s, pair)) << s;
  if (!lead.wanted)
    return;
  task->kernel->lead (task->lanes, task->codes, task->threshold, pair, &lead);
  for (int s = 0; s < 2; s++) {
    if (!(lead.wanted >> s & 1))
      continue;
    const int64_t *count = rivals->count[s];
    const int64_t right = greatest (count[pair[1]] + lead.most[s], count[pair[0]] - lead.least[s]);
    sides->cost[s] = least (sides->cost[s], sides->top[s] - right);
  }
}

int numeric_rivals_sweep (const struct numeric_rivals *rivals, const struct numeric_swept *task,
                          const int64_t target[2], struct numeric_sides *sides) {
  uint64_t open[2] = {0, 0};
  int64_t cost[2] = {INT64_MAX, INT64_MAX};
  for (int s = 0; s < 2; s++)
    if (sides->wanted >> s & 1)
      open[s] = promising (rivals, s, sides->top[s], target[s], &cost[s]);
  if (count_bits (open[0] | open[1]) > task->lanes->planes)
    return 0;
  sides->cost[0] = cost[0];
  sides->cost[1] = cost[1];
  /* The largest pairs come first: what they achieve may make the others pointless. */
  for (int s = 0; s < 2; s++)
    for (int32_t i = 0; i < rivals->pairs && open[s] >> rivals->pair[s][i].number & 1; i++) {
      const int number = rivals->pair[s][i].number;
      const int other = (int) (open[!s] >> number & 1);
      if (!s || !other) /* otherwise it was swept with the pairs of the first side */
        sweep_pair (rivals, task, number, 1 << s | other << !s, sides);
    }
  return 1;
}
