/* Bounds at fixed multipliers: the least score of any tree at a place, found by trying all tests above depth two and
   by passes over a table at depth two. Bounds of places are stored, because the order of tests does not matter. */
#include "coupled/search.h"

#include <string.h>

static struct entry *entry_at (const struct store *store, size_t at) {
  return (struct entry *) (store->entries + at * store->entry_bytes);
}

static size_t slot_of (const struct store *store, const struct place *place) {
  uint64_t hash = (uint64_t) place->depth + 1;
  for (int32_t i = 0; i < place->literals; i++)
    hash = (hash ^ (uint64_t) place->literal[i]) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
  size_t at = (size_t) hash & (store->entry_room - 1);
  for (;; at = (at + 1) & (store->entry_room - 1)) {
    const struct entry *entry = entry_at (store, at);
    if (entry->depth < 0)
      return at;
    if (entry->depth == place->depth && entry->literals == place->literals &&
        !memcmp (entry->literal, place->literal, (size_t) place->literals * sizeof *place->literal))
      return at;
  }
}

/* Moves the entries to a store of another size. */
static int resize (struct search *search, size_t room, int slots) {
  struct store *store = &search->shared->store;
  const struct store old = *store;
  const size_t bytes = sizeof (struct entry) + (size_t) slots * sizeof (int64_t);
  char *entries = arena_reserve (&search->coupled->arena, room, bytes);
  if (!entries)
    return 0;
  store->entries = entries;
  store->entry_room = room;
  store->entry_bytes = bytes;
  store->slots = slots;
  for (size_t at = 0; at < room; at++)
    entry_at (store, at)->depth = -1;
  const int kept = slots < old.slots ? slots : old.slots;
  for (size_t i = 0; i < old.entry_room; i++) {
    const struct entry *from = entry_at (&old, i);
    if (from->depth < 0)
      continue;
    struct place place = {.depth = from->depth, .literals = from->literals};
    memcpy (place.literal, from->literal, sizeof place.literal);
    memcpy (entry_at (store, slot_of (store, &place)), from, sizeof *from + (size_t) kept * sizeof *from->bound);
  }
  arena_release (&search->coupled->arena, old.entries);
  return 1;
}

static int grow (struct search *search) {
  const struct store *store = &search->shared->store;
  return resize (search, store->entry_room ? 2 * store->entry_room : 64, store->slots);
}

void bounds_make_slots (struct search *search, int slots) {
  struct store *store = &search->shared->store;
  const uint64_t kept = ((uint64_t) 1 << slots) - 1;
  bounds_clear (search, ~kept);
  if (store->slots == slots || (store->entry_room && resize (search, store->entry_room, slots)))
    return;
  arena_release (&search->coupled->arena, store->entries); /* what is known does not fit; it can be found again */
  *store = (struct store) {.slots = slots};
}

/* What a place is stored under: its rows if they are few, because different tests often leave the same rows; otherwise
   its literals. Columns that may be used once on a path, or cost a fee, make places with the same rows different. */
static int key_of (const struct search *search, const struct place *place, struct place *key) {
  const size_t bytes = (size_t) search->merged->words * sizeof *place->rows;
  *key = (struct place) {.depth = place->depth, .literals = place->literals};
  if (bytes <= sizeof key->literal && !search->used && !search->has_fees) {
    key->literals = most_literals;
    memcpy (key->literal, place->rows, bytes);
    return 1;
  }
  if (place->literals > most_literals)
    return 0;
  memcpy (key->literal, place->literal, sizeof key->literal);
  return 1;
}

/* The entry of a place, made if there is none; NULL if places as deep as this are not stored or memory is short. */
static struct entry *entry_of (struct search *search, const struct place *at) {
  struct store *store = &search->shared->store;
  struct place key, *place = &key;
  if (!key_of (search, at, place))
    return NULL;
  if (2 * store->entry_count >= store->entry_room && !grow (search) && store->entry_count + 1 >= store->entry_room)
    return NULL;
  struct entry *entry = entry_at (store, slot_of (store, place));
  if (entry->depth < 0) {
    entry->depth = place->depth;
    entry->literals = place->literals;
    entry->known = 0;
    memcpy (entry->literal, place->literal, sizeof entry->literal);
    store->entry_count++;
  }
  return entry;
}

/* Copies the stored bounds of the mask; the multipliers whose bounds are not stored. */
static uint64_t recall (struct search *search, const struct place *place, uint64_t mask, int64_t *bounds) {
  lock_take (&search->shared->lock);
  const struct entry *entry = entry_of (search, place);
  const uint64_t missing = entry ? mask & ~entry->known : mask;
  for (int l = 0; entry && l < search->multipliers; l++)
    if ((mask & ~missing) >> l & 1)
      bounds[l] = entry->bound[l];
  lock_leave (&search->shared->lock);
  return missing;
}

static void store (struct search *search, const struct place *place, uint64_t mask, const int64_t *bounds) {
  lock_take (&search->shared->lock);
  struct entry *entry = entry_of (search, place);
  for (int l = 0; entry && l < search->multipliers; l++)
    if (mask >> l & 1)
      entry->bound[l] = bounds[l];
  if (entry)
    entry->known |= mask;
  lock_leave (&search->shared->lock);
}

static inline int64_t less (int64_t a, int64_t b) { return a < b ? a : b; }

static void leaf_scores (struct search *search, const struct place *place, uint64_t mask, int64_t *bounds) {
  place_total (search, place, search->cells);
  for (int l = 0; l < search->multipliers; l++)
    if (mask >> l & 1)
      bounds[l] = leaf_score (search, &search->multiplier[l], search->cells, NULL);
}

/* Both sides of a test at a place; 0 if the test does not split it. */
static int split_at (struct search *search, const struct place *place, int32_t test, struct place *sides) {
  struct level *level = &search->levels[place->depth];
  place_child (search, place, test, 1, level->yes, &sides[1]);
  place_child (search, place, test, 0, level->no, &sides[0]);
  return place_splits (search, level->yes, level->no);
}

/* The bounds of both sides; 0 if the search was stopped. */
static int bounds_of_split (struct search *search, int32_t test, const struct place *sides, uint64_t mask, int64_t *yes,
                            int64_t *no) {
  path_push (search, test);
  const int done = bounds_at (search, &sides[1], mask, yes) && bounds_at (search, &sides[0], mask, no);
  path_pop (search, test);
  return done;
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
  const int64_t count = count_of (search, search->cells);
  struct place sides[2];
  int64_t yes[most_multipliers], no[most_multipliers];
  for (int32_t test = 0; test < search->merged->tests; test++) {
    if (!test_allowed (search, test) || !split_at (search, place, test, sides))
      continue;
    if (!bounds_of_split (search, test, sides, mask, yes, no))
      return 0;
    for (int l = 0; l < search->multipliers; l++)
      if (mask >> l & 1)
        bounds[l] = less (bounds[l], yes[l] + no[l] + split_score (search, &search->multiplier[l], -1, test, count));
  }
  for (int l = 0; l < search->multipliers; l++)
    if (mask >> l & 1)
      bounds[l] = possible (bounds[l]);
  return 1;
}

/* The bounds of both sides of a test of the root, which are stored for the thread that asked for them. */
struct sides_task {
  const struct place *root;
  uint64_t mask;
};

static void bounds_of_sides (struct search *search, void *argument, int32_t test) {
  const struct sides_task *task = argument;
  struct place sides[2];
  int64_t yes[most_multipliers], no[most_multipliers];
  if (!search_stopped (search) && split_at (search, task->root, test, sides))
    bounds_of_split (search, test, sides, task->mask, yes, no);
}

int bounds_at (struct search *search, const struct place *place, uint64_t mask, int64_t *bounds) {
  uint64_t missing = recall (search, place, mask, bounds);
  if (!missing)
    return 1;
  if (search->workers && !place->literals && place->depth >= 4) {
    struct sides_task task = {place, missing};
    team_run (search, bounds_of_sides, &task, search->merged->tests);
  }
  int64_t fresh[most_multipliers];
  if (!compute (search, place, missing, fresh))
    return 0;
  for (int l = 0; l < search->multipliers; l++)
    if (missing >> l & 1)
      bounds[l] = fresh[l];
  store (search, place, missing, fresh);
  return 1;
}

void bounds_clear (struct search *search, uint64_t mask) {
  struct store *store = &search->shared->store;
  search->passed &= ~mask;
  for (size_t i = 0; i < store->entry_room; i++)
    if (entry_at (store, i)->depth >= 0)
      entry_at (store, i)->known &= ~mask;
}

void bounds_exchange (struct search *search, int one, int other) {
  struct store *store = &search->shared->store;
  search->passed &= ~((uint64_t) 1 << one | (uint64_t) 1 << other);
  for (size_t i = 0; i < store->entry_room; i++) {
    struct entry *entry = entry_at (store, i);
    if (entry->depth < 0)
      continue;
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
  struct place sides[2];
  const uint64_t mask = (uint64_t) 1 << multiplier;
  int64_t bounds[most_multipliers], yes[most_multipliers], no[most_multipliers];
  *best = -1;
  leaf_scores (search, place, mask, bounds);
  const int64_t count = count_of (search, search->cells);
  int64_t least = bounds[multiplier];
  for (int32_t test = 0; test < search->merged->tests; test++) {
    if (!test_allowed (search, test) || !split_at (search, place, test, sides))
      continue;
    if (!bounds_of_split (search, test, sides, mask, yes, no))
      return 0;
    const int64_t score =
        yes[multiplier] + no[multiplier] + split_score (search, &search->multiplier[multiplier], -1, test, count);
    if (score < least) {
      least = score;
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
  const int64_t count = count_of (search, search->table->total);
  for (int32_t test = 0; test < search->merged->tests; test++) {
    const int64_t score = yes[test] + no[test] + split_score (search, &search->multiplier[multiplier], -1, test, count);
    if (score < least) {
      least = score;
      *best = test;
    }
  }
  return 1;
}

/* The fees of a split, which are part of the vector. */
static void add_fees (struct search *search, int32_t above, int32_t test, int64_t count, int64_t *vector) {
  int64_t fees[fee_kinds];
  if (!search->has_fees)
    return;
  split_fees (search, above, test, count, fees);
  fees_add (search, fees, vector);
  for (int kind = 0; kind < fee_kinds; kind++)
    search->leaves.fees[kind] += fees[kind];
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
  add_fees (search, test, other, count_of (search, yes) + count_of (search, no), vector);
  const int64_t first = add_leaf (search, multiplier, yes, tree, vector);
  const int64_t second = first < 0 ? -1 : add_leaf (search, multiplier, no, tree, vector);
  if (second < 0)
    return -1;
  tree_set_side (search, tree, node, other, 1, first);
  tree_set_side (search, tree, node, other, 0, second);
  return node;
}

static int64_t bounds_side (struct search *search, const struct place *place, int32_t test, int side, int multiplier,
                            struct tree *tree, int64_t *vector) {
  if (place->depth == 2)
    return add_stump (search, test, side, multiplier, tree, vector);
  struct level *level = &search->levels[place->depth];
  struct place child;
  place_child (search, place, test, side, side ? level->yes : level->no, &child);
  return bounds_tree (search, &child, multiplier, tree, vector);
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
  place_total (search, place, search->cells);
  if (best < 0)
    return add_leaf (search, multiplier, search->cells, tree, vector);
  const int64_t node = tree_add_split (search, tree, best);
  if (node < 0)
    return -1;
  add_fees (search, -1, best, count_of (search, search->cells), vector);
  path_push (search, best);
  int64_t below = 0;
  for (int side = 1; side >= 0 && below >= 0; side--) {
    below = bounds_side (search, place, best, side, multiplier, tree, vector);
    if (below >= 0)
      tree_set_side (search, tree, node, best, side, below);
  }
  path_pop (search, best);
  return below < 0 ? -1 : node;
}
