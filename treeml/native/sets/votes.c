/* How many trees predict what for a row, without making the trees: for every bin of every state, the number of trees
   that continue each of its trees to the root. */
#include "sets/states.h"

#include "common/bits.h"

#include <string.h>

/* How many classes a leaf of a state may predict. */
static int64_t choices (const treeml_sets *sets) { return sets->input.limited ? sets->input.width : 1; }

/* Where `ends` counts the trees with a leaf of this class on this state. */
static int64_t end_of (const treeml_sets *sets, int32_t state, int32_t label) {
  return state * choices (sets) + (sets->input.limited ? label : 0);
}

/* Sends the trees above one bin to the sides of its splits. */
static int send_down (treeml_sets *sets, int32_t state, int64_t number, tally *above, wide *ends) {
  const tally here = above[number];
  if (!here)
    return 1;
  int32_t labels[most_labels], split = 0, place = 0;
  const int leaves = sets_labels (sets, state, number, labels);
  for (int i = 0; i < leaves; i++)
    ends[end_of (sets, state, labels[i])] += (wide) here;
  struct block block;
  while (sets_next_block (sets, state, number, &split, &place, &block)) {
    if (!sets_go_on (sets, 16))
      return 0;
    above[block.yes] += here * sets->counted.bins[block.no].trees;
    above[block.no] += here * sets->counted.bins[block.yes].trees;
    for (int32_t i = 0; i < block.skipped; i++) {
      /* A pair of leaves that are one leaf is no tree. */
      ends[end_of (sets, block.arc->yes, block.label[i])] -= (wide) here;
      ends[end_of (sets, block.arc->no, block.label[i])] -= (wide) here;
    }
  }
  return 1;
}

static void add_votes (const treeml_sets *sets, int32_t state, int32_t label, wide trees, uint64_t *votes) {
  const uint64_t *key = sets_key (sets, state);
  for (int w = 0; w < sets->words; w++)
    for (uint64_t rest = key[w]; rest; rest &= rest - 1) {
      const int64_t row = 64 * w + lowest_bit (rest);
      uint64_t *to = votes + 2 * (row * sets->input.width + label);
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
  tally *above = arena_allocate (sets->arena, (size_t) all->used, sizeof *above);
  wide *ends = arena_allocate (sets->arena, (size_t) (sets->used * choices (sets)), sizeof *ends);
  int ok = above && ends ? 1 : sets_fail (sets, TREEML_SETS_MEMORY);
  for (int32_t bin = 0; ok && bin < all->size[0]; bin++)
    above[all->first[0] + bin] = 1;
  for (int32_t depth = sets->states[0].depth; depth >= 0 && ok; depth--)
    for (int32_t state = sets->heads[depth]; state >= 0 && ok; state = sets->states[state].next)
      for (int64_t bin = all->first[state]; bin < all->first[state] + all->size[state] && ok; bin++)
        ok = send_down (sets, state, bin, above, ends);
  for (int32_t depth = sets->states[0].depth; depth >= 0 && ok; depth--)
    for (int32_t state = sets->heads[depth]; state >= 0; state = sets->states[state].next)
      for (int32_t choice = 0; choice < choices (sets); choice++) {
        const wide trees = ends[end_of (sets, state, choice)];
        if (trees)
          add_votes (sets, state, sets->input.limited ? choice : sets->states[state].label, trees, votes);
      }
  arena_release (sets->arena, above);
  arena_release (sets->arena, ends);
  return sets->code;
}
