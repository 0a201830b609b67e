/* The caller's data: checked, copied, and merged for the search. Equal, complementary and constant tests become one or
   none; rows that answer all remaining tests alike become one row with the sum of their values, because no tree tells
   them apart. */
#include "coupled/search.h"

#include "common/bits.h"
#include "common/pack.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int coupled_fail (treeml_coupled *coupled, int code, const char *format, ...) {
  va_list arguments;
  va_start (arguments, format);
  vsnprintf (coupled->message, sizeof coupled->message, format, arguments);
  va_end (arguments);
  return code;
}

void coupled_release_answer (treeml_coupled *coupled) {
  tree_release (&coupled->arena, &coupled->answer);
  coupled->status = TREEML_UNKNOWN;
  coupled->stop = TREEML_PROVED;
  coupled->value = INT64_MAX;
  coupled->bound = INT64_MIN;
}

void coupled_release_merged (treeml_coupled *coupled) {
  struct merged *merged = &coupled->merged;
  tables_release (coupled);
  void *blocks[] = {merged->kept,    merged->flipped, merged->column, merged->row_of,
                    merged->columns, merged->first,   merged->items,  merged->values};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    arena_release (&coupled->arena, blocks[i]);
  *merged = (struct merged) {0};
}

static void release_input (treeml_coupled *coupled) {
  coupled_release_answer (coupled);
  coupled_release_merged (coupled);
  tree_release (&coupled->arena, &coupled->start);
  fees_release (coupled);
  rules_release (coupled);
  void **blocks[] = {(void **) &coupled->columns, (void **) &coupled->column_of, (void **) &coupled->count,
                     (void **) &coupled->forbidden, (void **) &coupled->values};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
    arena_release (&coupled->arena, *blocks[i]);
    *blocks[i] = NULL;
  }
  coupled->tests = coupled->rows = coupled->words = 0;
  coupled->sums = coupled->classes = 0;
}

treeml_coupled *treeml_coupled_create (void) {
  treeml_coupled *coupled = memory_allocate (1, sizeof *coupled);
  if (!coupled)
    return NULL;
  coupled->arena.limit = SIZE_MAX;
  options_initialize (&coupled->options, program_coupled);
  coupled_release_answer (coupled);
  return coupled;
}

void treeml_coupled_destroy (treeml_coupled *coupled) {
  if (!coupled)
    return;
  release_input (coupled);
  memory_release (coupled);
}

int treeml_coupled_tests (treeml_coupled *coupled, const uint8_t *bits, int64_t tests, int64_t rows,
                          const int32_t *columns) {
  if (!coupled)
    return TREEML_BAD_ARGUMENT;
  if (rows < 1 || tests < 0 || rows > INT32_MAX / 2 || tests > INT32_MAX / 4 || (tests && !bits))
    return coupled_fail (coupled, TREEML_BAD_ARGUMENT, "there must be rows, and bits for every test");
  release_input (coupled);
  const int64_t words = (rows + 63) / 64;
  struct arena *arena = &coupled->arena;
  coupled->columns = arena_allocate (arena, times ((size_t) tests, (size_t) words), sizeof *coupled->columns);
  coupled->column_of = arena_allocate (arena, (size_t) tests, sizeof *coupled->column_of);
  coupled->count = arena_allocate (arena, (size_t) rows, sizeof *coupled->count);
  coupled->forbidden = arena_allocate (arena, (size_t) tests, 1);
  if (!coupled->columns || !coupled->column_of || !coupled->count || !coupled->forbidden) {
    release_input (coupled);
    return coupled_fail (coupled, TREEML_OUT_OF_MEMORY, "not enough memory for the tests");
  }
  for (int64_t test = 0; test < tests; test++) {
    if (!pack_bits (bits + test * rows, rows, coupled->columns + test * words)) {
      release_input (coupled);
      return coupled_fail (coupled, TREEML_BAD_ARGUMENT, "test %lld has a byte other than 0 and 1", (long long) test);
    }
    coupled->column_of[test] = columns ? columns[test] : (int32_t) test;
  }
  for (int64_t row = 0; row < rows; row++)
    coupled->count[row] = 1;
  coupled->tests = tests;
  coupled->rows = rows;
  coupled->words = words;
  return TREEML_OK;
}

static int has_rows (treeml_coupled *coupled) {
  if (coupled && coupled->rows)
    return 1;
  if (coupled)
    coupled_fail (coupled, TREEML_NO_DATA, "there are no tests and rows yet");
  return 0;
}

int treeml_coupled_counts (treeml_coupled *coupled, const int64_t *count) {
  if (!has_rows (coupled))
    return coupled ? TREEML_NO_DATA : TREEML_BAD_ARGUMENT;
  if (!count)
    return coupled_fail (coupled, TREEML_BAD_ARGUMENT, "the counts are missing");
  int64_t total = 0;
  for (int64_t row = 0; row < coupled->rows; row++)
    if (count[row] < 0 || count[row] > LARGEST_VALUE || (total += count[row]) > LARGEST_VALUE)
      return coupled_fail (coupled, TREEML_BAD_ARGUMENT, "counts must not be negative nor add up to more than 2^58");
  memcpy (coupled->count, count, (size_t) coupled->rows * sizeof *count);
  coupled->merged.values_valid = 0;
  fees_release (coupled);
  return TREEML_OK;
}

int treeml_coupled_forbid (treeml_coupled *coupled, const uint8_t *forbidden) {
  if (!has_rows (coupled))
    return coupled ? TREEML_NO_DATA : TREEML_BAD_ARGUMENT;
  for (int64_t test = 0; test < coupled->tests; test++)
    coupled->forbidden[test] = forbidden && forbidden[test];
  coupled_release_merged (coupled);
  return TREEML_OK;
}

static int64_t magnitude (int64_t number) { return number < 0 ? -number : number; }

/* Checks one sum, and adds up its values of class 0 and its largest differences. */
static int add_up (treeml_coupled *coupled, const int64_t *values, int32_t classes, int32_t sum) {
  int64_t total = 0, offset = 0, largest = 0;
  for (int64_t row = 0; row < coupled->rows; row++) {
    int64_t here = 0, off = 0;
    for (int32_t k = 0; k < classes; k++) {
      const int64_t value = values[row * classes + k];
      if (value > LARGEST_VALUE || value < -LARGEST_VALUE)
        return 0;
      here = magnitude (value) > here ? magnitude (value) : here;
      off = magnitude (value - values[row * classes]) > off ? magnitude (value - values[row * classes]) : off;
    }
    if ((total += here) > LARGEST_VALUE)
      return 0;
    offset += values[row * classes];
    largest += off;
  }
  coupled->offset[sum] = offset;
  coupled->largest[sum] = largest;
  return 1;
}

int treeml_coupled_values (treeml_coupled *coupled, const int64_t *values, int32_t sums, int32_t classes) {
  if (!has_rows (coupled))
    return coupled ? TREEML_NO_DATA : TREEML_BAD_ARGUMENT;
  if (!values || sums < 0 || sums > most_sums || classes < 1 || classes > most_classes)
    return coupled_fail (coupled, TREEML_BAD_ARGUMENT, "there may be %d bounded sums and %d classes at most",
                         (int) most_sums, (int) most_classes);
  coupled_release_answer (coupled);
  coupled->sums = coupled->classes = 0;
  coupled->merged.values_valid = 0;
  rules_release (coupled);
  tree_release (&coupled->arena, &coupled->start);
  arena_release (&coupled->arena, coupled->values);
  const int64_t each = coupled->rows * classes;
  const size_t size = times ((size_t) (1 + sums), (size_t) each);
  coupled->values = arena_reserve (&coupled->arena, size, sizeof *values);
  if (!coupled->values)
    return coupled_fail (coupled, TREEML_OUT_OF_MEMORY, "not enough memory for the values");
  for (int32_t sum = 0; sum <= sums; sum++)
    if (!add_up (coupled, values + sum * each, classes, sum))
      return coupled_fail (coupled, TREEML_OVERFLOW, "the values of sum %d add up to more than 2^58", (int) sum);
  memcpy (coupled->values, values, size * sizeof *values);
  coupled->sums = sums;
  coupled->classes = classes;
  for (int32_t sum = 0; sum < sums; sum++) {
    coupled->low[sum] = INT64_MIN;
    coupled->high[sum] = INT64_MAX;
  }
  return TREEML_OK;
}

int treeml_coupled_limits (treeml_coupled *coupled, const int64_t *low, const int64_t *high) {
  if (!has_rows (coupled) || !coupled->classes)
    return coupled ? coupled_fail (coupled, TREEML_NO_DATA, "there are no values yet") : TREEML_BAD_ARGUMENT;
  if (coupled->sums && (!low || !high))
    return coupled_fail (coupled, TREEML_BAD_ARGUMENT, "the limits are missing");
  for (int32_t sum = 0; sum < coupled->sums; sum++) {
    coupled->low[sum] = low[sum];
    coupled->high[sum] = high[sum];
  }
  return TREEML_OK;
}

int treeml_coupled_start (treeml_coupled *coupled, const int32_t *test, const int32_t *yes, const int32_t *no,
                          const int32_t *label, int64_t nodes) {
  if (!has_rows (coupled) || !coupled->classes)
    return coupled ? coupled_fail (coupled, TREEML_NO_DATA, "there are no values yet") : TREEML_BAD_ARGUMENT;
  tree_release (&coupled->arena, &coupled->start);
  if (nodes < 0 || nodes > INT32_MAX / 2 || (nodes && (!test || !yes || !no || !label)))
    return coupled_fail (coupled, TREEML_BAD_ARGUMENT, "the start tree is incomplete");
  for (int64_t node = 0; node < nodes; node++) {
    const int leaf = test[node] == -1;
    if (test[node] < -1 || test[node] >= coupled->tests ||
        (leaf ? label[node] < 0 || label[node] >= coupled->classes
              : yes[node] <= node || yes[node] >= nodes || no[node] <= node || no[node] >= nodes))
      return coupled_fail (coupled, TREEML_BAD_ARGUMENT, "node %lld of the start tree is wrong", (long long) node);
  }
  for (int64_t node = 0; node < nodes; node++) {
    if (tree_add (&coupled->arena, &coupled->start, test[node], label[node]) < 0) {
      tree_release (&coupled->arena, &coupled->start);
      return coupled_fail (coupled, TREEML_OUT_OF_MEMORY, "not enough memory for the start tree");
    }
    coupled->start.yes[node] = yes[node];
    coupled->start.no[node] = no[node];
  }
  return TREEML_OK;
}

/* Merging. */

/* A test in the form in which fewer rows answer yes, so that tables are sums over few rows. */
static void sparse_form (const treeml_coupled *coupled, int64_t test, uint64_t *form, int *flipped) {
  const uint64_t *column = coupled->columns + test * coupled->words;
  int64_t yes = 0;
  for (int64_t w = 0; w < coupled->words; w++)
    yes += count_bits (column[w]);
  *flipped = 2 * yes > coupled->rows || (2 * yes == coupled->rows && !(column[0] & 1));
  for (int64_t w = 0; w < coupled->words; w++)
    form[w] = *flipped ? ~column[w] : column[w];
  if (*flipped && coupled->rows % 64)
    form[coupled->words - 1] &= ~(uint64_t) 0 >> (64 - coupled->rows % 64);
}

static uint64_t hash_words (const uint64_t *words, int64_t count, int64_t stride) {
  uint64_t hash = 0x9e3779b97f4a7c15u;
  for (int64_t w = 0; w < count; w++) {
    hash ^= words[w * stride];
    hash *= 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

/* A set of numbered items that finds equal ones; `slots` has a power of two of places with item + 1. */
static size_t slots_for (int64_t items) {
  size_t slots = 16;
  while (slots < 2 * (size_t) items)
    slots *= 2;
  return slots;
}

enum { rows_between_clocks = 1 << 14 };

/* These return 0 if the search is to stop. */
static int merge_tests_of (treeml_coupled *coupled, uint64_t *forms, int32_t *slots, size_t room) {
  struct merged *merged = &coupled->merged;
  const int64_t words = coupled->words;
  for (int64_t test = 0; test < coupled->tests; test++) {
    if (coupled_is_over (coupled))
      return 0;
    if (coupled->forbidden[test])
      continue;
    int flipped;
    uint64_t *form = forms + merged->tests * words;
    sparse_form (coupled, test, form, &flipped);
    int any = 0;
    for (int64_t w = 0; w < words && !any; w++)
      any = form[w] != 0;
    if (!any)
      continue;
    size_t at = (size_t) hash_words (form, words, 1) & (room - 1);
    for (; slots[at]; at = (at + 1) & (room - 1)) {
      const int32_t other = slots[at] - 1;
      if (!memcmp (forms + other * words, form, (size_t) words * sizeof *form) &&
          (!merged->once || merged->column[other] == coupled->column_of[test]))
        break;
    }
    if (slots[at])
      continue;
    slots[at] = merged->tests + 1;
    merged->kept[merged->tests] = (int32_t) test;
    merged->flipped[merged->tests] = (uint8_t) flipped;
    merged->column[merged->tests++] = coupled->column_of[test];
  }
  return 1;
}

/* Numbers the columns of the kept tests from 0: a column has the number of its first test. */
static void number_columns (struct merged *merged) {
  for (int32_t test = merged->tests - 1; test >= 0; test--) {
    int32_t first = 0;
    while (merged->column[first] != merged->column[test])
      first++;
    merged->column[test] = first; /* the tests before it still have the caller's numbers */
  }
}

/* The answers of every row, `width` words each. */
static int answers_of_rows (treeml_coupled *coupled, const uint64_t *forms, uint64_t *answers, int64_t width) {
  for (int32_t test = 0; test < coupled->merged.tests; test++) {
    if (coupled_is_over (coupled))
      return 0;
    for (int64_t w = 0; w < coupled->words; w++)
      for (uint64_t rest = forms[test * coupled->words + w]; rest; rest &= rest - 1)
        answers[(64 * w + lowest_bit (rest)) * width + test / 64] |= (uint64_t) 1 << (test % 64);
  }
  return 1;
}

/* Numbers the distinct rows; `representative` gets one of the caller's rows for each. */
static int merge_rows (treeml_coupled *coupled, const uint64_t *answers, int64_t width, int32_t *slots, size_t room,
                       int32_t *representative) {
  struct merged *merged = &coupled->merged;
  for (int64_t row = 0; row < coupled->rows; row++) {
    if (row % rows_between_clocks == 0 && coupled_is_over (coupled))
      return 0;
    const uint64_t *here = answers + row * width;
    size_t at = (size_t) hash_words (here, width, 1) & (room - 1);
    while (slots[at] && memcmp (answers + representative[slots[at] - 1] * width, here, (size_t) width * sizeof *here))
      at = (at + 1) & (room - 1);
    if (!slots[at]) {
      representative[merged->rows++] = (int32_t) row;
      slots[at] = (int32_t) merged->rows;
    }
    merged->row_of[row] = slots[at] - 1;
  }
  return 1;
}

static int list_answers (treeml_coupled *coupled, const uint64_t *answers, int64_t width,
                         const int32_t *representative) {
  struct merged *merged = &coupled->merged;
  struct arena *arena = &coupled->arena;
  merged->words = (merged->rows + 63) / 64;
  int64_t items = 0;
  for (int64_t row = 0; row < merged->rows; row++)
    for (int64_t w = 0; w < width; w++)
      items += count_bits (answers[representative[row] * width + w]);
  merged->columns =
      arena_allocate (arena, times ((size_t) merged->tests, (size_t) merged->words), sizeof *merged->columns);
  merged->first = arena_reserve (arena, (size_t) merged->rows + 1, sizeof *merged->first);
  merged->items = arena_reserve (arena, (size_t) items, sizeof *merged->items);
  if (!merged->columns || !merged->first || !merged->items)
    return 0;
  items = 0;
  for (int64_t row = 0; row < merged->rows; row++) {
    if (row % rows_between_clocks == 0 && coupled_is_over (coupled))
      return 0;
    merged->first[row] = items;
    for (int64_t w = 0; w < width; w++)
      for (uint64_t rest = answers[representative[row] * width + w]; rest; rest &= rest - 1) {
        const int32_t test = (int32_t) (64 * w + lowest_bit (rest));
        merged->items[items++] = test;
        merged->columns[test * merged->words + row / 64] |= (uint64_t) 1 << (row % 64);
      }
  }
  merged->first[merged->rows] = items;
  return 1;
}

/* Returns 0 if out of memory, or if the search is to stop. */
static int merge_tests_and_rows (treeml_coupled *coupled) {
  struct merged *merged = &coupled->merged;
  struct arena *arena = &coupled->arena;
  const size_t tests = (size_t) coupled->tests, rows = (size_t) coupled->rows;
  const size_t room = slots_for (coupled->tests > coupled->rows ? coupled->tests : coupled->rows);
  merged->kept = arena_reserve (arena, tests, sizeof *merged->kept);
  merged->flipped = arena_reserve (arena, tests, 1);
  merged->column = arena_reserve (arena, tests, sizeof *merged->column);
  merged->row_of = arena_reserve (arena, rows, sizeof *merged->row_of);
  uint64_t *forms = arena_reserve (arena, times (tests + 1, (size_t) coupled->words), sizeof *forms);
  int32_t *slots = arena_allocate (arena, room, sizeof *slots);
  int32_t *representative = arena_reserve (arena, rows, sizeof *representative);
  uint64_t *answers = NULL;
  int done = merged->kept && merged->flipped && merged->column && merged->row_of && forms && slots && representative;
  if (done && (done = merge_tests_of (coupled, forms, slots, room))) {
    if (merged->once)
      number_columns (merged);
    const int64_t width = (merged->tests + 63) / 64 + !merged->tests;
    answers = arena_allocate (arena, times (rows, (size_t) width), sizeof *answers);
    memset (slots, 0, room * sizeof *slots);
    done = answers && answers_of_rows (coupled, forms, answers, width) &&
           merge_rows (coupled, answers, width, slots, room, representative) &&
           list_answers (coupled, answers, width, representative);
  }
  arena_release (arena, forms);
  arena_release (arena, slots);
  arena_release (arena, representative);
  arena_release (arena, answers);
  merged->stride = (merged->tests + 7) / 8 * 8;
  merged->valid = done;
  return done;
}

/* The greatest common divisor of two numbers that are not negative. */
static int64_t common (int64_t a, int64_t b) {
  while (b) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* What all differences of a sum are multiples of; 1 if they are all 0. */
static int64_t unit_of (const treeml_coupled *coupled, int32_t sum, int64_t unit) {
  const int32_t classes = coupled->classes;
  const int64_t *value = coupled->values + sum * coupled->rows * classes;
  for (int64_t row = 0; row < coupled->rows && unit != 1; row++, value += classes)
    for (int32_t k = 1; k < classes; k++)
      if (value[k] != value[0] && magnitude (value[k] - value[0]) != unit)
        unit = common (unit, magnitude (value[k] - value[0]));
  return unit ? unit : 1;
}

/* Adds up a rule, whose first class has this channel. */
static void add_rule (const treeml_coupled *coupled, const int64_t *rule, int32_t channel) {
  const struct merged *merged = &coupled->merged;
  for (int64_t row = 0; rule && row < coupled->rows; row++)
    for (int32_t k = 0; k < coupled->classes; k++)
      merged->values[merged->row_of[row] * (int64_t) merged->channels + channel + k] +=
          rule[row * coupled->classes + k];
}

static void add_values (const treeml_coupled *coupled, struct merged *merged) {
  const int32_t classes = coupled->classes, width = 1 + coupled->sums, channels = merged->channels;
  for (int32_t sum = 0; sum < width; sum++) {
    const int64_t *value = coupled->values + sum * coupled->rows * classes, unit = merged->unit[sum];
    int64_t *to = merged->values + sum;
    for (int64_t row = 0; row < coupled->rows; row++, value += classes)
      for (int32_t k = 1; k < classes; k++)
        to[merged->row_of[row] * (int64_t) channels + (k - 1) * width] += value[k] - value[0];
    for (int64_t row = 0; unit != 1 && row < merged->rows; row++)
      for (int32_t k = 1; k < classes; k++)
        to[row * channels + (k - 1) * width] /= unit;
  }
  for (int64_t row = 0; merged->counted && row < coupled->rows; row++)
    merged->values[(int64_t) merged->row_of[row] * channels + merged->count] += coupled->count[row];
  add_rule (coupled, coupled->rules.purity, merged->purity);
  add_rule (coupled, coupled->rules.cost, merged->cost);
}

/* What the cost, the price of a leaf and the fees in the value are multiples of. */
static int64_t unit_of_value (const treeml_coupled *coupled, int64_t price) {
  const struct path_fees *fees = &coupled->fees[0];
  int64_t unit = price;
  for (int64_t i = 0; fees->below && i < (1 + (int64_t) fees->columns) * fees->columns; i++)
    unit = common (unit, fees->below[i]);
  return unit_of (coupled, 0, unit);
}

/* Whether the prices of leaves and the fees are small enough for narrow tables. */
static int has_small_prices (const treeml_coupled *coupled, int64_t unit, const struct merge_options *options) {
  return options->price / unit * options->leaves <= LARGEST_NARROW_PRICE &&
         coupled->fees[0].greatest / unit <= LARGEST_NARROW_PRICE && coupled->fees[1].greatest <= LARGEST_NARROW_PRICE;
}

/* Numbers the channels behind those of the sums. */
static void number_channels (const treeml_coupled *coupled, struct merged *merged) {
  int32_t next = (coupled->classes - 1) * (1 + coupled->sums);
  merged->count = merged->purity = merged->cost = 0;
  if (merged->counted)
    merged->count = next++;
  if (coupled->rules.purity) {
    merged->purity = next;
    next += coupled->classes;
  }
  if (coupled->rules.cost) {
    merged->cost = next;
    next += coupled->classes;
  }
  merged->channels = next;
}

/* Whether sums of the counts and of the rules fit in 31 bits. */
static int has_narrow_rules (const treeml_coupled *coupled, int counted) {
  const int64_t *rules[] = {coupled->rules.purity, coupled->rules.cost};
  int64_t count = 0;
  for (int64_t row = 0; counted && row < coupled->rows; row++)
    count += coupled->count[row];
  int narrow = count < (int64_t) 1 << 30;
  for (int i = 0; i < 2; i++) {
    int64_t total = 0;
    for (int64_t at = 0; rules[i] && at < coupled->rows * coupled->classes; at++)
      total += magnitude (rules[i][at]);
    narrow &= total < (int64_t) 1 << 30;
  }
  return narrow;
}

static int merge_values (treeml_coupled *coupled, const struct merge_options *options) {
  struct merged *merged = &coupled->merged;
  const int64_t unit = unit_of_value (coupled, options->price);
  const int small = has_small_prices (coupled, unit, options), counted = options->counted;
  if (merged->values_valid && merged->counted == counted && merged->unit[0] == unit && (!merged->narrow || small))
    return 1;
  tables_release (coupled);
  arena_release (&coupled->arena, merged->values);
  merged->values_valid = 0;
  merged->counted = counted;
  number_channels (coupled, merged);
  merged->narrow = small && has_narrow_rules (coupled, counted);
  for (int32_t sum = 0; sum <= coupled->sums; sum++) {
    merged->unit[sum] = sum ? unit_of (coupled, sum, 0) : unit;
    merged->narrow &= coupled->largest[sum] / merged->unit[sum] < (int64_t) 1 << 30;
  }
  const size_t size = times ((size_t) merged->rows, (size_t) merged->channels);
  merged->values = arena_allocate (&coupled->arena, size, sizeof *merged->values);
  if (!merged->values)
    return 0;
  add_values (coupled, merged);
  merged->values_valid = 1;
  return 1;
}

int coupled_merge (treeml_coupled *coupled, const struct merge_options *options) {
  struct merged *merged = &coupled->merged;
  if (merged->valid && merged->once != options->once)
    coupled_release_merged (coupled);
  if (!merged->valid) {
    coupled_release_merged (coupled);
    merged->once = options->once;
    if (!merge_tests_and_rows (coupled)) {
      coupled_release_merged (coupled);
      return 0;
    }
  }
  return merge_values (coupled, options);
}
