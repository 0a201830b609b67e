/* Which instruction sets this processor has, and which of them a program uses.

   A set counts as present only if every kind of loop was compiled for it, so that no program has to look for the next
   lower one. All processors with the BITALG extension of AVX-512 also have the other extensions named here. */
#include "simd/select.h"

#include "common/bits.h"
#include "common/platform.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && defined(TREEML_EXTENDED_C)

#include <cpuid.h>

static int has_avx2 (void) {
  return pair_avx2 (32) && cells_avx2 () && numeric_avx2 (4) && counts_avx2 () && stumps_avx2 () &&
         stump_trees_avx2 () && hazard_stumps_avx2 () && __builtin_cpu_supports ("avx2") &&
         __builtin_cpu_supports ("popcnt");
}

static int has_avx512 (void) {
  return pair_avx512 (32) && cells_avx512 () && numeric_avx512 (4) && counts_avx512 () && stumps_avx512 () &&
         stump_trees_avx512 () && hazard_stumps_avx512 () && __builtin_cpu_supports ("avx512f") &&
         __builtin_cpu_supports ("avx512bw") && __builtin_cpu_supports ("avx512dq") &&
         __builtin_cpu_supports ("avx512vl") && __builtin_cpu_supports ("avx512bitalg") &&
         __builtin_cpu_supports ("avx512vpopcntdq") && __builtin_cpu_supports ("avx512vbmi2") &&
         __builtin_cpu_supports ("popcnt");
}

/* A process has to ask the system for permission to use the tiles, because they make switching threads expensive. */
static int has_amx (void) {
  unsigned a, b, c, d;
  if (!has_avx512 () || !products_amx () || !__get_cpuid_count (7, 0, &a, &b, &c, &d))
    return 0;
  const int tiles = d >> 24 & 1, bytes = d >> 25 & 1;
  return tiles && bytes && platform_grants_tiles ();
}

#else

static int has_avx2 (void) { return 0; }
static int has_avx512 (void) { return 0; }
static int has_amx (void) { return 0; }

#endif

/* Every ARM processor of 64 bits has NEON, so what could be compiled can be run. */
static int has_neon (void) {
  return pair_neon (32) && cells_neon () && numeric_neon (4) && counts_neon () && stumps_neon () &&
         stump_trees_neon () && hazard_stumps_neon ();
}

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
  case simd_neon:
    return has_neon ();
  default:
    return 0;
  }
}

static const char *const names[] = {"none", "portable", "avx2", "avx512", "amx", "neon"};

const char *simd_name (enum simd set) { return names[set]; }

/* The set that TREEML_KERNEL names; 0 without it, and -1 for an unknown name. */
static int64_t named_set (void) {
  const char *given = getenv ("TREEML_KERNEL");
  if (!given || !*given)
    return 0;
  for (int set = simd_portable; set <= simd_neon; set++)
    if (!strcmp (given, names[set]))
      return set;
  return -1;
}

enum simd simd_select (int64_t wanted, enum simd most) {
  if (!wanted)
    wanted = named_set ();
  if (wanted && !is_present (wanted))
    return simd_none;
  if (wanted == simd_neon || (!wanted && has_neon ()))
    return simd_neon;
  if (wanted)
    return wanted < (int64_t) most ? (enum simd) wanted : most;
  enum simd best = most;
  while (!is_present (best))
    best--;
  return best;
}

/* The table of functions that belongs to a set; the tiles of AMX come beside the vectors of AVX-512. */
#define CHOOSE(SET, KIND, ARGUMENT) \
  switch (SET) { \
  case simd_portable: \
    return KIND##_portable (ARGUMENT); \
  case simd_avx2: \
    return KIND##_avx2 (ARGUMENT); \
  case simd_avx512: \
  case simd_amx: \
    return KIND##_avx512 (ARGUMENT); \
  case simd_neon: \
    return KIND##_neon (ARGUMENT); \
  default: \
    return NULL; \
  }

const struct pair_kernel *simd_pair_kernel (enum simd set, int lane_bits) { CHOOSE (set, pair, lane_bits) }

const struct cells *simd_cells (enum simd set) { CHOOSE (set, cells, ) }

const struct numeric_kernel *simd_numeric_kernel (enum simd set, int cell_bytes) { CHOOSE (set, numeric, cell_bytes) }

const struct stump_trees *simd_stump_trees (enum simd set) { CHOOSE (set, stump_trees, ) }

const struct stumps *simd_stumps (enum simd set) { CHOOSE (set, stumps, ) }

const struct hazard_stumps *simd_hazard_stumps (enum simd set) { CHOOSE (set, hazard_stumps, ) }

static const struct counts *counts_of (enum simd set) { CHOOSE (set, counts, ) }

const struct counts *simd_counts (void) {
  const struct counts *chosen = counts_of (simd_select (0, simd_avx512));
  return chosen ? chosen : counts_portable ();
}
