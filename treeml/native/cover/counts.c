/* Sums over states, which price them. They run over the rows of one state at a time with the tests side by side, so
   that they vectorize. Also what all files of the cover use: threads and checks of the input. */
#include "cover/shared.h"

#include "common/bits.h"
#include "common/platform.h"

#include <string.h>

/* A loop over states on several threads. */

typedef struct {
  cover_range function;
  void *task;
  int64_t begin, end;
  int code;
} range_job;

static void *run_range (void *argument) {
  range_job *job = argument;
  job->code = job->function (job->task, job->begin, job->end);
  return NULL;
}

int cover_over_ranges (cover_range function, void *task, int64_t size, int threads) {
  enum { MOST = 64 };
  if (threads > MOST)
    threads = MOST;
  if (threads < 2 || size < 2 * threads)
    return function (task, 0, size);
  range_job jobs[MOST];
  thread_handle ids[MOST];
  int started[MOST];
  for (int i = 0; i < threads; i++) {
    jobs[i] = (range_job) {function, task, size * i / threads, size * (i + 1) / threads, 0};
    started[i] = i > 0 && thread_start (&ids[i], run_range, &jobs[i]) == 0;
  }
  for (int i = 0; i < threads; i++)
    if (!started[i])
      run_range (&jobs[i]);
  int code = TREEML_COVER_OK;
  for (int i = 0; i < threads; i++) {
    if (started[i])
      thread_join (&ids[i]);
    if (jobs[i].code)
      code = jobs[i].code;
  }
  return code;
}

/* Checks of the input. */

int cover_sets_fit (int32_t rows, int64_t sets, int32_t stride, const uint64_t *keys) {
  const int words = cover_words (rows);
  if (stride < words)
    return 0;
  const uint64_t beyond = rows % 64 ? ~(uint64_t) 0 << (rows % 64) : 0;
  for (int64_t set = 0; set < sets; set++)
    if (keys[set * stride + words - 1] & beyond)
      return 0;
  return 1;
}

int cover_sums_fit (int32_t rows, int32_t width, const int64_t *values) {
  for (int v = 0; v < width; v++) {
    uint64_t sum = 0;
    for (int64_t row = 0; row < rows; row++) {
      const int64_t value = values[row * width + v];
      const uint64_t size = value < 0 ? -(uint64_t) value : (uint64_t) value;
      if (size >> 62 || (sum += size) >> 62)
        return 0;
    }
  }
  return 1;
}

/* Sums over states. */

int treeml_cover_sums (int32_t rows, int64_t sets, int32_t stride, const uint64_t *keys, int32_t width,
                       const int64_t *values, int64_t *out) {
  if (rows <= 0 || sets < 0 || !keys || !values || !out || width <= 0)
    return TREEML_COVER_INPUT;
  if (!cover_sets_fit (rows, sets, stride, keys))
    return TREEML_COVER_INPUT;
  if (!cover_sums_fit (rows, width, values))
    return TREEML_COVER_OVERFLOW;
  const int words = cover_words (rows);
  memset (out, 0, (size_t) sets * (size_t) width * sizeof *out);
  for (int64_t set = 0; set < sets; set++)
    for (int w = 0; w < words; w++)
      for (uint64_t rest = keys[set * stride + w]; rest; rest &= rest - 1) {
        const int64_t *row = values + (int64_t) (64 * w + lowest_bit (rest)) * width;
        for (int v = 0; v < width; v++)
          out[set * width + v] += row[v];
      }
  return TREEML_COVER_OK;
}

typedef struct {
  int32_t rows, tests, stride, width;
  const uint64_t *keys;
  const int64_t *values, *masks;
  int64_t *out;
  const struct counts *counts;
} split_task;

static int split_range (void *argument, int64_t begin, int64_t end) {
  const split_task *task = argument;
  const int words = cover_words (task->rows), tests = task->tests, width = task->width;
  int64_t *sums = memory_reserve (times ((size_t) width, (size_t) tests), sizeof *sums);
  if (!sums)
    return TREEML_COVER_MEMORY;
  for (int64_t set = begin; set < end; set++) {
    memset (sums, 0, (size_t) width * (size_t) tests * sizeof *sums);
    for (int w = 0; w < words; w++)
      for (uint64_t rest = task->keys[set * task->stride + w]; rest; rest &= rest - 1) {
        const int64_t row = 64 * w + lowest_bit (rest);
        for (int v = 0; v < width; v++) {
          int64_t value = task->values[row * width + v];
          if (value)
            task->counts->add_masked (sums + (int64_t) v * tests, task->masks + row * tests, value, tests);
        }
      }
    int64_t *out = task->out + set * tests * width;
    for (int j = 0; j < tests; j++)
      for (int v = 0; v < width; v++)
        out[(int64_t) j * width + v] = sums[(int64_t) v * tests + j];
  }
  memory_release (sums);
  return TREEML_COVER_OK;
}

int treeml_cover_split_sums (int32_t rows, int32_t tests, const uint64_t *bits, int64_t sets, int32_t stride,
                             const uint64_t *keys, int32_t width, const int64_t *values, int64_t *out,
                             int32_t threads) {
  if (rows <= 0 || tests <= 0 || sets < 0 || !bits || !keys || !values || !out || width <= 0)
    return TREEML_COVER_INPUT;
  if (!cover_sets_fit (rows, sets, stride, keys))
    return TREEML_COVER_INPUT;
  if (!cover_sums_fit (rows, width, values))
    return TREEML_COVER_OVERFLOW;
  int64_t *masks = memory_reserve (times ((size_t) rows, (size_t) tests), sizeof *masks);
  if (!masks)
    return TREEML_COVER_MEMORY;
  const int words = cover_words (rows);
  for (int row = 0; row < rows; row++)
    for (int j = 0; j < tests; j++)
      masks[(int64_t) row * tests + j] = -(int64_t) (bits[(int64_t) j * words + row / 64] >> (row % 64) & 1);
  split_task task = {rows, tests, stride, width, keys, values, masks, out, simd_counts ()};
  int code = cover_over_ranges (split_range, &task, sets, threads);
  memory_release (masks);
  return code;
}
