/* Sorts tests by score, the lowest first; ties are broken by the number of the test. */
#ifndef TREEML_SORT_BY_SCORE_H
#define TREEML_SORT_BY_SCORE_H

#include <stdint.h>

void sort_by_score (int32_t *order, const double *score, int32_t count);

#endif
