/* A solved cut raises the bounds of the others: of its own column by the staircase (see depth_two.c), and of every
   other column because removing rows from a set lowers its optimum by at most their worth. */
#include "numeric/node.h"

#include "common/bits.h"

static int64_t greatest (int64_t a, int64_t b) { return a > b ? a : b; }

void numeric_raise_own (struct numeric_node *node, int32_t f, int32_t solved, const int64_t bound[2]) {
  struct numeric_column *column = &node->column[f];
  const int64_t here = numeric_worth (node->set, f, column->position[solved]);
  for (int32_t i = 0; i < column->open; i++) {
    const int32_t cut = column->alive[i];
    const int64_t there = numeric_worth (node->set, f, column->position[cut]);
    int64_t fewer = here > there ? here - there : 0, more = there > here ? there - here : 0;
    if (node->solver->group) { /* a worth does not include the fees of a row */
      fewer = column->position[cut] < column->position[solved] ? bound[0] : 0;
      more = column->position[cut] > column->position[solved] ? bound[1] : 0;
    }
    column->low[0][cut] = greatest (column->low[0][cut], bound[0] - fewer);
    column->low[1][cut] = greatest (column->low[1][cut], bound[1] - more);
  }
}

/* `inside`: the worth of the rows up to a cut of g that are on the yes side of the solved cut. */
static inline void raise_cut (struct numeric_column *column, int32_t cut, int64_t inside, int64_t rows,
                              const int64_t all[2], const int64_t bound[2], int symmetric) {
  const int64_t outside = rows - inside;
  int64_t yes = bound[0] - (all[0] - inside), no = bound[1] - outside;
  if (symmetric) {
    yes = greatest (yes, bound[1] - (all[1] - outside));
    no = greatest (no, bound[0] - inside);
  }
  column->low[0][cut] = greatest (column->low[0][cut], yes);
  column->low[1][cut] = greatest (column->low[1][cut], no);
}

void numeric_raise_others (struct numeric_node *node, int32_t f, int32_t solved, int64_t code, const int64_t bound[2],
                           uint64_t *bits, void *room, struct numeric_worker *worker) {
  treeml_numeric *solver = node->solver;
  struct numeric_set *set = node->set;
  const int64_t here = numeric_worth (set, f, node->column[f].position[solved]);
  const int64_t all[2] = {here, numeric_worth (set, f, set->rows) - here};
  for (int32_t g = 0; g < solver->columns; g++) {
    struct numeric_column *column = &node->column[g];
    if (g == f || !column->open)
      continue;
    if (numeric_spent (worker, set->rows / 4))
      return;
    const void *codes = numeric_set_pair (solver, set, g, f, 0, room);
    int64_t inside = 0, row = 0;
    if (solver->unit_worth) {
      solver->kernel->select (codes, set->rows, code, 0, bits);
      for (int32_t i = 0; i < column->open; i++) {
        const int32_t cut = column->alive[i];
        const int64_t position = column->position[cut];
        for (; row + 64 <= position; row += 64)
          inside += count_bits (bits[row / 64]);
        const uint64_t rest = position > row ? bits[row / 64] & ((UINT64_C (1) << (position - row)) - 1) : 0;
        raise_cut (column, cut, inside + count_bits (rest), position, all, bound, node->symmetric);
      }
      continue;
    }
    const void *worth = set->plane[(int64_t) g * solver->value_planes + solver->planes];
    const int cell = solver->kernel->cell;
    for (int32_t i = 0; i < column->open; i++) {
      const int32_t cut = column->alive[i];
      for (; row < column->position[cut]; row++)
        inside += numeric_code (codes, cell, row) <= code ? numeric_cell (worth, cell, row) : 0;
      raise_cut (column, cut, inside, set->worth[g][row], all, bound, node->symmetric);
    }
  }
}
