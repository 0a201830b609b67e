"""`treeml check-certificate`: a data file and a certificate -> verified, rejected or unsupported."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from treeml.cli.options import FAILED, output_options
from treeml.cli.output import Printer, say
from treeml.lang.display import json_text

UNSUPPORTED = 6


@click.command("check-certificate")
@click.argument("data", type=click.Path(path_type=Path))
@click.argument("certificate", type=click.Path(path_type=Path))
@click.option("--reference", is_flag=True, help="Use the readable checker in Python instead of the compiled one.")
@output_options("as_json", "quiet")
def command(data: Path, certificate: Path, reference: bool, out: Printer) -> None:
    """Check CERTIFICATE on the rows of DATA with a program that shares no code with TreeML.

    If CERTIFICATE is a proof that `sat` wrote (--proof), DATA is the file of its clauses (.cnf).

    Exit codes: 0 verified, 5 rejected, 6 unsupported.
    """
    # imported here: start-up time
    from treeml.solving.certificates.check import Verdict, check_clauses, check_file, is_certificate, is_clausal

    for path in (data, certificate):
        if not path.is_file():
            raise click.FileError(str(path), "there is no such file")
    if is_certificate(data) and not is_certificate(certificate):
        raise click.UsageError(f"the data come first: treeml check-certificate {certificate} {data}")
    checked = check_clauses(data, certificate) if is_clausal(data) else check_file(data, certificate, reference)
    if out.as_json:
        say(json_text({"data": str(data), "certificate": str(certificate), **checked.to_json()}))
    elif checked.verdict is not Verdict.VERIFIED:
        say(f"{certificate}: {checked.verdict.value}: {checked.sentence}", err=True)
    elif not out.quiet:
        say(f"{certificate}: verified in {checked.seconds:.2f} s: {checked.sentence}")
    sys.exit({Verdict.VERIFIED: 0, Verdict.REJECTED: FAILED}.get(checked.verdict, UNSUPPORTED))
