/* Trees of depth three at most for gains of rows: the best tree under every root, from sums over pairs of tests.
 *
 * A row gains something for being given each class, and the classes are compared with class 0: `gain` holds, for class 1,
 * then class 2 and so on, what each row gains more than for class 0. A leaf takes the class that gains most. Gains are
 * whole numbers, and their sizes add up to less than 2^51, so that every sum is exact in a double.
 *
 * `bits` holds a byte a row (0 or 1), test after test. For root r of `roots`, worth[r] is what the tree gains over giving
 * class 0 to every row; its tests lie in a heap (node n has its yes side at 2n + 1 and its no side at 2n + 2), followed
 * by the classes of its 2^depth leaves.
 */
#ifndef TREEML_ROOTED_H
#define TREEML_ROOTED_H

#include <stdint.h>

#include "treeml.h"

TREEML_PUBLIC int treeml_rooted (const uint8_t *bits, int64_t tests, int64_t rows, const double *gain, int32_t planes,
                                 int32_t depth, const int32_t *roots, int64_t count, double *worth, int32_t *nodes);

#endif
