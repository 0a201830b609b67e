/* The loops of cells.h for any processor. */
#define CELLS_NAME "portable"
#define CELLS_FUNCTION cells_portable
#define CELLS_BYTES 16
#define LARGER(a, b) EITHER (wholes, wholes, HOLDS (wholes, (a) > (b)), a, b)
#include "simd/cells_body.h"
