/* What tests cost, and which leaves are allowed. Bounds take fees into account, but not the rules of leaves: without
   them a bound is still one, and the lists of vectors have only leaves that keep them. */
#include "coupled_numeric/solver.h"

#include <string.h>

void threshold_conditions_release (threshold_solver *solver) {
  for (int kind = 0; kind < fee_kinds; kind++)
    path_fees_release (&solver->fees[kind], &solver->arena);
  arena_release (&solver->arena, solver->group);
  arena_release (&solver->arena, solver->rules.purity);
  arena_release (&solver->arena, solver->rules.cost);
  solver->group = NULL;
  solver->rules = (struct threshold_rules) {0};
}

static int set_groups (threshold_solver *solver, const int32_t *group, int32_t groups) {
  for (int64_t f = 0; f < solver->given; f++)
    if (!group || group[f] < 0 || group[f] >= groups)
      return threshold_fail (solver, TREEML_BAD_ARGUMENT, "column %lld has no group with a fee", (long long) f);
  arena_release (&solver->arena, solver->group);
  solver->group = arena_reserve (&solver->arena, (size_t) solver->given + 1, sizeof *group);
  if (!solver->group)
    return threshold_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for the fees");
  if (solver->given)
    memcpy (solver->group, group, (size_t) solver->given * sizeof *group);
  return TREEML_OK;
}

int treeml_coupled_numeric_fees (treeml_coupled_numeric *solver, int32_t kind, const int64_t *below, int32_t groups,
                                 const int32_t *group, int64_t most) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (!solver->rows)
    return threshold_fail (solver, TREEML_NO_DATA, "columns come before fees");
  if (kind < 0 || kind >= fee_kinds || groups < 0)
    return threshold_fail (solver, TREEML_BAD_ARGUMENT, "there are fees of kind 0 and of kind 1");
  path_fees_release (&solver->fees[kind], &solver->arena);
  if (!below)
    return TREEML_OK;
  if (set_groups (solver, group, groups))
    return solver->code;
  const int copied =
      path_fees_copy (&solver->fees[kind], &solver->arena, below, groups, solver->total_count, INT64_C (1) << 50);
  if (copied < 0)
    return threshold_fail (solver, TREEML_OVERFLOW, "fees are negative, or add up to more than 2^50");
  if (!copied || !threshold_rank_columns (solver))
    return threshold_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for the fees");
  if (kind)
    solver->most_fees = most;
  return TREEML_OK;
}

static int copy_rule (threshold_solver *solver, const int64_t *from, int64_t **to) {
  const int64_t size = solver->rows * solver->classes, largest = INT64_C (1) << 58;
  int64_t total = 0;
  if (!from)
    return TREEML_OK;
  for (int64_t i = 0; i < size; i++)
    if (from[i] > largest || from[i] < -largest || (total += from[i] < 0 ? -from[i] : from[i]) > largest)
      return threshold_fail (solver, TREEML_OVERFLOW, "the numbers of a rule add up to more than 2^58");
  *to = arena_reserve (&solver->arena, (size_t) size, sizeof **to);
  if (!*to)
    return threshold_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for the rules");
  memcpy (*to, from, (size_t) size * sizeof **to);
  return TREEML_OK;
}

int treeml_coupled_numeric_rules (treeml_coupled_numeric *solver, const int64_t *purity, const int64_t *cost,
                                  int64_t most) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (!solver->sums)
    return threshold_fail (solver, TREEML_NO_DATA, "values come before rules");
  arena_release (&solver->arena, solver->rules.purity);
  arena_release (&solver->arena, solver->rules.cost);
  solver->rules = (struct threshold_rules) {.most_cost = most};
  const int code = copy_rule (solver, purity, &solver->rules.purity);
  return code ? code : copy_rule (solver, cost, &solver->rules.cost);
}

/* Fees. */

int threshold_path_create (threshold_solver *solver) {
  solver->path_length = 0;
  solver->path = NULL;
  if (!threshold_has_fees (solver))
    return 1;
  solver->path = arena_reserve (&solver->arena, (size_t) solver->rows + 2, sizeof *solver->path);
  return solver->path != NULL;
}

void threshold_path_push (threshold_solver *solver, int32_t column) {
  if (solver->path)
    solver->path[solver->path_length] = solver->group[solver->source[column]];
  solver->path_length++;
}

/* What a row pays for a column, of one kind. */
static int64_t fee_of (const threshold_solver *solver, int kind, int32_t above, int32_t column) {
  const struct path_fees *fees = &solver->fees[kind];
  if (!fees->below)
    return 0;
  const int32_t group = solver->group[solver->source[column]];
  const int64_t fee = path_fee (fees, solver->path, solver->path_length, group);
  if (above < 0)
    return fee;
  const int32_t outer = solver->group[solver->source[above]];
  const int64_t below = path_fee (fees, &outer, 1, group);
  return below < fee ? below : fee;
}

void threshold_fee_add (const threshold_solver *solver, int32_t above, int32_t column, int64_t count, int64_t *vector) {
  if (!solver->path)
    return;
  vector[0] += fee_of (solver, 0, above, column) * count;
  if (solver->limited_fees)
    vector[solver->limited_fees] += fee_of (solver, 1, above, column) * count;
}

void threshold_fee (const threshold_solver *solver, int32_t above, int32_t column, int64_t count, double *fee) {
  int64_t vector[most_sums + 1] = {0};
  memset (fee, 0, WIDTH * sizeof *fee);
  if (!solver->path)
    return;
  threshold_fee_add (solver, above, column, count, vector);
  threshold_weigh (solver, vector, fee);
}

/* Rules. */

void threshold_ruled_add (const threshold_solver *solver, int32_t row, struct threshold_ruled *ruled) {
  const struct threshold_rules *rules = &solver->rules;
  const int64_t at = (int64_t) row * solver->classes;
  for (int32_t k = 0; rules->purity && k < solver->classes; k++)
    ruled->purity[k] += rules->purity[at + k];
  for (int32_t k = 0; rules->cost && k < solver->classes; k++)
    ruled->cost[k] += rules->cost[at + k];
}

int threshold_leaf_allowed (const threshold_solver *solver, const struct threshold_ruled *ruled, int32_t k) {
  const struct threshold_rules *rules = &solver->rules;
  if (rules->cost && ruled->cost[k] > rules->most_cost)
    return 0;
  for (int32_t other = 0; rules->purity && other < solver->classes; other++)
    if (ruled->purity[other] >= 0)
      return 1;
  return !rules->purity;
}

/* Whole trees. */

/* Adds the fees of the splits that the rows of a leaf pass. */
static void walk (threshold_solver *solver, const struct threshold_tree *tree, int64_t node, int64_t length,
                  const int64_t *count, int64_t fees[fee_kinds]) {
  if (tree->column[node] < 0)
    return;
  const int32_t group = solver->group[tree->column[node]];
  for (int kind = 0; kind < fee_kinds; kind++)
    fees[kind] += count[node] * path_fee (&solver->fees[kind], solver->path, length, group);
  solver->path[length] = group;
  walk (solver, tree, tree->yes[node], length + 1, count, fees);
  solver->path[length] = group;
  walk (solver, tree, tree->no[node], length + 1, count, fees);
}

static int leaves_allowed (const threshold_solver *solver, const struct threshold_tree *tree,
                           const struct threshold_ruled *ruled) {
  for (int64_t node = 0; node < tree->nodes; node++)
    if (tree->column[node] < 0 && !threshold_leaf_allowed (solver, &ruled[node], tree->label[node]))
      return 0;
  return 1;
}

int threshold_conditions_hold (threshold_solver *solver, const struct threshold_tree *tree, int64_t fees[fee_kinds]) {
  fees[0] = fees[1] = 0;
  if (!threshold_has_fees (solver) && !threshold_has_rules (solver))
    return 1;
  const size_t nodes = (size_t) tree->nodes;
  int64_t *count = arena_allocate (&solver->arena, nodes, sizeof *count);
  struct threshold_ruled *ruled = arena_allocate (&solver->arena, nodes, sizeof *ruled);
  int32_t *path = solver->path;
  if (threshold_has_fees (solver)) /* a start tree may be deeper than the search */
    solver->path = arena_reserve (&solver->arena, nodes + 1, sizeof *path);
  int holds = count && ruled && (solver->path || !threshold_has_fees (solver)) ? 1 : -1;
  for (int64_t row = 0; holds > 0 && row < solver->rows; row++) {
    int64_t at = 0;
    for (;; at = solver->codes[tree->column[at] * solver->rows + row] <= tree->cut[at] ? tree->yes[at] : tree->no[at]) {
      count[at] += solver->count ? solver->count[row] : 1;
      if (tree->column[at] < 0)
        break;
    }
    threshold_ruled_add (solver, (int32_t) row, &ruled[at]);
  }
  if (holds > 0 && threshold_has_fees (solver))
    walk (solver, tree, 0, 0, count, fees);
  if (holds > 0)
    holds = leaves_allowed (solver, tree, ruled) && (!solver->fees[1].below || fees[1] <= solver->most_fees);
  if (solver->path != path)
    arena_release (&solver->arena, solver->path);
  solver->path = path;
  arena_release (&solver->arena, ruled);
  arena_release (&solver->arena, count);
  return holds;
}
