/* Compares the pair kernels and the counting loops of every instruction set of this processor with the portable ones,
   bit for bit, on random rows; `make native-arm` runs it under an emulator.

     compare_kernels                     compares all of them, prints their names, and ends with 1 if two differ
     compare_kernels SET BITS TIMES      solves depth two that often with one set of simd/select.h, to count
   instructions */
#include "common/arena.h"
#include "simd/counts.h"
#include "simd/pair_kernel.h"
#include "simd/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_tests = 256, most_rows = 2100, rows_bytes = most_tests / 8 };

static uint64_t state = 88172645463325252u;

static uint64_t draw (void) {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

static struct arena arena = {.limit = SIZE_MAX};

/* Zeroed, and aligned as the kernels expect it. */
static void *room (size_t bytes) {
  void *block = arena_allocate (&arena, bytes, 1);
  if (!block)
    exit (2);
  return block;
}

static void release (void *block) { arena_release (&arena, block); }

struct world {
  struct shape shape;
  int32_t rows, planes;
  uint8_t bits[most_rows * rows_bytes + 64];
  int64_t sign[most_rows];
  int64_t total, weight;
};

static void make (struct world *world, int32_t tests, int32_t rows, int32_t planes, int64_t largest) {
  memset (world, 0, sizeof *world);
  world->shape = (struct shape) {tests, (tests + 3) / 4 * 4, (tests + 63) / 64 * 64};
  world->rows = rows;
  world->planes = planes;
  for (int32_t r = 0; r < rows; r++) {
    for (int32_t j = 0; j < tests; j++)
      world->bits[r * rows_bytes + j / 8] |= (uint8_t) ((draw () >> 20 & 1) << (j & 7));
    const int64_t weight = 1 + (int64_t) (draw () % (uint64_t) largest);
    world->sign[r] = draw () >> 30 & 1 ? weight : -weight;
    world->total += world->sign[r];
    world->weight += weight;
  }
}

/* The rows of `world` from `first` on, as planes or with their weights in lanes. */
static void fill (const struct pair_kernel *kernel, const struct world *world, int32_t first, int dense,
                  struct slice *slice) {
  const size_t width = (size_t) kernel->lane_bits / 8, stride = (size_t) world->shape.stride;
  const size_t lanes = (size_t) (2 * world->planes + 2 + world->rows * world->planes / kernel->lane_bits) * stride;
  static int32_t ids[most_rows];
  *slice =
      (struct slice) {.words = room ((lanes + 64) * width), .twice = room ((lanes + 64) * 4), .planes = world->planes};
  int32_t group = 0;
  for (int32_t list = 0; list < (dense ? 1 : 2 * world->planes); list++) {
    int32_t count = 0;
    for (int32_t r = first; r < world->rows; r++) {
      const int64_t weight = world->sign[r] < 0 ? -world->sign[r] : world->sign[r];
      if (dense || ((world->sign[r] < 0) == (list & 1) && (weight >> (world->planes - 1 - list / 2) & 1)))
        ids[count++] = r;
    }
    slice->group[list] = group;
    kernel->build (slice, &world->shape, group, world->bits, rows_bytes, ids, count);
    group += (count + kernel->lane_bits - 1) / kernel->lane_bits;
    slice->group[list + 1] = group;
    slice->dense_rows = dense ? count : 0;
  }
  if (!dense)
    return;
  slice->dense = room (((size_t) dense_bytes / width + 64 * stride + 64) * width);
  slice->passing = room ((dense_bytes / 4 + 192) * sizeof (int32_t));
  slice->chunk = room (2 * stride * width);
  slice->before = room ((size_t) world->shape.padded * stride * width);
  slice->filled = -1;
  slice->ids = ids;
  slice->row_bits = world->bits;
  slice->row_bytes = rows_bytes;
  slice->sign = world->sign;
}

static void empty (struct slice *slice) {
  release (slice->words);
  release (slice->twice);
  release (slice->dense);
  release (slice->passing);
  release (slice->chunk);
  release (slice->before);
}

/* Everything that a kernel computes, one after the other. */
struct output {
  size_t bytes;
  char *all;
};

/* Clears the lanes beyond the last test, of which wider vectors compute more. */
static void trim (void *matrix, int32_t count, const struct shape *shape, int bits) {
  const size_t width = (size_t) bits / 8, used = (size_t) shape->tests * width, line = (size_t) shape->stride * width;
  for (int32_t i = 0; i < count; i++)
    memset ((char *) matrix + (size_t) i * line + used, 0, line - used);
}

static void trim_side (struct side *side, const struct shape *shape, int bits) {
  void *all[4] = {side->sum, side->yes, side->no, side->count};
  for (int i = 0; i < 4; i++)
    trim (all[i], 1, shape, bits);
}

static void *lines (struct output *output, size_t bytes) {
  void *at = output->all + output->bytes;
  output->bytes += (bytes + 63) / 64 * 64;
  return at;
}

static struct side side_of (struct output *output, size_t line, int64_t total, int64_t weight) {
  return (struct side) {.sum = lines (output, line),
                        .total = total,
                        .yes = lines (output, line),
                        .no = lines (output, line),
                        .count = lines (output, line),
                        .weight = weight};
}

static void solve (const struct pair_kernel *kernel, const struct world *world, int dense, int32_t times,
                   struct output *output) {
  const struct shape *shape = &world->shape;
  const size_t line = (size_t) shape->stride * (size_t) kernel->lane_bits / 8, matrix = line * (size_t) shape->padded;
  struct slice all, part;
  void *scratch = room (6 * line + 64);
  output->bytes = 0;
  fill (kernel, world, 0, dense, &all);
  void *doubled = lines (output, matrix), *weights = lines (output, matrix);
  struct side own = side_of (output, line, world->total, world->weight);
  kernel->sums (&all, shape, own.sum, own.count);
  kernel->pairs (&all, shape, doubled, weights, 0, shape->tests);
  kernel->own (shape, doubled, &own, scratch);
  int64_t *gain = lines (output, 8 * sizeof *gain);
  gain[0] = kernel->best (shape, &own);
  kernel->sizes (shape, &own, gain);
  if (!dense && world->planes == 1)
    kernel->own_supported (shape, doubled, weights, &own, 3, scratch);
  int64_t *low = lines (output, 2 * (size_t) shape->stride * sizeof *low);
  kernel->similar (shape, weights, own.count, 5, world->weight, 2, 40, 50, low, low + shape->stride);
  const int32_t first = world->rows / 3;
  empty (&all);
  fill (kernel, world, first, dense, &part);
  int64_t total = 0, weight = 0;
  for (int32_t r = first; r < world->rows; r++) {
    total += world->sign[r];
    weight += world->sign[r] < 0 ? -world->sign[r] : world->sign[r];
  }
  struct side counted = side_of (output, line, total, weight);
  struct side rest = side_of (output, line, world->total - total, world->weight - weight);
  for (int32_t i = 0; i < times; i++) {
    kernel->sums (&part, shape, counted.sum, counted.count);
    kernel->both (&part, shape, doubled, &counted, &rest, scratch);
  }
  if (!dense && world->planes == 1) {
    struct side again = counted, other = rest;
    again.yes = lines (output, line), again.no = lines (output, line);
    other.yes = lines (output, line), other.no = lines (output, line);
    kernel->both_supported (&part, shape, doubled, weights, &again, &other, 2, scratch);
    trim_side (&again, shape, kernel->lane_bits);
    trim_side (&other, shape, kernel->lane_bits);
  }
  struct side *const sides[3] = {&own, &counted, &rest};
  for (int i = 0; i < 3; i++)
    trim_side (sides[i], shape, kernel->lane_bits);
  trim (doubled, shape->padded, shape, kernel->lane_bits);
  trim (weights, shape->padded, shape, kernel->lane_bits);
  static int32_t ids[most_rows];
  for (int32_t r = 0; r < most_rows; r++)
    ids[r] = r;
  int32_t *to = lines (output, (most_rows + 16) * sizeof *to);
  const int32_t rows = dense ? part.dense_rows : 0, kept = kernel->select (&part, shape, 0, rows, 0, 1, ids, to);
  memset (to + kept, 0, (size_t) (most_rows + 16 - kept) * sizeof *to);
  empty (&part);
  release (scratch);
}

static int compare_pairs (enum simd set, int bits) {
  enum { cases = 40, bytes = 24 << 20 };
  struct output expected = {0, room (bytes)}, found = {0, room (bytes)};
  struct world *world = room (sizeof *world);
  int wrong = 0;
  for (int i = 0; i < cases && !wrong; i++) {
    const int dense = bits > 16 && i % 3 == 2;
    const int32_t planes = dense ? 20 : 1 + i % 3 * (i % 2), tests = 1 + (int32_t) (draw () % 150);
    make (world, tests, 3 + (int32_t) (draw () % (i % 4 ? 400 : most_rows - 3)), planes, ((int64_t) 1 << planes) - 1);
    memset (expected.all, 0, bytes);
    memset (found.all, 0, bytes);
    solve (pair_portable (bits), world, dense, 1, &expected);
    solve (simd_pair_kernel (set, bits), world, dense, 1, &found);
    wrong = expected.bytes != found.bytes || memcmp (expected.all, found.all, expected.bytes);
    if (wrong)
      fprintf (stderr, "set %d, %d bits, case %d differs\n", (int) set, bits, i);
  }
  release (expected.all);
  release (found.all);
  release (world);
  return wrong;
}

static int compare_counts (const struct counts *one, const struct counts *two) {
  enum { sets = 50, words = 9 };
  uint64_t members[sets * words], test[words];
  int32_t first[sets], second[sets];
  for (int i = 0; i < sets * words; i++)
    members[i] = draw ();
  for (int i = 0; i < words; i++)
    test[i] = draw ();
  for (int32_t length = 1; length <= words; length++) {
    one->intersections (members, test, sets, length, first);
    two->intersections (members, test, sets, length, second);
    if (memcmp (first, second, sizeof first))
      return 1;
  }
  return 0;
}

static int compare_all (void) {
  int wrong = compare_counts (counts_portable (), simd_counts ());
  for (int set = simd_portable; set <= simd_neon; set++) {
    if (simd_select (set, simd_neon) != (enum simd) set)
      continue;
    printf ("%s\n", simd_pair_kernel ((enum simd) set, 32)->name);
    for (int bits = 16; bits <= 64; bits *= 2)
      wrong |= compare_pairs ((enum simd) set, bits);
  }
  return wrong;
}

int main (int count, char **arguments) {
  if (count != 4)
    return compare_all ();
  const enum simd set = simd_select (atoi (arguments[1]), simd_avx512);
  if (set == simd_none)
    return 2;
  struct output output = {0, room (24 << 20)};
  struct world *world = room (sizeof *world);
  make (world, 128, 2000, 1, 1);
  solve (simd_pair_kernel (set, atoi (arguments[2])), world, 0, atoi (arguments[3]), &output);
  release (output.all);
  release (world);
  return 0;
}
