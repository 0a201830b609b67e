/* What the operating system is asked for: threads, locks and a permission. This file and platform.c are the only ones
   that call POSIX or Windows; common/clock.h declares the clock that platform.c reads. */
#ifndef TREEML_PLATFORM_H
#define TREEML_PLATFORM_H

#if defined(_WIN32)

/* As large as a slim lock and a condition variable of Windows; platform.c checks that. Its header is not included here,
   because it defines words such as `near` and `small`. */
typedef struct {
  void *system;
} thread_lock;
typedef struct {
  void *system;
} thread_signal;

/* The thread starts with a pointer to this handle, which must stay where it is until the thread is joined. */
typedef struct {
  void *system;
  void *(*run) (void *);
  void *argument;
} thread_handle;

int lock_make (thread_lock *);
void lock_destroy (thread_lock *);
void lock_take (thread_lock *);
void lock_leave (thread_lock *);

void signal_make (thread_signal *);
void signal_destroy (thread_signal *);
void signal_all (thread_signal *);

#else

#include <pthread.h>

typedef pthread_mutex_t thread_lock;
typedef pthread_cond_t thread_signal;
typedef pthread_t thread_handle;

static inline int lock_make (thread_lock *lock) { return pthread_mutex_init (lock, NULL); }
static inline void lock_destroy (thread_lock *lock) { pthread_mutex_destroy (lock); }
static inline void lock_take (thread_lock *lock) { pthread_mutex_lock (lock); }
static inline void lock_leave (thread_lock *lock) { pthread_mutex_unlock (lock); }

static inline void signal_make (thread_signal *signal) { pthread_cond_init (signal, NULL); }
static inline void signal_destroy (thread_signal *signal) { pthread_cond_destroy (signal); }
static inline void signal_all (thread_signal *signal) { pthread_cond_broadcast (signal); }

#endif

/* Waits, with the lock taken, for a signal or for some milliseconds; may return earlier without either. */
void signal_wait (thread_signal *, thread_lock *, double milliseconds);

/* Starts a thread; 0, or an error if the system has no more of them. Every system gives it the same large stack. */
int thread_start (thread_handle *, void *(*run) (void *), void *argument);
void thread_join (thread_handle *);

/* Whether the system lets this process use the matrix tiles of its processor, which have to be asked for. */
int platform_grants_tiles (void);

#endif
