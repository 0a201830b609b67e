/* Rows that no test tells apart are one row with the sum of their signed weights: what cancels is an error that no
   tree avoids (the bound on equivalent points of Angelino et al. 2017), taken out of the search instead of being added
   to its bounds. */
#include "signed_rows.h"

#include <string.h>

static uint64_t next_random (uint64_t *state) {
  uint64_t x = *state += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

/* A 64 x 64 block of bits, mirrored at its diagonal. */
static void transpose (uint64_t block[64]) {
  uint64_t mask = 0x00000000ffffffffu;
  for (int width = 32; width; width >>= 1, mask ^= mask << width)
    for (int i = 0; i < 64; i = ((i | width) + 1) & ~width) {
      const uint64_t swap = ((block[i] >> width) ^ block[i | width]) & mask;
      block[i] ^= swap << width;
      block[i | width] ^= swap;
    }
}

static void store_bytes (uint8_t *to, uint64_t word, int64_t bytes) {
  for (int64_t i = 0; i < bytes && i < 8; i++)
    to[i] = (uint8_t) (word >> (8 * i));
}

static void turn (const treeml_solver *solver, const struct signed_rows *rows, uint8_t *row_bits) {
  for (int32_t first = 0; first < rows->shape.tests; first += 64)
    for (int64_t word = 0; word < solver->words; word++) {
      uint64_t block[64];
      for (int32_t i = 0; i < 64; i++)
        block[i] = first + i < rows->shape.tests
                       ? solver->columns[(int64_t) rows->kept[first + i] * solver->words + word]
                       : 0;
      transpose (block);
      for (int64_t i = 0; i < 64 && 64 * word + i < solver->rows; i++)
        store_bytes (row_bits + (64 * word + i) * rows->row_bytes + first / 8, block[i],
                     rows->row_bytes - first / 8);
    }
}

static int64_t saved (const treeml_solver *solver, int64_t row) {
  if (solver->cost)
    return solver->cost[2 * row] - solver->cost[2 * row + 1];
  const int64_t weight = solver->weight ? solver->weight[row] : 1;
  return solver->label[row] ? weight : -weight;
}

static int64_t greatest_divisor (int64_t a, int64_t b) {
  while (b) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

int signed_rows_fit (treeml_solver *solver) {
  return solver->goal == goal_classes && solver->classes == 2;
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

/* Sums the signed weights of rows with equal tests into the first of them. */
static int join_equal (treeml_solver *solver, const struct signed_rows *rows, const uint8_t *row_bits, int64_t *sign) {
  int64_t slots = 64;
  while (slots < 2 * solver->rows)
    slots *= 2;
  int32_t *table = arena_allocate (&solver->arena, (size_t) slots, sizeof *table);
  if (!table)
    return 0;
  for (int64_t row = 0; row < solver->rows; row++) {
    const uint8_t *bits = row_bits + row * rows->row_bytes;
    uint64_t slot = hash_row (bits, rows->row_bytes) & (uint64_t) (slots - 1);
    while (table[slot] &&
           memcmp (row_bits + (table[slot] - 1) * rows->row_bytes, bits, (size_t) rows->row_bytes) != 0)
      slot = (slot + 1) & (uint64_t) (slots - 1);
    if (table[slot]) {
      sign[table[slot] - 1] += sign[row];
      sign[row] = 0;
    } else
      table[slot] = (int32_t) row + 1;
  }
  arena_release (&solver->arena, table);
  return 1;
}

/* Bits of a weight become entries of the lists of their planes; small equal weights are cheaper as so many rows. */
static int choose_planes (struct signed_rows *rows, const int64_t *sign, int64_t count, int *expand) {
  int64_t bits = 0, units = 0, all = 0;
  for (int64_t i = 0; i < count; i++) {
    const int64_t weight = sign[i] < 0 ? -sign[i] : sign[i];
    bits += __builtin_popcountll ((uint64_t) weight);
    units = units + weight < units ? INT64_MAX : units + weight;
    all |= weight;
  }
  const int planes = all ? 64 - __builtin_clzll ((uint64_t) all) : 1;
  *expand = planes > 1 && units <= 2 * count && units < bits + 48 * planes;
  rows->planes = *expand ? 1 : planes;
  rows->entries = *expand ? units : bits;
  rows->whole = units;
  return planes;
}

int signed_rows_make (treeml_solver *solver, struct signed_rows *rows) {
  struct arena *arena = &solver->arena;
  memset (rows, 0, sizeof *rows);
  if (merge_tests (solver, &rows->kept, &rows->shape.tests))
    return solver->code;
  rows->shape.padded = (rows->shape.tests + 3) / 4 * 4;
  rows->shape.stride = (rows->shape.tests + 31) / 32 * 32;
  if (!rows->shape.stride)
    rows->shape.stride = 32;
  rows->row_bytes = rows->shape.stride / 8;
  uint8_t *row_bits = arena_allocate (arena, (size_t) solver->rows, (size_t) rows->row_bytes);
  int64_t *sign = arena_allocate (arena, (size_t) solver->rows, sizeof *sign);
  int failed = !row_bits || !sign;
  if (!failed) {
    turn (solver, rows, row_bits);
    for (int64_t row = 0; row < solver->rows; row++)
      sign[row] = saved (solver, row);
    if (solver->options.unavoidable)
      failed = !join_equal (solver, rows, row_bits, sign);
  }
  if (failed) {
    arena_release (arena, row_bits);
    arena_release (arena, sign);
    return solver_fail (solver, TREEML_OUT_OF_MEMORY, "no memory for the rows");
  }
  /* The cheaper class of every row taken alone, summed, is what remains of the cost beside the signed weights. */
  int64_t offset = 0, remaining = 0, divisor = 0, count = 0;
  for (int64_t row = 0; row < solver->rows; row++)
    if (solver->cost)
      offset += solver->cost[2 * row + 1]; /* as if class 1 were predicted everywhere */
    else if (!solver->label[row])
      offset += solver->weight ? solver->weight[row] : 1;
  for (int64_t row = 0; row < solver->rows; row++)
    if (sign[row]) {
      if (sign[row] < 0)
        remaining -= sign[row]; /* of which a perfect tree saves this much */
      divisor = greatest_divisor (divisor, sign[row] < 0 ? -sign[row] : sign[row]);
      memmove (row_bits + count * rows->row_bytes, row_bits + row * rows->row_bytes, (size_t) rows->row_bytes);
      sign[count++] = sign[row];
    }
  rows->offset = offset - remaining;
  rows->scale = divisor ? divisor : 1;
  for (int64_t i = 0; i < count; i++)
    sign[i] /= rows->scale;
  rows->rows = (int32_t) count;
  rows->row_bits = row_bits;
  int expand = 0;
  choose_planes (rows, sign, count, &expand);
  rows->ids = arena_allocate (arena, (size_t) rows->entries, sizeof *rows->ids);
  rows->code = arena_allocate (arena, 2 * (size_t) count, sizeof *rows->code);
  rows->weight = arena_allocate (arena, (size_t) count, sizeof *rows->weight);
  if (!rows->ids || !rows->code || !rows->weight) {
    arena_release (arena, sign);
    signed_rows_release (solver, rows);
    return solver_fail (solver, TREEML_OUT_OF_MEMORY, "no memory for the rows");
  }
  int32_t at = 0;
  for (int32_t plane = 0; plane < rows->planes; plane++)
    for (int negative = 0; negative < 2; negative++) {
      rows->start[2 * plane + negative] = at;
      const int bit = rows->planes - 1 - plane;
      for (int64_t i = 0; i < count; i++) {
        const int64_t weight = sign[i] < 0 ? -sign[i] : sign[i];
        if ((sign[i] < 0) != negative)
          continue;
        if (expand)
          for (int64_t copies = 0; copies < weight; copies++)
            rows->ids[at++] = (int32_t) i;
        else if (weight >> bit & 1)
          rows->ids[at++] = (int32_t) i;
      }
    }
  rows->start[2 * rows->planes] = at;
  uint64_t random = (uint64_t) solver->options.seed;
  for (int64_t i = 0; i < 2 * count; i++)
    rows->code[i] = next_random (&random);
  for (int64_t i = 0; i < count; i++)
    rows->weight[i] = sign[i] < 0 ? -sign[i] : sign[i];
  arena_release (arena, sign);
  return TREEML_OK;
}

void signed_rows_release (treeml_solver *solver, struct signed_rows *rows) {
  arena_release (&solver->arena, rows->kept);
  arena_release (&solver->arena, rows->row_bits);
  arena_release (&solver->arena, rows->weight);
  arena_release (&solver->arena, rows->code);
  arena_release (&solver->arena, rows->ids);
  memset (rows, 0, sizeof *rows);
}
