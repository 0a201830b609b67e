/* Rules that every leaf keeps by itself: a least purity, and a greatest cost. */
#include "coupled/search.h"

#include "common/bits.h"

#include <string.h>

void rules_release (treeml_coupled *coupled) {
  arena_release (&coupled->arena, coupled->rules.purity);
  arena_release (&coupled->arena, coupled->rules.cost);
  coupled->rules = (struct rules) {0};
}

/* Copies a matrix whose numbers add up to at most 2^58; a code. */
static int copy_rule (treeml_coupled *coupled, const int64_t *from, int64_t **to) {
  const int64_t size = coupled->rows * coupled->classes;
  int64_t total = 0;
  if (!from)
    return TREEML_OK;
  for (int64_t i = 0; i < size; i++) {
    const int64_t number = from[i];
    if (number > LARGEST_VALUE || number < -LARGEST_VALUE || (total += number < 0 ? -number : number) > LARGEST_VALUE)
      return coupled_fail (coupled, TREEML_OVERFLOW, "the numbers of a rule add up to more than 2^58");
  }
  *to = arena_reserve (&coupled->arena, (size_t) size, sizeof **to);
  if (!*to)
    return coupled_fail (coupled, TREEML_OUT_OF_MEMORY, "not enough memory for the rules");
  memcpy (*to, from, (size_t) size * sizeof **to);
  return TREEML_OK;
}

int treeml_coupled_rules (treeml_coupled *coupled, const int64_t *purity, const int64_t *cost, int64_t most) {
  if (!coupled)
    return TREEML_BAD_ARGUMENT;
  if (!coupled->rows || !coupled->classes)
    return coupled_fail (coupled, TREEML_NO_DATA, "there are no values yet");
  coupled_release_answer (coupled);
  coupled->merged.values_valid = 0;
  rules_release (coupled);
  int code = copy_rule (coupled, purity, &coupled->rules.purity);
  if (!code)
    code = copy_rule (coupled, cost, &coupled->rules.cost);
  coupled->rules.most_cost = most;
  if (code)
    rules_release (coupled);
  return code;
}

static int64_t sum_of (const treeml_coupled *coupled, const int64_t *matrix, const uint64_t *rows, int32_t k) {
  int64_t sum = 0;
  for (int64_t w = 0; w < coupled->words; w++)
    for (uint64_t rest = rows[w]; rest; rest &= rest - 1)
      sum += matrix[(64 * w + lowest_bit (rest)) * coupled->classes + k];
  return sum;
}

int rules_allow (const treeml_coupled *coupled, const uint64_t *rows, int32_t label) {
  const struct rules *rules = &coupled->rules;
  if (rules->cost && sum_of (coupled, rules->cost, rows, label) > rules->most_cost)
    return 0;
  for (int32_t k = 0; rules->purity && k < coupled->classes; k++)
    if (sum_of (coupled, rules->purity, rows, k) >= 0)
      return 1;
  return !rules->purity;
}
