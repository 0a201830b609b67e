/* How many trees predict what for a row, without making the trees: for every bin of every state, the number of trees
   that continue each of its trees to the root. */
#include "sets/states.h"

#include <string.h>

/* Sends the trees above one bin to the sides of its splits. `ends` counts, for every state, trees with a leaf there. */
static int send_down (treeml_sets *sets, int32_t state, int64_t number, tally *above, wide *ends) {
  const struct histograms *all = &sets->counted;
  const struct state *at = &sets->states[state];
  const struct bin *bin = &all->bins[number];
  const tally here = above[number];
  if (!here)
    return 1;
  if (bin->cost == at->leaf && bin->leaves == (sets->input.leaves ? 1 : 0))
    ends[state] += (wide) here;
  for (int32_t i = 0; i < at->arcs; i++) {
    const struct arc *arc = &sets->arcs[at->first_arc + i];
    const struct state *yes = &sets->states[arc->yes], *no = &sets->states[arc->no];
    const int64_t begin = all->first[arc->yes], end = begin + all->size[arc->yes];
    if (!sets_go_on (sets, end - begin))
      return 0;
    for (int64_t a = begin; a < end && all->bins[a].cost + arc->cost <= bin->cost; a++) {
      const int64_t cost = bin->cost - arc->cost - all->bins[a].cost;
      const int64_t b = sets_find (all, arc->no, cost, sets->input.leaves ? bin->leaves - all->bins[a].leaves : 0);
      if (b < 0)
        continue;
      above[a] += here * all->bins[b].trees;
      above[b] += here * all->bins[a].trees;
      if (arc->alike && all->bins[a].cost == yes->leaf && cost == no->leaf &&
          (!sets->input.leaves || (all->bins[a].leaves == 1 && all->bins[b].leaves == 1))) {
        /* The pair of equal leaves is no tree. */
        ends[arc->yes] -= (wide) here;
        ends[arc->no] -= (wide) here;
      }
    }
  }
  return 1;
}

static void add_votes (const treeml_sets *sets, int32_t state, wide trees, uint64_t *votes) {
  const uint64_t *key = sets_key (sets, state);
  for (int w = 0; w < sets->words; w++)
    for (uint64_t rest = key[w]; rest; rest &= rest - 1) {
      const int64_t row = 64 * w + __builtin_ctzll (rest);
      uint64_t *to = votes + 2 * (row * sets->input.width + sets->states[state].label);
      const tally sum = ((tally) to[1] << 64 | to[0]) + (tally) trees;
      to[0] = (uint64_t) sum;
      to[1] = (uint64_t) (sum >> 64);
    }
}

int treeml_sets_votes (treeml_sets *sets, double seconds, uint64_t *votes) {
  sets_until (sets, seconds);
  if (!sets->built || sets->input.model != TREEML_SETS_CLASSES)
    return TREEML_SETS_INPUT;
  memset (votes, 0, (size_t) sets->input.rows * (size_t) sets->input.width * 2 * sizeof *votes);
  const struct histograms *all = &sets->counted;
  if (sets->heads[sets->states[0].depth] < 0)
    return TREEML_SETS_OK; /* there are no trees */
  tally *above = arena_allocate (&sets->arena, (size_t) all->used, sizeof *above);
  wide *ends = arena_allocate (&sets->arena, (size_t) sets->used, sizeof *ends);
  int ok = above && ends ? 1 : sets_fail (sets, TREEML_SETS_MEMORY);
  for (int32_t bin = 0; ok && bin < all->size[0]; bin++)
    above[all->first[0] + bin] = 1;
  for (int32_t depth = sets->states[0].depth; depth >= 0 && ok; depth--)
    for (int32_t state = sets->heads[depth]; state >= 0 && ok; state = sets->states[state].next)
      for (int64_t bin = all->first[state]; bin < all->first[state] + all->size[state] && ok; bin++)
        ok = send_down (sets, state, bin, above, ends);
  for (int32_t depth = sets->states[0].depth; depth >= 0 && ok; depth--)
    for (int32_t state = sets->heads[depth]; state >= 0; state = sets->states[state].next)
      if (ends[state])
        add_votes (sets, state, ends[state], votes);
  arena_release (&sets->arena, above);
  arena_release (&sets->arena, ends);
  return sets->code;
}
