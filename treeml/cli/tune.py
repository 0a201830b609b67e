"""`treeml tune`: a specification, sizes to try -> the size that does best on unseen rows, and its tree."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from treeml.cli.options import (
    INFEASIBLE,
    LIMITS,
    NO_TREE,
    data_option,
    load_model,
    output_options,
    run_options,
    spec_argument,
    untrusted_option,
)
from treeml.cli.output import Printer, write_file
from treeml.lang.display import json_text
from treeml.solving.options import RunOptions

VALUES = "Values to try, such as 1..4 or 1, 2, 5:"


@click.command("tune")
@spec_argument
@data_option
@click.option("--depth", metavar="VALUES", help=f"{VALUES} the limit on the depth. By default from 1 to the spec's.")
@click.option("--price", metavar="VALUES", help=f"{VALUES} the price of a leaf in the goal.")
@click.option("--support", metavar="VALUES", help=f"{VALUES} the least rows in a leaf.")
@click.option("--tolerance", metavar="VALUES", help=f"{VALUES} the limit on the fairness gaps that the spec bounds.")
@click.option("--set", "settings", metavar="NAME=VALUES", multiple=True, help=f"{VALUES} a param of the spec.")
@click.option("--steps", type=click.IntRange(min=1), help="Number of values in a range.")
@click.option("--folds", type=click.IntRange(min=2), help="Number of folds; by default 5, or those of `validate`.")
@click.option(
    "--measure", metavar="MEASURE", help="Choose by this measure on unseen rows; by default that of the goal."
)
@click.option("--best", is_flag=True, help="Choose the best mean, not the smallest within one standard error of it.")
@run_options("backend", *LIMITS)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the final result, as JSON, to this file.")
@click.option("--plot", type=click.Path(path_type=Path), help="Draw unseen measure against size: x.png, x.svg, x.pdf.")
@output_options("as_json", "style", "quiet")
@untrusted_option
def command(
    spec: Path,
    data: str | None,
    settings: tuple[str, ...],
    steps: int | None,
    folds: int | None,
    measure: str | None,
    best: bool,
    options: RunOptions,
    output: Path | None,
    plot: Path | None,
    out: Printer,
    **sizes: str | None,
) -> None:
    """Choose the size of the tree of SPEC by cross-validation, and find the tree of that size.

    --within limits each tree.
    """
    # imported here: start-up time
    from treeml.backends.contract import Status
    from treeml.cli.sweep_run import param_values
    from treeml.studies.page.about import about, summary_of
    from treeml.studies.plots import draw
    from treeml.studies.sweep import values_of
    from treeml.studies.tuning import tune

    with out.mistakes():
        model = load_model(spec)
        choices = {name: values_of(values, steps) for name, values in sizes.items() if values is not None}
        tuned = tune(
            model,
            data,
            None,
            choices | param_values(settings, steps),
            folds=folds,
            measure=measure,
            take_best=best,
            options=options,
            on_candidate=_show_count if out.shows_progress and sys.stderr.isatty() else None,
        )
        out.warnings(tuned.result.warnings)
        if output is not None:
            rows = summary_of(tuned.result, data)
            kept = {**tuned.result.to_json(), "about": about(model, data, tuned.result, rows=rows)}
            write_file(output, json_text(kept, indent=1) + "\n")
        if plot is not None:
            draw(tuned.plot(), plot)
        out.result(tuned.to_json() if out.as_json else None, str(tuned))
    sys.exit({Status.INFEASIBLE: INFEASIBLE, Status.UNKNOWN: NO_TREE}.get(tuned.result.status, 0))


def _show_count(done: int, of: int) -> None:
    sys.stderr.write(f"\rcandidate {done + 1} of {of} ")
    sys.stderr.flush()
