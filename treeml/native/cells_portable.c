/* The cells for any processor. */
#define CELLS_NAME "portable"
#define CELLS_FUNCTION cells_portable
#define CELLS_BYTES 16
#define LARGER(a, b) (((a) & ((a) > (b))) | ((b) & ((a) <= (b))))
#include "cells_body.h"
