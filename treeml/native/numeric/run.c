/* The course of a solve: limits, first trees, the search of all splits, and what it has proved. Also what its workers
   share: reasons to stop, and the best tree. */
#include "numeric/child.h"
#include "numeric/grouping.h"
#include "numeric/climb.h"
#include "numeric/improve.h"
#include "numeric/relax.h"
#include "simd/select.h"

#include <string.h>

enum { rows_between_clocks = 1 << 20 };
enum { paused = 100 }; /* a further reason to stop: a search has used up its share of the work */
/* In rows times columns: from `large` on a sample is tried first, and `sampled` is the size of the sample. Up to
   `small` a search of depth three is short. */
enum { large = 500000, sampled = 100000, small = 20000 };

void numeric_stop_search (treeml_numeric *solver, int why) {
  int none = 0;
  atomic_compare_exchange_strong (&solver->stopping, &none, 1 + why);
}

int numeric_resume (treeml_numeric *solver) {
  int pause = 1 + paused;
  return atomic_compare_exchange_strong (&solver->stopping, &pause, 0);
}

void numeric_raise_bound (treeml_numeric *solver, int64_t bound) {
  long long known = atomic_load (&solver->bound);
  while (bound > known && !atomic_compare_exchange_weak (&solver->bound, &known, bound))
    ;
}

static void call_back (treeml_numeric *solver, double now) {
  lock_take (&solver->best_lock);
  const int64_t value = atomic_load (&solver->best_value), bound = atomic_load (&solver->bound);
  const int64_t shown = value < NUMERIC_NONE ? value + solver->base : INT64_MAX;
  const int better = solver->better;
  solver->better = 0;
  if (solver->watch (solver->watch_state, now - solver->began, shown, (bound < value ? bound : value) + solver->base,
                     better))
    numeric_stop_search (solver, TREEML_INTERRUPTED);
  lock_leave (&solver->best_lock);
}

int numeric_poll (struct numeric_worker *worker) {
  treeml_numeric *solver = worker->solver;
  const double now = clock_seconds ();
  worker->until_clock = rows_between_clocks;
  worker->polls++;
  if (atomic_load_explicit (&solver->interrupted, memory_order_relaxed))
    numeric_stop_search (solver, TREEML_INTERRUPTED);
  if (now >= solver->deadline)
    numeric_stop_search (solver, TREEML_TIME);
  if (worker->allowance && !--worker->allowance)
    numeric_stop_search (solver, paused);
  if (!worker->number && solver->watch && now >= solver->next_watch) {
    solver->next_watch = now + 1e-3 * (double) solver->options.poll_milliseconds;
    call_back (solver, now);
  }
  return numeric_stopping (solver);
}

int numeric_worker_create (struct numeric_worker *worker) {
  treeml_numeric *solver = worker->solver;
  worker->sums = arena_reserve (&solver->arena, 8 * (size_t) solver->planes, sizeof *worker->sums);
  worker->row = arena_reserve (&solver->arena, (size_t) solver->rows + 1, sizeof *worker->row);
  worker->most = solver->goal == numeric_goal_many && solver->pure
                     ? arena_reserve (&solver->arena, (size_t) solver->rows, sizeof *worker->most)
                     : NULL;
  worker->slack = solver->options.slack;
  worker->spare = NUMERIC_NONE;
  worker->first = solver->options.first;
  worker->climb = (struct numeric_climb) {.effort = solver->options.climb / 16 + 1};
  worker->quantile.up = solver->up;
  worker->quantile.down = solver->down;
  if (solver->goal == numeric_goal_quantile &&
      !numeric_quantile_create (&solver->arena, &worker->quantile, solver->targets, solver->outputs, solver->rows))
    return 0;
  return worker->sums && worker->row && (worker->most || solver->goal != numeric_goal_many || !solver->pure);
}

void numeric_worker_destroy (struct numeric_worker *worker) {
  numeric_relaxation_destroy (worker->solver, worker->relaxation);
  numeric_grouping_destroy (worker->solver, worker->grouping);
  numeric_climb_release (worker->solver, &worker->climb);
  numeric_improvement_destroy (worker->solver, worker->improvement);
  arena_release (&worker->solver->arena, worker->sums);
  arena_release (&worker->solver->arena, worker->row);
  arena_release (&worker->solver->arena, worker->most);
  numeric_quantile_destroy (&worker->solver->arena, &worker->quantile);
}

void numeric_offer (struct numeric_worker *worker, const struct numeric_tree *tree) {
  treeml_numeric *solver = worker->solver;
  struct numeric_tree copy = {0};
  if (!numeric_tree_copy (&solver->arena, &copy, tree)) {
    numeric_tree_release (&solver->arena, &copy);
    numeric_stop_search (solver, TREEML_MEMORY);
    return;
  }
  const int64_t value = numeric_tree_finish (solver, &copy);
  lock_take (&solver->best_lock);
  if (value < atomic_load (&solver->best_value) && value < solver->upper) {
    struct numeric_tree old = solver->best;
    solver->best = copy;
    copy = old;
    atomic_store (&solver->best_value, value);
    solver->better = 1;
    worker->statistics.improvements++;
    if (value < solver->enough)
      numeric_stop_search (solver, TREEML_ENOUGH);
  }
  lock_leave (&solver->best_lock);
  numeric_tree_release (&solver->arena, &copy);
}

void numeric_offer_found (struct numeric_worker *worker, const struct numeric_tree *tree, int64_t value) {
  treeml_numeric *solver = worker->solver;
  numeric_offer (worker, tree);
  lock_take (&solver->best_lock);
  solver->claimed = value < solver->claimed ? value : solver->claimed;
  lock_leave (&solver->best_lock);
}

void numeric_take_proposal (struct numeric_worker *worker) {
  treeml_numeric *solver = worker->solver;
  if (worker->number || !solver->proposal.nodes) /* proposals come from the thread of worker 0 */
    return;
  numeric_offer (worker, &solver->proposal);
  solver->proposal.nodes = 0;
}

/* The narrowest cells that hold every code and every sum that a sweep computes. */
static int cell_width (const treeml_numeric *solver) {
  int64_t levels = 1;
  for (int32_t f = 0; f < solver->columns; f++)
    levels = solver->levels[f] > levels ? solver->levels[f] : levels;
  const int64_t lane = solver->rows / LANES + 2 * BLOCK;
  int64_t most = solver->goal == numeric_goal_two ? solver->worth_most : solver->worth_sum;
  for (int32_t o = 0; solver->goal == numeric_goal_quantile && o < solver->outputs; o++)
    most = solver->targets[o].places > most ? solver->targets[o].places : most;
  if (solver->goal == numeric_goal_quantile) /* cells also hold weights */
    for (int64_t i = 0; i < solver->rows; i++)
      most = solver->value[0][i] > most ? solver->value[0][i] : most;
  const int64_t times = solver->goal == numeric_goal_two ? lane : 1;
  const int64_t asked = solver->options.cell / 8;
  int width = 8;
  if (solver->goal != numeric_goal_squared) {
    if (most < INT32_MAX / times)
      width = 4;
    if (most < INT16_MAX / times && levels < 65535)
      width = 2;
  }
  return asked > width ? (asked > 4 ? 8 : (int) asked) : width;
}

static int check (treeml_numeric *solver) {
  if (!solver->rows)
    return numeric_fail (solver, TREEML_NO_DATA, "there are no rows");
  if (solver->goal == numeric_goal_none)
    return numeric_fail (solver, TREEML_NO_DATA, "there is no goal: set labels, costs or targets first");
  if (solver->options.leaf_price > INT64_MAX / 16 / (solver->rows + 1))
    return numeric_fail (solver, TREEML_OVERFLOW, "the price of a leaf times the rows exceeds 2^59");
  return TREEML_OK;
}

static int choose_kernel (treeml_numeric *solver) {
  solver->kernel = simd_numeric_kernel (simd_select (solver->options.kernel, simd_avx512), cell_width (solver));
  if (!solver->kernel)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "this processor cannot run the kernel asked for");
  return TREEML_OK;
}

/* Limits depth and leaves by the number of rows. */
static void limit_shape (treeml_numeric *solver, int ranked) {
  int64_t leaves = solver->total_count / solver->options.support;
  leaves = leaves < solver->rows ? leaves : solver->rows;
  solver->any_leaves = leaves <= solver->options.leaves;
  leaves = solver->any_leaves ? leaves : solver->options.leaves;
  leaves = leaves < 1 ? 1 : leaves;
  int64_t depth = solver->options.depth < leaves - 1 ? solver->options.depth : leaves - 1;
  if (!solver->columns || !ranked)
    depth = 0;
  if (depth < 62 && leaves > INT64_C (1) << depth)
    leaves = INT64_C (1) << depth;
  solver->depth = depth;
  solver->leaves = leaves;
}

/* Converts a limit on the whole value to one on the value that the search sees. */
static int64_t beside_base (const treeml_numeric *solver, int64_t limit) {
  if (limit > INT64_MAX / 2)
    return NUMERIC_NONE;
  if (limit < -(INT64_MAX / 2))
    return -NUMERIC_NONE;
  return limit - solver->base;
}

/* Whether the search is so short that it needs no good tree to begin with: the first split of a greedy tree is where it
   begins, and then it finds the best splits below that one. */
static int is_brief (const treeml_numeric *solver, const struct numeric_set *set) {
  return solver->depth == 3 && set->rows * solver->columns <= small;
}

/* Builds a greedy tree of a set, or one that follows a guide, and offers it as a solution. */
static void try_greedy (struct numeric_worker *worker, struct numeric_set *set, const struct numeric_tree *guide,
                        int ahead, struct numeric_tree *tree) {
  treeml_numeric *solver = worker->solver;
  const int64_t depth = is_brief (solver, set) ? 2 : solver->depth;
  tree->nodes = 0;
  if (numeric_greedy (worker, set, depth, solver->leaves, guide, 0, ahead, tree))
    numeric_offer (worker, tree);
  else
    tree->nodes = 0; /* without memory, what was built has nodes without children, and guides nobody */
}

/* A tree that looks two levels ahead, with a limit on the work as below. */
static void try_ahead (struct numeric_worker *worker, struct numeric_set *set, struct numeric_tree *tree) {
  worker->allowance = worker->solver->options.deepen;
  try_greedy (worker, set, NULL, 1, tree);
  worker->allowance = 0;
  numeric_resume (worker->solver);
}

/* The most leaves of a tree of this depth, to a search. */
static int64_t leaves_of_search (const treeml_numeric *solver, int64_t depth) {
  if (solver->any_leaves || (depth < 62 && solver->leaves >= INT64_C (1) << depth))
    return NUMERIC_ALL;
  return solver->leaves;
}

/* No tree up to this depth is better than the best one, and deeper ones cost at least their leaves. */
static void raise_by_prices (treeml_numeric *solver, int64_t depth) {
  const int64_t best = atomic_load (&solver->best_value), most = best < solver->upper ? best : solver->upper;
  const int64_t deeper = numeric_deeper_price (solver->options.leaf_price, depth);
  numeric_raise_bound (solver, most < deeper ? most : deeper);
}

/* Raises the bound for a while between the first trees, if that need not start again later. */
static void climb_early (struct numeric_worker *worker, struct numeric_set *set) {
  treeml_numeric *solver = worker->solver;
  const int64_t best = atomic_load (&solver->best_value), upper = best < solver->upper ? best : solver->upper;
  const int64_t leaves = leaves_of_search (solver, solver->depth);
  struct numeric_tree tree = {0};
  if (solver->depth <= 3 || !solver->options.climb || !numeric_relaxation_fits (solver, solver->depth, leaves, upper))
    return;
  solver->decided = numeric_climb (worker, set, solver->depth, leaves, upper, &worker->climb, &tree);
  if (solver->decided && tree.nodes)
    numeric_offer_found (worker, &tree, worker->climb.bound);
  worker->climb.effort *= 2;
  numeric_tree_release (&solver->arena, &tree);
}

/* For deep trees: a search that is one level less deep runs for a while, and its tree guides all splits except the
   last two of a path. The limit is an amount of work and not time, so that the same data always give the same tree. */
static void deepen (struct numeric_worker *worker, struct numeric_set *set) {
  treeml_numeric *solver = worker->solver;
  struct numeric_tree tree = {0}, deeper = {0};
  numeric_improve (worker, set);
  climb_early (worker, set);
  for (int64_t depth = 3; !numeric_stopping (solver) && !solver->decided; depth++) {
    const int64_t best = atomic_load (&solver->best_value);
    if (depth >= numeric_useful_depth (solver, solver->depth, best))
      break;
    worker->allowance = solver->options.deepen;
    const struct numeric_task task = {
        .depth = depth, .leaves = leaves_of_search (solver, depth), .budget = NUMERIC_NONE};
    numeric_search (worker, set, &task, &tree, NULL);
    worker->allowance = 0;
    const int ended = !numeric_resume (solver) && !numeric_stopping (solver);
    if (!tree.nodes || numeric_stopping (solver))
      break;
    numeric_offer (worker, &tree);
    if (ended && solver->options.leaf_price) {
      solver->known = depth;
      raise_by_prices (solver, depth);
    } else {
      try_greedy (worker, set, &tree, 0, &deeper);
      if (deeper.nodes)
        numeric_improve_from (worker, set, &deeper);
    }
    numeric_improve (worker, set);
    if (!numeric_stopping (solver))
      climb_early (worker, set);
  }
  numeric_tree_release (&solver->arena, &tree);
  numeric_tree_release (&solver->arena, &deeper);
}

/* A first bound by the targets alone, unless the search is so short that it needs none. */
static void group_targets (struct numeric_worker *worker, const struct numeric_set *set) {
  treeml_numeric *solver = worker->solver;
  if (!numeric_grouping_fits (solver) || !solver->options.climb || solver->depth < 2 ||
      set->rows * solver->columns <= small)
    return;
  numeric_raise_bound (solver, numeric_grouping_bound (worker, set->order[0], set->rows, solver->leaves));
}

static void first_trees (struct numeric_worker *worker, struct numeric_set *set) {
  treeml_numeric *solver = worker->solver;
  struct numeric_tree tree = {0}, better = {0};
  if (numeric_tree_add (&solver->arena, &tree, -1, 0) >= 0)
    numeric_offer (worker, &tree);
  else
    numeric_stop_search (solver, TREEML_MEMORY);
  if (solver->start.nodes)
    numeric_offer (worker, &solver->start);
  group_targets (worker, set);
  const int64_t size = set->rows * solver->columns;
  if (solver->options.greedy && solver->depth > 1 && (solver->depth > 2 || size > 100000) && !numeric_poll (worker)) {
    if (size > large) {
      struct numeric_set sample;
      if (numeric_set_sample (worker, set, size / sampled, &sample))
        try_greedy (worker, &sample, NULL, 0, &tree);
      numeric_set_release (solver, &sample);
    }
    if (!numeric_stopping (solver))
      try_greedy (worker, set, NULL, 0, &tree);
    const int follows = solver->depth > 2 && !is_brief (solver, set);
    if (follows && tree.nodes && !numeric_stopping (solver))
      try_greedy (worker, set, &tree, 0, &better);
    if (follows && solver->options.deepen && !worker->first && !numeric_stopping (solver))
      try_ahead (worker, set, &better);
    if (solver->options.deepen)
      deepen (worker, set);
  }
  numeric_tree_release (&solver->arena, &tree);
  numeric_tree_release (&solver->arena, &better);
}

static void search_all (struct numeric_worker *worker, struct numeric_set *set) {
  treeml_numeric *solver = worker->solver;
  if (solver->depth == 0 || numeric_poll (worker))
    return;
  const int64_t best = atomic_load (&solver->best_value), budget = best < solver->upper ? best : solver->upper;
  const int64_t depth = numeric_useful_depth (solver, solver->depth, budget);
  if (depth <= 2) {
    const struct numeric_part part = {.set = set, .column = -1};
    struct numeric_found found;
    const struct numeric_outcome outcome =
        numeric_depth_two (worker, &part, depth, leaves_of_search (solver, depth), budget, 1, &found);
    if (numeric_stopping (solver)) /* deeper trees cost at least the budget */
      numeric_raise_bound (solver, outcome.bound < budget ? outcome.bound : budget);
  } else {
    struct numeric_tree tree = {0};
    const struct numeric_task task = {.depth = solver->depth,
                                      .leaves = leaves_of_search (solver, solver->depth),
                                      .budget = budget,
                                      .known = solver->known,
                                      .root = 1};
    numeric_search (worker, set, &task, &tree, NULL);
    numeric_tree_release (&solver->arena, &tree);
  }
}

/* Translates kept columns and ranks to the caller's columns and codes. */
static void translate (treeml_numeric *solver) {
  struct numeric_tree *tree = &solver->best;
  for (int64_t i = 0; i < tree->nodes; i++)
    if (tree->column[i] >= 0) {
      tree->cut[i] = numeric_given_code (solver, tree->column[i], tree->cut[i]);
      tree->column[i] = solver->source[tree->column[i]];
    }
  solver->best_is_given = 1;
}

/* Resets the answer, and sets the limits of a solve. */
static void begin_solve (treeml_numeric *solver, double began) {
  solver->began = began;
  /* The final tree is evaluated after the search has stopped; a little of the time is reserved for that. */
  const double given = 1e-6 * (double) solver->options.microseconds, last = 3e-8 * (double) solver->rows;
  solver->deadline =
      solver->options.microseconds == INT64_MAX ? 1e300 : began + given - (last < given / 4 ? last : given / 4);
  solver->next_watch = began + 1e-3 * (double) solver->options.poll_milliseconds;
  solver->arena.limit = solver->options.memory == INT64_MAX ? SIZE_MAX : (size_t) solver->options.memory;
  atomic_store (&solver->arena.until_failure, solver->options.fail_allocation);
  atomic_store (&solver->stopping, 0);
  atomic_store (&solver->best_value, NUMERIC_NONE);
  atomic_store (&solver->bound, 0);
  solver->claimed = NUMERIC_NONE;
  solver->better = solver->best_is_given = 0;
  solver->proposal.nodes = 0;
  solver->known = 0;
  solver->decided = 0;
  solver->upper = beside_base (solver, solver->options.upper);
  solver->enough = beside_base (solver, solver->options.enough);
}

static void end_solve (treeml_numeric *solver) {
  atomic_store (&solver->arena.until_failure, 0);
  solver->arena.limit = SIZE_MAX;
}

/* Whether every value that the search pruned by is that of a tree, up to rounding. */
static int has_its_trees (const treeml_numeric *solver) {
  const int64_t best = atomic_load (&solver->best_value), known = best < solver->upper ? best : solver->upper;
  return solver->claimed >= known || known - solver->claimed <= treeml_numeric_slack (solver);
}

/* Status, reason to stop, and bound after a search. */
static void conclude (treeml_numeric *solver) {
  const int stopped = atomic_load (&solver->stopping);
  const int found = atomic_load (&solver->best_value) < NUMERIC_NONE;
  if (!stopped) {
    solver->status = found ? TREEML_OPTIMAL : TREEML_INFEASIBLE;
    atomic_store (&solver->bound, found ? atomic_load (&solver->best_value) : NUMERIC_NONE);
  } else {
    solver->stop = stopped - 1;
    solver->status = found ? TREEML_FEASIBLE : TREEML_UNKNOWN;
    if (found && atomic_load (&solver->bound) >= atomic_load (&solver->best_value))
      atomic_store (&solver->bound, atomic_load (&solver->best_value));
  }
}

/* The search itself, between the sorting of the columns and the answer. Returns the time at which it began. */
static double search_columns (treeml_numeric *solver, struct numeric_worker *worker) {
  struct numeric_set set = {0};
  if (numeric_worker_create (worker) && numeric_set_root (solver, &set)) {
    if (solver->depth > 0 && !(worker->child = numeric_child_create (solver)))
      numeric_stop_search (solver, TREEML_MEMORY);
    first_trees (worker, &set);
  } else
    numeric_stop_search (solver, TREEML_MEMORY);
  const double built = clock_seconds ();
  if (!numeric_stopping (solver) && !solver->decided)
    search_all (worker, &set);
  if (numeric_stopping (solver)) /* a tree that came while the bound was raised */
    numeric_take_proposal (worker);
  numeric_child_destroy (solver, worker->child);
  numeric_set_release (solver, &set);
  numeric_worker_destroy (worker);
  return built;
}

int treeml_numeric_solve (treeml_numeric *solver) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  const double began = clock_seconds ();
  solver->code = TREEML_OK;
  solver->message[0] = 0;
  memset (&solver->statistics, 0, sizeof solver->statistics);
  solver->best.nodes = 0;
  solver->status = TREEML_UNKNOWN;
  solver->stop = TREEML_PROVED;
  if (check (solver))
    return solver->code;
  begin_solve (solver, began);
  if (solver->total_count < solver->options.support) {
    solver->status = TREEML_INFEASIBLE;
    end_solve (solver);
    return TREEML_OK;
  }
  struct numeric_worker worker = {.solver = solver, .until_clock = rows_between_clocks};
  if (!numeric_rank_columns (solver, &worker))
    numeric_stop_search (solver, TREEML_MEMORY);
  limit_shape (solver, solver->ranked == solver->given);
  if (choose_kernel (solver)) {
    end_solve (solver);
    return solver->code;
  }
  const double built = search_columns (solver, &worker);
  atomic_store (&solver->interrupted, 0);
  conclude (solver);
  if (solver->watch && solver->better)
    call_back (solver, clock_seconds ());
  translate (solver);
  statistics_add (&solver->statistics, &worker.statistics);
  solver->statistics.columns = solver->columns;
  solver->statistics.peak_memory = (int64_t) atomic_load (&solver->arena.peak);
  solver->statistics.build_microseconds = (int64_t) (1e6 * (built - began));
  solver->statistics.solve_microseconds = (int64_t) (1e6 * (clock_seconds () - built));
  end_solve (solver);
  if (solver->status == TREEML_UNKNOWN && solver->stop == TREEML_MEMORY)
    return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "the memory limit is too low for the search");
  if (!atomic_load (&solver->stopping) && !has_its_trees (solver))
    return numeric_fail (solver, TREEML_INTERNAL, "internal error: the tree found costs %lld, not %lld",
                         (long long) treeml_numeric_value (solver), (long long) (solver->claimed + solver->base));
  return TREEML_OK;
}
