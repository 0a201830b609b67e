"""Trees of other programs as starts: Weka, ITI, scikit-learn, JSON; and those that cannot be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from deep_worlds import model, write_csv

import treeml as tml
from treeml.backends.anytime.local_kernel import LocalKernel
from treeml.backends.contract import Answer, Progress, Stop
from treeml.backends.heuristics.cart import CartBackend
from treeml.backends.improve import starts
from treeml.measures.lower_dataset import lower
from treeml.solving.pipeline import prepare
from treeml.system.interrupt import listening, press
from treeml.trees.importing.read import lower_start, read_start

DATA = """color,size,weight,label
red,1,0.5,a
red,2,1.5,b
green,1,2.5,a
green,3,3.5,c
blue,2,4.5,c
blue,3,5.5,c
"""
WEKA = """J48 unpruned tree
------------------

color = red
|   weight <= 0.9: a (1.0)
|   weight > 0.9: b (1.0)
color = green
|   size <= 2: a (1.0)
|   size > 2: c (1.0)
color = blue: c (2.0)

Number of Leaves  : \t5

Size of the tree : \t8
"""
ITI = """weight < 3.00
   color = red
   |  size < 1.50
   |  |  a (1)
   |  |  b (1)
   |  a (1)
   c (3)
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "toys.csv"
    path.write_text(DATA)
    return path


def start_of(text: str, data: Path, *statements: str) -> tml.Tree:
    path = data.with_name("tree.txt")
    path.write_text(text)
    dataset, _ = prepare(model("minimize errors", *statements), data)
    return read_start(path, dataset)


def fitted(source: Any, data: Path) -> list[str]:
    """What the start predicts for the rows, once it is a tree over the problem's tests."""
    dataset, _ = prepare(model("minimize errors"), data)
    lowered = lower(dataset, numeric=True)
    tree = source if isinstance(source, tml.Tree) else read_start(source, dataset)
    node = lower_start(tree, lowered)
    from treeml.problem.evaluate import Routed

    return [str(dataset.classes[label]) for label in Routed(lowered.problem, node).labels]


def test_weka_with_levels_thresholds_heading_and_footing(data: Path) -> None:
    tree = start_of(WEKA, data)
    assert (tree.depth, len(tree.leaves)) == (3, 5)
    assert fitted(tree, data) == ["a", "b", "a", "c", "c", "c"]
    assert [str(x) for x in tree.columns] == ["color", "weight", "size"]


def test_weka_binary_splits_and_impure_leaves(data: Path) -> None:
    text = "color = red: a (2.0/1.0)\ncolor != red\n|   weight > 3.0: c (3.0)\n|   weight <= 3.0: a (1.0)\n"
    assert fitted(start_of(text, data), data) == ["a", "a", "a", "c", "c", "c"]


def test_a_single_leaf(data: Path) -> None:
    assert start_of(": c (6.0/3.0)\n", data).depth == 0
    assert start_of("c (3) a (2)\n", data).depth == 0


def test_iti_with_strict_thresholds(data: Path) -> None:
    tree = start_of(ITI, data)
    assert (tree.depth, len(tree.leaves)) == (3, 4)
    assert fitted(tree, data) == ["a", "b", "a", "c", "c", "c"]


def test_iti_takes_the_class_with_the_most_rows(data: Path) -> None:
    assert [leaf.prediction for leaf in start_of("a (2) c (3) b (1)\n", data).leaves] == ["c"]


def test_a_threshold_of_another_program_lies_anywhere_between_two_values(data: Path) -> None:
    for cut in ("0.5", "0.9", "1.49"):
        text = f"weight <= {cut}: a (1.0)\nweight > {cut}: c (5.0)\n"
        assert fitted(start_of(text, data), data) == ["a"] + ["c"] * 5


def test_a_fitted_estimator(data: Path) -> None:
    from sklearn import tree as trees

    values = np.array([[1, 0.5], [2, 1.5], [1, 2.5], [3, 3.5], [2, 4.5], [3, 5.5]])
    labels = np.array(list("abaccc"))
    estimator = trees.DecisionTreeClassifier(random_state=0).fit(values, labels)
    depth = tml.Model.parse("minimize depth require errors = 0 improve by subtrees")
    grown = depth.solve(values, labels, start=estimator)
    assert grown.tree is not None
    assert grown.measures["errors"] == 0
    assert grown.tree.depth <= estimator.get_depth()
    with pytest.raises(tml.DataError, match=r"D440.*no tree"):
        depth.solve(values, labels, start=trees.DecisionTreeClassifier())
    with pytest.raises(tml.DataError, match=r"D440.*predicts no classes"):
        depth.solve(values, labels, start=trees.DecisionTreeRegressor().fit(values, [0, 1, 2, 3, 4, 5]))
    with pytest.raises(tml.DataError, match=r"D444.*1 columns"):
        depth.solve(values, labels, start=trees.DecisionTreeClassifier().fit(values[:, :1], labels))


def test_a_tree_in_json_that_was_solved_before(data: Path) -> None:
    first = model("minimize errors", "require depth <= 3").solve(data, backend="cart")
    assert first.tree is not None
    path = data.with_name("tree.json")
    first.tree.write(path)
    again = model("minimize errors", "require depth <= 3", f'start from "{path}"', "improve by subtrees").solve(data)
    assert again.measures["errors"] <= first.measures["errors"]


WRONG = {
    "nothing": ("", r"D481.*holds no tree"),
    "no tree": ("Once upon a time there was a forest.\n", r"D481.*line 1 is not a branch"),
    "cut off": ("color = red\n|   weight <= 0.9: a (1.0)\n", r"D481.*has no sibling"),
    "no class": ("color = red\ncolor != red: a (1.0)\n", r"D481.*neither a class nor branches"),
    "other siblings": ("color = red: a (1.0)\nsize = 2: b (1.0)\n", r"D481.*sibling in line 1"),
    "no opposites": ("size <= 1: a (1.0)\nsize > 2: b (1.0)\n", r"D481.*not opposites"),
    "jump": (
        "color = red: a (1.0)\ncolor != red: b (1.0)\n|   |   size <= 1: a (1.0)\n",
        r"D481.*belongs to no branch",
    ),
    "iti cut off": ("weight < 3.00\n   a (1)\n", r"D481.*ends before"),
    "iti too much": ("weight < 3.00\n   a (1)\n   b (1)\n   c (1)\n", r"D481.*belongs to no question"),
    "iti crooked": ("weight < 3.00\n      a (1)\n   b (1)\n", r"D481.*steps in"),
    "iti word": ("weight < 3.00\n   a (1)\n   what\n", r"D481.*neither a question"),
    "other column": ("shape = red: a (1.0)\nshape != red: b (1.0)\n", r"D444.*`shape`.*no such column"),
    "the target": ("label = a: a (1.0)\nlabel != a: b (1.0)\n", r"D444.*may not split"),
    "other level": ("color = pink: a (1.0)\ncolor != pink: b (1.0)\n", r"D440.*`color` = pink"),
    "order of levels": ("color <= 3: a (1.0)\ncolor > 3: b (1.0)\n", r"D440.*`color` <= 3"),
    "other class": ("size <= 1: a (1.0)\nsize > 1: z (1.0)\n", r"D465.*`z`"),
    "json": ('{"treeml_tree": 1}', r"D480"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_invalid_start_is_refused_with_its_place(name: str, data: Path) -> None:
    text, message = WRONG[name]
    with pytest.raises(tml.DataError, match=message):
        start_of(text, data)


def test_no_file_and_no_text(data: Path) -> None:
    dataset, _ = prepare(model("minimize errors"), data)
    with pytest.raises(tml.DataError, match=r"D481.*cannot be read"):
        read_start(data.with_name("missing.txt"), dataset)
    other = data.with_name("picture.txt")
    other.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(tml.DataError, match=r"D481.*not UTF-8"):
        read_start(other, dataset)


def test_a_tree_of_hundreds_of_levels_is_refused(data: Path) -> None:
    lines = ["   " * level + "weight < 3.00" for level in range(500)]
    with pytest.raises(tml.DataError, match=r"D481"):
        start_of("\n".join(lines) + "\n", data)


def test_a_start_that_breaks_a_requirement_is_refused_by_name(data: Path) -> None:
    data.with_name("tree.txt").write_text(WEKA)
    spec = ("minimize errors", f'start from "{data.with_name("tree.txt")}"', "improve by subtrees")
    with pytest.raises(tml.DataError, match=r"(?s)D445.*depth.*is 3, and has to be <= 2"):
        model(*spec, "require depth <= 2").solve(data)
    with pytest.raises(tml.DataError, match=r"(?s)D445.*support"):
        model(*spec, "require support >= 2").solve(data)
    with pytest.raises(tml.DataError, match=r"(?s)D445.*errors"):
        model("minimize depth", "require errors = 0", "start from cart(depth = 1)", "improve by subtrees").solve(data)


def test_a_start_tree_over_forbidden_columns_is_refused(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "bits.csv", 3)
    tree = model("minimize errors", "require depth <= 3").solve(path, backend="cart").tree
    assert tree is not None
    assert tree.columns
    spec = ("minimize errors", "require depth <= 3", f"forbid split on {tree.columns[0]}", "improve by subtrees")
    with pytest.raises(tml.DataError, match=rf"D444.*`{tree.columns[0]}`"):
        model(*spec).solve(path, start=tree)


def test_ctrl_c_while_another_start_is_grown_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """CART keeps what it has grown when Ctrl-C comes, and says so; nothing may go on from there."""
    random = np.random.default_rng(2)
    x, y = random.integers(0, 2, (60, 5)), random.integers(0, 2, 60)
    grow = CartBackend.solve
    grown: list[Answer] = []

    def interrupted(self: CartBackend, *anything: Any) -> Answer:
        grown.append(grow(self, *anything))
        return replace(grown[-1], stop=Stop.INTERRUPTED)

    monkeypatch.setattr(starts, "CartBackend", type("Interrupted", (CartBackend,), {"solve": interrupted}))
    coupled = 'minimize errors require depth <= 3 require recall("1") >= 1% start from cart improve by subtrees'
    result = tml.parse(coupled).solve(x, y)
    assert len(grown) == 1
    assert result.stop is Stop.INTERRUPTED
    assert result.tree is not None


@pytest.mark.parametrize("place", [0, 3])
def test_ctrl_c_during_a_solve_that_does_not_notice_it_ends_the_run(
    place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(2)
    x, y = random.random((300, 5)), random.integers(0, 2, 300)
    solve, run, solves = LocalKernel.best, starts.Anytime.run, iter(range(10**9))

    def best(*given: Any, **named: Any) -> Any:
        with listening():
            if next(solves) == place:
                press()
        return solve(*given, **named)

    def watched(*given: Any, **named: Any) -> Any:
        monkeypatch.setattr(LocalKernel, "best", best)
        return run(*given, **named)

    monkeypatch.setattr(starts.Anytime, "run", watched)
    result = tml.parse("minimize errors require depth <= 5 improve by subtrees").solve(x, y)
    assert result.stop is Stop.INTERRUPTED
    assert result.tree is not None


def test_ctrl_c_that_a_look_ahead_notices_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels on few tests, which propose splits, listen as well: what one of them heard, all have to know."""
    random = np.random.default_rng(2)
    x, y = random.random((300, 5)), random.integers(0, 2, 300)
    solve, is_pressed = LocalKernel.best, [False]

    def best(self: LocalKernel, *given: Any, **named: Any) -> Any:
        found = solve(self, *given, **named)
        if self.problem.rows == 300 and self.kernel == "binary" and not is_pressed[0]:
            is_pressed[0] = True
            self.pressed.set()  # as when Ctrl-C ends the solve
        return found

    monkeypatch.setattr(LocalKernel, "best", best)
    result = tml.parse("minimize errors require depth <= 5 improve by subtrees").solve(x, y)
    assert is_pressed[0]
    assert result.stop is Stop.INTERRUPTED
    assert result.tree is not None


def test_an_improvement_uses_its_time_from_other_starts() -> None:
    random = np.random.default_rng(0)
    x = random.random((400, 4))
    y = (np.floor(4 * x[:, 0]) + np.floor(4 * x[:, 1])) % 2 + (random.random(400) < 0.1)
    spec = "minimize errors require depth <= 5 solve with improve(native{})"
    alone = tml.parse(spec.format(", starts = 1")).solve(x, y)
    assert isinstance(alone.objective, (int, float))
    best: list[float] = [alone.objective]

    def listen(moment: Progress) -> bool:
        if moment.objective is not None:
            best[0] = min(best[0], float(moment.objective[0]))
        return best[0] >= alone.objective  # ends with the first better tree

    result = tml.parse(spec.format("")).solve(x, y, within=600, on_progress=listen)
    assert best[0] < alone.objective
    assert result.stop is Stop.INTERRUPTED


def test_ctrl_c_while_the_first_start_is_grown_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2)
    x, y = random.integers(0, 2, (60, 5)), random.integers(0, 2, 60)
    grow = CartBackend.solve
    monkeypatch.setattr(CartBackend, "solve", lambda *given: replace(grow(*given), stop=Stop.INTERRUPTED))
    result = tml.parse("minimize errors require depth <= 3 start from cart improve by subtrees").solve(x, y)
    assert result.stop is Stop.INTERRUPTED
    assert result.tree is not None
    assert result.verified
