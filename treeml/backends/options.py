"""Options as given -> options that the back-end has, with values that they can have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from treeml.backends.contract import Backend, Limits, Option
from treeml.lang.diagnostic import Diagnostic, RefusedError
from treeml.lang.suggest import did_you_mean

THREADS = Option(int, 1, "how many threads it may use; the same as `threads` beside it", low=1)


def taken(backend: Backend) -> Mapping[str, Option]:
    """The options of a back-end, and `threads` for every one that uses several; `write` names a file that it writes."""
    options = backend.options
    if backend.can.writes and "write" in options:
        options = {**options, "write": replace(options["write"], writes=True)}
    return {**options, "threads": THREADS} if backend.can.threads else options


def threaded(backend: Backend, limits: Limits) -> Limits:
    """`native(threads = 2)` says of one back-end what `threads 2` says of all: it becomes part of the limits."""
    if "threads" not in limits.options or not backend.can.threads:
        return limits
    threads = settle(backend, {"threads": limits.options["threads"]})["threads"]
    rest = {name: value for name, value in limits.options.items() if name != "threads"}
    return replace(limits, threads=threads, options=rest)


def settle(backend: Backend, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as values of their own types; RefusedError for every one that the back-end does not have or take."""
    if not options:
        return {}
    mistakes = [_option_mistake(backend, name, value) for name, value in options.items()]
    found = [mistake for mistake in mistakes if mistake is not None]
    if found:
        raise RefusedError(found)
    # A specification gives numbers as fractions.
    known = taken(backend)
    kinds = {name: known[name].type for name in options}
    return {name: kinds[name](value) if kinds[name] in (int, float) else value for name, value in options.items()}


def _option_mistake(backend: Backend, name: str, value: Any) -> Diagnostic | None:
    known = taken(backend)
    if name not in known:
        listed = ", ".join(known) or "none"
        return Diagnostic(
            "B503",
            f"{backend.name} has no option `{name}`",
            notes=(f"its options are {listed}",),
            helps=did_you_mean(name, known),
        )
    wanted = _wanted(known[name], value)
    if wanted is None and known[name].writes and value:
        wanted = _wanted_file(backend.can.writes if name == "write" else (), Path(value))
    if wanted is None:
        return None
    return Diagnostic(
        "B503", f"`{name}` of {backend.name} cannot be {value}", notes=(f"it is {wanted}: {known[name].summary}",)
    )


def _wanted_file(endings: tuple[str, ...], path: Path) -> str | None:
    """What is wrong with the name of a file that is to be written: better said now than when the search is over."""
    if endings and path.suffix not in endings:
        return f"a name that ends in {' or '.join(endings)}"
    if not path.parent.is_dir():
        return f"in a folder that exists, and {path.parent} does not"
    return None


def _wanted(option: Option, value: Any) -> str | None:
    """What the option takes, if the value is not of it."""
    if option.choices:
        return None if value in option.choices else "one of " + ", ".join(option.choices)
    if option.type is bool:
        return None if isinstance(value, bool) else "true or false"
    if option.type is tuple:
        return None if isinstance(value, tuple) else "a list of back-ends in parentheses, such as race(native, cpsat)"
    if option.type is str:
        return None if isinstance(value, str) else "a text"
    number = isinstance(value, int | float | Fraction) and not isinstance(value, bool)
    if not number or (option.type is int and value != int(value)):
        return "a whole number" if option.type is int else "a number"
    if option.low is not None and value < option.low:
        return f"at least {option.low:g}"
    if option.high is not None and value > option.high:
        return f"at most {option.high:g}"
    return None
