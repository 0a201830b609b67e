/* A data file and a certificate -> verified, rejected or unsupported (exit codes 0, 1 and 2), and a sentence with why.

     cc -O2 checker.c -o checker && gzip -dc proof.cert.gz | ./checker data.csv -

   The fast twin of checker.py, the readable reference: the same rules in the same order, so the same verdicts. It needs
   the C library and 128-bit integers. docs/certificates.md says what the format means and why the rules are sound. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef long long integer; /* 64 bits */
#ifndef __SIZEOF_INT128__  /* C23 has other integers of 128 bits than GCC and Clang */
#define __int128 _BitInt (128)
#endif
__extension__ typedef __int128 wide;

enum { MOST_LEAVES = 62, MOST_CLASSES = 64, MOST_GOALS = 8, MOST_DEPTH = 60 };
static const integer LIMIT = 1LL << 53, MANY = 1LL << 31, MOST_VOTES = 1LL << 41, MOST_CELLS = 1LL << 26;
static const char *TOO_LARGE = "costs are too large: their sum reaches 2^53";
static integer claim_checked = -1, line_at, line_count; /* the claim, and the line, that is being read */

static void demand (int condition, int verdict, const char *why) {
  if (condition)
    return;
  printf (verdict == 1 ? "rejected: " : "unsupported: ");
  if (claim_checked >= 0)
    printf ("claim %lld: ", claim_checked);
  printf ("%s\n", why);
  exit (verdict);
}

static void prove (int condition, const char *why) { demand (condition, 1, why); }
static void need (int condition, const char *why) { demand (condition, 2, why); }

static void *resize (void *memory, integer count, size_t size) {
  memory = realloc (memory, ((size_t) count + 1) * size);
  need (memory != NULL, "not enough memory");
  return memory;
}

static void *make (integer count, size_t size) { return memset (resize (NULL, count, size), 0, (size_t) count * size); }

/* Room for one more item; it doubles whenever the count is a power of two. */
static void *grow (void *old, integer count, size_t size) {
  return count & (count - 1) ? old : resize (old, 2 * count, size);
}

static integer smaller (integer a, integer b) { return a < b ? a : b; }
static integer larger (integer a, integer b) { return a > b ? a : b; }

/* Lines, values and numbers, of the data and of the certificate. */
typedef struct {
  char **at;
  integer count;
} list;

/* The values of every line, where they stand; quotes stand around whole values, and a quote inside is doubled. */
static integer read_table (list **table, const char *path, char separator) {
  FILE *file = strcmp (path, "-") ? fopen (path, "rb") : stdin;
  need (file != NULL, "a file cannot be opened");
  char *all = NULL;
  integer size = 0, lines = 0;
  for (integer got = 1; got; size += got) {
    all = resize (all, 2 * size + 65536, 1);
    got = (integer) fread (all + size, 1, (size_t) size + 65536, file);
  }
  while (size && (all[size - 1] == '\n' || all[size - 1] == '\r'))
    size--;
  all[size] = 0;
  need (size && strlen (all) == (size_t) size && !ferror (file), "a file is empty, or not plain lines");
  list line = {NULL, 0};
  for (char last = separator, *at = all; last; at++) {
    char *from = at, *to = at;
    if (*at == '"') {
      for (at++; *at && !strchr ("\r\n", *at) && (*at != '"' || at[1] == '"'); *to++ = *at++)
        at += *at == '"';
      need (*at++ == '"', "a quote is not closed");
    } else
      to = at += strcspn (at, (char[]) {separator, '"', '\r', '\n', 0});
    last = at[strspn (at, "\r")];
    need (!last || last == '\n' || (last == separator && *at == last), "a quote or a line ends inside a value");
    at += strspn (at, "\r");
    *to = 0;
    from += strspn (from, " \t");
    while (to > from && (to[-1] == ' ' || to[-1] == '\t'))
      *--to = 0;
    line.at = grow (line.at, line.count, sizeof *line.at);
    line.at[line.count++] = from;
    if (last != separator) {
      *table = grow (*table, lines, sizeof **table);
      (*table)[lines++] = line;
      line = (list) {NULL, 0};
    }
  }
  return lines;
}

/* The place of a word, beginning with place `from`; the number of words if it is not there. */
static integer find (const char *word, list words, integer from) {
  while (from < words.count && strcmp (word, words.at[from]))
    from++;
  return from;
}

/* A decimal times the scale, which must be whole. */
static integer scaled (const char *cell, integer scale, integer least, integer most) {
  wide digits = 0, value = 0, divisor = 0; /* 0 before the point */
  for (const char *at = cell + (*cell == '-' || *cell == '+'); *at; at++)
    if (*at == '.' && digits && !divisor)
      divisor = 1;
    else {
      need (*at >= '0' && *at <= '9' && digits++ < 18, "a number is not a decimal of at most 18 digits");
      value = 10 * value + (*at - '0');
      divisor *= 10;
    }
  value *= *cell == '-' ? -scale : scale;
  divisor += !divisor;
  need (digits && value % divisor == 0 && (value /= divisor) >= least && value <= most, "a number is out of range");
  return (integer) value;
}

static integer whole (const char *token, integer least, integer most) { return scaled (token, 1, least, most); }

static double number (const char *token) {
  char *end = NULL;
  double value = strtod (token, &end);
  need (*token && !token[strspn (token, "0123456789+-.eE")] && !*end && value - value == 0, "a value is not a number");
  return value;
}

static list *data, *certificate, *trees, missing, tokens; /* of the last line, the key first */

static int take (const char *key, integer least, integer most, int optional) { /* the next line, if it has the key */
  need (line_at < line_count, "the header ends too early");
  int found = !strcmp (certificate[line_at].at[0], key);
  need (found || optional, "a line of the header is missing");
  if (found)
    tokens = certificate[line_at++];
  need (!found || (tokens.count > least && tokens.count <= most + 1), "a line of the header is too short or too long");
  return found;
}

/* The number on the line with this key, or the default if it may be missing. */
static integer single (const char *key, integer least, integer most, integer otherwise) {
  return take (key, 1, 1, otherwise >= 0) ? whole (tokens.at[1], least, most) : otherwise;
}

/* The statement about the rows of the data. A test sends rows with rank <= its cut to its yes side; the cuts of a
   column are a family. A requirement with factor 0 is not part of the cost: claims limit how much of it a tree uses. */
static struct amount {
  integer factor, price, *weights, *matrix; /* rows x classes */
  wide size;                                /* no values of two trees differ by more */
} amounts[MOST_GOALS + 1];                  /* the requirement follows the goals */

static integer rows, classes, depth, most_leaves, support, goals, required, limit, stated[3], penalty, divisor, paid;
static integer *target, fields, *costs, price, *counts; /* number or class; classes or 3; rows x fields; of a leaf */
static integer families, tests, columns, *family_of, *is_asked; /* by test; of every column: does a test ask it? */
static int **slot, row_use, deepest; /* of every family and row; do claims limit the requirement? */
static enum { OPTIMAL, BOUND, INFEASIBLE, MARGIN, UNKNOWN } claim;

static integer column (const char *name) {
  integer place = find (name, data[0], 0), end = data[0].count;
  need (place < end && find (name, data[0], place + 1) == end, "the data do not have exactly one column of a name");
  return place;
}

static void read_target (void) {
  int squared = take ("squared", 2, 2, 1) || !take ("target", 1, 1, 0);
  integer place = column (tokens.at[1]);
  target = make (rows, sizeof *target);
  for (integer r = 0; squared && r < rows; r++)
    target[r] = scaled (data[r + 1].at[place], whole (tokens.at[2], 0, LIMIT), -LIMIT, LIMIT);
  for (; !squared && take ("class", 1, MANY, 1); classes++)
    for (integer r = 0; r < rows; r++)
      if (find (data[r + 1].at[place], tokens, 1) < tokens.count)
        target[r] = target[r] ? -1 : classes + 1;
  for (integer r = 0; !squared && r < rows; r++)
    need (target[r]-- > 0 && classes <= MOST_CLASSES, "a target is not of one class of up to 64");
  fields = squared ? 3 : classes;
  costs = make (rows * fields, sizeof *costs);
}

/* For every family and row: the first test that says yes, or the first one of the next family. */
static void read_tests (void) {
  slot = make (line_count, sizeof *slot);
  is_asked = make (data[0].count, sizeof *is_asked);
  for (; take ("test", 2, MANY, families > 0); families++) {
    integer place = column (tokens.at[1]), end = tokens.count, missing_yes = !strcmp (tokens.at[end - 1], "missing");
    int is_words = !strcmp (tokens.at[2], "words");
    columns += !is_asked[place]++;
    end -= missing_yes && !is_words;
    need (end > 3 && (is_words || !strcmp (tokens.at[2], "cuts")), "a test is not understood");
    integer end_test = tests + (is_words ? 1 : end - 3);
    need (larger (rows * (families + 1), end_test) <= MOST_CELLS, "there are too many rows and tests");
    double *cuts = make (end, sizeof *cuts);
    for (integer i = 3; !is_words && i < end; i++) {
      cuts[i] = number (tokens.at[i]);
      need (i == 3 || cuts[i - 1] < cuts[i], "cuts are not in rising order");
    }
    slot[families] = make (rows, sizeof **slot);
    for (integer r = 0; r < rows; r++) {
      integer low = 3, high = end;
      const char *cell = data[r + 1].at[place];
      if (is_words || find (cell, missing, 1) < missing.count)
        low = is_words ? 3 + (find (cell, tokens, 3) == end) : missing_yes ? 3 : end;
      else
        for (double value = number (cell); low < high;) {
          integer middle = (low + high) / 2;
          *(cuts[middle] < value ? &low : &high) = middle + (cuts[middle] < value);
        }
      slot[families][r] = (int) (tests + low - 3);
    }
    family_of = resize (family_of, end_test, sizeof *family_of);
    while (tests < end_test)
      family_of[tests++] = families;
    family_of[tests] = families + 1;
  }
  deepest = 1 + (tests == families); /* the depth of trees that is recomputed */
}

/* The weights of the rows, by the end of a line: nothing, or a column and a scale. */
static integer *read_weights (integer at) {
  integer *weights = make (rows, sizeof *weights), given = tokens.count == at + 3 && !strcmp (tokens.at[at], "weight");
  need (given || tokens.count == at, "a goal or requirement is not understood");
  for (integer r = 0, place = given ? column (tokens.at[at + 1]) : 0; r < rows; r++)
    weights[r] = given ? scaled (data[r + 1].at[place], whole (tokens.at[at + 2], 0, LIMIT), -LIMIT, LIMIT) : 1;
  return weights;
}

/* A sum over rows and leaves: a cost for every row and predicted class, and a price per leaf. */
static void read_amount (struct amount *a, integer factor, integer at) {
  static wide all; /* amounts together */
  int priced = tokens.count > at + 1 && !strcmp (tokens.at[at], "price");
  char *holds = make (rows, 1);
  *a = (struct amount) {factor, priced ? whole (tokens.at[at + 1], 0, LIMIT) : 0, read_weights (priced ? at + 2 : at),
                        make (rows * classes, sizeof *a->matrix), 0};
  a->size = (wide) a->price * rows;
  while (classes && take ("cost", classes, classes, 1)) {
    list given = tokens;
    memset (holds, 1, (size_t) rows);
    while (take ("when", 2, MANY, 1))
      for (integer r = 0, place = column (tokens.at[1]); r < rows; r++)
        holds[r] = holds[r] && find (data[r + 1].at[place], tokens, 2) < tokens.count;
    for (integer i = 0; i < rows * classes; i++) { /* numbers are read even if no row holds */
      wide more =
          (wide) whole (given.at[1 + i % classes], -LIMIT, LIMIT) * a->weights[i / classes] * holds[i / classes];
      need ((a->size += more < 0 ? -more : more) < LIMIT, TOO_LARGE);
      a->matrix[i] += (integer) more;
    }
  }
  need (a->size < LIMIT && (all += factor * a->size) < LIMIT, TOO_LARGE);
  price += factor * a->price;
  for (integer i = 0; i < rows * classes; i++)
    costs[i] += factor * a->matrix[i];
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
  need (classes || (claim == BOUND && amounts[0].factor == 1), "the claim about a squared loss is not a plain bound");
  int fits = required ? classes && claim < MARGIN && !(row_use && (most_leaves || claim > BOUND)) : claim != INFEASIBLE;
  need (fits, "a claim of this kind, or a limit of leaves, has no such requirement");
  for (integer g = 0; g + 1 < goals; g++) /* a goal outweighs all later ones */
    need (amounts[g].factor >= amounts[g + 1].factor * (amounts[g + 1].size + 1), "the factors do not fit");
}

/* For every row its weight, weight * target and weight * target^2; no constant changes the loss. */
static void square (void) {
  wide total = 0, weights = 0, deviations = 0, squares = (wide) price * rows;
  for (integer r = 0; r < rows; r++)
    total += target[r];
  for (integer r = 0; r < rows; r++) {
    wide weight = amounts[0].weights[r], shifted = target[r] - (total - (total % rows + rows) % rows) / rows;
    need ((deviations += shifted < 0 ? -weight * shifted : weight * shifted) < MANY && weight >= 0, TOO_LARGE);
    need ((squares += weight * shifted * shifted) < LIMIT && (weights += weight) < LIMIT, TOO_LARGE);
    for (integer c = 0; c < 3; c++, weight *= shifted)
      costs[3 * r + c] = (integer) weight;
  }
}

/* The dual prices of rows and rival classes make costs: a tree's edge is the sum of all prices - its cost. */
static void read_prices (void) {
  take ("forest", 2, MANY, 0);
  penalty = whole (tokens.at[1], 1, MANY);
  divisor = whole (tokens.at[2], 0, MANY);
  counts = read_weights (3);
  take ("prices", rows * (classes - 1), rows * (classes - 1), 0);
  for (integer r = 0, at = 1, weight = 0; r < rows; r++, at += classes - 1) {
    integer own = 0;
    for (integer i = at; i < at + classes - 1; i++)
      own += whole (tokens.at[i], 0, LIMIT);
    for (integer c = 0; c < classes; c++)
      costs[r * classes + c] = c == target[r] ? 0 : own + whole (tokens.at[at + c - (c > target[r])], 0, LIMIT);
    need (counts[r] >= 0 && (weight += counts[r]) < MANY && (paid += own) < LIMIT / 2, "a sum is out of range");
  }
}

/* Sets of rows. Equal rows are merged: the first of them stands for all. Its sums are what each class costs, relative
   to the last one, whose cost is the offset; or weight, sum and sum of squares. If claims limit what classes use, it is
   the cost of every class, and then its use. If leaves need many rows, their number comes last. */
typedef struct {
  int *row;
  integer size, deep, most, bound; /* a claim about it: trees of this depth that use at most this cost the bound */
} rowset;

static struct merged_row {
  integer *sums, offset, loss[2], count, slot_count;
  int *slots; /* the first test that says yes of each family that has one; last the number of tests: always yes */
} *merged_rows;

static rowset everything, merged, nothing, *claims, parent; /* the claim that is being checked, and its sums */
static integer *parent_sums, channels, width, base[2], unit, most_use; /* sums about costs, all sums */

static int by_slots (const void *a, const void *b) {
  integer x = *(const int *) a, y = *(const int *) b, f = 0;
  while (f < families - 1 && slot[f][x] == slot[f][y])
    f++;
  return slot[f][x] - slot[f][y];
}

/* Rule NORMALIZE: what the cheapest class of merged rows costs, or uses, is unavoidable and goes to the base. */
static void merge_rows (void) {
  int *order = make (rows, sizeof *order);
  for (int r = 0; r < rows; r++)
    order[r] = r;
  qsort (order, (size_t) rows, sizeof *order, by_slots);
  everything = (rowset) {order, rows, 0, 0, 0};
  merged.row = make (rows, sizeof *order);
  merged_rows = make (rows, sizeof *merged_rows);
  channels = fields - (classes && !row_use);
  width = channels * (1 + row_use) + (support > 1);
  for (integer from = 0, to = 0; from < rows; from = to) {
    struct merged_row *row = merged_rows + order[from];
    row->sums = make (2 * fields, sizeof *row->sums);
    for (; to < rows && !by_slots (order + from, order + to); to++)
      for (integer c = 0; c < fields * (1 + row_use); c++)
        row->sums[c] += (c < fields ? costs : amounts[goals].matrix)[order[to] * fields + c % fields];
    for (integer k = 0, *sums = row->sums; classes && k <= row_use; k++, sums += classes) {
      integer least = sums[0];
      for (integer c = 1; c < classes; c++)
        least = smaller (least, sums[c]);
      for (integer c = 0; c < classes; c++)
        row->loss[k] = larger (row->loss[k], sums[c] -= least);
      base[k] += least;
      row->offset = row_use ? 0 : sums[classes - 1];
    }
    for (integer c = 0; c < channels; c++)
      row->sums[c] -= row->offset;
    /* Without a least number of rows per leaf, rows that cost and use nothing anywhere do not change a bound. */
    row->count = !classes || support > 1 || row->loss[0] || row->loss[1] ? to - from : 0;
    row->sums[channels * (1 + row_use)] = row->count;
    row->slots = make (families + 1, sizeof *row->slots);
    for (integer f = 0; f < families; f++) {
      row->slots[row->slot_count] = slot[f][order[from]];
      row->slot_count += family_of[slot[f][order[from]]] == f;
    }
    row->slots[row->slot_count++] = (int) tests;
  }
  for (int r = 0; r < rows; merged.size += merged_rows[r++].count > 0) /* all sets are in rising order */
    merged.row[merged.size] = r;
  most_use = row_use ? limit - base[1] : most_leaves;
  unit = row_use ? amounts[goals].price : most_leaves > 0;
}

static rowset side_of (rowset set, integer test, int yes) {
  rowset found = {resize (NULL, set.size, sizeof *found.row), 0, set.deep, set.most, set.bound};
  const int *first_yes = slot[family_of[test]];
  for (integer i = 0; i < set.size; i++)
    if ((first_yes[set.row[i]] <= test) == yes)
      found.row[found.size++] = set.row[i];
  return found;
}

/* What trees use and cost, if they use at most `most` and no tree before is at least as good. */
typedef struct {
  integer (*point)[2], count, most, least; /* use and cost; of all costs */
} front;

static void add_point (front *f, integer use, integer cost) {
  int is_better = use <= f->most;
  for (integer i = 0; is_better && i < f->count; i++)
    is_better = f->point[i][0] > use || f->point[i][1] > cost;
  if (!is_better)
    return;
  f->point = grow (f->point, f->count, sizeof *f->point);
  f->point[f->count][0] = use;
  f->point[f->count++][1] = cost;
  f->least = smaller (f->least, cost);
}

/* Adds costs of leaves: sums[c * many + t] is channel c of leaf t. With too few rows it is LIMIT. Squares round down.
 */
static void add_costs (integer *cost, const integer *sums, integer many) {
  for (integer c = 0; classes && c < channels; c++)
    for (integer t = 0; t < many; t++)
      cost[t] = smaller (cost[t], sums[c * many + t]);
  for (integer t = 0; !classes && t < many; t++)
    cost[t] = sums[2 * many + t] - (sums[many + t] * sums[many + t] + larger (sums[t], 1) - 1) / larger (sums[t], 1);
  for (integer t = 0; support > 1 && t < many; t++)
    cost[t] = sums[(width - 1) * many + t] < support ? LIMIT : cost[t];
}

/* One leaf, and two leaves for each test, from the sums on the yes sides; the last test always says yes. */
static void add_stumps (front *to, const integer *yes) {
  integer many = tests + 1, least = LIMIT, *no = make (width * many, sizeof *no), *cost = make (2 * many, sizeof *cost);
  for (integer c = 0; c < width; c++)
    for (integer t = 0; t < many; t++)
      no[c * many + t] = yes[c * many + tests] - yes[c * many + t];
  add_costs (cost, yes, many);
  add_costs (cost + many, no, many);
  for (integer c = tests; row_use && cost[tests] < LIMIT && c < classes * many; c += many)
    add_point (to, unit + yes[classes * many + c], price + yes[c]);
  for (integer t = 0; t < tests; t++) {
    least = smaller (least, cost[t] + cost[many + t]);
    for (integer c = t; row_use && cost[t] + cost[many + t] < LIMIT && c < classes * many; c += many)
      for (integer d = t; d < classes * many; d += many)
        add_point (to, 2 * unit + yes[classes * many + c] + no[classes * many + d], 2 * price + yes[c] + no[d]);
  }
  add_point (to, unit, row_use ? LIMIT : price + cost[tests]);
  add_point (to, 2 * unit, row_use ? LIMIT : 2 * price + least);
  free (no), free (cost);
}

/* Adds the sums of rows on the yes side of each test, if deep is 2 also of each pair of tests, and last their offset.
 */
static void add_rows (integer *sums, rowset set, rowset without, integer deep, integer sign) {
  integer many = tests + 1, block = width * many, *offset = sums + (deep == 2 ? block * many : block);
  for (integer i = 0, j = 0; i < set.size; i++) {
    const struct merged_row *row = merged_rows + set.row[i];
    int is_in = j == without.size || without.row[j] != set.row[i];
    j += !is_in;
    *offset += is_in ? sign * row->offset : 0;
    for (integer c = 0; is_in && c < width; c++)
      for (integer a = deep ? 0 : row->slot_count - 1, add = sign * row->sums[c]; add && a < row->slot_count; a++) {
        integer *pairs = sums + block * (row->slots[a] + 1) + c * many;
        sums[c * many + row->slots[a]] += add;
        for (integer b = 0; deep == 2 && a < row->slot_count - 1 && b <= a; b++)
          pairs[row->slots[b]] += add;
      }
  }
}

/* Rule DEPTH2: the least cost of a tree on the set, a part of the parent if deep is 2, that uses at most `most`. */
static integer best_tree (rowset set, integer deep, integer most) {
  prove (deep <= deepest, "this depth cannot be recomputed");
  integer many = tests + 1, block = width * many, size = 1 + (deep == 2 ? block * many : block);
  integer *sums = make (size, sizeof *sums), *no = resize (NULL, block, sizeof *no);
  if (deep == 2 && set.size < parent.size && parent.size < 2 * set.size) { /* fewer rows are outside */
    if (!parent_sums)
      add_rows (parent_sums = make (size, sizeof *sums), parent, nothing, 2, 1);
    memcpy (sums, parent_sums, (size_t) size * sizeof *sums);
    add_rows (sums, parent, set, 2, -1);
  } else
    add_rows (sums, set, nothing, deep, 1);
  for (integer t = 1; t < tests; t++) /* the yes side of a cut contains those of the cuts before */
    for (integer c = 0; family_of[t] == family_of[t - 1] && c < block; c += many)
      sums[c + t] += sums[c + t - 1];
  front found = {NULL, 0, most, LIMIT};
  add_stumps (&found, sums);
  for (integer a = 0, *yes = sums + block; deep == 2 && a < tests; a++, yes += block) {
    front sides[2] = {{NULL, 0, most, LIMIT}, {NULL, 0, most, LIMIT}};
    for (integer c = 0; c < block; c += many) {
      yes[c + tests] = sums[c + a];
      for (integer b = a + 1; b < tests; b++) /* pairs were counted once */
        yes[c + b] = yes[block * (b - a) + c + a];
    }
    for (integer i = 0; i < block; i++)
      no[i] = sums[i] - yes[i];
    add_stumps (&sides[0], yes);
    add_stumps (&sides[1], no);
    for (integer i = 0; i < sides[0].count; i++)
      for (integer j = 0; j < sides[1].count; j++)
        add_point (&found, sides[0].point[i][0] + sides[1].point[j][0], sides[0].point[i][1] + sides[1].point[j][1]);
    free (sides[0].point), free (sides[1].point);
  }
  integer offset = sums[size - 1];
  free (sums), free (no), free (found.point);
  return smaller (found.least + offset, LIMIT);
}

/* A bound on a set: code 0 trivial, 1 recomputed, n claim n - 2 by rule SIMILARITY. */
static integer evidence (rowset set, integer deep, integer code, integer most) {
  if (code < 2)
    return code ? best_tree (set, deep, most) : price;
  prove (code - 2 < claim_checked, "a reference does not point backwards");
  rowset other = claims[code - 2];
  integer lost[2] = {0, 0}, common = 0;
  for (integer i = 0, j = 0; j < other.size; j++) {
    while (i < set.size && set.row[i] < other.row[j])
      i++;
    int is_common = i < set.size && set.row[i] == other.row[j];
    common += is_common;
    for (int k = 0; k < 2 && !is_common; k++)
      lost[k] += merged_rows[other.row[j]].loss[k];
  }
  most = row_use ? most : smaller (most, (integer) 1 << smaller (deep, 53));
  prove (other.deep >= deep && other.most >= most + lost[1], "a reference is about smaller trees");
  prove (support == 1 || common == set.size, "leaves need rows: a reference must be about a superset");
  prove (classes || common == other.size, "with a squared loss, a reference must be about a subset");
  return larger (price, other.bound - lost[0]);
}

static void check_claim (list words) {
  integer entry_size = row_use || most_leaves ? 6 : 4, size = words.count, *line = make (size, sizeof *line);
  for (integer i = 0; i < size; i++)
    line[i] = whole (words.at[i], 0, LIMIT);
  prove (size > 4 && larger (line[0], line[3]) <= MOST_DEPTH && larger (line[1], line[2]) < LIMIT && size > 4 + line[3],
         "the line is too short, or a number of it is out of range");
  rowset c = {merged.row, merged.size, line[0], line[1], line[2]};
  const integer *entry = line + 5 + line[3], *end = line + size;
  prove (entry[-1] <= size && end - entry == entry_size * entry[-1], "the line has the wrong length");
  for (const integer *literal = line + 4; literal < entry - 1; literal++) {
    prove (*literal < 2 * tests, "a test does not exist");
    int *all = c.row;
    c = side_of (c, *literal / 2, *literal % 2);
    free (all == merged.row ? NULL : all);
  }
  claims[claim_checked] = parent = c;
  free (parent_sums), parent_sums = NULL;
  int is_split = c.deep > deepest;
  prove (best_tree (c, is_split ? 0 : c.deep, c.most) >= c.bound, "a leaf, or a tree of depth 2, costs less");
  prove (is_split || entry == end, "a claim that is recomputed has no entries");
  integer *reached = make (tests, sizeof *reached); /* tests are covered for all uses of the yes side below it + unit */
  for (; entry < end; entry += entry_size) {
    prove (entry[0] <= entry[1] && entry[1] < tests, "a test does not exist");
    integer fewest = entry_size == 6 ? entry[2] : 0, most = entry_size == 6 ? entry[3] : c.most;
    /* Rule SPLIT for a range of tests: for the part in one family, the yes side of its first and the no side of its
       last test, because all yes sides in between contain the former and all no sides contain the latter. */
    for (integer low = entry[0], last; low <= entry[1]; low = last + 1) {
      for (last = low; last < entry[1] && family_of[last + 1] == family_of[low];)
        last++;
      rowset yes = side_of (c, low, 1), no = side_of (c, last, 0);
      prove (support == 1 || yes.size + no.size == c.size, "cuts of an entry differ, and leaves need rows");
      integer have = evidence (yes, c.deep - 1, entry[entry_size - 2], most);
      have += have < c.bound ? evidence (no, c.deep - 1, entry[entry_size - 1], c.most - fewest) : 0;
      prove (have >= c.bound, "the two sides of a test do not add up to the bound");
      free (yes.row), free (no.row);
    }
    for (integer t = entry[0]; t <= entry[1]; t++)
      reached[t] = larger (reached[t], fewest <= reached[t] + unit ? most + 1 - unit : 0);
  }
  for (integer t = 0; is_split && c.most >= 2 * unit && t < tests; t++)
    if (reached[t] <= c.most - 2 * unit) {
      integer count[2] = {0, 0};
      for (integer i = 0; i < c.size; i++)
        count[slot[family_of[t]][c.row[i]] <= t] += merged_rows[c.row[i]].count;
      prove (smaller (count[0], count[1]) < support, "a test is not covered");
    }
  free (reached), free (line);
}

static integer check_claims (void) { /* returns what the last one proves */
  integer many = single ("claims", 0, LIMIT, -1);
  int ends = many && line_count == line_at + many + 1 && !strcmp (certificate[line_count - 1].at[0], "end");
  prove (ends, "there is no claim, or the file does not end after the claims that it states");
  claims = make (many, sizeof *claims);
  for (claim_checked = 0; claim_checked < many; claim_checked++)
    check_claim (certificate[line_at + claim_checked]);
  rowset root = claims[--claim_checked];
  prove (root.size == merged.size && root.deep >= depth && root.most >= most_use, "it leaves out rows or trees");
  claim_checked = -1;
  return root.bound + base[0];
}

static integer tree_count, values[MOST_GOALS], value_count, leaves, square_loss, *predicted;

/* Sends rows through the subtree that begins with a token of a tree in prefix order; returns where it ends. */
static integer route (list tree, integer at, rowset set, integer deep) {
  prove (at < tree.count, "a tree cannot be read");
  integer node = whole (tree.at[at++], -LIMIT, LIMIT);
  prove (node < tests && node >= -larger (1, classes) && (node < 0 || deep < depth),
         "a tree is not readable or too deep");
  for (int yes = 1; node >= 0 && yes >= 0; yes--) {
    rowset side = side_of (set, node, yes);
    at = route (tree, at, side, deep + 1);
    free (side.row);
  }
  if (node >= 0)
    return at;
  integer cost = classes ? 0 : best_tree (set, 0, LIMIT);
  prove (set.size >= (classes ? support : 1) && cost < LIMIT, "a leaf has too few rows");
  for (integer i = 0; i < set.size; i++)
    predicted[set.row[i]] = -1 - node;
  square_loss += cost;
  prove (++leaves <= most_leaves || !most_leaves, "a tree has too many leaves");
  return at;
}

static void check_forest (integer proved) {
  integer total = 0, *votes = make (rows * classes, sizeof *votes), value = stated[0], r = stated[2],
          within = paid && tree_count;
  wide short_by = 0;
  for (integer i = 0; i < tree_count; i++) {
    integer weight = whole (trees[i].at[1], 1, MOST_VOTES);
    need ((total += weight) <= MOST_VOTES, "there are too many votes");
    leaves = 0;
    prove (route (trees[i], 2, everything, 0) == trees[i].count, "a tree cannot be read");
    for (integer row = 0; row < rows; row++)
      votes[row * classes + predicted[row]] += weight;
  }
  for (integer row = 0; row < rows; row++) {
    integer rival = 0, own = target[row], spent = 0; /* times the number of classes */
    for (integer c = 0; c < classes; c++) {
      rival = c == own ? rival : larger (rival, votes[row * classes + c]);
      spent += costs[row * classes + c];
    }
    short_by += (wide) larger (0, r - votes[row * classes + own] + rival) * counts[row];
    within &= (counts[row] || !spent) && (wide) divisor * spent <= (wide) penalty * paid * counts[row] * classes;
  }
  prove (within, "a price is above its limit, or all are 0");
  within = r >= -total && r <= total && value <= r && (wide) divisor * (r - value) >= penalty * short_by;
  prove (within, "the forest does not have the margin that is stated");
  prove ((wide) (paid - proved) * total <= (wide) stated[1] * paid, "the claims do not prove the bound on margins");
  printf ("verified: the forest has a margin of at least %lld / %lld, and no forest has more than %lld / %lld", value,
          total, stated[1], total);
}

static void check_statement (integer proved) {
  wide enough = required ? (wide) amounts[goals].factor * limit : 0;
  need (tree_count == (claim == OPTIMAL) || (tree_count == 1 && claim == BOUND), "there are too many trees, or none");
  prove (!tree_count || route (*trees, 1, classes ? everything : merged, 0) == trees->count, "a tree cannot be read");
  prove (value_count == (tree_count ? goals : 0), "a value is missing, or there is no tree");
  for (integer g = 0; g < goals + required; g++) {
    wide value = classes ? (wide) amounts[g].price * leaves : square_loss;
    for (integer r = 0; tree_count && classes && r < rows; r++)
      value += amounts[g].matrix[r * classes + predicted[r]];
    prove (!tree_count || (g < goals ? value == values[g] : value <= limit), "a value, or the requirement, is not met");
    enough += g < goals ? amounts[g].factor * (claim == BOUND ? stated[0] : value) : 0;
  }
  /* A better tree would stay below by at least the factor of the last goal, because values are whole numbers. */
  prove (proved > enough - (goals ? amounts[goals - 1].factor : 0), "the claims do not prove the statement");
  static const char *said[] = {"the tree is optimal: no tree has a smaller value than", "no tree has a value below",
                               "no tree meets the requirement: every tree costs at least"};
  printf ("verified: %s %lld", said[claim], claim == INFEASIBLE ? proved : claim == BOUND ? stated[0] : values[0]);
  for (integer g = claim == OPTIMAL; g < value_count; g++)
    printf (claim == BOUND ? "; the tree has %lld" : ", then %lld", values[g]);
}

/* Which values and trees the statement is about, so that nobody takes it for a stronger one. */
static void print_scope (void) {
  int errors = goals == 1 && classes && !amounts[0].price;
  for (integer i = 0; errors && i < rows * classes; i++)
    errors = amounts[0].matrix[i] == (i % classes != target[i / classes]);
  printf (" (%s of \"", errors ? "errors" : claim == MARGIN ? "margins" : classes ? "costs" : "squares");
  for (const char *at = certificate[3].at[1]; *at; at++) /* the target */
    putchar (*at < ' ' || *at > '~' ? '?' : *at);
  printf ("\", %lld rows; trees of depth %lld with up to %lld leaves of %lld rows or more, ", rows, depth,
          most_leaves ? most_leaves : smaller (rows, 1LL << smaller (depth, 53)), support);
  printf ("%lld tests on %lld of %lld columns%s)\n", tests, columns, data[0].count,
          required && claim < INFEASIBLE ? ", requirement met" : "");
}

int main (int argc, char **argv) {
  need (argc == 3, "use: checker data.csv proof.cert, or - for a certificate from standard input");
  line_count = read_table (&certificate, argv[2], ' ');
  take ("treeml", 2, 2, 0);
  need (!strcmp (tokens.at[1], "certificate") && !strcmp (tokens.at[2], "2"), "this is not a certificate of version 2");
  need (take ("separator", 1, 1, 0) && strlen (tokens.at[1]) == 1 && strchr (",;|", *tokens.at[1]),
        "another separator");
  integer lines = read_table (&data, argv[1], *tokens.at[1]);
  for (integer i = 0; i < lines; i++)
    need (data[i].count == data[0].count, "lines of the data do not have equally many values");
  rows = single ("rows", 1, MANY, -1);
  prove (rows == lines - 1, "the data do not have as many rows as the certificate states");
  read_target ();
  depth = single ("depth", 0, MOST_DEPTH, -1);
  most_leaves = single ("leaves", 0, MOST_LEAVES, 0);
  support = single ("support", 1, MANY, 1);
  missing = take ("missing", 1, MANY, 1) ? tokens : missing;
  read_tests ();
  for (; goals < MOST_GOALS && take ("goal", 1, MANY, 1); goals++)
    read_amount (&amounts[goals], whole (tokens.at[1], 1, LIMIT), 2);
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
  for (integer many = take ("value", 1, MOST_GOALS, 1) ? tokens.count - 1 : 0; value_count < many; value_count++)
    values[value_count] = whole (tokens.at[value_count + 1], -LIMIT, LIMIT);
  merge_rows ();
  predicted = make (rows, sizeof *predicted);
  (claim == MARGIN ? check_forest : check_statement) (check_claims ());
  print_scope ();
  return 0;
}
