"""Attempts to have a false statement accepted: `python tests/certificates/certificate_attack.py --attempts 100000`.

Random data with the truth by brute force; a false optimum with a matching worse tree, a false bound, a false
infeasibility; claims made for the false statement and then changed at random. A harmless change of a true certificate
may be accepted, a false statement never. Both checkers must agree on everything.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import subprocess
import sys
import tempfile
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import certificate_cases as cases
import forest_cases as forests

ROOT = Path(__file__).resolve().parents[2]
VERDICTS = {1: "rejected", 2: "unsupported"}


def reference() -> ModuleType:
    """The readable checker, imported from its file."""
    spec = importlib.util.spec_from_file_location("reference_checker", ROOT / "checker" / "checker.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["reference_checker"] = module
    spec.loader.exec_module(module)
    return module


def by_reference(checker: ModuleType, data: bytes, text: bytes) -> str:
    return said_by_reference(checker, data, text).partition(":")[0]


def said_by_reference(checker: ModuleType, data: bytes, text: bytes) -> str:
    """The verdict, and what was verified."""
    try:
        reading = checker.Checker(data, text)
        return f"verified: {reading.check()} {reading.scope()}"
    except checker.Rejected:
        return "rejected"
    except checker.Unsupported:
        return "unsupported"


def by_program(program: Path, data: Path, text: bytes) -> str:
    return said_by_program(program, data, text).partition(":")[0]


def said_by_program(program: Path, data: Path, text: bytes) -> str:
    done = subprocess.run([program, data, "-"], input=text, capture_output=True, check=False)
    if done.stderr:
        raise AssertionError(done.stderr.decode(errors="replace")[:2000])
    if done.returncode == 0:
        return done.stdout.decode().strip()
    return VERDICTS.get(done.returncode, f"crashed with {done.returncode}")


def changed(claims: list[list[int]], rng: random.Random) -> list[list[int]]:
    """A few changes that an attacker may try: other bounds, evidence, tests, depths, entries left out, claims moved."""
    claims = [list(claim) for claim in claims]
    for _ in range(rng.choice([0, 1, 1, 2, 3, 5])):
        claim = rng.choice(claims)
        place = rng.randrange(len(claim))
        match rng.randrange(7):
            case 0:
                claim[place] += rng.choice([-1, 1, 1, 2, 5])
                claim[place] = max(0, claim[place])
            case 1:
                claim[place] = rng.randrange(len(claims) + 2)
            case 2 if len(claim) > 8:
                width = 4
                at = rng.randrange(len(claim) - width)
                del claim[at : at + width]
            case 3:
                claims.insert(rng.randrange(len(claims) + 1), list(rng.choice(claims)))
            case 4 if len(claims) > 1:
                del claims[rng.randrange(len(claims) - 1)]
            case 5:
                claim[place] = rng.choice([0, 1, 2])
            case _:
                claim[min(2, len(claim) - 1)] += rng.randint(1, 4)
    return claims


def raised(case: cases.Case, claims: list[list[int]], rng: random.Random, base: int) -> list[list[int]]:
    """The bound of the last claim, and often of all claims, raised to what the false statement needs."""
    place = 2  # of the bound in a claim
    claims = [list(claim) for claim in claims]
    missing = max(0, cases.needed(case) - base - claims[-1][place])
    claims[-1][place] += missing
    if rng.random() < 0.6:
        for claim in claims[:-1]:
            claim[place] += rng.randint(0, max(1, missing))
    return claims


def corrupted(content: bytes, rng: random.Random) -> bytes:
    """The bytes of a file after an accident: some replaced, removed or repeated, a line moved, the end cut off."""
    made = bytearray(content)
    for _ in range(rng.randint(1, 4)):
        if not made:
            break
        at = rng.randrange(len(made))
        match rng.randrange(7):
            case 0:
                made[at] = rng.randrange(256)
            case 1:
                del made[at : at + rng.randint(1, 9)]
            case 2:
                made[at:at] = made[at : at + rng.randint(1, 30)]
            case 3:
                made[at:at] = rng.choice(
                    [b"9" * 17, b"-", b"9007199254740991", b'"', b" ", b"\n", b"\r", b"\0", b"1e999"]
                )
            case 4:
                del made[at:]
            case 5:
                lines = bytes(made).split(b"\n")
                lines.insert(rng.randrange(len(lines)), rng.choice(lines))
                made = bytearray(b"\n".join(lines))
            case _:
                made[at] = rng.choice(b"0123456789")
    return bytes(made)


class Attack:
    def __init__(self, seed: int, program: Path | None, folder: Path) -> None:
        self.rng, self.checker = random.Random(seed), reference()
        self.program = None if program is None else program.resolve()
        self.path = folder / "data.csv"
        self.attempts = self.true = self.damaged = self.forests = self.points = 0

    def verdict(self, case: cases.Case, text: bytes) -> str:
        return self.both(case.data(), text)

    def corrupt_files(self, changes: int) -> None:
        """Both checkers give the same verdict on damaged files, and neither of them crashes."""
        case = cases.random_case(self.rng)
        case.tests = [test for test in case.tests if test[3]]
        stated = cases.with_statement(case, self.rng, cases.outcomes(case), is_true=True) if case.tests else None
        if stated is None:
            return
        claims, _, _ = cases.claims_of(stated, tuple(stated.values))
        whole = stated.data(), cases.written(stated, claims)
        made = forests.random_forest_case(self.rng) if self.rng.random() < 0.2 else None
        if made is not None:
            proved = made[0].prover().prove(10**9)
            whole = made[0].data(), forests.with_bound(made[0], proved.bound).written(cases.parsed(proved.text))
        for _ in range(changes):
            data, text = whole
            which = self.rng.random()
            data = corrupted(data, self.rng) if which < 0.4 else data
            text = corrupted(text, self.rng) if which > 0.3 else text
            self.damaged += 1
            self.both(data, text)

    def both(self, data: bytes, text: bytes) -> str:
        verdict = said_by_reference(self.checker, data, text)
        if self.program is not None:
            self.path.write_bytes(data)
            other = said_by_program(self.program, self.path, text)
            assert other == verdict, f"Python says {verdict} and C says {other}\n{data!r}\n{text!r}"
        return verdict.partition(":")[0]

    def one_problem(self, changes: int) -> None:
        rng = self.rng
        if rng.random() < 0.2:
            self._forest(3 * changes)
            return
        case = cases.random_case(rng)
        case.tests = [test for test in case.tests if test[3]]
        if not case.tests:
            return
        found = cases.outcomes(case)
        self._true_statement(case, found)
        for _ in range(3):
            stated = cases.with_statement(case, rng, found, is_true=False)
            if stated is None:
                continue
            claims, _, base = cases.claims_of(stated, min(cases.feasible(case, found), default=None))
            if not claims:
                continue
            for _ in range(changes):
                attempt = changed(raised(stated, claims, rng, base), rng)
                text = cases.written(stated, attempt)
                self.attempts += 1
                verdict = self.verdict(stated, text)
                assert verdict != "verified", (
                    f"a false statement is accepted\n{stated.data().decode()}\n{text.decode()}"
                )

    def _forest(self, changes: int) -> None:
        made = forests.random_forest_case(self.rng)
        if made is None:
            return
        case, value, best = made
        prover = case.prover()
        proved = prover.prove(10**9)
        claims = cases.parsed(proved.text)
        true = forests.with_bound(case, proved.bound)
        text = true.written(claims)
        verdict = self.both(true.data(), text)
        assert verdict == ("verified" if case.is_feasible() else "rejected"), (
            f"{verdict}\n{true.data().decode()}\n{text.decode()}"
        )
        assert not case.is_feasible() or best <= Fraction(true.claim[1], sum(votes for votes, _ in true.trees))
        assert true.claim[0] <= value * sum(votes for votes, _ in true.trees)
        self.true += 1
        self.forests += 1
        for _ in range(changes):
            false = forests.false_statement(true, best, self.rng)
            attempt = [list(claim) for claim in claims]
            attempt[-1][2] += self.rng.choice([0, 1, 20, 100, 10**4])
            text = false.written(changed(attempt, self.rng))
            self.attempts += 1
            assert self.both(false.data(), text) != "verified", (
                f"a false statement is accepted\n{false.data().decode()}\n{text.decode()}"
            )

    def _true_statement(self, case: cases.Case, found: dict[tuple[int, ...], list[int]]) -> None:
        stated = cases.with_statement(case, self.rng, found, is_true=True)
        if stated is None:
            return
        claims, bound, _ = cases.claims_of(stated, tuple(stated.values))
        if not claims:
            return
        if bound >= cases.needed(stated):
            self.true += 1
            self.points += stated.require is not None and not stated.multiplier[0]
            text = cases.written(stated, claims)
            verdict = self.verdict(stated, text)
            assert verdict == "verified", f"a true statement is {verdict}\n{stated.data().decode()}\n{text.decode()}"
        else:  # only a multiplier leaves a gap
            assert stated.require is not None, f"not proved\n{stated.data().decode()}\n{stated.header()}"
            text = cases.written(stated, claims)
            assert self.verdict(stated, text) == "rejected"
            if stated.claim == "optimal":
                by, divisor = stated.multiplier
                bound = (bound - by * stated.limit - 1) // divisor + 1
                weaker = replace(stated, claim=f"bound {bound}")
                verdict = self.verdict(weaker, cases.written(weaker, claims))
                assert verdict == "verified", (
                    f"{verdict}\n{weaker.data().decode()}\n{cases.written(weaker, claims).decode()}"
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attempts", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", type=Path, help="the compiled checker; without it only the one in Python is asked")
    parser.add_argument("--damaged", type=int, default=0, help="the number of damaged files to try as well")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        attack = Attack(arguments.seed, arguments.program, Path(folder))
        while attack.attempts < arguments.attempts:
            before = attack.attempts
            attack.one_problem(10)
            if before // 5000 != attack.attempts // 5000:
                print(f"{attack.attempts} attempts", flush=True)
        while attack.damaged < arguments.damaged:
            attack.corrupt_files(20)
    print(f"{attack.attempts} false statements, none accepted; {attack.true} true ones, all accepted")
    print(f"of the true ones {attack.forests} forests and {attack.points} sets of points")
    print(f"{attack.damaged} damaged files, the same verdict from both checkers")


if __name__ == "__main__":
    main()
