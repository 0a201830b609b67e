/* A lower bound that rises: searches for a tree that is better than a low target.

   A search of many levels learns little about the whole problem for a long time: a cut is bounded only when a side of
   it is solved. But a search for a tree below a low target fails fast. If the sides of a cut that hold most rows cannot
   stay below the target, neither can any cut that leaves them more rows, so that a few cuts, with all rows between them
   free, cover a column. If the search fails, the target is a bound, and the next one is higher. If it finds a tree,
   that tree is optimal. So the bound converges to the optimum. */
#include "numeric/climb.h"
#include "numeric/grouping.h"
#include "numeric/hard.h"
#include "numeric/relax.h"

enum {
  first_share = 512,    /* the first target is the best value divided by this */
  most_share = 8,       /* and no target is further from the one before than the best value divided by this */
  most_tries = 2,       /* how often a target is tried before a lower one is */
  brief_depth = 3,      /* of trees for which the search has most of the effort */
  share_of_sample = 8,  /* a sample has this many times more of the rows than its target has of the best value, */
  rows_of_sample = 256, /* and not fewer than these */
  first_polls = 2048    /* that everything else has before relaxed splits have half of them */
};

static int64_t least (int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t greatest (int64_t a, int64_t b) { return a > b ? a : b; }

/* The target that follows a bound: twice as high at first, or what was too hard at first, or halfway to it. The effort
   grows with the target so fast that small steps cost little more than large ones, and what is too hard costs much. */
static int64_t next_target (const struct numeric_climb *climb, int64_t upper, int64_t most) {
  const int64_t step = least (greatest (climb->bound, upper / first_share), upper / most_share);
  int64_t target = climb->bound + greatest (step, 1);
  if (climb->hard > climb->bound)
    target = climb->tries < most_tries ? climb->hard : climb->bound + (climb->hard - climb->bound + 1) / 2;
  return least (target, most);
}

static void mark_hard (struct numeric_climb *climb, int64_t target, int tries) {
  climb->tries = tries + (climb->hard == target ? climb->tries : 0);
  climb->hard = target;
}

static void raise_bound (struct numeric_worker *worker, struct numeric_climb *climb, int64_t bound) {
  climb->bound = bound > climb->bound ? bound : climb->bound;
  numeric_raise_bound (worker->solver, climb->bound);
  worker->statistics.climbs++;
}

/* Whether relaxed splits can raise the bound. */
static int relaxes (struct numeric_worker *worker, int64_t depth, int64_t leaves, int64_t upper,
                    const struct numeric_climb *climb) {
  treeml_numeric *solver = worker->solver;
  const int64_t most = numeric_relaxation_most (solver, depth, upper);
  if (climb->final || climb->bound >= most || !numeric_relaxation_fits (solver, depth, leaves, upper))
    return 0;
  if (!worker->relaxation)
    worker->relaxation = numeric_relaxation_create (solver, depth, leaves, most);
  return !!worker->relaxation;
}

/* The rows that are hard to predict, if a target was too hard for all rows and is low enough for these. */
static struct numeric_set *hard_rows (struct numeric_worker *worker, const struct numeric_set *set, int64_t target,
                                      int64_t upper, struct numeric_climb *climb) {
  if (!climb->hard || target > upper / 4 * 3)
    return NULL;
  if (!climb->sought) {
    const int64_t left = worker->allowance;
    worker->allowance = 0; /* half of the search for them would be of no use */
    climb->hard_rows = numeric_hard_create (worker, set);
    worker->allowance = left;
    climb->sought = 1;
    worker->statistics.hard_rows = climb->hard_rows ? climb->hard_rows->rows : 0;
    climb->tries = 0;
  }
  return climb->hard_rows;
}

/* So few of the rows that a low target is hardly lower than what they cost, or 1: all of them. */
static int64_t step_of_sample (const struct numeric_climb *climb, const struct numeric_set *set, int64_t target,
                               int64_t upper) {
  int64_t step = 1;
  while (set->rows / (2 * step) >= rows_of_sample && target <= upper / (2 * step * share_of_sample) &&
         (!climb->most_step || 2 * step <= climb->most_step))
    step *= 2;
  return step;
}

static void release_sample (treeml_numeric *solver, struct numeric_climb *climb) {
  if (!climb->sample)
    return;
  numeric_set_release (solver, climb->sample);
  arena_release (&solver->arena, climb->sample);
  climb->sample = NULL;
}

/* A sample of the rows, if that is enough for a target; or NULL. */
static struct numeric_set *sample_rows (struct numeric_worker *worker, const struct numeric_set *set, int64_t target,
                                        int64_t upper, struct numeric_climb *climb) {
  treeml_numeric *solver = worker->solver;
  const int64_t step = step_of_sample (climb, set, target, upper);
  if (climb->sample && climb->step == step)
    return climb->sample;
  release_sample (solver, climb);
  if (step == 1)
    return NULL;
  const int64_t left = worker->allowance;
  worker->allowance = 0; /* half of a sample would be of no use */
  climb->step = step;
  climb->sample = arena_allocate (&solver->arena, 1, sizeof *climb->sample);
  if (!climb->sample || !numeric_set_sample (worker, set, step, climb->sample)) {
    numeric_stop_search (solver, TREEML_MEMORY);
    release_sample (solver, climb);
  }
  worker->allowance = left;
  return climb->sample;
}

/* Raises the bound to a target by some of the rows, or to their optimum if that is lower. Returns whether they reach
   the target. */
static int relax_some (struct numeric_worker *worker, struct numeric_set *rows, int64_t depth, int64_t target,
                       struct numeric_climb *climb) {
  const int64_t bound = numeric_relax (worker, worker->relaxation, rows, depth, target);
  if (numeric_stopping (worker->solver)) {
    mark_hard (climb, target, 1);
    return 1;
  }
  raise_bound (worker, climb, bound);
  return bound >= target;
}

/* Raises the bound to a target, or to the optimum if that is lower. Returns whether `tree` is optimal. What was learned
   for a target that is too hard stays known, so it is tried again. */
static int relax (struct numeric_worker *worker, struct numeric_set *set, int64_t depth, int64_t target, int64_t upper,
                  struct numeric_climb *climb, struct numeric_tree *tree) {
  struct numeric_set *hard = hard_rows (worker, set, target, upper, climb);
  if (hard) {
    if (!relax_some (worker, hard, depth, target, climb)) {
      numeric_hard_destroy (worker->solver, climb->hard_rows);
      climb->hard_rows = NULL;
    }
    return 0;
  }
  struct numeric_set *sample = sample_rows (worker, set, target, upper, climb);
  if (sample) {
    if (relax_some (worker, sample, depth, target, climb))
      worker->statistics.samples += !numeric_stopping (worker->solver);
    else
      climb->most_step = climb->step / 2;
    return 0;
  }
  const int64_t bound = numeric_relax (worker, worker->relaxation, set, depth, target);
  if (numeric_stopping (worker->solver)) {
    mark_hard (climb, target, 1);
    return 0;
  }
  raise_bound (worker, climb, bound);
  climb->final = bound < target;
  if (!climb->final)
    return 0;
  worker->allowance = 0; /* the tree takes little time */
  return numeric_relaxed_tree (worker, worker->relaxation, set, depth, tree);
}

/* Searches for a tree below a target. Returns whether `tree` is optimal. */
static int search (struct numeric_worker *worker, struct numeric_set *set, int64_t depth, int64_t leaves,
                   int64_t target, struct numeric_climb *climb, struct numeric_tree *tree) {
  const struct numeric_task task = {.depth = depth, .leaves = leaves, .budget = target, .known = worker->solver->known};
  const struct numeric_outcome outcome = numeric_search (worker, set, &task, tree, NULL);
  if (numeric_stopping (worker->solver)) {
    mark_hard (climb, target, most_tries);
    tree->nodes = 0;
    return 0;
  }
  const int found = outcome.value < NUMERIC_NONE;
  raise_bound (worker, climb, found ? outcome.value : target);
  return found;
}

/* The polls for a rise of the bound. For relaxed splits of deep trees these are, after a while, when the first trees
   are known, as many as everything else had since. The search of a tree of depth three raises a high bound itself. */
static int64_t allowance (const struct numeric_worker *worker, int64_t depth, int64_t upper,
                          const struct numeric_climb *climb) {
  if (!climb->relaxing || depth <= brief_depth)
    return climb->effort / (climb->relaxing && climb->bound > upper / 2 ? 4 : 2) + 1;
  const int64_t others = worker->polls - climb->polls;
  const int64_t due = others - first_polls - climb->polls;
  return due > climb->effort ? due : climb->effort;
}

int64_t numeric_climb_turn (const struct numeric_climb *climb) {
  if (!climb->relaxing)
    return INT64_MAX / 4;
  return climb->polls > first_polls ? climb->polls : first_polls;
}

void numeric_climb_release (treeml_numeric *solver, struct numeric_climb *climb) {
  numeric_hard_destroy (solver, climb->hard_rows);
  release_sample (solver, climb);
}

/* One step to a higher bound. Returns whether `tree` is optimal. */
static int rise (struct numeric_worker *worker, struct numeric_set *set, int64_t depth, int64_t leaves, int64_t upper,
                 struct numeric_climb *climb, struct numeric_tree *tree) {
  const int relaxing = relaxes (worker, depth, leaves, upper, climb);
  const int64_t most = relaxing ? numeric_relaxation_most (worker->solver, depth, upper) : upper;
  const int64_t target = next_target (climb, upper, most);
  return relaxing ? relax (worker, set, depth, target, upper, climb, tree)
                  : search (worker, set, depth, leaves, target, climb, tree);
}

int numeric_climb (struct numeric_worker *worker, struct numeric_set *set, int64_t depth, int64_t leaves, int64_t upper,
                   struct numeric_climb *climb, struct numeric_tree *tree) {
  treeml_numeric *solver = worker->solver;
  if (!worker->grouping && numeric_grouping_fits (solver))
    numeric_raise_bound (solver, numeric_grouping_bound (worker, set->order[0], set->rows, leaves));
  const int64_t known = atomic_load (&solver->bound);
  climb->bound = known > climb->bound ? known : climb->bound;
  int decided = climb->bound >= upper;
  climb->relaxing = relaxes (worker, depth, leaves, upper, climb);
  if (!decided && !climb->relaxing &&
      climb->bound > upper / 2) /* the search for better trees raises the bound itself */
    return 0;
  worker->slack = 0;
  worker->climbing = 1;
  worker->allowance = allowance (worker, depth, upper, climb);
  const int64_t polls = worker->polls;
  while (!decided && !numeric_stopping (solver)) {
    const int found = rise (worker, set, depth, leaves, upper, climb, tree);
    decided = !numeric_stopping (solver) && (found || climb->bound >= upper);
  }
  climb->polls += worker->polls - polls;
  worker->allowance = 0;
  worker->slack = solver->options.slack;
  worker->climbing = 0;
  numeric_resume (solver);
  return decided;
}
