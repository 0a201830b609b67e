/* A data file and a certificate -> verified, rejected or unsupported, and a sentence that says why.

     cc -O2 checker.c -o checker && gzip -dc proof.cert.gz | ./checker data.csv -

   The fast twin of checker.py, which is the readable reference: the same rules in the same order, so that both give the
   same verdict. It needs nothing but the C library and 128-bit integers. docs/certificates.md says what the format
   means and why the rules are sound. Exit codes: 0 verified, 1 rejected, 2 unsupported. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int64_t integer;
__extension__ typedef __int128 wide;

enum { MOST_LEAVES = 62, MOST_CLASSES = 64, MOST_GOALS = 8, MOST_DEPTH = 60, MOST_SUMS = 2 * MOST_CLASSES + 1 };
static const integer LIMIT = (integer) 1 << 53, MANY = (integer) 1 << 31, MOST_VOTES = (integer) 1 << 41,
                     MOST_CELLS = (integer) 1 << 26;
static const char *TOO_LARGE = "costs are too large: their sum reaches 2^53";
static integer claim_checked = -1; /* the claim that is being checked */

static void need (int condition, const char *why) {
  if (condition)
    return;
  printf ("unsupported: %s\n", why);
  exit (2);
}

static void prove (int condition, const char *why) {
  if (condition)
    return;
  if (claim_checked < 0)
    printf ("rejected: %s\n", why);
  else
    printf ("rejected: claim %lld: %s\n", (long long) claim_checked, why);
  exit (1);
}

static void *make (integer count, size_t size) {
  void *memory = calloc ((size_t) count + 1, size);
  need (memory != NULL, "not enough memory");
  return memory;
}

/* Room for one more item; it doubles whenever the count is a power of two. */
static void *grow (void *memory, integer count, size_t size) {
  if ((count & (count - 1)) == 0)
    memory = realloc (memory, 2 * ((size_t) count + 1) * size);
  need (memory != NULL, "not enough memory");
  return memory;
}

static integer smaller (integer a, integer b) { return a < b ? a : b; }
static integer larger (integer a, integer b) { return a > b ? a : b; }

/* Lines, cells and numbers, of the data and of the certificate. */

typedef struct {
  char **at;
  integer count;
} list;

static void append (list *to, char *text) {
  to->at = grow (to->at, to->count, sizeof *to->at);
  to->at[to->count++] = text;
}

static list read_lines (const char *path) {
  FILE *file = strcmp (path, "-") ? fopen (path, "rb") : stdin;
  need (file != NULL, "a file cannot be opened");
  char *all = NULL;
  size_t size = 0;
  for (size_t got = 1; got; size += got) {
    all = realloc (all, 2 * size + 65536);
    need (all != NULL, "not enough memory");
    got = fread (all + size, 1, size + 65535, file);
  }
  while (size && (all[size - 1] == '\n' || all[size - 1] == '\r'))
    size--;
  all[size] = 0;
  need (size && strlen (all) == size && !ferror (file), "a file is empty, or not plain lines");
  list lines = {NULL, 0};
  for (char *line = all, *end = all; end; line = end + 1) {
    end = strchr (line, '\n');
    char *stop = end ? end : all + size;
    while (stop > line && stop[-1] == '\r')
      stop--;
    need (!memchr (line, '\r', (size_t) (stop - line)), "a file is empty, or not plain lines");
    *stop = 0;
    append (&lines, line);
  }
  return lines;
}

/* The values of a line, where they stand; quotes stand around whole values, and a quote inside is doubled. */
static list cells (char *at, char separator) {
  list found = {NULL, 0};
  for (char last = separator; last; at++) {
    char *from = at, *to = at;
    if (*at == '"') {
      for (at++; *at && (*at != '"' || at[1] == '"'); *to++ = *at++)
        at += *at == '"';
      need (*at++ == '"', "a quote is not closed, or stands inside a value");
    } else
      to = at += strcspn (at, (char[]) {separator, '"', 0});
    last = *at;
    need (!last || last == separator, "a quote is not closed, or stands inside a value");
    *to = 0;
    from += strspn (from, " \t");
    while (to > from && (to[-1] == ' ' || to[-1] == '\t'))
      *--to = 0;
    append (&found, from);
  }
  return found;
}

static int among (const char *cell, list words, integer from) {
  while (from < words.count && strcmp (cell, words.at[from]))
    from++;
  return from < words.count;
}

static integer whole (const char *token, integer least, integer most) {
  const char *digit = token + (*token == '-');
  size_t size = strlen (digit);
  integer value = size && size <= 16 && strspn (digit, "0123456789") == size ? strtoll (token, NULL, 10) : INT64_MAX;
  need (value >= least && value <= most, "a whole number is out of range");
  return value;
}

/* A decimal times the scale, which must be whole. */
static integer scaled (const char *cell, integer scale) {
  const char *at = cell + (*cell == '-' || *cell == '+');
  size_t before = strspn (at, "0123456789"), point = at[before] == '.';
  size_t after = point ? strspn (at + before + 1, "0123456789") : 0;
  wide value = 0, divisor = 1;
  need (before && before + after <= 18 && !at[before + point + after], "a weight or target is not a decimal");
  for (size_t i = 0; i < before + point + after; i++) {
    divisor *= i > before ? 10 : 1;
    value = at[i] == '.' ? value : 10 * value + (at[i] - '0');
  }
  value *= scale;
  need (value % divisor == 0 && value / divisor <= LIMIT, "a weight or target times its scale is not whole, or large");
  return (integer) (*cell == '-' ? -value / divisor : value / divisor);
}

/* The header: lines in a fixed order, each a key and what follows it. */

static list header, tokens; /* the tokens of the last line that was looked at, the key first */
static integer line_at;

/* Does the next line have this key? Then it is taken. */
static int take (const char *key, integer least, integer most, int optional) {
  static integer looked_at = -1;
  need (line_at < header.count, "the header ends too early");
  if (looked_at != line_at)
    tokens = cells (header.at[line_at], ' ');
  looked_at = line_at;
  int found = !strcmp (tokens.at[0], key);
  need (found || optional, "a line of the header is missing");
  line_at += found;
  need (!found || (tokens.count > least && tokens.count <= most + 1), "a line of the header is too short or too long");
  return found;
}

/* The number on the line with this key, or the default if it may be missing. */
static integer single (const char *key, integer least, integer most, integer otherwise) {
  return take (key, 1, 1, otherwise >= 0) ? whole (tokens.at[1], least, most) : otherwise;
}

/* The statement about the rows of the data. A test sends rows with rank <= its cut to its yes side; the cuts of a
   column are a family. A requirement with factor 0 is not part of the cost: claims limit how much of it a tree uses. */

typedef struct {
  integer factor, price, *weights;
  wide *matrix, range; /* rows x classes; of the values of all trees */
} amount;

static list *table, missing;
static integer rows, classes, depth, most_leaves, support, goals, required, limit, stated[3], *targets, *label;
static amount amounts[MOST_GOALS + 1]; /* the requirement follows the goals */
static integer families, tests, *first_test;
static int32_t **rank, *family_of; /* of every family and row; of every test */
static int row_use;                /* do claims limit the requirement? */
static enum { OPTIMAL, BOUND, INFEASIBLE, MARGIN, UNKNOWN } claim;
static integer penalty, divisor, *counts, paid; /* of a forest */
static list *trees;
static integer tree_count, values[MOST_GOALS], value_count;
static integer channels;   /* the classes; or weight, sum and sum of squares */
static wide *costs, price; /* of rows x channels; of a leaf */

static integer column (const char *name) {
  integer found = 0, place = 0;
  for (integer i = 0; i < table[0].count; i++)
    if (!strcmp (table[0].at[i], name)) {
      found++;
      place = i;
    }
  need (found == 1, "the data do not have exactly one column of a name");
  return place;
}

static const char *cell_of (integer row, integer place) { return table[row + 1].at[place]; }

static void read_target (void) {
  int squared = take ("squared", 2, 2, 1) || !take ("target", 1, 1, 0);
  integer place = column (tokens.at[1]), *found = make (rows, sizeof *found);
  label = make (rows, sizeof *label);
  targets = make (rows, sizeof *targets);
  for (integer r = 0; squared && r < rows; r++)
    targets[r] = scaled (cell_of (r, place), whole (tokens.at[2], 0, LIMIT));
  for (; !squared && take ("class", 1, MANY, 1); classes++)
    for (integer r = 0; r < rows; r++)
      if (among (cell_of (r, place), tokens, 1)) {
        found[r]++;
        label[r] = classes;
      }
  for (integer r = 0; !squared && r < rows; r++)
    need (found[r] == 1 && classes <= MOST_CLASSES, "a target is not of exactly one class, or there are more than 64");
  channels = squared ? 3 : classes;
  costs = make (rows * channels, sizeof *costs);
}

static double number (const char *token) {
  char *end = NULL;
  double value = strtod (token, &end);
  need (*token && !token[strspn (token, "0123456789+-.eE")] && !*end && value - value == 0,
        "a value of a number column, or a cut, is not a number");
  return value;
}

/* The ranks of a family; returns the number of its cuts. */
static integer read_ranks (int32_t *ranks) {
  integer place = column (tokens.at[1]), end = tokens.count, missing_yes = !strcmp (tokens.at[end - 1], "missing");
  int is_words = !strcmp (tokens.at[2], "words");
  end -= missing_yes && !is_words;
  need (end > 3 && (is_words || !strcmp (tokens.at[2], "cuts")), "a test is not understood");
  double *cuts = make (end, sizeof *cuts);
  for (integer i = 3; !is_words && i < end; i++) {
    cuts[i] = number (tokens.at[i]);
    need (i == 3 || cuts[i - 1] < cuts[i], "cuts are not in rising order");
  }
  for (integer r = 0; r < rows; r++) {
    const char *cell = cell_of (r, place);
    integer low = 3, high = end;
    if (is_words || among (cell, missing, 1))
      low = is_words ? 4 - among (cell, tokens, 3) : missing_yes ? 3 : end;
    else
      for (double value = number (cell); low < high;) {
        integer middle = (low + high) / 2;
        *(cuts[middle] < value ? &low : &high) = middle + (cuts[middle] < value);
      }
    ranks[r] = (int32_t) (low - 3);
  }
  free (cuts);
  return is_words ? 1 : end - 3;
}

static void read_tests (void) {
  for (; take ("test", 2, MANY, 1); families++) {
    need (rows * (families + 1) <= MOST_CELLS, "there are too many rows and tests");
    rank = grow (rank, families, sizeof *rank);
    rank[families] = make (rows, sizeof **rank);
    first_test = grow (first_test, families, sizeof *first_test);
    first_test[families] = tests;
    for (integer end = tests + read_ranks (rank[families]); tests < end; tests++) {
      family_of = grow (family_of, tests, sizeof *family_of);
      family_of[tests] = (int32_t) families;
    }
  }
  need (families, "there are no tests");
  first_test = grow (first_test, families, sizeof *first_test);
  first_test[families] = tests;
}

/* The weights of the rows, by the end of a line: nothing, or a column and a scale. */
static integer *read_weights (integer at) {
  integer *weights = make (rows, sizeof *weights), given = tokens.count == at + 3 && !strcmp (tokens.at[at], "weight");
  need (given || tokens.count == at, "a goal or requirement is not understood");
  for (integer r = 0, place = given ? column (tokens.at[at + 1]) : 0; r < rows; r++)
    weights[r] = given ? scaled (cell_of (r, place), whole (tokens.at[at + 2], 0, LIMIT)) : 1;
  return weights;
}

/* The range of the values of all trees; the largest costs of rows and the prices of leaves stay below the limit. */
static wide range_of (const wide *matrix, wide leaf_price) {
  wide total = leaf_price * rows, range = leaf_price * (rows - 1);
  need (leaf_price < LIMIT && total < LIMIT, TOO_LARGE);
  for (integer r = 0; r < rows && classes; r++, matrix += classes) {
    wide low = matrix[0], high = matrix[0];
    for (integer c = 1; c < classes; c++) {
      low = matrix[c] < low ? matrix[c] : low;
      high = matrix[c] > high ? matrix[c] : high;
    }
    range += high - low;
    total += -low > high ? -low : high;
    need (total < LIMIT, TOO_LARGE);
  }
  return range;
}

/* A sum over rows and leaves: a cost for every row and predicted class, and a price per leaf. */
static void read_amount (amount *a, integer factor, integer at) {
  int priced = tokens.count > at + 1 && !strcmp (tokens.at[at], "price");
  unsigned char *holds = make (rows, 1);
  a->factor = factor;
  a->price = priced ? whole (tokens.at[at + 1], 0, LIMIT) : 0;
  a->weights = read_weights (priced ? at + 2 : at);
  a->matrix = make (rows * classes, sizeof *a->matrix);
  while (classes && take ("cost", classes, classes, 1)) {
    list given = tokens;
    memset (holds, 1, (size_t) rows);
    while (take ("when", 2, MANY, 1))
      for (integer r = 0, place = column (tokens.at[1]); r < rows; r++)
        holds[r] = holds[r] && among (cell_of (r, place), tokens, 2);
    for (integer i = 0; i < rows * classes; i++)
      if (holds[i / classes]) {
        a->matrix[i] += (wide) whole (given.at[1 + i % classes], -LIMIT, LIMIT) * a->weights[i / classes];
        need (a->matrix[i] < LIMIT && -a->matrix[i] < LIMIT, TOO_LARGE);
      }
  }
  a->range = range_of (a->matrix, a->price);
  price += (wide) factor * a->price;
  for (integer i = 0; i < rows * classes; i++)
    costs[i] += factor * a->matrix[i];
  free (holds);
}

static void read_claim (void) {
  static const char *names[] = {"optimal", "bound", "infeasible", "margin"};
  static const integer sizes[] = {0, 1, 0, 3}, most[] = {MOST_GOALS, 1, 0, 0};
  take ("claim", 1, 4, 0);
  while (claim < UNKNOWN && strcmp (tokens.at[1], names[claim]))
    claim++;
  need (claim < UNKNOWN && sizes[claim] == tokens.count - 2, "the claim is not understood");
  for (integer i = 0; i < sizes[claim]; i++)
    stated[i] = whole (tokens.at[i + 2], -LIMIT, LIMIT);
  need (goals >= (claim < INFEASIBLE) && goals <= most[claim], "there are too few or too many goals");
  need (classes || claim == BOUND, "the claim about a squared loss is a bound");
  need (!required || (classes && claim != MARGIN), "this cannot have a requirement");
  need (claim != INFEASIBLE || (required && !row_use), "nothing is required");
  need (!row_use || !most_leaves, "a requirement and leaves cannot both be limited by claims");
  for (integer g = 0; g + 1 < goals; g++) /* a goal outweighs all later ones */
    need (amounts[g].factor >= amounts[g + 1].factor * (amounts[g + 1].range + 1), "the factors do not fit");
  range_of (costs, price);
}

/* For every row its weight, weight * target and weight * target^2; no constant changes the loss. */
static void square (void) {
  wide total = 0, deviations = 0, squares = price * rows;
  for (integer r = 0; r < rows; r++)
    total += targets[r];
  for (integer r = 0; r < rows; r++) {
    wide weight = amounts[0].weights[r], shifted = targets[r] - (total - (total % rows + rows) % rows) / rows;
    need (weight >= 0, "a weight is negative");
    deviations += shifted < 0 ? -weight * shifted : weight * shifted;
    squares += weight * shifted * shifted;
    need (deviations < MANY && squares < LIMIT, TOO_LARGE);
    for (integer c = 0; c < 3; c++, weight *= shifted)
      costs[3 * r + c] = weight;
  }
}

/* The dual prices of rows and rival classes make costs: a tree's edge is the sum of all prices - its cost. */
static void read_prices (void) {
  wide total = 0, weight = 0;
  take ("forest", 2, MANY, 0);
  penalty = whole (tokens.at[1], 0, MANY);
  divisor = whole (tokens.at[2], 0, MANY);
  counts = read_weights (3);
  take ("prices", rows * (classes - 1), rows * (classes - 1), 0);
  for (integer i = 1; i < tokens.count; i++)
    need (2 * (total += whole (tokens.at[i], 0, LIMIT)) < LIMIT, TOO_LARGE);
  paid = (integer) total;
  int within = paid > 0;
  for (integer r = 0, at = 1; r < rows; r++) {
    wide own = 0, *cost = costs + r * classes;
    for (integer c = 0; c < classes; c++)
      own += cost[c] = c == label[r] ? 0 : whole (tokens.at[at++], 0, LIMIT);
    for (integer c = 0; c < classes; c++)
      cost[c] += c == label[r] ? 0 : own;
    need (counts[r] >= 0 && (weight += counts[r]) < MANY, "weights of a forest are negative or too large");
    within &= (counts[r] || !own) && divisor * own <= (wide) penalty * paid * counts[r];
  }
  prove (within, "a price is above its limit, or all are 0");
}

/* The problem on merged rows: each has its costs, then what it uses if claims limit that, and last its count. */

static integer width, merged, *vector, *loss, *use_loss, base, unit, most_use;
static int32_t *origin, **slots, *slot_count; /* a row of the data; the first test of each family that says yes */

static int by_ranks (const void *a, const void *b) {
  int32_t x = *(const int32_t *) a, y = *(const int32_t *) b;
  for (integer f = 0; f < families; f++)
    if (rank[f][x] != rank[f][y])
      return rank[f][x] < rank[f][y] ? -1 : 1;
  return 0;
}

/* Makes the smallest of these numbers 0; returns the largest. */
static integer normalize (integer *numbers, integer *total) {
  integer least = numbers[0], most = 0;
  for (integer c = 1; c < channels; c++)
    least = smaller (least, numbers[c]);
  for (integer c = 0; c < channels; c++)
    most = larger (most, numbers[c] -= least);
  *total += least;
  return most;
}

/* Rule NORMALIZE: equal rows become one; what its cheapest class costs is unavoidable and goes to the base. */
static void merge_rows (void) {
  origin = make (rows, sizeof *origin);
  for (integer r = 0; r < rows; r++)
    origin[r] = (int32_t) r;
  qsort (origin, (size_t) rows, sizeof *origin, by_ranks);
  width = channels + (row_use ? channels : 0) + 1;
  vector = make (rows * width, sizeof *vector);
  loss = make (rows, sizeof *loss);
  use_loss = make (rows, sizeof *use_loss);
  for (integer from = 0, to = 0; from < rows; from = to) {
    integer *sum = vector + merged * width;
    memset (sum, 0, (size_t) width * sizeof *sum);
    for (; to < rows && !by_ranks (origin + from, origin + to); to++, sum[width - 1]++)
      for (integer c = 0; c < width - 1; c++)
        sum[c] += (integer) (c < channels ? costs : amounts[goals].matrix)[origin[to] * channels + c % channels];
    loss[merged] = classes ? normalize (sum, &base) : 0;
    use_loss[merged] = row_use ? normalize (sum + channels, &most_use) : 0;
    origin[merged] = origin[from];
    /* Without a least number of rows per leaf, rows that cost and use nothing anywhere do not change a bound. */
    merged += !classes || support > 1 || loss[merged] || use_loss[merged];
  }
  most_use = row_use ? limit - most_use : most_leaves;
  unit = row_use ? amounts[goals].price : most_leaves > 0;
  slots = make (merged, sizeof *slots);
  slot_count = make (merged, sizeof *slot_count);
  for (integer r = 0; r < merged; r++) {
    slots[r] = make (families, sizeof **slots);
    for (integer f = 0; f < families; f++)
      if (first_test[f] + rank[f][origin[r]] < first_test[f + 1])
        slots[r][slot_count[r]++] = (int32_t) first_test[f] + rank[f][origin[r]];
  }
}

/* Sets of rows, as lists, and what trees on them use and cost. */

typedef struct {
  int32_t *row;
  integer size;
} rowset;

typedef struct {
  struct {
    integer use, cost;
  } *at;
  integer count, most;
} front; /* without trees that others are at least as good as, or that use more than `most` */

static rowset side_of (rowset set, integer test, int yes) {
  rowset found = {make (set.size, sizeof *found.row), 0};
  integer f = family_of[test], cut = test - first_test[f];
  for (integer i = 0; i < set.size; i++)
    if ((rank[f][origin[set.row[i]]] <= cut) == yes)
      found.row[found.size++] = set.row[i];
  return found;
}

static void add_row (integer *to, integer row) {
  for (integer c = 0; c < width; c++)
    to[c] += vector[row * width + c];
}

/* The cost of a leaf with these sums, above all others if it has too few rows; squares are rounded down. */
static integer leaf_cost (const integer *sum) {
  integer least = sum[0], weight = larger (sum[0], 1);
  for (integer c = 1; c < channels; c++)
    least = smaller (least, sum[c]);
  if (support > 1 && sum[width - 1] < support)
    return LIMIT;
  return (integer) price + (classes ? least : sum[2] - (sum[1] * sum[1] + weight - 1) / weight);
}

static void add_point (front *f, integer use, integer cost) {
  integer kept = 0;
  for (integer i = 0; i < f->count; i++)
    if (f->at[i].use <= use && f->at[i].cost <= cost)
      return;
  for (integer i = 0; i < f->count; i++)
    if (f->at[i].use < use || f->at[i].cost < cost)
      f->at[kept++] = f->at[i];
  f->count = kept;
  if (use > f->most)
    return;
  f->at = grow (f->at, kept, sizeof *f->at);
  f->at[kept].use = use;
  f->at[f->count++].cost = cost;
}

static integer least_cost (const front *f) {
  integer least = LIMIT;
  for (integer i = 0; i < f->count; i++)
    least = smaller (least, f->at[i].cost);
  return least;
}

/* The ways to label one leaf, or two if `other` is given: every class, or only the cheapest if rows use nothing. */
static void add_leaves (front *to, const integer *sum, const integer *other) {
  integer cost = leaf_cost (sum) + (other ? leaf_cost (other) : 0), uses = other ? 2 * unit : unit;
  if (!row_use)
    add_point (to, uses, cost);
  for (integer c = 0; row_use && cost < LIMIT && c < classes; c++)
    for (integer d = 0; d < (other ? classes : 1); d++)
      add_point (to, uses + sum[classes + c] + (other ? other[classes + d] : 0),
                 sum[c] + (integer) price + (other ? other[d] + (integer) price : 0));
}

static void add_stumps (front *to, rowset set, const integer *total) {
  integer left[MOST_SUMS] = {0}, right[MOST_SUMS], *sums = make (tests * width, sizeof *sums);
  for (integer i = 0; i < set.size; i++)
    for (integer j = 0; j < slot_count[set.row[i]]; j++)
      add_row (sums + slots[set.row[i]][j] * width, set.row[i]);
  for (integer t = 0; t < tests; t++) {
    for (integer c = 0; c < width; c++) {
      left[c] = sums[t * width + c] + (t == first_test[family_of[t]] ? 0 : left[c]);
      right[c] = total[c] - left[c];
    }
    add_leaves (to, left, right);
  }
  free (sums);
}

/* Trees of depth two for two classes and single tests, by the sums of all pairs of tests that split the set. */
static void add_pairs (front *to, rowset set, const integer *total) {
  integer many = 0, *active = make (tests, sizeof *active), *own = make (tests, sizeof *own);
  for (integer i = 0; i < set.size; i++)
    for (integer j = 0; j < slot_count[set.row[i]]; j++)
      active[slots[set.row[i]][j]]++;
  for (integer t = 0; t < tests; t++)
    active[t] = active[t] && active[t] < set.size ? many++ : -1;
  integer *x = make (2 * many, sizeof *x), *y = x + many, *pairs = make (2 * many * many, sizeof *pairs);
  integer *yes = make (2 * many, sizeof *yes), *no = yes + many; /* the best two leaves on the sides of each test */
  for (integer i = 0; i < set.size; i++) {
    integer size = 0, c = vector[set.row[i] * width] == 0, add = vector[set.row[i] * width + c];
    for (integer j = 0; j < slot_count[set.row[i]]; j++) {
      own[size] = active[slots[set.row[i]][j]];
      size += own[size] >= 0;
    }
    for (integer a = 0; a < size; a++) {
      integer *line = pairs + (c * many + own[a]) * many;
      x[c * many + own[a]] += add;
      for (integer b = a + 1; b < size; b++)
        line[own[b]] += add;
    }
  }
  for (integer t = 0; t < 2 * many; t++)
    yes[t] = LIMIT;
  for (integer a = 0; a < many; a++) {
    const integer *p = pairs + a * many, *q = p + many * many;
    for (integer b = a + 1; b < many; b++) {
      integer both = smaller (p[b], q[b]), first = smaller (x[a] - p[b], y[a] - q[b]);
      integer second = smaller (x[b] - p[b], y[b] - q[b]);
      integer none = smaller (total[0] - x[a] - x[b] + p[b], total[1] - y[a] - y[b] + q[b]);
      yes[a] = smaller (yes[a], both + first);
      no[a] = smaller (no[a], second + none);
      yes[b] = smaller (yes[b], both + second);
      no[b] = smaller (no[b], first + none);
    }
  }
  for (integer t = 0, leaf = (integer) price; t < many; t++) {
    integer one = smaller (x[t], y[t]), other = smaller (total[0] - x[t], total[1] - y[t]);
    add_point (to, 2 * unit, one + other + 2 * leaf);
    add_point (to, 3 * unit, smaller (yes[t] + other, one + no[t]) + 3 * leaf);
    add_point (to, 4 * unit, yes[t] + no[t] + 4 * leaf);
  }
  free (active), free (own), free (x), free (pairs), free (yes);
}

static void add_trees (front *to, rowset set, integer deep) {
  integer total[MOST_SUMS] = {0};
  for (integer i = 0; i < set.size; i++)
    add_row (total, set.row[i]);
  add_leaves (to, total, NULL);
  if (deep == 1)
    add_stumps (to, set, total);
  int is_plain = classes == 2 && support == 1 && !row_use;
  if (deep == 2 && is_plain)
    add_pairs (to, set, total);
  for (integer t = 0; deep == 2 && !is_plain && t < tests; t++) {
    rowset sides[2] = {side_of (set, t, 0), side_of (set, t, 1)};
    front found[2] = {{NULL, 0, to->most}, {NULL, 0, to->most}};
    for (int s = 0; s < 2; s++)
      add_trees (&found[s], sides[s], 1);
    for (integer i = 0; i < found[0].count; i++)
      for (integer j = 0; j < found[1].count; j++)
        add_point (to, found[0].at[i].use + found[1].at[j].use, found[0].at[i].cost + found[1].at[j].cost);
    free (sides[0].row), free (sides[1].row), free (found[0].at), free (found[1].at);
  }
}

/* Rule DEPTH2: the least cost of a tree on the set that uses at most `most`. */
static integer best_tree (rowset set, integer deep, integer most) {
  prove (deep <= 1 + (tests == families), "this depth cannot be recomputed");
  front found = {NULL, 0, most};
  add_trees (&found, set, deep);
  integer least = least_cost (&found);
  free (found.at);
  return least;
}

/* The claims. Each follows from the rows and from earlier claims. */

typedef struct {
  integer deep, most, bound;
  rowset set;
} checked_claim;

static checked_claim *claims;
static unsigned char *inside;

/* A bound on a set: code 0 trivial, 1 recomputed, n claim n - 2 by rule SIMILARITY. */
static integer evidence (rowset set, integer deep, integer code, integer most) {
  if (code < 2)
    return code ? best_tree (set, deep, most) : (integer) price;
  prove (code - 2 < claim_checked, "a reference does not point backwards");
  checked_claim other = claims[code - 2];
  integer less = 0, used = 0, common = 0;
  memset (inside, 0, (size_t) merged);
  for (integer i = 0; i < set.size; i++)
    inside[set.row[i]] = 1;
  for (integer i = 0; i < other.set.size; i++) {
    integer row = other.set.row[i];
    common += inside[row];
    less += inside[row] ? 0 : loss[row];
    used += inside[row] ? 0 : use_loss[row];
  }
  most = row_use ? most : smaller (most, (integer) 1 << smaller (deep, 53));
  prove (other.deep >= deep && other.most >= most + used, "a reference is about smaller trees");
  prove (support == 1 || common == set.size, "leaves need rows: a reference must be about a superset");
  prove (classes || common == other.set.size, "with a squared loss, a reference must be about a subset");
  return larger ((integer) price, other.bound - less);
}

/* Rule SPLIT for a range of tests: for the part in one family, the yes side of its first and the no side of its last
   test, because all yes sides in between contain the former and all no sides contain the latter. */
static void check_entry (const checked_claim *c, integer low, integer high, const integer *codes, const integer *most) {
  for (integer last; low <= high; low = last + 1) {
    last = smaller (high, first_test[family_of[low] + 1] - 1);
    rowset yes = side_of (c->set, low, 1), no = side_of (c->set, last, 0);
    prove (support == 1 || yes.size + no.size == c->set.size, "cuts of an entry differ, and leaves need rows");
    integer have = evidence (yes, c->deep - 1, codes[0], most[0]);
    have += have < c->bound ? evidence (no, c->deep - 1, codes[1], most[1]) : 0;
    free (yes.row), free (no.row);
    prove (have >= c->bound, "the two sides of a test do not add up to the bound");
  }
}

static integer lines_of (rowset set) {
  integer total[MOST_SUMS] = {0};
  for (integer i = 0; i < set.size; i++)
    add_row (total, set.row[i]);
  free (set.row);
  return total[width - 1];
}

static void check_claim (const integer *line, integer size) {
  integer entry_size = row_use || most_leaves ? 6 : 4;
  prove (size > 4 && line[3] <= MOST_DEPTH && size > 4 + line[3], "the line is too short");
  checked_claim c = {line[0], line[1], line[2], {make (merged, sizeof (int32_t)), merged}};
  const integer *entry = line + 5 + line[3], *end = line + size;
  prove (c.deep <= MOST_DEPTH && larger (c.bound, c.most) < LIMIT, "a number of the line is out of range");
  prove (entry[-1] <= size && end - entry == entry_size * entry[-1], "the line has the wrong length");
  for (integer r = 0; r < merged; r++)
    c.set.row[r] = (int32_t) r;
  for (const integer *literal = line + 4; literal < entry - 1; literal++) {
    prove (*literal < 2 * tests, "a test does not exist");
    rowset side = side_of (c.set, *literal / 2, *literal % 2);
    free (c.set.row);
    c.set = side;
  }
  claims[claim_checked] = c;
  int is_split = c.deep > 1 + (tests == families); /* deeper than what is recomputed */
  prove (best_tree (c.set, is_split ? 0 : c.deep, c.most) >= c.bound, "a leaf, or a tree of depth 2, costs less");
  prove (is_split || entry == end, "a claim that is recomputed has no entries");
  integer *reached = make (tests, sizeof *reached); /* a test is covered for all uses of its yes side below this */
  for (integer t = 0; t < tests; t++)
    reached[t] = unit;
  for (; entry < end; entry += entry_size) {
    prove (entry[0] <= entry[1] && entry[1] < tests, "a test does not exist");
    integer fewest = entry_size == 6 ? entry[2] : 0, most = entry_size == 6 ? entry[3] : c.most;
    check_entry (&c, entry[0], entry[1], entry + entry_size - 2, (integer[]) {most, c.most - fewest});
    for (integer t = entry[0]; t <= entry[1]; t++)
      reached[t] = fewest <= reached[t] ? larger (reached[t], most + 1) : reached[t];
  }
  for (integer t = 0; is_split && c.most >= 2 * unit && t < tests; t++)
    prove (reached[t] > c.most - unit || lines_of (side_of (c.set, t, 1)) < support ||
               lines_of (side_of (c.set, t, 0)) < support,
           "a test is not covered");
  free (reached);
}

/* Returns what the last claim proves. */
static integer check_claims (void) {
  integer many = single ("claims", 0, LIMIT, -1), *line = NULL;
  prove (many && header.count == line_at + many + 1 && !strcmp (header.at[header.count - 1], "end"),
         "there is no claim, or the file does not end after the claims that it states");
  claims = make (many, sizeof *claims);
  inside = make (merged, 1);
  for (claim_checked = 0; claim_checked < many; claim_checked++) {
    tokens = cells (header.at[line_at + claim_checked], ' ');
    line = realloc (line, (size_t) tokens.count * sizeof *line);
    need (line != NULL, "not enough memory");
    for (integer i = 0; i < tokens.count; i++)
      line[i] = whole (tokens.at[i], 0, LIMIT);
    check_claim (line, tokens.count);
    free (tokens.at);
  }
  checked_claim root = claims[many - 1];
  claim_checked = -1;
  prove (root.set.size == merged && root.deep >= depth && root.most >= most_use,
         "the last claim is not about all rows, or about smaller trees than the statement");
  return root.bound + base;
}

/* The trees. */

static integer leaves, square_loss, *predicted;

/* Sends the rows through a tree in prefix order; the first tokens of its line are left out. */
static void route (list line, integer from) {
  integer size = line.count - from, *node = make (size, sizeof *node), *end = make (size, sizeof *end);
  integer *sums = make (size * 4, sizeof *sums);
  leaves = square_loss = 0;
  for (integer i = 0; i < size; i++)
    node[i] = whole (line.at[i + from], -LIMIT, LIMIT);
  for (integer i = size - 1; i >= 0; i--) { /* a subtree ends where that of its no side ends */
    integer no = i + 1 < size ? end[i + 1] : LIMIT;
    prove (node[i] < tests && node[i] >= -larger (1, classes), "a tree cannot be read");
    end[i] = node[i] < 0 ? i + 1 : no < size ? end[no] : LIMIT;
    leaves += node[i] < 0;
  }
  prove (size && end[0] == size, "a tree cannot be read");
  prove (!most_leaves || leaves <= most_leaves, "a tree has too many leaves");
  for (integer r = 0, at = 0, deep = 0; r < rows; r++, at = deep = 0) {
    for (; node[at] >= 0; prove (++deep <= depth, "a tree is too deep")) {
      integer f = family_of[node[at]];
      at = rank[f][r] <= node[at] - first_test[f] ? at + 1 : end[at + 1];
    }
    predicted[r] = -1 - node[at];
    sums[4 * at + 3]++;
    for (integer c = 0; !classes && c < 3; c++)
      sums[4 * at + c] += (integer) costs[3 * r + c];
  }
  for (integer i = 0; i < size; i++) {
    prove (node[i] >= 0 || sums[4 * i + 3] >= support, "a leaf has too few rows");
    square_loss += node[i] < 0 && !classes ? leaf_cost (sums + 4 * i) : 0;
  }
  free (node), free (end), free (sums);
}

static void check_forest (integer proved) {
  integer total = 0, *votes = make (rows * classes, sizeof *votes), value = stated[0], r = stated[2];
  wide short_by = 0;
  for (integer i = 0; i < tree_count; i++) {
    integer weight = whole (trees[i].at[1], 1, MOST_VOTES);
    need ((total += weight) <= MOST_VOTES, "a whole number is out of range");
    route (trees[i], 2);
    for (integer row = 0; row < rows; row++)
      votes[row * classes + predicted[row]] += weight;
  }
  prove (r >= -total && r <= total && value <= r, "the forest does not have the margin that is stated");
  for (integer row = 0; row < rows; row++) {
    integer rival = 0;
    for (integer c = 0; c < classes; c++)
      rival = c == label[row] ? rival : larger (rival, votes[row * classes + c]);
    short_by += (wide) larger (0, r - votes[row * classes + label[row]] + rival) * counts[row];
  }
  prove ((wide) divisor * (r - value) >= penalty * short_by, "the forest does not have the margin that is stated");
  prove ((wide) (paid - proved) * total <= (wide) stated[1] * paid, "the claims do not prove the bound on margins");
  printf ("verified: the forest has a margin of at least %lld / %lld, and no forest has more than %lld / %lld\n",
          (long long) value, (long long) total, (long long) stated[1], (long long) total);
}

static void check_statement (integer proved) {
  wide enough = required ? (wide) amounts[goals].factor * limit : 0;
  need (claim == INFEASIBLE || tree_count == 1 || (claim == BOUND && !tree_count), "there is not exactly one tree");
  if (tree_count && claim != INFEASIBLE)
    route (trees[0], 1);
  prove (claim == INFEASIBLE || value_count == (tree_count ? goals : 0), "a value is missing, or there is no tree");
  for (integer g = 0; g < goals + required && claim != INFEASIBLE; g++) {
    wide value = classes ? (wide) amounts[g].price * leaves : square_loss;
    for (integer r = 0; tree_count && classes && r < rows; r++)
      value += amounts[g].matrix[r * classes + predicted[r]];
    prove (!tree_count || g < goals || value <= limit, "the tree does not meet the requirement");
    prove (!tree_count || g == goals || value == values[g], "a value is not right");
    enough += g < goals ? amounts[g].factor * (claim == BOUND ? stated[0] : value) : 0;
  }
  /* A better tree would stay below by at least the factor of the last goal, because values are whole numbers. */
  prove (proved > enough - (goals ? amounts[goals - 1].factor : 0), "the claims do not prove the statement");
  if (claim == INFEASIBLE)
    printf ("verified: no tree meets the requirement: every tree costs at least %lld\n", (long long) proved);
  else if (claim == BOUND)
    printf ("verified: no tree has a value below %lld\n", (long long) stated[0]);
  else
    printf ("verified: the tree is optimal: its value is %lld, and no tree has a smaller one\n", (long long) values[0]);
}

int main (int argc, char **argv) {
  need (argc == 3, "use: checker data.csv proof.cert, or - for a certificate from standard input");
  header = read_lines (argv[2]);
  take ("treeml", 2, 2, 0);
  need (!strcmp (tokens.at[1], "certificate") && !strcmp (tokens.at[2], "2"), "this is not a certificate of version 2");
  take ("separator", 1, 1, 0);
  need (strlen (tokens.at[1]) == 1 && strchr (",;|", *tokens.at[1]), "the separator is not supported");
  list lines = read_lines (argv[1]);
  table = make (lines.count, sizeof *table);
  for (integer i = 0; i < lines.count; i++) {
    table[i] = cells (lines.at[i], *tokens.at[1]);
    need (table[i].count == table[0].count, "lines of the data do not have equally many values");
  }
  rows = single ("rows", 1, MANY, -1);
  prove (rows == lines.count - 1, "the data do not have as many rows as the certificate states");
  read_target ();
  depth = single ("depth", 0, MOST_DEPTH, -1);
  most_leaves = single ("leaves", 0, MOST_LEAVES, 0);
  support = single ("support", 1, MANY, 1);
  if (take ("missing", 1, MANY, 1))
    missing = tokens;
  read_tests ();
  for (; take ("goal", 1, MANY, 1); goals++) {
    need (goals < MOST_GOALS, "there are too few or too many goals");
    read_amount (&amounts[goals], whole (tokens.at[1], 1, LIMIT), 2);
  }
  if ((required = take ("require", 2, MANY, 1))) {
    limit = whole (tokens.at[1], -LIMIT, LIMIT);
    read_amount (&amounts[goals], whole (tokens.at[2], 0, LIMIT), 3);
  }
  row_use = required && !amounts[goals].factor;
  read_claim ();
  if (claim == MARGIN)
    read_prices ();
  if (!classes)
    square ();
  for (; take ("tree", 1, MANY, 1); trees[tree_count++] = tokens)
    trees = grow (trees, tree_count, sizeof *trees);
  value_count = take ("value", 1, MOST_GOALS, 1) ? tokens.count - 1 : 0;
  for (integer i = 0; i < value_count; i++)
    values[i] = whole (tokens.at[i + 1], -LIMIT, LIMIT);
  merge_rows ();
  predicted = make (rows, sizeof *predicted);
  integer proved = check_claims ();
  if (claim == MARGIN)
    check_forest (proved);
  else
    check_statement (proved);
  return 0;
}
