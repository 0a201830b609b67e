"""A line in the words of another tool -> the statements that say the same here.

The patterns are whole lines as the documentations of other packages and languages write them: scikit-learn, DL8.5,
STreeD, GOSDT, ODTlearn, MiniZinc and plain English.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MOST_OF_A_LINE = 300  # characters; matching takes time that grows with their square
_NUMBER = r"(?P<n>\d+(?:\.\d+)?%?)"
_GIVEN = rf"\s*(?:[:=]\s*|<=\s*|>=\s*|\s){_NUMBER}"
_CONDITION = r"(?P<c>[^;]*[<>=][^;]*?)"
_NAMES = r"(?P<names>[^\s<>=;][^<>=;]*?)"


@dataclass(frozen=True, slots=True)
class Translation:
    """What a line means here."""

    title: str
    lines: tuple[str, ...]  # statements that replace the line
    note: str = ""
    exact: bool = True  # do the statements mean the same? (otherwise they show how it is written)


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    title: str
    lines: tuple[str, ...]
    note: str = ""
    exact: bool = True


def _rule(pattern: str, title: str, *lines: str, note: str = "", exact: bool = True) -> _Rule:
    return _Rule(re.compile(rf"(?:{pattern})\s*;?\s*$"), title, lines, note, exact)


_SIZE = "the size of a tree is bounded by a requirement"
_REQUIRE = "a condition is a statement of its own: `require`"
_OPTIMAL = "an optimal tree is found without a criterion for its splits"

_RULES = (
    # options of other packages, as lines of their own
    _rule(rf"(?:max_?depth|depth_budget|depth|max_height){_GIVEN}", _SIZE, "require depth <= {n}"),
    _rule(rf"(?:max_leaf_nodes|max_leaves|num_leaves|leaves){_GIVEN}", _SIZE, "require leaves <= {n}"),
    _rule(rf"(?:max_num_nodes|max_nodes|node_budget){_GIVEN}", _SIZE, "require splits <= {n}"),
    _rule(
        rf"(?:min_samples_leaf|min_sup|min_support|minsup|min_leaf_node_size|minbucket|min_leaf_size){_GIVEN}",
        "the rows in a leaf are bounded by a requirement",
        "require support >= {n}",
    ),
    _rule(
        rf"(?:regularization|ccp_alpha|alpha|_?lambda|cost_complexity|complexity|cp){_GIVEN}",
        "the price of a leaf is part of the goal",
        "minimize error_rate + {n} * leaves",
        exact=False,
    ),
    _rule(
        rf"(?:solve\s+)?(?:time_limit|timelimit|timeout|max_time){_GIVEN}",
        "a time limit belongs to `solve`",
        "solve within {n} s",
    ),
    _rule(
        rf"(?:solve\s+)?(?:random_state|random_seed|seed){_GIVEN}",
        "the seed belongs to `solve`",
        "solve seed {n}",
    ),
    _rule(rf"(?:n_jobs|num_threads|threads){_GIVEN}", "threads belong to `solve`", "solve threads {n}"),
    _rule(
        r"(?:class_weight\s*=?\s*|weight\s+class\s+)[\"']balanced[\"']",
        "balanced classes are a goal of their own",
        "maximize balanced_accuracy",
        exact=False,
        note='one class counts more by `weight class "ill" = 5`',
    ),
    _rule(
        r"fairness_type\s*=?\s*[\"']\w+[\"']",
        "fairness is a requirement on a gap between groups",
        "require parity_gap(sex) <= 10%",
        exact=False,
        note="`parity_gap`, `opportunity_gap`, `predictive_gap` and `odds_gap` compare groups",
    ),
    _rule(
        rf"fairness_bound{_GIVEN}",
        "fairness is a requirement on a gap between groups",
        "require parity_gap(sex) <= {n}",
        exact=False,
    ),
    _rule(
        r"(?:criterion|splitter|impurity|objective|obj_mode|optimization_task)\s*[:=]?\s*[\"']?[\w-]+[\"']?"
        r"|optimi[sz]e\s+[\"'][^\"']+[\"']",
        _OPTIMAL,
        "minimize error_rate",
        exact=False,
        note="the goal says what counts: `maximize accuracy`, `minimize errors`, `maximize f1(\"yes\")`",
    ),
    # statements of other languages
    _rule(r"solve\s+(?P<goal>(?:maximi[sz]e|minimi[sz]e)\s+[^;]+?)", "a goal stands without `solve`", "{goal}"),
    _rule(
        rf"(?:constraint|subject\s+to|s\.?\s*t\.?|such\s+that|ensure|assert|with|where)\s+{_CONDITION}",
        _REQUIRE,
        "require {c}",
    ),
    _rule(rf"@?constraint\s*\(\s*\w+\s*,\s*{_CONDITION}\s*\)", _REQUIRE, "require {c}"),
    _rule(
        rf"(?P<goal>(?:maximize|minimize)\s+[^;<>=]+?)\s+"
        rf"(?:such\s+that|subject\s+to|s\.?\s*t\.?|with|where|and|if|while)\s+{_CONDITION}",
        _REQUIRE,
        "{goal}",
        "require {c}",
    ),
    _rule(
        r"(?:par\s+)?(?:int|float|real|integer|number)\s*:\s*(?P<names>\w+)\s*=\s*(?P<n>[\d.]+)",
        "a named number is a param",
        "param {names} = {n}",
    ),
    _rule(
        r"var\s+[\d.]+\s*\.\.\s*(?P<n>\d+)\s*:\s*(?P<names>depth|leaves|splits)",
        "what is measured needs no variable",
        "require {names} <= {n}",
    ),
    _rule(
        r"(?:output|print|show)\s*[\[(].*", "what is printed is named by `report`", "report tree, measures", exact=False
    ),
    _rule(
        r"\w+\s*=\s*[\w.]+\(.*\)|import\s+\w+.*|from\s+\w+\s+import.*|\w+\.fit\(.*\)",
        "this is Python, and a .tml file holds statements",
        "predict disease",
        "maximize accuracy",
        "require depth <= 3",
        exact=False,
        note="from Python: `treeml.parse(text).solve(frame)`, or the estimators of `treeml.sklearn`",
    ),
    # English
    _rule(
        r"(?P<goal>(?:maximize|minimize)\s+[^;<>=,]+?)\s*(?:,|\band\b|&)\s*(?P<second>(?:maximize|minimize)\s+[^;,]+?)",
        "one goal comes after the other: `then`",
        "{goal} then {second}",
        exact=False,
        note="the second chooses among the best trees of the first; to weigh them, write one formula",
    ),
    _rule(
        rf"predict\s+(?P<target>\S+)\s+(?:from|using|by|with)\s+(?:all|every)(?:\s+\w+)?\s+(?:except|but|without)\s+{_NAMES}",
        "what may be tested is `features`",
        "predict {target}",
        "features all except {names}",
    ),
    _rule(
        rf"(?:do\s+not|don't|never)\s+(?:use|split\s+on|test)\s+{_NAMES}|require\s+no\s+(?P<more>[^\s<>=;(]+)",
        "a column is kept out by `forbid`",
        "forbid split on {names}{more}",
    ),
    _rule(
        r"minimi[sz]e\s+(?:the\s+)?false\s+negatives",
        "mistakes of one kind are counted",
        'minimize count(predicted = "no", actual = "yes")',
        exact=False,
    ),
    _rule(
        r"minimi[sz]e\s+(?:the\s+)?false\s+positives",
        "mistakes of one kind are counted",
        'minimize count(predicted = "yes", actual = "no")',
        exact=False,
    ),
    _rule(rf"(?:drop|exclude|ignore|remove|skip)\s+{_NAMES}", "columns are left out of `features`",
          "features all except {names}"),
    _rule(rf"features\s+all\s+(?:but|without|excluding|minus)\s+{_NAMES}", "columns are left out by `except`",
          "features all except {names}"),
    _rule(rf"predict\s+(?P<target>\S+)\s+(?:from|using|by|with)\s+{_NAMES}", "what may be tested is `features`",
          "predict {target}", "features {names}"),
    _rule(r"train(?:ing)?\s+(?:on\s+)?(?P<file>\"[^\"]+\")", "the rows to learn from are `data`", "data {file}"),
    _rule(r"test(?:ing)?\s+(?:on\s+)?(?P<file>\"[^\"]+\")", "rows to measure on are `validate on`",
          "validate on {file}"),
    _rule(r"(?:validate\s+)?(?:cv|folds|k_?fold|n_splits|cross_validation)\s*[:=]?\s*\(?(?P<n>\d+)\)?",
          "folds are a way to validate", "validate by folds({n})"),
    _rule(r"(?:limit|bound|keep|restrict)\s+(?P<m>\w+)\s+(?:to|below|under|at)\s+(?P<n>[\d.]+%?)",
          "a limit is a requirement", "require {m} <= {n}"),
    _rule(r"require\s+(?:not|no|!)\s*uses\s*\(\s*(?P<names>[^)]+?)\s*\)", "a column is kept out by `forbid`",
          "forbid split on {names}"),
    _rule(r"(?:require\s+)?(?P<m>\w+)\s+(?:is\s+|must\s+be\s+)?between\s+(?P<n>[\d.]+%?)\s+and\s+(?P<k>[\d.]+%?)",
          "a range is written as two comparisons", "require {n} <= {m} <= {k}"),
    _rule(r"(?:require\s+)?(?P<m>\w+)\s+(?:is|must\s+be|should\s+be|of)\s+at\s+most\s+(?P<n>[\d.]+%?)",
          "at most is written `<=`", "require {m} <= {n}"),
    _rule(r"(?:require\s+)?(?P<m>\w+)\s+(?:is|must\s+be|should\s+be|of)\s+at\s+least\s+(?P<n>[\d.]+%?)",
          "at least is written `>=`", "require {m} >= {n}"),
    _rule(r"(?:require\s+)?(?:at\s+most|no\s+more\s+than|maximum|max)\s+(?P<n>[\d.]+)\s+(?P<m>leaves|splits)",
          "at most is written `<=`", "require {m} <= {n}"),
    _rule(r"(?:require\s+)?at\s+least\s+(?P<n>[\d.]+)\s+(?P<m>leaves|splits)", "at least is written `>=`",
          "require {m} >= {n}"),
    _rule(r"(?:require\s+)?at\s+least\s+(?P<n>[\d.]+)\s+(?:rows|samples|instances)\s+(?:in|per)\s+(?:a|each|every)?\s*leaf",
          "the rows in a leaf are `support`", "require support >= {n}"),
)  # fmt: skip


def translated(line: str) -> Translation | None:
    """The statements that say what the line says, if it is one that other tools write."""
    if len(line) > MOST_OF_A_LINE:
        return None
    for rule in _RULES:
        match = rule.pattern.match(line)
        if match is not None:
            parts = {name: " ".join((text or "").split()) for name, text in match.groupdict().items()}
            lines = tuple(_british(text.format(**parts)) for text in rule.lines)
            return Translation(rule.title, lines, rule.note, rule.exact)
    return None


def _british(text: str) -> str:
    return text.replace("maximise", "maximize").replace("minimise", "minimize")


_COLUMN_VERBS = re.compile(
    r"[ \t]*(?:predict|features(?:[ \t]+all[ \t]+except)?|column|forbid[ \t]+split[ \t]+on|weight[ \t]+by"
    r"|cost[ \t]+test|binarize)[ \t]+"
)
_ENDS = re.compile(r",|:|=|\b(?:is|except|by|at)\b|#|$")
_SPACED = re.compile(r"[^\W\d][\w ()/%.$&'+²³°-]*[\w)%$²³°]")
MOST_OF_A_NAME = 60


def spaced_names(line: str) -> Iterator[tuple[int, int]]:
    """Where a line names columns, the places of names that need backquotes: `body weight (kg)`, `marital-status`."""
    verb = _COLUMN_VERBS.match(line) if len(line) <= MOST_OF_A_LINE else None
    start = None if verb is None else verb.end()
    while start is not None and start < len(line):
        end = _ENDS.search(line, start)
        assert end is not None
        item = line[start : end.start()]
        name = item.strip()
        if len(name) <= MOST_OF_A_NAME and _SPACED.fullmatch(name) and not re.fullmatch(r"\w+", name):
            begin = start + len(item) - len(item.lstrip())
            yield begin, begin + len(name)
        start = end.end() if end[0] in (",", "except") else None
