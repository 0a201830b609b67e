/* A matrix of numbers and the classes of its rows -> the best tree, in as few calls as possible.

   For a few hundred rows the search takes less time than a dozen calls from Python. So one function takes the matrix as
   it lies in memory, row after row, and one solves and reports everything at once. */
#include "numeric/columns.h"

#include <string.h>

enum { widest_labels = 4096 }; /* the largest difference of two labels */

/* Numbers the labels that occur from 0 in ascending order, in `code`, and lists them. Returns how many there are, or 0
   if there are too many, or if they lie too far apart. */
static int32_t number_labels (const int64_t *labels, int64_t rows, int32_t most, int32_t *code, int64_t *listed) {
  int64_t low = labels[0], high = labels[0];
  for (int64_t i = 1; i < rows; i++) {
    low = labels[i] < low ? labels[i] : low;
    high = labels[i] > high ? labels[i] : high;
  }
  if ((uint64_t) high - (uint64_t) low >= widest_labels)
    return 0;
  /* Distances from the lowest label are counted, since the label behind the highest one may not exist. */
  const int32_t distances = (int32_t) (high - low) + 1;
  int32_t number[widest_labels];
  memset (number, 0, (size_t) distances * sizeof *number);
  for (int64_t i = 0; i < rows; i++)
    number[labels[i] - low] = 1;
  int32_t classes = 0;
  for (int32_t distance = 0; distance < distances; distance++) {
    if (!number[distance])
      continue;
    if (classes == most)
      return 0;
    listed[classes] = low + distance;
    number[distance] = classes++;
  }
  for (int64_t i = 0; i < rows; i++)
    code[i] = number[labels[i] - low];
  return classes;
}

/* Sorts the columns of the matrix one by one. Returns 0 if out of memory or if a number is not finite. */
static int rank_matrix (treeml_numeric *solver, const double *values, int64_t *found) {
  const int64_t rows = solver->rows, columns = solver->given;
  struct numeric_sorter sorter = {0};
  double *cells = arena_reserve (&solver->arena, (size_t) rows, sizeof *cells);
  int fine = cells && numeric_sorter_create (&sorter, &solver->arena, rows);
  for (int32_t f = 0; fine && f < columns; f++) {
    for (int64_t i = 0; i < rows; i++)
      cells[i] = values[i * columns + f];
    const struct numeric_column column = {.values = cells};
    const int32_t levels = numeric_keep_column (solver, &sorter, &column, f);
    int truths = levels <= 2;
    for (int64_t i = 0; truths && i < rows; i++)
      truths = cells[i] == 0 || cells[i] == 1;
    found[treeml_matrix_cuts] += truths ? 1 : levels - 1;
    found[treeml_matrix_columns] += truths || levels > 1;
    found[treeml_matrix_truths] += truths;
    fine = levels > 0;
  }
  solver->ranked = solver->given;
  arena_release (&solver->arena, cells);
  if (sorter.arena)
    numeric_sorter_destroy (&sorter);
  return fine;
}

int treeml_numeric_matrix (treeml_numeric *solver, const double *values, int64_t rows, int64_t columns,
                           const int64_t *labels, int32_t most, int64_t *found) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  int code = numeric_check_shape (solver, values, columns, rows);
  if (code)
    return code;
  if (!labels || !found || most < 1)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "labels and a place for what is found must be given");
  memset (found, 0, treeml_matrix_labels * sizeof *found);
  int32_t *numbered = arena_reserve (&solver->arena, (size_t) rows, sizeof *numbered);
  const int32_t classes = numbered ? number_labels (labels, rows, most, numbered, found + treeml_matrix_labels) : 0;
  found[treeml_matrix_classes] = classes;
  if (numbered && !classes)
    code = numeric_fail (solver, TREEML_BAD_ARGUMENT, "the labels are more than %d, or too far apart", most);
  else if (!numbered || !numeric_begin_columns (solver, columns, rows))
    code = numeric_no_room (solver, columns, rows);
  else if (!rank_matrix (solver, values, found)) {
    numeric_release_data (solver);
    code = numeric_fail (solver, TREEML_BAD_ARGUMENT, "a number is not finite, or there is not enough memory");
  } else
    code = treeml_numeric_labels (solver, numbered, classes, NULL);
  arena_release (&solver->arena, numbered);
  return code;
}

int treeml_numeric_best (treeml_numeric *solver, int64_t depth, int64_t microseconds, int64_t room, int64_t *answer,
                         double *statistics) {
  if (!solver || !answer || !statistics)
    return TREEML_BAD_ARGUMENT;
  solver->options.depth = depth;
  solver->options.microseconds = microseconds;
  const int code = treeml_numeric_solve (solver);
  if (code)
    return code;
  treeml_numeric_answer (solver, answer);
  const struct numeric_tree *best = &solver->best;
  if (best->nodes > room)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "the tree has %lld nodes, and there is room for %lld",
                         (long long) best->nodes, (long long) room);
  for (int64_t i = 0; i < best->nodes; i++) {
    int64_t *node = answer + 5 + treeml_matrix_node * i;
    int32_t rows[2] = {-1, -1};
    if (best->column[i] >= 0)
      treeml_numeric_beside (solver, best->column[i], best->cut[i], rows);
    node[0] = best->column[i];
    node[1] = best->column[i] < 0 ? 0 : solver->levels[solver->alias[best->column[i]]];
    node[2] = rows[0];
    node[3] = rows[1];
    node[4] = best->yes[i];
    node[5] = best->no[i];
    node[6] = best->label[i];
  }
  const char *name, *help;
  for (int32_t i = 0; i < treeml_numeric_statistics (); i++)
    treeml_numeric_statistic (solver, i, &name, &statistics[i], &help);
  return TREEML_OK;
}
