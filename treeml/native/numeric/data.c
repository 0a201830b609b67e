/* Arrays -> ranks, orders and planes of values.

   A column is stored as the ranks of its codes and the order of the rows by rank, so that nothing is sorted later.
   Costs become gains: a row of worth w costs at most w more than its cheapest class, and predicting class k gains
   value[k] of that. The cost of a leaf is its worth minus the largest sum of gains, so two classes need only one
   signed plane. */
#include "numeric/solver.h"
#include "common/bits.h"
#include "common/rounding.h"
#include "numeric/sort.h"

#include <math.h>
#include <string.h>

enum {
  most_classes = 1 << 24,
  most_labels = 10000 /* most classes that a narrow cell can distinguish */
};

static void release_columns (treeml_numeric *solver) {
  struct arena *arena = &solver->arena;
  for (int32_t f = 0; f < solver->columns; f++) {
    arena_release (arena, solver->rank[f]);
    arena_release (arena, solver->code_of[f]);
    arena_release (arena, solver->order[f]);
  }
  arena_release (arena, solver->rank);
  arena_release (arena, solver->code_of);
  arena_release (arena, solver->order);
  arena_release (arena, solver->source);
  arena_release (arena, solver->levels);
  for (int32_t i = 0; solver->alias_codes && i < solver->given; i++)
    arena_release (arena, solver->alias_codes[i]);
  arena_release (arena, solver->alias_codes);
  arena_release (arena, solver->alias);
  arena_release (arena, solver->single);
  arena_release (arena, solver->group);
  arena_release (arena, solver->fee);
  solver->group = NULL;
  solver->fee = NULL;
  arena_release (arena, solver->key);
  for (int32_t i = 0; solver->unranked && i < solver->given; i++)
    arena_release (arena, solver->unranked[i]);
  arena_release (arena, solver->unranked);
  solver->key = NULL;
  solver->unranked = NULL;
  solver->ranked = 0;
  solver->alias = solver->single = NULL;
  solver->alias_codes = NULL;
  solver->rank = solver->code_of = solver->order = NULL;
  solver->source = solver->levels = NULL;
  solver->columns = 0;
}

static void release_goal (treeml_numeric *solver) {
  for (int32_t k = 0; k < solver->value_planes; k++)
    arena_release (&solver->arena, solver->value[k]);
  arena_release (&solver->arena, solver->value);
  for (int32_t o = 0; solver->targets && o < solver->outputs; o++)
    arena_release (&solver->arena, solver->targets[o].target);
  arena_release (&solver->arena, solver->targets);
  solver->value = NULL;
  solver->targets = NULL;
  solver->outputs = 0;
  solver->value_planes = solver->planes = solver->classes = 0;
  solver->goal = numeric_goal_none;
}

void numeric_release_data (treeml_numeric *solver) {
  release_columns (solver);
  release_goal (solver);
  arena_release (&solver->arena, solver->count);
  solver->count = NULL;
  solver->rows = 0;
}

static uint64_t fingerprint (const int32_t *rank, int64_t rows) {
  uint64_t key = 0, step = 0x9e3779b97f4a7c15u;
  for (int64_t i = 0; i < rows; i++, step += 0xff51afd7ed558ccdu)
    key += (step ^ (step >> 29)) * (uint64_t) rank[i];
  return key;
}

/* The code of every rank; for numbers that is the rank itself. */
static int list_codes (treeml_numeric *solver, const int32_t *codes, const int32_t *rank, int32_t levels,
                       int32_t **code_of) {
  *code_of = NULL;
  if (!codes)
    return 1;
  if (!(*code_of = arena_reserve (&solver->arena, (size_t) levels, sizeof **code_of)))
    return 0;
  for (int64_t i = 0; i < solver->rows; i++)
    (*code_of)[rank[i]] = codes[i];
  return 1;
}

/* Keeps a column, given as codes or numbers, unless it is constant or equal to a column that is kept already. */
static int keep_column (treeml_numeric *solver, struct numeric_sorter *sorter, const struct numeric_column *column,
                        int32_t number) {
  struct arena *arena = &solver->arena;
  const int64_t rows = solver->rows;
  const int32_t f = solver->columns;
  solver->single[number] = column->codes ? column->codes[0] : 0;
  solver->alias[number] = -1;
  int32_t *order = arena_reserve (arena, (size_t) rows, sizeof *order);
  int32_t *rank = arena_reserve (arena, (size_t) rows, sizeof *rank), *code_of = NULL, equal = -1;
  const int32_t levels = order && rank ? numeric_sort (sorter, column, order, rank) : 0;
  const int fine = levels == 1 || (levels > 1 && list_codes (solver, column->codes, rank, levels, &code_of));
  if (levels > 1 && fine) {
    solver->key[f] = fingerprint (rank, rows);
    for (int32_t g = 0; g < f && equal < 0; g++)
      if (solver->key[g] == solver->key[f] &&
          (!solver->group || solver->group[solver->source[g]] == solver->group[number]) &&
          !memcmp (solver->rank[g], rank, (size_t) rows * sizeof *rank))
        equal = g;
  }
  if (!fine || levels == 1 || equal >= 0) {
    arena_release (arena, order);
    arena_release (arena, rank);
    solver->alias[number] = equal;
    solver->alias_codes[number] = code_of;
    return fine;
  }
  solver->order[f] = order;
  solver->rank[f] = rank;
  solver->code_of[f] = code_of;
  solver->levels[f] = levels;
  solver->source[f] = number;
  solver->alias[number] = f;
  solver->columns = f + 1;
  return 1;
}

static int no_room (treeml_numeric *solver, int64_t columns, int64_t rows) {
  numeric_release_data (solver);
  return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for %lld columns of %lld rows",
                       (long long) columns, (long long) rows);
}

static int begin_columns (treeml_numeric *solver, int64_t columns, int64_t rows) {
  numeric_release_data (solver);
  struct arena *arena = &solver->arena;
  const size_t room = (size_t) columns + 1;
  solver->rows = solver->total_count = rows;
  solver->given = (int32_t) columns;
  solver->rank = arena_allocate (arena, room, sizeof *solver->rank);
  solver->code_of = arena_allocate (arena, room, sizeof *solver->code_of);
  solver->order = arena_allocate (arena, room, sizeof *solver->order);
  solver->source = arena_allocate (arena, room, sizeof *solver->source);
  solver->levels = arena_allocate (arena, room, sizeof *solver->levels);
  solver->alias = arena_allocate (arena, room, sizeof *solver->alias);
  solver->alias_codes = arena_allocate (arena, room, sizeof *solver->alias_codes);
  solver->single = arena_allocate (arena, room, sizeof *solver->single);
  solver->key = arena_allocate (arena, room, sizeof *solver->key);
  solver->unranked = arena_allocate (arena, room, sizeof *solver->unranked);
  return solver->rank && solver->code_of && solver->order && solver->source && solver->levels && solver->alias &&
         solver->alias_codes && solver->single && solver->key && solver->unranked;
}

static int check_shape (treeml_numeric *solver, const void *given, int64_t columns, int64_t rows) {
  if (rows <= 0)
    return numeric_fail (solver, TREEML_NO_DATA, "there are no rows");
  if (columns < 0 || columns > 1000000)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "%lld columns are not between 0 and 1,000,000",
                         (long long) columns);
  if (rows > INT32_MAX / 2)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "%lld rows are too many", (long long) rows);
  if (columns && !given)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "the columns must not be NULL");
  return TREEML_OK;
}

int treeml_numeric_columns (treeml_numeric *solver, const int32_t *codes, int64_t columns, int64_t rows) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  const int code = check_shape (solver, codes, columns, rows);
  if (code)
    return code;
  for (int64_t f = 0; f < columns; f++) {
    int32_t any = 0;
    for (int64_t i = 0; i < rows; i++)
      any |= codes[f * rows + i];
    for (int64_t i = 0; any < 0 && i < rows; i++)
      if (codes[f * rows + i] < 0)
        return numeric_fail (solver, TREEML_BAD_ARGUMENT, "the code of column %lld, row %lld is negative",
                             (long long) f, (long long) i);
  }
  int fine = begin_columns (solver, columns, rows);
  for (int64_t f = 0; fine && f < columns; f++) {
    if ((fine = !!(solver->unranked[f] = arena_reserve (&solver->arena, (size_t) rows, sizeof *codes))))
      memcpy (solver->unranked[f], codes + f * rows, (size_t) rows * sizeof *codes);
  }
  return fine ? TREEML_OK : no_room (solver, columns, rows);
}

int treeml_numeric_values (treeml_numeric *solver, const double *values, int64_t columns, int64_t rows) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  const int code = check_shape (solver, values, columns, rows);
  if (code)
    return code;
  struct numeric_sorter sorter = {0};
  int fine = begin_columns (solver, columns, rows) && numeric_sorter_create (&sorter, &solver->arena, rows);
  int32_t f = 0;
  for (; fine && f < columns; f++) {
    const struct numeric_column column = {.values = values + f * rows};
    fine = keep_column (solver, &sorter, &column, f);
  }
  solver->ranked = solver->given;
  numeric_sorter_destroy (&sorter);
  if (fine)
    return TREEML_OK;
  const double *last = values + (f ? f - 1 : 0) * rows;
  for (int64_t i = 0; f && i < rows; i++)
    if (last[i] - last[i] != 0) {
      numeric_release_data (solver);
      return numeric_fail (solver, TREEML_BAD_ARGUMENT, "column %d, row %lld is not a finite number", f - 1,
                           (long long) i);
    }
  return no_room (solver, columns, rows);
}

int numeric_rank_columns (treeml_numeric *solver, struct numeric_worker *worker) {
  if (solver->ranked == solver->given)
    return 1;
  struct numeric_sorter sorter;
  int fine = numeric_sorter_create (&sorter, &solver->arena, solver->rows);
  while (fine && solver->ranked < solver->given) {
    int32_t **codes = &solver->unranked[solver->ranked];
    const struct numeric_column column = {.codes = *codes};
    if (!(fine = keep_column (solver, &sorter, &column, solver->ranked)))
      break;
    arena_release (&solver->arena, *codes);
    *codes = NULL;
    solver->ranked++;
    if (worker && numeric_spent (worker, 16 * solver->rows))
      break;
  }
  numeric_sorter_destroy (&sorter);
  return fine;
}

int treeml_numeric_rank (treeml_numeric *solver, int32_t column, int32_t *ranks) {
  if (!solver || !ranks || column < 0 || column >= solver->given)
    return TREEML_BAD_ARGUMENT;
  if (!numeric_rank_columns (solver, NULL))
    return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for ranks");
  const int32_t kept = solver->alias[column];
  if (kept < 0)
    memset (ranks, 0, (size_t) solver->rows * sizeof *ranks);
  else
    memcpy (ranks, solver->rank[kept], (size_t) solver->rows * sizeof *ranks);
  return TREEML_OK;
}

int treeml_numeric_counts (treeml_numeric *solver, const int64_t *count) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (!solver->rows)
    return numeric_fail (solver, TREEML_NO_DATA, "the columns must be set before the counts");
  arena_release (&solver->arena, solver->count);
  solver->count = NULL;
  solver->total_count = solver->rows;
  if (!count)
    return TREEML_OK;
  int64_t total = 0, ones = 1;
  for (int64_t i = 0; i < solver->rows; i++) {
    if (count[i] < 0)
      return numeric_fail (solver, TREEML_BAD_ARGUMENT, "the count of row %lld is negative", (long long) i);
    if (add_overflows (total, count[i], &total))
      return numeric_fail (solver, TREEML_OVERFLOW, "the counts of the rows add up to more than 2^63");
    ones &= count[i] == 1;
  }
  if (ones)
    return TREEML_OK;
  if (!(solver->count = arena_allocate (&solver->arena, (size_t) solver->rows, sizeof *count)))
    return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for counts");
  memcpy (solver->count, count, (size_t) solver->rows * sizeof *count);
  solver->total_count = total;
  return TREEML_OK;
}

int treeml_numeric_fees (treeml_numeric *solver, const int32_t *group, const int64_t *fee) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (!group || !fee || !solver->rows || solver->ranked || solver->group)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "fees must be set once, right after columns of codes");
  const size_t given = (size_t) solver->given;
  for (size_t i = 0; i < given; i++)
    if (fee[i] < 0 || fee[i] > INT64_MAX / 16 / (solver->total_count + 1))
      return numeric_fail (solver, TREEML_OVERFLOW, "a fee must not be negative, and not exceed 2^59 for all rows");
  solver->group = arena_allocate (&solver->arena, given, sizeof *group);
  solver->fee = arena_allocate (&solver->arena, given, sizeof *fee);
  if (!solver->group || !solver->fee)
    return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for fees");
  memcpy (solver->group, group, given * sizeof *group);
  memcpy (solver->fee, fee, given * sizeof *fee);
  return TREEML_OK;
}

/* Allocates the planes from `first` on; the earlier ones are made from the labels when needed. */
static int begin_goal (treeml_numeric *solver, int32_t planes, int32_t first) {
  if (!solver->rows)
    return numeric_fail (solver, TREEML_NO_DATA, "the columns must be set before the goal");
  release_goal (solver);
  solver->value = arena_allocate (&solver->arena, (size_t) planes, sizeof *solver->value);
  if (!solver->value)
    return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for costs");
  solver->value_planes = planes;
  for (int32_t k = first; k < planes; k++) {
    solver->value[k] = arena_allocate (&solver->arena, (size_t) solver->rows, sizeof **solver->value);
    if (!solver->value[k]) {
      release_goal (solver);
      return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for costs");
    }
  }
  solver->base = 0;
  solver->unit = 1;
  solver->shift = 0;
  solver->error = 0;
  solver->square_sum = 0;
  return TREEML_OK;
}

/* Sums of worths must leave room for prices and differences. */
static int end_goal (treeml_numeric *solver) {
  const int64_t *worth = solver->value[solver->planes];
  solver->worth_sum = solver->worth_most = 0;
  solver->unit_worth = solver->pure = 1;
  for (int64_t i = 0; i < solver->rows; i++) {
    if (add_overflows (solver->worth_sum, worth[i], &solver->worth_sum) || solver->worth_sum > INT64_MAX / 8) {
      release_goal (solver);
      return numeric_fail (solver, TREEML_OVERFLOW, "the weights or costs of the rows add up to more than 2^60");
    }
    solver->worth_most = worth[i] > solver->worth_most ? worth[i] : solver->worth_most;
    solver->unit_worth &= worth[i] == 1;
    int64_t gains = 0, most = 0;
    for (int32_t k = 0; solver->goal == numeric_goal_many && k < solver->planes; k++) {
      gains |= solver->value[k][i] != worth[i] && solver->value[k][i];
      most += solver->value[k][i] == worth[i];
    }
    solver->pure &= !gains && (most == 1 || !worth[i]);
    for (int32_t k = 0; solver->goal == numeric_goal_many && k < solver->planes; k++)
      if (solver->value[k][i])
        solver->value[solver->planes + 1][i] = k;
  }
  solver->labelled =
      solver->goal == numeric_goal_many && solver->pure && solver->unit_worth && solver->planes < most_labels;
  return TREEML_OK;
}

int treeml_numeric_labels (treeml_numeric *solver, const int32_t *labels, int32_t classes, const int64_t *weight) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (!labels || classes < 1)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "labels need at least one class and must not be NULL");
  if (classes > most_classes)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "%d classes are too many", classes);
  for (int64_t i = 0; i < solver->rows; i++) {
    if (labels[i] < 0 || labels[i] >= classes)
      return numeric_fail (solver, TREEML_BAD_ARGUMENT, "the label of row %lld is not between 0 and %d", (long long) i,
                           classes - 1);
    if (weight && weight[i] < 0)
      return numeric_fail (solver, TREEML_BAD_ARGUMENT, "the weight of row %lld is negative", (long long) i);
  }
  const int32_t planes = classes == 2 ? 1 : classes;
  const int labelled = classes != 2 && !weight && planes < most_labels;
  const int code = begin_goal (solver, planes + 2, labelled ? planes : 0);
  if (code)
    return code;
  for (int64_t i = 0; i < solver->rows; i++) {
    const int64_t own = weight ? weight[i] : 1;
    if (classes == 2)
      solver->value[0][i] = labels[i] ? own : -own;
    else if (!labelled)
      solver->value[labels[i]][i] = own;
    solver->value[planes][i] = own;
    solver->value[planes + 1][i] = labels[i];
  }
  solver->goal = classes == 2 ? numeric_goal_two : numeric_goal_many;
  solver->classes = classes;
  solver->planes = planes;
  if (weight)
    return end_goal (solver);
  solver->worth_sum = solver->rows;
  solver->worth_most = solver->unit_worth = solver->pure = 1;
  solver->labelled = labelled;
  return TREEML_OK;
}

int treeml_numeric_costs (treeml_numeric *solver, const int64_t *cost, int32_t classes) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (!cost || classes < 1)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "costs need at least one class and must not be NULL");
  if (classes > most_classes)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "%d classes are too many", classes);
  const int32_t planes = classes == 2 ? 1 : classes;
  const int code = begin_goal (solver, planes + 2, 0);
  if (code)
    return code;
  for (int64_t i = 0; i < solver->rows; i++) {
    const int64_t *own = cost + i * classes;
    int64_t low = own[0], high = own[0], worth;
    for (int32_t k = 1; k < classes; k++) {
      low = own[k] < low ? own[k] : low;
      high = own[k] > high ? own[k] : high;
    }
    if (subtract_overflows (high, low, &worth) || add_overflows (solver->base, low, &solver->base) ||
        solver->base > INT64_MAX / 4 || solver->base < -(INT64_MAX / 4)) {
      release_goal (solver);
      return numeric_fail (solver, TREEML_OVERFLOW, "the costs of the rows add up to more than 2^61");
    }
    if (classes == 2)
      solver->value[0][i] = own[0] > own[1] ? worth : -worth;
    else
      for (int32_t k = 0; k < classes; k++)
        solver->value[k][i] = high - own[k];
    solver->value[planes][i] = worth;
  }
  solver->goal = classes == 2 ? numeric_goal_two : numeric_goal_many;
  solver->classes = classes;
  solver->planes = planes;
  return end_goal (solver);
}

int treeml_numeric_round (treeml_numeric *solver, double amount) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (!(amount >= 0 && amount < 0x1p960))
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "an amount added to the costs must be finite and not negative");
  solver->amount = amount;
  return TREEML_OK;
}

/* Rounds whole numbers to the nearest multiple of 2^shift. */
static int64_t shifted (wide number, int shift) {
  if (!shift)
    return (int64_t) number;
  const wide half = (wide) 1 << (shift - 1), size = number < 0 ? -number : number;
  const int64_t moved = (int64_t) ((size + half) >> shift);
  return number < 0 ? -moved : moved;
}

/* Chooses the centre of each output, about the prediction of a single leaf, and how many low bits of weight times
   target are dropped so that sums fit in 64 bits. Returns 0 if the targets are too far apart. */
static int centre_targets (treeml_numeric *solver, const int64_t *targets, int32_t outputs, int64_t *middle,
                           double *single) {
  const int64_t rows = solver->rows, *weight = solver->value[0];
  wide whole = 0;
  for (int64_t i = 0; i < rows; i++)
    whole += weight[i];
  for (int32_t o = 0; o < outputs; o++) {
    wide sum = 0, absolute = 0;
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (int64_t i = 0; i < rows; i++) {
      const int64_t own = targets[i * outputs + o];
      sum += (wide) own * weight[i];
      low = own < low ? own : low;
      high = own > high ? own : high;
    }
    const double range = (double) high - (double) low;
    if (!(range < 0x1p60))
      return 0;
    middle[o] = whole > 0 ? (int64_t) (sum / whole) : 0;
    for (int64_t i = 0; i < rows; i++) {
      const wide away = (wide) targets[i * outputs + o] - middle[o], product = away * weight[i];
      absolute += product < 0 ? -product : product;
      *single += (double) product * (double) away;
    }
    while (absolute >> solver->shift >= (wide) 1 << 60)
      solver->shift++;
  }
  return 1;
}

/* The unit: a power of two that makes the loss of a single leaf, and the amounts added to it, about 2^50, or less if
   the worths of many rows must add up. */
static double choose_unit (const treeml_numeric *solver, double single) {
  int exponent = 0, bits = 50;
  while (ldexp ((double) solver->rows, bits) > 0x1p58)
    bits--;
  const double most = single > solver->amount ? single : solver->amount;
  frexp (most > 0 ? most : 1, &exponent);
  return ldexp (1, bits - exponent);
}

static int check_target_weights (treeml_numeric *solver, const int64_t *weight) {
  int64_t whole = 0;
  for (int64_t i = 0; weight && i < solver->rows; i++) {
    if (weight[i] < 0)
      return numeric_fail (solver, TREEML_BAD_ARGUMENT, "the weight of row %lld is negative", (long long) i);
    if (add_overflows (whole, weight[i], &whole) || whole > INT64_MAX / 8)
      return numeric_fail (solver, TREEML_OVERFLOW, "the weights of the rows add up to more than 2^60");
  }
  return TREEML_OK;
}

/* Fills the plane of one output, and adds to the squares and squared ranges of the rows. Returns the distance of the
   target that is farthest from the middle. */
static double add_output (treeml_numeric *solver, const int64_t *targets, int32_t outputs, int32_t output,
                          int64_t middle, double *square, double *range) {
  int64_t low = INT64_MAX, high = INT64_MIN;
  double far = 0;
  for (int64_t i = 0; i < solver->rows; i++) {
    const int64_t own = targets[i * outputs + output];
    low = own < low ? own : low;
    high = own > high ? own : high;
  }
  for (int64_t i = 0; i < solver->rows; i++) {
    const int64_t target = targets[i * outputs + output], own = target - middle;
    const double heavy = (double) solver->value[0][i], away = (double) own;
    const double below = (double) target - (double) low, above = (double) high - (double) target;
    solver->value[output + 1][i] = shifted ((wide) own * solver->value[0][i], solver->shift);
    square[i] += ldexp (heavy * away * away, -2 * solver->shift);
    range[i] += heavy * (below > above ? below * below : above * above);
    far = away > far ? away : -away > far ? -away : far;
  }
  return far;
}

/* Targets are shifted by their rounded mean, so that squares stay small. A row is worth at most its weight times the
   square of the range.

   Sums of weights and of weighted targets are whole numbers. Squares are multiples of a grain that keeps their sums
   exact. So a leaf is off only by the rounding of its quotient and by the low bits that were dropped: if these add
   up to d, and no target is farther than M from the centre, they change it by at most 2 M d + d^2. */
int treeml_numeric_targets (treeml_numeric *solver, const int64_t *targets, int32_t outputs, const int64_t *weight) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (!targets || outputs < 1 || outputs > 1000)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "targets need 1 to 1,000 outputs and must not be NULL");
  if (check_target_weights (solver, weight))
    return solver->code;
  const int32_t planes = outputs + 1;
  const int code = begin_goal (solver, planes + 2, 0);
  if (code)
    return code;
  const int64_t rows = solver->rows;
  double *square = (double *) solver->value[planes + 1], single = 0;
  double *range = arena_allocate (&solver->arena, (size_t) rows, sizeof *range);
  int64_t *middle = arena_allocate (&solver->arena, (size_t) outputs, sizeof *middle);
  for (int64_t i = 0; i < rows; i++)
    solver->value[0][i] = weight ? weight[i] : 1;
  if (!range || !middle || !centre_targets (solver, targets, outputs, middle, &single)) {
    const int failed = range && middle;
    arena_release (&solver->arena, range);
    arena_release (&solver->arena, middle);
    release_goal (solver);
    return failed ? numeric_fail (solver, TREEML_OVERFLOW, "targets are farther apart than 2^60")
                  : numeric_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for targets");
  }
  double far = 0, squares = 0, carry = 0;
  for (int32_t o = 0; o < outputs; o++) {
    const double farthest = add_output (solver, targets, outputs, o, middle[o], square, range);
    far = farthest > far ? farthest : far;
  }
  arena_release (&solver->arena, middle);
  for (int64_t i = 0; i < rows; i++)
    squares += square[i];
  const double grain = grain_of (squares), unit = choose_unit (solver, single),
               left = solver->shift ? 0.5 * (double) rows : 0;
  solver->unit = ldexp (unit, 2 * solver->shift);
  for (int64_t i = 0; i < rows; i++) {
    const double worth = range[i] * (1 + 0x1p-40) * unit + 2;
    solver->value[planes][i] = (int64_t) (worth < ldexp (single, 1) * unit + 2 ? worth : ldexp (single, 1) * unit + 2);
    square[i] = round_to_grain (square[i], grain, &carry);
    solver->square_sum += square[i];
  }
  far = ldexp (far, -solver->shift);
  solver->error = (16 + outputs) * 0x1p-53 * squares + 2 * grain + outputs * (2 * far * left + left * left);
  arena_release (&solver->arena, range);
  solver->goal = numeric_goal_squared;
  solver->classes = 0;
  solver->planes = planes;
  const int ended = end_goal (solver);
  solver->unit_worth = 0;
  return ended;
}

static int check_quantile (treeml_numeric *solver, const int32_t *place, const int64_t *target, const int32_t *places,
                           int32_t outputs, int64_t up, int64_t down) {
  if (!place || !target || !places || outputs < 1 || outputs > 1000 || up < 0 || down < 0 || up > INT64_MAX / 16 - down)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT,
                         "a quantile loss needs places, targets, and costs per unit that are not negative");
  for (int32_t o = 0; o < outputs; o++, place += solver->rows) {
    if (places[o] < 1)
      return numeric_fail (solver, TREEML_BAD_ARGUMENT, "output %d of a quantile loss has no targets", o);
    for (int32_t i = 1; i < places[o]; i++)
      if (target[i - 1] >= target[i])
        return numeric_fail (solver, TREEML_BAD_ARGUMENT,
                             "the targets of a quantile loss must be distinct and ascending");
    for (int64_t i = 0; i < solver->rows; i++)
      if (place[i] < 0 || place[i] >= places[o])
        return numeric_fail (solver, TREEML_BAD_ARGUMENT, "the place of row %lld is not between 0 and %d",
                             (long long) i, places[o] - 1);
    target += places[o];
  }
  return TREEML_OK;
}

static int copy_targets (treeml_numeric *solver, const int64_t *target, const int32_t *places, int32_t outputs) {
  struct arena *arena = &solver->arena;
  if (!(solver->targets = arena_allocate (arena, (size_t) outputs, sizeof *solver->targets)))
    return 0;
  solver->outputs = outputs;
  for (int32_t o = 0; o < outputs; o++) {
    struct numeric_targets *own = &solver->targets[o];
    if (!(own->target = arena_allocate (arena, (size_t) places[o] + 2, sizeof *target)))
      return 0;
    own->places = places[o];
    memcpy (own->target + 1, target, (size_t) places[o] * sizeof *target);
    target += places[o];
  }
  return 1;
}

/* The moments and places of the rows, and what an output adds to their worths: at most the weight times the cost of the
   farthest target. Returns 0 if sums would overflow. */
static int fill_output (treeml_numeric *solver, const int32_t *place, int32_t output) {
  const int32_t planes = solver->outputs + 1;
  const int64_t *target = solver->targets[output].target + 1;
  const int64_t low = target[0], high = target[solver->targets[output].places - 1];
  const wide steps = (wide) solver->up + solver->down, limit = ((wide) 1 << 60) / solver->outputs;
  const wide range = (wide) high - low, size = high > -(wide) low ? high : -(wide) low;
  const wide far = range > size ? range : size;
  wide all = 0;
  for (int64_t i = 0; i < solver->rows; i++) {
    const int64_t weight = solver->value[0][i], own = target[place[i]];
    const wide above = (wide) solver->up * (own - low), below = (wide) solver->down * (high - own);
    all += weight;
    if (far >= limit || steps * all >= limit || (far + 1) * all >= limit || (far + 1) * all * steps >= limit)
      return 0;
    solver->value[output + 1][i] = weight * own;
    solver->value[planes][i] += weight * (int64_t) (above > below ? above : below);
    solver->value[planes + 1 + output][i] = place[i];
  }
  return 1;
}

int treeml_numeric_quantile (treeml_numeric *solver, const int32_t *place, const int64_t *target, const int32_t *places,
                             int32_t outputs, const int64_t *weight, int64_t up, int64_t down) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (check_quantile (solver, place, target, places, outputs, up, down) || check_target_weights (solver, weight))
    return solver->code;
  const int code = begin_goal (solver, 2 * outputs + 2, 0);
  if (code)
    return code;
  if (!copy_targets (solver, target, places, outputs)) {
    release_goal (solver);
    return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for targets");
  }
  solver->up = up;
  solver->down = down;
  solver->weighted = 0;
  for (int64_t i = 0; i < solver->rows; i++) {
    solver->value[0][i] = weight ? weight[i] : 1;
    solver->weighted |= solver->value[0][i] != 1;
  }
  for (int32_t o = 0; o < outputs; o++)
    if (!fill_output (solver, place + o * solver->rows, o)) {
      release_goal (solver);
      return numeric_fail (solver, TREEML_OVERFLOW, "the weighted distances between targets exceed 2^60");
    }
  solver->goal = numeric_goal_quantile;
  solver->planes = outputs + 1;
  const int ended = end_goal (solver);
  solver->unit_worth = 0;
  return ended;
}
