/* The interface of the room: the problem in, claims as text out. */

#include "certify/certify.h"
#include "common/clock.h"
#include "common/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 18, TABLE = 1 << 12, OUT_OF_MEMORY = 2 };
/* A set of depth two that is needed more often than this becomes a claim; otherwise it is recomputed where it is
   needed, which takes less room. At depth 4 most sets are needed twice: two tests in either order. */
enum { INLINE_USES = 2 };

/* Zeroed memory that lives as long as the handle; leaves by longjmp if there is none. */
void *certify_make (treeml_certify *c, size_t count, size_t size) {
  if (size && count > SIZE_MAX / 4 / size)
    longjmp (c->failed, 1);
  size_t bytes = (count * size + 15) / 16 * 16, head = (sizeof (certify_block) + 15) / 16 * 16;
  certify_block *block = c->blocks;
  if (!block || block->room - block->used < bytes) {
    size_t room = head + (bytes > BLOCK ? bytes : BLOCK);
    block = memory_allocate (room, 1);
    if (!block)
      longjmp (c->failed, 1);
    block->room = room;
    block->used = head;
    block->next = c->blocks;
    c->blocks = block;
  }
  void *memory = (char *) block + block->used;
  block->used += bytes;
  return memory;
}

/* The rows of one family by place, by counting. */
static void sort_by_place (treeml_certify *c, size_t family, size_t places, int32_t *start) {
  size_t rows = (size_t) c->rows;
  const int32_t *place = c->place + family * rows;
  memset (start, 0, (places + 1) * sizeof *start);
  for (size_t row = 0; row < rows; row++)
    start[place[row] + 1]++;
  for (size_t i = 0; i < places; i++)
    start[i + 1] += start[i];
  for (size_t row = 0; row < rows; row++)
    c->order[family * rows + (size_t) start[place[row]]++] = (int32_t) row;
}

static void index_rows (treeml_certify *c, const int64_t *cuts) {
  size_t rows = (size_t) c->rows, families = (size_t) c->families;
  c->words = (rows + 63) / 64;
  c->first = certify_make (c, families + 1, sizeof *c->first);
  c->yes = certify_make (c, families, sizeof *c->yes);
  c->deepest = 2;
  for (size_t f = 0; f < families; f++) {
    c->first[f + 1] = c->first[f] + cuts[f];
    c->deepest = cuts[f] == 1 ? c->deepest : 1;
    if (cuts[f] != 1)
      continue;
    c->yes[f] = certify_make (c, c->words, sizeof **c->yes);
    for (size_t row = 0; row < rows; row++)
      c->yes[f][row / 64] |= (uint64_t) (c->place[f * rows + row] <= 0) << row % 64;
  }
  if (c->deepest < 2) {
    c->order = certify_make (c, families * rows, sizeof *c->order);
    int32_t *start = certify_make (c, (size_t) c->first[families] + 3, sizeof *start);
    for (size_t f = 0; f < families; f++)
      sort_by_place (c, f, (size_t) cuts[f] + 1, start);
  }
  c->same_loss = rows && c->loss[0] < INT32_MAX ? (int) c->loss[0] : 0;
  for (size_t row = 0; row < rows; row++)
    if (c->loss[row] != c->same_loss)
      c->same_loss = 0;
}

static void copy_rows (treeml_certify *c, const int32_t *place, const int64_t *vector, const int64_t *count) {
  size_t rows = (size_t) c->rows, channels = (size_t) c->channels, cells = (size_t) c->families * rows;
  int32_t *own = certify_make (c, cells, sizeof *own);
  memcpy (own, place, cells * sizeof *own);
  c->place = own;
  c->vector = certify_make (c, rows * channels, sizeof *c->vector);
  memcpy (c->vector, vector, rows * channels * sizeof *vector);
  c->count = certify_make (c, rows, sizeof *c->count);
  memcpy (c->count, count, rows * sizeof *count);
  c->loss = certify_make (c, rows, sizeof *c->loss);
  for (size_t row = 0; row < rows && !c->squared; row++)
    for (size_t k = 0; k < channels; k++)
      if (vector[row * channels + k] > c->loss[row])
        c->loss[row] = vector[row * channels + k];
}

treeml_certify *treeml_certify_create (const int32_t *place, const int64_t *cuts, int64_t families, int64_t rows,
                                       const int64_t *vector, int64_t channels, const int64_t *count, int32_t squared) {
  if (families < 1 || rows < 0 || channels < 1 || channels >= CERTIFY_CHANNELS || (squared && channels != 3))
    return NULL;
  treeml_certify *c = memory_allocate (1, sizeof *c);
  if (!c)
    return NULL;
  if (setjmp (c->failed)) {
    treeml_certify_destroy (c);
    return NULL;
  }
  c->families = families;
  c->rows = rows;
  c->channels = channels;
  c->squared = squared != 0;
  copy_rows (c, place, vector, count);
  index_rows (c, cuts);
  c->listed = certify_make (c, (size_t) rows, sizeof *c->listed);
  c->table = certify_make (c, TABLE, sizeof (certify_node *));
  c->table_size = TABLE;
  if (c->deepest == 2)
    certify_index_pairs (c);
  return c;
}

void treeml_certify_destroy (treeml_certify *c) {
  if (!c)
    return;
  for (certify_block *block = c->blocks, *next; block; block = next) {
    next = block->next;
    memory_release (block);
  }
  memory_release (c->text);
  memory_release (c);
}

int treeml_certify_limits (treeml_certify *c, int32_t depth, int32_t leaves, int64_t support, int64_t price) {
  if (setjmp (c->failed))
    return OUT_OF_MEMORY;
  if (depth < 0 || depth > CERTIFY_DEPTH || leaves < 0 || leaves > CERTIFY_LEAVES || support < 1 || price < 0)
    return 1;
  c->depth = depth;
  c->leaves = leaves;
  c->support = support;
  c->price = price;
  c->alike = certify_make (c, 2 * (size_t) c->first[c->families] * (size_t) (depth + 1), sizeof *c->alike);
  c->seen_room = 64;
  while (c->seen_room < 4 * (size_t) c->families)
    c->seen_room *= 2;
  c->seen = certify_make (c, c->seen_room, sizeof *c->seen);
  c->seen_family = certify_make (c, c->seen_room, sizeof *c->seen_family);
  for (size_t i = 0; i < sizeof c->side / sizeof *c->side; i++)
    if (i < 2 * (size_t) (depth + 1) || i >= 2 * CERTIFY_DEPTH + 2)
      c->side[i] = certify_make (c, c->words, sizeof **c->side);
  for (int32_t i = c->deepest + 1; i <= depth; i++) {
    c->columns[i] = certify_make (c, (size_t) c->families, sizeof **c->columns);
    c->cut[i] = certify_make (c, (size_t) c->rows + 1, sizeof **c->cut);
    c->cut_end[i] = certify_make (c, (size_t) c->rows + 1, sizeof **c->cut_end);
    c->moved[i] = certify_make (c, (size_t) c->rows + 1, sizeof **c->moved);
  }
  return 0;
}

void treeml_certify_interrupt (treeml_certify *c) { c->interrupted = 1; }

int treeml_certify_prove (treeml_certify *c, int64_t bound, double seconds, int64_t *proved) {
  if (setjmp (c->failed))
    return OUT_OF_MEMORY;
  c->deadline = isfinite (seconds) ? clock_seconds () + seconds : INFINITY;
  c->stopped = 0;
  *proved = certify_root (c, bound < 0 ? 0 : bound, &c->root);
  return c->stopped ? 1 : 0;
}

static void add_text (treeml_certify *c, int64_t number, char after) {
  if (c->text_room - c->text_size < 32) {
    size_t room = c->text_room ? 2 * c->text_room : 1 << 16;
    char *text = memory_resize (c->text, room, 1);
    if (!text)
      longjmp (c->failed, 1);
    c->text = text;
    c->text_room = room;
  }
  c->text_size += (size_t) snprintf (c->text + c->text_size, 32, "%" PRId64 "%c", number, after);
}

static int by_test (const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  for (int i = 0; i < 4; i += 2)
    if (x[i] != y[i])
      return x[i] < y[i] ? -1 : 1;
  return 0;
}

/* The code of an entry as it is written. */
static int64_t written_code (const treeml_certify *c, int64_t code) {
  int64_t claim = (code < 0 ? -code : code) - CERTIFY_CLAIM;
  if (claim < 0)
    return code;
  return c->claims[claim].number < 0 ? CERTIFY_RECOMPUTE : c->claims[claim].number + CERTIFY_CLAIM;
}

/* The entries as they are written, by test. Neighboring entries of single tests with the same evidence become one. */
static int64_t final_entries (const treeml_certify *c, const certify_claim *claim, int64_t *entries) {
  int64_t kept = 0;
  for (int64_t i = 0; i < claim->entry_count; i++) {
    memcpy (entries + 6 * i, claim->entries + 6 * i, 6 * sizeof *entries);
    for (int s = 4; s < 6; s++)
      entries[6 * i + s] = written_code (c, entries[6 * i + s]);
  }
  if (claim->entry_count)
    qsort (entries, (size_t) claim->entry_count, 6 * sizeof *entries, by_test);
  for (int64_t i = 0; i < claim->entry_count; i++) {
    int64_t *next = entries + 6 * i, *last = kept ? entries + 6 * (kept - 1) : NULL;
    if (last && c->deepest == 2 && last[1] + 1 == next[0] && !memcmp (last + 2, next + 2, 4 * sizeof *last))
      last[1] = next[1];
    else
      memmove (entries + 6 * kept++, next, 6 * sizeof *next);
  }
  return kept;
}

static void write_claim (treeml_certify *c, const certify_claim *claim) {
  int64_t *entries = memory_allocate (6 * (size_t) claim->entry_count, sizeof *entries);
  if (!entries)
    longjmp (c->failed, 1);
  int64_t count = final_entries (c, claim, entries);
  add_text (c, claim->depth, ' ');
  add_text (c, c->leaves ? claim->leaves : 0, ' ');
  add_text (c, claim->bound, ' ');
  add_text (c, claim->path_size, ' ');
  for (int32_t i = 0; i < claim->path_size; i++)
    add_text (c, claim->path[i], ' ');
  add_text (c, count, count ? ' ' : '\n');
  c->recomputed += claim->depth <= c->deepest;
  for (int64_t i = 0; i < count; i++)
    for (int j = 0; j < 6; j++)
      if (c->leaves || j < 2 || j > 3) {
        int64_t number = entries[6 * i + j];
        add_text (c, number, i + 1 == count && j == 5 ? '\n' : ' ');
        if (j > 3 && number == CERTIFY_RECOMPUTE)
          c->recomputed += c->deepest == 2 ? entries[6 * i + 1] - entries[6 * i] + 1 : 1;
      }
  memory_release (entries);
}

/* What a needed claim refers to is needed too. */
static void count_uses (treeml_certify *c) {
  for (int64_t i = 0; i <= c->root; i++)
    c->claims[i].uses = 0;
  c->claims[c->root].uses = INLINE_USES + 1;
  for (int64_t i = c->root; i >= 0; i--)
    for (int64_t j = 0; c->claims[i].uses && j < c->claims[i].entry_count; j++)
      for (int s = 4; s < 6; s++) {
        int64_t code = c->claims[i].entries[6 * j + s];
        if (code >= CERTIFY_CLAIM)
          c->claims[code - CERTIFY_CLAIM].uses += INLINE_USES + 1; /* by similarity: it must be written */
        else if (code < 0)
          c->claims[-code - CERTIFY_CLAIM].uses++;
      }
}

int treeml_certify_text (treeml_certify *c, const char **text, int64_t *size, int64_t *claims, int64_t *recomputed) {
  if (setjmp (c->failed))
    return OUT_OF_MEMORY;
  count_uses (c);
  c->text_size = 0;
  c->claims_written = c->recomputed = 0;
  for (int64_t i = 0; i <= c->root; i++) {
    int64_t inline_uses = c->claims[i].depth <= c->deepest ? INLINE_USES : 0;
    c->claims[i].number = c->claims[i].uses > inline_uses ? c->claims_written++ : -1;
    if (c->claims[i].number >= 0)
      write_claim (c, &c->claims[i]);
  }
  *text = c->text;
  *size = (int64_t) c->text_size;
  *claims = c->claims_written;
  *recomputed = c->recomputed;
  return 0;
}
