/* Prepares the rows for squared loss: every row has its weight and its weighted targets, which leaves add up. */
#include "pair/rows.h"

#include "solver/squared_loss.h"
#include "common/sizes.h"

#include <math.h>
#include <string.h>

/* Rows that no test distinguishes, merged into one: exact sums of weights and of weighted targets. */
struct group {
  wide weight, sum;
};

/* Adds up an output by group; the variation within groups is added to `within`. */
static void add_groups (const treeml_solver *solver, int32_t output, const int32_t *first, struct group *group,
                        struct total *within) {
  const int64_t *target = solver->target + output;
  double reach;
  const int64_t centre = centre_of_targets (solver, output, &reach);
  memset (group, 0, (size_t) solver->rows * sizeof *group);
  for (int64_t row = 0; row < solver->rows; row++) {
    const int64_t weight = solver->weight ? solver->weight[row] : 1;
    group[first[row]].weight += weight;
    group[first[row]].sum += (wide) weight * (target[row * solver->outputs] - centre);
  }
  double rest = 0;
  for (int64_t row = 0; row < solver->rows; row++) {
    const struct group *mine = &group[first[row]];
    const int64_t weight = solver->weight ? solver->weight[row] : 1;
    if (mine->weight == weight && first[row] == row) /* alone, or beside rows without weight: nothing varies */
      continue;
    const struct nearest near = nearest_mean (mine->sum, mine->weight);
    total_add (within, weighted_square (weight, target[row * solver->outputs] - centre - near.q));
    if (first[row] == row && mine->weight > 0)
      rest += (double) near.r * (double) near.r / (double) mine->weight;
  }
  within->lost -= rest;
}

/* The sums as doubles. They are exact if possible; otherwise all are multiples of one grain, so that the searches add
   and subtract them without error. Returns the largest change that the rounding makes to the cost of a tree.

   A leaf with weight W and sum S saves S^2 / W of the squares. With S + s and W + v instead it saves more by 2 m s -
   m^2 v + (s - m v)^2 / (W + v), where m is its mean. No mean exceeds M in absolute value, and a row adds at most
   one grain to s and to v; the last part is at most (|s| + M |v|)^2 over the larger of 1 and the grain of the
   weights. */
static double store_moments (const treeml_solver *solver, struct rows *rows, int32_t output, const int32_t *first,
                             const struct group *group) {
  const int64_t width = rows->outputs + 3;
  double sizes = 0, weights = 0, most = 0, carry = 0, carried = 0, count = 0;
  for (int64_t row = 0; row < solver->rows; row++)
    if (first[row] == row && group[row].weight > 0) {
      const double sum = fabs (real_of_wide (group[row].sum)), weight = real_of_wide (group[row].weight);
      sizes += sum;
      weights += weight;
      most = sum > most * weight ? sum / weight : most; /* a division takes long */
      count++;
    }
  const double grain = sizes < 0x1p52 ? 0 : grain_of (sizes), heavy = weights < 0x1p52 ? 0 : grain_of (weights);
  for (int64_t row = 0; row < solver->rows; row++)
    if (first[row] == row) {
      double *moment = rows->moment + row * width;
      moment[0] = round_to_grain (real_of_wide (group[row].weight), heavy, &carried);
      moment[1 + output] = round_to_grain (real_of_wide (group[row].sum), grain, &carry);
    }
  const double off = count * grain, unsure = count * heavy, rest = off + most * unsure;
  return 1.01 * (2 * most * off + most * most * unsure + rest * rest / fmax (heavy, 1));
}

/* A division takes long, and most rows weigh 1. */
static double quotient (double over, double under) { return under == 1 ? over : over / under; }

/* The least whole number that is not below one between 0 and 2^62. */
static double whole_above (double number) {
  const int64_t below = (int64_t) number;
  return (double) (below + ((double) below < number));
}

/* The most that a row can add to the cost of a leaf: its weight times the squared distance to the farthest mean. */
static void set_worths (const treeml_solver *solver, struct rows *rows, double squares) {
  const int64_t count = rows->rows, outputs = rows->outputs, width = rows->channels;
  for (int64_t output = 0; output < outputs; output++) {
    double low = 1e300, high = -1e300;
    for (int64_t i = 0; i < count; i++)
      if (rows->moment[i * width] > 0) {
        const double mean = quotient (rows->moment[i * width + 1 + output], rows->moment[i * width]);
        low = mean < low ? mean : low;
        high = mean > high ? mean : high;
      }
    for (int64_t i = 0; i < count; i++)
      if (rows->moment[i * width] > 0) {
        const double mean = quotient (rows->moment[i * width + 1 + output], rows->moment[i * width]);
        const double far = mean - low > high - mean ? mean - low : high - mean;
        rows->moment[i * width + 2 + outputs] += rows->moment[i * width] * far * far;
      }
  }
  /* No row is worth more than all losses. Worths are rounded up to a grain, so that their sums are exact too. */
  double total = 0;
  for (int64_t i = 0; i < count; i++) {
    double *worth = &rows->moment[i * width + 2 + outputs];
    const double more = *worth * (1 + 0x1p-40);
    *worth = more < 2 * squares ? more : 2 * squares;
    total += *worth;
  }
  const double grain = grain_of (total);
  const double grains = grain > 0 ? 1 / grain : 0; /* exact, since a grain is a power of two */
  for (int64_t i = 0; i < count && grain > 0; i++) {
    double *worth = &rows->moment[i * width + 2 + outputs];
    *worth = whole_above (*worth * grains) * grain;
    rows->worth[i] = (int64_t) (*worth * solver->unit < 0x1p52 ? *worth * solver->unit : 0x1p52) + 2;
  }
}

/* The number of bits that hold whole numbers up to a number, or 30 if it needs more. */
static int32_t bits_for (double most) {
  int32_t bits = 0;
  while (bits < 30 && ldexp (1, bits) <= most)
    bits++;
  return bits;
}

/* Weight and sum of a row in one number, if both are small: see `add_packed` of simd/cells.h. Returns 0 if out of
   memory. */
static int pack_moments (treeml_solver *solver, struct rows *rows) {
  enum { chunk = 64 };
  double weight = 0, sum = 0, weights = 0, sums = 0, worth = 0, all_worths = 0;
  for (int32_t i = 0; i < rows->rows; i++) {
    const double *moment = rows->moment + (int64_t) i * rows->channels;
    weight = weight > moment[0] ? weight : moment[0];
    sum = sum > fabs (moment[1]) ? sum : fabs (moment[1]);
    weights += moment[0];
    sums += fabs (moment[1]);
    worth = worth > moment[rows->channels - 1] ? worth : moment[rows->channels - 1];
    all_worths += moment[rows->channels - 1];
  }
  if (rows->outputs > 1 || solver->options.support > 1)
    return 1;
  /* Floats hold the parts of a joined number exactly. */
  rows->shift = bits_for (weights);
  rows->joined = rows->shift <= 24 && fmax (sums, 1) < fmin (ldexp (1, 31 - rows->shift), 0x1p24);
  if (!rows->joined)
    rows->shift = bits_for (chunk * weight);
  /* Single precision holds the products of two squares and three weights, and their comparison. */
  if (!rows->joined && (weights >= 0x1p30 || sums >= 0x1p30 || chunk * (sum + 1) >= ldexp (1, 31 - rows->shift) ||
                        2 * log2 (sums + 1) + 3 * log2 (weights + 1) > 120))
    return 1;
  rows->packed = arena_allocate (&solver->arena, (size_t) rows->rows, sizeof *rows->packed);
  rows->packed_worth = arena_allocate (&solver->arena, (size_t) rows->rows, sizeof *rows->packed_worth);
  if (!rows->packed || !rows->packed_worth)
    return 0;
  /* A power of two of which 64 worths are at most 2^30, and all worths too; worths are rounded up to it. */
  rows->worth_grain = ldexp (1, (int) ceil (log2 (fmax (fmax (all_worths, chunk * worth), 0x1p-900))) - 29);
  const double grains = 1 / rows->worth_grain;
  for (int32_t i = 0; i < rows->rows; i++) {
    double *moment = rows->moment + (int64_t) i * rows->channels;
    rows->packed[i] = (int32_t) moment[1] * (1 << rows->shift) + (int32_t) moment[0];
    moment[2] = moment[0]; /* without a bound on support, the count only tells which tests split the rows */
    rows->packed_worth[i] = (int32_t) whole_above (moment[3] * grains);
    moment[3] = rows->packed_worth[i] * rows->worth_grain;
  }
  return 1;
}

/* No tree can avoid the variation among rows with equal answers, so their mean represents them. */
int rows_make_moments (treeml_solver *solver, struct rows *rows) {
  struct arena *arena = &solver->arena;
  if (rows_begin (solver, rows))
    return solver->code;
  const int32_t outputs = rows->outputs = solver->outputs, width = rows->channels = outputs + 3;
  int32_t *first = arena_allocate (arena, (size_t) solver->rows, sizeof *first);
  struct group *group = arena_allocate (arena, (size_t) solver->rows, sizeof *group);
  rows->moment = arena_allocate (arena, (size_t) (solver->rows * width), sizeof *rows->moment);
  rows->square = arena_allocate (arena, (size_t) solver->rows, sizeof *rows->square);
  rows->ids = arena_allocate (arena, (size_t) solver->rows, sizeof *rows->ids);
  if (!first || !group || !rows->moment || !rows->square || !rows->ids || !rows_find_equal (solver, rows, first)) {
    arena_release (arena, first);
    arena_release (arena, group);
    return rows_lack_memory (solver, rows);
  }
  if (!solver->options.unavoidable)
    for (int64_t row = 0; row < solver->rows; row++)
      first[row] = (int32_t) row;
  struct total unavoidable = {0, 0};
  double squares = 0;
  for (int32_t output = 0; output < outputs; output++) {
    add_groups (solver, output, first, group, &unavoidable);
    for (int64_t row = 0; row < solver->rows; row++)
      if (first[row] == row && group[row].weight > 0) {
        const double sum = real_of_wide (group[row].sum);
        rows->square[row] += quotient (sum * sum, real_of_wide (group[row].weight));
      }
    rows->error += store_moments (solver, rows, output, first, group);
  }
  arena_release (arena, group);
  for (int64_t row = 0; row < solver->rows; row++) {
    rows->moment[first[row] * (int64_t) width + 1 + outputs] += (double) (solver->count ? solver->count[row] : 1);
    squares += first[row] == row ? rows->square[row] : 0;
  }
  const double grain = grain_of (squares);
  double carry = 0;
  int64_t count = 0;
  for (int64_t row = 0; row < solver->rows; row++)
    if (first[row] == row) {
      rows->square[count] = round_to_grain (rows->square[row], grain, &carry);
      memmove (rows->moment + count * width, rows->moment + row * width, (size_t) width * sizeof *rows->moment);
      memmove (rows->row_bits + count * rows->row_bytes, rows->row_bits + row * rows->row_bytes,
               (size_t) rows->row_bytes);
      rows->ids[count] = (int32_t) count;
      count++;
    }
  arena_release (arena, first);
  /* Every gain is a sum of quotients, each accurate to a few roundings, and all gains together are at most the
     squares, whose sum is off by a grain. */
  rows->error += (8 + outputs) * 0x1p-53 * squares + 2 * grain;
  rows->offset = (int64_t) fmax ((unavoidable.sum + unavoidable.lost) * solver->unit, 0);
  rows->rows = (int32_t) count;
  rows->planes = rows->lists = 1;
  rows->entries = count;
  rows->start[1] = rows->rows;
  rows->worth = arena_allocate (arena, (size_t) count, sizeof *rows->worth);
  if (!rows->worth || !rows_make_codes (solver, rows))
    return rows_lack_memory (solver, rows);
  set_worths (solver, rows, squares);
  if (!pack_moments (solver, rows))
    return rows_lack_memory (solver, rows);
  return TREEML_OK;
}
