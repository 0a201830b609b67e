/* A data file and a certificate -> verified, rejected or unsupported, and a sentence that says why.

     cc -O2 checker.c -o checker && gzip -dc proof.cert.gz | ./checker data.csv -

   The fast twin of checker.py, which is the readable reference: the same rules in the same order, so that both give the
   same verdict. It needs nothing but the C library and 128-bit integers. docs/certificates.md says what the format
   means and why the rules are sound. Exit codes: 0 verified, 1 rejected, 2 unsupported. */

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;
typedef uint64_t word;

enum { REJECTED = 1, UNSUPPORTED = 2, MOST_LEAVES = 62, MOST_CLASSES = 64, MOST_GOALS = 8, MOST_DEPTH = 60 };
static const int64_t LIMIT = (int64_t) 1 << 53;

static void fail (int code, const char *format, ...) {
  va_list arguments;
  va_start (arguments, format);
  fputs (code == REJECTED ? "rejected: " : "unsupported: ", stdout);
  vprintf (format, arguments);
  va_end (arguments);
  putchar ('\n');
  exit (code);
}

#define REQUIRE(condition, ...) \
  do \
    if (!(condition)) \
      fail (__VA_ARGS__); \
  while (0)

static void *make (size_t count, size_t size) {
  void *memory = calloc (count ? count : 1, size ? size : 1);
  REQUIRE (memory, UNSUPPORTED, "not enough memory");
  return memory;
}

static void *grow (void *memory, size_t count, size_t *room, size_t size) {
  if (count < *room)
    return memory;
  *room = *room ? 2 * *room : 16;
  REQUIRE (*room < SIZE_MAX / 2 / size, UNSUPPORTED, "not enough memory");
  memory = realloc (memory, *room * size);
  REQUIRE (memory, UNSUPPORTED, "not enough memory");
  return memory;
}

/* Texts. Every different text of the data and the certificate has a number. */

typedef struct {
  char *at;
  size_t size;
} text;

static text *texts;
static size_t text_count, text_room, slots_room;
static uint32_t *slots;

static uint64_t hash_of (const void *data, size_t size) {
  uint64_t hash = 1469598103934665603u;
  for (const unsigned char *byte = data; size--; byte++)
    hash = (hash ^ *byte) * 1099511628211u;
  return hash ^ hash >> 29;
}

static uint64_t hash_words (const word *data, size_t size) {
  uint64_t hash = 0;
  for (; size--; data++) {
    hash = (hash ^ *data) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 29;
  }
  return hash;
}

static uint32_t number_of (text asked) {
  if (2 * text_count >= slots_room) {
    free (slots);
    slots_room = slots_room ? 2 * slots_room : 1024;
    slots = make (slots_room, sizeof *slots);
    for (size_t i = 0; i < text_count; i++) {
      size_t place = hash_of (texts[i].at, texts[i].size) & (slots_room - 1);
      while (slots[place])
        place = (place + 1) & (slots_room - 1);
      slots[place] = (uint32_t) i + 1;
    }
  }
  size_t place = hash_of (asked.at, asked.size) & (slots_room - 1);
  for (; slots[place]; place = (place + 1) & (slots_room - 1)) {
    text found = texts[slots[place] - 1];
    if (found.size == asked.size && !memcmp (found.at, asked.at, asked.size))
      return slots[place] - 1;
  }
  REQUIRE (text_count < UINT32_MAX / 4, UNSUPPORTED, "too many different values");
  texts = grow (texts, text_count, &text_room, sizeof *texts);
  texts[text_count] = asked;
  slots[place] = (uint32_t) ++text_count;
  return (uint32_t) text_count - 1;
}

static text read_all (const char *path) {
  FILE *file = strcmp (path, "-") ? fopen (path, "rb") : stdin;
  REQUIRE (file, UNSUPPORTED, "%s cannot be opened", path);
  text all = {NULL, 0};
  size_t room = 1 << 16, got;
  all.at = make (room, 1);
  while ((got = fread (all.at + all.size, 1, room - all.size - 1, file)) > 0) {
    all.size += got;
    if (all.size + 1 == room) {
      REQUIRE (room < (size_t) 1 << 40, UNSUPPORTED, "%s is too large", path);
      all.at = realloc (all.at, room *= 2);
      REQUIRE (all.at, UNSUPPORTED, "not enough memory");
    }
  }
  REQUIRE (!ferror (file), UNSUPPORTED, "%s cannot be read", path);
  all.at[all.size] = 0;
  return all;
}

/* Numbers. */

static int digits (const char **at, int most) {
  int count = 0;
  while (count < most && **at >= '0' && **at <= '9')
    ++*at, count++;
  return count;
}

/* Is a text that ends in NUL a decimal, with an exponent or not, and nothing else? */
static int is_number (const char *at, size_t size) {
  const char *end = at + size;
  at += *at == '+' || *at == '-';
  int before = digits (&at, 40), after = 0;
  if (*at == '.')
    at++, after = digits (&at, 40);
  if (!before && !after)
    return 0;
  if (*at == 'e' || *at == 'E') {
    at++;
    at += *at == '+' || *at == '-';
    if (!digits (&at, 3))
      return 0;
  }
  return at == end;
}

static double number (text cell) {
  char copy[160];
  int fits = cell.size < sizeof copy;
  if (fits) {
    memcpy (copy, cell.at, cell.size);
    copy[cell.size] = 0;
  }
  REQUIRE (fits && is_number (copy, cell.size) && isfinite (strtod (copy, NULL)), UNSUPPORTED,
           "a value in a column of numbers, or a cut, is not a number");
  return strtod (copy, NULL);
}

/* A decimal times the scale, which must be whole. */
static int64_t scaled (text cell, int64_t scale) {
  wide value = 0, divisor = 1;
  size_t at = 0;
  int before = 0, after = 0, negative = cell.size && cell.at[0] == '-';
  at += cell.size && (cell.at[0] == '-' || cell.at[0] == '+');
  for (; at < cell.size && cell.at[at] >= '0' && cell.at[at] <= '9' && before + after <= 18; at++, before++)
    value = 10 * value + (cell.at[at] - '0');
  if (before && at < cell.size && cell.at[at] == '.')
    for (at++; at < cell.size && cell.at[at] >= '0' && cell.at[at] <= '9' && before + after <= 18; at++, after++)
      value = 10 * value + (cell.at[at] - '0'), divisor *= 10;
  REQUIRE (before && at == cell.size && before + after <= 18 && cell.at[at - 1] != '.', UNSUPPORTED,
           "a weight or target is not a decimal of at most 18 digits");
  REQUIRE (value * scale % divisor == 0 && value * scale / divisor <= LIMIT, UNSUPPORTED,
           "a weight or target times its scale is not a whole number that is small enough");
  return (int64_t) (negative ? -(value * scale / divisor) : value * scale / divisor);
}

static void bounded (wide total) {
  REQUIRE (total < LIMIT, UNSUPPORTED, "costs are too large: their sum reaches 2^53");
}

/* The header: lines in a fixed order, each a key and what it needs. */

typedef struct {
  uint32_t column;
  size_t first, count;   /* of the list of words, or of cuts */
  int kind, missing_yes; /* of a test: kind 0 words, 1 cuts, 2 every */
} list;

typedef struct {
  int64_t cost[MOST_CLASSES];
  list *when;
  size_t conditions;
} cost_line;

typedef struct {
  int64_t price, scale;
  int weighted;
  uint32_t weight;
  cost_line *lines;
  size_t count, room;
  wide *matrix; /* rows x classes; of a squared loss rows x 1, the weights */
} amount;

typedef struct {
  text at;
  int quoted;
} token;

static char separator;
static int64_t rows, depth, most_leaves, support = 1, limit, bound, multiplier, divisor = 1, square_scale;
static int64_t values[MOST_GOALS], *tree;                    /* the tree in prefix order: a test, or -1 - class */
static int classes, goals, has_require, claim_kind, squared; /* claim: 1 optimal 2 bound 3 infeasible */
static uint32_t target, *words;                              /* all lists of words */
static amount amounts[MOST_GOALS + 1];                       /* the requirement follows the goals */
static list *tests, class_words[MOST_CLASSES], missing_words;
static size_t test_count, test_room, word_count, word_room, cut_count, cut_room, tree_size, value_count;
static double *cuts;
static token *tokens;
static size_t token_count, token_room;
static char *line_at, *file_end;

/* The tokens of a line; texts in quotes lose their quotes and backslashes where they stand. */
static void read_tokens (char *at, char *end) {
  token_count = 0;
  while (at < end) {
    if (*at == ' ') {
      at++;
      continue;
    }
    token next = {{at, 0}, *at == '"'};
    if (next.quoted) {
      char *to = next.at.at = ++at;
      for (; at < end && *at != '"'; at++) {
        if (*at == '\\' && ++at < end)
          REQUIRE (*at == '"' || *at == '\\', UNSUPPORTED, "a line of the certificate cannot be read");
        REQUIRE (at < end && (unsigned char) *at >= 32, UNSUPPORTED, "a line of the certificate cannot be read");
        *to++ = *at;
      }
      REQUIRE (at < end, UNSUPPORTED, "a line of the certificate cannot be read");
      next.at.size = (size_t) (to - next.at.at);
      at++;
    } else
      for (; at < end && (unsigned char) *at > 32 && *at != '"'; at++)
        next.at.size++;
    REQUIRE (at == end || *at == ' ', UNSUPPORTED, "a line of the certificate cannot be read");
    tokens = grow (tokens, token_count, &token_room, sizeof *tokens);
    tokens[token_count++] = next;
  }
  REQUIRE (token_count, UNSUPPORTED, "a line of the certificate cannot be read");
}

static int is (size_t i, const char *name) {
  return i < token_count && !tokens[i].quoted && tokens[i].at.size == strlen (name) &&
         !memcmp (tokens[i].at.at, name, strlen (name));
}

/* Takes the next line if it begins with this key: 1 if it did, 0 otherwise. A line that is taken must have between
   `least` and `most` tokens after the key. */
static int take (const char *key, size_t least, size_t most) {
  static char *ready;
  REQUIRE (line_at <= file_end, UNSUPPORTED, "the header ends too early");
  char *stop = memchr (line_at, '\n', (size_t) (file_end - line_at));
  if (ready != line_at)
    read_tokens (line_at, stop ? stop : file_end);
  ready = line_at;
  if (!is (0, key))
    return 0;
  REQUIRE (token_count > least && token_count <= most + 1, UNSUPPORTED,
           "a line of the header is too short or too long");
  line_at = (stop ? stop : file_end) + 1;
  return 1;
}

static void must (const char *key, size_t least, size_t most) {
  REQUIRE (take (key, least, most), UNSUPPORTED, "the line `%s` is missing", key);
}

static int64_t whole (size_t i, int64_t least, int64_t most) {
  text t = tokens[i].at;
  size_t at = t.size > 1 && t.at[0] == '-';
  int64_t value = 0, negative = (int64_t) at;
  int good = !tokens[i].quoted && t.size - at <= 16;
  for (; good && at < t.size; at++) {
    good = t.at[at] >= '0' && t.at[at] <= '9';
    value = 10 * value + (t.at[at] - '0');
  }
  value = negative ? -value : value;
  REQUIRE (good && value >= least && value <= most, UNSUPPORTED, "a whole number is not, or is out of range");
  return value;
}

static uint32_t quoted (size_t i) {
  REQUIRE (tokens[i].quoted, UNSUPPORTED, "a text in quotes is missing");
  return number_of (tokens[i].at);
}

static void add_words (list *to, size_t from, size_t end) {
  to->first = word_count;
  to->count = end - from;
  for (; from < end; from++) {
    words = grow (words, word_count, &word_room, sizeof *words);
    words[word_count++] = quoted (from);
  }
}

static void read_test (void) {
  list t = {.column = quoted (1), .kind = is (2, "words") ? 0 : is (2, "cuts") ? 1 : 2, .first = cut_count};
  size_t end = token_count;
  t.missing_yes = t.kind && end > 3 && is (end - 1, "missing");
  end -= (size_t) t.missing_yes;
  REQUIRE (t.kind == 2 ? is (2, "every") && end == 3 : end > 3, UNSUPPORTED, "a test is not understood");
  if (!t.kind)
    add_words (&t, 3, end);
  for (size_t i = 3; t.kind == 1 && i < end; i++, t.count++) {
    REQUIRE (!tokens[i].quoted, UNSUPPORTED, "a cut is not a number");
    cuts = grow (cuts, cut_count, &cut_room, sizeof *cuts);
    cuts[cut_count++] = number (tokens[i].at);
    REQUIRE (i == 3 || cuts[cut_count - 2] < cuts[cut_count - 1], UNSUPPORTED, "cuts are not in rising order");
  }
  tests = grow (tests, test_count, &test_room, sizeof *tests);
  tests[test_count++] = t;
}

static void read_cost (amount *a) {
  REQUIRE (token_count > (size_t) classes, UNSUPPORTED, "a line `cost` does not give one cost for every class");
  a->lines = grow (a->lines, a->count, &a->room, sizeof *a->lines);
  cost_line *line = &a->lines[a->count++];
  memset (line, 0, sizeof *line);
  for (int c = 0; c < classes; c++)
    line->cost[c] = whole ((size_t) c + 1, -LIMIT, LIMIT);
  line->when = make (token_count, sizeof *line->when);
  for (size_t at = (size_t) classes + 1, end; at < token_count; at = end) {
    for (end = at + 1; end < token_count && !is (end, "when"); end++)
      ;
    REQUIRE (is (at, "when") && end > at + 2, UNSUPPORTED, "a condition of a line `cost` is not understood");
    line->when[line->conditions].column = quoted (at + 1);
    add_words (&line->when[line->conditions++], at + 2, end);
  }
}

static void read_amount (amount *a, size_t at) {
  if (is (at, "price") && token_count > at + 1)
    a->price = whole (at + 1, 0, LIMIT), at += 2;
  if (is (at, "weight") && token_count > at + 2) {
    a->weighted = 1;
    a->weight = quoted (at + 1);
    a->scale = whole (at + 2, 0, LIMIT);
    at += 3;
  }
  REQUIRE (at == token_count, UNSUPPORTED, "a goal or requirement is not understood");
  while (take ("cost", 1, INT32_MAX))
    read_cost (a);
}

static void check_form (void) {
  if (claim_kind == 3) {
    REQUIRE (has_require && classes && !goals && !multiplier && !tree_size && !value_count && divisor == 1, UNSUPPORTED,
             "a certificate that nothing is feasible has classes, one requirement and no goal or tree");
    return;
  }
  REQUIRE (goals && (has_require || !multiplier), UNSUPPORTED, "there is no goal, or more than 8");
  REQUIRE (claim_kind == 1 || goals == 1, UNSUPPORTED, "a bound is about one goal");
  REQUIRE (classes || (claim_kind == 2 && !has_require && !amounts[0].count), UNSUPPORTED,
           "a squared loss is one goal without requirement, and the claim is a bound");
}

static void read_header (void) {
  must ("treeml", 2, 2);
  REQUIRE (is (1, "certificate") && is (2, "1"), UNSUPPORTED, "this is not a certificate of version 1");
  must ("separator", 1, 1);
  quoted (1);
  separator = tokens[1].at.size == 1 ? *tokens[1].at.at : 0;
  REQUIRE (separator == ',' || separator == ';' || separator == '|', UNSUPPORTED, "the separator is not supported");
  must ("rows", 1, 1);
  rows = whole (1, 1, INT32_MAX);
  if ((squared = take ("squared", 2, 2)))
    target = quoted (1), square_scale = whole (2, 0, LIMIT);
  else {
    must ("target", 1, 1);
    target = quoted (1);
    for (; take ("class", 1, INT32_MAX); classes++) {
      REQUIRE (classes < MOST_CLASSES, UNSUPPORTED, "there are no classes, or more than 64");
      add_words (&class_words[classes], 1, token_count);
    }
    REQUIRE (classes, UNSUPPORTED, "there are no classes, or more than 64");
  }
  must ("depth", 1, 1);
  depth = whole (1, 0, MOST_DEPTH);
  if (take ("leaves", 1, 1))
    most_leaves = whole (1, 1, MOST_LEAVES);
  if (take ("support", 1, 1))
    support = whole (1, 1, INT32_MAX);
  if (take ("missing", 1, INT32_MAX))
    add_words (&missing_words, 1, token_count);
  while (take ("test", 2, INT32_MAX))
    read_test ();
  REQUIRE (test_count, UNSUPPORTED, "there are no tests");
  while (take ("goal", 0, INT32_MAX)) {
    REQUIRE (goals < MOST_GOALS, UNSUPPORTED, "there is no goal, or more than 8");
    read_amount (&amounts[goals++], 1);
  }
  if ((has_require = take ("require", 1, INT32_MAX)))
    limit = whole (1, -LIMIT, LIMIT), read_amount (&amounts[goals], 2);
  if (take ("multiplier", 2, 2))
    multiplier = whole (1, 0, (int64_t) 1 << 31), divisor = whole (2, 1, (int64_t) 1 << 31);
  must ("claim", 1, 2);
  claim_kind = is (1, "optimal") ? 1 : is (1, "bound") ? 2 : is (1, "infeasible") ? 3 : 0;
  REQUIRE (claim_kind && token_count == (claim_kind == 2 ? 3u : 2u), UNSUPPORTED, "the claim is not understood");
  bound = claim_kind == 2 ? whole (2, -LIMIT, LIMIT) : 0;
  if (take ("tree", 1, INT32_MAX))
    for (tree = make (token_count, sizeof *tree); tree_size + 1 < token_count; tree_size++)
      tree[tree_size] = whole (tree_size + 1, -LIMIT, LIMIT);
  if (take ("value", 1, MOST_GOALS))
    for (; value_count + 1 < token_count; value_count++)
      values[value_count] = whole (value_count + 1, -LIMIT, LIMIT);
  check_form ();
}

/* The data. */

static size_t row_room;    /* no more than the data can have */
static uint32_t **columns; /* by the number of the column's name: the texts of its cells, if the header names it */

static text strip (char *at, char *end) {
  while (at < end && (*at == ' ' || *at == '\t'))
    at++;
  while (end > at && (end[-1] == ' ' || end[-1] == '\t'))
    end--;
  return (text) {at, (size_t) (end - at)};
}

/* The next cell of a line; NULL after the last one. Quotes stand around whole cells, a quote inside is doubled. */
static char *next_cell (char *at, char *end, text *cell) {
  if (at < end && *at == '"') {
    char *from = ++at, *to = from;
    for (; at < end && (*at != '"' || (at + 1 < end && at[1] == '"')); at++) {
      at += *at == '"';
      *to++ = *at;
    }
    REQUIRE (at < end, UNSUPPORTED, "a quote in the data is not closed in its line");
    *cell = strip (from, to);
    at++;
  } else {
    char *from = at;
    for (; at < end && *at != separator; at++)
      REQUIRE (*at != '"', UNSUPPORTED, "a quote in the data stands inside a value");
    *cell = strip (from, at);
  }
  if (at == end)
    return NULL;
  REQUIRE (*at == separator, UNSUPPORTED, "a value in the data goes on after its quote");
  return at + 1;
}

static void use_column (uint32_t name) {
  columns[name] = columns[name] ? columns[name] : make (row_room, sizeof **columns);
}

static void use_columns (void) {
  for (size_t i = 0; i < test_count; i++)
    use_column (tests[i].column);
  use_column (target);
  for (int g = 0; g < goals + has_require; g++) {
    if (amounts[g].weighted)
      use_column (amounts[g].weight);
    for (size_t i = 0; i < amounts[g].count; i++)
      for (size_t j = 0; j < amounts[g].lines[i].conditions; j++)
        use_column (amounts[g].lines[i].when[j].column);
  }
}

static void read_data (text all) {
  REQUIRE (!memchr (all.at, 0, all.size) && !(all.size > 2 && !memcmp (all.at, "\xef\xbb\xbf", 3)), UNSUPPORTED,
           "the data hold NUL or a byte order mark");
  char *end = all.at + all.size;
  while (end > all.at && (end[-1] == '\n' || (end[-1] == '\r' && (end - 1 == all.at || end[-2] == '\n'))))
    end--;
  REQUIRE (end > all.at, UNSUPPORTED, "the data are empty");
  size_t names = text_count, place_room = 0;
  columns = make (names, sizeof *columns);
  row_room = (size_t) rows < all.size ? (size_t) rows : all.size;
  use_columns ();
  int *found = make (names, sizeof *found);
  uint32_t **places = NULL; /* of every column that the header names */
  int64_t row = -1, width = 0;
  for (char *at = all.at; at; row++) {
    char *stop = memchr (at, '\n', (size_t) (end - at)), *last = stop ? stop : end;
    last -= last > at && last[-1] == '\r';
    REQUIRE (!memchr (at, '\r', (size_t) (last - at)), UNSUPPORTED, "the data hold a carriage return inside a line");
    int64_t column = 0;
    for (char *next = at; next; column++) {
      text cell;
      next = next_cell (next, last, &cell);
      if (row < 0) {
        places = grow (places, (size_t) column, &place_room, sizeof *places);
        uint32_t name = number_of (cell);
        places[column] = name < names ? columns[name] : NULL;
        if (name < names)
          found[name]++;
      } else if (column < width && row < rows && places[column])
        places[column][row] = number_of (cell);
    }
    REQUIRE (row < 0 || column == width, UNSUPPORTED, "the lines of the data do not have equally many values");
    width = column;
    at = stop ? stop + 1 : NULL;
  }
  REQUIRE (row == rows, REJECTED, "the data have %lld rows, and the certificate is about %lld", (long long) row,
           (long long) rows);
  for (size_t i = 0; i < names; i++)
    REQUIRE (!columns[i] || found[i] == 1, UNSUPPORTED, "the data do not have exactly one column of a name");
  free (found), free (places);
}

/* The problem on merged rows: a test sends rows with rank <= cut to its yes side, and cuts of a column are a family. */

static int64_t *first_test; /* of every family, and the number of tests at the end */
static int32_t *rank;       /* rows x families */
static size_t merged, channels, set_words;
static int64_t
    *vector; /* merged rows x channels: costs of classes, or weight, sum and sum of squares; then the count */
static int64_t *loss, *count, price, base;
static int32_t *place;  /* families x merged rows */
static int32_t *order;  /* families x merged rows: the rows by rank */
static word **yes_bits; /* of families of one test */
static wide factor[MOST_GOALS];

static unsigned char *marked;
static size_t marked_room;

static const unsigned char *mark (const uint32_t *given, size_t size) {
  if (marked_room < text_count) {
    free (marked);
    marked = make (text_count, 1);
    marked_room = text_count;
  }
  memset (marked, 0, marked_room);
  for (size_t i = 0; i < size; i++)
    marked[given[i]] = 1;
  return marked;
}

static int by_value (const void *a, const void *b) {
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

/* The ranks of one family; returns the number of its cuts. */
static int64_t make_ranks (const list *t, size_t family) {
  const uint32_t *cell = columns[t->column];
  int64_t n = 0;
  if (t->kind == 0) {
    const unsigned char *yes = mark (words + t->first, t->count);
    for (int64_t r = 0; r < rows; r++)
      rank[(size_t) r * test_count + family] = !yes[cell[r]];
    return 1;
  }
  double *value = make (text_count, sizeof *value), *own = NULL, *cut = cuts + t->first;
  const unsigned char *missing = mark (words + missing_words.first, missing_words.count);
  unsigned char *known = make (text_count, 1);
  if (t->kind == 2)
    cut = own = make ((size_t) rows, sizeof *own);
  for (int64_t r = 0; r < rows; r++)
    if (!missing[cell[r]] && !known[cell[r]]) {
      known[cell[r]] = 1;
      value[cell[r]] = number (texts[cell[r]]);
      if (own)
        own[n++] = value[cell[r]];
    }
  if (own && n) {
    qsort (own, (size_t) n, sizeof *own, by_value);
    int64_t kept = 1;
    for (int64_t i = 1; i < n; i++)
      if (own[i] != own[kept - 1])
        own[kept++] = own[i];
    n = kept - 1;
  }
  n = t->kind == 1 ? (int64_t) t->count : n;
  for (int64_t r = 0; r < rows; r++) {
    int64_t low = 0, high = n;
    while (low < high) {
      int64_t middle = (low + high) / 2;
      if (cut[middle] < value[cell[r]])
        low = middle + 1;
      else
        high = middle;
    }
    rank[(size_t) r * test_count + family] = (int32_t) (!missing[cell[r]] ? low : t->missing_yes ? 0 : n);
  }
  free (value), free (known), free (own);
  return n;
}

static wide absolute (wide x) { return x < 0 ? -x : x; }

static void make_matrix (amount *a) {
  size_t width = classes ? (size_t) classes : 1;
  a->matrix = make ((size_t) rows * width, sizeof *a->matrix);
  unsigned char *holds = make ((size_t) rows, 1);
  for (size_t i = 0; i < a->count; i++) {
    memset (holds, 1, (size_t) rows);
    for (size_t j = 0; j < a->lines[i].conditions; j++) {
      const list *c = &a->lines[i].when[j];
      const unsigned char *fits = mark (words + c->first, c->count);
      for (int64_t r = 0; r < rows; r++)
        holds[r] &= fits[columns[c->column][r]];
    }
    for (int64_t r = 0; r < rows; r++)
      for (size_t c = 0; holds[r] && c < width; c++)
        a->matrix[(size_t) r * width + c] += a->lines[i].cost[c];
  }
  wide total = 0;
  for (int64_t r = 0; r < rows; r++) {
    int64_t weight = a->weighted ? scaled (texts[columns[a->weight][r]], a->scale) : 1;
    wide most = 0;
    for (size_t c = 0; c < width; c++) {
      wide *cell = &a->matrix[(size_t) r * width + c];
      bounded (absolute (*cell));
      *cell = squared ? weight : *cell * weight;
      most = absolute (*cell) > most ? absolute (*cell) : most;
    }
    bounded (total += most);
  }
  bounded (total + (wide) a->price * rows);
  free (holds);
}

static wide spread (const amount *a) {
  wide total = (wide) a->price * (rows - 1);
  for (int64_t r = 0; r < rows; r++) {
    wide *cell = a->matrix + (size_t) r * (size_t) classes, low = cell[0], high = cell[0];
    for (int c = 1; c < classes; c++)
      low = cell[c] < low ? cell[c] : low, high = cell[c] > high ? cell[c] : high;
    total += high - low;
  }
  return total;
}

/* The vector of a row of the data, before rows are merged. */
static int64_t *square_rows (void) {
  int64_t *all = make ((size_t) rows * channels, sizeof *all), middle = 0;
  wide total = 0, absolutes = 0, squares = 0;
  for (int64_t r = 0; r < rows; r++)
    total += all[(size_t) r * channels + 1] = scaled (texts[columns[target][r]], square_scale);
  middle = (int64_t) (total >= 0 ? total / rows : -((-total + rows - 1) / rows));
  for (int64_t r = 0; r < rows; r++) {
    int64_t *v = all + (size_t) r * channels;
    wide shifted = (wide) v[1] - middle, weight = amounts[0].matrix[r];
    absolutes += weight * absolute (shifted);
    REQUIRE (weight >= 0 && absolutes < (wide) 1 << 31, UNSUPPORTED, "squares are too large, or a weight is negative");
    bounded (squares += weight * shifted * shifted);
    v[0] = (int64_t) weight, v[1] = (int64_t) (weight * shifted), v[2] = (int64_t) (weight * shifted * shifted);
  }
  bounded (squares + (wide) amounts[0].price * rows);
  price = amounts[0].price;
  return all;
}

static int64_t *class_rows (void) {
  int64_t *all = make ((size_t) rows * channels, sizeof *all);
  wide by[MOST_GOALS + 1] = {0}, total = 0, paid = 0;
  for (int g = goals - 1; g >= 0; g--) {
    bounded (factor[g] = g == goals - 1 ? 1 : factor[g + 1] * (spread (&amounts[g + 1]) + 1));
    bounded (by[g] = factor[g] * divisor);
  }
  by[goals] = goals ? multiplier : 1;
  for (int g = 0; g < goals + has_require; g++)
    bounded (paid += by[g] * amounts[g].price);
  for (int64_t r = 0; r < rows; r++) {
    wide most = 0;
    for (int c = 0; c < classes; c++) {
      wide cell = 0;
      for (int g = 0; g < goals + has_require; g++)
        cell += by[g] * amounts[g].matrix[(size_t) r * (size_t) classes + (size_t) c];
      most = absolute (cell) > most ? absolute (cell) : most;
      bounded (most);
      all[(size_t) r * channels + (size_t) c] = (int64_t) cell;
    }
    bounded (total += most);
  }
  bounded (total + paid * rows);
  price = (int64_t) paid;
  return all;
}

static int by_ranks (const void *a, const void *b) {
  const int32_t *x = rank + (size_t) *(const int32_t *) a * test_count;
  const int32_t *y = rank + (size_t) *(const int32_t *) b * test_count;
  for (size_t f = 0; f < test_count; f++)
    if (x[f] != y[f])
      return x[f] < y[f] ? -1 : 1;
  return 0;
}

/* Rule NORMALIZE: equal rows become one; what its cheapest class costs is unavoidable and goes to the base. */
static void merge_rows (const int64_t *all) {
  int32_t *sorted = make ((size_t) rows, sizeof *sorted);
  for (int64_t r = 0; r < rows; r++)
    sorted[r] = (int32_t) r;
  qsort (sorted, (size_t) rows, sizeof *sorted, by_ranks);
  vector = make ((size_t) rows * channels, sizeof *vector);
  loss = make ((size_t) rows, sizeof *loss);
  count = make ((size_t) rows, sizeof *count);
  int32_t *origin = make ((size_t) rows, sizeof *origin);
  for (int64_t r = 0; r < rows;) {
    int64_t *v = vector + merged * channels, least, most, end = r;
    memset (v, 0, channels * sizeof *v);
    for (; end < rows && (end == r || !by_ranks (sorted + r, sorted + end)); end++)
      for (size_t c = 0; c < channels; c++)
        v[c] += all[(size_t) sorted[end] * channels + c];
    origin[merged] = sorted[r];
    count[merged] = end - r;
    r = end;
    if (!squared) {
      least = most = v[0];
      for (size_t c = 1; c < channels; c++)
        least = v[c] < least ? v[c] : least, most = v[c] > most ? v[c] : most;
      base += least;
      for (size_t c = 0; c < channels; c++)
        v[c] -= least;
      loss[merged] = most - least;
      if (support == 1 && most == least)
        continue; /* a row that costs nothing anywhere does not change a bound */
    }
    merged++;
  }
  set_words = (merged + 63) / 64;
  place = make (test_count * merged, sizeof *place);
  for (size_t f = 0; f < test_count; f++)
    for (size_t r = 0; r < merged; r++)
      place[f * merged + r] = rank[(size_t) origin[r] * test_count + f];
  free (sorted), free (origin);
}

static const int32_t *sort_key;
static int by_place (const void *a, const void *b) {
  int32_t x = *(const int32_t *) a, y = *(const int32_t *) b;
  return sort_key[x] != sort_key[y] ? (sort_key[x] < sort_key[y] ? -1 : 1) : (x > y) - (x < y);
}

static int only_pairs = 1;
static size_t pair_tests;         /* tests that differ on the merged rows */
static int32_t *ones, *one_place; /* of every row: the pair tests with the rarer answer */

static void index_rows (void) {
  yes_bits = make (test_count, sizeof *yes_bits);
  order = make (test_count * merged, sizeof *order);
  for (size_t f = 0; f < test_count; f++) {
    only_pairs &= first_test[f + 1] - first_test[f] == 1;
    yes_bits[f] = make (set_words, sizeof **yes_bits);
    for (size_t r = 0; r < merged; r++) {
      yes_bits[f][r / 64] |= (word) (place[f * merged + r] <= 0) << r % 64;
      order[f * merged + r] = (int32_t) r;
    }
    sort_key = place + f * merged;
    qsort (order + f * merged, merged, sizeof *order, by_place);
  }
}

/* Sets of merged rows, and the cost of leaves. */

static size_t family_of (int64_t test) {
  size_t low = 0, high = test_count;
  while (high - low > 1) {
    size_t middle = (low + high) / 2;
    if (first_test[middle] <= test)
      low = middle;
    else
      high = middle;
  }
  while (first_test[low + 1] <= test) /* families without cuts */
    low++;
  return low;
}

/* The rows of a set with this answer to the test. */
static void take_side (const word *from, int64_t test, int yes, word *to) {
  size_t f = family_of (test);
  int32_t cut = (int32_t) (test - first_test[f]);
  if (cut == 0)
    for (size_t w = 0; w < set_words; w++)
      to[w] = from[w] & (yes ? yes_bits[f][w] : ~yes_bits[f][w]);
  else
    for (size_t w = 0; w < set_words; w++) {
      word kept = 0;
      for (word left = from[w]; left; left &= left - 1) {
        size_t r = 64 * w + (size_t) __builtin_ctzll (left);
        kept |= (left & -left) & -(word) ((place[f * merged + r] <= cut) == yes);
      }
      to[w] = kept;
    }
}

static int64_t leaf_cost (const int64_t *sum) {
  if (squared) {
    int64_t weight = sum[0] ? sum[0] : 1;
    return sum[2] - (sum[1] * sum[1] + weight - 1) / weight + price;
  }
  int64_t least = sum[0];
  for (size_t c = 1; c < channels; c++)
    least = sum[c] < least ? sum[c] : least;
  return least + price;
}

static int32_t *listed_rows;

static int64_t smaller (int64_t a, int64_t b) { return a < b ? a : b; }

/* The cost of a set that becomes a leaf; `listed` receives its rows. */
static int64_t sum_rows (const word *set, int32_t *listed, size_t *size, int64_t *sum, int64_t *lines) {
  memset (sum, 0, channels * sizeof *sum);
  *size = 0;
  *lines = 0;
  for (size_t w = 0; w < set_words; w++)
    for (word left = set[w]; left; left &= left - 1) {
      size_t r = 64 * w + (size_t) __builtin_ctzll (left);
      for (size_t c = 0; c < channels; c++)
        sum[c] += vector[r * channels + c];
      *lines += count[r];
      listed[(*size)++] = (int32_t) r;
    }
  return leaf_cost (sum);
}

/* Rule DEPTH2, where every column is one test: the sums of all pairs of tests. */

static int64_t *pair, *single, *split; /* channels and the count x pairs, x tests, two sides x tests */
static int32_t *active, *packed;

static void index_pairs (void) {
  size_t kept = 0;
  word **bits = make (test_count, sizeof *bits);
  for (size_t f = 0; f < test_count; f++) {
    size_t yes = 0, same = 0;
    for (size_t w = 0; w < set_words; w++)
      yes += (size_t) __builtin_popcountll (yes_bits[f][w]);
    word flip = 2 * yes > merged || (2 * yes == merged && (yes_bits[f][0] & 1)) ? ~(word) 0 : 0;
    word *own = make (set_words, sizeof *own);
    for (size_t w = yes = 0; w < set_words; w++)
      own[w] =
          (yes_bits[f][w] ^ flip) & (w + 1 < set_words || !(merged % 64) ? ~(word) 0 : ~(~(word) 0 << merged % 64));
    for (size_t g = 0; g < kept && !same; g++)
      same = !memcmp (bits[g], own, set_words * sizeof *own);
    for (size_t w = 0; w < set_words; w++)
      yes += (size_t) __builtin_popcountll (own[w]);
    if (same || !yes)
      free (own);
    else
      bits[kept++] = own;
  }
  pair_tests = kept;
  one_place = make (merged + 1, sizeof *one_place);
  size_t room = 0, total = 0;
  for (size_t r = 0; r < merged; r++) {
    one_place[r] = (int32_t) total;
    for (size_t t = 0; t < kept; t++)
      if (bits[t][r / 64] >> r % 64 & 1) {
        REQUIRE (total < INT32_MAX, UNSUPPORTED, "too many rows and tests");
        ones = grow (ones, total, &room, sizeof *ones);
        ones[total++] = (int32_t) t;
      }
  }
  one_place[merged] = (int32_t) total;
  for (size_t t = 0; t < kept; t++)
    free (bits[t]);
  free (bits);
  REQUIRE (kept < 20000, UNSUPPORTED, "too many tests");
  pair = make (kept * kept * (channels + 1), sizeof *pair);
  single = make (kept * (channels + 1), sizeof *single);
  split = make (2 * kept, sizeof *split);
  active = make (kept, sizeof *active);
  packed = make (kept, sizeof *packed);
}

static int64_t cell_cost (const int64_t *sum) { return sum[channels] < support ? LIMIT : leaf_cost (sum); }

/* Adds up the rows of every test that splits the set, and of every pair of them; returns how many there are. */
static size_t add_pairs (const int32_t *listed, size_t size, size_t planes) {
  size_t many = 0;
  memset (active, 0, pair_tests * sizeof *active);
  for (size_t i = 0; i < size; i++)
    for (int32_t at = one_place[listed[i]]; at < one_place[listed[i] + 1]; at++)
      active[ones[at]]++;
  for (size_t t = 0; t < pair_tests; t++)
    active[t] = active[t] && active[t] < (int32_t) size ? (int32_t) many++ : -1;
  memset (single, 0, planes * many * sizeof *single);
  memset (pair, 0, planes * many * many * sizeof *pair);
  for (size_t i = 0; i < size; i++) {
    size_t r = (size_t) listed[i], own = 0;
    for (int32_t at = one_place[r]; at < one_place[r + 1]; at++)
      if (active[ones[at]] >= 0)
        packed[own++] = active[ones[at]];
    for (size_t c = 0; c < planes; c++) {
      int64_t add = c < channels ? vector[r * channels + c] : count[r], *to = pair + c * many * many;
      for (size_t a = 0; add && a < own; a++) {
        single[c * many + (size_t) packed[a]] += add;
        for (size_t b = a + 1; b < own; b++)
          to[(size_t) packed[a] * many + (size_t) packed[b]] += add;
      }
    }
  }
  return many;
}

/* The best two leaves on the yes side (`split`) and on the no side (after `many`) of every test. */
static void split_sides (const int64_t *all, size_t many, size_t planes) {
  const int64_t *x = single, *y = single + many, *p = pair, *q = pair + many * many, twice = 2 * price;
  int two = channels == 2 && support == 1;
  for (size_t a = 0; a < many; a++, p += many, q += many)
    for (size_t b = a + 1; b < many; b++) {
      int64_t cost[4], cell[4][MOST_CLASSES + 4];
      if (two) {
        cost[0] = smaller (p[b], q[b]);
        cost[1] = smaller (x[a] - p[b], y[a] - q[b]);
        cost[2] = smaller (x[b] - p[b], y[b] - q[b]);
        cost[3] = smaller (all[0] - x[a] - x[b] + p[b], all[1] - y[a] - y[b] + q[b]);
      } else {
        for (size_t c = 0; c < planes; c++) {
          int64_t both = pair[(c * many + a) * many + b], m = single[c * many + a], n = single[c * many + b];
          cell[0][c] = both, cell[1][c] = m - both, cell[2][c] = n - both, cell[3][c] = all[c] - m - n + both;
        }
        for (int i = 0; i < 4; i++)
          cost[i] = (planes > channels ? cell_cost (cell[i]) : leaf_cost (cell[i])) - price;
      }
      split[a] = smaller (split[a], cost[0] + cost[1] + twice);
      split[many + a] = smaller (split[many + a], cost[2] + cost[3] + twice);
      split[b] = smaller (split[b], cost[0] + cost[2] + twice);
      split[many + b] = smaller (split[many + b], cost[1] + cost[3] + twice);
    }
}

static int64_t best_pair (const int32_t *listed, size_t size, int64_t *all, int64_t lines, int deep, int64_t leaves) {
  size_t planes = channels + (support > 1), many = add_pairs (listed, size, planes);
  int64_t best = 2 * LIMIT, own[MOST_CLASSES + 4], other[MOST_CLASSES + 4];
  all[channels] = lines;
  own[channels] = other[channels] = support;
  for (size_t t = 0; t < 2 * many; t++)
    split[t] = 2 * LIMIT;
  if (deep)
    split_sides (all, many, planes);
  for (size_t t = 0; t < many; t++) {
    for (size_t c = 0; c < planes; c++)
      own[c] = single[c * many + t], other[c] = all[c] - own[c];
    int64_t yes = cell_cost (own), no = cell_cost (other);
    best = smaller (best, yes + no);
    if (leaves >= 3)
      best = smaller (best, smaller (split[t] + no, yes + split[many + t]));
    if (leaves >= 4)
      best = smaller (best, split[t] + split[many + t]);
  }
  return best;
}

/* Rule DEPTH2 for columns with many cuts: every first cut, and the best second cuts by one pass over sorted rows. */

/* The least cost of two leaves on a set; `sum` and `lines` are those of the set. */
static int64_t best_stump (const word *set, const int64_t *sum, int64_t lines) {
  int64_t best = 2 * LIMIT;
  for (size_t f = 0; f < test_count; f++) {
    int64_t left[MOST_CLASSES + 4] = {0}, right[MOST_CLASSES + 4], before = 0;
    int32_t last = -1;
    for (size_t i = 0; i < merged; i++) {
      size_t r = (size_t) order[f * merged + i];
      if (!(set[r / 64] >> r % 64 & 1))
        continue;
      if (before >= support && lines - before >= support && place[f * merged + r] != last) {
        for (size_t c = 0; c < channels; c++)
          right[c] = sum[c] - left[c];
        best = smaller (best, leaf_cost (left) + leaf_cost (right));
      }
      last = place[f * merged + r];
      for (size_t c = 0; c < channels; c++)
        left[c] += vector[r * channels + c];
      before += count[r];
    }
  }
  return best;
}

/* The best tree with a cut of this family at the root, if it costs less than `best`. The value at a cut, less the cost
   of the rows that have moved since, bounds the value at a later cut: such cuts are skipped. */
static int64_t best_family (const word *set, size_t f, int64_t leaves, int64_t best) {
  int64_t skip = -1, cuts_here = first_test[f + 1] - first_test[f];
  word *side[2] = {make (set_words, sizeof (word)), make (set_words, sizeof (word))};
  int32_t *listed = listed_rows;
  memcpy (side[1], set, set_words * sizeof (word));
  for (size_t i = 0; i < merged;) {
    int32_t at = place[f * merged + (size_t) order[f * merged + i]];
    int moved = 0;
    for (; i < merged && place[f * merged + (size_t) order[f * merged + i]] == at; i++) {
      size_t r = (size_t) order[f * merged + i];
      word bit = side[1][r / 64] & (word) 1 << r % 64;
      if (bit) {
        side[0][r / 64] |= bit, side[1][r / 64] ^= bit, moved = 1;
        skip -= loss[r];
      }
    }
    if (!moved || at >= cuts_here)
      continue;
    if (support == 1 && !squared && skip >= 0)
      continue; /* the value at the last cut, less what has moved since, is not better than the best */
    size_t size[2];
    int64_t one[2], two[2], lines[2], sum[2][MOST_CLASSES + 4];
    for (int s = 0; s < 2; s++)
      one[s] = sum_rows (side[s], listed, &size[s], sum[s], &lines[s]);
    if (!size[1] || lines[0] < support || lines[1] < support)
      continue;
    int64_t value = one[0] + one[1];
    for (int s = 0; s < 2 && leaves > 2; s++)
      two[s] = best_stump (side[s], sum[s], lines[s]);
    if (leaves > 2)
      value = smaller (value, smaller (two[0] + one[1], one[0] + two[1]));
    if (leaves > 3)
      value = smaller (value, two[0] + two[1]);
    best = smaller (best, value);
    skip = value - best;
  }
  free (side[0]), free (side[1]);
  return best;
}

/* Some of the last sets are remembered, each with its depth, leaves and value, because claims often share them. */
static int64_t *remembered;
static size_t remembered_count;

static int64_t recompute (const word *set, int64_t deep, int64_t leaves, int64_t cap) {
  int64_t sum[MOST_CLASSES + 4], lines, best;
  size_t size;
  best = sum_rows (set, listed_rows, &size, sum, &lines);
  if (support > 1 && lines < support)
    return LIMIT;
  if (!deep || leaves == 1 || !size)
    return best;
  if (only_pairs)
    return smaller (best, best_pair (listed_rows, size, sum, lines, deep > 1 && leaves > 2, leaves));
  if (deep == 1)
    return smaller (best, best_stump (set, sum, lines));
  best = smaller (best, cap);
  for (size_t f = 0; f < test_count; f++)
    best = best_family (set, f, leaves, best);
  return best;
}

/* The least cost of a tree on the set, or a number from `cap` on if that costs more. */
static int64_t best_tree (const word *set, int64_t deep, int64_t leaves, int64_t cap) {
  if (!deep)
    return recompute (set, 0, 1, cap);
  size_t bytes = set_words * sizeof *set;
  uint64_t hash = hash_words (set, set_words) + (uint64_t) (64 * deep + leaves);
  int64_t *slot = remembered + hash % remembered_count * (set_words + 4);
  if (slot[0] != deep || slot[1] != leaves || (slot[2] >= slot[3] && slot[3] < cap) || memcmp (slot + 4, set, bytes)) {
    slot[2] = recompute (set, deep, leaves, cap);
    slot[0] = deep, slot[1] = leaves, slot[3] = cap;
    memcpy (slot + 4, set, bytes);
  }
  return slot[2];
}

/* The claims. */

typedef struct {
  int64_t deep, leaves, bound;
  size_t first, count; /* of the literals */
} claim;

static claim *claims;
static size_t claim_count, claim_room;
static int64_t *literals;
static size_t literal_count, literal_room;
static word *everything, *scratch[4];

static void rows_of (const claim *c, word *set) {
  memcpy (set, everything, set_words * sizeof *set);
  for (size_t i = 0; i < c->count; i++)
    take_side (set, literals[c->first + i] / 2, (int) (literals[c->first + i] % 2), set);
}

/* A bound on a set: code 0 trivial, 1 recomputed, n claim n - 2 by rule SIMILARITY. */
static int64_t evidence (const claim *c, const word *set, int64_t code, int64_t leaves, int64_t wanted) {
  if (code == 0)
    return price;
  if (code == 1) {
    REQUIRE (c->deep <= 3, REJECTED, "claim %zu: a side that is deeper than two cannot be recomputed", claim_count);
    return best_tree (set, c->deep - 1, leaves, wanted);
  }
  REQUIRE (code - 2 < (int64_t) claim_count, REJECTED, "claim %zu: a reference does not point backwards", claim_count);
  const claim *other = &claims[code - 2];
  leaves = c->deep <= 6 ? smaller (leaves, (int64_t) 1 << (c->deep - 1)) : leaves;
  REQUIRE (other->deep >= c->deep - 1 && other->leaves >= leaves, REJECTED,
           "claim %zu: a reference is about smaller trees", claim_count);
  rows_of (other, scratch[3]);
  int64_t have = other->bound;
  for (size_t w = 0; w < set_words; w++) {
    REQUIRE (support == 1 || !(set[w] & ~scratch[3][w]), REJECTED,
             "claim %zu: with a least number of rows per leaf, a reference must be about a superset", claim_count);
    for (word left = scratch[3][w] & ~set[w]; left; left &= left - 1) {
      REQUIRE (!squared, REJECTED, "claim %zu: with a squared loss, a reference must be about a subset", claim_count);
      have -= loss[64 * w + (size_t) __builtin_ctzll (left)];
    }
  }
  return have > price ? have : price;
}

/* Rule SPLIT for a range of tests: for the part in one family, the yes side of its first and the no side of its last
   test, because all yes sides in between contain the former and all no sides contain the latter. */
static void check_entry (const claim *c, const word *set, const int64_t *entry, size_t width, const int64_t *allowed) {
  for (int64_t low = entry[0], last; low <= entry[1]; low = last + 1) {
    last = smaller (entry[1], first_test[family_of (low) + 1] - 1);
    REQUIRE (low == last || support == 1, REJECTED, "claim %zu: an entry covers several cuts, and leaves need rows",
             claim_count);
    take_side (set, low, 1, scratch[1]);
    int64_t have = evidence (c, scratch[1], entry[width - 2], allowed[0], c->bound);
    if (have < c->bound) {
      take_side (set, last, 0, scratch[2]);
      have += evidence (c, scratch[2], entry[width - 1], allowed[1], c->bound - have);
    }
    REQUIRE (have >= c->bound, REJECTED,
             "claim %zu: the two sides of the tests %lld to %lld do not add up to the bound", claim_count,
             (long long) low, (long long) last);
  }
}

/* The answers to a test on a set, the same for a test and its complement; returns a hash. */
static uint64_t canonical (const word *set, int64_t test, word *to) {
  take_side (set, test, 1, to);
  size_t w = 0;
  while (w < set_words && !set[w])
    w++;
  if (w < set_words && (to[w] & (set[w] & -set[w])))
    for (w = 0; w < set_words; w++)
      to[w] ^= set[w];
  return hash_words (to, set_words);
}

/* Every test is covered, or splits nothing, or splits these rows as a covered one does. */
static void check_cover (const word *set, const uint64_t *covered, uint64_t wanted, int64_t all_tests) {
  int64_t *table = NULL;
  size_t room = 64;
  while (room < 2 * (size_t) all_tests)
    room *= 2;
  for (int64_t test = 0; test < all_tests; test++) {
    if ((covered[test] & wanted) == wanted)
      continue;
    int64_t lines[2] = {0, 0};
    uint64_t hash = canonical (set, test, scratch[1]);
    for (size_t w = 0; w < set_words; w++)
      for (word left = set[w]; left; left &= left - 1)
        lines[(scratch[1][w] & left & -left) != 0] += count[64 * w + (size_t) __builtin_ctzll (left)];
    if (smaller (lines[0], lines[1]) < support)
      continue;
    if (!table) {
      table = make (room, sizeof *table);
      for (int64_t t = 0; t < all_tests; t++)
        if ((covered[t] & wanted) == wanted) {
          size_t at = canonical (set, t, scratch[2]) & (room - 1);
          while (table[at])
            at = (at + 1) & (room - 1);
          table[at] = t + 1;
        }
    }
    int found = 0;
    for (size_t at = hash & (room - 1); table[at] && !found; at = (at + 1) & (room - 1)) {
      canonical (set, table[at] - 1, scratch[2]);
      found = !memcmp (scratch[1], scratch[2], set_words * sizeof (word));
    }
    REQUIRE (found, REJECTED, "claim %zu: test %lld is not covered", claim_count, (long long) test);
  }
  free (table);
}

static void check_claim (const int64_t *line, size_t size, uint64_t *covered) {
  int limited = most_leaves > 0;
  int64_t all_tests = first_test[test_count];
  size_t start = limited ? 4 : 3, width = limited ? 6 : 4;
  REQUIRE (size >= start, REJECTED, "claim %zu: the line is too short", claim_count);
  claim c = {line[0], limited ? line[1] : MOST_LEAVES, line[start - 2], literal_count, (size_t) line[start - 1]};
  REQUIRE (c.deep <= MOST_DEPTH && c.leaves >= 1 && c.leaves <= MOST_LEAVES && c.bound < LIMIT &&
               c.count <= MOST_DEPTH && start + c.count < size,
           REJECTED, "claim %zu: a number of the line is out of range", claim_count);
  const int64_t *entry = line + start + c.count + 1;
  size_t entries = (size_t) entry[-1];
  REQUIRE (entries <= size && size == start + c.count + 1 + width * entries, REJECTED,
           "claim %zu: the line has the wrong length", claim_count);
  for (size_t i = 0; i < c.count; i++) {
    REQUIRE (line[start + i] < 2 * all_tests, REJECTED, "claim %zu: a test does not exist", claim_count);
    literals = grow (literals, literal_count, &literal_room, sizeof *literals);
    literals[literal_count++] = line[start + i];
  }
  word *set = scratch[0];
  rows_of (&c, set);
  if (c.deep <= 2) {
    REQUIRE (!entries && best_tree (set, c.deep, c.leaves, c.bound) >= c.bound, REJECTED,
             "claim %zu: the best tree of this depth costs less than the bound", claim_count);
  } else {
    REQUIRE (best_tree (set, 0, 1, 0) >= c.bound, REJECTED, "claim %zu: a single leaf costs less than the bound",
             claim_count);
    uint64_t wanted = limited ? ((uint64_t) 1 << c.leaves) - 2 : 1;
    memset (covered, 0, (size_t) all_tests * sizeof *covered);
    for (; entries--; entry += width) {
      int64_t fewest = limited ? entry[2] : 1, most = limited ? entry[3] : 1;
      REQUIRE (entry[0] <= entry[1] && entry[1] < all_tests && fewest >= 1 && fewest <= most &&
                   most < (c.leaves > 2 ? c.leaves : 2),
               REJECTED, "claim %zu: an entry names tests or leaves that do not exist", claim_count);
      int64_t allowed[2] = {limited ? most : MOST_LEAVES, limited ? c.leaves - fewest : MOST_LEAVES};
      check_entry (&c, set, entry, width, allowed);
      for (int64_t test = entry[0]; test <= entry[1]; test++)
        covered[test] |= limited ? ((uint64_t) 2 << most) - ((uint64_t) 1 << fewest) : 1;
    }
    if (wanted)
      check_cover (set, covered, wanted, all_tests);
  }
  claims = grow (claims, claim_count, &claim_room, sizeof *claims);
  claims[claim_count++] = c;
}

static void check_claims (text all, int64_t wanted) {
  char *at = all.at, *end = all.at + all.size;
  int64_t lines = 0, *line = NULL;
  char *last = at;
  for (; last && lines < wanted; lines++)
    last = (last = memchr (last, '\n', (size_t) (end - last))) ? last + 1 : NULL;
  int complete = last && end - last >= 3 && !memcmp (last, "end", 3) && (last + 3 == end || last[3] == '\n');
  for (char *p = complete ? last + 3 : end; p < end; p++)
    complete &= *p == '\n';
  REQUIRE (complete, REJECTED, "the file does not end after the number of claims that it states");
  REQUIRE (wanted, REJECTED, "there is no claim");
  size_t room = 0;
  uint64_t *covered = make ((size_t) first_test[test_count], sizeof *covered);
  for (; wanted--; at++) {
    size_t size = 0;
    for (;; at++) {
      int64_t value = 0, used = 0;
      for (; at < end && *at >= '0' && *at <= '9' && used <= 16; at++, used++)
        value = 10 * value + (*at - '0');
      REQUIRE (used && used <= 16 && at < end && (*at == ' ' || *at == '\n'), UNSUPPORTED,
               "claim %zu is not a line of whole numbers", claim_count);
      line = grow (line, size, &room, sizeof *line);
      line[size++] = value;
      if (*at == '\n')
        break;
    }
    check_claim (line, size, covered);
  }
}

/* The statement. */

static int64_t tree_values[MOST_GOALS + 1], tree_leaves;
static size_t tree_at;

static void check_node (unsigned char *here, int64_t deep, const int64_t *all) {
  int64_t node = tree_at < tree_size ? tree[tree_at++] : INT64_MAX, lines = 0;
  REQUIRE (node < first_test[test_count] && node >= -(classes ? classes : 1), REJECTED, "the tree cannot be read");
  if (node >= 0) {
    REQUIRE (deep < depth, REJECTED, "the tree is too deep");
    size_t f = family_of (node);
    for (int s = 1; s >= 0; s--) {
      unsigned char *side = make ((size_t) rows, 1);
      for (int64_t r = 0; r < rows; r++)
        side[r] = here[r] && (rank[(size_t) r * test_count + f] <= node - first_test[f]) == s;
      check_node (side, deep + 1, all);
      free (side);
    }
    return;
  }
  tree_leaves++;
  int64_t sum[3] = {0, 0, 0};
  for (int64_t r = 0; r < rows; r++) {
    lines += here[r];
    for (int c = 0; here[r] && squared && c < 3; c++)
      sum[c] += all[3 * r + c];
    for (int g = 0; here[r] && !squared && g < goals + has_require; g++)
      tree_values[g] += (int64_t) amounts[g].matrix[(size_t) r * (size_t) classes + (size_t) (-1 - node)];
  }
  REQUIRE (lines >= support, REJECTED, "a leaf of the tree has too few rows");
  for (int g = 0; g < goals + has_require; g++)
    tree_values[g] += squared ? leaf_cost (sum) : amounts[g].price;
}

static void check_statement (wide proved, const int64_t *all) {
  if (tree_size) {
    unsigned char *here = make ((size_t) rows, 1);
    memset (here, 1, (size_t) rows);
    check_node (here, 0, all);
    REQUIRE (tree_at == tree_size, REJECTED, "the tree cannot be read");
    REQUIRE (!most_leaves || tree_leaves <= most_leaves, REJECTED, "the tree has too many leaves");
    REQUIRE (!has_require || tree_values[goals] <= limit, REJECTED, "the tree does not meet the requirement");
  }
  int same = value_count == (tree_size ? (size_t) goals : 0u) && (tree_size || claim_kind == 2);
  for (int g = 0; same && tree_size && g < goals; g++)
    same = tree_values[g] == values[g];
  REQUIRE (same, REJECTED, "the tree does not have the values that the certificate states");
  wide wanted = claim_kind == 2 ? bound : 0;
  for (int g = 0; claim_kind == 1 && g < goals; g++)
    wanted += factor[g] * values[g];
  /* A better tree would have a combined value of at most wanted - 1, because values are whole numbers. */
  REQUIRE (proved > divisor * (wanted - 1) + (wide) multiplier * limit, REJECTED,
           "the claims prove at least %lld, which is not enough for the statement", (long long) proved);
  if (claim_kind == 2) {
    printf ("verified: no tree has a value below %lld", (long long) wanted);
    printf (tree_size ? "; the tree has %lld\n" : "\n", (long long) values[0]);
    return;
  }
  printf ("verified: the tree is optimal: its value is");
  for (int g = 0; g < goals; g++)
    printf (" %lld", (long long) values[g]);
  puts (", and no tree has a smaller one");
}

int main (int argc, char **argv) {
  REQUIRE (argc == 3, UNSUPPORTED, "use: checker data.csv proof.cert, or - for a certificate from standard input");
  text data = read_all (argv[1]), certificate = read_all (argv[2]);
  line_at = certificate.at;
  file_end = certificate.at + certificate.size;
  read_header ();
  must ("claims", 1, 1);
  int64_t wanted = whole (1, 0, LIMIT);
  text rest = {line_at, line_at <= file_end ? (size_t) (file_end - line_at) : 0};
  read_data (data);
  REQUIRE ((wide) rows * (wide) test_count <= (wide) 1 << 28, UNSUPPORTED, "too many rows and tests");
  channels = squared ? 3 : (size_t) classes;
  first_test = make (test_count + 1, sizeof *first_test);
  rank = make ((size_t) rows * test_count, sizeof *rank);
  for (size_t f = 0; f < test_count; f++)
    first_test[f + 1] = first_test[f] + make_ranks (&tests[f], f);
  if (classes) {
    int *known = make (text_count, sizeof *known);
    for (int c = 0; c < classes; c++) {
      const unsigned char *in = mark (words + class_words[c].first, class_words[c].count);
      for (size_t i = 0; i < text_count; i++)
        known[i] += in[i];
    }
    for (int64_t r = 0; r < rows; r++)
      REQUIRE (known[columns[target][r]] == 1, UNSUPPORTED, "a value of the target is not of exactly one class");
    free (known);
  }
  for (int g = 0; g < goals + has_require; g++)
    make_matrix (&amounts[g]);
  int64_t *all = squared ? square_rows () : class_rows ();
  merge_rows (all);
  index_rows ();
  if (only_pairs)
    index_pairs ();
  for (int i = 0; i < 4; i++)
    scratch[i] = make (set_words, sizeof (word));
  everything = make (set_words, sizeof (word));
  listed_rows = make (merged, sizeof *listed_rows);
  remembered_count = 1 + ((size_t) 1 << 25) / (8 * (set_words + 4));
  remembered = make (remembered_count, 8 * (set_words + 4));
  for (size_t r = 0; r < merged; r++)
    everything[r / 64] |= (word) 1 << r % 64;
  check_claims (rest, wanted);
  const claim *root = &claims[claim_count - 1];
  REQUIRE (!root->count && root->deep >= depth && root->leaves >= (most_leaves ? most_leaves : MOST_LEAVES), REJECTED,
           "the last claim is not about all rows, or about smaller trees than the statement");
  int64_t proved = root->bound + base;
  if (claim_kind == 3) {
    REQUIRE (proved > limit, REJECTED, "the claims prove at least %lld, which the requirement allows",
             (long long) proved);
    printf ("verified: no tree meets the requirement: every tree costs at least %lld, and %lld is allowed\n",
            (long long) proved, (long long) limit);
    return 0;
  }
  check_statement (proved, all);
  return 0;
}
