/* Time as all limits measure it: seconds since some fixed moment, never running backwards. */
#ifndef TREEML_CLOCK_H
#define TREEML_CLOCK_H

#include <time.h>

static inline double clock_seconds (void) {
  struct timespec now;
  clock_gettime (CLOCK_MONOTONIC, &now);
  return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

#endif
