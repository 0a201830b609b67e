/* Flat trees: built node by node, and recomputed from the rows before anybody sees them. */
#include "numeric/solver.h"

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
      return 0; /* arrays that have grown are large enough for the old size too */
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

/* Totals over the rows of every node: for a split only their number and count, for a leaf everything. */
struct finish {
  treeml_numeric *solver;
  const struct numeric_tree *from;
  struct numeric_tree to;
  int64_t *rows, *count, *top, *sums;
  int32_t *leaf; /* quantile loss: the leaf of every row */
  double *square;
  int64_t value, leaves;
  int broken;
};

static int64_t finish_leaf (struct finish *finish, int64_t leaf) {
  treeml_numeric *solver = finish->solver;
  const int64_t *sums = finish->sums + leaf * solver->planes;
  const int64_t node = numeric_tree_add (&solver->arena, &finish->to, -1, 0);
  if (node < 0)
    return -1;
  finish->to.label[node] = numeric_label (solver, sums);
  if (solver->goal != numeric_goal_quantile)
    finish->value +=
        numeric_leaf (solver->goal, solver->planes, sums, finish->top[leaf], finish->square[leaf], solver->unit);
  finish->value += solver->options.leaf_price;
  finish->leaves++;
  finish->broken |= finish->count[leaf] < solver->options.support;
  return node;
}

static int64_t finish_node (struct finish *finish, int64_t node, int64_t depth, const struct numeric_path *path) {
  treeml_numeric *solver = finish->solver;
  const struct numeric_tree *from = finish->from;
  if (from->column[node] < 0)
    return finish_leaf (finish, node);
  if (!finish->rows[from->yes[node]])
    return finish_node (finish, from->no[node], depth, path);
  if (!finish->rows[from->no[node]])
    return finish_node (finish, from->yes[node], depth, path);
  finish->broken |= depth >= solver->depth;
  const int64_t made = numeric_tree_add (&solver->arena, &finish->to, from->column[node], from->cut[node]);
  if (made < 0)
    return -1;
  finish->value += numeric_fee (solver, path, from->column[node]) * finish->count[node];
  const struct numeric_path below = numeric_path_add (solver, path, from->column[node]);
  const int64_t yes = finish_node (finish, from->yes[node], depth + 1, &below);
  const int64_t no = yes < 0 ? -1 : finish_node (finish, from->no[node], depth + 1, &below);
  if (no < 0)
    return -1;
  finish->to.yes[made] = (int32_t) yes;
  finish->to.no[made] = (int32_t) no;
  return made;
}

/* Sends row after row down the tree. */
static void count_rows (struct finish *finish) {
  treeml_numeric *solver = finish->solver;
  const struct numeric_tree *tree = finish->from;
  for (int32_t row = 0; row < solver->rows; row++) {
    int32_t node = 0;
    while (tree->column[node] >= 0)
      node = solver->rank[tree->column[node]][row] <= tree->cut[node] ? tree->yes[node] : tree->no[node];
    finish->rows[node]++;
    if (finish->leaf)
      finish->leaf[row] = node;
    numeric_add (solver, finish->sums + (int64_t) node * solver->planes, row);
    finish->top[node] += solver->value[solver->planes][row];
    finish->count[node] += solver->count ? solver->count[row] : 1;
    if (solver->goal == numeric_goal_squared)
      finish->square[node] += numeric_square (solver, row);
  }
  /* Children come after their parents. */
  for (int64_t node = tree->nodes - 1; node >= 0; node--)
    if (tree->column[node] >= 0) {
      finish->rows[node] = finish->rows[tree->yes[node]] + finish->rows[tree->no[node]];
      finish->count[node] = finish->count[tree->yes[node]] + finish->count[tree->no[node]];
    }
}

/* A quantile loss follows from the places of all rows of a leaf and not from sums over them. Returns 0 if out of
   memory. */
static int add_quantile_loss (struct finish *finish) {
  if (!finish->leaf)
    return 1;
  const int64_t loss = numeric_quantile_value (finish->solver, finish->leaf, finish->from->nodes);
  finish->value += loss;
  return loss >= 0;
}

int64_t numeric_tree_finish (treeml_numeric *solver, struct numeric_tree *tree) {
  struct finish finish = {.solver = solver, .from = tree};
  const size_t nodes = (size_t) tree->nodes, fields = 4 + (size_t) solver->planes;
  int64_t *room = arena_allocate (&solver->arena, nodes * fields + 1, sizeof *room), made = -1;
  const int quantile = solver->goal == numeric_goal_quantile;
  if (quantile)
    finish.leaf = arena_reserve (&solver->arena, (size_t) solver->rows, sizeof *finish.leaf);
  if (room && nodes && (finish.leaf || !quantile)) {
    finish.rows = room;
    finish.count = room + nodes;
    finish.top = room + 2 * nodes;
    finish.square = (double *) (room + 3 * nodes);
    finish.sums = room + 4 * nodes;
    count_rows (&finish);
    made = add_quantile_loss (&finish) ? finish_node (&finish, 0, 0, NULL) : -1;
  }
  arena_release (&solver->arena, finish.leaf);
  arena_release (&solver->arena, room);
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
