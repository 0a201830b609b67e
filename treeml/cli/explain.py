"""`treeml explain`: a specification, a measure or the code of a message -> what it means."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from treeml.cli.options import (
    INFEASIBLE,
    NO_TREE,
    data_option,
    load_model,
    output_options,
    run_options,
    set_option,
    untrusted_option,
)
from treeml.cli.output import Printer
from treeml.solving.options import RunOptions

WHY_CODES = {"feasible": 0, "infeasible": INFEASIBLE, "unknown": NO_TREE}


@click.command("explain")
@click.argument("subject")
@data_option
@set_option
@run_options("backend", "within")
@click.option("--why", is_flag=True, help="Say which requirements conflict, if no tree meets them all.")
@click.option(
    "--nearest",
    metavar="NAME",
    multiple=True,
    help="With --why: find the nearest value of this requirement at which a tree exists.",
)
@click.option("--parameters", is_flag=True, help="Report the parameters of a perfect tree on these data.")
@output_options("as_json", "style")
@untrusted_option
def command(
    subject: str,
    data: str | None,
    settings: tuple[str, ...],
    options: RunOptions,
    why: bool,
    nearest: tuple[str, ...],
    parameters: bool,
    out: Printer,
) -> None:
    """Explain how a spec would be solved, `measures`, one measure, or the code of a message (N203).

    --within limits --why and --parameters.
    """
    if (nearest and not why) or (options.within and not (why or parameters)):
        raise click.UsageError("--nearest belongs to --why, and --within to --why and --parameters")
    if why and parameters:
        raise click.UsageError("--why and --parameters are two questions: ask one at a time")
    code = 0
    with out.mistakes():
        if why:
            value, text, code = _why(Path(subject), data, settings, options, nearest, out)
        elif parameters:
            value, text = _parameters(Path(subject), data, settings, options)
        else:
            value, text = _word(subject) or _plan(Path(subject), data, settings, options)
        out.result(value, text)
    sys.exit(code)


def _why(
    spec: Path,
    data: str | None,
    settings: tuple[str, ...],
    options: RunOptions,
    nearest: tuple[str, ...],
    out: Printer,
) -> tuple[Any, str, int]:
    from treeml.solving.why import why  # imported here: start-up time

    with out.infeasible_as_json():
        found = why(load_model(spec, settings), data, None, options, nearest)
    value = found.to_json()
    return value, str(found), WHY_CODES[value["status"]]


def _parameters(spec: Path, data: str | None, settings: tuple[str, ...], options: RunOptions) -> tuple[Any, str]:
    from treeml.solving.parameters import parameters, parameters_text  # imported here: start-up time

    rows = parameters(load_model(spec, settings), data, options)
    return rows, parameters_text(rows)


def _plan(spec: Path, data: str | None, settings: tuple[str, ...], options: RunOptions) -> tuple[Any, str]:
    from treeml.solving.explain import plan_rows, plan_text  # imported here: start-up time

    rows = plan_rows(load_model(spec, settings), data, None, options)
    return rows, plan_text(rows)


def _word(word: str) -> tuple[Any, str] | None:
    from treeml.solving.explain import of_word  # imported here: start-up time

    text = of_word(word)
    return None if text is None else ({"subject": word, "text": text}, text)
