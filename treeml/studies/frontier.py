"""Jobs that differ in the limits of requirements alone -> chains from tight to loose, in which answers are reused.

No tree of tighter limits is missing among the trees of looser ones. So the optimum at looser limits bounds the optimum
at tighter ones, a tree of tighter limits is a start at looser ones, and there are points that need no search: if the
optimum at looser limits keeps the tighter ones already, or is as good as a tree of even tighter limits. Such an answer
is verified like any other, and its evidence names the proof that it rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from time import monotonic
from typing import TYPE_CHECKING

from treeml.backends.claims import BOUND, INFEASIBLE, OPTIMAL, Evidence, supporting
from treeml.backends.contract import Answer, Status, Stop
from treeml.lang.diagnostic import BackendError, Diagnostic, SpecError
from treeml.studies.comparison.jobs import Job, checked_spec
from treeml.studies.comparison.record import Record, of_error, of_result

if TYPE_CHECKING:
    from treeml.lang.spec import Requirement, Spec
    from treeml.solving.choice import Chosen
    from treeml.solving.result import Result
    from treeml.solving.verify import Verification
    from treeml.trees.tree import Tree


@dataclass(slots=True, eq=False)
class Chain:
    """Jobs in order, the tightest first, with the records and results of those that are done."""

    jobs: list[Job]
    specs: list[Spec]
    done: dict[int, tuple[Record, Result | None]] = field(default_factory=dict)

    @property
    def open(self) -> list[int]:
        return [place for place in range(len(self.jobs)) if place not in self.done]

    def next_jobs(self, at_once: int) -> list[Job]:
        """The loosest, the tightest, then again the loosest that is open; each starts from a tree of tighter limits.

        In this order every optimum is proved once, at the loosest limits that have it: its tree answers all tighter
        limits that it keeps. If several jobs may run at once, some of the tighter ones are begun too.
        """
        if not self.done:
            places = [len(self.jobs) - 1]
        elif 0 not in self.done:
            places = [0]
        else:
            step = max(1, len(self.open) // at_once)
            places = self.open[::-1][::step][:at_once]
        return [self.with_start(place) for place in places]

    def with_start(self, place: int) -> Job:
        job = self.jobs[place]
        tree = next((tree for tree in self.tighter_trees(place)), None)
        if tree is None or job.options.start is not None or self.specs[place].start is not None:
            return job
        return replace(job, options=replace(job.options, start=tree))

    def tighter_trees(self, place: int) -> Iterator[Tree]:
        """Trees of tighter limits, the nearest first."""
        for other in range(place - 1, -1, -1):
            result = self.done.get(other, ({}, None))[1]
            if result is not None and result.tree is not None:
                yield result.tree

    def take(self, record: Record, result: Result | None) -> Record:
        """Keeps what a job has found; the record, with the bound of looser limits if the job proved less itself."""
        key = record["key"]
        place = next(place for place, each in enumerate(self.jobs) if each.about["key"] == key)
        looser = self.looser(place)
        if result is not None and looser is not None:
            source, proof = looser
            try:
                _object(result, proof, _params(source))
                better = _bounded(self.jobs[place], result, proof, _params(source))
            except BackendError as error:
                better, record, result = None, {**record, **of_error(error)}, None
            if better is not None:
                times = {name: value for name, value in record.items() if name.endswith("seconds") or name == "trace"}
                record, result = {**record, **of_result(better), **times, "reused": _source(source)}, better
        self.done[place] = (record, result)
        return record

    def reused(self) -> Iterator[Record]:
        """The records of all open points that what is done answers."""
        for place in reversed(self.open):  # from loose to tight: an answered point can answer the next one
            found = self.answered(place)
            if found is not None:
                self.done[place] = found
                yield found[0]

    def looser(self, place: int) -> tuple[Record, Result] | None:
        """The proof for the nearest looser limits that were searched and have one."""
        for other in range(place + 1, len(self.jobs)):
            record, result = self.done.get(other, ({}, None))
            if result is None or "reused" in record:
                continue  # what it rests on is a proof for even looser limits, with the same values
            if result.status in (Status.OPTIMAL, Status.INFEASIBLE):
                return record, result
        return None

    def answered(self, place: int) -> tuple[Record, Result] | None:
        looser = self.looser(place)
        if looser is None:
            return None
        record, proof = looser
        trees: list[Tree | None] = [proof.tree, *self.tighter_trees(place)][:2]
        for tree in trees:
            result = _reused(self.jobs[place], proof, tree, _params(record))
            if result is not None:
                return _recorded(self.jobs[place], result, record), result
        return None


def chains_of(jobs: Sequence[Job]) -> list[Chain]:
    """The chains of two jobs or more; jobs of one chain differ in the limits of requirements alone."""
    chains: list[Chain] = []
    for job in jobs:
        spec = _reusable(job)
        if spec is None:
            continue
        for chain in chains:
            place = _place_in(chain, job, spec)
            if place is not None:
                chain.jobs.insert(place, job)
                chain.specs.insert(place, spec)
                break
        else:
            chains.append(Chain([job], [spec]))
    return [chain for chain in chains if len(chain.jobs) > 1]


def _reusable(job: Job) -> Spec | None:
    """The spec of a job whose answer is a single tree for all rows, and that writes no files."""
    if job.case.fold is not None or job.options.write_model is not None or job.options.proof is not None:
        return None
    spec = checked_spec(job.case, job.options)
    alone = spec.ensemble is None and spec.improve is None and spec.validate is None and not spec.gap
    return spec if alone else None


def _place_in(chain: Chain, job: Job, spec: Spec) -> int | None:
    """Where the job belongs in the chain; None if it does not."""
    other = chain.jobs[0]
    same = ("spec", "data", "backend", "repeat", "seed")
    if any(job.about[name] != other.about[name] for name in same) or job.case.data is not other.case.data:
        return None
    if _without_limits(spec) != _without_limits(chain.specs[0]):
        return None
    for place, each in enumerate(chain.specs):
        if not is_tighter(each, spec):
            return place if all(is_tighter(spec, later) for later in chain.specs[place:]) else None
    return len(chain.specs)


def _without_limits(spec: Spec) -> Spec:
    plain = tuple(replace(each, limit=each.limit * 0, name="") for each in spec.requirements)
    return replace(spec, params={}, requirements=plain)


def is_tighter(one: Spec, other: Spec) -> bool:
    """Does every tree that meets the requirements of the first meet those of the second?"""
    return all(map(_is_tighter, one.requirements, other.requirements))


def _is_tighter(one: Requirement, other: Requirement) -> bool:
    if one.sense == "<=":
        return one.limit <= other.limit
    return one.limit >= other.limit if one.sense == ">=" else one.limit == other.limit


def _reused(job: Job, proof: Result, tree: Tree | None, where: str) -> Result | None:
    """The answer to a job by a proof of looser limits, verified; None if the tree does not answer it."""
    return _verified(job, proof, lambda chosen: _claimed(proof, tree, chosen, where))


def _bounded(job: Job, result: Result, proof: Result, where: str) -> Result | None:
    """The result of a job that was stopped, with the optimum of looser limits as its bound; None if that says less."""
    return _verified(job, proof, lambda chosen: _with_bound(result, proof, chosen, where))


def _object(result: Result, proof: Result, where: str) -> None:
    """Raises if a tree of tighter limits is better than the optimum of looser ones, or exists where there is none."""
    if result.exact is None or proof.tolerance or result.tolerance:
        return
    if proof.status is Status.INFEASIBLE:
        raise BackendError(_contradiction(f"it has a tree here, and says infeasible for {where}"))
    if proof.exact is not None and _minimized(result.exact) < _minimized(proof.exact):
        raise BackendError(_contradiction(f"its tree here is better than what it calls optimal for {where}"))


def _minimized(exact: Verification) -> tuple[Fraction, ...]:
    return tuple(-goal.value if goal.sense == "maximize" else goal.value for goal in exact.goals)


def _contradiction(note: str) -> Diagnostic:
    notes = (note, "every tree within tighter limits is within the looser ones")
    return Diagnostic("B514", "the back-end contradicts itself", notes=notes)


def _verified(job: Job, proof: Result, claim: Callable[[Chosen], Answer | None]) -> Result | None:
    """A claim about the problem of a job, checked and verified as the answer of a back-end is."""
    from treeml.backends.run import checked
    from treeml.solving.choice import lower, plan
    from treeml.solving.pipeline import prepare, verified_result
    from treeml.solving.result import Clock

    begun = monotonic()
    case = job.case
    try:
        dataset, request = prepare(case.model, case.data, case.y, job.options)
        chosen = plan(lower(dataset, request), request)
    except SpecError:
        return None  # the job itself will say what is wrong
    answer = claim(chosen) if chosen.plan.backend.name == proof.backend else None
    if answer is None:
        return None
    return verified_result(checked(chosen.plan, answer), chosen, dataset, request, Clock(begun, monotonic()))


def _with_bound(result: Result, proof: Result, chosen: Chosen, where: str) -> Answer | None:
    from treeml.problem.evaluate import evaluate_goals
    from treeml.trees.importing.read import lower_start

    problem = chosen.plan.problem
    basis = supporting(proof.evidence, BOUND)
    if result.status not in (Status.FEASIBLE, Status.UNKNOWN):
        return None
    if len(problem.goals) != 1 or proof.status is not Status.OPTIMAL or proof.exact is None or not basis:
        return None
    sign = -1 if problem.goals[0].negated else 1
    value = proof.exact.objective[0]
    bound = sign * value - Fraction(proof.tolerance) * max(Fraction(1), abs(value))  # it is relative in a result
    if result.bound is not None and bound <= sign * Fraction(result.bound):
        return None
    evidence = (Evidence("looser limits", where, basis),)
    notes = (*result.notes, f"its bound is the optimum for {where}")
    if result.tree is None:
        return Answer(result.status, result.stop, bound=bound, notes=notes, evidence=evidence)
    node = lower_start(result.tree, chosen.lowered)
    values = evaluate_goals(problem, node)
    answer = Answer(result.status, result.stop, node, values, bound, notes=notes, evidence=evidence)
    if bound < values[0] or proof.tolerance:
        return answer
    met = (Evidence("bound meets tree", "", evidence),)
    return replace(answer, status=Status.OPTIMAL, stop=Stop.PROVED, evidence=met)


def _claimed(proof: Result, tree: Tree | None, chosen: Chosen, where: str) -> Answer | None:
    from treeml.problem.evaluate import evaluate_goals, is_answer
    from treeml.trees.importing.read import lower_start

    problem = chosen.plan.problem
    note = f"answered without a search, by the proof for {where}"
    if proof.status is Status.INFEASIBLE:
        evidence = Evidence("looser limits", where, supporting(proof.evidence, INFEASIBLE))
        return Answer(Status.INFEASIBLE, Stop.PROVED, conflict=proof.conflict, notes=(note,), evidence=(evidence,))
    if tree is None or proof.exact is None or proof.tolerance:
        return None
    node = lower_start(tree, chosen.lowered)
    if not is_answer(problem, node):
        return None
    values = evaluate_goals(problem, node)
    signs = [-1 if goal.negated else 1 for goal in problem.goals]
    if tuple(sign * value for sign, value in zip(signs, values, strict=True)) != proof.exact.objective:
        return None
    evidence = Evidence("looser limits", where, supporting(proof.evidence, OPTIMAL))
    bound = values[-1] if values and evidence.supports(BOUND) else None
    return Answer(Status.OPTIMAL, Stop.PROVED, node, values, bound, notes=(note,), evidence=(evidence,))


def _recorded(job: Job, result: Result, source: Record) -> Record:
    seconds = round(result.seconds, 6)
    found = None if result.tree is None else seconds
    times = {"first_tree_seconds": found, "best_seconds": found, "proof_seconds": seconds}
    known = {"peak_memory": source.get("peak_memory"), "version": source.get("version", "")}
    backend = {"backend": job.backend or result.backend}
    return {**job.about, **of_result(result), **times, **known, **backend, "reused": _source(source)}


def _source(record: Record) -> Record:
    """The combination whose proof was used."""
    return {"key": record["key"], "params": record["params"]}


def _params(record: Record) -> str:
    return ", ".join(f"{name} = {value}" for name, value in record.get("params", {}).items())
