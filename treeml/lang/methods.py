"""A name with options -> a Method: `quantiles(8)`, `cart(depth = 10)`, `folds(5)`, `native(cache = 1)`.

The tables list the methods of each statement and their options, so that a new method is a new line here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from treeml.lang.backend_options import BackendOption, alias_of, backend_names, is_backend, options_of
from treeml.lang.expressions import Scope, constant
from treeml.lang.plugins import CRITERIA, installed
from treeml.lang.quantities import Quantity, decimal, enumerated
from treeml.lang.source import Span
from treeml.lang.spec import Method
from treeml.lang.suggest import suggest
from treeml.lang.syntax import Argument, Call, Expression, Name, Negate, Number, String


@dataclass(frozen=True, slots=True)
class MethodRule:
    """One option of a method, and the values it can have."""

    name: str
    kind: str  # whole, number, share, word or text
    what: str  # as a message calls it: "the number of pieces"
    low: Fraction | None = None  # inclusive; a share lies strictly between 0 and 1
    high: Fraction | None = None
    choices: tuple[str, ...] = ()
    unit: str = ""  # a unit that may be written: "rows"
    required: bool = False
    example: str = "1"
    writes: bool = False  # it names a file


@dataclass(frozen=True, slots=True)
class Family:
    """The methods of one statement."""

    noun: str  # "a way to binarize"
    methods: Mapping[str, tuple[MethodRule, ...]]
    foreign: Mapping[str, str]  # names of other tools -> the method meant
    besides: str = ""  # what can be written instead of a method, for the help


_MOST = Fraction(2**31 - 1)
_SEED = MethodRule("seed", "whole", "the seed", Fraction(0), _MOST, example="1")
_CRITERIA = ("gini", "entropy", "gain_ratio", "twoing")
_PRUNING = ("goal", "complexity", "validated", "pessimistic", "description", "none")
_FEATURES = ("auto", "all", "tree", "support")
_LIMITS = ("d60", "d300", "d800")
_FOLDS = MethodRule("folds", "whole", "the number of folds", Fraction(2), _MOST, required=True, example="5")
_PIECES = MethodRule("pieces", "whole", "the number of pieces", Fraction(2), _MOST, required=True, example="8")
_BOOSTING = (
    MethodRule("columns", "whole", "the number of trees a round", Fraction(1), Fraction(1000), example="10"),
    MethodRule("smoothing", "number", "the smoothing", Fraction(0), Fraction("0.99"), example="0.7"),
    MethodRule("tolerance", "number", "the tolerance", Fraction("1e-9"), Fraction(1), example="0.000001"),
    MethodRule("iterations", "whole", "the number of rounds", Fraction(1), _MOST, example="100"),
)

FAMILIES: Mapping[str, Family] = {
    "binarize": Family(
        "way to binarize",
        {"thresholds": (), "quantiles": (_PIECES,), "width": (_PIECES,), "levels": (), "subsets": (),
         "branches": ()},
        {
            "midpoints": "thresholds", "exact": "thresholds", "all": "thresholds", "cuts": "thresholds",
            "quantile": "quantiles", "kbins": "quantiles", "bins": "width", "uniform": "width", "equal_width": "width",
            "onehot": "levels", "one_hot": "levels", "dummies": "levels", "categories": "levels", "sets": "subsets",
            "multiway": "branches", "kway": "branches",
        },
        "; or name the cuts: `binarize age at 20, 30, 40`",
    ),
    "ensemble": Family(
        "way to combine trees",
        {
            "lpboost": (
                MethodRule("penalty", "number", "the penalty", Fraction(0), example="0.05"),
                MethodRule("nu", "share", "the share `nu`", example="0.1"),
                *_BOOSTING,
            ),
            "hardmargin": _BOOSTING,
            "mdboost": (MethodRule("penalty", "number", "the penalty", Fraction(0), example="12"), *_BOOSTING),
        },
        {"boosting": "lpboost", "adaboost": "lpboost", "boost": "lpboost", "xgboost": "lpboost", "forest": "lpboost",
         "hard_margin": "hardmargin", "duallpboost": "hardmargin", "lp_adaboost": "hardmargin", "mdb": "mdboost"},
    ),
    "start": Family(
        "starting tree",
        {
            "cart": (
                MethodRule("depth", "whole", "the depth", Fraction(0), _MOST, example="10"),
                MethodRule("leaves", "whole", "the number of leaves", Fraction(1), _MOST, example="50"),
                MethodRule("support", "whole", "the support", Fraction(1), _MOST, unit="rows", example="5"),
                MethodRule("criterion", "word", "the criterion", choices=_CRITERIA, example="gini"),
                MethodRule("prune", "word", "the pruning", choices=_PRUNING, example="goal"),
                MethodRule("price", "number", "the price of a leaf", Fraction(0), example="0.01"),
                MethodRule("folds", "whole", "the number of folds", Fraction(2), _MOST, example="10"),
                MethodRule("standard_errors", "number", "the number of standard errors", Fraction(0), example="1"),
                MethodRule("confidence", "number", "the confidence", Fraction("1e-6"), Fraction("0.5"), example="0.25"),
            ),
            "native": (MethodRule("seconds", "number", "the time", Fraction("0.001"), unit="s", example="10"),),
        },
        {"greedy": "cart", "sklearn": "cart", "c45": "cart", "j48": "cart", "id3": "cart"},
    ),
    "improve": Family(
        "way to improve a tree",
        {
            "subtrees": (
                MethodRule("depth", "whole", "the depth", Fraction(1), _MOST, example="3"),
                MethodRule("rows", "whole", "the number of rows", Fraction(1), _MOST, unit="rows", example="5_000"),
                MethodRule("rounds", "whole", "the number of rounds", Fraction(1), _MOST, example="50"),
                MethodRule("starts", "whole", "the number of starts", Fraction(1), _MOST, example="4"),
                MethodRule("features", "word", "the choice of features", choices=_FEATURES, example="support"),
                MethodRule("limits", "word", "the set of limits", choices=_LIMITS, example="d300"),
                MethodRule("patience", "number", "the patience", Fraction("0.001"), unit="s", example="10"),
                MethodRule("checkpoint", "text", "the checkpoint", example='"deep.json"', writes=True),
            )
        },
        {"local_search": "subtrees", "lns": "subtrees", "slim": "subtrees"},
    ),
    "validate": Family(
        "way to validate",
        {
            "folds": (_FOLDS, _SEED),
            "holdout": (MethodRule("share", "share", "the share", required=True, example="20%"), _SEED),
        },
        {
            "kfold": "folds", "k_fold": "folds", "cv": "folds", "cross_validation": "folds", "fold": "folds",
            "split": "holdout", "test_split": "holdout", "train_test_split": "holdout", "hold_out": "holdout",
        },
    ),
    "report": Family(
        "thing to report",
        dict.fromkeys(("tree", "measures", "requirements", "confusion", "timeline", "plan", "statistics"), ()),
        {"confusion_matrix": "confusion", "matrix": "confusion", "progress": "timeline", "metrics": "measures"},
    ),
}  # fmt: skip


def method(statement: str, node: Call | Name, scope: Scope) -> Method | None:
    """The method that a statement calls, with its options checked; None when a mistake was reported."""
    family = FAMILIES[statement]
    call = as_call(node)
    rules = family.methods.get(call.name)
    if rules is None and statement == "ensemble" and call.name in installed(CRITERIA):
        return _criterion(call, scope)
    if rules is None:
        near = nearest_method(statement, call.name)
        scope.findings.error(
            "N207",
            f"no {family.noun} is called `{call.name}`",
            (call.name_span or call.span, f"did you mean `{near}`?" if near else f"unknown to `{statement}`"),
            help=f"write {enumerated(map(str, _signatures(family)), 'or')}{family.besides}",
        )
        return None
    _refuse_given(call, scope)
    options = _options(call, rules, scope)
    return None if options is None else Method(call.name, options, call.span)


def nearest_method(statement: str, name: str) -> str | None:
    """The method of the statement that has this name or was probably meant by it."""
    family = FAMILIES[statement]
    return name if name in family.methods else family.foreign.get(name.lower()) or suggest(name, family.methods)


def _criterion(call: Call, scope: Scope) -> Method | None:
    """A criterion of another package: common options are checked, its own are kept as they are written."""
    common = {rule.name: rule for rule in _BOOSTING}
    options: dict[str, Any] = {}
    sound = True
    _refuse_given(call, scope)
    for argument in call.arguments:
        name, place = argument.name or "", argument.span or argument.value.span
        if not name or name in options:
            what = "an option of `{}` has no name" if not name else f"the option `{name}` of `{{}}` is given twice"
            code = "N205" if name else "N206"
            scope.findings.error(
                code, what.format(call.name), (place, "which option is this?" if not name else "again")
            )
            return None
        if name in common:
            options[name] = _option(call.name, common[name], argument.value, scope)
        else:
            options[name] = _loose(argument.value, scope, f"the option `{name}` of `{call.name}`")
        sound = sound and options[name] is not None
    return Method(call.name, options, call.span) if sound else None


def as_call(node: Call | Name) -> Call:
    return node if isinstance(node, Call) else Call(node.text, span=node.span, name_span=node.span)


def _signatures(family: Family) -> list[str]:
    return [_signature(name, rules) for name, rules in family.methods.items()]


def _signature(name: str, rules: tuple[MethodRule, ...]) -> str:
    required = [rule.example for rule in rules if rule.required]
    return f"{name}({', '.join(required)})" if required else name


def _refuse_given(call: Call, scope: Scope) -> None:
    if call.given:
        scope.findings.error(
            "T308", f"`{call.name}` takes no `given`", (call.given[0].span or call.span, "only `rate` and `count` do")
        )


def _options(call: Call, rules: tuple[MethodRule, ...], scope: Scope) -> dict[str, Any] | None:
    known = {rule.name: rule for rule in rules}
    given: dict[str, Argument] = {}
    sound = True
    free = list(rules)
    for argument in call.arguments:
        place = argument.span or argument.value.span or call.span
        if argument.name and argument.name not in known:
            _unknown_option(call.name, argument.name, place, known, scope)
            sound = False
            continue
        if not argument.name and not free:
            takes = enumerated(f"{rule.name} = ..." for rule in rules)
            scope.findings.error(
                "N206",
                f"`{call.name}` takes {'no options' if not rules else f'only {takes}'}",
                (place, "one too many"),
                help=f"write `{_signature(call.name, rules)}`",
            )
            return None
        name = argument.name or free[0].name
        if name in given:
            scope.findings.error(
                "N205",
                f"the option `{name}` of `{call.name}` is given twice",
                (given[name].span or given[name].value.span, "first here"),
                (place, "and again here"),
            )
            return None
        given[name] = argument
        free = [rule for rule in free if rule.name != name]
    options: dict[str, Any] = {}
    for rule in rules:
        if rule.name in given:
            value = _option(call.name, rule, given[rule.name].value, scope)
            sound = sound and value is not None
            options[rule.name] = value
        elif rule.required:
            scope.findings.error(
                "T309",
                f"`{call.name}` does not say {rule.what}",
                (call.span, "needs a number"),
                help=f"write `{_signature(call.name, rules)}`",
            )
            return None
    return options if sound else None


def _unknown_option(owner: str, name: str, place: Span | None, known: Mapping[str, Any], scope: Scope) -> None:
    near = suggest(name, known)
    scope.findings.error(
        "N206",
        f"`{owner}` has no option `{name}`",
        (place, f"did you mean `{near}`?" if near else f"not an option of `{owner}`"),
        note=f"its options are {enumerated(known)}"
        if len(known) > 1
        else f"its only option is {enumerated(known)}"
        if known
        else f"`{owner}` takes no options",
    )


def _option(owner: str, rule: MethodRule, node: Expression, scope: Scope) -> Any:
    if rule.kind == "word":
        text = node.text if isinstance(node, (Name, String)) else ""
        if text in rule.choices:
            return text
        near = suggest(text, rule.choices) if text else None
        scope.findings.error(
            "T309",
            f"{rule.what} of `{owner}` is {enumerated(rule.choices, 'or')}",
            (node.span, f"did you mean `{near}`?" if near else "none of these"),
        )
        return None
    if rule.kind == "text":
        if isinstance(node, String) and node.text:
            return node.text
        example = f"write `{rule.name} = {rule.example}`"
        scope.findings.error("T309", f"{rule.what} of `{owner}` is a text", (node.span, "not a text"), help=example)
        return None
    value = constant(node, scope, _subject(owner, rule))
    if value is None:
        return None
    if value.unit and value.unit != rule.unit and not (value.unit == "%" and rule.kind in ("share", "number")):
        scope.findings.error(
            "T305",
            f"{_subject(owner, rule)} is {'a plain number' if rule.kind != 'share' else 'a share'}, not {value}",
            (node.span, "the unit does not fit"),
            help=f"write `{owner}({rule.example})`" if rule.required else f"write `{rule.name} = {rule.example}`",
        )
        return None
    return checked(value, rule, _subject(owner, rule), node.span, scope)


def _subject(owner: str, rule: MethodRule) -> str:
    return rule.what if owner in rule.what else f"{rule.what} of `{owner}`"


def checked(value: Quantity, rule: MethodRule, subject: str, place: Span | None, scope: Scope) -> int | Fraction | None:
    """The number that fits the rule: an int where it must be whole."""
    number = value.value
    if rule.kind == "share" and not 0 < number < 1:
        likely = f"did you mean `{decimal(number)}%`?" if 1 <= number < 100 and not value.unit else ()
        scope.findings.error(
            "T309", f"{subject} lies between 0% and 100%, with neither included", (place, f"is {value}"), help=likely
        )
        return None
    if rule.kind == "whole" and number.denominator != 1:
        nearest = max(round(number), int(rule.low or 0))
        scope.findings.error(
            "T309", f"{subject} is a whole number", (place, f"{value} is not"), help=f"write `{nearest}`"
        )
        return None
    if rule.low is not None and number < rule.low:
        scope.findings.error(
            "T309",
            f"{subject} is at least {decimal(rule.low)}",
            (place, f"is {value}"),
            help=f"write `{decimal(rule.low)}` or more",
        )
        return None
    if rule.high is not None and number > rule.high:
        scope.findings.error(
            "T309",
            f"{subject} is at most {decimal(rule.high)}",
            (place, f"is {value}"),
            help=f"write `{decimal(rule.high)}` or less",
        )
        return None
    return int(number) if rule.kind == "whole" else number


def backend(node: Call | Name, scope: Scope) -> Method | None:
    """A back-end that `solve with` names, with its options checked if they are known.

    Arguments without a name are back-ends themselves: `race(native, cpsat)` has the option `backends` with a Method
    for each.
    """
    call = as_call(node)
    if not is_backend(call.name):
        near = alias_of(call.name) or suggest(call.name, backend_names())
        scope.findings.error(
            "N204",
            f"no back-end is called `{call.name}`",
            (call.name_span or call.span, f"did you mean `{near}`?" if near else "unknown"),
            help="`treeml backends` lists all of them, and says what each can do",
        )
        return None
    _refuse_given(call, scope)
    options: dict[str, Any] = {}
    inner: list[Method] = []
    sound = True
    for argument in call.arguments:
        if argument.name:
            if argument.name in options:
                scope.findings.error(
                    "N205",
                    f"the option `{argument.name}` of `{call.name}` is given twice",
                    (argument.span, "again here"),
                )
                sound = False
            options[argument.name] = argument
        elif isinstance(argument.value, (Name, Call)):
            found = backend(argument.value, scope)
            sound = sound and found is not None
            inner += [found] if found is not None else []
        else:
            scope.findings.error(
                "N206",
                f"an option of `{call.name}` has no name",
                (argument.span or argument.value.span, "which option is this?"),
                help=f"write `{call.name}(option = value)`",
            )
            sound = False
    values = _backend_options(call.name, options, scope)
    if values is None or not sound:
        return None
    return Method(call.name, {**values, "backends": tuple(inner)} if inner else values, call.span)


def _backend_options(name: str, given: Mapping[str, Argument], scope: Scope) -> dict[str, Any] | None:
    if not given:
        return {}
    options = options_of(name)
    if options is None:
        loose = {key: _loose(argument.value, scope, f"`{key}`") for key, argument in given.items()}
        return None if any(value is None for value in loose.values()) else loose
    values: dict[str, Any] = {}
    for key, argument in given.items():
        if key not in options:
            _unknown_option(name, key, argument.span or argument.value.span, options, scope)
            values[key] = None
            continue
        values[key] = _typed(name, key, options[key], argument.value, scope)
    return None if any(value is None for value in values.values()) else values


_PRUNINGS = {
    "mdl": "description",
    "1se": "validated",
    "1-se": "validated",
    "one_se": "validated",
    "cross_validation": "validated",
    "reduced_error": "validated",
    "c45": "pessimistic",
    "c4.5": "pessimistic",
    "error_based": "pessimistic",
    "ccp": "complexity",
    "cost_complexity": "complexity",
    "error_complexity": "complexity",
}  # what textbooks call the ways to prune


_TRUTH = {
    "true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False
}  # fmt: skip


def _typed(owner: str, name: str, option: BackendOption, node: Expression, scope: Scope) -> Any:
    """The value of an option, checked against its type, range and choices."""
    subject = f"the option `{name}` of `{owner}`"
    word = node.text if isinstance(node, (Name, String)) else None
    if option.type == "bool":
        text = decimal(node.value) if isinstance(node, Number) else word
        if text in _TRUTH:
            return _TRUTH[text]
        scope.findings.error("T309", f"{subject} is `true` or `false`", (node.span, "neither of them"))
        return None
    if option.type == "str":
        if word is not None and (not option.choices or word in option.choices):
            return word
        near = suggest(word, option.choices) if word else None
        if near is None and word is not None:
            near = _PRUNINGS.get(word) if _PRUNINGS.get(word) in option.choices else None
        allowed = enumerated(option.choices, "or") if option.choices else "a text"
        scope.findings.error(
            "T309", f"{subject} is {allowed}", (node.span, f"did you mean `{near}`?" if near else "not allowed")
        )
        return None
    value = constant(node, scope, subject)
    if value is None:
        return None
    low = None if option.low is None else Fraction(repr(float(option.low)))
    high = None if option.high is None else Fraction(repr(float(option.high)))
    rule = MethodRule(name, "whole" if option.type == "int" else "number", subject, low, high)
    number = checked(value, rule, subject, node.span, scope)
    return None if number is None else int(number) if option.type == "int" else float(number)


def _loose(node: Expression, scope: Scope, subject: str) -> Any:
    """The value of an option about which nothing is known: a number, or a text as written."""
    if isinstance(node, String) or (isinstance(node, Name) and node.text not in scope.params):
        return node.text
    if isinstance(node, (Number, Negate, Name)):
        value = constant(node, scope, subject)
        if value is None:
            return None
        return int(value.value) if value.value.denominator == 1 else value.value
    scope.findings.error("T309", f"{subject} is a number or a word", (node.span, "too much for an option"))
    return None
