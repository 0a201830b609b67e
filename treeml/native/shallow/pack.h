/* Sets of rows as bit sets: packed together with the tests that distinguish some of them, counted by class, and
   hashed. */
#ifndef TREEML_SHALLOW_PACK_H
#define TREEML_SHALLOW_PACK_H

#include <stdint.h>

#include "common/arena.h"

enum { constant_yes = -1, constant_no = -2 };

typedef uint64_t word;

struct set_key {
  uint64_t first, second;
};

/* Rows with the tests that distinguish some of them, packed. */
struct pack {
  int32_t rows, words, tests, class_count, all_tests; /* all_tests: the number of the caller's tests */
  word *bits;                                         /* tests x words */
  word *classes;                                      /* classes x words */
  struct set_key *key;                                /* for every row */
  int32_t *number;                                    /* for every test: its number among the caller's */
  int32_t *place; /* for every test of the caller: 2 * place + (1 if exchanged), or a constant */
};

/* Allocates zeroed memory for this many rows and tests; 0 if there is not enough. */
int shallow_pack_allocate (struct arena *, struct pack *, int32_t rows, int32_t tests, int32_t classes,
                           int32_t all_tests);
void shallow_pack_free (struct arena *, struct pack *);

/* Fills in the tests, of which the first of equal and of complementary ones is kept. `bits` holds a row of words for
   every test of `number` and is overwritten. */
int shallow_pack_tests (struct arena *, struct pack *, word *bits, int32_t tests, const int32_t *number);

/* Packs the rows of a set, together with the tests that distinguish some of them. */
int shallow_pack_set (struct arena *, const struct pack *, const word *set, int32_t rows, struct pack *smaller);

/* Whether all rows of the set are of one class, and which. */
int shallow_is_uniform (const struct pack *, const word *set, int32_t *which);
struct set_key shallow_key_of (const struct pack *, const word *set);
uint64_t shallow_mixed (uint64_t *state);

#endif
