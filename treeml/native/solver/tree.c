/* Flat trees, and the check of every answer against the data as given: no value is reported that was not recomputed
   here. */
#include "solver/solver.h"

#include <string.h>

int tree_reserve (struct arena *arena, struct tree *tree, int64_t nodes) {
  if (nodes <= tree->room)
    return 0;
  int64_t room = tree->room ? tree->room : 16;
  while (room < nodes)
    room *= 2;
  int32_t *block = arena_allocate (arena, 4 * (size_t) room, sizeof *block);
  if (!block)
    return 1;
  int32_t **fields[] = {&tree->test, &tree->yes, &tree->no, &tree->label};
  for (int i = 0; i < 4; i++)
    if (tree->nodes)
      memcpy (block + i * room, *fields[i], (size_t) tree->nodes * sizeof *block);
  arena_release (arena, tree->test);
  for (int i = 0; i < 4; i++)
    *fields[i] = block + i * room;
  tree->room = room;
  return 0;
}

void tree_release (struct arena *arena, struct tree *tree) {
  arena_release (arena, tree->test);
  memset (tree, 0, sizeof *tree);
}

int64_t tree_add (struct arena *arena, struct tree *tree, int32_t test, int32_t label) {
  if (tree_reserve (arena, tree, tree->nodes + 1))
    return -1;
  const int64_t node = tree->nodes++;
  tree->test[node] = test;
  tree->yes[node] = tree->no[node] = -1;
  tree->label[node] = label;
  return node;
}

int tree_copy (struct arena *arena, struct tree *to, const struct tree *from) {
  to->nodes = 0;
  if (tree_reserve (arena, to, from->nodes ? from->nodes : 1))
    return 1;
  to->nodes = from->nodes;
  if (from->nodes) {
    const size_t bytes = (size_t) from->nodes * sizeof (int32_t);
    memcpy (to->test, from->test, bytes);
    memcpy (to->yes, from->yes, bytes);
    memcpy (to->no, from->no, bytes);
    memcpy (to->label, from->label, bytes);
  }
  return 0;
}

static int64_t height_below (const struct tree *tree, int64_t node) {
  if (tree->test[node] < 0)
    return 0;
  const int64_t yes = height_below (tree, tree->yes[node]), no = height_below (tree, tree->no[node]);
  return 1 + (yes > no ? yes : no);
}

int64_t tree_height (const struct tree *tree) { return tree->nodes ? height_below (tree, 0) : 0; }

/* The tests on the path to a node. */
struct step {
  int32_t test;
  const struct step *above;
};

static int allowed_below (const treeml_solver *solver, const struct tree *tree, int64_t node,
                          const struct step *above) {
  const int32_t test = tree->test[node];
  if (test < 0)
    return 1;
  if (solver->forbidden && solver->forbidden[test])
    return 0;
  for (const struct step *step = above; step && solver->options.once; step = step->above)
    if (solver->column_of ? solver->column_of[step->test] == solver->column_of[test] : step->test == test)
      return 0;
  const struct step here = {test, above};
  return allowed_below (solver, tree, tree->yes[node], &here) && allowed_below (solver, tree, tree->no[node], &here);
}

int tree_allowed (const treeml_solver *solver, const struct tree *tree) {
  return allowed_below (solver, tree, 0, NULL);
}

int tree_keeps_limits (const treeml_solver *solver, const struct tree *tree) {
  int64_t leaves = 0;
  for (int64_t node = 0; node < tree->nodes; node++)
    leaves += tree->test[node] < 0;
  return leaves <= solver->options.leaves && tree_height (tree) <= solver->options.depth && tree_allowed (solver, tree);
}

struct finish {
  treeml_solver *solver;
  struct leaf_state *leaf;
  const struct tree *from;
  struct tree *to;
  uint64_t *rows; /* one set for each level */
  int32_t *paid;  /* columns tested on the path */
  int64_t levels;
  int32_t level;
  int failed;
};

static int64_t path_cost (struct finish *finish, int32_t test, const uint64_t *rows) {
  treeml_solver *solver = finish->solver;
  const int64_t price = solver->column_cost ? solver_column_price (solver, finish->paid, solver->column_of[test]) : 0;
  if (!price)
    return 0;
  int64_t count = 0;
  for (int64_t row = 0; row < solver->rows; row++)
    if (rows[row >> 6] >> (row & 63) & 1)
      count += solver->count ? solver->count[row] : 1;
  return count * price;
}

static int64_t leaf_here (struct finish *finish, const uint64_t *rows) {
  treeml_solver *solver = finish->solver;
  int64_t costs[1024]; /* the largest number of quantile levels */
  leaf_costs (finish->leaf, rows, costs);
  if (tree_add (&solver->arena, finish->to, -1, leaf_label (finish->leaf, rows, finish->level)) < 0)
    finish->failed = 1;
  return costs[finish->level];
}

static int64_t finish_node (struct finish *finish, int64_t node, int64_t level) {
  treeml_solver *solver = finish->solver;
  const int64_t words = solver->words;
  uint64_t *rows = finish->rows + level * words;
  const int32_t test = finish->from->test[node];
  if (finish->failed)
    return UNREACHABLE;
  if (test < 0)
    return leaf_here (finish, rows);
  const uint64_t *column = solver->columns + test * words;
  uint64_t *below = rows + words, any[2] = {0, 0};
  for (int64_t w = 0; w < words; w++) {
    any[0] |= rows[w] & ~column[w];
    any[1] |= rows[w] & column[w];
  }
  if (!any[0] || !any[1]) { /* all rows go one way, so the test is of no use here */
    memcpy (below, rows, (size_t) words * sizeof *rows);
    return finish_node (finish, any[1] ? finish->from->yes[node] : finish->from->no[node], level + 1);
  }
  int64_t value = path_cost (finish, test, rows);
  const int pays = solver->column_cost && !finish->paid[solver->column_of[test]];
  if (pays)
    finish->paid[solver->column_of[test]] = 1;
  const int64_t made = tree_add (&solver->arena, finish->to, test, -1);
  if (made < 0) {
    finish->failed = 1;
    return UNREACHABLE;
  }
  int64_t child[2];
  for (int side = 1; side >= 0; side--) {
    for (int64_t w = 0; w < words; w++)
      below[w] = rows[w] & (side ? column[w] : ~column[w]);
    const int64_t at = finish->to->nodes;
    child[side] = finish_node (finish, side ? finish->from->yes[node] : finish->from->no[node], level + 1);
    if (finish->failed)
      return UNREACHABLE;
    (side ? finish->to->yes : finish->to->no)[made] = (int32_t) at;
    value = child[side] >= UNREACHABLE || value >= UNREACHABLE ? UNREACHABLE : value + child[side];
  }
  if (pays)
    finish->paid[solver->column_of[test]] = 0;
  /* Two leaves with the same label become one, if a single leaf is allowed there. */
  struct tree *to = finish->to;
  const int32_t yes = to->yes[made], no = to->no[made];
  if (solver->goal == goal_classes && to->test[yes] < 0 && to->test[no] < 0 && to->label[yes] == to->label[no]) {
    int64_t costs[1];
    leaf_costs (finish->leaf, rows, costs);
    if (costs[0] <= value) {
      to->nodes = made + 1;
      to->test[made] = -1;
      to->yes[made] = to->no[made] = -1;
      to->label[made] = leaf_label (finish->leaf, rows, finish->level);
      return costs[0];
    }
  }
  return value;
}

int64_t tree_finish (treeml_solver *solver, struct leaf_state *leaf, struct tree *tree, int32_t level) {
  struct arena *arena = &solver->arena;
  struct tree to = {0};
  struct finish finish = {solver, leaf, tree, &to, NULL, NULL, 0, level, 0};
  finish.levels = tree_height (tree) + 1;
  finish.rows = arena_allocate (arena, (size_t) (finish.levels * solver->words), sizeof *finish.rows);
  if (solver->column_cost)
    finish.paid = arena_allocate (arena, (size_t) solver->column_count, sizeof *finish.paid);
  int64_t value = UNREACHABLE;
  if (finish.rows && (!solver->column_cost || finish.paid)) {
    for (int64_t row = 0; row < solver->rows; row++)
      finish.rows[row >> 6] |= (uint64_t) 1 << (row & 63);
    value = finish_node (&finish, 0, 0);
  }
  arena_release (arena, finish.rows);
  arena_release (arena, finish.paid);
  if (finish.failed || value >= UNREACHABLE)
    tree_release (arena, &to);
  else {
    tree_release (arena, tree);
    *tree = to;
  }
  return finish.failed ? UNREACHABLE : value;
}
