"""`treeml certify`: a specification and a tree from anywhere -> a certificate that anybody can check."""

from __future__ import annotations

from pathlib import Path

import click

from treeml.cli.options import data_option, load_model, output_options, set_option, spec_argument, untrusted_option
from treeml.cli.output import Printer, write_file


@click.command("certify")
@spec_argument
@data_option
@set_option
@click.option(
    "--tree", type=click.Path(path_type=Path), help="The tree: JSON of TreeML, or a form that can be imported."
)
@click.option("--infeasible", is_flag=True, help="Prove that no tree meets the requirements, instead of giving a tree.")
@click.option("--within", metavar="TIME", help="Stop after this time (60s, 5min) and certify the gap that was reached.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write the certificate here; .gz packs it.", required=True
)
@output_options("as_json", "style", "quiet")
@untrusted_option
def command(
    spec: Path,
    data: str | None,
    settings: tuple[str, ...],
    tree: Path | None,
    infeasible: bool,
    within: str | None,
    output: Path,
    out: Printer,
) -> None:
    """Prove that a tree is optimal for SPEC, whoever found it, and write the certificate."""
    # imported here: start-up time
    from treeml.cli.options import is_untrusted
    from treeml.solving.certificates.certify import certify
    from treeml.solving.options import RunOptions
    from treeml.solving.pipeline import prepare

    if (tree is None) != infeasible:
        raise click.UsageError("give --tree, or --infeasible if there is none")
    with out.mistakes():
        model = load_model(spec, settings)
        dataset, request = prepare(model, data, None, RunOptions(within=within, untrusted=is_untrusted()))
        limit = request.spec.within if within is not None else None  # the spec's own limit is about the search
        seconds = float("inf") if limit is None else limit
        certificate = certify(dataset, request, data, tree, seconds)
        write_file(output, certificate.packed(output.name.endswith(".gz")))
        out.result(certificate.to_json() if out.as_json else None, str(certificate))
