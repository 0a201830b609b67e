/* The best tree of depth two, by staircases.

   For a column f let L(t) be the least cost of a stump on the rows up to t, and R(t) on the rest. L never falls and R
   never rises as t grows, and moving rows changes either by at most their worth. So the cuts between two that are
   evaluated, a and b, cost at least L(a) + R(b), and a cut that costs c rules out all cuts that are less than c - upper
   away from it. What is left is bisected, all columns in turn, from coarse to fine. The same holds for the stumps on
   each single column, so that most columns need no sweep near a cut where they were swept.

   Support is left out of these bounds, since a smaller set may need a worse tree to keep it; it is checked, row by row,
   where a cut would improve the best tree. (Staircases: after Brita, van der Linden and Demirovic, 2025.) */
#include "numeric/intervals.h"
#include "numeric/quantile_stump.h"
#include "numeric/quantile_walk.h"
#include "numeric/rivals.h"

#include <string.h>

static void sweep (struct numeric_bisection *search, int column, int order, int64_t code, struct numeric_sides *sides) {
  treeml_numeric *solver = search->solver;
  const struct numeric_kernel *kernel = solver->kernel;
  const struct numeric_lanes *lanes = &search->child->lanes[order];
  const void *codes = numeric_child_codes (search->worker, column, order);
  search->worker->statistics.sweeps++;
  if (!codes) {
    numeric_stop_search (solver, TREEML_MEMORY);
    sides->cost[0] = sides->cost[1] = 0;
    return;
  }
  search->worker->until_clock -= search->child->rows;
  if (search->child->goal == numeric_goal_two)
    kernel->stump_two (lanes, codes, code, sides);
  else if (search->child->by_label)
    kernel->stump_labels (lanes, codes, code, sides);
  else if (search->child->goal == numeric_goal_many)
    kernel->stump_many (lanes, codes, code, sides);
  else if (search->child->goal == numeric_goal_quantile)
    numeric_quantile_stumps (search->worker, order, codes, code, NULL, sides);
  else
    kernel->stump_squared (lanes, codes, code, sides);
}

/* The costs of the two sides of a cut as leaves, and their worths. */
static void begin_sides (struct numeric_bisection *search, int column, int64_t position, struct numeric_sides *sides,
                         int64_t leaf[2]) {
  treeml_numeric *solver = search->solver;
  struct numeric_child *child = search->child;
  int64_t *sums = search->worker->sums, *rest = sums + solver->planes;
  numeric_child_worths (search->worker, column);
  const int64_t all = numeric_child_worth (child, column, child->rows);
  sides->top[0] = numeric_child_worth (child, column, position);
  sides->top[1] = all - sides->top[0];
  sides->unit = solver->unit;
  sides->wanted = 3;
  sides->square[0] = child->square ? child->square[column][position] : 0;
  sides->square[1] = child->square ? child->square[column][child->rows] - sides->square[0] : 0;
  if (child->goal == numeric_goal_quantile) {
    numeric_quantile_link_sides (search->worker, column, position, leaf);
    return;
  }
  numeric_child_sums (search->worker, column, position, sums);
  for (int32_t k = 0; k < child->planes; k++)
    rest[k] = child->lanes[column].sum[k] - sums[k];
  leaf[0] = numeric_leaf (child->goal, child->planes, sums, sides->top[0], sides->square[0], solver->unit);
  leaf[1] = numeric_leaf (child->goal, child->planes, rest, sides->top[1], sides->square[1], solver->unit);
}

/* A lower bound of any stump on a side with these sums: it predicts at most two classes. */
static int64_t beyond_two_classes (const struct numeric_child *child, const int64_t *sums, int64_t top) {
  int64_t first = 0, second = 0;
  if (child->goal != numeric_goal_many)
    return 0;
  for (int32_t k = 0; k < child->planes; k++) {
    second = numeric_greatest (second, numeric_least (first, sums[k]));
    first = numeric_greatest (first, sums[k]);
  }
  return numeric_greatest (0, top - first - second);
}

/* How many of the user's rows are on either side of a cut. */
static void count_sides (const struct numeric_bisection *search, int32_t column, int64_t position, int64_t count[2]) {
  const treeml_numeric *solver = search->solver;
  const struct numeric_part *part = search->part;
  count[0] = position;
  count[1] = search->child->rows - position;
  if (!solver->count)
    return;
  const int32_t *order = part->set->order[column];
  count[0] = count[1] = 0;
  for (int64_t i = 0, passed = 0; i < part->set->rows; i++)
    if (part->column < 0 || (solver->rank[part->column][order[i]] > part->cut) == part->side)
      count[passed++ >= position] += solver->count[order[i]];
}

/* The columns in the order in which they are swept: those first that were the best at the points beside the cut. */
static void take_turns (int32_t *turn, int32_t columns, int32_t first, int32_t second) {
  for (int32_t i = 0, place = 2; i < columns; i++) {
    if (i == first)
      turn[0] = i;
    else if (i == second)
      turn[1] = i;
    else
      turn[place++ - (first == second)] = i;
  }
}

/* What evaluating a cut needs to know. */
struct evaluation {
  struct numeric_bisection *search;
  int32_t column;
  int64_t code;
  struct numeric_sides sides;
  const struct numeric_rivals *rivals; /* or NULL */
  int64_t enough[2]; /* a side that costs more closes the half of the interval that needs it, and the cut itself */
};

/* Sweeps a column, both sides or one of them. Costs below the targets are exact. */
static void sweep_column (struct evaluation *cut, int32_t order, const int64_t target[2]) {
  struct numeric_bisection *search = cut->search;
  const int quantile = search->child->goal == numeric_goal_quantile && search->solver->options.lazy;
  if (!cut->rivals && !quantile) {
    sweep (search, cut->column, order, cut->code, &cut->sides);
    return;
  }
  const struct numeric_swept swept = {.kernel = search->solver->kernel,
                                      .lanes = &search->child->lanes[order],
                                      .codes = numeric_child_codes (search->worker, cut->column, order),
                                      .threshold = cut->code};
  if (swept.codes && quantile)
    numeric_quantile_stumps (search->worker, order, swept.codes, cut->code, target, &cut->sides);
  else if (!swept.codes || !numeric_rivals_sweep (cut->rivals, &swept, target, &cut->sides)) {
    sweep (search, cut->column, order, cut->code, &cut->sides);
    return;
  }
  search->worker->until_clock -= search->child->rows;
  search->worker->statistics.sweeps++;
}

/* The bounds of all stumps of both sides, from the points beside the cut or from sweeps. Columns that cannot hold the
   best stump are not swept: their costs are then lower bounds, which is sufficient. Returns 0 if the search is
   stopping. */
static int evaluate_stumps (struct evaluation *cut, const struct numeric_interval *open, struct numeric_point *point,
                            const int64_t count[2], int64_t *cost) {
  struct numeric_bisection *search = cut->search;
  treeml_numeric *solver = search->solver;
  struct numeric_child *child = search->child;
  const int32_t columns = solver->columns;
  const int skips = (child->by_label && child->planes <= 8) || child->goal >= numeric_goal_squared;
  const struct numeric_point *a = &child->point[open->left], *b = &child->point[open->right];
  const int64_t *cost_a = &child->cost[(int64_t) open->left * 2 * columns];
  const int64_t *cost_b = &child->cost[(int64_t) open->right * 2 * columns];
  const int64_t here = numeric_child_worth (child, open->column, point->position);
  const int64_t from_a = solver->group ? NUMERIC_NONE : here - numeric_child_worth (child, open->column, a->position);
  const int64_t to_b = solver->group ? NUMERIC_NONE : numeric_child_worth (child, open->column, b->position) - here;
  const struct numeric_path path = numeric_path_add (solver, search->part->path, open->column);
  const int64_t *sums = search->worker->sums;
  const int64_t few[2] = {beyond_two_classes (child, sums, cut->sides.top[0]),
                          beyond_two_classes (child, sums + solver->planes, cut->sides.top[1])};
  for (int32_t i = 0; i < columns; i++) {
    const int32_t g = child->turn[i];
    const int64_t low[2] = {
        numeric_greatest (few[0], numeric_greatest (cost_a[g], cost_b[g] - to_b)),
        numeric_greatest (few[1], numeric_greatest (cost_b[columns + g], cost_a[columns + g] - from_a))};
    const int64_t target[2] = {numeric_least (cut->enough[0], point->stump[0]),
                               numeric_least (cut->enough[1], point->stump[1])};
    const int open_sides = !solver->options.lazy ? 3 : (low[0] < target[0]) | (low[1] < target[1]) << 1;
    cut->sides.wanted = open_sides;
    if (open_sides)
      sweep_column (cut, g, target);
    if (search->worker->until_clock <= 0 && numeric_poll (search->worker))
      return 0;
    /* A side that is not open needs no better bound; some sweeps skip it. */
    for (int s = 0; s < 2; s++) {
      if (!open_sides || (skips && !(open_sides >> s & 1))) {
        cost[s * columns + g] = low[s];
        point->stump[s] = numeric_least (point->stump[s], low[s]);
        continue;
      }
      const int64_t here_costs = cut->sides.cost[s] + numeric_fee (solver, &path, g) * count[s];
      cost[s * columns + g] = here_costs;
      if (here_costs < point->stump[s]) {
        point->stump[s] = here_costs;
        point->column[s] = g;
      }
    }
  }
  return 1;
}

/* Evaluates a cut between two points; returns the new point, or -1. */
static int32_t evaluate (struct numeric_bisection *search, const struct numeric_interval *open, int64_t position) {
  treeml_numeric *solver = search->solver;
  struct numeric_child *child = search->child;
  const int32_t made = numeric_point_add (search);
  if (made < 0)
    return -1;
  struct numeric_point *point = &child->point[made];
  const struct numeric_point *a = &child->point[open->left], *b = &child->point[open->right];
  struct evaluation cut = {.search = search,
                           .column = open->column,
                           .code = numeric_code (child->own[open->column], solver->kernel->cell, position - 1),
                           .enough = {NUMERIC_NONE, NUMERIC_NONE}};
  struct numeric_rivals rivals;
  int64_t count[2] = {0, 0};
  begin_sides (search, open->column, position, &cut.sides, point->leaf);
  if (numeric_rivals_fit (solver, child)) {
    numeric_rivals_list (&rivals, child->planes, search->worker->sums, solver->planes);
    cut.rivals = &rivals;
  }
  if (solver->group)
    count_sides (search, open->column, position, count);
  point->position = position;
  point->stump[0] = point->leaf[0];
  point->stump[1] = point->leaf[1];
  point->column[0] = a->column[0];
  point->column[1] = b->column[1];
  take_turns (child->turn, solver->columns, a->column[0], b->column[1]);
  if (!search->price && search->leaves >= 4) {
    cut.enough[0] = search->upper - b->stump[1];
    cut.enough[1] = search->upper - a->stump[0];
  }
  if (!evaluate_stumps (&cut, open, point, count, &child->cost[(int64_t) made * 2 * solver->columns]))
    return -1;
  search->worker->statistics.cuts++;
  return made;
}

/* The cost of the cut with support enforced on every leaf. */
static int64_t exact_value (struct numeric_bisection *search, int column, int64_t code) {
  const struct numeric_part *part = search->part;
  struct numeric_filter filter[2] = {{column, code, 0}, {part->column, part->cut, part->side}};
  const int filters = part->column < 0 ? 1 : 2;
  const struct numeric_path path = numeric_path_add (search->solver, part->path, column);
  int64_t one[2], two[2];
  for (int s = 0; s < 2; s++) {
    filter[0].side = s;
    one[s] = numeric_best_stump (search->worker, part->set, filter, filters, 1, -1, &path).value;
    two[s] = numeric_best_stump (search->worker, part->set, filter, filters, 2, -1, &path).value;
  }
  const int64_t value = search->leaves >= 4 ? two[0] + two[1] : numeric_least (one[0] + two[1], two[0] + one[1]);
  const int64_t fee = numeric_fee (search->solver, part->path, column) * search->count;
  return numeric_least (value + fee, NUMERIC_NONE);
}

/* Whether a side of a cut has clearly too few rows. */
static int has_few_rows (const struct numeric_bisection *search, int64_t position) {
  const int64_t support = search->solver->options.support;
  return !search->solver->count && (position < support || search->child->rows - position < support);
}

static void consider (struct numeric_bisection *search, int column, int64_t position, int64_t value,
                      const int32_t stump[2]) {
  const int64_t code = numeric_code (search->child->own[column], search->solver->kernel->cell, position - 1);
  struct numeric_found better = {.kind = 2, .column = column, .cut = code, .stump = {stump[0], stump[1]}};
  if (value >= search->upper)
    return;
  if (numeric_needs_support (search->solver)) {
    search->lowest = numeric_least (search->lowest, value);
    if (has_few_rows (search, position))
      return;
    value = exact_value (search, column, code);
    if (value >= search->upper)
      return;
    better.stump[0] = better.stump[1] = -1;
  }
  search->upper = value;
  *search->found = better;
}

/* Updates all cuts of an interval after one was evaluated, with which some beside it may be closed. */
static int divide (struct numeric_bisection *search, const struct numeric_interval *open, int32_t made,
                   const int64_t closed[2]) {
  struct numeric_child *child = search->child;
  const struct numeric_point *point = &child->point[made];
  const int64_t value = numeric_cost_of_cut (search, open->column, point->leaf, point->stump),
                position = point->position;
  consider (search, open->column, position, value, point->column);
  if (value >= search->upper)
    search->lowest = numeric_least (search->lowest, search->upper);
  numeric_point_link (child, open->column, open->left, made, open->right);
  return numeric_interval_push (search, open->column, open->left, made, open->low, closed[0] - 1) &&
         numeric_interval_push (search, open->column, made, open->right, closed[1] + 1, open->high);
}

/* Adds the two ends of every column: no rows on one side, all rows on the other. */
static int add_ends (struct numeric_bisection *search, int64_t *leaf, int64_t *stump) {
  treeml_numeric *solver = search->solver;
  struct numeric_child *child = search->child;
  const int32_t columns = solver->columns;
  child->points = 0;
  for (int32_t f = 0; f < columns; f++)
    child->head[f] = 1;
  for (int s = 0; s < 2; s++) {
    const int32_t end = numeric_point_add (search);
    if (end < 0)
      return 0;
    memset (&child->cost[(int64_t) end * 2 * columns], 0, 2 * (size_t) columns * sizeof *child->cost);
    child->point[end] = (struct numeric_point) {.position = s ? child->rows : 0};
  }
  struct numeric_sides sides;
  int64_t leaves[2], count[2] = {0, 0};
  begin_sides (search, 0, child->rows, &sides, leaves);
  if (solver->group)
    count_sides (search, 0, child->rows, count);
  search->count = count[0];
  int64_t best = leaves[0];
  int32_t column = 0;
  for (int32_t g = 0; g < columns; g++) {
    sweep (search, g, g, solver->levels[g] - 1, &sides);
    if (search->worker->until_clock <= 0 && numeric_poll (search->worker))
      return 0;
    const int64_t costs = sides.cost[0] + numeric_fee (solver, search->part->path, g) * search->count;
    child->cost[columns + g] = child->cost[2 * columns + g] = costs;
    if (costs < best) {
      best = costs;
      column = g;
    }
  }
  for (int s = 0; s < 2; s++) {
    struct numeric_point *end = &child->point[s];
    end->leaf[!s] = leaves[0];
    end->stump[!s] = best;
    end->column[0] = end->column[1] = column;
  }
  *leaf = leaves[0];
  *stump = best;
  return 1;
}

/* The cuts of the whole problem that leave enough rows on both sides. For a part of the rows these are all cuts: its
   bound must hold for more rows, too, which may allow them. */
static void supported (struct numeric_bisection *search, int32_t column, int64_t *low, int64_t *high) {
  treeml_numeric *solver = search->solver;
  const struct numeric_part *part = search->part;
  const int64_t support = solver->options.support;
  *low = 1;
  *high = search->child->rows - 1;
  if ((support <= 1 && !solver->count) || !search->root)
    return;
  if (!solver->count) {
    *low = support;
    *high = search->child->rows - support;
    return;
  }
  const int32_t *order = part->set->order[column];
  int64_t count = 0, position = 0, all = 0;
  for (int64_t i = 0; i < part->set->rows; i++)
    if (part->column < 0 || (solver->rank[part->column][order[i]] > part->cut) == part->side)
      all += solver->count[order[i]];
  *low = search->child->rows;
  *high = 0;
  for (int64_t i = 0; i < part->set->rows; i++)
    if (part->column < 0 || (solver->rank[part->column][order[i]] > part->cut) == part->side) {
      count += solver->count[order[i]];
      position++;
      if (count >= support && position < *low)
        *low = position;
      if (all - count >= support)
        *high = position;
    }
  *high = numeric_least (*high, search->child->rows - 1);
}

/* Takes a leaf or a stump if it is better than the best tree so far. */
static void consider_stump (struct numeric_bisection *search, int64_t value, int64_t leaves, int32_t column) {
  if (value >= search->upper)
    return;
  const struct numeric_part *part = search->part;
  if (numeric_needs_support (search->solver)) {
    const struct numeric_filter filter = {part->column, part->cut, part->side};
    column = -1;
    value = numeric_best_stump (search->worker, part->set, &filter, part->column >= 0, leaves, -1, part->path).value;
    if (value >= search->upper)
      return;
  }
  search->upper = value;
  *search->found = (struct numeric_found) {.kind = 1, .stump = {column, column}};
}

static void report (struct numeric_bisection *search) {
  if (!search->root || search->upper >= atomic_load (&search->solver->best_value) || !search->found->kind)
    return;
  struct numeric_tree tree = {0};
  if (numeric_depth_two_tree (search->worker, search->part, search->leaves, search->found, &tree))
    numeric_offer_found (search->worker, &tree, search->upper);
  else
    numeric_stop_search (search->solver, TREEML_MEMORY);
  numeric_tree_release (&search->solver->arena, &tree);
}

/* Evaluates the middles of open intervals, oldest and therefore widest first. */
static int drain (struct numeric_bisection *search, int64_t *done) {
  struct numeric_child *child = search->child;
  while (*done < child->queued && !numeric_stopping (search->solver)) {
    struct numeric_interval open = child->queue[(*done)++];
    const int64_t bound = numeric_least_between (search, &open);
    if (bound >= search->upper) {
      search->lowest = numeric_least (search->lowest, bound);
      continue;
    }
    numeric_interval_shrink (search, &open);
    int64_t position = open.low <= open.high ? numeric_interval_middle (search, &open) : 0, closed[2];
    if (!position)
      continue;
    int32_t made = numeric_quantile_walk (search, &open, &position, closed);
    if (made < 0) {
      made = evaluate (search, &open, position);
      closed[0] = closed[1] = position;
    }
    if (made < 0 || !divide (search, &open, made, closed))
      return numeric_stopping (search->solver);
    /* rarely, because reporting a tree takes as long as several sweeps */
    if (search->worker->polls > search->polls && search->worker->statistics.sweeps >= search->next_report) {
      search->polls = search->worker->polls;
      search->next_report = search->worker->statistics.sweeps + 8 * search->solver->columns;
      report (search);
    }
  }
  return 1;
}

static void bisect (struct numeric_bisection *search) {
  treeml_numeric *solver = search->solver;
  struct numeric_child *child = search->child;
  const int together = child->blocks == solver->columns;
  int64_t done = 0;
  int32_t f = 0;
  int fine = 1;
  child->queued = 0;
  for (; fine && f < solver->columns && !numeric_stopping (solver); f++) {
    int64_t low, high;
    supported (search, f, &low, &high);
    numeric_child_worths (search->worker, f);
    fine = (search->part->trace ? numeric_interval_push_traced (search, f, low, high)
                                : numeric_interval_push (search, f, 0, 1, low, high)) &&
           (together || drain (search, &done));
  }
  fine = fine && drain (search, &done);
  if (!fine)
    numeric_stop_search (solver, TREEML_MEMORY);
  if (!numeric_stopping (solver))
    return;
  /* Open intervals may hold anything above their bound, and columns that were not started anything at all. */
  int64_t open = fine && together && f == solver->columns ? search->lowest : 0;
  for (int64_t i = done > 0 ? done - 1 : 0; i < child->queued; i++)
    open = numeric_least (open, numeric_least_between (search, &child->queue[i]));
  search->lowest = numeric_least (search->lowest, open);
}

struct numeric_outcome numeric_depth_two (struct numeric_worker *worker, const struct numeric_part *part, int64_t depth,
                                          int64_t leaves, int64_t budget, int root, struct numeric_found *found) {
  treeml_numeric *solver = worker->solver;
  struct numeric_bisection search = {.worker = worker,
                                     .solver = solver,
                                     .child = worker->child,
                                     .part = part,
                                     .price = solver->options.leaf_price,
                                     .leaves = leaves,
                                     .upper = budget,
                                     .lowest = NUMERIC_NONE,
                                     .root = root,
                                     .credit = numeric_first_credit,
                                     .polls = worker->polls,
                                     .found = found};
  *found = (struct numeric_found) {0};
  worker->statistics.pairs++;
  int64_t leaf, stump;
  if (!numeric_child_build (worker, part) || !add_ends (&search, &leaf, &stump)) {
    numeric_stop_search (solver, TREEML_MEMORY);
    return (struct numeric_outcome) {NUMERIC_NONE, 0};
  }
  consider_stump (&search, leaf + search.price, 1, -1);
  int64_t two = leaf + search.price;
  if (depth >= 1 && leaves >= 2) {
    two = numeric_least (two, stump + 2 * search.price);
    consider_stump (&search, two, 2, worker->child->point[0].column[0]);
  }
  search.lowest = two;
  if (depth >= 2 && leaves >= 3) {
    if (search.upper > 3 * search.price)
      bisect (&search);
    else
      search.lowest = numeric_least (two, 3 * search.price);
  }
  if (root)
    report (&search);
  if (!found->kind) {
    worker->statistics.failures++;
    return (struct numeric_outcome) {NUMERIC_NONE, search.lowest};
  }
  return (struct numeric_outcome) {search.upper, numeric_least (search.lowest, search.upper)};
}

/* A leaf or a stump below a node, as a separate tree. */
static int64_t add_stump (struct arena *arena, struct numeric_tree *tree, const struct numeric_stump *stump) {
  const int64_t node = numeric_tree_add (arena, tree, stump->column, (int32_t) stump->cut);
  if (node < 0 || stump->column < 0)
    return node;
  const int64_t yes = numeric_tree_add (arena, tree, -1, 0), no = numeric_tree_add (arena, tree, -1, 0);
  if (yes < 0 || no < 0)
    return -1;
  tree->yes[node] = (int32_t) yes;
  tree->no[node] = (int32_t) no;
  return node;
}

int numeric_depth_two_tree (struct numeric_worker *worker, const struct numeric_part *part, int64_t leaves,
                            const struct numeric_found *found, struct numeric_tree *tree) {
  struct arena *arena = &worker->solver->arena;
  struct numeric_filter filter[2] = {{part->column, part->cut, part->side}, {found->column, found->cut, 0}};
  const struct numeric_filter *filters = part->column < 0 ? filter + 1 : filter;
  const int count = part->column < 0 ? 1 : 2;
  tree->nodes = 0;
  if (found->kind == 1) {
    const struct numeric_stump stump =
        numeric_best_stump (worker, part->set, filter, part->column >= 0, leaves, found->stump[0], part->path);
    return add_stump (arena, tree, &stump) >= 0;
  }
  const struct numeric_path path = numeric_path_add (worker->solver, part->path, found->column);
  struct numeric_stump one[2] = {{0}}, two[2];
  for (int s = 0; s < 2; s++) {
    filter[1].side = s;
    if (leaves < 4)
      one[s] = numeric_best_stump (worker, part->set, filters, count, 1, -1, &path);
    two[s] = numeric_best_stump (worker, part->set, filters, count, 2, found->stump[s], &path);
  }
  if (leaves < 4) {
    if (one[0].value + two[1].value <= two[0].value + one[1].value)
      two[0] = one[0];
    else
      two[1] = one[1];
  }
  const int64_t node = numeric_tree_add (arena, tree, found->column, (int32_t) found->cut);
  const int64_t yes = node < 0 ? -1 : add_stump (arena, tree, &two[0]);
  const int64_t no = yes < 0 ? -1 : add_stump (arena, tree, &two[1]);
  if (no < 0)
    return 0;
  tree->yes[node] = (int32_t) yes;
  tree->no[node] = (int32_t) no;
  return 1;
}
