/* The search that proves a bound and keeps the claims it rests on.

   `prove` shows that no tree on a set costs less than a bound, or finds the least cost. For every test it needs bounds
   on the two sides that add up; it looks for them first among what is known (`known_bound`), then by recursion. */

#include "certify/certify.h"
#include "common/bits.h"
#include "common/clock.h"

#include <stdlib.h>
#include <string.h>

/* Sets that a new set is compared with, the newest first: of the same depth, and of those that end with the same test.
 */
enum { COMPARED = 100, COMPARED_ALIKE = 400 };

typedef struct {
  int64_t bound, code;
} evidence;

/* A set of rows with the path that leads to it, and what is asked about it. */
typedef struct {
  uint64_t *set;
  int32_t path[CERTIFY_DEPTH + 1];
  int32_t path_size, depth, leaves;
} part;

/* A claim in the making. */
typedef struct {
  const part *of;
  int64_t target;
  int attained; /* is there a tree that costs no more? */
  int64_t *entries;
  size_t count, room;
} draft;

static evidence prove (treeml_certify *, const part *, int64_t bound);

void certify_take_side (const treeml_certify *c, const uint64_t *from, int64_t family, int32_t cut, int yes,
                        uint64_t *to) {
  if (c->first[family + 1] - c->first[family] == 1) {
    for (size_t w = 0; w < c->words; w++)
      to[w] = from[w] & (yes ? c->yes[family][w] : ~c->yes[family][w]);
    return;
  }
  const int32_t *place = c->place + family * c->rows;
  for (size_t w = 0; w < c->words; w++) {
    uint64_t kept = 0;
    for (uint64_t left = from[w]; left; left &= left - 1) {
      size_t row = 64 * w + (size_t) lowest_bit (left);
      kept |= (left & -left) & -(uint64_t) ((place[row] <= cut) == yes);
    }
    to[w] = kept;
  }
}

static int64_t lines_of (const treeml_certify *c, const uint64_t *set) {
  int64_t lines = 0;
  for (size_t w = 0; w < c->words; w++)
    for (uint64_t left = set[w]; left; left &= left - 1)
      lines += c->count[64 * w + (size_t) lowest_bit (left)];
  return lines;
}

/* The cost of the rows of `theirs` that are not in `ours`; stops above `most`. */
static int64_t lost (const treeml_certify *c, const uint64_t *theirs, const uint64_t *ours, int64_t most) {
  int64_t total = 0;
  for (size_t w = 0; w < c->words && total <= most; w++) {
    uint64_t left = theirs[w] & ~ours[w];
    if (c->same_loss)
      total += (int64_t) c->same_loss * count_bits (left);
    else
      for (; left && total <= most; left &= left - 1)
        total += c->loss[64 * w + (size_t) lowest_bit (left)];
  }
  return total;
}

static int is_subset (const treeml_certify *c, const uint64_t *small, const uint64_t *large) {
  uint64_t outside = 0;
  for (size_t w = 0; w < c->words && !outside; w++)
    outside |= small[w] & ~large[w];
  return !outside;
}

/* What is known about a set. */

static uint64_t hash_of (const treeml_certify *c, const part *p) {
  uint64_t hash = (uint64_t) p->depth * 0x9e3779b97f4a7c15u + (uint64_t) p->leaves;
  for (size_t w = 0; w < c->words; w++) {
    hash = (hash ^ p->set[w]) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

static certify_node *find_node (const treeml_certify *c, const part *p, uint64_t hash) {
  certify_node *node = c->table[hash & (c->table_size - 1)];
  while (node && (node->hash != hash || node->depth != p->depth || node->leaves != p->leaves ||
                  memcmp (node->set, p->set, c->words * sizeof *p->set)))
    node = node->next;
  return node;
}

static void enlarge_table (treeml_certify *c) {
  size_t size = 4 * c->table_size;
  certify_node **table = certify_make (c, size, sizeof *table);
  for (size_t i = 0; i < c->table_size; i++)
    for (certify_node *node = c->table[i], *next; node; node = next) {
      next = node->next;
      node->next = table[node->hash & (size - 1)];
      table[node->hash & (size - 1)] = node;
    }
  c->table = table;
  c->table_size = size;
}

/* The newest node of this depth whose path ends with the same answer to the same test. */
static certify_node **newest_alike (const treeml_certify *c, const part *p) {
  return &c->alike[(int64_t) p->path[p->path_size - 1] * (c->depth + 1) + p->depth];
}

static certify_node *add_node (treeml_certify *c, const part *p, uint64_t hash) {
  if (c->node_count++ > c->table_size)
    enlarge_table (c);
  certify_node *node = certify_make (c, 1, sizeof *node);
  uint64_t *set = certify_make (c, c->words, sizeof *set);
  int32_t *path = certify_make (c, (size_t) p->path_size, sizeof *path);
  memcpy (set, p->set, c->words * sizeof *set);
  memcpy (path, p->path, (size_t) p->path_size * sizeof *path);
  *node = (certify_node) {.set = set,
                          .path = path,
                          .hash = hash,
                          .claim = -1,
                          .path_size = p->path_size,
                          .depth = p->depth,
                          .leaves = p->leaves};
  node->next = c->table[hash & (c->table_size - 1)];
  c->table[hash & (c->table_size - 1)] = node;
  node->older = c->newest[p->depth];
  c->newest[p->depth] = node;
  if (p->path_size) {
    certify_node **alike = newest_alike (c, p);
    node->older_alike = *alike;
    *alike = node;
  }
  return node;
}

static int64_t add_claim (treeml_certify *c, certify_node *node, int64_t bound, int64_t *entries, size_t count) {
  if (c->claim_count == c->claim_room) {
    size_t room = c->claim_room ? 2 * c->claim_room : 256;
    certify_claim *claims = certify_make (c, room, sizeof *claims);
    if (c->claim_count)
      memcpy (claims, c->claims, c->claim_count * sizeof *claims);
    c->claims = claims;
    c->claim_room = room;
  }
  c->claims[c->claim_count] = (certify_claim) {.bound = bound,
                                               .path = node->path,
                                               .entries = entries,
                                               .entry_count = (int64_t) count,
                                               .number = -1,
                                               .path_size = node->path_size,
                                               .depth = node->depth,
                                               .leaves = node->leaves};
  return node->claim = (int64_t) c->claim_count++;
}

/* The code by which an entry refers to a node. A set of depth two can also be recomputed in place if it is the same:
   the code is then negative, and `treeml_certify_text` decides, when it is known how often the set is needed. */
static int64_t code_of (treeml_certify *c, certify_node *node, int is_same) {
  if (node->claim < 0)
    add_claim (c, node, node->lower, NULL, 0);
  int64_t code = node->claim + CERTIFY_CLAIM;
  return node->depth <= c->deepest && is_same ? -code : code;
}

/* The bound of a node less the rows that it has more; a least number of rows per leaf needs a superset, squares a
 * subset. */
static int64_t similar (const treeml_certify *c, const certify_node *node, const part *p, int64_t wanted) {
  if (node->lower < wanted || node->leaves < p->leaves)
    return 0;
  if (c->support > 1 && !is_subset (c, p->set, node->set))
    return 0;
  int64_t less = c->squared ? (is_subset (c, node->set, p->set) ? 0 : CERTIFY_LIMIT)
                            : lost (c, node->set, p->set, node->lower - wanted);
  return node->lower - less;
}

/* The best bound that is known without a search; it stops looking at `wanted`. */
static evidence known_bound (treeml_certify *c, const part *p, int64_t wanted) {
  evidence best = {c->price, CERTIFY_TRIVIAL};
  if (best.bound >= wanted)
    return best;
  certify_node *own = find_node (c, p, hash_of (c, p));
  if (own && own->lower > best.bound && (p->depth <= c->deepest || own->claim >= 0))
    best = (evidence) {own->lower, code_of (c, own, 1)};
  if (own && (own->exact || best.bound >= wanted))
    return best;
  certify_node *chosen = NULL;
  for (int alike = p->path_size > 0; alike >= 0 && best.bound < wanted; alike--) {
    int left = alike ? COMPARED_ALIKE : COMPARED;
    certify_node *node = alike ? *newest_alike (c, p) : c->newest[p->depth];
    for (; node && left-- && best.bound < wanted; node = alike ? node->older_alike : node->older) {
      int64_t bound = node->depth > c->deepest && node->claim < 0 ? 0 : similar (c, node, p, best.bound + 1);
      if (bound > best.bound) {
        best.bound = bound;
        chosen = node;
      }
    }
  }
  if (chosen)
    best.code = code_of (c, chosen, 0);
  return best;
}

/* Claims in the making. */

static void add_entry (treeml_certify *c, draft *d, const int64_t range[4], int64_t yes, int64_t no) {
  if (d->count == d->room) {
    size_t room = d->room ? 2 * d->room : 32;
    int64_t *entries = certify_make (c, 6 * room, sizeof *entries);
    if (d->count)
      memcpy (entries, d->entries, 6 * d->count * sizeof *entries);
    d->entries = entries;
    d->room = room;
  }
  int64_t *entry = d->entries + 6 * d->count++;
  memcpy (entry, range, 4 * sizeof *entry);
  entry[4] = yes;
  entry[5] = no;
}

static void extend (part *to, const part *from, uint64_t *set, int64_t test, int yes, int64_t leaves) {
  memcpy (to->path, from->path, (size_t) from->path_size * sizeof *to->path);
  to->path[from->path_size] = (int32_t) (2 * test + yes);
  to->path_size = from->path_size + 1;
  to->depth = from->depth - 1;
  to->set = set;
  int64_t most = to->depth < 6 ? (int64_t) 1 << to->depth : CERTIFY_LEAVES;
  to->leaves = (int32_t) (leaves < most ? leaves : most);
}

/* Bounds on both sides that add up to the target, or the least costs of both sides, which lower the target. */
static void prove_sides (treeml_certify *c, draft *d, const part side[2], evidence found[2]) {
  found[0] = known_bound (c, &side[0], d->target - c->price);
  found[1] = known_bound (c, &side[1], d->target - found[0].bound);
  int64_t lines, leaf[2];
  for (int s = 0; s < 2; s++)
    leaf[s] = certify_leaf_of (c, side[s].set, &lines);
  int first = leaf[1] > leaf[0];
  for (int turn = 0; turn < 2 && found[0].bound + found[1].bound < d->target && !c->stopped; turn++) {
    int s = turn ? !first : first;
    evidence better = prove (c, &side[s], d->target - found[!s].bound);
    if (better.bound > found[s].bound)
      found[s] = better;
  }
  if (found[0].bound + found[1].bound < d->target) {
    d->target = found[0].bound + found[1].bound;
    d->attained = 1;
  }
  for (int s = 0; s < 2; s++)
    if (found[s].bound >= d->target)
      found[!s] = (evidence) {c->price, CERTIFY_TRIVIAL};
}

/* Tests that split the set alike, for the whole range of leaves or, if that is not enough, for every number of leaves
   of the yes side. */
static void cover_test (treeml_certify *c, draft *d, int64_t test, int64_t last, const part side[2]) {
  evidence found[2];
  int64_t most = c->leaves ? d->of->leaves - 1 : 1, before = d->target;
  int attained = d->attained;
  if (!c->leaves || most == 1) {
    prove_sides (c, d, side, found);
    add_entry (c, d, (int64_t[]) {test, last, 1, 1}, found[0].code, found[1].code);
    return;
  }
  part wide[2] = {side[0], side[1]};
  prove_sides (c, d, wide, found);
  if (d->target == before) {
    add_entry (c, d, (int64_t[]) {test, last, 1, most}, found[0].code, found[1].code);
    return;
  }
  d->target = before;
  d->attained = attained;
  for (int64_t leaves = 1; leaves <= most; leaves++) {
    part narrow[2];
    for (int s = 0; s < 2; s++)
      extend (&narrow[s], d->of, side[s].set, test, !s, s ? d->of->leaves - leaves : leaves);
    prove_sides (c, d, narrow, found);
    add_entry (c, d, (int64_t[]) {test, last, leaves, leaves}, found[0].code, found[1].code);
  }
}

/* The cuts of a column that split the set. */
typedef struct {
  int64_t family, count;
  int32_t *cut;   /* the place of the last row on the yes side */
  int32_t *alike; /* the last place that splits the set as the cut does */
  int64_t *moved; /* cost of the rows on the yes side of each cut */
} column_cuts;

static void cut_sides (treeml_certify *c, draft *d, const column_cuts *cuts, int64_t at, part side[2]) {
  int64_t test = c->first[cuts->family] + cuts->cut[at];
  for (int s = 0; s < 2; s++) {
    uint64_t *set = c->side[2 * d->of->depth + s];
    certify_take_side (c, d->of->set, cuts->family, cuts->cut[at], !s, set);
    extend (&side[s], d->of, set, test, !s, c->leaves ? d->of->leaves - 1 : CERTIFY_LEAVES);
  }
}

/* Cuts low to high, given bounds on the yes side of the cut before and on the no side of the cut after. */
static void cover_cuts (treeml_certify *c, draft *d, const column_cuts *cuts, int64_t low, int64_t high,
                        const evidence given[2]) {
  if (low > high)
    return;
  int64_t first = c->first[cuts->family], most = c->leaves ? d->of->leaves - 1 : 1;
  int64_t end = cuts->cut[high + 1] - 1;
  int simple = c->support == 1 && (!c->leaves || most == 1);
  part side[2];
  if (simple && given[0].bound + given[1].bound >= d->target) {
    add_entry (c, d, (int64_t[]) {first + cuts->cut[low], first + end, 1, 1}, given[0].code, given[1].code);
    return;
  }
  int64_t at = low + (high - low) / 2, from = at, to = at;
  cut_sides (c, d, cuts, at, side);
  if (!simple) {
    cover_test (c, d, first + cuts->cut[at], first + cuts->alike[at], side);
    cover_cuts (c, d, cuts, low, at - 1, given);
    cover_cuts (c, d, cuts, at + 1, high, given);
    return;
  }
  evidence found[2];
  prove_sides (c, d, side, found);
  int64_t slack = found[0].bound + found[1].bound - d->target;
  while (!c->squared) {
    int64_t down = from > low ? cuts->moved[from] - cuts->moved[from - 1] : CERTIFY_LIMIT;
    int64_t up = to < high ? cuts->moved[to + 1] - cuts->moved[to] : CERTIFY_LIMIT;
    if ((down < up ? down : up) > slack)
      break;
    slack -= down < up ? down : up;
    from -= down < up;
    to += down >= up;
  }
  add_entry (c, d, (int64_t[]) {first + cuts->cut[from], first + cuts->cut[to + 1] - 1, 1, 1}, found[0].code,
             found[1].code);
  evidence below[2] = {given[0], found[1]}, above[2] = {found[0], given[1]};
  if (given[1].bound > found[1].bound)
    below[1] = given[1];
  if (given[0].bound > found[0].bound)
    above[0] = given[0];
  cover_cuts (c, d, cuts, low, from - 1, below);
  cover_cuts (c, d, cuts, to + 1, high, above);
}

static void cover_column (treeml_certify *c, draft *d, int64_t family) {
  const int32_t *place = c->place + family * c->rows, *order = c->order + family * c->rows;
  column_cuts cuts = {family, 0, c->cut[d->of->depth], c->cut_end[d->of->depth], c->moved[d->of->depth]};
  int64_t total = 0, tests = c->first[family + 1] - c->first[family], lines = 0, all = lines_of (c, d->of->set);
  int32_t last = -1;
  for (int64_t i = 0; i < c->rows; i++) {
    size_t row = (size_t) order[i];
    if (!(d->of->set[row / 64] >> row % 64 & 1))
      continue;
    if (last >= 0 && place[row] != last && last < tests && lines >= c->support && all - lines >= c->support) {
      cuts.cut[cuts.count] = last;
      cuts.alike[cuts.count] = (int32_t) (place[row] < tests ? place[row] : tests) - 1;
      cuts.moved[cuts.count++] = total;
    }
    last = place[row];
    total += c->loss[row];
    lines += c->count[row];
  }
  if (!cuts.count)
    return;
  /* Cuts up to the next row split the set alike. */
  cuts.cut[cuts.count] = (int32_t) (last < tests ? last : tests);
  evidence none[2] = {{c->price, CERTIFY_TRIVIAL}, {c->price, CERTIFY_TRIVIAL}};
  cover_cuts (c, d, &cuts, 0, cuts.count - 1, none);
}

/* Columns are tried in this order: those first that split well by themselves. */
static int by_score (const void *a, const void *b) {
  const certify_column *x = a, *y = b;
  return x->score != y->score ? (x->score < y->score ? -1 : 1) : (x->family > y->family) - (x->family < y->family);
}

static uint64_t canonical_hash (const treeml_certify *c, const uint64_t *set, const uint64_t *yes, int *flip) {
  size_t w = 0;
  while (w < c->words && !set[w])
    w++;
  *flip = w < c->words && (yes[w] & (set[w] & -set[w]));
  uint64_t hash = 0;
  for (w = 0; w < c->words; w++) {
    hash = (hash ^ (*flip ? yes[w] ^ set[w] : yes[w])) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 29;
  }
  return hash | 1;
}

/* The columns with a test that splits the set; from `doubles` on those that split it as an earlier one does. */
static size_t rank_columns (treeml_certify *c, const draft *d, certify_column *columns, size_t *doubles) {
  size_t kept = 0, room = c->seen_room;
  uint64_t *seen = c->seen, *yes = c->side[2 * d->of->depth], *no = c->side[2 * d->of->depth + 1];
  memset (seen, 0, room * sizeof *seen);
  *doubles = (size_t) c->families;
  for (int64_t f = 0; f < c->families; f++) {
    if (c->first[f + 1] - c->first[f] != 1) {
      columns[kept++] = (certify_column) {-1, (int32_t) f, -1};
      continue;
    }
    certify_take_side (c, d->of->set, f, 0, 1, yes);
    certify_take_side (c, d->of->set, f, 0, 0, no);
    int64_t lines[2], cost = certify_leaf_of (c, yes, &lines[0]) + certify_leaf_of (c, no, &lines[1]);
    if (lines[0] < c->support || lines[1] < c->support)
      continue;
    int flip;
    uint64_t hash = canonical_hash (c, d->of->set, yes, &flip);
    size_t at = hash & (room - 1);
    while (seen[at] && seen[at] != hash)
      at = (at + 1) & (room - 1);
    if (seen[at]) {
      columns[--*doubles] = (certify_column) {flip != (c->seen_family[at] & 1), (int32_t) f, c->seen_family[at] / 2};
      continue;
    }
    seen[at] = hash;
    c->seen_family[at] = 2 * (int32_t) f + flip;
    columns[kept++] = (certify_column) {cost, (int32_t) f, -1};
  }
  qsort (columns, kept, sizeof *columns, by_score);
  return kept;
}

/* A test that splits the set as another one does, or the other way around, has the same evidence. */
static void cover_double (treeml_certify *c, draft *d, const certify_column *column) {
  int64_t test = c->first[column->family], other = c->first[column->double_of], most = d->of->leaves;
  for (size_t i = 0, count = d->count; i < count; i++) {
    const int64_t *entry = d->entries + 6 * i;
    if (entry[0] != other)
      continue;
    int64_t fewest = column->score && c->leaves ? most - entry[3] : entry[2];
    int64_t larger = column->score && c->leaves ? most - entry[2] : entry[3];
    int64_t codes[2] = {entry[column->score ? 5 : 4], entry[column->score ? 4 : 5]};
    add_entry (c, d, (int64_t[]) {test, test, fewest, larger}, codes[0], codes[1]);
  }
}

static evidence split (treeml_certify *c, const part *p, int64_t bound) {
  uint64_t hash = hash_of (c, p);
  int64_t lines, leaf = certify_leaf_of (c, p->set, &lines);
  draft d = {.of = p, .target = bound < leaf ? bound : leaf, .attained = leaf <= bound};
  if (c->leaves && p->leaves == 1) {
    d.target = leaf;
    d.attained = 1;
  } else {
    certify_column *columns = c->columns[p->depth];
    size_t doubles, kept = rank_columns (c, &d, columns, &doubles);
    for (size_t i = 0; i < kept; i++) {
      int64_t f = columns[i].family;
      c->stopped |= c->interrupted || clock_seconds () > c->deadline;
      if (c->first[f + 1] - c->first[f] == 1) {
        part side[2];
        column_cuts one = {.family = f, .cut = (int32_t[]) {0}};
        cut_sides (c, &d, &one, 0, side);
        cover_test (c, &d, c->first[f], c->first[f], side);
      } else
        cover_column (c, &d, f);
    }
    for (size_t i = doubles; i < (size_t) c->families; i++)
      cover_double (c, &d, &columns[i]);
  }
  certify_node *node = find_node (c, p, hash);
  if (!node)
    node = add_node (c, p, hash);
  node->lower = d.target;
  node->exact = d.attained && !c->stopped;
  return (evidence) {d.target, add_claim (c, node, d.target, d.entries, d.count) + CERTIFY_CLAIM};
}

/* A bound on the set that reaches `bound`, or its least cost; less than either only if the search was stopped. */
static evidence prove (treeml_certify *c, const part *p, int64_t bound) {
  certify_node *node = find_node (c, p, hash_of (c, p));
  if (bound <= c->price)
    return (evidence) {c->price, CERTIFY_TRIVIAL};
  if (node && (node->exact || node->lower >= bound))
    return (evidence) {node->lower, code_of (c, node, 1)};
  if (p->depth > c->deepest)
    return split (c, p, bound);
  if (!node)
    node = add_node (c, p, hash_of (c, p));
  node->lower = certify_recompute (c, p->set, p->depth, p->leaves);
  node->exact = 1;
  return (evidence) {node->lower, code_of (c, node, 1)};
}

int64_t certify_root (treeml_certify *c, int64_t bound, int64_t *claim) {
  uint64_t *all = certify_make (c, c->words, sizeof *all);
  for (int64_t row = 0; row < c->rows; row++)
    all[row / 64] |= (uint64_t) 1 << row % 64;
  part root = {.set = all, .depth = c->depth, .leaves = c->leaves ? c->leaves : CERTIFY_LEAVES};
  evidence found;
  if (c->depth > c->deepest)
    found = split (c, &root, bound);
  else {
    certify_node *node = add_node (c, &root, hash_of (c, &root));
    int64_t value = certify_recompute (c, root.set, root.depth, root.leaves);
    node->lower = value < bound ? value : bound;
    found = (evidence) {node->lower, add_claim (c, node, node->lower, NULL, 0) + CERTIFY_CLAIM};
  }
  *claim = found.code - CERTIFY_CLAIM;
  return found.bound;
}
