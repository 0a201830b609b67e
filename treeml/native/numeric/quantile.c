/* Chains of targets, from which rows are removed; see quantile.h. */
#include "numeric/quantile.h"

#include <string.h>

static int create_chain (struct arena *arena, struct numeric_chain *chain, size_t nodes) {
  chain->before = arena_reserve (arena, nodes, sizeof *chain->before);
  chain->after = arena_reserve (arena, nodes, sizeof *chain->after);
  chain->weight = arena_reserve (arena, nodes, sizeof *chain->weight);
  return chain->before && chain->after && chain->weight;
}

int numeric_quantile_create (struct arena *arena, struct numeric_quantile *quantile,
                             const struct numeric_targets *targets, int32_t outputs, int64_t rows) {
  const size_t room = (size_t) rows + 1;
  int32_t most = 0;
  quantile->outputs = outputs;
  quantile->whole = arena_allocate (arena, 2 * (size_t) outputs, sizeof *quantile->whole);
  int fine = !!quantile->whole;
  for (int32_t i = 0; fine && i < 2 * outputs; i++) {
    const int32_t places = targets[i / 2].places;
    fine = create_chain (arena, &quantile->whole[i], (size_t) places + 2);
    most = places > most ? places : most;
  }
  for (int i = 0; fine && i < 2; i++)
    fine = create_chain (arena, &quantile->live[i], (size_t) most + 2);
  quantile->front = arena_reserve (arena, room, sizeof *quantile->front);
  quantile->back = arena_reserve (arena, room, sizeof *quantile->back);
  quantile->place = arena_reserve (arena, 2 * room, sizeof *quantile->place);
  quantile->weight = arena_reserve (arena, 2 * room, sizeof *quantile->weight);
  quantile->code = arena_reserve (arena, 2 * room, sizeof *quantile->code);
  quantile->bits = arena_reserve (arena, (size_t) rows / 64 + 2, sizeof *quantile->bits);
  quantile->cells = arena_reserve (arena, (size_t) rows + 2 * 64, sizeof (int64_t));
  return fine && quantile->front && quantile->back && quantile->place && quantile->weight && quantile->code &&
         quantile->bits && quantile->cells;
}

static void destroy_chain (struct arena *arena, struct numeric_chain *chain) {
  arena_release (arena, chain->before);
  arena_release (arena, chain->after);
  arena_release (arena, chain->weight);
}

void numeric_quantile_destroy (struct arena *arena, struct numeric_quantile *quantile) {
  for (int32_t i = 0; quantile->whole && i < 2 * quantile->outputs; i++)
    destroy_chain (arena, &quantile->whole[i]);
  for (int i = 0; i < 2; i++)
    destroy_chain (arena, &quantile->live[i]);
  arena_release (arena, quantile->whole);
  arena_release (arena, quantile->front);
  arena_release (arena, quantile->back);
  arena_release (arena, quantile->place);
  arena_release (arena, quantile->weight);
  arena_release (arena, quantile->code);
  arena_release (arena, quantile->bits);
  arena_release (arena, quantile->cells);
  arena_release (arena, quantile->profile);
  arena_release (arena, quantile->numbers);
}

/* The costs per unit, and the targets of one output. */
struct scale {
  int64_t up, down;
  const int64_t *target;
};

static inline struct scale scale_of (const struct numeric_quantile *quantile, int32_t output) {
  return (struct scale) {quantile->up, quantile->down, quantile->targets[output].target};
}

static inline int64_t loss_of (const struct scale *scale, const struct numeric_balance *balance) {
  const int64_t guess = scale->target[balance->at];
  return scale->up * (balance->sum_above - guess * balance->above) +
         scale->down * (guess * balance->below - balance->sum_below);
}

static inline void step_up (const struct scale *scale, const struct numeric_chain *chain,
                            struct numeric_balance *balance) {
  balance->below += balance->here;
  balance->sum_below += balance->here * scale->target[balance->at];
  balance->at = chain->after[balance->at];
  balance->here = chain->weight[balance->at];
  balance->above -= balance->here;
  balance->sum_above -= balance->here * scale->target[balance->at];
}

static inline void step_down (const struct scale *scale, const struct numeric_chain *chain,
                              struct numeric_balance *balance) {
  balance->above += balance->here;
  balance->sum_above += balance->here * scale->target[balance->at];
  balance->at = chain->before[balance->at];
  balance->here = chain->weight[balance->at];
  balance->below -= balance->here;
  balance->sum_below -= balance->here * scale->target[balance->at];
}

/* Moves to a target at which a step in either direction would not lower the loss. */
static inline void settle (const struct scale *scale, const struct numeric_chain *chain,
                           struct numeric_balance *balance) {
  while (scale->down * (balance->below + balance->here) < scale->up * balance->above)
    step_up (scale, chain, balance);
  while (scale->down * balance->below > scale->up * (balance->above + balance->here))
    step_down (scale, chain, balance);
}

void numeric_quantile_link (struct numeric_quantile *quantile, int32_t output, int side, const int32_t *place,
                            const int64_t *weight, int64_t rows) {
  const struct scale scale = scale_of (quantile, output);
  struct numeric_chain *chain = &quantile->whole[2 * output + side];
  const int32_t last = quantile->targets[output].places + 1;
  struct numeric_balance balance = {0};
  memset (chain->weight, 0, ((size_t) last + 1) * sizeof *chain->weight);
  for (int64_t i = 0; i < rows; i++)
    chain->weight[place[i] + 1] += weight ? weight[i] : 1;
  int32_t linked = 0;
  chain->before[0] = 0;
  for (int32_t node = 1; node <= last; node++) {
    const int64_t own = chain->weight[node];
    if (!own && node < last)
      continue;
    chain->after[linked] = node;
    chain->before[node] = linked;
    linked = node;
    balance.above += own;
    balance.sum_above += own * scale.target[node];
  }
  chain->after[last] = last;
  settle (&scale, chain, &balance);
  chain->balance = balance;
}

int64_t numeric_quantile_leaf (const struct numeric_quantile *quantile, int side) {
  int64_t loss = 0;
  for (int32_t output = 0; output < quantile->outputs; output++) {
    const struct scale scale = scale_of (quantile, output);
    loss += loss_of (&scale, &quantile->whole[2 * output + side].balance);
  }
  return loss;
}

/* Removes a target that no row has any more. */
static inline void unlink_node (const struct scale *scale, struct numeric_chain *chain, struct numeric_balance *balance,
                                int32_t node) {
  const int32_t before = chain->before[node], after = chain->after[node];
  chain->after[before] = after;
  chain->before[after] = before;
  if (node != balance->at)
    return;
  if (before > 0)
    step_down (scale, chain, balance);
  else
    step_up (scale, chain, balance);
}

static inline void drop (const struct scale *scale, struct numeric_chain *chain, struct numeric_balance *balance,
                         int32_t node, int64_t weight) {
  const int64_t moment = weight * scale->target[node], below = -(int64_t) (node < balance->at),
                above = -(int64_t) (node > balance->at);
  balance->below -= weight & below;
  balance->sum_below -= moment & below;
  balance->above -= weight & above;
  balance->sum_above -= moment & above;
  balance->here -= weight & ~(below | above);
  if (!(chain->weight[node] -= weight))
    unlink_node (scale, chain, balance, node);
  settle (scale, chain, balance);
}

static void copy_chain (const struct numeric_chain *from, struct numeric_chain *to, size_t nodes) {
  memcpy (to->before, from->before, nodes * sizeof *to->before);
  memcpy (to->after, from->after, nodes * sizeof *to->after);
  memcpy (to->weight, from->weight, nodes * sizeof *to->weight);
}

/* Two chains in one loop: each waits for its own memory, so that together they take little longer than one. */
void numeric_quantile_sweep (struct numeric_quantile *quantile, int32_t output, int side, const int32_t *place,
                             const int64_t *weight, int64_t rows) {
  const struct scale scale = scale_of (quantile, output);
  const struct numeric_chain *whole = &quantile->whole[2 * output + side];
  const size_t nodes = (size_t) quantile->targets[output].places + 2;
  struct numeric_balance first = whole->balance, rest = whole->balance;
  struct numeric_chain *live = quantile->live;
  int64_t *front = quantile->front, *back = quantile->back;
  copy_chain (whole, &live[0], nodes);
  copy_chain (whole, &live[1], nodes);
  for (int64_t i = 1; i < rows; i++) {
    const int64_t last = rows - i, one = weight ? weight[last] : 1, other = weight ? weight[i - 1] : 1;
    if (one)
      drop (&scale, &live[0], &first, place[last] + 1, one);
    front[last] = loss_of (&scale, &first) + (output ? front[last] : 0);
    if (other)
      drop (&scale, &live[1], &rest, place[i - 1] + 1, other);
    back[i] = loss_of (&scale, &rest) + (output ? back[i] : 0);
  }
}
