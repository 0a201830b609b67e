/* Every row has a cost in either subtree. A cut is worth the sum of what its rows cost there, so that one pass over the
   rows in the order of a column finds the best cut of the column. */
#include "numeric/reroute.h"

/* What a row costs in the leaf that it reaches from a node. */
static int64_t cost_below (const treeml_numeric *solver, const struct numeric_tree *tree, int64_t node, int32_t row) {
  while (tree->column[node] >= 0)
    node = solver->rank[tree->column[node]][row] <= tree->cut[node] ? tree->yes[node] : tree->no[node];
  const int32_t label = tree->label[node];
  const int64_t worth = solver->value[solver->planes][row];
  if (solver->goal == numeric_goal_two)
    return (label ? worth - solver->value[0][row] : worth + solver->value[0][row]) / 2;
  if (solver->pure)
    return solver->value[solver->planes + 1][row] == label ? 0 : worth;
  return worth - solver->value[label][row];
}

/* `more`: by how much a row costs more on the yes side than on the no side; `all`: the sum over all rows. */
static void route_column (const struct numeric_worker *worker, const struct numeric_set *set, int32_t column,
                          const int64_t *more, int64_t all, struct numeric_route *best, int64_t *least) {
  const int32_t *order = set->order[column], *rank = worker->solver->rank[column];
  int64_t sum = 0;
  for (int64_t i = 0; i < set->rows; i++) {
    if (i && rank[order[i]] != rank[order[i - 1]]) {
      const int swapped = all - sum < sum;
      const int64_t cost = swapped ? all - sum : sum;
      if (cost < *least) {
        *least = cost;
        *best = (struct numeric_route) {.split = {.column = column, .cut = rank[order[i - 1]]}, .swapped = swapped};
      }
    }
    sum += more[order[i]];
  }
}

struct numeric_route numeric_reroute (struct numeric_worker *worker, const struct numeric_set *set,
                                      const struct numeric_tree *tree, int64_t yes, int64_t no, uint64_t columns) {
  treeml_numeric *solver = worker->solver;
  struct numeric_route best = {.split = {.column = -1}};
  int64_t *more = arena_reserve (&solver->arena, (size_t) solver->rows, sizeof *more), all = 0, least = NUMERIC_NONE;
  if (!more) {
    numeric_stop_search (solver, TREEML_MEMORY);
    return best;
  }
  for (int64_t i = 0; i < set->rows; i++) {
    const int32_t row = set->order[0][i];
    more[row] = cost_below (solver, tree, yes, row) - cost_below (solver, tree, no, row);
    all += more[row];
  }
  int going = !numeric_spent (worker, 2 * set->rows);
  for (int32_t f = 0; going && f < solver->columns; f++)
    if (columns >> (f % 64) & 1) {
      route_column (worker, set, f, more, all, &best, &least);
      going = !numeric_spent (worker, set->rows);
    }
  arena_release (&solver->arena, more);
  return best;
}
