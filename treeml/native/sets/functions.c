/* Trees as functions of their columns: two trees are the same function if they predict the same for every combination
   of values that the columns can have, whatever the order of their tests.

   A function is kept as an ordered decision diagram (Bryant, 1986, with a branch for every value of a column): a node
   names a column and, for runs of its values, the function of the later columns. Runs of equal functions are one run, a
   node with one run is that function, and equal nodes are one node. So equal functions have the same number. */
#include "sets/states.h"

#include <string.h>

enum { last_column = INT32_MAX /* of a leaf */, first_slots = 1 << 10 };

/* The diagram of a split with functions on its sides, where it was not made in one step. */
struct memory {
  int32_t test, yes, no, result;
};

struct functions {
  int64_t *words; /* of every function: its column, its number of pairs, and pairs of a first value and a function */
  int64_t used, room;
  int64_t *at; /* where every function is in the words */
  int64_t known, at_room;
  int32_t *slots; /* hash table of functions: number + 1, or 0 */
  uint64_t mask;
  struct memory *memory; /* hash table; `test` is one more than the test */
  uint64_t memory_mask, memory_used;
  int64_t *stack; /* pairs of nodes that are being made */
  int64_t stacked, stack_room;
  int32_t *of_node; /* the functions of the shared nodes that were looked at, */
  int32_t *leaves;  /* and how many leaves they have */
  int64_t nodes, node_room, leaf_room;
};

static int grow (treeml_sets *sets, int64_t **block, int64_t *room, int64_t need) {
  void *moved = *block;
  const int ok = sets_grow (sets, &moved, room, need, sizeof **block);
  *block = moved;
  return ok;
}

static int32_t column_of (const struct functions *all, int32_t function) {
  return (int32_t) all->words[all->at[function]];
}

/* Numbering. */

static uint64_t hash_words (const int64_t *words, int64_t count) {
  uint64_t hash = 0x9e3779b97f4a7c15u;
  for (int64_t i = 0; i < count; i++) {
    hash = (hash ^ (uint64_t) words[i]) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

static int64_t size_of (const struct functions *all, int32_t function) {
  const int64_t next = function + 1 < all->known ? all->at[function + 1] : all->used;
  return next - all->at[function];
}

static int rehash (treeml_sets *sets, struct functions *all) {
  const uint64_t room = all->slots ? (all->mask + 1) * 2 : first_slots;
  int32_t *slots = arena_allocate (sets->arena, room, sizeof *slots);
  if (!slots)
    return sets_fail (sets, TREEML_SETS_MEMORY);
  arena_release (sets->arena, all->slots);
  all->slots = slots;
  all->mask = room - 1;
  for (int32_t function = 0; function < all->known; function++) {
    uint64_t place = hash_words (all->words + all->at[function], size_of (all, function)) & all->mask;
    while (slots[place])
      place = (place + 1) & all->mask;
    slots[place] = function + 1;
  }
  return 1;
}

/* The number of the function with these words; -1 after a failure. */
static int32_t number_of (treeml_sets *sets, struct functions *all, const int64_t *words, int64_t count) {
  if ((!all->slots || (uint64_t) all->known * 2 > all->mask) && !rehash (sets, all))
    return -1;
  uint64_t place = hash_words (words, count) & all->mask;
  for (; all->slots[place]; place = (place + 1) & all->mask) {
    const int32_t other = all->slots[place] - 1;
    if (size_of (all, other) == count && !memcmp (all->words + all->at[other], words, (size_t) count * sizeof *words))
      return other;
  }
  if (all->known >= INT32_MAX - 1 || !grow (sets, &all->words, &all->room, all->used + count) ||
      !grow (sets, &all->at, &all->at_room, all->known + 1))
    return sets_fail (sets, TREEML_SETS_MEMORY) - 1;
  memcpy (all->words + all->used, words, (size_t) count * sizeof *words);
  all->at[all->known] = all->used;
  all->used += count;
  all->slots[place] = (int32_t) (all->known + 1);
  return (int32_t) all->known++;
}

/* Splits. */

static int widen_memory (treeml_sets *sets, struct functions *all) {
  const uint64_t room = all->memory ? (all->memory_mask + 1) * 2 : first_slots;
  struct memory *old = all->memory, *wider = arena_allocate (sets->arena, room, sizeof *wider);
  if (!wider)
    return sets_fail (sets, TREEML_SETS_MEMORY);
  for (uint64_t i = 0; old && i <= all->memory_mask; i++)
    if (old[i].test) {
      const int64_t key[3] = {old[i].test, old[i].yes, old[i].no};
      uint64_t place = hash_words (key, 3) & (room - 1);
      while (wider[place].test)
        place = (place + 1) & (room - 1);
      wider[place] = old[i];
    }
  arena_release (sets->arena, old);
  all->memory = wider;
  all->memory_mask = room - 1;
  return 1;
}

/* The place of a split in the memory: filled, or free. */
static struct memory *recall (struct functions *all, int32_t test, int32_t yes, int32_t no) {
  const int64_t key[3] = {test + 1, yes, no};
  uint64_t place = hash_words (key, 3) & all->memory_mask;
  struct memory *memory = all->memory;
  while (memory[place].test && (memory[place].test != test + 1 || memory[place].yes != yes || memory[place].no != no))
    place = (place + 1) & all->memory_mask;
  return &memory[place];
}

/* Goes through the runs of a function at one column; a function of later columns has one run. */
struct walk {
  int64_t pairs, run; /* -1 pairs: the function itself */
  int32_t function;
};

static struct walk walk_at (const struct functions *all, int32_t function, int32_t column) {
  const int64_t pairs = column_of (all, function) == column ? all->words[all->at[function] + 1] : -1;
  return (struct walk) {pairs, 0, function};
}

/* The function at a value, and the first value of the next run. */
static int32_t step (const struct functions *all, struct walk *walk, int64_t value, int64_t *next) {
  if (walk->pairs < 0)
    return walk->function;
  const int64_t *pairs = all->words + all->at[walk->function] + 2;
  while (walk->run + 1 < walk->pairs && pairs[2 * (walk->run + 1)] <= value)
    walk->run++;
  if (walk->run + 1 < walk->pairs && pairs[2 * (walk->run + 1)] < *next)
    *next = pairs[2 * (walk->run + 1)];
  return (int32_t) pairs[2 * walk->run + 1];
}

/* Whether a value answers a test with yes, and the first value after it that answers otherwise. */
static int answer (const treeml_sets_domain *domain, int32_t test, int64_t value, int64_t *next) {
  const int64_t begin = domain->first[test], end = domain->first[test + 1];
  int64_t place = begin;
  while (place < end && domain->change[place] <= value)
    place++;
  if (place < end && domain->change[place] < *next)
    *next = domain->change[place];
  return (int) ((place - begin) & 1) ^ domain->begins[test];
}

static int32_t split (treeml_sets *sets, struct functions *all, const treeml_sets_domain *domain, int32_t test,
                      int32_t yes, int32_t no);

/* The node of a column: its runs are put on the stack, and then numbered. */
static int32_t make_node (treeml_sets *sets, struct functions *all, const treeml_sets_domain *domain, int32_t test,
                          int32_t yes, int32_t no, int32_t column) {
  const int asked = column == sets->input.column[test];
  const int64_t begin = all->stacked, values = domain->values[column];
  struct walk one = walk_at (all, yes, column), other = walk_at (all, no, column);
  int64_t value = 0;
  if (!grow (sets, &all->stack, &all->stack_room, begin + 2))
    return -1;
  all->stacked += 2;
  while (value < values) {
    int64_t next = values;
    const int32_t left = step (all, &one, value, &next), right = step (all, &other, value, &next);
    int32_t here;
    if (asked)
      here = answer (domain, test, value, &next) ? left : right;
    else
      here = split (sets, all, domain, test, left, right);
    if (here < 0 || !grow (sets, &all->stack, &all->stack_room, all->stacked + 2))
      return -1;
    if (all->stacked == begin + 2 || all->stack[all->stacked - 1] != here) {
      all->stack[all->stacked++] = value;
      all->stack[all->stacked++] = here;
    }
    value = next;
  }
  const int64_t pairs = (all->stacked - begin - 2) / 2;
  int32_t result = (int32_t) all->stack[all->stacked - 1];
  if (pairs > 1) {
    all->stack[begin] = column;
    all->stack[begin + 1] = pairs;
    result = number_of (sets, all, all->stack + begin, all->stacked - begin);
  }
  all->stacked = begin;
  return sets_go_on (sets, 4 * pairs) ? result : -1;
}

/* The function that asks a test and continues with functions on both sides; -1 after a failure. */
static int32_t split (treeml_sets *sets, struct functions *all, const treeml_sets_domain *domain, int32_t test,
                      int32_t yes, int32_t no) {
  if (yes == no)
    return yes;
  const int32_t own = sets->input.column[test], left = column_of (all, yes), right = column_of (all, no);
  const int32_t first = left < right ? left : right;
  if (own <= first)
    return make_node (sets, all, domain, test, yes, no, own);
  if ((!all->memory || all->memory_used * 2 > all->memory_mask) && !widen_memory (sets, all))
    return -1;
  const struct memory *known = recall (all, test, yes, no);
  if (known->test)
    return known->result;
  const int32_t result = make_node (sets, all, domain, test, yes, no, first);
  if (result < 0 || (all->memory_used * 2 > all->memory_mask && !widen_memory (sets, all)))
    return -1;
  *recall (all, test, yes, no) = (struct memory) {test + 1, yes, no, result};
  all->memory_used++;
  return result;
}

/* Leaves: equal predictions are equal functions; leaves of a user's own cost are equal if their rows are. */

static int32_t leaf_function (treeml_sets *sets, struct functions *all, int32_t state, int32_t label) {
  const int64_t begin = all->stacked;
  const treeml_sets_input *in = &sets->input;
  if (!grow (sets, &all->stack, &all->stack_room, begin + 2 + 3 * (int64_t) in->width + sets->words))
    return -1;
  int64_t *words = all->stack + begin, count = 0;
  words[count++] = last_column;
  if (in->model == TREEML_SETS_CLASSES)
    words[count++] = label;
  else if (in->model == TREEML_SETS_CUSTOM)
    for (int w = 0; w < sets->words; w++)
      words[count++] = (int64_t) sets_key (sets, state)[w];
  else
    count += sets_prediction (sets, state, words + count);
  return number_of (sets, all, words, count);
}

/* The functions of all shared nodes that were made since the last call. */
static int look_at_nodes (treeml_sets *sets, struct functions *all, const treeml_sets_domain *domain) {
  void *block = all->of_node, *leaves = all->leaves;
  int ok = sets_grow (sets, &block, &all->node_room, sets->nodes_used, sizeof *all->of_node);
  all->of_node = block;
  ok = ok && sets_grow (sets, &leaves, &all->leaf_room, sets->nodes_used, sizeof *all->leaves);
  all->leaves = leaves;
  if (!ok)
    return 0;
  for (; all->nodes < sets->nodes_used; all->nodes++) {
    const struct node *node = &sets->nodes[all->nodes];
    const int32_t found = node->test < 0
                              ? leaf_function (sets, all, node->state, node->yes)
                              : split (sets, all, domain, node->test, all->of_node[node->yes], all->of_node[node->no]);
    if (found < 0)
      return 0;
    all->of_node[all->nodes] = found;
    all->leaves[all->nodes] = node->test < 0 ? 1 : all->leaves[node->yes] + all->leaves[node->no];
  }
  return 1;
}

int treeml_sets_functions (treeml_sets *sets, const treeml_sets_domain *domain, int64_t trees, const int32_t *test,
                           const int32_t *yes, const int32_t *no, double seconds, int32_t *function, int32_t *leaves) {
  sets_until (sets, seconds);
  if (!sets->built || trees < 0 || !domain)
    return TREEML_SETS_INPUT;
  if (!sets->functions)
    sets->functions = arena_allocate (sets->arena, 1, sizeof *sets->functions);
  struct functions *all = sets->functions;
  if (!all)
    return TREEML_SETS_MEMORY;
  all->stacked = 0;
  if (!look_at_nodes (sets, all, domain))
    return sets->code;
  for (int64_t i = 0; i < trees; i++) {
    if (test[i] >= sets->input.tests ||
        (test[i] >= 0 && (yes[i] < 0 || yes[i] >= all->nodes || no[i] < 0 || no[i] >= all->nodes)))
      return TREEML_SETS_INPUT;
    function[i] = test[i] < 0 ? leaf_function (sets, all, 0, yes[i])
                              : split (sets, all, domain, test[i], all->of_node[yes[i]], all->of_node[no[i]]);
    if (function[i] < 0)
      return sets->code;
    leaves[i] = test[i] < 0 ? 1 : all->leaves[yes[i]] + all->leaves[no[i]];
  }
  return sets->code;
}

void sets_release_functions (treeml_sets *sets) {
  struct functions *all = sets->functions;
  if (!all)
    return;
  void *blocks[] = {all->words, all->at, all->slots, all->memory, all->stack, all->of_node, all->leaves, all};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    arena_release (sets->arena, blocks[i]);
  sets->functions = NULL;
}
