"""The answer of the express way -> Result, whose tree, measures and reports are made when they are read.

A short search is over before the objects that describe its answer could be made, and most callers read few of them.
Nothing here refers to the rows: they were counted before, and may change after the call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from time import monotonic
from typing import Any, NamedTuple

from treeml.backends import registry
from treeml.backends.claims import Evidence
from treeml.backends.contract import Progress, Status, Stop
from treeml.backends.native.kernel_choice import prefer_numeric_for
from treeml.backends.planning.plan import closing
from treeml.data.read import array_names
from treeml.data.table import label_text
from treeml.lang.diagnostic import Diagnostic
from treeml.lang.spec import Spec
from treeml.native.matrix import MatrixAnswer, MatrixSize, statistic_names
from treeml.solving.choice import reason_for
from treeml.solving.result import Result, plain
from treeml.solving.verify import GoalCheck, RequirementCheck, Verification
from treeml.trees.nodes import Branch, Field, Node, TreeLeaf, TreeTest
from treeml.trees.tree import Tree

BACKEND = "native"
_KERNEL = "native, numeric kernel"
_PROVED = (Evidence("search", _KERNEL),)
_STOPPED = (Evidence("search bound", _KERNEL),)


class ExpressLeaf(NamedTuple):
    """A leaf with the number of its class."""

    label: int


class ExpressSplit(NamedTuple):
    """Rows with numbers up to the cut go to the yes side; without a cut, those whose number is 1."""

    column: int
    cut: float | None
    yes: Any  # ExpressNode
    no: Any


ExpressNode = ExpressLeaf | ExpressSplit


@dataclass(frozen=True, slots=True, eq=False)
class ExpressTask:
    """What is asked: the fewest errors, or the best accuracy, up to a depth."""

    spec: Spec
    warnings: tuple[Diagnostic, ...]
    depth: int
    within: float | None


class CountedTree(NamedTuple):
    """A tree with how many rows of every class reach each of its leaves, the yes side first."""

    root: ExpressNode
    cells: list[list[int]]
    errors: int
    depth: int


class ExpressAnswer(NamedTuple):
    """A verified tree, and what is known about it."""

    task: ExpressTask
    counted: CountedTree
    size: MatrixSize
    found: MatrixAnswer
    shape: tuple[int, ...]  # rows and columns
    begun: float
    built: float

    def make_tree(self) -> Tree:
        names, leaves = array_names(self.shape[1]), iter(self.counted.cells)
        fields: dict[int, Field] = {}

        def made(node: ExpressNode) -> Node:
            if isinstance(node, ExpressLeaf):
                counts = tuple(next(leaves))
                return TreeLeaf(self.size.labels[node.label], sum(counts), counts, tuple(map(Fraction, counts)))
            name, is_truth = names[node.column], node.cut is None
            test = TreeTest(name, "is true" if is_truth else "at most", (1.0 if is_truth else node.cut,))
            if node.column not in fields:
                fields[node.column] = Field(name, "binary", (0.0, 1.0)) if is_truth else Field(name, "number")
            return Branch(test, made(node.yes), made(node.no))

        root = made(self.counted.root)
        return Tree(root, "classes", "y", tuple(self.size.labels), (), tuple(fields.values()), names)

    def value(self, errors: int) -> Fraction:
        """The value of the goal: these errors, or the accuracy that they leave."""
        (goal,) = self.task.spec.goals
        if goal.sense == "minimize":
            return Fraction(errors)
        return 1 - Fraction(errors, sum(map(sum, self.counted.cells)))

    def make_exact(self) -> Verification:
        (goal,), (limit,) = self.task.spec.goals, self.task.spec.requirements
        sizes = [sum(counts) for counts in self.counted.cells]
        errors, depth = Fraction(self.counted.errors), Fraction(self.counted.depth)
        rate = errors / sum(sizes)
        measures = {
            "errors": errors,
            "error_rate": rate,
            "accuracy": 1 - rate,
            "depth": depth,
            "leaves": Fraction(len(sizes)),
            "support": Fraction(min(sizes)),
        }
        slack = limit.limit - depth
        text = limit.text or limit.name
        return Verification(
            (GoalCheck(goal.text, goal.sense, self.value(self.counted.errors), self.value(self.found.value)),),
            (RequirementCheck(limit.name, text, limit.sense, limit.limit, depth, slack, slack >= 0),),
            measures,
            confusion=(tuple(map(label_text, self.size.labels)), self._confusion()),
        )

    def _confusion(self) -> tuple[tuple[Fraction, ...], ...]:
        """For every actual class, the rows of each predicted class."""
        places = range(len(self.size.labels))
        ends = list(zip(_leaves(self.counted.root), self.counted.cells, strict=True))
        return tuple(
            tuple(Fraction(sum(counts[actual] for leaf, counts in ends if leaf.label == place)) for place in places)
            for actual in places
        )

    def make_measures(self) -> dict[str, int | float]:
        return {name: plain(value) for name, value in self.make_exact().measures.items()}

    def make_trace(self) -> tuple[Progress, ...]:
        value, bound = (self.value(self.found.value),), self.value(self.found.bound)
        return (Progress(self._statistics()["seconds"], value, bound, evidence=_STOPPED),)

    def make_statistics(self) -> Mapping[str, float]:
        own = self._statistics()
        return {**own, "objective": float(self.found.value), "objective_bound": float(self.found.bound)}

    def _statistics(self) -> dict[str, float]:
        own = dict(zip(statistic_names(), self.found.statistics, strict=True))
        built, solved = own.pop("build_microseconds") / 1e6, own.pop("solve_microseconds") / 1e6
        return {"seconds": built + solved, **own, "build_seconds": built, "solve_seconds": solved}

    def make_plan(self) -> tuple[str, ...]:
        backend, size = registry.get(BACKEND), self.size
        _, remark = prefer_numeric_for(size.cuts, size.columns, self.shape[0], self.task.depth)
        return reason_for(backend, [], None), closing(backend), remark


class _Unmade:
    """Stands for a part that nobody has read."""


_UNMADE: Any = _Unmade()


class ExpressResult(Result):
    """A Result that makes some of its parts when they are read."""

    __slots__ = ("_answer",)
    _answer: ExpressAnswer


def _part(name: str) -> property:
    held: Any = Result.__dict__[name]

    def get(self: ExpressResult) -> Any:
        value = held.__get__(self)
        if value is _UNMADE:
            value = getattr(self._answer, f"make_{name}")()
            held.__set__(self, value)
        return value

    return property(get, lambda self, value: held.__set__(self, value))


for _name in ("tree", "exact", "measures", "trace", "statistics", "plan"):
    setattr(ExpressResult, _name, _part(_name))


def late_result(answer: ExpressAnswer) -> Result:
    """The result of a verified answer."""
    found = answer.found
    status = f"{'optimal' if found.is_optimal else 'feasible'}, {'proved' if found.is_optimal else 'interrupted'}"
    value, bound = answer.value(found.value), answer.value(found.bound)
    distance = abs(value - bound)
    result = ExpressResult(
        status=Status.OPTIMAL if found.is_optimal else Status.FEASIBLE,
        stop=Stop.PROVED if found.is_optimal else Stop.INTERRUPTED,
        backend=BACKEND,
        tree=_UNMADE,
        objective=plain(value),
        bound=plain(bound),
        gap=0.0 if not distance else float(distance / value) if value else None,
        verified=True,
        seconds=monotonic() - answer.begun,
        build_seconds=answer.built - answer.begun,
        measures=_UNMADE,
        exact=_UNMADE,
        trace=_UNMADE,
        statistics=_UNMADE,
        warnings=answer.task.warnings,
        plan=_UNMADE,
        raw_status=status,
        spec=answer.task.spec,
        evidence=_PROVED if found.is_optimal else _STOPPED,
    )
    object.__setattr__(result, "_answer", answer)
    return result


def _leaves(node: ExpressNode) -> list[ExpressLeaf]:
    return [node] if isinstance(node, ExpressLeaf) else _leaves(node.yes) + _leaves(node.no)
