/* Functions that the files of the pair search share. */
#ifndef TREEML_PAIR_SEARCH_PARTS_H
#define TREEML_PAIR_SEARCH_PARTS_H

#include "pair/search.h"

/* Kinds of small trees that a fact can stand for without facts below it: two stumps, two leaves, or a stump and a
   leaf. */
enum { two_stumps = 1, both_leaves = 2, one_stump = 3 };

enum { most_leaves = 64 }; /* largest limit on leaves that this search takes */

enum { search_paused = 64 }; /* why a search stops that will be resumed; no value of enum treeml_stop */

enum { pass_depth = 3 }; /* depth at which every split is solved in one pass */

/* subproblem.c */
struct subproblem *subproblem_make (struct worker *, int spare);
struct subproblem *subproblem_at (struct worker *,
                                  int32_t depth); /* allocated when first entered; NULL if out of memory */
void subproblem_release (struct worker *, struct subproblem *);
void load_root (struct worker *, struct subproblem *);
/* The two sides of a test of an opened problem. The rows of the smaller one are in worker->small_ids. */
struct halves {
  int small; /* whether the smaller side is that of the yes */
  uint64_t hash[2][2];
};
void halve (struct worker *, const struct subproblem *, int32_t test, struct halves *);
void load_half (struct worker *, const struct subproblem *parent, struct subproblem *child, int32_t test, int yes,
                const struct halves *);
void load_child (struct worker *, const struct subproblem *parent, struct subproblem *child, int32_t test, int yes);
void order_tests (struct worker *, struct subproblem *, int at_root);

/* archive.c */
int archive_make (struct worker *);
void archive_release (struct worker *);
int64_t archive_bound (struct worker *, const struct subproblem *, int32_t depth);
void archive_add (struct worker *, const struct subproblem *, int32_t depth, int64_t lower);

/* near_bound.c: improves the bounds of the sides of all tests of an opened problem. */
void near_sides (struct worker *, struct subproblem *);
void near_work_release (struct worker *);

/* search.c: `solve` finds the optimum of the rows of the problem for `depth` if it is below `upper`, otherwise a lower
   bound that is not. */
void solve (struct worker *, int32_t depth, int64_t upper, struct fact *);
void solve_stump (struct worker *, struct subproblem *, struct fact *);
void try_split (struct worker *, struct subproblem *, int32_t useful, int32_t test, int64_t upper, struct fact *,
                int64_t *low);
void begin_bounds (struct worker *, struct subproblem *);
void spread (struct worker *, struct subproblem *, int32_t useful, int32_t test, int64_t yes, int64_t no);
void best_root (const struct worker *, const struct subproblem *, struct fact *);
void adopt (struct fact *, const struct fact *known);
int64_t lowest_split (const struct worker *, const struct subproblem *, int64_t most);
int32_t useful_depth (const struct worker *, const struct subproblem *, int32_t depth);
struct key key_of (struct worker *, const struct subproblem *, int32_t depth);
void push_path (struct worker *, int32_t test, int yes);

/* The pair sums of the whole problem. If time is over before they are complete, it returns 0, and the fact is the best
   stump. */
int pairs_of_root (struct worker *, struct subproblem *, struct fact *);
/* Searches all splits of an opened problem with at most `leaves` leaves below it, or any number for 0; stores a bound
   for the problem in the fact. */
void search_splits (struct worker *, struct subproblem *, int32_t depth, int32_t useful, int64_t leaves, int64_t upper,
                    struct fact *);

/* leaf_limit.c: the same with a limit on leaves. */
void solve_with_leaves (struct worker *, int32_t depth, int64_t leaves, int64_t upper, struct fact *);
void split_with_leaves (struct worker *, struct subproblem *, int32_t depth, int32_t useful, int64_t leaves,
                        int32_t test, int64_t goal, struct fact *, int64_t *side_low);
int64_t useful_leaves (const struct worker *, const struct subproblem *, int32_t depth, int64_t leaves);

/* climb.c: solves the root for the depth, with attempts to raise the lower bound in between. */
void solve_and_climb (struct worker *, int32_t depth, struct fact *);

/* team_search.c */
int search_with_team (struct worker *, struct subproblem *, int32_t depth, int32_t useful, int64_t upper,
                      struct fact *);
void *helper (void *worker); /* main function of a helper thread */

/* rebuild.c: report a better tree at the root, and build it. */
void publish (struct worker *, struct subproblem *, int32_t depth, const struct fact *);
void settle (struct worker *, struct subproblem *, int32_t depth);

/* worker.c */
int worker_make (struct worker *, struct shared *, treeml_solver *, const struct rows *, const struct model *);
void worker_release (struct worker *);
void make_depth_two_table (struct worker *first);

#endif
