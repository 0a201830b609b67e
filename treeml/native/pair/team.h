/* Threads that share the splits of one sub-problem.

   The thread that opens a sub-problem of sufficient depth owns it and offers it to the pool. Idle threads, and
   owners that wait for others to finish, join an offered sub-problem below their own, copy its rows, and take tests
   from its order. The result of each split serves all of them as a bound. */
#ifndef TREEML_TEAM_H
#define TREEML_TEAM_H

#include "solver/cache.h"
#include "common/platform.h"

#include <stdint.h>

struct subproblem;

struct solved_split {
  int32_t test;
  int64_t yes, no;
};

struct team {
  struct team *next;
  const struct subproblem *problem; /* the owner's problem: its rows and order do not change while it is offered */
  const int32_t *path;
  int32_t path_length, depth, useful;
  int64_t floor, upper;
  /* Protected by the lock of the pool. */
  int32_t taken, users, solved_count;
  struct fact fact;
  struct solved_split *solved;
  int64_t *bound;
};

struct pool {
  thread_lock lock;
  thread_signal changed;
  struct team *teams;
  int closing;
};

void pool_open (struct pool *);
void pool_close (struct pool *);
void pool_offer (struct pool *, struct team *);
/* Ends joining; the team is done when all who joined have left. */
void pool_withdraw (struct pool *, struct team *);
int pool_is_done (struct pool *, const struct team *);
/* A team with splits left and a depth below `below`, or NULL. */
struct team *pool_join (struct pool *, int32_t below, int32_t tests);
void pool_leave (struct pool *, struct team *);
/* Sleeps for a moment, or until something changes. */
void pool_wait (struct pool *);

/* Takes the next place in the order, or `tests` if there is none; a split must stay below *goal. */
int32_t team_take (struct pool *, struct team *, int32_t tests, int64_t *goal);
/* Copies up to `room` of the splits solved since `from`. */
int32_t team_news (struct pool *, const struct team *, int32_t from, struct solved_split *news, int32_t room);
/* Records a solved split; non-zero if it is the best so far. */
int team_record (struct pool *, struct team *, int32_t tests, const struct solved_split *, const struct fact *);

#endif
