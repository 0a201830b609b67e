/* Trees from their numbers. The trees of a bin are in this order: the leaf; then, for every split, for every cost of
   its yes side, all pairs of a tree of the yes side and one of the no side. */
#include "sets/states.h"

#include <string.h>

/* The classes of the leaves of a bin, in order; its other trees follow. -1 stands for the leaf of a number. */
int sets_labels (const treeml_sets *sets, int32_t state, int64_t bin, int32_t *labels) {
  const struct bin *here = &sets->counted.bins[bin];
  const int32_t limited = sets->input.limited;
  int found = 0;
  if (here->leaves != (sets->input.leaves ? 1 : 0))
    return 0;
  if (!limited) {
    labels[0] = sets->states[state].label;
    return here->cost == sets->states[state].leaf;
  }
  for (int32_t label = 0; label < sets->input.width; label++) {
    const int64_t *leaf = sets_label (sets, state, label);
    if (leaf[0] == here->cost &&
        !memcmp (leaf + 1, sets->counted.sums + bin * limited, (size_t) limited * sizeof *leaf))
      labels[found++] = label;
  }
  return found;
}

/* Finds the pairs of two leaves that are one leaf. */
static void skip_pairs (const treeml_sets *sets, int32_t state, struct block *block) {
  int32_t yes[most_labels], no[most_labels];
  const int of_yes = sets_labels (sets, block->arc->yes, block->yes, yes);
  const int of_no = of_yes ? sets_labels (sets, block->arc->no, block->no, no) : 0;
  block->skipped = 0;
  for (int i = 0; i < of_yes; i++)
    for (int j = 0; j < of_no; j++)
      if (sets->input.limited ? yes[i] == no[j] && sets_label (sets, state, yes[i])[0] < NO_TREE : block->arc->alike) {
        block->skip[block->skipped] = (tally) i * sets->counted.bins[block->no].trees + (tally) j;
        block->label[block->skipped++] = yes[i];
      }
}

/* Where trees of the yes side with the sums of a bin need trees of the no side. -1 if there are none. */
static int64_t other_side (const treeml_sets *sets, int64_t bin, const struct arc *arc, int64_t side) {
  const struct histograms *all = &sets->counted;
  const int32_t limited = sets->input.limited;
  const int64_t cost = all->bins[bin].cost - arc->cost - all->bins[side].cost;
  const int32_t leaves = sets->input.leaves ? all->bins[bin].leaves - all->bins[side].leaves : 0;
  for (int32_t i = 0; i < limited; i++)
    sets->sums_here[i] = all->sums[bin * limited + i] - all->sums[side * limited + i];
  return sets_find (sets, arc->no, cost, leaves, sets->sums_here);
}

/* Goes through the blocks of a bin: `split` and `place` are where to go on. 0 at the end. */
int sets_next_block (const treeml_sets *sets, int32_t state, int64_t bin, int32_t *split, int32_t *place,
                     struct block *block) {
  const struct state *at = &sets->states[state];
  const struct histograms *all = &sets->counted;
  for (; *split < at->arcs; ++*split, *place = 0) {
    const struct arc *arc = &sets->arcs[at->first_arc + *split];
    while (*place < all->size[arc->yes]) {
      const int64_t side = all->first[arc->yes] + (*place)++;
      if (all->bins[bin].cost - arc->cost < all->bins[side].cost)
        break;
      const int64_t no = other_side (sets, bin, arc, side);
      if (no < 0)
        continue;
      block->arc = arc;
      block->yes = side;
      block->no = no;
      skip_pairs (sets, state, block);
      block->pairs = all->bins[side].trees * all->bins[no].trees - (tally) block->skipped;
      if (block->pairs)
        return 1;
    }
  }
  return 0;
}

/* The place of a pair among all pairs, those that are left out included. */
static tally place_of (const struct block *block, tally index) {
  for (int32_t i = 0; i < block->skipped && block->skip[i] <= index; i++)
    index++;
  return index;
}

/* One tree. */

struct out {
  int32_t *test, *yes, *no;
  int64_t used, room;
};

static int write_tree (const treeml_sets *sets, int32_t state, int64_t bin_number, tally index, struct out *out) {
  if (out->used == out->room)
    return TREEML_SETS_MEMORY;
  const int64_t here = out->used++;
  int32_t labels[most_labels], split = 0, place = 0;
  const int leaves = sets_labels (sets, state, bin_number, labels);
  if (index < (tally) leaves) {
    out->test[here] = -1;
    out->yes[here] = labels[index];
    out->no[here] = -1;
    return TREEML_SETS_OK;
  }
  index -= (tally) leaves;
  struct block block;
  while (sets_next_block (sets, state, bin_number, &split, &place, &block)) {
    if (index >= block.pairs) {
      index -= block.pairs;
      continue;
    }
    index = place_of (&block, index);
    const tally inner = sets->counted.bins[block.no].trees;
    out->test[here] = block.arc->test;
    out->yes[here] = (int32_t) out->used;
    const int code = write_tree (sets, block.arc->yes, block.yes, index / inner, out);
    if (code != TREEML_SETS_OK)
      return code;
    out->no[here] = (int32_t) out->used;
    return write_tree (sets, block.arc->no, block.no, index % inner, out);
  }
  return TREEML_SETS_INPUT;
}

int treeml_sets_tree (treeml_sets *sets, uint64_t rank, uint64_t rank_high, int64_t room, int32_t *test, int32_t *yes,
                      int32_t *no, int64_t *nodes) {
  tally index = (tally) rank_high << 64 | rank;
  struct out out = {test, yes, no, 0, room};
  const int64_t first = sets->built ? sets->counted.first[0] : 0, size = treeml_sets_values (sets);
  for (int64_t bin = first; bin < first + size; bin++) {
    if (index < sets->counted.bins[bin].trees) {
      const int code = write_tree (sets, 0, bin, index, &out);
      *nodes = out.used;
      return code;
    }
    index -= sets->counted.bins[bin].trees;
  }
  return TREEML_SETS_INPUT;
}

/* Many trees: the trees of every bin below the root are made once, next to each other. */

static int add_node (treeml_sets *sets, struct node node) {
  if (sets->nodes_used >= INT32_MAX)
    return sets_fail (sets, TREEML_SETS_MEMORY);
  void *nodes = sets->nodes;
  const int ok = sets_grow (sets, &nodes, &sets->node_room, sets->nodes_used + 1, sizeof *sets->nodes);
  sets->nodes = nodes;
  if (ok)
    sets->nodes[sets->nodes_used++] = node;
  return ok;
}

static int make_trees (treeml_sets *sets, int32_t state, int64_t bin_number);

static int make_sides (treeml_sets *sets, const struct block *block) {
  return make_trees (sets, block->arc->yes, block->yes) && make_trees (sets, block->arc->no, block->no);
}

/* Adds all pairs of a block. */
static int add_pairs (treeml_sets *sets, int32_t state, const struct block *block) {
  const int64_t yes = sets->made[block->yes], no = sets->made[block->no];
  const int64_t inner = (int64_t) sets->counted.bins[block->no].trees;
  const int64_t pairs = (int64_t) sets->counted.bins[block->yes].trees * inner;
  int32_t skipped = 0;
  for (int64_t pair = 0; pair < pairs; pair++) {
    if (skipped < block->skipped && block->skip[skipped] == (tally) pair) {
      skipped++;
      continue;
    }
    const struct node node = {block->arc->test, (int32_t) (yes + pair / inner), (int32_t) (no + pair % inner), state};
    if (!add_node (sets, node))
      return 0;
  }
  return 1;
}

/* Makes all trees of a bin, unless they are made. */
static int make_trees (treeml_sets *sets, int32_t state, int64_t bin_number) {
  if (sets->made[bin_number] >= 0)
    return 1;
  const struct bin *bin = &sets->counted.bins[bin_number];
  struct block block;
  int32_t split = 0, place = 0;
  while (sets_next_block (sets, state, bin_number, &split, &place, &block))
    if (!make_sides (sets, &block))
      return 0;
  const int64_t first = sets->nodes_used;
  if (bin->trees >= INT32_MAX || !sets_go_on (sets, (int64_t) bin->trees + 16))
    return sets_fail (sets, TREEML_SETS_MEMORY);
  int32_t labels[most_labels];
  const int leaves = sets_labels (sets, state, bin_number, labels);
  for (int i = 0; i < leaves; i++)
    if (!add_node (sets, (struct node) {-1, labels[i], -1, state}))
      return 0;
  for (split = place = 0; sets_next_block (sets, state, bin_number, &split, &place, &block);)
    if (!add_pairs (sets, state, &block))
      return 0;
  sets->made[bin_number] = first;
  return 1;
}

static int prepare_nodes (treeml_sets *sets) {
  if (sets->made)
    return 1;
  sets->made = arena_reserve (sets->arena, (size_t) sets->counted.used, sizeof *sets->made);
  if (!sets->made)
    return sets_fail (sets, TREEML_SETS_MEMORY);
  sets->made_room = sets->counted.used;
  for (int64_t bin = 0; bin < sets->counted.used; bin++)
    sets->made[bin] = -1;
  return 1;
}

/* Where trees are written: numbers `first` to `end` - 1 of all trees, of which `at` is the next one. */
struct range {
  int64_t first, end;
  tally at;
  int32_t *test, *yes, *no;
};

static void write_root (struct range *range, int32_t test, int32_t yes, int32_t no) {
  const int64_t place = (int64_t) range->at++ - range->first;
  range->test[place] = test;
  range->yes[place] = yes;
  range->no[place] = no;
}

static int write_block (treeml_sets *sets, const struct block *block, struct range *range) {
  if (range->at + block->pairs <= (tally) range->first) {
    range->at += block->pairs;
    return 1;
  }
  if (!make_sides (sets, block) || !sets_go_on (sets, 64))
    return 0;
  const int64_t yes = sets->made[block->yes], no = sets->made[block->no];
  const int64_t inner = (int64_t) sets->counted.bins[block->no].trees;
  tally skip = range->at < (tally) range->first ? (tally) range->first - range->at : 0;
  range->at += skip;
  for (tally index = skip; index < block->pairs && (int64_t) range->at < range->end; index++) {
    const int64_t pair = (int64_t) place_of (block, index);
    write_root (range, block->arc->test, (int32_t) (yes + pair / inner), (int32_t) (no + pair % inner));
  }
  return 1;
}

int treeml_sets_trees (treeml_sets *sets, int64_t first, int64_t trees, double seconds, int32_t *test, int32_t *yes,
                       int32_t *no) {
  sets_until (sets, seconds);
  if (!sets->built || first < 0 || trees < 0 || first > INT64_MAX / 2 || trees > INT64_MAX / 4)
    return TREEML_SETS_INPUT;
  if (!prepare_nodes (sets))
    return sets->code;
  struct range range = {first, first + trees, 0, test, yes, no};
  const int64_t begin = sets->counted.first[0];
  for (int64_t number = begin; number < begin + sets->counted.size[0] && range.at < (tally) range.end; number++) {
    const struct bin *bin = &sets->counted.bins[number];
    if (range.at + bin->trees <= (tally) first) {
      range.at += bin->trees;
      continue;
    }
    int32_t labels[most_labels];
    const int leaves = sets_labels (sets, 0, number, labels);
    for (int i = 0; i < leaves && range.at < (tally) range.end; i++)
      if (range.at >= (tally) first)
        write_root (&range, -1, labels[i], -1);
      else
        range.at++;
    struct block block;
    for (int32_t split = 0, place = 0;
         range.at < (tally) range.end && sets_next_block (sets, 0, number, &split, &place, &block);)
      if (!write_block (sets, &block, &range))
        return sets->code;
  }
  return range.at == (tally) range.end ? sets->code : TREEML_SETS_INPUT;
}

int64_t treeml_sets_nodes (const treeml_sets *sets) { return sets->nodes_used; }

int treeml_sets_read_nodes (const treeml_sets *sets, int64_t first, int64_t count, int32_t *test, int32_t *yes,
                            int32_t *no, int32_t *state) {
  if (first < 0 || count < 0 || first > sets->nodes_used || count > sets->nodes_used - first)
    return TREEML_SETS_INPUT;
  for (int64_t i = 0; i < count; i++) {
    const struct node *node = &sets->nodes[first + i];
    test[i] = node->test;
    yes[i] = node->yes;
    no[i] = node->no;
    state[i] = node->state;
  }
  return TREEML_SETS_OK;
}
