/* Costs of leaves and stumps computed row by row with every constraint: slow, and used only where the exact value
   decides. */
#include "numeric/solver.h"

#include <string.h>

int64_t numeric_leaf (enum numeric_goal goal, int32_t planes, const int64_t *sums, int64_t top, double square,
                      double unit) {
  if (goal == numeric_goal_two) {
    const int64_t balance = sums[0] < 0 ? -sums[0] : sums[0];
    return (top - balance) / 2;
  }
  if (goal == numeric_goal_many) {
    int64_t most = sums[0];
    for (int32_t k = 1; k < planes; k++)
      most = sums[k] > most ? sums[k] : most;
    return top - most;
  }
  double score = 0;
  for (int32_t k = 1; k < planes; k++)
    score += (double) sums[k] * (double) sums[k];
  const double cost = (square - (sums[0] > 0 ? score / (double) sums[0] : 0)) * unit;
  return cost > 0 ? (int64_t) cost : 0;
}

/* The same for sums over all planes of the data. */
static int64_t cost_of (const treeml_numeric *solver, const int64_t *sums, int64_t top, double square) {
  return numeric_leaf (solver->goal, solver->planes, sums, top, square, solver->unit);
}

int32_t numeric_label (const treeml_numeric *solver, const int64_t *sums) {
  if (solver->goal == numeric_goal_squared || solver->goal == numeric_goal_quantile)
    return -1;
  if (solver->goal == numeric_goal_two)
    return sums[0] > 0;
  int32_t best = 0;
  for (int32_t k = 1; k < solver->planes; k++)
    best = sums[k] > sums[best] ? k : best;
  return best;
}

/* Rows by ascending target of an output. */
static void order_by_place (const treeml_numeric *solver, const int64_t *place, int32_t places, int64_t *next,
                            int32_t *order) {
  memset (next, 0, ((size_t) places + 1) * sizeof *next);
  for (int64_t i = 0; i < solver->rows; i++)
    next[place[i] + 1]++;
  for (int32_t i = 0; i < places; i++)
    next[i + 1] += next[i];
  for (int64_t i = 0; i < solver->rows; i++)
    order[next[place[i]]++] = (int32_t) i;
}

/* The quantile of every leaf is found while its weights are added up by ascending target. `passed` and `guess` hold a
   number for every leaf. */
static int64_t quantile_loss (const treeml_numeric *solver, int32_t output, const int32_t *leaf, const int32_t *order,
                              const int64_t *total, int64_t *passed, int64_t *guess) {
  const int64_t *place = solver->value[solver->planes + 1 + output], *weight = solver->value[0];
  const int64_t *target = solver->targets[output].target + 1;
  int64_t value = 0;
  for (int64_t i = 0; i < solver->rows; i++) {
    const int32_t row = order[i], own = leaf[row];
    if (!passed[own] || solver->down * passed[own] < solver->up * (total[own] - passed[own]))
      guess[own] = target[place[row]];
    passed[own] += weight[row];
  }
  for (int64_t i = 0; i < solver->rows; i++) {
    const int64_t away = target[place[i]] - guess[leaf[i]];
    value += weight[i] * (away > 0 ? solver->up * away : -solver->down * away);
  }
  return value;
}

int64_t numeric_quantile_value (treeml_numeric *solver, const int32_t *leaf, int64_t leaves) {
  struct arena *arena = &solver->arena;
  int32_t most = 0;
  for (int32_t o = 0; o < solver->outputs; o++)
    most = solver->targets[o].places > most ? solver->targets[o].places : most;
  int64_t *next = arena_reserve (arena, (size_t) most + 1, sizeof *next), value = -1;
  int64_t *total = arena_allocate (arena, 3 * (size_t) leaves, sizeof *total);
  int32_t *order = arena_reserve (arena, (size_t) solver->rows, sizeof *order);
  if (next && total && order) {
    value = 0;
    for (int64_t i = 0; i < solver->rows; i++)
      total[leaf[i]] += solver->value[0][i];
    for (int32_t o = 0; o < solver->outputs; o++) {
      order_by_place (solver, solver->value[solver->planes + 1 + o], solver->targets[o].places, next, order);
      memset (total + leaves, 0, (size_t) leaves * sizeof *total);
      value += quantile_loss (solver, o, leaf, order, total, total + leaves, total + 2 * leaves);
    }
  }
  arena_release (arena, next);
  arena_release (arena, total);
  arena_release (arena, order);
  return value;
}

/* The rows that pass the filters, in the order of a column. */
struct scan {
  treeml_numeric *solver;
  struct numeric_worker *worker;
  const int32_t *row, *rank;
  int64_t rows;
  int32_t column;
  int64_t *all, top, count; /* totals over all these rows */
  double square;
  int64_t price; /* of the stump: two leaves, and the fee of the column for all rows */
  struct numeric_stump best;
};

static void pass (struct scan *scan, const struct numeric_set *set, int32_t f, const struct numeric_filter *filter,
                  int filters) {
  treeml_numeric *solver = scan->solver;
  const int32_t *order = set->order[f];
  scan->column = f;
  scan->rank = solver->rank[f];
  if (!filters) {
    scan->row = order;
    scan->rows = set->rows;
    return;
  }
  int32_t *to = scan->worker->row;
  int64_t kept = 0;
  for (int64_t i = 0; i < set->rows; i++) {
    const int32_t row = order[i];
    int fits = 1;
    for (int j = 0; j < filters; j++)
      fits &= (solver->rank[filter[j].column][row] > filter[j].cut) == filter[j].side;
    to[kept] = row;
    kept += fits;
  }
  scan->row = to;
  scan->rows = kept;
}

static int64_t counted (const treeml_numeric *solver, int32_t row) { return solver->count ? solver->count[row] : 1; }

/* Polls from time to time whether the search is stopping. */
static inline int is_over (struct scan *scan, int64_t i) {
  return i % numeric_block == numeric_block - 1 && numeric_spent (scan->worker, numeric_block);
}

/* Returns 0 if the search is stopping. */
static int add_all (struct scan *scan) {
  treeml_numeric *solver = scan->solver;
  memset (scan->all, 0, (size_t) solver->planes * sizeof *scan->all);
  for (int64_t i = 0; i < scan->rows; i++) {
    const int32_t row = scan->row[i];
    numeric_add (solver, scan->all, row);
    scan->top += solver->value[solver->planes][row];
    scan->count += counted (solver, row);
    if (solver->goal == numeric_goal_squared)
      scan->square += numeric_square (solver, row);
    if (is_over (scan, i))
      return 0;
  }
  return 1;
}

/* Considers a cut before row i with this cost: is it allowed and better? */
static inline void consider (struct scan *scan, int64_t i, int64_t count, int64_t value) {
  const int64_t support = scan->solver->options.support;
  value += scan->price;
  if (value < scan->best.value && count >= support && scan->count - count >= support)
    scan->best = (struct numeric_stump) {.value = value, .column = scan->column, .cut = scan->rank[scan->row[i - 1]]};
}

static inline int differs (const struct scan *scan, int64_t i) {
  return scan->rank[scan->row[i]] != scan->rank[scan->row[i - 1]];
}

static void scan_two (struct scan *scan) {
  treeml_numeric *solver = scan->solver;
  const int64_t *value = solver->value[0];
  int64_t balance = 0, count = 0;
  for (int64_t i = 0; i < scan->rows && !is_over (scan, i); i++) {
    const int32_t row = scan->row[i];
    if (i && differs (scan, i)) {
      const int64_t other = scan->all[0] - balance;
      const int64_t sure = (balance < 0 ? -balance : balance) + (other < 0 ? -other : other);
      consider (scan, i, count, (scan->top - sure) / 2);
    }
    balance += value[row];
    count += counted (solver, row);
  }
}

/* Each row gains from one class only, so the largest sum grows from either end, one class at a time. */
static void scan_pure (struct scan *scan) {
  treeml_numeric *solver = scan->solver;
  const int32_t planes = solver->planes;
  const int64_t *worth = solver->value[planes], *label = solver->value[planes + 1];
  int64_t *sums = scan->all + planes, *most = scan->worker->most, largest = 0, count = scan->count;
  memset (sums, 0, (size_t) planes * sizeof *sums);
  for (int64_t i = 0; i < scan->rows; i++) {
    const int32_t row = scan->row[i];
    if (is_over (scan, i))
      return;
    most[i] = largest;
    const int64_t sum = sums[label[row]] += worth[row];
    largest = sum > largest ? sum : largest;
  }
  memset (sums, 0, (size_t) planes * sizeof *sums);
  largest = 0;
  for (int64_t i = scan->rows - 1; i > 0 && !is_over (scan, i); i--) {
    const int32_t row = scan->row[i];
    const int64_t sum = sums[label[row]] += worth[row];
    largest = sum > largest ? sum : largest;
    count -= counted (solver, row);
    if (differs (scan, i))
      consider (scan, i, count, scan->top - most[i] - largest);
  }
}

static void scan_any (struct scan *scan) {
  treeml_numeric *solver = scan->solver;
  const int32_t planes = solver->planes;
  int64_t *left = scan->all + planes, *right = left + planes, top = 0, count = 0;
  double square = 0;
  memset (left, 0, (size_t) planes * sizeof *left);
  for (int64_t i = 0; i < scan->rows && !is_over (scan, i); i++) {
    const int32_t row = scan->row[i];
    if (i && differs (scan, i)) {
      for (int32_t k = 0; k < planes; k++)
        right[k] = scan->all[k] - left[k];
      consider (scan, i, count,
                cost_of (solver, left, top, square) + cost_of (solver, right, scan->top - top, scan->square - square));
    }
    numeric_add (solver, left, row);
    top += solver->value[planes][row];
    count += counted (solver, row);
    if (solver->goal == numeric_goal_squared)
      square += numeric_square (solver, row);
  }
}

/* Puts the places and weights of the rows into the memory of the worker, in the order in which they are scanned. */
static void list_places (struct scan *scan, int32_t output) {
  treeml_numeric *solver = scan->solver;
  struct numeric_quantile *quantile = &scan->worker->quantile;
  quantile->targets = solver->targets;
  for (int64_t i = 0; i < scan->rows; i++) {
    quantile->place[i] = (int32_t) solver->value[solver->planes + 1 + output][scan->row[i]];
    quantile->weight[i] = solver->value[0][scan->row[i]];
  }
  numeric_quantile_link (quantile, output, 0, quantile->place, quantile->weight, scan->rows);
}

static int64_t cost_of_all (struct scan *scan) {
  if (scan->solver->goal != numeric_goal_quantile)
    return cost_of (scan->solver, scan->all, scan->top, scan->square);
  for (int32_t o = 0; o < scan->solver->outputs; o++)
    list_places (scan, o);
  return numeric_quantile_leaf (&scan->worker->quantile, 0);
}

static void scan_quantile (struct scan *scan) {
  struct numeric_quantile *quantile = &scan->worker->quantile;
  int64_t count = 0;
  for (int32_t o = 0; o < scan->solver->outputs; o++) {
    list_places (scan, o);
    numeric_quantile_sweep (quantile, o, 0, quantile->place, quantile->weight, scan->rows);
  }
  for (int64_t i = 0; i < scan->rows && !is_over (scan, i); i++) {
    if (i && differs (scan, i))
      consider (scan, i, count, quantile->front[i] + quantile->back[i]);
    count += counted (scan->solver, scan->row[i]);
  }
}

struct numeric_stump numeric_best_stump (struct numeric_worker *worker, const struct numeric_set *set,
                                         const struct numeric_filter *filter, int filters, int64_t leaves, int32_t only,
                                         const struct numeric_path *path) {
  treeml_numeric *solver = worker->solver;
  const int64_t support = solver->options.support;
  const int32_t first = only < 0 ? 0 : only, last = only < 0 ? solver->columns - 1 : only;
  struct scan scan = {
      .solver = solver, .worker = worker, .all = worker->sums, .best = {.value = NUMERIC_NONE, .column = -1}};
  pass (&scan, set, first, filter, filters);
  if (!add_all (&scan))
    return scan.best;
  if (scan.count >= support)
    scan.best.value = cost_of_all (&scan) + solver->options.leaf_price;
  if (leaves < 2 || scan.count < 2 * support)
    return scan.best;
  for (int32_t f = first; f <= last; f++) {
    if (f > first)
      pass (&scan, set, f, filter, filters);
    if (numeric_spent (worker, set->rows / 2))
      break;
    scan.price = 2 * solver->options.leaf_price + numeric_fee (solver, path, f) * scan.count;
    if (solver->goal == numeric_goal_two)
      scan_two (&scan);
    else if (solver->goal == numeric_goal_many && solver->pure)
      scan_pure (&scan);
    else if (solver->goal == numeric_goal_quantile)
      scan_quantile (&scan);
    else
      scan_any (&scan);
    if (numeric_spent (worker, set->rows))
      break;
  }
  return scan.best;
}
