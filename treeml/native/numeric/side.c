/* One side of a cut: its best tree below a budget, or a bound.

   Sides of depth two are solved without copying their rows. If leaves have a price, deeper sides begin like that, too:
   a deeper tree has four leaves or more, so if their prices alone reach the budget, or the cost of the tree of depth
   two, nothing deeper can help. */
#include "numeric/node.h"

static int64_t least (int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t greatest (int64_t a, int64_t b) { return a > b ? a : b; }

static int32_t cut_position (const struct numeric_node *node, int32_t f, int64_t cut) {
  int64_t low = 0, high = node->set->rows; /* the first row beyond the cut */
  while (low < high) {
    const int64_t half = low + (high - low) / 2;
    if (node->solver->rank[f][node->set->order[f][half]] <= cut)
      low = half + 1;
    else
      high = half;
  }
  return (int32_t) low;
}

static void find_near (struct numeric_node *node, int32_t f, int32_t position, int s, struct numeric_warm *warm) {
  *warm = (struct numeric_warm) {0};
  if (!node->near)
    return;
  numeric_node_lock (node);
  numeric_neighbours_find (node->near[2 * f + s], position, warm->from);
  numeric_node_unlock (node);
  for (int i = 0; i < 2; i++)
    if (warm->from[i] && (warm->from[i]->position > position) != s) {
      const int64_t here = numeric_worth (node->set, f, position);
      const int64_t there = numeric_worth (node->set, f, warm->from[i]->position);
      warm->loss[i] = here > there ? here - there : there - here;
    }
}

static void keep_near (struct numeric_node *node, int32_t f, int32_t position, int s, struct numeric_warm *warm) {
  if (!node->near)
    return;
  numeric_node_lock (node);
  for (int i = 0; i < 2; i++)
    if (warm->from[i])
      warm->from[i]->used--;
  if (warm->made) {
    warm->made->position = position;
    numeric_neighbours_add (&node->solver->arena, &node->near[2 * f + s], warm->made);
  }
  numeric_node_unlock (node);
}

/* Solves a side of depth two, with what is known from the nearest side with fewer rows. */
static void search_shallow (struct numeric_node *node, struct numeric_worker *worker, int64_t depth,
                            struct numeric_part *part, int64_t budget, struct numeric_side *side) {
  struct arena *arena = &node->solver->arena;
  const int s = part->side;
  if (!node->trace || depth < 2) {
    side->outcome = numeric_depth_two (worker, part, depth, node->leaves[s], budget, 0, &side->found);
    return;
  }
  struct numeric_trace **list = &node->trace[2 * part->column + s];
  const int32_t position = cut_position (node, part->column, part->cut);
  numeric_node_lock (node);
  struct numeric_trace *from = numeric_trace_find (*list, position, s);
  numeric_node_unlock (node);
  part->trace = from;
  side->outcome = numeric_depth_two (worker, part, depth, node->leaves[s], budget, 0, &side->found);
  struct numeric_trace *made =
      numeric_stopping (node->solver) ? NULL : numeric_trace_create (worker, greatest (side->outcome.bound, 0));
  numeric_node_lock (node);
  if (from)
    from->used--;
  if (made) {
    made->position = position;
    numeric_trace_add (list, made);
  }
  const struct numeric_column *column = &node->column[part->column];
  numeric_trace_prune (arena, list, s, column->position, column->alive, column->open);
  numeric_node_unlock (node);
}

/* Solves a side up to depth two. Returns whether that settles the side, even if its trees may be deeper. */
static int solve_shallow (struct numeric_node *node, struct numeric_worker *worker, int64_t depth,
                          struct numeric_part *part, int64_t budget, int64_t slack, struct numeric_side *side) {
  const int64_t price = node->solver->options.leaf_price;
  const int64_t shallow = least (2, numeric_useful_depth (node->solver, depth, budget + slack));
  search_shallow (node, worker, shallow, part, budget + slack, side);
  if (shallow == depth || numeric_stopping (node->solver))
    return 1;
  if (numeric_useful_depth (node->solver, depth, least (budget, side->outcome.value)) > shallow)
    return 0;
  side->outcome.bound = least (side->outcome.bound, numeric_deeper_price (price, shallow));
  return 1;
}

/* How far beyond the budget to look: not as far as another leaf costs, since more leaves mean deeper trees. */
static int64_t beyond_budget (const treeml_numeric *solver, int64_t budget, int64_t slack) {
  const int64_t price = solver->options.leaf_price;
  return price > 0 && budget > 0 ? least (budget + slack, ((budget - 1) / price + 1) * price) : budget + slack;
}

/* Solves a side of any depth, after copying its rows. */
static struct numeric_outcome solve_deep (struct numeric_node *node, struct numeric_worker *worker, int64_t depth,
                                          int64_t known, const struct numeric_part *part, int64_t budget,
                                          struct numeric_tree *tree) {
  treeml_numeric *solver = node->solver;
  struct numeric_set set;
  struct numeric_warm warm;
  struct numeric_outcome outcome = {NUMERIC_NONE, 0};
  const int s = part->side;
  if (!numeric_set_split (worker, node->set, part->column, part->cut, s, &set)) {
    numeric_stop_search (solver, TREEML_MEMORY);
    numeric_set_release (solver, &set);
    return outcome;
  }
  const int32_t position = (int32_t) (s ? node->set->rows - set.rows : set.rows);
  find_near (node, part->column, position, s, &warm);
  const struct numeric_task task = {
      .depth = depth, .leaves = node->leaves[s], .budget = budget, .known = known, .path = part->path};
  outcome = numeric_search (worker, &set, &task, tree, node->near ? &warm : NULL);
  keep_near (node, part->column, position, s, &warm);
  numeric_set_release (solver, &set);
  return outcome;
}

struct numeric_outcome numeric_solve_side (struct numeric_node *node, struct numeric_worker *worker, int32_t f,
                                           int64_t cut, int s, int64_t budget, int64_t slack,
                                           struct numeric_side *side) {
  treeml_numeric *solver = node->solver;
  const struct numeric_path path = numeric_path_add (solver, node->path, f);
  struct numeric_part part = {.set = node->set, .column = f, .cut = cut, .side = s, .path = &path};
  const int64_t depth = least (node->depth, node->leaves[s] - 1);
  side->tree.nodes = 0;
  side->outcome = (struct numeric_outcome) {NUMERIC_NONE, 0};
  const int begins = depth <= 2 || solver->options.leaf_price;
  if (begins && solve_shallow (node, worker, depth, &part, budget, slack, side))
    return side->outcome;
  const struct numeric_outcome shallow = side->outcome;
  const int64_t known = begins ? 2 : 0;
  side->outcome = solve_deep (node, worker, depth, known, &part,
                              least (beyond_budget (solver, budget, slack), shallow.value), &side->tree);
  if (side->outcome.value >= NUMERIC_NONE)
    side->outcome.value = shallow.value;
  if (begins)
    side->outcome.bound = least (side->outcome.bound, shallow.bound);
  return side->outcome;
}
