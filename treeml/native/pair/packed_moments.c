/* Passes over packed rows, and the lines that they share. */
#include "pair/packed_moments.h"

#include "pair/search_parts.h"

#include <math.h>
#include <string.h>

enum { most_kept = 1 << 20, fewest_rows = 64 }; /* numbers kept at most; rows of a side for which keeping pays */

static int32_t channels_of (const struct rows *rows) { return rows->joined ? 1 : 2; }

/* Lines are kept from the vector of the test of the pass on, since those left of it are mirrored. */
static int32_t first_lane (int32_t test) { return test / 16 * 16; }

static int64_t lanes_of (const struct shape *shape, int32_t test) {
  return (shape->tests + 15) / 16 * 16 - first_lane (test);
}

int packed_make (struct worker *worker) {
  struct arena *arena = &worker->solver->arena;
  struct kept_lines *kept = &worker->kept;
  const size_t tests = (size_t) worker->rows->shape.tests + 1;
  kept->known = arena_allocate (arena, tests, sizeof *kept->known);
  kept->list = arena_allocate (arena, tests, sizeof *kept->list);
  kept->begin = arena_allocate (arena, tests, sizeof *kept->begin);
  int fits = kept->known && kept->list && kept->begin;
  for (int side = 0; side < 2; side++) {
    kept->root[side] = arena_allocate (arena, tests, sizeof *kept->root[side]);
    kept->value[side] = arena_allocate (arena, tests, sizeof *kept->value[side]);
    fits = fits && kept->root[side] && kept->value[side];
  }
  return fits;
}

void packed_release (struct worker *worker) {
  struct arena *arena = &worker->solver->arena;
  arena_release (arena, worker->kept.known);
  arena_release (arena, worker->kept.list);
  arena_release (arena, worker->kept.begin);
  arena_release (arena, worker->kept.lanes);
  for (int side = 0; side < 2; side++) {
    arena_release (arena, worker->kept.root[side]);
    arena_release (arena, worker->kept.value[side]);
  }
}

void packed_open (struct worker *worker, const struct subproblem *problem) {
  struct kept_lines *kept = &worker->kept;
  for (int32_t i = 0; i < kept->count; i++)
    kept->known[kept->list[i]] = 0;
  kept->count = 0;
  kept->used = 0;
  for (int side = 0; side < 2; side++)
    for (int32_t test = 0; test < worker->rows->shape.tests; test++)
      kept->root[side][test] = is_unknown;
  kept->owner = problem;
  memcpy (kept->hash, problem->hash, sizeof kept->hash);
}

static int is_open (const struct worker *worker, const struct subproblem *problem) {
  const struct kept_lines *kept = &worker->kept;
  return kept->owner == problem && kept->hash[0] == problem->hash[0] && kept->hash[1] == problem->hash[1];
}

static int64_t channel_size (const struct rows *rows) { return (int64_t) rows->shape.padded * rows->shape.stride; }

static int32_t *kept_line (const struct worker *worker, int32_t done, int32_t test, int32_t channel) {
  const struct shape *shape = &worker->rows->shape;
  const int64_t line = (int64_t) channel * shape->tests + test;
  return worker->kept.lanes + worker->kept.begin[done] + line * lanes_of (shape, done);
}

/* Fills the lines of the tests whose passes are done in the sums of one side of a test. */
static void recall_lines (const struct worker *worker, const struct subproblem *problem, int32_t test, int is_yes,
                          struct cell_sums *sums) {
  const struct kept_lines *kept = &worker->kept;
  const struct shape *shape = &worker->rows->shape;
  for (int32_t i = 0; i < kept->count; i++)
    for (int32_t channel = 0; channel < channels_of (worker->rows); channel++) {
      const int32_t done = kept->list[i];
      const int64_t at = channel * channel_size (worker->rows) + (int64_t) done * shape->stride + first_lane (done);
      worker->cells->copy_lanes (sums->whole + at, kept_line (worker, done, test, channel),
                                 is_yes ? NULL : problem->sums.whole + at, lanes_of (shape, done));
    }
}

/* Half of the memory that is left, which fits in the type. */
static int64_t half_of_memory (const struct worker *worker) {
  const struct arena *arena = &worker->solver->arena;
  const size_t used = atomic_load (&arena->used);
  return used < arena->limit ? (int64_t) ((arena->limit - used) / 2) : 0;
}

/* Keeps the lines of the tests to come: sums over the rows that pass a test and two others. Without memory for them,
   they are added again. */
static void keep_lines (struct worker *worker, const struct subproblem *problem, int32_t test, int is_yes,
                        const struct cell_sums *sums) {
  struct kept_lines *kept = &worker->kept;
  const struct shape *shape = &worker->rows->shape;
  const int32_t channels = channels_of (worker->rows);
  const int64_t size = (int64_t) channels * shape->tests * lanes_of (shape, test);
  if (!kept->room) {
    const int64_t all = (int64_t) channels * shape->tests * shape->tests * shape->stride;
    kept->room = smaller (smaller (all, most_kept), half_of_memory (worker) / 4 / (int64_t) sizeof *kept->lanes);
    kept->lanes = arena_reserve (&worker->solver->arena, (size_t) kept->room, sizeof *kept->lanes);
    kept->room = kept->lanes ? kept->room : -1;
  }
  if (kept->used + size > kept->room)
    return;
  kept->begin[test] = kept->used;
  kept->used += size;
  kept->list[kept->count++] = test;
  kept->known[test] = 1;
  for (int32_t channel = 0; channel < channels; channel++)
    for (int32_t next = 0; next < shape->tests; next++) {
      const int64_t at = channel * channel_size (worker->rows) + (int64_t) next * shape->stride + first_lane (test);
      if (!kept->known[next])
        worker->cells->copy_lanes (kept_line (worker, test, next, channel), sums->whole + at,
                                   is_yes ? NULL : problem->sums.whole + at, lanes_of (shape, test));
    }
}

/* Adds rows to all lines, except known ones. */
static int add_rows_to_lines (struct worker *worker, const int32_t *ids, int32_t count, int worths,
                              const uint8_t *known, struct cell_sums *sums) {
  enum { piece = 64 };
  const struct rows *rows = worker->rows;
  const int64_t stride = rows->shape.stride, wide = 8000000 / stride, lines = wide < 16 ? 16 : wide;
  struct packed_rows here = {rows->row_bits, rows->row_bytes, ids, 0, rows->packed, rows->shift, rows->joined, known};
  if (worths) {
    here.packed = rows->packed_worth;
    here.shift = 0;
    here.joined = 1;
  }
  const int64_t channels = here.joined ? 1 : 2;
  for (int32_t i = 0; i < channels * rows->shape.padded; i++)
    if (!known || i % rows->shape.padded >= rows->shape.tests || !known[i % rows->shape.padded])
      memset (sums->whole + i * stride, 0, (size_t) stride * sizeof *sums->whole);
  sums->whole_total[0] = sums->whole_total[1] = 0;
  for (int32_t i = 0; i < count; i++) {
    sums->whole_total[0] += here.packed[ids[i]] & ((1 << here.shift) - 1);
    sums->whole_total[1] += here.packed[ids[i]] >> here.shift;
  }
  for (int32_t first = 0; first < count; first += piece) {
    here.ids = ids + first;
    here.count = count - first < piece ? count - first : piece;
    for (int64_t from = 0; from < rows->shape.tests; from += lines) {
      const int64_t to = smaller (from + lines, rows->shape.tests);
      worker->cells->add_packed (&rows->shape, &here, sums, worker->workspace, (int32_t) from, (int32_t) to);
      worker->work += (to - from) * stride * (here.count + 16) / 64;
      if (poll_search (worker))
        return 0;
    }
  }
  worker->cells->mirror_packed (&rows->shape, &here, sums);
  worker->work += rows->shape.padded * stride;
  return !poll_search (worker);
}

int add_packed_rows (struct worker *worker, const int32_t *ids, int32_t count, int worths, struct cell_sums *sums) {
  return add_rows_to_lines (worker, ids, count, worths, NULL, sums);
}

/* The best depth-two value of a side, and its root. Single precision finds the few root tests that may be the best one,
   and only these are computed in full. */
static int64_t best_packed (struct worker *worker, const struct cell_sums *all, const struct cell_sums *without,
                            double squares, int32_t *root) {
  const struct cell_answer *answer = &worker->answer;
  const struct shape *shape = &worker->rows->shape;
  const struct cell_question question = {.shift = worker->rows->shift, .joined = worker->rows->joined};
  const double price = price_in_squares (worker);
  double total[4] = {0, 0, 1, 0}, *value = worker->scratch, lowest = INFINITY;
  for (int channel = 0; channel < 2; channel++)
    total[channel] = (double) (all->whole_total[channel] - (without ? without->whole_total[channel] : 0));
  int64_t best = value_of_gain (worker, squares, leaf_gain (worker, total), 1);
  *root = is_leaf;
  if (!ask_moments (worker, all, without, 1))
    return UNREACHABLE;
  for (int32_t test = 0; test < shape->tests; test++) {
    int64_t leaves = 0;
    double gain = 0;
    for (int side = 0; side < 2; side++)
      gain += side_gain (price, answer->float_leaf[side][test], answer->float_best[side][test], &leaves);
    value[test] = (squares - gain) * worker->solver->unit + (double) (leaves * worker->shared->price);
    lowest = value[test] < lowest ? value[test] : lowest;
  }
  const double limit = lowest + 0x1p-18 * squares * worker->solver->unit + 4;
  for (int32_t test = 0; test < shape->tests; test++)
    if (value[test] <= limit) {
      double leaf[2], most[2];
      worker->cells->one_root (shape, &question, all, without, test, leaf, most);
      const int64_t here = value_of_sides (worker, leaf, most, squares);
      *root = here < best ? test : *root;
      best = smaller (best, here);
    }
  return best;
}

enum passed pass_packed (struct worker *worker, struct subproblem *problem, int32_t test, int small_is_yes,
                         int64_t *yes, int64_t *no) {
  const int32_t count = worker->small_start[1];
  const int keeps = count >= fewest_rows && is_open (worker, problem);
  struct cell_sums *sums = &worker->small_sums;
  if (keeps)
    recall_lines (worker, problem, test, small_is_yes, sums);
  if (!add_rows_to_lines (worker, worker->small_ids, count, 0, keeps ? worker->kept.known : NULL, sums))
    return pass_stopped;
  const double squares = squares_of (worker, worker->small_ids, count);
  int64_t value[2];
  int32_t root[2];
  value[small_is_yes] = best_packed (worker, sums, NULL, squares, &root[small_is_yes]);
  value[!small_is_yes] = best_packed (worker, &problem->sums, sums, problem->squares - squares, &root[!small_is_yes]);
  if (solver_stopping (worker->solver))
    return pass_stopped;
  for (int side = 0; side < 2 && is_open (worker, problem); side++) {
    worker->kept.root[side][test] = root[side];
    worker->kept.value[side][test] = value[side];
  }
  *yes = value[1];
  *no = value[0];
  if (keeps)
    keep_lines (worker, problem, test, small_is_yes, sums);
  return pass_exact;
}

int packed_side (const struct worker *worker, const struct subproblem *problem, int32_t test, int yes,
                 struct fact *fact) {
  if (!worker->rows->packed || !is_open (worker, problem) || worker->kept.root[yes][test] == is_unknown)
    return 0;
  const int64_t value = worker->kept.value[yes][test];
  *fact = (struct fact) {value, value, worker->kept.root[yes][test], two_stumps};
  return 1;
}

int packed_stump (struct worker *worker, struct subproblem *problem, struct fact *fact) {
  enum { piece = 64 };
  const struct rows *rows = worker->rows;
  if (!rows->packed)
    return 0;
  struct packed_rows here = {rows->row_bits, rows->row_bytes, NULL, 0, rows->packed, rows->shift, rows->joined, NULL};
  const int64_t stride = rows->shape.stride;
  int32_t *sums = worker->small_sums.whole_test;
  memset (sums, 0, 2 * (size_t) stride * sizeof *sums);
  for (int32_t first = 0; first < problem->start[1]; first += piece) {
    here.ids = problem->ids + first;
    here.count = problem->start[1] - first < piece ? problem->start[1] - first : piece;
    worker->cells->sum_packed (&rows->shape, &here, sums);
  }
  const double *total = problem->sums.real_total;
  for (int32_t test = 0; test < rows->shape.tests; test++) {
    const double yes[3] = {sums[test], sums[stride + test], 1}, no[3] = {total[0] - yes[0], total[1] - yes[1], 1};
    if (yes[0] < 0.5 || no[0] < 0.5)
      continue;
    const double gain = leaf_gain (worker, yes) + leaf_gain (worker, no);
    const int64_t value = value_of_gain (worker, problem->squares, gain, 2);
    if (value < fact->upper)
      *fact = (struct fact) {fact->lower, value, test, both_leaves};
  }
  fact->lower = fact->upper;
  return 1;
}
