/* roots/: the best tree of depth at most three under every root, from sums over pairs of tests.

   A row has a gain for each class, and classes are compared with class 0: `gain` holds, for class 1, class 2 and so on,
   how much more each row gains than for class 0. A leaf takes the class with the largest gain. Gains are whole numbers
   whose absolute values add up to less than 2^51, so that every sum is exact in a double.

   `bits` holds one byte per row (0 or 1), test after test. For root r of `roots`, worth[r] is how much the tree
   gains over predicting class 0 for every row. Its tests are stored as a heap (node n has its yes side at 2n + 1 and
   its no side at 2n + 2), followed by the classes of its 2^depth leaves. */
#ifndef TREEML_ROOTS_H
#define TREEML_ROOTS_H

#include <stdint.h>

#include "treeml.h"

TREEML_PUBLIC int treeml_best_under_roots (const uint8_t *bits, int64_t tests, int64_t rows, const double *gain,
                                           int32_t planes, int32_t depth, const int32_t *roots, int64_t count,
                                           double *worth, int32_t *nodes);

#endif
