/* The search for every other goal and constraint. */
#include "solver.h"
int general_run (treeml_solver *solver) { return solver_fail (solver, TREEML_BAD_ARGUMENT, "general"); }
