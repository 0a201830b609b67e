/* Cover states: the sets of rows that the nodes of a tree can hold, and what leaves and small subtrees on them cost.
 *
 * A state is a set of rows (as a bit set), followed by tag words that tell apart paths which the same rows may reach.
 * States of one level are distinct. An arc splits a state by a test into a yes state and a no state of the next level.
 * Everything here counts in whole numbers; what the numbers mean is the caller's affair.
 *
 *   treeml_cover *cover = NULL;
 *   int code = treeml_cover_enumerate(&input, &cover);
 *   if (code == TREEML_COVER_OK) { ... treeml_cover_states(cover) ... }
 *   treeml_cover_free(cover);
 */
#ifndef TREEML_COVER_H
#define TREEML_COVER_H

#include <stdint.h>

#if defined(_WIN32)
#define TREEML_COVER_API __declspec(dllexport)
#else
#define TREEML_COVER_API __attribute__((visibility("default")))
#endif

enum {
  TREEML_COVER_OK = 0,
  TREEML_COVER_MEMORY = 1, /* the limit in bytes, or an allocation, was not enough */
  TREEML_COVER_TIME = 2,   /* the deadline passed */
  TREEML_COVER_INPUT = 3,  /* a null pointer, a size out of range, or a set with rows that are not there */
  TREEML_COVER_STOPPED = 4, /* `stopped` said so */
  TREEML_COVER_OVERFLOW = 5 /* a sum of the numbers given may not fit in 64 bits */
};

typedef struct treeml_cover treeml_cover;

typedef struct treeml_cover_input {
  int32_t rows;
  int32_t tests;
  int32_t tag_words;
  int32_t levels;           /* states are made for levels 0 .. levels - 1 */
  int32_t classes;          /* of cost */
  int32_t reserved;
  int64_t support;          /* fewest counted rows of a state */
  int64_t max_bytes;        /* 0: no limit */
  double seconds;           /* negative: no limit */
  const uint64_t *bits;     /* tests x words(rows): which rows answer yes */
  const uint64_t *tag_yes;  /* tests x tag_words: added to the tag on the yes side; may be null without tags */
  const uint64_t *tag_no;
  const int32_t *group;     /* tests: arcs to equal states are one arc if the groups of their tests are equal */
  const int64_t *count;     /* rows */
  const int64_t *cost;      /* rows x classes, or null; given, states that no split can improve get no arcs */
  int32_t (*stopped)(void); /* asked now and then whether to end, or null */
} treeml_cover_input;

TREEML_COVER_API int treeml_cover_enumerate(const treeml_cover_input *input, treeml_cover **result);
TREEML_COVER_API void treeml_cover_free(treeml_cover *cover);

TREEML_COVER_API int64_t treeml_cover_states(const treeml_cover *cover);
TREEML_COVER_API int64_t treeml_cover_arcs(const treeml_cover *cover);
TREEML_COVER_API const int64_t *treeml_cover_level_start(const treeml_cover *cover); /* levels + 1 numbers */
TREEML_COVER_API const uint64_t *treeml_cover_keys(const treeml_cover *cover);       /* states x (words + tags) */
TREEML_COVER_API const int32_t *treeml_cover_arc_array(const treeml_cover *cover, int which); /* parent test yes no */

/* out[set, v] = sum over the rows of the set of values[row, v]. Sets lie `stride` words apart. */
TREEML_COVER_API int treeml_cover_sums(int32_t rows, int64_t sets, int32_t stride, const uint64_t *keys, int32_t width,
                                       const int64_t *values, int64_t *out);

/* out[set, test, v] = the same over the rows of the set that answer yes to the test. */
TREEML_COVER_API int treeml_cover_split_sums(int32_t rows, int32_t tests, const uint64_t *bits, int64_t sets,
                                             int32_t stride, const uint64_t *keys, int32_t width,
                                             const int64_t *values, int64_t *out, int32_t threads);

/* The least cost of a tree of depth at most 2 on every set, where a leaf costs min over classes of the sum of
 * cost[row, class] plus `price`; tests[set, 0..2] are the test at the root and those of its yes and no side, or -1 for
 * a leaf. Costs are not negative. Leaves have at least `support` counted rows unless support <= 1, when a side may
 * come out empty. */
TREEML_COVER_API int treeml_cover_pairs(int32_t rows, int32_t tests, const uint64_t *bits, int64_t sets, int32_t stride,
                                        const uint64_t *keys, int32_t classes, const int64_t *cost,
                                        const int64_t *count, int64_t support, int64_t price, double seconds,
                                        int32_t threads, int64_t *best, int32_t *best_tests);

/* out[set, test, side] = sum over the rows of that side (0 yes, 1 no) of
 * weight * (above * (target - v) if target > v else below * (v - target)) at the best v; test -1 is the whole set, so
 * that out has tests + 1 entries per set, the last of which holds the whole set's loss in its side 0. */
TREEML_COVER_API int treeml_cover_quantiles(int32_t rows, int32_t tests, const uint64_t *bits, int64_t sets,
                                            int32_t stride, const uint64_t *keys, const int64_t *target,
                                            const int64_t *weight, int64_t above, int64_t below, int64_t *out);

#endif
