/* The splits of a sub-problem shared among threads: they take them from one order, tell each other what they solved, and
   help wherever there is work while they wait. */
#include "search_parts.h"
#include "team.h"

#include <string.h>

/* Takes splits of a team until none is left; `level` holds its rows, opened, in this thread. */
static void work_in_team (struct worker *worker, struct level *level, struct team *team, int32_t *known) {
  enum { room = 64 };
  struct pool *pool = worker->shared->pool;
  const int32_t tests = worker->rows->shape.tests;
  const int at_root = worker->path_length == 0;
  for (;;) {
    struct solved_split news[room];
    int32_t count;
    while ((count = team_news (pool, team, *known, news, room)) > 0) {
      for (int32_t i = 0; i < count; i++)
        spread (worker, level, team->useful, news[i].test, news[i].yes, news[i].no);
      *known += count;
    }
    int64_t goal;
    const int32_t place = team_take (pool, team, tests, &goal);
    if (place == tests)
      return;
    const int32_t test = level->order[place];
    if (level->bound[test] >= UNREACHABLE)
      continue;
    if (plus (level->low_yes[test], level->low_no[test]) >= goal) {
      worker->statistics.skipped++;
      continue;
    }
    if (poll_search (worker))
      return;
    struct fact split;
    int64_t low[2];
    try_split (worker, level, team->depth, team->useful, test, goal, &split, low);
    const struct solved_split solved = {test, low[1], low[0]};
    if (team_record (pool, team, tests, &solved, &split) && at_root)
      publish (worker, level, team->depth, &split);
  }
}

/* Joins a team below this depth, if there is one. */
static int help (struct worker *worker, int32_t below) {
  struct pool *pool = worker->shared->pool;
  const int32_t tests = worker->rows->shape.tests;
  struct team *team = pool_join (pool, below, tests);
  if (!team)
    return 0;
  struct level *level = level_at (worker, team->depth);
  if (level) {
    const struct level *from = team->level;
    const int32_t length = worker->path_length, entries = from->start[worker->rows->lists];
    int32_t *kept = worker->path_kept + (int64_t) team->depth * worker->level_count; /* the path it is helping from */
    memcpy (kept, worker->path_stack, (size_t) length * sizeof *kept);
    memcpy (worker->path_stack, team->path, (size_t) team->path_length * sizeof *team->path);
    worker->path_length = team->path_length;
    memcpy (level->ids, from->ids, (size_t) entries * sizeof *level->ids);
    memcpy (level->start, from->start, sizeof level->start);
    memcpy (level->hash, from->hash, sizeof level->hash);
    worker->model->measure (worker, level);
    if (worker->model->pairs (worker, level)) {
      memcpy (level->order, from->order, (size_t) tests * sizeof *level->order);
      begin_bounds (worker, level);
      int32_t known = 0;
      work_in_team (worker, level, team, &known);
    }
    memcpy (worker->path_stack, kept, (size_t) length * sizeof *kept);
    worker->path_length = length;
  }
  pool_leave (pool, team);
  return level != NULL;
}

/* The splits of a level offered to all threads. Returns 0 without memory for that. */
int search_together (struct worker *worker, struct level *level, int32_t depth, int32_t useful, int64_t upper,
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
      team.bound[test] = level->bound[test];
    team.level = level;
    team.path = path;
    team.path_length = worker->path_length;
    team.depth = depth;
    team.useful = useful;
    team.floor = fact->lower;
    team.upper = upper;
    team.fact = *fact;
    int32_t known = 0;
    pool_offer (pool, &team);
    work_in_team (worker, level, &team, &known);
    pool_withdraw (pool, &team);
    while (!pool_is_done (pool, &team)) {
      worker->work += 100000;
      poll_search (worker);
      if (!help (worker, depth))
        pool_wait (pool);
    }
    struct solved_split news[1];
    while (team_news (pool, &team, known, news, 1)) {
      spread (worker, level, useful, news[0].test, news[0].yes, news[0].no);
      known++;
    }
    memcpy (level->bound, team.bound, (size_t) tests * sizeof *level->bound);
    *fact = (struct fact){fact->lower, team.fact.upper, team.fact.split, team.fact.shallow};
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
    pthread_mutex_lock (&pool->lock);
    const int closing = pool->closing;
    pthread_mutex_unlock (&pool->lock);
    if (closing)
      return NULL;
    if (!help (worker, INT32_MAX))
      pool_wait (pool);
  }
}
