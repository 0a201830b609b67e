/* Leaves that cost what the mixture of their classes costs. With the counts c of the classes, n in all, among K:

     code length   log2 (G (n + K/2) / G (K/2)) - sum over k of log2 (G (c_k + 1/2) / G (1/2))
     entropy       n log n - sum over k of c_k log c_k
     gini          n - sum over k of c_k^2 / n

   G is the gamma function. The first is the number of bits that the classes of the rows take, one by one, each coded
   with its frequency so far plus one half (Krichevsky and Trofimov 1981).

   No leaf costs less than a part of its rows. For the code length more is known: both logarithms are convex in their
   counts and 0 at 0, so a leaf takes no fewer bits than its classes in leaves of their own, and the bits of one class
   alone, the difference of the two, are concave: they are fewest if all its rows share a leaf. Their sum over the
   classes is a lower bound for every tree. */
#include "solver/impurity.h"

#include "common/bits.h"

#include <math.h>
#include <string.h>

struct impurity {
  int32_t kind;
  uint64_t *members; /* classes x words: the rows of the class */
  double *own, *all; /* the terms of whole counts up to the rows, if rows have no weights; otherwise NULL */
  double unit;       /* of weights */
};

/* log G (x) for x >= 1/2: the recurrence up to 12, then Stirling's series. */
static double log_gamma (double x) {
  double product = 1;
  while (x < 12) {
    product *= x;
    x += 1;
  }
  const double inverse = 1 / x, square = inverse * inverse;
  const double series =
      inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square * (1.0 / 1680 - square / 1188))));
  return (x - 0.5) * log (x) - x + 0.91893853320467274178 + series - log (product);
}

/* The term of one class, and that of all rows of a leaf. */
static double own_term (int32_t kind, double count) {
  if (kind == TREEML_ENTROPY)
    return count > 0 ? count * log (count) : 0;
  return (log_gamma (count + 0.5) - log_gamma (0.5)) / log (2);
}

static double joint_term (int32_t kind, double count, int32_t classes) {
  if (kind == TREEML_ENTROPY)
    return own_term (kind, count);
  return (log_gamma (count + 0.5 * classes) - log_gamma (0.5 * classes)) / log (2);
}

void impurity_release (treeml_solver *solver) {
  struct arena *arena = &solver->arena;
  struct impurity *impurity = solver->impurity;
  if (!impurity)
    return;
  arena_release (arena, impurity->members);
  arena_release (arena, impurity->own);
  arena_release (arena, impurity->all);
  arena_release (arena, impurity);
  solver->impurity = NULL;
}

static int make_tables (treeml_solver *solver, struct impurity *impurity) {
  const int64_t rows = solver->rows;
  impurity->own = arena_allocate (&solver->arena, (size_t) rows + 1, sizeof *impurity->own);
  impurity->all = arena_allocate (&solver->arena, (size_t) rows + 1, sizeof *impurity->all);
  for (int64_t count = 0; impurity->own && impurity->all && count <= rows; count++) {
    impurity->own[count] = own_term (impurity->kind, (double) count);
    impurity->all[count] = joint_term (impurity->kind, (double) count, solver->classes);
  }
  return impurity->own && impurity->all;
}

int impurity_make (treeml_solver *solver, int32_t kind, const int32_t *label, double unit) {
  struct arena *arena = &solver->arena;
  const size_t words = (size_t) (solver->classes * solver->words);
  struct impurity *impurity = solver->impurity = arena_allocate (arena, 1, sizeof *impurity);
  if (impurity) {
    *impurity = (struct impurity) {.kind = kind, .unit = unit};
    impurity->members = arena_allocate (arena, words, sizeof *impurity->members);
    const int tables = !solver->weight && kind != TREEML_GINI;
    if (impurity->members && (!tables || make_tables (solver, impurity))) {
      memset (impurity->members, 0, words * sizeof *impurity->members);
      for (int64_t row = 0; row < solver->rows; row++)
        impurity->members[label[row] * solver->words + (row >> 6)] |= (uint64_t) 1 << (row & 63);
      solver->goal = goal_impurity;
      return TREEML_OK;
    }
  }
  impurity_release (solver);
  return solver_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for the rows of %d classes", solver->classes);
}

static int64_t counted (const treeml_solver *solver, const uint64_t *rows, int32_t class) {
  const uint64_t *members = solver->impurity->members + class * solver->words;
  int64_t sum = 0;
  if (!solver->weight)
    for (int64_t w = 0; w < solver->words; w++)
      sum += count_bits (rows[w] & members[w]);
  else
    for (int64_t w = 0; w < solver->words; w++)
      for (uint64_t rest = rows[w] & members[w]; rest; rest &= rest - 1)
        sum += solver->weight[64 * w + lowest_bit (rest)];
  return sum;
}

double impurity_cost (const treeml_solver *solver, const uint64_t *rows, double *count, double *least) {
  const struct impurity *impurity = solver->impurity;
  const int32_t classes = solver->classes, kind = impurity->kind;
  int64_t whole = 0;
  double cost = 0, alone = 0, squares = 0;
  for (int32_t k = 0; k < classes; k++) {
    const int64_t sum = counted (solver, rows, k);
    whole += sum;
    count[k] = (double) sum * impurity->unit;
    squares += count[k] * count[k];
  }
  const double all = (double) whole * impurity->unit;
  if (least)
    *least = 0;
  if (kind == TREEML_GINI)
    return all > 0 ? fmax (0, all - squares / all) : 0;
  for (int32_t k = 0; k < classes; k++) {
    const double own = impurity->own ? impurity->own[(int64_t) count[k]] : own_term (kind, count[k]);
    cost -= own;
    if (least && kind == TREEML_CODE_LENGTH)
      alone += (impurity->all ? impurity->all[(int64_t) count[k]] : joint_term (kind, count[k], classes)) - own;
  }
  if (least)
    *least = fmax (0, alone);
  cost += impurity->all ? impurity->all[whole] : joint_term (kind, all, classes);
  return fmax (0, cost); /* rounding could make it negative */
}

int impurity_has_floor (const treeml_solver *solver) {
  return solver->goal == goal_impurity && solver->impurity->kind == TREEML_CODE_LENGTH;
}

double impurity_error (const treeml_solver *solver) {
  if (solver->goal != goal_impurity)
    return 0;
  double sum = 0;
  for (int64_t row = 0; row < solver->rows; row++)
    sum += (solver->weight ? (double) solver->weight[row] : 1) * solver->impurity->unit;
  /* Differences of terms up to n log n, and of the constants of every leaf and class. */
  return ldexp (4 * (sum + 2) * log2 (sum + 2) + 64 * (double) solver->rows * solver->classes, -50);
}
