/* The stumps of both sides of a cut for quantile losses. */
#ifndef TREEML_NUMERIC_QUANTILE_STUMP_H
#define TREEML_NUMERIC_QUANTILE_STUMP_H

#include "numeric/child.h"
#include "numeric/quantile_profile.h"

/* Links the targets on both sides of a cut, which gives their losses as leaves. */
void numeric_quantile_link_sides (struct numeric_worker *, int column, int64_t position, int64_t leaf[2]);
/* The rows of one side of a cut in the order of a column, for the first output. */
struct numeric_sequence numeric_quantile_sequence (struct numeric_worker *, const void *codes, int order, int64_t code,
                                                   int side);
/* The best stumps on a column of the sides that are wanted. The chains of both sides are those of the cut, and `codes`
   those of the column of the cut in the order of the other one. If targets are given, only a cost below the target of
   its side is exact; others may be lower than the true cost, but not below the target. */
void numeric_quantile_stumps (struct numeric_worker *, int order, const void *codes, int64_t code,
                              const int64_t *target, struct numeric_sides *);

#endif
