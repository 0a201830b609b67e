/* Lower bounds of deep trees by relaxed splits; see relax.h. */
#include "numeric/relax.h"
#include "numeric/box_table.h"
#include "numeric/core.h"
#include "numeric/grouping.h"

enum {
  central = 6,          /* a cut leaves at least one in this many rows of its interval on either side, if one does */
  weight_of_wrong = 15, /* how much more a row counts there that a single leaf predicts wrongly */
  left_of_core = 70,    /* cores keep this percentage of the cost of a leaf */
  most_leaves = 8,      /* up to this limit, leaves rather than levels are divided between the sides of a split */
  most_depth = 64,      /* of a tree, since every level of a search takes room on the stack */
  least_core = 3,       /* trees of a smaller depth are bounded so fast that cores do not pay, */
  columns_of_core = 9   /* and with fewer columns there are not enough cuts to close */
};

/* The size of a tree is its depth or, if leaves are limited, the number of its leaves. */
struct numeric_relaxation {
  int64_t leaves;         /* the limit on leaves, or 0: none that matters */
  int64_t price, deepest; /* of a leaf; from this depth on, prices alone limit the depth of trees */
  struct box_table table;
  struct box_key *row; /* a key for every row */
};

/* A set whose trees are bounded. */
struct relaxed {
  struct numeric_worker *worker;
  struct numeric_relaxation *known;
  struct numeric_set *set;
  struct box_key key;
  int64_t size;         /* of its trees, at most */
  int64_t side[2];      /* of the sides of its splits */
  int32_t label;        /* that a single leaf predicts */
  int64_t target;       /* falls to the value of a cut that cannot be raised further */
  int32_t column, code; /* of that cut; -1: a leaf */
  int decides;          /* whether it is enough to know that the target is too high */
  int too_high;         /* then: whether it is */
  struct numeric_core core;
};

/* A cut of a column: every rank from `code` to before `end` makes the same one. */
struct cut {
  int32_t position, code, end; /* `position`: number of rows on the yes side */
  int64_t mass;                /* the same, with more weight on rows that a single leaf predicts wrongly */
  struct box_key key;          /* of the rows on the yes side */
  int64_t low[2];              /* bounds of the sides */
};

/* The cuts of one column of the set. */
struct cuts {
  int32_t column, count;
  int64_t mass; /* of all rows */
  struct cut *cut;
};

enum { single = -1, pair = -2 }; /* instead of the column of a cut: a leaf; the best tree of depth two */

static int64_t greatest (int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t least (int64_t a, int64_t b) { return a < b ? a : b; }

/* Whether the depth or a price alone limits the leaves. */
static int has_all_leaves (int64_t depth, int64_t leaves) {
  return leaves == NUMERIC_ALL || (depth < 62 && leaves >= INT64_C (1) << depth);
}

int numeric_relaxation_fits (const treeml_numeric *solver, int64_t depth, int64_t leaves, int64_t upper) {
  const int64_t useful = numeric_useful_depth (solver, depth, upper);
  if (solver->group || useful <= 2)
    return 0;
  if (has_all_leaves (depth, leaves))
    return useful < most_depth || solver->options.leaf_price;
  return leaves > 3 && leaves <= most_leaves;
}

int64_t numeric_relaxation_most (const treeml_numeric *solver, int64_t depth, int64_t upper) {
  const int64_t price = solver->options.leaf_price;
  if (!price || depth < most_depth || upper / most_depth < price)
    return upper;
  return most_depth * price;
}

/* The depth of the sides of a split, if its own is `depth`. Sides that only prices limit are alike at every depth. */
static int64_t depth_below (const struct numeric_relaxation *known, int64_t depth) {
  return depth >= known->deepest ? known->deepest : depth - 1;
}

/* The most leaves of a tree of this size. */
static int64_t leaves_of (const struct numeric_relaxation *known, int64_t size) {
  if (known->leaves)
    return size;
  return size < 62 ? INT64_C (1) << size : INT64_MAX;
}

struct numeric_relaxation *numeric_relaxation_create (treeml_numeric *solver, int64_t depth, int64_t leaves,
                                                      int64_t upper) {
  struct numeric_relaxation *known = arena_allocate (&solver->arena, 1, sizeof *known);
  if (!known)
    return NULL;
  known->leaves = has_all_leaves (depth, leaves) ? 0 : leaves;
  known->price = solver->options.leaf_price;
  known->deepest = known->price ? numeric_useful_depth (solver, INT64_MAX, upper) : INT64_MAX;
  known->table.arena = &solver->arena;
  known->row = arena_reserve (&solver->arena, (size_t) solver->rows, sizeof *known->row);
  if (!known->row) {
    arena_release (&solver->arena, known);
    return NULL;
  }
  for (int64_t i = 0; i < solver->rows; i++)
    known->row[i] = box_key_of_row (i);
  return known;
}

void numeric_relaxation_destroy (treeml_numeric *solver, struct numeric_relaxation *known) {
  if (!known)
    return;
  box_table_destroy (&known->table);
  arena_release (&solver->arena, known->row);
  arena_release (&solver->arena, known);
}

/* Whether a row is not of the class that a leaf predicts. */
static int is_wrong (const treeml_numeric *solver, int32_t row, int32_t label) {
  if (solver->goal == numeric_goal_two)
    return (solver->value[0][row] > 0) != label;
  return solver->goal == numeric_goal_many && solver->value[solver->planes + 1][row] != label;
}

static int list_cuts (const struct relaxed *node, int32_t column, struct cuts *cuts) {
  treeml_numeric *solver = node->worker->solver;
  struct arena *arena = &solver->arena;
  const int32_t *order = node->set->order[column], *rank = solver->rank[column];
  const int64_t rows = node->set->rows;
  int32_t count = 0;
  for (int64_t i = 1; i < rows; i++)
    count += rank[order[i]] != rank[order[i - 1]];
  *cuts = (struct cuts) {
      .column = column, .count = count, .cut = arena_reserve (arena, (size_t) count + 1, sizeof *cuts->cut)};
  if (!cuts->cut)
    return 0;
  struct box_key key = {0};
  int64_t mass = 0;
  for (int64_t i = 0, at = 0; i < rows; i++) {
    if (i && rank[order[i]] != rank[order[i - 1]])
      cuts->cut[at++] = (struct cut) {.position = (int32_t) i,
                                      .code = rank[order[i - 1]],
                                      .end = rank[order[i]],
                                      .mass = mass,
                                      .key = key,
                                      .low = {node->known->price, node->known->price}};
    key = box_key_add (key, node->known->row[order[i]]);
    mass += 1 + (is_wrong (solver, order[i], node->label) ? weight_of_wrong : 0);
  }
  cuts->mass = mass;
  return !numeric_spent (node->worker, 2 * rows);
}

/* The number from `low` to `high` that is divisible by the highest power of two. */
static int32_t roundest (int32_t low, int32_t high) {
  uint32_t step = 1;
  while (step < (UINT32_C (1) << 30) && ((uint32_t) high & ~(2 * step - 1)) >= (uint32_t) low)
    step *= 2;
  return (int32_t) ((uint32_t) high & ~(step - 1));
}

/* The first cut from `from` to before `to` with at least this mass on its yes side. */
static int32_t first_beyond (const struct cuts *cuts, int32_t from, int32_t to, int64_t mass) {
  while (from < to) {
    const int32_t half = from + (to - from) / 2;
    if (cuts->cut[half].mass >= mass)
      to = half;
    else
      from = half + 1;
  }
  return from;
}

/* A cut between two others, near the middle of the rows there and at a round rank. */
static int32_t choose (const struct cuts *cuts, int32_t a, int32_t b) {
  const int64_t begin = a < 0 ? 0 : cuts->cut[a].mass, end = b < cuts->count ? cuts->cut[b].mass : cuts->mass;
  const int32_t first = first_beyond (cuts, a + 1, b - 1, begin + (end - begin) / central);
  const int32_t beyond = first_beyond (cuts, a + 1, b, end - (end - begin) / central + 1);
  const int32_t last = beyond > first + 1 ? beyond - 1 : first;
  const int32_t code = roundest (cuts->cut[first].code, cuts->cut[last].end - 1);
  int32_t low = first, high = last; /* the last cut whose code is not above */
  while (low < high) {
    const int32_t half = low + (high - low + 1) / 2;
    if (cuts->cut[half].code <= code)
      low = half;
    else
      high = half - 1;
  }
  return low;
}

static int64_t relax_box (struct relaxed *node);

/* Bounds a side of a cut by trees up to depth two; such a search ends with the optimum, if that is below the target. If
   deeper trees are allowed, their prices alone reach the target. */
static void relax_pair (struct relaxed *node, int64_t size, int64_t depth, int64_t target, struct box *box) {
  const struct numeric_filter *filter = node->core.filter;
  const struct numeric_part part = {
      .set = node->set, .column = filter->column, .cut = filter->cut, .side = filter->side};
  struct numeric_found found;
  const int64_t leaves = node->known->leaves ? size : NUMERIC_ALL;
  box->bound = numeric_depth_two (node->worker, &part, depth, leaves, target, 0, &found).bound;
  if (depth < (node->known->leaves ? size - 1 : size))
    box->bound = least (box->bound, numeric_deeper_price (node->known->price, depth));
  box->column = pair;
}

/* Bounds the core, or a whole side, by deeper trees. With `decides`, the bound of a box that does not reach the target
 * is 0. */
static void relax_deeper (struct relaxed *node, int64_t size, int64_t target, int decides, struct box *box) {
  treeml_numeric *solver = node->worker->solver;
  struct numeric_set set;
  if (numeric_set_filter (node->worker, node->set, node->core.filter, node->core.filters, &set)) {
    struct relaxed below = {.worker = node->worker,
                            .known = node->known,
                            .set = &set,
                            .key = box->key,
                            .size = size,
                            .target = target,
                            .decides = decides};
    box->bound = relax_box (&below);
    box->column = below.column;
    box->code = below.code;
  } else
    numeric_stop_search (solver, TREEML_MEMORY);
  numeric_set_release (solver, &set);
}

/* Bounds the core, or the side of a cut that it is at first, and keeps what is found out. Returns its bound, or 0 if
   the search is stopping. */
static int64_t relax_core (struct relaxed *node, int64_t size, struct box_key key, int64_t low, int64_t target,
                           int decides) {
  const struct box *known = box_table_find (&node->known->table, key, (int32_t) size);
  low = greatest (low, known ? known->bound : 0);
  if (low >= target || (known && known->final))
    return low;
  struct box box = {.key = key, .size = (int32_t) size, .column = single};
  const int64_t levels = node->known->leaves ? size - 1 : size;
  const int64_t depth = numeric_useful_depth (node->worker->solver, levels, target);
  if (depth <= 2)
    relax_pair (node, size, depth, target, &box);
  else
    relax_deeper (node, size, target, decides, &box);
  if (numeric_stopping (node->worker->solver))
    return 0;
  node->worker->statistics.boxes++;
  box.final = box.bound < target && (depth <= 2 || !decides);
  box.bound = greatest (low, box.bound);
  box_table_keep (&node->known->table, &box);
  return box.bound;
}

/* Whether a part of the rows on a side of a cut, which closes cuts of other columns, too, reaches the target. It may
   lie on the other side of those, so both sides have to be alike. */
static int reach_by_core (struct relaxed *node, int64_t size) {
  struct numeric_worker *worker = node->worker;
  if (worker->solver->columns < columns_of_core || node->known->leaves ||
      numeric_useful_depth (worker->solver, size, node->target) < least_core)
    return 0;
  numeric_core_narrow (worker, &node->core, node->set, left_of_core);
  if (node->core.filters == 1)
    return 0;
  const int64_t low = numeric_core_classes (worker, &node->core, leaves_of (node->known, size));
  struct box_key key = {0};
  for (int64_t i = 0; i < node->core.rows; i++)
    key = box_key_add (key, node->known->row[node->core.row[i]]);
  const int reached = low >= node->target || relax_core (node, size, key, low, node->target, 1) >= node->target;
  if (!reached || numeric_stopping (worker->solver))
    return 0;
  numeric_core_close (worker->solver, &node->core);
  worker->statistics.cores++;
  return 1;
}

/* A bound of the core by its classes or targets alone. */
static int64_t low_of_rows (const struct relaxed *node, int64_t size) {
  struct numeric_worker *worker = node->worker;
  const int64_t leaves = leaves_of (node->known, size);
  if (numeric_grouping_fits (worker->solver))
    return numeric_grouping_bound (worker, node->core.row, node->core.rows, leaves);
  return numeric_core_classes (worker, &node->core, leaves);
}

/* Raises the bound of a side of a cut to the target, or to its optimum. Returns whether it reaches the target. */
static int raise_side (struct relaxed *node, struct cuts *cuts, int32_t cut, int side, int64_t target) {
  const struct cut *at = &cuts->cut[cut];
  const int64_t size = node->side[side];
  int64_t *low = &cuts->cut[cut].low[side];
  if (*low >= target)
    return 1;
  const struct numeric_filter filter = {cuts->column, at->code, side};
  numeric_core_begin (node->worker, &node->core, node->set, &filter, at->position);
  *low = greatest (*low, low_of_rows (node, size));
  if (*low >= target)
    return 1;
  const struct box_key key = side ? box_key_subtract (node->key, at->key) : at->key;
  const struct box *known = box_table_find (&node->known->table, key, (int32_t) size);
  if (known) {
    *low = greatest (*low, known->bound);
    if (*low >= target || known->final)
      return *low >= target;
  }
  if (target == node->target && reach_by_core (node, size)) {
    const struct box box = {.key = key, .bound = target, .size = (int32_t) size, .column = single};
    box_table_keep (&node->known->table, &box);
    *low = target;
    return 1;
  }
  if (numeric_stopping (node->worker->solver))
    return 0;
  node->core.filters = 1; /* all rows of the side */
  *low = greatest (*low, relax_core (node, size, key, *low, target, 0));
  return *low >= target;
}

/* What the neighbours show about a cut: a side with more rows costs no less, and one with fewer rows less by no more
   than the worth of the rows between. */
static void learn (const struct relaxed *node, struct cuts *cuts, int32_t a, int32_t at, int32_t b) {
  struct cut *cut = &cuts->cut[at];
  const int64_t here = numeric_worth (node->set, cuts->column, cut->position);
  for (int s = 0; s < 2; s++) { /* the neighbour with fewer rows on this side, and the one with more */
    const int32_t fewer = s ? b : a, more = s ? a : b;
    if (fewer >= 0 && fewer < cuts->count)
      cut->low[s] = greatest (cut->low[s], cuts->cut[fewer].low[s]);
    if (more < 0 || more >= cuts->count)
      continue;
    const int64_t there = numeric_worth (node->set, cuts->column, cuts->cut[more].position);
    cut->low[s] = greatest (cut->low[s], cuts->cut[more].low[s] - (s ? here - there : there - here));
  }
}

static void lower_target (struct relaxed *node, int64_t value, int32_t column, int32_t code) {
  if (value >= node->target)
    return;
  node->target = value;
  node->column = column;
  node->code = code;
  node->too_high = node->decides;
}

/* Raises the bounds of both sides of a cut, so that either closes the cuts beyond it, if there are any, or that the cut
   itself is closed. `low` are bounds of the sides for all cuts between its neighbours. A side with fewer leaves takes
   less time, so it is the first. */
static void raise_cut (struct relaxed *node, struct cuts *cuts, int32_t cut, const int64_t low[2], int beyond,
                       int before) {
  const int first = node->side[0] == node->side[1] ? before && !beyond : node->side[1] < node->side[0];
  const int second = !first;
  const int further = first ? beyond : before; /* whether the second side has cuts to close, too */
  if (raise_side (node, cuts, cut, first, node->target - low[second]) && !further)
    return;
  const int64_t *here = cuts->cut[cut].low;
  const int64_t rest = further ? low[first] : here[first];
  raise_side (node, cuts, cut, second, node->target - rest);
  if (!numeric_stopping (node->worker->solver) && here[0] + here[1] < node->target) /* both are final */
    lower_target (node, here[0] + here[1], cuts->column, cuts->cut[cut].code);
}

/* Raises the bounds of the cuts strictly between two, until all of them reach the target. */
static void cover (struct relaxed *node, struct cuts *cuts, int32_t a, int32_t b) {
  while (b - a > 1 && !node->too_high && !numeric_stopping (node->worker->solver)) {
    const int64_t price = node->known->price;
    const int64_t low[2] = {a < 0 ? price : cuts->cut[a].low[0], b < cuts->count ? cuts->cut[b].low[1] : price};
    if (low[0] + low[1] >= node->target)
      return;
    const int32_t cut = choose (cuts, a, b);
    learn (node, cuts, a, cut, b);
    raise_cut (node, cuts, cut, low, b - cut > 1, cut - a > 1);
    if (node->too_high || numeric_stopping (node->worker->solver))
      return;
    cover (node, cuts, cut, b);
    b = cut;
  }
}

/* Covers the open cuts of a column. */
static void cover_column (struct relaxed *node, int32_t column) {
  treeml_numeric *solver = node->worker->solver;
  const struct numeric_span open = node->core.open[column];
  struct cuts cuts;
  if (open.low >= open.high)
    return;
  if (list_cuts (node, column, &cuts)) {
    int32_t a = -1, b = cuts.count;
    while (a + 1 < cuts.count && cuts.cut[a + 1].code < open.low)
      a++;
    while (b > 0 && cuts.cut[b - 1].code >= open.high)
      b--;
    cover (node, &cuts, a, b);
  } else
    numeric_stop_search (solver, TREEML_MEMORY);
  arena_release (&solver->arena, cuts.cut);
}

static int is_over (const struct relaxed *node) {
  return node->target <= 0 || node->too_high || numeric_stopping (node->worker->solver);
}

static void cover_columns (struct relaxed *node, int64_t yes, int64_t no) {
  node->side[0] = yes;
  node->side[1] = no;
  for (int32_t f = 0; f < node->worker->solver->columns && !is_over (node); f++)
    cover_column (node, f);
}

/* Covers the splits of all columns, for every division of the leaves between the sides: equal parts first. */
static void cover_all (struct relaxed *node) {
  const int64_t size = node->size, half = size / 2;
  if (!node->known->leaves) {
    cover_columns (node, depth_below (node->known, size), depth_below (node->known, size));
    return;
  }
  for (int64_t i = 0; i + 1 < size && !is_over (node); i++) {
    const int64_t yes = i % 2 ? half + (i + 1) / 2 : half - i / 2;
    cover_columns (node, yes, size - yes);
  }
}

/* A bound of the set, as numeric_relax. */
static int64_t relax_box (struct relaxed *node) {
  treeml_numeric *solver = node->worker->solver;
  const struct numeric_stump leaf = numeric_best_stump (node->worker, node->set, NULL, 0, 1, -1, NULL);
  if (leaf.value >= NUMERIC_NONE) /* too few rows for a leaf, but more rows may have one that costs nothing */
    return node->known->price;
  lower_target (node, leaf.value, single, 0);
  node->label = numeric_label (solver, node->worker->sums);
  if (!node->target || node->too_high)
    return 0;
  if (numeric_set_values (node->worker, node->set) && numeric_core_create (solver, node->set, &node->core))
    cover_all (node);
  else
    numeric_stop_search (solver, TREEML_MEMORY);
  numeric_core_release (solver, &node->core);
  return node->too_high ? 0 : node->target;
}

static struct box_key key_of_set (const struct numeric_relaxation *known, const struct numeric_set *set) {
  struct box_key key = {0};
  for (int64_t i = 0; i < set->rows; i++)
    key = box_key_add (key, known->row[set->order[0][i]]);
  return key;
}

int64_t numeric_relax (struct numeric_worker *worker, struct numeric_relaxation *known, struct numeric_set *set,
                       int64_t depth, int64_t target) {
  struct relaxed root = {.worker = worker,
                         .known = known,
                         .set = set,
                         .key = key_of_set (known, set),
                         .size = known->leaves ? known->leaves : depth,
                         .target = target,
                         .column = single};
  const int64_t bound = relax_box (&root);
  const struct box box = {.key = root.key,
                          .bound = bound,
                          .size = (int32_t) root.size,
                          .final = bound < target,
                          .column = root.column,
                          .code = root.code};
  if (!numeric_stopping (worker->solver))
    box_table_keep (&known->table, &box);
  return bound;
}

/* Appends the best tree of depth two. */
static int64_t append_pair (struct numeric_worker *worker, struct numeric_set *set, struct numeric_tree *tree) {
  const struct numeric_part part = {.set = set, .column = -1};
  struct numeric_tree below = {0};
  struct numeric_found found;
  int64_t at = -1;
  numeric_depth_two (worker, &part, 2, NUMERIC_ALL, NUMERIC_NONE, 0, &found);
  if (!numeric_stopping (worker->solver) && numeric_depth_two_tree (worker, &part, NUMERIC_ALL, &found, &below))
    at = numeric_tree_append (&worker->solver->arena, tree, &below);
  numeric_tree_release (&worker->solver->arena, &below);
  return at;
}

/* Appends the tree of a set whose entry is final; returns its root, or -1. */
static int64_t append_tree (struct numeric_worker *worker, struct numeric_relaxation *known, struct numeric_set *set,
                            int64_t depth, struct numeric_tree *tree) {
  treeml_numeric *solver = worker->solver;
  const struct box *box = box_table_find (&known->table, key_of_set (known, set), (int32_t) depth);
  if (depth == 2 || (box && box->final && box->column == pair))
    return append_pair (worker, set, tree);
  if (!box || !box->final)
    return -1;
  const int32_t column = box->column, code = box->code;
  const int64_t root = numeric_tree_add (&solver->arena, tree, column, code);
  for (int s = 0; column >= 0 && root >= 0 && s < 2; s++) {
    struct numeric_set below = {0};
    int64_t at = -1;
    if (numeric_set_split (worker, set, column, code, s, &below))
      at = append_tree (worker, known, &below, depth_below (known, depth), tree);
    numeric_set_release (solver, &below);
    if (at < 0)
      return -1;
    *(s ? &tree->no[root] : &tree->yes[root]) = (int32_t) at;
  }
  return root;
}

int numeric_relaxed_tree (struct numeric_worker *worker, struct numeric_relaxation *known, struct numeric_set *set,
                          int64_t depth, struct numeric_tree *tree) {
  tree->nodes = 0;
  if (known->leaves) /* how a split divides them is not kept */
    return 0;
  if (!numeric_needs_support (worker->solver) && append_tree (worker, known, set, depth, tree) == 0)
    return 1;
  tree->nodes = 0;
  return 0;
}
