/* The loops of simd/stumps_body.h for one pair of types: SUM of the table and SCORE. */

static inline SCORE NAME (less) (SCORE a, SCORE b) { return a < b ? a : b; }

static void NAME (add_line) (SCORE *restrict line, const SUM *restrict sums, SCORE weight, int32_t size) {
  for (int32_t j = 0; j < size; j++)
    line[j] += weight * (SCORE) sums[j];
}

/* The scores of a class for the pairs of one test. */
static void NAME (score_line) (const struct stumps_task *task, int32_t k, int64_t at, SCORE *line) {
  const int64_t size = (int64_t) task->tests * task->stride;
  const SUM *sums = (const SUM *) task->sums + (int64_t) (k - 1) * task->width * size + at;
  for (int32_t j = 0; j < task->stride; j++)
    line[j] = (SCORE) task->weights[0] * (SCORE) sums[j];
  for (int32_t v = 1; v < task->width; v++)
    if (task->weights[v])
      NAME (add_line) (line, sums + v * size, (SCORE) task->weights[v], task->stride);
}

/* Two classes and no least count: the best stumps of a test in one loop, without the prices of leaves. */
static void NAME (two_classes) (const SCORE *restrict line, const SCORE *restrict alone, SCORE here, SCORE rest,
                                int32_t size, SCORE best[2]) {
  SCORE yes[8], no[8];
  for (int i = 0; i < 8; i++)
    yes[i] = no[i] = (SCORE) STUMPS_IMPOSSIBLE;
  for (int32_t j = 0; j < size; j += 8)
    for (int i = 0; i < 8; i++) {
      const SCORE both = line[j + i], beside = alone[j + i] - both;
      const SCORE first = NAME (less) (both, 0) + NAME (less) (here - both, 0);
      const SCORE second = NAME (less) (beside, 0) + NAME (less) (rest - beside, 0);
      yes[i] = NAME (less) (first, yes[i]);
      no[i] = NAME (less) (second, no[i]);
    }
  for (int i = 1; i < 8; i++) {
    yes[0] = NAME (less) (yes[i], yes[0]);
    no[0] = NAME (less) (no[i], no[0]);
  }
  best[1] = yes[0];
  best[0] = no[0];
}

static void NAME (lower_cells) (const SCORE *restrict line, const SCORE *restrict alone, SCORE here, SCORE rest,
                                int32_t stride, SCORE *restrict cells) {
  for (int32_t j = 0; j < stride; j++) {
    const SCORE both = line[j], beside = alone[j] - both;
    cells[j] = NAME (less) (both, cells[j]);
    cells[stride + j] = NAME (less) (here - both, cells[stride + j]);
    cells[2 * stride + j] = NAME (less) (beside, cells[2 * stride + j]);
    cells[3 * stride + j] = NAME (less) (rest - beside, cells[3 * stride + j]);
  }
}

/* Makes cells impossible that have too few rows. */
static void NAME (apply_support) (const struct stumps_task *task, int32_t test, SCORE *cells) {
  const int64_t stride = task->stride, size = (int64_t) task->tests * stride;
  const int32_t channels = (task->classes - 1) * task->width;
  const SUM *count = (const SUM *) task->sums + channels * size, *line = count + test * stride;
  const int64_t total = task->total[channels], here = line[test], support = task->support;
  for (int32_t other = 0; other < task->tests; other++) {
    const int64_t both = line[other], alone = count[other * stride + other];
    const int64_t counts[4] = {both, here - both, alone - both, total - here - alone + both};
    for (int cell = 0; cell < 4; cell++)
      if (counts[cell] < support)
        cells[cell * stride + other] = (SCORE) STUMPS_IMPOSSIBLE;
  }
}

/* The sums of a channel in the four cells of a test and another one. */
static inline void NAME (cell_sums) (const struct stumps_task *task, int32_t channel, int32_t test, int32_t other,
                                     int64_t sums[4]) {
  const int64_t stride = task->stride, size = (int64_t) task->tests * stride;
  const SUM *line = (const SUM *) task->sums + channel * size + test * stride;
  const int64_t both = line[other], here = line[test];
  const int64_t alone = ((const SUM *) task->sums)[channel * size + other * (stride + 1)];
  sums[0] = both;
  sums[1] = here - both;
  sums[2] = alone - both;
  sums[3] = task->total[channel] - here - alone + both;
}

/* Makes cells impossible that have no class of enough purity. */
static void NAME (apply_purity) (const struct stumps_task *task, int32_t test, SCORE *cells) {
  for (int32_t other = 0; other < task->tests; other++) {
    int pure[4] = {0};
    for (int32_t k = 0; k < task->classes; k++) {
      int64_t sums[4];
      NAME (cell_sums) (task, task->purity + k, test, other, sums);
      for (int cell = 0; cell < 4; cell++)
        pure[cell] |= sums[cell] >= 0;
    }
    for (int cell = 0; cell < 4; cell++)
      if (!pure[cell])
        cells[cell * task->stride + other] = (SCORE) STUMPS_IMPOSSIBLE;
  }
}

/* The scores of one class in the four cells, impossible where the class costs too much, lower those of all classes. */
static void NAME (lower_by_class) (const struct stumps_task *task, int32_t test, int32_t k, const SCORE *own,
                                   SCORE *cells) {
  for (int32_t other = 0; other < task->tests; other++) {
    int64_t sums[4];
    NAME (cell_sums) (task, task->cost + k, test, other, sums);
    for (int cell = 0; cell < 4; cell++) {
      const int64_t at = (int64_t) cell * task->stride + other;
      if (sums[cell] <= task->most_cost)
        cells[at] = NAME (less) (own[at], cells[at]);
    }
  }
}

/* The same as the loop of any_stumps over classes, if classes have limited costs. */
static void NAME (cells_by_class) (const struct stumps_task *task, int32_t test, const SCORE *singles, SCORE *line) {
  const int64_t stride = task->stride;
  SCORE *cells = line + stride, *own = cells + 4 * stride;
  for (int64_t j = 0; j < 4 * stride; j++)
    cells[j] = (SCORE) STUMPS_IMPOSSIBLE;
  for (int32_t k = 0; k < task->classes; k++) {
    for (int64_t j = 0; j < 4 * stride; j++)
      own[j] = k ? (SCORE) STUMPS_IMPOSSIBLE : 0;
    if (k) {
      const SCORE *alone = singles + (k - 1) * stride, here = alone[test];
      NAME (score_line) (task, k, test * stride, line);
      NAME (lower_cells) (line, alone, here, singles[k - stumps_most_classes] - here, task->stride, own);
    }
    NAME (lower_by_class) (task, test, k, own, cells);
  }
}

/* The fee of testing `other` on the sides of a test, in scores; the sides have these many rows. */
static inline void NAME (fees) (const struct stumps_task *task, int32_t test, int32_t other, const int64_t rows[2],
                                SCORE fee[2]) {
  fee[0] = fee[1] = 0;
  for (int kind = 0; kind < 2; kind++) {
    if (!task->fee[kind])
      continue;
    const int64_t above = task->fee[kind][other];
    const int64_t below = task->fee_below[kind][(int64_t) task->fee_column[test] * task->stride + other];
    const SCORE each = (SCORE) task->fee_weight[kind] * (SCORE) (below < above ? below : above);
    fee[0] += each * (SCORE) rows[0];
    fee[1] += each * (SCORE) rows[1];
  }
}

/* Any number of classes, counts and columns. */
static void NAME (any_stumps) (const struct stumps_task *task, int32_t test, const SCORE *singles, SCORE *line,
                               SCORE best[2]) {
  const int64_t stride = task->stride;
  SCORE *cells = line + stride;
  for (int64_t j = 0; j < 4 * stride; j++)
    cells[j] = 0;
  if (task->cost)
    NAME (cells_by_class) (task, test, singles, line);
  for (int32_t k = 1; !task->cost && k < task->classes; k++) {
    const SCORE *alone = singles + (k - 1) * stride, here = alone[test];
    NAME (score_line) (task, k, test * stride, line);
    NAME (lower_cells) (line, alone, here, singles[k - stumps_most_classes] - here, task->stride, cells);
  }
  if (task->purity)
    NAME (apply_purity) (task, test, cells);
  if (task->support)
    NAME (apply_support) (task, test, cells);
  const int has_fees = task->fee[0] || task->fee[1];
  int64_t rows[2] = {0, 0};
  SCORE fee[2] = {0, 0};
  if (has_fees) {
    const int64_t counts = (int64_t) (task->classes - 1) * task->width, size = (int64_t) task->tests * stride;
    rows[1] = ((const SUM *) task->sums)[counts * size + test * (stride + 1)];
    rows[0] = task->total[counts] - rows[1];
  }
  best[0] = best[1] = (SCORE) STUMPS_IMPOSSIBLE;
  for (int32_t other = 0; other < task->tests; other++) {
    if (task->column && (task->column[other] == task->column[test] || task->used[task->column[other]]))
      continue;
    if (has_fees)
      NAME (fees) (task, test, other, rows, fee);
    best[1] = NAME (less) (cells[other] + cells[stride + other] + fee[1], best[1]);
    best[0] = NAME (less) (cells[2 * stride + other] + cells[3 * stride + other] + fee[0], best[0]);
  }
}

/* The scores of every class for the rows of each test; those for all rows are stored before them. */
static void NAME (score_singles) (const struct stumps_task *task, SCORE *singles) {
  const int64_t stride = task->stride, size = (int64_t) task->tests * stride;
  for (int32_t k = 1; k < task->classes; k++) {
    const SUM *sums = (const SUM *) task->sums + (int64_t) (k - 1) * task->width * size;
    SCORE total = 0;
    for (int32_t v = 0; v < task->width; v++)
      total += (SCORE) task->weights[v] * (SCORE) task->total[(k - 1) * task->width + v];
    singles[k - stumps_most_classes] = total;
    for (int32_t test = 0; test < task->stride; test++) {
      SCORE score = 0;
      for (int32_t v = 0; test < task->tests && v < task->width; v++)
        score += (SCORE) task->weights[v] * (SCORE) sums[v * size + test * (stride + 1)];
      singles[(k - 1) * stride + test] = score;
    }
  }
}

/* The sum of a channel over a side of a test. */
static inline int64_t NAME (side_sum) (const struct stumps_task *task, int32_t channel, int32_t test, int side) {
  const int64_t stride = task->stride, size = (int64_t) task->tests * stride;
  const int64_t here = ((const SUM *) task->sums)[channel * size + test * (stride + 1)];
  return side ? here : task->total[channel] - here;
}

/* The least score of a leaf on a side of a test. */
static SCORE NAME (leaf) (const struct stumps_task *task, int32_t test, int side, const SCORE *singles) {
  const int64_t stride = task->stride;
  SCORE least = (SCORE) STUMPS_IMPOSSIBLE;
  int pure = !task->purity;
  for (int32_t k = 0; k < task->classes; k++) {
    const SCORE here = k ? singles[(k - 1) * stride + test] : 0, all = k ? singles[k - stumps_most_classes] : 0;
    pure = pure || NAME (side_sum) (task, task->purity + k, test, side) >= 0;
    if (!task->cost || NAME (side_sum) (task, task->cost + k, test, side) <= task->most_cost)
      least = NAME (less) (side ? here : all - here, least);
  }
  const int32_t counts = (task->classes - 1) * task->width;
  if (!pure || (task->support && NAME (side_sum) (task, counts, test, side) < task->support))
    return (SCORE) STUMPS_IMPOSSIBLE;
  return least;
}

static void NAME (stumps) (const struct stumps_task *task, int64_t *const best[2]) {
  const int64_t stride = task->stride;
  SCORE *singles = (SCORE *) task->room + stumps_most_classes, *line = singles + (task->classes - 1) * stride;
  const int plain = task->classes == 2 && !task->support && !task->column;
  NAME (score_singles) (task, singles);
  for (int32_t test = 0; test < task->tests; test++) {
    SCORE stump[2];
    if (task->column && task->used[task->column[test]]) {
      best[0][test] = best[1][test] = STUMPS_IMPOSSIBLE;
      continue;
    }
    if (plain) {
      const SCORE here = singles[test];
      NAME (score_line) (task, 1, test * stride, line);
      NAME (two_classes) (line, singles, here, singles[1 - stumps_most_classes] - here, task->stride, stump);
    } else
      NAME (any_stumps) (task, test, singles, line, stump);
    for (int side = 0; side < 2; side++) {
      const SCORE leaf = NAME (leaf) (task, test, side, singles) + (SCORE) task->price;
      const SCORE least = NAME (less) (leaf, stump[side] + (SCORE) (2 * task->price));
      best[side][test] = least < (SCORE) (STUMPS_IMPOSSIBLE / 2) ? (int64_t) least : STUMPS_IMPOSSIBLE;
    }
  }
}
