"""The patterns of `borrowed_words.py`: lines as the documentations of other packages and languages write them.

scikit-learn, DL8.5, STreeD, GOSDT, ODTlearn, MiniZinc, SQL and plain English. The first pattern that matches wins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from treeml.lang.measures import MEASURES

_NUMBER = r"(?P<n>\d+(?:\.\d+)?%?)"
_GIVEN = rf"\s*(?:[:=]\s*|<=\s*|>=\s*|\s){_NUMBER}"
_CONDITION = r"(?P<c>[^;]*[<>=][^;]*?)"
_NAMES = r"(?P<names>[^\s<>=;][^<>=;]*?)"
_NAME = r"(?P<names>[^\W\d]\w*|`[^`]+`)"
_UNIT = r"(?P<u>ms|s|sec|secs|seconds?|m|mins?|minutes?|h|hrs?|hours?)"
_MEASURED = "|".join(MEASURES)
_TRUE_OR_FALSE = "|".join(name for name, measure in MEASURES.items() if measure.unit == "truth")
_LARGE = "|".join(name for name, measure in MEASURES.items() if measure.goal == "maximize")
_SMALL = "|".join(name for name, measure in MEASURES.items() if measure.goal == "minimize")


@dataclass(frozen=True, slots=True)
class BorrowedRule:
    """A pattern for a whole line, and what it means here; `{n}` stands for the group `n` of the pattern."""

    expression: str
    title: str
    lines: tuple[str, ...]
    note: str = ""
    exact: bool = True

    @property
    def pattern(self) -> re.Pattern[str]:
        return _compiled(self.expression)


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    """A pattern when it is first needed: most texts have no mistake, and compiling all patterns takes 40 ms."""
    return re.compile(expression)


def _rule(pattern: str, title: str, *lines: str, note: str = "", exact: bool = True) -> BorrowedRule:
    return BorrowedRule(rf"(?:{pattern})\s*;?\s*$", title, lines, note, exact)


_SIZE = "the size of a tree is bounded by a requirement"
_REQUIRE = "a condition is a statement of its own: `require`"
_OPTIMAL = "an optimal tree is found without a criterion for its splits"

RULES = (
    # statements with a sign after the verb
    _rule(r"data\s*[:=]\s*(?P<file>\"[^\"]+\")", "a statement has no sign after its verb", "data {file}"),
    _rule(
        r"(?:target|label|predict|outcome|y|target_column|class_column)\s*[:=]\s*[\"']?(?P<names>\w+)[\"']?",
        "what is predicted is named by `predict`",
        "predict {names}",
    ),
    _rule(
        r"predict\s+(?P<target>\w+|`[^`]+`)\s*(?:==?|:|\bas\b)\s*(?P<n>\"[^\"]*\"|\w+)",
        "the positive class follows `is`",
        "predict {target} is {n}",
    ),
    _rule(
        r"(?P<verb>features(?:\s+all\s+except)?|forbid\s+split\s+on|report|cost\s+test|binarize\b[^\[\](){}]*\bat)\s*[:=]?\s*"
        r"[\[({](?P<names>[^\]\[(){}\"']+)[\])}]",
        "a list stands without brackets",
        "{verb} {names}",
    ),
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
        rf"(?:regularization|ccp_alpha|alpha|_?lambda|cost_complexity|complexity|cp|min_impurity_decrease){_GIVEN}",
        "the price of a leaf is part of the goal",
        "minimize error_rate + {n} * leaves",
        exact=False,
    ),
    _rule(
        rf"(?:(?:solve\s+)?(?:time[\s_]*limit|timeout|max[\s_]*time|limit)|within)\s*(?:of|to|[:=]|<=)?\s*{_NUMBER}\s*{_UNIT}?",
        "a time limit belongs to `solve`",
        "solve within {n} {unit}",
    ),
    _rule(
        rf"solve\s+(?P<more>with\s+\w+\s+)?(?:in|for|up\s+to|at\s+most|limit|under)\s+{_NUMBER}\s*{_UNIT}?",
        "a time limit is written `within`",
        "solve {more} within {n} {unit}",
    ),
    _rule(
        rf"min_samples_split{_GIVEN}",
        "the rows in a leaf are bounded by a requirement",
        "require support >= {n}",
        exact=False,
        note="it bounds the rows of leaves; those of split nodes have no bound of their own",
    ),
    _rule(
        rf"(?:solve\s+)?(?:random_state|random_seed|seed){_GIVEN}",
        "the seed belongs to `solve`",
        "solve seed {n}",
    ),
    _rule(rf"(?:n_jobs|num_threads|threads){_GIVEN}", "threads belong to `solve`", "solve threads {n}"),
    _rule(
        r"(?:class_weights?\s*[:=]?\s*|weight\s+class\s+)[\"']?balanced[\"']?",
        "balanced classes are a goal of their own",
        "maximize balanced_accuracy",
        exact=False,
        note='one class counts more by `weight class "ill" = 5`',
    ),
    _rule(
        r"fairness_type\s*[:=]?\s*[\"']?\w+[\"']?",
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
        r"obj_mode\s*[:=]?\s*[\"']?balance[\"']?",
        "balanced classes are a goal of their own",
        "maximize balanced_accuracy",
        exact=False,
    ),
    _rule(
        r"(?:optimization_task|optimi[sz]e|objective)\s*[:=]?\s*[\"']?f1[-_ ]?score[\"']?",
        "the harmonic mean of precision and recall is `f1` of a class",
        'maximize f1("yes")',
        exact=False,
    ),
    _rule(
        r"(?:optimization_task|optimi[sz]e|objective)\s*[:=]?\s*[\"']?cost[-_]complex[-_]accuracy[\"']?",
        "the price of a leaf is part of the goal",
        "minimize error_rate + 0.01 * leaves",
        exact=False,
    ),
    _rule(rf"max_errors?{_GIVEN}", "the number of errors is bounded by a requirement", "require errors <= {n}"),
    _rule(
        rf"rashomon_bound(?:_multiplier|_adder)?{_GIVEN}",
        "good trees are listed up to a distance from the best",
        "list trees within 5% of best",
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
    _rule(
        rf"optimi[sz]e\s+(?:the\s+)?(?P<goal>(?:{_LARGE})\b.*)",
        "a goal is minimized or maximized",
        "maximize {goal}",
    ),
    _rule(
        rf"optimi[sz]e\s+(?:the\s+)?(?P<goal>(?:{_SMALL})\b.*)",
        "a goal is minimized or maximized",
        "minimize {goal}",
    ),
    # statements of other languages
    _rule(
        rf"(?:(?i:where|having|filter|rows\s+where|keep|subset)\s+(?!.*\b(?:{_MEASURED})\b).*[<>=].*|(?i:select)\s.*\b(?i:from)\b.*)",
        "a spec takes all rows of its data",
        'data "rows.csv"',
        exact=False,
        note="choose rows before: name a file, or pass a frame, with these rows alone; `features` chooses columns",
    ),
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
        r"\w+\s*=\s*[\w.]+\(.*\b(?:max_depth|depth|depth_budget)\s*=\s*(?P<n>\d+).*\)",
        "this is Python, and a .tml file holds statements",
        "predict disease",
        "maximize accuracy",
        "require depth <= {n}",
        exact=False,
        note="from Python: `treeml.parse(text).solve(frame)`, or the estimators of `treeml.sklearn`",
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
    _rule(r"(?P<more>.*)\bcount\(\s*predicted\s*(?:!=|<>)\s*actual\s*\)(?P<c>.*)",
          "what is predicted wrongly is `errors`", "{more} errors {c}"),
    _rule(r"(?P<more>.*)\brate\(\s*predicted\s*(?:!=|<>)\s*actual\s*\)(?P<c>.*)",
          "the share that is predicted wrongly is `error_rate`", "{more} error_rate {c}"),
    _rule(
        r"(?:gain|reward|profit|benefit)\s+(?:predict(?:ing)?\s+)?(?P<c>\"[^\"]*\"|\w+)\s+(?:when|if|for)\s+"
        r"(?P<k>\"[^\"]*\"|\w+)\s*(?:is|[:=])?\s*(?P<n>\d[\d.]*)",
        "what predictions earn is a formula of counts",
        "maximize {n} * count(predicted = {c}, actual = {k}) - 5 * count(predicted = {c}, actual = ...)",
        exact=False,
        note="`gain predict ... by column` takes what they earn from a column, row by row",
    ),
    _rule(
        r"weight\s+(?:of\s+)?(?!by\b|class\b)\"?(?P<c>\w+)\"?\s*(?:is|[:=])\s*(?P<n>\d[\d.]*)",
        "the weight of a class is `weight class`",
        'weight class "{c}" = {n}',
    ),
    _rule(
        r"(?P<verb>minimi[sz]e)\s+(?:the\s+)?(?:sum\s+of\s+)?squared\s+(?:errors?|loss(?:es)?|residuals)",
        "the sum of squared errors is `squared_loss`",
        "{verb} squared_loss",
    ),
    _rule(
        rf"(?P<verb>minimi[sz]e|maximi[sz]e|require)\s+(?:the\s+)?number\s+of\s+(?P<c>(?:{_MEASURED})\b.*)",
        "numbers are named by their measure alone",
        "{verb} {c}",
    ),
    _rule(r"binarize\s+(?P<c>(?:by|at)\s+.*)", "`binarize` names columns, or all of them", "binarize all {c}"),
    _rule(
        r"require\s+(?P<c>(?:test_cost|mistake_cost|errors)\s*<=\s*(?P<n>[\d.]+))\s+(?:per|for\s+each|on\s+average)\b.*",
        "sums are over all rows",
        "require {c} * 400",
        exact=False,
        note="multiply the limit by the number of rows of your data",
    ),
    _rule(
        r"features\s+.*(?:\.\.|\s-\s|\bto\b|\*).*",
        "columns are named one by one",
        "features age, sex, income",
        exact=False,
        note="or all of them but some: `features all except id, name`",
    ),
    _rule(rf"(?P<c>(?:{_MEASURED})\b(?:\([^()]*\))?\s*(?:<=|>=|=|<|>)\s*[^<>=]+)", _REQUIRE, "require {c}"),
    _rule(rf"(?:require\s+)?monoton\w*\s*\(\s*{_NAME}\s*,\s*[\"']?(?:\+1?|up|1)[\"']?\s*\)",
          "the direction is a word", "require monotone({names}, increasing)"),
    _rule(rf"(?:require\s+)?monoton\w*\s*\(\s*{_NAME}\s*,\s*[\"']?(?:-1?|down)[\"']?\s*\)",
          "the direction is a word", "require monotone({names}, decreasing)"),
    _rule(rf"(?P<c>(?:{_TRUE_OR_FALSE})\s*\(.*\))", _REQUIRE, "require {c}"),
    _rule(
        r"list\s+(?:the\s+)?(?:(?:top|best|first)\s+)?(?P<n>\d[\d_]*)(?:\s+(?:best|top|first|good))?(?:\s+trees)?",
        "this many trees are listed, the best first",
        "list {n} trees",
    ),
    _rule(
        r"list\s+(?:all\s+)?(?:the\s+)?(?:good\s+)?trees\s+within\s+(?P<n>[\d.]+%?(?:\s*rows?)?)(?:\s+of\s+.*)?",
        "the distance is counted from the best tree",
        "list trees within {n} of best",
    ),
    _rule(
        r"list\s+(?:all|every|good|optimal|best|the)\b.*",
        "trees are listed up to a number or a distance",
        "list trees within 1% of best",
        exact=False,
    ),
    _rule(r"report\s+(?P<more>(?:.*,)?)\s*confusion[\s_]+matrix(?P<c>.*)", "the table of mistakes is `confusion`",
          "report {more} confusion{c}"),
    _rule(
        rf"cost\s+(?:test\s+|of\s+(?:testing\s+)?)?(?!predict|test|false|true){_NAME}\s*(?:is|[:=])?\s*(?P<n>\d[\d.]*)",
        "the cost of testing a column is `cost test`",
        "cost test {names} = {n}",
    ),
    _rule(
        r"cost\s+(?:of\s+)?predict(?:ing)?\s+(?P<c>\"[^\"]*\"|\w+)\s+(?:when|if|instead\s+of|for|as)\s+(?:it\s+is\s+)?"
        r"(?P<k>\"[^\"]*\"|\w+)\s*(?:is|costs|[:=])?\s*(?P<n>\d[\d.]*)",
        "the cost of a mistake is given with `=`",
        "cost predict {c} when {k} = {n}",
    ),
    _rule(
        r"cost\s+(?:of\s+)?(?:a\s+)?false\s+(?:negative|positive|alarm)s?\b.*",
        "a mistake is named by what is predicted and what is true",
        'cost predict "no" when "yes" = 5',
        exact=False,
    ),
    _rule(
        r"(?:missing(?:\s+values?)?\s*[:=]?|drop\s+missing|impute|fill\s+missing)\s*(?P<n>drop|median|separate)?.*|dropna.*",
        "what missing values mean is said of columns",
        "column age, income : missing drop",
        exact=False,
        note="`missing drop`, `missing median` or `missing separate`; `treeml solve` names the columns that need it",
    ),
    _rule(rf"(?:only\s+)?use\s+(?:only\s+)?(?:columns?\s+|features?\s+)?{_NAMES}", "what may be tested is `features`",
          "features {names}"),
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
    _rule(r"(?:require\s+)?(?:each|every)\s+leaf\s+(?:has\s+)?(?:>=|at\s+least)\s*(?P<n>[\d.]+)(?:\s+(?:rows|samples))?",
          "the rows in a leaf are `support`", "require support >= {n}"),
)  # fmt: skip
