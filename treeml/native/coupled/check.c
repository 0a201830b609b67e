/* Every tree is computed again from the caller's rows before anybody sees it: splits with an empty side and splits into
   two leaves of one class are removed, and sums, leaves, depth and counts are compared with the limits. */
#include "coupled/search.h"

#include "common/bits.h"

#include <string.h>

struct check {
  const treeml_coupled *coupled;
  struct arena *arena;
  const struct tree *from;
  struct tree *to;
  uint64_t *rows; /* levels x words */
  int64_t deepest, leaves, fees[fee_kinds];
  int failed;
};

static int64_t copy_leaf (struct check *check, int32_t label) {
  const int64_t node = tree_add (check->arena, check->to, -1, label);
  check->failed |= node < 0;
  return node;
}

static int no_rows (const uint64_t *rows, int64_t words) {
  for (int64_t w = 0; w < words; w++)
    if (rows[w])
      return 0;
  return 1;
}

/* Copies the part of the tree that has rows; the new node. */
static int64_t copy_used (struct check *check, int64_t node, int64_t level) {
  const int64_t words = check->coupled->words;
  uint64_t *rows = check->rows + level * words, *below = rows + words;
  if (check->failed)
    return -1;
  if (check->from->test[node] < 0)
    return copy_leaf (check, check->from->label[node]);
  const uint64_t *column = check->coupled->columns + check->from->test[node] * words;
  const int64_t first = check->to->nodes;
  const int64_t copy = tree_add (check->arena, check->to, check->from->test[node], -1);
  if (copy < 0) {
    check->failed = 1;
    return -1;
  }
  int64_t child[2];
  for (int side = 1; side >= 0; side--) {
    for (int64_t w = 0; w < words; w++)
      below[w] = rows[w] & (side ? column[w] : ~column[w]);
    if (no_rows (below, words)) { /* the other side takes the place of the split */
      check->to->nodes = first;
      memcpy (below, rows, (size_t) words * sizeof *rows);
      return copy_used (check, side ? check->from->no[node] : check->from->yes[node], level);
    }
    child[side] = copy_used (check, side ? check->from->yes[node] : check->from->no[node], level + 1);
    if (check->failed)
      return -1;
  }
  if (check->to->test[child[0]] < 0 && check->to->test[child[1]] < 0 &&
      check->to->label[child[0]] == check->to->label[child[1]] &&
      rules_allow (check->coupled, rows, check->to->label[child[0]])) {
    const int32_t label = check->to->label[child[0]];
    check->to->nodes = first;
    return copy_leaf (check, label);
  }
  check->to->yes[copy] = (int32_t) child[1];
  check->to->no[copy] = (int32_t) child[0];
  return copy;
}

/* Adds up the fees that the rows at a split pay. */
static void add_fees (struct check *check, const uint64_t *rows, const int32_t *path, int64_t level) {
  const treeml_coupled *coupled = check->coupled;
  if (!coupled_has_fees (coupled))
    return;
  int64_t count = 0;
  for (int64_t w = 0; w < coupled->words; w++)
    for (uint64_t rest = rows[w]; rest; rest &= rest - 1)
      count += coupled->count[64 * w + lowest_bit (rest)];
  for (int kind = 0; kind < fee_kinds; kind++)
    check->fees[kind] += count * path_fee (&coupled->fees[kind], path, level, path[level]);
}

/* Adds up the leaves below a node of the copied tree. Returns 0 if one has too few rows or a column comes twice. */
static int add_up (struct check *check, int64_t node, int64_t level, int64_t support, int once, int64_t *totals,
                   int32_t *path) {
  const treeml_coupled *coupled = check->coupled;
  const int64_t words = coupled->words;
  uint64_t *rows = check->rows + level * words;
  const int32_t test = check->to->test[node];
  check->deepest = level > check->deepest ? level : check->deepest;
  if (test >= 0) {
    for (int64_t i = 0; once && i < level; i++)
      if (path[i] == coupled->column_of[test])
        return 0;
    path[level] = coupled->column_of[test];
    add_fees (check, rows, path, level);
    const uint64_t *column = coupled->columns + test * words;
    for (int side = 1; side >= 0; side--) {
      for (int64_t w = 0; w < words; w++)
        rows[words + w] = rows[w] & (side ? column[w] : ~column[w]);
      if (!add_up (check, side ? check->to->yes[node] : check->to->no[node], level + 1, support, once, totals, path))
        return 0;
    }
    return !coupled->forbidden[test];
  }
  check->leaves++;
  int64_t count = 0;
  for (int64_t w = 0; w < words; w++)
    for (uint64_t rest = rows[w]; rest; rest &= rest - 1) {
      const int64_t row = 64 * w + lowest_bit (rest);
      count += coupled->count[row];
      for (int32_t sum = 0; sum <= coupled->sums; sum++)
        totals[sum] += coupled->values[(sum * coupled->rows + row) * coupled->classes + check->to->label[node]];
    }
  return count >= support && rules_allow (coupled, rows, check->to->label[node]);
}

int tree_check (struct search *search, const struct tree *from, struct tree *to, int64_t *totals) {
  treeml_coupled *coupled = search->coupled;
  const int64_t levels = tree_height (from) + 2;
  struct check check = {.coupled = coupled, .arena = &coupled->arena, .from = from, .to = to};
  check.rows = arena_reserve (check.arena, times ((size_t) levels, (size_t) coupled->words), sizeof *check.rows);
  int32_t *path = arena_reserve (check.arena, (size_t) levels, sizeof *path);
  to->nodes = 0;
  int good = check.rows && path;
  if (!good)
    search_out_of_memory (search);
  for (int64_t w = 0; good && w < coupled->words; w++)
    check.rows[w] = ~(uint64_t) 0;
  if (good && coupled->rows % 64)
    check.rows[coupled->words - 1] = ~(uint64_t) 0 >> (64 - coupled->rows % 64);
  if (good && copy_used (&check, 0, 0) < 0) {
    search_out_of_memory (search);
    good = 0;
  }
  for (int32_t sum = 0; sum <= coupled->sums; sum++)
    totals[sum] = 0;
  const int once = coupled->options.once != 0;
  good = good && add_up (&check, 0, 0, coupled->options.support, once, totals, path);
  arena_release (check.arena, check.rows);
  arena_release (check.arena, path);
  if (!good || check.leaves > coupled->options.leaves || check.deepest > coupled->options.depth)
    return 0;
  if (coupled->fees[1].below && check.fees[1] > coupled->most_fees)
    return 0;
  for (int32_t sum = 1; sum <= coupled->sums; sum++)
    if (totals[sum] < coupled->low[sum - 1] || totals[sum] > coupled->high[sum - 1])
      return 0;
  totals[0] += coupled->options.leaf_price * check.leaves + check.fees[0];
  return 1;
}
