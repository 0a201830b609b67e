"""Random worlds -> false claims of back-ends, each with files that reproduce it.

    python -m treeml.testing.attack --minutes 60 --seed 1

Every goal is combined with every requirement at least once, in random order, and every back-end that takes the pair is
compared with the oracle of `truth.py` and with all others; a pair whose spec is rejected is drawn again. In between
come worlds with a planted tree, which no claim may exclude, forests, and worlds of hundreds of rows with time limits
from 0 to 2 seconds, whose claims must not contradict a long run or a tree that any run found. Faults are: a false
"optimal", "infeasible" or bound, an answer that fails verification, an exception that is not a diagnostic, and a
process that dies or hangs. `fuzz.py` does the same for problems without a text.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from treeml.backends import registry
from treeml.backends.oracle.backend import OracleBackend
from treeml.testing.planted_worlds import planted_world
from treeml.testing.random_worlds import CELLS, forest_world, large_world, random_world
from treeml.testing.truth import Truth, truth
from treeml.testing.worlds import World

DEFAULT = ""  # the back-end that TreeML chooses
LIMITS = (0.0, 0.05, 0.2, 0.5, 1.0, 2.0)
LONGEST = 60.0  # seconds of the long run that checks the short ones; less if the attack itself is short
DRAWS = 8  # attempts to draw a pair of a goal and a requirement whose spec is not rejected
SECONDS_TO_RETURN = 90.0  # after its limit, on a busy machine; a run that needs longer counts as hanging
ROUNDED = "rounded to multiples"  # part of a note that tells the user that numbers were rounded
SHRINK_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class AttackClaim:
    """The result of one run. `kind` is solved, refused, rejected (the spec or the data), broken or lost."""

    backend: str
    kind: str
    status: str = ""
    values: tuple[Fraction, ...] | None = None  # of the goals as the user states them, verified
    bound: float | None = None
    tolerance: float = 0.0  # relative to the larger of 1 and the value
    said: str = ""
    is_rounded: bool = False
    seconds: float = 0.0
    within: float = 0.0


@dataclass(frozen=True, slots=True)
class Fault:
    world: World
    runs: tuple[tuple[str, float], ...]  # back-ends and their seconds
    reason: str
    kind: str  # must stay the same while the world is shrunk


@dataclass
class AttackTally:
    """What was covered."""

    cells: set[tuple[str, str]] = field(default_factory=set)
    pairs: set[tuple[tuple[str, str], str]] = field(default_factory=set)
    by_backend: dict[str, Counter[str]] = field(default_factory=dict)
    worlds: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)

    def add(self, world: World, claims: Sequence[AttackClaim], known: Truth | None) -> None:
        kind = "large" if world.is_large else "forest" if world.forest else world.cell[0]
        kind = kind if kind in ("large", "forest", "planted") else "small"
        kind = f"{kind}, rejected" if is_rejected(claims) else kind
        self.worlds[kind] += 1
        self.worlds[f"{kind}, held against the oracle"] += known is not None and not is_rejected(claims)
        if kind == "small":
            self.cells.add(world.cell)
        for claim in claims:
            self.by_backend.setdefault(claim.backend or "default", Counter())[claim.kind] += 1
            if claim.kind == "solved" and kind == "small":  # as for `cells`, of which these are a part
                self.pairs.add((world.cell, claim.backend or "default"))
            if claim.kind in ("rejected", "refused"):
                self.codes[claim.said.partition(":")[0]] += 1

    def lines(self) -> Iterator[str]:
        counts = ", ".join(f"{number} {kind}" for kind, number in sorted(self.worlds.items()) if number)
        yield f"worlds: {counts or 'none'}"
        yield f"goals x requirements: {len(self.cells)} of {len(CELLS)} tried"
        for name, counter in sorted(self.by_backend.items()):
            solved = sum(backend == name for _, backend in self.pairs)
            told = ", ".join(f"{number} {kind}" for kind, number in sorted(counter.items()))
            yield f"  {name}: {told}; solved {solved} of the {len(self.cells)} pairs"
        yield "refused or rejected: " + ", ".join(f"{code} {number}" for code, number in sorted(self.codes.items()))


# -- one run ------------------------------------------------------------------------------------------


def claim_of(text: str, table: str, backend: str, within: float) -> AttackClaim:
    """The claim of a back-end about a world; an exception that is not a diagnostic is a fault."""
    # imported here: start-up time
    from treeml.backends.contract import Status
    from treeml.lang.diagnostic import InfeasibleError, RefusedError, SpecError
    from treeml.model import parse

    def made(kind: str, **more: Any) -> AttackClaim:
        return AttackClaim(backend, kind, seconds=monotonic() - begun, within=within, **more)

    begun = monotonic()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        path.write_text(table, encoding="utf-8")
        try:
            result = parse(text).solve(str(path), within=within, backend=backend or None)
        except InfeasibleError:
            return made("solved", status=Status.INFEASIBLE.value)
        except SpecError as error:
            codes = sorted({each.code for each in error.diagnostics})
            told = f"{','.join(codes)}: {error.diagnostics[0].title}; {' '.join(error.diagnostics[0].notes)}"
            if any(code.startswith("B51") for code in codes):
                return made("broken", said=told)
            return made("refused" if isinstance(error, RefusedError) else "rejected", said=told)
        except MemoryError:
            return made("rejected", said="memory: out of memory")
        except Exception as error:
            return made("broken", said=f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
    values = None if result.exact is None else tuple(goal.value for goal in result.exact.goals)
    if result.forest is not None and isinstance(result.objective, int | float):
        values = (Fraction(result.objective),)
    return made(
        "solved",
        status=result.status.value,
        values=values,
        bound=result.bound,
        tolerance=max(result.tolerance, 1e-6 if result.forest is not None else 0.0),
        is_rounded=any(ROUNDED in note for note in result.notes),
    )


class Runner:
    """A process that solves; it is replaced if it dies or hangs."""

    def __init__(self) -> None:
        self.context = get_context("spawn")
        self.process: Any = None

    def __call__(self, world: World, backend: str, within: float) -> AttackClaim:
        if self.process is None or not self.process.is_alive():
            self.channel, other = self.context.Pipe()
            self.process = self.context.Process(target=_serve, args=(other,), daemon=False)
            self.process.start()
            other.close()
        begun = monotonic()
        try:
            self.channel.send((world.text(), world.table(), backend, within))
            if self.channel.poll(within + SECONDS_TO_RETURN):
                answer: AttackClaim = self.channel.recv()
                return answer
            said = f"it did not return within {within + SECONDS_TO_RETURN:g} s"
        except (EOFError, OSError):
            self.process.join(5)
            said = f"its process ended with code {self.process.exitcode}"
        self.close()
        return AttackClaim(backend, "lost", said=said, seconds=monotonic() - begun, within=within)

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.channel.close()
            self.process = None


def _serve(channel: Any) -> None:
    while True:
        try:
            channel.send(claim_of(*channel.recv()))
        except (EOFError, OSError):
            return


# -- contradictions -----------------------------------------------------------------------------------


def faults(world: World, claims: Sequence[AttackClaim], known: Truth | None) -> Iterator[Fault]:
    """All faults of the claims: each alone, against the truth, and against each other."""
    for claim in claims:
        if claim.kind in ("broken", "lost"):
            yield Fault(world, (_run(claim),), f"{_name(claim)} {claim.kind}: {claim.said}", claim.said[:24])
    solved = [claim for claim in claims if claim.kind == "solved"]
    for claim in solved if world.has_planted else ():
        reason = _against_planted(world, claim)
        if reason:
            yield Fault(world, (_run(claim),), f"{_name(claim)} {reason}", "planted")
    if known is not None:
        for claim in solved:
            reason = _against_truth(world, claim, known)
            if reason:
                yield Fault(world, (_run(claim),), f"{_name(claim)} {reason}", "truth")
        return
    for reason, one, other in _clashes(world, solved):
        yield Fault(world, (_run(one), _run(other)), reason, "clash")


def _against_truth(world: World, claim: AttackClaim, known: Truth) -> str | None:
    if known.best is None:
        return f"has a tree with {_text(claim.values)}, and there is none" if claim.values is not None else None
    if claim.status == "infeasible":
        return f"says infeasible, and there is a tree with {_text(known.best)}"
    if not world.goals:
        return None
    if claim.values is not None:
        near = _within(claim.values, known.best, known.off)
        if claim.is_rounded:  # values of rounded numbers may be better than the best by the stated tolerance
            near = near or _equal(claim.values, known.best, claim.tolerance)
        if _better(world, claim.values, known.best) and not near:
            return f"says {_text(claim.values)}, better than the best, {_text(known.best)}"
        if claim.status == "optimal" and not near and not _equal(claim.values, known.best, claim.tolerance):
            return f"says optimal with {_text(claim.values)}, and the best is {_text(known.best)}"
    if claim.bound is not None and len(world.goals) == 1 and _beyond(world, claim, known.best[0], known.off):
        return f"says bound {claim.bound}, and there is a tree with {_text(known.best)}"
    return None


def _against_planted(world: World, claim: AttackClaim) -> str | None:
    """The planted tree keeps every requirement; it need not be the best one."""
    values = tuple(map(Fraction, world.planted))
    if claim.status == "infeasible":
        return f"says infeasible, and there is a tree with {_text(values)}"
    if not world.goals:
        return None
    is_worse = claim.values is not None and _better(world, values, claim.values)
    if claim.status == "optimal" and is_worse and not _equal(claim.values or (), values, claim.tolerance):
        return f"says optimal with {_text(claim.values)}, and there is a tree with {_text(values)}"
    if claim.bound is not None and len(world.goals) == 1 and _beyond(world, claim, values[0]):
        return f"says bound {claim.bound}, and there is a tree with {_text(values)}"
    return None


def _clashes(world: World, claims: Sequence[AttackClaim]) -> Iterator[tuple[str, AttackClaim, AttackClaim]]:
    """Contradictions between a tree of one run and what another run claims about all trees."""
    trees = [claim for claim in claims if claim.values is not None]
    for claim in claims:
        for tree in trees:
            assert tree.values is not None
            if claim.status == "infeasible":
                yield f"{_name(claim)} says infeasible, {_name(tree)} has {_text(tree.values)}", claim, tree
            elif not world.goals or claim.is_rounded != tree.is_rounded:
                continue
            elif (
                claim.status == "optimal"
                and claim.values is not None
                and _better(world, tree.values, claim.values)
                and not _equal(claim.values, tree.values, max(claim.tolerance, tree.tolerance))
            ):
                told = f"{_name(claim)} says optimal with {_text(claim.values)}"
                yield f"{told}, {_name(tree)} has {_text(tree.values)}", claim, tree
            elif claim.bound is not None and len(world.goals) == 1 and _beyond(world, claim, tree.values[0]):
                yield f"{_name(claim)} says bound {claim.bound}, {_name(tree)} has {_text(tree.values)}", claim, tree


def _better(world: World, values: tuple[Fraction, ...], than: tuple[Fraction, ...]) -> bool:
    signs = [-1 if goal.sense == "maximize" else 1 for goal in world.goals]
    return [s * v for s, v in zip(signs, values, strict=True)] < [s * v for s, v in zip(signs, than, strict=True)]


def _within(values: tuple[Fraction, ...], others: tuple[Fraction, ...], off: Fraction) -> bool:
    return all(abs(one - other) <= off for one, other in zip(values, others, strict=True))


def _equal(values: tuple[Fraction, ...], others: tuple[Fraction, ...], tolerance: float) -> bool:
    return all(
        abs(one - other) <= Fraction(tolerance) * max(Fraction(1), abs(other))
        for one, other in zip(values, others, strict=True)
    )


def _beyond(world: World, claim: AttackClaim, value: Fraction, off: Fraction = Fraction(0)) -> bool:
    """Does the bound exclude the value? The bound is a float, so its last digits do not count."""
    assert claim.bound is not None
    sign = -1 if world.goals[0].sense == "maximize" else 1
    slack = (Fraction(claim.tolerance) + Fraction(1, 10**12)) * max(Fraction(1), abs(value)) + off
    return sign * (Fraction(claim.bound) - value) > slack


def _run(claim: AttackClaim) -> tuple[str, float]:
    return claim.backend, claim.within


def _name(claim: AttackClaim) -> str:
    return f"{claim.backend or 'default'} within {claim.within:g} s"


def _text(values: tuple[Fraction, ...] | None) -> str:
    return "nothing" if values is None else ", ".join(str(value) for value in values) or "no goal"


# -- shrinking and storing ----------------------------------------------------------------------------------


def shrunk(fault: Fault, again: Callable[[World, Sequence[tuple[str, float]]], Iterator[Fault]]) -> Fault:
    """The same kind of fault in a smaller world, shrunk while time allows."""
    ends = monotonic() + SHRINK_SECONDS
    if fault.world.is_large:
        return fault
    progress = True
    while progress:
        progress = False
        for smaller in _smaller(fault.world):
            if monotonic() > ends:
                return fault
            found = next((each for each in again(smaller, fault.runs) if each.kind == fault.kind), None)
            if found is not None:
                fault, progress = found, True
                break
    return fault


def _smaller(world: World) -> Iterator[World]:
    for number in range(len(world.requirements)):
        yield replace(world, requirements=world.requirements[:number] + world.requirements[number + 1 :])
    if len(world.goals) > 1:
        yield replace(world, goals=world.goals[:-1], planted=world.planted[:-1])
        yield replace(world, goals=world.goals[1:], planted=world.planted[1:])
    if world.weight:
        yield replace(world, weight=(), has_planted=False, planted=())
    if world.class_weights:
        yield replace(world, class_weights=(), has_planted=False, planted=())
    for row in range(world.rows) if world.rows > 1 else ():
        yield world.without_row(row)


def store(fault: Fault, folder: Path) -> Path:
    """Write the spec, the rows, and a script that reproduces the fault."""
    world = fault.world
    mark = sha256((world.text() + world.table() + fault.reason).encode()).hexdigest()[:8]
    place = folder / f"{'-'.join(world.cell).replace(' ', '_').replace(':', '').replace(',', '')[:60]}-{mark}"
    place.mkdir(parents=True, exist_ok=True)
    (place / "spec.tml").write_text(f'data "rows.csv"\n{world.text()}', encoding="utf-8")
    (place / "rows.csv").write_text(world.table(), encoding="utf-8")
    known = truth(world)
    right = "not known" if known is None else "no tree" if known.best is None else _text(known.best)
    asked = [(f' --with "{name}"' if name else "") + f" --within {seconds:g}s" for name, seconds in fault.runs]
    lines = ["#!/bin/sh", f"# {fault.reason}", f"# right: {right}", 'cd "$(dirname "$0")"']
    lines += [f"treeml solve spec.tml{options}" for options in asked]
    script = place / "reproduce.sh"
    script.write_text("\n".join(lines) + "\n", encoding="utf-8")
    script.chmod(0o755)
    return place


# -- the schedule ---------------------------------------------------------------------------------------


def is_rejected(claims: Sequence[AttackClaim]) -> bool:
    """Whether no back-end was run, because the spec or its data are wrong."""
    return bool(claims) and all(claim.kind == "rejected" for claim in claims)


def worlds(seed: int, rejected: Sequence[World] = ()) -> Iterator[World]:
    """Endless: all pairs of a goal and a requirement in random order, repeatedly, with others in between.

    If the last world is the last of `rejected` when the next is requested, its pair is drawn again."""
    random = Random(seed)
    number = 0
    while True:
        cells = list(CELLS)
        random.shuffle(cells)
        for cell in cells:
            number += 1
            for _ in range(DRAWS):
                world = random_world(random, *cell)
                yield world
                if not rejected or rejected[-1] is not world:
                    break
            if number % 8 == 4:
                yield planted_world(random)
            if number % 40 == 0:
                yield large_world(random)
            if number % 60 == 30:
                yield forest_world(random)


def usual_backends() -> list[str]:
    """The default choice, and every back-end that proves its answers and runs no other."""
    return [DEFAULT, *(each.name for each in registry.all() if each.can.proves and not each.can.runs_others)]


def variants() -> list[str]:
    """What is tried now and then: declared variants, back-ends that prove nothing, and races of two back-ends."""
    two = ", ".join(each.name for each in list(registry.automatic())[:2])
    return [
        *(f"{each.name}({variant})" for each in registry.all() for variant in each.can.variants),
        *(each.name for each in registry.all() if not each.can.proves and not each.can.runs_others),
        *(f"{each.name}({two})" for each in registry.all() if each.can.proves and each.can.runs_others),
    ]


def backends_for_forests() -> list[str]:
    """The back-ends that are chosen automatically, without the oracle, which only finishes on small worlds."""
    return [DEFAULT, *(each.name for each in registry.automatic() if each.name != OracleBackend.name)]


def backends_for_large_worlds() -> list[str]:
    return [*backends_for_forests(), *(variant for variant in variants() if "threads" in variant)]


def runs_of(world: World, random: Random, usual: Sequence[str], long: float = LONGEST) -> list[tuple[str, float]]:
    """The back-ends to run, and for how long; one of them runs for `long` seconds if short limits are tried."""
    if world.is_large:
        chosen = [backend for backend in backends_for_large_worlds() if not usual or backend in usual]
        short = [(backend, limit) for backend in chosen for limit in random.sample(LIMITS, 2)]
        return [(random.choice(chosen), long), *short] if chosen else []
    if world.forest:
        return [(backend, 20.0) for backend in backends_for_forests() if not usual or backend in usual]
    backends = list(usual) or [*usual_backends(), random.choice(variants())]
    if world.has_planted and not usual:  # most back-ends take all of their time for such a world
        backends = [DEFAULT, *world.backends, random.choice(usual_backends()[2:]), random.choice(variants())]
    return [(backend, world.seconds) for backend in backends]


def attack(
    minutes: float,
    seed: int,
    into: Path,
    backends: Sequence[str] = (),
    tell: Callable[[str], object] = sys.stdout.write,
    most: int | None = None,
) -> int:
    """Attack for this many minutes, or until `most` worlds were tried; returns the number of faults."""
    ends, tally, runner, found = monotonic() + 60 * minutes, AttackTally(), Runner(), 0
    random, rejected = Random(seed), list[World]()
    long = max(5.0, min(LONGEST, 2 * minutes))

    def asked(world: World) -> Iterator[AttackClaim]:
        for backend, within in runs_of(world, random, backends, long):
            claim = runner(world, backend, within)
            yield claim
            if claim.kind == "rejected" and not world.is_large:
                return  # before any back-end was asked

    def again(world: World, runs: Sequence[tuple[str, float]]) -> Iterator[Fault]:
        return faults(world, [runner(world, *run) for run in runs], truth(world))

    try:
        for number, world in enumerate(worlds(seed, rejected)):
            if monotonic() > ends or number == most:
                break
            known = truth(world)
            claims = list(asked(world))
            tally.add(world, claims, known)
            rejected[:] = [world] if is_rejected(claims) else []
            for fault in list(faults(world, claims, known))[:3]:
                found += 1
                small = shrunk(fault, again)
                tell(f"{small.reason}\n  {store(small, into)}\n")
    finally:
        runner.close()
    tell("\n".join(tally.lines()) + f"\n{found} faults\n")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m treeml.testing.attack", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, help="of the first world; unless given, one that is printed")
    parser.add_argument("--with", dest="backends", action="append", default=[], help="only this back-end; repeatable")
    parser.add_argument("--into", type=Path, default=Path("found"), help="folder for what shows a fault again")
    parser.add_argument("--worlds", type=int, help="the maximum number of worlds")
    asked = parser.parse_args(arguments)
    seed = Random().randrange(2**32) if asked.seed is None else asked.seed
    sys.stdout.write(f"seed {seed}\n")
    sys.stdout.flush()

    def tell(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    return 1 if attack(asked.minutes, seed, asked.into, asked.backends, tell, asked.worlds) else 0


if __name__ == "__main__":
    sys.exit(main())
