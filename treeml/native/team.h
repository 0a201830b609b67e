/* Threads that share the splits of one sub-problem.

   Whoever opens a deep enough sub-problem is its owner and offers it to the pool. Idle threads, and owners who wait for
   others to finish, join an offered sub-problem below their own, copy its rows, and take tests from its order. What one
   of them solves, all use as a bound. */
#ifndef TREEML_TEAM_H
#define TREEML_TEAM_H

#include "cache.h"

#include <pthread.h>
#include <stdint.h>

struct level;

struct solved_split {
  int32_t test;
  int64_t yes, no;
};

struct team {
  struct team *next;
  const struct level *level; /* the owner's: rows and order do not change while it is offered */
  const int32_t *path;
  int32_t path_length, depth, useful;
  int64_t floor, upper;
  /* Under the pool's lock. */
  int32_t taken, users, solved_count;
  struct fact fact;
  struct solved_split *solved;
  int64_t *bound;
};

struct pool {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  struct team *teams;
  int closing;
};

void pool_open (struct pool *);
void pool_close (struct pool *);
void pool_offer (struct pool *, struct team *);
/* No more joining; the team is done when all who joined have left. */
void pool_withdraw (struct pool *, struct team *);
int pool_is_done (struct pool *, const struct team *);
/* A team with splits left and a depth below `below`, or NULL. */
struct team *pool_join (struct pool *, int32_t below, int32_t tests);
void pool_leave (struct pool *, struct team *);
/* Sleeps for a moment, or until something changes. */
void pool_wait (struct pool *);

/* The next place in the order, or `tests`; *goal is what a split must stay below. */
int32_t team_take (struct pool *, struct team *, int32_t tests, int64_t *goal);
/* Splits solved since `from`: up to `room` of them are copied. */
int32_t team_news (struct pool *, const struct team *, int32_t from, struct solved_split *news, int32_t room);
/* Notes a solved split; non-zero if it is the best so far. */
int team_record (struct pool *, struct team *, int32_t tests, const struct solved_split *, const struct fact *);

#endif
