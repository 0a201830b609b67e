/* The course of a solve: multipliers, then targets from a likely value upwards until there is a tree.

   Once all trees of at most the target have been listed, the best of them is optimal; if there are none, every tree has
   a greater value. */
#include "coupled_numeric/solver.h"

#include <string.h>

enum { first_work = 1000000000 }; /* for first trees of one depth, in nanoseconds or so */

static int create_weights (threshold_solver *solver) {
  const size_t rows = (size_t) solver->rows, classes = (size_t) solver->classes;
  solver->weight = arena_reserve (&solver->arena, times (rows, (size_t) solver->pairs * WIDTH), sizeof (double));
  solver->cost = arena_reserve (&solver->arena, times (rows, classes * WIDTH), sizeof (double));
  solver->floor = arena_reserve (&solver->arena, times (rows, WIDTH), sizeof (double));
  solver->range = arena_reserve (&solver->arena, times (rows, WIDTH), sizeof (double));
  solver->hit_room = 1024;
  solver->hits = arena_reserve (&solver->arena, (size_t) solver->hit_room, sizeof *solver->hits);
  solver->work = (struct vector_work) {.arena = &solver->arena, .stopped = threshold_poll_lists, .state = solver};
  for (int32_t k = 0; k < solver->classes; k++)
    if (threshold_split_add (solver, -1, 0, k, 0) < 0)
      return 0;
  return solver->weight && solver->cost && solver->floor && solver->range && solver->hits &&
         threshold_path_create (solver) && threshold_table_create (solver);
}

static void release_weights (threshold_solver *solver) {
  void *blocks[] = {solver->weight, solver->cost,  solver->floor,    solver->range,
                    solver->hits,   solver->split, solver->relative, solver->path};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    arena_release (&solver->arena, blocks[i]);
  solver->weight = solver->cost = solver->floor = solver->range = NULL;
  solver->hits = NULL;
  solver->split = NULL;
  solver->relative = NULL;
  solver->path = NULL;
  solver->splits = solver->split_room = 0;
  if (solver->work.arena)
    vector_work_release (&solver->work);
  threshold_table_release (solver);
}

/* The greatest value of the trees that are still wanted. */
static int64_t highest_value (const threshold_solver *solver) {
  int64_t highest = solver->most_value;
  const int64_t upper = threshold_relative (solver, solver->options.upper) - 1;
  highest = upper < highest ? upper : highest;
  return solver->best_value <= highest ? solver->best_value - 1 : highest;
}

/* Tries targets from `bound` and `start` on, until no better tree is wanted. Returns the proved bound. */
static int64_t raise_target (threshold_solver *solver, const struct threshold_rows *all, struct threshold_node *node,
                             int64_t bound, int64_t start) {
  double slack = 1 + 0.005 * (double) (solver->most_value - solver->least_value);
  int64_t target = start > bound ? start : bound;
  while (!solver->stopping && bound <= highest_value (solver)) {
    const int64_t highest = highest_value (solver);
    solver->target = target < highest ? target : highest;
    if (!threshold_enumerate_root (solver, all, node))
      break;
    bound = solver->target + 1; /* a better tree has lowered the target */
    if (!solver->narrow) {
      solver->statistics.targets++;
      solver->bound = bound > solver->bound ? bound : solver->bound;
    }
    target = bound + (int64_t) slack;
    slack *= 1.6;
  }
  return bound;
}

/* First trees: all trees of depth two, and deeper ones with few cuts at every node. Nothing is proved. */
static void first_trees (threshold_solver *solver, const struct threshold_rows *all, const int64_t start[2]) {
  static const int32_t narrow[] = {0, 0, 0, 8, 4, 3, 2};
  const int64_t depth = solver->depth, leaves = solver->leaves, bound = solver->bound;
  for (int64_t stage = 2; stage <= depth && stage <= 6 && !solver->stopping; stage++) {
    struct threshold_node node = {0};
    const int64_t most = INT64_C (1) << stage;
    solver->depth = stage;
    solver->leaves = leaves < most ? leaves : most;
    solver->narrow = stage > 2 ? narrow[stage] : 1;
    solver->allowance = first_work;
    const int deep = stage > 2 && solver->leaves > 3;
    if (!deep || threshold_node_create (solver, &node, all, stage, solver->leaves))
      raise_target (solver, all, deep ? &node : NULL, solver->least_value, start[stage > 2]);
    threshold_node_release (solver, &node);
    if (solver->stopping == 1 + threshold_paused)
      solver->stopping = 0;
  }
  solver->allowance = INT64_MAX;
  solver->narrow = 0;
  solver->depth = depth;
  solver->leaves = leaves;
  solver->bound = bound;
}

static void search (threshold_solver *solver) {
  struct threshold_rows all = {0};
  struct threshold_node node = {0};
  int64_t start[2];
  int fine = create_weights (solver) && threshold_rows_all (solver, &all);
  if (!fine)
    threshold_stop (solver, TREEML_MEMORY);
  fine = fine && threshold_choose (solver, &all, start);
  const int deep = solver->depth > 2 && solver->leaves > 3;
  if (fine && deep)
    first_trees (solver, &all, start);
  solver->statistics.build_microseconds = (int64_t) (1e6 * (clock_seconds () - solver->began));
  if (fine && deep)
    fine = !solver->stopping && threshold_node_create (solver, &node, &all, solver->depth, solver->leaves);
  if (fine && deep)
    fine = threshold_team_create (solver);
  if (fine)
    raise_target (solver, &all, deep ? &node : NULL, solver->bound, start[deep]);
  threshold_team_release (solver);
  threshold_node_release (solver, &node);
  threshold_rows_release (solver, &all);
}

/* Limits depth and leaves by each other and by the number of rows. */
static void limit_shape (threshold_solver *solver) {
  int64_t leaves = solver->total_count / solver->options.support;
  leaves = leaves < solver->rows ? leaves : solver->rows;
  int binding = solver->options.leaves < leaves;
  leaves = binding ? solver->options.leaves : leaves;
  leaves = leaves < 1 ? 1 : leaves;
  int64_t depth = solver->options.depth < leaves - 1 ? solver->options.depth : leaves - 1;
  if (!solver->columns)
    depth = 0;
  if (depth < 62 && leaves >= INT64_C (1) << depth) {
    leaves = INT64_C (1) << depth;
    binding = 0;
  }
  solver->depth = depth;
  solver->leaves = leaves;
  solver->leaves_matter = binding;
}

/* Offers the tree given to begin with. */
static void offer_start (threshold_solver *solver) {
  const struct threshold_tree *start = &solver->start;
  struct threshold_tree copy = {0};
  for (int64_t i = 0; i < start->nodes && !solver->stopping; i++) {
    const int64_t at = threshold_tree_add (&solver->arena, &copy, start->column[i], start->cut[i], start->label[i]);
    if (at < 0) {
      threshold_stop (solver, TREEML_MEMORY);
      break;
    }
    copy.yes[at] = start->yes[i];
    copy.no[at] = start->no[i];
  }
  if (copy.nodes && !solver->stopping)
    threshold_offer (solver, &copy);
  threshold_tree_release (&solver->arena, &copy);
}

/* Offers every class as a single leaf, so that there is a tree at once where one meets the bounds. */
static void offer_leaves (threshold_solver *solver) {
  for (int32_t k = 0; k < solver->classes && !solver->stopping; k++) {
    struct threshold_tree leaf = {0};
    if (threshold_tree_add (&solver->arena, &leaf, -1, 0, k) < 0)
      threshold_stop (solver, TREEML_MEMORY);
    else
      threshold_offer (solver, &leaf);
    threshold_tree_release (&solver->arena, &leaf);
  }
}

void threshold_run (threshold_solver *solver) {
  limit_shape (solver);
  if (solver->total_count >= solver->options.support && threshold_prepare (solver)) {
    const int64_t lower = threshold_relative (solver, solver->options.lower);
    solver->bound = lower > solver->least_value ? lower : solver->least_value;
    offer_start (solver);
    if (!threshold_poll (solver)) {
      offer_leaves (solver);
      search (solver);
    }
  }
  release_weights (solver);
}
