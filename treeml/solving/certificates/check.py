"""A data file and a certificate -> the verdict of a checker that shares no code with TreeML.

The checker is a program of its own: `checker/checker.c`, or `checker/checker.py` where it was not built. It is started
as a process and reads the certificate from its standard input.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
import zlib
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from time import perf_counter

OPENING = b"treeml certificate"
MOST_BYTES = 2**31  # of a certificate that is unpacked


class Verdict(Enum):
    VERIFIED = "verified"
    REJECTED = "rejected"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
class Checked:
    verdict: Verdict
    sentence: str
    seconds: float
    checker: str  # which of the two

    def to_json(self) -> dict[str, object]:
        return {
            "verdict": self.verdict.value,
            "why": self.sentence,
            "seconds": round(self.seconds, 6),
            "checker": self.checker,
        }


def check_file(data: Path, certificate: Path, reference: bool = False) -> Checked:
    """The verdict on a certificate in a file, packed by gzip or not."""
    try:
        text = unpacked(certificate)
    except (OSError, EOFError, zlib.error) as error:
        return Checked(Verdict.UNSUPPORTED, f"{certificate.name} cannot be read: {error}", 0.0, "none")
    return check_text(data, text, reference)


def is_certificate(path: Path) -> bool:
    """Does the file begin like a certificate, packed or not?"""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    try:
        with gzip.open(path) if packed else path.open("rb") as file:
            return file.read(len(OPENING)) == OPENING
    except (OSError, EOFError, zlib.error):
        return False


def is_clausal(data: Path) -> bool:
    """Is this a file of clauses, as `sat` writes beside its proofs?"""
    with data.open("rb") as file:
        start = file.read(4096)
    return data.name.endswith((".cnf", ".cnf.gz")) or any(
        line.startswith(b"p cnf ") for line in start.splitlines()[:20]
    )


def check_clauses(clauses: Path, proof: Path) -> Checked:
    """The verdict on a proof that no assignment satisfies the clauses (DRUP); both may be packed by gzip."""
    from treeml.native.rup import Refutation, refute  # imported here: start-up time

    begun = perf_counter()
    try:
        found, fault = refute(unpacked(clauses), unpacked(proof))
    except (OSError, EOFError, zlib.error) as error:
        return Checked(Verdict.UNSUPPORTED, f"{proof.name} or {clauses.name} cannot be read: {error}", 0.0, "none")
    seconds = perf_counter() - begun
    if found is Refutation.PROVED:
        return Checked(Verdict.VERIFIED, f"no assignment satisfies {clauses.name}", seconds, "RUP")
    verdict = Verdict.REJECTED if found is Refutation.WRONG else Verdict.UNSUPPORTED
    return Checked(verdict, fault, seconds, "RUP")


def unpacked(certificate: Path) -> bytes:
    """What a file holds, packed by gzip or not."""
    with certificate.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    with gzip.open(certificate) if packed else certificate.open("rb") as content:
        text: bytes = content.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise OSError("it is larger than 2 GiB when it is unpacked")
    return text


def check_text(data: Path, text: bytes, reference: bool = False) -> Checked:
    """The verdict on a certificate; `reference` asks for the readable checker in Python."""
    program = None if reference else compiled()
    command = [str(program)] if program is not None else [sys.executable, str(source())]
    begun = perf_counter()
    done = subprocess.run([*command, str(data), "-"], input=text, capture_output=True, check=False)
    seconds = perf_counter() - begun
    said = done.stdout.decode(errors="replace").strip()
    word, _, sentence = said.partition(": ")
    verdicts = {0: Verdict.VERIFIED, 1: Verdict.REJECTED, 2: Verdict.UNSUPPORTED}
    verdict = verdicts.get(done.returncode, Verdict.UNSUPPORTED)
    if word != verdict.value:  # a crash, or a checker of another version
        verdict, sentence = Verdict.UNSUPPORTED, f"the checker ended with code {done.returncode}"
    return Checked(verdict, sentence, seconds, "C" if program is not None else "Python")


def compiled() -> Path | None:
    """The compiled checker, if it was built with the C library."""
    folder = Path(__file__).resolve().parents[2] / "native"
    return next((folder / name for name in ("treeml_checker", "treeml_checker.exe") if (folder / name).exists()), None)


def source() -> Path:
    """The checker in Python: in the checkout, or where the wheel puts it."""
    here = Path(__file__).resolve()
    checkout = here.parents[3] / "checker" / "checker.py"
    return checkout if checkout.exists() else here.parents[2] / "native" / "checker" / "checker.py"
