/* One lock guards all teams. It is taken once for each split, and splits of offered sub-problems take long enough
   for that. */
#include "pair/team.h"

void pool_open (struct pool *pool) {
  lock_make (&pool->lock);
  signal_make (&pool->changed);
}

void pool_close (struct pool *pool) {
  lock_destroy (&pool->lock);
  signal_destroy (&pool->changed);
}

void pool_offer (struct pool *pool, struct team *team) {
  lock_take (&pool->lock);
  team->next = pool->teams;
  pool->teams = team;
  signal_all (&pool->changed);
  lock_leave (&pool->lock);
}

void pool_withdraw (struct pool *pool, struct team *team) {
  lock_take (&pool->lock);
  struct team **link = &pool->teams;
  while (*link != team)
    link = &(*link)->next;
  *link = team->next;
  lock_leave (&pool->lock);
}

int pool_is_done (struct pool *pool, const struct team *team) {
  lock_take (&pool->lock);
  const int done = !team->users;
  lock_leave (&pool->lock);
  return done;
}

struct team *pool_join (struct pool *pool, int32_t below, int32_t tests) {
  struct team *best = NULL;
  lock_take (&pool->lock);
  for (struct team *team = pool->teams; team; team = team->next)
    if (team->depth < below && team->taken < tests && (!best || team->depth > best->depth))
      best = team;
  if (best)
    best->users++;
  lock_leave (&pool->lock);
  return best;
}

void pool_leave (struct pool *pool, struct team *team) {
  lock_take (&pool->lock);
  team->users--;
  signal_all (&pool->changed);
  lock_leave (&pool->lock);
}

void pool_wait (struct pool *pool) {
  lock_take (&pool->lock);
  if (!pool->closing)
    signal_wait (&pool->changed, &pool->lock, 0.5);
  lock_leave (&pool->lock);
}

int32_t team_take (struct pool *pool, struct team *team, int32_t tests, int64_t *goal) {
  lock_take (&pool->lock);
  const int32_t place = team->taken < tests ? team->taken++ : tests;
  *goal = team->fact.upper < team->upper ? team->fact.upper : team->upper;
  lock_leave (&pool->lock);
  return place;
}

int32_t team_news (struct pool *pool, const struct team *team, int32_t from, struct solved_split *news, int32_t room) {
  int32_t count = 0;
  lock_take (&pool->lock);
  while (from + count < team->solved_count && count < room) {
    news[count] = team->solved[from + count];
    count++;
  }
  lock_leave (&pool->lock);
  return count;
}

int team_record (struct pool *pool, struct team *team, int32_t tests, const struct solved_split *split,
                 const struct fact *fact) {
  lock_take (&pool->lock);
  team->solved[team->solved_count++] = *split;
  team->bound[split->test] = fact->lower;
  const int better = fact->upper < team->fact.upper;
  if (better) {
    team->fact = *fact;
    if (fact->upper <= team->floor)
      team->taken = tests;
  }
  lock_leave (&pool->lock);
  return better;
}
