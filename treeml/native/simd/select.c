/* Which instruction sets this processor has, and which of them a program uses.

   A set counts as present only if every kind of loop was compiled for it, so that no program has to look for the next
   lower one. All processors with the BITALG extension of AVX-512 also have the other extensions named here. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* for syscall */
#endif
#include "simd/select.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)

#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

static int has_avx2 (void) {
  return pair_avx2 (32) && cells_avx2 () && numeric_avx2 (4) && counts_avx2 () && stumps_avx2 () &&
         stump_trees_avx2 () && __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("popcnt");
}

static int has_avx512 (void) {
  return pair_avx512 (32) && cells_avx512 () && numeric_avx512 (4) && counts_avx512 () && stumps_avx512 () &&
         stump_trees_avx512 () && __builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512bw") &&
         __builtin_cpu_supports ("avx512dq") && __builtin_cpu_supports ("avx512vl") &&
         __builtin_cpu_supports ("avx512bitalg") && __builtin_cpu_supports ("avx512vpopcntdq") &&
         __builtin_cpu_supports ("avx512vbmi2") && __builtin_cpu_supports ("popcnt");
}

/* A process has to ask Linux for permission to use the tiles, because they make switching threads expensive. */
static int has_amx (void) {
#if defined(__linux__)
  enum { request_permission = 0x1023, tile_data = 18 };
  unsigned a, b, c, d;
  if (!has_avx512 () || !products_amx () || !__get_cpuid_count (7, 0, &a, &b, &c, &d))
    return 0;
  const int tiles = d >> 24 & 1, bytes = d >> 25 & 1;
  return tiles && bytes && syscall (SYS_arch_prctl, request_permission, tile_data) == 0;
#else
  return 0;
#endif
}

#else

static int has_avx2 (void) { return 0; }
static int has_avx512 (void) { return 0; }
static int has_amx (void) { return 0; }

#endif

static int is_present (int64_t set) {
  switch (set) {
  case simd_portable:
    return 1;
  case simd_avx2:
    return has_avx2 ();
  case simd_avx512:
    return has_avx512 ();
  case simd_amx:
    return has_amx ();
  default:
    return 0;
  }
}

/* The set that TREEML_KERNEL names; 0 without it, and -1 for a name that is none of them. */
static int64_t named_set (void) {
  static const char *const names[] = {"portable", "avx2", "avx512", "amx"};
  const char *given = getenv ("TREEML_KERNEL");
  if (!given || !*given)
    return 0;
  for (int i = 0; i < 4; i++)
    if (!strcmp (given, names[i]))
      return simd_portable + i;
  return -1;
}

enum simd simd_select (int64_t wanted, enum simd most) {
  if (!wanted)
    wanted = named_set ();
  if (wanted)
    return !is_present (wanted) ? simd_none : wanted < (int64_t) most ? (enum simd) wanted : most;
  enum simd best = most;
  while (!is_present (best))
    best--;
  return best;
}

const struct pair_kernel *simd_pair_kernel (enum simd set, int lane_bits) {
  return set >= simd_avx512     ? pair_avx512 (lane_bits)
         : set == simd_avx2     ? pair_avx2 (lane_bits)
         : set == simd_portable ? pair_portable (lane_bits)
                                : NULL;
}

const struct cells *simd_cells (enum simd set) {
  return set >= simd_avx512     ? cells_avx512 ()
         : set == simd_avx2     ? cells_avx2 ()
         : set == simd_portable ? cells_portable ()
                                : NULL;
}

const struct numeric_kernel *simd_numeric_kernel (enum simd set, int cell_bytes) {
  return set >= simd_avx512     ? numeric_avx512 (cell_bytes)
         : set == simd_avx2     ? numeric_avx2 (cell_bytes)
         : set == simd_portable ? numeric_portable (cell_bytes)
                                : NULL;
}

const struct stump_trees *simd_stump_trees (enum simd set) {
  return set >= simd_avx512     ? stump_trees_avx512 ()
         : set == simd_avx2     ? stump_trees_avx2 ()
         : set == simd_portable ? stump_trees_portable ()
                                : NULL;
}

const struct stumps *simd_stumps (enum simd set) {
  return set >= simd_avx512     ? stumps_avx512 ()
         : set == simd_avx2     ? stumps_avx2 ()
         : set == simd_portable ? stumps_portable ()
                                : NULL;
}

const struct counts *simd_counts (void) {
  const enum simd set = simd_select (0, simd_avx512);
  return set == simd_avx512 ? counts_avx512 () : set == simd_avx2 ? counts_avx2 () : counts_portable ();
}
