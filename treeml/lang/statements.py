"""Text or Python calls -> the statements of one specification, as an unordered collection.

`treeml.Model` adds solving to this class; everything below it works with `Statements` alone. The methods have the names
of statements of the language, and `print(model)` prints .tml text. Two collections are equal if they hold the same
statements in any order; the values bound to params, the folder for relative paths and the line with the version of the
language are not compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

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
    slack,
)
from treeml.lang.nesting import MAXIMUM_DEPTH, deepest
from treeml.lang.source import Source
from treeml.lang.syntax import (
    Argument,
    Binarize,
    Call,
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
    LeafModels,
    ListTrees,
    MistakeCost,
    Modifier,
    Name,
    Objective,
    Param,
    Predict,
    Range,
    Report,
    Require,
    RowCost,
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

_HERE = Path()


class Statements:
    """The statements of a specification, with the methods that add them.

    >>> Statements().predict("disease").satisfy()
    <Statements of 2 statements>
    """

    def __init__(
        self,
        statements: Iterable[Statement] = (),
        *,
        folder: Path | str = "",
        bindings: Mapping[str, Any] | None = None,
        untrusted: bool = False,
    ) -> None:
        self.statements: list[Statement] = [node for node in statements if not isinstance(node, Version)]
        self.folder = Path(folder) if folder else _HERE
        self.bindings: dict[str, Any] = dict(bindings or {})
        self.untrusted = untrusted or distrusted()  # written by somebody else: SECURITY.md says what that means

    @classmethod
    def parse(
        cls, text: str | Source, *, untrusted: bool = False, params: Mapping[str, Any] | None = None, **more: Any
    ) -> Self:
        """Read .tml text; values for its params are given by name. SpecError lists every mistake in the text.

        >>> Model.parse("param most = 3 predict disease minimize errors require depth <= most", most=2)
        """
        source, given = text if isinstance(text, Source) else Source("model", text), {**(params or {}), **more}
        untrusted = untrusted or distrusted()
        if untrusted:
            from treeml.lang.size_limits import flaw_of

            flaw = flaw_of(source)
            if flaw is not None:
                raise SpecError(flaw)
        parsed = _statements_of(source)
        if parsed is None:
            from treeml.lang.check import check_source

            raise SpecError(check_source(source, given, untrusted=untrusted)[1])
        folder = source.path.parent if source.path is not None else Path()
        return cls(parsed, folder=folder, bindings=given, untrusted=untrusted)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Statements):
            return NotImplemented
        return Counter(self.statements) == Counter(other.statements)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        from treeml.lang.format import format_statements

        return format_statements(self.statements).rstrip("\n")

    def _repr_html_(self) -> str:
        """The statements as colored .tml text, for notebooks."""
        from pygments import highlight
        from pygments.formatters import HtmlFormatter

        from treeml.lang.pygments_lexer import TreemlLexer

        return str(highlight(str(self), TreemlLexer(), HtmlFormatter(noclasses=True, nobackground=True)))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.statements)} statements>"

    def add(self, *statements: Statement) -> Self:
        """Add statements as nodes of the syntax tree.

        >>> model.add(treeml.lang.syntax.Satisfy())
        """
        for statement in statements:
            if deepest(statement)[0] > MAXIMUM_DEPTH:
                raise ValueError(f"an expression is nested more than {MAXIMUM_DEPTH} levels deep")
            self.statements.append(statement)
        return self

    # reuse

    def include(self, path: str) -> Self:
        """Include the statements of another file.

        >>> model.include("limits.tml")
        """
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
        """Declare a param and return it for use in formulas; its domain is `low` .. `high`, or the values in `domain`.

        >>> price = model.param("price", 0.01, low=0, high=1)
        >>> model.minimize(tml.error_rate + price * tml.leaves)
        """
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
        """Set a param of an included file.

        >>> model.include("limits.tml").set("most_leaves", 8)
        """
        return self.add(Set(identifier(name, "a param"), label(value)))

    def bind(self, **params: Any) -> Self:
        """Give params their values for every run of this model; these take precedence over `set` and defaults.

        >>> model.bind(price=0.02)
        """
        self.bindings.update(params)
        return self

    # data

    def data(self, path: str | Path) -> Self:
        """Name the file with the rows.

        >>> model.data("heart.csv")
        """
        return self.add(Data(str(path)))

    def predict(self, column: str, positive: Any = None, *, observed: str | None = None) -> Self:
        """Name the column to predict and, for two classes, which of them is positive.

        A time is predicted with the column that says whether its end was `observed`.

        >>> model.predict("disease", positive="yes")
        >>> model.predict("months", observed="died").minimize(tml.survival_loss)
        """
        seen = None if observed is None else column_name(observed)
        return self.add(Predict(column_name(column), None if positive is None else label(positive), seen))

    def features(self, *columns: str, excluding: str | Iterable[str] = ()) -> Self:
        """Name the columns that may be tested (all, if none is named), except those in `excluding`.

        >>> model.features(excluding=["patient", "date"])
        """
        return self.add(Features(_names(columns), _names(excluding)))

    def column(self, name: str | Iterable[str], type: str = "", *, sensitive: bool = False, missing: str = "") -> Self:
        """Declare one or more columns; without a type, it is inferred.

        >>> model.column(["age", "pressure"], "number", missing="median")
        """
        modifiers = [Modifier("sensitive")] if sensitive else []
        if missing:
            modifiers.append(Modifier("missing", identifier(missing, "what to do with missing values")))
        names = _names(name)
        if not names:
            raise ValueError("column takes at least one name")
        if not type and not modifiers:
            raise ValueError("column takes a type, sensitive=True or missing=...")
        return self.add(ColumnRule(names, _type(type) if type else "", tuple(modifiers)))

    def weight_by(self, column: str) -> Self:
        """Weight each row by the number in a column.

        >>> model.weight_by("visits")
        """
        return self.add(WeightBy(column_name(column)))

    def weight_class(self, name: Any, weight: Any) -> Self:
        """Multiply the weight of every row of a class.

        >>> model.weight_class("yes", 5)
        """
        return self.add(WeightClass(label(name), expression(weight)))

    def cost(self, *, predict: Any, when: Any = None, cost: Any = None, by: str | None = None) -> Self:
        """State the cost of predicting one class when another is true, or the column with each row's own cost of it.

        >>> model.cost(predict="no", when="yes", cost=10)
        >>> model.cost(predict="treat", by="loss_if_treated")
        """
        if (by is None) != (when is not None and cost is not None):
            raise TypeError('cost takes either when=... and cost=..., or by="column"')
        if by is not None:
            return self.add(RowCost(label(predict), column_name(by)))
        return self.add(MistakeCost(label(predict), label(when), expression(cost)))

    def gain(self, *, predict: Any, by: str) -> Self:
        """Name the column with what each row gains if it is predicted this class, for the measure `gain`.

        >>> model.gain(predict="treat", by="score_if_treated").maximize(tml.gain)
        """
        return self.add(RowCost(label(predict), column_name(by), is_gain=True))

    def test_cost(
        self, column: str | Iterable[str], cost: Any, *, together: bool = False, after: str | None = None
    ) -> Self:
        """State the cost of looking at a column, for the measure `test_cost`.

        Columns that are looked at `together` cost that once on a path; `after` another column, one may cost less.

        >>> model.test_cost("scan", 250)
        >>> model.test_cost(["sodium", "potassium"], 20, together=True)
        >>> model.test_cost("scan", 100, after="x_ray")
        """
        if together and after is not None:
            raise TypeError("test_cost takes together=True or after=..., not both")
        names = _names(column)
        if not names:
            raise ValueError("test_cost takes at least one column")
        return self.add(ColumnCost(names, expression(cost), together, None if after is None else column_name(after)))

    def binarize(self, *columns: str, by: str | MethodFormula | None = None, at: Iterable[Any] | None = None) -> Self:
        """Say how columns (all, if none is named) become tests: `by` a method, or `at` given cuts.

        >>> model.binarize("age", at=[40, 65]).binarize(by=tml.method("quantiles", 4))
        """
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
        """Minimize a measure or a sum of measures.

        >>> model.minimize(tml.errors)
        """
        return self.add(Objective((GoalPart("minimize", expression(goal)),)))

    def maximize(self, goal: Any) -> Self:
        """Maximize a measure or a sum of measures.

        >>> model.maximize(tml.accuracy)
        """
        return self.add(Objective((GoalPart("maximize", expression(goal)),)))

    def then_minimize(self, goal: Any) -> Self:
        """Among the trees that are best so far, minimize another goal.

        >>> model.minimize(tml.errors).then_minimize(tml.leaves)
        """
        return self._then("minimize", goal)

    def then_maximize(self, goal: Any) -> Self:
        """Among the trees that are best so far, maximize another goal.

        >>> model.minimize(tml.leaves).then_maximize(tml.accuracy)
        """
        return self._then("maximize", goal)

    def satisfy(self) -> Self:
        """Ask for any tree that meets the requirements.

        >>> model.require(tml.errors == 0).satisfy()
        """
        return self.add(Satisfy())

    def require(self, requirement: Any, name: str = "") -> Self:
        """Require a bound on a measure; a name identifies the requirement in messages and in `why`.

        >>> model.require(tml.depth <= 3).require(tml.recall("yes") >= 0.9, name="find_them")
        """
        return self.add(Require(condition(requirement), name and identifier(name, "a requirement")))

    def forbid(self, *columns: str) -> Self:
        """Forbid tests of these columns.

        >>> model.forbid("sex", "age")
        """
        if not columns:
            raise TypeError("forbid needs at least one column")
        return self.add(Forbid(_names(columns)))

    # one tree, many trees, better trees

    def ensemble(self, method: str | MethodFormula, *arguments: Any, trees: Any = None, **options: Any) -> Self:
        """Ask for a forest whose weights are best by a criterion, with at most `trees` trees.

        >>> model.ensemble("lpboost", nu=0.1, trees=20).maximize(tml.margin)
        """
        return self.add(
            Ensemble(as_method(method, *arguments, **options).node, None if trees is None else expression(trees))
        )

    def start_from(self, source: str | Path | MethodFormula, *arguments: Any, **options: Any) -> Self:
        """Start from the tree of a method, or from the tree in a file.

        >>> model.start_from("cart", depth=10)
        >>> model.start_from("tree.json")
        """
        if isinstance(source, Path) or (isinstance(source, str) and not source.isidentifier()):
            return self.add(Start(String(str(source))))
        return self.add(Start(as_method(source, *arguments, **options).node))

    def leaves(self, kind: str, *columns: str, ridge: Any = None) -> Self:
        """Let each leaf hold a model instead of a constant: "linear", of these columns, or of all that hold numbers.

        "simple_linear": each leaf chooses the one column that is best for it.

        >>> model.minimize(tml.squared_loss).leaves("linear", "age", "income", ridge=0.1)
        """
        arguments = [Argument(column_name(column)) for column in columns]
        if ridge is not None:
            arguments.append(Argument(expression(ridge), "ridge"))
        name = identifier(kind, "a model that leaves hold")
        return self.add(LeafModels(Call(name, tuple(arguments)) if arguments else Name(name)))

    def improve(self, method: str | MethodFormula, *arguments: Any, within: Any = None, **options: Any) -> Self:
        """Improve the starting tree instead of searching all trees.

        >>> model.start_from("cart").improve("subtrees", depth=4, within="5 min")
        """
        return self.add(
            Improve(as_method(method, *arguments, **options).node, None if within is None else duration(within))
        )

    def list_trees(self, most: Any = None, *, within: Any = None, like: str = "") -> Self:
        """Ask for the best `most` trees, for all trees within a distance of the best one, or for both.

        `within` is text such as "2%" (of the best value) or "3 rows", or a number in the unit of the goal.

        >>> model.list_trees(100)
        >>> model.list_trees(10_000, within="0.5%", like="treefarms")
        """
        return self.add(
            ListTrees(
                None if most is None else expression(most),
                None if within is None else slack(within),
                like and identifier(like, "a way to count trees"),
            )
        )

    # running

    def validate(
        self, method: str | MethodFormula | None = None, *arguments: Any, on: str | Path | None = None, **options: Any
    ) -> Self:
        """Validate by a method, or `on` the rows of another file.

        >>> model.validate("folds", 5, seed=1)
        >>> model.validate(on="test.csv")
        """
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
        """Add the `solve` statement: back-ends in order of preference, and limits. `Model.solve` runs it.

        >>> model.solve_with("native", within="5 min", threads=2)
        """
        return self.add(
            Solve(
                methods(backends),
                None if within is None else duration(within),
                None if gap is None else expression(gap),
                None if seed is None else expression(seed),
                None if threads is None else expression(threads),
            )
        )

    def report(self, *items: str | MethodFormula | Formula) -> Self:
        """Choose the parts of the printed report, and measures to show besides those of goals and requirements.

        >>> model.report("tree", "confusion", tml.auc("yes"))
        """
        if not items:
            raise TypeError("report needs at least one thing to report")
        return self.add(Report(methods(items)))

    def _then(self, sense: str, goal: Any) -> Self:
        for index in reversed(range(len(self.statements))):
            statement = self.statements[index]
            if isinstance(statement, Objective):
                self.statements[index] = Objective((*statement.goals, GoalPart(sense, expression(goal))))
                return self
        raise ValueError(f"then_{sense} continues a goal: call minimize or maximize first")


def _names(columns: str | Iterable[str]) -> tuple[Name, ...]:
    return tuple(column_name(column) for column in ((columns,) if isinstance(columns, str) else columns))


def _type(name: str) -> str:
    if name not in TYPES:
        raise ValueError(f"no type is called {name!r}: types are {', '.join(TYPES)}")
    return name


MOST_KEPT = 100_000  # characters of a text whose statements are kept


def _statements_of(source: Source) -> tuple[Statement, ...] | None:
    """The statements of a text, which never change; None if it has mistakes."""
    return _parsed_once(source) if len(source.text) <= MOST_KEPT else _parsed(source)


def _parsed(source: Source) -> tuple[Statement, ...] | None:
    from treeml.lang.parse import parse_all  # imported here: start-up time

    parsed = parse_all(source)
    return None if parsed.diagnostics else tuple(parsed.statements)


_parsed_once = lru_cache(maxsize=64)(_parsed)
