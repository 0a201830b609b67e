/* Leaf costs that a function computes from the rows of a leaf.

   A call of the function is much slower than anything else in the search. So each call is about as many sets of rows
   as fit, and a set that was asked before is looked up: the rows of two questions are the same in either order. */
#include "general/custom.h"

#include "common/bits.h"
#include "solver/lines.h"

enum { most_known = 1 << 18 };

/* A side of a test whose rows are among those that the function is asked about. */
struct custom_side {
  struct key key;
  int32_t test, side;
};

struct custom {
  struct cache *known; /* what sets of rows cost as leaves; NULL if the search has no cache either */
  struct custom_side *asked;
  int64_t *starts; /* where the rows of each set begin */
  int32_t *rows;
  double *costs;
  int64_t sets, used, room; /* rows are counted by `used` */
};

int custom_make (struct general *general) {
  const treeml_solver *solver = general->solver;
  struct arena *arena = &general->solver->arena;
  if (solver->goal != goal_custom)
    return 1;
  struct custom *custom = general->custom = arena_allocate (arena, 1, sizeof *custom);
  if (!custom)
    return 0;
  const size_t sets = 2 * (size_t) general->tests + 2;
  const int64_t most = (1 << 20) / lines_work (solver);
  custom->room = larger (4 * solver->rows, smaller (2 * general->tests * solver->rows, most));
  custom->asked = arena_allocate (arena, sets, sizeof *custom->asked);
  custom->starts = arena_allocate (arena, sets + 1, sizeof *custom->starts);
  custom->rows = arena_allocate (arena, (size_t) custom->room, sizeof *custom->rows);
  custom->costs = arena_allocate (arena, sets, sizeof *custom->costs);
  if (solver->options.cache_kind != no_cache) {
    custom->known = cache_create (arena, rows_cache, keep_reused, 50, 1, smaller (solver->options.cache, most_known));
    if (!custom->known)
      return 0;
  }
  return custom->asked && custom->starts && custom->rows && custom->costs;
}

void custom_release (struct general *general) {
  struct arena *arena = &general->solver->arena;
  struct custom *custom = general->custom;
  if (!custom)
    return;
  cache_destroy (custom->known);
  arena_release (arena, custom->asked);
  arena_release (arena, custom->starts);
  arena_release (arena, custom->rows);
  arena_release (arena, custom->costs);
  arena_release (arena, custom);
}

/* Adds one side of a test to the sets of the next call, unless its cost is known. */
static void collect (struct general *general, struct general_subproblem *problem, int32_t test, int side) {
  struct custom *custom = general->custom;
  uint64_t *members = general->sparse.words ? general->sparse.words : general->scratch;
  general_enter (general, problem, members, test, side);
  struct custom_side *asked = &custom->asked[custom->sets];
  *asked = (struct custom_side) {.test = test, .side = side};
  struct fact fact;
  if (custom->known)
    asked->key = general_key_of_leaf (general, members);
  if (custom->known && cache_find (custom->known, &asked->key, &fact))
    problem->leaf[side][test] = fact.upper;
  else {
    custom->starts[custom->sets++] = custom->used;
    for (int64_t w = 0; w < general->words; w++)
      for (uint64_t rest = members[w]; rest; rest &= rest - 1)
        custom->rows[custom->used++] = (int32_t) (64 * w + lowest_bit (rest));
  }
  general_leave (general);
}

static int is_supported (const struct general *general, int64_t set) {
  const treeml_solver *solver = general->solver;
  const struct custom *custom = general->custom;
  if (!solver->count)
    return custom->starts[set + 1] - custom->starts[set] >= solver->options.support;
  int64_t counted = 0;
  for (int64_t i = custom->starts[set]; i < custom->starts[set + 1]; i++)
    counted += solver->count[custom->rows[i]];
  return counted >= solver->options.support;
}

/* Asks the function about the collected sets; returns whether it answered. */
static int ask (struct general *general, struct general_subproblem *problem) {
  treeml_solver *solver = general->solver;
  struct custom *custom = general->custom;
  custom->starts[custom->sets] = custom->used;
  solver->statistics.batches++;
  solver->statistics.leaf_costs += custom->sets;
  if (solver->custom (solver->custom_state, custom->sets, custom->starts, custom->rows, custom->costs)) {
    solver_fail (solver, TREEML_CALLBACK_FAILED, "the leaf cost function failed");
    solver_stop (solver, TREEML_INTERRUPTED);
    return 0;
  }
  for (int64_t set = 0; set < custom->sets; set++) {
    const struct custom_side *asked = &custom->asked[set];
    const int64_t cost = leaf_fixed (solver, custom->costs[set]);
    if (general->has_floor && cost < 0 && !solver->code) {
      solver_fail (solver, TREEML_CALLBACK_FAILED, "the leaf cost function returned a negative cost");
      solver_stop (solver, TREEML_INTERRUPTED);
    }
    const int64_t whole = is_supported (general, set) ? plus (cost, general->price) : UNREACHABLE;
    problem->leaf[asked->side][asked->test] = whole;
    if (custom->known)
      cache_store (custom->known, &asked->key, &(struct fact) {whole, whole, is_leaf, 0}, 0);
  }
  custom->sets = custom->used = 0;
  general_poll (general, GENERAL_CLOCK_WORK);
  return 1;
}

void custom_open (struct general *general, struct general_subproblem *problem) {
  struct custom *custom = general->custom;
  custom->sets = custom->used = 0;
  for (int32_t test = 0; test < general->tests && !solver_stopping (general->solver); test++) {
    if (!problem->usable[test])
      continue;
    if (custom->used + general->solver->rows > custom->room && !ask (general, problem))
      return;
    for (int side = 0; side < 2; side++)
      collect (general, problem, test, side);
  }
  if (custom->sets && !solver_stopping (general->solver))
    ask (general, problem);
}
