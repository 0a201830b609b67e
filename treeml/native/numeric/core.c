/* Rows that close the cuts of many columns; see core.h. */
#include "numeric/core.h"

#include <string.h>

enum { most_misses = 3 }; /* after this many filters in a row that drop too much, the others are not tried */

int numeric_core_create (treeml_numeric *solver, const struct numeric_set *set, struct numeric_core *core) {
  struct arena *arena = &solver->arena;
  const size_t columns = (size_t) solver->columns;
  *core = (struct numeric_core) {.open = arena_reserve (arena, columns, sizeof *core->open),
                                 .extent = arena_reserve (arena, columns, sizeof *core->extent),
                                 .filter = arena_reserve (arena, columns, sizeof *core->filter),
                                 .left = arena_reserve (arena, columns, sizeof *core->left),
                                 .row = arena_reserve (arena, (size_t) set->rows + 1, sizeof *core->row)};
  if (!core->open || !core->extent || !core->filter || !core->left || !core->row)
    return 0;
  for (int32_t g = 0; g < solver->columns; g++)
    core->open[g] =
        (struct numeric_span) {solver->rank[g][set->order[g][0]], solver->rank[g][set->order[g][set->rows - 1]]};
  return 1;
}

void numeric_core_release (treeml_numeric *solver, struct numeric_core *core) {
  arena_release (&solver->arena, core->open);
  arena_release (&solver->arena, core->extent);
  arena_release (&solver->arena, core->filter);
  arena_release (&solver->arena, core->left);
  arena_release (&solver->arena, core->row);
}

static void find_extent (struct numeric_worker *worker, struct numeric_core *core) {
  const treeml_numeric *solver = worker->solver;
  for (int32_t g = 0; g < solver->columns; g++) {
    const int32_t *rank = solver->rank[g];
    struct numeric_span span = {rank[core->row[0]], rank[core->row[0]]};
    for (int64_t i = 1; i < core->rows; i++) {
      const int32_t here = rank[core->row[i]];
      span.low = here < span.low ? here : span.low;
      span.high = here > span.high ? here : span.high;
    }
    core->extent[g] = span;
  }
}

void numeric_core_begin (struct numeric_worker *worker, struct numeric_core *core, const struct numeric_set *set,
                         const struct numeric_filter *side, int64_t position) {
  core->filter[0] = *side;
  core->filters = 1;
  core->rows = side->side ? set->rows - position : position;
  memcpy (core->row, set->order[side->column] + (side->side ? position : 0), (size_t) core->rows * sizeof *core->row);
  numeric_spent (worker, core->rows / 4);
}

static int passes (const treeml_numeric *solver, const struct numeric_filter *filter, int32_t row) {
  return (solver->rank[filter->column][row] > filter->cut) == filter->side;
}

/* What a single leaf of the rows that pass costs; their number, if leaves do not predict classes. */
static int64_t cost_of_leaf (struct numeric_worker *worker, const struct numeric_core *core,
                             const struct numeric_filter *filter) {
  const treeml_numeric *solver = worker->solver;
  const int pure = solver->goal == numeric_goal_many && solver->pure;
  const int64_t *worth = solver->value[solver->planes], *label = pure ? solver->value[solver->planes + 1] : NULL;
  int64_t *sums = worker->sums, count = 0, top = 0, most = 0;
  memset (sums, 0, (size_t) solver->planes * sizeof *sums);
  for (int64_t i = 0; i < core->rows; i++) {
    const int32_t row = core->row[i];
    if (filter && !passes (solver, filter, row))
      continue;
    count++;
    top += worth[row];
    if (pure)
      sums[label[row]] += worth[row];
    else if (solver->goal == numeric_goal_two)
      sums[0] += solver->value[0][row];
  }
  if (solver->goal == numeric_goal_two)
    return (top - (sums[0] < 0 ? -sums[0] : sums[0])) / 2;
  if (!pure)
    return count;
  for (int32_t k = 0; k < solver->planes; k++)
    most = sums[k] > most ? sums[k] : most;
  return top - most;
}

/* The rank in the middle of the open cuts, or rather of the rows there. */
static int32_t middle (const treeml_numeric *solver, const struct numeric_set *set, int32_t g,
                       struct numeric_span open) {
  const int32_t *order = set->order[g], *rank = solver->rank[g];
  int64_t end[2];
  for (int s = 0; s < 2; s++) { /* the first rows of the lowest and of the highest open rank */
    int64_t low = 0, high = set->rows;
    while (low < high) {
      const int64_t half = low + (high - low) / 2;
      if (rank[order[half]] < (s ? open.high : open.low))
        low = half + 1;
      else
        high = half;
    }
    end[s] = low;
  }
  const int32_t here = rank[order[end[0] + (end[1] - end[0]) / 2]];
  return here < open.high ? here : open.high - 1;
}

/* The filter that leaves most of the core of those that help to close a column. Cuts that are open up to an end of the
   column are closed from the middle, others from where they end. */
static struct numeric_filter choose_filter (struct numeric_worker *worker, struct numeric_core *core,
                                            const struct numeric_set *set, int32_t g) {
  const treeml_numeric *solver = worker->solver;
  const struct numeric_span open = core->open[g];
  const int first = open.low == solver->rank[g][set->order[g][0]];
  const int last = open.high == solver->rank[g][set->order[g][set->rows - 1]];
  const int32_t half = first == last ? middle (solver, set, g, open) : 0;
  const struct numeric_filter yes = {g, first == last ? half : open.low, 0};
  const struct numeric_filter no = {g, first == last ? half : open.high - 1, 1};
  const int64_t left[2] = {first && !last ? -1 : cost_of_leaf (worker, core, &yes),
                           last && !first ? -1 : cost_of_leaf (worker, core, &no)};
  core->left[g] = left[0] >= left[1] ? left[0] : left[1];
  return left[0] >= left[1] ? yes : no;
}

static void apply (const treeml_numeric *solver, struct numeric_core *core, const struct numeric_filter *filter) {
  int64_t kept = 0;
  for (int64_t i = 0; i < core->rows; i++) {
    const int32_t row = core->row[i];
    core->row[kept] = row;
    kept += passes (solver, filter, row);
  }
  core->rows = kept;
  core->filter[core->filters++] = *filter;
}

void numeric_core_narrow (struct numeric_worker *worker, struct numeric_core *core, const struct numeric_set *set,
                          int64_t percent) {
  const treeml_numeric *solver = worker->solver;
  const int32_t first = core->filter[0].column + 1;
  struct numeric_filter *found = core->filter + 1; /* sorted by what they leave; those that are applied come first */
  int32_t count = 0;
  const int64_t share = (int64_t) ((double) cost_of_leaf (worker, core, NULL) * (double) percent / 100);
  const int64_t limit = share > 1 ? share : 1;
  for (int32_t g = first; g < solver->columns; g++) {
    if (core->open[g].low >= core->open[g].high)
      continue;
    const struct numeric_filter filter = choose_filter (worker, core, set, g);
    int32_t at = core->left[g] < limit ? -1 : count++;
    for (; at > 0 && core->left[found[at - 1].column] < core->left[g]; at--)
      found[at] = found[at - 1];
    if (at >= 0)
      found[at] = filter;
    if (numeric_spent (worker, core->rows / 4))
      return;
  }
  for (int32_t i = 0, misses = 0; i < count && misses < most_misses; i++) {
    const struct numeric_filter filter = found[i];
    const int fits = !i || cost_of_leaf (worker, core, &filter) >= limit;
    misses = fits ? 0 : misses + 1;
    if (fits)
      apply (solver, core, &filter);
  }
  find_extent (worker, core);
  numeric_spent (worker, core->rows * solver->columns / 4);
}

void numeric_core_close (const treeml_numeric *solver, struct numeric_core *core) {
  for (int32_t g = 0; g < solver->columns; g++) {
    struct numeric_span *open = &core->open[g];
    open->low = core->extent[g].low > open->low ? core->extent[g].low : open->low;
    open->high = core->extent[g].high < open->high ? core->extent[g].high : open->high;
  }
}

int64_t numeric_core_classes (struct numeric_worker *worker, const struct numeric_core *core, int64_t most) {
  const treeml_numeric *solver = worker->solver;
  const int64_t price = solver->options.leaf_price;
  int64_t *sums = worker->sums, rest = 0, best = NUMERIC_NONE;
  if (solver->goal != numeric_goal_many || !solver->pure)
    return price;
  memset (sums, 0, (size_t) solver->planes * sizeof *sums);
  for (int64_t i = 0; i < core->rows; i++) {
    const int64_t worth = solver->value[solver->planes][core->row[i]];
    sums[solver->value[solver->planes + 1][core->row[i]]] += worth;
    rest += worth;
  }
  for (int64_t leaves = 1; leaves <= most && leaves <= solver->planes; leaves++) {
    int32_t largest = 0;
    for (int32_t k = 1; k < solver->planes; k++)
      largest = sums[k] > sums[largest] ? k : largest;
    rest -= sums[largest];
    sums[largest] = 0;
    best = rest + leaves * price < best ? rest + leaves * price : best;
  }
  return best;
}
