/* Neighbours: the sides of two cuts of the same column differ only in the rows between the cuts.

   Below such a side, each cut of another column makes two parts, whose bounds were found when the side was solved.
   The corresponding part of a neighbour holds the same rows except for those in between: if it holds more rows, its
   optimum is lower by at most their worth; if it holds fewer rows, it is not lower at all. So most cuts of a new
   side are closed before any of them is solved. */
#include "numeric/neighbours.h"

enum { most_kept = 8 };

struct numeric_neighbour *numeric_neighbours_create (struct arena *arena, int32_t columns) {
  struct numeric_neighbour *near = arena_allocate (arena, 1, sizeof *near);
  if (!near)
    return NULL;
  near->columns = columns;
  if (!(near->table = arena_allocate (arena, (size_t) columns, sizeof *near->table))) {
    arena_release (arena, near);
    return NULL;
  }
  return near;
}

void numeric_neighbours_destroy (struct arena *arena, struct numeric_neighbour *near) {
  if (!near)
    return;
  for (int32_t g = 0; g < near->columns; g++) {
    arena_release (arena, near->table[g].code);
    arena_release (arena, near->table[g].low[0]);
    arena_release (arena, near->table[g].low[1]);
  }
  arena_release (arena, near->table);
  arena_release (arena, near);
}

void numeric_neighbours_add (struct arena *arena, struct numeric_neighbour **list, struct numeric_neighbour *near) {
  near->next = *list;
  *list = near;
  int kept = 0;
  struct numeric_neighbour **oldest = NULL;
  for (struct numeric_neighbour **at = list; *at; at = &(*at)->next) {
    kept++;
    if (!(*at)->used)
      oldest = at;
  }
  if (kept <= most_kept || !oldest)
    return;
  struct numeric_neighbour *gone = *oldest;
  *oldest = gone->next;
  numeric_neighbours_destroy (arena, gone);
}

void numeric_neighbours_find (struct numeric_neighbour *list, int32_t position, struct numeric_neighbour *found[2]) {
  found[0] = found[1] = NULL;
  for (; list; list = list->next) {
    const int above = list->position > position;
    struct numeric_neighbour **best = &found[above];
    if (!*best || (above ? list->position < (*best)->position : list->position > (*best)->position))
      *best = list;
  }
  for (int i = 0; i < 2; i++)
    if (found[i])
      found[i]->used++;
}

void numeric_neighbours_raise (const struct numeric_table *from, int64_t loss, const struct numeric_table *to) {
  int32_t at = -1;
  for (int32_t i = 0; i < to->cuts; i++) {
    const int32_t code = to->code[i];
    while (at + 1 < from->cuts && from->code[at + 1] <= code)
      at++;
    if (at < 0)
      continue;
    const int64_t yes = from->low[0][at] - loss, no = from->low[1][at] - loss;
    to->low[0][i] = yes > to->low[0][i] ? yes : to->low[0][i];
    if (code < from->top) /* otherwise all rows of the neighbour are on the yes side */
      to->low[1][i] = no > to->low[1][i] ? no : to->low[1][i];
  }
}
