/* The lists stay short (some dozens of vectors with one or two sums), so sorting and plain loops are enough; loops
   that would be quadratic in long lists are limited, because a vector that is not dropped does no harm. */
#include "coupled/vector_list.h"

#include "common/bits.h"

#include <stdlib.h>
#include <string.h>

enum { most_compared = 4096, most_quadrants = 16, most_grid_sides = 3, long_list = 64, poll_every = 256 };

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

static int stopped (const struct vector_work *work) { return work->stopped && work->stopped (work->state); }

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
  return subtract_overflows (a, b, &difference) ? INT64_MAX : difference;
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
              (before && after && distance (after[1], before[1]) - 1 <= window);
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
  uint64_t below = 0, above = 0;
  double far = 0;
  for (int side = 0; side < reasons->sides; side++) {
    const int j = reasons->place[side];
    const int64_t window = reasons->windows[j - 1];
    const int64_t off = other[j] < vector[j] ? distance (vector[j], other[j]) : distance (other[j], vector[j]);
    if (off - 1 > window)
      return 0;
    below |= (uint64_t) (other[j] <= vector[j]) << side;
    above |= (uint64_t) (other[j] >= vector[j]) << side;
    const double share = window ? (double) off / (double) window : 0;
    far = share > far ? share : far;
  }
  const uint64_t all = ((uint64_t) 1 << reasons->sides) - 1; /* there are fewer than 64 sums */
  if ((below & above) == all)
    return 1;
  if (all >= most_quadrants)
    return 0;
  for (uint64_t quadrant = 0; quadrant <= all; quadrant++)
    if (!(quadrant & ~above) && !(~quadrant & all & ~below) &&
        (!reasons->nearest[quadrant] || far < reasons->how_near[quadrant])) {
      reasons->nearest[quadrant] = other;
      reasons->how_near[quadrant] = far;
    }
  return 0;
}

/* Whether there is a reason in every quadrant and all of them lie in one box. */
static int enough_reasons (const struct reasons *reasons) {
  const uint64_t all = ((uint64_t) 1 << reasons->sides) - 1;
  if (all >= most_quadrants)
    return 0;
  for (uint64_t quadrant = 0; quadrant <= all; quadrant++)
    if (!reasons->nearest[quadrant])
      return 0;
  for (int side = 0; side < reasons->sides; side++) {
    const int j = reasons->place[side];
    int64_t least = reasons->nearest[0][j], largest = least;
    for (uint64_t quadrant = 1; quadrant <= all; quadrant++) {
      const int64_t sum = reasons->nearest[quadrant][j];
      least = sum < least ? sum : least;
      largest = sum > largest ? sum : largest;
    }
    if (distance (largest, least) - 1 > reasons->windows[j - 1])
      return 0;
  }
  return 1;
}

/* Kept vectors by the boxes in which they lie, with windows and 1 as sides: the reasons of a vector are in its own box
   and in the boxes beside it. A box is a chain of places + 1. */
struct grid {
  size_t slots;
  size_t *heads, *next;
  int sides;
};

static int64_t divide_down (int64_t number, int64_t by) { return number / by - (number % by < 0); }

static size_t grid_slot (const struct grid *grid, const struct reasons *reasons, const int64_t *vector,
                         unsigned beside) {
  uint64_t hash = 1;
  for (int side = 0; side < grid->sides; side++, beside /= 3) {
    const int j = reasons->place[side];
    const int64_t box = divide_down (vector[j], reasons->windows[j - 1] + 1) + (int64_t) (beside % 3) - 1;
    hash = (hash ^ (uint64_t) box) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  return (size_t) hash & (grid->slots - 1);
}

/* The number of the box itself among the boxes beside it. */
static unsigned grid_middle (const struct grid *grid) {
  unsigned middle = 0;
  for (int side = 0; side < grid->sides; side++)
    middle = 3 * middle + 1;
  return middle;
}

static int grid_start (struct grid *grid, const struct reasons *reasons, size_t count, struct vector_work *work) {
  grid->sides = reasons->sides < most_grid_sides ? reasons->sides : most_grid_sides;
  grid->slots = 64;
  while (grid->slots < count)
    grid->slots *= 2;
  grid->heads = work_of_size (work, grid->slots + count, sizeof *grid->heads);
  if (!grid->heads)
    return 0;
  grid->next = grid->heads + grid->slots;
  memset (grid->heads, 0, grid->slots * sizeof *grid->heads);
  return 1;
}

/* Whether a vector has enough reasons among the kept ones. Different boxes may share a chain; that does no harm. */
static int grid_drops (const struct vector_list *list, const struct grid *grid, struct reasons *reasons,
                       const int64_t *vector) {
  unsigned boxes = 1;
  for (int side = 0; side < grid->sides; side++)
    boxes *= 3;
  int compared = 0;
  for (unsigned beside = 0; beside < boxes; beside++)
    for (size_t at = grid->heads[grid_slot (grid, reasons, vector, beside)]; at && compared < most_compared;
         at = grid->next[at - 1], compared++)
      if (consider (reasons, vector, vector_at (list, at - 1)))
        return 1;
  return enough_reasons (reasons);
}

static int plainly_drops (const struct vector_list *list, size_t kept, struct reasons *reasons, const int64_t *vector) {
  const size_t first = kept > most_compared ? kept - most_compared : 0;
  for (size_t other = first; other < kept; other++)
    if (consider (reasons, vector, vector_at (list, other)))
      return 1;
  return enough_reasons (reasons);
}

static int reduce_several (struct vector_list *list, const int64_t *windows, struct vector_work *work) {
  struct reasons reasons = {.windows = windows, .sums = list->sums};
  struct grid grid = {0};
  for (int j = 1; j <= list->sums; j++)
    if (windows[j - 1] >= 0)
      reasons.place[reasons.sides++] = j;
  const int with_grid = reasons.sides > 0 && list->count > long_list;
  if (with_grid && !grid_start (&grid, &reasons, list->count, work))
    return 0;
  size_t kept = 0;
  for (size_t i = 0; i < list->count; i++) {
    const int64_t *vector = vector_at (list, i);
    memset (reasons.nearest, 0, sizeof reasons.nearest);
    if (i % poll_every == poll_every - 1 && stopped (work))
      return 0;
    if (with_grid ? grid_drops (list, &grid, &reasons, vector) : plainly_drops (list, kept, &reasons, vector))
      continue;
    memmove (vector_at (list, kept++), vector, vector_width (list) * sizeof *vector);
    if (!with_grid)
      continue;
    size_t *head = &grid.heads[grid_slot (&grid, &reasons, vector_at (list, kept - 1), grid_middle (&grid))];
    grid.next[kept - 1] = *head;
    *head = kept;
  }
  list->count = kept;
  return 1;
}

int vector_list_reduce (struct vector_list *list, const int64_t *windows, struct vector_work *work) {
  if (list->count > 1) {
    if (!order_by_value (list, work))
      return 0;
    if (!list->sums)
      list->count = 1;
    else if (list->sums == 1 && windows[0] < 0)
      reduce_one_sided (list);
    else if (list->sums > 1) {
      if (!reduce_several (list, windows, work))
        return 0;
    } else if (!reduce_window (list, windows[0], work))
      return 0;
  }
  list->reduced = list->count;
  return 1;
}

int vector_list_reduce_if_long (struct vector_list *list, const int64_t *windows, struct vector_work *work) {
  return list->count < 256 + 2 * list->reduced || vector_list_reduce (list, windows, work);
}

/* Adds the sums of one vector and those of the other list that fit into the rest of the budgets. In a long list,
   `by_score` has the vectors in the order of their scores at the first multiplier; otherwise it is NULL. */
static int join_one (struct vector_list *list, const int64_t *left, const struct vector_list *other,
                     const struct vector_filter *rest, const struct keyed *by_score) {
  const int sums = list->sums;
  for (size_t i = 0; i < other->count; i++) {
    if (by_score && by_score[i].key > rest->budgets[0])
      break;
    const int64_t *right = vector_at (other, by_score ? by_score[i].place : i);
    if (!vector_fits (rest, right, sums))
      continue;
    int64_t total[1 + vector_most_sums];
    for (int j = 0; j <= sums; j++)
      total[j] = left[j] + right[j];
    if (!vector_list_add (list, total))
      return 0;
  }
  return 1;
}

int vector_list_join (struct vector_list *list, const struct vector_list *one, const struct vector_list *other,
                      const struct vector_filter *filter, const int64_t *windows, struct vector_work *work) {
  const int sums = list->sums, width = 1 + sums;
  const int64_t *weights = filter->weights;
  struct keyed *by_score = NULL;
  if (other->count > long_list && filter->multipliers) {
    by_score = arena_reserve (work->arena, other->count, sizeof *by_score);
    if (!by_score)
      return 0;
    for (size_t i = 0; i < other->count; i++)
      by_score[i] = (struct keyed) {vector_score (weights, vector_at (other, i), sums), i};
    sort_keyed (by_score, other->count);
  }
  int done = 1;
  for (size_t i = 0; i < one->count && done; i++) {
    const int64_t *left = vector_at (one, i);
    int64_t budgets[vector_most_multipliers];
    for (int l = 0; l < filter->multipliers; l++)
      budgets[l] = filter->budgets[l] - vector_score (weights + l * width, left, sums);
    const struct vector_filter rest = {filter->multipliers, weights, budgets};
    done = join_one (list, left, other, &rest, by_score) && vector_list_reduce_if_long (list, windows, work) &&
           !(i % poll_every == poll_every - 1 && stopped (work));
  }
  arena_release (work->arena, by_score);
  return done;
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
                          const struct vector_work *work, size_t *in_one, size_t *in_other) {
  int found = 0;
  for (size_t i = 0; i < one->count; i++) {
    const int64_t *left = vector_at (one, first[i].place);
    if (left[0] + second[0].key > most)
      break;
    if (i % poll_every == poll_every - 1 && stopped (work))
      return -1;
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

/* One sum: with one list by increasing and the other by decreasing sum, the vectors that may be added to a vector are a
   window that moves in one direction. `queue` has those in the window that are of less value than all after them. */
static int best_by_window (const struct vector_list *one, const struct vector_list *other, int64_t low, int64_t high,
                           int64_t most, const struct keyed *first, const struct keyed *second, size_t *queue,
                           size_t *in_one, size_t *in_other) {
  size_t begin = 0, end = 0, next = other->count;
  int found = 0;
  for (size_t i = 0; i < one->count; i++) {
    const int64_t *left = vector_at (one, first[i].place);
    for (; next && (low == INT64_MIN || second[next - 1].key >= low - left[1]); next--) {
      const int64_t value = vector_at (other, second[next - 1].place)[0];
      while (end > begin && vector_at (other, second[queue[end - 1]].place)[0] >= value)
        end--;
      queue[end++] = next - 1;
    }
    while (end > begin && second[queue[begin]].key > high - left[1])
      begin++;
    if (begin == end)
      continue;
    const size_t place = second[queue[begin]].place;
    if (left[0] + vector_at (other, place)[0] > most)
      continue;
    found = 1;
    most = left[0] + vector_at (other, place)[0] - 1;
    *in_one = first[i].place;
    *in_other = place;
  }
  return found;
}

int vector_list_best_pair (const struct vector_list *one, const struct vector_list *other, const int64_t *low,
                           const int64_t *high, int64_t most, struct vector_work *work, size_t *in_one,
                           size_t *in_other) {
  if (!one->count || !other->count)
    return 0;
  const size_t count = one->count + other->count;
  struct keyed *first = work_of_size (work, count, sizeof *first + sizeof (size_t));
  if (!first)
    return -1;
  struct keyed *second = first + one->count;
  const int by_window = one->sums == 1 && one->count > 8 && other->count > 8;
  sort_by_column (one, by_window, first);
  sort_by_column (other, by_window, second);
  if (by_window)
    return best_by_window (one, other, low[0], high[0], most, first, second, (size_t *) (first + count), in_one,
                           in_other);
  return best_by_value (one, other, low, high, most, first, second, work, in_one, in_other);
}
