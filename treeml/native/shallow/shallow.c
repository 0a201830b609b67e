/* Depth is a maximum over leaves and not a sum, so it has a search of its own: a set of rows either has a tree within
   the levels that are left or has none, and one failing side rules out a test. Three bounds refute early. First, the
   classes must fit: the sum of 2^weight over the classes is at most 2^levels (Kraft). Second, every two rows of
   different classes must be separated at some node, and no node of the subtree separates more pairs than the best test
   does here. Third, whatever was proved about a set is remembered under a 128-bit hash of its rows.

   Sets are bit sets. When a set has become small compared with the number of bits, its rows, and the tests that
   still distinguish some of them, are packed again. */
#include "shallow/shallow.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/memory.h"
#include "shallow/pack.h"
#include "simd/select.h"

enum { leaf_choice = -1, guide_choice = -2, unlimited = INT_MAX / 2 };
enum { pack_rows = 64, pack_share = 3, first_entries = 1 << 12 };

/* What is known about a set: no tree has fewer than `least` levels, one has `most` levels and starts with `choice`,
   and none was found with `missed` levels. */
struct entry {
  struct set_key key;
  int16_t least, most, missed, missed_slack;
  int32_t choice;
};

struct candidate {
  int64_t parted; /* pairs of rows of different classes that the test separates */
  int32_t test;
};

struct treeml_shallow {
  struct arena arena;
  struct pack root;
  int32_t classes, all_tests, guide_nodes;
  int32_t *weight;
  int32_t *guide_test, *guide_yes, *guide_no;
  struct entry *entries;
  int64_t room, used;
  int64_t work, work_limit, next_poll;
  double deadline;
  treeml_shallow_poll poll;
  const struct counts *counts;
  int answer; /* why the search has to end, or 0 */
  int depth;  /* levels of the last tree found; -1 if there is none */
  int64_t nodes;
  int32_t *out_test, *out_yes, *out_no, *out_label;
};

/* What is remembered. */

static struct entry *slot_of (struct entry *entries, int64_t room, struct set_key key) {
  uint64_t place = key.first & (uint64_t) (room - 1);
  while (entries[place].key.first | entries[place].key.second) {
    if (entries[place].key.first == key.first && entries[place].key.second == key.second)
      break;
    place = (place + 1) & (uint64_t) (room - 1);
  }
  return &entries[place];
}

static struct entry *remembered (struct treeml_shallow *s, struct set_key key) {
  if (2 * s->used >= s->room) {
    struct entry *larger = arena_allocate (&s->arena, (size_t) (2 * s->room), sizeof *larger);
    if (!larger) {
      s->answer = TREEML_SHALLOW_MEMORY;
      return NULL;
    }
    for (int64_t i = 0; i < s->room; i++)
      if (s->entries[i].key.first | s->entries[i].key.second)
        *slot_of (larger, 2 * s->room, s->entries[i].key) = s->entries[i];
    arena_release (&s->arena, s->entries);
    s->entries = larger;
    s->room *= 2;
  }
  struct entry *entry = slot_of (s->entries, s->room, key);
  if (!(entry->key.first | entry->key.second)) {
    *entry = (struct entry) {key, 0, INT16_MAX, -1, -1, leaf_choice};
    s->used++;
  }
  return entry;
}

/* The guide. */

/* The number of levels that the guide needs for the set; some larger number than `limit` if it needs more. */
static int guide_depth (struct treeml_shallow *s, const struct pack *pack, const word *set, int32_t node, int limit) {
  int32_t which = 0;
  s->work += 2 * pack->words;
  if (shallow_is_uniform (pack, set, &which))
    return s->weight[which];
  if (limit <= 0 || s->guide_test[node] < 0)
    return unlimited; /* a leaf of the guide holds two classes: the guide does not apply to these rows */
  int32_t place = pack->place[s->guide_test[node]];
  if (place < 0)
    return guide_depth (s, pack, set, place == constant_yes ? s->guide_yes[node] : s->guide_no[node], limit);
  word small[16], *side = pack->words <= 16 ? small : arena_reserve (&s->arena, (size_t) pack->words, sizeof *side);
  if (!side)
    return unlimited;
  const word *bits = pack->bits + (int64_t) (place / 2) * pack->words;
  word flip = place & 1 ? ~(word) 0 : 0, any = 0, rest = 0;
  for (int32_t w = 0; w < pack->words; w++) {
    any |= side[w] = set[w] & (bits[w] ^ flip);
    rest |= set[w] & ~(bits[w] ^ flip);
  }
  int depth;
  if (!any || !rest)
    depth = guide_depth (s, pack, set, any ? s->guide_yes[node] : s->guide_no[node], limit);
  else {
    depth = guide_depth (s, pack, side, s->guide_yes[node], limit - 1);
    if (depth < limit) {
      for (int32_t w = 0; w < pack->words; w++)
        side[w] = set[w] & ~side[w];
      int other = guide_depth (s, pack, side, s->guide_no[node], limit - 1);
      depth = other > depth ? other : depth;
    }
    depth = depth < limit ? depth + 1 : unlimited;
  }
  if (side != small)
    arena_release (&s->arena, side);
  return depth;
}

/* The search. */

/* Tests are tried in order of the pairs that they separate: unlike information gain, this prefers balanced splits. */
static int by_parted (const void *left, const void *right) {
  const struct candidate *a = left, *b = right;
  if (a->parted != b->parted)
    return a->parted > b->parted ? -1 : 1;
  return (a->test > b->test) - (a->test < b->test);
}

static int must_end (struct treeml_shallow *s) {
  if (s->answer)
    return 1;
  if (s->work > s->work_limit)
    s->answer = TREEML_SHALLOW_WORK;
  else if (s->work > s->next_poll) {
    s->next_poll = s->work + (1 << 23);
    if (clock_seconds () > s->deadline)
      s->answer = TREEML_SHALLOW_WORK;
    else if (s->poll && s->poll ())
      s->answer = TREEML_SHALLOW_STOPPED;
  }
  return s->answer != 0;
}

static int64_t pairs_of (const int32_t *counts, int32_t classes) {
  int64_t total = 0, squares = 0;
  for (int32_t c = 0; c < classes; c++) {
    total += counts[c];
    squares += (int64_t) counts[c] * counts[c];
  }
  return (total * total - squares) / 2;
}

/* Whether the classes fit in a tree with this many levels. */
static int have_room (const struct treeml_shallow *s, const int32_t *counts, int depth) {
  double needed = 0;
  for (int32_t c = 0; c < s->classes; c++)
    if (counts[c])
      needed += ldexp (1.0, s->weight[c] - depth);
  return needed <= 1.0;
}

static int search (struct treeml_shallow *s, const struct pack *pack, const word *set, struct set_key key,
                   const int32_t *counts, int depth, int slack);

/* Whether a tree with this many levels can separate all pairs if no node separates more than `parted`. */
static int enough_nodes (int64_t pairs, int64_t parted, int depth) {
  return depth >= 40 || pairs <= parted * (((int64_t) 1 << depth) - 1);
}

/* Searches both sides of one test, first the one with more pairs to separate. */
static int try_test (struct treeml_shallow *s, const struct pack *pack, const word *set, struct set_key key,
                     const int32_t *counts, const word *members, int32_t test, int depth, int slack, word *side,
                     int32_t *side_counts) {
  const word *bits = pack->bits + (int64_t) test * pack->words;
  word *yes = side, *no = side + pack->words;
  for (int32_t w = 0; w < pack->words; w++) {
    yes[w] = set[w] & bits[w];
    no[w] = set[w] & ~bits[w];
  }
  int32_t *yes_counts = side_counts, *no_counts = side_counts + s->classes;
  s->counts->intersections (members, bits, s->classes, pack->words, yes_counts);
  for (int32_t c = 0; c < s->classes; c++)
    no_counts[c] = counts[c] - yes_counts[c];
  struct set_key yes_key = shallow_key_of (pack, yes);
  struct set_key no_key = {key.first ^ yes_key.first, key.second ^ yes_key.second};
  int yes_first = pairs_of (yes_counts, s->classes) >= pairs_of (no_counts, s->classes);
  int answer = yes_first ? search (s, pack, yes, yes_key, yes_counts, depth - 1, slack)
                         : search (s, pack, no, no_key, no_counts, depth - 1, slack);
  if (answer != TREEML_SHALLOW_FOUND)
    return answer;
  return yes_first ? search (s, pack, no, no_key, no_counts, depth - 1, slack)
                   : search (s, pack, yes, yes_key, yes_counts, depth - 1, slack);
}

static void note_found (struct treeml_shallow *s, struct set_key key, int depth, int32_t choice) {
  struct entry *entry = remembered (s, key);
  if (entry && depth < entry->most) {
    entry->most = (int16_t) depth;
    entry->choice = choice;
  }
}

static void note_none (struct treeml_shallow *s, struct set_key key, int depth) {
  struct entry *entry = remembered (s, key);
  if (entry && entry->least <= depth)
    entry->least = (int16_t) (depth + 1);
}

/* Counts the pairs that each test separates. Writes the useful tests to `found`, and the largest number of pairs to
   `most_parted`. */
static int32_t weigh_tests (struct treeml_shallow *s, const struct pack *pack, const word *members,
                            const int32_t *counts, struct candidate *found, int64_t *most_parted) {
  int32_t yes[64],
      *yes_counts = s->classes <= 64 ? yes : arena_reserve (&s->arena, (size_t) s->classes, sizeof *yes_counts);
  int32_t kept = 0, rows = 0;
  *most_parted = 0;
  if (!yes_counts) {
    s->answer = TREEML_SHALLOW_MEMORY;
    return 0;
  }
  for (int32_t c = 0; c < s->classes; c++)
    rows += counts[c];
  for (int32_t t = 0; t < pack->tests; t++) {
    s->counts->intersections (members, pack->bits + (int64_t) t * pack->words, s->classes, pack->words, yes_counts);
    int64_t answered = 0, same = 0;
    for (int32_t c = 0; c < s->classes; c++) {
      answered += yes_counts[c];
      same += (int64_t) yes_counts[c] * (counts[c] - yes_counts[c]);
    }
    if (!answered || answered == rows)
      continue;
    int64_t parted = answered * (rows - answered) - same;
    if (parted > *most_parted)
      *most_parted = parted;
    found[kept++] = (struct candidate) {parted, t};
  }
  s->work += (int64_t) pack->tests * pack->words * s->classes;
  if (yes_counts != yes)
    arena_release (&s->arena, yes_counts);
  return kept;
}

/* Splits a set with at least two classes about which nothing useful is known. */
static int split (struct treeml_shallow *s, const struct pack *pack, const word *set, struct set_key key,
                  const int32_t *counts, int depth, int slack) {
  int64_t pairs = pairs_of (counts, s->classes), most_parted = 0;
  size_t words = (size_t) pack->words, classes = (size_t) s->classes;
  size_t bytes = (size_t) pack->tests * sizeof (struct candidate) + (2 + classes) * words * sizeof (word) +
                 2 * classes * sizeof (int32_t) + 64;
  char *memory = arena_allocate (&s->arena, bytes, 1);
  if (!memory)
    return s->answer = TREEML_SHALLOW_MEMORY;
  word *side = (word *) memory;
  word *members = side + 2 * words; /* rows of the set, class by class */
  for (size_t c = 0; c < classes; c++)
    for (size_t w = 0; w < words; w++)
      members[c * words + w] = set[w] & pack->classes[c * words + w];
  struct candidate *found = (struct candidate *) (members + classes * words);
  int32_t *side_counts = (int32_t *) (found + pack->tests);
  int32_t tests = weigh_tests (s, pack, members, counts, found, &most_parted);
  int answer = TREEML_SHALLOW_NONE;
  if (enough_nodes (pairs, most_parted, depth)) {
    qsort (found, (size_t) tests, sizeof *found, by_parted);
    int tried = 0;
    for (int32_t i = 0; i < tests && !must_end (s); i++) {
      if (depth < 40 && pairs - found[i].parted > most_parted * (((int64_t) 1 << depth) - 2))
        continue;
      /* The last two levels are always searched completely: proofs are cheap there. */
      if (tried > slack && depth > 2) {
        answer = TREEML_SHALLOW_MISSED;
        break;
      }
      int left = slack == unlimited ? unlimited : depth > 2 ? slack - tried : slack;
      int sides = try_test (s, pack, set, key, counts, members, found[i].test, depth, left, side, side_counts);
      if (sides == TREEML_SHALLOW_FOUND) {
        note_found (s, key, depth, pack->number[found[i].test]);
        answer = sides;
        break;
      }
      if (sides == TREEML_SHALLOW_MISSED)
        answer = TREEML_SHALLOW_MISSED;
      tried++;
    }
  }
  arena_release (&s->arena, memory);
  if (s->answer)
    return s->answer;
  if (answer == TREEML_SHALLOW_NONE)
    note_none (s, key, depth);
  else if (answer == TREEML_SHALLOW_MISSED) {
    struct entry *entry = remembered (s, key);
    if (entry) {
      entry->missed = (int16_t) depth;
      entry->missed_slack = (int16_t) (slack > INT16_MAX ? INT16_MAX : slack);
    }
  }
  return s->answer ? s->answer : answer;
}

static int search (struct treeml_shallow *s, const struct pack *pack, const word *set, struct set_key key,
                   const int32_t *counts, int depth, int slack) {
  int32_t present = 0, only = 0, rows = 0;
  for (int32_t c = 0; c < s->classes; c++)
    if (counts[c]) {
      present++;
      only = c;
      rows += counts[c];
    }
  if (present == 1)
    return s->weight[only] <= depth ? TREEML_SHALLOW_FOUND : TREEML_SHALLOW_NONE;
  if (depth < 1 || !have_room (s, counts, depth))
    return TREEML_SHALLOW_NONE;
  if (must_end (s))
    return s->answer;
  struct entry *entry = remembered (s, key);
  if (!entry)
    return s->answer;
  if (entry->most <= depth)
    return TREEML_SHALLOW_FOUND;
  if (entry->least > depth)
    return TREEML_SHALLOW_NONE;
  if (entry->missed >= depth && entry->missed_slack >= slack)
    return TREEML_SHALLOW_MISSED;
  if (s->guide_nodes && depth > 1 && entry->missed < depth) {
    int known = guide_depth (s, pack, set, 0, depth);
    if (known <= depth) {
      note_found (s, key, known, guide_choice);
      return TREEML_SHALLOW_FOUND;
    }
  }
  if (pack->rows <= pack_rows || rows * pack_share > pack->rows)
    return split (s, pack, set, key, counts, depth, slack);
  struct pack smaller;
  if (!shallow_pack_set (&s->arena, pack, set, rows, &smaller))
    return s->answer = TREEML_SHALLOW_MEMORY;
  s->work += (int64_t) pack->tests * rows / 16;
  word *all = arena_allocate (&s->arena, (size_t) smaller.words, sizeof *all);
  int answer = TREEML_SHALLOW_MEMORY;
  if (all) {
    for (int32_t r = 0; r < rows; r++)
      all[r / 64] |= (word) 1 << (r % 64);
    answer = split (s, &smaller, all, key, counts, depth, slack);
  } else
    s->answer = answer;
  arena_release (&s->arena, all);
  shallow_pack_free (&s->arena, &smaller);
  return answer;
}

/* Writing the tree. */

static int64_t emit (struct treeml_shallow *s, int32_t test, int32_t label) {
  int64_t node = s->nodes++;
  if (s->out_test) {
    s->out_test[node] = test;
    s->out_yes[node] = s->out_no[node] = -1;
    s->out_label[node] = label;
  }
  return node;
}

/* Writes the part of the guide, or of the tree found, that the set reaches. `node` is a node of the guide, or -1. */
static int64_t write_tree (struct treeml_shallow *s, const word *set, int32_t node) {
  const struct pack *pack = &s->root;
  int32_t which = 0;
  if (shallow_is_uniform (pack, set, &which))
    return emit (s, -1, which);
  int32_t test;
  if (node < 0) {
    struct entry *entry = remembered (s, shallow_key_of (pack, set));
    if (!entry || entry->most == INT16_MAX)
      return -1;
    if (entry->choice == guide_choice)
      return write_tree (s, set, 0);
    test = entry->choice;
  } else
    test = s->guide_test[node];
  int32_t place = pack->place[test];
  if (place < 0)
    return write_tree (s, set, place == constant_yes ? s->guide_yes[node] : s->guide_no[node]);
  word *side = arena_allocate (&s->arena, 2 * (size_t) pack->words, sizeof *side), any[2] = {0, 0};
  if (!side)
    return -1;
  const word *bits = pack->bits + (int64_t) (place / 2) * pack->words;
  for (int32_t w = 0; w < pack->words; w++) {
    word yes = place & 1 ? ~bits[w] : bits[w];
    any[0] |= side[w] = set[w] & yes;
    any[1] |= side[pack->words + w] = set[w] & ~yes;
  }
  int32_t next[2] = {node < 0 ? -1 : s->guide_yes[node], node < 0 ? -1 : s->guide_no[node]};
  int64_t here;
  if (!any[0] || !any[1]) {
    int which_side = !any[0];
    here = write_tree (s, side + which_side * pack->words, next[which_side]);
  } else {
    here = emit (s, test, -1);
    int64_t yes = write_tree (s, side, next[0]), no = yes < 0 ? -1 : write_tree (s, side + pack->words, next[1]);
    if (yes < 0 || no < 0)
      here = -1;
    else if (s->out_test) {
      s->out_yes[here] = (int32_t) yes;
      s->out_no[here] = (int32_t) no;
    }
  }
  arena_release (&s->arena, side);
  return here;
}

static word *all_rows (struct treeml_shallow *s) {
  word *all = arena_allocate (&s->arena, (size_t) s->root.words, sizeof *all);
  for (int32_t r = 0; all && r < s->root.rows; r++)
    all[r / 64] |= (word) 1 << (r % 64);
  return all;
}

/* The interface. */

static int is_sound (const struct treeml_shallow_input *input) {
  if (!input || input->rows < 1 || input->tests < 0 || input->classes < 1 || input->guide_nodes < 0 || !input->label ||
      !input->weight || (input->tests && !input->bits) ||
      (input->guide_nodes && (!input->guide_test || !input->guide_yes || !input->guide_no)))
    return 0;
  for (int32_t r = 0; r < input->rows; r++)
    if (input->label[r] < 0 || input->label[r] >= input->classes)
      return 0;
  for (int32_t c = 0; c < input->classes; c++)
    if (input->weight[c] < 0 || input->weight[c] > INT16_MAX / 2)
      return 0;
  for (int32_t n = 0; n < input->guide_nodes; n++) {
    if (input->guide_test[n] < -1 || input->guide_test[n] >= input->tests)
      return 0;
    /* Children come after their parent, so every walk ends. */
    if (input->guide_test[n] >= 0 && (input->guide_yes[n] <= n || input->guide_yes[n] >= input->guide_nodes ||
                                      input->guide_no[n] <= n || input->guide_no[n] >= input->guide_nodes))
      return 0;
  }
  return 1;
}

static int fill (struct treeml_shallow *s, const struct treeml_shallow_input *input) {
  size_t rows = (size_t) input->rows, tests = (size_t) input->tests, nodes = (size_t) input->guide_nodes;
  s->weight = arena_allocate (&s->arena, (size_t) s->classes, sizeof *s->weight);
  s->entries = arena_allocate (&s->arena, first_entries, sizeof *s->entries);
  s->guide_test = arena_allocate (&s->arena, 3 * nodes + 1, sizeof *s->guide_test);
  word *bits = arena_allocate (&s->arena, tests * ((rows + 63) / 64) + 1, sizeof *bits);
  int32_t *number = arena_allocate (&s->arena, tests + 1, sizeof *number);
  int done = s->weight && s->entries && s->guide_test && bits && number &&
             shallow_pack_allocate (&s->arena, &s->root, input->rows, input->tests, s->classes, s->all_tests);
  if (done) {
    s->room = first_entries;
    memcpy (s->weight, input->weight, (size_t) s->classes * sizeof *s->weight);
    s->guide_yes = s->guide_test + nodes;
    s->guide_no = s->guide_yes + nodes;
    if (nodes) {
      memcpy (s->guide_test, input->guide_test, nodes * sizeof *s->guide_test);
      memcpy (s->guide_yes, input->guide_yes, nodes * sizeof *s->guide_yes);
      memcpy (s->guide_no, input->guide_no, nodes * sizeof *s->guide_no);
    }
    uint64_t state = 20210118;
    for (size_t r = 0; r < rows; r++) {
      s->root.key[r].first = shallow_mixed (&state);
      s->root.key[r].second = shallow_mixed (&state) | 1;
      s->root.classes[(size_t) input->label[r] * (size_t) s->root.words + r / 64] |= (word) 1 << (r % 64);
    }
    for (size_t t = 0; t < tests; t++) {
      number[t] = (int32_t) t;
      for (size_t r = 0; r < rows; r++)
        bits[t * (size_t) s->root.words + r / 64] |= (word) (input->bits[t * rows + r] != 0) << (r % 64);
    }
    done = shallow_pack_tests (&s->arena, &s->root, bits, input->tests, number);
  }
  arena_release (&s->arena, bits);
  arena_release (&s->arena, number);
  return done;
}

treeml_shallow *treeml_shallow_create (const struct treeml_shallow_input *input) {
  if (!is_sound (input))
    return NULL;
  struct treeml_shallow *s = memory_allocate (1, sizeof *s);
  if (!s)
    return NULL;
  s->arena.limit = input->memory > 0 ? (size_t) input->memory : SIZE_MAX;
  s->classes = input->classes;
  s->all_tests = input->tests;
  s->guide_nodes = input->guide_nodes;
  s->depth = -1;
  s->counts = simd_counts ();
  if (!fill (s, input)) {
    treeml_shallow_free (s);
    return NULL;
  }
  return s;
}

void treeml_shallow_free (treeml_shallow *s) {
  if (!s)
    return;
  shallow_pack_free (&s->arena, &s->root);
  arena_release (&s->arena, s->weight);
  arena_release (&s->arena, s->entries);
  arena_release (&s->arena, s->guide_test);
  memory_release (s);
}

int32_t treeml_shallow_search (treeml_shallow *s, int32_t depth, int32_t slack, int64_t work, double seconds,
                               treeml_shallow_poll poll) {
  if (!s || depth < 0 || depth > INT16_MAX / 2)
    return TREEML_SHALLOW_INPUT;
  s->answer = 0;
  s->work = s->next_poll = 0;
  s->work_limit = work;
  s->deadline = seconds < 0 ? INFINITY : clock_seconds () + seconds;
  s->poll = poll;
  word *all = all_rows (s);
  int32_t *counts = arena_allocate (&s->arena, (size_t) s->classes, sizeof *counts);
  int answer = TREEML_SHALLOW_MEMORY;
  if (all && counts) {
    s->counts->intersections (s->root.classes, all, s->classes, s->root.words, counts);
    answer = search (s, &s->root, all, shallow_key_of (&s->root, all), counts, depth, slack < 0 ? unlimited : slack);
  }
  s->depth = answer == TREEML_SHALLOW_FOUND ? depth : -1;
  arena_release (&s->arena, all);
  arena_release (&s->arena, counts);
  return answer;
}

int64_t treeml_shallow_work (const treeml_shallow *s) { return s ? s->work : 0; }

int64_t treeml_shallow_tree (treeml_shallow *s, int32_t *test, int32_t *yes, int32_t *no, int32_t *label) {
  if (!s || s->depth < 0)
    return -1;
  s->out_test = yes && no && label ? test : NULL;
  s->out_yes = yes;
  s->out_no = no;
  s->out_label = label;
  s->nodes = 0;
  word *all = all_rows (s);
  int64_t root = all ? write_tree (s, all, -1) : -1;
  arena_release (&s->arena, all);
  return root < 0 ? -1 : s->nodes;
}
