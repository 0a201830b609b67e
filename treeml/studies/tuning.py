"""A specification, data, values to try -> the size that does best on unseen rows, and the tree of that size.

Every candidate is cross-validated on the same folds. The choice follows the 1-SE rule (Breiman et al. 1984): of all
candidates within one standard error of the best mean, the one with the fewest leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from statistics import mean
from typing import TYPE_CHECKING, Any

from treeml.lang.diagnostic import DataError, Diagnostic, InfeasibleError, SpecError
from treeml.lang.measures import MEASURES
from treeml.lang.spec import Method
from treeml.solving.options import DEFAULT_OPTIONS, RunOptions
from treeml.solving.report import table_text
from treeml.studies.plots import Plot, Series
from treeml.studies.size_choices import Settings, depth_limit, variants

if TYPE_CHECKING:
    from treeml.lang.statements import Statements
    from treeml.solving.request import Request
    from treeml.solving.result import Result
    from treeml.solving.validation import Validation

DEEPEST = 4  # depth that is tried if neither the caller nor the specification says
FOLDS = 5
LOSSES = ("mean_quantile_loss", "mean_squared_error", "mean_absolute_error")
OnCandidate = Callable[[int, int], object]  # how many are done, of how many


@dataclass(frozen=True, slots=True)
class SizeCandidate:
    """One combination of values, and how its trees do on unseen rows."""

    settings: Settings
    validation: Validation | None  # None if it has no tree in some fold
    reason: str = ""  # why there is none

    @property
    def leaves(self) -> float:
        """The mean number of leaves over the folds."""
        return 0.0 if self.validation is None else mean(part.leaves for part in self.validation.parts)

    @property
    def text(self) -> str:
        """`depth = 3, support = 5`."""
        return ", ".join(f"{name} = {value}" for name, value in self.settings.items())


@dataclass(frozen=True, slots=True)
class Tuned:
    """All candidates, the best, the chosen one, and the result for all rows with its values.

    >>> tuned = model.tune("heart.csv", depth=[1, 2, 3])
    >>> print(tuned)
    >>> tuned.result.tree
    """

    candidates: tuple[SizeCandidate, ...]
    measure: str
    maximize: bool
    folds: int
    chosen: SizeCandidate
    result: Result
    best: SizeCandidate

    @property
    def settings(self) -> Settings:
        """The chosen values.

        >>> model.tune("heart.csv", depth=[1, 2]).settings
        """
        return self.chosen.settings

    def rows(self) -> list[dict[str, str]]:
        """A row per candidate: its values, the mean and the spread on unseen rows, and the size of its trees.

        >>> tuned.rows()[0]["chosen"]
        """
        rows = []
        for each in self.candidates:
            row = dict(each.settings)
            if each.validation is None:
                rows.append({**row, "remark": each.reason})
                continue
            unproved = sum(part.status != "optimal" for part in each.validation.parts)
            row |= {
                f"unseen {self.measure}": f"{each.validation.mean(self.measure):.4g}",
                "spread": f"{each.validation.spread(self.measure):.4g}",
                "trained": f"{mean(part.train[self.measure] for part in each.validation.parts):.4g}",
                "leaves": f"{each.leaves:.1f}",
            }
            marks = (["best"] if each is self.best else []) + (["chosen"] if each is self.chosen else [])
            remark = f"{unproved} of {self.folds} not proved" if unproved else ""
            rows.append({**row, "": ", ".join([*marks, *([remark] if remark else [])])})
        return rows

    def plot(self) -> Plot:
        """Unseen measure against size, with one standard error up and down; `treeml.studies.plots.draw` draws it.

        >>> tuned.plot().to_json()["vertical"]
        """
        known = sorted((each for each in self.candidates if each.validation is not None), key=lambda each: each.leaves)
        points = tuple((each.leaves, _mean(each, self.measure)) for each in known)
        errors = tuple(_error(each, self.measure) for each in known)
        names = tuple(each.text for each in known)
        marked = (self.chosen.leaves, _mean(self.chosen, self.measure))
        return Plot(
            f"Unseen {self.measure} against size, {self.folds} folds",
            "leaves (mean over the folds)",
            f"unseen {self.measure}",
            (
                Series("mean and standard error", points, names, spreads=errors, alone=len(self.settings) > 1),
                Series(f"chosen: {self.chosen.text}", (marked,), group=5, alone=True),
            ),
            "line",
        )

    def to_json(self) -> dict[str, Any]:
        """Everything as one object for JSON; `result` has the form of a result.

        >>> json.dumps(tuned.to_json())
        """
        return {
            "measure": self.measure,
            "sense": "maximize" if self.maximize else "minimize",
            "folds": self.folds,
            "chosen": dict(self.chosen.settings),
            "best": dict(self.best.settings),
            "candidates": [
                {
                    "settings": dict(each.settings),
                    "leaves": each.leaves,
                    "validation": None if each.validation is None else each.validation.to_json(),
                    "reason": each.reason,
                }
                for each in self.candidates
            ],
            "result": self.result.to_json(),
        }

    def __str__(self) -> str:
        if self.chosen is self.best:
            rule = f"chosen: {self.chosen.text}, the best mean on unseen rows"
        else:
            rule = f"chosen: {self.chosen.text}, the smallest within one standard error of the best, {self.best.text}"
        return f"{table_text(self.rows())}\n\n{rule}\n\nThe tree for all rows:\n\n{self.result}"


def tune(
    model: Statements,
    data: Any = None,
    y: Any = None,
    choices: Mapping[str, Sequence[str]] | None = None,
    *,
    folds: int | None = None,
    measure: str | None = None,
    take_best: bool = False,
    options: RunOptions = DEFAULT_OPTIONS,
    on_candidate: OnCandidate | None = None,
) -> Tuned:
    """Cross-validate every combination of the values, choose one, and solve for all rows with it.

    Without choices, the depth is tried from 1 to the limit of the specification, or to 4.
    """
    from treeml.data.table import Table
    from treeml.solving.pipeline import prepare, solve

    if not choices:
        choices = {"depth": [str(depth) for depth in range(1, (depth_limit(model) or DEEPEST) + 1)]}
    tried = list(variants(model, choices))
    ((_, unchanged),) = variants(model, {})
    dataset, request = prepare(unchanged, data, y, options, keep_table=True)
    folds = folds or _folds_of(model, request)
    rows: Table | None = dataset.given if y is None and options.weight is None else None
    candidates = []
    for number, (settings, variant) in enumerate(tried):
        if on_candidate is not None:
            on_candidate(number, len(tried))
        source = (data, y) if rows is None else (rows, None)
        candidates.append(_candidate(settings, variant, source, options, folds))
    usable = [each for each in candidates if each.validation is not None]
    if not usable:
        raise DataError(_none_usable(candidates))
    measure, maximize = _measure(measure, usable, request)
    best = _best(usable, measure, maximize)
    chosen = best if take_best else _smallest_within_one_error(usable, best, measure, maximize)
    final = next(variant for settings, variant in tried if settings is chosen.settings)
    result = solve(_with_validation(final, model), data, y, options)
    return Tuned(tuple(candidates), measure, maximize, folds, chosen, result, best)


def _with_validation(final: Statements, model: Statements) -> Statements:
    """The chosen spec with the spec's own `validate` on a file or a holdout; folds have served for choosing."""
    from treeml.lang.statements import Statements
    from treeml.lang.syntax import Call, Validate

    kept = [
        node
        for node in model.statements
        if isinstance(node, Validate) and not (isinstance(node.method, Call) and node.method.name == "folds")
    ]
    if not kept:
        return final
    return Statements(
        [*final.statements, *kept], folder=final.folder, bindings=final.bindings, untrusted=final.untrusted
    )


def _candidate(
    settings: Settings, variant: Statements, source: tuple[Any, Any], options: RunOptions, folds: int
) -> SizeCandidate:
    from treeml.solving.pipeline import prepare, solve_part
    from treeml.solving.validation import cross_validated

    try:
        dataset, request = prepare(variant, *source, options, keep_table=True)
        how = Method("folds", {"folds": folds, "seed": request.spec.seed or 0})
        return SizeCandidate(settings, cross_validated(dataset, how, request, solve_part))
    except InfeasibleError as error:  # the requirements contradict each other, whatever the rows are
        return SizeCandidate(settings, None, error.diagnostics[0].title)
    except SpecError as error:
        if error.diagnostics[0].code != "D443":
            raise
        return SizeCandidate(settings, None, error.diagnostics[0].title)


def _folds_of(model: Statements, request: Request) -> int:
    """The folds of the spec's own `validate by folds(...)`, or five."""
    from treeml.solving.checking import check

    spec, _ = check(model, has_target=True)
    asked = spec.validate
    return int(asked.options["folds"]) if isinstance(asked, Method) and asked.name == "folds" else FOLDS


def _measure(name: str | None, candidates: Sequence[SizeCandidate], request: Request) -> tuple[str, bool]:
    """The measure to choose by, and whether more of it is better: by default the measure of the first goal."""
    known = [
        each
        for each in (candidates[0].validation.measures if candidates[0].validation else ())
        if all(_is_known(other, each) for other in candidates)
    ]
    if name is None:
        goal = [use for goal in request.spec.goals[:1] for _, use in goal.expression.parts]
        names = [use.text or use.measure for use in goal]
        name = next((each for each in names if each in known and each not in ("leaves",)), None)
        name = name or next((each for each in ("accuracy", *LOSSES) if each in known), known[0])
    if name not in known:
        raise SpecError(_unknown_measure(name, known))
    declared = MEASURES.get(name.partition("(")[0].partition(" ")[0])  # `gain per row` is more of the better, too
    return name, declared is not None and declared.goal == "maximize"


def _is_known(candidate: SizeCandidate, measure: str) -> bool:
    """Is the measure defined in every fold?"""
    known = candidate.validation
    return known is not None and measure in known.measures and isfinite(known.mean(measure))


def _best(candidates: Sequence[SizeCandidate], measure: str, maximize: bool) -> SizeCandidate:
    """The best mean; of equal means, the fewest leaves."""
    sign = -1 if maximize else 1
    return min(candidates, key=lambda each: (sign * _mean(each, measure), each.leaves))


def _smallest_within_one_error(
    candidates: Sequence[SizeCandidate], best: SizeCandidate, measure: str, maximize: bool
) -> SizeCandidate:
    sign, error = (-1 if maximize else 1), _error(best, measure)
    worst = sign * _mean(best, measure) + error
    near = [each for each in candidates if sign * _mean(each, measure) <= worst]
    return min(near, key=lambda each: (each.leaves, sign * _mean(each, measure)))


def _mean(candidate: SizeCandidate, measure: str) -> float:
    assert candidate.validation is not None
    return candidate.validation.mean(measure)


def _error(candidate: SizeCandidate, measure: str) -> float:
    """The standard error of the mean over the folds."""
    assert candidate.validation is not None
    return candidate.validation.spread(measure) / sqrt(len(candidate.validation.parts))


def _unknown_measure(name: str, known: Sequence[str]) -> Diagnostic:
    return Diagnostic(
        "T332",
        f"`{name}` is not measured on unseen rows",
        notes=(f"measured are {', '.join(known)}",),
        place="--measure",
        helps=("a share that the goal or a requirement names is measured too",),
    )


def _none_usable(candidates: Sequence[SizeCandidate]) -> Diagnostic:
    return Diagnostic(
        "D443",
        "no candidate has a tree in every fold",
        notes=tuple(f"{each.text}: {each.reason}" for each in candidates[:5]),
        helps=("relax the requirements so that parts of the data can meet them, or use fewer folds",),
    )
