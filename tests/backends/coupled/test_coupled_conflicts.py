"""Requirements on all predictions that no tree meets: which of them conflict, and what could be met."""

from __future__ import annotations

from random import Random

import treeml as tml
from treeml.backends.anytime.multipliers import relabeled
from treeml.backends.contract import Deadline, Limits
from treeml.backends.infeasibility import has_easy_tree, shared_time
from treeml.problem.evaluate import meets_all
from treeml.problem.problem import Problem
from treeml.problem.terms import Depth, Predicted
from treeml.problem.tree import Leaf, Split
from treeml.testing.problems import binary, bound, errors, minimize


def rows(count: int = 120) -> dict[str, list[object]]:
    """Rows that deep trees tell apart; group `a` has more positives than `b`."""
    random = Random(5)
    group = ["a" if random.random() < 0.5 else "b" for _ in range(count)]
    data: dict[str, list[object]] = {f"x{n}": [random.randrange(2) for _ in group] for n in range(12)}
    return {**data, "g": list(group), "y": [int(random.random() < (0.8 if side == "a" else 0.3)) for side in group]}


FAIR = (
    "predict y is 1\nminimize errors\nrequire depth <= 2\nrequire parity_gap(g) <= 1%\nrequire accuracy >= 95%\n"
    "forbid split on g\nsolve with native within 60 s\n"
)


def test_a_requirement_that_plays_no_part_is_left_out_of_the_conflict() -> None:
    """Without the limit on depth there is a fair tree: a deep one, with other labels in some leaves."""
    result = tml.parse(FAIR).solve(rows())
    assert result.status is tml.Status.INFEASIBLE
    assert result.conflict == ("depth <= 2", "accuracy >= 95%")
    assert "conflict   depth <= 2; accuracy >= 95%" in str(result)


def test_the_nearest_limits_of_a_conflict() -> None:
    model, data = tml.parse(FAIR), rows()
    found = model.why(data, nearest=["accuracy"], within=60).nearest["accuracy >= 95%"]
    assert found is not None
    (nearest,) = found
    loose = tml.parse(FAIR.replace("require accuracy >= 95%\n", "")).solve(data)
    assert loose.exact is not None
    assert nearest == loose.exact.measures["accuracy"]


def fair_problem() -> Problem:
    """Rows 0, 1 and 2, 3 are two groups; the tree x0, x1 predicts both rows of the first group as they are."""
    table, actual, sides = ["00", "01", "10", "11"], [1, 1, 0, 0], [1, 1, -1, -1]
    gap = Predicted(errors(actual, 2).cost * 0)
    gap.cost[:, 1] = sides
    bounds = tuple(bound(Predicted(sign * gap.cost), "<=", 0, "gap") for sign in (1, -1))
    return binary(table, 2, minimize(errors(actual, 2)), (*bounds, bound(errors(actual, 2), "<=", 2, "errors")))


def test_leaves_are_labeled_so_that_the_requirements_are_met() -> None:
    problem = fair_problem()
    tree = Split(0, Split(1, Leaf(0), Leaf(0)), Split(1, Leaf(1), Leaf(1)))
    assert not meets_all(problem, tree)
    found = relabeled(problem, tree, Deadline())
    assert found is not None
    assert meets_all(problem, found)
    assert relabeled(problem, Leaf(0), Deadline()) == Leaf(0)
    stricter = problem.asking(problem.goals, (*problem.bounds, bound(errors([1, 1, 0, 0], 2), "<=", 1, "errors")))
    assert relabeled(stricter, tree, Deadline()) is None
    assert has_easy_tree(problem, problem.goals, Deadline())
    assert not has_easy_tree(stricter, stricter.goals, Deadline())


def test_questions_share_the_time_and_those_without_a_size_come_last() -> None:
    problem = fair_problem()
    sized = problem.asking(problem.goals, (bound(Depth(), "<=", 2, "depth"), *problem.bounds))
    asked = list(shared_time(sized, ["depth", "gap", "errors"], Limits(Deadline.after(3000))))
    assert [name for name, _ in asked] == ["gap", "errors", "depth"]
    assert all(deadline.left() <= 60 for _, deadline in asked)
    (only,) = shared_time(sized, ["gap"], Limits(Deadline.after(0)))
    assert only[1].left() == 0
