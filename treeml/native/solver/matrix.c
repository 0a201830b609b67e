/* A matrix of 0 and 1 with a number for every row -> the tree of least squares, in one call.

   For a few hundred rows the search takes less time than a dozen calls from Python, and turning the matrix takes longer
   in numpy than packing its bits. So one function takes the matrix as it lies in memory, row after row, and reports
   everything at once: the tree, and what its leaves hold of the matrix (matrix_check.c). */
#include "solver/matrix_check.h"
#include "solver/solver.h"

#include "common/bits.h"

#include <string.h>

enum { eight = 8, rows_of_word = 64 };
static const double most_squares = 0x1p52; /* sums of squares below this are exact in floating point */

struct matrix {
  const uint8_t *cells;
  const double *numbers;
  const int64_t *whole_numbers;
  int64_t rows, columns, depth;
};

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

/* The numbers of a question as whole numbers, and the sum of their squares. */
static int read_numbers (treeml_solver *solver, const struct matrix *matrix, int64_t *whole, double *squares) {
  double sum = 0;
  for (int64_t row = 0; row < matrix->rows; row++) {
    const double number = matrix->numbers ? matrix->numbers[row] : (double) matrix->whole_numbers[row];
    if (!(number > -0x1p53 && number < 0x1p53))
      return solver_fail (solver, TREEML_OVERFLOW, "a number is too large");
    whole[row] = matrix->numbers ? (int64_t) number : matrix->whole_numbers[row];
    if ((double) whole[row] != number)
      return solver_fail (solver, treeml_squares_not_whole, "a number is not whole");
    sum += number * number;
  }
  *squares = sum;
  return sum < most_squares ? TREEML_OK : solver_fail (solver, TREEML_OVERFLOW, "the sum of the squares is too large");
}

static int read_matrix (treeml_solver *solver, const struct matrix *matrix, const int64_t *whole) {
  if (solver_begin_tests (solver, matrix->cells, matrix->columns, matrix->rows))
    return solver->code;
  if (!pack_matrix (matrix->cells, matrix->rows, matrix->columns, (matrix->rows + 63) / 64, solver->columns))
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "a cell is neither 0 nor 1");
  solver_end_tests (solver, matrix->columns, matrix->rows);
  return treeml_targets (solver, TREEML_SQUARED, whole, 1, NULL, NULL, 0, 1);
}

static int report (treeml_solver *solver, int64_t depth, int64_t *answer, double *statistics) {
  const struct answer *best = solver->answers;
  if (best->tree.nodes > (INT64_C (2) << depth) - 1)
    return solver_fail (solver, TREEML_INTERNAL, "the tree has %lld nodes", (long long) best->tree.nodes);
  answer[treeml_squares_status] = best->status;
  answer[treeml_squares_value] = best->value;
  answer[treeml_squares_bound] = best->bound;
  answer[treeml_squares_slack] = solver->slack;
  answer[treeml_squares_size] = best->tree.nodes;
  for (int64_t i = 0; i < best->tree.nodes; i++) {
    int64_t *node = answer + treeml_squares_head + treeml_squares_part * i;
    node[0] = best->tree.test[i];
    node[1] = best->tree.yes[i];
    node[2] = best->tree.no[i];
  }
  return treeml_all_statistics (solver, statistics);
}

static int solve (treeml_solver *solver, const struct matrix *matrix, int64_t *whole, int64_t *answer, double *reals,
                  double *statistics) {
  if (read_numbers (solver, matrix, whole, &reals[1]) || read_matrix (solver, matrix, whole) || treeml_solve (solver) ||
      report (solver, matrix->depth, answer, statistics))
    return solver->code;
  reals[0] = solver->unit;
  return matrix_check (matrix->cells, matrix->rows, matrix->columns, whole, answer)
             ? TREEML_OK
             : solver_fail (solver, TREEML_INTERNAL, "the nodes do not form a tree");
}

/* What is wrong with a question, before its numbers are read. */
static int check_matrix (treeml_solver *solver, const struct matrix *matrix) {
  if (matrix->rows < 1 || !matrix->cells || (!matrix->numbers && !matrix->whole_numbers))
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "there must be at least one row, with cells and a number");
  if (matrix->depth < 0 || matrix->depth > treeml_squares_depth)
    return solver_fail (solver, TREEML_BAD_ARGUMENT, "a depth must be between 0 and %d", treeml_squares_depth);
  return TREEML_OK;
}

int treeml_least_squares (const uint8_t *cells, const double *numbers, const int64_t *whole_numbers, int64_t rows,
                          int64_t columns, int64_t depth, int64_t milliseconds, treeml_progress watch, int64_t *answer,
                          double *reals, double *statistics, char *message) {
  const struct matrix matrix = {cells, numbers, whole_numbers, rows, columns, depth};
  if (!answer || !reals || !statistics || !message)
    return TREEML_BAD_ARGUMENT;
  treeml_solver *solver = treeml_create ();
  if (!solver)
    return TREEML_OUT_OF_MEMORY;
  if (!check_matrix (solver, &matrix)) {
    int64_t *whole = arena_reserve (&solver->arena, (size_t) rows, sizeof *whole);
    solver->options.depth = depth;
    solver->options.milliseconds = milliseconds;
    treeml_watch (solver, watch, NULL);
    if (whole)
      solve (solver, &matrix, whole, answer, reals, statistics);
    else
      solver_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for the numbers");
    arena_release (&solver->arena, whole);
  }
  const int code = solver->code;
  if (code)
    memcpy (message, solver->message, sizeof solver->message);
  treeml_destroy (solver);
  return code;
}
