/* Sets of rows as bit sets: packed with the tests that tell some of them apart, counted by class, and numbered. */
#ifndef TREEML_SHALLOW_PACK_H
#define TREEML_SHALLOW_PACK_H

#include <stdint.h>

#include "arena.h"

enum { constant_yes = -1, constant_no = -2 };

typedef uint64_t word;

struct key {
  uint64_t first, second;
};

/* Rows with the tests that tell some of them apart, packed. */
struct pack {
  int32_t rows, words, tests, class_count, all_tests; /* all_tests: the caller's */
  word *bits;         /* tests x words */
  word *classes;      /* classes x words */
  struct key *key;    /* of every row */
  int32_t *number;    /* of every test: the caller's */
  int32_t *place;     /* of every test of the caller: 2 * place + (1 if exchanged), or a constant */
};

/* Zeroed room for so many rows and tests; 0 if there is not enough memory. */
int shallow_pack_allocate (struct arena *, struct pack *, int32_t rows, int32_t tests, int32_t classes,
                           int32_t all_tests);
void shallow_pack_free (struct arena *, struct pack *);

/* Fills in the tests: of equal and of opposite ones the first stays. `bits` holds a row of words for every test of
   `number`, and is used up. */
int shallow_pack_tests (struct arena *, struct pack *, word *bits, int32_t tests, const int32_t *number);

/* The rows of a set, and the tests that tell some of them apart, on their own. */
int shallow_pack_set (struct arena *, const struct pack *, const word *set, int32_t rows, struct pack *smaller);

/* For every class how many of its members (classes x words) answer yes to the test. */
typedef void (*shallow_counter) (const word *members, const word *test, int32_t class_count, int32_t words,
                                 int32_t *counts);
shallow_counter shallow_best_counter (void);

/* Are all rows of the set of one class, and of which? */
int shallow_is_uniform (const struct pack *, const word *set, int32_t *which);
struct key shallow_key_of (const struct pack *, const word *set);
uint64_t shallow_mixed (uint64_t *state);

#endif
