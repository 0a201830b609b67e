/* Numbers or codes -> the order of the rows by them, and ranks.

   A number becomes a whole one in the same order. What it is above the least of the column is packed with the number of
   its row into one word, and the words are sorted by their first two digits, the digits being as wide as the rows are
   many; what two digits do not decide is put right by insertion. Where that moves too much, or where the low bits that
   found no place in the word matter, all digits are sorted instead: no column is slow. */
#include "numeric_sort.h"

#include <string.h>

enum { widest = 11 };

/* 0.0 and -0.0 are one. */
static inline uint64_t key_of (double value) {
  union {
    double real;
    uint64_t whole;
  } bits = {value + 0.0};
  return bits.whole ^ ((uint64_t) ((int64_t) bits.whole >> 63) | UINT64_C (1) << 63);
}

static inline uint64_t key_at (const struct numeric_column *column, int64_t row) {
  return column->codes ? (uint64_t) column->codes[row] : key_of (column->values[row]);
}

static int bits_of (uint64_t value) { return value ? 64 - __builtin_clzll (value) : 0; }

int numeric_sorter_create (struct numeric_sorter *sorter, struct arena *arena, int64_t rows) {
  *sorter = (struct numeric_sorter){.arena = arena, .rows = rows};
  sorter->words = arena_allocate (arena, 2 * (size_t) rows, sizeof *sorter->words);
  sorter->counts = arena_allocate (arena, 2 << widest, sizeof *sorter->counts);
  return sorter->words && sorter->counts;
}

void numeric_sorter_destroy (struct numeric_sorter *sorter) {
  arena_release (sorter->arena, sorter->words);
  arena_release (sorter->arena, sorter->counts);
}

/* Counts become the places of the first of each digit. */
static void place (uint32_t *count, int digit) {
  uint32_t sum = 0;
  for (int64_t i = 0; i < INT64_C (1) << digit; i++) {
    const uint32_t own = count[i];
    count[i] = sum;
    sum += own;
  }
}

static void scatter (const uint64_t *from, uint64_t *to, int64_t rows, int shift, uint32_t *count, int digit) {
  const uint64_t mask = (UINT64_C (1) << digit) - 1;
  place (count, digit);
  for (int64_t i = 0; i < rows; i++)
    to[count[from[i] >> shift & mask]++] = from[i];
}

/* Returns whether few enough words had to move. */
static int insert (uint64_t *words, int64_t rows) {
  int64_t budget = 8 * rows;
  for (int64_t i = 1; i < rows; i++) {
    const uint64_t word = words[i];
    if (words[i - 1] <= word)
      continue;
    int64_t at = i;
    for (; at > 0 && words[at - 1] > word; at--)
      words[at] = words[at - 1];
    words[at] = word;
    budget -= i - at;
    if (budget < 0)
      return 0;
  }
  return 1;
}

/* By all digits from the last, with the rows beside; a digit that is the same everywhere is passed over. */
static int sort_all (struct numeric_sorter *sorter, const struct numeric_column *column, int32_t *order) {
  const int64_t rows = sorter->rows;
  uint64_t *from = sorter->words, *to = from + rows;
  const uint64_t mask = (UINT64_C (1) << widest) - 1;
  int32_t *other = arena_allocate (sorter->arena, (size_t) rows, sizeof *other), *here = order, *there = other;
  if (!other)
    return 0;
  for (int64_t i = 0; i < rows; i++) {
    from[i] = key_at (column, i);
    here[i] = (int32_t) i;
  }
  for (int shift = 0; shift < 64; shift += widest) {
    uint32_t *count = sorter->counts;
    memset (count, 0, sizeof *count << widest);
    for (int64_t i = 0; i < rows; i++)
      count[from[i] >> shift & mask]++;
    if (count[from[0] >> shift & mask] == rows)
      continue;
    place (count, widest);
    for (int64_t i = 0; i < rows; i++) {
      const uint32_t at = count[from[i] >> shift & mask]++;
      to[at] = from[i];
      there[at] = here[i];
    }
    uint64_t *keys = from;
    from = to;
    to = keys;
    int32_t *numbers = here;
    here = there;
    there = numbers;
  }
  if (here != order)
    memcpy (order, here, (size_t) rows * sizeof *order);
  arena_release (sorter->arena, other);
  return 1;
}

/* By two digits and insertion. Returns whether the order is right. */
static int sort_words (struct numeric_sorter *sorter, const struct numeric_column *column, uint64_t low, uint64_t high,
                       int32_t *order, int32_t *rank, int32_t *levels) {
  const int64_t rows = sorter->rows;
  uint64_t *from = sorter->words, *to = from + rows;
  const int row_bits = bits_of ((uint64_t) rows - 1), range = bits_of (high - low);
  const int kept = range < 64 - row_bits ? range : 64 - row_bits, lost = range - kept;
  int digit = bits_of ((uint64_t) rows) - 1;
  digit = digit < 5 ? 5 : digit > widest ? widest : digit;
  /* The two digits end at the top of what is kept; of a narrow range they are all of it. */
  const int second = row_bits + (kept > digit ? kept - digit : 0);
  const int first = second - digit > row_bits ? second - digit : row_bits;
  const uint64_t mask = (UINT64_C (1) << digit) - 1;
  uint32_t *counts = sorter->counts, *more = counts + (1 << widest);
  memset (counts, 0, sizeof *counts << digit);
  memset (more, 0, sizeof *more << digit);
  for (int64_t i = 0; i < rows; i++) {
    const uint64_t word = from[i] = (from[i] - low) >> lost << row_bits | (uint64_t) i;
    counts[word >> first & mask]++;
    more[word >> second & mask]++;
  }
  if (first < second) {
    scatter (from, to, rows, first, counts, digit);
    scatter (to, from, rows, second, more, digit);
  } else {
    scatter (from, to, rows, second, more, digit);
    from = to;
  }
  if (!insert (from, rows))
    return 0;
  const uint64_t row_mask = (UINT64_C (1) << row_bits) - 1;
  int32_t level = 0;
  order[0] = (int32_t) (from[0] & row_mask);
  rank[order[0]] = 0;
  for (int64_t i = 1; i < rows; i++) {
    const int32_t row = order[i] = (int32_t) (from[i] & row_mask);
    int differs = from[i] >> row_bits != from[i - 1] >> row_bits;
    if (lost && !differs) {
      const double here = column->values[row], before = column->values[order[i - 1]];
      if (here < before)
        return 0;
      differs = here != before;
    }
    level += differs;
    rank[row] = level;
  }
  *levels = level + 1;
  return 1;
}

int32_t numeric_sort (struct numeric_sorter *sorter, const struct numeric_column *column, int32_t *order,
                      int32_t *rank) {
  const int64_t rows = sorter->rows;
  uint64_t *words = sorter->words, low = UINT64_MAX, high = 0;
  for (int64_t i = 0; i < rows; i++) {
    const uint64_t key = words[i] = key_at (column, i);
    low = key < low ? key : low;
    high = key > high ? key : high;
  }
  /* Infinities and what is no number lie at the two ends. */
  if (column->values && (low <= key_of (-__builtin_inf ()) || high >= key_of (__builtin_inf ())))
    return -1;
  int32_t levels = 1;
  if (low == high || sort_words (sorter, column, low, high, order, rank, &levels))
    return levels;
  if (!sort_all (sorter, column, order))
    return 0;
  uint64_t before = key_at (column, order[0]);
  rank[order[0]] = 0;
  for (int64_t i = 1; i < rows; i++) {
    const uint64_t key = key_at (column, order[i]);
    levels += key != before;
    rank[order[i]] = levels - 1;
    before = key;
  }
  return levels;
}
