/* Histograms: how many trees of every state cost how much, from the histograms of the sides of its splits. */
#include "sets/states.h"

#include <stdlib.h>
#include <string.h>

#define MOST_TREES ((tally) 1 << 126)

enum { dense_values = 1 << 20, first_table = 1 << 12 };

void sets_release_histograms (treeml_sets *sets, struct histograms *all) {
  arena_release (&sets->arena, all->bins);
  arena_release (&sets->arena, all->first);
  arena_release (&sets->arena, all->size);
  memset (all, 0, sizeof *all);
}

/* One histogram while it is added up: an array of all costs from `base` to `base + range`, or a hash table. */
struct sum {
  int64_t base, range;
  int dense;
};

static tally product (treeml_sets *sets, tally a, tally b) {
  tally result;
  if (__builtin_mul_overflow (a, b, &result) || result >= MOST_TREES)
    return (tally) sets_fail (sets, TREEML_SETS_OVERFLOW);
  return result;
}

static int begin (treeml_sets *sets, struct sum *sum, int64_t base, int64_t range) {
  *sum = (struct sum) {base, range, !sets->input.leaves && range < dense_values};
  sets->table_used = 0;
  if (!sum->dense) {
    if (sets->table)
      return 1;
    sets->table = arena_allocate (&sets->arena, first_table, sizeof *sets->table);
    sets->table_room = first_table;
    return sets->table ? 1 : sets_fail (sets, TREEML_SETS_MEMORY);
  }
  if (range < sets->dense_room)
    return 1;
  int64_t room = sets->dense_room ? sets->dense_room : 1024;
  while (room <= range)
    room *= 2;
  arena_release (&sets->arena, sets->dense);
  arena_release (&sets->arena, sets->touched);
  sets->dense_room = 0;
  sets->dense = arena_allocate (&sets->arena, (size_t) room, sizeof *sets->dense);
  sets->touched = arena_allocate (&sets->arena, (size_t) room / 64, sizeof *sets->touched);
  if (!sets->dense || !sets->touched)
    return sets_fail (sets, TREEML_SETS_MEMORY);
  sets->dense_room = room;
  return 1;
}

static int add_to_table (treeml_sets *sets, int64_t cost, int32_t leaves, tally trees);

static int widen_table (treeml_sets *sets) {
  struct bin *old = sets->table;
  const int64_t room = sets->table_room;
  sets->table = arena_allocate (&sets->arena, (size_t) room * 2, sizeof *sets->table);
  if (!sets->table) {
    sets->table = old;
    memset (old, 0, (size_t) room * sizeof *old);
    return sets_fail (sets, TREEML_SETS_MEMORY);
  }
  sets->table_room = room * 2;
  sets->table_used = 0;
  for (int64_t place = 0; place < room; place++)
    if (old[place].leaves)
      add_to_table (sets, old[place].cost, old[place].leaves - 1, old[place].trees);
  arena_release (&sets->arena, old);
  return 1;
}

/* A used entry has a positive `leaves`: one more than the number of leaves. */
static int add_to_table (treeml_sets *sets, int64_t cost, int32_t leaves, tally trees) {
  const uint64_t mask = (uint64_t) sets->table_room - 1;
  uint64_t place = ((uint64_t) cost * 0xff51afd7ed558ccdu + (uint64_t) leaves * 0x9e3779b97f4a7c15u);
  place = (place ^ place >> 32) & mask;
  struct bin *table = sets->table;
  while (table[place].leaves && (table[place].cost != cost || table[place].leaves != leaves + 1))
    place = (place + 1) & mask;
  struct bin *bin = &table[place];
  if (bin->leaves) {
    bin->trees += trees;
    return bin->trees < MOST_TREES ? 1 : sets_fail (sets, TREEML_SETS_OVERFLOW);
  }
  *bin = (struct bin) {cost, trees, leaves + 1};
  return ++sets->table_used * 2 < sets->table_room ? 1 : widen_table (sets);
}

static int add (treeml_sets *sets, const struct sum *sum, int64_t cost, int32_t leaves, tally trees) {
  if (!sum->dense)
    return add_to_table (sets, cost, leaves, trees);
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

static int by_cost (const void *a, const void *b) {
  const struct bin *left = a, *right = b;
  if (left->cost != right->cost)
    return left->cost < right->cost ? -1 : 1;
  return (left->leaves > right->leaves) - (left->leaves < right->leaves);
}

static int push (treeml_sets *sets, struct histograms *all, int64_t cost, int32_t leaves, tally trees) {
  void *bins = all->bins;
  const int ok = sets_grow (sets, &bins, &all->room, all->used + 1, sizeof *all->bins);
  all->bins = bins;
  if (ok)
    all->bins[all->used++] = (struct bin) {cost, trees, leaves};
  return ok;
}

/* Moves the added trees to the end of the bins, in order, and clears what added them up. */
static int finish (treeml_sets *sets, struct histograms *all, const struct sum *sum, int32_t state) {
  int ok = 1;
  all->first[state] = all->used;
  if (sum->dense)
    for (int64_t word = 0; word <= sum->range / 64; word++) {
      for (uint64_t rest = sets->touched[word]; rest; rest &= rest - 1) {
        const int64_t place = 64 * word + __builtin_ctzll (rest);
        if (sets->dense[place])
          ok = ok && push (sets, all, sum->base + place, 0, sets->dense[place]);
        sets->dense[place] = 0;
      }
      sets->touched[word] = 0;
    }
  else {
    for (int64_t place = 0; place < sets->table_room; place++) {
      const struct bin *bin = &sets->table[place];
      if (bin->leaves && bin->trees)
        ok = ok && push (sets, all, bin->cost, bin->leaves - 1, bin->trees);
    }
    memset (sets->table, 0, (size_t) sets->table_room * sizeof *sets->table);
    if (ok)
      qsort (all->bins + all->first[state], (size_t) (all->used - all->first[state]), sizeof *all->bins, by_cost);
  }
  if (all->used - all->first[state] > INT32_MAX)
    return sets_fail (sets, TREEML_SETS_MEMORY);
  all->size[state] = (int32_t) (all->used - all->first[state]);
  return ok && sets_go_on (sets, all->size[state] + 16);
}

/* Takes out the splits into two leaves that predict the same. */
static int take_out (treeml_sets *sets, const struct sum *sum, const struct arc *arc, int64_t budget) {
  const struct state *yes = &sets->states[arc->yes], *no = &sets->states[arc->no];
  const int64_t cost = arc->cost + yes->leaf + no->leaf;
  if (!arc->alike || cost > budget || (sets->input.leaves && sets->input.leaves < 2))
    return 1;
  if (!sum->dense)
    return add_to_table (sets, cost, sets->input.leaves ? 2 : 0, (tally) 0 - 1);
  sets->dense[cost - sum->base]--;
  return 1;
}

static int count_state (treeml_sets *sets, struct histograms *all, int32_t state, int32_t without) {
  const struct state *at = &sets->states[state];
  const int32_t leaves = sets->input.leaves ? 1 : 0;
  struct sum sum;
  if (!at->arcs) {
    all->first[state] = all->used;
    const int has_leaf = at->leaf <= at->budget;
    all->size[state] = has_leaf;
    return !has_leaf || push (sets, all, at->leaf, leaves, 1);
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
  all->first = arena_allocate (&sets->arena, (size_t) sets->used, sizeof *all->first);
  all->size = arena_allocate (&sets->arena, (size_t) sets->used, sizeof *all->size);
  if (!all->first || !all->size)
    return sets_fail (sets, TREEML_SETS_MEMORY);
  for (int32_t depth = 0; depth <= sets->states[0].depth; depth++)
    for (int32_t state = sets->heads[depth]; state >= 0; state = sets->states[state].next)
      if (!count_state (sets, all, state, without))
        return 0;
  return 1;
}

/* The bin of a state with this cost and these leaves, or -1. */
int64_t sets_find (const struct histograms *all, int32_t state, int64_t cost, int32_t leaves) {
  int64_t low = all->first[state], high = low + all->size[state] - 1;
  while (low <= high) {
    const int64_t middle = low + (high - low) / 2;
    const struct bin *bin = &all->bins[middle];
    if (bin->cost == cost && bin->leaves == leaves)
      return middle;
    if (bin->cost < cost || (bin->cost == cost && bin->leaves < leaves))
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
