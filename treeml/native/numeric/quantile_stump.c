/* Stumps for quantile losses: bounds first, and exact losses where these do not suffice. */
#include "numeric/quantile_stump.h"

enum { most_attempts = 6 }; /* to find the best cut of a column by bounds */

static int64_t least (int64_t a, int64_t b) { return a < b ? a : b; }

/* Copies cells of any width to wider numbers. */
static void widen (const void *cells, int cell, int64_t rows, int32_t *to) {
  if (cell == 2)
    for (int64_t i = 0; i < rows; i++)
      to[i] = ((const int16_t *) cells)[i];
  else if (cell == 4)
    for (int64_t i = 0; i < rows; i++)
      to[i] = ((const int32_t *) cells)[i];
  else
    for (int64_t i = 0; i < rows; i++)
      to[i] = (int32_t) ((const int64_t *) cells)[i];
}

/* Lists the places of the rows of one side of a cut in the order of a column; with the first output also their codes
   and weights. Returns their number. */
static int64_t list_side (struct numeric_worker *worker, const void *codes, int order, int64_t code, int side,
                          int32_t output) {
  const struct numeric_kernel *kernel = worker->solver->kernel;
  const struct numeric_child *child = worker->child;
  struct numeric_quantile *quantile = &worker->quantile;
  const int64_t all = child->rows, *weight = output ? NULL : child->weight[order];
  const int64_t rows = kernel->select (codes, all, code, side, quantile->bits);
  kernel->compress (child->place_cells[order * worker->solver->outputs + output], quantile->bits, all, quantile->cells);
  widen (quantile->cells, kernel->cell, rows, quantile->place);
  if (output)
    return rows;
  kernel->compress (child->own[order], quantile->bits, all, quantile->cells);
  widen (quantile->cells, kernel->cell, rows, quantile->code);
  for (int64_t i = 0, listed = 0; weight && listed < rows; i++) {
    quantile->weight[listed] = weight[i];
    listed += (int64_t) (quantile->bits[i / 64] >> i % 64 & 1);
  }
  return rows;
}

struct numeric_sequence numeric_quantile_sequence (struct numeric_worker *worker, const void *codes, int order,
                                                   int64_t code, int side) {
  const struct numeric_quantile *quantile = &worker->quantile;
  const int64_t rows = list_side (worker, codes, order, code, side, 0);
  return (struct numeric_sequence) {
      quantile->place, quantile->code, worker->solver->weighted ? quantile->weight : NULL, rows, 0, rows};
}

void numeric_quantile_link_sides (struct numeric_worker *worker, int column, int64_t position, int64_t leaf[2]) {
  struct numeric_child *child = worker->child;
  struct numeric_quantile *quantile = &worker->quantile;
  const int64_t *weight = child->weight[column];
  quantile->targets = child->targets;
  for (int32_t o = 0; o < quantile->outputs; o++) {
    const int32_t *place = child->place[column * quantile->outputs + o];
    numeric_quantile_link (quantile, o, 0, place, weight, position);
    numeric_quantile_link (quantile, o, 1, place + position, weight ? weight + position : NULL, child->rows - position);
  }
  for (int s = 0; s < 2; s++)
    leaf[s] = numeric_quantile_leaf (quantile, s);
}

/* The cut with the lowest sum of what is known about its sides, or 0 if there is none below a limit. */
static int64_t lowest_cut (const struct numeric_quantile *quantile, int64_t rows, int64_t *limit) {
  int64_t best = 0;
  for (int64_t i = 1; i < rows; i++) {
    const int64_t sum = quantile->front[i] + quantile->back[i];
    if (sum < *limit && quantile->code[i] != quantile->code[i - 1]) {
      best = i;
      *limit = sum;
    }
  }
  return best;
}

/* Looks for the best cut of the rows that are listed, among those with the lowest bounds. Returns whether the cost is
   known as well as the target demands. */
static int try_bounds (struct numeric_worker *worker, int64_t rows, int64_t target, int64_t *cost) {
  struct numeric_quantile *quantile = &worker->quantile;
  const struct numeric_buckets *buckets = worker->child->buckets;
  const int64_t *weight = worker->solver->weighted ? quantile->weight : NULL;
  const int64_t leaf = *cost;
  int64_t exact = leaf;
  for (int attempt = 0; attempt <= most_attempts; attempt++) {
    int64_t bound = exact;
    const int64_t cut = lowest_cut (quantile, rows, &bound);
    if (!cut || bound >= target) {
      *cost = bound; /* all other cuts cost at least that */
      return 1;
    }
    if (attempt == most_attempts || quantile->outputs > 1)
      break;
    const int64_t front = numeric_quantile_exact (quantile, buckets, 0, quantile->place, weight, cut);
    const int64_t back =
        numeric_quantile_exact (quantile, buckets, 0, quantile->place + cut, weight ? weight + cut : NULL, rows - cut);
    quantile->front[cut] = front;
    quantile->back[cut] = back;
    exact = least (exact, front + back);
  }
  return 0;
}

/* The cost of the best stump of one side. */
static int64_t stump_of_side (struct numeric_worker *worker, int order, const void *codes, int64_t code, int s,
                              const int64_t *target) {
  struct numeric_quantile *quantile = &worker->quantile;
  const int64_t *weight = worker->solver->weighted ? quantile->weight : NULL;
  int64_t rows = 0, cost = numeric_quantile_leaf (quantile, s);
  for (int32_t o = 0; target && o < quantile->outputs; o++) {
    rows = list_side (worker, codes, order, code, s, o);
    worker->until_clock -= 8 * rows;
    numeric_quantile_bounds (quantile, &worker->child->buckets[o], o, quantile->place, weight, rows);
  }
  if (target && try_bounds (worker, rows, target[s], &cost))
    return cost;
  for (int32_t o = 0; o < quantile->outputs; o++) {
    rows = list_side (worker, codes, order, code, s, o);
    worker->until_clock -= 64 * rows; /* far slower than other sweeps */
    numeric_quantile_sweep (quantile, o, s, quantile->place, weight, rows);
  }
  for (int64_t i = 1; i < rows; i++)
    if (quantile->code[i] != quantile->code[i - 1])
      cost = least (cost, quantile->front[i] + quantile->back[i]);
  return cost;
}

void numeric_quantile_stumps (struct numeric_worker *worker, int order, const void *codes, int64_t code,
                              const int64_t *target, struct numeric_sides *sides) {
  for (int s = 0; s < 2; s++)
    sides->cost[s] = sides->wanted >> s & 1 ? stump_of_side (worker, order, codes, code, s, target)
                                            : numeric_quantile_leaf (&worker->quantile, s);
}
