/* States: made from the input, found again by hashing, and split by tests. */
#include "sets/states.h"

#include "common/bits.h"

#include <stdlib.h>
#include <string.h>

enum { deepest = 1000 /* the search calls itself once for every level */ };

static int words_of (int64_t bits) { return bits > 0 ? (int) ((bits + 63) / 64) : 1; }

/* The sums of the rows of the yes side of every test, in one pass over the rows: a row is added to the innermost cut of
   every chain, and the others follow by adding up. */
void sets_split_sums (treeml_sets *sets, int32_t state, int64_t *sums) {
  const int width = sets->sums;
  const uint64_t *key = sets_key (sets, state);
  int64_t work = 0;
  memset (sums, 0, (size_t) sets->input.tests * (size_t) width * sizeof *sums);
  for (int w = 0; w < sets->words; w++)
    for (uint64_t rest = key[w]; rest; rest &= rest - 1) {
      const int64_t row = 64 * w + lowest_bit (rest);
      const int64_t *values = sets->row_sums + row * width;
      const int32_t *test = sets->row_tests + sets->row_start[row], *end = sets->row_tests + sets->row_start[row + 1];
      work += end - test;
      if (width == 3)
        for (; test < end; test++) {
          int64_t *to = sums + (int64_t) *test * 3;
          to[0] += values[0];
          to[1] += values[1];
          to[2] += values[2];
        }
      else
        for (; test < end; test++) {
          int64_t *to = sums + (int64_t) *test * width;
          for (int v = 0; v < width; v++)
            to[v] += values[v];
        }
    }
  for (int32_t test = 1; test < sets->input.tests; test++)
    if (sets->inner[test] >= 0) {
      int64_t *to = sums + (int64_t) test * width;
      const int64_t *from = sums + (int64_t) sets->inner[test] * width;
      for (int v = 0; v < width; v++)
        to[v] += from[v];
    }
  sets_go_on (sets, work + sets->input.tests);
}

/* The price of asking a test here: a column is paid once on a path, by every row. */
int64_t sets_test_cost (const treeml_sets *sets, int32_t state, int32_t test) {
  if (!sets->input.column_cost)
    return 0;
  const int32_t column = sets->input.column[test], tag = sets->tag[column];
  if (tag < 0 || (sets_key (sets, state)[sets->words + tag / 64] >> (tag & 63) & 1))
    return 0;
  return sets->states[state].count * sets->input.column_cost[column];
}

/* Writes the keys of the two sides of a split to `child`. */
int sets_sides (treeml_sets *sets, int32_t state, int32_t test) {
  const uint64_t *key = sets_key (sets, state), *bits = sets->input.bits + (int64_t) test * sets->words;
  uint64_t *yes = sets->child, *no = yes + sets->stride;
  for (int w = 0; w < sets->words; w++) {
    yes[w] = key[w] & bits[w];
    no[w] = key[w] & ~bits[w];
  }
  for (int w = sets->words; w < sets->stride; w++)
    yes[w] = no[w] = key[w];
  const int32_t tag = sets->tag ? sets->tag[sets->input.column[test]] : -1;
  if (tag >= 0) {
    yes[sets->words + tag / 64] |= (uint64_t) 1 << (tag & 63);
    no[sets->words + tag / 64] |= (uint64_t) 1 << (tag & 63);
  }
  return 1;
}

static uint64_t hash_key (const uint64_t *key, int words, int32_t depth) {
  uint64_t hash = 0x9e3779b97f4a7c15u + (uint64_t) (uint32_t) depth;
  for (int i = 0; i < words; i++) {
    hash ^= key[i];
    hash *= 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash ^ (hash >> 29);
}

static int rehash (treeml_sets *sets, uint64_t room) {
  int32_t *fresh = arena_allocate (sets->arena, room, sizeof *fresh);
  if (!fresh)
    return sets_fail (sets, TREEML_SETS_MEMORY);
  arena_release (sets->arena, sets->slots);
  sets->slots = fresh;
  sets->slot_mask = room - 1;
  for (int64_t state = 0; state < sets->used; state++) {
    uint64_t place = hash_key (sets_key (sets, (int32_t) state), sets->stride, sets->states[state].depth);
    for (place &= sets->slot_mask; fresh[place]; place = (place + 1) & sets->slot_mask)
      ;
    fresh[place] = (int32_t) (state + 1);
  }
  return 1;
}

/* A tree has at most one leaf per row, so no tree is deeper than that. */
static int32_t useful_depth (const treeml_sets *sets, const uint64_t *key, int32_t depth) {
  int64_t rows = -1;
  for (int w = 0; w < sets->words && rows < depth; w++)
    rows += count_bits (key[w]);
  return rows < depth ? (int32_t) rows : depth;
}

/* The state with this key, made if needed; -1 after a failure. `sums` are those of its rows. */
int32_t sets_intern (treeml_sets *sets, const uint64_t *key, int32_t depth, const int64_t *sums) {
  depth = useful_depth (sets, key, depth);
  uint64_t place = hash_key (key, sets->stride, depth) & sets->slot_mask;
  const size_t size = (size_t) sets->stride * sizeof *key;
  for (; sets->slots[place]; place = (place + 1) & sets->slot_mask) {
    const int32_t other = sets->slots[place] - 1;
    if (sets->states[other].depth == depth && !memcmp (sets_key (sets, other), key, size))
      return other;
  }
  if (sets->used >= INT32_MAX - 1)
    return sets_fail (sets, TREEML_SETS_MEMORY) - 1;
  void *states = sets->states, *keys = sets->keys;
  int ok = sets_grow (sets, &states, &sets->state_room, sets->used + 1, sizeof *sets->states);
  ok = ok && sets_grow (sets, &keys, &sets->key_room, sets->used + 1, size);
  sets->states = states;
  sets->keys = keys;
  if (!ok)
    return -1;
  const int32_t state = (int32_t) sets->used;
  struct state *made = &sets->states[state];
  memset (made, 0, sizeof *made);
  memcpy (sets->keys + (int64_t) state * sets->stride, key, size);
  const int64_t cost = sets_leaf (sets, key, sums, &made->label), price = sets->input.price;
  made->leaf = cost >= NO_TREE ? NO_TREE : cost + price;
  made->count = sums[0];
  made->depth = depth;
  made->budget = -1;
  made->bound = depth && made->leaf > 2 * price ? 2 * price : made->leaf;
  made->exact = made->bound == made->leaf;
  sets->slots[place] = state + 1;
  sets->used++;
  if ((uint64_t) sets->used * 2 > sets->slot_mask && !rehash (sets, (sets->slot_mask + 1) * 2))
    return -1;
  return sets->code == TREEML_SETS_OK ? state : -1;
}

/* Making and releasing. */

static void *copy (treeml_sets *sets, const void *from, size_t count, size_t size) {
  void *made = arena_reserve (sets->arena, count, size);
  if (!made)
    sets_fail (sets, TREEML_SETS_MEMORY);
  else if (count)
    memcpy (made, from, count * size);
  return made;
}

static void copy_input (treeml_sets *sets) {
  treeml_sets_input *in = &sets->input;
  const size_t rows = (size_t) in->rows, tests = (size_t) in->tests, width = (size_t) in->width;
  in->bits = copy (sets, in->bits, tests * (size_t) sets->words, sizeof *in->bits);
  in->column = copy (sets, in->column, tests, sizeof *in->column);
  in->group = copy (sets, in->group, tests, sizeof *in->group);
  in->count = copy (sets, in->count, rows, sizeof *in->count);
  if (in->cost)
    in->cost = copy (sets, in->cost, rows * width, sizeof *in->cost);
  if (in->weight)
    in->weight = copy (sets, in->weight, rows, sizeof *in->weight);
  if (in->column_cost)
    in->column_cost = copy (sets, in->column_cost, (size_t) in->columns, sizeof *in->column_cost);
  if (in->limit_cost)
    in->limit_cost = copy (sets, in->limit_cost, rows * width, sizeof *in->limit_cost);
  if (in->purity_weight)
    in->purity_weight = copy (sets, in->purity_weight, rows * width, sizeof *in->purity_weight);
  const size_t limited = (size_t) in->limited;
  if (limited) {
    in->limited_cost = copy (sets, in->limited_cost, limited * rows * width, sizeof *in->limited_cost);
    in->low = copy (sets, in->low, limited, sizeof *in->low);
    in->high = copy (sets, in->high, limited, sizeof *in->high);
    in->factor = copy (sets, in->factor, (size_t) in->guides * (1 + limited), sizeof *in->factor);
  }
}

/* Tags: one bit for every column that costs something. */
static int make_tags (treeml_sets *sets) {
  const treeml_sets_input *in = &sets->input;
  int32_t tags = 0;
  if (in->column_cost) {
    sets->tag = arena_reserve (sets->arena, (size_t) in->columns, sizeof *sets->tag);
    if (!sets->tag)
      return sets_fail (sets, TREEML_SETS_MEMORY);
    for (int32_t column = 0; column < in->columns; column++)
      sets->tag[column] = in->column_cost[column] ? tags++ : -1;
  }
  sets->stride = sets->words + (tags ? words_of (tags) : 0);
  return 1;
}

/* Whether neighbouring cuts bound each other: then trees with fewer rows never cost more, and with more rows never more
   than the largest costs of these rows. Conditions on leaves would not hold in such trees. */
static int can_step (const treeml_sets *sets) {
  const treeml_sets_input *in = &sets->input;
  if (in->model != TREEML_SETS_CLASSES || in->support > 1 || in->limit_cost || in->purity_weight || in->column_cost)
    return 0;
  for (int32_t test = 1; test < in->tests; test++)
    if (sets->is_chain[test] && sets->inner[test] == test - 1)
      return 1;
  return 0;
}

static int64_t largest_cost (const treeml_sets_input *in, int64_t row) {
  int64_t largest = 0;
  for (int c = 0; c < in->width; c++)
    if (in->cost[row * in->width + c] > largest)
      largest = in->cost[row * in->width + c];
  return largest;
}

static int make_row_sums (treeml_sets *sets) {
  const treeml_sets_input *in = &sets->input;
  const int width = in->width;
  sets->has_steps = can_step (sets);
  if (in->model == TREEML_SETS_CLASSES)
    sets->sums = 1 + width * (1 + !!in->limit_cost + !!in->purity_weight) + sets->has_steps;
  else
    sets->sums = in->model == TREEML_SETS_SQUARED ? 3 + width : 1;
  sets->row_sums = arena_allocate (sets->arena, (size_t) in->rows * (size_t) sets->sums, sizeof *sets->row_sums);
  if (!sets->row_sums)
    return sets_fail (sets, TREEML_SETS_MEMORY);
  for (int64_t row = 0; row < in->rows; row++) {
    int64_t *to = sets->row_sums + row * sets->sums;
    *to++ = in->count[row];
    if (in->model == TREEML_SETS_CLASSES) {
      const int64_t *parts[3] = {in->cost, in->limit_cost, in->purity_weight};
      for (int part = 0; part < 3; part++)
        for (int c = 0; parts[part] && c < width; c++)
          *to++ = parts[part][row * width + c];
      if (sets->has_steps)
        *to = largest_cost (in, row);
    } else if (in->model == TREEML_SETS_SQUARED) {
      to[0] = in->weight[row];
      for (int o = 0; o < width; o++) {
        const int64_t target = in->cost[row * width + o];
        to[1] += in->weight[row] * target * target;
        to[2 + o] = in->weight[row] * target;
      }
    }
  }
  return 1;
}

static int includes (const treeml_sets *sets, int32_t outer, int32_t inner) {
  const uint64_t *all = sets->input.bits + (int64_t) outer * sets->words;
  const uint64_t *some = sets->input.bits + (int64_t) inner * sets->words;
  for (int w = 0; w < sets->words; w++)
    if (some[w] & ~all[w])
      return 0;
  return 1;
}

/* Finds the chains. Cuts of a column follow each other; with missing values on either side, two chains alternate. */
static int make_chains (treeml_sets *sets) {
  const treeml_sets_input *in = &sets->input;
  sets->inner = arena_reserve (sets->arena, (size_t) in->tests, sizeof *sets->inner);
  sets->is_chain = arena_allocate (sets->arena, (size_t) in->tests, sizeof *sets->is_chain);
  if (!sets->inner || !sets->is_chain)
    return sets_fail (sets, TREEML_SETS_MEMORY);
  int32_t first = 0; /* of a run of tests of one group */
  int chained = 1;
  for (int32_t test = 0; test < in->tests; test++) {
    sets->inner[test] = test && includes (sets, test, test - 1)       ? test - 1
                        : test > 1 && includes (sets, test, test - 2) ? test - 2
                                                                      : -1;
    if (!test || in->group[test] != in->group[test - 1]) {
      first = test;
      chained = in->group[test] >= 0;
    } else if (sets->inner[test] != test - 1)
      chained = 0;
    if (test + 1 == in->tests || in->group[test + 1] != in->group[test])
      memset (sets->is_chain + first, chained, (size_t) (test + 1 - first));
  }
  return 1;
}

/* The rows that a test answers with yes, but not its inner test. */
static uint64_t own_rows (const treeml_sets *sets, int32_t test, int word) {
  const uint64_t *bits = sets->input.bits;
  const int32_t inner = sets->inner[test];
  const uint64_t others = inner < 0 ? 0 : bits[(int64_t) inner * sets->words + word];
  return bits[(int64_t) test * sets->words + word] & ~others;
}

static int make_row_tests (treeml_sets *sets) {
  const treeml_sets_input *in = &sets->input;
  sets->row_start = arena_allocate (sets->arena, (size_t) in->rows + 1, sizeof *sets->row_start);
  if (!sets->row_start)
    return sets_fail (sets, TREEML_SETS_MEMORY);
  int64_t *start = sets->row_start;
  for (int32_t test = 0; test < in->tests; test++)
    for (int w = 0; w < sets->words; w++)
      for (uint64_t rest = own_rows (sets, test, w); rest; rest &= rest - 1)
        start[64 * w + lowest_bit (rest) + 1]++;
  for (int32_t row = 0; row < in->rows; row++)
    start[row + 1] += start[row];
  sets->row_tests = arena_reserve (sets->arena, (size_t) start[in->rows], sizeof *sets->row_tests);
  if (!sets->row_tests)
    return sets_fail (sets, TREEML_SETS_MEMORY);
  for (int32_t test = 0; test < in->tests; test++)
    for (int w = 0; w < sets->words; w++)
      for (uint64_t rest = own_rows (sets, test, w); rest; rest &= rest - 1)
        sets->row_tests[start[64 * w + lowest_bit (rest)]++] = test;
  memmove (start + 1, start, (size_t) in->rows * sizeof *start);
  start[0] = 0;
  return 1;
}

struct target {
  int64_t value;
  int32_t row;
};

static int by_value (const void *a, const void *b) {
  const struct target *left = a, *right = b;
  return left->value != right->value ? (left->value < right->value ? -1 : 1)
                                     : (left->row > right->row) - (left->row < right->row);
}

static int sort_targets (treeml_sets *sets) {
  const treeml_sets_input *in = &sets->input;
  if (in->model != TREEML_SETS_QUANTILE)
    return 1;
  const size_t rows = (size_t) in->rows;
  struct target *targets = arena_reserve (sets->arena, rows, sizeof *targets);
  sets->by_target = arena_reserve (sets->arena, rows * (size_t) in->width, sizeof *sets->by_target);
  if (!targets || !sets->by_target) {
    arena_release (sets->arena, targets);
    return sets_fail (sets, TREEML_SETS_MEMORY);
  }
  for (int o = 0; o < in->width; o++) {
    for (int32_t row = 0; row < in->rows; row++)
      targets[row] = (struct target) {in->cost[(int64_t) row * in->width + o], row};
    qsort (targets, rows, sizeof *targets, by_value);
    for (size_t place = 0; place < rows; place++)
      sets->by_target[(size_t) o * rows + place] = targets[place].row;
  }
  arena_release (sets->arena, targets);
  return 1;
}

static int make_root (treeml_sets *sets) {
  const treeml_sets_input *in = &sets->input;
  int64_t *sums = arena_allocate (sets->arena, (size_t) sets->sums, sizeof *sums);
  sets->child = arena_allocate (sets->arena, 2 * (size_t) sets->stride, sizeof *sets->child);
  if (!sums || !sets->child || !rehash (sets, 1024)) {
    arena_release (sets->arena, sums);
    return sets_fail (sets, TREEML_SETS_MEMORY);
  }
  for (int32_t row = 0; row < in->rows; row++) {
    sets->child[row / 64] |= (uint64_t) 1 << (row & 63);
    for (int v = 0; v < sets->sums; v++)
      sums[v] += sets->row_sums[(int64_t) row * sets->sums + v];
  }
  const int32_t root = sets_intern (sets, sets->child, in->depth, sums);
  arena_release (sets->arena, sums);
  if (root < 0)
    return 0;
  const size_t depths = (size_t) sets->states[root].depth + 1;
  sets->levels = arena_allocate (sets->arena, depths, sizeof *sets->levels);
  sets->heads = arena_allocate (sets->arena, depths, sizeof *sets->heads);
  return sets->levels && sets->heads ? 1 : sets_fail (sets, TREEML_SETS_MEMORY);
}

/* Whether the costs of classes are not negative, and those of a tree are at most 2^60. */
static int fits (const treeml_sets_input *in) {
  int64_t most = 0;
  for (int64_t row = 0; row < in->rows; row++) {
    int64_t here = 0;
    for (int64_t c = 0; c < in->width; c++) {
      const int64_t cost = in->cost[row * in->width + c];
      if (cost < 0)
        return 0;
      here = cost > here ? cost : here;
    }
    if (here > (INT64_C (1) << 60) - most)
      return 0;
    most += here;
  }
  return 1;
}

static int is_valid (const treeml_sets_input *in) {
  if (!in || in->rows <= 0 || in->tests < 0 || in->columns < 0 || in->width <= 0 || in->depth < 0 || in->price < 0)
    return 0;
  if (in->depth > deepest || in->rows > INT32_MAX / 2 || in->tests > INT32_MAX / 8 || in->width > 1 << 20)
    return 0;
  if (!in->count || (in->tests && (!in->bits || !in->column || !in->group)) || in->grain < 0 || in->grain > 60)
    return 0;
  if (in->model < TREEML_SETS_CLASSES || in->model > TREEML_SETS_CUSTOM || in->leaves < 0 || in->leaves > INT32_MAX)
    return 0;
  if (in->limited < 0 || in->limited > 1 << 10 || in->guides < 0 || in->guides > 1 << 10)
    return 0;
  if (in->limited && (in->model != TREEML_SETS_CLASSES || in->width > most_labels || !in->limited_cost || !in->low ||
                      !in->high || (in->guides && !in->factor)))
    return 0;
  for (int32_t guide = 0; in->limited && guide < in->guides; guide++)
    if (in->factor[guide * (1 + in->limited)] < 0)
      return 0;
  if (in->model == TREEML_SETS_CUSTOM)
    return in->leaf != NULL;
  if (in->model == TREEML_SETS_QUANTILE && (in->above <= 0 || in->below <= 0))
    return 0;
  for (int32_t test = 0; test < in->tests; test++)
    if (in->column[test] < 0 || in->column[test] >= in->columns)
      return 0;
  return in->cost && (in->model == TREEML_SETS_CLASSES ? fits (in) : in->weight != NULL);
}

/* The sets themselves, without contents, in an arena of their own or in another one. */
static treeml_sets *make_empty (const treeml_sets_input *input, struct arena *shared) {
  struct arena arena = {0};
  arena.limit = input->max_bytes > 0 ? (size_t) input->max_bytes : SIZE_MAX / 2;
  atomic_init (&arena.until_failure, input->fail_allocation);
  treeml_sets *sets = arena_allocate (shared ? shared : &arena, 1, sizeof *sets);
  if (!sets)
    return NULL;
  sets->arena = shared ? shared : &sets->own;
  sets->own.limit = arena.limit;
  atomic_init (&sets->own.used, atomic_load (&arena.used));
  atomic_init (&sets->own.peak, atomic_load (&arena.peak));
  atomic_init (&sets->own.until_failure, atomic_load (&arena.until_failure));
  return sets;
}

int sets_create (const treeml_sets_input *input, struct arena *shared, treeml_sets **result) {
  treeml_sets *sets = make_empty (input, shared);
  *result = NULL;
  if (!sets)
    return TREEML_SETS_MEMORY;
  sets->input = *input;
  sets->words = words_of (input->rows);
  sets->deadline = -1;
  copy_input (sets);
  if (sets->code == TREEML_SETS_OK && input->model == TREEML_SETS_CUSTOM) {
    sets->scratch_rows = arena_reserve (sets->arena, (size_t) input->rows, sizeof *sets->scratch_rows);
    if (!sets->scratch_rows)
      sets_fail (sets, TREEML_SETS_MEMORY);
  }
  if (sets->code == TREEML_SETS_OK && make_tags (sets) && make_chains (sets) && make_row_sums (sets) &&
      make_row_tests (sets) && sort_targets (sets) && make_root (sets) && sets_make_guides (sets)) {
    *result = sets;
    return TREEML_SETS_OK;
  }
  const int code = sets->code;
  treeml_sets_free (sets);
  return code;
}

int treeml_sets_create (const treeml_sets_input *input, treeml_sets **result) {
  if (!result)
    return TREEML_SETS_INPUT;
  *result = NULL;
  return is_valid (input) ? sets_create (input, NULL, result) : TREEML_SETS_INPUT;
}

void treeml_sets_free (treeml_sets *sets) {
  if (!sets)
    return;
  struct arena *arena = sets->arena;
  sets_free_guides (sets);
  if (sets->levels)
    for (int32_t depth = 0; depth <= sets->states[0].depth; depth++) {
      arena_release (arena, sets->levels[depth].sums);
      arena_release (arena, sets->levels[depth].low);
      arena_release (arena, sets->levels[depth].score);
      arena_release (arena, sets->levels[depth].order);
    }
  sets_release_histograms (sets, &sets->counted);
  sets_release_functions (sets);
  const treeml_sets_input *in = &sets->input;
  const void *blocks[] = {in->bits,
                          in->column,
                          in->group,
                          in->count,
                          in->cost,
                          in->weight,
                          in->column_cost,
                          in->limit_cost,
                          in->purity_weight,
                          in->limited ? in->limited_cost : NULL,
                          in->limited ? in->low : NULL,
                          in->limited ? in->high : NULL,
                          in->limited ? in->factor : NULL,
                          sets->row_sums,
                          sets->row_start,
                          sets->row_tests,
                          sets->by_target,
                          sets->tag,
                          sets->scratch_rows,
                          sets->levels,
                          sets->states,
                          sets->keys,
                          sets->slots,
                          sets->child,
                          sets->facts,
                          sets->facts_at,
                          sets->facts_total,
                          sets->sums_here,
                          sets->arcs,
                          sets->heads,
                          sets->dense,
                          sets->touched,
                          sets->table,
                          sets->table_sums,
                          sets->places,
                          sets->nodes,
                          sets->made,
                          sets->inner,
                          sets->is_chain};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    arena_release (arena, (void *) (uintptr_t) blocks[i]);
  if (arena != &sets->own) {
    arena_release (arena, sets);
    return;
  }
  /* The arena is inside the block that it releases last, so a copy of it does that. */
  struct arena last = {0};
  last.limit = arena->limit;
  atomic_init (&last.used, atomic_load (&arena->used));
  arena_release (&last, sets);
}

int64_t treeml_sets_states (const treeml_sets *sets) { return sets->used; }

int64_t treeml_sets_bytes (const treeml_sets *sets, int peak) {
  return (int64_t) (peak ? atomic_load (&sets->arena->peak) : atomic_load (&sets->arena->used));
}

int treeml_sets_rows (const treeml_sets *sets, const int32_t *states, int64_t count, uint64_t *rows) {
  for (int64_t i = 0; i < count; i++) {
    if (states[i] < 0 || states[i] >= sets->used)
      return TREEML_SETS_INPUT;
    memcpy (rows + i * sets->words, sets_key (sets, states[i]), (size_t) sets->words * sizeof *rows);
  }
  return TREEML_SETS_OK;
}
