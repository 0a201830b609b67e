/* Lower bounds from pairs of rows that one test tells apart (near.h).

   Let D be the errors of the pairs of a test among the rows of a sub-problem, and p the price of a leaf. A tree with u
   different tests has u + 1 leaves or more and saves the D of its tests, so it costs at least p plus the sum of
   min (p, D) over all tests. The sides of a test cost exactly known amounts as leaves (u = 0) and stumps (u = 1), so
   only trees with two tests or more need a bound, and if the largest two D are below p, these add the missing p - D. */
#include "pair/search_parts.h"

#include "common/sizes.h"

#include <string.h>

enum { byte_values = 256, byte_bits = 8, lanes = 4 };

static int near_work_make (struct worker *worker) {
  struct arena *arena = &worker->solver->arena;
  struct near_work *work = &worker->near;
  const size_t stride = (size_t) worker->rows->shape.stride;
  int fits = 1;
  for (int side = 0; side < 2; side++) {
    work->sum[side] = arena_allocate (arena, stride, sizeof *work->sum[side]);
    fits = fits && work->sum[side];
    for (int place = 0; place < 2; place++) {
      work->largest[side][place] = arena_allocate (arena, stride, sizeof *work->largest[side][place]);
      fits = fits && work->largest[side][place];
    }
  }
  work->all = arena_allocate (arena, stride, sizeof *work->all);
  work->inside = arena_allocate (arena, times (stride, stride) / lanes, sizeof *work->inside);
  work->mask = arena_allocate (arena, byte_values, sizeof *work->mask);
  work->member = arena_allocate (arena, (size_t) worker->shared->near.count + 1, sizeof *work->member);
  if (!fits || !work->all || !work->inside || !work->mask || !work->member)
    return 0;
  for (int byte = 0; byte < byte_values; byte++)
    for (int bit = 0; bit < byte_bits; bit++)
      ((uint16_t *) work->mask[byte])[bit] = byte >> bit & 1 ? UINT16_MAX : 0;
  return 1;
}

void near_work_release (struct worker *worker) {
  struct arena *arena = &worker->solver->arena;
  struct near_work *work = &worker->near;
  for (int side = 0; side < 2; side++) {
    arena_release (arena, work->sum[side]);
    arena_release (arena, work->largest[side][0]);
    arena_release (arena, work->largest[side][1]);
  }
  arena_release (arena, work->all);
  arena_release (arena, work->inside);
  arena_release (arena, work->mask);
  arena_release (arena, work->member);
  memset (work, 0, sizeof *work);
}

/* Whether there are pairs to use. They are looked for when a search turns out not to be over at once. */
static int has_pairs (struct worker *worker) {
  struct shared *shared = worker->shared;
  const int64_t after = worker->solver->options.neighbours;
  if (!after || !shared->price || shared->support > 1 || worker->model != &signed_model)
    return 0;
  if (worker->first && !atomic_load (&shared->near_known) && worker->statistics.nodes >= after) {
    near_pairs_make (worker->solver, worker->rows, &shared->near);
    atomic_store (&shared->near_known, shared->near.pair ? 1 : -1);
    worker->statistics.near_pairs = shared->near.count;
  }
  if (atomic_load (&shared->near_known) <= 0)
    return 0;
  if (!worker->near.mask && !near_work_make (worker))
    near_work_release (worker);
  return worker->near.mask != NULL;
}

/* Collects the pairs of the rows, and adds up those of each test. */
static int32_t collect (struct worker *worker, const struct subproblem *problem) {
  const struct rows *rows = worker->rows;
  const struct near_pair *pair = worker->shared->near.pair;
  struct near_work *work = &worker->near;
  struct near_member *member = work->member;
  int32_t members = 0;
  for (int32_t list = rows->dense ? 0 : 1; list < rows->lists; list += 2) {
    int32_t last = -1; /* a row may be repeated */
    for (int32_t i = problem->start[list]; i < problem->start[list + 1]; i++) {
      const int32_t row = problem->ids[i];
      const struct near_pair first = pair[row];
      const int counts = first.list == list && row != last;
      /* Written in any case and kept if it counts: branches would be hard to predict. */
      member[members] = (struct near_member) {row, first.test, first.amount};
      members += counts;
      if (counts & !first.is_last)
        for (int32_t at = row; !pair[at].is_last;) {
          at = worker->shared->near.next[at];
          member[members++] = (struct near_member) {row, pair[at].test, pair[at].amount};
        }
      last = row;
    }
  }
  memset (work->all, 0, (size_t) rows->shape.stride * sizeof *work->all);
  for (int32_t i = 0; i < members; i++)
    work->all[member[i].test] = (int16_t) (work->all[member[i].test] + member[i].amount);
  for (int32_t i = 0; i < worker->path_length; i++)
    work->all[worker->path_stack[i] / 2] = 0;
  return members;
}

static int16_t price_in_grains (const struct worker *worker) {
  return (int16_t) smaller (worker->shared->price / worker->rows->scale / worker->shared->near.grain, INT16_MAX);
}

/* The errors of each test's pairs on the side of the yes of every other test: four sums of 16 bits in each word, none
   of which overflows. */
static void add_inside (struct worker *worker, int32_t members) {
  const int32_t tests = worker->rows->shape.tests, stride = worker->rows->shape.stride;
  const struct near_work *work = &worker->near;
  memset (work->inside, 0, (size_t) tests * (size_t) stride * sizeof (int16_t));
  for (int32_t i = 0; i < members; i++) {
    const struct near_member member = work->member[i];
    const uint64_t amount = (uint64_t) member.amount * UINT64_C (0x0001000100010001);
    uint64_t *restrict to = work->inside + (int64_t) member.test * stride / lanes;
    const uint8_t *answers = worker->rows->row_bits + member.row * worker->rows->row_bytes;
    for (int32_t byte = 0; byte < stride / byte_bits; byte++)
      for (int part = 0; part < byte_bits / lanes; part++)
        *to++ += work->mask[answers[byte]][part] & amount;
  }
}

/* Adds the errors of the pairs of one test to one side of all tests. */
static void add_errors (int32_t tests, int16_t price, const int16_t *restrict errors, int16_t *restrict sum,
                        int16_t *restrict first, int16_t *restrict second) {
  for (int32_t test = 0; test < tests; test++) {
    const int16_t most = errors[test] < price ? errors[test] : price;
    const int16_t less = most < first[test] ? most : first[test];
    sum[test] = (int16_t) (sum[test] + most);
    first[test] = most > first[test] ? most : first[test];
    second[test] = less > second[test] ? less : second[test];
  }
}

static void add_sides (struct worker *worker) {
  const int32_t tests = worker->rows->shape.tests, stride = worker->rows->shape.stride;
  const int16_t price = price_in_grains (worker);
  const struct near_work *work = &worker->near;
  for (int side = 0; side < 2; side++) {
    memset (work->sum[side], 0, (size_t) stride * sizeof *work->sum[side]);
    for (int place = 0; place < 2; place++)
      memset (work->largest[side][place], 0, (size_t) stride * sizeof *work->sum[side]);
  }
  for (int32_t test = 0; test < tests; test++) {
    int16_t *restrict errors = (int16_t *) work->inside + (int64_t) test * stride;
    const int16_t all = work->all[test];
    if (!all) /* none, or the test is on the path */
      continue;
    errors[test] = 0; /* on both sides of the test itself its pairs are told apart */
    add_errors (stride, price, errors, work->sum[1], work->largest[1][0], work->largest[1][1]);
    for (int32_t other = 0; other < stride; other++)
      errors[other] = (int16_t) (all - errors[other]);
    errors[test] = 0;
    add_errors (stride, price, errors, work->sum[0], work->largest[0][0], work->largest[0][1]);
  }
}

void near_sides (struct worker *worker, struct subproblem *problem) {
  if (!has_pairs (worker))
    return;
  const struct near_work *work = &worker->near;
  const int64_t unit = worker->rows->scale * worker->shared->near.grain;
  add_inside (worker, collect (worker, problem));
  add_sides (worker);
  for (int32_t test = 0; test < worker->rows->shape.tests; test++)
    for (int side = 0; side < 2; side++) {
      int64_t *low = side ? &problem->low_yes[test] : &problem->low_no[test];
      const int64_t errors = work->sum[side][test] - work->largest[side][0][test] - work->largest[side][1][test];
      const int64_t small = smaller (worker->model->side_leaf (worker, problem, test, side),
                                     worker->model->side_stump (worker, problem, test, side));
      *low = larger (*low, smaller (small, 3 * worker->shared->price + unit * errors));
    }
}
