"""Model, data, what is asked of this run -> a Dataset, a Request, and the plan of the back-end that will solve it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeml.backends.contract import Backend, Deadline, Limits, Refusal
from treeml.data.limits import UNLIMITED, ReadingLimits, reading_limits
from treeml.lang import trust
from treeml.lang.diagnostic import DataError, Diagnostic, Label, RefusedError, SpecError
from treeml.lang.redaction import redacted_data, redacted_start
from treeml.lang.spec import Method, Spec
from treeml.problem.problem import Bound, Problem
from treeml.problem.terms import Depth, Leaves, Sum, Support, Term
from treeml.problem.tree import Node
from treeml.solving.checking import checked
from treeml.system.confinement import Confined

if TYPE_CHECKING:
    from treeml.backends.planning.plan import Plan
    from treeml.data.table import Dataset
    from treeml.measures.lower_dataset import Lowered
    from treeml.model import Model

MEMORY_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


@dataclass(frozen=True, slots=True)
class Request:
    """What one run asks beside the dataset."""

    spec: Spec
    warnings: tuple[Diagnostic, ...] = ()
    options: Mapping[str, Any] | None = None  # of the back-end, given from Python
    memory: int | None = None
    start: Any = None  # a Tree, a fitted estimator of scikit-learn, or a path
    write_model: Path | None = None
    proof: Path | None = None  # a file for the proof that there is no tree
    reading: ReadingLimits = UNLIMITED  # of the files that are read
    named_data: bool = False  # the rows come from the file that the spec names

    def limits(self, begun: float, chosen: Method | None) -> Limits:
        """The limits of a run that began at a moment of the monotonic clock: reading and building count."""
        spec = self.spec
        return Limits(
            deadline=Deadline() if spec.within is None else Deadline(begun + spec.within),
            gap=spec.gap,
            memory=self.memory,
            threads=spec.threads or 1,
            seed=spec.seed or 0,
            options=self.options_for(chosen),
        )

    def options_for(self, chosen: Method | None) -> dict[str, Any]:
        """The options of a back-end: those of the spec, and over them those given from Python."""
        options = {**(chosen.options if chosen is not None else {}), **(self.options or {})}
        if self.write_model is not None:
            options["write"] = str(self.write_model)
        if self.proof is not None:
            options["proof"] = str(self.proof)
        return options

    def files(self) -> dict[str, tuple[Path, tuple[int, int] | None]]:
        """The files that are to be written, and what tells one written now from one that was there before."""
        wanted = {"proof": self.proof, "model": self.write_model}
        return {kind: (path, _file_state(path)) for kind, path in wanted.items() if path is not None}


def _file_state(path: Path) -> tuple[int, int] | None:
    if not path.exists():
        return None
    known = path.stat()
    return known.st_mtime_ns, known.st_size


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """A back-end with its plan, the problem that it was made for, and the options that the spec gives it."""

    plan: Plan
    lowered: Lowered
    method: Method | None = None


def prepare(
    model: Model,
    data: Any = None,
    y: Any = None,
    *,
    weight: Any = None,
    memory: int | str | None = None,
    options: Mapping[str, Any] | None = None,
    start: Any = None,
    write_model: Path | None = None,
    proof: Path | None = None,
    reading: ReadingLimits = UNLIMITED,
    keep: bool = False,
    **asked: Any,
) -> tuple[Dataset, Request]:
    """Check the model, read the data, and bind the two.

    `reading` limits files beyond what is asked of the run; `keep` says that parts of the rows will be learned from,
    as `validate` does.
    """
    from treeml.data.bind import bind

    spec, warnings = checked(model, has_target=y is not None, data=data, **asked)
    allowed = _bytes(memory)
    if spec.untrusted:
        reading = reading_limits(spec) if reading is UNLIMITED else replace(reading, folder=spec.folder)
        allowed = trust.MEMORY if allowed is None else allowed
    reading = reading.tightened(allowed, spec.within)
    request = Request(spec, warnings, options, allowed, start, write_model, proof, reading, data is None)
    with redacted_data(spec, data):
        table = read_data(spec, data, y, weight, reading)
        return bind(spec, table, keep=keep or isinstance(spec.validate, Method)), request


def read_data(
    spec: Spec, data: Any = None, y: Any = None, weight: Any = None, limits: ReadingLimits | None = None
) -> Any:
    """The table that was given, or the one that the spec names, which alone is confined to the folder of the spec."""
    from treeml.data.read import load, load_arrays

    limits = reading_limits(spec) if limits is None else limits
    given = limits if limits.folder is None else replace(limits, folder=None)
    if y is not None or weight is not None:
        return load_arrays(data, y, weight, spec.columns, given)
    if data is not None:
        return load(data, spec.columns, limits=given)
    if spec.data is None:
        raise DataError(
            Diagnostic(
                "D400",
                "there is no data to learn from",
                helps=('name a file in the spec: `data "file.csv"`', "or give one: --data file.csv, solve(frame)"),
            )
        )
    return load(spec.folder / spec.data, spec.columns, span=spec.spans.get("data"), limits=limits)


def choose(dataset: Dataset, request: Request) -> Chosen:
    """The first back-end that the spec names, or of the stated order, that takes the problem."""
    refused: list[tuple[Backend, Refusal]] = []
    for backend, method, outcome, lowered in plans(dataset, request):
        if not isinstance(outcome, list):
            reason = "" if asked_backends(request.spec) else _reason(backend, refused, lowered.problem)
            return Chosen(replace(outcome, reason=reason), lowered, method)
        refused += [(backend, refusal) for refusal in outcome]
    if asked_backends(request.spec):
        raise RefusedError([_refusal(backend, refusal, request.spec) for backend, refusal in refused])
    raise RefusedError(_nobody(refused))


def plans(
    dataset: Dataset, request: Request, everybody: bool = False
) -> Iterator[tuple[Backend, Method | None, Plan | list[Refusal], Lowered]]:
    """For every back-end asked for (or every one there is) its plan, or why it has none."""
    from treeml.backends import registry
    from treeml.backends.planning.plan import plan
    from treeml.solving.preference import preferred

    methods = {} if everybody else {method.name: method for method in asked_backends(request.spec)}
    backends = [registry.get(name) for name in methods] or [
        backend for backend in registry.all() if everybody or backend.name not in registry.ONLY_WHEN_ASKED
    ]
    if request.proof is not None and not everybody:
        backends = _provers(backends, request.spec)
    if request.write_model is not None and not everybody:
        backends = _writers(backends, request.spec, request.write_model)
    made: dict[bool, Lowered] = {}
    if not methods and not everybody:
        made[True] = _lowered(dataset, request, True)
        first = preferred(made[True].problem)
        if first is not None:
            backends.sort(key=lambda backend: backend.name != first[0])
    for backend in backends:
        numeric = _as_they_are(backend, request)
        if numeric not in made:
            made[numeric] = _lowered(dataset, request, numeric)
        method = methods.get(backend.name)
        outcome = plan(made[numeric].problem, backend, request.options_for(method))
        yield backend, method, outcome, made[numeric]


def _as_they_are(backend: Backend, request: Request) -> bool:
    """Does the back-end take ordered columns without tests made of them? For one that improves, do its inner ones?

    A greedy start looks at every test, so it needs them made.
    """
    if backend.name != "improve" or request.spec.improve is None:
        return backend.can.numeric
    from treeml.backends.improve.backend import inner_backends

    given = request.start is not None or isinstance(request.spec.start, str)
    return given and all(inner.can.numeric for inner in inner_backends(asked_backends(request.spec)[0].options))


def _provers(backends: list[Backend], spec: Spec) -> list[Backend]:
    """Those that write proofs; where others were asked for by name, that is a mistake."""
    able = [backend for backend in backends if "proof" in backend.options]
    if not able or (spec.backends and len(able) < len(backends)):
        lacking = next(backend.name for backend in backends if backend not in able)
        raise RefusedError(
            Diagnostic(
                "B503",
                f"{lacking} writes no proof",
                notes=("a proof shows that no tree meets the requirements; back-ends on clauses can write one",),
                helps=("ask sat: --with sat --proof no-tree.drup",),
                place="--proof",
            )
        )
    return able


def _writers(backends: list[Backend], spec: Spec, path: Path) -> list[Backend]:
    """Those that write models under such a name; where others were asked for by name, that is a mistake."""
    from treeml.backends import registry

    able = [backend for backend in backends if path.suffix in backend.can.writes]
    if not able or (spec.backends and len(able) < len(backends)):
        lacking = next(backend.name for backend in backends if backend not in able)
        writers = [backend for backend in registry.all() if backend.can.writes]
        fitting = next((backend.name for backend in writers if path.suffix in backend.can.writes), None)
        raise RefusedError(
            Diagnostic(
                "B503",
                f"{lacking} writes no model as {path.name}" if spec.backends else f"no back-end writes {path.name}",
                notes=tuple(f"{backend.name} writes {' or '.join(backend.can.writes)}" for backend in writers),
                helps=(f"ask {fitting}: --with {fitting}" if fitting else "give the file one of these endings",),
                place="--write",
            )
        )
    return able


def _lowered(dataset: Dataset, request: Request, numeric: bool) -> Lowered:
    from treeml.measures.lower_dataset import lower

    spec = request.spec
    with redacted_data(spec, None if request.named_data else dataset):
        if spec.ensemble is not None:
            from treeml.forests.boost import lower_one_tree

            return lower_one_tree(dataset, numeric)  # who can grow one tree can grow those of a forest
        return lower(dataset, numeric=numeric)


def asked_backends(spec: Spec) -> tuple[Method, ...]:
    """The back-ends that the spec names; `improve by subtrees(...)` is one around those of `solve with`."""
    if spec.improve is None:
        return spec.backends
    options = dict(spec.improve.options)
    if spec.backends:
        options["backends"] = spec.backends
    if spec.improve_within is not None:
        options["seconds"] = spec.improve_within
    if "checkpoint" in options and not isinstance(options["checkpoint"], Confined):
        options["checkpoint"] = str(spec.folder / options["checkpoint"])
    return (Method("improve", options, spec.improve.span),)


def starting_tree(dataset: Dataset, request: Request, lowered: Lowered) -> Node | None:
    """The tree to start from, over the tests of the problem: from Python, from a file, or grown greedily.

    What is to be improved has to meet the requirements; a mere search does without a start that does not.
    """
    from treeml.trees.importing.read import lower_start, read_start, refuse_broken

    source = request.start if request.start is not None else request.spec.start
    span = request.spec.spans.get("start")
    if source is None:
        return None
    if isinstance(source, Method):
        node = _greedy_start(lowered.problem, source.options)
        if node is None and request.spec.improve is not None:
            free = lowered.problem.asking(lowered.problem.goals, ())
            node = _greedy_start(free, source.options)
    else:
        named = isinstance(source, str) and request.start is None
        path = request.spec.folder / source if named else source
        confined = request.spec.folder if named and request.spec.untrusted else None
        with redacted_start(request.spec, request.start):
            node = lower_start(read_start(path, dataset, confined, span), lowered, span)
    if node is not None and request.spec.improve is not None:
        refuse_broken(node, lowered.problem, span)
    return node


def _greedy_start(problem: Problem, options: Mapping[str, Any]) -> Node | None:
    """A greedy tree within the problem's bounds and those that `start from cart(...)` adds; None if it misses one."""
    from treeml.backends.heuristics.cart import CartBackend

    kinds: dict[str, tuple[Term, str]] = {
        "depth": (Depth(), "<="),
        "leaves": (Leaves(), "<="),
        "support": (Support(), ">="),
    }
    extra = tuple(
        Bound(Sum(((Fraction(1), kinds[name][0]),)), kinds[name][1], Fraction(value))
        for name, value in options.items()
        if name in kinds
    )
    other = {name: value for name, value in options.items() if name not in kinds}
    return CartBackend().solve(problem.asking(problem.goals, problem.bounds + extra), Limits(options=other)).tree


def _bytes(memory: int | str | None) -> int | None:
    return amount_of_memory(memory) if isinstance(memory, str) else memory


def amount_of_memory(memory: str) -> int:
    """Bytes of `500MB` or `2GB`; SpecError for anything else."""
    match = re.fullmatch(r"(\d{1,30}(?:\.\d{1,30})?)\s*([A-Za-z]*)", memory.strip())
    unit = match and MEMORY_UNITS.get(match[2].upper())
    if not match or not unit:
        raise SpecError(
            Diagnostic(
                "T330", f"`{memory}` is not an amount of memory", place="--memory", helps=("write 500MB or 2GB",)
            )
        )
    return int(Fraction(match[1]) * unit)


def _reason(backend: Backend, refused: list[tuple[Backend, Refusal]], problem: Problem) -> str:
    from treeml.backends import registry
    from treeml.solving.preference import preferred

    first = preferred(problem)
    if first is not None and first[0] == backend.name:
        return first[1]
    others = "; ".join(dict.fromkeys(refusal.because for _, refusal in refused))
    order = ", ".join(registry.PREFERENCE)
    return f"{backend.name} is the first of {order} that takes this problem" + (f" ({others})" if others else "")


def _nobody(refused: list[tuple[Backend, Refusal]]) -> Diagnostic:
    notes = dict.fromkeys(f"{backend.name}: {refusal.because}" for backend, refusal in refused)
    helps = dict.fromkeys(refusal.instead for _, refusal in refused if refusal.instead)
    return Diagnostic("B505", "no back-end takes this specification", notes=tuple(notes), helps=tuple(helps))


def _refusal(backend: Backend, refusal: Refusal, spec: Spec) -> Diagnostic:
    """One reason as a diagnostic: the line that asks for it, and the line that asks for the back-end."""
    labels = []
    for requirement in spec.requirements:
        if (
            requirement.span is not None
            and requirement.name
            and refusal.feature == f"the requirement {requirement.name}"
        ):
            labels.append(Label(requirement.span, "asked for here"))
    for goal in spec.goals:
        if goal.span is not None and goal.text and refusal.feature == f"the goal {goal.text}":
            labels.append(Label(goal.span, "asked for here"))
    method = next((method for method in asked_backends(spec) if method.name == backend.name), None)
    if method is not None and method.span is not None:
        labels.append(Label(method.span, f"{backend.name}: {backend.summary}"))
    helps = [refusal.instead] if refusal.instead else []
    helps.append("`treeml backends spec.tml` shows who can solve what, and why not")
    return Diagnostic("B501", refusal.because, tuple(labels), (), tuple(helps), place=refusal.feature)
