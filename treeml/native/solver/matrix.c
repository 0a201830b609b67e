/* A matrix of 0 and 1 with a number for every row -> the tree of least squares, in as few calls as possible.

   For a few hundred rows the search takes less time than a dozen calls from Python, and turning the matrix takes longer
   in numpy than packing its bits. So one function takes the matrix as it lies in memory, row after row, and one solves
   and reports everything at once. */
#include "solver/solver.h"

#include "common/bits.h"

#include <string.h>

enum { eight = 8, rows_of_word = 64, answer_head = 6, node_parts = 4 };

static uint64_t load_eight (const uint8_t *cells, int64_t count) {
  uint64_t loaded = 0;
  memcpy (&loaded, cells, (size_t) count);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  loaded = reverse_bytes (loaded);
#endif
  return loaded;
}

/* Packs up to 64 rows of up to eight columns: a byte of eight rows, each shifted by its number, holds the bits of one
   column. Returns a number that is not 0 if a cell is neither 0 nor 1. */
static uint64_t pack_block (const uint8_t *cells, int64_t rows, int64_t width, int64_t columns, uint64_t *packed) {
  const uint64_t ones = 0x0101010101010101u;
  uint64_t strange = 0;
  memset (packed, 0, eight * sizeof *packed);
  for (int64_t first = 0; first < rows; first += eight) {
    uint64_t turned = 0;
    const int64_t end = first + eight < rows ? eight : rows - first;
    for (int64_t row = 0; row < end; row++) {
      const uint64_t loaded = load_eight (cells + (first + row) * columns, width);
      strange |= loaded & ~ones;
      turned |= loaded << row;
    }
    for (int64_t k = 0; k < width; k++)
      packed[k] |= (turned >> (eight * k) & 255u) << first;
  }
  return strange;
}

static int pack_matrix (const uint8_t *cells, int64_t rows, int64_t columns, int64_t words, uint64_t *packed) {
  uint64_t strange = 0, block[eight];
  for (int64_t word = 0; word < words; word++) {
    const uint8_t *from = cells + word * rows_of_word * columns;
    const int64_t here = rows - word * rows_of_word < rows_of_word ? rows - word * rows_of_word : rows_of_word;
    for (int64_t column = 0; column < columns; column += eight) {
      const int64_t width = columns - column < eight ? columns - column : eight;
      strange |= pack_block (from + column, here, width, columns, block);
      for (int64_t k = 0; k < width; k++)
        packed[(column + k) * words + word] = block[k];
    }
  }
  return strange == 0;
}

int treeml_matrix (treeml_solver *solver, const uint8_t *cells, int64_t rows, int64_t columns, const int64_t *targets) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (!targets)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "every row needs a number");
  if (solver_begin_tests (solver, cells, columns, rows))
    return solver->code;
  if (!pack_matrix (cells, rows, columns, (rows + 63) / 64, solver->columns))
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "a cell is neither 0 nor 1");
  solver_end_tests (solver, columns, rows);
  return treeml_targets (solver, TREEML_SQUARED, targets, 1, NULL, NULL, 0, 1);
}

int treeml_best (treeml_solver *solver, int64_t depth, int64_t milliseconds, int64_t room, int64_t *answer,
                 double *numbers) {
  if (!solver || !answer || !numbers)
    return TREEML_BAD_ARGUMENT;
  solver->options.depth = depth;
  solver->options.milliseconds = milliseconds;
  const int code = treeml_solve (solver);
  if (code)
    return code;
  const struct answer *best = solver->answers;
  if (best->tree.nodes > room)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "the tree has %lld nodes, and there is room for %lld",
                        (long long) best->tree.nodes, (long long) room);
  answer[0] = best->status;
  answer[1] = solver->stop;
  answer[2] = best->value;
  answer[3] = best->bound;
  answer[4] = solver->slack;
  answer[5] = best->tree.nodes;
  for (int64_t i = 0; i < best->tree.nodes; i++) {
    int64_t *node = answer + answer_head + node_parts * i;
    node[0] = best->tree.test[i];
    node[1] = best->tree.yes[i];
    node[2] = best->tree.no[i];
    node[3] = best->tree.label[i];
  }
  const char *name, *help;
  numbers[0] = solver->unit;
  for (int32_t i = 0; i < treeml_statistics (); i++)
    treeml_statistic (solver, i, &name, &numbers[1 + i], &help);
  return TREEML_OK;
}
