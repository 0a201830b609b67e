/* The fast parts of the search for survival times. */
#ifndef TREEML_GENERAL_HAZARDS_H
#define TREEML_GENERAL_HAZARDS_H

#include "general/search.h"

/* 0 if out of memory. */
int hazards_make (struct general *);
void hazards_release (struct general *);
/* The cost of both sides of every usable test as leaves. */
void hazards_open (struct general *, struct general_subproblem *);
/* Solves an opened problem for depth two, if pair sums suffice: returns the value of every test as root, or NULL. The
   fact of the problem receives the best tree. */
const int64_t *hazards_two (struct general *, struct general_subproblem *);

#endif
