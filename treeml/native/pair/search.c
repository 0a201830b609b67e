/* Branch and bound over sub-problems (Aglin et al. 2020), two levels at a time from pair sums.

   A sub-problem is a set of rows and a depth. One pair matrix gives its depth-two value for every root test, which
   orders the tests. A split of a depth-three problem is one pass of the model, which counts only the smaller side.
   Every solved split bounds all others: a tree for the rows of one split costs more on the rows of another by at
   most the weight of the rows that only the other has (the similarity bound of Demirovic et al. 2022, used here
   between siblings, where all differences are in the weight matrix already). */
#include "pair/search_parts.h"

#include <stdlib.h>
#include <string.h>

int poll_search (struct worker *worker) {
  if (worker->completing)
    return 0;
  if (solver_stopping (worker->solver))
    return 1;
  if (worker->work < 1000000)
    return 0;
  worker->work = 0;
  if (worker->allowance && !--worker->allowance)
    solver_stop (worker->solver, search_paused);
  struct shared *shared = worker->shared;
  const int64_t offset = worker->rows->offset + worker->solver->offset;
  return solver_poll (worker->solver, worker->first, atomic_load (&shared->value) + offset,
                      atomic_load (&shared->bound) + offset, 0);
}

static int compare_literals (const void *a, const void *b) { return *(const int32_t *) a - *(const int32_t *) b; }

/* The answers that all rows of the sub-problem give. */
static void hash_closure (const struct rows *rows, const struct subproblem *problem, uint64_t hash[2]) {
  hash[0] = hash[1] = 0;
  for (int64_t at = 0; at < rows->row_bytes; at += 8) {
    const size_t length = (size_t) smaller (8, rows->row_bytes - at);
    uint64_t yes = UINT64_MAX, no = UINT64_MAX;
    for (int32_t i = 0; i < problem->start[rows->lists]; i++) {
      uint64_t answers = 0;
      memcpy (&answers, rows->row_bits + problem->ids[i] * rows->row_bytes + at, length);
      yes &= answers;
      no &= ~answers;
    }
    add_to_closure (hash, yes, (uint64_t) (2 * at));
    add_to_closure (hash, no, (uint64_t) (2 * at + 1));
  }
}

/* Whether no tree is deeper than the depth being searched. Then a fact holds for all depths, whatever depth is left
   where it was found. */
static int at_any_depth (const struct worker *worker) {
  return worker->shared->any_depth && worker->shared->depth == worker->shared->whole_depth;
}

static int32_t key_depth (const struct worker *worker, int32_t depth) {
  return at_any_depth (worker) ? INT32_MAX : depth;
}

struct key key_of (struct worker *worker, const struct subproblem *problem, int32_t depth) {
  struct key key = {.hash = {problem->hash[0], problem->hash[1]},
                    .path = worker->path,
                    .length = worker->path_length,
                    .depth = key_depth (worker, depth)};
#ifdef TREEML_CHECK
  for (int32_t i = 0; i < problem->start[worker->rows->lists]; i++)
    key.check += key_check ((uint64_t) problem->ids[i]);
#endif
  if (worker->solver->options.cache_kind == closed_cache)
    hash_closure (worker->rows, problem, key.hash);
  else if (is_keyed_by_path (worker->solver->options.cache_kind)) {
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

void push_path (struct worker *worker, int32_t test, int yes) {
  worker->path_stack[worker->path_length++] = 2 * test + yes;
}

void solve (struct worker *worker, int32_t depth, int64_t upper, struct fact *fact);

/* The depth beyond which no tree costs less than `goal`: a tree of d + 1 levels pays for d + 2 leaves. */
static int32_t paid_depth (const struct worker *worker, int32_t depth, int64_t goal) {
  const int64_t price = worker->shared->price;
  if (price <= 0 || goal >= UNREACHABLE || goal <= 0)
    return depth;
  return (int32_t) smaller (depth, larger (1, (goal - 1) / price - 1));
}

/* A tree cannot be deeper than the number of its rows allows, and a deep one may cost no less than a leaf. */
static int32_t limited_depth (const struct worker *worker, int32_t depth, int32_t entries, int64_t leaf) {
  const int32_t most = depth < entries ? depth : entries > 1 ? entries - 1 : 0;
  return most > 1 ? paid_depth (worker, most, leaf) : most;
}

int32_t useful_depth (const struct worker *worker, const struct subproblem *problem, int32_t depth) {
  return limited_depth (worker, depth, problem->start[worker->rows->lists], worker->model->leaf (worker, problem));
}

/* Looks up both sides of a test before their rows are loaded, and improves their bounds by what is known. Keys that
   need more than the hashes of the sides are left to `solve`. */
static void look_up (struct worker *worker, const struct subproblem *problem, int32_t useful, int32_t test,
                     const struct halves *halves, int64_t *low, int64_t *high) {
  const int32_t entries = problem->start[worker->rows->lists], few = worker->small_start[worker->rows->lists];
#ifdef TREEML_CHECK
  return;
#endif
  if (worker->solver->options.cache_kind != rows_cache)
    return;
  for (int side = 0; side < 2; side++) {
    const int32_t depth = limited_depth (worker, useful - 1, side == halves->small ? few : entries - few,
                                         worker->model->side_leaf (worker, problem, test, side));
    const struct key key = {.hash = {halves->hash[side][0], halves->hash[side][1]}, .depth = key_depth (worker, depth)};
    struct fact known;
    worker->statistics.lookups++;
    if (!cache_find (worker->solver->cache, &key, &known))
      continue;
    worker->statistics.hits++;
    low[side] = larger (low[side], known.lower);
    if (known.split != is_unknown && known.upper <= low[side])
      high[side] = known.upper;
  }
}

/* Solves a child of a problem of this useful depth. */
static void solve_child (struct worker *worker, struct subproblem *parent, int32_t depth, int32_t test, int yes,
                         const struct halves *halves, int64_t upper, struct fact *fact) {
  struct subproblem *below = subproblem_at (worker, depth - 1);
  if (!below) {
    *fact = (struct fact) {0, UNREACHABLE, is_unknown, 0};
    return;
  }
  load_half (worker, parent, below, test, yes, halves);
  push_path (worker, test, yes);
  solve (worker, depth - 1, upper, fact);
  worker->path_length--;
}

/* Solves a split of a depth-three problem in one pass, or without one if its sides were met on another path. */
static void try_pass (struct worker *worker, struct subproblem *problem, int32_t test, int64_t upper, int64_t *low,
                      int64_t *high) {
  struct halves halves;
  int known[2] = {0, 0};
  halve (worker, problem, test, &halves);
  for (int side = 0; side < 2; side++) {
    int64_t value;
    known[side] = depth_two_table_find (worker->two, halves.hash[side], &value);
    if (known[side])
      low[side] = high[side] = value;
  }
  worker->statistics.known_sides += known[0] + known[1];
  if ((known[0] && known[1]) || plus (low[0], low[1]) >= upper)
    return;
  int64_t exact[2];
  const enum passed passed = worker->model->pass (worker, problem, test, halves.small, upper, &exact[1], &exact[0]);
  if (passed == pass_stopped)
    return;
  worker->statistics.passes++;
  for (int side = 0; side < 2; side++) {
    if (passed == pass_bounds) {
      low[side] = larger (low[side], exact[side]);
      continue;
    }
    high[side] = low[side] = exact[side];
    if (worker->two->most && !known[side])
      depth_two_table_store (&worker->solver->arena, worker->two, halves.hash[side], exact[side]);
  }
}

/* The side to solve first. With a price per leaf the one with the lower bound is cheap to solve, and what it costs
   leaves less to be shown for the other one. */
static int first_side (const struct worker *worker, const struct subproblem *problem, int32_t test,
                       const int64_t *low) {
  if (!worker->solver->options.dynamic)
    return 1;
  const int larger = worker->model->larger_side (worker, problem, test);
  if (worker->shared->price)
    return low[1] != low[0] ? low[1] < low[0] : !larger;
  return low[1] != low[0] ? low[1] > low[0] : larger;
}

/* Solves both sides of a split of a deep problem, unless what is known about them suffices. */
static void try_sides (struct worker *worker, struct subproblem *problem, int32_t useful, int32_t test, int64_t upper,
                       int64_t *low, int64_t *high) {
  const struct options *options = &worker->solver->options;
  struct halves halves;
  halve (worker, problem, test, &halves);
  look_up (worker, problem, useful, test, &halves, low, high);
  const int first = first_side (worker, problem, test, low);
  for (int turn = 0; turn < 2; turn++) {
    const int side = turn ? !first : first;
    const int64_t leaf = worker->model->side_leaf (worker, problem, test, side);
    if (low[side] >= leaf) /* nothing is better than a leaf */
      low[side] = high[side] = leaf;
    if (turn && solver_stopping (worker->solver)) { /* out of time: a leaf completes the tree */
      high[side] = smaller (high[side], leaf);
      return;
    }
    if (plus (low[0], low[1]) >= upper)
      return;
    if (high[side] <= low[side])
      continue;
    struct fact child;
    solve_child (worker, problem, useful, test, side, &halves,
                 options->hierarchical ? minus (upper, low[!side]) : UNREACHABLE, &child);
    low[side] = larger (low[side], child.lower);
    high[side] = child.upper;
  }
}

/* Solves one split: bounds for its two sides, exact if they are below what `upper` allows. `low` receives the bounds
   that can be used for other splits: if support is bounded, a tree for other rows may violate it on these rows, so
   only bounds that hold for leaves of any size carry over. */
void try_split (struct worker *worker, struct subproblem *problem, int32_t useful, int32_t test, int64_t upper,
                struct fact *fact, int64_t *low) {
  int64_t high[2] = {UNREACHABLE, UNREACHABLE};
  low[0] = problem->low_no[test];
  low[1] = problem->low_yes[test];
  worker->statistics.splits++;
  worker->relaxed[0] = low[0];
  worker->relaxed[1] = low[1];
  if (useful == pass_depth)
    try_pass (worker, problem, test, upper, low, high);
  else
    try_sides (worker, problem, useful, test, upper, low, high);
  *fact = (struct fact) {plus (low[0], low[1]), plus (high[0], high[1]), test, 0};
  if (worker->shared->support > 1 && useful == pass_depth)
    memcpy (low, worker->relaxed, sizeof worker->relaxed);
}

/* Finds the best stump for a problem of depth one. */
void solve_stump (struct worker *worker, struct subproblem *problem, struct fact *fact) {
  if (worker->model->stump && worker->model->stump (worker, problem, fact))
    return;
  worker->model->sums (worker, problem);
  for (int32_t test = 0; test < worker->rows->shape.tests; test++) {
    if (worker->model->idle (worker, problem, test))
      continue;
    const int64_t value =
        plus (worker->model->side_leaf (worker, problem, test, 0), worker->model->side_leaf (worker, problem, test, 1));
    if (value < fact->upper)
      *fact = (struct fact) {fact->lower, value, test, both_leaves};
  }
  fact->lower = fact->upper;
}

void best_root (const struct worker *worker, const struct subproblem *problem, struct fact *fact) {
  for (int32_t test = 0; test < worker->rows->shape.tests; test++)
    if (problem->root_value[test] < fact->upper)
      *fact = (struct fact) {fact->lower, problem->root_value[test], test, two_stumps};
}

void adopt (struct fact *fact, const struct fact *known) {
  fact->lower = larger (fact->lower, known->lower);
  if (known->split != is_unknown && known->upper < fact->upper)
    *fact = (struct fact) {fact->lower, known->upper, known->split, known->shallow};
}

/* A lower bound for an opened problem, from the bounds of its splits. */
int64_t lowest_split (const struct worker *worker, const struct subproblem *problem, int64_t most) {
  for (int32_t test = 0; test < worker->rows->shape.tests; test++)
    most = smaller (most, larger (problem->bound[test], plus (problem->low_yes[test], problem->low_no[test])));
  return most;
}

/* A side that is not best as a leaf pays for two leaves. If support is bounded, that holds for these rows only, and the
   bounds of a side are used for others. */
static int64_t least_of_side (const struct worker *worker, const struct subproblem *problem, int32_t test, int yes) {
  const int64_t price = worker->shared->price;
  if (!price || worker->shared->support > 1 || worker->model->idle (worker, problem, test))
    return price;
  return smaller (2 * price, worker->model->side_leaf (worker, problem, test, yes));
}

void begin_bounds (struct worker *worker, struct subproblem *problem) {
  const int paid = worker->shared->price && worker->shared->support <= 1 && worker->model->paid_sides;
  for (int32_t test = 0; test < worker->rows->shape.tests; test++) {
    problem->bound[test] = worker->model->idle (worker, problem, test) ? UNREACHABLE : INT64_MIN;
    if (paid)
      continue;
    problem->low_yes[test] = least_of_side (worker, problem, test, 1);
    problem->low_no[test] = least_of_side (worker, problem, test, 0);
  }
  if (paid)
    worker->model->paid_sides (worker, problem);
}

void spread (struct worker *worker, struct subproblem *problem, int32_t useful, int32_t test, int64_t yes, int64_t no) {
  if (worker->shared->similar && (worker->shared->support <= 1 || useful == pass_depth))
    worker->model->similar (worker, problem, test, smaller (yes, UNREACHABLE), smaller (no, UNREACHABLE));
}

/* Searches all splits of an opened problem in one thread, best first. */
static void search_alone (struct worker *worker, struct subproblem *problem, int32_t depth, int32_t useful,
                          int64_t leaves, int64_t upper, struct fact *fact) {
  struct shared *shared = worker->shared;
  const int at_root = worker->path_length == 0;
  const int64_t floor = fact->lower;
  for (int32_t i = 0; i < worker->rows->shape.tests; i++) {
    const int32_t test = problem->order[i];
    const int64_t goal = smaller (upper, fact->upper);
    if (problem->bound[test] >= UNREACHABLE) /* the test does not split these rows */
      continue;
    if (plus (problem->low_yes[test], problem->low_no[test]) >= goal) {
      worker->statistics.skipped++;
      continue;
    }
    if (poll_search (worker))
      return;
    struct fact split;
    int64_t low[2];
    if (leaves)
      split_with_leaves (worker, problem, depth, useful, leaves, test, goal, &split, low);
    else
      try_split (worker, problem, useful, test, goal, &split, low);
    problem->bound[test] = split.lower;
    if (split.upper < fact->upper) {
      *fact = (struct fact) {floor, split.upper, test, 0};
      if (at_root)
        publish (worker, problem, depth, fact);
      if (fact->upper <= floor)
        return;
    }
    spread (worker, problem, useful, test, low[1], low[0]);
    if (at_root && depth == shared->whole_depth)
      atomic_store (&shared->bound,
                    larger (larger (floor, atomic_load (&shared->bound)), lowest_split (worker, problem, fact->upper)));
  }
}

void search_splits (struct worker *worker, struct subproblem *problem, int32_t depth, int32_t useful, int64_t leaves,
                    int64_t upper, struct fact *fact) {
  treeml_solver *solver = worker->solver;
  const int64_t goal = smaller (upper, fact->upper);
  begin_bounds (worker, problem);
  if (lowest_split (worker, problem, fact->upper) < goal)
    near_sides (worker, problem);
  if (worker->path_length && lowest_split (worker, problem, fact->upper) >= goal) {
    fact->lower = larger (fact->lower, lowest_split (worker, problem, fact->upper));
    return;
  }
  order_tests (worker, problem, worker->path_length == 0);
  if (leaves || !worker->shared->pool || useful <= pass_depth ||
      !search_with_team (worker, problem, depth, useful, upper, fact))
    search_alone (worker, problem, depth, useful, leaves, upper, fact);
  int64_t lowest = lowest_split (worker, problem, fact->upper);
  if (!solver->options.strong && !solver_stopping (solver) && lowest < fact->upper)
    lowest = smaller (lowest, upper);
  fact->lower = larger (fact->lower, lowest);
}

/* Finds the optimum of the rows of the problem for `depth` if it is below `upper`, otherwise a lower bound that is
   not. */
static const double seconds_to_complete = 0.2; /* for the tree that was found when the search was stopped */

int pairs_of_root (struct worker *worker, struct subproblem *problem, struct fact *fact) {
  const double began = clock_seconds ();
  if (worker->model->pairs (worker, problem)) {
    atomic_store (&worker->shared->is_slow, clock_seconds () - began > seconds_to_complete);
    return 1;
  }
  const int64_t floor = fact->lower;
  worker->completing = 1;
  solve_stump (worker, problem, fact);
  worker->completing = 0;
  fact->lower = floor; /* deeper trees were not looked at */
  return 0;
}

void solve (struct worker *worker, int32_t depth, int64_t upper, struct fact *fact) {
  treeml_solver *solver = worker->solver;
  const struct options *options = &solver->options;
  struct subproblem *problem = worker->problems[depth];
  const int at_root = worker->path_length == 0;
  const int64_t leaf = worker->model->leaf (worker, problem), nodes = worker->statistics.nodes++;
  /* The leaf is always a candidate; a split has to pay for two leaves. */
  *fact = (struct fact) {smaller (leaf, 2 * worker->shared->price), leaf, leaf < UNREACHABLE ? is_leaf : is_unknown, 0};
  const int32_t useful = useful_depth (worker, problem, depth);
  if (!useful || !worker->rows->shape.tests)
    fact->lower = leaf;
  if (fact->lower >= leaf || fact->lower >= upper)
    return;
  struct key key = key_of (worker, problem, useful);
  struct fact known;
  worker->statistics.lookups++;
  if (cache_find (solver->cache, &key, &known)) {
    adopt (fact, &known);
    if (fact->lower >= fact->upper || fact->lower >= upper) {
      worker->statistics.hits++;
      return;
    }
  }
  if (options->archive && useful >= pass_depth && worker->shared->similar && worker->shared->support <= 1) {
    fact->lower = larger (fact->lower, archive_bound (worker, problem, useful));
    if (fact->lower >= upper)
      return;
  }
  if (useful == 1) {
    solve_stump (worker, problem, fact);
    return;
  }
  if (!(at_root ? pairs_of_root (worker, problem, fact) : worker->model->pairs (worker, problem)))
    return;
  best_root (worker, problem, fact);
  if (useful == 2) {
    fact->lower = fact->upper;
    return;
  }
  if (at_root)
    publish (worker, problem, depth, fact);
  const int32_t paid = paid_depth (worker, useful, smaller (upper, fact->upper));
  if (paid <= 2) { /* the sums of all pairs have settled depth two */
    fact->lower = larger (fact->lower, smaller (fact->upper, 4 * worker->shared->price));
  } else if (fact->upper > fact->lower && !worker->completing) {
    const int protect = solver_wipes (solver);
    const int64_t floor = fact->lower;
    if (protect)
      cache_enter (solver->cache, &key);
    search_splits (worker, problem, depth, paid, 0, upper, fact);
    if (paid < useful) /* deeper trees were left out */
      fact->lower = smaller (fact->lower, larger (floor, (paid + 2) * worker->shared->price));
    key = key_of (worker, problem, useful); /* keys share one array for their path */
    if (protect)
      cache_leave (solver->cache, &key);
    if (fact->upper > fact->lower)
      worker->statistics.failures++;
    if (options->archive)
      archive_add (worker, problem, useful, fact->lower);
  }
  if (options->infeasible || fact->upper <= fact->lower || solver_stopping (solver))
    cache_store (solver->cache, &key, fact, worker->statistics.nodes - nodes);
}
