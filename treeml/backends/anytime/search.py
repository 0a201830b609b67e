"""An additive problem -> better and better trees, for as long as there is time.

A tree is grown greedily down to its last two levels, which are solved exactly. Then single branches are replaced: by
the exact best of three or four levels, by another split with everything below it solved anew, or by the split that is
best if the branches below it stay as they are (Carreira-Perpinan and Tavallali 2018). The goal adds up over the leaves,
so a branch is better or worse on its own. When nothing improves, the search goes on from another start: first from
trees that take another than the best split at the root (limited discrepancy, Harvey and Ginsberg 1995), then from the
best tree with one of its upper splits replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice
from math import inf
from threading import Event
from time import monotonic

import numpy as np
from numpy.typing import NDArray

from treeml.backends.anytime.branches import GrownBranch, at, replaced, upper_branches
from treeml.backends.anytime.coarse import coarsened
from treeml.backends.anytime.local_kernel import LocalKernel, Rows, SolvedBranch, Value
from treeml.backends.anytime.proposals import Proposal, Splits
from treeml.backends.contract import Deadline
from treeml.problem.evaluate import answers
from treeml.problem.problem import Problem
from treeml.problem.tree import Leaf, Node, Split
from treeml.system.interrupt import remembering

EXACT = 2  # levels at the bottom that are always solved exactly
AT_ONCE = 6  # levels of the tree at once, if more are allowed
DEEPEST = 24  # levels of a tree, if nothing limits its depth
FIRST_SECONDS = 0.02  # for the exact search of three or four levels; doubled each time it is not enough
MOST_SECONDS = 2.0
LEAST_SECONDS = 0.05  # for one exact part, also of the first tree if the time is over
CELLS_AT_ONCE = 100_000  # rows times columns up to which a branch of the first tree is grown even if the time is over
CELLS = 2_000_000  # rows times columns up to which two levels are solved exactly above the last levels, too
CELLS_AHEAD = 4_000_000  # rows times tests up to which three levels are solved to choose the split above them
CELLS_TO_COARSEN = 50_000_000  # rows times tests up to which these tests are made: a few tenths of a second
SECONDS_AHEAD = 0.5
TESTS_AHEAD = (100, 400)  # tests of which these three levels are made on numbers: few are fast, many see more
SHARE_OF_EXACT = 0.5  # of the time, at most, for exact searches of three or four levels
FIRST_SECONDS_OF_ALL = 0.2  # for the kernel's own search for trees; doubled each time
SHARE_OF_ALL = 0.5  # of the time, at most, for that search
STALE = 12  # moves without success, per branch that can be replaced, after which the search goes on elsewhere

Grow = Callable[[Rows, int, int | None], GrownBranch | None]  # rows, levels, leaves -> a branch


class Anytime:
    """The search; `offer` is told every tree that is better than all before."""

    def __init__(
        self,
        problem: Problem,
        offer: Callable[[Node], object],
        is_over: Callable[[], bool],
        seed: int = 0,
        heard: Callable[[], Node | None] | None = None,
        has_tree: bool = False,
        asks_kernel: bool = False,
    ) -> None:
        """`heard`: the best tree of an exact search of the whole problem that runs at the same time.

        Without a tree to begin with, the search finds its first one even if that takes longer than the time it has.
        `asks_kernel`: the kernel is asked for better trees of the whole problem, too; it replaces parts in its own way.
        """
        self.problem, self.offer, self.is_over = problem, offer, is_over
        self.heard: Callable[[], Node | None] = heard or (lambda: None)
        self.has_company, self.has_tree, self.asks_kernel = heard is not None, has_tree, asks_kernel
        self.taken: Node | None = None  # the last tree that was heard of and tried
        self.kernel = LocalKernel(problem, seed)
        self.splits = Splits(problem, self.kernel.objective)
        self.seed = seed
        self.fineness: int | None = None  # which of them is used; None: any, at random
        self.began, self.spent = monotonic(), 0.0  # seconds in exact searches of three or four levels
        self.seconds_of_all, self.spent_on_all = FIRST_SECONDS_OF_ALL, 0.0  # in searches of the whole tree
        self.random = np.random.default_rng(seed)
        self.patience: dict[tuple[int, int], float] = {}  # a set of rows and a height -> seconds for an exact search
        self.moves = 0
        self.looks = True  # are several levels solved to choose a split above them?
        self.deadline = Deadline()
        leaves = self.kernel.most_leaves
        self.height = min(self.kernel.most_depth, DEEPEST, problem.rows, inf if leaves is None else leaves - 1)
        cost = self.kernel.objective.cost
        self.least = None if cost is None else cost.min(axis=1)
        self.best: GrownBranch | None = None
        self.width = max(1, len(self.splits.ordered) + len(self.splits.tests) // 16)  # columns; 16 tests count as one

    @cached_property
    def ahead(self) -> list[tuple[LocalKernel, list[int] | None]]:
        """Kernels on few tests and on more, on which several levels are solved to choose the split above them."""
        found: list[tuple[LocalKernel, list[int] | None]] = []
        for most in TESTS_AHEAD if self.kernel.kernel == "numeric" else ():
            coarse = coarsened(self.problem, most) if self.problem.rows * most <= CELLS_TO_COARSEN else None
            if coarse is not None:
                found.append((LocalKernel(coarse[0], self.seed, self.kernel.pressed), coarse[1]))
        return found or [(self.kernel, None)]

    def begin(self, deadline: Deadline) -> None:
        """Offers greedy trees: one at once, then those that look ahead."""
        self.deadline = deadline
        first = self.first()
        if first is None:
            return
        self.keep(first)
        if self.height > EXACT and not first.is_best and not self.ended:
            self.looking(np.arange(self.problem.rows))

    def run(self, deadline: Deadline, most: int | None = None, most_idle: int | None = None) -> None:
        """Searches until the time is up, the caller has enough, nothing is left to try, or after `most` starts.

        `most_idle` starts in a row without a better tree end it, too.
        """
        self.deadline = deadline
        idle = 0
        for start in islice(self.starts(), most):
            before = self.best
            if start is not None:
                self.descend(start)
            idle = idle + 1 if self.best is before else 0
            if self.ended or idle == most_idle or (self.best is not None and self.best.is_best):
                return

    @property
    def is_interrupted(self) -> bool:
        return self.kernel.pressed.is_set()

    def interrupt(self) -> None:
        """Ends the solve that runs in another thread."""
        for kernel in (self.kernel, *(each for each, _ in vars(self).get("ahead", ()))):
            kernel.interrupt()

    @property
    def ended(self) -> bool:
        return self.deadline.passed or self.is_interrupted or self.is_over()

    def starts(self) -> Iterator[GrownBranch | None]:
        everybody = np.arange(self.problem.rows)
        if not self.has_tree and self.height > 1:
            at_once = self.at_once(everybody, min(int(self.height), AT_ONCE), self.kernel.most_leaves)
            if at_once is not None:
                self.keep(at_once)
            self.keep_shallow(everybody)
        first = (self.borrowed() if self.has_tree else None) or self.first()
        if first is None or self.height <= EXACT or first.is_best:
            yield first
            return
        self.keep(first)
        if self.ended:
            yield first
            return
        yield self.looking(everybody)
        ranks = iter(self.splits.propose(everybody)[1:])
        while True:
            other = next(ranks, None)
            if other is not None:
                yield self.split(everybody, int(self.height), self.kernel.most_leaves, other.test, self.anew())
            for _ in range(2):
                assert self.best is not None
                yield self.kicked(self.best)
            if other is None and self.random.random() < 0.1:
                yield self.build(everybody, int(self.height), self.kernel.most_leaves, 0.5)

    def keep_shallow(self, rows: Rows) -> None:
        """Keeps the best tree of three levels that is found in a moment, if the tree may be deeper than four.

        A greedy tree takes many more levels for what the columns only show together.
        """
        if self.height <= EXACT + 2 or self.ended:
            return
        shallow = self.solved(rows, EXACT + 1, self.kernel.most_leaves, self.slice)
        if shallow is not None:
            self.keep(replace(shallow, height=int(self.height), is_best=False))

    def at_once(self, rows: Rows, height: int, leaves: int | None) -> GrownBranch | None:
        """A greedy branch of which only the last split is exact: over many tests, two levels may take long."""
        simple = self.solved(rows, min(height, 1), leaves, self.slice)
        if simple is not None:
            simple = replace(simple, height=height, is_best=simple.value <= self.floor(rows))
        is_late = self.ended and len(rows) * self.width > CELLS_AT_ONCE
        if is_late or height <= 1 or (simple is not None and simple.is_best):
            return simple
        proposals = self.splits.propose(rows)
        sides = self.at_once, self.at_once
        grown = self.split(rows, height, leaves, proposals[0].test, sides) if proposals else None
        return simple if grown is None or (simple is not None and simple.value <= grown.value) else grown

    def first(self) -> GrownBranch | None:
        """A greedy tree without looking ahead, with exact last levels."""
        looks, self.looks = self.looks, False
        first = self.build(np.arange(self.problem.rows), int(self.height), self.kernel.most_leaves, 0.0)
        self.looks = looks
        return first

    def looking(self, rows: Rows) -> GrownBranch | None:
        """The best tree so far, after greedy trees that look ahead by few tests and by many."""
        for fineness in range(len(self.ahead)):
            self.fineness = fineness
            found = self.build(rows, int(self.height), self.kernel.most_leaves, 0.0)
            if found is not None:
                self.keep(found)
            if self.ended:
                break
        self.fineness = None
        return self.best

    def improved_by_kernel(self) -> GrownBranch | None:
        """A tree that is better than the best, or proved, by the kernel's own search."""
        begun, best, leaves = monotonic(), self.best, self.kernel.most_leaves
        if not self.asks_kernel or best is None or self.spent_on_all > SHARE_OF_ALL * (begun - self.began):
            return None
        rows, height, seconds = best.rows, int(self.height), min(self.seconds_of_all, self.deadline.left())
        self.seconds_of_all *= 2
        found = self.kernel.best(rows, height, seconds, leaves, best.node(), {"climb": 0})  # bounds are not needed
        self.spent_on_all += monotonic() - begun
        if found is not None and found.is_best:
            return GrownBranch(rows, height, found.value, found.leaves, True, found.tree)
        if found is None or found.value >= best.value:
            return None
        return self.following(rows, height, leaves, found.tree)

    def borrowed(self) -> GrownBranch | None:
        """The best tree of another search, if it is new and better than all of this one."""
        tree = self.heard()
        if tree is None or tree is self.taken:
            return None
        self.taken = tree
        grown = self.following(np.arange(self.problem.rows), int(self.height), self.kernel.most_leaves, tree)
        return grown if grown is not None and (self.best is None or grown.value < self.best.value) else None

    def following(self, rows: Rows, height: int, leaves: int | None, tree: Node) -> GrownBranch | None:
        """A branch with the splits of a tree, and the last levels solved anew."""
        if isinstance(tree, Leaf) or height <= EXACT:
            return self.build(rows, height, leaves)
        sides = partial(self.following, tree=tree.yes), partial(self.following, tree=tree.no)
        grown = self.split(rows, height, leaves, tree.test, sides, _leaf_count(tree.no))
        return grown or self.build(rows, height, leaves)

    def kicked(self, root: GrownBranch) -> GrownBranch | None:
        """The tree with one upper split replaced, whatever that costs."""
        upper = [path for path, branch in upper_branches(root, EXACT) if branch.height > EXACT + 1] or [()]
        path = upper[int(self.random.integers(len(upper)))]
        branch = at(root, path)
        other = self.resplit(branch, self.room(root, branch))
        return None if other is None else replaced(root, path, other)

    def descend(self, root: GrownBranch) -> None:
        """Replaces branches while that helps, and keeps the best tree."""
        self.keep(root)
        stale = 0
        while not self.ended:
            other = self.borrowed() or self.improved_by_kernel()
            if other is not None:
                root, stale = other, 0
                self.keep(root)
            choices = [(path, branch) for path, branch in upper_branches(root, EXACT) if not self.is_done(branch)]
            if not choices or stale > STALE * len(choices):
                return
            path, branch = choices[int(self.random.integers(len(choices)))]
            new = self.move(root, branch)
            self.moves += 1
            stale += 1
            if new is None or new.value > branch.value or new is branch:
                continue
            if new.value < branch.value:
                stale = 0
            root = replaced(root, path, new)
            self.keep(root)

    def keep(self, root: GrownBranch) -> None:
        if self.best is None or root.value < self.best.value:
            self.best = root
            self.offer(root.node())
        elif root.is_best:
            self.best = root

    def is_done(self, branch: GrownBranch) -> bool:
        return branch.is_best or branch.value <= self.floor(branch.rows)

    def floor(self, rows: Rows) -> Value:
        """No tree costs less on these rows."""
        price = self.kernel.objective.price
        return price if self.least is None else int(self.least[rows].sum()) + price

    def room(self, root: GrownBranch, branch: GrownBranch) -> int | None:
        """The leaves that a replacement may have."""
        most = self.kernel.most_leaves
        return None if most is None else most - root.leaves + branch.leaves

    def move(self, root: GrownBranch, branch: GrownBranch) -> GrownBranch | None:
        """A branch that may be better than this one."""
        room = self.room(root, branch)
        if self.may_solve(root, branch) and self.random.random() < (0.5 if branch.height == EXACT + 1 else 0.2):
            return self.exact(branch, room)
        if branch.solved is None and self.least is not None and self.random.random() < 0.3:
            return self.rerouted(branch, room)
        return self.resplit(branch, room)

    def may_solve(self, root: GrownBranch, branch: GrownBranch) -> bool:
        """Is an exact search of the branch worth trying? The whole tree is for the search that this one accompanies."""
        if branch.height > EXACT + 2 or (branch is root and self.has_company):
            return False
        return self.spent <= SHARE_OF_EXACT * (monotonic() - self.began)

    def exact(self, branch: GrownBranch, room: int | None) -> GrownBranch | None:
        """The best branch of this height, if it is found in the time for it."""
        begun = monotonic()
        key = self.kernel.key(branch.rows), branch.height
        seconds = self.patience.get(key, FIRST_SECONDS)
        if seconds > MOST_SECONDS:
            return None
        self.patience[key] = 2 * seconds
        found = self.solved(branch.rows, branch.height, room, seconds, branch.node())
        self.spent += monotonic() - begun
        return found

    def resplit(self, branch: GrownBranch, room: int | None) -> GrownBranch | None:
        """The branch with another split, and everything below it solved anew."""
        proposals = self.splits.propose(branch.rows, self.random, 0.5)
        if not proposals:
            return None
        test = self.chosen(proposals, branch)
        sides = self.anew(0.2 if self.random.random() < 0.5 else 0.0)
        return self.split(branch.rows, branch.height, room, test, sides)

    def chosen(self, proposals: list[Proposal], branch: GrownBranch) -> int:
        rank = min(int(self.random.geometric(0.35)) - 1, len(proposals) - 1)
        test = proposals[rank].test
        if branch.solved is None and self.random.random() < 0.3:
            test = branch.test  # the same column, another cut
        return self.shifted(test, branch.rows) if self.random.random() < 0.5 else test

    def shifted(self, test: int, rows: Rows) -> int:
        """A test of the same ordered column whose cut lies a few rows further."""
        asked = self.problem.tests[test]
        feature = self.problem.features[asked.feature]
        if asked.kind != "at most" or feature.codes is None or feature.has_missing:
            return test
        codes = np.sort(feature.codes[rows])
        place = int(np.searchsorted(codes, asked.values[0], side="right"))
        width = max(1.0, len(rows) * float(self.random.choice([0.01, 0.03, 0.1])))
        place += round(float(self.random.normal(0.0, width)))
        code = int(codes[min(max(place, 0), len(codes) - 1)])
        return test if code >= feature.levels - 1 else feature.first_test + code

    def rerouted(self, branch: GrownBranch, room: int | None) -> GrownBranch | None:
        """The branch with the split that is best for the two branches below, which are then solved anew."""
        yes, no = branch.sides
        cost = np.stack([self.costs(yes.node(), branch.rows), self.costs(no.node(), branch.rows)], axis=1)
        found = self.kernel.choose(branch.rows, cost, MOST_SECONDS)
        if found is None or found[1] == found[2]:
            return None
        if found[1] != 0:
            yes, no = no, yes
        sides = partial(self.alike, model=yes), partial(self.alike, model=no)
        return self.split(branch.rows, branch.height, room, found[0], sides, no.leaves)

    def costs(self, node: Node, rows: Rows) -> NDArray[np.int64]:
        """What each of these rows costs below a node."""
        cost = self.kernel.objective.cost
        assert cost is not None
        if isinstance(node, Leaf):
            return np.asarray(cost[rows, node.label])
        goes = answers(self.problem, node.test, rows)
        below = np.empty(len(rows), dtype=np.int64)
        below[goes] = self.costs(node.yes, rows[goes])
        below[~goes] = self.costs(node.no, rows[~goes])
        return below

    def build(self, rows: Rows, height: int, leaves: int | None, noise: float = 0.0) -> GrownBranch | None:
        """A branch grown greedily, or at random to the degree of `noise`; None if the rows cannot make one.

        None, too, if the time is up and there is a tree: one that is not finished is of no use.
        """
        if self.ended and (self.has_tree or self.best is not None):
            return None
        size = len(rows) * self.width
        simple = None
        if height <= EXACT or size <= CELLS:
            simple = self.solved(rows, min(height, EXACT), leaves, self.slice)
            if simple is None and height > EXACT and self.kernel.limits_leaves:
                return self.deeper(rows, height, leaves, noise)
            if simple is None or height <= EXACT or (leaves is not None and leaves <= EXACT + 1):
                return simple if simple is None else replace(simple, height=height)
            if simple.value <= self.floor(rows):
                return replace(simple, height=height, is_best=True)
        if self.ended and simple is not None:
            return replace(simple, height=height, is_best=False)
        test = self.greedy(rows, simple, noise)
        grown = None if test is None else self.split(rows, height, leaves, test, self.anew(noise))
        if simple is None:
            simple = grown or self.solved(rows, EXACT, leaves, self.slice)
            return None if simple is None else replace(simple, height=height, is_best=False)
        if grown is not None and grown.value < simple.value:
            return grown
        return replace(simple, height=height, is_best=False)

    def deeper(self, rows: Rows, height: int, leaves: int | None, noise: float) -> GrownBranch | None:
        """A branch for rows of which two levels make no leaves that are pure enough."""
        if self.ended or (leaves is not None and leaves <= EXACT + 1):
            return None
        found = self.solved(rows, EXACT + 1, leaves, self.slice)
        if found is not None:
            return replace(found, height=height, is_best=found.is_best and height == EXACT + 1)
        test = self.greedy(rows, None, noise) if height > EXACT + 1 else None
        return None if test is None else self.split(rows, height, leaves, test, self.anew(noise))

    @property
    def slice(self) -> float:
        """Seconds for one exact part."""
        return max(LEAST_SECONDS, min(MOST_SECONDS, 0.2 * self.deadline.left()))

    def lookahead(self, rows: Rows) -> int | None:
        """The split at the top of the best three levels on few tests, if they are few enough."""
        if not self.looks:
            return None
        fineness = int(self.random.integers(len(self.ahead))) if self.fineness is None else self.fineness
        kernel, tests = self.ahead[fineness]
        if len(rows) * len(kernel.problem.tests) > CELLS_AHEAD:
            return None
        found = kernel.best(rows, EXACT + 1, min(self.slice, SECONDS_AHEAD))
        if found is None or isinstance(found.tree, Leaf):
            return None
        return found.tree.test if tests is None else tests[found.tree.test]

    def greedy(self, rows: Rows, simple: GrownBranch | None, noise: float) -> int | None:
        if self.random.random() >= noise:
            test = self.lookahead(rows)
            if test is not None:
                return test
        if noise and simple is not None and isinstance(simple.solved, Split) and self.random.random() < noise:
            return simple.solved.test  # as the best tree of two levels begins
        proposals = self.splits.propose(rows)
        if not proposals:
            return None
        rank = 0 if self.random.random() >= noise else int(self.random.geometric(0.5)) - 1
        return proposals[min(rank, len(proposals) - 1)].test

    def split(
        self,
        rows: Rows,
        height: int,
        leaves: int | None,
        test: int,
        sides: tuple[Grow, Grow],
        kept: int | None = None,
    ) -> GrownBranch | None:
        """A branch with this split, and branches below that grow as `sides` says; None if there is no room for two.

        `kept`: how many of the leaves are kept for the no side while the yes side grows; half of them if None.
        """
        goes = answers(self.problem, test, rows)
        if goes.all() or not goes.any() or height < 1 or (leaves is not None and leaves < 2):
            return None
        room = None if leaves is None else max(1, leaves - (leaves // 2 if kept is None else kept))
        yes = sides[0](rows[goes], height - 1, room)
        if yes is None:
            return None
        no = sides[1](rows[~goes], height - 1, None if leaves is None else max(1, leaves - yes.leaves))
        if no is None:
            return None
        return GrownBranch(rows, height, yes.value + no.value, yes.leaves + no.leaves, test=test, yes=yes, no=no)

    def anew(self, noise: float = 0.0) -> tuple[Grow, Grow]:
        """Sides that are grown greedily, or at random to the degree of `noise`."""
        return (partial(self.build, noise=noise),) * 2

    def alike(self, rows: Rows, height: int, leaves: int | None, model: GrownBranch) -> GrownBranch | None:
        """A branch for these rows with the splits of another, and the last levels solved anew."""
        branch = None
        if model.solved is None and height > EXACT:
            sides = tuple(partial(self.alike, model=side) for side in model.sides)
            branch = self.split(rows, height, leaves, model.test, (sides[0], sides[1]), model.sides[1].leaves)
        return branch or self.build(rows, height, leaves)

    def solved(
        self, rows: Rows, height: int, leaves: int | None, seconds: float, start: Node | None = None
    ) -> GrownBranch | None:
        left = self.deadline.left()
        if self.best is None and not self.has_tree:
            left = max(left, LEAST_SECONDS)
        found: SolvedBranch | None = self.kernel.best(rows, height, min(seconds, left), leaves, start)
        if found is None:
            return None
        return GrownBranch(rows, height, found.value, found.leaves, found.is_best, found.tree)


def _leaf_count(tree: Node) -> int:
    return 1 if isinstance(tree, Leaf) else _leaf_count(tree.yes) + _leaf_count(tree.no)


def first_tree(problem: Problem, deadline: Deadline) -> Node | None:
    """A greedy tree whose last two levels are exact; None if the requirements exclude it.

    Ctrl-C, which the kernels notice, is passed on: nobody else hears of it.
    """
    pressed = Event()
    with remembering(pressed.set):
        search = Anytime(problem, lambda tree: None, pressed.is_set)
        search.deadline = deadline
        first = search.first()
    if pressed.is_set() or search.is_interrupted:
        raise KeyboardInterrupt
    return None if first is None else first.node()
