/* cover/: cover states, that is, the sets of rows that the nodes of a tree can hold, and the costs of leaves and small
   subtrees on them.

   A state is a set of rows (a bit set) followed by tag words, which distinguish paths that reach the same rows. States
   of one level are distinct. An arc splits a state by a test into a yes state and a no state of the next level. All
   numbers are integers; their meaning is up to the caller.

     treeml_cover *cover = NULL;
     int code = treeml_cover_enumerate (&input, &cover);
     if (code == TREEML_COVER_OK) { ... treeml_cover_states (cover) ... }
     treeml_cover_free (cover);
*/
#ifndef TREEML_COVER_H
#define TREEML_COVER_H

#include "treeml.h"

#include <stdint.h>

enum {
  TREEML_COVER_OK = 0,
  TREEML_COVER_MEMORY = 1,  /* the byte limit was reached, or an allocation failed */
  TREEML_COVER_TIME = 2,    /* the deadline passed */
  TREEML_COVER_INPUT = 3,   /* a null pointer, a size out of range, or a set with rows that do not exist */
  TREEML_COVER_STOPPED = 4, /* the function `stopped` asked for it */
  TREEML_COVER_OVERFLOW = 5 /* a sum of the given numbers may not fit in 64 bits */
};

typedef struct treeml_cover treeml_cover;

typedef struct treeml_cover_input {
  int32_t rows;
  int32_t tests;
  int32_t tag_words;
  int32_t levels;  /* states are enumerated for levels 0 .. levels - 1 */
  int32_t classes; /* number of classes in `cost` */
  int32_t reserved;
  int64_t support;         /* fewest rows of a state, by `count` */
  int64_t max_bytes;       /* 0: no limit */
  double seconds;          /* negative: no limit */
  const uint64_t *bits;    /* tests x words(rows): which rows answer yes */
  const uint64_t *tag_yes; /* tests x tag_words: added to the tag on the yes side; may be null if there are no tags */
  const uint64_t *tag_no;
  const int32_t *group; /* for each test: arcs to the same states become one if the groups of their tests are equal */
  const int64_t *count; /* for each row */
  const int64_t *cost;  /* rows x classes, or null; if given, states that no split can improve get no arcs */
  int32_t (*stopped) (void); /* called from time to time to ask whether to stop, or null */
} treeml_cover_input;

TREEML_PUBLIC int treeml_cover_enumerate (const treeml_cover_input *input, treeml_cover **result);
TREEML_PUBLIC void treeml_cover_free (treeml_cover *cover);

TREEML_PUBLIC int64_t treeml_cover_states (const treeml_cover *cover);
TREEML_PUBLIC int64_t treeml_cover_arcs (const treeml_cover *cover);
TREEML_PUBLIC const int64_t *treeml_cover_level_start (const treeml_cover *cover); /* levels + 1 numbers */
TREEML_PUBLIC const uint64_t *treeml_cover_keys (const treeml_cover *cover);       /* states x (words + tags) */
TREEML_PUBLIC const int32_t *treeml_cover_arc_array (const treeml_cover *cover, int which); /* parent test yes no */

/* out[set, v] = sum of values[row, v] over the rows of the set. Sets are `stride` words apart. */
TREEML_PUBLIC int treeml_cover_sums (int32_t rows, int64_t sets, int32_t stride, const uint64_t *keys, int32_t width,
                                     const int64_t *values, int64_t *out);

/* out[set, test, v] = the same over the rows of the set that answer yes to the test. */
TREEML_PUBLIC int treeml_cover_split_sums (int32_t rows, int32_t tests, const uint64_t *bits, int64_t sets,
                                           int32_t stride, const uint64_t *keys, int32_t width, const int64_t *values,
                                           int64_t *out, int32_t threads);

/* The least cost of a tree of depth at most 2 on every set, where a leaf costs the minimum over classes of the sum
   of cost[row, class], plus `price`; tests[set, 0..2] are the test at the root and those of its yes and no side, or
   -1 for a leaf. Costs are not negative. Leaves have at least `support` rows by `count`; if support <= 1, a side may
   be empty. */
TREEML_PUBLIC int treeml_cover_pairs (int32_t rows, int32_t tests, const uint64_t *bits, int64_t sets, int32_t stride,
                                      const uint64_t *keys, int32_t classes, const int64_t *cost, const int64_t *count,
                                      int64_t support, int64_t price, double seconds, int32_t threads, int64_t *best,
                                      int32_t *best_tests);

/* out[set, test, side] = the least pinball loss of that side (0 yes, 1 no): the sum over its rows of weight * (above
   * (target - v) if target > v else below * (v - target)) at the best v. Each set has tests + 1 entries; side 0 of
   the last one holds the loss of the whole set. */
TREEML_PUBLIC int treeml_cover_quantiles (int32_t rows, int32_t tests, const uint64_t *bits, int64_t sets,
                                          int32_t stride, const uint64_t *keys, const int64_t *target,
                                          const int64_t *weight, int64_t above, int64_t below, int64_t *out);

#endif
