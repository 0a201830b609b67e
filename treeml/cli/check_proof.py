"""`treeml check-proof`: a proof and its clauses -> whether the proof holds."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from treeml.cli.options import FAILED, output_options
from treeml.cli.output import Printer, say
from treeml.lang.display import json_text


@click.command("check-proof")
@click.argument("proof", type=click.Path(path_type=Path))
@click.option("--clauses", type=click.Path(path_type=Path), help="The clauses; by default PROOF.cnf beside the proof.")
@output_options("as_json", "quiet")
def command(proof: Path, clauses: Path | None, out: Printer) -> None:
    """Check that PROOF refutes its clauses, step by step, with a checker that shares no code with any solver."""
    from treeml.native.rup import check_proof  # imported here: start-up time

    clauses = clauses or Path(f"{proof}.cnf")
    for path in (proof, clauses):
        if not path.is_file():
            raise click.FileError(str(path), "there is no such file")
    fault = check_proof(clauses, proof)
    if out.as_json:
        say(json_text({"proof": str(proof), "clauses": str(clauses), "holds": fault is None, "fault": fault}))
    elif fault is not None:
        say(f"{proof}: the proof does not hold: {fault}", err=True)
    elif not out.quiet:
        say(f"{proof}: the proof holds: no assignment satisfies {clauses}")
    sys.exit(0 if fault is None else FAILED)
