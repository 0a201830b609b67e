/* simd/: the inner loops that use vector instructions, one file per kind of loop and instruction set.

   - pair_*: pair sums of rows with signed weights, for the pair search (pair_kernel.h)
   - cells_*: the four cells of a pair of tests, for classes and squared losses (cells.h)
   - products_amx: pair sums as matrix products, for large weights (products.h)
   - numeric_*: sweeps over columns of numbers (numeric_kernel.h)
   - stump_trees_*: best stumps for several objectives at once, for coupled sums over numbers (stump_trees.h)
   - counts_*: counting over bit sets, for the cover states and the shallow search (counts.h)
   - hazard_stumps_*: the same as stumps_* for survival times (hazard_stumps.h)
   - stumps_*: the best stumps on both sides of every test, for coupled requirements (stumps.h)

   Files ending in _body.h hold what the instruction sets share and are included once for each of them. Only these files
   are compiled for processors that not everybody has. This header is the one place that chooses among them, at run
   time: a program asks `simd_select` once and then fetches its table of functions. */
#ifndef TREEML_SIMD_SELECT_H
#define TREEML_SIMD_SELECT_H

#include "simd/cells.h"
#include "simd/counts.h"
#include "simd/hazard_stumps.h"
#include "simd/numeric_kernel.h"
#include "simd/pair_kernel.h"
#include "simd/products.h"
#include "simd/stump_trees.h"
#include "simd/stumps.h"

/* Instruction sets; the numbers are the values of the option `kernel`. Those of x86 are in increasing order; a
   processor of ARM has the portable loops and NEON. */
enum simd { simd_none, simd_portable, simd_avx2, simd_avx512, simd_amx, simd_neon };

/* The instruction set to use, on x86 at most `most`, the highest one that the caller has functions for. `wanted` is
   the value of the option `kernel`: 0 stands for what the environment variable TREEML_KERNEL names, and for the best
   set of this processor without it. simd_none if this processor lacks the wanted set or the variable names no set. */
enum simd simd_select (int64_t wanted, enum simd most);

/* How users write a set; "none" for simd_none. */
const char *simd_name (enum simd);

/* The functions for a set returned by `simd_select`; NULL for simd_none. */
const struct pair_kernel *simd_pair_kernel (enum simd, int lane_bits);
const struct cells *simd_cells (enum simd);
const struct numeric_kernel *simd_numeric_kernel (enum simd, int cell_bytes);
const struct stump_trees *simd_stump_trees (enum simd);
const struct stumps *simd_stumps (enum simd);
const struct hazard_stumps *simd_hazard_stumps (enum simd);
/* Programs without an option `kernel` use these: never NULL. */
const struct counts *simd_counts (void);

#endif
