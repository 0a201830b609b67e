/* What the parts of the pair search know of each other. */
#ifndef TREEML_SEARCH_PARTS_H
#define TREEML_SEARCH_PARTS_H

#include "search.h"

/* What a fact without facts below it stands for: depth two with four leaves, two leaves, or a stump and a leaf. */
enum { two_stumps = 1, both_leaves = 2, one_stump = 3 };

enum { most_leaves = 64 }; /* that are bounded here */

enum { pass_depth = 3 }; /* sub-problems of which every split is one pass */

/* level.c */
struct level *level_make (struct worker *, int spare);
struct level *level_at (struct worker *, int32_t depth); /* made when first entered; NULL without memory */
void level_release (struct worker *, struct level *);
void load_root (struct worker *, struct level *);
void load_child (struct worker *, const struct level *parent, struct level *child, int32_t test, int yes);
void order_tests (struct worker *, struct level *, int at_root);

/* archive.c */
int archive_make (struct worker *);
void archive_release (struct worker *);
int64_t archive_bound (struct worker *, const struct level *, int32_t depth);
void archive_add (struct worker *, const struct level *, int32_t depth, int64_t lower);

/* search.c: the optimum of the rows of the level for `depth`, if it is below `upper`; otherwise a bound that is not. */
void solve (struct worker *, int32_t depth, int64_t upper, struct fact *);
void solve_stump (struct worker *, struct level *, struct fact *);
void try_split (struct worker *, struct level *, int32_t depth, int32_t useful, int32_t test, int64_t upper,
                struct fact *, int64_t *low);
void begin_bounds (const struct worker *, struct level *);
void spread (struct worker *, struct level *, int32_t useful, int32_t test, int64_t yes, int64_t no);
void best_root (const struct worker *, const struct level *, struct fact *);
void adopt (struct fact *, const struct fact *known);
int64_t lowest_split (const struct worker *, const struct level *, int64_t most);
int32_t useful_depth (const struct worker *, const struct level *, int32_t depth);
struct key key_of (struct worker *, const struct level *, int32_t depth);
void push_path (struct worker *, int32_t test, int yes);

/* All splits of an opened level, with at most so many leaves below it, or any number of them for 0; leaves a bound for the
   level in the fact. */
void search_splits (struct worker *, struct level *, int32_t depth, int32_t useful, int64_t leaves, int64_t upper,
                    struct fact *);

/* sized.c: the same with at most so many leaves. */
void solve_sized (struct worker *, int32_t depth, int64_t leaves, int64_t upper, struct fact *);
void split_sized (struct worker *, struct level *, int32_t depth, int32_t useful, int64_t leaves, int32_t test,
                  int64_t goal, struct fact *, int64_t *side_low);
int64_t useful_leaves (const struct worker *, const struct level *, int32_t depth, int64_t leaves);

/* together.c */
int search_together (struct worker *, struct level *, int32_t depth, int32_t useful, int64_t upper, struct fact *);
void *helper (void *worker); /* what a thread does */

/* rebuild.c: a better tree is known at the root; the tree behind it. */
void publish (struct worker *, struct level *, int32_t depth, const struct fact *);
void settle (struct worker *, struct level *, int32_t depth);

/* worker.c */
int worker_make (struct worker *, struct shared *, treeml_solver *, const struct rows *, const struct model *);
void worker_release (struct worker *);
void make_two_table (struct worker *first);

#endif
