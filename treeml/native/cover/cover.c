/* Enumerates states level by level: every state is split by every test, and equal states are found by hashing their
   bits. */
#include "cover/shared.h"

#include "common/bits.h"

#include <stdlib.h>
#include <string.h>

struct treeml_cover {
  int words, stride, levels;
  int64_t states, state_room, arcs, arc_room, bytes, max_bytes;
  int64_t *level_start;
  uint64_t *keys;
  int32_t *arc[4];
};

static uint64_t hash_key (const uint64_t *key, int words) {
  uint64_t hash = 0x9e3779b97f4a7c15u;
  for (int i = 0; i < words; i++) {
    hash ^= key[i];
    hash *= 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash ^ (hash >> 29);
}

/* A growing table of states and arcs. */

static int grow (treeml_cover *cover, void **block, int64_t *room, int64_t need, size_t size) {
  if (need <= *room)
    return 1;
  int64_t wanted = *room ? *room * 2 : 1024;
  while (wanted < need)
    wanted *= 2;
  int64_t extra = (wanted - *room) * (int64_t) size;
  if (cover->max_bytes && cover->bytes + extra > cover->max_bytes)
    return 0;
  void *moved = memory_resize (*block, (size_t) wanted, size);
  if (!moved)
    return 0;
  cover->bytes += extra;
  *block = moved;
  *room = wanted;
  return 1;
}

static int add_arc (treeml_cover *cover, int32_t parent, int32_t test, int32_t yes, int32_t no) {
  const int32_t values[4] = {parent, test, yes, no};
  if (cover->arcs + 1 > cover->arc_room) {
    int64_t room = 0;
    for (int i = 0; i < 4; i++) {
      room = cover->arc_room;
      void *block = cover->arc[i];
      if (!grow (cover, &block, &room, cover->arcs + 1, sizeof (int32_t)))
        return 0;
      cover->arc[i] = block;
    }
    cover->arc_room = room;
  }
  for (int i = 0; i < 4; i++)
    cover->arc[i][cover->arcs] = values[i];
  cover->arcs++;
  return 1;
}

typedef struct {
  int32_t *slot; /* state + 1, or 0 for empty */
  uint64_t mask;
  int64_t used;
} index_table;

static int index_rebuild (const treeml_cover *cover, index_table *index, int64_t first, uint64_t room) {
  int32_t *fresh = memory_allocate (room, sizeof *fresh);
  if (!fresh)
    return 0;
  memory_release (index->slot);
  index->slot = fresh;
  index->mask = room - 1;
  for (int64_t state = first; state < cover->states; state++) {
    uint64_t place = hash_key (cover->keys + state * cover->stride, cover->stride) & index->mask;
    while (fresh[place])
      place = (place + 1) & index->mask;
    fresh[place] = (int32_t) (state + 1);
  }
  return 1;
}

/* The number of the state with this key among those from `first` on, added if needed; -1 if out of memory. */
static int32_t find_state (treeml_cover *cover, index_table *index, int64_t first, const uint64_t *key) {
  const size_t size = (size_t) cover->stride * sizeof (uint64_t);
  uint64_t place = hash_key (key, cover->stride) & index->mask;
  while (index->slot[place]) {
    int64_t state = index->slot[place] - 1;
    if (!memcmp (cover->keys + state * cover->stride, key, size))
      return (int32_t) state;
    place = (place + 1) & index->mask;
  }
  if (cover->states >= INT32_MAX - 1)
    return -1;
  void *block = cover->keys;
  int64_t room = cover->state_room;
  if (!grow (cover, &block, &room, cover->states + 1, size))
    return -1;
  cover->keys = block;
  cover->state_room = room;
  memcpy (cover->keys + cover->states * cover->stride, key, size);
  index->slot[place] = (int32_t) (cover->states + 1);
  cover->states++;
  index->used++;
  if ((uint64_t) index->used * 2 > index->mask)
    if (!index_rebuild (cover, index, first, (index->mask + 1) * 2))
      return -1;
  return (int32_t) (cover->states - 1);
}

/* Enumeration. */

static int64_t counted (const uint64_t *set, int words, const int64_t *count) {
  int64_t total = 0;
  for (int w = 0; w < words; w++)
    for (uint64_t rest = set[w]; rest; rest &= rest - 1)
      total += count[64 * w + lowest_bit (rest)];
  return total;
}

static int64_t popcount (const uint64_t *set, int words) {
  int64_t total = 0;
  for (int w = 0; w < words; w++)
    total += count_bits (set[w]);
  return total;
}

/* Whether no tree on these rows can cost less than the best leaf. */
static int is_settled (const uint64_t *set, int words, int classes, const int64_t *cost, const int64_t *least,
                       int64_t *sums) {
  memset (sums, 0, (size_t) classes * sizeof *sums);
  int64_t floor_sum = 0;
  for (int w = 0; w < words; w++)
    for (uint64_t rest = set[w]; rest; rest &= rest - 1) {
      int row = 64 * w + lowest_bit (rest);
      floor_sum += least[row];
      for (int c = 0; c < classes; c++)
        sums[c] += cost[(int64_t) row * classes + c];
    }
  for (int c = 0; c < classes; c++)
    if (sums[c] == floor_sum)
      return 1;
  return 0;
}

/* An arc of the current state, by its two sides and the group of its test. */
typedef struct {
  int32_t low, high, group, test;
} pair_entry;

/* What an enumeration needs besides its result. */
typedef struct {
  const treeml_cover_input *input;
  treeml_cover *cover;
  double deadline;
  int units;         /* whether every row counts once */
  int64_t *least;    /* cost of the cheapest class of each row, or NULL without costs */
  uint64_t *scratch; /* three keys: of the state, its yes side and its no side */
  int64_t *sums;     /* one for each class */
  pair_entry *pairs; /* hash table of the arcs of the current state */
  uint32_t pair_mask;
} enumeration;

/* Whether an equal arc of the state is known; if not, it is added. */
static int is_known_arc (const enumeration *e, pair_entry entry) {
  uint32_t place =
      ((uint32_t) entry.low * 2654435761u ^ (uint32_t) entry.high * 40503u ^ (uint32_t) entry.group) & e->pair_mask;
  for (; e->pairs[place].test >= 0; place = (place + 1) & e->pair_mask) {
    const pair_entry *other = &e->pairs[place];
    if (other->low == entry.low && other->high == entry.high && other->group == entry.group)
      return 1;
  }
  e->pairs[place] = entry;
  return 0;
}

/* Splits the state in the scratch memory by one test. New states get numbers from `first` on. */
static int split_state (const enumeration *e, index_table *index, int64_t first, int32_t state, int64_t total,
                        int32_t test) {
  const treeml_cover_input *input = e->input;
  treeml_cover *cover = e->cover;
  const int words = cover->words, tags = input->tag_words;
  uint64_t *self = e->scratch, *yes = self + cover->stride, *no = yes + cover->stride;
  const uint64_t *bits = input->bits + (int64_t) test * words;
  uint64_t any_yes = 0, any_no = 0;
  for (int w = 0; w < words; w++) {
    yes[w] = self[w] & bits[w];
    no[w] = self[w] & ~bits[w];
    any_yes |= yes[w];
    any_no |= no[w];
  }
  if (!any_yes || !any_no)
    return TREEML_COVER_OK;
  if (input->support > 1) {
    const int64_t part = e->units ? popcount (yes, words) : counted (yes, words, input->count);
    if (part < input->support || total - part < input->support)
      return TREEML_COVER_OK;
  }
  for (int t = 0; t < tags; t++) {
    yes[words + t] = self[words + t] | input->tag_yes[(int64_t) test * tags + t];
    no[words + t] = self[words + t] | input->tag_no[(int64_t) test * tags + t];
  }
  const int32_t a = find_state (cover, index, first, yes);
  const int32_t b = a < 0 ? -1 : find_state (cover, index, first, no);
  if (b < 0)
    return TREEML_COVER_MEMORY;
  if (is_known_arc (e, (pair_entry) {a < b ? a : b, a < b ? b : a, input->group[test], test}))
    return TREEML_COVER_OK;
  return add_arc (cover, state, test, a, b) ? TREEML_COVER_OK : TREEML_COVER_MEMORY;
}

static int enumerate_level (const enumeration *e, int level) {
  const treeml_cover_input *input = e->input;
  treeml_cover *cover = e->cover;
  const int words = cover->words, stride = cover->stride;
  const int64_t begin = cover->level_start[level], end = cover->level_start[level + 1];
  index_table index = {NULL, 0, 0};
  int code = index_rebuild (cover, &index, end, 4096) ? TREEML_COVER_OK : TREEML_COVER_MEMORY;
  for (int64_t state = begin; state < end && code == TREEML_COVER_OK; state++) {
    if ((state & 63) == 0) {
      if (e->deadline >= 0 && clock_seconds () > e->deadline)
        code = TREEML_COVER_TIME;
      if (input->stopped && input->stopped ())
        code = TREEML_COVER_STOPPED;
    }
    memcpy (e->scratch, cover->keys + state * stride, (size_t) stride * sizeof *e->scratch);
    if (e->least && is_settled (e->scratch, words, input->classes, input->cost, e->least, e->sums))
      continue;
    const int64_t total = e->units ? popcount (e->scratch, words) : counted (e->scratch, words, input->count);
    memset (e->pairs, 0xff, (size_t) (e->pair_mask + 1) * sizeof *e->pairs);
    for (int32_t test = 0; test < input->tests && code == TREEML_COVER_OK; test++)
      code = split_state (e, &index, end, (int32_t) state, total, test);
  }
  memory_release (index.slot);
  return code;
}

static int check_input (const treeml_cover_input *input) {
  if (!input || input->rows <= 0 || input->tests < 0 || input->levels <= 0 || input->tag_words < 0 || !input->count)
    return TREEML_COVER_INPUT;
  if (input->tests > 0 && (!input->bits || !input->group))
    return TREEML_COVER_INPUT;
  if (input->tests > INT32_MAX / 8 || input->tag_words > INT32_MAX / 8 || input->rows > INT32_MAX / 2)
    return TREEML_COVER_INPUT;
  if (input->cost && input->classes <= 0)
    return TREEML_COVER_INPUT;
  if (!cover_sums_fit (input->rows, 1, input->count) ||
      (input->cost && !cover_sums_fit (input->rows, input->classes, input->cost)))
    return TREEML_COVER_OVERFLOW;
  if (input->tag_words > 0 && input->tests > 0 && (!input->tag_yes || !input->tag_no))
    return TREEML_COVER_INPUT;
  return TREEML_COVER_OK;
}

/* Allocates what an enumeration needs. */
static int prepare (enumeration *e) {
  const treeml_cover_input *input = e->input;
  const int words = cover_words (input->rows), stride = words + input->tag_words;
  uint32_t pair_room = 64;
  while (pair_room < 2u * (uint32_t) input->tests)
    pair_room *= 2;
  e->pair_mask = pair_room - 1;
  treeml_cover *cover = e->cover = memory_allocate (1, sizeof *cover);
  e->scratch = memory_allocate ((size_t) stride * 3, sizeof *e->scratch);
  e->sums = memory_allocate ((size_t) (input->classes > 0 ? input->classes : 1), sizeof *e->sums);
  e->least = input->cost ? memory_reserve ((size_t) input->rows, sizeof *e->least) : NULL;
  e->pairs = memory_reserve ((size_t) pair_room, sizeof *e->pairs);
  if (!cover || !e->scratch || !e->sums || !e->pairs || (input->cost && !e->least))
    return TREEML_COVER_MEMORY;
  cover->words = words;
  cover->stride = stride;
  cover->levels = input->levels;
  cover->max_bytes = input->max_bytes;
  cover->level_start = memory_allocate ((size_t) input->levels + 1, sizeof *cover->level_start);
  return cover->level_start ? TREEML_COVER_OK : TREEML_COVER_MEMORY;
}

/* The state of all rows. */
static int add_root (enumeration *e) {
  const treeml_cover_input *input = e->input;
  treeml_cover *cover = e->cover;
  const size_t bytes = (size_t) cover->stride * sizeof (uint64_t);
  e->units = 1;
  for (int row = 0; row < input->rows; row++) {
    e->units &= input->count[row] == 1;
    e->scratch[row / 64] |= (uint64_t) 1 << (row % 64);
    if (!e->least)
      continue;
    e->least[row] = INT64_MAX;
    for (int c = 0; c < input->classes; c++) {
      const int64_t value = input->cost[(int64_t) row * input->classes + c];
      if (value < e->least[row])
        e->least[row] = value;
    }
  }
  void *block = NULL;
  if (!grow (cover, &block, &cover->state_room, 1, bytes))
    return TREEML_COVER_MEMORY;
  cover->keys = block;
  memcpy (cover->keys, e->scratch, bytes);
  cover->states = 1;
  cover->level_start[1] = 1;
  return TREEML_COVER_OK;
}

int treeml_cover_enumerate (const treeml_cover_input *input, treeml_cover **result) {
  if (!result)
    return TREEML_COVER_INPUT;
  *result = NULL;
  int code = check_input (input);
  if (code)
    return code;
  enumeration e = {.input = input, .deadline = input->seconds < 0 ? -1.0 : clock_seconds () + input->seconds};
  code = prepare (&e);
  if (code == TREEML_COVER_OK)
    code = add_root (&e);
  for (int level = 0; code == TREEML_COVER_OK && level + 1 < input->levels; level++) {
    code = enumerate_level (&e, level);
    e.cover->level_start[level + 2] = e.cover->states;
  }
  memory_release (e.scratch);
  memory_release (e.sums);
  memory_release (e.least);
  memory_release (e.pairs);
  if (code == TREEML_COVER_OK)
    *result = e.cover;
  else
    treeml_cover_free (e.cover);
  return code;
}

void treeml_cover_free (treeml_cover *cover) {
  if (!cover)
    return;
  for (int i = 0; i < 4; i++)
    memory_release (cover->arc[i]);
  memory_release (cover->keys);
  memory_release (cover->level_start);
  memory_release (cover);
}

int64_t treeml_cover_states (const treeml_cover *cover) { return cover->states; }
int64_t treeml_cover_arcs (const treeml_cover *cover) { return cover->arcs; }
const int64_t *treeml_cover_level_start (const treeml_cover *cover) { return cover->level_start; }
const uint64_t *treeml_cover_keys (const treeml_cover *cover) { return cover->keys; }
const int32_t *treeml_cover_arc_array (const treeml_cover *cover, int which) {
  return which < 0 || which > 3 ? NULL : cover->arc[which];
}
