/* Survival times: costs of leaves from sums, and depth two from the sums of pairs of tests (Demirovic et al. 2022 do
   the same for classes).

   The sums of four numbers over the rows that answer yes to two tests give those of the other three corners by
   subtraction, in whole numbers, so a tree costs the same here as in the plain definition of leaf.c. */
#include "general/hazards.h"

#include "common/bits.h"
#include "solver/hazard.h"

#include <string.h>

/* More pairs than this need more memory than they save time. */
enum { most_paired = 4096 };

struct hazards {
  int32_t *first;           /* for every row: where its tests begin */
  int32_t *listed;          /* the tests of each row to which it gives the rarer answer */
  int32_t *slot;            /* number of a test among those that split the rows of the problem, or -1 */
  int32_t *active;          /* the tests with a slot */
  int32_t *here;            /* slots of the row at hand */
  int64_t *best;            /* best stump below each slot: the no side and the yes side */
  struct hazard_sums *cell; /* the pairs of slots i <= j, row after row */
};

static int is_rarer (const struct general *general, int32_t test, int64_t rows) {
  const uint64_t *mask = general_column (general, test);
  int64_t yes = 0;
  for (int64_t w = 0; w < general->words; w++)
    yes += count_bits (mask[w]);
  return 2 * yes <= rows;
}

static int list_answers (struct general *general, struct hazards *hazards) {
  treeml_solver *solver = general->solver;
  int64_t total = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t test = 0; test < general->tests; test++) {
      const int yes = is_rarer (general, test, solver->rows);
      const uint64_t *mask = general_column (general, test);
      for (int64_t row = 0; row < solver->rows; row++) {
        if ((int) (mask[row >> 6] >> (row & 63) & 1) != yes)
          continue;
        if (pass)
          hazards->listed[hazards->first[row]++] = test;
        else {
          hazards->first[row + 1]++;
          total++;
        }
      }
    }
    if (pass)
      break;
    if (total > INT32_MAX)
      return 0;
    hazards->listed = arena_allocate (&solver->arena, (size_t) total + 1, sizeof *hazards->listed);
    if (!hazards->listed)
      return 0;
    for (int64_t row = 0; row < solver->rows; row++)
      hazards->first[row + 1] += hazards->first[row];
  }
  memmove (hazards->first + 1, hazards->first, (size_t) solver->rows * sizeof *hazards->first);
  hazards->first[0] = 0;
  return 1;
}

int hazards_make (struct general *general) {
  treeml_solver *solver = general->solver;
  struct arena *arena = &solver->arena;
  if (solver->goal != goal_hazards || !solver->options.pairs || solver->options.once || solver->column_cost ||
      general->depths < 2 || general->tests > most_paired)
    return 1;
  struct hazards *hazards = general->hazards = arena_allocate (arena, 1, sizeof *hazards);
  if (!hazards)
    return 0;
  const size_t tests = (size_t) general->tests + 1;
  hazards->first = arena_allocate (arena, (size_t) solver->rows + 2, sizeof *hazards->first);
  hazards->slot = arena_allocate (arena, tests, sizeof *hazards->slot);
  hazards->active = arena_allocate (arena, tests, sizeof *hazards->active);
  hazards->here = arena_allocate (arena, tests, sizeof *hazards->here);
  hazards->best = arena_allocate (arena, 2 * tests, sizeof *hazards->best);
  hazards->cell = arena_allocate (arena, tests * (tests + 1) / 2, sizeof *hazards->cell);
  return hazards->first && hazards->slot && hazards->active && hazards->here && hazards->best && hazards->cell &&
         list_answers (general, hazards);
}

void hazards_release (struct general *general) {
  struct hazards *hazards = general->hazards;
  struct arena *arena = &general->solver->arena;
  if (!hazards)
    return;
  arena_release (arena, hazards->first);
  arena_release (arena, hazards->listed);
  arena_release (arena, hazards->slot);
  arena_release (arena, hazards->active);
  arena_release (arena, hazards->here);
  arena_release (arena, hazards->best);
  arena_release (arena, hazards->cell);
  arena_release (arena, hazards);
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

/* Cells of slot i are at i_cells[j] for j >= i. */
static struct hazard_sums *cells_of (const struct hazards *hazards, int64_t slots, int64_t i) {
  return hazards->cell + i * slots - i * (i + 1) / 2;
}

static void add_pairs (struct general *general, const struct general_subproblem *problem, int64_t slots) {
  struct hazards *hazards = general->hazards;
  memset (hazards->cell, 0, (size_t) (slots * (slots + 1) / 2) * sizeof *hazards->cell);
  for (int64_t w = 0; w < general->words; w++)
    for (uint64_t rest = problem->rows[w]; rest; rest &= rest - 1) {
      const int64_t row = 64 * w + lowest_bit (rest);
      const struct hazard_sums sums = hazard_of_row (general->solver, row);
      int32_t count = 0;
      for (int32_t at = hazards->first[row]; at < hazards->first[row + 1]; at++) {
        const int32_t slot = hazards->slot[hazards->listed[at]];
        hazards->here[count] = slot;
        count += slot >= 0;
      }
      for (int32_t i = 0; i < count; i++) {
        struct hazard_sums *cells = cells_of (hazards, slots, hazards->here[i]);
        for (int32_t j = i; j < count; j++)
          hazard_add (&cells[hazards->here[j]], &sums);
      }
      general->work += (int64_t) count * count;
    }
}

static void keep_least (int64_t *least, int64_t a, int64_t b) { *least = smaller (*least, plus (a, b)); }

/* The best stump on either side of every slot, from the four corners of every pair. */
static void find_stumps (struct general *general, const struct general_subproblem *problem, int64_t slots) {
  const treeml_solver *solver = general->solver;
  struct hazards *hazards = general->hazards;
  const struct hazard_sums all = sum_of (general, problem->rows, NULL);
  for (int64_t i = 0; i < slots; i++) {
    const struct hazard_sums *mine = cells_of (hazards, slots, i), *one = &mine[i];
    const struct hazard_sums not_one = hazard_difference (&all, one);
    int64_t *best = hazards->best + 2 * i;
    for (int64_t j = i + 1; j < slots; j++) {
      const struct hazard_sums *other = &cells_of (hazards, slots, j)[j], *both = &mine[j];
      const struct hazard_sums first = hazard_difference (one, both), second = hazard_difference (other, both);
      const struct hazard_sums none = hazard_difference (&not_one, &second);
      const int64_t yes_yes = hazard_leaf (solver, both), yes_no = hazard_leaf (solver, &first);
      const int64_t no_yes = hazard_leaf (solver, &second), no_no = hazard_leaf (solver, &none);
      keep_least (&best[1], yes_yes, yes_no);
      keep_least (&best[0], no_yes, no_no);
      keep_least (&hazards->best[2 * j + 1], yes_yes, no_yes);
      keep_least (&hazards->best[2 * j], yes_no, no_no);
    }
  }
}

const int64_t *hazards_two (struct general *general, struct general_subproblem *problem) {
  struct hazards *hazards = general->hazards;
  if (!hazards)
    return NULL;
  const treeml_solver *solver = general->solver;
  int64_t slots = 0;
  for (int32_t test = 0; test < general->tests; test++) {
    problem->two[test] = UNREACHABLE;
    hazards->slot[test] = problem->usable[test] ? (int32_t) slots : -1;
    if (problem->usable[test])
      hazards->active[slots++] = test;
  }
  add_pairs (general, problem, slots);
  const struct hazard_sums all = sum_of (general, problem->rows, NULL);
  for (int64_t i = 0; i < slots; i++) {
    const struct hazard_sums *yes = &cells_of (hazards, slots, i)[i], no = hazard_difference (&all, yes);
    hazards->best[2 * i + 1] = hazard_leaf (solver, yes);
    hazards->best[2 * i] = hazard_leaf (solver, &no);
  }
  find_stumps (general, problem, slots);
  for (int64_t i = 0; i < slots; i++) {
    const int32_t test = hazards->active[i];
    const int64_t value = problem->two[test] = plus (hazards->best[2 * i], hazards->best[2 * i + 1]);
    if (value < problem->fact[0].upper)
      problem->fact[0] = (struct fact) {problem->fact[0].lower, value, test, 0};
  }
  general_poll (general, 16 * slots * slots);
  return problem->two;
}
