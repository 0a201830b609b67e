/* The least weighted sums of all trees of a set of rows, for all multipliers.

   Depth two follows from the table. For deeper trees the cuts of a column are bounded by staircases: without a limit on
   the rows of a leaf, and less the least that each row can cost, the least sum of the yes side never falls and that of
   the no side never rises from cut to cut, and rows that change sides change it by at most their ranges (after Brita,
   van der Linden and Demirovic, 2025). That does not hold if a test makes others cheaper: more rows may be split by
   such a test that fewer rows are not, and cost less. Then every cut is evaluated. */
#include "coupled_numeric/solver.h"

#include <math.h>
#include <string.h>

static void lower (double *to, const double *from) {
  for (int i = 0; i < WIDTH; i++)
    to[i] = fmin (to[i], from[i]);
}

/* Costs of a set as a leaf, the best class for each multiplier, and the least that its rows can cost. */
static void weigh_leaf (const threshold_solver *solver, const struct threshold_rows *set, double *leaf, double *floor) {
  const int64_t size = (int64_t) solver->classes * WIDTH;
  double sum[most_classes * WIDTH] = {0};
  memset (floor, 0, WIDTH * sizeof *floor);
  for (int64_t r = 0; r < set->rows; r++) {
    const int64_t row = set->order[r];
    for (int64_t k = 0; k < size; k++)
      sum[k] += solver->cost[row * size + k];
    for (int i = 0; i < WIDTH; i++)
      floor[i] += solver->floor[row * WIDTH + i];
  }
  for (int i = 0; i < WIDTH; i++) {
    leaf[i] = sum[i];
    for (int32_t k = 1; k < solver->classes; k++)
      leaf[i] = fmin (leaf[i], sum[k * WIDTH + i]);
    leaf[i] += solver->price[i];
  }
}

void threshold_join_sides (const threshold_solver *solver, int64_t cut, int64_t leaves, const double *stump,
                           const double *fee, double *value) {
  const double *leaf = solver->table.leaf + cut * 2 * WIDTH;
  for (int i = 0; i < WIDTH; i++) {
    const double price = solver->price[i];
    const double one[2] = {leaf[i] + price, leaf[WIDTH + i] + price};
    const double two[2] = {fmin (one[0], stump[i] + 2 * price), fmin (one[1], stump[WIDTH + i] + 2 * price)};
    value[i] = leaves >= 4 ? two[0] + two[1] : leaves == 3 ? fmin (one[0] + two[1], two[0] + one[1]) : one[0] + one[1];
    value[i] += fee[i];
  }
}

void threshold_supported (const threshold_solver *solver, const struct threshold_rows *set, int32_t column,
                          int32_t *first, int32_t *last) {
  const struct threshold_table *table = &solver->table;
  const int32_t *order = threshold_order (set, column), *end = table->end + column * solver->rows;
  const int64_t support = solver->options.support;
  int64_t count = 0, row = 0;
  *first = table->levels[column];
  *last = -1;
  for (int32_t cut = 0; cut + 1 < table->levels[column]; cut++) {
    for (; row < end[cut]; row++)
      count += solver->count ? solver->count[order[row]] : 1;
    if (count >= support && cut < *first)
      *first = cut;
    if (set->count - count >= support)
      *last = cut;
  }
}

/* Depth one or two, or two or three leaves: from the table. */
static int shallow (threshold_solver *solver, const struct threshold_rows *set, int64_t leaves,
                    struct threshold_least *least) {
  if (!threshold_table_fill (solver, set))
    return 0;
  const struct threshold_table *table = &solver->table;
  for (int32_t f = 0; f < solver->columns; f++) {
    int32_t first, last;
    double fee[WIDTH];
    threshold_supported (solver, set, f, &first, &last);
    threshold_fee (solver, -1, f, set->count, fee);
    for (int32_t cut = 0; cut + 1 < table->levels[f]; cut++) {
      const int64_t at = table->first[f] + cut;
      double value[WIDTH];
      threshold_join_sides (solver, at, leaves, table->relaxed + at * 2 * WIDTH, fee, value);
      lower (least->relaxed, value);
      if (cut < first || cut > last)
        continue;
      threshold_join_sides (solver, at, leaves, table->supported + at * 2 * WIDTH, fee, value);
      lower (least->supported, value);
    }
  }
  return 1;
}

/* Deeper trees. */

int threshold_node_create (threshold_solver *solver, struct threshold_node *node, const struct threshold_rows *set,
                           int64_t depth, int64_t leaves) {
  double leaf[WIDTH];
  *node = (struct threshold_node) {
      .set = *set, .depth = depth, .leaves = leaves, .apart = solver->fees[0].discounts || solver->fees[1].discounts};
  weigh_leaf (solver, set, leaf, node->floor);
  node->column = arena_allocate (&solver->arena, (size_t) solver->columns, sizeof *node->column);
  if (!node->column)
    return threshold_stop (solver, TREEML_MEMORY), 0;
  threshold_table_levels (solver, set);
  for (int32_t f = 0; f < solver->columns; f++) {
    struct threshold_column *column = &node->column[f];
    const int32_t cuts = solver->table.levels[f] - 1, *end = solver->table.end + f * solver->rows;
    if (cuts < 1)
      continue;
    column->cuts = cuts;
    threshold_fee (solver, -1, f, set->count, column->fee);
    threshold_supported (solver, set, f, &column->first, &column->last);
    column->rank = arena_reserve (&solver->arena, (size_t) cuts, sizeof *column->rank);
    column->known = arena_allocate (&solver->arena, (size_t) cuts, 1);
    column->worth = arena_reserve (&solver->arena, times ((size_t) cuts, WIDTH), sizeof *column->worth);
    column->side = arena_reserve (&solver->arena, times ((size_t) cuts, 2), sizeof *column->side);
    if (!column->rank || !column->known || !column->worth || !column->side)
      return threshold_stop (solver, TREEML_MEMORY), 0;
    const int32_t *order = threshold_order (set, f);
    double run[WIDTH] = {0};
    int64_t row = 0;
    for (int32_t cut = 0; cut < cuts; cut++) {
      for (; row < end[cut]; row++)
        for (int i = 0; i < WIDTH; i++)
          run[i] += solver->range[(int64_t) order[row] * WIDTH + i];
      memcpy (column->worth + (int64_t) cut * WIDTH, run, sizeof run);
      column->rank[cut] = threshold_table_rank (solver, set, f, cut);
    }
  }
  return 1;
}

void threshold_node_release (threshold_solver *solver, struct threshold_node *node) {
  for (int32_t f = 0; node->column && f < solver->columns; f++) {
    struct threshold_column *column = &node->column[f];
    arena_release (&solver->arena, column->rank);
    arena_release (&solver->arena, column->known);
    arena_release (&solver->arena, column->worth);
    arena_release (&solver->arena, column->side);
  }
  arena_release (&solver->arena, node->column);
  node->column = NULL;
}

/* A lower bound of a cut from the nearest known cuts before and after it; -1 and `cuts` stand for none. */
static void staircase (const struct threshold_node *node, const struct threshold_column *column, int32_t before,
                       int32_t cut, int32_t after, double *value) {
  const double *worth = column->worth + (int64_t) cut * WIDTH;
  for (int i = 0; i < WIDTH; i++) {
    double yes = 0, no = 0;
    if (before >= 0 && !node->apart) {
      const double moved = worth[i] - column->worth[(int64_t) before * WIDTH + i];
      yes = column->side[2 * before].relaxed[i];
      no = column->side[2 * before + 1].relaxed[i] - moved;
    }
    if (after < column->cuts && !node->apart) {
      const double moved = column->worth[(int64_t) after * WIDTH + i] - worth[i];
      yes = fmax (yes, column->side[2 * after].relaxed[i] - moved);
      no = fmax (no, column->side[2 * after + 1].relaxed[i]);
    }
    value[i] = node->floor[i] + fmax (yes, 0) + fmax (no, 0) + column->fee[i];
  }
}

static int is_open (const double *value, const double *limit, int every) {
  if (!every)
    return threshold_within (value, limit);
  for (int i = 0; i < WIDTH; i++)
    if (value[i] < limit[i])
      return 1;
  return 0;
}

static int evaluate (threshold_solver *solver, struct threshold_node *node, int32_t f, int32_t cut, double *limit,
                     int every) {
  struct threshold_column *column = &node->column[f];
  struct threshold_least *side = &column->side[2 * (int64_t) cut];
  double most[WIDTH];
  for (int i = 0; i < WIDTH; i++)
    most[i] = limit[i] - column->fee[i];
  threshold_path_push (solver, f);
  int fine = 1;
  for (int s = 0; s < 2 && fine; s++) {
    struct threshold_rows part = {0};
    fine = threshold_rows_split (solver, &node->set, f, column->rank[cut], s, &part) &&
           threshold_least (solver, &part, node->depth - 1, node->leaves - 1, most, &side[s]);
    threshold_rows_release (solver, &part);
    for (int i = 0; fine && i < WIDTH; i++)
      most[i] -= side[0].supported[i];
  }
  threshold_path_pop (solver);
  if (!fine)
    return 0;
  solver->statistics.nodes += 2;
  column->known[cut] = 1;
  for (int i = 0; every && i < WIDTH && cut >= column->first && cut <= column->last; i++)
    limit[i] = fmin (limit[i], side[0].supported[i] + side[1].supported[i] + column->fee[i]);
  return 1;
}

/* A walk over the cuts of a column, from one stretch of open cuts to the next. */
struct walk {
  int32_t cut, before, after, stretch;
};

static const struct walk first_step = {0, -1, 0, -1};

/* The middle of the next stretch of open cuts, or -1 at the end. */
static int32_t next_middle (const struct threshold_node *node, const struct threshold_column *column,
                            const double *limit, int every, struct walk *walk) {
  while (walk->cut <= column->cuts) {
    const int32_t cut = walk->cut++;
    int32_t open = 0, middle = -1;
    const int known = cut < column->cuts && column->known[cut];
    if (cut < column->cuts && !known && cut >= column->first && cut <= column->last) {
      double value[WIDTH];
      if (walk->after <= cut)
        for (walk->after = cut + 1; walk->after < column->cuts && !column->known[walk->after];)
          walk->after++;
      staircase (node, column, walk->before, cut, walk->after, value);
      open = is_open (value, limit, every);
    }
    if (open && walk->stretch < 0)
      walk->stretch = cut;
    if (!open && walk->stretch >= 0) {
      middle = (walk->stretch + cut - 1) / 2;
      walk->stretch = -1;
    }
    if (known)
      walk->before = cut;
    if (middle >= 0)
      return middle;
  }
  return -1;
}

/* Evaluates the middle of every stretch of open cuts of a column; counts them in `evaluated`. */
static int explore_column (threshold_solver *solver, struct threshold_node *node, int32_t f, double *limit, int every,
                           int64_t *evaluated) {
  struct walk walk = first_step;
  for (int32_t middle; (middle = next_middle (node, &node->column[f], limit, every, &walk)) >= 0; ++*evaluated)
    if (!evaluate (solver, node, f, middle, limit, every))
      return 0;
  return 1;
}

/* The same for all columns at once, by several threads. */
struct middles_task {
  struct threshold_node *node;
  const double *limit;
  const struct middle {
    int32_t column, cut;
  } *middles;
};

static int evaluate_middle (threshold_solver *worker, void *argument, int64_t item) {
  const struct middles_task *task = argument;
  double limit[WIDTH];
  memcpy (limit, task->limit, sizeof limit);
  return evaluate (worker, task->node, task->middles[item].column, task->middles[item].cut, limit, 0);
}

static int explore_together (threshold_solver *solver, struct threshold_node *node, const double *limit) {
  size_t room = 1;
  for (int32_t f = 0; f < solver->columns; f++)
    room += (size_t) node->column[f].cuts;
  struct middle *middles = arena_reserve (&solver->arena, room, sizeof *middles);
  if (!middles)
    return threshold_stop (solver, TREEML_MEMORY), 0;
  struct middles_task task = {node, limit, middles};
  int64_t found = 1;
  int fine = 1;
  while (fine && found) {
    found = 0;
    for (int32_t f = 0; f < solver->columns; f++) {
      struct walk walk = first_step;
      for (int32_t cut; (cut = next_middle (node, &node->column[f], limit, 0, &walk)) >= 0;)
        middles[found++] = (struct middle) {f, cut};
    }
    fine = !found || threshold_team_run (solver, evaluate_middle, &task, found);
  }
  arena_release (&solver->arena, middles);
  return fine;
}

/* Chooses the cut that promises most by its stumps, away from the cuts that are known, or none. */
static int choose_cut (const threshold_solver *solver, const struct threshold_node *node, int32_t *f, int32_t *at) {
  double best = INFINITY;
  for (int32_t c = 0; c < solver->columns; c++) {
    const struct threshold_column *column = &node->column[c];
    const int32_t apart = column->cuts / 10;
    for (int32_t cut = column->first; cut <= column->last && cut < column->cuts; cut++) {
      const int64_t place = solver->table.first[c] + cut;
      double value[WIDTH];
      threshold_join_sides (solver, place, 4, solver->table.supported + place * 2 * WIDTH, column->fee, value);
      int near = 0;
      for (int32_t k = cut - apart; k <= cut + apart && value[0] < best; k++)
        near |= k >= 0 && k < column->cuts && column->known[k];
      if (value[0] < best && !near) {
        best = value[0];
        *f = c;
        *at = cut;
      }
    }
  }
  return best < INFINITY;
}

/* The narrow search: only a few cuts are considered. They are chosen before any is evaluated, because evaluating one
   overwrites the table. */
static int explore_narrowly (threshold_solver *solver, struct threshold_node *node, double *limit, int every) {
  enum { most_chosen = 64 };
  int32_t f[most_chosen], cut[most_chosen], chosen = 0;
  if (node->explored)
    return 1;
  if (!threshold_table_fill (solver, &node->set))
    return 0;
  while (chosen < solver->narrow && chosen < most_chosen && choose_cut (solver, node, &f[chosen], &cut[chosen])) {
    node->column[f[chosen]].known[cut[chosen]] = 1;
    chosen++;
  }
  for (int32_t c = 0; c < chosen; c++)
    if (!evaluate (solver, node, f[c], cut[c], limit, every))
      return 0;
  node->explored = 1;
  return 1;
}

int threshold_explore (threshold_solver *solver, struct threshold_node *node, double *limit, int every) {
  if (solver->narrow)
    return explore_narrowly (solver, node, limit, every);
  if (solver->team && !every)
    return explore_together (solver, node, limit);
  for (int64_t evaluated = 1; evaluated;) {
    evaluated = 0;
    for (int32_t f = 0; f < solver->columns; f++)
      if (!explore_column (solver, node, f, limit, every, &evaluated))
        return 0;
  }
  return 1;
}

/* Collects the least sums of an explored node: those of known cuts, and the staircase of all others. */
static void collect (threshold_solver *solver, const struct threshold_node *node, struct threshold_least *least) {
  for (int32_t f = 0; f < solver->columns; f++) {
    const struct threshold_column *column = &node->column[f];
    int32_t before = -1, after = 0;
    for (int32_t cut = 0; cut < column->cuts; cut++) {
      double value[WIDTH];
      const struct threshold_least *side = &column->side[2 * (int64_t) cut];
      if (column->known[cut]) {
        for (int i = 0; i < WIDTH; i++) {
          least->relaxed[i] =
              fmin (least->relaxed[i], node->floor[i] + side[0].relaxed[i] + side[1].relaxed[i] + column->fee[i]);
          if (cut >= column->first && cut <= column->last)
            least->supported[i] =
                fmin (least->supported[i], side[0].supported[i] + side[1].supported[i] + column->fee[i]);
        }
        before = cut;
        continue;
      }
      if (solver->narrow)
        continue;
      if (after <= cut)
        for (after = cut + 1; after < column->cuts && !column->known[after];)
          after++;
      staircase (node, column, before, cut, after, value);
      lower (least->relaxed, value);
      if (cut >= column->first && cut <= column->last)
        lower (least->supported, value);
    }
  }
}

static int deep (threshold_solver *solver, const struct threshold_rows *set, int64_t depth, int64_t leaves,
                 const double *most, struct threshold_least *least) {
  struct threshold_node node = {0};
  double limit[WIDTH];
  for (int i = 0; i < WIDTH; i++)
    limit[i] = fmin (most[i] + 1, least->supported[i]);
  const int fine =
      threshold_node_create (solver, &node, set, depth, leaves) && threshold_explore (solver, &node, limit, 1);
  if (fine)
    collect (solver, &node, least);
  threshold_node_release (solver, &node);
  return fine;
}

int threshold_least (threshold_solver *solver, const struct threshold_rows *set, int64_t depth, int64_t leaves,
                     const double *most, struct threshold_least *least) {
  double floor[WIDTH];
  weigh_leaf (solver, set, least->supported, floor);
  memcpy (least->relaxed, least->supported, sizeof least->relaxed);
  if (set->count < solver->options.support)
    for (int i = 0; i < WIDTH; i++)
      least->supported[i] = INFINITY;
  int fine = !threshold_spent (solver, 10 * set->rows);
  if (fine && depth >= 1 && leaves >= 2) {
    if (depth <= 2 || leaves <= 3)
      fine = shallow (solver, set, depth == 1 ? 2 : leaves, least);
    else
      fine = deep (solver, set, depth, leaves, most, least);
  }
  for (int i = 0; i < WIDTH; i++)
    least->relaxed[i] -= floor[i];
  return fine;
}
