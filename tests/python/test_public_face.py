"""The public names: declared, typed, documented with examples, and the examples work."""

from __future__ import annotations

import doctest
import enum
import inspect
import io
import os
import pydoc
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars
import pytest

import treeml as tml
import treeml.dl85
import treeml.export
import treeml.sklearn
from treeml.lang import measure_formulas
from treeml.lang.formula import Formula, MeasureWithArguments
from treeml.lang.measures import MEASURES
from treeml.trees.nodes import Branch, Field, TreeLeaf, TreeTest

ROOT = Path(__file__).parents[2]
MODULES: tuple[ModuleType, ...] = (tml, treeml.sklearn, treeml.dl85, treeml.export)
CONSTANTS = {"__version__", "MODEL_LP_AGLIN", "MODEL_LP_DEMIRIZ", "MODEL_LP_RATSCH", "MODEL_QP_MDBOOST"}
# Examples that need a solver for long, a cluster or a file of the user's are not run.
NOT_RUN = {"treeml.Model", "treeml.Result", "treeml.load", "treeml.parse", "treeml.solve"}


def public_objects() -> Iterator[tuple[str, Any]]:
    """Every public name, and every public method and property of the public classes, by its full name."""
    for module in MODULES:
        for name in module.__all__:
            if name in CONSTANTS:
                continue
            value = getattr(module, name)
            yield f"{module.__name__}.{name}", value
            if inspect.isclass(value) and not issubclass(value, enum.Enum):
                yield from members(f"{module.__name__}.{name}", value)


def members(owner: str, kind: type) -> Iterator[tuple[str, Any]]:
    """What the class or its ancestors in this package define; what scikit-learn and Python define is theirs."""
    for name in dir(kind):
        if name.startswith("_"):
            continue
        value = inspect.getattr_static(kind, name)
        definition = getattr(value, "fget", None) or getattr(value, "func", None) or getattr(value, "__func__", value)
        if not callable(definition) or isinstance(definition, type):
            continue
        if str(getattr(definition, "__module__", "")).startswith("treeml"):
            yield f"{owner}.{name}", value


OBJECTS = dict(public_objects())


def doc_of(value: Any) -> str:
    found = inspect.getdoc(value)
    return "" if found is None or found == inspect.getdoc(type(value)) else found


@pytest.mark.parametrize("name", OBJECTS)
def test_every_public_name_is_explained_with_an_example(name: str) -> None:
    documentation = doc_of(OBJECTS[name])
    assert documentation, f"{name} has no docstring"
    assert ">>> " in documentation, f"the docstring of {name} has no example"
    assert ">>> " in pydoc.render_doc(OBJECTS[name])


@pytest.mark.parametrize("name", [name for name in OBJECTS if not name.startswith(tuple(NOT_RUN))])
def test_the_examples_work(name: str, surroundings: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(surroundings["folder"])
    fit = FITTED.get(name.split(".")[2]) if name.count(".") > 1 else None
    if fit is not None:
        surroundings["estimator"] = fit(surroundings["X"], surroundings["y"], surroundings["target"])
    examples = doctest.DocTestParser().get_doctest(doc_of(OBJECTS[name]), dict(surroundings), name, None, None)
    said = io.StringIO()
    runner = doctest.DocTestRunner(Checker(), optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert runner.run(examples, out=said.write).failed == 0, said.getvalue()


# An estimator of each class, for the examples of its methods.
FITTED: dict[str, Callable[[Any, Any, Any], Any]] = {
    "OptimalTreeClassifier": lambda X, y, target: treeml.sklearn.OptimalTreeClassifier(max_depth=2).fit(X, y),
    "OptimalTreeRegressor": lambda X, y, target: treeml.sklearn.OptimalTreeRegressor(max_depth=2).fit(X, target),
    "OptimalForestClassifier": lambda X, y, target: treeml.sklearn.OptimalForestClassifier(max_depth=1).fit(X, y),
    "TreeClusterer": lambda X, y, target: treeml.sklearn.TreeClusterer(n_clusters=3).fit(X),
    "DL85Classifier": lambda X, y, target: treeml.dl85.DL85Classifier(max_depth=2).fit(X, y),
    "DL85Predictor": lambda X, y, target: treeml.dl85.DL85Predictor(
        max_depth=1, error_function=lambda rows: float(np.ptp(target[rows]))
    ).fit(X),
    "DL85Cluster": lambda X, y, target: treeml.dl85.DL85Cluster(max_depth=1).fit(X),
    "DL85Booster": lambda X, y, target: treeml.dl85.DL85Booster(
        max_depth=1, model=treeml.dl85.MODEL_LP_RATSCH, regulator=0.1
    ).fit(X, y),
}


class Checker(doctest.OutputChecker):
    """An example without output shows how something is called: what it returns is not compared."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return not want or super().check_output(want, got, optionflags)


@pytest.fixture
def surroundings(tmp_path: Path) -> dict[str, Any]:
    """The names that examples use."""
    chance = np.random.default_rng(7)
    X = chance.integers(0, 3, (40, 4))
    y = np.where((X[:, 0] > 0) & (X[:, 1] > 0), "yes", "no")
    frame = polars.DataFrame(
        {
            "age": [30, 35, 25, 38, 39, 50, 60, 45, 55, 65],
            "sex": ["F", "M", "F", "M", "F", "F", "F", "M", "M", "M"],
            "disease": ["no"] * 7 + ["yes"] * 3,
        }
    )
    tree = example_tree()
    tree.write(tmp_path / "tree.json")
    forest = tml.Forest((tree, tree), (Fraction(3, 4), Fraction(1, 4)), "lpboost")
    forest.write(tmp_path / "forest.json")
    frame.write_csv(tmp_path / "heart.csv")
    trees = tml.parse("predict disease minimize errors require depth <= 2").trees(frame, slack="1 rows")
    return {
        "tml": tml,
        "trees": trees,
        "model": tml.Model(),
        "tree": tree,
        "forest": forest,
        "frame": frame,
        "X": X,
        "y": y,
        "target": X.sum(axis=1) / 2,
        "folder": tmp_path,
        "treeml": treeml,
    }


def example_tree() -> tml.Tree:
    old = Branch(TreeTest("sex", "is", ("F",)), TreeLeaf("no", 2, (2, 0)), TreeLeaf("yes", 3, (1, 2)))
    root = Branch(TreeTest("age", "at most", (40.0,)), TreeLeaf("no", 5, (4, 1)), old)
    fields = (Field("age", "number"), Field("sex", "category", ("F", "M")))
    return tml.Tree(root, "classes", "disease", ("no", "yes"), (), fields, ("age", "sex"))


def test_the_public_names_are_those_that_can_be_imported() -> None:
    assert len(set(tml.__all__)) == len(tml.__all__)
    assert set(tml._HOMES) | set(MEASURES) | {"__version__"} == set(tml.__all__)
    for name in tml.__all__:
        assert getattr(tml, name) is not None
    assert set(dir(tml)) >= set(tml.__all__)


def test_every_declared_measure_has_a_typed_name() -> None:
    typed = {
        name
        for name, value in vars(measure_formulas).items()
        if isinstance(value, MeasureWithArguments) or (isinstance(value, Formula) and not name.startswith("_"))
    }
    assert typed == set(MEASURES)
    for name in typed:
        value = getattr(measure_formulas, name)
        assert isinstance(value, MeasureWithArguments) == bool(MEASURES[name].parameters)
        assert isinstance(value, MeasureWithArguments) or str(value) == name


def test_a_measure_shows_its_arguments() -> None:
    assert list(inspect.signature(tml.parity_gap).parameters) == ["column"]
    assert list(inspect.signature(tml.rate).parameters) == ["conditions", "given", "equal"]
    assert list(inspect.signature(tml.cluster_loss).parameters) == ["columns", "distance"]


def test_no_public_function_hides_its_arguments() -> None:
    """Conditions, options of methods and values of params have names that users choose."""
    chosen_by_users = {"conditions", "equal", "options", "params", "more"}
    for name, value in OBJECTS.items():
        function = getattr(value, "__func__", value)
        if inspect.isfunction(function) or inspect.isclass(function):
            for parameter in inspect.signature(function).parameters.values():
                is_open = parameter.kind is inspect.Parameter.VAR_KEYWORD
                assert not is_open or parameter.name in chosen_by_users, f"{name} takes **{parameter.name}"


RIGHT = """
import treeml as tml
from treeml.export import export

model = tml.Model().predict("disease").maximize(tml.accuracy)
model.require(tml.recall("yes") >= 0.8).require(tml.parity_gap("sex") <= 0.05).require(tml.depth <= 3)
model.minimize(tml.error_rate + 0.01 * tml.leaves).require(tml.rate(predicted="yes", given={"sex": "F"}) >= 0.1)
model.minimize(tml.cluster_loss("a", "b", distance="absolute")).require(tml.monotone("age", "increasing"))
"""
WRONG = {
    "import treeml as tml\ntml.acuracy\n": 'Module has no attribute "acuracy"',
    "import treeml as tml\ntml.recall()\n": "Too few arguments",
    "import treeml as tml\ntml.parity_gap(5)\n": 'has incompatible type "int"',
    'import treeml as tml\ntml.monotone("age", "up")\n': "has incompatible type \"Literal['up']\"",
    "import treeml as tml\ntml.accuracy('yes')\n": '"Formula" not callable',
}


def test_a_type_checker_knows_the_measures(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    files = []
    for number, text in enumerate((RIGHT, *WRONG)):
        files.append(tmp_path / f"snippet{number}.py")
        files[-1].write_text(text, encoding="utf-8")
    options = [
        "--follow-imports=silent",
        "--cache-dir",
        str(ROOT / ".mypy_cache" / "snippets"),
        "--config-file",
        os.devnull,
    ]
    command = [sys.executable, "-m", "mypy", *options, "--ignore-missing-imports", *map(str, files)]
    environment = {**os.environ, "MYPYPATH": str(ROOT)}
    checked = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path)
    found = checked.stdout.splitlines()
    assert not [line for line in found if "snippet0.py" in line], checked.stdout
    for number, message in enumerate(WRONG.values(), 1):
        assert any(f"snippet{number}.py" in line and message in line for line in found), (message, checked.stdout)
