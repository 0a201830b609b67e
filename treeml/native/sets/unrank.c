/* Trees from their numbers. The trees of a bin are in this order: the leaf; then, for every split, for every cost of
   its yes side, all pairs of a tree of the yes side and one of the no side. */
#include "sets/states.h"

#include <string.h>

/* The pairs of trees of one split that belong to a bin. */
struct block {
  const struct arc *arc;
  int64_t yes, no; /* bins of the sides */
  tally pairs;
  int skipped; /* whether the first pair is left out: two leaves that predict the same */
};

/* Goes through the blocks of a bin: `split` and `place` are where to go on. 0 at the end. */
static int next_block (const treeml_sets *sets, int32_t state, const struct bin *bin, int32_t *split, int32_t *place,
                       struct block *block) {
  const struct state *at = &sets->states[state];
  const struct histograms *all = &sets->counted;
  for (; *split < at->arcs; ++*split, *place = 0) {
    const struct arc *arc = &sets->arcs[at->first_arc + *split];
    const struct bin *yes = all->bins + all->first[arc->yes];
    while (*place < all->size[arc->yes]) {
      const struct bin *side = &yes[(*place)++];
      const int64_t cost = bin->cost - arc->cost - side->cost;
      if (cost < 0)
        break;
      const int64_t no = sets_find (all, arc->no, cost, sets->input.leaves ? bin->leaves - side->leaves : 0);
      if (no < 0)
        continue;
      const struct state *a = &sets->states[arc->yes], *b = &sets->states[arc->no];
      const int skipped = arc->alike && side->cost == a->leaf && cost == b->leaf &&
                          (!sets->input.leaves || (side->leaves == 1 && all->bins[no].leaves == 1));
      const tally pairs = side->trees * all->bins[no].trees - (skipped ? 1 : 0);
      if (!pairs)
        continue;
      *block = (struct block) {arc, side - all->bins, no, pairs, skipped};
      return 1;
    }
  }
  return 0;
}

static int is_leaf_bin (const treeml_sets *sets, int32_t state, const struct bin *bin) {
  return bin->cost == sets->states[state].leaf && bin->leaves == (sets->input.leaves ? 1 : 0);
}

/* One tree. */

struct out {
  int32_t *test, *yes, *no;
  int64_t used, room;
};

static int write_tree (const treeml_sets *sets, int32_t state, int64_t bin_number, tally index, struct out *out) {
  const struct bin *bin = &sets->counted.bins[bin_number];
  if (out->used == out->room)
    return TREEML_SETS_MEMORY;
  const int64_t here = out->used++;
  if (is_leaf_bin (sets, state, bin)) {
    if (!index) {
      out->test[here] = -1;
      out->yes[here] = sets->states[state].label;
      out->no[here] = -1;
      return TREEML_SETS_OK;
    }
    index--;
  }
  int32_t split = 0, place = 0;
  struct block block;
  while (next_block (sets, state, bin, &split, &place, &block)) {
    if (index >= block.pairs) {
      index -= block.pairs;
      continue;
    }
    index += block.skipped ? 1 : 0;
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

/* Makes all trees of a bin, unless they are made. */
static int make_trees (treeml_sets *sets, int32_t state, int64_t bin_number) {
  if (sets->made[bin_number] >= 0)
    return 1;
  const struct bin *bin = &sets->counted.bins[bin_number];
  struct block block;
  int32_t split = 0, place = 0;
  while (next_block (sets, state, bin, &split, &place, &block))
    if (!make_sides (sets, &block))
      return 0;
  const int64_t first = sets->nodes_used;
  if (bin->trees >= INT32_MAX || !sets_go_on (sets, (int64_t) bin->trees + 16))
    return sets_fail (sets, TREEML_SETS_MEMORY);
  if (is_leaf_bin (sets, state, bin) && !add_node (sets, (struct node) {-1, sets->states[state].label, -1, state}))
    return 0;
  for (split = place = 0; next_block (sets, state, bin, &split, &place, &block);) {
    const int64_t yes = sets->made[block.yes], no = sets->made[block.no];
    const int64_t yes_trees = (int64_t) sets->counted.bins[block.yes].trees;
    const int64_t no_trees = (int64_t) sets->counted.bins[block.no].trees;
    for (int64_t i = 0; i < yes_trees; i++)
      for (int64_t j = !i && block.skipped; j < no_trees; j++)
        if (!add_node (sets, (struct node) {block.arc->test, (int32_t) (yes + i), (int32_t) (no + j), state}))
          return 0;
  }
  sets->made[bin_number] = first;
  return 1;
}

static int prepare_nodes (treeml_sets *sets) {
  if (sets->made)
    return 1;
  sets->made = arena_reserve (&sets->arena, (size_t) sets->counted.used, sizeof *sets->made);
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
  int64_t index = (int64_t) skip + block->skipped;
  int64_t left = (int64_t) (block->pairs - skip);
  for (int64_t i = index / inner, j = index % inner; left && (int64_t) range->at < range->end; left--) {
    write_root (range, block->arc->test, (int32_t) (yes + i), (int32_t) (no + j));
    if (++j == inner) {
      j = 0;
      i++;
    }
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
    if (is_leaf_bin (sets, 0, bin)) {
      if (range.at >= (tally) first)
        write_root (&range, -1, sets->states[0].label, -1);
      else
        range.at++;
    }
    struct block block;
    for (int32_t split = 0, place = 0;
         range.at < (tally) range.end && next_block (sets, 0, bin, &split, &place, &block);)
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
