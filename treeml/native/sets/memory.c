/* Memory of a treeml_sets, its deadline, and the request to stop. */
#include "common/clock.h"
#include "sets/states.h"

#include <string.h>

enum { work_between_polls = 1 << 20 };

int sets_fail (treeml_sets *sets, int code) {
  if (sets->code == TREEML_SETS_OK)
    sets->code = code;
  return 0;
}

/* A block with room for at least `need` items; its old items are kept. */
int sets_grow (treeml_sets *sets, void **block, int64_t *room, int64_t need, size_t size) {
  if (need <= *room)
    return 1;
  int64_t wanted = *room ? *room : 256;
  while (wanted < need)
    wanted += wanted / 2;
  void *moved = arena_reserve (sets->arena, (size_t) wanted, size);
  if (!moved)
    return sets_fail (sets, TREEML_SETS_MEMORY);
  if (*block)
    memcpy (moved, *block, (size_t) *room * size);
  arena_release (sets->arena, *block);
  *block = moved;
  *room = wanted;
  return 1;
}

void sets_until (treeml_sets *sets, double seconds) {
  sets->code = TREEML_SETS_OK;
  sets->deadline = seconds < 0 ? -1 : clock_seconds () + seconds;
  sets->work = work_between_polls; /* so that a deadline in the past is noticed at once */
  for (int32_t i = 0; sets->guides && i < sets->input.guides; i++)
    if (sets->guides[i].sets)
      sets_until (sets->guides[i].sets, seconds);
}

/* 0 if the work has to end: called with an amount of work that was done since the last call. */
int sets_go_on (treeml_sets *sets, int64_t work) {
  if (sets->code != TREEML_SETS_OK)
    return 0;
  sets->work += work;
  if (sets->work < work_between_polls)
    return 1;
  sets->work = 0;
  if (sets->deadline >= 0 && clock_seconds () > sets->deadline)
    return sets_fail (sets, TREEML_SETS_TIME);
  if (sets->input.stopped && sets->input.stopped ())
    return sets_fail (sets, TREEML_SETS_STOPPED);
  return 1;
}
