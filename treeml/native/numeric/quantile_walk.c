/* Walks from cut to cut with profiles of stumps.

   A staircase (see depth_two.c) gives away what the rows between two cuts cost, and in noisy data the best tree is so
   little better than others that two cuts must be nearly side by side to close those between them. A profile gives
   away far less: what a row costs that moves from one side of the cut to the other is known almost exactly. So one
   evaluated cut closes about as many cuts beside it as the root of the number of its rows. */
#include "numeric/quantile_walk.h"

#include "numeric/quantile_profile.h"
#include "numeric/quantile_stump.h"

#include <string.h>

/* These numbers are measured on noise, where walks matter. */
enum {
  moves_share = 70,  /* rows that may move, as a percentage of the root of the rows on the smaller side */
  fewest_moves = 4,  /* rows that may always move */
  reach = 16,        /* walks begin when no more cuts are open than this many times the rows that may move */
  near_moves = 3,    /* how many times as many rows a leaf has that is not bounded anew after every move */
  price_of_walk = 4, /* the cuts that a walk must close to be worth its time */
  most_credit = numeric_first_credit
};

/* A walk from a cut of a column.

   On the column itself, all rows that move join or leave the leaf beside the cut. While that leaf has few rows, its
   quantile is not known well, and profiles give away too much. Its loss is bounded anew after every move instead, for
   every stump whose cut is between `begin` and `end`; in the memory of sweeps, `front` holds the bounds of all rows
   before a cut, and `back` those of all rows behind it. */
struct walk {
  struct numeric_bisection *search;
  const struct numeric_interval *open;
  int64_t position;   /* of the cut */
  int64_t moves;      /* how many rows may move */
  int64_t low, high;  /* the cuts that the walk may reach */
  int64_t begin, end; /* of the stumps on the column itself that are not in a profile */
  int64_t enough[2];  /* stumps that cost as much on a side cannot be part of a better tree with any of the cuts */
  int64_t rest[2];    /* the least bound of the stumps on such columns, which have no profile */
  struct numeric_profile *profile; /* of both sides: 2 * column + side */
};

/* Memory for the profiles of all columns in one block; NULL if there is none. */
static struct numeric_profile *reserve (struct numeric_worker *worker) {
  struct numeric_quantile *quantile = &worker->quantile;
  const size_t count = 2 * (size_t) worker->solver->columns;
  if (quantile->profile)
    return quantile->profile;
  const size_t room = (size_t) numeric_profile_blocks (worker->solver->rows) + 2;
  struct arena *arena = &worker->solver->arena;
  struct numeric_profile *profile = arena_allocate (arena, count, sizeof *profile);
  int64_t *numbers = profile ? arena_reserve (arena, 7 * count * room + count, sizeof *numbers) : NULL;
  if (!numbers) {
    arena_release (arena, profile);
    return NULL;
  }
  quantile->numbers = numbers;
  quantile->costs = numbers + 7 * count * room;
  for (size_t i = 0; i < count; i++) {
    int64_t *own = numbers + 7 * i * room;
    profile[i] = (struct numeric_profile) {.room = (int32_t) room,
                                           .low = {own, own + room},
                                           .high = {own + 2 * room, own + 3 * room},
                                           .known = own + 4 * room,
                                           .now = own + 5 * room};
    profile[i].front = (int32_t *) (own + 6 * room);
    profile[i].behind = profile[i].front + room;
  }
  return quantile->profile = profile;
}

/* What the rows on both sides of the cut that may move can change: those before it join the no side or leave the yes
   side, those behind it the other way round. */
static void tilt (const struct walk *walk, struct numeric_tilt tilts[2]) {
  const struct numeric_child *child = walk->search->child;
  const int32_t *place = child->place[walk->open->column];
  const int64_t *weight = child->weight[walk->open->column];
  int64_t moved[2][most_buckets];
  memset (moved, 0, sizeof moved);
  for (int64_t i = walk->low; i < walk->high; i++)
    moved[i >= walk->position][child->buckets[0].of_place[place[i]]] += weight ? weight[i] : 1;
  for (int s = 0; s < 2; s++)
    numeric_profile_tilt (&walk->search->worker->quantile, moved[!s], moved[s], &tilts[s]);
}

/* A lower bound of the stumps on a column for all cuts of the interval, by the staircase. */
static int64_t bound_of_stumps (const struct walk *walk, int32_t column, int side) {
  const struct numeric_child *child = walk->search->child;
  const int64_t columns = walk->search->solver->columns, end = side ? walk->open->right : walk->open->left;
  return child->cost[(2 * end + side) * columns + column];
}

static void count_all (const struct walk *walk, struct numeric_crowd all[2]) {
  const struct numeric_child *child = walk->search->child;
  const int32_t *place = child->place[walk->open->column];
  const int64_t *weight = child->weight[walk->open->column], at = walk->position;
  const struct numeric_sequence sequence[2] = {
      {.place = place, .weight = weight, .rows = at},
      {.place = place + at, .weight = weight ? weight + at : NULL, .rows = child->rows - at}};
  for (int s = 0; s < 2; s++)
    numeric_profile_crowd (&walk->search->worker->quantile, child->buckets, &sequence[s], &all[s]);
}

/* Fills the profiles of all columns that need one. Returns 0 if there is not enough memory, or if the search is
   stopping. */
static int fill (struct walk *walk) {
  struct numeric_worker *worker = walk->search->worker;
  const struct numeric_child *child = worker->child;
  const int32_t f = walk->open->column;
  const int64_t code = numeric_code (child->own[f], worker->solver->kernel->cell, walk->position - 1);
  struct numeric_crowd all[2];
  struct numeric_tilt tilts[2];
  tilt (walk, tilts);
  count_all (walk, all);
  for (int32_t g = 0; g < worker->solver->columns; g++) {
    const void *codes = numeric_child_codes (worker, f, g);
    if (!codes || !numeric_child_codes (worker, g, f))
      return 0;
    for (int s = 0; s < 2; s++) {
      struct numeric_profile *profile = &walk->profile[2 * g + s];
      const int64_t known = bound_of_stumps (walk, g, s);
      profile->blocks = 0;
      if (known >= walk->enough[s]) {
        walk->rest[s] = numeric_least (walk->rest[s], known);
        continue;
      }
      struct numeric_sequence sequence = numeric_quantile_sequence (worker, codes, g, code, s);
      if (g == f && s)
        sequence.first = walk->end - walk->position + 1;
      else if (g == f)
        sequence.last = walk->begin - 1;
      numeric_profile_fill (&worker->quantile, child->buckets, &sequence, &all[s], &tilts[s], profile);
      worker->until_clock -= 16 * sequence.rows;
    }
    if (worker->until_clock <= 0 && numeric_poll (worker))
      return 0;
  }
  return 1;
}

/* Adds a row of the column of the cut to a crowd, and returns the bound of its loss. */
static inline int64_t join (const struct walk *walk, struct numeric_crowd *crowd, int64_t row) {
  const struct numeric_child *child = walk->search->child;
  const int64_t up = walk->search->worker->quantile.up, down = walk->search->worker->quantile.down;
  const int64_t slopes[3] = {down, 0, -up};
  const int32_t place = child->place[walk->open->column][row];
  const int64_t weight = child->weight[walk->open->column] ? child->weight[walk->open->column][row] : 1;
  numeric_crowd_add (crowd, child->buckets[0].of_place[place], weight, weight * child->targets[0].target[place + 1],
                     slopes);
  numeric_crowd_settle (crowd, up, down);
  return numeric_crowd_bound (crowd);
}

/* Bounds of the rows before and behind every cut near the walk. */
static void bound_ends (struct walk *walk) {
  const struct numeric_quantile *quantile = &walk->search->worker->quantile;
  const int64_t rows = walk->search->child->rows;
  struct numeric_crowd crowd;
  memset (&crowd, 0, sizeof crowd);
  quantile->front[0] = 0;
  for (int64_t i = 0; i < walk->high; i++)
    quantile->front[i + 1] = join (walk, &crowd, i);
  memset (&crowd, 0, sizeof crowd);
  quantile->back[rows] = 0;
  walk->search->worker->until_clock -= 8 * rows;
  for (int64_t i = rows - 1; i >= walk->low; i--)
    quantile->back[i] = join (walk, &crowd, i);
}

/* The best stump on the column itself, with its cut near the walk, of the side of a cut: 0 for the rows up to the cut.
 */
static int64_t least_near (const struct walk *walk, int64_t cut, int side) {
  const struct numeric_quantile *quantile = &walk->search->worker->quantile;
  struct numeric_crowd crowd;
  memset (&crowd, 0, sizeof crowd);
  int64_t best = side ? quantile->back[cut] : quantile->front[cut];
  if (side)
    for (int64_t i = cut; i < walk->end; i++)
      best = numeric_least (best, join (walk, &crowd, i) + quantile->back[i + 1]);
  else
    for (int64_t i = cut - 1; i >= walk->begin; i--)
      best = numeric_least (best, join (walk, &crowd, i) + quantile->front[i]);
  return best;
}

/* Moves a row in all profiles; returns a lower bound of the cut afterwards. */
static int64_t move (struct walk *walk, int64_t row, int to) {
  const int64_t cut = to ? row : row + 1;
  struct numeric_bisection *search = walk->search;
  struct numeric_worker *worker = search->worker;
  const struct numeric_child *child = search->child;
  const int32_t f = walk->open->column, columns = worker->solver->columns;
  const int64_t weight = child->weight[f] ? child->weight[f][row] : 1;
  struct numeric_mover mover = {.target = child->targets[0].target[child->place[f][row] + 1],
                                .up = worker->quantile.up * weight,
                                .down = worker->quantile.down * weight};
  const int64_t leaf[2] = {worker->quantile.front[cut], worker->quantile.back[cut]};
  int64_t stump[2], blocks = 0;
  for (int s = 0; s < 2; s++)
    stump[s] = numeric_least (walk->rest[s], least_near (walk, cut, s));
  for (int32_t g = 0; g < columns; g++) {
    const int32_t code = (int32_t) numeric_cell (numeric_child_codes (worker, g, f), worker->solver->kernel->cell, row);
    for (int s = 0; s < 2; s++) {
      struct numeric_profile *profile = &walk->profile[2 * g + s];
      mover.leaves = s != to;
      stump[s] = numeric_least (stump[s], numeric_profile_move (profile, &mover, code));
      blocks += profile->blocks;
    }
  }
  worker->until_clock -= 2 * blocks;
  return numeric_cost_of_cut (search, f, leaf, stump);
}

/* Walks in one direction: to 0, rows move to the yes side, and cuts ascend. Returns the last cut that is closed. */
static int64_t go (struct walk *walk, int to) {
  struct numeric_bisection *search = walk->search;
  const int32_t columns = search->solver->columns;
  const int cell = search->solver->kernel->cell;
  const void *own = search->child->own[walk->open->column];
  int64_t closed = walk->position;
  for (int32_t i = 0; i < 2 * columns; i++)
    numeric_profile_reset (&walk->profile[i]);
  for (int64_t at = walk->position + (to ? -1 : 1); at >= walk->low && at <= walk->high; at += to ? -1 : 1) {
    const int64_t bound = move (walk, to ? at : at - 1, to);
    if (search->worker->until_clock <= 0 && numeric_poll (search->worker))
      return closed;
    if (numeric_cell (own, cell, at) == numeric_cell (own, cell, at - 1))
      continue;
    if (bound < search->upper)
      return closed;
    closed = at;
  }
  return closed;
}

/* Makes a point of the bounds of the profiles; returns -1 if out of memory, or if they do not close the cut. */
static int32_t make_point (const struct walk *walk) {
  struct numeric_bisection *search = walk->search;
  const struct numeric_quantile *quantile = &search->worker->quantile;
  const int32_t f = walk->open->column, columns = search->solver->columns;
  const int64_t at = walk->position;
  struct numeric_point point = {.position = at, .leaf = {quantile->front[at], quantile->back[at]}};
  for (int s = 0; s < 2; s++) {
    point.stump[s] = point.leaf[s];
    for (int32_t g = 0; g < columns; g++) {
      const struct numeric_profile *profile = &walk->profile[2 * g + s];
      const int64_t known = bound_of_stumps (walk, g, s);
      const int64_t near = g == f ? least_near (walk, at, s) : NUMERIC_NONE;
      const int64_t cost = known >= walk->enough[s] ? known : numeric_least (near, numeric_profile_least (profile));
      quantile->costs[s * columns + g] = cost;
      if (cost < point.stump[s]) {
        point.stump[s] = cost;
        point.column[s] = g;
      }
    }
  }
  if (numeric_cost_of_cut (search, f, point.leaf, point.stump) < search->upper)
    return -1;
  const int32_t made = numeric_point_add (search);
  if (made < 0)
    return -1;
  search->child->point[made] = point;
  memcpy (&search->child->cost[(int64_t) made * 2 * columns], quantile->costs, 2 * (size_t) columns * sizeof (int64_t));
  search->worker->statistics.cuts++;
  return made;
}

/* How many rows may move in a walk from a position. */
static int64_t moves_from (const struct numeric_bisection *search, int64_t position) {
  const int64_t few = numeric_least (position, search->child->rows - position);
  return numeric_greatest ((int64_t) (sqrt ((double) few) * moves_share / 100), fewest_moves);
}

static int fits (const struct numeric_bisection *search) {
  const treeml_numeric *solver = search->solver;
  return search->child->goal == numeric_goal_quantile && solver->options.lazy && !solver->group &&
         solver->outputs == 1 && search->child->blocks == solver->columns;
}

/* Whether staircases probably close both halves of an interval: the cuts at its ends cost so much more than the best
   tree that it does not matter what half of the rows between them cost. Otherwise a walk closes more. */
static int is_steep (const struct numeric_bisection *search, const struct numeric_interval *open) {
  const struct numeric_point *a = &search->child->point[open->left], *b = &search->child->point[open->right];
  const double more = (double) (numeric_cost_of_cut (search, open->column, a->leaf, a->stump) - search->upper) +
                      (double) (numeric_cost_of_cut (search, open->column, b->leaf, b->stump) - search->upper);
  const double row = (double) search->upper / (double) search->child->rows;
  return more >= 2 * row * (double) (open->high - open->low + 1);
}

/* Chooses where a walk begins: not farther from the first open cut than it reaches, so that no cut is left there. */
static struct walk begin_walk (struct numeric_bisection *search, const struct numeric_interval *open,
                               int64_t position) {
  struct walk walk = {.search = search,
                      .open = open,
                      .position = position,
                      .moves = moves_from (search, position),
                      .enough = {NUMERIC_NONE, NUMERIC_NONE},
                      .rest = {NUMERIC_NONE, NUMERIC_NONE}};
  if (!search->price && search->leaves >= 4) {
    walk.enough[0] = search->upper - search->child->point[open->right].stump[1];
    walk.enough[1] = search->upper - search->child->point[open->left].stump[0];
  }
  struct numeric_interval part = *open;
  part.high = numeric_least (open->high, open->low + 2 * walk.moves);
  const int64_t first = numeric_interval_middle (search, &part), near = near_moves * walk.moves;
  if (first)
    walk.position = first;
  walk.low = numeric_greatest (open->low, walk.position - walk.moves);
  walk.high = numeric_least (open->high, walk.position + walk.moves);
  walk.begin = numeric_greatest (walk.low - near, 0);
  walk.end = numeric_least (walk.high + near, search->child->rows);
  walk.profile = reserve (search->worker);
  search->worker->quantile.targets = search->child->targets; /* leaves of other rows may have been evaluated since */
  return walk;
}

int32_t numeric_quantile_walk (struct numeric_bisection *search, const struct numeric_interval *open, int64_t *position,
                               int64_t closed[2]) {
  if (!fits (search) || open->high - open->low < price_of_walk ||
      open->high - open->low > reach * moves_from (search, *position) || is_steep (search, open))
    return -1;
  if (search->credit < price_of_walk) {
    search->credit++;
    return -1;
  }
  struct walk walk = begin_walk (search, open, *position);
  if (!walk.profile || !fill (&walk))
    return -1;
  bound_ends (&walk);
  const int32_t made = make_point (&walk);
  if (made < 0) {
    search->credit -= price_of_walk;
    return -1;
  }
  *position = walk.position;
  closed[1] = go (&walk, 0);
  closed[0] = go (&walk, 1);
  search->credit = numeric_least (search->credit + closed[1] - closed[0] - price_of_walk, most_credit);
  return made;
}
