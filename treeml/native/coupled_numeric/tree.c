/* Trees: nodes that lists refer to, flat trees, and the exact check of every tree that is offered. */
#include "coupled_numeric/solver.h"

#include <string.h>

int64_t threshold_split_add (threshold_solver *solver, int32_t column, int32_t cut, int32_t yes, int32_t no) {
  if (solver->splits == solver->split_room) {
    if (solver->split_room > INT32_MAX / 2)
      return -1;
    const int64_t room = solver->split_room ? 2 * solver->split_room : 1024;
    struct threshold_split *grown = arena_reserve (&solver->arena, (size_t) room, sizeof *grown);
    if (!grown)
      return -1;
    if (solver->splits)
      memcpy (grown, solver->split, (size_t) solver->splits * sizeof *grown);
    arena_release (&solver->arena, solver->split);
    solver->split = grown;
    solver->split_room = room;
  }
  solver->split[solver->splits] = (struct threshold_split) {column, cut, yes, no};
  return solver->splits++;
}

void threshold_tree_release (struct arena *arena, struct threshold_tree *tree) {
  arena_release (arena, tree->column);
  memset (tree, 0, sizeof *tree);
}

/* The five arrays of a tree lie in one block, which starts with `column`. */
int64_t threshold_tree_add (struct arena *arena, struct threshold_tree *tree, int32_t column, int32_t cut,
                            int32_t label) {
  if (tree->nodes == tree->room) {
    const int64_t room = tree->room ? 2 * tree->room : 16;
    int32_t *block = arena_allocate (arena, times (5, (size_t) room), sizeof *block);
    if (!block)
      return -1;
    int32_t **const arrays[5] = {&tree->column, &tree->cut, &tree->yes, &tree->no, &tree->label};
    void *old = tree->column;
    for (int i = 0; i < 5; i++) {
      if (tree->nodes)
        memcpy (block + i * room, *arrays[i], (size_t) tree->nodes * sizeof *block);
      *arrays[i] = block + i * room;
    }
    arena_release (arena, old);
    tree->room = room;
  }
  const int64_t node = tree->nodes++;
  tree->column[node] = column;
  tree->cut[node] = cut;
  tree->yes[node] = tree->no[node] = -1;
  tree->label[node] = label;
  return node;
}

/* Copies a tree of splits to given columns and codes. */
static int64_t flatten (threshold_solver *solver, int64_t node, struct threshold_tree *tree) {
  if (node < solver->classes)
    return threshold_tree_add (&solver->arena, tree, -1, 0, (int32_t) node);
  const struct threshold_split split = solver->split[node];
  const int32_t code = solver->code_of[split.column * solver->rows + split.cut];
  const int64_t at = threshold_tree_add (&solver->arena, tree, solver->source[split.column], code, -1);
  const int64_t yes = at < 0 ? -1 : flatten (solver, split.yes, tree);
  const int64_t no = yes < 0 ? -1 : flatten (solver, split.no, tree);
  if (no < 0)
    return -1;
  tree->yes[at] = (int32_t) yes;
  tree->no[at] = (int32_t) no;
  return at;
}

/* The leaf of a row. */
static int64_t leaf_of (const threshold_solver *solver, const struct threshold_tree *tree, int64_t row) {
  int64_t at = 0;
  while (tree->column[at] >= 0)
    at = solver->codes[tree->column[at] * solver->rows + row] <= tree->cut[at] ? tree->yes[at] : tree->no[at];
  return at;
}

static int64_t depth_of (const struct threshold_tree *tree, int64_t node) {
  if (tree->column[node] < 0)
    return 0;
  const int64_t yes = depth_of (tree, tree->yes[node]), no = depth_of (tree, tree->no[node]);
  return 1 + (yes > no ? yes : no);
}

/* Adds up all sums and counts the rows of every leaf; 0 if out of memory. */
static int add_up (threshold_solver *solver, const struct threshold_tree *tree, int64_t *totals, int64_t *smallest) {
  int64_t *count = arena_allocate (&solver->arena, (size_t) tree->nodes, sizeof *count);
  if (!count)
    return 0;
  memset (totals, 0, (size_t) solver->sums * sizeof *totals);
  for (int64_t row = 0; row < solver->rows; row++) {
    const int64_t leaf = leaf_of (solver, tree, row);
    count[leaf] += solver->count ? solver->count[row] : 1;
    for (int32_t j = 0; j < solver->sums; j++)
      totals[j] += solver->values[(j * solver->rows + row) * solver->classes + tree->label[leaf]];
  }
  *smallest = INT64_MAX;
  for (int64_t i = 0; i < tree->nodes; i++)
    if (tree->column[i] < 0 && count[i] < *smallest)
      *smallest = count[i];
  arena_release (&solver->arena, count);
  return 1;
}

int threshold_offer (threshold_solver *solver, struct threshold_tree *tree) {
  int64_t totals[most_sums + 1], smallest, fees[fee_kinds];
  if (!add_up (solver, tree, totals, &smallest))
    return threshold_stop (solver, TREEML_MEMORY), 0;
  const int holds = threshold_conditions_hold (solver, tree, fees);
  if (holds < 0)
    return threshold_stop (solver, TREEML_MEMORY), 0;
  const int64_t leaves = (tree->nodes + 1) / 2;
  int fits = holds && smallest >= solver->options.support && leaves <= solver->options.leaves &&
             depth_of (tree, 0) <= solver->options.depth;
  for (int32_t j = 1; j < solver->sums; j++)
    fits = fits && totals[j] >= solver->low[j] && totals[j] <= solver->high[j];
  const int64_t value = totals[0] - solver->base[0] + leaves * solver->options.leaf_price + fees[0];
  if (!fits || value >= solver->best_value || value >= threshold_relative (solver, solver->options.upper))
    return 0;
  struct threshold_tree old = solver->best;
  solver->best = *tree;
  *tree = old;
  solver->best_value = value;
  memcpy (solver->totals, totals, (size_t) solver->sums * sizeof *totals);
  solver->better = 1;
  solver->statistics.improvements++;
  if (solver->target >= value)
    solver->target = value - 1;
  if (value < threshold_relative (solver, solver->options.enough))
    threshold_stop (solver, TREEML_ENOUGH);
  return 1;
}

int threshold_offer_split (threshold_solver *solver, int64_t node, int64_t expected) {
  struct threshold_tree tree = {0};
  const int64_t root = flatten (solver, node, &tree);
  if (root < 0)
    threshold_stop (solver, TREEML_MEMORY);
  else if ((!threshold_offer (solver, &tree) && !solver->stopping) || solver->best_value != expected) {
    if (!solver->stopping)
      threshold_fail (solver, TREEML_INTERNAL, "a tree does not have the sums that the search computed");
    threshold_stop (solver, TREEML_INTERRUPTED);
  }
  threshold_tree_release (&solver->arena, &tree);
  return !solver->stopping;
}
