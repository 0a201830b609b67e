/* What a leaf costs and predicts. The costs of classes and squared losses follow from sums over the rows; the other
   losses look at the rows themselves. */
#include "sets/states.h"

#include "common/bits.h"

#include <string.h>

/* Whether the largest class of a leaf has the share that is asked for. */
static int is_pure (const treeml_sets_input *input, const int64_t *sums) {
  if (!input->purity_weight)
    return 1;
  const int64_t *weights = sums + (input->limit_cost ? 2 : 1) * input->width;
  wide most = 0, total = 0;
  for (int c = 0; c < input->width; c++) {
    total += weights[c];
    if (weights[c] > most)
      most = weights[c];
  }
  return !total || most * input->pure_of >= total * input->pure;
}

/* Whether a leaf with these sums may predict this class. */
int sets_allows_label (const treeml_sets *sets, const int64_t *sums, int32_t label) {
  const treeml_sets_input *input = &sets->input;
  if (sums[0] < input->support || !is_pure (input, sums + 1))
    return 0;
  return !input->limit_cost || sums[1 + input->width + label] <= input->limit;
}

/* The cheapest class that the requirements on leaves allow. */
static int64_t class_leaf (const treeml_sets_input *input, const int64_t *sums, int32_t *label) {
  const int classes = input->width;
  const int64_t *limits = input->limit_cost ? sums + classes : NULL;
  if (!is_pure (input, sums))
    return NO_TREE;
  int64_t best = NO_TREE;
  for (int c = 0; c < classes; c++) {
    if (limits && limits[c] > input->limit)
      continue;
    if (sums[c] < best || (input->last && sums[c] == best)) {
      best = sums[c];
      *label = c;
    }
  }
  return best;
}

/* weight, squares, weighted targets: the squared distance to the mean, rounded down to units. */
static int64_t squared_leaf (const treeml_sets_input *input, const int64_t *sums) {
  const int64_t weight = sums[0];
  if (!weight)
    return 0;
  wide spread = (wide) weight * sums[1];
  for (int o = 0; o < input->width; o++)
    spread -= (wide) sums[2 + o] * sums[2 + o];
  const wide whole = spread / weight, rest = spread % weight;
  return (int64_t) ((whole << input->grain) + ((rest << input->grain) / weight));
}

static int has (const uint64_t *rows, int32_t row) { return (int) (rows[row >> 6] >> (row & 63) & 1); }

/* The lowest target such that rows up to it have at least their share above / (above + below) of the weight. Rows count
   once if all weights are zero. */
static int64_t quantile_of (const treeml_sets *sets, const uint64_t *rows, int output) {
  const treeml_sets_input *input = &sets->input;
  const int32_t *order = sets->by_target + (int64_t) output * input->rows;
  wide total = 0;
  int64_t number = 0;
  for (int w = 0; w < sets->words; w++)
    for (uint64_t rest = rows[w]; rest; rest &= rest - 1, number++)
      total += input->weight[64 * w + lowest_bit (rest)];
  const int plain = total == 0;
  if (plain)
    total = number;
  const wide needed = total * input->above;
  wide so_far = 0;
  int64_t last = 0;
  for (int32_t place = 0; place < input->rows; place++) {
    const int32_t row = order[place];
    if (!has (rows, row))
      continue;
    last = input->cost[(int64_t) row * input->width + output];
    so_far += plain ? 1 : input->weight[row];
    if (so_far * (input->above + input->below) >= needed)
      break;
  }
  return last;
}

static int64_t quantile_leaf (const treeml_sets *sets, const uint64_t *rows) {
  const treeml_sets_input *input = &sets->input;
  wide loss = 0;
  for (int o = 0; o < input->width; o++) {
    const int64_t constant = quantile_of (sets, rows, o);
    for (int w = 0; w < sets->words; w++)
      for (uint64_t rest = rows[w]; rest; rest &= rest - 1) {
        const int64_t row = 64 * w + lowest_bit (rest);
        const wide distance = (wide) input->cost[row * input->width + o] - constant;
        loss += input->weight[row] * (distance > 0 ? distance * input->above : -distance * input->below);
      }
  }
  return (int64_t) loss;
}

static int64_t custom_leaf (treeml_sets *sets, const uint64_t *rows) {
  int32_t number = 0;
  int64_t cost = NO_TREE;
  for (int w = 0; w < sets->words; w++)
    for (uint64_t rest = rows[w]; rest; rest &= rest - 1)
      sets->scratch_rows[number++] = 64 * w + lowest_bit (rest);
  if (sets->input.leaf (sets->scratch_rows, number, &cost)) {
    sets_fail (sets, TREEML_SETS_FAILED);
    return NO_TREE;
  }
  return cost;
}

int64_t sets_leaf (treeml_sets *sets, const uint64_t *rows, const int64_t *sums, int32_t *label) {
  *label = -1;
  if (sums[0] < sets->input.support)
    return NO_TREE;
  switch (sets->input.model) {
  case TREEML_SETS_CLASSES:
    return class_leaf (&sets->input, sums + 1, label);
  case TREEML_SETS_SQUARED:
    return squared_leaf (&sets->input, sums + 1);
  case TREEML_SETS_QUANTILE:
    return quantile_leaf (sets, rows);
  }
  return custom_leaf (sets, rows);
}

/* Numerators and denominator of the mean of every output; rows count once if all weights are zero. */
static int64_t mean_of (const treeml_sets *sets, const uint64_t *rows, int output, wide *sum) {
  const treeml_sets_input *input = &sets->input;
  wide weighted = 0, plain = 0;
  int64_t weight = 0, number = 0;
  for (int w = 0; w < sets->words; w++)
    for (uint64_t rest = rows[w]; rest; rest &= rest - 1, number++) {
      const int64_t row = 64 * w + lowest_bit (rest), target = input->cost[row * input->width + output];
      weight += input->weight[row];
      weighted += (wide) input->weight[row] * target;
      plain += target;
    }
  *sum = weight ? weighted : plain;
  return weight ? weight : number;
}

/* Whether a / b = c / d, for b, d > 0: floors and remainders are compared, so that no product overflows. */
static int equal_fractions (wide a, int64_t b, wide c, int64_t d) {
  const wide floor_a = a / b - (a % b < 0), floor_c = c / d - (c % d < 0);
  return floor_a == floor_c && (a - floor_a * b) * d == (c - floor_c * d) * b;
}

static wide divisor (wide a, wide b) {
  while (b) {
    const wide rest = a % b;
    a = b;
    b = rest;
  }
  return a < 0 ? -a : a;
}

/* What a leaf with the rows of a state predicts, as integers: quantiles, or means as reduced fractions. Returns how
   many integers there are. */
int64_t sets_prediction (const treeml_sets *sets, int32_t state, int64_t *words) {
  const uint64_t *rows = sets_key (sets, state);
  int64_t count = 0;
  for (int o = 0; o < sets->input.width; o++) {
    if (sets->input.model == TREEML_SETS_QUANTILE) {
      words[count++] = quantile_of (sets, rows, o);
      continue;
    }
    wide sum;
    const int64_t size = mean_of (sets, rows, o, &sum);
    const wide common = divisor (sum, size);
    sum /= common;
    words[count++] = (int64_t) (sum >> 32);
    words[count++] = (int64_t) (sum & 0xffffffff);
    words[count++] = (int64_t) (size / common);
  }
  return count;
}

/* Whether a split into leaves on these states is no tree of its own: they predict the same, and so may one leaf. */
int sets_alike (treeml_sets *sets, int32_t state, int32_t yes, int32_t no) {
  const struct state *a = &sets->states[yes], *b = &sets->states[no];
  if (a->leaf >= NO_TREE || b->leaf >= NO_TREE || sets->input.model == TREEML_SETS_CUSTOM)
    return 0;
  if (sets->input.model == TREEML_SETS_CLASSES)
    return a->label == b->label && sets->states[state].label == a->label;
  const uint64_t *rows_a = sets_key (sets, yes), *rows_b = sets_key (sets, no);
  for (int o = 0; o < sets->input.width; o++) {
    if (sets->input.model == TREEML_SETS_QUANTILE) {
      if (quantile_of (sets, rows_a, o) != quantile_of (sets, rows_b, o))
        return 0;
      continue;
    }
    wide sum_a, sum_b;
    const int64_t size_a = mean_of (sets, rows_a, o, &sum_a), size_b = mean_of (sets, rows_b, o, &sum_b);
    if (!equal_fractions (sum_a, size_a, sum_b, size_b))
      return 0;
  }
  return 1;
}
