/* Which sweeps to run: the best of this processor, or those that TREEML_KERNEL or an option names. */
#include "numeric_kernel.h"

#include <stdlib.h>
#include <string.h>

static int has_avx2 (void) {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("popcnt");
#else
  return 0;
#endif
}

static int has_avx512 (void) {
#if defined(__x86_64__) && defined(__GNUC__)
  return __builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512bw") &&
         __builtin_cpu_supports ("avx512dq") && __builtin_cpu_supports ("avx512vl") &&
         __builtin_cpu_supports ("avx512vbmi2") && __builtin_cpu_supports ("popcnt");
#else
  return 0;
#endif
}

const struct numeric_kernel *numeric_kernel (int cell, int wanted) {
  const char *named = getenv ("TREEML_KERNEL");
  if (!wanted && named)
    wanted = !strcmp (named, "portable") ? 1 : !strcmp (named, "avx2") ? 2 : !strcmp (named, "avx512") ? 3 : 0;
#if defined(__x86_64__) && defined(__GNUC__)
  if ((!wanted || wanted == 3) && has_avx512 ())
    return numeric_avx512 (cell);
  if ((!wanted || wanted == 2) && has_avx2 ())
    return numeric_avx2 (cell);
#endif
  if (wanted == 3 && !has_avx512 ())
    return NULL;
  if (wanted == 2 && !has_avx2 ())
    return NULL;
  return numeric_portable (cell);
}
