/* Numbers or codes -> the order of the rows by them, and ranks.

   A number is mapped to an integer in the same order. Its distance to the smallest one of the column is packed
   together with the row into one word, and the words are sorted by their first two or three digits, whose width
   depends on the number of rows; an insertion sort then settles what these digits leave open. If that moves too many
   words, or if low bits that did not fit in the word matter, all digits are sorted instead, so that no column is
   slow. */
#include "numeric/sort.h"

#include "common/bits.h"

#include <math.h>
#include <string.h>

enum { widest = 11, many = 1 << 14, most_digits = 3 };

/* 0.0 and -0.0 are equal. */
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

int numeric_sorter_create (struct numeric_sorter *sorter, struct arena *arena, int64_t rows) {
  *sorter = (struct numeric_sorter) {.arena = arena, .rows = rows};
  sorter->words = arena_reserve (arena, 2 * (size_t) rows, sizeof *sorter->words);
  sorter->counts = arena_reserve (arena, most_digits << widest, sizeof *sorter->counts);
  return sorter->words && sorter->counts;
}

void numeric_sorter_destroy (struct numeric_sorter *sorter) {
  arena_release (sorter->arena, sorter->words);
  arena_release (sorter->arena, sorter->counts);
}

/* Turns counts into the first place of each digit. */
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

/* An insertion sort. Returns whether few enough words had to move. */
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

/* Sorts numbers whose words differ in the row only. Returns whether few enough of them had to move. */
static int settle (const double *values, const uint64_t *words, int row_bits, int64_t rows, int32_t *order) {
  int64_t budget = 8 * rows;
  for (int64_t i = 1; i < rows; i++) {
    const uint64_t word = words[i] >> row_bits;
    if (word != words[i - 1] >> row_bits)
      continue;
    const int32_t row = order[i];
    int64_t at = i;
    for (; at > 0 && words[at - 1] >> row_bits == word && values[order[at - 1]] > values[row]; at--)
      order[at] = order[at - 1];
    order[at] = row;
    budget -= i - at;
    if (budget < 0)
      return 0;
  }
  return 1;
}

/* Sorts by all digits from the last one, with the rows alongside; a digit that is equal everywhere is skipped. */
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

/* Sorts by the first digits and then by insertion. Returns whether the order is right. */
static int sort_words (struct numeric_sorter *sorter, const struct numeric_column *column, uint64_t low, uint64_t high,
                       int32_t *order, int32_t *rank, int32_t *levels) {
  const int64_t rows = sorter->rows;
  uint64_t *from = sorter->words, *to = from + rows;
  const int row_bits = bit_length ((uint64_t) rows - 1), range = bit_length (high - low);
  const int kept = range < 64 - row_bits ? range : 64 - row_bits, lost = range - kept;
  int digit = bit_length ((uint64_t) rows) - 1;
  digit = digit < 5 ? 5 : digit > widest ? widest : digit;
  /* The digits end at the highest bit that is kept; in a narrow range they cover all bits. */
  const int most = rows > many ? most_digits : 2, needed = (kept + digit - 1) / digit;
  const int digits = needed < most ? needed : most, top = row_bits + kept;
  const int first = top - digits * digit > row_bits ? top - digits * digit : row_bits;
  const uint64_t mask = (UINT64_C (1) << digit) - 1;
  uint32_t *counts = sorter->counts;
  for (int d = 0; d < digits; d++)
    memset (counts + (d << widest), 0, sizeof *counts << digit);
  for (int64_t i = 0; i < rows; i++) {
    const uint64_t word = from[i] = (from[i] - low) >> lost << row_bits | (uint64_t) i;
    for (int d = 0; d < digits; d++)
      counts[(d << widest) + (int) (word >> (first + d * digit) & mask)]++;
  }
  for (int d = 0; d < digits; d++) {
    scatter (from, to, rows, first + d * digit, counts + (d << widest), digit);
    uint64_t *words = from;
    from = to;
    to = words;
  }
  if (!insert (from, rows))
    return 0;
  const uint64_t row_mask = (UINT64_C (1) << row_bits) - 1;
  for (int64_t i = 0; i < rows; i++)
    order[i] = (int32_t) (from[i] & row_mask);
  if (lost && !settle (column->values, from, row_bits, rows, order))
    return 0;
  int32_t level = 0;
  rank[order[0]] = 0;
  for (int64_t i = 1; i < rows; i++) {
    level += from[i] >> row_bits != from[i - 1] >> row_bits ||
             (lost && column->values[order[i]] != column->values[order[i - 1]]);
    rank[order[i]] = level;
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
  /* Infinities and NaN are at the two ends. */
  if (column->values && (low <= key_of (-INFINITY) || high >= key_of (INFINITY)))
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
