/* What the leaves of a reported tree hold of the matrix that was given. */
#ifndef TREEML_MATRIX_CHECK_H
#define TREEML_MATRIX_CHECK_H

#include <stdint.h>

/* Completes the answer of treeml_least_squares from its nodes. Returns 0 if they do not form a tree. */
int matrix_check (const uint8_t *cells, int64_t rows, int64_t columns, const int64_t *targets, int64_t *answer);

#endif
