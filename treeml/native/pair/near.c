/* Finds pairs of rows with different classes that one test tells apart. A row with one answer turned is looked up in a
   table of all rows. */
#include "pair/near.h"

#include <stdlib.h>
#include <string.h>

enum { most_lookups = 2000000, most_near_tests = 512 };

struct edge {
  int32_t row, other, test, degree;
};

struct matching {
  treeml_solver *solver;
  const struct rows *rows;
  uint64_t *code; /* one random word for each test; those of the yes answers of a row, added with XOR, are its hash */
  uint64_t *hash;
  int32_t *table; /* row + 1, or 0 */
  int64_t slots;
  int8_t *sign;
  int64_t *left; /* weight that is not matched yet */
  int32_t *degree;
  struct edge *edges;
  int64_t count, room;
};

static uint64_t random_word (uint64_t x) {
  x = (x + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static int begin (struct matching *matching) {
  struct arena *arena = &matching->solver->arena;
  const struct rows *rows = matching->rows;
  const size_t count = (size_t) rows->rows;
  for (matching->slots = 64; matching->slots < 2 * (int64_t) rows->rows;)
    matching->slots *= 2;
  matching->code = arena_reserve (arena, (size_t) rows->shape.tests, sizeof *matching->code);
  matching->hash = arena_allocate (arena, count, sizeof *matching->hash);
  matching->table = arena_allocate (arena, (size_t) matching->slots, sizeof *matching->table);
  matching->sign = arena_allocate (arena, count, sizeof *matching->sign);
  matching->left = arena_reserve (arena, count, sizeof *matching->left);
  matching->degree = arena_allocate (arena, count, sizeof *matching->degree);
  return matching->code && matching->hash && matching->table && matching->sign && matching->left && matching->degree;
}

static void release (struct matching *matching) {
  void *blocks[] = {matching->code, matching->hash,   matching->table, matching->sign,
                    matching->left, matching->degree, matching->edges};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    arena_release (&matching->solver->arena, blocks[i]);
}

static void fill_table (struct matching *matching) {
  const struct rows *rows = matching->rows;
  for (int32_t test = 0; test < rows->shape.tests; test++)
    matching->code[test] = random_word ((uint64_t) test);
  for (int32_t list = 0; list < rows->lists; list++)
    for (int32_t i = rows->start[list]; i < rows->start[list + 1]; i++) {
      const int32_t row = rows->ids[i];
      matching->sign[row] = (rows->dense ? rows->sign[row] < 0 : list & 1) ? -1 : 1;
    }
  for (int32_t row = 0; row < rows->rows; row++) {
    const uint8_t *answers = rows->row_bits + row * rows->row_bytes;
    for (int32_t test = 0; test < rows->shape.tests; test++)
      matching->hash[row] ^= matching->code[test] & (0 - (uint64_t) (answers[test / 8] >> (test & 7) & 1));
    matching->left[row] = rows->worth[row];
    uint64_t slot = matching->hash[row] & (uint64_t) (matching->slots - 1);
    while (matching->table[slot])
      slot = (slot + 1) & (uint64_t) (matching->slots - 1);
    matching->table[slot] = row + 1;
  }
}

/* Equal hashes are not a proof. */
static int differ_only_in (const struct rows *rows, int32_t row, int32_t other, int32_t test) {
  const uint8_t *mine = rows->row_bits + row * rows->row_bytes, *its = rows->row_bits + other * rows->row_bytes;
  for (int64_t byte = 0; byte < rows->row_bytes; byte++)
    if ((mine[byte] ^ its[byte]) != (byte == test / 8 ? 1 << (test & 7) : 0))
      return 0;
  return 1;
}

/* The row of another class that gives the same answers to all tests but one, or -1. */
static int32_t neighbour (const struct matching *matching, int32_t row, int32_t test) {
  const uint64_t hash = matching->hash[row] ^ matching->code[test], last = (uint64_t) (matching->slots - 1);
  for (uint64_t slot = hash & last; matching->table[slot]; slot = (slot + 1) & last) {
    const int32_t other = matching->table[slot] - 1;
    if (matching->hash[other] == hash && matching->sign[row] != matching->sign[other] &&
        differ_only_in (matching->rows, row, other, test))
      return other;
  }
  return -1;
}

static int add_edge (struct matching *matching, int32_t row, int32_t other, int32_t test) {
  if (matching->count == matching->room) {
    struct arena *arena = &matching->solver->arena;
    const int64_t room = matching->room ? 2 * matching->room : 1024;
    struct edge *edges = arena_reserve (arena, (size_t) room, sizeof *edges);
    if (!edges)
      return 0;
    if (matching->count)
      memcpy (edges, matching->edges, (size_t) matching->count * sizeof *edges);
    arena_release (arena, matching->edges);
    matching->edges = edges;
    matching->room = room;
  }
  matching->edges[matching->count++] = (struct edge) {row, other, test, 0};
  matching->degree[row]++;
  matching->degree[other]++;
  return 1;
}

static int find_edges (struct matching *matching) {
  const struct rows *rows = matching->rows;
  for (int32_t row = 0; row < rows->rows; row++) {
    const uint8_t *answers = rows->row_bits + row * rows->row_bytes;
    for (int32_t test = 0; test < rows->shape.tests; test++) {
      if (answers[test / 8] >> (test & 7) & 1) /* the pair is found from its other row */
        continue;
      const int32_t other = neighbour (matching, row, test), is_negative = matching->sign[row] < 0;
      if (other >= 0 && !add_edge (matching, is_negative ? row : other, is_negative ? other : row, test))
        return 0;
    }
  }
  return 1;
}

static int by_degree (const void *a, const void *b) {
  const struct edge *first = a, *second = b;
  if (first->degree != second->degree)
    return first->degree < second->degree ? -1 : 1;
  if (first->row != second->row)
    return first->row < second->row ? -1 : 1;
  return (first->test > second->test) - (first->test < second->test);
}

/* Chooses the pairs: rows with few neighbours first. The amount of an edge takes the place of its degree. */
static void match (struct matching *matching, int64_t grain) {
  for (int64_t i = 0; i < matching->count; i++) {
    struct edge *edge = &matching->edges[i];
    const int32_t mine = matching->degree[edge->row], its = matching->degree[edge->other];
    edge->degree = mine < its ? mine : its;
  }
  qsort (matching->edges, (size_t) matching->count, sizeof *matching->edges, by_degree);
  for (int64_t i = 0; i < matching->count; i++) {
    struct edge *edge = &matching->edges[i];
    int64_t *mine = &matching->left[edge->row], *its = &matching->left[edge->other];
    const int64_t grains = (*mine < *its ? *mine : *its) / grain;
    *mine -= grains * grain;
    *its -= grains * grain;
    edge->degree = (int32_t) grains;
  }
}

static int store (const struct matching *matching, struct near_pairs *near) {
  const struct rows *rows = matching->rows;
  const size_t most = (size_t) rows->rows + (size_t) matching->count;
  int32_t more = rows->rows;
  near->pair = arena_reserve (&matching->solver->arena, most, sizeof *near->pair);
  near->next = arena_reserve (&matching->solver->arena, most, sizeof *near->next);
  if (!near->pair || !near->next)
    return 0;
  for (int32_t row = 0; row < rows->rows; row++)
    near->pair[row] = (struct near_pair) {0, 0, -1, 1};
  for (int64_t i = 0; i < matching->count; i++) {
    const struct edge *edge = &matching->edges[i];
    struct near_pair *first = &near->pair[edge->row];
    if (!edge->degree)
      continue;
    const struct near_pair pair = {(int16_t) edge->test, (int16_t) edge->degree, -1, 1};
    near->count++;
    if (!first->amount) {
      *first = pair;
      continue;
    }
    near->pair[more] = pair; /* after the first one */
    near->pair[more].is_last = first->is_last;
    near->next[more] = near->next[edge->row];
    near->next[edge->row] = more++;
    first->is_last = 0;
  }
  for (int32_t list = 0; list < rows->lists; list++)
    for (int32_t i = rows->start[list]; i < rows->start[list + 1]; i++)
      if (near->pair[rows->ids[i]].amount)
        near->pair[rows->ids[i]].list = (int16_t) list;
  return 1;
}

void near_pairs_make (treeml_solver *solver, const struct rows *rows, struct near_pairs *near) {
  const int64_t lookups = (int64_t) rows->rows * rows->shape.tests;
  struct matching matching = {.solver = solver, .rows = rows};
  memset (near, 0, sizeof *near);
  if (!lookups || lookups > most_lookups || rows->shape.tests > most_near_tests)
    return;
  if (begin (&matching)) {
    fill_table (&matching);
    if (find_edges (&matching) && matching.count) {
      near->grain = 1 + rows->whole / INT16_MAX;
      match (&matching, near->grain);
      if (!store (&matching, near))
        near_pairs_release (solver, near);
    }
  }
  release (&matching);
}

void near_pairs_release (treeml_solver *solver, struct near_pairs *near) {
  arena_release (&solver->arena, near->pair);
  arena_release (&solver->arena, near->next);
  memset (near, 0, sizeof *near);
}
