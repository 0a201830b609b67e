/* A lower bound that rises: searches for a tree that is better than a low target.

   A search of many levels learns little about the whole problem for a long time: a cut is bounded only when a side of
   it is solved. But a search for a tree below a low target fails fast. If the sides of a cut that hold most rows cannot
   stay below the target, neither can any cut that leaves them more rows, so that a few cuts, with all rows between them
   free, cover a column. If the search fails, the target is a bound, and the next one is higher. If it finds a tree,
   that tree is optimal. So the bound converges to the optimum. */
#include "numeric/climb.h"

enum { first_share = 64 }; /* the first target is the best value divided by this */

static int64_t least (int64_t a, int64_t b) { return a < b ? a : b; }

/* The target that follows a bound: twice as high, or halfway to what was too hard. */
static int64_t next_target (const struct numeric_climb *climb, int64_t upper) {
  const int64_t step = climb->bound > upper / first_share ? climb->bound : upper / first_share;
  int64_t target = climb->bound + (step > 0 ? step : 1);
  if (climb->hard > climb->bound)
    target = least (target, climb->bound + (climb->hard - climb->bound + 1) / 2);
  return least (target, upper);
}

int numeric_climb (struct numeric_worker *worker, struct numeric_set *set, int64_t depth, int64_t leaves, int64_t upper,
                   struct numeric_climb *climb, struct numeric_tree *tree) {
  treeml_numeric *solver = worker->solver;
  const int64_t known = atomic_load (&solver->bound);
  climb->bound = known > climb->bound ? known : climb->bound;
  int decided = climb->bound >= upper;
  if (!decided && climb->bound > upper / 2) /* the search for better trees raises the bound itself */
    return 0;
  worker->allowance = climb->effort / 2 + 1;
  worker->slack = 0;
  worker->climbing = 1;
  while (!decided && !numeric_stopping (solver)) {
    const int64_t target = next_target (climb, upper);
    const struct numeric_task task = {.depth = depth, .leaves = leaves, .budget = target, .known = solver->known};
    const struct numeric_outcome outcome = numeric_search (worker, set, &task, tree, NULL);
    if (numeric_stopping (solver)) {
      climb->hard = target;
      tree->nodes = 0;
      break;
    }
    const int found = outcome.value < NUMERIC_NONE;
    climb->bound = found ? outcome.value : target;
    numeric_raise_bound (solver, climb->bound);
    worker->statistics.climbs++;
    decided = found || climb->bound >= upper;
  }
  worker->allowance = 0;
  worker->slack = solver->options.slack;
  worker->climbing = 0;
  numeric_resume (solver);
  return decided;
}
