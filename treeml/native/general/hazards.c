/* Survival times: costs of leaves from sums, and depth two from the sums of pairs of tests (Demirovic et al. 2022 do
   the same for classes).

   The best root of depth two is found with doubles, whose errors are small beside a unit; the value of its tree is then
   computed by the plain definition of leaf.c, so that all parts of the search agree about it. */
#include "general/hazards.h"

#include "common/bits.h"
#include "general/hazard_table.h"
#include "simd/hazard_leaf.h"

#include <string.h>

/* Up to the first number of tests, every depth has tables of its own; beyond the second, pairs need too much memory. */
enum { most_nested = 1024, most_paired = 4096 };

/* A tree of depth two has four leaves, each of them rounded to units. */
enum { rounded_units = 3 };

static int64_t count_column (const struct general *general, int32_t test) {
  const uint64_t *mask = general_column (general, test);
  int64_t yes = 0;
  for (int64_t w = 0; w < general->words; w++)
    yes += count_bits (mask[w]);
  return yes;
}

static int list_answers (struct general *general, struct hazards *hazards) {
  treeml_solver *solver = general->solver;
  int64_t total = 0;
  for (int32_t test = 0; test < general->tests; test++) {
    const int64_t yes = count_column (general, test), no = solver->rows - yes;
    hazards->rarer[test] = yes <= no;
    total += smaller (yes, no);
  }
  if (total > INT32_MAX)
    return 0;
  hazards->listed = arena_allocate (&solver->arena, (size_t) total + 1, sizeof *hazards->listed);
  if (!hazards->listed)
    return 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t test = 0; test < general->tests; test++) {
      const uint64_t *mask = general_column (general, test);
      for (int64_t w = 0; w < general->words; w++) {
        const int64_t left = solver->rows - 64 * w;
        const uint64_t valid = left < 64 ? ((uint64_t) 1 << left) - 1 : ~(uint64_t) 0;
        for (uint64_t rest = (hazards->rarer[test] ? mask[w] : ~mask[w]) & valid; rest; rest &= rest - 1) {
          const int64_t row = 64 * w + lowest_bit (rest);
          if (pass)
            hazards->listed[hazards->first[row]++] = test;
          else
            hazards->first[row + 1]++;
        }
      }
    }
    for (int64_t row = 0; row < solver->rows && !pass; row++)
      hazards->first[row + 1] += hazards->first[row];
  }
  memmove (hazards->first + 1, hazards->first, (size_t) solver->rows * sizeof *hazards->first);
  hazards->first[0] = 0;
  return 1;
}

/* Whether the pair sums fit; the rows of a cell have 31 bits. */
static int has_pairs (const struct general *general) {
  const treeml_solver *solver = general->solver;
  if (solver->goal != goal_hazards || !solver->options.pairs || solver->options.once || solver->column_cost ||
      general->depths < 2 || general->tests > most_paired)
    return 0;
  int64_t counted = 0;
  for (int64_t row = 0; row < solver->rows && counted <= INT32_MAX; row++)
    counted += solver->count ? solver->count[row] : 1;
  return counted <= INT32_MAX;
}

int hazards_make (struct general *general) {
  treeml_solver *solver = general->solver;
  struct arena *arena = &solver->arena;
  if (!has_pairs (general))
    return 1;
  struct hazards *hazards = general->hazards = arena_allocate (arena, 1, sizeof *hazards);
  if (!hazards)
    return 0;
  const size_t tests = (size_t) general->tests + 1;
  hazards->kernel = simd_hazard_stumps (simd_select (solver->options.kernel, simd_avx512));
  hazards->first = arena_allocate (arena, (size_t) solver->rows + 2, sizeof *hazards->first);
  hazards->here = arena_allocate (arena, tests, sizeof *hazards->here);
  hazards->rarer = arena_allocate (arena, tests, sizeof *hazards->rarer);
  hazards->best[0] = arena_allocate (arena, tests, sizeof *hazards->best[0]);
  hazards->best[1] = arena_allocate (arena, tests, sizeof *hazards->best[1]);
  hazards->room = arena_allocate (arena, 2 * tests, sizeof *hazards->room);
  if (!hazards->kernel || !hazards->first || !hazards->here || !hazards->rarer || !hazards->best[0] ||
      !hazards->best[1] || !hazards->room)
    return 0;
  if (general->tests > most_nested && !(hazards->shared = hazard_table_make (general)))
    return 0;
  return list_answers (general, hazards);
}

void hazards_release (struct general *general) {
  struct hazards *hazards = general->hazards;
  struct arena *arena = &general->solver->arena;
  if (!hazards)
    return;
  arena_release (arena, hazards->first);
  arena_release (arena, hazards->listed);
  arena_release (arena, hazards->here);
  arena_release (arena, hazards->rarer);
  arena_release (arena, hazards->best[0]);
  arena_release (arena, hazards->best[1]);
  arena_release (arena, hazards->room);
  hazard_table_release (general, hazards->shared);
  arena_release (arena, hazards);
}

int hazards_make_tables (struct general *general, struct general_subproblem *problem) {
  if (!general->hazards || general->hazards->shared)
    return 1;
  problem->table = hazard_table_make (general);
  problem->part = hazard_table_make (general);
  return problem->table && problem->part;
}

void hazards_release_tables (struct general *general, struct general_subproblem *problem) {
  hazard_table_release (general, problem->table);
  hazard_table_release (general, problem->part);
}

static struct hazard_sums sum_of (const struct general *general, const uint64_t *rows, const uint64_t *mask) {
  struct hazard_sums sums = {0, 0, 0, 0};
  for (int64_t w = 0; w < general->words; w++)
    for (uint64_t rest = mask ? rows[w] & mask[w] : rows[w]; rest; rest &= rest - 1) {
      const struct hazard_sums row = hazard_of_row (general->solver, 64 * w + lowest_bit (rest));
      hazard_add (&sums, &row);
    }
  return sums;
}

void hazards_open (struct general *general, struct general_subproblem *problem) {
  treeml_solver *solver = general->solver;
  const struct hazard_sums all = sum_of (general, problem->rows, NULL);
  for (int32_t test = 0; test < general->tests; test++) {
    if (!problem->usable[test] || general_poll (general, 16 * general->words))
      continue;
    const struct hazard_sums yes = sum_of (general, problem->rows, general_column (general, test));
    const struct hazard_sums no = hazard_difference (&all, &yes);
    problem->leaf[1][test] = hazard_leaf (solver, &yes);
    problem->leaf[0][test] = hazard_leaf (solver, &no);
    solver->statistics.leaf_costs += 2;
  }
}

static struct hazard_cell cell_of (const struct hazard_sums *sums) {
  return (struct hazard_cell) {sums->hazard, sums->deaths << 32 | sums->count};
}

/* The best stump on either side of every usable test, or a leaf there, in hazards->best. */
static void find_stumps (struct general *general, const struct general_subproblem *problem,
                         const struct hazard_table *table) {
  const treeml_solver *solver = general->solver;
  struct hazards *hazards = general->hazards;
  const double price = (double) solver->options.leaf_price;
  const int64_t support = larger (1, solver->options.support);
  const struct hazard_cell all = cell_of (&table->all);
  for (int32_t i = 0; i < general->tests; i++)
    for (int first = 0; first < 2; first++) {
      const struct hazard_cell side = first ? table->side[i] : hazard_cell_difference (all, table->side[i]);
      hazards->best[first][i] = hazard_leaf_units (side, support, solver->unit, price);
    }
  struct hazard_stumps_task task = {.tests = general->tests,
                                    .side = table->side,
                                    .support = support,
                                    .unit = solver->unit,
                                    .price = price,
                                    .best = {hazards->best[0], hazards->best[1]},
                                    .room = hazards->room};
  for (int32_t i = 0; i < general->tests; i++) {
    if (!problem->usable[i])
      continue;
    double best[2];
    task.from = i + 1;
    task.both = hazard_row (general, table, i);
    task.one = table->side[i];
    task.rest = hazard_cell_difference (all, task.one);
    hazards->kernel->stumps (&task, best);
    for (int first = 0; first < 2; first++)
      hazards->best[first][i] = fmin (hazards->best[first][i], best[first]);
  }
}

/* The best partner of a test on its first or second side; -1 for none. */
static int32_t partner_of (const struct general *general, const struct general_subproblem *problem,
                           const struct hazard_table *table, int32_t test, int first) {
  const treeml_solver *solver = general->solver;
  const struct hazard_cell all = cell_of (&table->all), one = table->side[test];
  const struct hazard_cell here = first ? one : hazard_cell_difference (all, one);
  const double price = (double) solver->options.leaf_price;
  const int64_t support = larger (1, solver->options.support);
  double best = hazard_leaf_units (here, support, solver->unit, price);
  int32_t partner = -1;
  for (int32_t j = 0; j < general->tests; j++) {
    if (!problem->usable[j] || j == test)
      continue;
    struct hazard_cell both = j > test ? hazard_row (general, table, test)[j] : hazard_row (general, table, j)[test];
    if (!first)
      both = hazard_cell_difference (table->side[j], both);
    const double value = hazard_leaf_units (both, support, solver->unit, price) +
                         hazard_leaf_units (hazard_cell_difference (here, both), support, solver->unit, price);
    if (value < best) {
      best = value;
      partner = j;
    }
  }
  return partner;
}

/* The exact cost of one side of a test with a partner below it, or as a leaf. */
static int64_t exact_side (struct general *general, const struct general_subproblem *problem, int32_t test, int yes,
                           int32_t partner) {
  const uint64_t *mask = general_column (general, test);
  for (int64_t w = 0; w < general->words; w++)
    general->scratch[w] = problem->rows[w] & (yes ? mask[w] : ~mask[w]);
  const struct hazard_sums all = sum_of (general, general->scratch, NULL);
  if (partner < 0)
    return hazard_leaf (general->solver, &all);
  const struct hazard_sums part = sum_of (general, general->scratch, general_column (general, partner));
  const struct hazard_sums rest = hazard_difference (&all, &part);
  return plus (hazard_leaf (general->solver, &part), hazard_leaf (general->solver, &rest));
}

static struct hazard_sums sums_of_side (const struct hazard_table *table, int32_t test) {
  const struct hazard_cell side = table->side[test];
  return (struct hazard_sums) {side.hazard, table->cost[test], side.people >> 32, side.people & 0xffffffff};
}

static void leaves_of_sides (struct general *general, struct general_subproblem *problem,
                             const struct hazard_table *table) {
  for (int32_t test = 0; test < general->tests; test++) {
    if (!problem->usable[test])
      continue;
    const int yes = general->hazards->rarer[test];
    const struct hazard_sums first = sums_of_side (table, test), second = hazard_difference (&table->all, &first);
    problem->leaf[yes][test] = hazard_leaf (general->solver, &first);
    problem->leaf[!yes][test] = hazard_leaf (general->solver, &second);
    general->solver->statistics.leaf_costs += 2;
  }
}

void hazards_two (struct general *general, struct general_subproblem *problem, int32_t depth, int32_t useful) {
  const struct hazards *hazards = general->hazards;
  const struct hazard_table *table = hazard_table_of (general, problem, depth);
  find_stumps (general, problem, table);
  int32_t root = -1;
  double best = (double) INFINITY;
  for (int32_t test = 0; test < general->tests; test++) {
    problem->two[test] = hazards->best[0][test] + hazards->best[1][test];
    if (problem->usable[test] && problem->two[test] < best) {
      best = problem->two[test];
      root = test;
    }
  }
  general_poll (general, 16 * (int64_t) general->tests * general->tests);
  struct fact *fact = &problem->fact[0];
  if (useful > 2)
    leaves_of_sides (general, problem, table);
  const double low = best + (double) table->all.cost / HAZARD_UNIT * general->solver->unit - rounded_units;
  if (useful == 2 && low >= (double) smaller (problem->upper[0], fact->upper)) {
    fact->lower = low < (double) fact->upper ? larger (fact->lower, (int64_t) floor (low)) : fact->upper;
    return;
  }
  if (root < 0)
    return;
  int64_t value = 0;
  for (int first = 0; first < 2; first++)
    value = plus (value, exact_side (general, problem, root, first == hazards->rarer[root],
                                     partner_of (general, problem, table, root, first)));
  if (value < fact->upper)
    *fact = (struct fact) {fact->lower, value, root, 0};
  if (useful == 2)
    fact->lower = fact->upper;
}
