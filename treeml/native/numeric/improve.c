/* Better trees by replacing parts of a tree.

   A branch is replaced by the best tree of its rows, if it has three levels (or four) and that is found quickly; by one
   whose split suits the splits below best, or is moved by a few rows, with the splits below as they were; or by one
   with another split and everything below it anew. The last two levels are always solved exactly; the last three, too,
   if the branch costs little more than the one it replaces. A change that costs nothing is kept, so that the tree
   drifts. When nothing helps for a while, the search replaces one of the upper splits, whatever that costs (iterated
   local search, Lourenco, Martin and Stuetzle 2003): of the best tree, or of the tree it came to if that is nearly as
   good. */
#include "numeric/improve.h"
#include "numeric/box_table.h"
#include "numeric/climb.h"
#include "numeric/reroute.h"

enum {
  exact = 2,          /* levels at the bottom that are always solved */
  deepest = 24,       /* trees that may be deeper are left alone */
  patience = 2,       /* polls for a first exact search of a branch; doubled each time that is not enough */
  most_patience = 11, /* how often it is doubled */
  first_trust = 3,    /* how often it is doubled at once for the last three levels of a new branch, to begin with */
  most_trust = 5,     /* and at most */
  close = 8,          /* a start may cost up to value / close more than the best tree */
  near = 4, /* a new branch may cost up to value / near more than the old one before its last levels are solved */
  stale_moves = 12, /* moves without success, for each branch that can be replaced, after which it goes on elsewhere */
  walk = 32,        /* the search goes on from trees that cost up to value / walk + 1 more than the best one */
  work_of_move = 1 << 14, /* in rows: counted for every move, so that small sets get few moves */
  first_effort = 128,     /* in polls; doubled every time */
  effort_of_start = 128,  /* for the last levels of a start */
  most_effort = 1 << 24,
  least_share = 16, /* the effort is divided by no more than this */
  done = -2         /* the label of a split whose branch cannot be better */
};

struct numeric_improvement {
  struct numeric_tree tree; /* the current one, as numeric_tree_finish leaves it */
  int64_t value, stale;
  int64_t seen;           /* the value of the best tree when it was last looked at */
  int64_t effort, share;  /* polls for the next time, and what they are divided by */
  int64_t polls, solving; /* of all moves, and of exact searches */
  int32_t trust; /* in solving the last three levels of new branches: more if that was quick, less if it was not */
  uint64_t random;
  struct box_table table; /* the values of branches that were solved, and how often that took too long: `code` */
};

/* A branch of the tree that may be replaced, and its rows. */
struct branch {
  int64_t node, height, leaves; /* the most leaves that it may have */
  int64_t value;
  struct numeric_path path[deepest];
  struct numeric_set set;
};

int numeric_improvement_fits (const treeml_numeric *solver) {
  return solver->options.improve && solver->depth > exact + 1 && solver->depth <= deepest;
}

struct numeric_improvement *numeric_improvement_create (treeml_numeric *solver) {
  struct numeric_improvement *state = arena_allocate (&solver->arena, 1, sizeof *state);
  if (state)
    *state =
        (struct numeric_improvement) {.value = NUMERIC_NONE,
                                      .seen = NUMERIC_NONE,
                                      .effort = first_effort,
                                      .share = 1,
                                      .trust = first_trust,
                                      .random = ((uint64_t) solver->options.seed + 1) * UINT64_C (0x9e3779b97f4a7c15),
                                      .table = {.arena = &solver->arena}};
  return state;
}

void numeric_improvement_destroy (treeml_numeric *solver, struct numeric_improvement *state) {
  if (!state)
    return;
  numeric_tree_release (&solver->arena, &state->tree);
  box_table_destroy (&state->table);
  arena_release (&solver->arena, state);
}

/* A random number below `end` (xorshift, Marsaglia 2003). */
static int64_t draw (struct numeric_improvement *state, int64_t end) {
  state->random ^= state->random << 13;
  state->random ^= state->random >> 7;
  state->random ^= state->random << 17;
  return (int64_t) ((state->random >> 11) % (uint64_t) end);
}

static int64_t count_leaves (const struct numeric_tree *tree, int64_t node) {
  return tree->column[node] < 0 ? 1 : count_leaves (tree, tree->yes[node]) + count_leaves (tree, tree->no[node]);
}

/* Counts the splits above the last levels, and looks for one of them, if `wanted` is not negative. Branches that
   cannot be better are left out. */
static int64_t upper_splits (const struct numeric_tree *tree, int64_t node, int64_t height, int64_t wanted,
                             int64_t *found) {
  if (height <= exact || tree->column[node] < 0 || tree->label[node] == done)
    return 0;
  if (!wanted)
    *found = node;
  const int64_t yes = upper_splits (tree, tree->yes[node], height - 1, wanted - 1, found);
  return 1 + yes + upper_splits (tree, tree->no[node], height - 1, wanted - 1 - yes, found);
}

/* Finds the rows of a node. Nodes are in the order in which a tree is written: all nodes of the yes side come before
   the no side. Returns 0 if the search is stopping. */
static int reach (struct numeric_worker *worker, struct numeric_set *all, struct branch *branch) {
  treeml_numeric *solver = worker->solver;
  const struct numeric_tree *tree = &worker->improvement->tree;
  const struct numeric_set *from = all;
  int64_t at = 0, depth = 0;
  int fine = 1;
  branch->set = (struct numeric_set) {0};
  while (fine && at != branch->node) {
    const int side = branch->node >= tree->no[at];
    struct numeric_set below;
    fine = numeric_set_split (worker, from, tree->column[at], tree->cut[at], side, &below);
    numeric_set_release (solver, &branch->set);
    branch->set = below;
    from = &branch->set;
    branch->path[depth] = numeric_path_add (solver, depth ? &branch->path[depth - 1] : NULL, tree->column[at]);
    depth++;
    at = side ? tree->no[at] : tree->yes[at];
  }
  if (!fine && !numeric_stopping (solver))
    numeric_stop_search (solver, TREEML_MEMORY);
  branch->height = solver->depth - depth;
  branch->leaves = solver->leaves - count_leaves (tree, 0) + count_leaves (tree, at);
  return fine;
}

/* Appends a tree in which `with` takes the place of one node. Returns its root, or -1 if out of memory. */
static int64_t graft (struct arena *arena, const struct numeric_tree *tree, int64_t at, int64_t node,
                      const struct numeric_tree *with, struct numeric_tree *to) {
  if (at == node)
    return numeric_tree_append (arena, to, with);
  const int64_t root = numeric_tree_add (arena, to, tree->column[at], tree->cut[at]);
  for (int s = 0; root >= 0 && tree->column[at] >= 0 && s < 2; s++) {
    const int64_t below = graft (arena, tree, s ? tree->no[at] : tree->yes[at], node, with, to);
    if (below < 0)
      return -1;
    *(s ? &to->no[root] : &to->yes[root]) = (int32_t) below;
  }
  return root;
}

/* The current tree with another branch; its value, or NUMERIC_NONE if a constraint is violated. */
static int64_t replaced (struct numeric_worker *worker, int64_t node, const struct numeric_tree *with,
                         struct numeric_tree *whole) {
  treeml_numeric *solver = worker->solver;
  whole->nodes = 0;
  if (graft (&solver->arena, &worker->improvement->tree, 0, node, with, whole) < 0) {
    numeric_stop_search (solver, TREEML_MEMORY);
    return NUMERIC_NONE;
  }
  return numeric_tree_finish (solver, whole);
}

/* What the branch costs now: what it saves against a single leaf is what the whole tree saves. */
static int64_t value_of_branch (struct numeric_worker *worker, const struct branch *branch) {
  struct arena *arena = &worker->solver->arena;
  struct numeric_tree leaf = {0}, whole = {0};
  int64_t value = NUMERIC_NONE;
  if (numeric_tree_add (arena, &leaf, -1, 0) >= 0)
    value = replaced (worker, branch->node, &leaf, &whole);
  numeric_tree_release (arena, &leaf);
  numeric_tree_release (arena, &whole);
  if (value >= NUMERIC_NONE)
    return NUMERIC_NONE;
  const struct numeric_stump alone = numeric_best_stump (worker, &branch->set, NULL, 0, 1, -1, NULL);
  return alone.value >= NUMERIC_NONE ? NUMERIC_NONE : worker->improvement->value - value + alone.value;
}

static struct box_key key_of (const struct numeric_set *set) {
  struct box_key key = {0};
  for (int64_t i = 0; i < set->rows; i++)
    key = box_key_add (key, box_key_of_row (set->order[0][i]));
  return key;
}

/* What is known about exact searches of the branch. */
static struct box find_entry (const struct numeric_improvement *state, const struct branch *branch) {
  const struct box_key key = key_of (&branch->set);
  const struct box *known = box_table_find (&state->table, key, (int32_t) branch->height);
  return known ? *known : (struct box) {.key = key, .size = (int32_t) branch->height};
}

/* The best tree of the branch, if it is better and found in a limited effort. Returns whether there is one. */
static int solve_branch (struct numeric_worker *worker, struct branch *branch, struct box *entry,
                         struct numeric_tree *tree) {
  treeml_numeric *solver = worker->solver;
  const int64_t left = worker->allowance, tries = (int64_t) patience << entry->code, most = left < tries ? left : tries;
  const int64_t all = INT64_C (1) << branch->height, depth = solver->depth - branch->height;
  const int known = entry->final; /* the value of the best tree, but not the tree */
  const struct numeric_task task = {.depth = branch->height,
                                    .leaves = branch->leaves >= all ? NUMERIC_ALL : branch->leaves,
                                    .budget = known ? entry->bound + 1 : branch->value,
                                    .path = depth ? &branch->path[depth - 1] : NULL};
  worker->allowance = most;
  const struct numeric_outcome outcome = numeric_search (worker, &branch->set, &task, tree, NULL);
  worker->improvement->solving += most - worker->allowance;
  worker->allowance += left - most;
  const int paused = left > most && numeric_resume (solver), better = outcome.value < branch->value && tree->nodes;
  if (!known) {
    entry->final = !paused && !numeric_stopping (solver);
    entry->bound = entry->final ? (better ? outcome.value : branch->value) : 0;
  }
  entry->code += paused;
  if (paused || entry->final)
    box_table_keep (&worker->improvement->table, entry);
  return better;
}

/* A cut of the same column a few rows further. */
static int32_t moved_cut (struct numeric_worker *worker, const struct branch *branch, int32_t column, int32_t cut) {
  struct numeric_improvement *state = worker->improvement;
  const int32_t *order = branch->set.order[column], *rank = worker->solver->rank[column];
  const int64_t rows = branch->set.rows;
  int64_t low = 0, high = rows;
  while (low < high) { /* the first row beyond the cut */
    const int64_t half = low + (high - low) / 2;
    if (rank[order[half]] <= cut)
      low = half + 1;
    else
      high = half;
  }
  const int64_t shares[] = {100, 33, 10}, width = 1 + rows / shares[draw (state, 3)];
  int64_t at = low + (draw (state, 2) ? draw (state, width) : -1 - draw (state, width));
  at = at < 0 ? 0 : at > rows - 2 ? rows - 2 : at;
  return rank[order[at]];
}

/* The split that suits the splits below best, by all columns or by some of them; the present one with its cut moved, if
   that is the best. */
static struct numeric_route rerouted (struct numeric_worker *worker, const struct branch *branch) {
  struct numeric_improvement *state = worker->improvement;
  const struct numeric_tree *tree = &state->tree;
  const int64_t node = branch->node;
  const int32_t column = tree->column[node], cut = tree->cut[node];
  struct numeric_route route = {.split = {.column = -1}};
  if (numeric_reroute_fits (worker->solver) && draw (state, 2)) {
    const uint64_t columns = draw (state, 2) ? UINT64_MAX : state->random;
    route = numeric_reroute (worker, &branch->set, tree, tree->yes[node], tree->no[node], columns);
  }
  const int same = route.split.column == column && route.split.cut == cut;
  if (route.split.column >= 0 && !same) {
    worker->statistics.routes++;
    return route;
  }
  return (struct numeric_route) {.split = {.column = column, .cut = moved_cut (worker, branch, column, cut)}};
}

/* Another split for the branch; column -1 if there is none. */
static struct numeric_split other_split (struct numeric_worker *worker, struct branch *branch) {
  struct numeric_improvement *state = worker->improvement;
  const struct numeric_tree *tree = &state->tree;
  const int32_t old = tree->column[branch->node];
  if (old >= 0 && draw (state, 4) == 0)
    return (struct numeric_split) {.column = old, .cut = moved_cut (worker, branch, old, tree->cut[branch->node])};
  const int64_t kind = draw (state, 4);
  if (kind == 0)
    return numeric_look_ahead (worker, &branch->set, branch->height, branch->leaves);
  const struct numeric_split split =
      numeric_separating_split (worker, &branch->set, (int32_t) draw (state, worker->solver->columns));
  if (split.column < 0 || kind == 1)
    return split;
  return (struct numeric_split) {.column = split.column,
                                 .cut = moved_cut (worker, branch, split.column, (int32_t) split.cut)};
}

/* The branch with another split, unless that costs more than `most`. `follows`: the splits below stay as they are,
   except for the last two levels. */
static int resplit (struct numeric_worker *worker, struct branch *branch, int follows, int64_t most,
                    struct numeric_tree *tree) {
  treeml_numeric *solver = worker->solver;
  struct numeric_improvement *state = worker->improvement;
  const struct numeric_tree *old = &state->tree;
  const struct numeric_route route =
      follows ? rerouted (worker, branch) : (struct numeric_route) {.split = other_split (worker, branch)};
  const struct numeric_split split = route.split;
  const int ahead = draw (state, 2) ? 1 : 2;
  if (split.column < 0 || numeric_stopping (solver))
    return 0;
  const int64_t root = numeric_tree_add (&solver->arena, tree, split.column, (int32_t) split.cut);
  int fine = root >= 0;
  worker->spare = most < NUMERIC_NONE && !solver->group ? most + 1 : NUMERIC_NONE;
  for (int s = 0; fine && s < 2; s++) {
    const int64_t below = tree->nodes, leaves = s ? branch->leaves / 2 : branch->leaves - branch->leaves / 2;
    const int64_t like = s == route.swapped ? old->yes[branch->node] : old->no[branch->node];
    const int guided = follows && old->column[like] >= 0;
    struct numeric_set part;
    fine = numeric_set_split (worker, &branch->set, split.column, split.cut, s, &part) && part.rows > 0 &&
           numeric_greedy (worker, &part, branch->height - 1, leaves, guided ? old : NULL, like, ahead, tree);
    numeric_set_release (solver, &part);
    *(s ? &tree->no[0] : &tree->yes[0]) = (int32_t) below;
  }
  worker->spare = NUMERIC_NONE;
  return fine;
}

/* Takes over a tree of which the value is known. */
static void take (struct numeric_improvement *state, struct numeric_tree *tree, int64_t value) {
  const struct numeric_tree old = state->tree;
  state->tree = *tree;
  *tree = old;
  state->value = value;
}

/* Whether the branch may be better; if not, that is marked. */
static int is_open (struct numeric_worker *worker, struct branch *branch, const struct box *entry) {
  struct numeric_improvement *state = worker->improvement;
  branch->value = value_of_branch (worker, branch);
  if (branch->value > worker->solver->options.leaf_price && !(entry->final && branch->value <= entry->bound))
    return 1;
  state->tree.label[branch->node] = done;
  return 0;
}

/* Whether no more than half of the effort went into exact searches. */
static int may_solve (const struct numeric_worker *worker) {
  return 2 * worker->improvement->solving <= worker->polls + worker->improvement->polls;
}

/* Makes another branch, or none. */
static int make_branch (struct numeric_worker *worker, struct branch *branch, int forced, struct numeric_tree *tree) {
  struct numeric_improvement *state = worker->improvement;
  if (forced)
    return resplit (worker, branch, 0, NUMERIC_NONE, tree);
  struct box entry = find_entry (state, branch);
  if (!is_open (worker, branch, &entry))
    return 0;
  const int solvable = branch->height <= exact + 2 && branch->height < worker->solver->depth &&
                       entry.code <= most_patience && may_solve (worker);
  if (solvable && draw (state, branch->height == exact + 1 ? 2 : 5) == 0)
    return solve_branch (worker, branch, &entry, tree);
  const int64_t most = branch->height > exact + 1 ? branch->value + branch->value / near : branch->value;
  return resplit (worker, branch, draw (state, 2) == 0, most, tree);
}

/* The splits with three levels below a node: counts them, and looks for one of them, as upper_splits does. */
static int64_t last_splits (const struct numeric_tree *tree, int64_t node, int64_t height, int64_t wanted,
                            int64_t *found) {
  if (height <= exact || tree->column[node] < 0)
    return 0;
  if (height == exact + 1) {
    if (!wanted)
      *found = node;
    return 1;
  }
  const int64_t yes = last_splits (tree, tree->yes[node], height - 1, wanted, found);
  return yes + last_splits (tree, tree->no[node], height - 1, wanted - yes, found);
}

/* Solves three levels, for as long as past solves make it seem worth it. Returns whether that was enough, and in
   `tree` a better branch, if there is one. */
static int solve_quickly (struct numeric_worker *worker, struct branch *branch, struct box *entry,
                          struct numeric_tree *tree) {
  struct numeric_improvement *state = worker->improvement;
  const int32_t tries = entry->code = entry->code < state->trust ? state->trust : entry->code;
  if (!solve_branch (worker, branch, entry, tree))
    tree->nodes = 0;
  const int quick = entry->code == tries;
  if (quick)
    state->trust += state->trust < most_trust;
  else
    state->trust -= state->trust > 0;
  return quick;
}

/* Solves the last three levels below a node of the current tree, as far as that is quick. */
static void solve_last_levels (struct numeric_worker *worker, struct numeric_set *all, int64_t node, int64_t height) {
  treeml_numeric *solver = worker->solver;
  struct numeric_improvement *state = worker->improvement;
  int64_t at = node;
  const int64_t parts = last_splits (&state->tree, node, height, -1, &at);
  int quick = 1;
  for (int64_t i = parts - 1; quick && i >= 0; i--) { /* the last first: the others keep their places */
    struct branch branch = {0};
    struct numeric_tree tree = {0}, whole = {0};
    last_splits (&state->tree, node, height, i, &branch.node);
    if (reach (worker, all, &branch)) {
      struct box entry = find_entry (state, &branch);
      if (is_open (worker, &branch, &entry) && entry.code <= most_patience) {
        quick = solve_quickly (worker, &branch, &entry, &tree);
        const int64_t value = tree.nodes ? replaced (worker, branch.node, &tree, &whole) : NUMERIC_NONE;
        if (value < state->value)
          take (state, &whole, value);
      }
    }
    numeric_set_release (solver, &branch.set);
    numeric_tree_release (&solver->arena, &tree);
    numeric_tree_release (&solver->arena, &whole);
    quick = quick && !numeric_stopping (solver);
  }
}

/* Takes over a tree whose branch at a node is new, and solves the last levels of the branch. Unless it is forced, the
   tree before comes back if it was better. */
static void try_whole (struct numeric_worker *worker, struct numeric_set *all, int64_t node, int64_t height, int forced,
                       struct numeric_tree *whole, int64_t value) {
  struct numeric_improvement *state = worker->improvement;
  const int64_t before = state->value;
  take (state, whole, value);
  if (value <= before || may_solve (worker))
    solve_last_levels (worker, all, node, height);
  if (state->value > before && !forced)
    take (state, whole, before);
}

static void offer_current (struct numeric_worker *worker) {
  if (worker->improvement->value >= atomic_load (&worker->solver->best_value))
    return;
  numeric_offer (worker, &worker->improvement->tree);
  worker->statistics.replacements++;
}

/* Tries another branch. `forced`: keeps it whatever it costs. */
static void move (struct numeric_worker *worker, struct numeric_set *all, int64_t node, int forced) {
  treeml_numeric *solver = worker->solver;
  struct numeric_improvement *state = worker->improvement;
  struct branch branch = {.node = node};
  struct numeric_tree tree = {0}, whole = {0};
  if (reach (worker, all, &branch)) {
    if (!node)
      branch.set = *all;
    const int made = make_branch (worker, &branch, forced, &tree);
    if (!node) { /* what was made for the set stays with it */
      *all = branch.set;
      branch.set = (struct numeric_set) {0};
    }
    const int64_t value = made && !numeric_stopping (solver) ? replaced (worker, node, &tree, &whole) : NUMERIC_NONE;
    const int64_t before = state->value;
    if (value < NUMERIC_NONE && branch.height > exact + 1)
      try_whole (worker, all, node, branch.height, forced, &whole, value);
    else if (value <= before)
      take (state, &whole, value);
    if (state->value < before)
      state->stale = 0;
    offer_current (worker);
  }
  numeric_set_release (solver, &branch.set);
  numeric_tree_release (&solver->arena, &tree);
  numeric_tree_release (&solver->arena, &whole);
}

/* Goes on from the best tree. Returns 0 if out of memory. */
static int restart (struct numeric_worker *worker) {
  treeml_numeric *solver = worker->solver;
  struct numeric_improvement *state = worker->improvement;
  state->stale = 0;
  state->value = state->seen = atomic_load (&solver->best_value);
  if (numeric_tree_copy (&solver->arena, &state->tree, &solver->best))
    return 1;
  numeric_stop_search (solver, TREEML_MEMORY);
  return 0;
}

/* Goes on from the tree that nothing helps any more, if it is nearly as good as the best one, or else from that: so the
   search moves away from the best tree, but not far. Returns 0 if out of memory. */
static int leave (struct numeric_worker *worker) {
  struct numeric_improvement *state = worker->improvement;
  const int64_t best = atomic_load (&worker->solver->best_value);
  if (state->value > best + best / walk + 1 || draw (state, 2))
    return restart (worker);
  state->stale = 0;
  return 1;
}

static void descend (struct numeric_worker *worker, struct numeric_set *all) {
  treeml_numeric *solver = worker->solver;
  struct numeric_improvement *state = worker->improvement;
  while (!numeric_stopping (solver) && atomic_load (&solver->best_value) > solver->options.leaf_price) {
    int64_t node = 0, splits = upper_splits (&state->tree, 0, solver->depth, -1, &node);
    numeric_take_proposal (worker);
    const int stale = ++state->stale > stale_moves * splits;
    if (stale && !leave (worker))
      return;
    if (stale) /* the best tree has no marks: every upper split counts */
      splits = upper_splits (&state->tree, 0, solver->depth, -1, &node);
    if (!splits)
      return;
    upper_splits (&state->tree, 0, solver->depth, draw (state, splits), &node);
    move (worker, all, node, stale);
    numeric_spent (worker, work_of_move);
  }
}

/* Whether parts of trees can be replaced now. */
static int is_ready (struct numeric_worker *worker) {
  treeml_numeric *solver = worker->solver;
  if (worker->first || numeric_stopping (solver) || !numeric_improvement_fits (solver) || !solver->best.nodes)
    return 0;
  if (!worker->improvement && !(worker->improvement = numeric_improvement_create (solver)))
    numeric_stop_search (solver, TREEML_MEMORY);
  return !!worker->improvement;
}

void numeric_improve_from (struct numeric_worker *worker, struct numeric_set *all, const struct numeric_tree *tree) {
  treeml_numeric *solver = worker->solver;
  if (!is_ready (worker))
    return;
  struct numeric_improvement *state = worker->improvement;
  if (!numeric_tree_copy (&solver->arena, &state->tree, tree)) {
    numeric_stop_search (solver, TREEML_MEMORY);
    return;
  }
  state->stale = 0;
  state->value = numeric_tree_finish (solver, &state->tree);
  if (state->value >= NUMERIC_NONE) {
    state->seen = NUMERIC_NONE; /* it goes on from the best tree instead */
    return;
  }
  worker->allowance = effort_of_start;
  state->trust = most_trust; /* there are few starts */
  state->polls -= worker->polls;
  solve_last_levels (worker, all, 0, solver->depth);
  state->polls += worker->polls;
  worker->allowance = 0;
  numeric_resume (solver);
  offer_current (worker);
  const int64_t best = atomic_load (&solver->best_value);
  state->seen = state->value <= best + best / close ? best : NUMERIC_NONE;
}

void numeric_improve (struct numeric_worker *worker, struct numeric_set *all) {
  treeml_numeric *solver = worker->solver;
  if (!is_ready (worker))
    return;
  struct numeric_improvement *state = worker->improvement;
  const int64_t before = worker->statistics.replacements;
  if (atomic_load (&solver->best_value) < state->seen && !restart (worker))
    return;
  const int64_t effort = state->effort / state->share, most = numeric_climb_turn (&worker->climb);
  worker->allowance = (effort < most ? effort : most) + 1;
  state->effort *= state->effort < most_effort ? 2 : 1;
  state->polls -= worker->polls;
  descend (worker, all);
  state->polls += worker->polls;
  worker->allowance = 0;
  numeric_resume (solver);
  numeric_poll (worker); /* what follows has its whole effort before it */
  state->seen = atomic_load (&solver->best_value);
  if (worker->statistics.replacements > before) /* trees of others are no success */
    state->share = 1;
  else if (state->share < least_share)
    state->share *= 2;
}
