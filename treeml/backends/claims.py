"""Evidence -> the right to claim: a bound, "optimal" or "infeasible" needs a rule that supports it.

Every rule is a row of one table: the claims it can support, the evidence it needs for each, and one sentence on why it
is sound. A rule that combines other solves (the steps of a plan) supports a claim only if all its evidence supports
what the rule needs. So a bound that nobody proved cannot turn into a proof on its way up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from types import MappingProxyType
from typing import Any


class Claim(Enum):
    BOUND = "bound"  # no tree that meets the requirements has a smaller goal
    OPTIMAL = "optimal"  # no tree that meets the requirements is better
    INFEASIBLE = "infeasible"  # no tree meets the requirements


BOUND, OPTIMAL, INFEASIBLE = Claim.BOUND, Claim.OPTIMAL, Claim.INFEASIBLE
NOTHING: frozenset[Claim] = frozenset()
ANY = frozenset(Claim)


class UnfoundedClaim(ValueError):
    """A claim without evidence that supports it."""


class Contradiction(RuntimeError):
    """Two claims, or a claim and a tree, that cannot both be right."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`supports` maps every claim that the rule can support to the claims that its own evidence must support.

    An empty set means that the rule stands by itself. Otherwise there must be at least one piece of evidence, and each
    piece must support one of these claims.
    """

    supports: Mapping[Claim, frozenset[Claim]]
    because: str


def _by_itself(because: str, *claims: Claim) -> Rule:
    return Rule(MappingProxyType(dict.fromkeys(claims, NOTHING)), because)


def _resting(because: str, **needs: Iterable[Claim]) -> Rule:
    return Rule(MappingProxyType({Claim[name.upper()]: frozenset(needed) for name, needed in needs.items()}), because)


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        # Completed searches, of TreeML or of a third-party back-end.
        "enumeration": _by_itself("every tree was examined", BOUND, OPTIMAL, INFEASIBLE),
        "search": _by_itself(
            "the search ended, and every tree was examined or excluded by a valid bound",
            BOUND, OPTIMAL, INFEASIBLE,
        ),
        "search bound": _by_itself("every tree that the search has not examined is at or above this bound", BOUND),
        "target by target": _by_itself(
            "searches for a tree below one target after another ended without one, or every tree that the search has "
            "not examined is at or above this bound",
            BOUND,
        ),
        "relaxed splits": _by_itself(
            "with splits relaxed to intervals of cuts, and the rows between them free, no tree is below a target, "
            "or every tree that the search has not examined is at or above this bound",
            BOUND,
        ),
        "support sets": _by_itself(
            "every set of columns that could give a smaller tree was searched", BOUND, OPTIMAL, INFEASIBLE
        ),
        # Statuses of solvers, by the table of that solver.
        "solver optimal": _by_itself(
            "the solver proved its solution optimal, and its bound, rounded to integers, equals the solution's value",
            BOUND, OPTIMAL,
        ),
        "solver infeasible": _by_itself("the solver proved that the whole model has no solution", INFEASIBLE),
        "solver bound": _by_itself(
            "the solver reported this bound in a status, or a callback, in which its bound is valid", BOUND
        ),
        "relaxation": _by_itself("a relaxation, evaluated exactly in integers, has no solution below this", BOUND),
        "no column": _by_itself("no leaf and no split that meets the requirements is left", INFEASIBLE),
        # SAT and MaxSAT.
        "refutation": _by_itself("the clauses of every tree that meets the requirements have no model", INFEASIBLE),
        "refutation below": _by_itself("the clauses of every tree with a lower goal have no model", BOUND, OPTIMAL),
        "cores": _by_itself(
            "disjoint sets of penalties were refuted, and each costs at least its smallest weight", BOUND
        ),
        # Conclusions from counting alone.
        "row by row": _by_itself(
            "this is the value if every row gets its best class and every price is minimal", BOUND
        ),
        "counting": _by_itself("limits contradict each other, or rows that no test separates", INFEASIBLE),
        "no goal": _by_itself("nothing is minimized, so any tree that meets the requirements is optimal", OPTIMAL),
        # Rules that combine other evidence.
        "bound meets tree": _resting(
            "no tree is below the bound, and the tree has its value", optimal=[BOUND], bound=[BOUND]
        ),
        "threshold": _resting(
            "the columns of all trees up to a threshold have no solution, so every tree is above it",
            bound=[INFEASIBLE], optimal=[INFEASIBLE], infeasible=[INFEASIBLE],
        ),
        "columns below": _resting(
            "every column that a better tree could use was present, and this tree is optimal among them",
            optimal=[OPTIMAL], bound=[BOUND],
        ),
        "price of leaves": _resting(
            "no tree is below the optimum with a price per leaf, minus that price for every leaf that is allowed",
            bound=[BOUND],
        ),
        "bound beyond": _resting("no tree is below the bound, and no tree can be above it", infeasible=[BOUND]),
        "restated": _resting(
            "the problem that was solved has the same trees with the same values",
            bound=[BOUND], optimal=[OPTIMAL], infeasible=[INFEASIBLE],
        ),
        "rescaled": _resting(
            "the rescaled problem allows the same trees in the same order, and its bound was converted back",
            bound=[BOUND], optimal=[OPTIMAL], infeasible=[INFEASIBLE],
        ),
        "fewer requirements": _resting(
            "requirements only exclude trees, so what holds without some of them holds with them",
            bound=[BOUND], optimal=[OPTIMAL], infeasible=[INFEASIBLE],
        ),
        "parts of the goal": _resting(
            "without some requirements and some parts of the goal, which count as the least that they can be, no tree "
            "is below this",
            bound=[BOUND],
        ),
        "chords": _resting(
            "the cost of a mixture of classes is concave, so that the least of several chords is never above it, and "
            "with chords no tree is below this",
            bound=[BOUND],
        ),
        "handed over": _resting(
            "another back-end went on from the tree and the bound, and proved it",
            bound=[BOUND], optimal=[OPTIMAL], infeasible=[INFEASIBLE],
        ),
        "fewer rows": _resting("already for some of the rows there is no tree", infeasible=[INFEASIBLE]),
        "goals in turn": _resting(
            "each goal was proved optimal with the earlier ones held at their optimum",
            bound=[BOUND], optimal=[OPTIMAL], infeasible=[INFEASIBLE],
        ),
        "level by level": _resting(
            "every lower level was refuted or solved, and higher levels cost more than the tree",
            bound=ANY, optimal=ANY, infeasible=[INFEASIBLE],
        ),
        "less and less": _resting(
            "there is no tree up to a value, so no tree has less than one step of the grid above it",
            bound=[INFEASIBLE], optimal=[INFEASIBLE], infeasible=[INFEASIBLE],
        ),
        "quotient by quotient": _resting(
            "numerator - s * denominator is at least its bound for every tree, at one or several s, so no quotient is "
            "below s + bound / denominator",
            bound=[BOUND, OPTIMAL], optimal=[BOUND, OPTIMAL], infeasible=[INFEASIBLE],
        ),
        "count by count": _resting(
            "for every number of false positives, the trees that have it were solved, bounded or excluded",
            bound=[BOUND, OPTIMAL, INFEASIBLE], optimal=[BOUND, OPTIMAL, INFEASIBLE], infeasible=[INFEASIBLE],
        ),
        "looser limits": _resting(
            "every tree that meets these limits meets the looser ones, so a proof about those trees holds here",
            bound=[BOUND], optimal=[OPTIMAL], infeasible=[INFEASIBLE],
        ),
        "root by root": _resting(
            "every tree is a single leaf or begins with one of these tests, and each of these was solved or bounded",
            bound=[BOUND, INFEASIBLE], optimal=[BOUND, INFEASIBLE], infeasible=[INFEASIBLE],
        ),
        "case by case": _resting(
            "every tree that meets the requirements is in one of these cases, and each was solved or bounded",
            bound=[BOUND, INFEASIBLE], optimal=[BOUND, INFEASIBLE], infeasible=[INFEASIBLE],
        ),
        "race": _resting(
            "a member of the race proved it", bound=[BOUND], optimal=[OPTIMAL], infeasible=[INFEASIBLE]
        ),
        "pricing": _resting(
            "no tree earns more at the given integer prices of the rows, which bounds the margin of every forest",
            bound=[BOUND], optimal=[BOUND], infeasible=[INFEASIBLE],
        ),
    }
)  # fmt: skip
"""All rules. A claim that none of them supports cannot be made."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A rule, what it was applied to, and the evidence it builds on."""

    rule: str
    detail: str = ""
    rests_on: tuple[Evidence, ...] = ()

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise UnfoundedClaim(f"there is no rule {self.rule!r} that a claim could rest on")
        if not any(True for _ in self.claims()):
            raise UnfoundedClaim(f"the rule {self.rule!r} rests on nothing that supports it")

    def claims(self) -> Iterable[Claim]:
        """The claims that this evidence supports."""
        return (claim for claim in RULES[self.rule].supports if self.supports(claim))

    def supports(self, claim: Claim) -> bool:
        needed = RULES[self.rule].supports.get(claim)
        if needed is None:
            return False
        if not needed:
            return True
        return bool(self.rests_on) and all(any(map(below.supports, needed)) for below in self.rests_on)

    @property
    def name(self) -> str:
        """A short text for readers: the rule, what it was applied to, and the names of the evidence it builds on."""
        own = f"{self.rule} ({self.detail})" if self.detail else self.rule
        below = "; ".join(dict.fromkeys(each.name for each in self.rests_on))
        if self.rule in ("restated", "rescaled", "race") and not self.detail:
            return below
        return f"{own}, by {below}" if below else own

    @property
    def text(self) -> str:
        """The name, and why the rules it ultimately builds on are sound."""
        return f"{self.name}: {'; '.join(dict.fromkeys(self._reasons()))}"

    def _reasons(self) -> Iterator[str]:
        if not self.rests_on:
            yield RULES[self.rule].because
        for each in self.rests_on:
            yield from each._reasons()

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Evidence:
        below = tuple(cls.from_json(each) for each in value.get("rests_on", ()))
        return cls(str(value["rule"]), str(value.get("detail", "")), below)

    def to_json(self) -> dict[str, Any]:
        value: dict[str, Any] = {
            "rule": self.rule,
            "claims": [claim.value for claim in self.claims()],
            "because": RULES[self.rule].because,
        }
        if self.detail:
            value["detail"] = self.detail
        if self.rests_on:
            value["rests_on"] = [each.to_json() for each in self.rests_on]
        return value


Proof = tuple[Evidence, ...]


def supporting(evidence: Iterable[Evidence], claim: Claim) -> Proof:
    """The evidence that supports the claim."""
    return tuple(each for each in evidence if each.supports(claim))


def combined(rule: str, evidence: Iterable[Evidence], detail: str = "") -> Proof:
    """The rule applied to all of this evidence; empty if it then supports nothing."""
    basis = tuple(dict.fromkeys(evidence))
    try:
        return (Evidence(rule, detail, basis),)
    except UnfoundedClaim:
        return ()


_CLAIMED = {claim.value: claim for claim in (OPTIMAL, INFEASIBLE)}


def require(status: str, bound: Any, evidence: Iterable[Evidence]) -> None:
    """Raises UnfoundedClaim if the status, or the bound, has no evidence. `status` is the value of a Status."""
    claimed = _CLAIMED.get(status)
    if claimed is None and bound is None:
        return
    evidence = tuple(evidence)
    for claim in (claimed, None if bound is None else BOUND):
        if claim is None or (evidence and evidence[0].supports(claim)):
            continue
        if not any(each.supports(claim) for each in evidence):
            what = {OPTIMAL: "says optimal", INFEASIBLE: "says infeasible", BOUND: "states a bound"}[claim]
            named = f", and `{evidence[0].rule}` does not support it" if evidence else " and names no evidence"
            raise UnfoundedClaim(f"it {what}{named}")


LOOSEST = Fraction(1, 10**6)
"""The largest tolerance, relative to the value, with which a tree may be called optimal."""


def is_sharp(tolerance: Fraction, value: Fraction) -> bool:
    """Is a proof up to this tolerance a proof of optimality?"""
    return tolerance <= LOOSEST * abs(value)
