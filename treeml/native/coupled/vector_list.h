/* Lists of vectors: what the parts of a tree may cost and add to the bounded sums, without those that no best tree
   needs.

   A vector is a value, which is to be small, followed by `sums` whole numbers; the leaves of a tree can be counted by
   one of them. Vectors lie next to each other in memory, `vector_width` numbers each. Vectors of two parts of a tree
   add up to the vector of both. A list can carry further numbers behind each vector, such as the node of the tree that
   it stands for; they take no part in comparisons, and `vector_list_join` works on lists without them.

   Every sum has a window, the distance between the limits of the whole tree: a tree is wanted only if low <= sum <=
   high, and the window is high - low. A sum with an upper limit only has the window `vector_one_sided`; give a sum with
   a lower limit only with the opposite sign.

   A vector is dropped if, whatever the rest of the tree adds, another vector of the list with at most its value leads
   to sums within the limits whenever it does:
   - no two-sided sum: another vector is at most as large in every sum;
   - one two-sided sum: one vector is at most as large and one at least as large in it, and they are at most a window
     and 1 apart: sums are whole numbers, so if the first one misses the lower limit, the second one keeps the upper;
   - several: the same with one vector for every combination of "at most" and "at least", all in a box whose sides are
     the windows and 1.
   Such a reason may itself be dropped, because its own reasons are as good, and they come earlier in the order by
   value.

   A filter keeps the vectors whose weighted sums do not exceed the budgets, one for each multiplier. The caller
   promises that weighted sums of vectors, of sums of two vectors, and budgets stay below 2^62. */
#ifndef TREEML_VECTOR_LIST_H
#define TREEML_VECTOR_LIST_H

#include "common/arena.h"

#include <stdint.h>

enum { vector_most_sums = 62, vector_most_multipliers = 48 };

#define vector_one_sided ((int64_t) -1)

struct vector_list {
  struct arena *arena;
  int64_t *numbers; /* count x (1 + sums + carried) */
  size_t count, room;
  size_t reduced; /* how many vectors the last reduction left */
  int sums;
  int carried; /* further numbers behind each vector; 0 unless the caller sets it before the first vector */
};

/* Room for sorting, shared by all lists of a thread; start with {.arena = ...}. Functions that run long call `stopped`
   now and then, if it is given, and end like functions that lack memory if it returns a number other than 0. */
struct vector_work {
  struct arena *arena;
  void *bytes;
  size_t room;
  int (*stopped) (void *state);
  void *state;
};

struct vector_filter {
  int multipliers;
  const int64_t *weights; /* multipliers x (1 + sums): the weight of the value, then of the sums */
  const int64_t *budgets; /* for each multiplier */
};

static inline size_t vector_width (const struct vector_list *list) {
  return 1 + (size_t) list->sums + (size_t) list->carried;
}
static inline int64_t *vector_at (const struct vector_list *list, size_t index) {
  return list->numbers + index * vector_width (list);
}

/* The value of a vector at one multiplier. */
static inline int64_t vector_score (const int64_t *weights, const int64_t *vector, int sums) {
  int64_t score = weights[0] * vector[0];
  for (int j = 1; j <= sums; j++)
    score += weights[j] * vector[j];
  return score;
}

static inline int vector_fits (const struct vector_filter *filter, const int64_t *vector, int sums) {
  for (int l = 0; l < filter->multipliers; l++)
    if (vector_score (filter->weights + l * (1 + sums), vector, sums) > filter->budgets[l])
      return 0;
  return 1;
}

void vector_list_start (struct vector_list *, struct arena *, int sums);
void vector_list_release (struct vector_list *);
static inline void vector_list_clear (struct vector_list *list) { list->count = list->reduced = 0; }
void vector_work_release (struct vector_work *);

/* These return 1, or 0 if there is not enough memory or `stopped` said so. */
int vector_list_add (struct vector_list *, const int64_t *vector);
/* Drops vectors as described above; what stays is in order of increasing value. */
int vector_list_reduce (struct vector_list *, const int64_t *windows, struct vector_work *);
/* The same if the list has grown a lot since the last time. */
int vector_list_reduce_if_long (struct vector_list *, const int64_t *windows, struct vector_work *);
/* Adds all sums of a vector of one list and a vector of the other that pass the filter, and reduces now and then. */
int vector_list_join (struct vector_list *, const struct vector_list *one, const struct vector_list *other,
                      const struct vector_filter *, const int64_t *windows, struct vector_work *);

/* For each multiplier the least score of a vector; INT64_MAX for an empty list. */
void vector_list_least (const struct vector_list *, const struct vector_filter *, int64_t *least);

/* The pair of least total value, at most `most`, whose sums are within the limits (INT64_MIN and INT64_MAX for none).
   Returns 1 and sets the places of the two vectors, or 0 if there is no such pair, or -1 if memory is short or
   `stopped` said so. */
int vector_list_best_pair (const struct vector_list *one, const struct vector_list *other, const int64_t *low,
                           const int64_t *high, int64_t most, struct vector_work *, size_t *in_one, size_t *in_other);

#endif
