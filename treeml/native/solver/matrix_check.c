/* A reported tree and the matrix as it was given -> the rows and the sum of each leaf, the depth, and whether a
   question is needless. Nothing here is taken from the search: rows follow the nodes that the caller will see, cell by
   cell. */
#include "solver/matrix_check.h"

#include "common/wide.h"
#include "treeml.h"

enum { most_nodes = (2 << treeml_squares_depth) - 1 };

static int64_t *node_at (int64_t *answer, int64_t node) {
  return answer + treeml_squares_head + treeml_squares_part * node;
}

/* Children follow their parents, so that every path ends. */
static int is_tree (int64_t *answer, int64_t columns) {
  const int64_t nodes = answer[treeml_squares_size];
  for (int64_t i = 0; i < nodes; i++) {
    const int64_t *node = node_at (answer, i);
    if (node[0] >= 0 && (node[0] >= columns || node[1] <= i || node[2] <= i || node[1] >= nodes || node[2] >= nodes))
      return 0;
  }
  return nodes > 0 && nodes <= most_nodes;
}

static int64_t depth_of (int64_t *answer, int64_t from) {
  const int64_t *node = node_at (answer, from);
  if (node[0] < 0)
    return 0;
  const int64_t yes = depth_of (answer, node[1]), no = depth_of (answer, node[2]);
  return 1 + (yes > no ? yes : no);
}

/* Whether two nodes ask the same questions, all the way down, and their leaves have the same means. */
static int same (int64_t *answer, int64_t one, int64_t two) {
  const int64_t *a = node_at (answer, one), *b = node_at (answer, two);
  if (a[0] < 0 || b[0] < 0)
    return a[0] < 0 && b[0] < 0 && (wide) a[4] * b[3] == (wide) b[4] * a[3];
  return a[0] == b[0] && same (answer, a[1], b[1]) && same (answer, a[2], b[2]);
}

/* Whether the tree without one of its questions would have the same loss. Two leaves below a question may stay. */
static int has_needless (int64_t *answer) {
  for (int64_t i = 0; i < answer[treeml_squares_size]; i++) {
    const int64_t *node = node_at (answer, i);
    if (node[0] >= 0 && node_at (answer, node[1])[0] >= 0 && same (answer, node[1], node[2]))
      return 1;
  }
  return 0;
}

int matrix_check (const uint8_t *cells, int64_t rows, int64_t columns, const int64_t *targets, int64_t *answer) {
  int32_t column[most_nodes], next[most_nodes][2];
  int64_t count[most_nodes], sum[most_nodes];
  if (!is_tree (answer, columns))
    return 0;
  const int64_t nodes = answer[treeml_squares_size], depth = depth_of (answer, 0);
  for (int64_t i = 0; i < nodes; i++) {
    const int64_t *node = node_at (answer, i);
    /* A leaf leads to itself, so that all rows make the same number of steps, which a processor foresees. */
    column[i] = (int32_t) (node[0] < 0 ? 0 : node[0]);
    next[i][1] = (int32_t) (node[0] < 0 ? i : node[1]);
    next[i][0] = (int32_t) (node[0] < 0 ? i : node[2]);
    count[i] = sum[i] = 0;
  }
  for (int64_t row = 0; row < rows; row++) {
    int32_t at = 0;
    for (int64_t step = 0; step < depth; step++)
      at = next[at][cells[row * columns + column[at]] & 1];
    count[at]++;
    sum[at] += targets[row];
  }
  for (int64_t i = 0; i < nodes; i++) {
    node_at (answer, i)[3] = count[i];
    node_at (answer, i)[4] = sum[i];
  }
  answer[treeml_squares_height] = depth;
  answer[treeml_squares_needless] = has_needless (answer);
  return 1;
}
