/* What the stumps of one side of a cut cost at least, also after some rows have moved to it or away from it.

   The cuts of a column g of the stump are divided into blocks of neighbours. For the rows in front of a block, an
   interval is known that holds their quantile whichever rows of the block join them, and even if the rows that
   may move join or leave them: the slope of their loss is steep enough at its ends. The same holds for the rows
   behind the block. So a row that joins adds at least its distance from the interval to all cuts of the block, and a
   row that leaves takes away at most its distance from the far end. */
#ifndef TREEML_NUMERIC_QUANTILE_PROFILE_H
#define TREEML_NUMERIC_QUANTILE_PROFILE_H

#include "numeric/crowd.h"

/* Blocks of cuts, as arrays. Of an interval, [0] is that of the rows in front and [1] of those behind. */
struct numeric_profile {
  int32_t blocks, room;
  int32_t *front,
      *behind; /* rows with codes up to `front` are in front of all cuts, and from `behind` on behind them */
  int64_t *low[2], *high[2];
  int64_t *known; /* the least cost of the cuts of each block */
  int64_t *now;   /* the same after rows have moved */
};

/* The rows of a side in the order of a column. */
struct numeric_sequence {
  const int32_t *place, *code;
  const int64_t *weight; /* NULL if every row has weight 1 */
  int64_t rows;
  int64_t first, last; /* the cuts that are wanted: a cut at p has p rows in front */
};

/* By how much the rows that may move can change the slope of a loss: upwards before each bucket of targets, and
   downwards after it. */
struct numeric_tilt {
  int64_t rise[most_buckets], fall[most_buckets];
};

/* How many blocks there are at most for this many rows, unless it is far more than that. */
int32_t numeric_profile_blocks (int64_t rows);
/* The crowd of all rows of a sequence; settled. */
void numeric_profile_crowd (const struct numeric_quantile *, const struct numeric_buckets *,
                            const struct numeric_sequence *, struct numeric_crowd *);
/* `join` and `leave` are the weights, by bucket, of the rows that may move to a side, or else away from it. */
void numeric_profile_tilt (const struct numeric_quantile *, const int64_t join[most_buckets],
                           const int64_t leave[most_buckets], struct numeric_tilt *);
/* Fills a profile; `all` is the crowd of all rows. */
void numeric_profile_fill (const struct numeric_quantile *, const struct numeric_buckets *,
                           const struct numeric_sequence *, const struct numeric_crowd *all,
                           const struct numeric_tilt *, struct numeric_profile *);
/* The least cost of all cuts; INT64_MAX if there is none. */
int64_t numeric_profile_least (const struct numeric_profile *);
/* Begins again with the rows of the cut. */
void numeric_profile_reset (struct numeric_profile *);
/* A row that moves to the side, or away from it. */
struct numeric_mover {
  int64_t target, up, down; /* the costs per unit times its weight */
  int leaves;               /* whether it moves away */
};
/* Returns the least cost of all cuts afterwards; `code` is that of the row in the column of the profile. */
int64_t numeric_profile_move (struct numeric_profile *, const struct numeric_mover *, int32_t code);

#endif
