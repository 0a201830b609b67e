/* A clock that counts processor time, for races on a machine that others use: preloaded into a process, it makes limits
   of time mean what they mean on an idle machine with some processors (the variable PROCESSORS) for the process alone.

   Both clocks, the monotonic one and that of the day, show the processor time of the busiest thread, or that of all
   threads over the number of processors, whichever is more. Waits with a limit of time wait for this clock; if it
   stands still, because nobody works, they end after two seconds. Linux with glibc 2.34 or later. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { nap = 500000, most_naps = 4000, standstill = 200000 }; /* nanoseconds, but for the number of naps */
static const long long second = 1000000000, origin = 1000 * 1000000000LL;
static long long day; /* what the clock of the day shows more than the other */

static _Atomic long long latest;
static int processors;

static long long nanoseconds (const struct timespec *time) { return time->tv_sec * second + time->tv_nsec; }

static struct timespec time_of (long long count) {
  return (struct timespec) {.tv_sec = count / second, .tv_nsec = count % second};
}

static long long system_clock (clockid_t clock) {
  struct timespec time;
  syscall (SYS_clock_gettime, clock, &time);
  return nanoseconds (&time);
}

__attribute__ ((constructor)) static void begin (void) {
  const char *given = getenv ("PROCESSORS");
  processors = given ? atoi (given) : 0;
  day = system_clock (CLOCK_REALTIME);
}

static long long work_so_far (void) {
  const long long all = system_clock (CLOCK_PROCESS_CPUTIME_ID) / processors;
  const long long own = system_clock (CLOCK_THREAD_CPUTIME_ID), now = own > all ? own : all;
  long long known = atomic_load (&latest);
  while (now > known && !atomic_compare_exchange_weak (&latest, &known, now))
    ;
  return origin + (now > known ? now : known);
}

int clock_gettime (clockid_t clock, struct timespec *time) {
  if ((clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME) || !processors)
    return (int) syscall (SYS_clock_gettime, clock, time);
  *time = time_of (work_so_far () + (clock == CLOCK_REALTIME ? day : 0));
  return 0;
}

int sem_clockwait (sem_t *semaphore, clockid_t clock, const struct timespec *end) {
  int (*wait) (sem_t *, clockid_t, const struct timespec *) = dlsym (RTLD_NEXT, "sem_clockwait");
  if (clock != CLOCK_MONOTONIC || !processors)
    return wait (semaphore, clock, end);
  long long before = work_so_far ();
  int naps = 0;
  while (sem_trywait (semaphore)) {
    const long long now = work_so_far ();
    if (now >= nanoseconds (end) || naps > most_naps) {
      errno = ETIMEDOUT;
      return -1;
    }
    naps = now - before < standstill ? naps + 1 : 0;
    before = now;
    nanosleep (&(struct timespec) {.tv_nsec = nap}, NULL);
  }
  return 0;
}

int pthread_cond_timedwait (pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *end) {
  int (*wait) (pthread_cond_t *, pthread_mutex_t *, const struct timespec *) =
      dlsym (RTLD_NEXT, "pthread_cond_timedwait");
  if (!processors)
    return wait (condition, mutex, end);
  const int daily = nanoseconds (end) > day; /* a condition does not tell which clock it follows */
  const long long left = nanoseconds (end) - work_so_far () - (daily ? day : 0);
  const struct timespec later =
      time_of (system_clock (daily ? CLOCK_REALTIME : CLOCK_MONOTONIC) + (left > 0 ? left : 0));
  return wait (condition, mutex, &later);
}
