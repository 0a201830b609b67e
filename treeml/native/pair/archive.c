/* The sub-problems solved last. Their optimum bounds the optimum of other sub-problems with nearly the same rows
   (Demirovic et al. 2022). */
#include "pair/search_parts.h"

#include "common/bits.h"

#include <string.h>

struct archive_entry {
  int32_t depth;
  int64_t lower;
  uint64_t *rows;
};

int archive_make (struct worker *worker) {
  struct arena *arena = &worker->solver->arena;
  const size_t words = (size_t) (worker->rows->rows + 63) / 64 + 1, size = (size_t) worker->solver->options.archive;
  if (!size)
    return 1;
  worker->archive = arena_allocate (arena, size, sizeof *worker->archive);
  worker->present = arena_allocate (arena, words, sizeof *worker->present);
  if (!worker->archive || !worker->present)
    return 0;
  for (; worker->archive_size < (int32_t) size; worker->archive_size++) {
    struct archive_entry *entry = &worker->archive[worker->archive_size];
    entry->rows = arena_allocate (arena, words, sizeof *entry->rows);
    if (!entry->rows)
      return 0;
  }
  return 1;
}

void archive_release (struct worker *worker) {
  struct arena *arena = &worker->solver->arena;
  for (int32_t i = 0; i < worker->archive_size; i++)
    arena_release (arena, worker->archive[i].rows);
  arena_release (arena, worker->archive);
  arena_release (arena, worker->present);
}

/* A lower bound for the rows of this problem, from solved sub-problems with nearly the same rows. */
int64_t archive_bound (struct worker *worker, const struct subproblem *problem, int32_t depth) {
  const struct rows *rows = worker->rows;
  int64_t best = 0;
  const int64_t words = (rows->rows + 63) / 64;
  memset (worker->present, 0, (size_t) words * sizeof *worker->present);
  for (int32_t i = 0; i < problem->start[rows->lists]; i++)
    worker->present[problem->ids[i] >> 6] |= (uint64_t) 1 << (problem->ids[i] & 63);
  for (int32_t e = 0; e < worker->archive_size; e++) {
    const struct archive_entry *entry = &worker->archive[e];
    if (entry->depth < depth || entry->lower <= best)
      continue;
    int64_t lost = 0;
    for (int64_t w = 0; w < words && entry->lower - rows->scale * lost > best; w++)
      for (uint64_t gone = entry->rows[w] & ~worker->present[w]; gone; gone &= gone - 1)
        lost += rows->worth[64 * w + lowest_bit (gone)];
    if (entry->lower - rows->scale * lost > best)
      best = entry->lower - rows->scale * lost;
  }
  return best;
}

void archive_add (struct worker *worker, const struct subproblem *problem, int32_t depth, int64_t lower) {
  struct archive_entry *entry = &worker->archive[worker->archive_next];
  worker->archive_next = (worker->archive_next + 1) % worker->archive_size;
  entry->depth = depth;
  entry->lower = lower;
  memset (entry->rows, 0, (size_t) ((worker->rows->rows + 63) / 64) * sizeof *entry->rows);
  for (int32_t i = 0; i < problem->start[worker->rows->lists]; i++)
    entry->rows[problem->ids[i] >> 6] |= (uint64_t) 1 << (problem->ids[i] & 63);
}
