/* Bounds at fixed multipliers: the least score of any tree at a place, found by trying all tests above depth two and
   by passes over a table at depth two. Bounds of places are stored, because the order of tests does not matter. */
#include "coupled/search.h"

#include <string.h>

void bounds_forget (struct search *search) {
  for (size_t i = 0; i < search->entry_room; i++)
    search->entries[i] = (struct entry) {.depth = -1};
  search->entry_count = 0;
}

static size_t slot_of (const struct search *search, const struct place *place) {
  uint64_t hash = (uint64_t) place->depth + 1;
  for (int32_t i = 0; i < place->literals; i++)
    hash = (hash ^ (uint64_t) place->literal[i]) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
  size_t at = (size_t) hash & (search->entry_room - 1);
  for (;; at = (at + 1) & (search->entry_room - 1)) {
    const struct entry *entry = &search->entries[at];
    if (entry->depth < 0)
      return at;
    if (entry->depth == place->depth && entry->literals == place->literals &&
        !memcmp (entry->literal, place->literal, (size_t) place->literals * sizeof *place->literal))
      return at;
  }
}

static int grow (struct search *search) {
  struct entry *old = search->entries;
  const size_t old_room = search->entry_room, room = old_room ? 2 * old_room : 64;
  struct entry *entries = arena_reserve (&search->coupled->arena, room, sizeof *entries);
  if (!entries)
    return 0;
  search->entries = entries;
  search->entry_room = room;
  const size_t count = search->entry_count;
  bounds_forget (search);
  search->entry_count = count;
  for (size_t i = 0; i < old_room; i++)
    if (old[i].depth >= 0) {
      struct place place = {.depth = old[i].depth, .literals = old[i].literals};
      memcpy (place.literal, old[i].literal, sizeof place.literal);
      entries[slot_of (search, &place)] = old[i];
    }
  arena_release (&search->coupled->arena, old);
  return 1;
}

/* The entry of a place, made if there is none; NULL if places as deep as this are not stored or memory is short. */
static struct entry *entry_of (struct search *search, const struct place *place) {
  if (place->literals > most_literals)
    return NULL;
  if (2 * search->entry_count >= search->entry_room && !grow (search) && search->entry_count + 1 >= search->entry_room)
    return NULL;
  struct entry *entry = &search->entries[slot_of (search, place)];
  if (entry->depth < 0) {
    *entry = (struct entry) {.depth = place->depth, .literals = place->literals};
    memcpy (entry->literal, place->literal, sizeof entry->literal);
    search->entry_count++;
  }
  return entry;
}

static inline int64_t less (int64_t a, int64_t b) { return a < b ? a : b; }

static void leaf_scores (struct search *search, const struct place *place, uint64_t mask, int64_t *bounds) {
  place_total (search, place, search->cells);
  for (int l = 0; l < search->multipliers; l++)
    if (mask >> l & 1)
      bounds[l] = leaf_score (search, &search->multiplier[l], search->cells, NULL);
}

static int compute (struct search *search, const struct place *place, uint64_t mask, int64_t *bounds) {
  if (place->depth <= 0) {
    leaf_scores (search, place, mask, bounds);
    return !search_poll (search, 0);
  }
  if (place->depth <= 2) {
    if (!table_at (search, place))
      return 0;
    int32_t test;
    for (int l = 0; l < search->multipliers; l++)
      if (mask >> l & 1)
        bounds[l] =
            place->depth == 2 ? table_pass (search, l) : stump_score (search, &search->multiplier[l], -1, 0, &test);
    return 1;
  }
  leaf_scores (search, place, mask, bounds);
  struct level *level = &search->levels[place->depth];
  int64_t yes[most_multipliers], no[most_multipliers];
  for (int32_t test = 0; test < search->merged->tests; test++) {
    struct place sides[2];
    if (!test_allowed (search, test))
      continue;
    place_child (search, place, test, 1, level->yes, &sides[1]);
    place_child (search, place, test, 0, level->no, &sides[0]);
    if (!place_splits (search, level->yes, level->no))
      continue;
    path_push (search, test);
    const int done = bounds_at (search, &sides[1], mask, yes) && bounds_at (search, &sides[0], mask, no);
    path_pop (search, test);
    if (!done)
      return 0;
    for (int l = 0; l < search->multipliers; l++)
      if (mask >> l & 1)
        bounds[l] = less (bounds[l], yes[l] + no[l]);
  }
  return 1;
}

int bounds_at (struct search *search, const struct place *place, uint64_t mask, int64_t *bounds) {
  struct entry *entry = entry_of (search, place);
  const uint64_t missing = entry ? mask & ~entry->known : mask;
  if (missing) {
    if (!compute (search, place, missing, bounds))
      return 0;
    entry = entry_of (search, place); /* it may have moved */
  }
  if (!entry)
    return 1;
  for (int l = 0; l < search->multipliers; l++)
    if (missing >> l & 1)
      entry->bound[l] = bounds[l];
    else if (mask >> l & 1)
      bounds[l] = entry->bound[l];
  entry->known |= missing;
  return 1;
}

void bounds_clear (struct search *search, uint64_t mask) {
  for (size_t i = 0; i < search->entry_room; i++)
    search->entries[i].known &= ~mask;
}

void bounds_exchange (struct search *search, int one, int other) {
  for (size_t i = 0; i < search->entry_room; i++) {
    struct entry *entry = &search->entries[i];
    const uint64_t differ = (entry->known >> one ^ entry->known >> other) & 1;
    entry->known ^= differ << one | differ << other;
    const int64_t bound = entry->bound[one];
    entry->bound[one] = entry->bound[other];
    entry->bound[other] = bound;
  }
}

/* The tree of least score. */

static int64_t add_leaf (struct search *search, int multiplier, const int64_t *sums, struct tree *tree,
                         int64_t *vector) {
  int32_t label;
  int64_t here[1 + vector_most_sums];
  leaf_score (search, &search->multiplier[multiplier], sums, &label);
  leaf_vector (search, sums, label, here);
  for (int j = 0; j <= search->requirements; j++)
    vector[j] += here[j];
  const int64_t node = tree_add (&search->coupled->arena, tree, -1, label);
  if (node < 0)
    search_out_of_memory (search);
  else
    collect_leaf (search, node, sums);
  return node;
}

/* A split with its sides in the order of the caller's test; -1 if memory is short. */
int64_t tree_add_split (struct search *search, struct tree *tree, int32_t test) {
  const int64_t node = tree_add (&search->coupled->arena, tree, search->merged->kept[test], -1);
  if (node < 0)
    search_out_of_memory (search);
  return node;
}

void tree_set_side (struct search *search, struct tree *tree, int64_t node, int32_t test, int side, int64_t child) {
  (side ^ search->merged->flipped[test] ? tree->yes : tree->no)[node] = (int32_t) child;
}

static int best_test (struct search *search, const struct place *place, int multiplier, int32_t *best) {
  struct level *level = &search->levels[place->depth];
  const uint64_t mask = (uint64_t) 1 << multiplier;
  int64_t bounds[most_multipliers], yes[most_multipliers], no[most_multipliers];
  *best = -1;
  leaf_scores (search, place, mask, bounds);
  int64_t least = bounds[multiplier];
  for (int32_t test = 0; test < search->merged->tests; test++) {
    struct place sides[2];
    if (!test_allowed (search, test))
      continue;
    place_child (search, place, test, 1, level->yes, &sides[1]);
    place_child (search, place, test, 0, level->no, &sides[0]);
    if (!place_splits (search, level->yes, level->no))
      continue;
    path_push (search, test);
    const int done = bounds_at (search, &sides[1], mask, yes) && bounds_at (search, &sides[0], mask, no);
    path_pop (search, test);
    if (!done)
      return 0;
    if (yes[multiplier] + no[multiplier] < least) {
      least = yes[multiplier] + no[multiplier];
      *best = test;
    }
  }
  return 1;
}

/* The best first test of a tree of depth two, or -1 for a leaf. */
static int best_of_two (struct search *search, const struct place *place, int multiplier, int32_t *best) {
  if (!table_at (search, place))
    return 0;
  table_pass (search, multiplier);
  int64_t least = leaf_score (search, &search->multiplier[multiplier], search->table->total, NULL);
  *best = -1;
  const int64_t *yes = search->best[1] + (int64_t) multiplier * search->merged->stride;
  const int64_t *no = search->best[0] + (int64_t) multiplier * search->merged->stride;
  for (int32_t test = 0; test < search->merged->tests; test++)
    if (yes[test] + no[test] < least) {
      least = yes[test] + no[test];
      *best = test;
    }
  return 1;
}

/* The best leaf or stump on a side of a test of the table (all of it if the test is -1). */
static int64_t add_stump (struct search *search, int32_t test, int side, int multiplier, struct tree *tree,
                          int64_t *vector) {
  int64_t *yes = search->cells, *no = yes + search->merged->channels;
  int32_t other;
  stump_score (search, &search->multiplier[multiplier], test, side, &other);
  if (other < 0) {
    table_side (search, test, side, yes);
    return add_leaf (search, multiplier, yes, tree, vector);
  }
  const int64_t node = tree_add_split (search, tree, other);
  if (node < 0)
    return -1;
  table_cells (search, test, side, other, yes, no);
  const int64_t first = add_leaf (search, multiplier, yes, tree, vector);
  const int64_t second = first < 0 ? -1 : add_leaf (search, multiplier, no, tree, vector);
  if (second < 0)
    return -1;
  tree_set_side (search, tree, node, other, 1, first);
  tree_set_side (search, tree, node, other, 0, second);
  return node;
}

int64_t bounds_tree (struct search *search, const struct place *place, int multiplier, struct tree *tree,
                     int64_t *vector) {
  int32_t best = -1;
  if (place->depth == 1)
    return table_at (search, place) ? add_stump (search, -1, 0, multiplier, tree, vector) : -1;
  if (place->depth > 2 && !best_test (search, place, multiplier, &best))
    return -1;
  if (place->depth == 2 && !best_of_two (search, place, multiplier, &best))
    return -1;
  if (best < 0) {
    place_total (search, place, search->cells);
    return add_leaf (search, multiplier, search->cells, tree, vector);
  }
  const int64_t node = tree_add_split (search, tree, best);
  if (node < 0)
    return -1;
  struct level *level = &search->levels[place->depth];
  path_push (search, best);
  for (int side = 1; side >= 0; side--) {
    int64_t below;
    if (place->depth == 2)
      below = add_stump (search, best, side, multiplier, tree, vector);
    else {
      struct place child;
      place_child (search, place, best, side, side ? level->yes : level->no, &child);
      below = bounds_tree (search, &child, multiplier, tree, vector);
    }
    if (below < 0)
      return -1;
    tree_set_side (search, tree, node, best, side, below);
  }
  path_pop (search, best);
  return node;
}
