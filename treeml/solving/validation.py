"""Result, Dataset -> how well trees of this kind do on unseen rows.

The tree of a result is always the one for all rows. Validation solves the same spec again on parts of the rows, or
reads another file, and measures the trees on rows that they were not trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite, nan
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

from treeml.lang.diagnostic import DataError, Diagnostic, Label
from treeml.lang.measures import MEASURES, chosen_loss
from treeml.lang.numerals import readable
from treeml.lang.spec import Method, Use

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from treeml.data.table import Dataset
    from treeml.solving.request import Request
    from treeml.solving.result import Result
    from treeml.trees.forest import Forest
    from treeml.trees.routing import Inputs
    from treeml.trees.tree import Tree

    Rows = NDArray[np.intp]
    SolvePart = Callable[[Dataset, Request], Result]


@dataclass(frozen=True, slots=True)
class ValidatedPart:
    """The scores of one tree on its training rows and on the rows held out."""

    rows: int  # that were held out
    status: str
    train: Mapping[str, float]
    test: Mapping[str, float]
    leaves: int = 0  # of the tree, or of all trees of the forest


@dataclass(frozen=True, slots=True)
class Validation:
    """The scores on unseen rows."""

    method: str  # as in the spec: folds(5), holdout(20%), or the name of a file
    parts: tuple[ValidatedPart, ...]

    def mean(self, measure: str) -> float:
        """The mean of a measure over the parts, on the rows held out.

        >>> result.validation.mean("accuracy")
        """
        return mean(part.test[measure] for part in self.parts)

    def spread(self, measure: str) -> float:
        """The standard deviation of a measure over the parts, on the rows held out; 0 for a single part.

        >>> result.validation.spread("accuracy")
        """
        values = [part.test[measure] for part in self.parts]
        if not all(isfinite(value) for value in values):  # the loss of a death in a leaf without hazard
            return nan
        return stdev(values) if len(values) > 1 else 0.0

    @property
    def measures(self) -> list[str]:
        """The measures that have a value in every part.

        >>> result.validation.measures
        """
        return [
            name for name in self.parts[0].test if all(name in part.test and name in part.train for part in self.parts)
        ]

    def text(self) -> str:
        """A table of the means for people.

        >>> print(result.validation.text())
        """
        from treeml.solving.report import table_text

        lines = []
        for measure in _without_synonyms(self.measures):
            train = [part.train[measure] for part in self.parts]
            spread = f"{self.spread(measure):.4g}" if len(self.parts) > 1 else ""
            row = {"measure": measure, "trained": f"{mean(train):.4g}", "unseen": f"{self.mean(measure):.4g}"}
            lines.append({**row, "spread": spread})
        unproved = sum(part.status != "optimal" for part in self.parts)
        verb = "is" if unproved == 1 else "are"
        remark = f"\n{unproved} of these {len(self.parts)} {verb} not proved optimal" if unproved else ""
        return f"validated by {self.method}, means over {len(self.parts)}\n{table_text(lines)}{remark}"

    def to_json(self) -> dict[str, Any]:
        """The validation as one object for JSON.

        >>> json.dumps(result.validation.to_json())
        """
        parts = [
            {
                "rows": part.rows,
                "status": part.status,
                "leaves": part.leaves,
                "train": dict(part.train),
                "test": dict(part.test),
            }
            for part in self.parts
        ]
        return {"method": self.method, "parts": parts}


def validated(result: Result, dataset: Dataset, request: Request, solve: SolvePart) -> Result:
    """The result with the validation that its spec asks for, if it has a tree or forest to validate."""
    asked = request.spec.validate
    model = result.forest or result.tree
    if asked is None or model is None:
        return result
    if isinstance(asked, Method):
        return replace(result, validation=cross_validated(dataset, asked, request, solve))
    other = other_file(dataset, asked, request)
    return replace(result, validation=Validation(asked, (scored(result, dataset, other),)))


def cross_validated(dataset: Dataset, method: Method, request: Request, solve: SolvePart) -> Validation:
    """The spec solved on parts of the rows by `solve`, and measured on the other rows."""
    parts = tuple(_solved(dataset, train, test, request, solve) for train, test in splits(dataset, method, request))
    return Validation(method_text(method), parts)


def scored(result: Result, train: Dataset, test: Dataset) -> ValidatedPart:
    """How the tree or forest of a result does on the rows it was found for, and on others."""
    model = result.forest or result.tree
    assert model is not None
    leaves = sum(len(tree.leaves) for tree in _trees(model))
    return ValidatedPart(test.rows, result.status.value, scores(model, train), scores(model, test), leaves)


def scores(tree: Tree | Forest, dataset: Dataset) -> dict[str, float]:
    """Measures that do not depend on the number of rows: the error rate, or the mean loss of a row.

    For a tree, also every share in the goals and requirements that is defined on these rows.
    """
    import numpy as np

    from treeml.data.table import label_text
    from treeml.measures.policy import is_policy, policy_values

    weight = dataset.weight.astype(np.float64)
    total = float(weight.sum()) or 1.0
    inputs = _inputs(dataset, tree)
    predicted = tree.predict(inputs)
    if dataset.classes:
        position = {label_text(label): number for number, label in enumerate(dataset.classes)}
        # Predicting a class that these rows do not have is always wrong.
        numbers = np.array([position.get(label_text(label), -1) for label in predicted])
        wrong = float(weight[numbers != dataset.actual].sum()) / total
        own = {**_shares(tree, dataset, inputs, numbers), **_reported(tree, dataset, numbers)}
        if is_policy(dataset.spec):
            return {**{name: float(value) for name, value in policy_values(dataset, numbers).items()}, **own}
        return {"error_rate": wrong, "accuracy": 1 - wrong, **own}
    if dataset.spec.observed is not None:
        return _survival_values(tree, dataset)
    targets = dataset.targets * float(dataset.target_scale)
    difference = targets - np.asarray(predicted, dtype=np.float64).reshape(targets.shape)
    squared = float((weight[:, None] * difference**2).sum()) / total
    absolute = float((weight[:, None] * np.abs(difference)).sum()) / total
    found = {"mean_squared_error": squared, "mean_absolute_error": absolute}
    for goal in dataset.spec.goals:
        for _, use in goal.expression.parts:
            loss = chosen_loss(use)
            if loss is not None and loss.kind == "quantile":
                level = float(loss.level)
                pinball = np.where(difference >= 0, level * difference, (level - 1) * difference)
                found["mean_quantile_loss"] = float((weight[:, None] * pinball).sum()) / total
    return {**found, **_reported(tree, dataset, np.zeros(0, dtype=np.int32))}


def _without_synonyms(measures: Sequence[str]) -> list[str]:
    """The measures to show: a spec that reports `mse` names what is always measured as `mean_squared_error`."""
    return [name for name in measures if name != "mean_squared_error" or "mse" not in measures]


def _survival_values(tree: Tree | Forest, dataset: Dataset) -> dict[str, float]:
    """The measures of survival on these rows, and those that the spec reports."""
    import numpy as np

    always = tuple(Use(name, text=name) for name in ("survival_loss", "concordance", "brier"))
    spec = replace(dataset.spec, reported=tuple(dict.fromkeys((*always, *dataset.spec.reported))))
    return _reported(tree, replace(dataset, spec=spec), np.zeros(0, dtype=np.int32))


def _reported(model: Tree | Forest, dataset: Dataset, predicted: NDArray[np.int32]) -> dict[str, float]:
    """The measures that the spec reports, on these rows; not a number where a measure is undefined."""
    from treeml.lang.diagnostic import SpecError
    from treeml.measures.evaluators import TreeOutcome
    from treeml.measures.reported import reported_value
    from treeml.trees.tree import Tree

    found: dict[str, float] = {}
    if not isinstance(model, Tree) or not dataset.spec.reported:
        return found
    outcome = TreeOutcome(model, model.apply(_inputs(dataset, model)), predicted)
    for use in dataset.spec.reported:
        try:
            value = reported_value(use, dataset, outcome)
        except SpecError:  # these rows have none of those that the measure is about
            value = None
        found[use.text] = float("nan") if value is None else float(value)
    return found


def _shares(tree: Tree | Forest, dataset: Dataset, inputs: Inputs, predicted: NDArray[Any]) -> dict[str, float]:
    """The shares among the spec's own measures: recalls, fairness gaps and the like."""
    from treeml.measures.evaluators import TreeOutcome, evaluate
    from treeml.trees.tree import Tree

    if not isinstance(tree, Tree) or (predicted < 0).any():
        return {}
    outcome = TreeOutcome(tree, tree.apply(inputs), predicted)
    expressions = [goal.expression for goal in dataset.spec.goals]
    expressions += [requirement.expression for requirement in dataset.spec.requirements]
    found: dict[str, float] = {}
    for use in dict.fromkeys(use for expression in expressions for _, use in expression.parts):
        measure = MEASURES[use.measure]
        if measure.group not in ("errors", "rates", "fairness") or measure.unit not in ("share", "value"):
            continue
        try:
            value = evaluate(use, dataset, outcome)
        except (DataError, ZeroDivisionError):
            continue  # these rows lack a class or a group that it compares
        if value is not None:
            found[use.text or use.measure] = float(value)
    return found


def _solved(dataset: Dataset, train: Rows, test: Rows, request: Request, solve: SolvePart) -> ValidatedPart:
    """The tree for some rows, measured there and on the others."""
    from treeml.data.subset import held_out, take

    part = take(dataset, train)
    # A tree that was given has seen the rows held out; one that is grown is grown anew.
    grown = request.spec.start if isinstance(request.spec.start, Method) else None
    again = replace(request, spec=replace(request.spec, validate=None, start=grown), start=None)
    result = solve(part, again)
    model = result.forest or result.tree
    if model is None:
        raise DataError(_no_tree(result, len(train), request))
    return scored(result, part, held_out(dataset, test))


def splits(dataset: Dataset, method: Method, request: Request) -> Iterator[tuple[Rows, Rows]]:
    """Training and test rows, with the classes spread evenly over the folds."""
    import numpy as np

    chance = np.random.default_rng(int(method.options.get("seed", 0)))
    order = chance.permutation(dataset.rows)
    if len(dataset.actual):
        order = order[np.argsort(dataset.actual[order], kind="stable")]
    if method.name == "folds":
        folds = int(method.options["folds"])
        if folds > dataset.rows:
            raise DataError(_too_few(f"{folds} folds need at least {folds} rows", dataset, request))
        fold = np.empty(dataset.rows, dtype=np.intp)
        fold[order] = np.arange(dataset.rows) % folds
        for number in range(folds):
            yield np.flatnonzero(fold != number), np.flatnonzero(fold == number)
        return
    share = Fraction(method.options["share"])
    held_out = round(share * dataset.rows)
    if not 0 < held_out < dataset.rows:
        raise DataError(_too_few(f"holding out {float(share):.3g} of the rows leaves a side empty", dataset, request))
    # Rows at equal distances in the order by class, so that every class contributes its share.
    places = ((np.arange(held_out) + 0.5) * dataset.rows / held_out).astype(np.intp)
    test = np.zeros(dataset.rows, dtype=np.bool_)
    test[order[places]] = True
    yield np.flatnonzero(~test), np.flatnonzero(test)


def other_file(dataset: Dataset, name: str, request: Request) -> Dataset:
    """The rows of `validate on "file"`, with the classes of the data."""
    from treeml.data.bind import bind
    from treeml.data.read import load
    from treeml.data.table import label_text
    from treeml.lang.redaction import redacted_data

    # Missing values are filled in from the training rows, not with medians of the other rows.
    columns = {
        column: replace(declared, missing="separate") if declared.missing == "median" else declared
        for column, declared in request.spec.columns.items()
    }
    spec = replace(request.spec, columns=columns)
    with redacted_data(spec, None, name):
        path, place = spec.folder / name, spec.spans.get("validate")
        table = load(path, spec.columns, span=place, limits=request.reading)
        other = bind(spec, table, known_classes=dataset.classes)
    unknown = [label_text(label) for label in other.classes[len(dataset.classes) :]]
    if unknown:
        raise DataError(
            Diagnostic(
                "D441",
                f"{name} has classes that the data do not have: {', '.join(unknown)}",
                _labels(request, "validated on this file"),
                helps=("validate on rows with the same classes",),
            )
        )
    return other


def _inputs(dataset: Dataset, tree: Tree | Forest) -> Inputs:
    """The columns that a tree, or any tree of a forest, tests."""
    from treeml.trees.routing import dataset_inputs

    fields = {field.name: field for each in _trees(tree) for field in each.fields}
    return dataset_inputs(tuple(fields.values()), dataset, unseen=True)


def _trees(model: Tree | Forest) -> tuple[Tree, ...]:
    from treeml.trees.forest import Forest

    return model.trees if isinstance(model, Forest) else (model,)


def method_text(method: Method) -> str:
    """The method as it is written in a specification."""
    main = method.options.get("folds") or method.options.get("share")
    return f"{method.name}({readable(main)})"


def _labels(request: Request, text: str) -> tuple[Label, ...]:
    span = request.spec.spans.get("validate")
    return () if span is None else (Label(span, text),)


def _too_few(title: str, dataset: Dataset, request: Request) -> Diagnostic:
    return Diagnostic(
        "D442",
        title,
        _labels(request, f"{dataset.rows} rows in {dataset.table.source}"),
        helps=("ask for fewer folds or another share, or remove `validate`",),
    )


def _no_tree(result: Result, rows: int, request: Request) -> Diagnostic:
    return Diagnostic(
        "D443",
        f"validation found no tree for {rows} of the rows ({result.status.value})",
        _labels(request, "asked for here"),
        helps=("relax the requirements so that smaller parts of the data can meet them, or remove `validate`",),
    )
