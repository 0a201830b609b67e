"""Model, data, tree -> Certificate: a second pass that proves what is known, and has it checked at once."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from treeml.data.table import Dataset
from treeml.forests.pricing_problem import lower_one_tree
from treeml.lang.diagnostic import BackendError, Diagnostic
from treeml.measures.lower_dataset import lower
from treeml.native.certify import Claims, Prover, TreeShape
from treeml.problem.evaluate import Routed, evaluate_goals
from treeml.problem.problem import Bound
from treeml.problem.terms import Sum
from treeml.problem.tree import Node
from treeml.solving.certificates.cells import Cells, read_cells, refuse
from treeml.solving.certificates.check import Checked, Verdict, check_text
from treeml.solving.certificates.describe import LIMIT, amount_of, describe
from treeml.solving.certificates.forest import PricedForest, priced_forest
from treeml.solving.certificates.multiplier import best_multiplier
from treeml.solving.certificates.points import closing_claims, covers, with_single_tests
from treeml.solving.certificates.statement import Amount, Statement
from treeml.solving.request import Request
from treeml.system.writing import replace_file
from treeml.trees.forest import Forest

# Shares of a bound that are proved one after another if the time is short.
SHARES = tuple(Fraction(part, 16) for part in (2, 4, 8, 12, 14, 15, 16))


@dataclass(frozen=True, slots=True, eq=False)
class Certificate:
    """A certificate that a checker has verified; `text` is what the file holds before it is packed."""

    claim: str  # optimal, bound, infeasible or margin
    text: bytes
    claims: int
    recomputed: int  # trees of depth two that a checker recomputes
    seconds: float  # to make it, without the check
    checked: Checked
    objective: Fraction | None = None  # of the tree, in the sense of the problem: minimized
    bound: Fraction | None = None  # on the first goal

    def write(self, path: str | Path) -> None:
        """Write the certificate, packed by gzip if the name ends with .gz."""
        replace_file(Path(path), self.packed(str(path).endswith(".gz")))

    def packed(self, by_gzip: bool) -> bytes:
        """What a file holds."""
        return gzip.compress(self.text, 9, mtime=0) if by_gzip else self.text

    def to_json(self) -> dict[str, Any]:
        return {
            "claim": self.claim,
            "claims": self.claims,
            "recomputed": self.recomputed,
            "bytes": len(self.text),
            "seconds": round(self.seconds, 6),
            "checked": self.checked.to_json(),
        }

    @property
    def summary(self) -> str:
        """`by 12 claims, checked in 0.05 s`."""
        many = "1 claim" if self.claims == 1 else f"{self.claims:,} claims"
        what = {"bound": " (a bound)", "infeasible": " (no tree exists)"}.get(self.claim, "")
        return f"by {many}{what}, checked in {self.checked.seconds:.2f} s"

    def __str__(self) -> str:
        return f"certified {self.summary}: {self.checked.sentence}"


def certify(
    dataset: Dataset, request: Request, data: Any = None, tree: Any = None, seconds: float = inf
) -> Certificate:
    """A certificate that the tree is optimal, of a gap if it is not or time ends; without a tree, that none exists.

    `data` is the CSV file that the dataset was read from; None: the file that the spec names. `tree` is a Tree, the
    path of one, or whatever can be imported; for a spec with `ensemble` it is a Forest or the path of one.
    """
    from treeml.trees.importing.read import lower_start, read_start  # imported here: start-up time

    begun = monotonic()
    path = _data_path(data, dataset.spec)
    is_forest = dataset.spec.ensemble is not None
    lowered = lower_one_tree(dataset, numeric=True) if is_forest else lower(dataset, numeric=True)
    cells = read_cells(path)
    statement, coupled = describe(dataset, lowered, cells)
    proof = _Proof(path, begun, begun + seconds, cells)
    if is_forest:
        if tree is None or coupled:
            raise refuse("of forests, the margin of a given one is covered, without requirements that couple leaves")
        forest = tree if isinstance(tree, Forest) else Forest.read(tree)
        nodes = [lower_start(each, lowered) for each in forest.trees]
        return proof.of_forest(priced_forest(statement, lowered.problem, dataset, request, forest, nodes, cells))
    node = None if tree is None else lower_start(read_start(tree, dataset), lowered)
    if node is None:
        return proof.of_nothing(statement, coupled, dataset)
    if not statement.goals:
        raise refuse("without a goal there is nothing to prove: any tree that meets the requirements will do")
    routed = Routed(lowered.problem, node)
    for bound in lowered.problem.bounds:
        if not _meets(bound, routed):
            raise refuse(f"the tree does not meet the requirement {bound.name}")
    values = evaluate_goals(lowered.problem, node)
    if statement.scale:
        return proof.of_squares(statement, node, routed, values[0])
    whole = tuple(goal.value(value) for goal, value in zip(statement.goals, values, strict=True))
    statement = replace(statement, tree=node, values=whole, factors=_factors(statement))
    if coupled:
        statement = _with_requirement(statement, coupled, dataset, cells)
    return proof.of_classes(statement, values[0])


def _meets(bound: Bound, routed: Routed) -> bool:
    value = bound.sum.evaluate(routed, None)
    if value is None:
        return True
    return {"<=": value <= bound.limit, ">=": value >= bound.limit, "=": value == bound.limit}[bound.sense]


def _data_path(data: Any, spec: Any) -> Path:
    if data is None:
        return Path(spec.folder / spec.data)
    if not isinstance(data, (str, Path)):
        raise refuse(
            "the rows are not in a file", "write them as CSV: a certificate is about a file that others can read"
        )
    return Path(data)


def _requirement(bound: Bound, dataset: Any, cells: Cells) -> tuple[Amount, int]:
    """A requirement as an amount in whole numbers, and the largest value that is allowed."""
    if bound.sense == "=":
        raise refuse(f"the requirement {bound.name} is an equation, which is not covered")
    total = bound.sum if bound.sense == "<=" else bound.sum.negated()
    amount = amount_of(Sum(total.parts), dataset, cells)
    allowed = ((bound.limit if bound.sense == "<=" else -bound.limit) - total.constant) / amount.unit
    return amount, allowed.numerator // allowed.denominator


def _with_requirement(statement: Statement, coupled: tuple[Bound, ...], dataset: Any, cells: Cells) -> Statement:
    """The statement with the one requirement that matters, and its multiplier."""
    if len(statement.goals) > 1:
        raise refuse("several goals with a requirement that couples the leaves are not covered")
    chosen = None
    for bound in coupled:
        amount, limit = _requirement(bound, dataset, cells)
        by = best_multiplier(statement, statement.goals[0], amount, limit)
        if by is None:
            raise refuse(f"no tree meets the requirement {bound.name}, but one was given")
        if by != (0, 1) and chosen is not None:
            raise refuse(
                f"the requirements {chosen[0].name} and {bound.name} both matter, and one multiplier is covered"
            )
        if by != (0, 1) or (chosen is None and bound is coupled[-1]):
            chosen = bound, amount, limit, by
    assert chosen is not None
    multiplier, divisor = chosen[3]
    if not multiplier:
        return statement
    factors = _factors(statement, divisor)
    return replace(statement, require=chosen[1], limit=chosen[2], factors=factors, require_factor=multiplier)


@dataclass(frozen=True, slots=True, eq=False)
class _Proof:
    """Proves statements about one file until a moment of the monotonic clock."""

    path: Path
    begun: float
    until: float
    cells: Cells

    def of_classes(self, statement: Statement, objective: Fraction) -> Certificate:
        matrix, price = _combined(statement)
        prover = Prover(*_places(statement), matrix, _tree_limits(statement, price))
        wanted = sum(f * value for f, value in zip(statement.factors, statement.values, strict=True))
        allowed = statement.require_factor * statement.limit
        least = statement.factors[-1]  # a better tree would stay below by that much
        needed = wanted - least + allowed + 1
        claims = self._best(prover, needed)
        if claims.bound >= needed:
            return self._finished(statement, claims, objective, objective)
        if statement.require is not None and covers(statement):
            single = with_single_tests(statement)
            closed = closing_claims(single, self.until)
            if closed is not None:
                return self._finished(replace(single, factors=(1,), require_factor=0), closed, objective, objective)
        if len(statement.goals) > 1:
            raise refuse("the tree was not proved optimal, and a bound is covered for one goal only")
        bound = (claims.bound - allowed - 1) // least + 1
        goal = statement.goals[0]
        stated = replace(statement, claim=f"bound {bound}")
        return self._finished(stated, claims, objective, bound * goal.unit + goal.constant)

    def of_squares(self, statement: Statement, node: Node, routed: Routed, objective: Fraction) -> Certificate:
        goal = statement.goals[0]
        prover = Prover(*_places(statement), statement.targets, _tree_limits(statement, goal.price), squared=True)
        sums = np.zeros((len(routed.leaves), 3), dtype=np.int64)
        np.add.at(sums, routed.leaf_numbers, statement.targets)
        value = sum(s - -(-t * t // max(w, 1)) + goal.price for w, t, s in sums.tolist())
        claims = self._best(prover, value)
        stated = replace(statement, claim=f"bound {claims.bound}", tree=node, values=(value,))
        return self._finished(stated, claims, objective, claims.bound * goal.unit + goal.constant)

    def of_forest(self, priced: PricedForest) -> Certificate:
        """The margin of a forest, and a bound on that of every forest."""
        prover = Prover(*_places(priced.statement), priced.matrix, _tree_limits(priced.statement, 0))
        claims = self._best(prover, priced.paid)
        stated, bound = priced.claimed(claims.bound)
        return self._finished(stated, claims, Fraction(priced.value, priced.total), bound)

    def of_nothing(self, statement: Statement, coupled: tuple[Bound, ...], dataset: Any) -> Certificate:
        """No tree meets one of the requirements."""
        for bound in coupled:
            amount, limit = _requirement(bound, dataset, self.cells)
            stated = replace(statement, goals=(), require=amount, limit=limit, require_factor=1, claim="infeasible")
            matrix, price = _combined(stated)
            claims = self._best(Prover(*_places(statement), matrix, _tree_limits(statement, price)), limit + 1)
            if claims.bound > limit:
                return self._finished(stated, claims, None, None)
        raise refuse("no single requirement excludes every tree, and several together are not covered")

    def _best(self, prover: Prover, needed: int) -> Claims:
        """The claims for the whole bound or, if the time is short, for the largest share of it."""
        if self.until == inf:
            return prover.prove(needed)
        found = None
        for target in _targets(prover.base, needed):
            claims = prover.prove(target, max(0.0, self.until - monotonic()))
            if found is None or claims.bound > found.bound:
                found = claims
            if claims.is_stopped or claims.bound < target:
                break
        assert found is not None
        return found

    def _finished(self, stated: Statement, claims: Claims, objective: Fraction | None, bound: Any) -> Certificate:
        lines = "\n".join([*stated.header(), f"claims {claims.count}"]).encode()
        text = lines + b"\n" + claims.text + b"end\n"
        seconds = monotonic() - self.begun
        checked = check_text(self.path, text)
        if checked.verdict is not Verdict.VERIFIED:
            raise BackendError(
                Diagnostic(
                    "B541",
                    "the checker does not accept the certificate that was made",
                    notes=(f"{checked.verdict.value}: {checked.sentence}",),
                    helps=("this is a mistake of TreeML, not of the specification; please report it with the data",),
                )
            )
        kind = stated.claim.split()[0]
        return Certificate(kind, text, claims.count, claims.recomputed, seconds, checked, objective, bound)


def _targets(base: int, needed: int) -> Iterator[int]:
    """Rising bounds, so that something is proved when the time ends early."""
    last = None
    for share in SHARES:
        target = base + -(-(needed - base) * share.numerator // share.denominator)
        if target != last:
            yield target
        last = target


def _factors(statement: Statement, last: int = 1) -> tuple[int, ...]:
    """A goal outweighs all later ones, as the checkers require it."""
    factors = [last]
    for goal in reversed(statement.goals[1:]):
        factors.insert(0, factors[0] * (goal.size + 1))
    if factors[0] >= LIMIT:
        raise refuse("the goals together are too large: their sum reaches 2^53")
    return tuple(factors)


def _combined(statement: Statement) -> tuple[Any, int]:
    """Goals and requirement as one cost, and the price of a leaf."""
    amounts = [*zip(statement.factors, statement.goals, strict=True)]
    if statement.require is not None:
        amounts.append((statement.require_factor, statement.require))
    matrix: Any = sum(factor * amount.matrix.astype(object) for factor, amount in amounts)
    if sum(factor * amount.size for factor, amount in amounts) >= LIMIT:
        raise refuse("the costs are too large: their sum reaches 2^53")
    return matrix.astype(np.int64), sum(factor * amount.price for factor, amount in amounts)


def _places(statement: Statement) -> tuple[Any, list[int]]:
    if not statement.families:
        raise refuse("there is no test")
    return np.array([family.place for family in statement.families]), [family.cuts for family in statement.families]


def _tree_limits(statement: Statement, price: int) -> TreeShape:
    return TreeShape(statement.depth, statement.leaves, statement.support, price)
