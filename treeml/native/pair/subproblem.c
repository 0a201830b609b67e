/* The sub-problem of one depth: its memory, its rows, and the order of its tests. */
#include "common/sort_by_score.h"
#include "pair/search_parts.h"

#include <string.h>

static int64_t groups_of (const struct worker *worker, const int32_t *start) {
  int64_t groups = 0;
  for (int32_t list = 0; list < worker->rows->lists; list++)
    groups += (start[list + 1] - start[list] + worker->kernel->lane_bits - 1) / worker->kernel->lane_bits;
  return groups;
}

int slice_allocate (struct worker *worker, struct slice *slice) {
  const size_t lanes =
      (size_t) (groups_of (worker, worker->rows->start) + worker->rows->lists) * (size_t) worker->rows->shape.stride;
  slice->words = arena_allocate (&worker->solver->arena, lanes + 64, (size_t) worker->kernel->lane_bits / 8);
  if (worker->kernel->lane_bits == 16)
    slice->twice = arena_allocate (&worker->solver->arena, lanes + 64, sizeof *slice->twice);
  slice->planes = worker->rows->planes;
  slice->filled = -1;
  slice->products = worker->products.multiply ? &worker->products : NULL;
  if (worker->rows->dense) {
    struct arena *arena = &worker->solver->arena;
    const size_t stride = (size_t) worker->rows->shape.stride, width = (size_t) worker->kernel->lane_bits / 8;
    const size_t most = dense_bytes / width > 64 * stride ? dense_bytes / width : 64 * stride;
    const size_t all = ((size_t) worker->rows->rows + 63) / 64 * 64 * stride, chunk = most < all ? most : all;
    slice->dense = arena_allocate (arena, chunk + 64, width);
    slice->passing = arena_allocate (arena, dense_bytes / 4 / stride + 192, sizeof *slice->passing);
    slice->chunk = arena_allocate (arena, 2 * stride, width);
    if (!slice->dense || !slice->passing || !slice->chunk)
      return 0;
  }
  return slice->words && (worker->kernel->lane_bits != 16 || slice->twice);
}

void slice_release (struct worker *worker, struct slice *slice) {
  arena_release (&worker->solver->arena, slice->words);
  arena_release (&worker->solver->arena, slice->twice);
  arena_release (&worker->solver->arena, slice->dense);
  arena_release (&worker->solver->arena, slice->passing);
  arena_release (&worker->solver->arena, slice->chunk);
}

void subproblem_release (struct worker *worker, struct subproblem *problem) {
  struct arena *arena = &worker->solver->arena;
  if (!problem)
    return;
  worker->model->subproblem_release (worker, problem);
  arena_release (arena, problem->ids);
  arena_release (arena, problem->root_value);
  arena_release (arena, problem->low_yes);
  arena_release (arena, problem->low_no);
  arena_release (arena, problem->bound);
  arena_release (arena, problem->order);
  arena_release (arena, problem);
}

struct subproblem *subproblem_make (struct worker *worker, int spare) {
  struct arena *arena = &worker->solver->arena;
  struct subproblem *problem = arena_allocate (arena, 1, sizeof *problem);
  if (!problem)
    return NULL;
  problem->spare = spare;
  const size_t tests = (size_t) worker->rows->shape.stride + 64;
  problem->ids = arena_allocate (arena, (size_t) worker->rows->entries + 16, sizeof *problem->ids);
  problem->root_value = arena_allocate (arena, tests, sizeof *problem->root_value);
  problem->low_yes = arena_allocate (arena, tests, sizeof *problem->low_yes);
  problem->low_no = arena_allocate (arena, tests, sizeof *problem->low_no);
  problem->bound = arena_allocate (arena, tests, sizeof *problem->bound);
  problem->order = arena_allocate (arena, tests, sizeof *problem->order);
  if (worker->model->subproblem_make (worker, problem) && problem->ids && problem->root_value && problem->low_yes &&
      problem->low_no && problem->bound && problem->order)
    return problem;
  subproblem_release (worker, problem);
  return NULL;
}

/* Levels are allocated when first entered: a tree without depth limit rarely needs them all. */
struct subproblem *subproblem_at (struct worker *worker, int32_t depth) {
  if (!worker->problems[depth]) {
    worker->problems[depth] = subproblem_make (worker, 0);
    if (!worker->problems[depth])
      solver_stop (worker->solver, TREEML_MEMORY);
  }
  return worker->problems[depth];
}

void load_root (struct worker *worker, struct subproblem *problem) {
  const struct rows *rows = worker->rows;
  memcpy (problem->ids, rows->ids, (size_t) rows->entries * sizeof *problem->ids);
  memcpy (problem->start, rows->start, sizeof problem->start);
  problem->hash[0] = problem->hash[1] = 0;
  for (int64_t i = 0; i < rows->entries; i++) {
    problem->hash[0] += rows->code[2 * rows->ids[i]];
    problem->hash[1] += rows->code[2 * rows->ids[i] + 1];
  }
  problem->paired = 0;
  worker->model->measure (worker, problem);
}

void side_rows (const struct worker *worker, const struct subproblem *parent, int32_t test, int yes, int32_t *ids,
                int32_t *start) {
  const struct rows *rows = worker->rows;
  const uint8_t *bits = rows->row_bits + test / 8;
  const int shift = test & 7;
  int32_t at = 0;
  for (int32_t list = 0; list < rows->lists; list++) {
    start[list] = at;
    for (int32_t i = parent->start[list]; i < parent->start[list + 1]; i++) {
      const int32_t id = parent->ids[i];
      ids[at] = id;
      at += (bits[id * rows->row_bytes] >> shift & 1) == yes;
    }
  }
  start[rows->lists] = at;
}

void load_child (struct worker *worker, const struct subproblem *parent, struct subproblem *child, int32_t test,
                 int yes) {
  const struct rows *rows = worker->rows;
  side_rows (worker, parent, test, yes, child->ids, child->start);
  uint64_t first = 0, second = 0;
  for (int32_t i = 0; i < child->start[rows->lists]; i++) {
    first += rows->code[2 * child->ids[i]];
    second += rows->code[2 * child->ids[i] + 1];
  }
  child->hash[0] = first;
  child->hash[1] = second;
  child->paired = 0;
  worker->model->measure (worker, child);
}

void halve (struct worker *worker, const struct subproblem *problem, int32_t test, struct halves *halves) {
  const uint64_t *code = worker->rows->code;
  const int small = !worker->solver->options.small_side || !worker->model->larger_side (worker, problem, test);
  worker->model->side_rows (worker, problem, test, small, worker->small_ids, worker->small_start);
  uint64_t first = 0, second = 0;
  for (int32_t i = 0; i < worker->small_start[worker->rows->lists]; i++) {
    first += code[2 * worker->small_ids[i]];
    second += code[2 * worker->small_ids[i] + 1];
  }
  *halves = (struct halves) {small, {{first, second}, {first, second}}};
  halves->hash[!small][0] = problem->hash[0] - first;
  halves->hash[!small][1] = problem->hash[1] - second;
}

/* The same as `load_child` for an opened problem whose sides have been hashed already. */
void load_half (struct worker *worker, const struct subproblem *parent, struct subproblem *child, int32_t test, int yes,
                const struct halves *halves) {
  worker->model->side_rows (worker, parent, test, yes, child->ids, child->start);
  memcpy (child->hash, halves->hash[yes], sizeof child->hash);
  child->paired = 0;
  worker->model->measure (worker, child);
}

void order_tests (struct worker *worker, struct subproblem *problem, int at_root) {
  const int32_t tests = worker->rows->shape.tests;
  const int64_t how = worker->solver->options.order;
  double *score = worker->scratch;
  const struct subproblem *root = worker->problems[worker->shared->depth];
  for (int32_t i = 0; i < tests; i++)
    problem->order[i] = i;
  if (how == 0)
    return;
  if (!at_root && !worker->solver->options.order_everywhere && root && root != problem) {
    memcpy (problem->order, root->order, (size_t) tests * sizeof *problem->order);
    return;
  }
  for (int32_t i = 0; i < tests; i++)
    score[i] = how == 1   ? (double) problem->root_value[i]
               : how == 2 ? worker->model->information (worker, problem, i)
                          : -worker->model->information (worker, problem, i);
  sort_by_score (problem->order, score, tests);
}
