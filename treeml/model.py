"""Text or Python calls -> one Model: what is asked, as an unordered collection of statements.

The methods read like the statements of the language, and `print(model)` is the model as .tml text. Two models are
equal when they say the same, in whatever order; values given to params for one run (`bindings`), the folder that
paths are relative to, and the line that names the version of the language say nothing about what is asked, so they
take no part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from treeml.lang.diagnostic import SpecError
from treeml.lang.formula import (
    Formula,
    MethodFormula,
    as_method,
    column_name,
    condition,
    duration,
    expression,
    identifier,
    label,
    methods,
)
from treeml.lang.nesting import MAXIMUM_DEPTH, deepest
from treeml.lang.source import Source
from treeml.lang.source_file import read
from treeml.lang.syntax import (
    Binarize,
    Choices,
    ColumnCost,
    ColumnRule,
    Data,
    Ensemble,
    Features,
    Forbid,
    GoalPart,
    Improve,
    Include,
    MistakeCost,
    Modifier,
    Name,
    Objective,
    Param,
    Predict,
    Range,
    Report,
    Require,
    Satisfy,
    Set,
    Solve,
    Start,
    Statement,
    String,
    Validate,
    Version,
    WeightBy,
    WeightClass,
)
from treeml.lang.trust import distrusted
from treeml.lang.words import TYPES

if TYPE_CHECKING:
    from treeml.backends.contract import OnProgress
    from treeml.lang.diagnostic import Diagnostic
    from treeml.solving.result import Result
    from treeml.solving.why import Why
    from treeml.studies.compare import Comparison
    from treeml.trees.tree import Tree


class Model:
    """A specification: build it with the methods below, or get one from `load` or `parse`."""

    def __init__(
        self,
        statements: Iterable[Statement] = (),
        *,
        folder: Path | str = "",
        bindings: Mapping[str, Any] | None = None,
        untrusted: bool = False,
    ) -> None:
        self.statements: list[Statement] = [node for node in statements if not isinstance(node, Version)]
        self.folder = Path(folder)
        self.bindings: dict[str, Any] = dict(bindings or {})
        self.untrusted = untrusted or distrusted()  # of somebody else: SECURITY.md says what that means

    @classmethod
    def parse(
        cls, text: str | Source, *, untrusted: bool = False, params: Mapping[str, Any] | None = None, **more: Any
    ) -> Model:
        """The model that a .tml text describes, with values for its params; SpecError with every mistake in it."""
        from treeml.lang.parse import parse_all

        source, given = text if isinstance(text, Source) else Source("model", text), {**(params or {}), **more}
        untrusted = untrusted or distrusted()
        if untrusted:
            from treeml.lang.size_limits import flaw_of

            flaw = flaw_of(source)
            if flaw is not None:
                raise SpecError(flaw)
        parsed = parse_all(source)
        if parsed.diagnostics:
            from treeml.lang.check import check_source

            raise SpecError(check_source(source, given, untrusted=untrusted)[1])
        folder = source.path.parent if source.path is not None else Path()
        return cls(parsed.statements, folder=folder, bindings=given, untrusted=untrusted)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        return Counter(self.statements) == Counter(other.statements)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        from treeml.lang.format import format_statements

        return format_statements(self.statements).rstrip("\n")

    def _repr_html_(self) -> str:
        from treeml.notebook import model_html

        return model_html(self)

    def __repr__(self) -> str:
        return f"<Model of {len(self.statements)} statements>"

    def add(self, *statements: Statement) -> Self:
        """Add statements as nodes of the syntax tree."""
        for statement in statements:
            if deepest(statement)[0] > MAXIMUM_DEPTH:
                raise ValueError(f"an expression is nested more than {MAXIMUM_DEPTH} levels deep")
            self.statements.append(statement)
        return self

    # reuse

    def include(self, path: str) -> Self:
        return self.add(Include(str(path)))

    def param(
        self,
        name: str,
        default: Any = None,
        *,
        low: Any = None,
        high: Any = None,
        domain: Iterable[Any] | None = None,
        type: str = "",
    ) -> Formula:
        """Declare a param, and get it for use in formulas; its domain is `low` .. `high`, or the values in `domain`."""
        if (low is None) != (high is None):
            raise ValueError(f"the range of {name!r} needs both low and high")
        if low is not None and domain is not None:
            raise ValueError(f"the domain of {name!r} is a range or a set of values, not both")
        within: Range | Choices | None = None
        if low is not None:
            within = Range(label(low), label(high))
        elif domain is not None:
            within = Choices(tuple(label(value) for value in domain))
            if not within.values:
                raise ValueError(f"the domain of {name!r} is empty")
        word = identifier(name, "a param")
        self.add(Param(word, None if default is None else label(default), within, type and _type(type)))
        return Formula(Name(word))

    def set(self, name: str, value: Any) -> Self:
        return self.add(Set(identifier(name, "a param"), label(value)))

    def bind(self, **params: Any) -> Self:
        """Give params their values for the runs of this model; that beats `set` and the defaults."""
        self.bindings.update(params)
        return self

    # data

    def data(self, path: str | Path) -> Self:
        return self.add(Data(str(path)))

    def predict(self, column: str, positive: Any = None) -> Self:
        return self.add(Predict(column_name(column), None if positive is None else label(positive)))

    def features(self, *columns: str, excluding: str | Iterable[str] = ()) -> Self:
        """The columns that may be tested: those named, or all where none is; without those in `excluding`."""
        return self.add(Features(_names(columns), _names(excluding)))

    def column(self, name: str | Iterable[str], type: str, *, sensitive: bool = False, missing: str = "") -> Self:
        """What a column holds, or several of one kind."""
        modifiers = [Modifier("sensitive")] if sensitive else []
        if missing:
            modifiers.append(Modifier("missing", identifier(missing, "what to do with missing values")))
        names = _names(name)
        if not names:
            raise ValueError("column takes at least one name")
        return self.add(ColumnRule(names, _type(type), tuple(modifiers)))

    def weight_by(self, column: str) -> Self:
        return self.add(WeightBy(column_name(column)))

    def weight_class(self, name: Any, weight: Any) -> Self:
        return self.add(WeightClass(label(name), expression(weight)))

    def cost(self, *, predict: Any, when: Any, cost: Any) -> Self:
        """What it costs to predict one class when another is true."""
        return self.add(MistakeCost(label(predict), label(when), expression(cost)))

    def test_cost(self, column: str, cost: Any) -> Self:
        return self.add(ColumnCost(column_name(column), expression(cost)))

    def binarize(self, *columns: str, by: str | MethodFormula | None = None, at: Iterable[Any] | None = None) -> Self:
        """How columns (all, where none is named) become tests: `by` a method, or `at` given cuts."""
        if (by is None) == (at is None):
            raise TypeError('binarize takes either by=..., such as tml.method("quantiles", 4), or at=[...]')
        if by is not None:
            return self.add(Binarize(_names(columns), as_method(by).node))
        cuts = tuple(label(cut) for cut in at or ())
        if not cuts:
            raise ValueError("binarize at=[...] needs at least one cut")
        return self.add(Binarize(_names(columns), None, cuts))

    # goals and requirements

    def minimize(self, goal: Any) -> Self:
        return self.add(Objective((GoalPart("minimize", expression(goal)),)))

    def maximize(self, goal: Any) -> Self:
        return self.add(Objective((GoalPart("maximize", expression(goal)),)))

    def then_minimize(self, goal: Any) -> Self:
        return self._then("minimize", goal)

    def then_maximize(self, goal: Any) -> Self:
        return self._then("maximize", goal)

    def satisfy(self) -> Self:
        return self.add(Satisfy())

    def require(self, requirement: Any, name: str = "") -> Self:
        return self.add(Require(condition(requirement), name and identifier(name, "a requirement")))

    def forbid(self, *columns: str) -> Self:
        """Splits on these columns are not allowed."""
        if not columns:
            raise TypeError("forbid needs at least one column")
        return self.add(Forbid(_names(columns)))

    # one tree, many trees, better trees

    def ensemble(self, method: str | MethodFormula, *arguments: Any, trees: Any = None, **options: Any) -> Self:
        return self.add(
            Ensemble(as_method(method, *arguments, **options).node, None if trees is None else expression(trees))
        )

    def start_from(self, source: str | Path | MethodFormula, *arguments: Any, **options: Any) -> Self:
        """Start from what a method finds (`"cart", depth=10`), or from the tree in a file (its path)."""
        if isinstance(source, Path) or (isinstance(source, str) and not source.isidentifier()):
            return self.add(Start(String(str(source))))
        return self.add(Start(as_method(source, *arguments, **options).node))

    def improve(self, method: str | MethodFormula, *arguments: Any, within: Any = None, **options: Any) -> Self:
        return self.add(
            Improve(as_method(method, *arguments, **options).node, None if within is None else duration(within))
        )

    # running

    def validate(
        self, method: str | MethodFormula | None = None, *arguments: Any, on: str | Path | None = None, **options: Any
    ) -> Self:
        """Validate by a method (`"folds", 5, seed=1`), or `on` the rows of another file."""
        if (method is None) == (on is None):
            raise TypeError('validate takes either a method such as "folds", or on="test.csv"')
        if method is not None:
            return self.add(Validate(as_method(method, *arguments, **options).node))
        return self.add(Validate(String(str(on))))

    def solve_with(
        self,
        *backends: str | MethodFormula,
        within: Any = None,
        gap: Any = None,
        seed: Any = None,
        threads: Any = None,
    ) -> Self:
        """The `solve` statement: back-ends in order of preference, and limits; `solve` itself runs."""
        return self.add(
            Solve(
                methods(backends),
                None if within is None else duration(within),
                None if gap is None else expression(gap),
                None if seed is None else expression(seed),
                None if threads is None else expression(threads),
            )
        )

    def report(self, *items: str | MethodFormula) -> Self:
        if not items:
            raise TypeError("report needs at least one thing to report")
        return self.add(Report(methods(items)))

    # what can be done with a model

    def solve(
        self,
        data: Any = None,
        y: Any = None,
        *,
        backend: str | None = None,
        within: float | str | None = None,
        threads: int | None = None,
        seed: int | None = None,
        gap: float | None = None,
        memory: int | None = None,
        options: Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
        on_progress: OnProgress | None = None,
        progress: bool = False,
        start: Tree | None = None,
        weight: Any = None,
        untrusted: bool = False,
    ) -> Result:
        """The best tree: for `data` (a path, a frame, or arrays X and `y`), or for the file that the model names.

        `untrusted=True` confines what the model reads to its folder, and limits what it may take (SECURITY.md).
        `progress=True` shows a bar, in a notebook under the cell; `on_progress` is called with every step instead.
        """
        from treeml.solving import pipeline

        asked = {
            "backend": backend,
            "within": within,
            "threads": threads,
            "seed": seed,
            "gap": gap,
            "memory": memory,
            "options": options,
            "params": params,
            "start": start,
            "weight": weight,
            "untrusted": untrusted,
        }
        if not progress:
            return pipeline.solve(self, data, y, on_progress=on_progress, **asked)
        if on_progress is not None:
            raise ValueError("progress=True shows progress and on_progress is told of it: give one of them")
        from treeml.solving.progress import progress_shown

        with progress_shown() as show:
            return pipeline.solve(self, data, y, on_progress=show, **asked)

    def compare(self, data: Any = None, backends: Sequence[str] | None = None, **asked: Any) -> Comparison:
        """The same model solved by several back-ends, side by side."""
        from treeml.solving import pipeline

        return pipeline.compare(self, data, backends, **asked)

    def check(self, data: Any = None, **asked: Any) -> tuple[Diagnostic, ...]:
        """Warnings about the model, alone or with data; SpecError where something is wrong."""
        from treeml.solving import pipeline

        return pipeline.check(self, data, **asked)

    def explain(self, data: Any = None, **asked: Any) -> str:
        """Who can solve this model, and what each back-end would be given."""
        from treeml.solving import pipeline

        return pipeline.explain(self, data, **asked)

    def why(self, data: Any = None, nearest: Sequence[str] = (), **asked: Any) -> Why:
        """Which requirements conflict, if no tree meets them all, and how far those in `nearest` would have to give."""
        from treeml.solving import pipeline

        return pipeline.why(self, data, nearest=nearest, **asked)

    def _then(self, sense: str, goal: Any) -> Self:
        for index in reversed(range(len(self.statements))):
            statement = self.statements[index]
            if isinstance(statement, Objective):
                self.statements[index] = Objective((*statement.goals, GoalPart(sense, expression(goal))))
                return self
        raise ValueError(f"then_{sense} continues a goal: call minimize or maximize first")


def load(path: Path | str, /, *, untrusted: bool = False, **params: Any) -> Model:
    """The model in a .tml file, with values for its params; SpecError with every mistake in it.

    `untrusted=True` is for the file of somebody else: it reads in its folder only, writes nothing, and its limits are
    tight (SECURITY.md).
    """
    return Model.parse(read(path, untrusted or distrusted()), untrusted=untrusted, **params)


def parse(text: str, /, *, untrusted: bool = False, **params: Any) -> Model:
    """The model that a .tml text describes, with values for its params; SpecError with every mistake in it.

    Its paths are relative to the current folder, to which `untrusted=True` confines it.
    """
    return Model.parse(text, untrusted=untrusted, **params)


def _names(columns: str | Iterable[str]) -> tuple[Name, ...]:
    return tuple(column_name(column) for column in ((columns,) if isinstance(columns, str) else columns))


def _type(name: str) -> str:
    if name not in TYPES:
        raise ValueError(f"no type is called {name!r}: types are {', '.join(TYPES)}")
    return name
