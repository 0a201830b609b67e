/* The cells for AVX2. */
#define CELLS_NAME "avx2"
#define CELLS_FUNCTION cells_avx2
#if defined(__AVX2__)
#include "cells_body.h"
#else
#include "cells.h"
const struct cells *cells_avx2 (void) { return 0; }
#endif
