/* Products of sizes that do not wrap: a product that no memory can hold is so large that its allocation fails. */
#ifndef TREEML_SIZES_H
#define TREEML_SIZES_H

#include <stddef.h>
#include <stdint.h>

static inline size_t times (size_t a, size_t b) {
  return b && a > SIZE_MAX / 2 / b ? SIZE_MAX / 2 : a * b;
}

#endif
