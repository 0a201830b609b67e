/* The cells for any processor. */
#define CELLS_NAME "portable"
#define CELLS_FUNCTION cells_portable
#include "cells_body.h"
