/* Branch and bound over sub-problems (Aglin et al. 2020), two levels at a time from pair sums.

   A sub-problem is a set of rows and a depth. Its depth-two value for every root test comes out of one pair matrix
   and orders the tests. A split of a depth-three problem is one pass of the model, which counts the smaller side only.
   Every solved split bounds all others: a tree for the rows of one is worth, on the rows of the other, at most the
   weight of the rows that only the other has more (the similarity bound of Demirovic et al. 2022, here between siblings,
   where all differences are in the weight matrix already). */
#include "search.h"
#include "team.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { pass_depth = 3 };

struct archive_entry {
  int32_t depth;
  int64_t lower;
  uint64_t *rows;
};

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
  if (worker->rows->dense) {
    struct arena *arena = &worker->solver->arena;
    const size_t rows = (size_t) worker->rows->rows, stride = (size_t) worker->rows->shape.stride;
    slice->dense = arena_allocate (arena, rows * stride + 64, (size_t) worker->kernel->lane_bits / 8);
    slice->passing = arena_allocate (arena, rows + 64, sizeof *slice->passing);
    if (!slice->dense || !slice->passing)
      return 0;
  }
  return slice->words && (worker->kernel->lane_bits != 16 || slice->twice);
}

void slice_release (struct worker *worker, struct slice *slice) {
  arena_release (&worker->solver->arena, slice->words);
  arena_release (&worker->solver->arena, slice->twice);
  arena_release (&worker->solver->arena, slice->dense);
  arena_release (&worker->solver->arena, slice->passing);
}

static void level_release (struct worker *worker, struct level *level) {
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

static struct level *level_make (struct worker *worker) {
  struct arena *arena = &worker->solver->arena;
  struct level *level = arena_allocate (arena, 1, sizeof *level);
  if (!level)
    return NULL;
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
static struct level *level_at (struct worker *worker, int32_t depth) {
  if (!worker->levels[depth]) {
    worker->levels[depth] = level_make (worker);
    if (!worker->levels[depth])
      solver_stop (worker->solver, TREEML_MEMORY);
  }
  return worker->levels[depth];
}

static void load_root (struct worker *worker, struct level *level) {
  const struct rows *rows = worker->rows;
  memcpy (level->ids, rows->ids, (size_t) rows->entries * sizeof *level->ids);
  memcpy (level->start, rows->start, sizeof level->start);
  level->hash[0] = level->hash[1] = 0;
  for (int64_t i = 0; i < rows->entries; i++) {
    level->hash[0] += rows->code[2 * rows->ids[i]];
    level->hash[1] += rows->code[2 * rows->ids[i] + 1];
  }
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

static void load_child (struct worker *worker, const struct level *parent, struct level *child, int32_t test, int yes) {
  const struct rows *rows = worker->rows;
  side_rows (worker, parent, test, yes, child->ids, child->start);
  uint64_t first = 0, second = 0;
  for (int32_t i = 0; i < child->start[rows->lists]; i++) {
    first += rows->code[2 * child->ids[i]];
    second += rows->code[2 * child->ids[i] + 1];
  }
  child->hash[0] = first;
  child->hash[1] = second;
  worker->model->measure (worker, child);
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

int poll_search (struct worker *worker) {
  if (solver_stopping (worker->solver))
    return 1;
  if (worker->work < 1000000)
    return 0;
  worker->work = 0;
  struct shared *shared = worker->shared;
  const int64_t offset = worker->rows->offset + worker->solver->offset;
  return solver_poll (worker->solver, worker->first, atomic_load (&shared->value) + offset, atomic_load (&shared->bound) + offset, 0);
}

static int compare_literals (const void *a, const void *b) { return *(const int32_t *) a - *(const int32_t *) b; }

static struct key key_of (struct worker *worker, const struct level *level, int32_t depth) {
  struct key key = {.hash = {level->hash[0], level->hash[1]},
                    .path = worker->path,
                    .length = worker->path_length,
                    .depth = depth};
#ifdef TREEML_CHECK
  for (int32_t i = 0; i < level->start[worker->rows->lists]; i++)
    key.check += key_check ((uint64_t) level->ids[i]);
#endif
  if (worker->solver->options.cache_kind >= path_cache) {
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
  const int32_t entries = level->start[worker->rows->lists];
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
  const struct rows *rows = worker->rows;
  int64_t best = 0;
  const int64_t words = (rows->rows + 63) / 64;
  memset (worker->present, 0, (size_t) words * sizeof *worker->present);
  for (int32_t i = 0; i < level->start[rows->lists]; i++)
    worker->present[level->ids[i] >> 6] |= (uint64_t) 1 << (level->ids[i] & 63);
  for (int32_t e = 0; e < worker->archive_size; e++) {
    const struct archive_entry *entry = &worker->archive[e];
    if (entry->depth < depth || entry->lower <= best)
      continue;
    int64_t lost = 0;
    for (int64_t w = 0; w < words && entry->lower - rows->scale * lost > best; w++)
      for (uint64_t gone = entry->rows[w] & ~worker->present[w]; gone; gone &= gone - 1)
        lost += rows->worth[64 * w + __builtin_ctzll (gone)];
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
  for (int32_t i = 0; i < level->start[worker->rows->lists]; i++)
    entry->rows[level->ids[i] >> 6] |= (uint64_t) 1 << (level->ids[i] & 63);
}

/* A split of a depth-three problem: one pass, or less where the sides have been met before on another path. */
static void try_pass (struct worker *worker, struct level *level, int32_t test, int64_t upper, int64_t *low,
                      int64_t *high) {
  const uint64_t *code = worker->rows->code;
  const int small = worker->model->gather (worker, level, test);
  uint64_t hash[2][2] = {{0}};
  int known[2] = {0, 0};
  if (worker->two.most) {
    const int32_t count = worker->small_start[worker->rows->lists];
    for (int32_t i = 0; i < count; i++) {
      hash[small][0] += code[2 * worker->small_ids[i]];
      hash[small][1] += code[2 * worker->small_ids[i] + 1];
    }
    for (int half = 0; half < 2; half++)
      hash[!small][half] = level->hash[half] - hash[small][half];
    for (int side = 0; side < 2; side++) {
      int64_t value;
      known[side] = two_table_find (&worker->two, hash[side], &value);
      if (known[side])
        low[side] = high[side] = value;
    }
    worker->statistics.known_sides += known[0] + known[1];
  }
  if ((known[0] && known[1]) || plus (low[0], low[1]) >= upper)
    return;
  int64_t exact[2];
  if (!worker->model->pass (worker, level, test, small, &exact[1], &exact[0]))
    return;
  worker->statistics.passes++;
  for (int side = 0; side < 2; side++) {
    high[side] = low[side] = exact[side];
    if (worker->two.most && !known[side])
      two_table_store (&worker->solver->arena, &worker->two, hash[side], exact[side]);
  }
}

/* One split: bounds on its two sides, exact where they are below what `upper` allows. Updates the level's bounds. */
static void try_split (struct worker *worker, struct level *level, int32_t depth, int32_t useful, int32_t test,
                       int64_t upper, struct fact *fact, int64_t *low) {
  const struct options *options = &worker->solver->options;
  int64_t high[2];
  low[0] = level->low_no[test];
  low[1] = level->low_yes[test];
  worker->statistics.splits++;
  high[0] = high[1] = UNREACHABLE;
  if (useful == pass_depth)
    try_pass (worker, level, test, upper, low, high);
  else {
    int first = 1;
    if (options->dynamic)
      first = low[1] != low[0] ? low[1] > low[0] : worker->model->larger_side (worker, level, test);
    for (int turn = 0; turn < 2; turn++) {
      const int side = turn ? !first : first;
      if (turn && solver_stopping (worker->solver)) { /* out of time: one leaf completes the tree */
        high[side] = worker->model->side_leaf (worker, level, test, side);
        break;
      }
      if (plus (low[0], low[1]) >= upper)
        break;
      struct fact child;
      solve_child (worker, level, depth, test, side, options->hierarchical ? minus (upper, low[!side]) : UNREACHABLE,
                   &child);
      low[side] = larger (low[side], child.lower);
      high[side] = child.upper;
    }
  }
  *fact = (struct fact){plus (low[0], low[1]), plus (high[0], high[1]), test, 0};
}

/* The best stump, where a problem of depth one is asked for. */
static void solve_stump (struct worker *worker, struct level *level, struct fact *fact) {
  for (int32_t test = 0; test < worker->rows->shape.tests; test++) {
    if (worker->model->idle (worker, level, test))
      continue;
    const int64_t value = plus (worker->model->side_leaf (worker, level, test, 0),
                                worker->model->side_leaf (worker, level, test, 1));
    if (value < fact->upper)
      *fact = (struct fact){fact->lower, value, test, 2};
  }
  fact->lower = fact->upper;
}

static void best_root (const struct worker *worker, const struct level *level, struct fact *fact) {
  for (int32_t test = 0; test < worker->rows->shape.tests; test++)
    if (level->root_value[test] < fact->upper)
      *fact = (struct fact){fact->lower, level->root_value[test], test, 1};
}

static void adopt (struct fact *fact, const struct fact *known) {
  fact->lower = larger (fact->lower, known->lower);
  if (known->split != is_unknown && known->upper < fact->upper)
    *fact = (struct fact){fact->lower, known->upper, known->split, known->shallow};
}

/* What is known of an opened level from the bounds of its splits. */
static int64_t lowest_split (const struct worker *worker, const struct level *level, int64_t most) {
  for (int32_t test = 0; test < worker->rows->shape.tests; test++)
    most = smaller (most, larger (level->bound[test], plus (level->low_yes[test], level->low_no[test])));
  return most;
}

static void begin_bounds (const struct worker *worker, struct level *level) {
  for (int32_t test = 0; test < worker->rows->shape.tests; test++) {
    level->low_yes[test] = level->low_no[test] = worker->shared->price;
    level->bound[test] = worker->model->idle (worker, level, test) ? UNREACHABLE : INT64_MIN;
  }
}

static void spread (struct worker *worker, struct level *level, int32_t test, int64_t yes, int64_t no) {
  if (worker->shared->similar)
    worker->model->similar (worker, level, test, smaller (yes, UNREACHABLE), smaller (no, UNREACHABLE));
}

/* All splits of an opened level, best first, by one thread. */
static void search_alone (struct worker *worker, struct level *level, int32_t depth, int32_t useful, int64_t upper,
                          struct fact *fact) {
  struct shared *shared = worker->shared;
  const int at_root = worker->path_length == 0;
  const int64_t floor = fact->lower;
  for (int32_t i = 0; i < worker->rows->shape.tests; i++) {
    const int32_t test = level->order[i];
    const int64_t goal = smaller (upper, fact->upper);
    if (level->bound[test] >= UNREACHABLE) /* says nothing about these rows */
      continue;
    if (plus (level->low_yes[test], level->low_no[test]) >= goal) {
      worker->statistics.skipped++;
      continue;
    }
    if (poll_search (worker))
      return;
    struct fact split;
    int64_t low[2];
    try_split (worker, level, depth, useful, test, goal, &split, low);
    level->bound[test] = split.lower;
    if (split.upper < fact->upper) {
      *fact = (struct fact){floor, split.upper, test, 0};
      if (at_root)
        publish (worker, level, depth, fact);
      if (fact->upper <= floor)
        return;
    }
    spread (worker, level, test, low[1], low[0]);
    if (at_root && depth == shared->whole_depth)
      atomic_store (&shared->bound, larger (floor, lowest_split (worker, level, fact->upper)));
  }
}

/* Takes splits of a team until none is left; `level` holds its rows, opened, in this thread. */
static void work_in_team (struct worker *worker, struct level *level, struct team *team, int32_t *known) {
  enum { room = 64 };
  struct pool *pool = worker->shared->pool;
  const int32_t tests = worker->rows->shape.tests;
  const int at_root = worker->path_length == 0;
  for (;;) {
    struct solved_split news[room];
    int32_t count;
    while ((count = team_news (pool, team, *known, news, room)) > 0) {
      for (int32_t i = 0; i < count; i++)
        spread (worker, level, news[i].test, news[i].yes, news[i].no);
      *known += count;
    }
    int64_t goal;
    const int32_t place = team_take (pool, team, tests, &goal);
    if (place == tests)
      return;
    const int32_t test = level->order[place];
    if (level->bound[test] >= UNREACHABLE)
      continue;
    if (plus (level->low_yes[test], level->low_no[test]) >= goal) {
      worker->statistics.skipped++;
      continue;
    }
    if (poll_search (worker))
      return;
    struct fact split;
    int64_t low[2];
    try_split (worker, level, team->depth, team->useful, test, goal, &split, low);
    const struct solved_split solved = {test, low[1], low[0]};
    if (team_record (pool, team, tests, &solved, &split) && at_root)
      publish (worker, level, team->depth, &split);
  }
}

/* Joins a team below this depth, if there is one. */
static int help (struct worker *worker, int32_t below) {
  struct pool *pool = worker->shared->pool;
  const int32_t tests = worker->rows->shape.tests;
  struct team *team = pool_join (pool, below, tests);
  if (!team)
    return 0;
  struct level *level = level_at (worker, team->depth);
  if (level) {
    const struct level *from = team->level;
    const int32_t length = worker->path_length, entries = from->start[worker->rows->lists];
    int32_t *kept = worker->path_kept + (int64_t) team->depth * worker->level_count; /* the path it is helping from */
    memcpy (kept, worker->path_stack, (size_t) length * sizeof *kept);
    memcpy (worker->path_stack, team->path, (size_t) team->path_length * sizeof *team->path);
    worker->path_length = team->path_length;
    memcpy (level->ids, from->ids, (size_t) entries * sizeof *level->ids);
    memcpy (level->start, from->start, sizeof level->start);
    memcpy (level->hash, from->hash, sizeof level->hash);
    worker->model->measure (worker, level);
    if (worker->model->pairs (worker, level)) {
      memcpy (level->order, from->order, (size_t) tests * sizeof *level->order);
      begin_bounds (worker, level);
      int32_t known = 0;
      work_in_team (worker, level, team, &known);
    }
    memcpy (worker->path_stack, kept, (size_t) length * sizeof *kept);
    worker->path_length = length;
  }
  pool_leave (pool, team);
  return level != NULL;
}

/* The splits of a level offered to all threads. Returns 0 without memory for that. */
static int search_together (struct worker *worker, struct level *level, int32_t depth, int32_t useful, int64_t upper,
                            struct fact *fact) {
  struct arena *arena = &worker->solver->arena;
  struct pool *pool = worker->shared->pool;
  const int32_t tests = worker->rows->shape.tests;
  struct team team = {0};
  team.solved = arena_allocate (arena, (size_t) tests, sizeof *team.solved);
  team.bound = arena_allocate (arena, (size_t) tests, sizeof *team.bound);
  int32_t *path = arena_allocate (arena, (size_t) worker->path_length + 1, sizeof *path);
  const int fits = team.solved && team.bound && path;
  if (fits) {
    memcpy (path, worker->path_stack, (size_t) worker->path_length * sizeof *path);
    for (int32_t test = 0; test < tests; test++)
      team.bound[test] = level->bound[test];
    team.level = level;
    team.path = path;
    team.path_length = worker->path_length;
    team.depth = depth;
    team.useful = useful;
    team.floor = fact->lower;
    team.upper = upper;
    team.fact = *fact;
    int32_t known = 0;
    pool_offer (pool, &team);
    work_in_team (worker, level, &team, &known);
    pool_withdraw (pool, &team);
    while (!pool_is_done (pool, &team)) {
      worker->work += 100000;
      poll_search (worker);
      if (!help (worker, depth))
        pool_wait (pool);
    }
    struct solved_split news[1];
    while (team_news (pool, &team, known, news, 1)) {
      spread (worker, level, news[0].test, news[0].yes, news[0].no);
      known++;
    }
    memcpy (level->bound, team.bound, (size_t) tests * sizeof *level->bound);
    *fact = (struct fact){fact->lower, team.fact.upper, team.fact.split, team.fact.shallow};
  }
  arena_release (arena, team.solved);
  arena_release (arena, team.bound);
  arena_release (arena, path);
  return fits;
}

/* All splits of an opened level; leaves a bound for the level in `fact`. */
static void search_splits (struct worker *worker, struct level *level, int32_t depth, int32_t useful, int64_t upper,
                           struct fact *fact) {
  treeml_solver *solver = worker->solver;
  order_tests (worker, level, worker->path_length == 0);
  begin_bounds (worker, level);
  if (!worker->shared->pool || useful <= pass_depth || !search_together (worker, level, depth, useful, upper, fact))
    search_alone (worker, level, depth, useful, upper, fact);
  int64_t lowest = lowest_split (worker, level, fact->upper);
  if (!solver->options.strong && !solver_stopping (solver) && lowest < fact->upper)
    lowest = smaller (lowest, upper);
  fact->lower = larger (fact->lower, lowest);
}

/* The optimum of the rows of the level for `depth`, if it is below `upper`; otherwise a bound that is not. */
static void solve (struct worker *worker, int32_t depth, int64_t upper, struct fact *fact) {
  treeml_solver *solver = worker->solver;
  const struct options *options = &solver->options;
  struct level *level = worker->levels[depth];
  const int at_root = worker->path_length == 0;
  const int64_t leaf = worker->model->leaf (worker, level), nodes = worker->statistics.nodes++;
  /* The leaf is always a candidate; a split has two leaves to pay for. */
  *fact = (struct fact){smaller (leaf, 2 * worker->shared->price), leaf, leaf < UNREACHABLE ? is_leaf : is_unknown, 0};
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
  if (options->archive && useful >= pass_depth && worker->shared->similar) {
    fact->lower = larger (fact->lower, archive_bound (worker, level, useful));
    if (fact->lower >= upper)
      return;
  }
  if (useful == 1) {
    worker->model->sums (worker, level);
    solve_stump (worker, level, fact);
    return;
  }
  if (!worker->model->pairs (worker, level))
    return;
  best_root (worker, level, fact);
  if (useful == 2) {
    fact->lower = fact->upper;
    return;
  }
  if (at_root)
    publish (worker, level, depth, fact);
  if (fact->upper > fact->lower) {
    const int protect = solver_wipes (solver);
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
  struct level *spare = worker->spare;
  load_child (worker, level, spare, test, yes);
  worker->model->sums (worker, spare);
  struct fact fact = {0, worker->model->leaf (worker, spare), is_leaf, 0};
  solve_stump (worker, spare, &fact);
  const int32_t node = emit (worker, tree, fact.split);
  if (node < 0 || fact.split < 0)
    return node;
  const int32_t left = emit (worker, tree, -1), right = emit (worker, tree, -1);
  if (left < 0 || right < 0)
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
  *target = minus (*target, fact.upper);
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

/* The tree behind the best fact of the root. Its parts are in the cache; what is not is solved again, or, when the
   search has been stopped, left as leaves: then the tree is worth what it is worth. */
static void settle (struct worker *worker, struct level *level, int32_t depth) {
  treeml_solver *solver = worker->solver;
  struct shared *shared = worker->shared;
  struct tree tree = {0};
  if (!shared->pending)
    return;
  shared->pending = 0;
  int64_t value = shared->fact.upper;
  const int32_t root = rebuild (worker, &tree, level, depth, &shared->fact);
  if (root >= 0 && solver_stopping (solver))
    value = minus (tree_finish (solver, worker->leaf, &tree, 0), worker->rows->offset);
  if (root < 0 || value < 0 || value >= shared->tree_value) {
    tree_release (&solver->arena, &tree);
    atomic_store (&shared->value, shared->tree_value);
    return;
  }
  tree_release (&solver->arena, &shared->tree);
  shared->tree = tree;
  shared->tree_value = value;
  shared->has_tree = 1;
  atomic_store (&shared->value, value);
}

/* A better tree is known at the root. Where the cache may lose its parts, it is built at once. */
static void publish (struct worker *worker, struct level *level, int32_t depth, const struct fact *fact) {
  treeml_solver *solver = worker->solver;
  struct shared *shared = worker->shared;
  pthread_mutex_lock (&shared->lock);
  if (fact->upper >= atomic_load (&shared->value)) {
    pthread_mutex_unlock (&shared->lock);
    return;
  }
  shared->fact = *fact;
  shared->pending = 1;
  atomic_store (&shared->value, fact->upper);
  worker->statistics.improvements++;
  if (!solver->options.cache_kind || solver_wipes (solver) || solver_stopping (solver))
    settle (worker, level, depth);
  pthread_mutex_unlock (&shared->lock);
  const int64_t value = atomic_load (&shared->value), offset = worker->rows->offset + solver->offset;
  if (value + offset < solver->options.enough)
    solver_stop (solver, TREEML_ENOUGH);
  solver_poll (solver, worker->first, value + offset, atomic_load (&shared->bound) + offset, 1);
}

static void worker_release (struct worker *worker) {
  struct arena *arena = &worker->solver->arena;
  for (int32_t i = 0; worker->levels && i < worker->level_count; i++)
    level_release (worker, worker->levels[i]);
  level_release (worker, worker->spare);
  if (worker->model)
    worker->model->worker_release (worker);
  arena_release (arena, worker->levels);
  arena_release (arena, worker->small_ids);
  arena_release (arena, worker->scratch);
  arena_release (arena, worker->path);
  arena_release (arena, worker->path_stack);
  arena_release (arena, worker->path_kept);
  for (int32_t i = 0; i < worker->archive_size; i++)
    arena_release (arena, worker->archive[i].rows);
  arena_release (arena, worker->archive);
  arena_release (arena, worker->present);
  two_table_release (arena, &worker->two);
  leaf_destroy (worker->leaf);
}

static int worker_make (struct worker *worker, struct shared *shared, treeml_solver *solver, const struct rows *rows,
                        const struct model *model) {
  struct arena *arena = &solver->arena;
  worker->shared = shared;
  worker->solver = solver;
  worker->rows = rows;
  worker->kernel = solver->kernel;
  worker->cells = cells_find (solver->kernel_choice);
  worker->model = model;
  worker->level_count = shared->whole_depth + 1;
  worker->two.most = solver->options.cache_kind ? solver->options.small_cache : 0;
  while (worker->two.most & (worker->two.most - 1)) /* down to a power of two */
    worker->two.most &= worker->two.most - 1;
  const size_t tests = (size_t) rows->shape.stride + 64, words = (size_t) (rows->rows + 63) / 64 + 1;
  worker->leaf = leaf_create (solver);
  worker->levels = arena_allocate (arena, (size_t) worker->level_count, sizeof *worker->levels);
  worker->small_ids = arena_allocate (arena, (size_t) rows->entries + 16, sizeof *worker->small_ids);
  worker->scratch = arena_allocate (arena, 2 * tests, sizeof (int64_t));
  worker->path = arena_allocate (arena, (size_t) worker->level_count + 1, sizeof *worker->path);
  worker->path_stack = arena_allocate (arena, (size_t) worker->level_count + 1, sizeof *worker->path_stack);
  if (solver->options.threads > 1)
    worker->path_kept = arena_allocate (arena, (size_t) worker->level_count * (size_t) worker->level_count + 1,
                                        sizeof *worker->path_kept);
  const int kept = solver->options.threads <= 1 || worker->path_kept;
  const int fits = model->worker_make (worker) && kept && worker->leaf && worker->levels && worker->small_ids &&
                   worker->scratch && worker->path && worker->path_stack && (worker->spare = level_make (worker));
  /* Under a memory limit the levels come first, and the cache gets what is left. */
  for (int32_t depth = 1; fits && solver->options.memory != UNLIMITED && depth < worker->level_count && depth <= 64; depth++)
    if (!(worker->levels[depth] = level_make (worker)))
      return 0;
  if (fits && solver->options.memory != UNLIMITED) {
    /* The results of depth two get an eighth of that: a table grows beside its old self. */
    const size_t left = solver->arena.limit - atomic_load (&arena->used);
    const int64_t room = (int64_t) (left / 8 / 24 / (size_t) solver->options.threads);
    while (worker->two.most > room)
      worker->two.most /= 2;
  }
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

/* Which model takes the problem, if any does. */
static const struct model *model_for (const treeml_solver *solver) {
  const struct options *options = &solver->options;
  if (options->general || !options->pairs || options->once || solver->column_cost || solver->limited_cost ||
      solver->purity_weight || solver->tests > 8192)
    return NULL;
  if (options->leaves != UNLIMITED && (options->depth >= 62 || options->leaves < (int64_t) 1 << options->depth))
    return NULL;
  if (solver->goal == goal_classes && options->support <= INT32_MAX / 2) {
    if (solver->classes == 2 && options->support <= 1 && !solver->count)
      return &signed_model;
    if (!solver->count || options->support > 1)
      return &class_model;
  }
  if (solver->goal == goal_loss && solver->loss == TREEML_SQUARED && solver->outputs <= 1024 &&
      (!solver->count || options->support > 1))
    return &moment_model;
  return NULL;
}

int search_takes (treeml_solver *solver) { return model_for (solver) != NULL; }

/* The answer: the tree is checked against the data as given before its value is believed. */
static int finish (treeml_solver *solver, struct worker *worker, const struct rows *rows, struct shared *shared) {
  struct answer *answer = &solver->answers[0];
  answer->bound = plus (shared->bound, rows->offset + solver->offset);
  answer->value = INT64_MAX;
  answer->status = TREEML_UNKNOWN;
  if (!shared->has_tree) {
    if (!solver_stopping (solver) && shared->bound >= shared->value)
      answer->status = TREEML_INFEASIBLE;
    return TREEML_OK;
  }
  if (solver_stopping (solver) == 1 + TREEML_MEMORY)
    solver->arena.limit = SIZE_MAX; /* room to hand over what was found */
  const int64_t value = tree_finish (solver, worker->leaf, &shared->tree, 0);
  if (value >= UNREACHABLE)
    return solver_fail (solver, TREEML_OUT_OF_MEMORY, "no memory to hand over the tree");
  if (!tree_keeps_limits (solver, &shared->tree))
    return solver_fail (solver, TREEML_INTERNAL, "the tree found breaks a bound on its shape");
  if (value > shared->value + rows->offset + shared->slack)
    return solver_fail (solver, TREEML_INTERNAL, "the tree found costs %lld, not %lld as claimed", (long long) value,
                        (long long) (shared->value + rows->offset));
  answer->tree = shared->tree;
  memset (&shared->tree, 0, sizeof shared->tree);
  answer->value = value + solver->offset;
  answer->status = answer->bound + shared->slack >= answer->value ? TREEML_OPTIMAL : TREEML_FEASIBLE;
  answer->bound = answer->status == TREEML_OPTIMAL ? answer->value : smaller (answer->bound, answer->value);
  return TREEML_OK;
}

static int kernel_choice (const treeml_solver *solver) {
  const char *forced = getenv ("TREEML_KERNEL");
  if (solver->options.kernel || !forced || !*forced)
    return (int) solver->options.kernel;
  return !strcmp (forced, "portable") ? 1 : !strcmp (forced, "avx2") ? 2 : !strcmp (forced, "avx512") ? 3 : 4;
}

static void begin_with_start (struct worker *worker) {
  treeml_solver *solver = worker->solver;
  struct shared *shared = worker->shared;
  struct tree start = {0};
  if (!solver->start.nodes || tree_copy (&solver->arena, &start, &solver->start))
    return;
  const int64_t value = tree_finish (solver, worker->leaf, &start, 0);
  if (value < UNREACHABLE && value - worker->rows->offset < shared->value &&
      tree_keeps_limits (solver, &start)) {
    shared->tree = start;
    shared->value = shared->tree_value = value - worker->rows->offset;
    shared->has_tree = 1;
  } else
    tree_release (&solver->arena, &start);
}

/* Depth after depth: a shallow optimum is an upper bound for the next. */
static void deepen (struct worker *worker) {
  treeml_solver *solver = worker->solver;
  struct shared *shared = worker->shared;
  int32_t depth = solver->options.deepening && shared->whole_depth > pass_depth ? pass_depth : shared->whole_depth;
  for (;;) {
    shared->depth = depth;
    struct level *level = level_at (worker, depth);
    if (!level)
      return;
    load_root (worker, level);
    const int64_t leaf = worker->model->leaf (worker, level);
    struct fact fact = {0, leaf, leaf < UNREACHABLE ? is_leaf : is_unknown, 0};
    if (leaf < UNREACHABLE)
      publish (worker, level, depth, &fact);
    settle (worker, level, depth);
    shared->bound = smaller (leaf, 2 * shared->price);
    if (shared->value <= shared->bound)
      return;
    solve (worker, depth, shared->value, &fact);
    if (fact.upper < UNREACHABLE)
      publish (worker, level, depth, &fact);
    settle (worker, level, depth);
    if (depth == shared->whole_depth)
      shared->bound = fact.lower;
    if (solver_stopping (solver) || depth == shared->whole_depth)
      return;
    depth = depth < 6 ? depth + 1 : shared->whole_depth;
  }
}

static void *helper (void *argument) {
  struct worker *worker = argument;
  struct pool *pool = worker->shared->pool;
  for (;;) {
    pthread_mutex_lock (&pool->lock);
    const int closing = pool->closing;
    pthread_mutex_unlock (&pool->lock);
    if (closing)
      return NULL;
    if (!help (worker, INT32_MAX))
      pool_wait (pool);
  }
}

static int run (treeml_solver *solver, const struct rows *rows, struct shared *shared, const struct model *model) {
  /* A problem that one pass level solves has nothing to share. */
  const int32_t wanted = shared->whole_depth > pass_depth ? (int32_t) solver->options.threads : 1;
  struct worker *workers = arena_allocate (&solver->arena, (size_t) wanted, sizeof *workers);
  pthread_t *threads = arena_allocate (&solver->arena, (size_t) wanted, sizeof *threads);
  struct pool pool = {0};
  int32_t made = 0, started = 1;
  int fits = workers && threads;
  for (; fits && made < wanted; made++)
    if (!worker_make (&workers[made], shared, solver, rows, model)) {
      made++;
      fits = 0;
      break;
    }
  pthread_mutex_init (&shared->lock, NULL);
  if (fits) {
    workers[0].first = 1;
    begin_with_start (&workers[0]);
    solver->statistics.build_microseconds = (int64_t) (1e6 * (solver_clock () - solver->began));
    if (wanted > 1) {
      pool_open (&pool);
      shared->pool = &pool;
      while (started < wanted && !pthread_create (&threads[started], NULL, helper, &workers[started]))
        started++;
    }
    deepen (&workers[0]);
    if (wanted > 1) {
      pthread_mutex_lock (&pool.lock);
      pool.closing = 1;
      pthread_cond_broadcast (&pool.changed);
      pthread_mutex_unlock (&pool.lock);
      for (int32_t i = 1; i < started; i++)
        pthread_join (threads[i], NULL);
      pool_close (&pool);
      shared->pool = NULL;
    }
    finish (solver, &workers[0], rows, shared);
  } else
    solver_fail (solver, TREEML_OUT_OF_MEMORY, "no memory for the search");
  pthread_mutex_destroy (&shared->lock);
  for (int32_t i = 0; i < made; i++) {
    statistics_add (&solver->statistics, &workers[i].statistics);
    worker_release (&workers[i]);
  }
  arena_release (&solver->arena, workers);
  arena_release (&solver->arena, threads);
  return solver->code;
}

int search_run (treeml_solver *solver) {
  const struct model *model = model_for (solver);
  struct rows rows;
  const int code = model == &signed_model  ? rows_make_signed (solver, &rows)
                   : model == &class_model ? rows_make_classes (solver, &rows)
                                           : rows_make_moments (solver, &rows);
  if (code)
    return code;
  if (!rows.lists) { /* too many numbers for lists */
    rows_release (solver, &rows);
    return general_run (solver);
  }
  const int bits = model != &signed_model ? 32 : rows.whole <= INT16_MAX && !rows.dense ? 16 : rows.whole <= INT32_MAX ? 32 : 64;
  struct shared shared = {0};
  solver->kernel_choice = kernel_choice (solver);
  solver->kernel = kernel_find (solver->kernel_choice, bits);
  solver->cache = cache_create (&solver->arena, (enum cache_kind) solver->options.cache_kind,
                                (enum wipe_strategy) solver->options.wipe, (int) solver->options.wipe_share,
                                (int) solver->options.threads, solver->options.cache);
  if (!solver->kernel)
    solver_fail (solver, TREEML_BAD_ARGUMENT, "this processor cannot run the kernel asked for");
  else if (!solver->cache)
    solver_fail (solver, TREEML_OUT_OF_MEMORY, "no memory for the cache");
  else {
    const int64_t deepest = rows.entries > 1 ? rows.entries - 1 : 0;
    shared.price = solver->options.leaf_price;
    shared.slack = model == &moment_model ? 64 : 0;
    shared.similar = solver->options.similarity && solver->options.support <= 1;
    shared.whole_depth = (int32_t) smaller (smaller (solver->options.depth, deepest), rows.shape.tests);
    shared.value = solver->options.upper == UNLIMITED ? UNREACHABLE
                                                      : solver->options.upper - rows.offset - solver->offset;
    shared.tree_value = shared.value;
    solver->statistics.tests = rows.shape.tests;
    solver->statistics.rows = rows.rows;
    solver->statistics.unavoidable = rows.offset + solver->offset;
    run (solver, &rows, &shared, model);
    cache_count (solver->cache, &solver->statistics.entries, &solver->statistics.wipes, &solver->statistics.wiped);
  }
  tree_release (&solver->arena, &shared.tree);
  cache_destroy (solver->cache);
  solver->cache = NULL;
  rows_release (solver, &rows);
  return solver->code;
}
