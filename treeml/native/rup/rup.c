/* Forward checking with two watched literals per clause. Top-level units stay assigned between steps, so that a step
   only propagates the consequences of its own literals. Clauses to delete are found by a hash of their literals. */
#include "rup/rup.h"

#include "common/memory.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  size_t first; /* place of its literals in the pool */
  int size;
  int next; /* in its bucket of the hash table, or -1 */
  char alive;
} clause;

typedef struct {
  int *items;
  int size, room;
} list;

typedef struct {
  int *pool;
  size_t pool_size, pool_room;
  clause *clauses;
  int count, room;
  int *buckets;
  int bucket_count;
  list *watches;      /* by literal code */
  signed char *value; /* by literal code: 1 true, -1 false, 0 open */
  int *trail;
  int trail_size, head, fixed; /* the first `fixed` entries are top-level */
  int *reason;                 /* by variable: clause, or -1 */
  char *mark;                  /* by literal code, while a clause is read */
  int variables, most_variables;
  int conflict; /* the top level is contradictory */
  int *buffer;
  int buffer_size, buffer_room;
  int failed; /* an allocation failed */
} checker;

static int code_of (int literal) { return literal > 0 ? 2 * literal : -2 * literal + 1; }

/* Clauses and literals are numbered with ints: larger numbers would not fit in memory anyway. */
static int may_double (checker *c, int room) {
  if (room > INT_MAX / 2)
    c->failed = 1;
  return !c->failed;
}

static int push (checker *c, list *l, int item) {
  if (l->size == l->room) {
    if (!may_double (c, l->room))
      return 0;
    int room = l->room ? 2 * l->room : 4;
    int *items = memory_resize (l->items, (size_t) room, sizeof *items);
    if (!items)
      return c->failed = 1, 0;
    l->items = items;
    l->room = room;
  }
  l->items[l->size++] = item;
  return 1;
}

static int grow_variables (checker *c, int variable) {
  if (variable <= c->variables)
    return 1;
  if (variable > c->most_variables)
    return 0;
  int wanted = c->variables * 2 > variable ? c->variables * 2 : variable;
  if (wanted < 64)
    wanted = 64;
  size_t before = 2 * (size_t) c->variables + 2, after = 2 * (size_t) wanted + 2;
  list *watches = memory_resize (c->watches, after, sizeof *watches);
  if (watches)
    c->watches = watches;
  signed char *value = memory_resize (c->value, after, sizeof *value);
  if (value)
    c->value = value;
  char *mark = memory_resize (c->mark, after, sizeof *mark);
  if (mark)
    c->mark = mark;
  int *trail = memory_resize (c->trail, ((size_t) wanted + 1), sizeof *trail);
  if (trail)
    c->trail = trail;
  int *reason = memory_resize (c->reason, ((size_t) wanted + 1), sizeof *reason);
  if (reason)
    c->reason = reason;
  if (!watches || !value || !mark || !trail || !reason)
    return c->failed = 1, 0;
  if (c->variables == 0)
    before = 0;
  memset (c->watches + before, 0, (after - before) * sizeof *watches);
  memset (c->value + before, 0, after - before);
  memset (c->mark + before, 0, after - before);
  c->variables = wanted;
  return 1;
}

static void assign (checker *c, int literal, int reason) {
  c->value[code_of (literal)] = 1;
  c->value[code_of (-literal)] = -1;
  c->reason[literal > 0 ? literal : -literal] = reason;
  c->trail[c->trail_size++] = literal;
}

/* True if propagation leads to a clause with no literal left. */
static int propagate (checker *c) {
  while (c->head < c->trail_size) {
    int lost = -c->trail[c->head++];
    list *watch = &c->watches[code_of (lost)];
    int kept = 0;
    for (int i = 0; i < watch->size; i++) {
      int number = watch->items[i];
      clause *k = &c->clauses[number];
      if (!k->alive)
        continue;
      int *literals = c->pool + k->first;
      if (literals[0] == lost) {
        literals[0] = literals[1];
        literals[1] = lost;
      }
      if (c->value[code_of (literals[0])] == 1) {
        watch->items[kept++] = number;
        continue;
      }
      int place = 2;
      while (place < k->size && c->value[code_of (literals[place])] == -1)
        place++;
      if (place < k->size) {
        literals[1] = literals[place];
        literals[place] = lost;
        if (!push (c, &c->watches[code_of (literals[1])], number))
          return 0;
        continue;
      }
      watch->items[kept++] = number;
      if (c->value[code_of (literals[0])] == -1) {
        for (i++; i < watch->size; i++)
          watch->items[kept++] = watch->items[i];
        watch->size = kept;
        return 1;
      }
      assign (c, literals[0], number);
    }
    watch->size = kept;
  }
  return 0;
}

static void undo (checker *c) {
  while (c->trail_size > c->fixed) {
    int literal = c->trail[--c->trail_size];
    c->value[code_of (literal)] = c->value[code_of (-literal)] = 0;
  }
  c->head = c->fixed;
}

static unsigned hash_of (const int *literals, int size) {
  /* Independent of the order of the literals, so that clauses need no sorting. */
  unsigned sum = 0, product = 1, all = 0;
  for (int i = 0; i < size; i++) {
    unsigned x = (unsigned) literals[i] * 2654435761u;
    sum += x;
    product *= x | 1u;
    all ^= x;
  }
  return (1023u * sum + product) ^ (31u * all);
}

static int rehash (checker *c) {
  if (!may_double (c, c->bucket_count))
    return 0;
  int wanted = c->bucket_count ? 2 * c->bucket_count : 1024;
  int *buckets = memory_reserve ((size_t) wanted, sizeof *buckets);
  if (!buckets)
    return c->failed = 1, 0;
  for (int i = 0; i < wanted; i++)
    buckets[i] = -1;
  memory_release (c->buckets);
  c->buckets = buckets;
  c->bucket_count = wanted;
  for (int i = 0; i < c->count; i++) {
    if (!c->clauses[i].alive)
      continue;
    unsigned place = hash_of (c->pool + c->clauses[i].first, c->clauses[i].size) % (unsigned) wanted;
    c->clauses[i].next = buckets[place];
    buckets[place] = i;
  }
  return 1;
}

/* Copies the clause in the buffer to the pool and the hash table. Returns its number, or -1 if out of memory. */
static int store_clause (checker *c) {
  const int size = c->buffer_size;
  if (c->count >= c->bucket_count && !rehash (c))
    return -1;
  if (c->count == c->room) {
    if (!may_double (c, c->room))
      return -1;
    int room = c->room ? 2 * c->room : 1024;
    clause *clauses = memory_resize (c->clauses, (size_t) room, sizeof *clauses);
    if (!clauses)
      return c->failed = 1, -1;
    c->clauses = clauses;
    c->room = room;
  }
  if (c->pool_size + (size_t) size > c->pool_room) {
    size_t room = c->pool_room ? 2 * c->pool_room : 4096;
    while (room < c->pool_size + (size_t) size)
      room *= 2;
    int *pool = memory_resize (c->pool, room, sizeof *pool);
    if (!pool)
      return c->failed = 1, -1;
    c->pool = pool;
    c->pool_room = room;
  }
  int number = c->count++;
  clause *k = &c->clauses[number];
  k->first = c->pool_size;
  k->size = size;
  k->alive = 1;
  int *literals = c->pool + k->first;
  if (size)
    memcpy (literals, c->buffer, (size_t) size * sizeof *literals);
  c->pool_size += (size_t) size;
  unsigned place = hash_of (literals, size) % (unsigned) c->bucket_count;
  k->next = c->buckets[place];
  c->buckets[place] = number;
  return number;
}

/* Adds the clause in the buffer permanently and propagates at the top level. */
static int add_clause (checker *c) {
  const int size = c->buffer_size, number = store_clause (c);
  if (number < 0)
    return 0;
  int *literals = c->pool + c->clauses[number].first;
  if (c->conflict)
    return 1;
  /* Literals that are not false come first, so that they are watched. */
  int open = 0, satisfied = 0;
  for (int i = 0; i < size; i++) {
    int literal = literals[i];
    if (c->value[code_of (literal)] == -1)
      continue;
    satisfied |= c->value[code_of (literal)] == 1;
    literals[i] = literals[open];
    literals[open++] = literal;
  }
  if (size >= 2) {
    if (!push (c, &c->watches[code_of (literals[0])], number))
      return 0;
    if (!push (c, &c->watches[code_of (literals[1])], number))
      return 0;
  }
  if (satisfied)
    return 1;
  if (open == 0) {
    c->conflict = 1;
  } else if (open == 1) {
    assign (c, literals[0], number);
    if (propagate (c))
      c->conflict = 1;
    c->fixed = c->trail_size;
    c->head = c->fixed;
  }
  return 1;
}

/* Whether the clause in the buffer follows by unit propagation. */
static int follows (checker *c) {
  if (c->conflict)
    return 1;
  int found = 0;
  for (int i = 0; i < c->buffer_size && !found; i++) {
    int literal = c->buffer[i];
    if (c->value[code_of (literal)] == 1)
      found = 1;
    else if (c->value[code_of (literal)] == 0)
      assign (c, -literal, -1);
  }
  if (!found)
    found = propagate (c);
  undo (c);
  return found;
}

/* A clause that is the reason of a top-level unit is kept. */
static void delete_clause (checker *c) {
  if (!c->bucket_count)
    return;
  int place = (int) (hash_of (c->buffer, c->buffer_size) % (unsigned) c->bucket_count);
  for (int i = 0; i < c->buffer_size; i++)
    c->mark[code_of (c->buffer[i])] = 1;
  int *link = &c->buckets[place];
  while (*link >= 0) {
    clause *k = &c->clauses[*link];
    const int *literals = c->pool + k->first;
    int same = k->alive && k->size == c->buffer_size;
    for (int i = 0; same && i < k->size; i++)
      same = c->mark[code_of (literals[i])];
    if (same) {
      int is_reason = 0;
      for (int i = 0; i < k->size; i++) {
        int variable = literals[i] > 0 ? literals[i] : -literals[i];
        is_reason |= c->value[code_of (literals[i])] == 1 && c->reason[variable] == *link;
      }
      if (!is_reason && k->size > 1) {
        k->alive = 0;
        *link = k->next;
      }
      break;
    }
    link = &k->next;
  }
  for (int i = 0; i < c->buffer_size; i++)
    c->mark[code_of (c->buffer[i])] = 0;
}

/* Reading. */

typedef struct {
  const char *at, *end;
  long line;
} reader;

static void skip_blanks (reader *r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r' || *r->at == '\n')) {
    if (*r->at == '\n')
      r->line++;
    r->at++;
  }
}

static void skip_line (reader *r) {
  while (r->at < r->end && *r->at != '\n')
    r->at++;
}

static int read_number (reader *r, long *number) {
  skip_blanks (r);
  int negative = r->at < r->end && *r->at == '-';
  if (negative)
    r->at++;
  if (r->at == r->end || *r->at < '0' || *r->at > '9')
    return 0;
  long value = 0;
  while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
    value = 10 * value + (*r->at++ - '0');
    if (value > 1000000000L)
      return 0;
  }
  if (r->at < r->end && *r->at != ' ' && *r->at != '\t' && *r->at != '\r' && *r->at != '\n')
    return 0;
  *number = negative ? -value : value;
  return 1;
}

/* Reads literals up to a zero into the buffer, each once; `tautology` is set if the clause holds a literal and its
   negation. */
static int read_clause (checker *c, reader *r, int *tautology) {
  c->buffer_size = 0;
  *tautology = 0;
  long number;
  int good = 1;
  for (;;) {
    if (!read_number (r, &number)) {
      good = 0;
      break;
    }
    if (number == 0)
      break;
    int literal = (int) number;
    if (!grow_variables (c, literal > 0 ? literal : -literal)) {
      good = 0;
      break;
    }
    if (c->mark[code_of (literal)])
      continue;
    if (c->mark[code_of (-literal)])
      *tautology = 1;
    c->mark[code_of (literal)] = 1;
    if (c->buffer_size == c->buffer_room) {
      if (!may_double (c, c->buffer_room)) {
        good = 0;
        break;
      }
      int room = c->buffer_room ? 2 * c->buffer_room : 64;
      int *buffer = memory_resize (c->buffer, (size_t) room, sizeof *buffer);
      if (!buffer) {
        c->failed = 1;
        good = 0;
        break;
      }
      c->buffer = buffer;
      c->buffer_room = room;
    }
    c->buffer[c->buffer_size++] = literal;
  }
  for (int i = 0; i < c->buffer_size; i++)
    c->mark[code_of (c->buffer[i])] = 0;
  return good;
}

static int read_formula (checker *c, reader *r) {
  long variables = -1, clauses = -1, seen = 0;
  for (;;) {
    skip_blanks (r);
    if (r->at == r->end)
      break;
    if (*r->at == 'c') {
      skip_line (r);
      continue;
    }
    if (*r->at == 'p') {
      if (variables >= 0 || r->end - r->at < 6 || strncmp (r->at, "p cnf ", 6))
        return 0;
      r->at += 6;
      if (!read_number (r, &variables) || !read_number (r, &clauses) || variables < 0 || clauses < 0)
        return 0;
      continue;
    }
    int tautology;
    if (variables < 0 || !read_clause (c, r, &tautology))
      return 0;
    seen++;
    if (!tautology && !add_clause (c))
      return 0;
  }
  return variables >= 0 && seen == clauses;
}

static int check (checker *c, reader *formula, reader *proof, char *message, size_t size) {
  if (!grow_variables (c, 1))
    return TREEML_RUP_MEMORY;
  if (!read_formula (c, formula)) {
    if (c->failed)
      return TREEML_RUP_MEMORY;
    snprintf (message, size, "line %ld of the clauses cannot be read, or the number of clauses differs from the header",
              formula->line);
    return TREEML_RUP_SYNTAX;
  }
  long steps = 0;
  for (;;) {
    skip_blanks (proof);
    if (proof->at == proof->end)
      break;
    if (*proof->at == 'c') {
      skip_line (proof);
      continue;
    }
    int deletion = *proof->at == 'd';
    if (deletion)
      proof->at++;
    long line = proof->line;
    int tautology;
    if (!read_clause (c, proof, &tautology)) {
      if (c->failed)
        return TREEML_RUP_MEMORY;
      snprintf (message, size, "line %ld of the proof cannot be read", line);
      return TREEML_RUP_SYNTAX;
    }
    steps++;
    if (deletion) {
      delete_clause (c);
      continue;
    }
    if (tautology)
      continue;
    int holds = follows (c);
    if (c->failed)
      return TREEML_RUP_MEMORY;
    if (!holds) {
      snprintf (message, size, "step %ld (line %ld) does not follow", steps, line);
      return TREEML_RUP_WRONG;
    }
    if (c->buffer_size == 0)
      return TREEML_RUP_PROVED;
    if (!add_clause (c))
      return TREEML_RUP_MEMORY;
  }
  snprintf (message, size, "the empty clause is not reached after %ld steps", steps);
  return TREEML_RUP_WRONG;
}

int treeml_rup_check (const char *clauses, size_t clauses_size, const char *proof, size_t proof_size, char *message,
                      size_t message_size) {
  if (!clauses || !proof || !message || message_size == 0)
    return TREEML_RUP_SYNTAX;
  message[0] = 0;
  checker c;
  memset (&c, 0, sizeof c);
  /* A short text that mentions a variable with a large number must not use up all memory. */
  const size_t most = clauses_size / 2 + 1000000;
  c.most_variables = most < 1000000000 ? (int) most : 1000000000;
  reader formula = {clauses, clauses + clauses_size, 1}, steps = {proof, proof + proof_size, 1};
  int code = check (&c, &formula, &steps, message, message_size);
  if (code == TREEML_RUP_MEMORY)
    snprintf (message, message_size, "not enough memory");
  for (size_t i = 0; c.watches && i < 2 * (size_t) c.variables + 2; i++)
    memory_release (c.watches[i].items);
  memory_release (c.watches);
  memory_release (c.value);
  memory_release (c.mark);
  memory_release (c.trail);
  memory_release (c.reason);
  memory_release (c.pool);
  memory_release (c.clauses);
  memory_release (c.buckets);
  memory_release (c.buffer);
  return code;
}
