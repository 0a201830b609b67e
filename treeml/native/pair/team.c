/* One lock guards all teams. It is taken once for each split, and splits of offered sub-problems take long enough
   for that. */
#include "pair/team.h"

#include <time.h>

void pool_open (struct pool *pool) {
  pthread_mutex_init (&pool->lock, NULL);
  pthread_cond_init (&pool->changed, NULL);
}

void pool_close (struct pool *pool) {
  pthread_mutex_destroy (&pool->lock);
  pthread_cond_destroy (&pool->changed);
}

void pool_offer (struct pool *pool, struct team *team) {
  pthread_mutex_lock (&pool->lock);
  team->next = pool->teams;
  pool->teams = team;
  pthread_cond_broadcast (&pool->changed);
  pthread_mutex_unlock (&pool->lock);
}

void pool_withdraw (struct pool *pool, struct team *team) {
  pthread_mutex_lock (&pool->lock);
  struct team **link = &pool->teams;
  while (*link != team)
    link = &(*link)->next;
  *link = team->next;
  pthread_mutex_unlock (&pool->lock);
}

int pool_is_done (struct pool *pool, const struct team *team) {
  pthread_mutex_lock (&pool->lock);
  const int done = !team->users;
  pthread_mutex_unlock (&pool->lock);
  return done;
}

struct team *pool_join (struct pool *pool, int32_t below, int32_t tests) {
  struct team *best = NULL;
  pthread_mutex_lock (&pool->lock);
  for (struct team *team = pool->teams; team; team = team->next)
    if (team->depth < below && team->taken < tests && (!best || team->depth > best->depth))
      best = team;
  if (best)
    best->users++;
  pthread_mutex_unlock (&pool->lock);
  return best;
}

void pool_leave (struct pool *pool, struct team *team) {
  pthread_mutex_lock (&pool->lock);
  team->users--;
  pthread_cond_broadcast (&pool->changed);
  pthread_mutex_unlock (&pool->lock);
}

void pool_wait (struct pool *pool) {
  struct timespec until;
  clock_gettime (CLOCK_REALTIME, &until);
  until.tv_nsec += 500000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_sec++;
    until.tv_nsec -= 1000000000;
  }
  pthread_mutex_lock (&pool->lock);
  if (!pool->closing)
    pthread_cond_timedwait (&pool->changed, &pool->lock, &until);
  pthread_mutex_unlock (&pool->lock);
}

int32_t team_take (struct pool *pool, struct team *team, int32_t tests, int64_t *goal) {
  pthread_mutex_lock (&pool->lock);
  const int32_t place = team->taken < tests ? team->taken++ : tests;
  *goal = team->fact.upper < team->upper ? team->fact.upper : team->upper;
  pthread_mutex_unlock (&pool->lock);
  return place;
}

int32_t team_news (struct pool *pool, const struct team *team, int32_t from, struct solved_split *news, int32_t room) {
  int32_t count = 0;
  pthread_mutex_lock (&pool->lock);
  while (from + count < team->solved_count && count < room) {
    news[count] = team->solved[from + count];
    count++;
  }
  pthread_mutex_unlock (&pool->lock);
  return count;
}

int team_record (struct pool *pool, struct team *team, int32_t tests, const struct solved_split *split,
                 const struct fact *fact) {
  pthread_mutex_lock (&pool->lock);
  team->solved[team->solved_count++] = *split;
  team->bound[split->test] = fact->lower;
  const int better = fact->upper < team->fact.upper;
  if (better) {
    team->fact = *fact;
    if (fact->upper <= team->floor)
      team->taken = tests;
  }
  pthread_mutex_unlock (&pool->lock);
  return better;
}
