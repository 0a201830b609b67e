/* Numbers of tests by their scores, the lowest first; of equals the first one. */
#ifndef TREEML_ORDER_H
#define TREEML_ORDER_H

#include <stdint.h>

void sort_order (int32_t *order, const double *score, int32_t count);

#endif
