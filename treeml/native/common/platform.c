/* The calls of POSIX and Windows: see platform.h and clock.h. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* for syscall */
#endif
#include "common/platform.h"

#include "common/clock.h"

#include <stddef.h>

/* What Linux gives a thread by default. Musl gives 128 kB and macOS 512 kB, which recursion over deep trees exceeds. */
enum { stack_bytes = 8 << 20 };

#if defined(_WIN32)

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <process.h>

_Static_assert (sizeof (SRWLOCK) == sizeof (thread_lock) && sizeof (CONDITION_VARIABLE) == sizeof (thread_signal),
                "platform.h declares them as pointers");

static SRWLOCK *system_lock (thread_lock *lock) { return (SRWLOCK *) (void *) lock; }
static CONDITION_VARIABLE *system_signal (thread_signal *signal) { return (CONDITION_VARIABLE *) (void *) signal; }

int lock_make (thread_lock *lock) {
  InitializeSRWLock (system_lock (lock));
  return 0;
}

void lock_destroy (thread_lock *lock) { (void) lock; }

void lock_take (thread_lock *lock) { AcquireSRWLockExclusive (system_lock (lock)); }

void lock_leave (thread_lock *lock) { ReleaseSRWLockExclusive (system_lock (lock)); }

void signal_make (thread_signal *signal) { InitializeConditionVariable (system_signal (signal)); }

void signal_destroy (thread_signal *signal) { (void) signal; }

void signal_all (thread_signal *signal) { WakeAllConditionVariable (system_signal (signal)); }

double clock_seconds (void) {
  LARGE_INTEGER now, frequency;
  QueryPerformanceCounter (&now);
  QueryPerformanceFrequency (&frequency);
  return (double) now.QuadPart / (double) frequency.QuadPart;
}

void signal_wait (thread_signal *signal, thread_lock *lock, double milliseconds) {
  SleepConditionVariableSRW (system_signal (signal), system_lock (lock), (DWORD) milliseconds + 1, 0);
}

static unsigned __stdcall run_thread (void *argument) {
  thread_handle *thread = argument;
  thread->run (thread->argument);
  return 0;
}

int thread_start (thread_handle *thread, void *(*run) (void *), void *argument) {
  thread->run = run;
  thread->argument = argument;
  thread->system =
      (void *) _beginthreadex (NULL, stack_bytes, run_thread, thread, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
  return thread->system ? 0 : 1;
}

void thread_join (thread_handle *thread) {
  WaitForSingleObject (thread->system, INFINITE);
  CloseHandle (thread->system);
}

#else

#include <time.h>

double clock_seconds (void) {
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

void signal_wait (thread_signal *signal, thread_lock *lock, double milliseconds) {
  struct timespec until;
  clock_gettime (CLOCK_REALTIME, &until);
  until.tv_nsec += (long) (1e6 * milliseconds);
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_cond_timedwait (signal, lock, &until);
}

int thread_start (thread_handle *thread, void *(*run) (void *), void *argument) {
  pthread_attr_t attributes;
  if (pthread_attr_init (&attributes))
    return 1;
  pthread_attr_setstacksize (&attributes, stack_bytes);
  const int code = pthread_create (thread, &attributes, run, argument);
  pthread_attr_destroy (&attributes);
  return code;
}

void thread_join (thread_handle *thread) { pthread_join (*thread, NULL); }

#endif

#if defined(__linux__) && defined(__x86_64__)

#include <sys/syscall.h>
#include <unistd.h>

int platform_grants_tiles (void) {
  enum { request_permission = 0x1023, tile_data = 18 };
  return syscall (SYS_arch_prctl, request_permission, tile_data) == 0;
}

#else

int platform_grants_tiles (void) { return 0; }

#endif
