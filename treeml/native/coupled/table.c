/* Tables of pair sums. From the sums over the rows that answer yes to two tests follow those of all four cells of every
   pair of tests, so one pass over a table gives the best tree of depth two at a multiplier. */
#include "coupled/search.h"

#include <string.h>

/* Places. */

void place_child (const struct search *search, const struct place *place, int32_t test, int side, uint64_t *rows,
                  struct place *child) {
  const struct merged *merged = search->merged;
  const uint64_t *column = merged->columns + test * merged->words;
  for (int64_t w = 0; w < merged->words; w++)
    rows[w] = place->rows[w] & (side ? column[w] : ~column[w]);
  *child = *place;
  child->rows = rows;
  child->depth--;
  if (child->literals++ >= most_literals)
    return; /* such places are not stored */
  const int32_t literal = 2 * test + side;
  int32_t at = child->literals - 1;
  for (; at && child->literal[at - 1] > literal; at--)
    child->literal[at] = child->literal[at - 1];
  child->literal[at] = literal;
}

static int has_enough (const struct search *search, const uint64_t *rows) {
  const struct merged *merged = search->merged;
  int64_t count = 0;
  for (int64_t w = 0; w < merged->words; w++) {
    if (rows[w] && !merged->counted)
      return 1;
    for (uint64_t rest = rows[w]; rest; rest &= rest - 1) {
      const int64_t row = 64 * w + __builtin_ctzll (rest);
      count += merged->values[row * merged->channels + merged->channels - 1];
      if (count >= search->support)
        return 1;
    }
  }
  return 0;
}

int place_splits (const struct search *search, const uint64_t *yes, const uint64_t *no) {
  return has_enough (search, yes) && has_enough (search, no);
}

int test_allowed (const struct search *search, int32_t test) {
  return !search->used || !search->used[search->merged->column[test]];
}

void path_push (struct search *search, int32_t test) {
  if (search->used)
    search->used[search->merged->column[test]] = 1;
}

void path_pop (struct search *search, int32_t test) {
  if (search->used)
    search->used[search->merged->column[test]] = 0;
}

/* Tables. */

static int same_place (const struct place *one, const struct place *other) {
  if (one->literals != other->literals || one->literals > most_literals)
    return 0;
  return !memcmp (one->literal, other->literal, (size_t) one->literals * sizeof *one->literal);
}

static void add_row (struct search *search, int64_t row, int pairs) {
  const struct merged *merged = search->merged;
  struct table *table = &search->table;
  const int32_t channels = merged->channels;
  const int64_t *value = merged->values + row * channels;
  const int32_t *items = merged->items + merged->first[row];
  const int32_t count = (int32_t) (merged->first[row + 1] - merged->first[row]);
  const int64_t size = (int64_t) merged->tests * merged->stride;
  for (int32_t v = 0; v < channels; v++) {
    table->total[v] += value[v];
    if (!value[v])
      continue;
    int64_t *sums = table->sums + v * size;
    for (int32_t a = 0; a < count; a++) {
      int64_t *line = sums + (int64_t) items[a] * merged->stride;
      if (pairs)
        for (int32_t b = a; b < count; b++)
          line[items[b]] += value[v];
      else
        line[items[a]] += value[v];
    }
  }
}

static void mirror (struct search *search) {
  const struct merged *merged = search->merged;
  const int64_t size = (int64_t) merged->tests * merged->stride;
  for (int32_t v = 0; v < merged->channels; v++) {
    int64_t *sums = search->table.sums + v * size;
    for (int32_t i = 0; i < merged->tests; i++)
      for (int32_t j = 0; j < i; j++)
        sums[(int64_t) i * merged->stride + j] = sums[(int64_t) j * merged->stride + i];
  }
}

int table_fill (struct search *search, const struct place *place, int pairs) {
  const struct merged *merged = search->merged;
  struct table *table = &search->table;
  if (search_poll (search, 0))
    return 0;
  if (table->filled && table->pairs >= pairs && same_place (&table->of, place))
    return 1;
  search->coupled->statistics.tables++;
  table->of = *place;
  table->filled = 1;
  table->pairs = pairs;
  memset (table->total, 0, (size_t) merged->channels * sizeof *table->total);
  memset (table->sums, 0,
          (size_t) merged->channels * (size_t) merged->tests * (size_t) merged->stride * sizeof *table->sums);
  for (int64_t w = 0; w < merged->words; w++)
    for (uint64_t rest = place->rows[w]; rest; rest &= rest - 1)
      add_row (search, 64 * w + __builtin_ctzll (rest), pairs);
  if (pairs)
    mirror (search);
  return 1;
}

void table_side (const struct search *search, int32_t test, int side, int64_t *sums) {
  const struct merged *merged = search->merged;
  const int64_t size = (int64_t) merged->tests * merged->stride, at = (int64_t) test * merged->stride + test;
  for (int32_t v = 0; v < merged->channels; v++) {
    const int64_t total = search->table.total[v];
    sums[v] = test < 0 ? total : side ? search->table.sums[v * size + at] : total - search->table.sums[v * size + at];
  }
}

void table_cells (const struct search *search, int32_t test, int side, int32_t other, int64_t *yes, int64_t *no) {
  const struct merged *merged = search->merged;
  const int64_t stride = merged->stride, size = (int64_t) merged->tests * stride;
  table_side (search, test, side, no);
  for (int32_t v = 0; v < merged->channels; v++) {
    const int64_t *sums = search->table.sums + v * size;
    const int64_t alone = sums[other * stride + other];
    const int64_t both = test < 0 ? alone : sums[test * stride + other];
    yes[v] = test < 0 || side ? both : alone - both;
    no[v] -= yes[v];
  }
}

int cell_allowed (const struct search *search, const int64_t *sums) {
  return !search->merged->counted || sums[search->merged->channels - 1] >= search->support;
}

void leaf_vector (const struct search *search, const int64_t *sums, int32_t k, int64_t *vector) {
  const int64_t *of_class = sums + (k - 1) * (1 + search->coupled->sums); /* not read for class 0 */
  vector[0] = search->price + (k ? of_class[0] : 0);
  for (int r = 0; r < search->requirements; r++) {
    const struct requirement *requirement = &search->requirement[r];
    vector[1 + r] = !requirement->sum ? 1 : k ? requirement->sign * of_class[requirement->sum] : 0;
  }
}

int64_t leaf_score (const struct search *search, const struct multiplier *multiplier, const int64_t *sums,
                    int32_t *best) {
  const int32_t width = 1 + search->coupled->sums;
  int64_t least = 0;
  if (best)
    *best = 0;
  for (int32_t k = 1; k < search->coupled->classes; k++) {
    int64_t score = 0;
    for (int32_t j = 0; j < width; j++)
      score += multiplier->by_sum[j] * sums[(k - 1) * width + j];
    if (score < least) {
      least = score;
      if (best)
        *best = k;
    }
  }
  return cell_allowed (search, sums) ? least + multiplier->price : IMPOSSIBLE;
}

/* Passes. */

/* The scores of class k for the pairs of a test, from the sums of the channels. */
static void score_line (const struct search *search, const struct multiplier *multiplier, int32_t k, int64_t at,
                        int64_t *line) {
  const struct merged *merged = search->merged;
  const int64_t size = (int64_t) merged->tests * merged->stride;
  const int32_t width = 1 + search->coupled->sums;
  memset (line, 0, (size_t) merged->stride * sizeof *line);
  for (int32_t j = 0; j < width; j++) {
    const int64_t weight = multiplier->by_sum[j];
    const int64_t *sums = search->table.sums + ((k - 1) * width + j) * size + at;
    if (weight)
      for (int32_t other = 0; other < merged->tests; other++)
        line[other] += weight * sums[other];
  }
}

static void score_singles (const struct search *search, const struct multiplier *multiplier, int64_t *singles,
                           int64_t *totals) {
  const struct merged *merged = search->merged;
  const int64_t size = (int64_t) merged->tests * merged->stride;
  const int32_t width = 1 + search->coupled->sums;
  for (int32_t k = 1; k < search->coupled->classes; k++) {
    totals[k - 1] = 0;
    int64_t *line = singles + (k - 1) * merged->stride;
    memset (line, 0, (size_t) merged->stride * sizeof *line);
    for (int32_t j = 0; j < width; j++) {
      const int32_t v = (k - 1) * width + j;
      totals[k - 1] += multiplier->by_sum[j] * search->table.total[v];
      for (int32_t test = 0; test < merged->tests; test++)
        line[test] += multiplier->by_sum[j] * search->table.sums[v * size + (int64_t) test * (merged->stride + 1)];
    }
  }
}

static inline int64_t less (int64_t a, int64_t b) { return a < b ? a : b; }

/* Makes cells impossible that have too few rows. */
static void apply_support (const struct search *search, int32_t test, int64_t *cells[4]) {
  const struct merged *merged = search->merged;
  const int64_t stride = merged->stride, size = (int64_t) merged->tests * stride;
  const int64_t *count = search->table.sums + (merged->channels - 1) * size, *line = count + test * stride;
  const int64_t total = search->table.total[merged->channels - 1], here = line[test], support = search->support;
  for (int32_t other = 0; other < merged->tests; other++) {
    const int64_t both = line[other], alone = count[other * stride + other];
    cells[0][other] = both >= support ? cells[0][other] : IMPOSSIBLE;
    cells[1][other] = here - both >= support ? cells[1][other] : IMPOSSIBLE;
    cells[2][other] = alone - both >= support ? cells[2][other] : IMPOSSIBLE;
    cells[3][other] = total - here - alone + both >= support ? cells[3][other] : IMPOSSIBLE;
  }
}

/* The best stumps on both sides of a test, without the prices of their leaves. */
static void best_stumps (struct search *search, const struct multiplier *multiplier, int32_t test,
                         const int64_t *singles, const int64_t *totals, int64_t best[2]) {
  const struct merged *merged = search->merged;
  const int32_t tests = merged->tests, stride = merged->stride;
  int64_t *line = search->scores;
  int64_t *cells[4] = {line + stride, line + 2 * stride, line + 3 * stride, line + 4 * stride};
  memset (cells[0], 0, 4 * (size_t) stride * sizeof *line);
  for (int32_t k = 1; k < search->coupled->classes; k++) {
    score_line (search, multiplier, k, (int64_t) test * stride, line);
    const int64_t *alone = singles + (k - 1) * stride, here = alone[test], rest = totals[k - 1] - here;
    int64_t *restrict both = cells[0], *restrict first = cells[1], *restrict second = cells[2],
                      *restrict neither = cells[3];
    for (int32_t other = 0; other < tests; other++) {
      const int64_t score = line[other], beside = alone[other] - score;
      both[other] = less (both[other], score);
      first[other] = less (first[other], here - score);
      second[other] = less (second[other], beside);
      neither[other] = less (neither[other], rest - beside);
    }
  }
  if (merged->counted)
    apply_support (search, test, cells);
  best[0] = best[1] = IMPOSSIBLE;
  if (!search->used) {
    for (int32_t other = 0; other < tests; other++) {
      best[1] = less (best[1], cells[0][other] + cells[1][other]);
      best[0] = less (best[0], cells[2][other] + cells[3][other]);
    }
    return;
  }
  for (int32_t other = 0; other < tests; other++)
    if (test_allowed (search, other) && merged->column[other] != merged->column[test]) {
      best[1] = less (best[1], cells[0][other] + cells[1][other]);
      best[0] = less (best[0], cells[2][other] + cells[3][other]);
    }
}

int64_t table_pass (struct search *search, int index) {
  const struct merged *merged = search->merged;
  const struct multiplier *multiplier = &search->multiplier[index];
  int64_t *singles = search->scores + 5 * (int64_t) merged->stride, totals[most_classes];
  search->coupled->statistics.passes++;
  score_singles (search, multiplier, singles, totals);
  int64_t least = 0;
  for (int32_t k = 1; k < search->coupled->classes; k++)
    least = less (least, totals[k - 1]);
  least = cell_allowed (search, search->table.total) ? least + multiplier->price : IMPOSSIBLE;
  const int64_t size = (int64_t) merged->tests * merged->stride;
  for (int32_t test = 0; test < merged->tests; test++) {
    int64_t best[2] = {IMPOSSIBLE, IMPOSSIBLE};
    if (test_allowed (search, test)) {
      best_stumps (search, multiplier, test, singles, totals, best);
      for (int side = 0; side < 2; side++) {
        int64_t leaf = 0, count = search->support;
        for (int32_t k = 1; k < search->coupled->classes; k++) {
          const int64_t here = singles[(k - 1) * merged->stride + test];
          leaf = less (leaf, side ? here : totals[k - 1] - here);
        }
        if (merged->counted) {
          count = search->table.sums[(merged->channels - 1) * size + (int64_t) test * (merged->stride + 1)];
          count = side ? count : search->table.total[merged->channels - 1] - count;
        }
        best[side] = best[side] < IMPOSSIBLE ? best[side] + 2 * multiplier->price : IMPOSSIBLE;
        best[side] = less (best[side], count >= search->support ? leaf + multiplier->price : IMPOSSIBLE);
      }
    }
    search->best[0][(int64_t) index * merged->stride + test] = best[0];
    search->best[1][(int64_t) index * merged->stride + test] = best[1];
    least = less (least, best[0] + best[1]);
  }
  return less (least, IMPOSSIBLE);
}
