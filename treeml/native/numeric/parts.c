/* Parts of the rows that are solved one by one; see parts.h. */
#include "numeric/parts.h"

enum {
  deepest = 3,    /* a part takes too long where trees are deeper */
  first_rows = 96 /* of the smallest parts, at least; up to twice as many */
};

/* Row r is in part r modulo `count`, a power of two. So a part and the one `count` / 2 behind it become one when the
   count is halved. */
struct numeric_parts {
  int64_t count, next; /* the first part that is not solved yet */
  int64_t *low;        /* a bound of every part, */
  int64_t sum;         /* and of all of them */
  struct numeric_set *set;
};

int numeric_parts_fit (const treeml_numeric *solver, int64_t depth) {
  return depth <= deepest && !solver->options.leaf_price && solver->goal != numeric_goal_quantile &&
         solver->rows >= 2 * first_rows;
}

static void release_sets (treeml_numeric *solver, struct numeric_parts *parts) {
  for (int64_t i = 0; parts->set && i < parts->count; i++)
    numeric_set_release (solver, &parts->set[i]);
  arena_release (&solver->arena, parts->set);
  parts->set = NULL;
}

void numeric_parts_destroy (treeml_numeric *solver, struct numeric_parts *parts) {
  if (!parts)
    return;
  release_sets (solver, parts);
  arena_release (&solver->arena, parts->low);
  arena_release (&solver->arena, parts);
}

static struct numeric_parts *create (treeml_numeric *solver) {
  struct numeric_parts *parts = arena_allocate (&solver->arena, 1, sizeof *parts);
  if (!parts)
    return NULL;
  for (parts->count = 2; solver->rows / parts->count >= 2 * first_rows;)
    parts->count *= 2;
  parts->low = arena_allocate (&solver->arena, (size_t) parts->count, sizeof *parts->low);
  if (parts->low)
    return parts;
  numeric_parts_destroy (solver, parts);
  return NULL;
}

/* Half as many parts. The bounds of two parts together are one of their rows. */
static void join (treeml_numeric *solver, struct numeric_parts *parts) {
  release_sets (solver, parts);
  parts->count /= 2;
  parts->next = 0;
  for (int64_t i = 0; i < parts->count; i++)
    parts->low[i] += parts->low[i + parts->count];
}

static int divide (struct numeric_worker *worker, const struct numeric_set *set, struct numeric_parts *parts) {
  treeml_numeric *solver = worker->solver;
  parts->set = arena_allocate (&solver->arena, (size_t) parts->count, sizeof *parts->set);
  const int64_t left = worker->allowance;
  worker->allowance = 0; /* half of the sets would be of no use */
  const int fine = parts->set && numeric_set_divide (worker, set, parts->count, parts->set);
  worker->allowance = left;
  if (!fine) {
    release_sets (solver, parts);
    numeric_stop_search (solver, TREEML_MEMORY);
  }
  return fine;
}

static void solve_part (struct numeric_worker *worker, int64_t depth, int64_t leaves, struct numeric_parts *parts) {
  treeml_numeric *solver = worker->solver;
  const int64_t i = parts->next;
  const struct numeric_task task = {.depth = depth, .leaves = leaves, .budget = NUMERIC_NONE};
  struct numeric_tree tree = {0};
  const struct numeric_outcome outcome = numeric_search (worker, &parts->set[i], &task, &tree, NULL);
  numeric_tree_release (&solver->arena, &tree);
  if (numeric_stopping (solver))
    return;
  worker->statistics.parts++;
  parts->next++;
  if (outcome.bound > parts->low[i]) {
    parts->sum += outcome.bound - parts->low[i];
    parts->low[i] = outcome.bound;
  }
  numeric_raise_bound (solver, parts->sum);
}

int numeric_parts_done (const struct numeric_parts *parts) { return parts && parts->count < 2; }

void numeric_parts_raise (struct numeric_worker *worker, struct numeric_set *set, int64_t depth, int64_t leaves,
                          struct numeric_parts **kept) {
  treeml_numeric *solver = worker->solver;
  if (!*kept && !(*kept = create (solver))) {
    numeric_stop_search (solver, TREEML_MEMORY);
    return;
  }
  struct numeric_parts *parts = *kept;
  while (!numeric_parts_done (parts) && !numeric_stopping (solver)) {
    if (!parts->set && !divide (worker, set, parts))
      return;
    while (parts->next < parts->count && !numeric_stopping (solver))
      solve_part (worker, depth, leaves, parts);
    if (!numeric_stopping (solver))
      join (solver, parts);
  }
}
