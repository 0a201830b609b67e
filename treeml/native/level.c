/* The sub-problem of one depth: its room, its rows, the order of its tests. */
#include "order.h"
#include "search_parts.h"

#include <string.h>

static int64_t groups_of (const struct worker *worker, const int32_t *start) {
  int64_t groups = 0;
  for (int32_t list = 0; list < worker->rows->lists; list++)
    groups += (start[list + 1] - start[list] + worker->kernel->lane_bits - 1) / worker->kernel->lane_bits;
  return groups;
}

int slice_allocate (struct worker *worker, struct slice *slice) {
  const size_t lanes = (size_t) (groups_of (worker, worker->rows->start) + worker->rows->lists) *
                       (size_t) worker->rows->shape.stride;
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

void level_release (struct worker *worker, struct level *level) {
  struct arena *arena = &worker->solver->arena;
  if (!level)
    return;
  worker->model->level_release (worker, level);
  arena_release (arena, level->ids);
  arena_release (arena, level->root_value);
  arena_release (arena, level->low_yes);
  arena_release (arena, level->low_no);
  arena_release (arena, level->bound);
  arena_release (arena, level->order);
  arena_release (arena, level);
}

struct level *level_make (struct worker *worker, int spare) {
  struct arena *arena = &worker->solver->arena;
  struct level *level = arena_allocate (arena, 1, sizeof *level);
  if (!level)
    return NULL;
  level->spare = spare;
  const size_t tests = (size_t) worker->rows->shape.stride + 64;
  level->ids = arena_allocate (arena, (size_t) worker->rows->entries + 16, sizeof *level->ids);
  level->root_value = arena_allocate (arena, tests, sizeof *level->root_value);
  level->low_yes = arena_allocate (arena, tests, sizeof *level->low_yes);
  level->low_no = arena_allocate (arena, tests, sizeof *level->low_no);
  level->bound = arena_allocate (arena, tests, sizeof *level->bound);
  level->order = arena_allocate (arena, tests, sizeof *level->order);
  if (worker->model->level_make (worker, level) && level->ids && level->root_value && level->low_yes && level->low_no &&
      level->bound && level->order)
    return level;
  level_release (worker, level);
  return NULL;
}

/* Levels are made when first entered: a tree without depth limit rarely needs them all. */
struct level *level_at (struct worker *worker, int32_t depth) {
  if (!worker->levels[depth]) {
    worker->levels[depth] = level_make (worker, 0);
    if (!worker->levels[depth])
      solver_stop (worker->solver, TREEML_MEMORY);
  }
  return worker->levels[depth];
}

void load_root (struct worker *worker, struct level *level) {
  const struct rows *rows = worker->rows;
  memcpy (level->ids, rows->ids, (size_t) rows->entries * sizeof *level->ids);
  memcpy (level->start, rows->start, sizeof level->start);
  level->hash[0] = level->hash[1] = 0;
  for (int64_t i = 0; i < rows->entries; i++) {
    level->hash[0] += rows->code[2 * rows->ids[i]];
    level->hash[1] += rows->code[2 * rows->ids[i] + 1];
  }
  level->paired = 0;
  worker->model->measure (worker, level);
}

void side_rows (const struct worker *worker, const struct level *parent, int32_t test, int yes, int32_t *ids,
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

void load_child (struct worker *worker, const struct level *parent, struct level *child, int32_t test, int yes) {
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

void order_tests (struct worker *worker, struct level *level, int at_root) {
  const int32_t tests = worker->rows->shape.tests;
  const int64_t how = worker->solver->options.order;
  double *score = (double *) (void *) level->bound; /* not in use yet */
  const struct level *root = worker->levels[worker->shared->depth];
  for (int32_t i = 0; i < tests; i++)
    level->order[i] = i;
  if (how == 0)
    return;
  if (!at_root && !worker->solver->options.order_everywhere && root && root != level) {
    memcpy (level->order, root->order, (size_t) tests * sizeof *level->order);
    return;
  }
  for (int32_t i = 0; i < tests; i++)
    score[i] = how == 1   ? (double) level->root_value[i]
               : how == 2 ? worker->model->information (worker, level, i)
                          : -worker->model->information (worker, level, i);
  sort_order (level->order, score, tests);
}
