/* The best stumps on both sides of every cut of a set of rows, for all multipliers: one pass of simd/stump_trees.h for
   every pair of columns. */
#include "coupled_numeric/solver.h"

#include <math.h>
#include <string.h>

/* Zeroed blocks, all or none of which exist afterwards from the caller's point of view. */
int threshold_table_create (threshold_solver *solver) {
  struct threshold_table *table = &solver->table;
  struct arena *arena = &solver->arena;
  const size_t columns = (size_t) solver->columns, rows = (size_t) solver->rows;
  int64_t cuts = 0, most = 1;
  for (int32_t f = 0; f < solver->columns; f++) {
    cuts += solver->levels[f];
    most = solver->levels[f] > most ? solver->levels[f] : most;
  }
  size_t size = 2;
  while (size < (size_t) most)
    size *= 2;
  const size_t sides = times ((size_t) cuts, 2 * WIDTH);
  table->level = arena_reserve (arena, times (columns, rows), sizeof *table->level);
  table->end = arena_reserve (arena, times (columns, rows), sizeof *table->end);
  table->levels = arena_reserve (arena, columns, sizeof *table->levels);
  table->first = arena_reserve (arena, columns, sizeof *table->first);
  table->total = arena_reserve (arena, times (2 * (size_t) most, (size_t) solver->classes * WIDTH), sizeof (double));
  table->leaf = arena_reserve (arena, sides, sizeof (double));
  table->supported = arena_reserve (arena, sides, sizeof (double));
  table->relaxed = arena_reserve (arena, sides, sizeof (double));
  table->tree = arena_allocate (arena, times (size, (size_t) solver->pairs * 4 * WIDTH), sizeof (double));
  table->tree_count = arena_allocate (arena, 2 * size, sizeof *table->tree_count);
  if (threshold_has_fees (solver)) {
    table->inner = arena_reserve (arena, times (4 * (size_t) most, WIDTH), sizeof (double));
    table->side_count = arena_reserve (arena, 2 * (size_t) most, sizeof *table->side_count);
    if (!table->inner || !table->side_count)
      return 0;
  }
  return table->level && table->end && table->levels && table->first && table->total && table->leaf &&
         table->supported && table->relaxed && table->tree && table->tree_count;
}

void threshold_table_release (threshold_solver *solver) {
  struct threshold_table *table = &solver->table;
  void *blocks[] = {table->level, table->end,        table->levels,    table->first,
                    table->total, table->leaf,       table->supported, table->relaxed,
                    table->tree,  table->tree_count, table->inner,     table->side_count};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    arena_release (&solver->arena, blocks[i]);
  memset (table, 0, sizeof *table);
}

void threshold_table_levels (threshold_solver *solver, const struct threshold_rows *set) {
  struct threshold_table *table = &solver->table;
  int64_t cuts = 0;
  table->filled = NULL;
  for (int32_t f = 0; f < solver->columns; f++) {
    const int32_t *order = threshold_order (set, f), *rank = threshold_rank (solver, f);
    int32_t *level = table->level + f * solver->rows, *end = table->end + f * solver->rows, levels = 0;
    for (int64_t i = 0; i < set->rows; i++) {
      if (i && rank[order[i]] != rank[order[i - 1]])
        end[levels++] = (int32_t) i;
      level[order[i]] = levels;
    }
    if (set->rows)
      end[levels++] = (int32_t) set->rows;
    table->levels[f] = levels;
    table->first[f] = cuts;
    cuts += levels ? levels - 1 : 0;
  }
}

/* The costs of the two sides of every cut of a column as leaves of each class, and of the best class. */
static void fill_totals (threshold_solver *solver, const struct threshold_rows *set, int32_t f) {
  struct threshold_table *table = &solver->table;
  const int32_t classes = solver->classes, *order = threshold_order (set, f), *end = table->end + f * solver->rows;
  const int64_t size = (int64_t) classes * WIDTH;
  double run[most_classes * WIDTH] = {0};
  int64_t row = 0;
  for (int32_t cut = 0; cut < table->levels[f]; cut++) {
    for (; row < end[cut]; row++)
      for (int64_t k = 0; k < size; k++)
        run[k] += solver->cost[order[row] * size + k];
    if (cut + 1 < table->levels[f])
      memcpy (table->total + 2 * cut * size, run, (size_t) size * sizeof *run);
  }
  for (int32_t cut = 0; cut + 1 < table->levels[f]; cut++) {
    double *yes = table->total + 2 * cut * size, *no = yes + size;
    for (int64_t k = 0; k < size; k++)
      no[k] = run[k] - yes[k];
    double *leaf = table->leaf + (table->first[f] + cut) * 2 * WIDTH;
    for (int side = 0; side < 2; side++)
      for (int i = 0; i < WIDTH; i++) {
        double best = yes[side * size + i];
        for (int32_t k = 1; k < classes; k++)
          best = fmin (best, yes[side * size + k * WIDTH + i]);
        leaf[side * WIDTH + i] = best;
      }
  }
}

/* The counts of the rows on both sides of every cut of a column. */
static void count_sides (threshold_solver *solver, const struct threshold_rows *set, int32_t f) {
  const struct threshold_table *table = &solver->table;
  const int32_t *order = threshold_order (set, f), *end = table->end + f * solver->rows;
  int64_t count = 0, row = 0;
  for (int32_t cut = 0; cut + 1 < table->levels[f]; cut++) {
    for (; row < end[cut]; row++)
      count += solver->count ? solver->count[order[row]] : 1;
    table->side_count[2 * cut] = count;
    table->side_count[2 * cut + 1] = set->count - count;
  }
}

/* A pass for the inner column g, whose stumps cost a fee for every row on their side. */
static void pass_with_fees (threshold_solver *solver, struct stump_pass pass, int32_t f, int32_t g) {
  const struct threshold_table *table = &solver->table;
  const int64_t sides = 2 * ((int64_t) pass.levels - 1);
  double *const outer[2] = {pass.supported, pass.relaxed};
  double each[WIDTH];
  pass.supported = table->inner;
  pass.relaxed = table->inner + sides * WIDTH;
  for (int64_t i = 0; i < 2 * sides * WIDTH; i++)
    table->inner[i] = INFINITY;
  solver->kernel->pass (&pass);
  threshold_fee (solver, f, g, 1, each);
  const double *const inner[2] = {pass.supported, pass.relaxed};
  for (int which = 0; which < 2; which++)
    for (int64_t side = 0; side < sides; side++)
      for (int i = 0; i < WIDTH; i++) {
        const double value = inner[which][side * WIDTH + i] + each[i] * (double) table->side_count[side];
        outer[which][side * WIDTH + i] = fmin (outer[which][side * WIDTH + i], value);
      }
}

int threshold_table_fill (threshold_solver *solver, const struct threshold_rows *set) {
  struct threshold_table *table = &solver->table;
  if (table->filled == set->order)
    return 1;
  solver->statistics.tables++;
  threshold_table_levels (solver, set);
  for (int32_t f = 0; f < solver->columns; f++) {
    const int64_t cuts = table->levels[f] - 1, first = table->first[f] * 2 * WIDTH;
    if (cuts < 1)
      continue;
    fill_totals (solver, set, f);
    for (int64_t i = 0; i < cuts * 2 * WIDTH; i++)
      table->supported[first + i] = table->relaxed[first + i] = INFINITY;
    struct stump_pass pass = {.order = threshold_order (set, f),
                              .end = table->end + f * solver->rows,
                              .levels = table->levels[f],
                              .classes = solver->classes,
                              .weight = solver->weight,
                              .total = table->total,
                              .count = solver->count,
                              .support = solver->options.support,
                              .checked = threshold_checked (solver),
                              .tree = table->tree,
                              .tree_count = table->tree_count,
                              .supported = table->supported + first,
                              .relaxed = table->relaxed + first};
    if (solver->path)
      count_sides (solver, set, f);
    for (int32_t g = 0; g < solver->columns; g++) {
      if (table->levels[g] < 2)
        continue;
      pass.level = table->level + g * solver->rows;
      pass.inner_levels = table->levels[g];
      if (solver->path)
        pass_with_fees (solver, pass, f, g);
      else
        solver->kernel->pass (&pass);
      if (threshold_spent (solver, 100 * set->rows))
        return 0;
    }
    if (!threshold_checked (solver))
      memcpy (table->supported + first, table->relaxed + first, (size_t) (cuts * 2 * WIDTH) * sizeof (double));
  }
  table->filled = set->order;
  return 1;
}
