/* Which kernels this processor can run. */
#include "cells.h"
#include "kernel.h"
#include "products.h"

static int has_avx2 (void) {
#if defined(__x86_64__)
  return __builtin_cpu_supports ("avx2") != 0;
#else
  return 0;
#endif
}

static int has_avx512 (void) {
#if defined(__x86_64__)
  return __builtin_cpu_supports ("avx512bw") && __builtin_cpu_supports ("avx512dq") &&
         __builtin_cpu_supports ("avx512bitalg") && __builtin_cpu_supports ("avx512vpopcntdq");
#else
  return 0;
#endif
}

const struct kernel *kernel_find (int choice, int lane_bits) {
  const struct kernel *found = 0;
  if ((choice == 0 || choice == 3 || choice == 4) && has_avx512 () && (choice != 4 || products_find ()))
    found = kernel_avx512 (lane_bits);
  if (!found && (choice == 0 || choice == 2) && has_avx2 ())
    found = kernel_avx2 (lane_bits);
  if (!found && choice <= 1)
    found = kernel_portable (lane_bits);
  return found;
}

const struct cells *cells_find (int choice) {
  const struct cells *found = 0;
  if ((choice == 0 || choice == 3 || choice == 4) && has_avx512 ())
    found = cells_avx512 ();
  if (!found && (choice == 0 || choice == 2) && has_avx2 ())
    found = cells_avx2 ();
  if (!found && choice <= 1)
    found = cells_portable ();
  return found;
}
