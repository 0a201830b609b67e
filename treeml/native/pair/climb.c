/* A lower bound that rises while a deep search runs: searches for a tree that is better than a low target.

   A deep search learns little about the whole problem for a long time: until its last split is solved, nothing excludes
   that this split is the best. But a search for a tree below a low target fails fast, because the sides of a split that
   are solved first, and the splits similar to them, already cost as much. If it fails, the target is a bound, and the
   next target is higher; if it finds a tree, that tree is optimal. What it learns about sub-problems stays in the
   cache, so that it is not lost for the search that was interrupted. */
#include "pair/search_parts.h"

enum { first_share = 16 }; /* the first target is this share of the way from the bound to the best value */

static void solve_root (struct worker *worker, int32_t depth, int64_t upper, struct fact *fact) {
  if (worker->shared->leaves)
    solve_with_leaves (worker, depth, worker->shared->leaves, upper, fact);
  else
    solve (worker, depth, upper, fact);
}

static void raise_bound (struct shared *shared, int64_t bound) {
  if (bound > atomic_load (&shared->bound))
    atomic_store (&shared->bound, bound);
}

/* Goes on after a pause. A tree that was good enough may have been found meanwhile. */
static void resume (struct worker *worker) {
  treeml_solver *solver = worker->solver;
  int pause = 1 + search_paused;
  if (atomic_compare_exchange_strong (&solver->stopping, &pause, 0) && worker->shared->has_tree &&
      worker->shared->tree_value + worker->rows->offset + solver->offset < solver->options.enough)
    solver_stop (solver, TREEML_ENOUGH);
}

/* The target that follows a bound: the distance to the start doubles, unless a target was too hard. */
static int64_t next_target (int64_t start, int64_t bound, int64_t hard, int64_t value) {
  const int64_t first = (value - start) / first_share, step = larger (larger (first, bound - start), 1);
  const int64_t target = smaller (bound + step, value);
  return hard > bound ? smaller (target, bound + (hard - bound + 1) / 2) : target;
}

/* Raises the bound with one target after the other until the effort is spent. Returns whether the optimum is known, in
   which case the fact is about it. */
static int climb (struct worker *worker, int32_t depth, int64_t effort, int64_t start, int64_t *hard,
                  struct fact *fact) {
  struct shared *shared = worker->shared;
  const int64_t value = atomic_load (&shared->value);
  worker->allowance = effort / 2 + 1;
  int known = 0;
  while (!known && value < UNREACHABLE) {
    const int64_t bound = atomic_load (&shared->bound), target = next_target (start, bound, *hard, value);
    if (2 * (bound - start) > value - start) /* from here on the search for better trees raises the bound itself */
      break;
    solve_root (worker, depth, target, fact);
    raise_bound (shared, smaller (fact->lower, value));
    if (solver_stopping (worker->solver)) {
      *hard = target;
      break;
    }
    worker->statistics.climbs++;
    known = fact->upper < target || fact->lower >= value;
  }
  worker->allowance = 0;
  resume (worker);
  return known;
}

void solve_and_climb (struct worker *worker, int32_t depth, struct fact *fact) {
  struct shared *shared = worker->shared;
  const int64_t most = worker->solver->options.climb, start = atomic_load (&shared->bound);
  int64_t hard = 0;
  const int climbs = most && depth == shared->whole_depth && depth > pass_depth;
  for (int64_t effort = climbs ? most : 0;; effort *= 2) {
    const int64_t upper = atomic_load (&shared->value);
    worker->allowance = effort;
    solve_root (worker, depth, upper, fact);
    worker->allowance = 0;
    const int paused = atomic_load (&worker->solver->stopping) == 1 + search_paused;
    resume (worker);
    if (depth == shared->whole_depth)
      raise_bound (shared, fact->lower);
    if (!paused || fact->lower >= smaller (fact->upper, upper))
      return;
    if (!solver_stopping (worker->solver) && climb (worker, depth, effort, start, &hard, fact))
      return;
  }
}
