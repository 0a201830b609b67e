/* Threads that share the tests of the root. Each has its own room; bounds and tables are shared. The thread that the
   caller came with works too, and it alone calls the progress function. */
#include "coupled/search.h"

#include <string.h>

struct team {
  team_job job;
  void *task;
  int32_t count;
  atomic_int next;
};

struct member {
  struct team *team;
  struct search *search;
  thread_handle thread;
  int started;
};

static void *work (void *argument) {
  struct member *member = argument;
  struct team *team = member->team;
  for (;;) {
    const int32_t item = atomic_fetch_add (&team->next, 1);
    if (item >= team->count)
      return NULL;
    team->job (member->search, team->task, item);
  }
}

/* What the main thread has changed since the workers were made. */
static void inform (const struct search *search, struct search *worker) {
  worker->multipliers = search->multipliers;
  worker->passed = 0;
  memcpy (worker->multiplier, search->multiplier, sizeof worker->multiplier);
  memcpy (worker->weights, search->weights, sizeof worker->weights);
}

void team_run (struct search *search, team_job job, void *task, int32_t count) {
  enum { most_members = 256 };
  struct team team = {.job = job, .task = task, .count = count};
  struct member members[most_members];
  const int others = search->workers && search->threads <= most_members ? search->threads - 1 : 0;
  for (int i = 0; i < others; i++) {
    inform (search, &search->workers[i]);
    members[i] = (struct member) {.team = &team, .search = &search->workers[i]};
    members[i].started = thread_start (&members[i].thread, work, &members[i]) == 0;
  }
  struct member self = {.team = &team, .search = search};
  work (&self);
  for (int i = 0; i < others; i++) {
    if (members[i].started)
      thread_join (&members[i].thread);
    const int64_t longest = search->statistics.longest_list, other = search->workers[i].statistics.longest_list;
    statistics_add (&search->statistics, &search->workers[i].statistics);
    search->statistics.longest_list = longest > other ? longest : other;
    search->workers[i].statistics = (struct statistics) {0};
  }
}
