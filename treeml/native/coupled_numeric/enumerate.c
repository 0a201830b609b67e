/* Lists the vectors of all trees of a set of rows that stay within the limits of all multipliers, without dominated
   ones.

   A tree within the limits has parts that stay within them too once the least that the rest of the tree needs is taken
   off: the limit of the yes side is the whole limit less the bound of the no side, and that of the no side is the whole
   limit less the least sums in the list of the yes side. */
#include "coupled_numeric/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void threshold_weigh (const threshold_solver *solver, const int64_t *vector, double *value) {
  for (int i = 0; i < WIDTH; i++) {
    int64_t sum = 0;
    for (int32_t j = 0; j < solver->active; j++)
      sum += solver->coefficient[i][j] * vector[j];
    value[i] = (double) sum;
  }
}

/* Adds a vector if it is within the limit. A new split gets a node; a leaf is the node of its class. */
static int add (threshold_solver *solver, struct vector_list *list, int64_t *vector, int64_t leaves,
                const struct threshold_split *split) {
  int64_t node = split->yes;
  if (split->column >= 0)
    node = threshold_split_add (solver, split->column, split->cut, split->yes, split->no);
  if (solver->leaves_matter)
    vector[solver->active] = leaves;
  vector[solver->compared + 1] = node;
  if (node >= 0 && vector_list_add (list, vector) && vector_list_reduce_if_long (list, solver->window, &solver->work))
    return 1;
  threshold_stop (solver, TREEML_MEMORY);
  return 0;
}

static int finish (threshold_solver *solver, struct vector_list *list) {
  if (!vector_list_reduce (list, solver->window, &solver->work)) {
    threshold_stop (solver, TREEML_MEMORY);
    return 0;
  }
  solver->statistics.lists++;
  solver->statistics.failures += !list->count;
  if ((int64_t) list->count > solver->statistics.longest_list)
    solver->statistics.longest_list = (int64_t) list->count;
  return !solver->stopping;
}

/* A side of a cut of the set that the table describes, or all of it (column -1). */
struct part {
  const struct threshold_rows *set;
  int32_t column, cut;
  int above;
};

static int in_part (const threshold_solver *solver, const struct part *part, int32_t row) {
  return part->column < 0 || (solver->table.level[part->column * solver->rows + row] > part->cut) == part->above;
}

/* The sums of all rows of a part for each class, and their count. */
static int64_t part_sums (const threshold_solver *solver, const struct part *part, int64_t *sums,
                          struct threshold_ruled *ruled) {
  const int64_t size = (int64_t) solver->classes * solver->active;
  int64_t count = 0;
  const int32_t *order = threshold_order (part->set, part->column < 0 ? 0 : part->column);
  memset (sums, 0, (size_t) size * sizeof *sums);
  for (int64_t r = 0; r < part->set->rows; r++)
    if (in_part (solver, part, order[r])) {
      const int64_t *relative = solver->relative + order[r] * size;
      for (int64_t k = 0; k < size; k++)
        sums[k] += relative[k];
      threshold_ruled_add (solver, order[r], ruled);
      count += solver->count ? solver->count[order[r]] : 1;
    }
  return count;
}

static int add_leaves (threshold_solver *solver, const int64_t *sums, const struct threshold_ruled *ruled,
                       const double *limit, struct vector_list *list) {
  for (int32_t k = 0; k < solver->classes; k++) {
    int64_t vector[most_sums + 3];
    double value[WIDTH];
    if (!threshold_leaf_allowed (solver, ruled, k))
      continue;
    memcpy (vector, sums + k * solver->active, (size_t) solver->active * sizeof *vector);
    vector[0] += solver->options.leaf_price;
    threshold_weigh (solver, vector, value);
    const struct threshold_split leaf = {-1, 0, k, 0};
    if (threshold_within (value, limit) && !add (solver, list, vector, 1, &leaf))
      return 0;
  }
  return 1;
}

/* What stumps on a part add up to. */
struct stump_sums {
  int64_t all[most_classes * most_sums]; /* over the part */
  struct threshold_ruled ruled;
  int64_t count;
};

static int sides_allowed (const threshold_solver *solver, const struct threshold_ruled *all,
                          const struct threshold_ruled *run, int32_t yes, int32_t no) {
  struct threshold_ruled rest = *all;
  if (!threshold_has_rules (solver))
    return 1;
  for (int32_t k = 0; k < solver->classes; k++) {
    rest.purity[k] -= run->purity[k];
    rest.cost[k] -= run->cost[k];
  }
  return threshold_leaf_allowed (solver, run, yes) && threshold_leaf_allowed (solver, &rest, no);
}

/* Adds the vectors of the stumps on column g that a sweep found, in the order of their levels. */
static int add_hits (threshold_solver *solver, const struct part *part, int32_t g, const struct stump_sums *sums,
                     int64_t hits, struct vector_list *list) {
  const int64_t *all = sums->all;
  struct threshold_ruled ruled = {0};
  const int32_t active = solver->active, *order = threshold_order (part->set, g);
  const int32_t *level = solver->table.level + g * solver->rows, *rank = threshold_rank (solver, g);
  int64_t run[most_classes * most_sums];
  const int64_t size = (int64_t) solver->classes * active;
  memset (run, 0, (size_t) size * sizeof *run);
  int64_t row = 0;
  int32_t cut = 0;
  for (int64_t h = 0; h < hits; h++) {
    const struct stump_hit hit = solver->hits[h];
    for (; row < part->set->rows && level[order[row]] <= hit.level; row++)
      if (in_part (solver, part, order[row])) {
        for (int64_t k = 0; k < size; k++)
          run[k] += solver->relative[order[row] * size + k];
        threshold_ruled_add (solver, order[row], &ruled);
        cut = rank[order[row]];
      }
    if (!sides_allowed (solver, &sums->ruled, &ruled, hit.yes, hit.no))
      continue;
    int64_t vector[most_sums + 3];
    for (int32_t j = 0; j < active; j++)
      vector[j] = run[hit.yes * active + j] + all[hit.no * active + j] - run[hit.no * active + j];
    vector[0] += 2 * solver->options.leaf_price;
    threshold_fee_add (solver, part->column, g, sums->count, vector);
    const struct threshold_split split = {g, cut, hit.yes, hit.no};
    if (!add (solver, list, vector, 2, &split))
      return 0;
  }
  return 1;
}

/* With rules for leaves, two leaves of one class may be allowed where a single one is not. All such stumps on a column
   have one vector, so one of them is enough. */
static int add_twins (threshold_solver *solver, const struct part *part, int32_t g, const struct stump_sums *sums,
                      int32_t k, const double *limit, struct vector_list *list) {
  const int32_t *order = threshold_order (part->set, g), *rank = threshold_rank (solver, g);
  const int64_t support = solver->options.support;
  struct threshold_ruled run = {0};
  int64_t vector[most_sums + 3], seen = 0;
  double value[WIDTH];
  memcpy (vector, sums->all + k * solver->active, (size_t) solver->active * sizeof *vector);
  vector[0] += 2 * solver->options.leaf_price;
  threshold_fee_add (solver, part->column, g, sums->count, vector);
  threshold_weigh (solver, vector, value);
  if (!threshold_within (value, limit))
    return 1;
  int32_t last = -1;
  for (int64_t r = 0; r < part->set->rows; r++) {
    if (!in_part (solver, part, order[r]))
      continue;
    if (last >= 0 && rank[order[r]] != last && seen >= support && sums->count - seen >= support &&
        sides_allowed (solver, &sums->ruled, &run, k, k)) {
      const struct threshold_split split = {g, last, k, k};
      return add (solver, list, vector, 2, &split);
    }
    last = rank[order[r]];
    threshold_ruled_add (solver, order[r], &run);
    seen += solver->count ? solver->count[order[r]] : 1;
  }
  return 1;
}

static int add_all_twins (threshold_solver *solver, const struct part *part, int32_t g, const struct stump_sums *sums,
                          const double *limit, struct vector_list *list) {
  for (int32_t k = 0; threshold_has_rules (solver) && k < solver->classes; k++)
    if (!threshold_leaf_allowed (solver, &sums->ruled, k) && !add_twins (solver, part, g, sums, k, limit, list))
      return 0;
  return 1;
}

static int sweep_column (threshold_solver *solver, struct stump_sweep *sweep, int64_t *hits) {
  for (;;) {
    *hits = solver->kernel->sweep (sweep, solver->hits, solver->hit_room);
    if (*hits <= solver->hit_room)
      return 1;
    const int64_t room = 2 * *hits;
    struct stump_hit *grown = arena_reserve (&solver->arena, (size_t) room, sizeof *grown);
    if (!grown)
      return threshold_stop (solver, TREEML_MEMORY), 0;
    arena_release (&solver->arena, solver->hits);
    solver->hits = grown;
    solver->hit_room = room;
  }
}

/* Leaves and stumps of a part. */
static int list_stumps (threshold_solver *solver, const struct part *part, int stumps, const double *limit,
                        struct vector_list *list) {
  struct stump_sums sums = {.ruled = {{0}, {0}}};
  double total[most_classes * WIDTH], budget[WIDTH];
  const int64_t count = sums.count = part_sums (solver, part, sums.all, &sums.ruled);
  if (count < solver->options.support || !add_leaves (solver, sums.all, &sums.ruled, limit, list))
    return !solver->stopping;
  if (!stumps || count < 2 * solver->options.support)
    return finish (solver, list);
  for (int32_t k = 0; k < solver->classes; k++)
    threshold_weigh (solver, sums.all + k * solver->active, total + k * WIDTH);
  const int32_t f = part->column;
  struct stump_sweep sweep = {.rows = part->set->rows,
                              .side = f < 0 ? NULL : solver->table.level + f * solver->rows,
                              .cut = part->cut,
                              .above = part->above,
                              .classes = solver->classes,
                              .weight = solver->weight,
                              .total = total,
                              .budget = budget,
                              .count = solver->count,
                              .support = solver->options.support,
                              .all = count};
  for (int32_t g = 0; g < solver->columns; g++) {
    int64_t hits;
    if (solver->table.levels[g] < 2)
      continue;
    double fee[WIDTH];
    threshold_fee (solver, part->column, g, count, fee);
    for (int i = 0; i < WIDTH; i++)
      budget[i] = limit[i] - 2 * solver->price[i] - fee[i];
    sweep.order = threshold_order (part->set, g);
    sweep.level = solver->table.level + g * solver->rows;
    if (!sweep_column (solver, &sweep, &hits) || (hits && !add_hits (solver, part, g, &sums, hits, list)) ||
        !add_all_twins (solver, part, g, &sums, limit, list) || threshold_spent (solver, 4 * part->set->rows))
      return 0;
  }
  return finish (solver, list);
}

/* The least weighted sums in a list. */
static void least_of (const threshold_solver *solver, const struct vector_list *list, double *least) {
  for (int i = 0; i < WIDTH; i++)
    least[i] = INFINITY;
  for (size_t v = 0; v < list->count; v++) {
    double value[WIDTH];
    threshold_weigh (solver, vector_at (list, v), value);
    for (int i = 0; i < WIDTH; i++)
      least[i] = fmin (least[i], value[i]);
  }
}

/* Two lists, one for each side of a cut. */
struct sides {
  int32_t column, cut; /* rank of the cut */
  struct vector_list list[2];
};

static void clear_sides (threshold_solver *solver, struct sides *sides) {
  for (int s = 0; s < 2; s++)
    if (sides->list[s].arena)
      vector_list_clear (&sides->list[s]);
    else
      threshold_list_start (solver, &sides->list[s]);
}

static void release_sides (struct sides *sides) {
  for (int s = 0; s < 2; s++)
    if (sides->list[s].arena)
      vector_list_release (&sides->list[s]);
}

/* Adds the sums of a vector of each side that are within the limit. */
static int join (threshold_solver *solver, const struct sides *sides, int64_t leaves, const double *limit,
                 struct vector_list *list) {
  for (size_t a = 0; a < sides->list[0].count; a++) {
    const int64_t *yes = vector_at (&sides->list[0], a);
    double one[WIDTH], rest[WIDTH];
    threshold_weigh (solver, yes, one);
    for (int i = 0; i < WIDTH; i++)
      rest[i] = limit[i] - one[i];
    for (size_t b = 0; b < sides->list[1].count; b++) {
      const int64_t *no = vector_at (&sides->list[1], b);
      double value[WIDTH];
      threshold_weigh (solver, no, value);
      if (!threshold_within (value, rest))
        continue;
      int64_t vector[most_sums + 3];
      for (int32_t j = 0; j <= solver->compared; j++)
        vector[j] = yes[j] + no[j];
      const int64_t many = solver->leaves_matter ? vector[solver->active] : 0;
      if (many > leaves)
        continue;
      const struct threshold_split split = {sides->column, sides->cut, (int32_t) yes[solver->compared + 1],
                                            (int32_t) no[solver->compared + 1]};
      if (!add (solver, list, vector, many, &split))
        return 0;
    }
    if (threshold_spent (solver, 10 * (int64_t) sides->list[1].count))
      return 0;
  }
  return 1;
}

/* The fees of a split belong to the vectors of its yes side. */
static void pay (const threshold_solver *solver, int32_t column, int64_t count, const struct vector_list *list) {
  for (size_t v = 0; solver->path && v < list->count; v++)
    threshold_fee_add (solver, -1, column, count, vector_at (list, v));
}

/* Depth two, from the table. */
static int list_cut (threshold_solver *solver, const struct threshold_rows *set, int32_t f, int32_t cut, int64_t leaves,
                     const double *limit, struct sides *sides, struct vector_list *list) {
  const int64_t at = solver->table.first[f] + cut;
  const double *supported = solver->table.supported + at * 2 * WIDTH;
  double value[WIDTH], rest[WIDTH], fee[WIDTH];
  threshold_fee (solver, -1, f, set->count, fee);
  threshold_join_sides (solver, at, leaves, supported, fee, value);
  if (!threshold_within (value, limit))
    return 1;
  clear_sides (solver, sides);
  sides->column = f;
  sides->cut = threshold_table_rank (solver, set, f, cut);
  const double *leaf = solver->table.leaf + at * 2 * WIDTH;
  for (int i = 0; i < WIDTH; i++) {
    const double price = solver->price[i];
    double no = leaf[WIDTH + i] + price;
    if (leaves > 2)
      no = fmin (no, supported[WIDTH + i] + 2 * price);
    rest[i] = limit[i] - no - fee[i];
  }
  for (int s = 0; s < 2; s++) {
    const struct part part = {set, f, cut, s};
    if (!list_stumps (solver, &part, leaves > 2, rest, &sides->list[s]))
      return 0;
    if (!sides->list[s].count)
      return 1;
    if (!s) {
      pay (solver, f, set->count, &sides->list[0]);
      least_of (solver, &sides->list[0], rest);
      for (int i = 0; i < WIDTH; i++)
        rest[i] = limit[i] - rest[i];
    }
  }
  return join (solver, sides, leaves, limit, list);
}

static int list_shallow (threshold_solver *solver, const struct threshold_rows *set, int64_t leaves,
                         const double *limit, struct vector_list *list) {
  const struct part all = {set, -1, 0, 0};
  struct sides sides = {0};
  int fine = threshold_table_fill (solver, set) && list_stumps (solver, &all, 0, limit, list);
  for (int32_t f = 0; fine && f < solver->columns; f++) {
    int32_t first, last;
    threshold_supported (solver, set, f, &first, &last);
    for (int32_t cut = first; fine && cut <= last; cut++)
      fine = list_cut (solver, set, f, cut, leaves, limit, &sides, list);
  }
  release_sides (&sides);
  return fine && finish (solver, list);
}

/* Depth three and more. */

struct candidate {
  double value;
  int32_t column, cut;
};

static int compare_candidates (const void *one, const void *other) {
  const struct candidate *a = one, *b = other;
  if (a->value != b->value)
    return a->value < b->value ? -1 : 1;
  if (a->column != b->column)
    return a->column < b->column ? -1 : 1;
  return a->cut < b->cut ? -1 : a->cut > b->cut;
}

/* The known cuts of a node that are within the limit, most promising first; -1 if out of memory. */
static int64_t candidates (threshold_solver *solver, const struct threshold_node *node, const double *limit,
                           struct candidate **result) {
  int64_t most = 0, found = 0;
  for (int32_t f = 0; f < solver->columns; f++)
    most += node->column[f].cuts;
  struct candidate *list = *result = arena_reserve (&solver->arena, (size_t) most + 1, sizeof *list);
  if (!list)
    return threshold_stop (solver, TREEML_MEMORY), -1;
  for (int32_t f = 0; f < solver->columns; f++) {
    const struct threshold_column *column = &node->column[f];
    for (int32_t cut = column->first; cut <= column->last && cut < column->cuts; cut++) {
      if (!column->known[cut])
        continue;
      const struct threshold_least *side = &column->side[2 * (int64_t) cut];
      double value[WIDTH];
      for (int i = 0; i < WIDTH; i++)
        value[i] = side[0].supported[i] + side[1].supported[i] + column->fee[i];
      if (threshold_within (value, limit))
        list[found++] = (struct candidate) {value[0], f, cut};
    }
  }
  qsort (list, (size_t) found, sizeof *list, compare_candidates);
  return found;
}

/* Lists both sides of a cut of a node; the lists are empty if the cut is beyond the limit. */
static int list_sides (threshold_solver *solver, const struct threshold_node *node, const struct candidate *candidate,
                       const double *limit, struct sides *sides) {
  const struct threshold_column *column = &node->column[candidate->column];
  const struct threshold_least *least = &column->side[2 * (int64_t) candidate->cut];
  double rest[WIDTH];
  clear_sides (solver, sides);
  sides->column = candidate->column;
  sides->cut = column->rank[candidate->cut];
  for (int i = 0; i < WIDTH; i++)
    rest[i] = limit[i] - least[1].supported[i] - column->fee[i];
  for (int s = 0; s < 2; s++) {
    struct threshold_rows part = {0};
    threshold_path_push (solver, candidate->column);
    const int fine = threshold_rows_split (solver, &node->set, candidate->column, sides->cut, s, &part) &&
                     threshold_enumerate (solver, &part, node->depth - 1, node->leaves - 1, rest, &sides->list[s]);
    threshold_path_pop (solver);
    threshold_rows_release (solver, &part);
    if (!fine)
      return 0;
    if (!sides->list[s].count)
      return vector_list_clear (&sides->list[0]), 1;
    if (!s) {
      pay (solver, candidate->column, node->set.count, &sides->list[0]);
      least_of (solver, &sides->list[0], rest);
      for (int i = 0; i < WIDTH; i++)
        rest[i] = limit[i] - rest[i];
    }
  }
  return 1;
}

static int list_deep (threshold_solver *solver, const struct threshold_rows *set, int64_t depth, int64_t leaves,
                      const double *limit, struct vector_list *list) {
  const struct part all = {set, -1, 0, 0};
  struct threshold_node node = {0};
  struct candidate *candidate = NULL;
  struct sides sides = {0};
  double most[WIDTH];
  memcpy (most, limit, sizeof most);
  int fine = list_stumps (solver, &all, 0, limit, list) && threshold_node_create (solver, &node, set, depth, leaves);
  if (fine) {
    fine = threshold_explore (solver, &node, most, 0);
    const int64_t count = fine ? candidates (solver, &node, limit, &candidate) : -1;
    fine = count >= 0;
    for (int64_t c = 0; fine && c < count; c++)
      fine = list_sides (solver, &node, &candidate[c], limit, &sides) && join (solver, &sides, leaves, limit, list);
  }
  arena_release (&solver->arena, candidate);
  release_sides (&sides);
  threshold_node_release (solver, &node);
  return fine && finish (solver, list);
}

int threshold_enumerate (threshold_solver *solver, const struct threshold_rows *set, int64_t depth, int64_t leaves,
                         const double *limit, struct vector_list *list) {
  const struct part all = {set, -1, 0, 0};
  if (depth < 1 || leaves < 2)
    return list_stumps (solver, &all, 0, limit, list);
  if (depth == 1 || leaves == 2) {
    threshold_table_levels (solver, set);
    return list_stumps (solver, &all, 1, limit, list);
  }
  if (depth == 2 || leaves == 3)
    return list_shallow (solver, set, leaves, limit, list);
  return list_deep (solver, set, depth, leaves, limit, list);
}

/* All rows. */

void threshold_limits (const threshold_solver *solver, double *limit) {
  for (int i = 0; i < WIDTH; i++) {
    int64_t sum = solver->coefficient[i][0] * solver->target;
    for (int32_t j = 1; j < solver->active; j++) {
      const int64_t coefficient = solver->coefficient[i][j];
      sum += coefficient * (coefficient > 0 ? solver->most[j] : solver->least[j]);
    }
    limit[i] = (double) sum;
  }
}

/* Offers the best tree that joins two lists within the bounds, and lowers the target below it. */
static int offer_pair (threshold_solver *solver, const struct sides *sides) {
  int64_t low[most_sums + 1], high[most_sums + 1];
  size_t a, b;
  for (int32_t j = 1; j < solver->active; j++) {
    low[j - 1] = solver->window[j - 1] < 0 ? INT64_MIN : solver->least[j];
    high[j - 1] = solver->most[j];
  }
  if (solver->leaves_matter) {
    low[solver->active - 1] = INT64_MIN;
    high[solver->active - 1] = solver->leaves;
  }
  const int found =
      vector_list_best_pair (&sides->list[0], &sides->list[1], low, high, solver->target, &solver->work, &a, &b);
  if (found < 0)
    return threshold_stop (solver, TREEML_MEMORY), 0;
  if (!found)
    return 1;
  const int64_t *yes = vector_at (&sides->list[0], a), *no = vector_at (&sides->list[1], b);
  const int64_t node = threshold_split_add (solver, sides->column, sides->cut, (int32_t) yes[solver->compared + 1],
                                            (int32_t) no[solver->compared + 1]);
  if (node < 0)
    return threshold_stop (solver, TREEML_MEMORY), 0;
  return threshold_offer_split (solver, node, yes[0] + no[0]);
}

/* Offers the trees of a list that are within the bounds. */
static int offer_list (threshold_solver *solver, const struct vector_list *list) {
  for (size_t v = 0; v < list->count; v++) {
    const int64_t *vector = vector_at (list, v);
    int inside = vector[0] <= solver->target;
    for (int32_t j = 1; inside && j < solver->active; j++)
      inside = vector[j] <= solver->most[j] && (solver->window[j - 1] < 0 || vector[j] >= solver->least[j]);
    if (inside && !threshold_offer_split (solver, vector[solver->compared + 1], vector[0]))
      return 0;
  }
  return 1;
}

struct candidates_task {
  const struct threshold_node *node;
  const struct candidate *candidate;
};

/* Offers the best tree that begins with a candidate. */
static int try_candidate (threshold_solver *solver, void *argument, int64_t item) {
  const struct candidates_task *task = argument;
  const struct candidate *candidate = &task->candidate[item];
  const struct threshold_least *side = &task->node->column[candidate->column].side[2 * (int64_t) candidate->cut];
  double value[WIDTH], limit[WIDTH];
  threshold_limits (solver, limit); /* a better tree may have lowered them */
  for (int i = 0; i < WIDTH; i++)
    value[i] = side[0].supported[i] + side[1].supported[i] + task->node->column[candidate->column].fee[i];
  if (!threshold_within (value, limit))
    return 1;
  struct sides sides = {0};
  solver->splits = solver->classes;
  const int fine = list_sides (solver, task->node, candidate, limit, &sides) && offer_pair (solver, &sides);
  release_sides (&sides);
  return fine;
}

static int enumerate_node (threshold_solver *solver, struct threshold_node *node) {
  struct candidate *candidate = NULL;
  double limit[WIDTH];
  threshold_limits (solver, limit);
  int fine = threshold_explore (solver, node, limit, 0);
  const int64_t count = fine ? candidates (solver, node, limit, &candidate) : -1;
  struct candidates_task task = {node, candidate};
  fine = count >= 0;
  if (fine && solver->team)
    fine = threshold_team_run (solver, try_candidate, &task, count);
  else
    for (int64_t c = 0; fine && c < count; c++)
      fine = try_candidate (solver, &task, c);
  arena_release (&solver->arena, candidate);
  return fine;
}

int threshold_enumerate_root (threshold_solver *solver, const struct threshold_rows *set, struct threshold_node *node) {
  struct vector_list list;
  double limit[WIDTH];
  solver->splits = solver->classes;
  threshold_limits (solver, limit);
  threshold_list_start (solver, &list);
  const int fine = threshold_enumerate (solver, set, node ? 0 : solver->depth, solver->leaves, limit, &list) &&
                   offer_list (solver, &list);
  vector_list_release (&list);
  return fine && (!node || enumerate_node (solver, node));
}
