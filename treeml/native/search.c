/* Branch and bound over sub-problems of signed rows (Aglin et al. 2020), two levels at a time from pair sums.

   A sub-problem is a set of rows and a depth. Its depth-two value for every root test comes out of one pair matrix
   and orders the tests. A split of a depth-three problem is one pass of the kernel, which counts the smaller side only.
   Every solved split bounds all others: a tree for the rows of one is worth, on the rows of the other, at most the
   weight of the rows that only the other has more (the similarity bound of Demirovic et al. 2022, here between siblings,
   where all differences are in the weight matrix already). */
#include "signed_rows.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { pass_depth = 3 };

/* One sub-problem under search; there is one for each depth left. */
struct level {
  int32_t *ids;
  int32_t start[most_lists + 1];
  int64_t total, weight; /* signed sum and sum of the rows' weights */
  uint64_t hash[2];
  struct slice slice;
  void *doubled, *weights; /* pair matrices */
  void *test_weights;      /* their diagonal */
  struct side side;
  int64_t *root_value; /* best depth-two value with each test at the root */
  int64_t *low_yes, *low_no, *bound;
  int32_t *order;
};

struct archive_entry {
  int32_t depth;
  int64_t lower;
  uint64_t *rows;
};

struct shared;

struct worker {
  struct shared *shared;
  treeml_solver *solver;
  const struct signed_rows *rows;
  const struct kernel *kernel;
  struct level **levels;
  int32_t level_count;
  struct slice small;
  int32_t *small_ids;
  int64_t *sums;
  struct side counted, rest;
  void *scratch;
  int32_t *path; /* ascending literals */
  int32_t *path_stack;
  int32_t path_length;
  struct leaf_state *leaf;
  int64_t work; /* since the last poll */
  int first;    /* the thread that may call back */
  struct statistics statistics;
  struct archive_entry *archive;
  int32_t archive_size, archive_next;
  uint64_t *present;
};

/* What the threads share: the root's tests, its bounds and the best tree. */
struct shared {
  pthread_mutex_t lock;
  struct tree tree;  /* over the caller's tests */
  int64_t value;     /* of the tree, without the offset */
  int64_t bound;     /* of the root */
  int64_t price;
  int32_t depth;     /* of the root now */
  int32_t whole_depth;
  int has_tree;
};

static size_t lane_bytes (const struct worker *worker) { return (size_t) worker->kernel->lane_bits / 8; }

static int64_t lane (const struct worker *worker, const void *lanes, int64_t index) {
  return worker->kernel->lane_bits == 16   ? ((const int16_t *) lanes)[index]
         : worker->kernel->lane_bits == 32 ? ((const int32_t *) lanes)[index]
                                           : ((const int64_t *) lanes)[index];
}

static const void *lane_row (const struct worker *worker, const void *lanes, int64_t row) {
  return (const char *) lanes + row * worker->rows->shape.stride * (int64_t) lane_bytes (worker);
}

static int64_t groups_of (const struct worker *worker, const int32_t *start) {
  int64_t groups = 0;
  for (int32_t list = 0; list < 2 * worker->rows->planes; list++)
    groups += (start[list + 1] - start[list] + worker->kernel->lane_bits - 1) / worker->kernel->lane_bits;
  return groups;
}

static int slice_allocate (struct worker *worker, struct slice *slice) {
  const size_t lanes = (size_t) (groups_of (worker, worker->rows->start) + 2 * worker->rows->planes) *
                       (size_t) worker->rows->shape.stride;
  slice->words = arena_allocate (&worker->solver->arena, lanes + 64, lane_bytes (worker));
  if (worker->kernel->lane_bits == 16)
    slice->twice = arena_allocate (&worker->solver->arena, lanes + 64, sizeof *slice->twice);
  slice->planes = worker->rows->planes;
  return slice->words && (worker->kernel->lane_bits != 16 || slice->twice);
}

static void side_release (struct worker *worker, struct side *side) {
  arena_release (&worker->solver->arena, side->sum);
  arena_release (&worker->solver->arena, side->yes);
  arena_release (&worker->solver->arena, side->no);
}

static int side_allocate (struct worker *worker, struct side *side) {
  struct arena *arena = &worker->solver->arena;
  const size_t lanes = (size_t) worker->rows->shape.stride + 64;
  side->sum = arena_allocate (arena, lanes, lane_bytes (worker));
  side->yes = arena_allocate (arena, lanes, lane_bytes (worker));
  side->no = arena_allocate (arena, lanes, lane_bytes (worker));
  return side->sum && side->yes && side->no;
}

static void level_release (struct worker *worker, struct level *level) {
  struct arena *arena = &worker->solver->arena;
  if (!level)
    return;
  arena_release (arena, level->ids);
  arena_release (arena, level->slice.words);
  arena_release (arena, level->slice.twice);
  arena_release (arena, level->doubled);
  arena_release (arena, level->weights);
  arena_release (arena, level->test_weights);
  side_release (worker, &level->side);
  arena_release (arena, level->root_value);
  arena_release (arena, level->low_yes);
  arena_release (arena, level->low_no);
  arena_release (arena, level->bound);
  arena_release (arena, level->order);
  arena_release (arena, level);
}

static struct level *level_make (struct worker *worker) {
  struct arena *arena = &worker->solver->arena;
  const struct shape *shape = &worker->rows->shape;
  struct level *level = arena_allocate (arena, 1, sizeof *level);
  if (!level)
    return NULL;
  const size_t pairs = (size_t) (shape->padded + 4) * (size_t) shape->stride;
  const size_t tests = (size_t) shape->stride + 64;
  level->ids = arena_allocate (arena, (size_t) worker->rows->entries + 16, sizeof *level->ids);
  level->doubled = arena_allocate (arena, pairs, lane_bytes (worker));
  level->weights = arena_allocate (arena, pairs, lane_bytes (worker));
  level->test_weights = arena_allocate (arena, tests, lane_bytes (worker));
  level->root_value = arena_allocate (arena, tests, sizeof *level->root_value);
  level->low_yes = arena_allocate (arena, tests, sizeof *level->low_yes);
  level->low_no = arena_allocate (arena, tests, sizeof *level->low_no);
  level->bound = arena_allocate (arena, tests, sizeof *level->bound);
  level->order = arena_allocate (arena, tests, sizeof *level->order);
  const int slice = slice_allocate (worker, &level->slice), side = side_allocate (worker, &level->side);
  if (slice && side && level->ids && level->doubled && level->weights && level->test_weights && level->root_value &&
      level->low_yes && level->low_no && level->bound && level->order)
    return level;
  level_release (worker, level);
  return NULL;
}

/* Levels are made when first entered: a tree without depth limit rarely needs them all. */
static struct level *level_at (struct worker *worker, int32_t depth) {
  if (!worker->levels[depth]) {
    worker->levels[depth] = level_make (worker);
    if (!worker->levels[depth])
      solver_stop (worker->solver, TREEML_MEMORY);
  }
  return worker->levels[depth];
}

static int64_t leaf_value (const struct worker *worker, const struct level *level) {
  return worker->rows->scale * ((level->weight - llabs (level->total)) / 2) + worker->shared->price;
}

static void load_root (struct worker *worker, struct level *level) {
  const struct signed_rows *rows = worker->rows;
  memcpy (level->ids, rows->ids, (size_t) rows->entries * sizeof *level->ids);
  memcpy (level->start, rows->start, sizeof level->start);
  level->total = level->weight = 0;
  level->hash[0] = level->hash[1] = 0;
  for (int32_t list = 0; list < 2 * rows->planes; list++) {
    const int64_t size = (int64_t) (rows->start[list + 1] - rows->start[list]) << (rows->planes - 1 - list / 2);
    level->weight += size;
    level->total += list & 1 ? -size : size;
  }
  for (int64_t i = 0; i < rows->entries; i++) {
    level->hash[0] += rows->code[2 * rows->ids[i]];
    level->hash[1] += rows->code[2 * rows->ids[i] + 1];
  }
}

static void load_child (struct worker *worker, const struct level *parent, struct level *child, int32_t test, int yes) {
  const struct signed_rows *rows = worker->rows;
  const uint8_t *bits = rows->row_bits + test / 8;
  const int shift = test & 7;
  int32_t at = 0;
  child->total = child->weight = 0;
  uint64_t first = 0, second = 0;
  for (int32_t list = 0; list < 2 * rows->planes; list++) {
    child->start[list] = at;
    for (int32_t i = parent->start[list]; i < parent->start[list + 1]; i++) {
      const int32_t id = parent->ids[i];
      const int in = (bits[id * rows->row_bytes] >> shift & 1) == yes;
      child->ids[at] = id;
      at += in;
      const uint64_t mask = (uint64_t) 0 - (uint64_t) in;
      first += rows->code[2 * id] & mask;
      second += rows->code[2 * id + 1] & mask;
    }
    const int64_t size = (int64_t) (at - child->start[list]) << (rows->planes - 1 - list / 2);
    child->weight += size;
    child->total += list & 1 ? -size : size;
  }
  child->start[2 * rows->planes] = at;
  child->hash[0] = first;
  child->hash[1] = second;
}

static void build_slice (struct worker *worker, struct slice *slice, const int32_t *ids, const int32_t *start) {
  const struct signed_rows *rows = worker->rows;
  int32_t group = 0;
  for (int32_t list = 0; list < 2 * rows->planes; list++) {
    const int32_t count = start[list + 1] - start[list];
    slice->group[list] = group;
    worker->kernel->build (slice, &rows->shape, group, rows->row_bits, rows->row_bytes, ids + start[list], count);
    group += (count + worker->kernel->lane_bits - 1) / worker->kernel->lane_bits;
  }
  slice->group[2 * rows->planes] = group;
}

/* The value of a depth-two tree from the best |.| of its two sides, each of which may stay a leaf. */
static int64_t two_sides (const struct worker *worker, int64_t weight, int64_t yes, int64_t no, int64_t yes_leaf,
                          int64_t no_leaf) {
  const int64_t price = worker->shared->price, scale = worker->rows->scale;
  if (!price)
    return scale * ((weight - yes - no) / 2);
  int64_t gain = 0, leaves = 2;
  const int64_t more[2] = {yes - yes_leaf, no - no_leaf};
  gain = yes_leaf + no_leaf;
  for (int side = 0; side < 2; side++)
    if (scale * (more[side] / 2) > price) {
      gain += more[side];
      leaves++;
    }
  return scale * ((weight - gain) / 2) + leaves * price;
}

static int64_t best_of_side (struct worker *worker, const struct side *side, int64_t weight) {
  const int64_t price = worker->shared->price;
  const int64_t leaf = worker->rows->scale * ((weight - llabs (side->total)) / 2) + price;
  if (!price) {
    const int64_t gain = worker->kernel->best (&worker->rows->shape, side);
    const int64_t value = worker->rows->scale * ((weight - gain) / 2);
    return value < leaf ? value : leaf;
  }
  int64_t best = leaf;
  for (int32_t test = 0; test < worker->rows->shape.tests; test++) {
    const int64_t sum = lane (worker, side->sum, test);
    const int64_t value = two_sides (worker, weight, lane (worker, side->yes, test), lane (worker, side->no, test),
                                     llabs (sum), llabs (side->total - sum));
    if (value < best)
      best = value;
  }
  return best;
}

/* Pair matrices, depth-two values of all roots. */
static void open_level (struct worker *worker, struct level *level) {
  const struct shape *shape = &worker->rows->shape;
  build_slice (worker, &level->slice, level->ids, level->start);
  worker->kernel->pairs (&level->slice, shape, level->doubled, level->weights);
  worker->kernel->sums (&level->slice, shape, level->side.sum, level->test_weights);
  level->side.total = level->total;
  worker->kernel->own (shape, level->doubled, &level->side, worker->scratch);
  for (int32_t test = 0; test < shape->tests; test++) {
    const int64_t sum = lane (worker, level->side.sum, test);
    level->root_value[test] = two_sides (worker, level->weight, lane (worker, level->side.yes, test),
                                         lane (worker, level->side.no, test), llabs (sum), llabs (level->total - sum));
  }
  worker->work += (int64_t) shape->padded * shape->stride * (8 + level->slice.group[2 * worker->rows->planes]) / 8;
}

static double entropy (double a, double b) {
  const double n = a + b;
  return (a > 0 ? a * log (n / a) : 0) + (b > 0 ? b * log (n / b) : 0);
}

static void sort_order (int32_t *order, const double *score, int32_t count) {
  for (int32_t gap = count / 2; gap > 0; gap = gap == 2 ? 1 : (int32_t) (gap / 2.2))
    for (int32_t i = gap; i < count; i++) {
      const int32_t moved = order[i];
      int32_t j = i;
      for (; j >= gap && (score[order[j - gap]] > score[moved] ||
                          (score[order[j - gap]] == score[moved] && order[j - gap] > moved));
           j -= gap)
        order[j] = order[j - gap];
      order[j] = moved;
    }
}

static void order_tests (struct worker *worker, struct level *level, int at_root) {
  const int32_t tests = worker->rows->shape.tests;
  const int64_t how = worker->solver->options.order;
  double *score = (double *) (void *) level->bound; /* not in use yet */
  if (how == 0 || (!at_root && !worker->solver->options.order_everywhere)) {
    for (int32_t i = 0; i < tests; i++)
      level->order[i] = worker->levels[worker->shared->depth] != level && how
                            ? worker->levels[worker->shared->depth]->order[i]
                            : i;
    return;
  }
  for (int32_t i = 0; i < tests; i++) {
    level->order[i] = i;
    if (how == 1)
      score[i] = (double) level->root_value[i];
    else {
      const double sum = (double) lane (worker, level->side.sum, i), all = (double) lane (worker, level->test_weights, i);
      const double rest = (double) level->total - sum, others = (double) level->weight - all;
      const double left = entropy ((all + sum) / 2, (all - sum) / 2) + entropy ((others + rest) / 2, (others - rest) / 2);
      score[i] = how == 2 ? left : -left;
    }
  }
  sort_order (level->order, score, tests);
}

/* Both sides of a split of a depth-three problem, solved to depth two. */
static void pass (struct worker *worker, struct level *level, int32_t test, int64_t *yes, int64_t *no) {
  const struct signed_rows *rows = worker->rows;
  const struct shape *shape = &rows->shape;
  const int bits = worker->kernel->lane_bits;
  const int64_t yes_weight = lane (worker, level->test_weights, test);
  const int small_is_yes = !worker->solver->options.small_side || 2 * yes_weight <= level->weight;
  int32_t start[most_lists + 1], at = 0;
  for (int32_t list = 0; list < 2 * rows->planes; list++) {
    start[list] = at;
    const int32_t count = level->start[list + 1] - level->start[list];
    const int32_t *ids = level->ids + level->start[list];
    for (int32_t base = 0, group = level->slice.group[list]; base < count; base += bits, group++) {
      uint64_t word = (uint64_t) lane (worker, lane_row (worker, level->slice.words, group), test);
      if (!small_is_yes)
        word = ~word;
      const int32_t here = count - base;
      if (here < 64)
        word &= ((uint64_t) 1 << here) - 1;
      if (bits < 64)
        word &= ((uint64_t) 1 << bits) - 1;
      for (; word; word &= word - 1)
        worker->small_ids[at++] = ids[base + __builtin_ctzll (word)];
    }
  }
  start[2 * rows->planes] = at;
  struct side *counted = &worker->counted, *rest = &worker->rest;
  build_slice (worker, &worker->small, worker->small_ids, start);
  worker->kernel->sums (&worker->small, shape, counted->sum, counted->yes); /* the weights are not needed */
  const int64_t yes_total = lane (worker, level->side.sum, test);
  counted->total = small_is_yes ? yes_total : level->total - yes_total;
  rest->total = level->total - counted->total;
  if (bits == 16)
    for (int32_t i = 0; i < shape->stride; i++)
      ((int16_t *) rest->sum)[i] = (int16_t) (((int16_t *) level->side.sum)[i] - ((int16_t *) counted->sum)[i]);
  else if (bits == 32)
    for (int32_t i = 0; i < shape->stride; i++)
      ((int32_t *) rest->sum)[i] = ((int32_t *) level->side.sum)[i] - ((int32_t *) counted->sum)[i];
  else
    for (int32_t i = 0; i < shape->stride; i++)
      ((int64_t *) rest->sum)[i] = ((int64_t *) level->side.sum)[i] - ((int64_t *) counted->sum)[i];
  worker->kernel->both (&worker->small, shape, level->doubled, counted, rest, worker->scratch);
  const int64_t counted_weight = small_is_yes ? yes_weight : level->weight - yes_weight;
  const int64_t counted_value = best_of_side (worker, counted, counted_weight);
  const int64_t rest_value = best_of_side (worker, rest, level->weight - counted_weight);
  *yes = small_is_yes ? counted_value : rest_value;
  *no = small_is_yes ? rest_value : counted_value;
  worker->statistics.passes++;
  worker->work += (int64_t) shape->padded * shape->stride * (12 + worker->small.group[2 * rows->planes]) / 8;
}

static int poll_now (struct worker *worker) {
  if (solver_stopping (worker->solver))
    return 1;
  if (worker->work < 1000000)
    return 0;
  worker->work = 0;
  struct shared *shared = worker->shared;
  const int64_t offset = worker->rows->offset + worker->solver->offset;
  return solver_poll (worker->solver, worker->first, shared->value + offset, shared->bound + offset, 0);
}

static int compare_literals (const void *a, const void *b) { return *(const int32_t *) a - *(const int32_t *) b; }

static struct key key_of (struct worker *worker, const struct level *level, int32_t depth) {
  struct key key = {{level->hash[0], level->hash[1]}, worker->path, worker->path_length, depth, 0};
  if (worker->solver->options.cache >= path_cache) {
    memcpy (worker->path, worker->path_stack, (size_t) worker->path_length * sizeof *worker->path);
    qsort (worker->path, (size_t) worker->path_length, sizeof *worker->path, compare_literals);
    key.hash[0] = key.hash[1] = 0;
    for (int32_t i = 0; i < worker->path_length; i++) {
      uint64_t x = ((uint64_t) worker->path[i] + 1) * 0x9e3779b97f4a7c15u;
      x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
      x = (x ^ x >> 27) * 0x94d049bb133111ebu;
      key.hash[0] += x ^ x >> 31;
      x = x * 0x9fb21c651e98df25u + 0x632be59bd9b4e019u;
      key.hash[1] += x ^ x >> 28;
    }
  }
  return key;
}

static void push_path (struct worker *worker, int32_t test, int yes) {
  worker->path_stack[worker->path_length++] = 2 * test + yes;
}

static void solve (struct worker *worker, int32_t depth, int64_t upper, struct fact *fact);
static void publish (struct worker *worker, struct level *level, int32_t depth, const struct fact *fact);

/* A tree cannot be deeper than its rows are many. */
static int32_t useful_depth (const struct worker *worker, const struct level *level, int32_t depth) {
  const int32_t entries = level->start[2 * worker->rows->planes];
  return depth < entries ? depth : entries > 1 ? entries - 1 : 0;
}

/* A child below a level of `depth`; its own level is the one for the depth it can use. */
static void solve_child (struct worker *worker, struct level *parent, int32_t depth, int32_t test, int yes,
                         int64_t upper, struct fact *fact) {
  struct level *below = level_at (worker, depth - 1);
  if (!below) {
    *fact = (struct fact){0, UNREACHABLE, is_unknown, 0};
    return;
  }
  load_child (worker, parent, below, test, yes);
  push_path (worker, test, yes);
  solve (worker, depth - 1, upper, fact);
  worker->path_length--;
}

/* A bound on the rows of this level from solved problems with nearly the same rows. */
static int64_t archive_bound (struct worker *worker, const struct level *level, int32_t depth) {
  const struct signed_rows *rows = worker->rows;
  int64_t best = 0;
  const int64_t words = (rows->rows + 63) / 64;
  memset (worker->present, 0, (size_t) words * sizeof *worker->present);
  for (int32_t i = 0; i < level->start[2 * rows->planes]; i++)
    worker->present[level->ids[i] >> 6] |= (uint64_t) 1 << (level->ids[i] & 63);
  for (int32_t e = 0; e < worker->archive_size; e++) {
    const struct archive_entry *entry = &worker->archive[e];
    if (entry->depth < depth || entry->lower <= best)
      continue;
    int64_t lost = 0;
    for (int64_t w = 0; w < words && entry->lower - rows->scale * lost > best; w++)
      for (uint64_t gone = entry->rows[w] & ~worker->present[w]; gone; gone &= gone - 1)
        lost += rows->weight[64 * w + __builtin_ctzll (gone)];
    if (entry->lower - rows->scale * lost > best)
      best = entry->lower - rows->scale * lost;
  }
  return best;
}

static void archive_add (struct worker *worker, const struct level *level, int32_t depth, int64_t lower) {
  struct archive_entry *entry = &worker->archive[worker->archive_next];
  worker->archive_next = (worker->archive_next + 1) % worker->archive_size;
  entry->depth = depth;
  entry->lower = lower;
  memset (entry->rows, 0, (size_t) ((worker->rows->rows + 63) / 64) * sizeof *entry->rows);
  for (int32_t i = 0; i < level->start[2 * worker->rows->planes]; i++)
    entry->rows[level->ids[i] >> 6] |= (uint64_t) 1 << (level->ids[i] & 63);
}

static int64_t larger (int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t smaller (int64_t a, int64_t b) { return a < b ? a : b; }

/* One split: bounds on its two sides, exact where they are below what `upper` allows. Updates the level's bounds. */
static void try_split (struct worker *worker, struct level *level, int32_t depth, int32_t useful, int32_t test,
                       int64_t upper, struct fact *fact) {
  const struct options *options = &worker->solver->options;
  int64_t low[2] = {level->low_no[test], level->low_yes[test]}, high[2];
  worker->statistics.splits++;
  if (useful == pass_depth) {
    pass (worker, level, test, &low[1], &low[0]);
    high[0] = low[0];
    high[1] = low[1];
  } else {
    int first = 1;
    const int64_t yes_weight = lane (worker, level->test_weights, test);
    if (options->dynamic)
      first = low[1] != low[0] ? low[1] > low[0] : 2 * yes_weight >= level->weight;
    high[0] = high[1] = UNREACHABLE;
    for (int turn = 0; turn < 2; turn++) {
      const int side = turn ? !first : first;
      struct fact child;
      if (turn && (low[0] + low[1] >= upper || solver_stopping (worker->solver))) {
        if (!solver_stopping (worker->solver))
          break;
        /* Out of time: one leaf completes the tree. */
        const int64_t sum = lane (worker, level->side.sum, test);
        const int64_t total = side ? sum : level->total - sum;
        const int64_t weight = side ? yes_weight : level->weight - yes_weight;
        high[side] = worker->rows->scale * ((weight - llabs (total)) / 2) + worker->shared->price;
        break;
      }
      const int64_t left = options->hierarchical ? upper - low[!side] : UNREACHABLE;
      solve_child (worker, level, depth, test, side, left, &child);
      low[side] = larger (low[side], child.lower);
      high[side] = child.upper;
    }
  }
  fact->lower = low[0] + low[1];
  fact->upper = high[0] < UNREACHABLE && high[1] < UNREACHABLE ? high[0] + high[1] : UNREACHABLE;
  fact->split = test;
  fact->shallow = 0;
  if (options->similarity)
    worker->kernel->similar (&worker->rows->shape, lane_row (worker, level->weights, test), level->test_weights,
                             lane (worker, level->test_weights, test), level->weight, worker->rows->scale, low[1],
                             low[0], level->low_yes, level->low_no);
}

/* The best stump, where a problem of depth one is asked for. */
static void solve_stump (struct worker *worker, struct level *level, struct fact *fact) {
  const int64_t price = worker->shared->price;
  for (int32_t test = 0; test < worker->rows->shape.tests; test++) {
    const int64_t sum = lane (worker, level->side.sum, test);
    const int64_t gain = llabs (sum) + llabs (level->total - sum);
    const int64_t value = worker->rows->scale * ((level->weight - gain) / 2) + 2 * price;
    if (value < fact->upper) {
      fact->upper = value;
      fact->split = test;
      fact->shallow = 2;
    }
  }
  fact->lower = fact->upper;
}

static void best_root (const struct worker *worker, const struct level *level, struct fact *fact) {
  for (int32_t test = 0; test < worker->rows->shape.tests; test++)
    if (level->root_value[test] < fact->upper) {
      fact->upper = level->root_value[test];
      fact->split = test;
      fact->shallow = 1;
    }
}

static void adopt (struct fact *fact, const struct fact *known) {
  fact->lower = larger (fact->lower, known->lower);
  if (known->split != is_unknown && known->upper < fact->upper) {
    fact->upper = known->upper;
    fact->split = known->split;
    fact->shallow = known->shallow;
  }
}

/* All splits of an opened level, best first; leaves a bound for the level in `fact`. */
static void search_splits (struct worker *worker, struct level *level, int32_t depth, int32_t useful, int64_t upper,
                           struct fact *fact) {
  treeml_solver *solver = worker->solver;
  const struct options *options = &solver->options;
  const int at_root = worker->path_length == 0;
  const int32_t tests = worker->rows->shape.tests;
  const int64_t floor = fact->lower;
  order_tests (worker, level, at_root);
  for (int32_t i = 0; i < tests; i++) {
    level->low_yes[i] = level->low_no[i] = worker->shared->price;
    level->bound[i] = INT64_MIN;
  }
  for (int32_t i = 0; i < tests; i++) {
    const int32_t test = level->order[i];
    const int64_t goal = smaller (upper, fact->upper), weight = lane (worker, level->test_weights, test);
    if (!weight || weight == level->weight) { /* says nothing about these rows */
      level->bound[test] = UNREACHABLE;
      continue;
    }
    if (level->low_yes[test] + level->low_no[test] >= goal) {
      worker->statistics.skipped++;
      continue;
    }
    if (poll_now (worker))
      break;
    struct fact split;
    try_split (worker, level, depth, useful, test, goal, &split);
    level->bound[test] = split.lower;
    if (split.upper < fact->upper) {
      fact->upper = split.upper;
      fact->split = test;
      fact->shallow = 0;
      if (at_root)
        publish (worker, level, depth, fact);
      if (fact->upper <= floor)
        break;
    }
  }
  int64_t lowest = fact->upper;
  for (int32_t test = 0; test < tests; test++)
    lowest = smaller (lowest, larger (level->bound[test], level->low_yes[test] + level->low_no[test]));
  if (!options->strong && !solver_stopping (solver) && lowest < fact->upper)
    lowest = smaller (lowest, upper);
  fact->lower = larger (floor, lowest);
}

/* The optimum of the rows of the level for `depth`, if it is below `upper`; otherwise a bound that is not. */
static void solve (struct worker *worker, int32_t depth, int64_t upper, struct fact *fact) {
  treeml_solver *solver = worker->solver;
  const struct options *options = &solver->options;
  struct shared *shared = worker->shared;
  struct level *level = worker->levels[depth];
  const int at_root = worker->path_length == 0;
  const int64_t leaf = leaf_value (worker, level), nodes = worker->statistics.nodes++;
  /* The leaf is always a candidate; a split has two leaves to pay for. */
  *fact = (struct fact){smaller (leaf, 2 * shared->price), leaf, is_leaf, 0};
  const int32_t useful = useful_depth (worker, level, depth);
  if (!useful || !worker->rows->shape.tests)
    fact->lower = leaf;
  if (fact->lower >= leaf || fact->lower >= upper)
    return;
  struct key key = key_of (worker, level, useful);
  struct fact known;
  worker->statistics.lookups++;
  if (cache_find (solver->cache, &key, &known)) {
    adopt (fact, &known);
    if (fact->lower >= fact->upper || fact->lower >= upper) {
      worker->statistics.hits++;
      return;
    }
  }
  if (options->archive && useful >= pass_depth) {
    fact->lower = larger (fact->lower, archive_bound (worker, level, useful));
    if (fact->lower >= upper)
      return;
  }
  open_level (worker, level);
  if (useful == 1) {
    solve_stump (worker, level, fact);
    return;
  }
  best_root (worker, level, fact);
  if (useful == 2) {
    fact->lower = fact->upper;
    return;
  }
  if (at_root)
    publish (worker, level, depth, fact);
  if (fact->upper > fact->lower) {
    const int protect = options->memory != UNLIMITED;
    if (protect)
      cache_enter (solver->cache, &key);
    search_splits (worker, level, depth, useful, upper, fact);
    key = key_of (worker, level, useful); /* the path of a key is shared */
    if (protect)
      cache_leave (solver->cache, &key);
    if (fact->upper > fact->lower)
      worker->statistics.failures++;
    if (options->archive)
      archive_add (worker, level, useful, fact->lower);
  }
  if (options->infeasible || fact->upper <= fact->lower || solver_stopping (solver))
    cache_store (solver->cache, &key, fact, worker->statistics.nodes - nodes);
}

static int32_t emit (struct worker *worker, struct tree *tree, int32_t test) {
  const int64_t node = tree_add (&worker->solver->arena, tree, test < 0 ? -1 : worker->rows->kept[test], -1);
  if (node < 0)
    solver_stop (worker->solver, TREEML_MEMORY);
  return (int32_t) node;
}

/* One side of a split as a stump or a leaf, whichever is better. */
static int32_t emit_side (struct worker *worker, struct tree *tree, const struct level *level, int32_t test, int yes) {
  const struct signed_rows *rows = worker->rows;
  const int32_t tests = rows->shape.tests;
  int64_t *sums = worker->sums, total = 0;
  memset (sums, 0, (size_t) tests * sizeof *sums);
  for (int32_t list = 0; list < 2 * rows->planes; list++) {
    const int64_t size = ((int64_t) 1 << (rows->planes - 1 - list / 2)) * (list & 1 ? -1 : 1);
    for (int32_t i = level->start[list]; i < level->start[list + 1]; i++) {
      const uint8_t *row = rows->row_bits + level->ids[i] * rows->row_bytes;
      if ((row[test / 8] >> (test & 7) & 1) != yes)
        continue;
      total += size;
      for (int32_t j = 0; j < tests; j++)
        sums[j] += row[j / 8] >> (j & 7) & 1 ? size : 0;
    }
  }
  int32_t best = 0;
  int64_t gain = llabs (total);
  for (int32_t j = 0; j < tests; j++) {
    const int64_t here = llabs (sums[j]) + llabs (total - sums[j]);
    if (here > gain) {
      gain = here;
      best = j;
    }
  }
  if (rows->scale * ((gain - llabs (total)) / 2) <= worker->shared->price)
    return emit (worker, tree, -1);
  const int32_t node = emit (worker, tree, best), left = emit (worker, tree, -1), right = emit (worker, tree, -1);
  if (node < 0 || left < 0 || right < 0)
    return -1;
  tree->yes[node] = left;
  tree->no[node] = right;
  return node;
}

static int32_t rebuild (struct worker *worker, struct tree *tree, struct level *level, int32_t depth,
                        const struct fact *fact);

/* The tree of one side. What the cache no longer holds is solved again, just well enough (Aglin 2022, algorithm 9). */
static int32_t rebuild_child (struct worker *worker, struct tree *tree, struct level *level, int32_t depth,
                              int32_t test, int yes, int64_t *target) {
  struct level *below = level_at (worker, depth - 1);
  if (!below)
    return -1;
  load_child (worker, level, below, test, yes);
  push_path (worker, test, yes);
  struct fact fact;
  const int64_t nodes = worker->statistics.nodes;
  solve (worker, depth - 1, *target < UNREACHABLE ? *target + 1 : UNREACHABLE, &fact);
  worker->statistics.rebuilt += worker->statistics.nodes - nodes - 1;
  *target -= fact.upper;
  const int32_t node = rebuild (worker, tree, below, depth - 1, &fact);
  worker->path_length--;
  return node;
}

static int32_t rebuild (struct worker *worker, struct tree *tree, struct level *level, int32_t depth,
                        const struct fact *fact) {
  const int32_t node = emit (worker, tree, fact->split < 0 ? -1 : fact->split);
  if (node < 0 || fact->split < 0)
    return node;
  int64_t target = fact->upper;
  for (int side = 1; side >= 0; side--) {
    const int32_t child = fact->shallow == 2 ? emit (worker, tree, -1)
                          : fact->shallow    ? emit_side (worker, tree, level, fact->split, side)
                                          : rebuild_child (worker, tree, level, depth, fact->split, side, &target);
    if (child < 0)
      return -1;
    (side ? tree->yes : tree->no)[node] = child;
  }
  return node;
}

/* A better tree at the root: kept as a tree at once, so that nothing it needs can be wiped. */
static void publish (struct worker *worker, struct level *level, int32_t depth, const struct fact *fact) {
  treeml_solver *solver = worker->solver;
  struct shared *shared = worker->shared;
  if (fact->upper >= shared->value)
    return;
  struct tree tree = {0};
  const int32_t length = worker->path_length;
  worker->path_length = 0;
  const int32_t root = rebuild (worker, &tree, level, depth, fact);
  worker->path_length = length;
  if (root < 0 || fact->upper >= shared->value) {
    tree_release (&solver->arena, &tree);
    return;
  }
  int64_t value = fact->upper;
  if (solver_stopping (solver)) { /* parts may have been left as leaves */
    value = tree_finish (solver, worker->leaf, &tree, 0) - worker->rows->offset;
    if (value >= shared->value) {
      tree_release (&solver->arena, &tree);
      return;
    }
  }
  tree_release (&solver->arena, &shared->tree);
  shared->tree = tree;
  shared->value = value;
  shared->has_tree = 1;
  worker->statistics.improvements++;
  const int64_t offset = worker->rows->offset + solver->offset;
  if (shared->value + offset < solver->options.enough)
    solver_stop (solver, TREEML_ENOUGH);
  solver_poll (solver, worker->first, shared->value + offset, shared->bound + offset, 1);
}

static void worker_release (struct worker *worker) {
  struct arena *arena = &worker->solver->arena;
  for (int32_t i = 0; i < worker->level_count; i++)
    if (worker->levels)
      level_release (worker, worker->levels[i]);
  arena_release (arena, worker->levels);
  arena_release (arena, worker->small.words);
  arena_release (arena, worker->small.twice);
  arena_release (arena, worker->small_ids);
  arena_release (arena, worker->sums);
  side_release (worker, &worker->counted);
  side_release (worker, &worker->rest);
  arena_release (arena, worker->scratch);
  arena_release (arena, worker->path);
  arena_release (arena, worker->path_stack);
  for (int32_t i = 0; i < worker->archive_size; i++)
    if (worker->archive)
      arena_release (arena, worker->archive[i].rows);
  arena_release (arena, worker->archive);
  arena_release (arena, worker->present);
}

static int worker_make (struct worker *worker, struct shared *shared, treeml_solver *solver,
                        const struct signed_rows *rows) {
  struct arena *arena = &solver->arena;
  worker->shared = shared;
  worker->solver = solver;
  worker->rows = rows;
  worker->kernel = solver->kernel;
  worker->level_count = shared->whole_depth + 1;
  const size_t tests = (size_t) rows->shape.stride + 64, words = (size_t) (rows->rows + 63) / 64 + 1;
  worker->levels = arena_allocate (arena, (size_t) worker->level_count, sizeof *worker->levels);
  worker->small_ids = arena_allocate (arena, (size_t) rows->entries + 16, sizeof *worker->small_ids);
  worker->sums = arena_allocate (arena, tests, sizeof *worker->sums);
  worker->scratch = arena_allocate (arena, 2 * tests, lane_bytes (worker));
  worker->path = arena_allocate (arena, (size_t) worker->level_count + 1, sizeof *worker->path);
  worker->path_stack = arena_allocate (arena, (size_t) worker->level_count + 1, sizeof *worker->path_stack);
  const int fits = slice_allocate (worker, &worker->small) && side_allocate (worker, &worker->counted) &&
                   side_allocate (worker, &worker->rest) && worker->levels && worker->small_ids && worker->sums &&
                   worker->scratch && worker->path && worker->path_stack;
  if (!fits || !solver->options.archive)
    return fits;
  worker->archive = arena_allocate (arena, (size_t) solver->options.archive, sizeof *worker->archive);
  worker->present = arena_allocate (arena, words, sizeof *worker->present);
  if (!worker->archive || !worker->present)
    return 0;
  for (; worker->archive_size < solver->options.archive; worker->archive_size++) {
    struct archive_entry *entry = &worker->archive[worker->archive_size];
    entry->rows = arena_allocate (arena, words, sizeof *entry->rows);
    if (!entry->rows)
      return 0;
  }
  return 1;
}

int search_takes (treeml_solver *solver) {
  const struct options *options = &solver->options;
  if (options->general || !options->pairs || options->once || options->support > 1 || solver->count ||
      solver->column_cost || solver->limited_cost || solver->purity_weight || !signed_rows_fit (solver))
    return 0;
  if (options->leaves != UNLIMITED && (options->depth >= 62 || options->leaves < (int64_t) 1 << options->depth))
    return 0;
  return solver->tests <= 8192;
}

/* The answer: the tree is checked against the data as given before its value is believed. */
static int finish (treeml_solver *solver, struct leaf_state *leaf, const struct signed_rows *rows,
                   struct shared *shared) {
  struct answer *answer = &solver->answers[0];
  answer->bound = shared->bound + rows->offset + solver->offset;
  answer->value = INT64_MAX;
  answer->status = TREEML_UNKNOWN;
  if (!shared->has_tree) {
    if (!solver_stopping (solver) && shared->bound >= shared->value)
      answer->status = TREEML_INFEASIBLE;
    return TREEML_OK;
  }
  if (solver_stopping (solver) == 1 + TREEML_MEMORY)
    solver->arena.limit = SIZE_MAX; /* room to hand over what was found */
  const int64_t value = tree_finish (solver, leaf, &shared->tree, 0);
  if (value >= UNREACHABLE)
    return solver_fail (solver, TREEML_OUT_OF_MEMORY, "no memory to hand over the tree");
  if (value > shared->value + rows->offset)
    return solver_fail (solver, TREEML_INTERNAL, "the tree found costs %lld, not %lld as claimed", (long long) value,
                        (long long) (shared->value + rows->offset));
  answer->tree = shared->tree;
  memset (&shared->tree, 0, sizeof shared->tree);
  answer->value = value + solver->offset;
  answer->bound = smaller (answer->bound, answer->value);
  answer->status = answer->bound >= answer->value ? TREEML_OPTIMAL : TREEML_FEASIBLE;
  return TREEML_OK;
}

static const struct kernel *choose_kernel (const treeml_solver *solver, int bits) {
  int choice = (int) solver->options.kernel;
  const char *forced = getenv ("TREEML_KERNEL");
  if (!choice && forced && *forced)
    choice = !strcmp (forced, "portable") ? 1 : !strcmp (forced, "avx2") ? 2 : !strcmp (forced, "avx512") ? 3 : 4;
  return kernel_find (choice, bits);
}

static int run (treeml_solver *solver, struct signed_rows *rows, struct shared *shared) {
  struct worker worker = {0};
  worker.first = 1;
  struct leaf_state *leaf = worker.leaf = leaf_create (solver);
  int code = TREEML_OK;
  if (!leaf || !worker_make (&worker, shared, solver, rows)) {
    code = solver_fail (solver, TREEML_OUT_OF_MEMORY, "no memory for the search");
    goto done;
  }
  if (solver->start.nodes) {
    struct tree start = {0};
    if (!tree_copy (&solver->arena, &start, &solver->start)) {
      const int64_t value = tree_finish (solver, leaf, &start, 0);
      if (value < UNREACHABLE && value - rows->offset < shared->value && tree_height (&start) <= solver->options.depth &&
          tree_allowed (solver, &start)) {
        tree_release (&solver->arena, &shared->tree);
        shared->tree = start;
        shared->value = value - rows->offset;
        shared->has_tree = 1;
      } else
        tree_release (&solver->arena, &start);
    }
  }
  solver->statistics.build_microseconds = (int64_t) (1e6 * (solver_clock () - solver->began));
  const int32_t first = solver->options.deepening && shared->whole_depth > pass_depth ? pass_depth : shared->whole_depth;
  for (int32_t depth = first; depth <= shared->whole_depth; depth++) {
    shared->depth = depth;
    struct level *level = level_at (&worker, depth);
    if (!level)
      break;
    load_root (&worker, level);
    struct fact fact = {0, leaf_value (&worker, level), is_leaf, 0};
    publish (&worker, level, depth, &fact);
    shared->bound = smaller (fact.upper, 2 * shared->price);
    if (shared->value <= shared->bound)
      break;
    solve (&worker, depth, shared->value, &fact);
    publish (&worker, level, depth, &fact);
    if (depth == shared->whole_depth)
      shared->bound = fact.lower;
    if (solver_stopping (solver))
      break;
  }
  code = finish (solver, leaf, rows, shared);
done:
  statistics_add (&solver->statistics, &worker.statistics);
  worker_release (&worker);
  leaf_destroy (leaf);
  return code;
}

int search_run (treeml_solver *solver) {
  struct signed_rows rows;
  if (signed_rows_make (solver, &rows))
    return solver->code;
  const int bits = rows.whole <= INT16_MAX ? 16 : rows.whole <= INT32_MAX ? 32 : 64;
  struct shared shared = {0};
  int code = TREEML_OK;
  solver->kernel = choose_kernel (solver, bits);
  solver->cache = cache_create (&solver->arena, (enum cache_kind) solver->options.cache,
                                (enum wipe_strategy) solver->options.wipe, (int) solver->options.wipe_share,
                                (int) solver->options.threads);
  if (!solver->kernel)
    code = solver_fail (solver, TREEML_BAD_ARGUMENT, "this processor cannot run the kernel asked for");
  else if (!solver->cache)
    code = solver_fail (solver, TREEML_OUT_OF_MEMORY, "no memory for the cache");
  else {
    const int64_t deepest = rows.entries > 1 ? rows.entries - 1 : 0;
    shared.price = solver->options.leaf_price;
    shared.whole_depth = (int32_t) smaller (smaller (solver->options.depth, deepest), rows.shape.tests);
    shared.value = solver->options.upper == UNLIMITED ? UNREACHABLE : solver->options.upper - rows.offset - solver->offset;
    solver->statistics.tests = rows.shape.tests;
    solver->statistics.rows = rows.rows;
    solver->statistics.unavoidable = rows.offset + solver->offset;
    code = run (solver, &rows, &shared);
    cache_count (solver->cache, &solver->statistics.entries, &solver->statistics.wipes, &solver->statistics.wiped);
  }
  tree_release (&solver->arena, &shared.tree);
  cache_destroy (solver->cache);
  solver->cache = NULL;
  signed_rows_release (solver, &rows);
  return code;
}
