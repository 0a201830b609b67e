"""The path to a leaf -> what is true of its rows, in as few words as possible.

`path` of a prediction says every answer as it was given. A reason is read by people who do not know the tree: it leaves
out what follows from the rest, and combines answers about missing values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from treeml.lang.display import shown
from treeml.trees.nodes import TreeData, TreeTest, without_other_branches

Answers = Sequence[tuple[TreeTest, bool]]


def answered_facts(tree: TreeData, path: Answers) -> list[str]:
    """Every answer on the path: `age > 40`, `age > 50`."""
    return [str(test) if answer else test.negated(tree.may_miss(test.column)) for test, answer in path]


def fewest_facts(tree: TreeData, path: Answers) -> list[str]:
    """The same without what follows from the rest: `age > 50`; of a column with gaps, `income > 31 or is missing`."""
    path = without_other_branches(path)
    facts = []
    for place, (test, answer) in enumerate(path):
        rest = path[place + 1 :]
        if not tree.may_miss(test.column) or not _is_ordered(test.column, path):
            if not _is_looser(test, answer, rest):
                facts += answered_facts(tree, [(test, answer)])
        elif all(other.column != test.column for other, _ in rest):
            facts.append(_fact_with_gaps(test.column, [each for each in path if each[0].column == test.column]))
    return facts if len(facts) == 1 else [f"({fact})" if fact.endswith(" or is missing") else fact for fact in facts]


def _is_ordered(column: str, path: Answers) -> bool:
    return all(test.kind in ("at most", "missing") for test, _ in path if test.column == column)


def _is_looser(test: TreeTest, answer: bool, rest: Answers) -> bool:
    """Does a later threshold on the same column say more: age > 50 after age > 40?"""
    return test.kind == "at most" and any(
        (other.column, other.kind, said, other.missing_yes) == (test.column, test.kind, answer, test.missing_yes)
        for other, said in rest
    )


def _fact_with_gaps(column: str, answers: Answers) -> str:
    """What thresholds and questions for gaps say about a column together."""
    cuts = [(replace(test, missing_yes=False), answer) for test, answer in answers if test.kind == "at most"]
    has_no_value = any(answer for test, answer in answers if test.kind == "missing")
    may_miss = all(answer == (test.kind == "missing" or test.missing_yes) for test, answer in answers)
    above = max((test for test, answer in cuts if not answer), key=_threshold, default=None)
    below = min((test for test, answer in cuts if answer), key=_threshold, default=None)
    if above is not None and below is not None and _threshold(above) >= _threshold(below):
        has_no_value = True
    if has_no_value:
        return f"{shown(column)} is missing"
    facts = [above.negated(has_gaps=False)] if above is not None else []
    facts += [str(below)] if below is not None else []
    if not facts:
        return f"{shown(column)} is not missing"
    return " and ".join(facts) + (" or is missing" if may_miss else "")


def _threshold(test: TreeTest) -> Any:
    return test.values[0]
