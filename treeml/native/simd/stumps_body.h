/* The loops over stumps for one instruction set, in plain C that the compiler vectorizes. */
#include "simd/stumps.h"

#define NAME(WHAT) narrow_##WHAT
#define SUM int32_t
#define SCORE double
#include "simd/stumps_loops.h"
#undef NAME
#undef SUM
#undef SCORE

#define NAME(WHAT) wide_##WHAT
#define SUM int64_t
#define SCORE int64_t
#include "simd/stumps_loops.h"
#undef NAME
#undef SUM
#undef SCORE

static const struct stumps functions = {narrow_stumps, wide_stumps};
