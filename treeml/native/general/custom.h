/* Leaf costs that a function computes from the rows of a leaf: a user's, or that of linear leaves. */
#ifndef TREEML_GENERAL_CUSTOM_H
#define TREEML_GENERAL_CUSTOM_H

#include "general/search.h"

/* Whether there is enough memory for the costs. */
int custom_make (struct general *);
void custom_release (struct general *);
/* Evaluates both sides of every test as leaves. */
void custom_open (struct general *, struct general_subproblem *);

#endif
