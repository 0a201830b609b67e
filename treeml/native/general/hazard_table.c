/* Tables of pair sums: adding rows, and subtracting the sums of the smaller side of a split. */
#include "general/hazard_table.h"

#include "common/bits.h"

#include <string.h>

struct hazard_table *hazard_table_make (struct general *general) {
  struct arena *arena = &general->solver->arena;
  const size_t tests = (size_t) general->tests + 1;
  struct hazard_table *table = arena_allocate (arena, 1, sizeof *table);
  if (!table)
    return NULL;
  table->rows = arena_allocate (arena, (size_t) general->words, sizeof *table->rows);
  table->usable = arena_allocate (arena, tests, sizeof *table->usable);
  table->cell = arena_allocate (arena, tests * (tests + 1) / 2, sizeof *table->cell);
  table->side = arena_allocate (arena, tests, sizeof *table->side);
  table->cost = arena_allocate (arena, tests, sizeof *table->cost);
  if (table->rows && table->usable && table->cell && table->side && table->cost)
    return table;
  hazard_table_release (general, table);
  return NULL;
}

void hazard_table_release (struct general *general, struct hazard_table *table) {
  struct arena *arena = &general->solver->arena;
  if (!table)
    return;
  arena_release (arena, table->rows);
  arena_release (arena, table->usable);
  arena_release (arena, table->cell);
  arena_release (arena, table->side);
  arena_release (arena, table->cost);
  arena_release (arena, table);
}

static int64_t cells_of_table (const struct general *general) {
  return (int64_t) general->tests * (general->tests + 1) / 2;
}

static void copy_sides (const struct general *general, struct hazard_table *table) {
  for (int64_t i = 0; i < general->tests; i++)
    table->side[i] = hazard_row (general, table, i)[i];
  table->generation = ++general->hazards->generations;
  table->cut_from = 0;
}

static void add_row (struct general *general, struct hazard_table *table, int64_t row) {
  struct hazards *hazards = general->hazards;
  const struct hazard_sums sums = hazard_of_row (general->solver, row);
  const struct hazard_cell own = {sums.hazard, sums.deaths << 32 | sums.count};
  hazard_add (&table->all, &sums);
  int32_t count = 0;
  for (int32_t at = hazards->first[row]; at < hazards->first[row + 1]; at++) {
    hazards->here[count] = hazards->listed[at];
    count += table->usable[hazards->listed[at]];
  }
  for (int32_t i = 0; i < count; i++) {
    table->cost[hazards->here[i]] += sums.cost;
    struct hazard_cell *cells = hazard_row (general, table, hazards->here[i]);
    for (int32_t j = i; j < count; j++) {
      cells[hazards->here[j]].hazard += own.hazard;
      cells[hazards->here[j]].people += own.people;
    }
  }
  general->work += (int64_t) count * count;
}

static void add_rows (struct general *general, struct hazard_table *table, const uint64_t *rows,
                      const uint8_t *usable) {
  memcpy (table->rows, rows, (size_t) general->words * sizeof *rows);
  memcpy (table->usable, usable, (size_t) general->tests * sizeof *usable);
  memset (table->cell, 0, (size_t) cells_of_table (general) * sizeof *table->cell);
  memset (table->cost, 0, (size_t) general->tests * sizeof *table->cost);
  memset (&table->all, 0, sizeof table->all);
  for (int64_t w = 0; w < general->words; w++)
    for (uint64_t rest = rows[w]; rest; rest &= rest - 1)
      add_row (general, table, 64 * w + lowest_bit (rest));
  copy_sides (general, table);
}

static void subtract (struct general *general, struct hazard_table *table, const struct hazard_table *all,
                      const struct hazard_table *part) {
  const int64_t cells = cells_of_table (general);
  for (int64_t i = 0; i < cells; i++) {
    table->cell[i].hazard = all->cell[i].hazard - part->cell[i].hazard;
    table->cell[i].people = all->cell[i].people - part->cell[i].people;
  }
  for (int64_t i = 0; i < general->tests; i++)
    table->cost[i] = all->cost[i] - part->cost[i];
  table->all = hazard_difference (&all->all, &part->all);
  for (int64_t w = 0; w < general->words; w++)
    table->rows[w] = all->rows[w] & ~part->rows[w];
  memcpy (table->usable, all->usable, (size_t) general->tests * sizeof *table->usable);
  copy_sides (general, table);
}

static int64_t count_rows (const struct general *general, const uint64_t *rows) {
  int64_t count = 0;
  for (int64_t w = 0; w < general->words; w++)
    count += count_bits (rows[w]);
  return count;
}

/* The part of a table's rows with the given rows, computed unless it was the last one. */
static const struct hazard_table *cut (struct general *general, struct hazard_table *part,
                                       const struct hazard_table *from, const uint64_t *rows) {
  if (part->cut_from != from->generation || memcmp (part->rows, rows, (size_t) general->words * sizeof *rows) != 0) {
    add_rows (general, part, rows, from->usable);
    part->cut_from = from->generation;
  }
  return part;
}

const struct hazard_table *hazard_table_of (struct general *general, struct general_subproblem *problem,
                                            int32_t depth) {
  struct hazards *hazards = general->hazards;
  if (hazards->shared) {
    add_rows (general, hazards->shared, problem->rows, problem->usable);
    return problem->sums = hazards->shared;
  }
  const struct general_subproblem *parent = depth < general->root_depth ? general->problem[depth + 1] : NULL;
  const struct hazard_table *above = parent ? parent->sums : NULL;
  uint64_t *missing = general->scratch, outside = 0;
  for (int64_t w = 0; above && w < general->words; w++) {
    missing[w] = above->rows[w] & ~problem->rows[w];
    outside |= problem->rows[w] & ~above->rows[w];
  }
  /* Whatever the table above was computed for: rows that contain these are good enough. */
  if (!above || outside)
    add_rows (general, problem->table, problem->rows, problem->usable);
  else if (count_rows (general, missing) >= count_rows (general, problem->rows))
    return problem->sums = cut (general, problem->part, above, problem->rows);
  else
    subtract (general, problem->table, above, cut (general, problem->part, above, missing));
  return problem->sums = problem->table;
}
