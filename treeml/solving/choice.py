"""Dataset, request -> the problem, and the plan of the back-end that will solve it: the stages `lower` and `plan`.

A back-end that the spec names is used, or says why it cannot. Otherwise back-ends are tried in the order of the
registry, unless measurements prefer another one first (`preference.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from treeml.backends import registry
from treeml.backends.contract import Answer, Backend, Limits, OnProgress, Refusal
from treeml.backends.planning import plan as planning
from treeml.backends.planning.plan import Plan
from treeml.backends.portfolio.accompany import accompanied, alone
from treeml.backends.run import run
from treeml.data.table import Dataset
from treeml.lang.diagnostic import Diagnostic, Label, RefusedError
from treeml.lang.spec import Method, Spec
from treeml.measures import lower_dataset
from treeml.measures.lower_dataset import Lowered
from treeml.problem.answers import has_many_answers
from treeml.problem.tree import Node
from treeml.solving.preference import preferred
from treeml.solving.request import Request
from treeml.solving.rows import discreet
from treeml.system.confinement import Confined

IMPROVE = "improve"  # `improve by subtrees(...)` in a spec is another way to name this back-end


class Problems:
    """The problem of a dataset in two forms, each made when a back-end first needs it."""

    def __init__(self, dataset: Dataset, request: Request) -> None:
        self.dataset, self.request = dataset, request
        self._made: dict[bool, Lowered] = {}

    def form(self, *, numeric: bool) -> Lowered:
        """With ordered columns as they are (`numeric`), or with tests made of them."""
        if numeric not in self._made:
            with discreet(self.request):
                self._made[numeric] = self._lowered(numeric)
        return self._made[numeric]

    def _lowered(self, numeric: bool) -> Lowered:
        if self.request.spec.ensemble is not None:
            from treeml.forests.pricing_problem import lower_one_tree  # imported here: start-up time

            return lower_one_tree(self.dataset, numeric)  # the back-end grows the trees of the forest one by one
        return lower_dataset.lower(self.dataset, numeric=numeric)


def lower(dataset: Dataset, request: Request) -> Problems:
    """The problem that back-ends are asked to solve."""
    return Problems(dataset, request)


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """A back-end with its plan, the problem that it was made for, and the options that the spec gives it."""

    plan: Plan
    lowered: Lowered
    method: Method | None = None
    has_company: bool = False  # may a second thread look for better trees beside it?
    races: bool = False  # is it compared with others? Then a stopped run gets no tree from elsewhere

    def run(self, limits: Limits, start: Node | None = None, on_progress: OnProgress | None = None) -> Answer:
        if self.has_company:
            return accompanied(self.plan, limits, start, on_progress)
        return (run if self.races else alone)(self.plan, limits, start, on_progress)


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A back-end with its plan, or with its reasons for refusing the problem."""

    backend: Backend
    outcome: Plan | list[Refusal]
    lowered: Lowered
    method: Method | None = None


def plan(problems: Problems, request: Request, *, may_prove_nothing: bool = True) -> Chosen:
    """The plan of the first back-end that takes the problem; RefusedError if none does.

    If none that proves anything does, it is that of a greedy tree, unless that would be of no use.
    """
    named = named_backends(request.spec)
    if request.cluster is not None:
        return _on_cluster(problems, request, request.cluster, named)
    first = None if named else preferred(problems.form(numeric=True).problem)
    ahead = None if first is None else first[0]
    refused: list[tuple[Backend, Refusal]] = []
    methods = {method.name: method for method in named}
    backends = _backends(request, named, ahead)
    for candidate in _candidates(backends, methods, problems, request, names_others=bool(named)):
        if isinstance(candidate.outcome, Plan):
            reason = "" if named else reason_for(candidate.backend, refused, first)
            planned = replace(candidate.outcome, reason=reason)
            has_company = not named and _may_have_company(request)
            return Chosen(planned, candidate.lowered, candidate.method, has_company, request.races)
        refused += [(candidate.backend, refusal) for refusal in candidate.outcome]
    if named:
        raise RefusedError([_refusal(backend, refusal, request.spec) for backend, refusal in refused])
    easier = _easier(problems, request, refused)
    if easier is None and may_prove_nothing:
        easier = _greedy(problems, request, refused)
    if easier is not None:
        return easier
    every = _candidates(_backends(request, named, ahead), methods, problems, request)
    raise RefusedError(_all_refused(list(every)))


def _easier(problems: Problems, request: Request, refused: list[tuple[Backend, Refusal]]) -> Chosen | None:
    """For a problem that no back-end takes: one that bounds it while trees are looked for; None if there is none."""
    if not _asks_for_a_tree(request):
        return None
    from treeml.backends.portfolio.relaxed import relaxed_plan  # imported here: start-up time

    because = _reasons(refused)
    backend = registry.get(registry.default_name())
    for numeric in (True, False) if backend.can.numeric else (False,):
        lowered = problems.form(numeric=numeric)
        planned = relaxed_plan(lowered.problem, backend, f"no back-end takes this problem as a whole ({because})")
        if planned is not None:
            return Chosen(planned, lowered, None, _may_have_company(request), request.races)
    return None


def _greedy(problems: Problems, request: Request, refused: list[tuple[Backend, Refusal]]) -> Chosen | None:
    """For a problem that none even bounds: a greedy tree, from which the second thread goes on."""
    if not _asks_for_a_tree(request):
        return None
    from treeml.backends.heuristics.cart import CartBackend  # imported here: start-up time

    lowered = problems.form(numeric=False)
    planned = planning.plan(lowered.problem, CartBackend(), names_others=False)
    if not isinstance(planned, Plan):
        return None
    reason = f"no back-end that proves anything takes this problem ({_reasons(refused)})"
    return Chosen(replace(planned, reason=reason), lowered, None, _may_have_company(request), request.races)


def _asks_for_a_tree(request: Request) -> bool:
    """Is one tree all that is asked for: no forest, no list of trees, and no file from the search?"""
    return not request.files() and request.spec.ensemble is None and request.spec.listing is None


def _reasons(refused: list[tuple[Backend, Refusal]]) -> str:
    return "; ".join(dict.fromkeys(refusal.because for _, refusal in refused))


def _backends(request: Request, named: tuple[Method, ...], first: str | None) -> Iterable[Backend]:
    """The back-ends to try, in order: those that the spec names, or `first` and all others that may be chosen."""
    if not named and first is None and not request.files():
        return registry.automatic()
    backends = [registry.get(method.name) for method in named] or list(registry.automatic())
    if request.proof is not None:
        backends = _provers(backends, request.spec)
    if request.write_model is not None:
        backends = _writers(backends, request.spec, request.write_model)
    return sorted(backends, key=lambda backend: backend.name != first) if first is not None else backends


def _on_cluster(problems: Problems, request: Request, address: str, named: tuple[Method, ...]) -> Chosen:
    """The plan for a cluster, which runs the native solver; RefusedError if the spec asks for another one."""
    from treeml.backends.cluster.backend import ClusterBackend  # imported here: start-up time

    other = next((method for method in named if method.name != "native" or method.options), None)
    if other is not None or request.files():
        what = "files of a solver" if other is None else f"`{other.name}`" if not other.options else "options"
        raise RefusedError(
            Diagnostic(
                "B501",
                f"a cluster runs native as it is, without {what}",
                (() if other is None or other.span is None else (Label(other.span, "asked for here"),)),
                helps=("leave out `--cluster`, or the back-end",),
                place="--cluster",
            )
        )
    backend = ClusterBackend(address)
    (candidate,) = _candidates([backend], {}, problems, request)
    if isinstance(candidate.outcome, Plan):
        return Chosen(candidate.outcome, candidate.lowered, has_company=_may_have_company(request))
    raise RefusedError([_refusal(backend, refusal, request.spec) for refusal in candidate.outcome])


def _may_have_company(request: Request) -> bool:
    """One thread that is asked for is one thread, and options from Python or files to write are for one back-end."""
    return request.spec.threads != 1 and not request.backend_options and not request.files()


def every_plan(problems: Problems, request: Request) -> Iterator[Candidate]:
    """The plan of every registered back-end, or its reasons for refusing."""
    return _candidates(registry.all(), {}, problems, request)


def _candidates(
    backends: Iterable[Backend],
    methods: Mapping[str, Method],
    problems: Problems,
    request: Request,
    *,
    names_others: bool = True,
) -> Iterator[Candidate]:
    for backend in backends:
        method = methods.get(backend.name)
        lowered = problems.form(numeric=_takes_numbers(backend, method, problems))
        options = request.options_for(method)
        outcome = planning.plan(lowered.problem, backend, options, names_others=names_others)
        if not isinstance(outcome, Plan) and backend.can.numeric and has_many_answers(lowered.problem):
            # Every threshold may be too much for a goal that needs a test for each; cuts by quantiles are not.
            coarse = problems.form(numeric=False)
            on_coarse = planning.plan(coarse.problem, backend, options, names_others=names_others)
            if isinstance(on_coarse, Plan):
                outcome, lowered = on_coarse, coarse
        yield Candidate(backend, outcome, lowered, method)


def named_backends(spec: Spec) -> tuple[Method, ...]:
    """The back-ends that the spec names; `improve by subtrees(...)` is one that runs those of `solve with`."""
    if spec.improve is None:
        return spec.backends
    options = dict(spec.improve.options)
    if spec.backends:
        options["backends"] = spec.backends
    if spec.improve_within is not None:
        options["seconds"] = spec.improve_within
    if "checkpoint" in options and not isinstance(options["checkpoint"], Confined):
        options["checkpoint"] = str(spec.folder / options["checkpoint"])
    return (Method(IMPROVE, options, spec.improve.span),)


def _takes_numbers(backend: Backend, method: Method | None, problems: Problems) -> bool:
    """Does the back-end take ordered columns as they are? `improve` does if its inner back-ends do.

    Without a tree to start from, it also needs a goal for which one can be grown on columns as they are: other greedy
    trees look at every test, so the tests have to be made for them.
    """
    if backend.name != IMPROVE or method is None:
        return backend.can.numeric
    # imported here: start-up time
    from treeml.backends.improve.backend import grows_on_numbers, inner_backends

    if not all(inner.can.numeric for inner in inner_backends(method.options)):
        return False
    request = problems.request
    has_tree = request.start is not None or isinstance(request.spec.start, str)
    return has_tree or (request.spec.start is None and grows_on_numbers(problems.form(numeric=True).problem))


def _provers(backends: list[Backend], spec: Spec) -> list[Backend]:
    """The back-ends that write proofs; naming another one is a mistake."""
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
    """The back-ends that write models to a file with this suffix; naming another one is a mistake."""
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


def reason_for(backend: Backend, refused: list[tuple[Backend, Refusal]], first: tuple[str, str] | None) -> str:
    if first is not None and first[0] == backend.name:
        return first[1]
    others = _reasons(refused)
    order = ", ".join(registry.PREFERENCE)
    return f"{backend.name} is the first of {order} that takes this problem" + (f" ({others})" if others else "")


def _all_refused(candidates: list[Candidate]) -> Diagnostic:
    refused = [
        (candidate.backend, refusal)
        for candidate in candidates
        if not isinstance(candidate.outcome, Plan)
        for refusal in candidate.outcome
    ]
    notes = dict.fromkeys(f"{backend.name}: {refusal.because}" for backend, refusal in refused)
    helps = dict.fromkeys(refusal.instead for _, refusal in refused if refusal.instead)
    return Diagnostic("B505", "no back-end takes this specification", notes=tuple(notes), helps=tuple(helps))


def _refusal(backend: Backend, refusal: Refusal, spec: Spec) -> Diagnostic:
    """One reason, with the line that asks for the feature and the line that names the back-end."""
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
    method = next((method for method in named_backends(spec) if method.name == backend.name), None)
    if method is not None and method.span is not None:
        labels.append(Label(method.span, f"{backend.name}: {backend.summary}"))
    helps = [refusal.instead] if refusal.instead else []
    helps.append("`treeml backends spec.tml` shows who can solve what, and why not")
    return Diagnostic("B501", refusal.because, tuple(labels), (), tuple(helps), place=refusal.feature)
