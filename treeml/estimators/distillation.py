"""A fitted model -> the best small tree that mimics it, and its fidelity.

The tree is fitted to the answers of the model on the rows of X, or on sampled inputs. Answers are labels, probabilities
of all classes at once (fitted by squared distance) or numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from treeml.data.read import load, load_arrays
from treeml.data.table import Column, Table
from treeml.estimators import rows as reading
from treeml.estimators.asking import limit_size, priced
from treeml.lang import measure_formulas as measures
from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.model import Model
from treeml.trees.tree import Tree

if TYPE_CHECKING:
    from treeml.solving.result import Result

MIMICS = ("labels", "probabilities", "numbers")
SAMPLES = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Distilled:
    """A tree in place of a model.

    `fidelity` is the share of rows on which tree and model agree; for numbers, the share of the variance of the model's
    answers that the tree explains. `unseen` is the same on rows that the tree was not made from.
    """

    tree: Tree
    result: Result
    mimics: str  # one of MIMICS
    rows: int
    fidelity: float
    unseen: float | None = None
    classes: tuple[Any, ...] = ()
    model: Model = field(default_factory=Model, repr=False)  # what was solved

    def predict(self, data: Any) -> NDArray[Any]:
        """The labels or numbers that the model would answer, according to the tree."""
        if self.mimics != "probabilities":
            return self.tree.predict(data)
        found: NDArray[Any] = _labels(self.classes)[np.argmax(self.predict_proba(data), axis=1)]
        return found

    def predict_proba(self, data: Any) -> NDArray[np.float64]:
        """The probabilities that the model would give, according to the tree; for labels, their shares in the leaf."""
        if self.mimics != "probabilities":
            return self.tree.predict_proba(data)
        held = np.array([leaf.prediction for leaf in self.tree.leaves], dtype=np.float64)
        return held[self.tree.apply(data)]

    def __str__(self) -> str:
        unseen = "" if self.unseen is None else f", {self.unseen:.1%} on unseen rows"
        meaning = "of the variance explained" if self.mimics == "numbers" else "of the answers alike"
        status = f"{self.result.status.value}, {self.result.backend}"
        return f"fidelity {self.fidelity:.1%}{unseen}, {meaning}, on {self.rows:,} rows ({status})\n\n{self.tree}"

    def _repr_html_(self) -> str:
        """The fidelity as a table, then the tree, for notebooks."""
        from treeml.solving.html import html_table  # imported here: start-up time

        rows = [["fidelity", f"{self.fidelity:.1%} on {self.rows:,} rows"]]
        if self.unseen is not None:
            rows.append(["on unseen rows", f"{self.unseen:.1%}"])
        return html_table(rows) + self.tree._repr_html_()


def distill(
    model: Any,
    X: Any = None,
    *,
    mimic: str | None = None,
    unseen: Any = None,
    inputs: Mapping[str, Any] | None = None,
    samples: int = SAMPLES,
    seed: int = 0,
    max_depth: int | None = 3,
    min_support: int | float = 1,
    leaf_price: float = 0.0,
    max_leaves: int | None = None,
    backend: str | None = None,
    time_limit: float | str | None = None,
) -> Distilled:
    """The best tree that mimics `model`, an object with `predict` or a function of rows.

    >>> found = tml.distill(lambda rows: rows[:, 0] > 0, X, max_depth=1)
    >>> found.fidelity
    1.0

    The tree is fitted to the answers on the rows of X, or on `samples` rows drawn from `inputs`, for example
    {"age": (18, 80), "sex": ["F", "M"]}: integers between two integers, numbers between two other numbers, or one of
    several values. `mimic` is labels, probabilities or numbers; by default labels for a classifier and numbers for any
    other model. Fidelity is also reported on the `unseen` rows; for sampled inputs, on as many new samples.
    """
    if mimic is not None and mimic not in MIMICS:
        raise ValueError(f"mimic is one of {', '.join(MIMICS)}, not {mimic!r}")
    if (X is None) == (inputs is None):
        raise TypeError("distill needs rows X, or inputs={column: (low, high) or [values]} to sample them from")
    given = X
    if inputs is not None:
        given, unseen, table = _sampled_rows(model, inputs, samples, seed)
    else:
        table = load(reading.plain_names(X)) if reading.is_frame(X) else load_arrays(np.asarray(X))
    mimic = mimic or _kind(model, given)
    answers = _answers(model, given, mimic)
    if len(answers) != table.rows:
        raise ValueError(f"the model gives {len(answers)} answers for {table.rows} rows")
    _refuse_no_answer(answers)
    classes = _classes(model, given, mimic)
    asked, joined = _asked(table, answers, mimic, classes, leaf_price)
    limit_size(asked, max_depth, min_support, max_leaves)
    result = asked.solve(joined, backend=backend, within=time_limit, seed=seed)
    if result.tree is None:
        from treeml.solving.failure import as_error

        raise as_error(result)
    outputs = tuple(map(str, classes)) if mimic == "probabilities" else result.tree.outputs
    tree = replace(result.tree, inputs=tuple(table.columns), outputs=outputs)
    result = replace(result, tree=tree)
    found = Distilled(tree, result, mimic, table.rows, 0.0, None, classes, asked)
    return replace(
        found,
        fidelity=_fidelity(found, model, given),
        unseen=None if unseen is None else _fidelity(found, model, unseen),
    )


def _sampled_rows(model: Any, inputs: Mapping[str, Any], samples: int, seed: int) -> tuple[Any, Any, Table]:
    """Sampled rows and as many fresh ones, both as the model reads them, and the table of the first."""
    chance = np.random.default_rng(seed)
    sampled = _sampled(inputs, samples, chance)
    fresh = _sampled(inputs, samples, chance)
    return _as_the_model_reads(sampled, model), _as_the_model_reads(fresh, model), load(sampled)


def _kind(model: Any, X: Any) -> str:
    if hasattr(model, "classes_") or hasattr(model, "predict_proba"):
        return "labels"
    return "numbers" if np.asarray(_predict(model)(X)).dtype.kind == "f" else "labels"


def _predict(model: Any) -> Callable[[Any], Any]:
    found: Any = getattr(model, "predict", model)
    if not callable(found):
        raise TypeError(f"a {type(model).__name__} neither has `predict` nor is a function")
    return found  # type: ignore[no-any-return]


def _classes(model: Any, X: Any, mimic: str) -> tuple[Any, ...]:
    if mimic == "numbers":
        return ()
    if hasattr(model, "classes_"):
        return tuple(np.asarray(model.classes_).tolist())
    if mimic == "labels":
        return tuple(np.unique(np.asarray(_predict(model)(X))).tolist())
    return tuple(range(_answers(model, X, mimic).shape[1]))


def _answers(model: Any, X: Any, mimic: str) -> NDArray[Any]:
    """The answer of the model for each row: a label, a number, or a probability for each class."""
    if mimic != "probabilities":
        return np.asarray(_predict(model)(X)).reshape(-1)
    if not hasattr(model, "predict_proba") and hasattr(model, "predict"):
        raise TypeError(f"a {type(model).__name__} gives no probabilities: mimic its labels")
    shares = np.asarray(getattr(model, "predict_proba", model)(X), dtype=np.float64)
    return np.column_stack([1 - shares, shares]) if shares.ndim == 1 else shares


def _refuse_no_answer(answers: NDArray[Any]) -> None:
    """Raise DataError if the model gives no answer for a row, or a number that is not finite."""
    if answers.dtype.kind == "f":
        without = ~np.isfinite(answers)
    elif answers.dtype.kind == "O":
        without = np.array([_is_nothing(answer) for answer in answers.ravel().tolist()])
    else:
        return
    rows = np.flatnonzero(without.reshape(len(answers), -1).any(axis=1))
    if len(rows):
        raise DataError(_no_answer(answers[rows[0]], rows, len(answers)))


def _is_nothing(answer: Any) -> bool:
    try:
        return answer is None or bool(answer != answer)
    except TypeError:  # comparing pandas.NA with itself gives no truth value
        return True


def _no_answer(first: Any, rows: NDArray[np.intp], total: int) -> Diagnostic:
    shown = ", ".join(str(row) for row in rows[:5].tolist()) + (", ..." if len(rows) > 5 else "")
    return Diagnostic(
        "D479",
        f"the model gives no answer that a tree could mimic for {len(rows):,} of {total:,} rows",
        notes=(f"its answer for row {rows[0]} is {first}; such rows, counted from 0: {shown}",),
        helps=("leave these rows out, or fill the values that are missing in them before the model sees them",),
    )


def _asked(
    table: Table, answers: NDArray[Any], mimic: str, classes: Sequence[Any], price: float
) -> tuple[Model, Table]:
    """The model to solve, and the table with the answers as additional columns."""
    asked = Model()
    asked.features(*table.columns)
    name = reading.free_name(table, "answer")
    if mimic == "probabilities":
        columns = dict(table.columns)
        names = [f"{name} {place}" for place in range(answers.shape[1])]
        for each, values in zip(names, answers.T, strict=True):
            rounded, _, _ = reading.fitting(np.round(values, 6), None, squared=True)
            columns[each] = reading.numbers_column(each, rounded)
        asked.minimize(priced(measures.cluster_loss(*names) / table.rows, price))
        return asked, replace(table, columns=columns)
    if mimic == "numbers":
        rounded, _, _ = reading.fitting(answers.astype(np.float64), None, squared=True)
        column: Column = reading.numbers_column(name, rounded)
        asked.minimize(priced(measures.squared_loss / table.rows, price))
    else:
        place = {label: number for number, label in enumerate(classes)}
        strange = [label for label in answers.tolist() if label not in place]
        if strange:
            raise ValueError(f"the model answers {strange[0]!r}, which is not one of its classes: {list(classes)!r}")
        column = reading.classes_column(name, np.array([place[label] for label in answers.tolist()]), tuple(classes))
        asked.minimize(priced(measures.error_rate, price))
    asked.predict(name)
    return asked, reading.with_column(table, column, "target")


def _fidelity(found: Distilled, model: Any, X: Any) -> float:
    theirs = _answers(model, X, found.mimics)
    _refuse_no_answer(theirs)
    rows = reading.plain_names(X) if reading.is_frame(X) else np.asarray(X)
    if found.mimics == "probabilities":
        return float(np.mean(np.argmax(found.predict_proba(rows), axis=1) == np.argmax(theirs, axis=1)))
    ours = found.predict(rows)
    if found.mimics == "labels":
        return float(np.mean(ours == theirs))
    theirs = theirs.astype(np.float64)
    total = float(((theirs - theirs.mean()) ** 2).sum())
    return 1.0 if total == 0 else 1 - float(((theirs - ours) ** 2).sum()) / total


def _sampled(inputs: Mapping[str, Any], rows: int, chance: np.random.Generator) -> dict[str, NDArray[Any]]:
    columns: dict[str, NDArray[Any]] = {}
    for name, domain in inputs.items():
        if isinstance(domain, tuple) and len(domain) == 2 and all(isinstance(end, (int, float)) for end in domain):
            low, high = domain
            if low > high:
                raise ValueError(f"the range of {name!r} is empty: {low} is above {high}")
            whole = isinstance(low, int) and isinstance(high, int)
            columns[name] = chance.integers(low, high + 1, rows) if whole else chance.uniform(low, high, rows)
        elif isinstance(domain, (list, set, frozenset)) and domain:
            values = sorted(domain, key=str)
            columns[name] = np.array(values)[chance.integers(0, len(values), rows)]
        else:
            raise TypeError(f"{name!r} is sampled from a pair (low, high) or a list of values, not from {domain!r}")
    return columns


def _as_the_model_reads(columns: Mapping[str, NDArray[Any]], model: Any) -> Any:
    """A frame for a model that was fitted with column names, else an array."""
    if not hasattr(model, "feature_names_in_") and all(values.dtype.kind in "biuf" for values in columns.values()):
        return np.column_stack(list(columns.values()))
    try:
        import pandas
    except ImportError:
        import polars

        return polars.DataFrame(dict(columns))
    return pandas.DataFrame(dict(columns))


def _labels(classes: Sequence[Any]) -> NDArray[Any]:
    plain = len({type(label) for label in classes}) == 1 and isinstance(classes[0], (str, bool, int, float))
    return np.array(classes, dtype=None if plain else object)
