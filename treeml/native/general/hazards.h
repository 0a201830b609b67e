/* The fast parts of the search for survival times. */
#ifndef TREEML_GENERAL_HAZARDS_H
#define TREEML_GENERAL_HAZARDS_H

#include "general/search.h"

/* 0 if out of memory. */
int hazards_make (struct general *);
void hazards_release (struct general *);
/* The tables of one problem; 0 if out of memory. */
int hazards_make_tables (struct general *, struct general_subproblem *);
void hazards_release_tables (struct general *, struct general_subproblem *);
/* The cost of both sides of every usable test as leaves. */
void hazards_open (struct general *, struct general_subproblem *);
/* Finds the best tree of depth two by pair sums; only the usable tests need to be known. If depth two is all that the
   rows can use, the problem is solved: its fact has the best tree or, if no tree is below the upper bound, a lower
   bound that says so. Otherwise the costs of both sides of every test follow too. */
void hazards_two (struct general *, struct general_subproblem *, int32_t depth, int32_t useful);

#endif
