/* The splits of a sub-problem shared among threads: they take tests from one order, exchange the results, and help
   with other sub-problems while they wait. */
#include "pair/search_parts.h"
#include "pair/team.h"

#include <string.h>

/* Takes splits of a team until none is left; `problem` holds its opened rows in this thread. */
static void work_in_team (struct worker *worker, struct subproblem *problem, struct team *team, int32_t *known) {
  enum { room = 64 };
  struct pool *pool = worker->shared->pool;
  const int32_t tests = worker->rows->shape.tests;
  const int at_root = worker->path_length == 0;
  for (;;) {
    struct solved_split news[room];
    int32_t count;
    while ((count = team_news (pool, team, *known, news, room)) > 0) {
      for (int32_t i = 0; i < count; i++)
        spread (worker, problem, team->useful, news[i].test, news[i].yes, news[i].no);
      *known += count;
    }
    int64_t goal;
    const int32_t place = team_take (pool, team, tests, &goal);
    if (place == tests)
      return;
    const int32_t test = problem->order[place];
    if (problem->bound[test] >= UNREACHABLE)
      continue;
    if (plus (problem->low_yes[test], problem->low_no[test]) >= goal) {
      worker->statistics.skipped++;
      continue;
    }
    if (poll_search (worker))
      return;
    struct fact split;
    int64_t low[2];
    try_split (worker, problem, team->useful, test, goal, &split, low);
    const struct solved_split solved = {test, low[1], low[0]};
    if (team_record (pool, team, tests, &solved, &split) && at_root)
      publish (worker, problem, team->depth, &split);
  }
}

/* Joins a team below this depth, if there is one. */
static int help (struct worker *worker, int32_t below) {
  struct pool *pool = worker->shared->pool;
  const int32_t tests = worker->rows->shape.tests;
  struct team *team = pool_join (pool, below, tests);
  if (!team)
    return 0;
  struct subproblem *problem = subproblem_at (worker, team->depth);
  if (problem) {
    const struct subproblem *from = team->problem;
    const int32_t length = worker->path_length, entries = from->start[worker->rows->lists];
    int32_t *kept =
        worker->path_kept + (int64_t) team->depth * worker->problem_count; /* to restore the path afterwards */
    memcpy (kept, worker->path_stack, (size_t) length * sizeof *kept);
    memcpy (worker->path_stack, team->path, (size_t) team->path_length * sizeof *team->path);
    worker->path_length = team->path_length;
    memcpy (problem->ids, from->ids, (size_t) entries * sizeof *problem->ids);
    memcpy (problem->start, from->start, sizeof problem->start);
    memcpy (problem->hash, from->hash, sizeof problem->hash);
    worker->model->measure (worker, problem);
    if (worker->model->pairs (worker, problem)) {
      memcpy (problem->order, from->order, (size_t) tests * sizeof *problem->order);
      begin_bounds (worker, problem);
      int32_t known = 0;
      work_in_team (worker, problem, team, &known);
    }
    memcpy (worker->path_stack, kept, (size_t) length * sizeof *kept);
    worker->path_length = length;
  }
  pool_leave (pool, team);
  return problem != NULL;
}

/* Offers the splits of a problem to all threads. Returns 0 if there is no memory for that. */
int search_with_team (struct worker *worker, struct subproblem *problem, int32_t depth, int32_t useful, int64_t upper,
                      struct fact *fact) {
  struct arena *arena = &worker->solver->arena;
  struct pool *pool = worker->shared->pool;
  const int32_t tests = worker->rows->shape.tests;
  struct team team = {0};
  team.solved = arena_allocate (arena, (size_t) tests, sizeof *team.solved);
  team.bound = arena_allocate (arena, (size_t) tests, sizeof *team.bound);
  int32_t *path = arena_allocate (arena, (size_t) worker->path_length + 1, sizeof *path);
  const int fits = team.solved && team.bound && path;
  if (fits) {
    memcpy (path, worker->path_stack, (size_t) worker->path_length * sizeof *path);
    for (int32_t test = 0; test < tests; test++)
      team.bound[test] = problem->bound[test];
    team.problem = problem;
    team.path = path;
    team.path_length = worker->path_length;
    team.depth = depth;
    team.useful = useful;
    team.floor = fact->lower;
    team.upper = upper;
    team.fact = *fact;
    int32_t known = 0;
    pool_offer (pool, &team);
    work_in_team (worker, problem, &team, &known);
    pool_withdraw (pool, &team);
    while (!pool_is_done (pool, &team)) {
      worker->work += 100000;
      poll_search (worker);
      if (!help (worker, depth))
        pool_wait (pool);
    }
    struct solved_split news[1];
    while (team_news (pool, &team, known, news, 1)) {
      spread (worker, problem, useful, news[0].test, news[0].yes, news[0].no);
      known++;
    }
    memcpy (problem->bound, team.bound, (size_t) tests * sizeof *problem->bound);
    *fact = (struct fact) {fact->lower, team.fact.upper, team.fact.split, team.fact.shallow};
  }
  arena_release (arena, team.solved);
  arena_release (arena, team.bound);
  arena_release (arena, path);
  return fits;
}

void *helper (void *argument) {
  struct worker *worker = argument;
  struct pool *pool = worker->shared->pool;
  for (;;) {
    lock_take (&pool->lock);
    const int closing = pool->closing;
    lock_leave (&pool->lock);
    if (closing)
      return NULL;
    if (!help (worker, INT32_MAX))
      pool_wait (pool);
  }
}
