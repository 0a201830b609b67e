/* Equal tests are found by sorting their hashes, so that packing takes linear time except for the sort. The
   complement of a test counts as equal to it, with the sides exchanged. */
#include "shallow/pack.h"

#include "common/bits.h"

#include <stdlib.h>
#include <string.h>

uint64_t shallow_mixed (uint64_t *state) {
  uint64_t value = (*state += 0x9e3779b97f4a7c15u);
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

/* Packing. */

void shallow_pack_free (struct arena *arena, struct pack *pack) {
  arena_release (arena, pack->bits);
  arena_release (arena, pack->classes);
  arena_release (arena, pack->key);
  arena_release (arena, pack->number);
  arena_release (arena, pack->place);
  memset (pack, 0, sizeof *pack);
}

int shallow_pack_allocate (struct arena *arena, struct pack *pack, int32_t rows, int32_t tests, int32_t classes,
                           int32_t all_tests) {
  memset (pack, 0, sizeof *pack);
  pack->rows = rows;
  pack->class_count = classes;
  pack->all_tests = all_tests;
  pack->words = (rows + 63) / 64;
  pack->bits = arena_allocate (arena, (size_t) tests * (size_t) pack->words, sizeof (word));
  pack->classes = arena_allocate (arena, (size_t) classes * (size_t) pack->words, sizeof (word));
  pack->key = arena_allocate (arena, (size_t) rows, sizeof *pack->key);
  pack->number = arena_allocate (arena, (size_t) tests, sizeof *pack->number);
  pack->place = arena_allocate (arena, (size_t) all_tests, sizeof *pack->place);
  if (pack->bits && pack->classes && pack->key && pack->number && pack->place)
    return 1;
  shallow_pack_free (arena, pack);
  return 0;
}

struct sorted {
  uint64_t hash;
  int32_t test;
};

static int by_hash (const void *left, const void *right) {
  const struct sorted *a = left, *b = right;
  if (a->hash != b->hash)
    return a->hash < b->hash ? -1 : 1;
  return (a->test > b->test) - (a->test < b->test);
}

/* The bits of the last word that stand for rows. */
static word last_bits (const struct pack *pack) {
  return pack->rows % 64 ? ((word) 1 << (pack->rows % 64)) - 1 : ~(word) 0;
}

static void complement (const struct pack *pack, word *row) {
  for (int32_t w = 0; w < pack->words; w++)
    row[w] = ~row[w];
  row[pack->words - 1] &= last_bits (pack);
}

static uint64_t hash_of (const struct pack *pack, const word *row) {
  uint64_t hash = 0;
  for (int32_t w = 0; w < pack->words; w++) {
    uint64_t state = row[w] ^ hash;
    hash = shallow_mixed (&state);
  }
  return hash;
}

/* Complements tests that the first row passes, so that complementary tests become equal, and hashes the tests that are
   not constant. Returns how many these are. */
static int32_t hash_tests (struct pack *pack, word *bits, int32_t tests, const int32_t *number, struct sorted *order,
                           char *flipped) {
  const int32_t words = pack->words;
  const word last = last_bits (pack);
  int32_t varying = 0;
  for (int32_t t = 0; t < tests; t++) {
    word *row = bits + (int64_t) t * words;
    int any = 0, all = 1;
    for (int32_t w = 0; w < words; w++) {
      any |= row[w] != 0;
      all &= row[w] == (w + 1 < words ? ~(word) 0 : last);
    }
    if (!any || all) {
      pack->place[number[t]] = any ? constant_yes : constant_no;
      continue;
    }
    flipped[t] = (char) (row[0] & 1);
    if (flipped[t])
      complement (pack, row);
    order[varying++] = (struct sorted) {hash_of (pack, row), t};
  }
  return varying;
}

/* Keeps the first of equal and of complementary tests. `bits` holds a row of words for every test of the caller; a test
   that is marked as constant in `place` stays constant. */
int shallow_pack_tests (struct arena *arena, struct pack *pack, word *bits, int32_t tests, const int32_t *number) {
  const int32_t words = pack->words;
  struct sorted *order = arena_allocate (arena, (size_t) tests + 1, sizeof *order);
  char *flipped = arena_allocate (arena, (size_t) tests + 1, 1);
  if (!order || !flipped) {
    arena_release (arena, order);
    arena_release (arena, flipped);
    return 0;
  }
  const int32_t varying = hash_tests (pack, bits, tests, number, order, flipped);
  qsort (order, (size_t) varying, sizeof *order, by_hash);
  for (int32_t i = 0; i < varying; i++) {
    int32_t t = order[i].test, like = pack->tests - 1;
    const word *row = bits + (int64_t) t * words;
    for (; like >= 0 && i && order[i].hash == order[i - 1].hash; like--)
      if (!memcmp (pack->bits + (int64_t) like * words, row, (size_t) words * sizeof *row))
        break;
    if (!i || order[i].hash != order[i - 1].hash || like < 0) {
      like = pack->tests++;
      memcpy (pack->bits + (int64_t) like * words, row, (size_t) words * sizeof *row);
      pack->number[like] = number[t];
    }
    pack->place[number[t]] = 2 * like + flipped[t];
  }
  /* Undo the complement of the tests that are kept. */
  for (int32_t i = 0; i < pack->tests; i++) {
    flipped[i] = (char) (pack->place[pack->number[i]] & 1);
    if (flipped[i])
      complement (pack, pack->bits + (int64_t) i * words);
  }
  for (int32_t t = 0; t < tests; t++) {
    int32_t *place = &pack->place[number[t]];
    if (*place >= 0 && flipped[*place / 2])
      *place ^= 1;
  }
  arena_release (arena, order);
  arena_release (arena, flipped);
  return 1;
}

/* Packs the rows of a set, together with the tests that distinguish some of them. */
int shallow_pack_set (struct arena *arena, const struct pack *old, const word *set, int32_t rows, struct pack *pack) {
  if (!shallow_pack_allocate (arena, pack, rows, old->tests, old->class_count, old->all_tests))
    return 0;
  int32_t *kept = arena_allocate (arena, (size_t) rows, sizeof *kept);
  word *bits = arena_allocate (arena, (size_t) old->tests * (size_t) pack->words + 1, sizeof *bits);
  int done = kept && bits;
  if (done) {
    int32_t place = 0;
    for (int32_t w = 0; w < old->words; w++)
      for (word rest = set[w]; rest; rest &= rest - 1)
        kept[place++] = 64 * w + lowest_bit (rest);
    for (int32_t r = 0; r < rows; r++) {
      int32_t from = kept[r];
      pack->key[r] = old->key[from];
      for (int32_t c = 0; c < old->class_count; c++)
        if (old->classes[(int64_t) c * old->words + from / 64] >> (from % 64) & 1)
          pack->classes[(int64_t) c * pack->words + r / 64] |= (word) 1 << (r % 64);
    }
    for (int32_t t = 0; t < old->tests; t++) {
      const word *source = old->bits + (int64_t) t * old->words;
      word *target = bits + (int64_t) t * pack->words;
      for (int32_t r = 0; r < rows; r++)
        target[r / 64] |= (source[kept[r] / 64] >> (kept[r] % 64) & 1) << (r % 64);
    }
    done = shallow_pack_tests (arena, pack, bits, old->tests, old->number);
    /* Tests that were equal to another one are equal to whatever that one has become. */
    for (int32_t t = 0; done && t < old->all_tests; t++) {
      int32_t before = old->place[t];
      if (before < 0) {
        pack->place[t] = before;
      } else if (old->number[before / 2] != t) {
        int32_t after = pack->place[old->number[before / 2]];
        if (before & 1)
          after = after >= 0 ? after ^ 1 : after == constant_yes ? constant_no : constant_yes;
        pack->place[t] = after;
      }
    }
  }
  arena_release (arena, kept);
  arena_release (arena, bits);
  if (!done)
    shallow_pack_free (arena, pack);
  return done;
}

int shallow_is_uniform (const struct pack *pack, const word *set, int32_t *which) {
  int32_t w = 0;
  while (w < pack->words && !set[w])
    w++;
  if (w == pack->words)
    return 0;
  word first = set[w] & (~set[w] + 1);
  int32_t c = 0;
  while (!(pack->classes[(int64_t) c * pack->words + w] & first))
    c++;
  *which = c;
  const word *members = pack->classes + (int64_t) c * pack->words;
  for (; w < pack->words; w++)
    if (set[w] & ~members[w])
      return 0;
  return 1;
}

struct set_key shallow_key_of (const struct pack *pack, const word *set) {
  struct set_key key = {0, 0};
  for (int32_t w = 0; w < pack->words; w++)
    for (word rest = set[w]; rest; rest &= rest - 1) {
      const struct set_key *row = &pack->key[64 * w + lowest_bit (rest)];
      key.first ^= row->first;
      key.second ^= row->second;
    }
  return key;
}
