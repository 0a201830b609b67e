/* One sub-problem of the general search: its memory, its cache key, the costs of its tests as stumps, and their
   order. */
#include "general/search.h"
#include "general/custom.h"
#include "general/hazards.h"
#include "common/bits.h"
#include "common/sort_by_score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const uint64_t *general_column (const struct general *general, int32_t test) {
  return general->solver->columns + (int64_t) general->kept[test] * general->words;
}

int32_t general_column_number (const struct general *general, int32_t test) {
  return general->solver->column_of ? general->solver->column_of[general->kept[test]] : general->kept[test];
}

void general_subproblem_release (struct general *general, struct general_subproblem *problem) {
  struct arena *arena = &general->solver->arena;
  if (!problem)
    return;
  if (!general->sparse.words)
    arena_release (arena, problem->rows);
  for (int side = 0; side < 2; side++) {
    arena_release (arena, problem->leaf[side]);
    arena_release (arena, problem->low[side]);
    arena_release (arena, problem->child[side]);
  }
  arena_release (arena, problem->bound);
  arena_release (arena, problem->upper);
  arena_release (arena, problem->fact);
  arena_release (arena, problem->child_upper);
  arena_release (arena, problem->pay);
  arena_release (arena, problem->two);
  hazards_release_tables (general, problem);
  arena_release (arena, problem->usable);
  arena_release (arena, problem->order);
  arena_release (arena, problem);
}

struct general_subproblem *general_subproblem_at (struct general *general, int32_t depth) {
  if (general->problem[depth])
    return general->problem[depth];
  struct arena *arena = &general->solver->arena;
  const size_t tests = (size_t) general->tests + 1, levels = (size_t) general->levels;
  struct general_subproblem *problem = arena_allocate (arena, 1, sizeof *problem);
  int fits = problem != NULL;
  if (fits) {
    problem->rows = general->sparse.words ? general->sparse.words
                                          : arena_allocate (arena, (size_t) general->words, sizeof *problem->rows);
    for (int side = 0; side < 2; side++) {
      problem->leaf[side] = arena_allocate (arena, tests * levels, sizeof *problem->leaf[side]);
      problem->low[side] = arena_allocate (arena, tests * levels, sizeof *problem->low[side]);
      problem->child[side] = arena_allocate (arena, levels, sizeof *problem->child[side]);
      fits = fits && problem->leaf[side] && problem->low[side] && problem->child[side];
    }
    problem->bound = arena_allocate (arena, tests * levels, sizeof *problem->bound);
    problem->upper = arena_allocate (arena, levels, sizeof *problem->upper);
    problem->fact = arena_allocate (arena, levels, sizeof *problem->fact);
    problem->child_upper = arena_allocate (arena, levels, sizeof *problem->child_upper);
    problem->pay = arena_allocate (arena, tests, sizeof *problem->pay);
    problem->two = arena_allocate (arena, general->hazards ? tests : 1, sizeof *problem->two);
    problem->usable = arena_allocate (arena, tests, sizeof *problem->usable);
    problem->order = arena_allocate (arena, tests, sizeof *problem->order);
    fits = fits && problem->rows && problem->bound && problem->upper && problem->fact && problem->child_upper &&
           problem->pay && problem->two && problem->usable && problem->order &&
           (depth < 2 || hazards_make_tables (general, problem));
  }
  if (!fits) {
    general_subproblem_release (general, problem);
    solver_stop (general->solver, TREEML_MEMORY);
    return NULL;
  }
  return general->problem[depth] = problem;
}

static uint64_t mix (uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static int compare_literals (const void *a, const void *b) { return *(const int32_t *) a - *(const int32_t *) b; }

static void hash_rows (const struct general *general, const uint64_t *rows, uint64_t hash[2]) {
  uint64_t first = (uint64_t) general->solver->options.seed, second = ~first;
  for (int64_t w = 0; w < general->words; w++) {
    first = mix (first ^ rows[w]);
    second = (second ^ rows[w]) * 0x9fb21c651e98df25u;
    second ^= second >> 29;
  }
  hash[0] = first;
  hash[1] = second;
}

/* The answers that all of the rows give. */
static void hash_closure (const struct general *general, const uint64_t *rows, uint64_t hash[2]) {
  for (int32_t test = 0; test < general->tests; test++) {
    const uint64_t *mask = general_column (general, test);
    uint64_t yes = 0, no = 0;
    for (int64_t w = 0; w < general->words; w++) {
      yes |= rows[w] & mask[w];
      no |= rows[w] & ~mask[w];
    }
    if (!yes || !no)
      add_to_closure (hash, yes ? 1 : 0, (uint64_t) test);
  }
}

static void check_rows (const struct general *general, const uint64_t *rows, struct key *key) {
#ifdef TREEML_CHECK
  for (int64_t row = 0; row < general->solver->rows; row++)
    if (rows[row >> 6] >> (row & 63) & 1)
      key->check += key_check ((uint64_t) row);
#else
  (void) general, (void) rows, (void) key;
#endif
}

struct key general_key_of_leaf (const struct general *general, const uint64_t *rows) {
  struct key key = {.path = NULL};
  check_rows (general, rows, &key);
  hash_rows (general, rows, key.hash);
  return key;
}

/* Hashes the rows and whatever part of the path changes the costs or the tests below; or the path itself. */
struct key general_key (struct general *general, const uint64_t *rows, int32_t depth, int64_t leaves,
                        int32_t quantile) {
  const treeml_solver *solver = general->solver;
  struct key key = {.path = general->sorted,
                    .length = general->path_length,
                    .depth = depth,
                    .leaves = (int32_t) (leaves * general->levels + quantile)};
  check_rows (general, rows, &key);
  if (is_keyed_by_path (solver->options.cache_kind)) {
    memcpy (general->sorted, general->path, (size_t) general->path_length * sizeof *general->path);
    qsort (general->sorted, (size_t) general->path_length, sizeof *general->sorted, compare_literals);
    for (int32_t i = 0; i < general->path_length; i++) {
      const uint64_t code = mix ((uint64_t) general->sorted[i] + 0x9e3779b97f4a7c15u);
      key.hash[0] += code;
      key.hash[1] += mix (code + 0x632be59bd9b4e019u);
    }
    return key;
  }
  if (solver->options.cache_kind == closed_cache)
    hash_closure (general, rows, key.hash);
  else
    hash_rows (general, rows, key.hash);
  if (solver->options.once || solver->column_cost)
    for (int32_t i = 0; i < general->path_length; i++) {
      const int32_t test = general->path[i] / 2, number = general_column_number (general, test);
      int repeated = 0;
      for (int32_t j = 0; j < i && !repeated; j++)
        repeated = general_column_number (general, general->path[j] / 2) == number;
      if (!repeated) {
        const uint64_t code = mix ((uint64_t) number + 0x9e3779b97f4a7c15u);
        key.hash[0] += code;
        key.hash[1] += mix (code + 0x632be59bd9b4e019u);
      }
    }
  return key;
}

int64_t general_count (const struct general *general, const uint64_t *rows) {
  const int64_t *count = general->solver->count;
  int64_t sum = 0;
  for (int64_t w = 0; w < general->words; w++)
    if (count)
      for (uint64_t rest = rows[w]; rest; rest &= rest - 1)
        sum += count[64 * w + lowest_bit (rest)];
    else
      sum += count_bits (rows[w]);
  return sum;
}

int general_poll (struct general *general, int64_t work) {
  treeml_solver *solver = general->solver;
  if (solver_stopping (solver))
    return 1;
  general->work += work;
  if (general->work < GENERAL_CLOCK_WORK)
    return 0;
  general->work = 0;
  return solver_poll (solver, 1, general->best[0] + solver->offset, general->root_bound[0] + solver->offset, 0);
}

void general_enter (struct general *general, const struct general_subproblem *from, uint64_t *to, int32_t test,
                    int yes) {
  const uint64_t *mask = general_column (general, test);
  if (general->sparse.words)
    sparse_bitset_intersect (&general->sparse, mask, yes);
  else
    for (int64_t w = 0; w < general->words; w++)
      to[w] = from->rows[w] & (yes ? mask[w] : ~mask[w]);
}

void general_leave (struct general *general) {
  if (general->sparse.words)
    sparse_bitset_backtrack (&general->sparse);
}

/* Determines which tests split the rows, what they add to the value, and what their sides cost as leaves. */
void general_open (struct general *general, struct general_subproblem *problem, int paired) {
  treeml_solver *solver = general->solver;
  const int32_t levels = general->levels;
  const int64_t counted = solver->column_cost ? general_count (general, problem->rows) : 0;
  for (int32_t test = 0; test < general->tests; test++) {
    const uint64_t *mask = general_column (general, test);
    const int32_t number = general_column_number (general, test);
    uint64_t yes = 0, no = 0;
    for (int64_t w = 0; w < general->words; w++) {
      yes |= problem->rows[w] & mask[w];
      no |= problem->rows[w] & ~mask[w];
    }
    problem->usable[test] = yes && no && !(solver->options.once && general->used[number]);
    problem->pay[test] = solver->column_cost ? counted * solver_column_price (solver, general->used, number) : 0;
  }
  if (paired)
    return;
  for (int64_t at = 0; general->path_length == 0 && at < (int64_t) general->tests * levels; at++)
    problem->leaf[0][at] = problem->leaf[1][at] = UNREACHABLE; /* if the search is stopped before they are known */
  /* Computing order statistics requires a look at every row. */
  const int64_t work = (solver->goal == goal_loss ? 512 * levels : 8) * general->words;
  if (solver->goal == goal_custom)
    custom_open (general, problem);
  else if (solver->goal == goal_hazards)
    hazards_open (general, problem);
  else
    for (int32_t test = 0; test < general->tests; test++)
      if (problem->usable[test] && !general_poll (general, work))
        for (int side = 0; side < 2; side++) {
          uint64_t *members = general->sparse.words ? general->sparse.words : general->scratch;
          general_enter (general, problem, members, test, side);
          leaf_costs (general->leaf, members, problem->leaf[side] + (int64_t) test * levels);
          if (general->floors)
            problem->low[side][test] = plus (leaf_floor (general->leaf, members), general->price);
          general_leave (general);
        }
}

/* Orders the tests by their cost as stumps; for classes optionally by information gain. */
void general_order (struct general *general, struct general_subproblem *problem, int at_root, const double *value) {
  treeml_solver *solver = general->solver;
  const int64_t how = solver->options.order;
  double *score = (double *) (void *) problem->bound; /* this array is not in use yet */
  for (int32_t i = 0; i < general->tests; i++)
    problem->order[i] = i;
  if (how == 0)
    return;
  if (!at_root && !solver->options.order_everywhere) {
    memcpy (problem->order, general->problem[general->root_depth]->order,
            (size_t) general->tests * sizeof *problem->order);
    return;
  }
  for (int32_t test = 0; test < general->tests; test++) {
    score[test] = INFINITY;
    if (!problem->usable[test])
      continue;
    if (how == 1 || solver->goal != goal_classes || solver->cost) {
      const int64_t at = (int64_t) test * general->levels;
      const int64_t stump = plus (plus (problem->leaf[0][at], problem->leaf[1][at]), problem->pay[test]);
      score[test] = value ? value[test] : (double) stump;
      if (how == 3)
        score[test] = -score[test];
      continue;
    }
    double left = 0;
    for (int side = 0; side < 2; side++) {
      double whole = 0, sum[64] = {0};
      const uint64_t *mask = general_column (general, test);
      for (int64_t w = 0; w < general->words; w++)
        for (uint64_t rest = problem->rows[w] & (side ? mask[w] : ~mask[w]); rest; rest &= rest - 1) {
          const int64_t row = 64 * w + lowest_bit (rest);
          const double weight = solver->weight ? (double) solver->weight[row] : 1;
          sum[solver->label[row] & 63] += weight;
          whole += weight;
        }
      for (int k = 0; k < 64; k++)
        if (sum[k] > 0)
          left += sum[k] * log (whole / sum[k]);
    }
    score[test] = how == 2 ? left : -left;
  }
  sort_by_score (problem->order, score, general->tests);
}
