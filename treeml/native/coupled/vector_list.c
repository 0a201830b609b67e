/* The lists stay short (some dozens of vectors with one or two sums), so sorting and plain loops are enough; loops
   that would be quadratic in long lists are limited, because a vector that is not dropped does no harm. */
#include "coupled/vector_list.h"

#include <stdlib.h>
#include <string.h>

enum { most_compared = 4096, most_quadrants = 16 };

void vector_list_start (struct vector_list *list, struct arena *arena, int sums) {
  *list = (struct vector_list) {.arena = arena, .sums = sums};
}

void vector_list_release (struct vector_list *list) {
  arena_release (list->arena, list->numbers);
  list->numbers = NULL;
  list->count = list->room = list->reduced = 0;
}

void vector_work_release (struct vector_work *work) {
  arena_release (work->arena, work->bytes);
  work->bytes = NULL;
  work->room = 0;
}

static void *work_of_size (struct vector_work *work, size_t count, size_t size) {
  if (size && count > SIZE_MAX / 4 / size)
    return NULL;
  const size_t bytes = count * size;
  if (work->room < bytes || !work->bytes) {
    vector_work_release (work);
    const size_t room = bytes + bytes / 2 + 4096;
    work->bytes = arena_reserve (work->arena, room, 1);
    if (!work->bytes)
      return NULL;
    work->room = room;
  }
  return work->bytes;
}

int vector_list_add (struct vector_list *list, const int64_t *vector) {
  const size_t width = vector_width (list);
  if (list->count == list->room) {
    const size_t room = list->room ? 2 * list->room : 32;
    int64_t *numbers = arena_reserve (list->arena, room, width * sizeof *numbers);
    if (!numbers)
      return 0;
    if (list->count)
      memcpy (numbers, list->numbers, list->count * width * sizeof *numbers);
    arena_release (list->arena, list->numbers);
    list->numbers = numbers;
    list->room = room;
  }
  memcpy (vector_at (list, list->count++), vector, width * sizeof *vector);
  return 1;
}

/* Sorting by a number, then by place. */

struct keyed {
  int64_t key;
  size_t place;
};

static int compare_keys (const void *one, const void *other) {
  const struct keyed *a = one, *b = other;
  if (a->key != b->key)
    return a->key < b->key ? -1 : 1;
  return a->place < b->place ? -1 : a->place > b->place;
}

static void sort_keyed (struct keyed *items, size_t count) {
  if (count > 24) {
    qsort (items, count, sizeof *items, compare_keys);
    return;
  }
  for (size_t i = 1; i < count; i++) {
    const struct keyed item = items[i];
    size_t at = i;
    for (; at && compare_keys (&item, &items[at - 1]) < 0; at--)
      items[at] = items[at - 1];
    items[at] = item;
  }
}

static void sort_by_column (const struct vector_list *list, int column, struct keyed *items) {
  for (size_t i = 0; i < list->count; i++)
    items[i] = (struct keyed) {vector_at (list, i)[column], i};
  sort_keyed (items, list->count);
}

/* Puts the vectors in the order of their values. */
static int order_by_value (struct vector_list *list, struct vector_work *work) {
  const size_t width = vector_width (list), bytes = list->count * width * sizeof (int64_t);
  char *room = work_of_size (work, list->count, sizeof (struct keyed) + width * sizeof (int64_t));
  if (!room)
    return 0;
  struct keyed *items = (void *) room;
  int64_t *copy = (void *) (room + list->count * sizeof *items);
  sort_by_column (list, 0, items);
  for (size_t i = 0; i < list->count; i++)
    memcpy (copy + i * width, vector_at (list, items[i].place), width * sizeof (int64_t));
  if (bytes)
    memcpy (list->numbers, copy, bytes);
  return 1;
}

/* a - b, or INT64_MAX if that is larger. */
static int64_t distance (int64_t a, int64_t b) {
  int64_t difference;
  return __builtin_sub_overflow (a, b, &difference) ? INT64_MAX : difference;
}

/* One sum without a lower limit, vectors in order of value: each must be smaller in it than all before. */
static void reduce_one_sided (struct vector_list *list) {
  size_t kept = 0;
  for (size_t i = 0; i < list->count; i++) {
    const int64_t *vector = vector_at (list, i);
    if (kept && vector[1] >= vector_at (list, kept - 1)[1])
      continue;
    memmove (vector_at (list, kept++), vector, vector_width (list) * sizeof *vector);
  }
  list->count = kept;
}

struct link {
  size_t before, after; /* places + 1 in the order of the sum; 0 for none */
};

/* One two-sided sum, vectors in order of value. They are linked in the order of the sum and taken out from the last
   value to the first; the neighbours that a vector has at that time are the nearest ones of at most its value. */
static int reduce_window (struct vector_list *list, int64_t window, struct vector_work *work) {
  const size_t count = list->count;
  char *room = work_of_size (work, count, sizeof (struct keyed) + sizeof (struct link) + 1);
  if (!room)
    return 0;
  struct keyed *items = (void *) room;
  struct link *links = (void *) (room + count * sizeof *items);
  char *drop = (char *) (links + count);
  sort_by_column (list, 1, items);
  for (size_t i = 0; i < count; i++)
    links[items[i].place] = (struct link) {i ? items[i - 1].place + 1 : 0, i + 1 < count ? items[i + 1].place + 1 : 0};
  for (size_t i = count; i-- > 0;) {
    const int64_t sum = vector_at (list, i)[1];
    const struct link link = links[i];
    const int64_t *before = link.before ? vector_at (list, link.before - 1) : NULL;
    const int64_t *after = link.after ? vector_at (list, link.after - 1) : NULL;
    drop[i] = (before && before[1] == sum) || (after && after[1] == sum) ||
              (before && after && distance (after[1], before[1]) <= window);
    if (link.before)
      links[link.before - 1].after = link.after;
    if (link.after)
      links[link.after - 1].before = link.before;
  }
  size_t kept = 0;
  for (size_t i = 0; i < count; i++)
    if (!drop[i])
      memmove (vector_at (list, kept++), vector_at (list, i), vector_width (list) * sizeof (int64_t));
  list->count = kept;
  return 1;
}

/* Several sums. The reasons of a vector: for each combination of directions of the two-sided sums the nearest one. */
struct reasons {
  const int64_t *windows;
  int sums, sides; /* sides: two-sided sums */
  int place[vector_most_sums];
  const int64_t *nearest[most_quadrants];
  double how_near[most_quadrants];
};

/* Notes a vector of at most the same value. Returns 1 if it is reason enough alone. */
static int consider (struct reasons *reasons, const int64_t *vector, const int64_t *other) {
  for (int j = 1; j <= reasons->sums; j++)
    if (reasons->windows[j - 1] < 0 && other[j] > vector[j])
      return 0;
  unsigned below = 0, above = 0;
  double far = 0;
  for (int side = 0; side < reasons->sides; side++) {
    const int j = reasons->place[side];
    const int64_t window = reasons->windows[j - 1];
    const int64_t off = other[j] < vector[j] ? distance (vector[j], other[j]) : distance (other[j], vector[j]);
    if (off > window)
      return 0;
    below |= (unsigned) (other[j] <= vector[j]) << side;
    above |= (unsigned) (other[j] >= vector[j]) << side;
    const double share = window ? (double) off / (double) window : 0;
    far = share > far ? share : far;
  }
  const unsigned all = (1u << reasons->sides) - 1;
  if ((below & above) == all)
    return 1;
  if (all >= most_quadrants)
    return 0;
  for (unsigned quadrant = 0; quadrant <= all; quadrant++)
    if (!(quadrant & ~above) && !(~quadrant & all & ~below) &&
        (!reasons->nearest[quadrant] || far < reasons->how_near[quadrant])) {
      reasons->nearest[quadrant] = other;
      reasons->how_near[quadrant] = far;
    }
  return 0;
}

/* Whether there is a reason in every quadrant and all of them lie in one box. */
static int enough_reasons (const struct reasons *reasons) {
  const unsigned all = (1u << reasons->sides) - 1;
  if (all >= most_quadrants)
    return 0;
  for (unsigned quadrant = 0; quadrant <= all; quadrant++)
    if (!reasons->nearest[quadrant])
      return 0;
  for (int side = 0; side < reasons->sides; side++) {
    const int j = reasons->place[side];
    int64_t least = reasons->nearest[0][j], largest = least;
    for (unsigned quadrant = 1; quadrant <= all; quadrant++) {
      const int64_t sum = reasons->nearest[quadrant][j];
      least = sum < least ? sum : least;
      largest = sum > largest ? sum : largest;
    }
    if (distance (largest, least) > reasons->windows[j - 1])
      return 0;
  }
  return 1;
}

static void reduce_several (struct vector_list *list, const int64_t *windows) {
  struct reasons reasons = {.windows = windows, .sums = list->sums};
  for (int j = 1; j <= list->sums; j++)
    if (windows[j - 1] >= 0)
      reasons.place[reasons.sides++] = j;
  size_t kept = 0;
  for (size_t i = 0; i < list->count; i++) {
    const int64_t *vector = vector_at (list, i);
    memset (reasons.nearest, 0, sizeof reasons.nearest);
    int drop = 0;
    const size_t first = kept > most_compared ? kept - most_compared : 0;
    for (size_t other = first; other < kept && !drop; other++)
      drop = consider (&reasons, vector, vector_at (list, other));
    if (drop || enough_reasons (&reasons))
      continue;
    memmove (vector_at (list, kept++), vector, vector_width (list) * sizeof *vector);
  }
  list->count = kept;
}

int vector_list_reduce (struct vector_list *list, const int64_t *windows, struct vector_work *work) {
  if (list->count > 1) {
    if (!order_by_value (list, work))
      return 0;
    if (!list->sums)
      list->count = 1;
    else if (list->sums > 1)
      reduce_several (list, windows);
    else if (windows[0] < 0)
      reduce_one_sided (list);
    else if (!reduce_window (list, windows[0], work))
      return 0;
  }
  list->reduced = list->count;
  return 1;
}

int vector_list_reduce_if_long (struct vector_list *list, const int64_t *windows, struct vector_work *work) {
  return list->count < 256 + 2 * list->reduced || vector_list_reduce (list, windows, work);
}

int vector_list_join (struct vector_list *list, const struct vector_list *one, const struct vector_list *other,
                      const struct vector_filter *filter, const int64_t *windows, struct vector_work *work) {
  const int sums = list->sums, width = 1 + sums;
  const int64_t *weights = filter->weights;
  for (size_t i = 0; i < one->count; i++) {
    const int64_t *left = vector_at (one, i);
    int64_t rest[vector_most_multipliers];
    for (int l = 0; l < filter->multipliers; l++)
      rest[l] = filter->budgets[l] - vector_score (weights + l * width, left, sums);
    const struct vector_filter reduced = {filter->multipliers, weights, rest};
    for (size_t k = 0; k < other->count; k++) {
      const int64_t *right = vector_at (other, k);
      if (!vector_fits (&reduced, right, sums))
        continue;
      int64_t total[1 + vector_most_sums];
      for (int j = 0; j < width; j++)
        total[j] = left[j] + right[j];
      if (!vector_list_add (list, total))
        return 0;
    }
    if (!vector_list_reduce_if_long (list, windows, work))
      return 0;
  }
  return 1;
}

void vector_list_least (const struct vector_list *list, const struct vector_filter *filter, int64_t *least) {
  for (int l = 0; l < filter->multipliers; l++) {
    least[l] = INT64_MAX;
    for (size_t i = 0; i < list->count; i++) {
      const int64_t score = vector_score (filter->weights + l * (1 + list->sums), vector_at (list, i), list->sums);
      least[l] = score < least[l] ? score : least[l];
    }
  }
}

/* Both lists by value: for each vector of one list the other is read only as far as a better pair is possible. */
static int best_by_value (const struct vector_list *one, const struct vector_list *other, const int64_t *low,
                          const int64_t *high, int64_t most, const struct keyed *first, const struct keyed *second,
                          size_t *in_one, size_t *in_other) {
  int found = 0;
  for (size_t i = 0; i < one->count; i++) {
    const int64_t *left = vector_at (one, first[i].place);
    if (left[0] + second[0].key > most)
      break;
    for (size_t k = 0; k < other->count && left[0] + second[k].key <= most; k++) {
      const int64_t *right = vector_at (other, second[k].place);
      int inside = 1;
      for (int j = 1; inside && j <= one->sums; j++)
        inside = left[j] + right[j] >= low[j - 1] && left[j] + right[j] <= high[j - 1];
      if (!inside)
        continue;
      found = 1;
      *in_one = first[i].place;
      *in_other = second[k].place;
      most = left[0] + right[0] - 1;
      break;
    }
  }
  return found;
}

int vector_list_best_pair (const struct vector_list *one, const struct vector_list *other, const int64_t *low,
                           const int64_t *high, int64_t most, struct vector_work *work, size_t *in_one,
                           size_t *in_other) {
  if (!one->count || !other->count)
    return 0;
  struct keyed *first = work_of_size (work, one->count + other->count, sizeof *first);
  if (!first)
    return -1;
  struct keyed *second = first + one->count;
  sort_by_column (one, 0, first);
  sort_by_column (other, 0, second);
  return best_by_value (one, other, low, high, most, first, second, in_one, in_other);
}
