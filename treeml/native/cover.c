/* Level by level, every state is split by every test, and equal states are found by hashing their bits. The counting
 * that prices states runs over the rows of one state at a time with the tests side by side, so that it vectorizes.
 * Pair counts of depth-2 subtrees are popcounts over bit planes of the costs, squeezed to the rows of the state. */
#if !defined(_WIN32)
#define _POSIX_C_SOURCE 200809L
#endif
#include "cover.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif

struct treeml_cover {
  int words, stride, levels;
  int64_t states, state_room, arcs, arc_room, bytes, max_bytes;
  int64_t *level_start;
  uint64_t *keys;
  int32_t *arc[4];
};

static double now(void) {
  struct timespec moment;
  clock_gettime(CLOCK_MONOTONIC, &moment);
  return (double)moment.tv_sec + 1e-9 * (double)moment.tv_nsec;
}

static int words_of(int rows) { return rows <= 0 ? 1 : (rows + 63) / 64; }

static uint64_t hash_key(const uint64_t *key, int words) {
  uint64_t hash = 0x9e3779b97f4a7c15u;
  for (int i = 0; i < words; i++) {
    hash ^= key[i];
    hash *= 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash ^ (hash >> 29);
}

/* -- a growing table of states and arcs ---------------------------------------- */

static int grow(treeml_cover *cover, void **block, int64_t *room, int64_t need, size_t size) {
  if (need <= *room) return 1;
  int64_t wanted = *room ? *room * 2 : 1024;
  while (wanted < need) wanted *= 2;
  int64_t extra = (wanted - *room) * (int64_t)size;
  if (cover->max_bytes && cover->bytes + extra > cover->max_bytes) return 0;
  void *moved = realloc(*block, (size_t)wanted * size);
  if (!moved) return 0;
  cover->bytes += extra;
  *block = moved;
  *room = wanted;
  return 1;
}

static int add_arc(treeml_cover *cover, int32_t parent, int32_t test, int32_t yes, int32_t no) {
  const int32_t values[4] = {parent, test, yes, no};
  if (cover->arcs + 1 > cover->arc_room) {
    int64_t room = 0;
    for (int i = 0; i < 4; i++) {
      room = cover->arc_room;
      void *block = cover->arc[i];
      if (!grow(cover, &block, &room, cover->arcs + 1, sizeof(int32_t))) return 0;
      cover->arc[i] = block;
    }
    cover->arc_room = room;
  }
  for (int i = 0; i < 4; i++) cover->arc[i][cover->arcs] = values[i];
  cover->arcs++;
  return 1;
}

typedef struct {
  int32_t *slot; /* state + 1, or 0 */
  uint64_t mask;
  int64_t used;
} index_table;

static int index_rebuild(const treeml_cover *cover, index_table *index, int64_t first, uint64_t room) {
  int32_t *fresh = calloc(room, sizeof *fresh);
  if (!fresh) return 0;
  free(index->slot);
  index->slot = fresh;
  index->mask = room - 1;
  for (int64_t state = first; state < cover->states; state++) {
    uint64_t place = hash_key(cover->keys + state * cover->stride, cover->stride) & index->mask;
    while (fresh[place]) place = (place + 1) & index->mask;
    fresh[place] = (int32_t)(state + 1);
  }
  return 1;
}

/* The number of the state with this key among those from `first` on, made if there is none; -1 if there is no room. */
static int32_t find_state(treeml_cover *cover, index_table *index, int64_t first, const uint64_t *key) {
  const size_t size = (size_t)cover->stride * sizeof(uint64_t);
  uint64_t place = hash_key(key, cover->stride) & index->mask;
  while (index->slot[place]) {
    int64_t state = index->slot[place] - 1;
    if (!memcmp(cover->keys + state * cover->stride, key, size)) return (int32_t)state;
    place = (place + 1) & index->mask;
  }
  if (cover->states >= INT32_MAX - 1) return -1;
  void *block = cover->keys;
  int64_t room = cover->state_room;
  if (!grow(cover, &block, &room, cover->states + 1, size)) return -1;
  cover->keys = block;
  cover->state_room = room;
  memcpy(cover->keys + cover->states * cover->stride, key, size);
  index->slot[place] = (int32_t)(cover->states + 1);
  cover->states++;
  index->used++;
  if ((uint64_t)index->used * 2 > index->mask)
    if (!index_rebuild(cover, index, first, (index->mask + 1) * 2)) return -1;
  return (int32_t)(cover->states - 1);
}

/* -- enumeration ----------------------------------------------------------------- */

static int64_t counted(const uint64_t *set, int words, const int64_t *count) {
  int64_t total = 0;
  for (int w = 0; w < words; w++)
    for (uint64_t rest = set[w]; rest; rest &= rest - 1) total += count[64 * w + __builtin_ctzll(rest)];
  return total;
}

static int64_t popcount(const uint64_t *set, int words) {
  int64_t total = 0;
  for (int w = 0; w < words; w++) total += __builtin_popcountll(set[w]);
  return total;
}

/* Can no tree on these rows cost less than the best leaf? */
static int is_settled(const uint64_t *set, int words, int classes, const int64_t *cost, const int64_t *least,
                      int64_t *sums) {
  memset(sums, 0, (size_t)classes * sizeof *sums);
  int64_t floor_sum = 0;
  for (int w = 0; w < words; w++)
    for (uint64_t rest = set[w]; rest; rest &= rest - 1) {
      int row = 64 * w + __builtin_ctzll(rest);
      floor_sum += least[row];
      for (int c = 0; c < classes; c++) sums[c] += cost[(int64_t)row * classes + c];
    }
  for (int c = 0; c < classes; c++)
    if (sums[c] == floor_sum) return 1;
  return 0;
}

typedef struct {
  int32_t low, high, group, test;
} pair_entry;

static int enumerate_level(const treeml_cover_input *input, treeml_cover *cover, int level, int units, double deadline,
                           const int64_t *least, uint64_t *scratch, int64_t *sums, pair_entry *pairs,
                           uint32_t pair_mask) {
  const int words = cover->words, stride = cover->stride, tags = input->tag_words;
  const int64_t begin = cover->level_start[level], end = cover->level_start[level + 1];
  uint64_t *self = scratch, *yes = scratch + stride, *no = yes + stride;
  index_table index = {NULL, 0, 0};
  int code = index_rebuild(cover, &index, end, 4096) ? TREEML_COVER_OK : TREEML_COVER_MEMORY;
  for (int64_t state = begin; state < end && code == TREEML_COVER_OK; state++) {
    if (deadline >= 0 && (state & 63) == 0 && now() > deadline) code = TREEML_COVER_TIME;
    memcpy(self, cover->keys + state * stride, (size_t)stride * sizeof *self);
    if (least && is_settled(self, words, input->classes, input->cost, least, sums)) continue;
    const int64_t total = units ? popcount(self, words) : counted(self, words, input->count);
    memset(pairs, 0xff, (size_t)(pair_mask + 1) * sizeof *pairs);
    for (int32_t test = 0; test < input->tests && code == TREEML_COVER_OK; test++) {
      const uint64_t *bits = input->bits + (int64_t)test * words;
      uint64_t any_yes = 0, any_no = 0;
      for (int w = 0; w < words; w++) {
        yes[w] = self[w] & bits[w];
        no[w] = self[w] & ~bits[w];
        any_yes |= yes[w];
        any_no |= no[w];
      }
      if (!any_yes || !any_no) continue;
      if (input->support > 1) {
        int64_t part = units ? popcount(yes, words) : counted(yes, words, input->count);
        if (part < input->support || total - part < input->support) continue;
      }
      for (int t = 0; t < tags; t++) {
        yes[words + t] = self[words + t] | input->tag_yes[(int64_t)test * tags + t];
        no[words + t] = self[words + t] | input->tag_no[(int64_t)test * tags + t];
      }
      int32_t a = find_state(cover, &index, end, yes);
      int32_t b = a < 0 ? -1 : find_state(cover, &index, end, no);
      if (b < 0) {
        code = TREEML_COVER_MEMORY;
        break;
      }
      pair_entry entry = {a < b ? a : b, a < b ? b : a, input->group[test], test};
      uint32_t place = ((uint32_t)entry.low * 2654435761u ^ (uint32_t)entry.high * 40503u ^ (uint32_t)entry.group) & pair_mask;
      int known = 0;
      while (pairs[place].test >= 0) {
        if (pairs[place].low == entry.low && pairs[place].high == entry.high && pairs[place].group == entry.group) {
          known = 1;
          break;
        }
        place = (place + 1) & pair_mask;
      }
      if (known) continue;
      pairs[place] = entry;
      if (!add_arc(cover, (int32_t)state, test, a, b)) code = TREEML_COVER_MEMORY;
    }
  }
  free(index.slot);
  return code;
}

int treeml_cover_enumerate(const treeml_cover_input *input, treeml_cover **result) {
  if (!result) return TREEML_COVER_INPUT;
  *result = NULL;
  if (!input || input->rows <= 0 || input->tests < 0 || input->levels <= 0 || input->tag_words < 0 || !input->count)
    return TREEML_COVER_INPUT;
  if (input->tests > 0 && (!input->bits || !input->group)) return TREEML_COVER_INPUT;
  if (input->tag_words > 0 && input->tests > 0 && (!input->tag_yes || !input->tag_no)) return TREEML_COVER_INPUT;
  const double deadline = input->seconds < 0 ? -1.0 : now() + input->seconds;
  const int words = words_of(input->rows), stride = words + input->tag_words;
  uint32_t pair_room = 64;
  while (pair_room < 2u * (uint32_t)input->tests) pair_room *= 2;
  treeml_cover *cover = calloc(1, sizeof *cover);
  uint64_t *scratch = calloc((size_t)stride * 3, sizeof *scratch);
  int64_t *sums = calloc((size_t)(input->classes > 0 ? input->classes : 1), sizeof *sums);
  int64_t *least = input->cost ? malloc((size_t)input->rows * sizeof *least) : NULL;
  pair_entry *pairs = malloc((size_t)pair_room * sizeof *pairs);
  int code = TREEML_COVER_OK;
  if (!cover || !scratch || !sums || !pairs || (input->cost && !least)) code = TREEML_COVER_MEMORY;
  if (code == TREEML_COVER_OK) {
    cover->words = words;
    cover->stride = stride;
    cover->levels = input->levels;
    cover->max_bytes = input->max_bytes;
    cover->level_start = calloc((size_t)input->levels + 1, sizeof(int64_t));
    if (!cover->level_start) code = TREEML_COVER_MEMORY;
  }
  int units = 1;
  if (code == TREEML_COVER_OK) {
    for (int row = 0; row < input->rows; row++) {
      units &= input->count[row] == 1;
      if (!least) continue;
      least[row] = INT64_MAX;
      for (int c = 0; c < input->classes; c++) {
        int64_t value = input->cost[(int64_t)row * input->classes + c];
        if (value < least[row]) least[row] = value;
      }
    }
    for (int row = 0; row < input->rows; row++) scratch[row / 64] |= (uint64_t)1 << (row % 64);
    void *block = NULL;
    if (grow(cover, &block, &cover->state_room, 1, (size_t)stride * sizeof(uint64_t))) {
      cover->keys = block;
      memcpy(cover->keys, scratch, (size_t)stride * sizeof(uint64_t));
      cover->states = 1;
      cover->level_start[1] = 1;
    } else {
      code = TREEML_COVER_MEMORY;
    }
  }
  for (int level = 0; code == TREEML_COVER_OK && level + 1 < input->levels; level++) {
    code = enumerate_level(input, cover, level, units, deadline, least, scratch, sums, pairs, pair_room - 1);
    cover->level_start[level + 2] = cover->states;
  }
  free(scratch);
  free(sums);
  free(least);
  free(pairs);
  if (code == TREEML_COVER_OK)
    *result = cover;
  else
    treeml_cover_free(cover);
  return code;
}

void treeml_cover_free(treeml_cover *cover) {
  if (!cover) return;
  for (int i = 0; i < 4; i++) free(cover->arc[i]);
  free(cover->keys);
  free(cover->level_start);
  free(cover);
}

int64_t treeml_cover_states(const treeml_cover *cover) { return cover->states; }
int64_t treeml_cover_arcs(const treeml_cover *cover) { return cover->arcs; }
const int64_t *treeml_cover_level_start(const treeml_cover *cover) { return cover->level_start; }
const uint64_t *treeml_cover_keys(const treeml_cover *cover) { return cover->keys; }
const int32_t *treeml_cover_arc_array(const treeml_cover *cover, int which) {
  return which < 0 || which > 3 ? NULL : cover->arc[which];
}

/* -- a loop over states on several threads ------------------------------------------ */

typedef int (*range_function)(void *task, int64_t begin, int64_t end);

typedef struct {
  range_function function;
  void *task;
  int64_t begin, end;
  int code;
} range_job;

static void *run_range(void *argument) {
  range_job *job = argument;
  job->code = job->function(job->task, job->begin, job->end);
  return NULL;
}

static int over_ranges(range_function function, void *task, int64_t size, int threads) {
  enum { MOST = 64 };
  if (threads > MOST) threads = MOST;
  if (threads < 2 || size < 2 * threads) return function(task, 0, size);
  range_job jobs[MOST];
  pthread_t ids[MOST];
  int started[MOST];
  for (int i = 0; i < threads; i++) {
    jobs[i] = (range_job){function, task, size * i / threads, size * (i + 1) / threads, 0};
    started[i] = i > 0 && pthread_create(&ids[i], NULL, run_range, &jobs[i]) == 0;
  }
  for (int i = 0; i < threads; i++)
    if (!started[i]) run_range(&jobs[i]);
  int code = TREEML_COVER_OK;
  for (int i = 0; i < threads; i++) {
    if (started[i]) pthread_join(ids[i], NULL);
    if (jobs[i].code) code = jobs[i].code;
  }
  return code;
}

/* -- sums over states ------------------------------------------------------------------ */

int treeml_cover_sums(int32_t rows, int64_t sets, int32_t stride, const uint64_t *keys, int32_t width,
                      const int64_t *values, int64_t *out) {
  if (rows <= 0 || sets < 0 || !keys || !values || !out || width <= 0) return TREEML_COVER_INPUT;
  const int words = words_of(rows);
  memset(out, 0, (size_t)sets * (size_t)width * sizeof *out);
  for (int64_t set = 0; set < sets; set++)
    for (int w = 0; w < words; w++)
      for (uint64_t rest = keys[set * stride + w]; rest; rest &= rest - 1) {
        const int64_t *row = values + (int64_t)(64 * w + __builtin_ctzll(rest)) * width;
        for (int v = 0; v < width; v++) out[set * width + v] += row[v];
      }
  return TREEML_COVER_OK;
}

typedef struct {
  int32_t rows, tests, stride, width;
  const uint64_t *keys;
  const int64_t *values, *masks;
  int64_t *out;
} split_task;

CLONES static void add_masked(int64_t *sum, const int64_t *mask, int64_t value, int tests) {
  for (int j = 0; j < tests; j++) sum[j] += mask[j] & value;
}

static int split_range(void *argument, int64_t begin, int64_t end) {
  const split_task *task = argument;
  const int words = words_of(task->rows), tests = task->tests, width = task->width;
  int64_t *sums = malloc((size_t)width * (size_t)tests * sizeof *sums);
  if (!sums) return TREEML_COVER_MEMORY;
  for (int64_t set = begin; set < end; set++) {
    memset(sums, 0, (size_t)width * (size_t)tests * sizeof *sums);
    for (int w = 0; w < words; w++)
      for (uint64_t rest = task->keys[set * task->stride + w]; rest; rest &= rest - 1) {
        const int64_t row = 64 * w + __builtin_ctzll(rest);
        for (int v = 0; v < width; v++) {
          int64_t value = task->values[row * width + v];
          if (value) add_masked(sums + (int64_t)v * tests, task->masks + row * tests, value, tests);
        }
      }
    int64_t *out = task->out + set * tests * width;
    for (int j = 0; j < tests; j++)
      for (int v = 0; v < width; v++) out[(int64_t)j * width + v] = sums[(int64_t)v * tests + j];
  }
  free(sums);
  return TREEML_COVER_OK;
}

int treeml_cover_split_sums(int32_t rows, int32_t tests, const uint64_t *bits, int64_t sets, int32_t stride,
                            const uint64_t *keys, int32_t width, const int64_t *values, int64_t *out,
                            int32_t threads) {
  if (rows <= 0 || tests <= 0 || sets < 0 || !bits || !keys || !values || !out || width <= 0) return TREEML_COVER_INPUT;
  int64_t *masks = malloc((size_t)rows * (size_t)tests * sizeof *masks);
  if (!masks) return TREEML_COVER_MEMORY;
  const int words = words_of(rows);
  for (int row = 0; row < rows; row++)
    for (int j = 0; j < tests; j++)
      masks[(int64_t)row * tests + j] = -(int64_t)(bits[(int64_t)j * words + row / 64] >> (row % 64) & 1);
  split_task task = {rows, tests, stride, width, keys, values, masks, out};
  int code = over_ranges(split_range, &task, sets, threads);
  free(masks);
  return code;
}

/* -- depth-2 subtrees ------------------------------------------------------------------- */

typedef struct {
  int32_t rows, tests, stride, classes, planes, kinds;
  const uint64_t *keys;
  const int64_t *cost, *count;
  const uint64_t *row_tests;  /* rows x words(tests): which tests a row answers yes to */
  const uint64_t *plane_rows; /* planes x words(rows) */
  const int32_t *plane_kind;  /* which class, or `classes` for the count */
  const int32_t *plane_shift;
  int64_t support, price;
  double deadline;
  int64_t *best;
  int32_t *best_tests;
} pair_task;

CLONES static void pair_counts(const uint64_t *columns, int words, int tests, int shift, int64_t *sums) {
  for (int f = 0; f < tests; f++) {
    const uint64_t *one = columns + (int64_t)f * words;
    int64_t *out = sums + (int64_t)f * tests;
    if (words == 1) {
      uint64_t only = one[0];
      for (int g = f; g < tests; g++) out[g] += (int64_t)__builtin_popcountll(only & columns[g]) << shift;
    } else {
      for (int g = f; g < tests; g++) {
        const uint64_t *two = columns + (int64_t)g * words;
        int64_t total = 0;
        for (int w = 0; w < words; w++) total += __builtin_popcountll(one[w] & two[w]);
        out[g] += total << shift;
      }
    }
  }
}

static const int64_t NEVER = INT64_MAX / 8;

static inline int64_t least_of(const int64_t *values, int classes) {
  int64_t least = values[0];
  for (int c = 1; c < classes; c++)
    if (values[c] < least) least = values[c];
  return least;
}

/* Everything about one state from its pair sums D[kind][f][g] (g >= f), whose diagonal holds the single sums. */
static void best_pair(const pair_task *task, const int64_t *sums, const int64_t *totals, int64_t *one, int64_t *zero,
                      int32_t *one_test, int32_t *zero_test, int64_t *best, int32_t *tests_out) {
  const int tests = task->tests, classes = task->classes, counts = task->kinds > classes;
  const int64_t square = (int64_t)tests * tests, price = task->price, support = task->support;
  int64_t yy[64], yn[64], ny[64], nn[64];
  for (int f = 0; f < tests; f++) {
    for (int c = 0; c < classes; c++) {
      yy[c] = sums[c * square + (int64_t)f * tests + f];
      nn[c] = totals[c] - yy[c];
    }
    one[f] = least_of(yy, classes) + price;
    zero[f] = least_of(nn, classes) + price;
    if (counts) {
      int64_t part = sums[classes * square + (int64_t)f * tests + f];
      if (part < support) one[f] = NEVER;
      if (totals[classes] - part < support) zero[f] = NEVER;
    }
    one_test[f] = zero_test[f] = -1;
  }
  for (int f = 0; f < tests; f++) {
    const int64_t *row = sums + (int64_t)f * tests;
    for (int g = f + 1; g < tests; g++) {
      for (int c = 0; c < classes; c++) {
        int64_t both = row[c * square + g];
        int64_t only_f = row[c * square + f], only_g = sums[c * square + (int64_t)g * tests + g];
        yy[c] = both;
        yn[c] = only_f - both;
        ny[c] = only_g - both;
        nn[c] = totals[c] - only_f - only_g + both;
      }
      int64_t a = least_of(yy, classes), b = least_of(yn, classes), c = least_of(ny, classes),
              d = least_of(nn, classes);
      if (counts) {
        int64_t both = row[classes * square + g], only_f = row[classes * square + f];
        int64_t only_g = sums[classes * square + (int64_t)g * tests + g];
        if (both < support) a = NEVER;
        if (only_f - both < support) b = NEVER;
        if (only_g - both < support) c = NEVER;
        if (totals[classes] - only_f - only_g + both < support) d = NEVER;
      }
      if (a + b + 2 * price < one[f]) one[f] = a + b + 2 * price, one_test[f] = g;
      if (c + d + 2 * price < zero[f]) zero[f] = c + d + 2 * price, zero_test[f] = g;
      if (a + c + 2 * price < one[g]) one[g] = a + c + 2 * price, one_test[g] = f;
      if (b + d + 2 * price < zero[g]) zero[g] = b + d + 2 * price, zero_test[g] = f;
    }
  }
  *best = least_of(totals, classes) + price;
  tests_out[0] = tests_out[1] = tests_out[2] = -1;
  for (int f = 0; f < tests; f++)
    if (one[f] + zero[f] < *best) {
      *best = one[f] + zero[f];
      tests_out[0] = f;
      tests_out[1] = one_test[f];
      tests_out[2] = zero_test[f];
    }
}

static int pair_range(void *argument, int64_t begin, int64_t end) {
  const pair_task *task = argument;
  const int words = words_of(task->rows), tests = task->tests, test_words = words_of(task->tests);
  const int64_t square = (int64_t)tests * tests;
  int64_t *sums = malloc((size_t)task->kinds * (size_t)(square ? square : 1) * sizeof *sums);
  int64_t *sides = malloc(2 * (size_t)(tests + 1) * sizeof *sides);
  int32_t *side_tests = malloc(2 * (size_t)(tests + 1) * sizeof *side_tests);
  uint64_t *columns = malloc((size_t)(tests + 1) * (size_t)words * sizeof *columns);
  int code = sums && sides && side_tests && columns ? TREEML_COVER_OK : TREEML_COVER_MEMORY;
  int64_t totals[65];
  for (int64_t set = begin; set < end && code == TREEML_COVER_OK; set++) {
    if (task->deadline >= 0 && (set & 31) == 0 && now() > task->deadline) {
      code = TREEML_COVER_TIME;
      break;
    }
    const uint64_t *key = task->keys + set * task->stride;
    memset(sums, 0, (size_t)task->kinds * (size_t)square * sizeof *sums);
    memset(totals, 0, sizeof totals);
    for (int p = 0; p < task->planes; p++) {
      const uint64_t *plane = task->plane_rows + (int64_t)p * words;
      int64_t size = 0;
      for (int w = 0; w < words; w++) size += __builtin_popcountll(key[w] & plane[w]);
      if (!size) continue;
      totals[task->plane_kind[p]] += size << task->plane_shift[p];
      const int narrow = (int)((size + 63) / 64);
      memset(columns, 0, (size_t)tests * (size_t)narrow * sizeof *columns);
      int64_t place = 0;
      for (int w = 0; w < words; w++)
        for (uint64_t rest = key[w] & plane[w]; rest; rest &= rest - 1, place++) {
          const uint64_t *row = task->row_tests + (int64_t)(64 * w + __builtin_ctzll(rest)) * test_words;
          const uint64_t bit = (uint64_t)1 << (place % 64);
          for (int v = 0; v < test_words; v++)
            for (uint64_t left = row[v]; left; left &= left - 1)
              columns[(int64_t)(64 * v + __builtin_ctzll(left)) * narrow + place / 64] |= bit;
        }
      pair_counts(columns, narrow, tests, task->plane_shift[p], sums + task->plane_kind[p] * square);
    }
    best_pair(task, sums, totals, sides, sides + tests, side_tests, side_tests + tests, task->best + set,
              task->best_tests + 3 * set);
  }
  free(sums);
  free(sides);
  free(side_tests);
  free(columns);
  return code;
}

static int bits_needed(int64_t value) {
  int bits = 0;
  while (value > 0) bits++, value >>= 1;
  return bits;
}

int treeml_cover_pairs(int32_t rows, int32_t tests, const uint64_t *bits, int64_t sets, int32_t stride,
                       const uint64_t *keys, int32_t classes, const int64_t *cost, const int64_t *count,
                       int64_t support, int64_t price, double seconds, int32_t threads, int64_t *best,
                       int32_t *best_tests) {
  if (rows <= 0 || tests < 0 || sets < 0 || !keys || !cost || !count || !best || !best_tests) return TREEML_COVER_INPUT;
  if (classes <= 0 || classes > 64 || (tests > 0 && !bits)) return TREEML_COVER_INPUT;
  const int words = words_of(rows), test_words = words_of(tests), kinds = classes + (support > 1);
  const double deadline = seconds < 0 ? -1.0 : now() + seconds;
  int planes = 0;
  for (int kind = 0; kind < kinds; kind++) {
    int64_t largest = 0;
    for (int row = 0; row < rows; row++) {
      int64_t value = kind < classes ? cost[(int64_t)row * classes + kind] : count[row];
      if (value < 0) return TREEML_COVER_INPUT;
      if (value > largest) largest = value;
    }
    planes += bits_needed(largest);
  }
  uint64_t *plane_rows = calloc((size_t)(planes + 1) * (size_t)words, sizeof *plane_rows);
  uint64_t *row_tests = calloc((size_t)rows * (size_t)test_words, sizeof *row_tests);
  int32_t *plane_kind = calloc(2 * (size_t)(planes + 1), sizeof *plane_kind);
  int code = plane_rows && row_tests && plane_kind ? TREEML_COVER_OK : TREEML_COVER_MEMORY;
  if (code == TREEML_COVER_OK) {
    int32_t *plane_shift = plane_kind + planes + 1;
    int plane = 0;
    for (int kind = 0; kind < kinds; kind++) {
      int64_t all = 0;
      for (int row = 0; row < rows; row++) all |= kind < classes ? cost[(int64_t)row * classes + kind] : count[row];
      for (int shift = 0; shift < bits_needed(all); shift++, plane++) {
        plane_kind[plane] = kind;
        plane_shift[plane] = shift;
        for (int row = 0; row < rows; row++) {
          int64_t value = kind < classes ? cost[(int64_t)row * classes + kind] : count[row];
          if (value >> shift & 1) plane_rows[(int64_t)plane * words + row / 64] |= (uint64_t)1 << (row % 64);
        }
      }
    }
    for (int j = 0; j < tests; j++)
      for (int row = 0; row < rows; row++)
        if (bits[(int64_t)j * words + row / 64] >> (row % 64) & 1)
          row_tests[(int64_t)row * test_words + j / 64] |= (uint64_t)1 << (j % 64);
    pair_task task = {rows,       tests,     stride,     classes,     plane,   kinds, keys,     cost, count,
                      row_tests, plane_rows, plane_kind, plane_shift, support, price, deadline, best, best_tests};
    code = over_ranges(pair_range, &task, sets, threads);
  }
  free(plane_rows);
  free(row_tests);
  free(plane_kind);
  return code;
}

/* -- losses to the best constant ------------------------------------------------------------ */

typedef struct {
  int64_t target;
  int32_t row;
} ranked_row;

static int by_target(const void *left, const void *right) {
  const ranked_row *a = left, *b = right;
  if (a->target != b->target) return a->target < b->target ? -1 : 1;
  return a->row < b->row ? -1 : a->row > b->row;
}

/* The rows come in the order of their targets, so the best constant is where the weight below it reaches its share. */
static int64_t pinball(const int32_t *rows, int64_t size, const int64_t *target, const int64_t *weight, int64_t above,
                       int64_t below) {
  int64_t total = 0, reached = 0, value = 0, loss = 0;
  for (int64_t i = 0; i < size; i++) total += weight[rows[i]];
  if (total == 0) return 0;
  for (int64_t i = 0; i < size; i++) {
    reached += weight[rows[i]];
    value = target[rows[i]];
    if ((above + below) * reached >= above * total) break;
  }
  for (int64_t i = 0; i < size; i++) {
    int64_t distance = target[rows[i]] - value;
    loss += weight[rows[i]] * (distance > 0 ? above * distance : -below * distance);
  }
  return loss;
}

int treeml_cover_quantiles(int32_t rows, int32_t tests, const uint64_t *bits, int64_t sets, int32_t stride,
                           const uint64_t *keys, const int64_t *target, const int64_t *weight, int64_t above,
                           int64_t below, int64_t *out) {
  if (rows <= 0 || tests < 0 || sets < 0 || !keys || !target || !weight || !out || (tests > 0 && !bits))
    return TREEML_COVER_INPUT;
  const int words = words_of(rows);
  ranked_row *order = malloc((size_t)rows * sizeof *order);
  int32_t *lists = malloc(3 * (size_t)rows * sizeof *lists);
  if (!order || !lists) {
    free(order);
    free(lists);
    return TREEML_COVER_MEMORY;
  }
  for (int row = 0; row < rows; row++) order[row] = (ranked_row){target[row], row};
  qsort(order, (size_t)rows, sizeof *order, by_target);
  int32_t *all = lists, *yes = lists + rows, *no = yes + rows;
  for (int64_t set = 0; set < sets; set++) {
    const uint64_t *key = keys + set * stride;
    int64_t size = 0;
    for (int i = 0; i < rows; i++)
      if (key[order[i].row / 64] >> (order[i].row % 64) & 1) all[size++] = order[i].row;
    int64_t *place = out + set * (tests + 1) * 2;
    for (int j = 0; j < tests; j++) {
      const uint64_t *column = bits + (int64_t)j * words;
      int64_t first = 0, second = 0;
      for (int64_t i = 0; i < size; i++) {
        if (column[all[i] / 64] >> (all[i] % 64) & 1)
          yes[first++] = all[i];
        else
          no[second++] = all[i];
      }
      place[2 * j] = pinball(yes, first, target, weight, above, below);
      place[2 * j + 1] = pinball(no, second, target, weight, above, below);
    }
    place[2 * tests] = pinball(all, size, target, weight, above, below);
    place[2 * tests + 1] = 0;
  }
  free(order);
  free(lists);
  return TREEML_COVER_OK;
}
