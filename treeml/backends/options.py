"""Options as given -> the same options checked and converted to the types that the back-end declares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from treeml.backends.contract import Backend, Limits, Option
from treeml.lang.diagnostic import Diagnostic, RefusedError
from treeml.lang.suggest import did_you_mean

THREADS = Option(int, 1, "how many threads it may use; the same as the statement `threads`", low=1)


def taken(backend: Backend) -> Mapping[str, Option]:
    """The options of a back-end: its own, plus `threads` if it can use several; `write` is marked as an output file."""
    options = backend.options
    if backend.can.writes and "write" in options:
        options = {**options, "write": replace(options["write"], writes=True)}
    return {**options, "threads": THREADS} if backend.can.threads else options


def threaded(backend: Backend, limits: Limits) -> Limits:
    """The limits with the option `threads` moved into them: `native(threads = 2)` is `threads 2` for native alone."""
    if "threads" not in limits.options or not backend.can.threads:
        return limits
    threads = settle(backend, {"threads": limits.options["threads"]})["threads"]
    rest = {name: value for name, value in limits.options.items() if name != "threads"}
    return replace(limits, threads=threads, options=rest)


def settle(backend: Backend, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options converted to their types; raises RefusedError for unknown options and invalid values."""
    if not options:
        return {}
    mistakes = [_option_mistake(backend, name, value) for name, value in options.items()]
    found = [mistake for mistake in mistakes if mistake is not None]
    if found:
        raise RefusedError(found)
    # Numbers in a specification arrive as fractions.
    known = taken(backend)
    kinds = {name: known[name].type for name in options}
    numbers = (int, float, Fraction)
    return {name: kinds[name](value) if kinds[name] in numbers else value for name, value in options.items()}


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
    """What is wrong with the name of an output file, so that it is reported before the search and not after it."""
    if endings and path.suffix not in endings:
        return f"a name that ends in {' or '.join(endings)}"
    if not path.parent.is_dir():
        return f"in a folder that exists, and {path.parent} does not"
    return None


def _wanted(option: Option, value: Any) -> str | None:
    """What the option accepts, if it does not accept this value."""
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
