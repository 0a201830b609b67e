"""Options that several commands share, and the exit codes.

Exit codes: 0 answered, 1 the spec is wrong, 2 the command line is wrong, 3 infeasible, 4 a limit was reached without a
tree, 5 a back-end failed or its answer did not verify.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from treeml.cli.output import Printer
from treeml.solving.options import RunOptions

if TYPE_CHECKING:
    from treeml.model import Model

INFEASIBLE = 3
NO_TREE = 4
FAILED = 5

Command = Callable[..., Any]


def is_untrusted() -> bool:
    """Was the command told not to trust specifications?"""
    return bool(click.get_current_context().meta.get("untrusted"))


def _set_untrusted(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    context.meta["untrusted"] = value


spec_argument = click.argument("spec", type=click.Path(path_type=Path))
specs_argument = click.argument("specs", nargs=-1, required=True, type=click.Path(path_type=Path))
data_option = click.option(
    "--data", metavar="FILE", help="Use this data file instead of the one the spec names.", type=click.Path()
)
data_files_option = click.option(
    "--data", metavar="FILE", multiple=True, help="Use these data files instead; each file with each spec."
)
set_option = click.option("--set", "settings", metavar="NAME=VALUE", multiple=True, help="Give a param a value.")
backends_option = click.option("--with", "backends", metavar="A,B,C", help="Use only these back-ends.")
records_option = click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Append each result, as a line of JSON, to this file."
)
resume_option = click.option("--resume", is_flag=True, help="Continue the file of -o: skip the jobs that it holds.")
untrusted_option = click.option(
    "--untrusted",
    is_flag=True,
    envvar="TREEML_UNTRUSTED",
    expose_value=False,
    callback=_set_untrusted,
    help="SPEC was written by somebody else: let it read only its own folder, write nothing, and use little.",
)

RUN_OPTIONS = {
    "backend": click.option(
        "--with", "backend", metavar="BACKEND", help="Use this back-end: native, or native(threads = 2)."
    ),
    "within": click.option("--within", metavar="TIME", help="Stop after this time: 60s, 5min."),
    "gap": click.option("--gap", metavar="SHARE", help="Stop at this relative gap: 1%."),
    "seed": click.option("--seed", type=click.IntRange(min=0), help="Seed of the back-end's random choices."),
    "threads": click.option("--threads", type=click.IntRange(min=1), help="Threads that a back-end may use."),
    "memory": click.option("--memory", metavar="SIZE", help="Memory that a back-end may use: 500MB, 2GB."),
    "cluster": click.option("--cluster", metavar="ADDRESS", help="Spread the search over the Dask cluster there."),
    "write_model": click.option(
        "--write", "write_model", type=click.Path(path_type=Path), help="Write the solver's own model: x.lp, x.cnf."
    ),
    "proof": click.option(
        "--proof",
        type=click.Path(path_type=Path),
        help="Write the proof that no tree (of less depth) exists to this file, its clauses beside it (.cnf).",
    ),
}
LIMITS = ("within", "gap", "seed", "threads", "memory")


def run_options(*names: str) -> Callable[[Command], Command]:
    """Add the options of these names, and pass their values to the command together, as `options: RunOptions`."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def packed(**arguments: Any) -> Any:
            options = RunOptions(**{name: arguments.pop(name) for name in names})
            return command(options=options, **arguments)

        for name in reversed(names):
            packed = RUN_OPTIONS[name](packed)
        return packed

    return decorate


_OUTPUT_OPTIONS = {
    "as_json": click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object."),
    "style": click.option(
        "--format",
        "style",
        type=click.Choice(["full", "concise", "json"]),
        default="full",
        show_default=True,
        help="How mistakes are shown.",
    ),
    "quiet": click.option(
        "-q", "--quiet", is_flag=True, help="No progress, notes or warnings; with -o FILE, nothing but mistakes."
    ),
}


def output_options(*names: str) -> Callable[[Command], Command]:
    """Add the options of these names (as_json, style, quiet), and pass them to the command as `out: Printer`."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def packed(**arguments: Any) -> Any:
            return command(out=Printer(**{name: arguments.pop(name) for name in names}), **arguments)

        for name in reversed(names):
            packed = _OUTPUT_OPTIONS[name](packed)
        return packed

    return decorate


def load_model(spec: Path, settings: tuple[str, ...] = ()) -> Model:
    """The model in a file, or in standard input if the file is called `-`, with the values of --set."""
    # imported here: start-up time
    from treeml.lang.source_file import STANDARD_INPUT, read, read_standard_input
    from treeml.model import Model

    bindings: dict[str, str] = {}
    for setting in settings:
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not equals or not name:
            raise click.BadParameter(f"write --set NAME=VALUE, not --set {setting}")
        if name in bindings:
            raise click.BadParameter(f"--set gives `{name}` twice")
        bindings[name] = value
    untrusted = is_untrusted()
    source = read_standard_input() if str(spec) == STANDARD_INPUT else read(spec, untrusted)
    return Model.parse(source, untrusted=untrusted, params=bindings)
