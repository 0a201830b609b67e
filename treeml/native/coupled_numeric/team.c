/* Threads that share the cuts of all rows. Every worker is a copy of the solver with room of its own: the data, the
   multipliers and what is known about the root are shared, and only read. Better trees reach the solver under a lock;
   before each item a worker takes over the value of the best tree so far. The thread that the caller came with works,
   too, and it alone calls the progress function. */
#include "common/platform.h"
#include "coupled_numeric/solver.h"

#include <string.h>

struct threshold_team {
  threshold_solver *boss;
  threshold_solver *workers;
  int count;
  thread_lock lock;   /* of the boss, and of what is running */
  thread_signal done; /* a thread has ended */
  int running;        /* threads beside that of the caller */
  atomic_int halted;  /* 1 + why, or 0 */
  atomic_llong next;
  int64_t items;
  threshold_job job;
  void *task;
};

static void halt (struct threshold_team *team, int stopping) {
  int expected = 0;
  atomic_compare_exchange_strong (&team->halted, &expected, stopping);
}

/* Looks at the clock and calls the progress function, with the lock taken. */
static void poll_boss (struct threshold_team *team) {
  if (threshold_poll (team->boss))
    halt (team, team->boss->stopping);
}

int threshold_team_poll (threshold_solver *worker) {
  struct threshold_team *team = worker->member_of;
  if (worker == team->workers) {
    lock_take (&team->lock);
    poll_boss (team);
    lock_leave (&team->lock);
  } else if (atomic_load_explicit (&team->boss->interrupted, memory_order_relaxed))
    halt (team, 1 + TREEML_INTERRUPTED);
  else if (clock_seconds () >= worker->deadline)
    halt (team, 1 + TREEML_TIME);
  const int halted = atomic_load (&team->halted);
  if (halted)
    threshold_stop (worker, halted - 1);
  return worker->stopping;
}

/* Room for a worker. The rest of the memory that is allowed is divided among all of them. */
static int hire (struct threshold_team *team, threshold_solver *worker, size_t memory) {
  const threshold_solver *boss = team->boss;
  memcpy (worker, boss, sizeof *worker);
  worker->arena = (struct arena) {.limit = memory};
  worker->statistics = (struct statistics) {0};
  worker->team = NULL;
  worker->member_of = team;
  worker->watch = NULL;
  worker->start = worker->best = (struct threshold_tree) {0};
  worker->table = (struct threshold_table) {0};
  worker->work = (struct vector_work) {.arena = &worker->arena, .stopped = threshold_poll_lists, .state = worker};
  worker->split = NULL;
  worker->splits = worker->split_room = 0;
  worker->path = NULL;
  worker->hits = arena_reserve (&worker->arena, (size_t) worker->hit_room, sizeof *worker->hits);
  for (int32_t k = 0; k < worker->classes; k++)
    if (threshold_split_add (worker, -1, 0, k, 0) < 0)
      return 0;
  return worker->hits && threshold_path_create (worker) && threshold_table_create (worker);
}

static void dismiss (threshold_solver *worker) {
  threshold_tree_release (&worker->arena, &worker->best);
  threshold_table_release (worker);
  vector_work_release (&worker->work);
  arena_release (&worker->arena, worker->hits);
  arena_release (&worker->arena, worker->split);
  arena_release (&worker->arena, worker->path);
}

int threshold_team_create (threshold_solver *boss) {
  const int64_t threads = boss->options.threads;
  if (threads < 2)
    return 1;
  struct threshold_team *team = arena_allocate (&boss->arena, 1, sizeof *team);
  threshold_solver *workers = arena_allocate (&boss->arena, (size_t) threads, sizeof *workers);
  if (!team || !workers || lock_make (&team->lock)) {
    arena_release (&boss->arena, team);
    arena_release (&boss->arena, workers);
    return threshold_stop (boss, TREEML_MEMORY), 0;
  }
  signal_make (&team->done);
  team->boss = boss;
  team->workers = workers;
  const size_t used = atomic_load (&boss->arena.used), limit = boss->arena.limit;
  const size_t memory = limit == SIZE_MAX ? SIZE_MAX : limit > used ? (limit - used) / (size_t) threads : 0;
  int fine = 1;
  for (; team->count < threads && fine; team->count++)
    fine = hire (team, &workers[team->count], memory);
  boss->team = team;
  if (!fine)
    threshold_stop (boss, TREEML_MEMORY);
  return fine;
}

void threshold_team_release (threshold_solver *boss) {
  struct threshold_team *team = boss->team;
  if (!team)
    return;
  for (int i = 0; i < team->count; i++) {
    const int64_t longest = boss->statistics.longest_list, other = team->workers[i].statistics.longest_list;
    statistics_add (&boss->statistics, &team->workers[i].statistics);
    boss->statistics.longest_list = longest > other ? longest : other;
    atomic_fetch_add (&boss->arena.peak, atomic_load (&team->workers[i].arena.peak));
    dismiss (&team->workers[i]);
  }
  signal_destroy (&team->done);
  lock_destroy (&team->lock);
  arena_release (&boss->arena, team->workers);
  arena_release (&boss->arena, team);
  boss->team = NULL;
}

/* Offers the tree of a worker to the boss, which checks it again. */
static void hand_in (struct threshold_team *team, const threshold_solver *worker) {
  threshold_solver *boss = team->boss;
  struct threshold_tree copy = {0};
  for (int64_t i = 0; i < worker->best.nodes; i++) {
    const struct threshold_tree *from = &worker->best;
    const int64_t at = threshold_tree_add (&boss->arena, &copy, from->column[i], from->cut[i], from->label[i]);
    if (at < 0) {
      threshold_stop (boss, TREEML_MEMORY);
      break;
    }
    copy.yes[at] = from->yes[i];
    copy.no[at] = from->no[i];
  }
  if (!boss->stopping)
    threshold_offer (boss, &copy);
  threshold_tree_release (&boss->arena, &copy);
}

static void take_over (struct threshold_team *team, threshold_solver *worker) {
  lock_take (&team->lock);
  worker->target = team->boss->target;
  worker->best_value = team->boss->best_value;
  if (team->boss->stopping)
    halt (team, team->boss->stopping);
  lock_leave (&team->lock);
}

static void report (struct threshold_team *team, threshold_solver *worker) {
  lock_take (&team->lock);
  if (worker->best_value < team->boss->best_value)
    hand_in (team, worker);
  if (worker->code && !team->boss->code) {
    team->boss->code = worker->code;
    memcpy (team->boss->message, worker->message, sizeof worker->message);
  }
  lock_leave (&team->lock);
}

static void work (struct threshold_team *team, threshold_solver *worker) {
  worker->stopping = 0;
  for (;;) {
    const int64_t item = atomic_fetch_add (&team->next, 1);
    if (item >= team->items || atomic_load (&team->halted))
      return;
    take_over (team, worker);
    const int fine = team->job (worker, team->task, item);
    report (team, worker);
    if (!fine)
      halt (team, worker->stopping ? worker->stopping : 1 + TREEML_MEMORY);
  }
}

static void *work_beside (void *argument) {
  threshold_solver *worker = argument;
  struct threshold_team *team = worker->member_of;
  work (team, worker);
  lock_take (&team->lock);
  team->running--;
  signal_all (&team->done);
  lock_leave (&team->lock);
  return NULL;
}

/* Watches for the clock and for the user while the others finish. */
static void wait_for_others (struct threshold_team *team) {
  lock_take (&team->lock);
  while (team->running) {
    poll_boss (team);
    signal_wait (&team->done, &team->lock, 10);
  }
  lock_leave (&team->lock);
}

int threshold_team_run (threshold_solver *boss, threshold_job job, void *task, int64_t items) {
  enum { most_threads = 256 };
  struct threshold_team *team = boss->team;
  thread_handle threads[most_threads];
  int started = 0;
  team->job = job;
  team->task = task;
  team->items = items;
  atomic_store (&team->next, 0);
  atomic_store (&team->halted, 0);
  while (1 + started < team->count && 1 + started < most_threads && 1 + started < items) {
    lock_take (&team->lock);
    const int failed = thread_start (&threads[started], work_beside, &team->workers[1 + started]);
    team->running += !failed;
    lock_leave (&team->lock);
    if (failed)
      break;
    started++;
  }
  work (team, team->workers);
  wait_for_others (team);
  for (int i = 0; i < started; i++)
    thread_join (&threads[i]);
  if (atomic_load (&team->halted))
    threshold_stop (boss, atomic_load (&team->halted) - 1);
  return !boss->stopping;
}
