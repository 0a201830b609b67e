/* The state of one thread of the search. */
#include "pair/search_parts.h"

#include <stdlib.h>
#include <string.h>

void worker_release (struct worker *worker) {
  struct arena *arena = &worker->solver->arena;
  for (int32_t i = 0; worker->problems && i < worker->problem_count; i++)
    subproblem_release (worker, worker->problems[i]);
  subproblem_release (worker, worker->spare);
  if (worker->model)
    worker->model->worker_release (worker);
  arena_release (arena, worker->problems);
  arena_release (arena, worker->small_ids);
  arena_release (arena, worker->scratch);
  arena_release (arena, worker->path);
  arena_release (arena, worker->path_stack);
  arena_release (arena, worker->path_kept);
  archive_release (worker);
  near_work_release (worker);
  depth_two_table_release (arena, &worker->own_two);
  leaf_destroy (worker->leaf);
}

int worker_make (struct worker *worker, struct shared *shared, treeml_solver *solver, const struct rows *rows,
                 const struct model *model) {
  struct arena *arena = &solver->arena;
  worker->shared = shared;
  worker->solver = solver;
  worker->rows = rows;
  worker->kernel = solver->kernel;
  worker->cells = simd_cells (simd_select (solver->options.kernel, simd_avx512));
  worker->model = model;
  worker->two = solver->options.threads > 1 ? &shared->two : &worker->own_two;
  worker->problem_count = shared->whole_depth + 1;
  const size_t tests = (size_t) rows->shape.stride + 64;
  worker->leaf = leaf_create (solver);
  worker->problems = arena_allocate (arena, (size_t) worker->problem_count, sizeof *worker->problems);
  worker->small_ids = arena_allocate (arena, (size_t) rows->entries + 16, sizeof *worker->small_ids);
  worker->scratch = arena_allocate (arena, 6 * tests, sizeof (int64_t));
  worker->path = arena_allocate (arena, (size_t) worker->problem_count + 1, sizeof *worker->path);
  worker->path_stack = arena_allocate (arena, (size_t) worker->problem_count + 1, sizeof *worker->path_stack);
  if (solver->options.threads > 1)
    worker->path_kept = arena_allocate (arena, (size_t) worker->problem_count * (size_t) worker->problem_count + 1,
                                        sizeof *worker->path_kept);
  const int kept = solver->options.threads <= 1 || worker->path_kept;
  const int fits = model->worker_make (worker) && kept && worker->leaf && worker->problems && worker->small_ids &&
                   worker->scratch && worker->path && worker->path_stack &&
                   (worker->spare = subproblem_make (worker, 1));
  /* Under a memory limit the problems are allocated first, and the cache gets the remainder. */
  for (int32_t depth = 1; fits && solver->options.memory != UNLIMITED && depth < worker->problem_count && depth <= 64;
       depth++)
    if (!(worker->problems[depth] = subproblem_make (worker, 0)))
      return 0;
  return fits && archive_make (worker);
}

/* Chooses the size of the table of depth-two results. Under a memory limit it gets an eighth of what is left, since
   the old and the new table coexist while it grows. */
void make_depth_two_table (struct worker *first) {
  treeml_solver *solver = first->solver;
  struct arena *arena = &solver->arena;
  struct depth_two_table *two = first->two;
  two->most = solver->options.cache_kind ? solver->options.small_cache : 0;
  while (two->most & (two->most - 1)) /* rounded down to a power of two */
    two->most &= two->most - 1;
  if (solver->options.memory != UNLIMITED) {
    const size_t left = arena->limit - atomic_load (&arena->used);
    while (two->most > (int64_t) (left / 8 / 24))
      two->most /= 2;
  }
  if (two == &first->shared->two)
    depth_two_table_share (arena, two);
}
