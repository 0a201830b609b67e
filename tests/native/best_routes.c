/* numeric_reroute against every cut of random data, for labels, weights and costs. The source is included, and this
   program stands in for the rest of the search. It prints what does not hold, and ends with 0 if all of it does. */
#include "numeric/reroute.c"

#include <stdio.h>
#include <stdlib.h>

enum { rows = 14, columns = 3, classes = 3, cases = 3000, nodes = 6 };

static uint64_t state = 88172645463325252u;

int numeric_poll (struct numeric_worker *worker) {
  worker->until_clock = 1 << 20;
  return 0;
}

void numeric_stop_search (treeml_numeric *solver, int why) {
  (void) solver;
  (void) why;
  abort ();
}

static int64_t draw (int64_t end) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (int64_t) ((state >> 11) % (uint64_t) end);
}

struct data {
  int32_t rank[columns][rows], order[columns][rows], *ranks[columns], *orders[columns];
  int64_t cost[rows][classes], plane[classes + 2][rows], *planes[classes + 2];
  treeml_numeric solver;
  struct numeric_set set;
};

static void draw_columns (struct data *data) {
  for (int f = 0; f < columns; f++) {
    const int64_t levels = 1 + draw (6);
    int32_t next = 0;
    for (int i = 0; i < rows; i++)
      data->rank[f][i] = (int32_t) draw (levels);
    for (int32_t level = 0; level < levels; level++)
      for (int32_t i = 0; i < rows; i++)
        if (data->rank[f][i] == level)
          data->order[f][next++] = i;
    data->ranks[f] = data->rank[f];
    data->orders[f] = data->order[f];
  }
}

/* Costs of every class, and the planes in which the search keeps them: see data.c. */
static void draw_costs (struct data *data) {
  treeml_numeric *solver = &data->solver;
  const int kind = (int) draw (3), two = kind == 0;
  for (int i = 0; i < rows; i++) {
    const int64_t weight = 1 + draw (4), label = draw (two ? 2 : classes);
    int64_t worth = 0;
    for (int k = 0; k < classes; k++) {
      data->cost[i][k] = kind == 2 ? draw (5) : k == label ? 0 : weight;
      worth = data->cost[i][k] > worth ? data->cost[i][k] : worth;
    }
    for (int k = 0; k < classes; k++)
      data->plane[k][i] = worth - data->cost[i][k];
    if (two)
      data->plane[0][i] = label ? weight : -weight;
    data->plane[two ? 1 : classes][i] = worth;
    data->plane[two ? 2 : classes + 1][i] = label;
  }
  for (int k = 0; k < classes + 2; k++)
    data->planes[k] = data->plane[k];
  solver->goal = two ? numeric_goal_two : numeric_goal_many;
  solver->pure = kind == 1;
  solver->planes = two ? 1 : classes;
  solver->value = data->planes;
}

/* Two subtrees: a split with two leaves at node 0, and one at node 3. */
static void draw_tree (const struct data *data, int32_t field[5][nodes], struct numeric_tree *tree) {
  *tree = (struct numeric_tree) {field[0], field[1], field[2], field[3], field[4], nodes, nodes};
  for (int32_t i = 0; i < nodes; i++) {
    tree->column[i] = i % 3 ? -1 : (int32_t) draw (columns);
    tree->cut[i] = (int32_t) draw (6);
    tree->yes[i] = i + 1;
    tree->no[i] = i + 2;
    tree->label[i] = (int32_t) draw (data->solver.goal == numeric_goal_two ? 2 : classes);
  }
}

static int64_t cost_of (const struct data *data, const struct numeric_tree *tree, int32_t root, int row) {
  const int32_t leaf = data->rank[tree->column[root]][row] <= tree->cut[root] ? root + 1 : root + 2;
  return data->cost[row][tree->label[leaf]];
}

/* What all rows cost if those up to a cut go to one subtree and the others to the other one. */
static int64_t cost_of_cut (const struct data *data, const struct numeric_tree *tree, int32_t column, int64_t cut,
                            int swapped) {
  int64_t cost = 0;
  for (int i = 0; i < rows; i++)
    cost += cost_of (data, tree, (data->rank[column][i] <= cut) != swapped ? 0 : 3, i);
  return cost;
}

static int64_t least_of_all (const struct data *data, const struct numeric_tree *tree, uint64_t chosen) {
  int64_t least = NUMERIC_NONE;
  for (int32_t f = 0; f < columns; f++)
    for (int i = 0; chosen >> f & 1 && i < rows; i++)
      for (int swapped = 0; data->rank[f][i] < data->rank[f][data->order[f][rows - 1]] && swapped < 2; swapped++) {
        const int64_t cost = cost_of_cut (data, tree, f, data->rank[f][i], swapped);
        least = cost < least ? cost : least;
      }
  return least;
}

static int holds (void) {
  struct data data = {.solver = {.rows = rows, .columns = columns}, .set = {.rows = rows}};
  int32_t field[5][nodes];
  struct numeric_tree tree;
  struct numeric_worker worker = {.solver = &data.solver, .until_clock = 1 << 20};
  data.solver.arena.limit = SIZE_MAX;
  draw_columns (&data);
  draw_costs (&data);
  draw_tree (&data, field, &tree);
  data.solver.rank = data.ranks;
  data.set.order = data.orders;
  const uint64_t chosen = (uint64_t) draw (1 << columns);
  const struct numeric_route route = numeric_reroute (&worker, &data.set, &tree, 0, 3, chosen);
  const int64_t least = least_of_all (&data, &tree, chosen);
  if (route.split.column < 0)
    return least == NUMERIC_NONE;
  return chosen >> route.split.column & 1 &&
         cost_of_cut (&data, &tree, route.split.column, route.split.cut, route.swapped) == least;
}

int main (void) {
  for (int i = 0; i < cases; i++)
    if (!holds ()) {
      printf ("case %d: another cut is better\n", i);
      return 1;
    }
  return 0;
}
