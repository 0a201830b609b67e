/* Prepares the rows for the pair search. Rows that no test distinguishes become one row with the sum of their signed
   weights. Whatever cancels is an error that no tree can avoid (the equivalent-points bound of Angelino et al.
   2017); it is removed from the search instead of being added to its bounds. */
#include "pair/rows.h"

#include "solver/squared_loss.h"
#include "simd/products.h"
#include "common/bits.h"
#include "common/sizes.h"

#include <math.h>
#include <string.h>

static uint64_t next_random (uint64_t *state) {
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static void store_bytes (uint8_t *to, uint64_t word, int64_t bytes) {
  for (int64_t i = 0; i < bytes && i < 8; i++)
    to[i] = (uint8_t) (word >> (8 * i));
}

static void turn (const treeml_solver *solver, const struct rows *rows, uint8_t *row_bits) {
  for (int32_t first = 0; first < rows->shape.tests; first += 64)
    for (int64_t word = 0; word < solver->words; word++) {
      uint64_t block[64];
      for (int32_t i = 0; i < 64; i++)
        block[i] =
            first + i < rows->shape.tests ? solver->columns[(int64_t) rows->kept[first + i] * solver->words + word] : 0;
      transpose_bits (block);
      for (int64_t i = 0; i < 64 && 64 * word + i < solver->rows; i++)
        store_bytes (row_bits + (64 * word + i) * rows->row_bytes + first / 8, block[i], rows->row_bytes - first / 8);
    }
}

static int64_t saved (const treeml_solver *solver, int64_t row) {
  if (solver->cost)
    return solver->cost[2 * row] - solver->cost[2 * row + 1];
  const int64_t weight = solver->weight ? solver->weight[row] : 1;
  return solver->label[row] ? weight : -weight;
}

int rows_are_alike (const treeml_solver *solver) {
  const int64_t worth = solver->rows ? saved (solver, 0) : 0;
  for (int64_t row = 0; row < solver->rows; row++) {
    const int64_t mine = saved (solver, row);
    if (!mine || (mine != worth && mine != -worth) || (solver->count && solver->count[row] != 1))
      return 0;
  }
  return 1;
}

static int64_t greatest_divisor (int64_t a, int64_t b) {
  while (b) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

static uint64_t hash_row (const uint8_t *row, int64_t bytes) {
  uint64_t hash = 0x9e3779b97f4a7c15u;
  for (int64_t i = 0; i < bytes; i += 4) {
    uint32_t part;
    memcpy (&part, row + i, sizeof part);
    hash = (hash ^ part) * 0x9fb21c651e98df25u;
    hash ^= hash >> 29;
  }
  return hash;
}

int rows_find_equal (treeml_solver *solver, const struct rows *rows, int32_t *first) {
  const uint8_t *row_bits = rows->row_bits;
  int64_t slots = 64;
  while (slots < 2 * solver->rows)
    slots *= 2;
  int32_t *table = arena_allocate (&solver->arena, (size_t) slots, sizeof *table);
  if (!table)
    return 0;
  for (int64_t row = 0; row < solver->rows; row++) {
    const uint8_t *bits = row_bits + row * rows->row_bytes;
    uint64_t slot = hash_row (bits, rows->row_bytes) & (uint64_t) (slots - 1);
    while (table[slot] && memcmp (row_bits + (table[slot] - 1) * rows->row_bytes, bits, (size_t) rows->row_bytes) != 0)
      slot = (slot + 1) & (uint64_t) (slots - 1);
    if (!table[slot])
      table[slot] = (int32_t) row + 1;
    first[row] = table[slot] - 1;
  }
  arena_release (&solver->arena, table);
  return 1;
}

int rows_lack_memory (treeml_solver *solver, struct rows *rows) {
  rows_release (solver, rows);
  return solver_fail (solver, TREEML_OUT_OF_MEMORY, "not enough memory for the rows");
}

int rows_begin (treeml_solver *solver, struct rows *rows) {
  memset (rows, 0, sizeof *rows);
  if (merge_tests (solver, &rows->kept, &rows->shape.tests))
    return solver->code;
  rows->scale = 1;
  rows->shape.padded = (rows->shape.tests + 3) / 4 * 4;
  rows->shape.stride = (rows->shape.tests + 31) / 32 * 32;
  if (!rows->shape.stride)
    rows->shape.stride = 32;
  rows->row_bytes = rows->shape.stride / 8;
  rows->row_bits = arena_allocate (&solver->arena, (size_t) solver->rows, (size_t) rows->row_bytes);
  if (!rows->row_bits)
    return rows_lack_memory (solver, rows);
  turn (solver, rows, rows->row_bits);
  return TREEML_OK;
}

int rows_make_codes (treeml_solver *solver, struct rows *rows) {
  rows->code = arena_allocate (&solver->arena, 2 * (size_t) rows->rows, sizeof *rows->code);
  if (!rows->code)
    return 0;
  uint64_t random = (uint64_t) solver->options.seed;
  for (int64_t i = 0; i < 2 * (int64_t) rows->rows; i++)
    rows->code[i] = next_random (&random);
  return 1;
}

/* Every bit of a weight becomes an entry in the list of its plane, unless it is cheaper to repeat rows of small
   weight. */
static int choose_planes (struct rows *rows, const int64_t *sign, int64_t count) {
  int64_t bits = 0, units = 0, all = 0;
  for (int64_t i = 0; i < count; i++) {
    const int64_t weight = sign[i] < 0 ? -sign[i] : sign[i];
    bits += count_bits ((uint64_t) weight);
    units += weight;
    all |= weight;
  }
  const int planes = all ? bit_length ((uint64_t) all) : 1;
  const int expand = planes > 1 && units <= 2 * count && units < bits + 48 * planes;
  rows->planes = expand ? 1 : planes;
  rows->entries = expand ? units : bits;
  rows->whole = units;
  return expand;
}

static void cut (int64_t number, int8_t *digits) {
  const int64_t base = 1 << digit_bits;
  for (int32_t d = 0; d < most_digits; d++) {
    const int64_t digit = ((number + base / 2) & (base - 1)) - base / 2;
    digits[d] = (int8_t) digit;
    number = (number - digit) / base;
  }
}

/* Splits weights into signed digits, as many as the largest weight needs. */
static int make_digits (treeml_solver *solver, struct rows *rows) {
  int64_t most = 0, reach = 0;
  for (int32_t i = 0; i < rows->rows; i++)
    most = most > rows->worth[i] ? most : rows->worth[i];
  for (rows->digits = 0; reach < most && rows->digits < most_digits; rows->digits++)
    reach = reach << digit_bits | ((1 << (digit_bits - 1)) - 1);
  if (reach < most) { /* too large for digits: added row by row */
    rows->digits = 0;
    return 1;
  }
  rows->sign_digits = arena_allocate (&solver->arena, (size_t) rows->rows, most_digits);
  rows->worth_digits = arena_allocate (&solver->arena, (size_t) rows->rows, most_digits);
  if (!rows->sign_digits || !rows->worth_digits)
    return 0;
  for (int64_t i = 0; i < rows->rows; i++) {
    cut (rows->sign[i], rows->sign_digits + i * most_digits);
    cut (rows->worth[i], rows->worth_digits + i * most_digits);
  }
  return 1;
}

/* Drops rows whose weights cancel, takes the unavoidable cost out, and divides by the greatest common divisor.
   Predicting class 1 everywhere costs `offset`; a tree without errors saves the negative part of it. */
static int64_t keep_signed (treeml_solver *solver, struct rows *rows, int64_t *sign) {
  int64_t offset = 0, divisor = 0, count = 0;
  for (int64_t row = 0; row < solver->rows; row++)
    if (solver->cost)
      offset += solver->cost[2 * row + 1];
    else if (!solver->label[row])
      offset += solver->weight ? solver->weight[row] : 1;
  for (int64_t row = 0; row < solver->rows; row++)
    if (sign[row]) {
      if (sign[row] < 0)
        offset += sign[row];
      divisor = greatest_divisor (divisor, sign[row] < 0 ? -sign[row] : sign[row]);
      memmove (rows->row_bits + count * rows->row_bytes, rows->row_bits + row * rows->row_bytes,
               (size_t) rows->row_bytes);
      sign[count++] = sign[row];
    }
  rows->offset = offset;
  rows->scale = divisor ? divisor : 1;
  for (int64_t i = 0; i < count; i++)
    sign[i] /= rows->scale;
  rows->rows = (int32_t) count;
  rows->channels = 1;
  return count;
}

/* One list with all rows, whose weights are added row by row. */
static int list_dense (treeml_solver *solver, struct rows *rows, const int64_t *sign, int64_t count) {
  rows->dense = 1;
  rows->planes = rows->lists = 1;
  rows->entries = count;
  rows->ids = arena_allocate (&solver->arena, (size_t) count, sizeof *rows->ids);
  rows->sign = arena_allocate (&solver->arena, (size_t) count, sizeof *rows->sign);
  if (!rows->ids || !rows->sign || !rows_make_codes (solver, rows))
    return 0;
  for (int64_t i = 0; i < count; i++) {
    rows->ids[i] = (int32_t) i;
    rows->sign[i] = sign[i];
  }
  rows->start[1] = rows->rows;
  return 1;
}

/* Lists of rows by sign and bit of the weight; with `expand` one list by sign, with repeated rows. */
static int list_planes (treeml_solver *solver, struct rows *rows, const int64_t *sign, int64_t count, int expand) {
  rows->ids = arena_allocate (&solver->arena, (size_t) rows->entries, sizeof *rows->ids);
  if (!rows->ids || !rows_make_codes (solver, rows))
    return 0;
  int32_t at = 0;
  for (int32_t list = 0; list < rows->lists; list++) {
    const int bit = rows->planes - 1 - list / 2;
    rows->start[list] = at;
    for (int64_t i = 0; i < count; i++) {
      const int64_t weight = sign[i] < 0 ? -sign[i] : sign[i];
      if ((sign[i] < 0) != (list & 1))
        continue;
      if (expand)
        for (int64_t copies = 0; copies < weight; copies++)
          rows->ids[at++] = (int32_t) i;
      else if (weight >> bit & 1)
        rows->ids[at++] = (int32_t) i;
    }
  }
  rows->start[rows->lists] = at;
  return 1;
}

int rows_make_signed (treeml_solver *solver, struct rows *rows) {
  struct arena *arena = &solver->arena;
  if (rows_begin (solver, rows))
    return solver->code;
  int64_t *sign = rows->worth = arena_allocate (arena, (size_t) solver->rows, sizeof *sign);
  int32_t *first = arena_allocate (arena, (size_t) solver->rows, sizeof *first);
  /* If support is bounded, rows that cancel must still be counted. */
  const int join = solver->options.unavoidable && solver->options.support <= 1;
  if (!sign || !first || (join && !rows_find_equal (solver, rows, first))) {
    arena_release (arena, first);
    return rows_lack_memory (solver, rows);
  }
  for (int64_t row = 0; row < solver->rows; row++)
    if (join)
      sign[first[row]] += saved (solver, row);
    else
      sign[row] = saved (solver, row);
  arena_release (arena, first);
  const int64_t count = keep_signed (solver, rows, sign);
  const int expand = choose_planes (rows, sign, count);
  rows->lists = 2 * rows->planes;
  /* Beyond a few bits per row, adding weights is cheaper than counting planes. */
  const int dense = rows->planes > 1 && rows->entries > 3 * count;
  if (!(dense ? list_dense (solver, rows, sign, count) : list_planes (solver, rows, sign, count, expand)))
    return rows_lack_memory (solver, rows);
  for (int64_t i = 0; i < count; i++) /* from now on these are worths */
    sign[i] = sign[i] < 0 ? -sign[i] : sign[i];
  return !dense || make_digits (solver, rows) ? TREEML_OK : rows_lack_memory (solver, rows);
}

/* What predicting class k saves compared with the most expensive class of the row. */
static void savings (const treeml_solver *solver, int64_t row, int64_t *cost) {
  const int32_t classes = solver->classes;
  for (int32_t k = 0; k < classes; k++)
    cost[k] += solver->cost              ? solver->cost[row * classes + k]
               : solver->label[row] == k ? 0
               : solver->weight          ? solver->weight[row]
                                         : 1;
}

/* Turns the costs of each row in `number` into savings, drops rows that cost the same for every class, and returns how
   many are left. */
static int64_t keep_classes (treeml_solver *solver, struct rows *rows, int64_t *number, const int32_t *first) {
  const int supported = solver->options.support > 1;
  const int32_t classes = solver->classes, channels = rows->channels;
  int64_t count = 0, divisor = 0;
  for (int64_t row = 0; row < solver->rows; row++) {
    if (first && first[row] != row)
      continue;
    int64_t *here = number + row * channels, least = here[0], most = here[0];
    for (int32_t k = 1; k < classes; k++) {
      least = here[k] < least ? here[k] : least;
      most = here[k] > most ? here[k] : most;
    }
    rows->offset += least;
    if (least == most && !supported)
      continue;
    int64_t *to = number + count * channels;
    for (int32_t k = 0; k < classes; k++) {
      to[k] = most - here[k];
      divisor = greatest_divisor (divisor, to[k]);
    }
    const int64_t worth = most - least;
    if (supported)
      to[classes] = solver->count ? solver->count[row] : 1;
    to[channels - 1] = worth;
    memmove (rows->row_bits + count * rows->row_bytes, rows->row_bits + row * rows->row_bytes,
             (size_t) rows->row_bytes);
    count++;
  }
  rows->scale = divisor ? divisor : 1;
  return count;
}

int rows_make_classes (treeml_solver *solver, struct rows *rows) {
  struct arena *arena = &solver->arena;
  const int supported = solver->options.support > 1;
  const int32_t classes = solver->classes, channels = classes + 1 + supported;
  if (rows_begin (solver, rows))
    return solver->code;
  int64_t *number = arena_allocate (arena, times ((size_t) solver->rows, (size_t) channels), sizeof *number);
  int32_t *first = arena_allocate (arena, (size_t) solver->rows, sizeof *first);
  const int joins = solver->options.unavoidable && !supported;
  if (!number || !first || (joins && !rows_find_equal (solver, rows, first))) {
    arena_release (arena, number);
    arena_release (arena, first);
    return rows_lack_memory (solver, rows);
  }
  for (int64_t row = 0; row < solver->rows; row++)
    savings (solver, row, number + (joins ? first[row] : row) * channels);
  rows->channels = channels;
  const int64_t count = keep_classes (solver, rows, number, joins ? first : NULL);
  int64_t all = 0;
  arena_release (arena, first);
  rows->rows = (int32_t) count;
  rows->worth = arena_allocate (arena, (size_t) count, sizeof *rows->worth);
  int failed = !rows->worth;
  for (int64_t i = 0; i < count && !failed; i++) {
    int64_t *here = number + i * channels;
    for (int32_t k = 0; k < classes; k++)
      here[k] /= rows->scale;
    here[channels - 1] /= rows->scale;
    for (int32_t k = 0; k < channels; k++) {
      all |= here[k];
      rows->entries += count_bits ((uint64_t) here[k]);
    }
    rows->worth[i] = here[channels - 1];
    rows->whole += supported && here[classes] > rows->worth[i] ? here[classes] : rows->worth[i];
  }
  rows->planes = all ? bit_length ((uint64_t) all) : 1;
  rows->lists = channels * rows->planes <= most_lists && rows->whole <= INT32_MAX / 2 ? channels * rows->planes : 0;
  if (!failed && rows->lists) {
    rows->ids = arena_allocate (arena, (size_t) rows->entries, sizeof *rows->ids);
    failed = !rows->ids || !rows_make_codes (solver, rows);
  }
  int32_t at = 0;
  for (int32_t list = 0; list < rows->lists && !failed; list++) {
    rows->start[list] = at;
    const int bit = rows->planes - 1 - list % rows->planes;
    for (int64_t i = 0; i < count; i++)
      if (number[i * channels + list / rows->planes] >> bit & 1)
        rows->ids[at++] = (int32_t) i;
  }
  rows->start[rows->lists] = at;
  arena_release (arena, number);
  return failed ? rows_lack_memory (solver, rows) : TREEML_OK;
}

void rows_release (treeml_solver *solver, struct rows *rows) {
  void *blocks[] = {rows->kept,        rows->row_bits,     rows->code,   rows->worth,
                    rows->ids,         rows->moment,       rows->square, rows->sign,
                    rows->sign_digits, rows->worth_digits, rows->packed, rows->packed_worth};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    arena_release (&solver->arena, blocks[i]);
  memset (rows, 0, sizeof *rows);
}
