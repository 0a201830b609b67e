"""The trees of one listing, as users hold them: count, look, choose, compare."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from treeml.solving.result import Number, plain
from treeml.studies.tree_sets.listed import Listed
from treeml.studies.tree_sets.measures import Evaluations, Measures
from treeml.studies.tree_sets.node_values import Measured
from treeml.studies.tree_sets.sources import (
    MOST_TREES,
    ListedTrees,
    TooManyTrees,
    TreeSource,
    chosen_trees,
    too_many,
)
from treeml.trees.tree import Tree

if TYPE_CHECKING:
    from treeml.studies.tree_sets.choice import Choice
    from treeml.studies.tree_sets.rows import Agreement, ColumnImportance, Spread
    from treeml.trees.forest import Forest

MOST_ON_A_PAGE = 10_000  # trees
MOST_IN_A_COMMITTEE = 10_000
Ranks = range | NDArray[np.int64]


class TreeSet(Sequence[Tree]):
    """Trees in the order of the goal, made when they are looked at.

    >>> model = tml.parse("predict disease minimize errors require depth <= 2")
    >>> trees = model.trees("heart.csv", slack="1 rows")
    >>> trees.count, trees.complete
    (12, True)
    >>> print(trees[0])
    >>> small = trees.where("leaves <= 3")
    >>> small.best_by("parity_gap(sex)")
    """

    def __init__(
        self,
        source: TreeSource,
        listed: Listed,
        measures: Measures,
        ranks: Ranks | None = None,
        evaluations: Evaluations | None = None,
    ) -> None:
        self.source, self.listed, self._measures = source, listed, measures
        self.ranks: Ranks = range(source.count) if ranks is None else ranks
        self._evaluations = evaluations or Evaluations(source, measures)  # shared by all parts of the set
        self.choice: Choice | None = None  # by the 1-SE rule, if the specification has `validate`

    # -- how many, and are they all -------------------------------------------------------

    @property
    def count(self) -> int:  # type: ignore[override]  # a number, where a list has a method
        """How many trees the set has. `listed.merged` says whether trees of equal function are counted once.

        >>> trees.count
        12
        """
        return _size(self.ranks)

    @property
    def complete(self) -> bool:
        """Are all trees that were asked for known? If not, `statement` says where the list stops.

        >>> assert trees.complete, trees.statement
        """
        return self.listed.complete

    @property
    def statement(self) -> str:
        """What the list holds, in a sentence.

        >>> print(trees.statement)
        """
        if self._is_whole:
            return self.listed.statement
        return f"{self.count:,} of {self.listed.statement}"

    @property
    def best(self) -> Number | None:
        """The best value of the goal.

        >>> trees.best
        0
        """
        return None if self.listed.best is None else plain(self.listed.best)

    @cached_property
    def histogram(self) -> list[tuple[Number, int]]:
        """Values of the goal, each with its number of trees, the best first.

        >>> trees.histogram[:2]
        [(0, 3), (1, 9)]
        """
        if not self.count:
            return []
        if isinstance(self.source, ListedTrees) and isinstance(self.ranks, range) and self.ranks == self._every_rank:
            return [(plain(self._shown(value)), trees) for value, trees in self.source.histogram()]
        counts: dict[Fraction, int] = {}
        too_many(self.count)
        for rank in self.ranks:
            value = self._shown(self.source.value(int(rank)))
            counts[value] = counts.get(value, 0) + 1
        ordered = sorted(counts.items(), reverse=self.listed.sense == "maximize")
        return [(plain(value), trees) for value, trees in ordered]

    def __len__(self) -> int:
        return self.count

    def __bool__(self) -> bool:
        return self.count > 0

    def __str__(self) -> str:
        return self.statement

    def __repr__(self) -> str:
        return f"<TreeSet of {self.count:,} trees>"

    @property
    def _is_whole(self) -> bool:
        return self.count == (self.source.count if self.listed.count is None else self.listed.count)

    @property
    def _every_rank(self) -> range:
        return range(self.source.count)

    def _shown(self, value: Fraction) -> Fraction:
        return -value if self.listed.sense == "maximize" else value

    # -- looking at trees -----------------------------------------------------------------

    @overload
    def __getitem__(self, place: int) -> Tree: ...
    @overload
    def __getitem__(self, place: slice) -> TreeSet: ...
    def __getitem__(self, place: int | slice) -> Tree | TreeSet:
        """A tree by its rank, or a part of the set.

        >>> trees[0], trees[5:10]
        """
        if isinstance(place, slice):
            return self._part(self.ranks[place])
        number = place + self.count if place < 0 else place
        if not 0 <= number < self.count:
            raise IndexError(f"the set has {self.count} trees, and number {place} is none of them")
        return self.source.tree(int(self.ranks[number]))

    def __iter__(self) -> Iterator[Tree]:
        return (self.source.tree(int(rank)) for rank in self.ranks)

    def value(self, rank: int) -> Number:
        """The value of the goal of a tree.

        >>> trees.value(0)
        """
        return plain(self._shown(self.source.value(int(self.ranks[rank]))))

    def sample(self, size: int, seed: int = 0) -> TreeSet:
        """Different trees, each set of this size as likely as any other, in the order of the goal.

        >>> trees.sample(5, seed=1)
        """
        return self._part(_array([int(self.ranks[place]) for place in _drawn(self.count, size, seed)]))

    def _part(self, ranks: Ranks) -> TreeSet:
        if self.source.count > MOST_TREES and _size(ranks) <= MOST_TREES:
            return self._apart(ranks)
        return self._shared_part(ranks)

    def _apart(self, ranks: Ranks) -> TreeSet:
        """The trees of these ranks, measured without the others: there may be too many of those."""
        source = chosen_trees(self.source, ranks)
        if source is None:
            return self._shared_part(ranks)
        return TreeSet(source, self.listed, self._measures)

    def _shared_part(self, ranks: Ranks) -> TreeSet:
        return TreeSet(self.source, self.listed, self._measures, ranks, self._evaluations)

    # -- choosing -------------------------------------------------------------------------

    def measure(self, measure: str) -> list[Number | None]:
        """The value of any measure of the language on every tree; None where it is undefined.

        >>> trees.measure("parity_gap(sex)")[:3]
        [0.6, 0.6, 0.6]
        """
        found = self._evaluations.measure(measure)[1]
        shown = [None if value is None else plain(value) for value in found.table]
        return [shown[code] for code in self._codes(found).tolist()]

    def where(self, condition: str) -> TreeSet:
        """The trees that meet a condition.

        >>> trees.where("leaves <= 3").count
        5
        """
        found = self._evaluations.condition(condition)
        held = np.array([bool(value) for value in found.table], dtype=bool)
        kept = held[self._codes(found)] if len(held) else np.zeros(0, dtype=bool)
        return self._part(self._numbers[kept])

    def best_by(self, measure: str) -> Tree:
        """The tree that is best by another measure; of several, the first by the goal.

        >>> trees.best_by("leaves").depth
        2
        """
        places = self._order(measure)
        if not len(places):
            raise ValueError("the set has no trees")
        return self[int(np.argmin(places))]

    def pareto(self, *measures: str) -> TreeSet:
        """The trees that no other tree beats in one measure without losing in another; one for every such point.

        >>> trees.pareto("errors", "parity_gap(sex)", "features_used")
        """
        if not measures:
            raise TypeError("pareto compares trees by at least one measure")
        table = np.stack([self._order(measure) for measure in measures], axis=1)
        points, first = np.unique(table, axis=0, return_index=True)
        front = [place for place, point in zip(first.tolist(), points, strict=True) if _is_best(point, points)]
        return self._part(self._numbers[sorted(front)])

    @property
    def _numbers(self) -> NDArray[np.int64]:
        too_many(self.source.count)
        return np.asarray(self.ranks, dtype=np.int64)

    def _codes(self, found: Measured) -> NDArray[np.int64]:
        return found.codes[self._numbers]

    def _order(self, measure: str) -> NDArray[np.int64]:
        """For every tree the place of its value among all values, the best first; undefined values come last."""
        asked, found = self._evaluations.measure(measure)
        values = sorted({value for value in found.table if value is not None}, reverse=asked.maximize)
        place = {value: number for number, value in enumerate(values)}
        places = [len(values) if value is None else place[value] for value in found.table]
        return np.array(places, dtype=np.int64)[self._codes(found)]

    # -- comparing ------------------------------------------------------------------------

    def importance(self) -> list[ColumnImportance]:
        """For every column: the share of trees that use it, and how much the predictions depend on it.

        >>> for column in trees.importance():
        ...     print(column.name, column.share, column.least, column.most)
        """
        from treeml.studies.tree_sets.rows import importance  # imported here: start-up time

        return importance(self)

    def agreement(self) -> Agreement:
        """What the trees predict for every row: rows on which they differ depend on which tree is chosen.

        >>> trees.agreement().disputed
        array([3, 5, 6, 7, 8])
        """
        from treeml.studies.tree_sets.rows import agreement  # imported here: start-up time

        return agreement(self)

    def unseen(self, data: Any, measure: str = "", y: Any = None) -> Spread:
        """The values of a measure on other rows, over all trees of the set; without a measure, of the goal.

        >>> trees.unseen("heart.csv", "accuracy").least
        """
        from treeml.studies.tree_sets.rows import unseen  # imported here: start-up time

        return unseen(self, data, y, measure)

    def choose(self, data: Any, y: Any = None) -> Choice:
        """The smallest tree whose mean loss on other rows is within one standard error of the least one.

        >>> trees.choose("heart.csv").tree.depth
        """
        from treeml.solving.pipeline import prepare  # imported here: start-up time
        from treeml.studies.tree_sets.choice import choose

        if not self.count:
            raise ValueError("the set has no trees")
        other, _ = prepare(self._measures.model, data, y, keep_table=True)
        return choose(self, other, str(data) if isinstance(data, (str, Path)) else "other rows")

    def committee(self) -> Forest:
        """All trees of the set with one vote each, as a forest, which has probabilities and is written to a file.

        >>> trees.committee().predict_proba({"age": [60], "sex": ["M"], "chol": [280]})
        """
        from treeml.trees.forest import Forest  # imported here: start-up time

        if not self.count:
            raise ValueError("the set has no trees")
        if self.count > MOST_IN_A_COMMITTEE:
            raise TooManyTrees(
                f"{self.count:,} trees are too many for a committee: take the best of them, "
                f"trees[:{MOST_IN_A_COMMITTEE:_}], or a sample"
            )
        if self[0].task != "classes":
            raise ValueError("a committee votes for classes, and these trees predict numbers")
        return Forest(tuple(self), (Fraction(1, self.count),) * self.count, "committee")

    # -- keeping --------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the set to one file: JSON, or Parquet if the name ends in .parquet.

        >>> trees.save("trees.json")
        """
        from treeml.studies.tree_sets.stored import write_set  # imported here: start-up time

        write_set(self, Path(path))

    def page(self, path: str | Path, measures: Sequence[str] = (), most: int = MOST_ON_A_PAGE) -> None:
        """Write a page to explore the set in a browser: one HTML file that fetches nothing.

        >>> trees.page("trees.html", measures=["parity_gap(sex)"])
        """
        from treeml.studies.tree_sets.explorer import explorer_page  # imported here: start-up time
        from treeml.system.writing import replace_file

        replace_file(Path(path), explorer_page(self, measures, most))

    def _repr_html_(self) -> str:
        from treeml.studies.tree_sets.explorer import explorer_frame  # imported here: start-up time

        return explorer_frame(self)

    @classmethod
    def read(cls, path: str | Path, data: Any = None, y: Any = None) -> TreeSet:
        """The set in a file that `save` wrote; measures need the data again.

        >>> trees.save("trees.json")
        >>> tml.TreeSet.read("trees.json", "heart.csv").where("leaves <= 3").count
        5
        """
        from treeml.studies.tree_sets.stored import read_set  # imported here: start-up time

        return cls(*read_set(Path(path), data, y))

    def to_json(self, trees: int = 10) -> dict[str, Any]:
        """The set in a few numbers, and its first trees.

        >>> import json
        >>> text = json.dumps(trees.to_json())
        """
        known = self.listed
        return {
            "count": self.count,
            "total": known.total,
            "written": known.written,
            "merged": known.merged,
            "complete": known.complete,
            "stop": known.stop,
            "statement": known.statement,
            "goal": known.goal,
            "sense": known.sense,
            "best": self.best,
            "limit": None if known.limit is None else plain(known.limit),
            "style": known.style,
            "seconds": round(known.seconds, 6),
            "histogram": [[value, number] for value, number in self.histogram],
            "statistics": dict(known.statistics),
            "notes": list(known.notes),
            "evidence": [each.to_json() for each in known.evidence],
            "choice": None if self.choice is None else self.choice.to_json(),
            "trees": [
                {"rank": rank, "value": self.value(rank), "tree": self[rank].to_json()}
                for rank in range(min(trees, self.count))
            ],
        }


def _size(ranks: Ranks) -> int:
    """The length of a range may be beyond what `len` takes."""
    if isinstance(ranks, range):
        return max(0, -(-(ranks.stop - ranks.start) // ranks.step))
    return len(ranks)


def _array(ranks: list[int]) -> NDArray[np.int64]:
    fits = not ranks or max(ranks) < 2**63
    return np.array(ranks, dtype=np.int64 if fits else object)


def _drawn(count: int, size: int, seed: int) -> list[int]:
    """Different numbers below `count`, of any size; `random.sample` draws from ranges that `len` can measure."""
    random = Random(seed)
    if count < 2**62:
        return sorted(random.sample(range(count), min(size, count)))
    drawn: set[int] = set()
    while len(drawn) < size:
        drawn.add(random.randrange(count))
    return sorted(drawn)


def _is_best(point: NDArray[np.int64], points: NDArray[np.int64]) -> bool:
    return not bool(((points <= point).all(axis=1) & (points < point).any(axis=1)).any())
