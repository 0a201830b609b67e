/* The best tree of any depth: the cuts of a set, bounded from above by trees and from below by each other.

   For every cut that may still lead to a better tree, two lower bounds are kept, one for each side. A solved cut
   raises those of the other cuts: of its own column by the staircase (see depth_two.c), and of every other column
   because removing rows from a set lowers its optimum by at most their worth: if A was solved, then opt (B) >= opt
   (A) - worth (A without B) for any set B. The next cut to solve is the middle of the longest run of open cuts. At
   the root, several threads take cuts from the same table. */
#include "common/wide.h"
#include "numeric/improve.h"
#include "numeric/node.h"

#include <string.h>

enum {
  few_cuts = 4,
  slow_squared = 16,  /* how many times longer it takes to sweep a row for a squared loss than for errors, */
  slow_quantile = 64, /* and for an absolute or quantile loss */
  brief_sides = 2,    /* sides of this depth are searched so fast that their search has most of the effort */
  search_share = 4    /* the search has one in this many parts of the effort while relaxed splits raise the bound */
};

struct choice {
  int32_t column, index;
  int32_t run; /* how many open cuts lie side by side there */
  int64_t slack;
};

static int64_t least (int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t greatest (int64_t a, int64_t b) { return a > b ? a : b; }

/* The cuts of a column that leave enough rows on both sides. */
static int list_cuts (struct numeric_node *node, struct numeric_worker *worker, int32_t f) {
  treeml_numeric *solver = node->solver;
  struct numeric_column *column = &node->column[f];
  const int32_t *order = node->set->order[f], *rank = solver->rank[f];
  const int64_t rows = node->set->rows, support = solver->options.support;
  int64_t all = 0, count = 0;
  int32_t cuts = 0;
  for (int64_t i = 0; i < rows; i++) {
    all += solver->count ? solver->count[order[i]] : 1;
    cuts += i && rank[order[i]] != rank[order[i - 1]];
  }
  column->fee = numeric_fee (solver, node->path, f) * all;
  const size_t room = (size_t) cuts + 1;
  column->position = arena_allocate (&solver->arena, room, sizeof *column->position);
  column->alive = arena_allocate (&solver->arena, room, sizeof *column->alive);
  column->low[0] = arena_allocate (&solver->arena, room, sizeof **column->low);
  column->low[1] = arena_allocate (&solver->arena, room, sizeof **column->low);
  column->busy = arena_allocate (&solver->arena, room, 1);
  if (!column->position || !column->alive || !column->low[0] || !column->low[1] || !column->busy)
    return 0;
  for (int64_t i = 0; i < rows; i++) {
    if (i && rank[order[i]] != rank[order[i - 1]] && count >= support && all - count >= support)
      column->position[column->cuts++] = (int32_t) i;
    count += solver->count ? solver->count[order[i]] : 1;
  }
  return !numeric_spent (worker, 2 * rows);
}

/* A side is a leaf, or has at least two leaves. */
static void bound_by_leaves (struct numeric_node *node, struct numeric_worker *worker, int32_t f, int s) {
  const treeml_numeric *solver = node->solver;
  const struct numeric_column *column = &node->column[f];
  const int64_t price = solver->options.leaf_price, rows = node->set->rows;
  const int32_t *order = node->set->order[f];
  int64_t *sums = worker->sums, top = 0, done = 0;
  double square = 0;
  memset (sums, 0, (size_t) solver->planes * sizeof *sums);
  for (int32_t i = 0; i < column->cuts; i++) {
    const int32_t cut = s ? column->cuts - 1 - i : i;
    for (const int64_t until = s ? rows - column->position[cut] : column->position[cut]; done < until; done++) {
      const int32_t row = order[s ? rows - 1 - done : done];
      numeric_add (solver, sums, row);
      top += solver->value[solver->planes][row];
      square += solver->goal == numeric_goal_squared ? numeric_square (solver, row) : 0;
    }
    const int64_t leaf = numeric_leaf (solver->goal, solver->planes, sums, top, square, solver->unit);
    column->low[s][cut] = price + least (leaf, price);
  }
  numeric_spent (worker, rows);
}

static void open_cuts (struct numeric_node *node, struct numeric_worker *worker) {
  const treeml_numeric *solver = node->solver;
  const int64_t price = solver->options.leaf_price;
  for (int32_t f = 0; f < solver->columns; f++) {
    struct numeric_column *column = &node->column[f];
    column->open = column->cuts;
    for (int32_t i = 0; i < column->cuts; i++) {
      column->alive[i] = i;
      column->low[0][i] = column->low[1][i] = price;
      column->busy[i] = 0;
    }
    for (int s = 0; price && solver->goal != numeric_goal_quantile && s < 2; s++)
      bound_by_leaves (node, worker, f, s);
  }
}

/* A lower bound of a cut. One of the sides has at least the leaves that make the tree deeper than what is known. */
static int64_t bound_of_cut (const struct numeric_node *node, const struct numeric_column *column, int32_t cut) {
  const int64_t yes = column->low[0][cut], no = column->low[1][cut];
  return least (greatest (yes, node->beyond) + no, yes + greatest (no, node->beyond)) + column->fee;
}

/* Drops cuts that cannot be better; returns the lowest bound of the others. */
static int64_t close_cuts (struct numeric_node *node) {
  int64_t bound = node->upper;
  for (int32_t f = 0; f < node->solver->columns; f++) {
    struct numeric_column *column = &node->column[f];
    int32_t kept = 0;
    for (int32_t i = 0; i < column->open; i++) {
      const int32_t cut = column->alive[i];
      const int64_t low = bound_of_cut (node, column, cut);
      if (low < node->upper || column->busy[cut] == 1) {
        column->alive[kept++] = cut;
        bound = least (bound, low);
      } else
        node->lowest = least (node->lowest, low);
    }
    column->open = kept;
  }
  return bound;
}

static void remove_cut (struct numeric_column *column, int32_t cut) {
  int32_t kept = 0;
  for (int32_t i = 0; i < column->open; i++)
    if (column->alive[i] != cut)
      column->alive[kept++] = column->alive[i];
  column->open = kept;
}

/* How far beyond the budget to solve the sides of a cut in the middle of a run. If the best value is low, proofs that a
   side costs as much are far easier than its exact value. In deeper trees, exact values serve neighbours, too. */
static int64_t slack_of (const struct numeric_node *node, const struct numeric_worker *worker, int32_t f, int32_t first,
                         int32_t last) {
  const struct numeric_column *column = &node->column[f];
  const int64_t width =
      numeric_worth (node->set, f, column->position[last]) - numeric_worth (node->set, f, column->position[first]);
  const wide share = (wide) (width / 2) * worker->slack / 100; /* rows may weigh 2^60 together */
  const int64_t slack = node->solver->group ? 0 : share < NUMERIC_NONE / 2 ? (int64_t) share : NUMERIC_NONE / 2;
  return node->root && node->depth <= 2 ? least (slack, node->upper / 2) : slack;
}

static int choose (struct numeric_node *node, const struct numeric_worker *worker, struct choice *choice) {
  int32_t longest = 0;
  int64_t first = 0, last = 0;
  if (node->first_column >= 0) {
    const int32_t f = node->first_column;
    struct numeric_column *column = &node->column[f];
    node->first_column = -1;
    for (int32_t i = 0; i < column->open; i++) {
      const int32_t cut = column->alive[i];
      if (node->solver->rank[f][node->set->order[f][column->position[cut] - 1]] == node->first_cut) {
        *choice = (struct choice) {.column = f, .index = cut, .run = 1, .slack = 0};
        return 1;
      }
    }
  }
  for (int32_t f = 0; f < node->solver->columns; f++) {
    const struct numeric_column *column = &node->column[f];
    for (int32_t i = 0; i < column->open;) {
      int32_t end = i + 1;
      if (column->busy[column->alive[i]]) {
        i = end;
        continue;
      }
      while (end < column->open && column->alive[end] == column->alive[end - 1] + 1 &&
             !column->busy[column->alive[end]])
        end++;
      if (end - i > longest) {
        longest = end - i;
        choice->run = longest;
        choice->column = f;
        choice->index = column->alive[i + (end - i) / 2];
        first = column->alive[i];
        last = column->alive[end - 1];
      }
      i = end;
    }
  }
  if (!longest)
    return 0;
  choice->slack = slack_of (node, worker, choice->column, (int32_t) first, (int32_t) last);
  return 1;
}

/* The most leaves that a tree of this depth can have, limited so that twice the number does not overflow. */
static int64_t full (int64_t depth) { return INT64_C (1) << (depth < 61 ? depth : 61); }

/* Whether the bounds of a side can serve its neighbours: every code must be a cut, and leaves must not be limited. */
static int has_near (const struct numeric_node *node, int64_t leaves) {
  const treeml_numeric *solver = node->solver;
  return solver->options.near && node->depth > 2 && !solver->group && solver->goal != numeric_goal_squared &&
         !solver->count && solver->options.support == 1 && leaves >= 2 * full (node->depth);
}

/* Whether what is known about a side of depth two can serve sides with more rows. */
static int has_traces (const struct numeric_node *node) {
  const treeml_numeric *solver = node->solver;
  return solver->options.near && (node->depth == 2 || (node->depth > 2 && solver->options.leaf_price)) &&
         !solver->group && numeric_trace_fits (solver);
}

/* Stores the codes of the cuts of a column and where their bounds are. Returns 0 if out of memory. */
static int tabulate (const struct numeric_node *node, int32_t f, struct numeric_table *table) {
  const struct numeric_column *column = &node->column[f];
  const int32_t *order = node->set->order[f], *rank = node->solver->rank[f];
  *table = (struct numeric_table) {.cuts = column->cuts, .low = {column->low[0], column->low[1]}};
  table->top = rank[order[node->set->rows - 1]];
  table->code = arena_reserve (&node->solver->arena, (size_t) column->cuts + 1, sizeof *table->code);
  for (int32_t i = 0; table->code && i < column->cuts; i++)
    table->code[i] = rank[order[column->position[i] - 1]];
  return !!table->code;
}

/* Starts with the bounds of neighbours. Bounds learned here go to the same tables. */
static void warm_up (struct numeric_node *node, struct numeric_warm *warm) {
  treeml_numeric *solver = node->solver;
  if (!(warm->made = numeric_neighbours_create (&solver->arena, solver->columns)))
    return;
  for (int32_t g = 0; g < solver->columns; g++) {
    struct numeric_table *table = &warm->made->table[g];
    const int fine = tabulate (node, g, table);
    for (int i = 0; fine && i < 2; i++)
      if (warm->from[i])
        numeric_neighbours_raise (&warm->from[i]->table[g], warm->loss[i], table);
    if (!fine)
      table->cuts = 0;
  }
}

/* Builds a better tree from its root and the trees found on both sides. */
static void improve (struct numeric_node *node, struct numeric_worker *worker, const struct choice *choice, int64_t cut,
                     int64_t value, struct numeric_side side[2]) {
  struct arena *arena = &node->solver->arena;
  const int32_t f = choice->column;
  for (int s = 0; s < 2; s++) {
    const struct numeric_path path = numeric_path_add (node->solver, node->path, f);
    const struct numeric_part part = {.set = node->set, .column = f, .cut = cut, .side = s, .path = &path};
    const int64_t leaves = node->depth == 0 ? 1 : node->depth == 1 ? least (node->leaves[s], 2) : node->leaves[s];
    if (!side[s].tree.nodes && !numeric_depth_two_tree (worker, &part, leaves, &side[s].found, &side[s].tree)) {
      numeric_stop_search (node->solver, TREEML_MEMORY);
      return;
    }
  }
  struct numeric_tree *tree = node->tree;
  tree->nodes = 0;
  const int64_t root = numeric_tree_add (arena, tree, f, (int32_t) cut);
  const int64_t yes = root < 0 ? -1 : numeric_tree_append (arena, tree, &side[0].tree);
  const int64_t no = yes < 0 ? -1 : numeric_tree_append (arena, tree, &side[1].tree);
  if (no < 0) {
    numeric_stop_search (node->solver, TREEML_MEMORY);
    return;
  }
  tree->yes[root] = (int32_t) yes;
  tree->no[root] = (int32_t) no;
  node->upper = value;
  node->found = 1;
  if (node->root)
    numeric_offer_found (worker, tree, value);
}

/* Solves one cut without holding the lock, and records the results. */
static void solve_cut (struct numeric_node *node, struct numeric_worker *worker, const struct choice *choice,
                       int64_t upper, const int64_t low[2], struct numeric_side side[2], uint64_t *bits, void *room) {
  treeml_numeric *solver = node->solver;
  const int32_t f = choice->column;
  struct numeric_column *column = &node->column[f];
  upper -= column->fee;
  const int64_t position = column->position[choice->index];
  const int64_t code = solver->rank[f][node->set->order[f][position - 1]];
  const int first = 2 * position < node->set->rows, second = !first;
  int64_t bound[2] = {low[0], low[1]}, value[2] = {NUMERIC_NONE, NUMERIC_NONE};
  struct numeric_outcome outcome =
      numeric_solve_side (node, worker, f, code, first, upper - low[second], choice->slack, &side[first]);
  value[first] = outcome.value;
  bound[first] = greatest (bound[first], outcome.bound);
  const int fits = value[first] < NUMERIC_NONE && value[first] + low[second] < upper;
  /* If one side alone reaches a target, the other side often does too, and then no cut of the run is left. */
  const int both = worker->climbing && bound[first] >= upper && choice->run > few_cuts;
  if (!numeric_stopping (solver) && (fits || both)) {
    const int64_t left = fits ? upper - value[first] : upper;
    outcome = numeric_solve_side (node, worker, f, code, second, left, choice->slack, &side[second]);
    value[second] = outcome.value;
    bound[second] = greatest (bound[second], outcome.bound);
  }
  worker->statistics.thresholds++;
  numeric_node_lock (node);
  if (!numeric_stopping (solver)) {
    const int64_t whole = value[0] + value[1] + column->fee;
    if (value[0] < NUMERIC_NONE && value[1] < NUMERIC_NONE && whole < node->upper)
      improve (node, worker, choice, code, whole, side);
    column->busy[choice->index] = 2;
    column->low[0][choice->index] = bound[0];
    column->low[1][choice->index] = bound[1];
    node->lowest = least (node->lowest, bound_of_cut (node, column, choice->index));
    remove_cut (column, choice->index);
    numeric_raise_own (node, f, choice->index, bound);
    if (solver->options.cross && solver->goal != numeric_goal_squared && !solver->group)
      numeric_raise_others (node, f, choice->index, code, bound, bits, room, worker);
  }
  node->busy--;
  if (node->shared)
    signal_all (&node->changed);
  numeric_node_unlock (node);
}

/* Raises the bound of the whole problem, and closes all cuts if that decides it. */
static void climb (struct numeric_node *node, struct numeric_worker *worker) {
  treeml_numeric *solver = node->solver;
  struct numeric_climb *climb = &worker->climb;
  struct numeric_tree tree = {0};
  if (solver->options.climb &&
      numeric_climb (worker, node->set, node->depth + 1, node->all_leaves, node->upper, climb, &tree)) {
    if (tree.nodes) {
      numeric_offer_found (worker, &tree, climb->bound);
      if (!numeric_tree_copy (&solver->arena, node->tree, &tree))
        numeric_stop_search (solver, TREEML_MEMORY);
      node->upper = climb->bound;
      node->found = 1;
    }
    node->lowest = least (node->lowest, node->upper);
    for (int32_t f = 0; f < solver->columns; f++)
      node->column[f].open = 0;
    node->decided = 1;
  }
  numeric_tree_release (&solver->arena, &tree);
}

/* The next cut is the split of the best tree, unless it is solved. A pause ends the search of a cut, and without this
   the first one would not be tried again with more effort. */
static void begin_with_best (struct numeric_node *node) {
  const struct numeric_tree *best = &node->solver->best;
  if (best->nodes && best->column[0] >= 0) {
    node->first_column = best->column[0];
    node->first_cut = best->cut[0];
  }
}

/* Raises the bound and looks for better trees elsewhere: the first time only what is easy, then more and more. If the
   bound is left alone, the search has as much effort as the replacement of parts. */
static void pause (struct numeric_node *node, struct numeric_worker *worker) {
  treeml_numeric *solver = node->solver;
  int64_t *effort = &worker->climb.effort;
  const int64_t polls = worker->polls;
  numeric_improve (worker, node->set);
  node->upper = least (node->upper, atomic_load (&solver->best_value));
  if (!solver->options.climb)
    *effort = greatest (*effort, (worker->polls - polls) / 2);
  climb (node, worker);
  *effort = least (greatest (2 * *effort, solver->options.climb), INT64_MAX / 4);
  const int most = node->depth <= brief_sides || !worker->climb.relaxing;
  worker->allowance = most ? *effort : *effort / search_share + 1;
  begin_with_best (node);
}

/* The effort before the first pause. What is easy is solved without one. */
static void begin_with_effort (struct numeric_node *node, struct numeric_worker *worker) {
  const treeml_numeric *solver = node->solver;
  const int times = solver->goal == numeric_goal_quantile  ? slow_quantile
                    : solver->goal == numeric_goal_squared ? slow_squared
                                                           : 1;
  const int64_t brief = node->depth <= brief_sides ? solver->options.brief / times - worker->polls : 0;
  const int64_t first = greatest (worker->first, brief);
  worker->first = 0;
  if (first > 0)
    worker->allowance = first;
  else
    pause (node, worker);
}

static void work (struct numeric_node *node, struct numeric_worker *worker) {
  treeml_numeric *solver = node->solver;
  struct numeric_side side[2] = {0};
  if (node->pauses)
    begin_with_effort (node, worker);
  uint64_t *bits = arena_allocate (&solver->arena, (size_t) node->set->rows / 64 + 2, sizeof *bits);
  void *room = arena_allocate (&solver->arena, (size_t) node->set->rows + 128, (size_t) solver->kernel->cell);
  if (!bits || !room)
    numeric_stop_search (solver, TREEML_MEMORY);
  while (!numeric_stopping (solver)) {
    struct choice choice;
    if (node->root)
      numeric_take_proposal (worker);
    numeric_node_lock (node);
    if (node->root) /* a tree from outside may be better */
      node->upper = least (node->upper, atomic_load (&solver->best_value));
    const int64_t bound = close_cuts (node);
    if (node->bounds)
      numeric_raise_bound (solver, bound);
    const int any = choose (node, worker, &choice);
    if (!any && node->busy && node->shared) {
      signal_wait (&node->changed, &node->lock, 5);
      numeric_node_unlock (node);
      numeric_poll (worker);
      continue;
    }
    if (!any) {
      numeric_node_unlock (node);
      break;
    }
    struct numeric_column *column = &node->column[choice.column];
    const int64_t upper = node->upper, low[2] = {column->low[0][choice.index], column->low[1][choice.index]};
    column->busy[choice.index] = 1;
    node->busy++;
    numeric_node_unlock (node);
    solve_cut (node, worker, &choice, upper, low, side, bits, room);
    if (worker->until_clock <= 0)
      numeric_poll (worker);
    if (node->pauses && numeric_resume (solver)) {
      if (column->busy[choice.index] == 1) /* the pause came before it was solved */
        column->busy[choice.index] = 0;
      pause (node, worker);
    }
  }
  if (node->pauses)
    worker->allowance = 0;
  if (node->bounds && numeric_stopping (solver)) {
    numeric_node_lock (node);
    numeric_raise_bound (solver, close_cuts (node));
    numeric_node_unlock (node);
  }
  numeric_tree_release (&solver->arena, &side[0].tree);
  numeric_tree_release (&solver->arena, &side[1].tree);
  arena_release (&solver->arena, bits);
  arena_release (&solver->arena, room);
}

struct thread {
  struct numeric_node *node;
  struct numeric_worker worker;
  thread_handle handle;
};

static void *run_thread (void *argument) {
  struct thread *thread = argument;
  treeml_numeric *solver = thread->node->solver;
  thread->worker.child = numeric_child_create (solver);
  if (numeric_worker_create (&thread->worker) && thread->worker.child)
    work (thread->node, &thread->worker);
  else
    numeric_stop_search (solver, TREEML_MEMORY);
  numeric_child_destroy (solver, thread->worker.child);
  numeric_worker_destroy (&thread->worker);
  return NULL;
}

/* Searches the root with helper threads; everything that they read is made first. */
static void work_together (struct numeric_node *node, struct numeric_worker *worker) {
  treeml_numeric *solver = node->solver;
  const int64_t helpers = solver->options.threads - 1;
  struct thread *thread = arena_allocate (&solver->arena, (size_t) helpers, sizeof *thread);
  if (!thread || !numeric_set_prepare (worker, node->set)) {
    arena_release (&solver->arena, thread);
    numeric_stop_search (solver, TREEML_MEMORY);
    return;
  }
  lock_make (&node->lock);
  signal_make (&node->changed);
  node->shared = 1;
  int64_t started = 0;
  while (started < helpers) {
    thread[started] = (struct thread) {.node = node, .worker = {.solver = solver, .number = (int) started + 1}};
    if (thread_start (&thread[started].handle, run_thread, &thread[started]))
      break;
    started++;
  }
  work (node, worker);
  for (int64_t i = 0; i < started; i++) {
    thread_join (&thread[i].handle);
    statistics_add (&worker->statistics, &thread[i].worker.statistics);
  }
  node->shared = 0;
  signal_destroy (&node->changed);
  lock_destroy (&node->lock);
  arena_release (&solver->arena, thread);
}

/* Cuts that leave too few of these rows on a side may be allowed for more rows, for which the bound must hold, too. */
static void bound_unsupported (struct numeric_node *node) {
  const treeml_numeric *solver = node->solver;
  const int64_t price = solver->options.leaf_price, rows = node->set->rows;
  for (int32_t f = 0; numeric_needs_support (solver) && f < solver->columns; f++) {
    const struct numeric_column *column = &node->column[f];
    const int32_t *order = node->set->order[f], *rank = solver->rank[f], last = column->cuts - 1;
    if (rank[order[0]] == rank[order[rows - 1]])
      continue;
    const int64_t before = column->cuts ? column->low[1][0] : price,
                  after = column->cuts ? column->low[0][last] : price;
    node->lowest = least (node->lowest, price + least (before, after) + column->fee);
  }
}

/* Bounds that are kept for neighbours are not released. */
static void release (struct numeric_node *node, const struct numeric_neighbour *kept) {
  struct arena *arena = &node->solver->arena;
  for (int32_t f = 0; node->column && f < node->solver->columns; f++) {
    struct numeric_column *column = &node->column[f];
    arena_release (arena, column->position);
    arena_release (arena, column->alive);
    arena_release (arena, kept ? NULL : column->low[0]);
    arena_release (arena, kept ? NULL : column->low[1]);
    arena_release (arena, column->busy);
  }
  arena_release (arena, node->column);
  for (int64_t i = 0; node->near && i < 2 * (int64_t) node->solver->columns; i++)
    while (node->near[i]) {
      struct numeric_neighbour *next = node->near[i]->next;
      numeric_neighbours_destroy (arena, node->near[i]);
      node->near[i] = next;
    }
  arena_release (arena, node->near);
  for (int64_t i = 0; node->trace && i < 2 * (int64_t) node->solver->columns; i++)
    numeric_trace_destroy (arena, node->trace[i]);
  arena_release (arena, node->trace);
}

/* Whether something else is done between the parts of a search. Only the bound is raised beside a tree of depth three.
 */
static int has_pauses (const treeml_numeric *solver, int64_t depth) {
  if (depth <= brief_sides || solver->options.threads > 1)
    return 0;
  return solver->options.climb || (solver->options.improve && depth > brief_sides + 1);
}

struct numeric_outcome numeric_search (struct numeric_worker *worker, struct numeric_set *set,
                                       const struct numeric_task *task, struct numeric_tree *tree,
                                       struct numeric_warm *warm) {
  treeml_numeric *solver = worker->solver;
  const int64_t depth = task->depth, leaves = task->leaves;
  const int root = task->root;
  worker->statistics.nodes++;
  struct numeric_node node = {.solver = solver,
                              .set = set,
                              .path = task->path,
                              .depth = depth - 1,
                              .upper = task->budget,
                              .lowest = NUMERIC_NONE,
                              .root = root,
                              .tree = tree,
                              .pauses = root && has_pauses (solver, depth),
                              .beyond =
                                  task->known ? numeric_deeper_price (solver->options.leaf_price, task->known - 1) : 0,
                              .all_leaves = leaves,
                              .first_column = -1};
  tree->nodes = 0;
  if (root)
    begin_with_best (&node);
  const struct numeric_stump leaf = numeric_best_stump (worker, set, NULL, 0, 1, -1, NULL);
  node.lowest = leaf.value < NUMERIC_NONE ? leaf.value : solver->options.leaf_price;
  if (leaf.value < node.upper) {
    if (numeric_tree_add (&solver->arena, tree, -1, 0) < 0)
      numeric_stop_search (solver, TREEML_MEMORY);
    node.upper = leaf.value;
    node.found = 1;
    if (root)
      numeric_offer (worker, tree);
  }
  node.column = arena_allocate (&solver->arena, (size_t) solver->columns, sizeof *node.column);
  int fine = node.column && numeric_set_values (worker, set);
  for (int32_t f = 0; fine && f < solver->columns; f++)
    fine = list_cuts (&node, worker, f);
  if (fine && has_near (&node, leaves))
    fine = !!(node.near = arena_allocate (&solver->arena, 2 * (size_t) solver->columns, sizeof *node.near));
  if (fine && has_traces (&node))
    fine = !!(node.trace = arena_allocate (&solver->arena, 2 * (size_t) solver->columns, sizeof *node.trace));
  if (!fine)
    numeric_stop_search (solver, TREEML_MEMORY);
  /* With few leaves, tries every way to distribute them. */
  const int64_t most = full (depth - 1);
  for (int64_t yes = least (most, leaves - 1); fine && yes >= 1 && (yes == most || leaves - yes <= most); yes--) {
    node.leaves[0] = leaves == NUMERIC_ALL ? NUMERIC_ALL : yes;
    node.leaves[1] = leaves == NUMERIC_ALL ? NUMERIC_ALL : least (most, leaves - yes);
    node.symmetric = node.leaves[0] == node.leaves[1];
    node.bounds = root && leaves >= 2 * most;
    open_cuts (&node, worker);
    if (warm)
      warm_up (&node, warm);
    if (root && solver->options.threads > 1)
      work_together (&node, worker);
    else
      work (&node, worker);
    if (!root)
      bound_unsupported (&node);
    if (numeric_stopping (solver) || node.decided || leaves >= 2 * most)
      break;
  }
  if (numeric_stopping (solver))
    node.lowest = 0;
  release (&node, warm ? warm->made : NULL);
  if (!node.found) {
    worker->statistics.failures++;
    return (struct numeric_outcome) {NUMERIC_NONE, node.lowest};
  }
  return (struct numeric_outcome) {node.upper, least (node.lowest, node.upper)};
}
