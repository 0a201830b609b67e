/* Runs the pair search from the rows to the answer. */
#include "pair/search_parts.h"
#include "pair/team.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether the number of leaves is limited by more than the depth. */
static int limits_leaves (const struct options *options) {
  return options->leaves != UNLIMITED && (options->depth >= 62 || options->leaves < (int64_t) 1 << options->depth);
}

/* The model that can represent the problem, or NULL. */
static const struct model *model_for (const treeml_solver *solver) {
  const struct options *options = &solver->options;
  if (options->general || !options->pairs || options->once || solver->column_cost || solver->limited_cost ||
      solver->purity_weight || solver->tests > 8192)
    return NULL;
  const int sized = limits_leaves (options);
  if (sized && options->leaves > most_leaves)
    return NULL;
  if (solver->goal == goal_classes && options->support <= INT32_MAX / 2) {
    if (solver->classes == 2 && (options->support <= 1 ? !solver->count : !sized && rows_are_alike (solver)))
      return &signed_model;
    if (sized)
      return NULL;
    if (!solver->count || options->support > 1)
      return &class_model;
  }
  if (!sized && solver->goal == goal_loss && solver->loss == TREEML_SQUARED && solver->outputs <= 1024 &&
      isinf (solver->enough_loss) && (!solver->count || options->support > 1))
    return &moment_model;
  return NULL;
}

int search_takes (treeml_solver *solver) { return model_for (solver) != NULL; }

/* Fills in the answer. The tree is checked against the data as given before its value is trusted. */
static int finish (treeml_solver *solver, struct worker *worker, const struct rows *rows, struct shared *shared) {
  struct answer *answer = &solver->answers[0];
  answer->bound = plus (shared->bound, rows->offset + solver->offset);
  answer->value = INT64_MAX;
  answer->status = TREEML_UNKNOWN;
  if (!shared->has_tree) {
    if (!solver_stopping (solver) && shared->bound >= shared->value)
      answer->status = TREEML_INFEASIBLE;
    return TREEML_OK;
  }
  if (solver_stopping (solver) == 1 + TREEML_MEMORY)
    solver->arena.limit = SIZE_MAX; /* memory to return what was found */
  const int64_t value = tree_finish (solver, worker->leaf, &shared->tree, 0);
  if (value >= UNREACHABLE)
    return solver_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory to return the tree");
  if (!tree_keeps_limits (solver, &shared->tree))
    return solver_fail (solver, TREEML_INTERNAL, "internal error: the tree found violates a limit on depth or leaves");
  if (value > shared->value + rows->offset + shared->slack)
    return solver_fail (solver, TREEML_INTERNAL, "internal error: the tree found costs %lld, not %lld",
                        (long long) value, (long long) (shared->value + rows->offset));
  answer->tree = shared->tree;
  memset (&shared->tree, 0, sizeof shared->tree);
  answer->value = value + solver->offset;
  answer->status = answer->bound + shared->slack >= answer->value ? TREEML_OPTIMAL : TREEML_FEASIBLE;
  answer->bound = answer->status == TREEML_OPTIMAL ? answer->value : smaller (answer->bound, answer->value);
  return TREEML_OK;
}

static void begin_with_start (struct worker *worker) {
  treeml_solver *solver = worker->solver;
  struct shared *shared = worker->shared;
  struct tree start = {0};
  if (!solver->start.nodes || tree_copy (&solver->arena, &start, &solver->start))
    return;
  const int64_t value = tree_finish (solver, worker->leaf, &start, 0);
  if (value < UNREACHABLE && value - worker->rows->offset < shared->value && tree_keeps_limits (solver, &start)) {
    shared->tree = start;
    shared->value = shared->tree_value = value - worker->rows->offset;
    shared->has_tree = 1;
  } else
    tree_release (&solver->arena, &start);
}

/* Solves one depth after the other: a shallower optimum is an upper bound for the next depth. */
static void deepen (struct worker *worker) {
  treeml_solver *solver = worker->solver;
  struct shared *shared = worker->shared;
  /* A price per leaf prunes deep trees better than a limit on depth does. */
  const int32_t last = shared->any_depth && shared->price ? 4 : 6;
  int32_t depth = solver->options.deepening && shared->whole_depth > pass_depth ? pass_depth : shared->whole_depth;
  for (;;) {
    shared->depth = depth;
    struct subproblem *problem = subproblem_at (worker, depth);
    if (!problem)
      return;
    load_root (worker, problem);
    const int64_t leaf = worker->model->leaf (worker, problem);
    struct fact fact = {0, leaf, leaf < UNREACHABLE ? is_leaf : is_unknown, 0};
    if (leaf < UNREACHABLE)
      publish (worker, problem, depth, &fact);
    settle (worker, problem, depth);
    shared->bound = smaller (leaf, 2 * shared->price);
    if (shared->value <= shared->bound)
      return;
    solve_and_climb (worker, depth, &fact);
    if (fact.upper < UNREACHABLE)
      publish (worker, problem, depth, &fact);
    settle (worker, problem, depth);
    if (solver_stopping (solver) || depth == shared->whole_depth)
      return;
    depth = depth < last ? depth + 1 : shared->whole_depth;
  }
}

static int run (treeml_solver *solver, const struct rows *rows, struct shared *shared, const struct model *model) {
  /* A problem that a single level of passes solves has nothing to share, and a limit on leaves needs one thread to
     distribute them. */
  const int32_t wanted = shared->whole_depth > pass_depth && !shared->leaves ? (int32_t) solver->options.threads : 1;
  struct worker *workers = arena_allocate (&solver->arena, (size_t) wanted, sizeof *workers);
  thread_handle *threads = arena_allocate (&solver->arena, (size_t) wanted, sizeof *threads);
  struct pool pool = {0};
  int32_t made = 0, started = 1;
  int fits = workers && threads;
  for (; fits && made < wanted; made++)
    if (!worker_make (&workers[made], shared, solver, rows, model)) {
      made++;
      fits = 0;
      break;
    }
  if (fits)
    make_depth_two_table (&workers[0]);
  lock_make (&shared->lock);
  if (fits) {
    workers[0].first = 1;
    begin_with_start (&workers[0]);
    solver->statistics.build_microseconds = (int64_t) (1e6 * (clock_seconds () - solver->began));
    if (wanted > 1) {
      pool_open (&pool);
      shared->pool = &pool;
      while (started < wanted && !thread_start (&threads[started], helper, &workers[started]))
        started++;
    }
    deepen (&workers[0]);
    if (wanted > 1) {
      lock_take (&pool.lock);
      pool.closing = 1;
      signal_all (&pool.changed);
      lock_leave (&pool.lock);
      for (int32_t i = 1; i < started; i++)
        thread_join (&threads[i]);
      pool_close (&pool);
      shared->pool = NULL;
    }
    finish (solver, &workers[0], rows, shared);
  } else
    solver_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for the search");
  lock_destroy (&shared->lock);
  for (int32_t i = 0; i < made; i++) {
    statistics_add (&solver->statistics, &workers[i].statistics);
    worker_release (&workers[i]);
  }
  arena_release (&solver->arena, workers);
  arena_release (&solver->arena, threads);
  return solver->code;
}

int search_run (treeml_solver *solver) {
  const struct model *model = model_for (solver);
  struct rows rows;
  const int code = model == &signed_model  ? rows_make_signed (solver, &rows)
                   : model == &class_model ? rows_make_classes (solver, &rows)
                                           : rows_make_moments (solver, &rows);
  if (code)
    return code;
  if (!rows.lists) { /* too many distinct numbers for lists */
    rows_release (solver, &rows);
    return general_run (solver);
  }
  const int bits = model != &signed_model                   ? 32
                   : rows.whole <= INT16_MAX && !rows.dense ? 16
                   : rows.whole <= INT32_MAX                ? 32
                                                            : 64;
  struct shared shared = {0};
  const enum simd simd = simd_select (solver->options.kernel, simd_avx512);
  solver->kernel = simd_pair_kernel (simd, bits);
  solver->narrow_kernel = bits == 64 && rows.dense ? simd_pair_kernel (simd, 32) : solver->kernel;
  solver->cache = cache_create (&solver->arena, (enum cache_kind) solver->options.cache_kind,
                                (enum wipe_strategy) solver->options.wipe, (int) solver->options.wipe_share,
                                (int) solver->options.threads, solver->options.cache);
  if (!solver->kernel)
    solver_fail (solver, TREEML_BAD_ARGUMENT, "this processor cannot run the kernel asked for");
  else if (!solver->cache)
    solver_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for the cache");
  else {
    const int64_t deepest = rows.entries > 1 ? rows.entries - 1 : 0;
    shared.price = solver->options.leaf_price;
    shared.slack = solver->slack = solver_slack (solver, rows.error);
    shared.support = solver->options.support;
    shared.similar = solver->options.similarity && (shared.support <= 1 || model == &signed_model);
    shared.whole_depth = (int32_t) smaller (smaller (solver->options.depth, deepest), rows.shape.tests);
    shared.any_depth = shared.whole_depth == smaller (deepest, rows.shape.tests);
    shared.leaves = limits_leaves (&solver->options) ? solver->options.leaves : 0;
    if (shared.leaves)
      shared.whole_depth = (int32_t) smaller (shared.whole_depth, shared.leaves - 1);
    shared.value = solver_upper (solver, rows.offset + solver->offset);
    shared.tree_value = shared.value;
    solver->statistics.tests = rows.shape.tests;
    solver->statistics.rows = rows.rows;
    solver->statistics.unavoidable = rows.offset + solver->offset;
    run (solver, &rows, &shared, model);
    cache_count (solver->cache, &solver->statistics.entries, &solver->statistics.wipes, &solver->statistics.wiped);
  }
  tree_release (&solver->arena, &shared.tree);
  depth_two_table_release (&solver->arena, &shared.two);
  near_pairs_release (solver, &shared.near);
  cache_destroy (solver->cache);
  solver->cache = NULL;
  rows_release (solver, &rows);
  return solver->code;
}
