"""Evidence -> the right to claim: a bound, "optimal" or "infeasible" cannot be made without a rule that supports it.

Every rule is a row of one table: which claims it can carry, what it has to rest on for that, and in one sentence why it
is sound. A rule that combines other solves (a plan's steps) carries a claim only if all that it rests on carries what
the rule needs, so that a bound which nobody proved cannot become a proof on the way up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from types import MappingProxyType
from typing import Any


class Claim(Enum):
    BOUND = "bound"  # no tree that meets the requirements has a goal below this
    OPTIMAL = "optimal"  # the tree is a best one
    INFEASIBLE = "infeasible"  # no tree meets the requirements


BOUND, OPTIMAL, INFEASIBLE = Claim.BOUND, Claim.OPTIMAL, Claim.INFEASIBLE
NOTHING: frozenset[Claim] = frozenset()
ANY = frozenset(Claim)


class UnfoundedClaim(ValueError):
    """A claim was made without evidence that supports it."""


class Contradiction(RuntimeError):
    """Two claims, or a claim and a tree, that cannot both hold."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`supports` says for every claim that the rule can carry what each evidence below it must carry: nothing where the
    rule stands by itself, otherwise at least one evidence must be there, and each must carry one of these claims."""

    supports: Mapping[Claim, frozenset[Claim]]
    because: str


def _by_itself(because: str, *claims: Claim) -> Rule:
    return Rule(MappingProxyType(dict.fromkeys(claims, NOTHING)), because)


def _resting(because: str, **needs: Iterable[Claim]) -> Rule:
    return Rule(MappingProxyType({Claim[name.upper()]: frozenset(needed) for name, needed in needs.items()}), because)


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        # What a search of our own, or of a back-end of somebody else, knows when it has come to its end.
        "enumeration": _by_itself("every tree was looked at", BOUND, OPTIMAL, INFEASIBLE),
        "search": _by_itself(
            "the search ended, and every tree was looked at or excluded by a bound that holds for it",
            BOUND, OPTIMAL, INFEASIBLE,
        ),
        "search bound": _by_itself("every tree that the search has not looked at is at or above this bound", BOUND),
        "support sets": _by_itself(
            "trees were looked for in every set of columns that can hold a smaller one", BOUND, OPTIMAL, INFEASIBLE
        ),
        # What a solver's status carries: a row of the table of that solver.
        "solver optimal": _by_itself(
            "the solver proved its solution best, and its bound in whole numbers meets the solution", BOUND, OPTIMAL
        ),
        "solver infeasible": _by_itself("the solver proved that the whole model has no solution", INFEASIBLE),
        "solver bound": _by_itself(
            "the solver ended, or told of it on the way, in a status in which its bound is one", BOUND
        ),
        "relaxation": _by_itself("an exact relaxation, in whole numbers, has no solution below this", BOUND),
        "no column": _by_itself("no leaf and no split that meets the requirements is left", INFEASIBLE),
        # Clauses.
        "refutation": _by_itself("the clauses of every tree that meets the requirements have no model", INFEASIBLE),
        "refutation below": _by_itself("the clauses of every tree with a lower goal have no model", BOUND, OPTIMAL),
        "cores": _by_itself("disjoint sets of penalties were refuted, each of which costs its least weight", BOUND),
        # What counting alone tells.
        "row by row": _by_itself("every row gets the class that is best for it, and every price its least", BOUND),
        "counting": _by_itself("limits contradict each other, or rows that no test tells apart", INFEASIBLE),
        "no goal": _by_itself("nothing is minimized, so any tree that meets the requirements is best", OPTIMAL),
        # What combines others.
        "bound meets tree": _resting(
            "no tree is below the bound, and the tree has its value", optimal=[BOUND], bound=[BOUND]
        ),
        "threshold": _resting(
            "the parts of all trees up to a threshold have no solution, so every tree is above it",
            bound=[INFEASIBLE], optimal=[INFEASIBLE], infeasible=[INFEASIBLE],
        ),
        "columns below": _resting(
            "every part that a better tree could use was there, and this tree is the best of them",
            optimal=[OPTIMAL], bound=[BOUND],
        ),
        "bound beyond": _resting("no tree is below the bound, and no tree can be above it", infeasible=[BOUND]),
        "restated": _resting(
            "the problem that was solved has the same trees with the same values",
            bound=[BOUND], optimal=[OPTIMAL], infeasible=[INFEASIBLE],
        ),
        "rescaled": _resting(
            "the problem that was solved allows the same trees and orders them alike, and its bound was carried over",
            bound=[BOUND], optimal=[OPTIMAL], infeasible=[INFEASIBLE],
        ),
        "fewer rows": _resting("some of the rows alone already have no tree", infeasible=[INFEASIBLE]),
        "goals in turn": _resting(
            "each goal was proved best with the earlier ones held at their best",
            bound=[BOUND], optimal=[OPTIMAL], infeasible=[INFEASIBLE],
        ),
        "level by level": _resting(
            "every level below was refuted or solved, and those above cost more than the tree",
            bound=ANY, optimal=ANY, infeasible=[INFEASIBLE],
        ),
        "less and less": _resting(
            "the last tree is best: asked for less by one step of the values, there was none",
            bound=[INFEASIBLE], optimal=[INFEASIBLE], infeasible=[INFEASIBLE],
        ),
        "race": _resting(
            "a member of the race proved it", bound=[BOUND], optimal=[OPTIMAL], infeasible=[INFEASIBLE]
        ),
        "pricing": _resting(
            "no tree is worth more at prices of the rows, in whole numbers, and that bounds the margin of every forest",
            bound=[BOUND], optimal=[BOUND], infeasible=[INFEASIBLE],
        ),
    }
)  # fmt: skip
"""All rules there are. A claim that fits none of them cannot be made."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A rule, what it was applied to, and the evidence that it rests on."""

    rule: str
    detail: str = ""
    rests_on: tuple[Evidence, ...] = ()

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise UnfoundedClaim(f"there is no rule {self.rule!r} that a claim could rest on")
        if not any(True for _ in self.claims()):
            raise UnfoundedClaim(f"the rule {self.rule!r} rests on nothing that supports it")

    def claims(self) -> Iterable[Claim]:
        """What this supports."""
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
        """A few words for a reader: the rule, what it was applied to, and the names of what it rests on."""
        own = f"{self.rule} ({self.detail})" if self.detail else self.rule
        below = "; ".join(dict.fromkeys(each.name for each in self.rests_on))
        if self.rule in ("restated", "rescaled", "race") and not self.detail:
            return below
        return f"{own}, by {below}" if below else own

    @property
    def text(self) -> str:
        """The name, and why the rules at the bottom of it are sound."""
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
    """Those that support the claim."""
    return tuple(each for each in evidence if each.supports(claim))


def combined(rule: str, evidence: Iterable[Evidence], detail: str = "") -> Proof:
    """The rule resting on all of these; nothing, if that supports nothing."""
    basis = tuple(dict.fromkeys(evidence))
    try:
        return (Evidence(rule, detail, basis),)
    except UnfoundedClaim:
        return ()


def require(status: str, bound: Any, evidence: Iterable[Evidence]) -> None:
    """Raises UnfoundedClaim if the status, or that there is a bound, has no evidence. `status` is the value of one."""
    evidence = tuple(evidence)
    made = [claim for claim in (OPTIMAL, INFEASIBLE) if status == claim.value]
    if bound is not None:
        made.append(BOUND)
    for claim in made:
        if not any(each.supports(claim) for each in evidence):
            what = {OPTIMAL: "says optimal", INFEASIBLE: "says infeasible", BOUND: "states a bound"}[claim]
            named = f", and `{evidence[0].rule}` does not support it" if evidence else " and names no evidence"
            raise UnfoundedClaim(f"it {what}{named}")


LOOSEST = Fraction(1, 10**6)
"""A tolerance that is a larger share of the value than this is none to call a tree optimal by."""


def is_sharp(tolerance: Fraction, value: Fraction) -> bool:
    """Is a proof to this tolerance one of optimality?"""
    return tolerance <= LOOSEST * abs(value)
