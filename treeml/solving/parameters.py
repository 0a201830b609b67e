"""Dataset -> the parameters of its classification instance, and whether `parameterized` will finish on it.

The same figures as in Table 1 of Ordyniak and Szeider (2021), with a smallest support set: columns that tell any two
rows of different classes apart.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from treeml.backends.contract import Deadline
from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.problem.problem import Bound
from treeml.problem.terms import Predicted, Sum
from treeml.problem.tree import Leaf, Node

if TYPE_CHECKING:
    from treeml.data.table import Dataset

SECONDS = 10.0  # for looking for a smallest support set


def of_data(dataset: Dataset, within: float | None = None) -> list[dict[str, Any]]:
    """Rows of a name, a value and its text."""
    import numpy as np

    from treeml.backends.parameterized.instance import read_instance
    from treeml.backends.parameterized.parameters import measure
    from treeml.backends.task.greedy_start import greedy_for_bound
    from treeml.measures.lower_dataset import lower
    from treeml.solving.feasibility import alike, clashing

    if not dataset.classes:
        raise DataError(
            Diagnostic(
                "D497",
                "these parameters are those of rows with classes",
                place="--parameters",
                helps=("predict a column of classes",),
            )
        )
    lowered = lower(dataset, numeric=True)
    problem, actual = lowered.problem, np.asarray(dataset.actual)
    cost = (np.arange(problem.classes)[None, :] != actual[:, None]).astype(np.int64)
    groups = alike(problem)
    clash = clashing(groups, dataset)
    if clash is not None:
        first, second, _ = clash
        seen = np.zeros((int(groups.max()) + 1, problem.classes), dtype=np.int64)
        np.add.at(seen, (groups, actual), 1)
        least = int((seen.sum(axis=1) - seen.max(axis=1)).sum())
        target = dataset.target.name if dataset.target is not None else "the target"
        raise DataError(
            Diagnostic(
                "D498",
                "no tree is faultless on this data, and these parameters are those of faultless trees",
                place=dataset.table.source,
                notes=(
                    f"rows {first} and {second} agree on every feature, not on `{target}`",
                    f"every tree has at least {least} {'error' if least == 1 else 'errors'}",
                ),
                helps=("clean the rows, or use finer cuts: `binarize all by thresholds`",),
            )
        )
    perfect = Bound(Sum(((Fraction(1), Predicted(cost)),)), "<=", Fraction(0))
    instance = read_instance(problem, actual.astype(np.int64))
    found = measure(instance, Deadline.after(SECONDS if within is None else within))
    tree = greedy_for_bound(problem.asking((), (perfect,)))
    names = [_name(lowered.questions[instance.tests[column][0]]) for column in found.support]
    word = "smallest" if found.is_smallest else "small"
    said = f"{len(names)} columns: {', '.join(names)}"
    if not found.is_smallest:
        said += f" (every support set has at least {found.least_support})"
    return [
        _row("rows", found.rows, f"{found.rows:,} that differ, of {dataset.rows:,}"),
        _row("features", found.columns, f"{found.columns:,} that differ between rows"),
        _row("domain size", found.largest_domain, f"at most {found.largest_domain:,} values of a feature"),
        _row(
            "maximum difference",
            found.largest_difference,
            f"two rows of different classes differ in at most {found.largest_difference:,} features",
        ),
        _row(f"{word} support set", names, said),
        _row("parameterized", found.reach(), found.prediction(None if tree is None else _leaves(tree) - 1)),
    ]


def text(rows: list[dict[str, Any]]) -> str:
    return "\n".join(f"{row['what']:<21} {row['text']}" for row in rows)


def _row(what: str, value: Any, said: str) -> dict[str, Any]:
    return {"what": what, "value": value, "text": said}


def _name(question: Any) -> str:
    if question.kind in ("true", "at most"):
        return str(question.column)
    if question.kind == "missing":
        return f"{question.column} is missing"
    values = question.values or (question.value,)
    return f"{question.column} in {{{', '.join(map(str, values))}}}"


def _leaves(tree: Node) -> int:
    return 1 if isinstance(tree, Leaf) else _leaves(tree.yes) + _leaves(tree.no)
