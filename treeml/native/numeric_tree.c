/* Flat trees: grown node by node, and recomputed from the rows before anybody sees them. */
#include "numeric_solver.h"

#include <string.h>

static int reserve (struct arena *arena, struct numeric_tree *tree, int64_t nodes) {
  if (nodes <= tree->room)
    return 1;
  int64_t room = tree->room ? 2 * tree->room : 16;
  while (room < nodes)
    room *= 2;
  int32_t **fields[] = {&tree->column, &tree->cut, &tree->yes, &tree->no, &tree->label};
  for (int i = 0; i < 5; i++) {
    int32_t *grown = arena_allocate (arena, (size_t) room, sizeof *grown);
    if (!grown)
      return 0; /* those that have grown are large enough for the old room too */
    if (tree->nodes)
      memcpy (grown, *fields[i], (size_t) tree->nodes * sizeof *grown);
    arena_release (arena, *fields[i]);
    *fields[i] = grown;
  }
  tree->room = room;
  return 1;
}

int64_t numeric_tree_add (struct arena *arena, struct numeric_tree *tree, int32_t column, int32_t cut) {
  if (!reserve (arena, tree, tree->nodes + 1))
    return -1;
  const int64_t node = tree->nodes++;
  tree->column[node] = column;
  tree->cut[node] = cut;
  tree->yes[node] = tree->no[node] = tree->label[node] = -1;
  return node;
}

int64_t numeric_tree_append (struct arena *arena, struct numeric_tree *tree, const struct numeric_tree *other) {
  const int64_t first = tree->nodes;
  if (!reserve (arena, tree, first + other->nodes))
    return -1;
  for (int64_t i = 0; i < other->nodes; i++) {
    const int64_t to = first + i;
    tree->column[to] = other->column[i];
    tree->cut[to] = other->cut[i];
    tree->label[to] = other->label[i];
    tree->yes[to] = other->column[i] < 0 ? -1 : (int32_t) (other->yes[i] + first);
    tree->no[to] = other->column[i] < 0 ? -1 : (int32_t) (other->no[i] + first);
  }
  tree->nodes = first + other->nodes;
  return first;
}

int numeric_tree_copy (struct arena *arena, struct numeric_tree *tree, const struct numeric_tree *other) {
  tree->nodes = 0;
  return numeric_tree_append (arena, tree, other) >= 0;
}

void numeric_tree_release (struct arena *arena, struct numeric_tree *tree) {
  arena_release (arena, tree->column);
  arena_release (arena, tree->cut);
  arena_release (arena, tree->yes);
  arena_release (arena, tree->no);
  arena_release (arena, tree->label);
  memset (tree, 0, sizeof *tree);
}

struct finish {
  treeml_numeric *solver;
  const struct numeric_tree *from;
  struct numeric_tree to;
  int32_t *rows;
  int64_t *sums;
  int64_t value, leaves;
  int broken;
};

static int64_t finish_leaf (struct finish *finish, int64_t first, int64_t last) {
  treeml_numeric *solver = finish->solver;
  memset (finish->sums, 0, (size_t) solver->planes * sizeof *finish->sums);
  int64_t top = 0, count = 0;
  double square = 0;
  for (int64_t i = first; i < last; i++) {
    const int32_t row = finish->rows[i];
    numeric_add (solver, finish->sums, row);
    top += solver->value[solver->planes][row];
    count += solver->count ? solver->count[row] : 1;
    if (solver->goal == numeric_goal_squared)
      square += numeric_square (solver, row);
  }
  const int64_t node = numeric_tree_add (&solver->arena, &finish->to, -1, 0);
  if (node < 0)
    return -1;
  finish->to.label[node] = numeric_label (solver, finish->sums);
  finish->value += numeric_leaf (solver->goal, solver->planes, finish->sums, top, square, solver->unit) + solver->options.leaf_price;
  finish->leaves++;
  finish->broken |= count < solver->options.support;
  return node;
}

static int64_t finish_node (struct finish *finish, int64_t node, int64_t first, int64_t last, int64_t depth) {
  treeml_numeric *solver = finish->solver;
  const struct numeric_tree *from = finish->from;
  if (from->column[node] < 0)
    return finish_leaf (finish, first, last);
  const int32_t *rank = solver->rank[from->column[node]];
  int64_t low = first, high = last;
  while (low < high) {
    if (rank[finish->rows[low]] <= from->cut[node])
      low++;
    else {
      const int32_t row = finish->rows[low];
      finish->rows[low] = finish->rows[--high];
      finish->rows[high] = row;
    }
  }
  if (low == first)
    return finish_node (finish, from->no[node], first, last, depth);
  if (low == last)
    return finish_node (finish, from->yes[node], first, last, depth);
  finish->broken |= depth >= solver->depth;
  const int64_t made = numeric_tree_add (&solver->arena, &finish->to, from->column[node], from->cut[node]);
  if (made < 0)
    return -1;
  const int64_t yes = finish_node (finish, from->yes[node], first, low, depth + 1);
  const int64_t no = yes < 0 ? -1 : finish_node (finish, from->no[node], low, last, depth + 1);
  if (no < 0)
    return -1;
  finish->to.yes[made] = (int32_t) yes;
  finish->to.no[made] = (int32_t) no;
  return made;
}

int64_t numeric_tree_finish (treeml_numeric *solver, struct numeric_tree *tree) {
  struct finish finish = {.solver = solver, .from = tree};
  finish.rows = arena_allocate (&solver->arena, (size_t) solver->rows, sizeof *finish.rows);
  finish.sums = arena_allocate (&solver->arena, (size_t) solver->planes, sizeof *finish.sums);
  int64_t made = -1;
  if (finish.rows && finish.sums && tree->nodes) {
    for (int64_t i = 0; i < solver->rows; i++)
      finish.rows[i] = (int32_t) i;
    made = finish_node (&finish, 0, 0, solver->rows, 0);
  }
  arena_release (&solver->arena, finish.rows);
  arena_release (&solver->arena, finish.sums);
  if (made < 0)
    numeric_stop_search (solver, TREEML_MEMORY);
  if (made < 0 || finish.broken || finish.leaves > solver->leaves) {
    numeric_tree_release (&solver->arena, &finish.to);
    return NUMERIC_NONE;
  }
  numeric_tree_release (&solver->arena, tree);
  *tree = finish.to;
  return finish.value;
}
