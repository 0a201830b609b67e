/* Arrays -> ranks, orders and planes of values.

   A column is kept as the ranks of its codes and the order of the rows by them; nothing is sorted again later. Costs
   become gains: a row of worth w costs at most w beyond what it costs at least, and predicting class k gains
   value[k] of it. A leaf then costs its worth less the largest sum of gains, and two classes need one signed plane. */
#include "numeric_solver.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

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
  solver->value = NULL;
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

/* Rows by code, stable: counting by the low and the high half of the codes in turn. */
static int sort_rows (treeml_numeric *solver, const int32_t *codes, int64_t rows, int32_t *order) {
  int32_t most = 0;
  for (int64_t i = 0; i < rows; i++)
    most = codes[i] > most ? codes[i] : most;
  const int narrow = most < 4 * rows + 1024;
  const int64_t places = narrow ? (int64_t) most + 2 : 65537;
  int64_t *starts = arena_allocate (&solver->arena, (size_t) places, sizeof *starts);
  int32_t *other = narrow ? NULL : arena_allocate (&solver->arena, (size_t) rows, sizeof *other);
  if (!starts || (!narrow && !other)) {
    arena_release (&solver->arena, starts);
    arena_release (&solver->arena, other);
    return 0;
  }
  for (int pass = 0; pass < (narrow ? 1 : 2); pass++) {
    const int shift = narrow ? 0 : 16 * pass;
    const int32_t mask = narrow ? INT32_MAX : 0xffff;
    if (pass)
      memset (starts, 0, (size_t) places * sizeof *starts);
    for (int64_t i = 0; i < rows; i++)
      starts[(codes[i] >> shift & mask) + 1]++;
    for (int64_t i = 1; i < places; i++)
      starts[i] += starts[i - 1];
    for (int64_t i = 0; i < rows; i++) {
      const int32_t row = pass ? other[i] : (int32_t) i;
      int32_t *to = narrow || pass ? order : other;
      to[starts[codes[row] >> shift & mask]++] = row;
    }
  }
  arena_release (&solver->arena, starts);
  arena_release (&solver->arena, other);
  return 1;
}

static uint64_t fingerprint (const int32_t *rank, int64_t rows) {
  uint64_t key = 0x9e3779b97f4a7c15u;
  for (int64_t i = 0; i < rows; i++)
    key = (key ^ (uint64_t) rank[i]) * 0xff51afd7ed558ccdu;
  return key;
}

/* Numbers as whole ones in the same order; 0.0 and -0.0 are one. */
static uint64_t key_of (double value) {
  union {
    double real;
    uint64_t whole;
  } bits = {value + 0.0};
  return bits.whole >> 63 ? ~bits.whole : bits.whole | UINT64_C (1) << 63;
}

enum { digit = 11, digits = 6 };

/* Few rows by number: runs of one, two, four and so on are merged. Leaves the result in `order`. */
static void merge_numbers (uint64_t *from, uint64_t *to, int32_t *order, int32_t *other, int64_t rows) {
  int32_t *here = order, *there = other;
  for (int64_t width = 1; width < rows; width *= 2) {
    for (int64_t begin = 0; begin < rows; begin += 2 * width) {
      int64_t a = begin, b = begin + width < rows ? begin + width : rows, at = begin;
      const int64_t middle = b, end = begin + 2 * width < rows ? begin + 2 * width : rows;
      while (a < middle && b < end) {
        const int second = from[b] < from[a];
        const int64_t taken = second ? b : a;
        to[at] = from[taken];
        there[at++] = here[taken];
        b += second;
        a += !second;
      }
      for (; a < middle; a++, at++)
        to[at] = from[a], there[at] = here[a];
      for (; b < end; b++, at++)
        to[at] = from[b], there[at] = here[b];
    }
    uint64_t *keys = from;
    from = to;
    to = keys;
    int32_t *numbers = here;
    here = there;
    there = numbers;
  }
  if (here != order)
    memcpy (order, here, (size_t) rows * sizeof *order);
}

/* Rows by number, eleven bits at a time from the last; digits that are the same everywhere are passed over. */
static int sort_numbers (treeml_numeric *solver, const double *values, int64_t rows, int32_t *order) {
  struct arena *arena = &solver->arena;
  uint64_t *from = arena_allocate (arena, (size_t) rows, sizeof *from);
  uint64_t *to = arena_allocate (arena, (size_t) rows, sizeof *to);
  int32_t *other = arena_allocate (arena, (size_t) rows, sizeof *other);
  const int few = rows < 600;
  int32_t(*counts)[1 << digit] = few ? NULL : arena_allocate (arena, digits, sizeof *counts);
  const int fine = from && to && other && (few || counts);
  if (fine && few) {
    for (int64_t i = 0; i < rows; i++) {
      from[i] = key_of (values[i]);
      order[i] = (int32_t) i;
    }
    merge_numbers (from, to, order, other, rows);
    arena_release (arena, from);
    arena_release (arena, to);
    arena_release (arena, other);
    return 1;
  }
  int32_t *here = order, *there = other;
  for (int64_t i = 0; fine && i < rows; i++) {
    const uint64_t key = from[i] = key_of (values[i]);
    here[i] = (int32_t) i;
    for (int d = 0; d < digits; d++)
      counts[d][key >> (digit * d) & ((1 << digit) - 1)]++;
  }
  for (int d = 0; fine && d < digits; d++) {
    int32_t *count = counts[d], sum = 0;
    if (count[from[0] >> (digit * d) & ((1 << digit) - 1)] == rows)
      continue;
    for (int i = 0; i < 1 << digit; i++) {
      const int32_t own = count[i];
      count[i] = sum;
      sum += own;
    }
    for (int64_t i = 0; i < rows; i++) {
      const int32_t place = count[from[i] >> (digit * d) & ((1 << digit) - 1)]++;
      to[place] = from[i];
      there[place] = here[i];
    }
    uint64_t *keys = from;
    from = to;
    to = keys;
    int32_t *numbers = here;
    here = there;
    there = numbers;
  }
  if (fine && here != order)
    memcpy (order, here, (size_t) rows * sizeof *order);
  arena_release (arena, from);
  arena_release (arena, to);
  arena_release (arena, other);
  arena_release (arena, counts);
  return fine;
}

/* Keeps a column, given as codes or as numbers, unless it is constant or equal to one that is kept. The codes of a
   column of numbers are its ranks. */
static int keep_column (treeml_numeric *solver, const int32_t *codes, const double *values, int32_t number,
                        uint64_t *keys) {
  struct arena *arena = &solver->arena;
  const int64_t rows = solver->rows;
  int64_t differs = 1;
  while (differs < rows && (codes ? codes[differs] == codes[0] : values[differs] == values[0]))
    differs++;
  solver->single[number] = codes ? codes[0] : 0;
  solver->alias[number] = -1;
  if (differs == rows)
    return 1;
  const int32_t f = solver->columns;
  int32_t *order = arena_allocate (arena, (size_t) rows, sizeof *order);
  int32_t *rank = arena_allocate (arena, (size_t) rows, sizeof *rank);
  int32_t *code_of = NULL;
  if (!order || !rank ||
      !(codes ? sort_rows (solver, codes, rows, order) : sort_numbers (solver, values, rows, order)))
    goto failed;
  int32_t level = 0;
  for (int64_t i = 0; i < rows; i++) {
    if (i && (codes ? codes[order[i]] != codes[order[i - 1]] : values[order[i]] != values[order[i - 1]]))
      level++;
    rank[order[i]] = level;
  }
  if (!(code_of = arena_allocate (arena, (size_t) level + 1, sizeof *code_of)))
    goto failed;
  for (int64_t i = 0; i < rows; i++)
    code_of[rank[i]] = codes ? codes[i] : rank[i];
  keys[f] = fingerprint (rank, rows);
  for (int32_t g = 0; g < f; g++)
    if (keys[g] == keys[f] && !memcmp (solver->rank[g], rank, (size_t) rows * sizeof *rank)) {
      arena_release (arena, order);
      arena_release (arena, rank);
      solver->alias[number] = g;
      solver->alias_codes[number] = code_of;
      return 1;
    }
  solver->order[f] = order;
  solver->rank[f] = rank;
  solver->code_of[f] = code_of;
  solver->levels[f] = level + 1;
  solver->source[f] = number;
  solver->alias[number] = f;
  solver->columns = f + 1;
  return 1;
failed:
  arena_release (arena, order);
  arena_release (arena, rank);
  arena_release (arena, code_of);
  return 0;
}

static int take_columns (treeml_numeric *solver, const int32_t *codes, const double *values, int64_t columns,
                         int64_t rows) {
  numeric_release_data (solver);
  struct arena *arena = &solver->arena;
  const size_t room = (size_t) columns + 1;
  solver->rows = rows;
  solver->given = (int32_t) columns;
  solver->rank = arena_allocate (arena, room, sizeof *solver->rank);
  solver->code_of = arena_allocate (arena, room, sizeof *solver->code_of);
  solver->order = arena_allocate (arena, room, sizeof *solver->order);
  solver->source = arena_allocate (arena, room, sizeof *solver->source);
  solver->levels = arena_allocate (arena, room, sizeof *solver->levels);
  solver->alias = arena_allocate (arena, room, sizeof *solver->alias);
  solver->alias_codes = arena_allocate (arena, room, sizeof *solver->alias_codes);
  solver->single = arena_allocate (arena, room, sizeof *solver->single);
  uint64_t *keys = arena_allocate (arena, room, sizeof *keys);
  int fine = solver->rank && solver->code_of && solver->order && solver->source && solver->levels && solver->alias &&
             solver->alias_codes && solver->single && keys;
  for (int32_t f = 0; fine && f < columns; f++)
    fine = keep_column (solver, codes ? codes + f * rows : NULL, values ? values + f * rows : NULL, f, keys);
  arena_release (arena, keys);
  if (!fine) {
    numeric_release_data (solver);
    return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "no memory for %lld columns of %lld rows", (long long) columns,
                         (long long) rows);
  }
  solver->total_count = rows;
  return TREEML_OK;
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
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "the columns are a null pointer");
  return TREEML_OK;
}

int treeml_numeric_columns (treeml_numeric *solver, const int32_t *codes, int64_t columns, int64_t rows) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  const int code = check_shape (solver, codes, columns, rows);
  if (code)
    return code;
  for (int64_t i = 0; i < columns * rows; i++)
    if (codes[i] < 0)
      return numeric_fail (solver, TREEML_BAD_ARGUMENT, "the code of column %lld, row %lld is negative",
                           (long long) (i / rows), (long long) (i % rows));
  return take_columns (solver, codes, NULL, columns, rows);
}

int treeml_numeric_values (treeml_numeric *solver, const double *values, int64_t columns, int64_t rows) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  const int code = check_shape (solver, values, columns, rows);
  if (code)
    return code;
  for (int64_t i = 0; i < columns * rows; i++)
    if (!(values[i] - values[i] == 0))
      return numeric_fail (solver, TREEML_BAD_ARGUMENT, "column %lld, row %lld is no finite number",
                           (long long) (i / rows), (long long) (i % rows));
  return take_columns (solver, NULL, values, columns, rows);
}

int treeml_numeric_rank (const treeml_numeric *solver, int32_t column, int32_t *ranks) {
  if (!solver || !ranks || column < 0 || column >= solver->given)
    return TREEML_BAD_ARGUMENT;
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
    return numeric_fail (solver, TREEML_NO_DATA, "counts come after the columns");
  arena_release (&solver->arena, solver->count);
  solver->count = NULL;
  solver->total_count = solver->rows;
  if (!count)
    return TREEML_OK;
  int64_t total = 0, ones = 1;
  for (int64_t i = 0; i < solver->rows; i++) {
    if (count[i] < 0)
      return numeric_fail (solver, TREEML_BAD_ARGUMENT, "the count of row %lld is negative", (long long) i);
    if (__builtin_add_overflow (total, count[i], &total))
      return numeric_fail (solver, TREEML_OVERFLOW, "the counts of the rows add up to more than 2^63");
    ones &= count[i] == 1;
  }
  if (ones)
    return TREEML_OK;
  if (!(solver->count = arena_allocate (&solver->arena, (size_t) solver->rows, sizeof *count)))
    return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "no memory for counts");
  memcpy (solver->count, count, (size_t) solver->rows * sizeof *count);
  solver->total_count = total;
  return TREEML_OK;
}

static int begin_goal (treeml_numeric *solver, int32_t planes) {
  if (!solver->rows)
    return numeric_fail (solver, TREEML_NO_DATA, "what a leaf costs comes after the columns");
  release_goal (solver);
  solver->value = arena_allocate (&solver->arena, (size_t) planes, sizeof *solver->value);
  if (!solver->value)
    return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "no memory for costs");
  for (int32_t k = 0; k < planes; k++) {
    solver->value[k] = arena_allocate (&solver->arena, (size_t) solver->rows, sizeof **solver->value);
    solver->value_planes = k + 1;
    if (!solver->value[k]) {
      release_goal (solver);
      return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "no memory for costs");
    }
  }
  solver->base = 0;
  solver->unit = 1;
  solver->square_sum = 0;
  return TREEML_OK;
}

/* Sums of worth must leave room for prices and differences. */
static int end_goal (treeml_numeric *solver) {
  const int64_t *worth = solver->value[solver->planes];
  solver->worth_sum = solver->worth_most = 0;
  solver->unit_worth = solver->pure = 1;
  for (int64_t i = 0; i < solver->rows; i++) {
    if (__builtin_add_overflow (solver->worth_sum, worth[i], &solver->worth_sum) || solver->worth_sum > INT64_MAX / 8) {
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
  solver->labelled = solver->goal == numeric_goal_many && solver->pure && solver->unit_worth && solver->planes < 10000;
  return TREEML_OK;
}

int treeml_numeric_labels (treeml_numeric *solver, const int32_t *labels, int32_t classes, const int64_t *weight) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (!labels || classes < 1)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "labels need at least one class, and are not null");
  for (int64_t i = 0; i < solver->rows; i++) {
    if (labels[i] < 0 || labels[i] >= classes)
      return numeric_fail (solver, TREEML_BAD_ARGUMENT, "the label of row %lld is not between 0 and %d", (long long) i,
                           classes - 1);
    if (weight && weight[i] < 0)
      return numeric_fail (solver, TREEML_BAD_ARGUMENT, "the weight of row %lld is negative", (long long) i);
  }
  const int32_t planes = classes == 2 ? 1 : classes;
  const int code = begin_goal (solver, planes + 2);
  if (code)
    return code;
  for (int64_t i = 0; i < solver->rows; i++) {
    const int64_t own = weight ? weight[i] : 1;
    if (classes == 2)
      solver->value[0][i] = labels[i] ? own : -own;
    else
      solver->value[labels[i]][i] = own;
    solver->value[planes][i] = own;
  }
  solver->goal = classes == 2 ? numeric_goal_two : numeric_goal_many;
  solver->classes = classes;
  solver->planes = planes;
  return end_goal (solver);
}

int treeml_numeric_costs (treeml_numeric *solver, const int64_t *cost, int32_t classes) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (!cost || classes < 1)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "costs need at least one class, and are not null");
  const int32_t planes = classes == 2 ? 1 : classes;
  const int code = begin_goal (solver, planes + 2);
  if (code)
    return code;
  for (int64_t i = 0; i < solver->rows; i++) {
    const int64_t *own = cost + i * classes;
    int64_t low = own[0], high = own[0], worth;
    for (int32_t k = 1; k < classes; k++) {
      low = own[k] < low ? own[k] : low;
      high = own[k] > high ? own[k] : high;
    }
    if (__builtin_sub_overflow (high, low, &worth) || __builtin_add_overflow (solver->base, low, &solver->base) ||
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

/* Targets are moved by their rounded mean, so that squares stay small; a row is worth at most its weight times the
   square of the range. A single leaf costs 2^46 units, or fewer where the worths of very many rows must add up. */
int treeml_numeric_targets (treeml_numeric *solver, const int64_t *targets, int32_t outputs, const int64_t *weight) {
  if (!solver)
    return TREEML_BAD_ARGUMENT;
  if (!targets || outputs < 1 || outputs > 1000)
    return numeric_fail (solver, TREEML_BAD_ARGUMENT, "targets need 1 to 1,000 outputs, and are not null");
  for (int64_t i = 0; weight && i < solver->rows; i++)
    if (weight[i] < 0)
      return numeric_fail (solver, TREEML_BAD_ARGUMENT, "the weight of row %lld is negative", (long long) i);
  const int32_t planes = outputs + 1;
  const int code = begin_goal (solver, planes + 2);
  if (code)
    return code;
  const int64_t rows = solver->rows;
  double *square = (double *) solver->value[planes + 1];
  double *range = arena_allocate (&solver->arena, (size_t) rows, sizeof *range);
  if (!range) {
    release_goal (solver);
    return numeric_fail (solver, TREEML_OUT_OF_MEMORY, "no memory for targets");
  }
  int fine = 1;
  double total_weight = 0;
  for (int64_t i = 0; i < rows; i++)
    total_weight += (double) (solver->value[0][i] = weight ? weight[i] : 1);
  fine = total_weight < 0x1p60;
  double single = 0;
  for (int32_t o = 0; fine && o < outputs; o++) {
    wide sum = 0;
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (int64_t i = 0; i < rows; i++) {
      const int64_t own = targets[i * outputs + o];
      sum += (wide) own * solver->value[0][i];
      low = own < low ? own : low;
      high = own > high ? own : high;
    }
    const int64_t middle = total_weight > 0 ? (int64_t) (sum / (wide) total_weight) : 0;
    wide moved = 0, absolute = 0;
    double squares = 0;
    for (int64_t i = 0; fine && i < rows; i++) {
      const int64_t own = solver->value[0][i];
      const wide product = ((wide) targets[i * outputs + o] - middle) * own;
      moved += product;
      absolute += product < 0 ? -product : product;
      fine = absolute < (wide) 1 << 61;
      solver->value[o + 1][i] = (int64_t) product;
      const double away = (double) targets[i * outputs + o] - (double) middle;
      square[i] += (double) own * away * away;
      squares += (double) own * away * away;
      const double below = (double) targets[i * outputs + o] - (double) low;
      const double above = (double) high - (double) targets[i * outputs + o];
      range[i] += (double) own * (below > above ? below * below : above * above);
    }
    single += squares - (total_weight > 0 ? (double) moved * (double) moved / total_weight : 0);
  }
  if (!fine) {
    arena_release (&solver->arena, range);
    release_goal (solver);
    return numeric_fail (solver, TREEML_OVERFLOW, "the targets times their weights add up to more than 2^60");
  }
  solver->unit = 1;
  double whole = 0x1p46;
  while (whole * 4 * (double) rows > 0x1p60)
    whole /= 2;
  if (single > 0) {
    while (single * solver->unit < whole)
      solver->unit *= 2;
    while (single * solver->unit >= 2 * whole)
      solver->unit /= 2;
  }
  for (int64_t i = 0; i < rows; i++) {
    const double worth = range[i] * solver->unit + 2;
    solver->value[planes][i] = (int64_t) (worth < 2 * whole ? worth : 2 * whole);
    solver->square_sum += square[i];
  }
  arena_release (&solver->arena, range);
  solver->goal = numeric_goal_squared;
  solver->classes = 0;
  solver->planes = planes;
  const int ended = end_goal (solver);
  solver->unit_worth = 0;
  return ended;
}
