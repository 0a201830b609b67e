/* Products of sizes that do not wrap around: a product that is too large becomes a size that no allocation can satisfy,
   so that the allocation fails instead of being too small. */
#ifndef TREEML_SIZES_H
#define TREEML_SIZES_H

#include <stddef.h>
#include <stdint.h>

static inline size_t times (size_t a, size_t b) { return b && a > SIZE_MAX / 2 / b ? SIZE_MAX / 2 : a * b; }

#endif
