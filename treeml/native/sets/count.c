/* Histograms: how many trees of every state cost how much, from the histograms of the sides of its splits. */
#include "sets/states.h"

#include "common/bits.h"

#include <stdlib.h>
#include <string.h>

#define MOST_TREES ((tally) 1 << 126)

enum { dense_values = 1 << 20, first_table = 1 << 12 };

void sets_release_histograms (treeml_sets *sets, struct histograms *all) {
  arena_release (sets->arena, all->bins);
  arena_release (sets->arena, all->sums);
  arena_release (sets->arena, all->first);
  arena_release (sets->arena, all->size);
  memset (all, 0, sizeof *all);
}

/* One histogram while it is added up: an array of all costs from `base` to `base + range`, or a hash table. */
struct sum {
  int64_t base, range;
  int dense;
};

static tally product (treeml_sets *sets, tally a, tally b) {
  if (b && a > (MOST_TREES - 1) / b)
    return (tally) sets_fail (sets, TREEML_SETS_OVERFLOW);
  return a * b;
}

/* An empty hash table. */
static int make_table (treeml_sets *sets, int64_t room) {
  const size_t limited = (size_t) sets->input.limited;
  sets->table = arena_allocate (sets->arena, (size_t) room, sizeof *sets->table);
  sets->places = arena_reserve (sets->arena, (size_t) room, sizeof *sets->places);
  sets->table_sums = arena_reserve (sets->arena, (size_t) room * limited, sizeof *sets->table_sums);
  if (!sets->table || !sets->places || !sets->table_sums) {
    arena_release (sets->arena, sets->table);
    arena_release (sets->arena, sets->places);
    arena_release (sets->arena, sets->table_sums);
    sets->table = NULL;
    sets->places = sets->table_sums = NULL;
    return sets_fail (sets, TREEML_SETS_MEMORY);
  }
  sets->table_room = room;
  sets->table_used = 0;
  return 1;
}

static int add_to_table (treeml_sets *sets, int64_t cost, int32_t leaves, const int64_t *sums, tally trees);

static int widen_table (treeml_sets *sets) {
  struct bin *old = sets->table;
  int64_t *old_sums = sets->table_sums, *old_places = sets->places;
  const int64_t used = sets->table_used;
  const int ok = make_table (sets, sets->table_room * 2);
  for (int64_t i = 0; i < used && ok; i++) {
    const struct bin *bin = &old[old_places[i]];
    add_to_table (sets, bin->cost, bin->leaves - 1, old_sums + old_places[i] * sets->input.limited, bin->trees);
  }
  arena_release (sets->arena, old);
  arena_release (sets->arena, old_sums);
  arena_release (sets->arena, old_places);
  return ok;
}

static uint64_t hash_of (int64_t cost, int32_t leaves, const int64_t *sums, int32_t limited) {
  uint64_t hash = (uint64_t) cost * 0xff51afd7ed558ccdu + (uint64_t) leaves * 0x9e3779b97f4a7c15u;
  for (int32_t i = 0; i < limited; i++)
    hash = ((hash ^ hash >> 29) + (uint64_t) sums[i]) * 0xff51afd7ed558ccdu;
  return hash ^ hash >> 32;
}

/* A used entry has a positive `leaves`: one more than the number of leaves. */
static int add_to_table (treeml_sets *sets, int64_t cost, int32_t leaves, const int64_t *sums, tally trees) {
  const int32_t limited = sets->input.limited;
  const uint64_t mask = (uint64_t) sets->table_room - 1;
  uint64_t place = hash_of (cost, leaves, sums, limited) & mask;
  struct bin *table = sets->table;
  const size_t size = (size_t) limited * sizeof *sums;
  while (table[place].leaves && (table[place].cost != cost || table[place].leaves != leaves + 1 ||
                                 (limited && memcmp (sets->table_sums + (int64_t) place * limited, sums, size))))
    place = (place + 1) & mask;
  struct bin *bin = &table[place];
  if (bin->leaves) {
    bin->trees += trees;
    return bin->trees < MOST_TREES ? 1 : sets_fail (sets, TREEML_SETS_OVERFLOW);
  }
  *bin = (struct bin) {cost, trees, leaves + 1};
  if (limited)
    memcpy (sets->table_sums + (int64_t) place * limited, sums, size);
  sets->places[sets->table_used] = (int64_t) place;
  return ++sets->table_used * 2 < sets->table_room ? 1 : widen_table (sets);
}

static int begin (treeml_sets *sets, struct sum *sum, int64_t base, int64_t range) {
  *sum = (struct sum) {base, range, !sets->input.leaves && !sets->input.limited && range < dense_values};
  sets->table_used = 0;
  if (!sum->dense) {
    return sets->table ? 1 : make_table (sets, first_table);
  }
  if (range < sets->dense_room)
    return 1;
  int64_t room = sets->dense_room ? sets->dense_room : 1024;
  while (room <= range)
    room *= 2;
  arena_release (sets->arena, sets->dense);
  arena_release (sets->arena, sets->touched);
  sets->dense_room = 0;
  sets->dense = arena_allocate (sets->arena, (size_t) room, sizeof *sets->dense);
  sets->touched = arena_allocate (sets->arena, (size_t) room / 64, sizeof *sets->touched);
  if (!sets->dense || !sets->touched)
    return sets_fail (sets, TREEML_SETS_MEMORY);
  sets->dense_room = room;
  return 1;
}

static int add (treeml_sets *sets, const struct sum *sum, int64_t cost, int32_t leaves, tally trees) {
  if (!sum->dense)
    return add_to_table (sets, cost, leaves, NULL, trees);
  const int64_t place = cost - sum->base;
  sets->dense[place] += trees;
  sets->touched[place / 64] |= (uint64_t) 1 << (place & 63);
  return sets->dense[place] < MOST_TREES ? 1 : sets_fail (sets, TREEML_SETS_OVERFLOW);
}

static int is_small (const struct bin *bins, int32_t size) {
  for (int32_t i = 0; i < size; i++)
    if (bins[i].trees >> 62)
      return 0;
  return 1;
}

/* Adds the trees of one split. */
static int add_split (treeml_sets *sets, const struct histograms *all, const struct sum *sum, const struct arc *arc,
                      int64_t budget) {
  const struct bin *yes = all->bins + all->first[arc->yes], *no = all->bins + all->first[arc->no];
  const int32_t yes_size = all->size[arc->yes], no_size = all->size[arc->no];
  const int64_t most_leaves = sets->input.leaves;
  const int fast = sum->dense && is_small (yes, yes_size) && is_small (no, no_size);
  for (int32_t i = 0; i < yes_size; i++) {
    const int64_t rest = budget - arc->cost - yes[i].cost;
    if (!no_size || no[0].cost > rest)
      break;
    if (!sets_go_on (sets, no_size))
      return 0;
    if (fast) {
      tally *dense = sets->dense + (arc->cost + yes[i].cost - sum->base);
      const int64_t shift = dense - sets->dense;
      const uint64_t factor = (uint64_t) yes[i].trees;
      tally over = 0;
      for (int32_t j = 0; j < no_size && no[j].cost <= rest; j++) {
        const int64_t place = shift + no[j].cost;
        sets->touched[place / 64] |= (uint64_t) 1 << (place & 63);
        over |= dense[no[j].cost] += (tally) factor * (uint64_t) no[j].trees;
      }
      if (over >= MOST_TREES)
        return sets_fail (sets, TREEML_SETS_OVERFLOW);
      continue;
    }
    for (int32_t j = 0; j < no_size && no[j].cost <= rest; j++) {
      const int64_t leaves = (int64_t) yes[i].leaves + no[j].leaves;
      if (most_leaves && leaves > most_leaves)
        continue;
      const tally trees = product (sets, yes[i].trees, no[j].trees);
      if (!trees || !add (sets, sum, arc->cost + yes[i].cost + no[j].cost, (int32_t) leaves, trees))
        return 0;
    }
  }
  return 1;
}

/* Adds the trees of one split that are within the budget and useful, if sums are limited. */
static int add_limited (treeml_sets *sets, const struct histograms *all, int32_t state, const struct arc *arc) {
  const int32_t limited = sets->input.limited;
  const int64_t yes = all->first[arc->yes], no = all->first[arc->no], budget = sets->states[state].budget - arc->cost;
  const int64_t yes_end = yes + all->size[arc->yes], no_end = no + all->size[arc->no];
  int64_t *sums = sets->sums_here;
  for (int64_t i = yes; i < yes_end; i++) {
    const struct bin *one = &all->bins[i];
    const int64_t rest = budget - one->cost;
    if (!sets_go_on (sets, (no_end - no) * (1 + sets->input.guides)))
      return 0;
    for (int64_t j = no; j < no_end && all->bins[j].cost <= rest; j++) {
      const struct bin *other = &all->bins[j];
      const int64_t leaves = (int64_t) one->leaves + other->leaves, cost = arc->cost + one->cost + other->cost;
      if (sets->input.leaves && leaves > sets->input.leaves)
        continue;
      for (int32_t k = 0; k < limited; k++)
        sums[k] = all->sums[i * limited + k] + all->sums[j * limited + k];
      if (!sets_is_useful (sets, state, cost, sums))
        continue;
      const tally trees = product (sets, one->trees, other->trees);
      if (!trees || !add_to_table (sets, cost, (int32_t) leaves, sums, trees))
        return 0;
    }
  }
  return 1;
}

/* Adds a leaf of every class; or takes out the splits into two leaves of a class that one leaf may predict. */
static int add_labels (treeml_sets *sets, int32_t state, const struct arc *arc) {
  const int32_t limited = sets->input.limited, leaves = arc ? 2 : 1;
  if (sets->input.leaves && leaves > sets->input.leaves)
    return 1;
  for (int32_t label = 0; label < sets->input.width; label++) {
    const int64_t *one = sets_label (sets, arc ? arc->yes : state, label);
    const int64_t *other = arc ? sets_label (sets, arc->no, label) : NULL;
    if (one[0] >= NO_TREE || (other && (other[0] >= NO_TREE || sets_label (sets, state, label)[0] >= NO_TREE)))
      continue;
    const int64_t cost = one[0] + (arc ? other[0] + arc->cost : 0);
    for (int32_t k = 0; k < limited; k++)
      sets->sums_here[k] = one[1 + k] + (arc ? other[1 + k] : 0);
    if (cost <= sets->states[state].budget && sets_is_useful (sets, state, cost, sets->sums_here) &&
        !add_to_table (sets, cost, sets->input.leaves ? leaves : 0, sets->sums_here, arc ? (tally) 0 - 1 : 1))
      return 0;
  }
  return 1;
}

/* A bin on its way from the table to the histogram. */
struct entry {
  const struct bin *bin;
  const int64_t *sums;
  int32_t limited;
};

static int compare_sums (const int64_t *left, const int64_t *right, int32_t limited) {
  for (int32_t i = 0; i < limited; i++)
    if (left[i] != right[i])
      return left[i] < right[i] ? -1 : 1;
  return 0;
}

static int by_cost (const void *a, const void *b) {
  const struct entry *left = a, *right = b;
  const struct bin *one = left->bin, *other = right->bin;
  if (one->cost != other->cost)
    return one->cost < other->cost ? -1 : 1;
  if (one->leaves != other->leaves)
    return one->leaves < other->leaves ? -1 : 1;
  return compare_sums (left->sums, right->sums, left->limited);
}

static int push (treeml_sets *sets, struct histograms *all, int64_t cost, int32_t leaves, const int64_t *more,
                 tally trees) {
  const size_t size = (size_t) sets->input.limited * sizeof *more;
  void *bins = all->bins, *sums = all->sums;
  int ok = sets_grow (sets, &bins, &all->room, all->used + 1, sizeof *all->bins);
  all->bins = bins;
  if (size) {
    ok = sets_grow (sets, &sums, &all->sum_room, all->used + 1, size) && ok;
    all->sums = sums;
  }
  if (!ok)
    return 0;
  if (size)
    memcpy (all->sums + all->used * sets->input.limited, more, size);
  all->bins[all->used++] = (struct bin) {cost, trees, leaves};
  return 1;
}

/* Moves the hash table to the end of the bins, in order, and clears it. */
static int empty_table (treeml_sets *sets, struct histograms *all) {
  struct entry *entries = arena_reserve (sets->arena, (size_t) sets->table_used, sizeof *entries);
  const int32_t limited = sets->input.limited;
  size_t used = 0;
  int ok = entries ? 1 : sets_fail (sets, TREEML_SETS_MEMORY);
  for (int64_t i = 0; i < sets->table_used && ok; i++) {
    const int64_t place = sets->places[i];
    if (sets->table[place].trees)
      entries[used++] = (struct entry) {&sets->table[place], sets->table_sums + place * limited, limited};
  }
  if (ok)
    qsort (entries, used, sizeof *entries, by_cost);
  for (size_t i = 0; i < used && ok; i++) {
    const struct bin *bin = entries[i].bin;
    ok = push (sets, all, bin->cost, bin->leaves - 1, entries[i].sums, bin->trees);
  }
  for (int64_t i = 0; sets->table && i < sets->table_used; i++)
    memset (&sets->table[sets->places[i]], 0, sizeof *sets->table);
  sets->table_used = 0;
  arena_release (sets->arena, entries);
  return ok;
}

/* Moves the added trees to the end of the bins, in order, and clears what added them up. */
static int finish (treeml_sets *sets, struct histograms *all, const struct sum *sum, int32_t state) {
  int ok = 1;
  all->first[state] = all->used;
  if (sum->dense)
    for (int64_t word = 0; word <= sum->range / 64; word++) {
      for (uint64_t rest = sets->touched[word]; rest; rest &= rest - 1) {
        const int64_t place = 64 * word + lowest_bit (rest);
        if (sets->dense[place])
          ok = ok && push (sets, all, sum->base + place, 0, NULL, sets->dense[place]);
        sets->dense[place] = 0;
      }
      sets->touched[word] = 0;
    }
  else
    ok = empty_table (sets, all);
  if (all->used - all->first[state] > INT32_MAX)
    return sets_fail (sets, TREEML_SETS_MEMORY);
  all->size[state] = (int32_t) (all->used - all->first[state]);
  return ok && sets_go_on (sets, all->size[state] + 16);
}

/* Takes out the splits into two leaves that are one leaf. */
static int take_out (treeml_sets *sets, const struct sum *sum, const struct arc *arc, int64_t budget) {
  const struct state *yes = &sets->states[arc->yes], *no = &sets->states[arc->no];
  const int64_t cost = arc->cost + yes->leaf + no->leaf;
  if (!arc->alike || cost > budget || (sets->input.leaves && sets->input.leaves < 2))
    return 1;
  if (!sum->dense)
    return add_to_table (sets, cost, sets->input.leaves ? 2 : 0, NULL, (tally) 0 - 1);
  sets->dense[cost - sum->base]--;
  return 1;
}

static int count_limited (treeml_sets *sets, struct histograms *all, int32_t state, int32_t without) {
  const struct state *at = &sets->states[state];
  struct sum sum;
  if (!begin (sets, &sum, at->bound, at->budget - at->bound))
    return 0;
  int ok = add_labels (sets, state, NULL);
  for (int32_t i = 0; i < at->arcs && ok; i++) {
    const struct arc *arc = &sets->arcs[at->first_arc + i];
    if (without < 0 || sets->input.column[arc->test] != without)
      ok = add_limited (sets, all, state, arc) && add_labels (sets, state, arc);
  }
  return finish (sets, all, &sum, state) && ok;
}

static int count_state (treeml_sets *sets, struct histograms *all, int32_t state, int32_t without) {
  const struct state *at = &sets->states[state];
  const int32_t leaves = sets->input.leaves ? 1 : 0;
  struct sum sum;
  if (sets->input.limited)
    return count_limited (sets, all, state, without);
  if (!at->arcs) {
    all->first[state] = all->used;
    const int has_leaf = at->leaf <= at->budget;
    all->size[state] = has_leaf;
    return !has_leaf || push (sets, all, at->leaf, leaves, NULL, 1);
  }
  if (!begin (sets, &sum, at->bound, at->budget - at->bound))
    return 0;
  int ok = at->leaf > at->budget || add (sets, &sum, at->leaf, leaves, 1);
  for (int32_t i = 0; i < at->arcs && ok; i++) {
    const struct arc *arc = &sets->arcs[at->first_arc + i];
    if (without < 0 || sets->input.column[arc->test] != without)
      ok = add_split (sets, all, &sum, arc, at->budget) && take_out (sets, &sum, arc, at->budget);
  }
  return finish (sets, all, &sum, state) && ok;
}

/* Counts the trees of all wanted states, those of smaller depth first; `without`: no splits on this column. */
int sets_count (treeml_sets *sets, struct histograms *all, int32_t without) {
  all->first = arena_allocate (sets->arena, (size_t) sets->used, sizeof *all->first);
  all->size = arena_allocate (sets->arena, (size_t) sets->used, sizeof *all->size);
  if (!all->first || !all->size)
    return sets_fail (sets, TREEML_SETS_MEMORY);
  for (int32_t depth = 0; depth <= sets->states[0].depth; depth++)
    for (int32_t state = sets->heads[depth]; state >= 0; state = sets->states[state].next)
      if (!count_state (sets, all, state, without))
        return 0;
  return 1;
}

/* The bin of a state with this cost, these leaves and these limited sums, or -1. */
int64_t sets_find (const treeml_sets *sets, int32_t state, int64_t cost, int32_t leaves, const int64_t *sums) {
  const struct histograms *all = &sets->counted;
  const int32_t limited = sets->input.limited;
  int64_t low = all->first[state], high = low + all->size[state] - 1;
  while (low <= high) {
    const int64_t middle = low + (high - low) / 2;
    const struct bin *bin = &all->bins[middle];
    int order = bin->cost != cost ? (bin->cost < cost ? -1 : 1) : (bin->leaves > leaves) - (bin->leaves < leaves);
    if (!order && limited)
      order = compare_sums (all->sums + middle * limited, sums, limited);
    if (!order)
      return middle;
    if (order < 0)
      low = middle + 1;
    else
      high = middle - 1;
  }
  return -1;
}

int64_t treeml_sets_values (const treeml_sets *sets) { return sets->built ? sets->counted.size[0] : 0; }

int treeml_sets_histogram (const treeml_sets *sets, int64_t *cost, int32_t *leaves, uint64_t *trees) {
  const int64_t size = treeml_sets_values (sets);
  for (int64_t i = 0; i < size; i++) {
    const struct bin *bin = &sets->counted.bins[sets->counted.first[0] + i];
    cost[i] = bin->cost;
    leaves[i] = bin->leaves;
    trees[2 * i] = (uint64_t) bin->trees;
    trees[2 * i + 1] = (uint64_t) (bin->trees >> 64);
  }
  return TREEML_SETS_OK;
}

int treeml_sets_without (treeml_sets *sets, int32_t column, double seconds, uint64_t *trees) {
  sets_until (sets, seconds);
  if (!sets->built || column < 0)
    return TREEML_SETS_INPUT;
  struct histograms all = {0};
  tally total = 0;
  if (sets_count (sets, &all, column))
    for (int32_t i = 0; i < all.size[0] && sets->code == TREEML_SETS_OK; i++) {
      total += all.bins[all.first[0] + i].trees;
      if (total >= MOST_TREES)
        sets_fail (sets, TREEML_SETS_OVERFLOW);
    }
  sets_release_histograms (sets, &all);
  trees[0] = (uint64_t) total;
  trees[1] = (uint64_t) (total >> 64);
  return sets->code;
}
