"""Lists of vectors, called directly: what is dropped can be replaced whatever the rest of a tree adds."""

from __future__ import annotations

import ctypes
import itertools
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treeml.native import loader

FOLDER = Path(loader.__file__).parent
SOURCES = [FOLDER / name for name in ("coupled/vector_list.c", "common/arena.c", "common/memory.c")]
ONE_SIDED = -1

pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler"),
    pytest.mark.skipif(not SOURCES[0].exists(), reason="an installed package has no C sources"),
]

SHIM = r"""
#include "coupled/vector_list.h"

static int fill (struct vector_list *list, struct arena *arena, int sums, const int64_t *numbers, int64_t count) {
  vector_list_start (list, arena, sums);
  for (int64_t i = 0; i < count; i++)
    if (!vector_list_add (list, numbers + i * (1 + sums)))
      return 0;
  return 1;
}

int64_t reduce (int sums, int64_t *numbers, int64_t count, const int64_t *windows) {
  struct arena arena = {.limit = SIZE_MAX};
  struct vector_work work = {.arena = &arena};
  struct vector_list list;
  int64_t kept = -1;
  if (fill (&list, &arena, sums, numbers, count) && vector_list_reduce (&list, windows, &work))
    kept = (int64_t) list.count;
  for (int64_t i = 0; i < kept * (1 + sums); i++)
    numbers[i] = list.numbers[i];
  vector_list_release (&list);
  vector_work_release (&work);
  return atomic_load (&arena.used) ? -2 : kept;
}

int64_t join (int sums, const int64_t *a, int64_t as, const int64_t *b, int64_t bs, const int64_t *weights,
              const int64_t *budgets, int multipliers, const int64_t *windows, int64_t *result, int64_t room) {
  struct arena arena = {.limit = SIZE_MAX};
  struct vector_work work = {.arena = &arena};
  const struct vector_filter filter = {multipliers, weights, budgets};
  struct vector_list one, other, list;
  int64_t count = -1;
  vector_list_start (&list, &arena, sums);
  if (fill (&one, &arena, sums, a, as) && fill (&other, &arena, sums, b, bs) &&
      vector_list_join (&list, &one, &other, &filter, windows, &work) && (int64_t) list.count <= room)
    count = (int64_t) list.count;
  for (int64_t i = 0; i < count * (1 + sums); i++)
    result[i] = list.numbers[i];
  vector_list_release (&one);
  vector_list_release (&other);
  vector_list_release (&list);
  vector_work_release (&work);
  return atomic_load (&arena.used) ? -2 : count;
}

int64_t best (int sums, const int64_t *a, int64_t as, const int64_t *b, int64_t bs, const int64_t *low,
              const int64_t *high, int64_t most) {
  struct arena arena = {.limit = SIZE_MAX};
  struct vector_work work = {.arena = &arena};
  struct vector_list one, other;
  size_t first = 0, second = 0;
  int64_t value = INT64_MAX;
  if (fill (&one, &arena, sums, a, as) && fill (&other, &arena, sums, b, bs) &&
      vector_list_best_pair (&one, &other, low, high, most, &work, &first, &second) > 0) {
    value = vector_at (&one, first)[0] + vector_at (&other, second)[0];
    for (int j = 1; j <= sums; j++) {
      const int64_t sum = vector_at (&one, first)[j] + vector_at (&other, second)[j];
      if (sum < low[j - 1] || sum > high[j - 1])
        value = INT64_MIN;
    }
  }
  vector_list_release (&one);
  vector_list_release (&other);
  vector_work_release (&work);
  return value;
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("vector_list")
    (folder / "shim.c").write_text(SHIM)
    built = folder / "shim.so"
    command = ["cc", "-std=c11", "-O1", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", f"-I{FOLDER}"]
    subprocess.run([*command, "-o", str(built), str(folder / "shim.c"), *map(str, SOURCES)], check=True)
    shim = ctypes.CDLL(str(built))
    for function in (shim.reduce, shim.join, shim.best):
        function.restype = ctypes.c_int64
    return shim


def address(array: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def whole(values: Any) -> Any:
    return np.ascontiguousarray(values, dtype=np.int64)


def replaced(vector: Any, kept: Any, windows: list[int]) -> bool:
    """Whether every rest of a tree that suits the vector suits one of the kept vectors of at most its value."""
    good = kept[kept[:, 0] <= vector[0]]
    for place, window in enumerate(windows):
        if window == ONE_SIDED:
            good = good[good[:, 1 + place] <= vector[1 + place]]
    sides = [place for place, window in enumerate(windows) if window != ONE_SIDED]
    for offsets in itertools.product(*(range(windows[place] + 1) for place in sides)):
        # The limits are such that the vector lies `offset` above the lower one.
        fits = np.ones(len(good), dtype=bool)
        for place, offset in zip(sides, offsets, strict=True):
            above = good[:, 1 + place] - int(vector[1 + place]) + offset
            fits &= (above >= 0) & (above <= windows[place])
        if not fits.any():
            return False
    return True


@pytest.mark.parametrize("seed", range(60))
def test_dropped_vectors_can_be_replaced(library: ctypes.CDLL, seed: int) -> None:
    random = np.random.default_rng(seed)
    sums = int(random.choice([0, 1, 1, 2, 2, 3]))
    windows = [int(random.choice([ONE_SIDED, 0, 1, 2, 5])) for _ in range(sums)]
    count = int(random.choice([1, 5, 30, 300]))
    spread = int(random.choice([3, 10, 40]))
    vectors = whole(random.integers(-spread, spread + 1, (count, 1 + sums)))
    vectors[:, 0] = random.integers(0, 6, count)
    numbers = vectors.copy()
    left = library.reduce(sums, address(numbers), ctypes.c_int64(count), address(whole(windows or [0])))
    assert 0 < left <= count
    kept = numbers[:left]
    given, stay = {tuple(row) for row in vectors.tolist()}, {tuple(row) for row in kept.tolist()}
    assert stay <= given
    assert len(stay) == left  # equal vectors are dropped
    assert (np.diff(kept[:, 0]) >= 0).all()
    for vector in given - stay:
        assert replaced(np.array(vector), kept, windows), (vector, windows)
    if sums == 1:  # one sum: whatever can be dropped is dropped
        for place in range(left):
            others = np.delete(kept[: place + 1], place, axis=0)
            assert not len(others) or not replaced(kept[place], others, windows)


@pytest.mark.parametrize("seed", range(20))
def test_joins_have_all_sums_that_fit(library: ctypes.CDLL, seed: int) -> None:
    random = np.random.default_rng(seed)
    sums = int(random.integers(1, 3))
    one, other = (whole(random.integers(-20, 21, (int(random.choice([3, 40, 90])), 1 + sums))) for _ in range(2))
    weights = whole(random.integers(0, 4, (2, 1 + sums)))
    budgets = whole(random.integers(-30, 30, 2))
    windows = whole(np.zeros(sums))
    result = whole(np.zeros((len(one) * len(other) + 1, 1 + sums)))
    sizes = [ctypes.c_int64(len(part)) for part in (one, other)]
    count = library.join(
        sums, address(one), sizes[0], address(other), sizes[1], address(weights), address(budgets), 2,
        address(windows), address(result), ctypes.c_int64(len(result)),
    )  # fmt: skip
    found = {tuple(row) for row in result[:count].tolist()}
    wanted = [first + second for first in one for second in other]
    wanted = [total for total in wanted if (weights @ total <= budgets).all()]
    assert found <= {tuple(total.tolist()) for total in wanted}
    cheapest: dict[tuple[int, ...], int] = {}
    for total in wanted:  # with windows of 0, the least value of every combination of sums must stay
        key = tuple(total[1:].tolist())
        cheapest[key] = min(int(total[0]), cheapest.get(key, 10**9))
    assert {(value, *key) for key, value in cheapest.items()} <= found


@pytest.mark.parametrize("seed", range(60))
def test_the_best_pair(library: ctypes.CDLL, seed: int) -> None:
    random = np.random.default_rng(seed)
    sums = int(random.choice([1, 1, 2]))
    one, other = (whole(random.integers(-9, 10, (int(random.choice([1, 5, 9, 40])), 1 + sums))) for _ in range(2))
    low = whole(random.integers(-12, 8, sums))
    high = low + random.integers(0, 4, sums)
    if random.integers(3) == 0:
        low[0] = np.iinfo(np.int64).min
    most = int(random.integers(-10, 12))
    sizes = [ctypes.c_int64(len(part)) for part in (one, other)]
    found = library.best(
        sums, address(one), sizes[0], address(other), sizes[1], address(low), address(high), ctypes.c_int64(most)
    )
    totals = (one[:, None, :] + other[None, :, :]).reshape(-1, 1 + sums)
    good = (totals[:, 0] <= most) & ((totals[:, 1:] >= low) & (totals[:, 1:] <= high)).all(axis=1)
    assert found == (int(totals[good, 0].min()) if good.any() else np.iinfo(np.int64).max)
