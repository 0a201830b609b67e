"""Statements and data -> answers: `Model`, the public face of the package, and `load`, `parse` and `solve`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from treeml.lang.source_file import read
from treeml.lang.statements import Statements
from treeml.lang.syntax import ListTrees
from treeml.lang.trust import distrusted
from treeml.solving.options import RunOptions

if TYPE_CHECKING:
    from treeml.backends.contract import OnProgress
    from treeml.lang.diagnostic import Diagnostic
    from treeml.solving.result import Result
    from treeml.solving.why import Why
    from treeml.studies.compare import Comparison
    from treeml.studies.tree_sets.tree_set import TreeSet
    from treeml.studies.tuning import Tuned
    from treeml.trees.tree import Tree


class Model(Statements):
    """A specification that can be solved: build it with the methods, or get one from `load` or `parse`.

    >>> model = Model().predict("disease").maximize(tml.accuracy).require(tml.depth <= 3)
    >>> result = model.solve("heart.csv")
    """

    # imported in the methods: start-up time

    def solve(
        self,
        data: Any = None,
        y: Any = None,
        *,
        backend: str | None = None,
        within: float | str | None = None,
        threads: int | None = None,
        seed: int | None = None,
        gap: float | str | None = None,
        memory: int | str | None = None,
        options: Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
        on_progress: OnProgress | None = None,
        progress: bool = False,
        start: Tree | str | Path | Any = None,
        weight: Any = None,
        untrusted: bool = False,
        cluster: str | None = None,
    ) -> Result:
        """Find the best tree or forest for `data` (a path, a frame, or X with `y`), or for the file the model names.

        >>> result = model.solve(frame, within="5 min", threads=4)
        >>> print(result.tree)

        The arguments take precedence over the model's own `solve` statement:

        - backend: a name, or a name with options: "native(threads = 2)"; options: further options of the back-end
        - within: seconds, or text such as "5 min"; gap: stop at this relative gap; memory: bytes, or text such as "2GB"
        - threads, seed: of the back-end; params: values of the model's params; weight: one number per row
        - start: a Tree, the path of one, or a fitted tree of scikit-learn
        - progress: show a bar, in a notebook under the cell; on_progress: a function called with every step instead
        - untrusted: confine what the model reads to its folder, and limit what it may use (SECURITY.md)
        - cluster: the address of a Dask scheduler, over whose workers the search is spread (docs/large-data.md)
        """
        from treeml.solving import pipeline

        asked = RunOptions(
            backend=backend,
            within=within,
            gap=gap,
            seed=seed,
            threads=threads,
            memory=memory,
            backend_options=options,
            params=params,
            start=start,
            weight=weight,
            untrusted=untrusted,
            cluster=cluster,
        )
        if not progress:
            return pipeline.solve(self, data, y, asked, on_progress)
        if on_progress is not None:
            raise ValueError("progress=True shows a bar and on_progress replaces it: give one of them")
        from treeml.solving.progress import progress_shown

        with progress_shown() as show:
            return pipeline.solve(self, data, y, asked, show)

    def compare(
        self,
        data: Any = None,
        backends: Sequence[str] | None = None,
        *,
        y: Any = None,
        within: float | str | None = None,
        threads: int | None = None,
        seed: int | None = None,
        gap: float | str | None = None,
        memory: int | str | None = None,
        options: Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
        start: Tree | str | Path | Any = None,
        weight: Any = None,
        untrusted: bool = False,
        parallel: int = 1,
        repeat: int = 1,
        on_progress: OnProgress | None = None,
    ) -> Comparison:
        """Solve the model with every capable back-end, or those named, each in its own process, and compare them.

        >>> comparison = model.compare(frame, ["native", "cpsat"], within=60)
        >>> comparison.best.tree

        `parallel` back-ends run at once; each runs `repeat` times, with increasing seeds. The other arguments are
        those of `solve`.
        """
        from treeml.studies.compare import compare

        asked = RunOptions(
            within=within,
            gap=gap,
            seed=seed,
            threads=threads,
            memory=memory,
            backend_options=options,
            params=params,
            start=start,
            weight=weight,
            untrusted=untrusted,
        )
        return compare(
            self, data, backends, y=y, options=asked, parallel=parallel, repeat=repeat, on_progress=on_progress
        )

    def tune(
        self,
        data: Any = None,
        y: Any = None,
        *,
        depth: Sequence[int] | str | None = None,
        price: Sequence[float] | str | None = None,
        support: Sequence[int | str] | str | None = None,
        tolerance: Sequence[float] | str | None = None,
        params: Mapping[str, Sequence[Any] | str] | None = None,
        folds: int | None = None,
        measure: str | None = None,
        rule: str = "1-SE",
        backend: str | None = None,
        within: float | str | None = None,
        threads: int | None = None,
        seed: int | None = None,
        memory: int | str | None = None,
        untrusted: bool = False,
    ) -> Tuned:
        """Choose the size of the tree by cross-validation, and solve for all rows with that size.

        >>> tuned = model.tune("heart.csv", depth=[1, 2, 3], support="5, 10")
        >>> print(tuned.settings, tuned.result.tree)

        - depth, support: limits; price: per leaf, in the unit of the goal; tolerance: the limit on fairness gaps;
          params: values of the model's params. Values are a sequence, or text as in `treeml sweep`: "1..4", "0..5%"
        - folds: 5, or those of the model's `validate`; seed: also that of the folds
        - measure: what unseen rows are measured by; by default the measure of the goal, or else accuracy or mean loss
        - rule: "1-SE" (the smallest tree within one standard error of the best), or "best"
        - the other arguments are those of `solve`, and apply to every tree
        """
        from treeml.studies.sweep import texts_of
        from treeml.studies.tuning import tune

        if rule not in ("1-SE", "best"):
            raise ValueError(f'rule is "1-SE" or "best", not {rule!r}')
        given = {"depth": depth, "price": price, "support": support, "tolerance": tolerance, **(params or {})}
        choices = {name: texts_of(values) for name, values in given.items() if values is not None}
        asked = RunOptions(
            backend=backend, within=within, seed=seed, threads=threads, memory=memory, untrusted=untrusted
        )
        return tune(self, data, y, choices, folds=folds, measure=measure, take_best=rule == "best", options=asked)

    def trees(
        self,
        data: Any = None,
        y: Any = None,
        *,
        most: int | None = None,
        slack: float | str | None = None,
        like: str | None = None,
        within: float | str | None = None,
        memory: int | str | None = None,
        params: Mapping[str, Any] | None = None,
        weight: Any = None,
        untrusted: bool = False,
    ) -> TreeSet:
        """All good trees for `data`, in order, instead of one: counted first, and made when they are looked at.

        >>> model = tml.parse("predict disease minimize errors require depth <= 2")
        >>> trees = model.trees("heart.csv", slack="1 rows")
        >>> trees.count, trees.complete
        (12, True)
        >>> trees.where("leaves <= 3").best_by("parity_gap(sex)")

        - most: how many trees, the best first; slack: trees within this distance of the best value, as text such as
          "2%" (of the best value) or "3 rows", or a number in the unit of the goal; both replace the model's `list`
          statement
        - like: "treefarms" counts trees as that package does (docs/listing.md)
        - within: seconds, or text such as "5 min"; memory: bytes, or text such as "2GB"; the list is then complete up
          to a value that it states
        - params, weight, untrusted: as in `solve`
        """
        from treeml.studies.tree_sets.listing import list_trees

        model: Model = self
        if most is not None or slack is not None or like is not None:
            model = Model(
                [node for node in self.statements if not isinstance(node, ListTrees)],
                folder=self.folder,
                bindings=self.bindings,
                untrusted=self.untrusted,
            ).list_trees(most, within=slack, like=like or "")
        asked = RunOptions(within=within, memory=memory, params=params, weight=weight, untrusted=untrusted)
        return list_trees(model, data, y, asked)

    def check(
        self,
        data: Any = None,
        *,
        backend: str | None = None,
        within: float | str | None = None,
        threads: int | None = None,
        seed: int | None = None,
        gap: float | str | None = None,
        params: Mapping[str, Any] | None = None,
        untrusted: bool = False,
    ) -> tuple[Diagnostic, ...]:
        """Check the model, alone or with data: SpecError lists every mistake, and warnings are returned.

        >>> for warning in model.check(frame):
        ...     print(warning)
        """
        from treeml.solving import checking

        asked = RunOptions(backend, within, gap, seed, threads, params=params, untrusted=untrusted)
        return checking.check_with_data(self, data, asked)

    def explain(
        self,
        data: Any = None,
        *,
        y: Any = None,
        backend: str | None = None,
        options: Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
        untrusted: bool = False,
    ) -> str:
        """Explain how the model would be solved: the back-end, its steps, and the size of the problem.

        >>> print(model.explain(frame, backend="cpsat"))
        """
        from treeml.solving.explain import plan_rows, plan_text

        asked = RunOptions(backend=backend, backend_options=options, params=params, untrusted=untrusted)
        return plan_text(plan_rows(self, data, y, asked))

    def why(
        self,
        data: Any = None,
        nearest: Sequence[str] = (),
        *,
        y: Any = None,
        backend: str | None = None,
        within: float | str | None = None,
        threads: int | None = None,
        seed: int | None = None,
        memory: int | str | None = None,
        options: Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
        untrusted: bool = False,
    ) -> Why:
        """Find out which requirements conflict if no tree meets them all.

        For the requirements in `nearest`, also find the nearest values at which a tree exists.

        >>> print(model.why(frame, nearest=["recall"]))
        """
        from treeml.solving.why import why

        asked = RunOptions(
            backend=backend,
            within=within,
            seed=seed,
            threads=threads,
            memory=memory,
            backend_options=options,
            params=params,
            untrusted=untrusted,
        )
        return why(self, data, y, asked, nearest)


def load(path: Path | str, /, *, untrusted: bool = False, **params: Any) -> Model:
    """Read the model in a .tml file, with values for its params; SpecError lists every mistake in it.

    >>> model = tml.load("heart.tml", price=0.02)

    `untrusted=True` is for files written by somebody else: the model reads from its own folder only, writes nothing,
    and has tight limits (SECURITY.md).
    """
    return Model.parse(read(path, untrusted or distrusted()), untrusted=untrusted, params=params)


def parse(text: str, /, *, untrusted: bool = False, **params: Any) -> Model:
    """Read the model in a .tml text, with values for its params; SpecError lists every mistake in it.

    >>> model = tml.parse("predict disease minimize errors require depth <= 3")

    Paths are relative to the current folder; `untrusted=True` confines the model to it.
    """
    return Model.parse(text, untrusted=untrusted, params=params)


def solve(
    model: Model,
    data: Any = None,
    y: Any = None,
    *,
    backend: str | None = None,
    within: float | str | None = None,
    threads: int | None = None,
    seed: int | None = None,
    gap: float | str | None = None,
    memory: int | str | None = None,
    options: Mapping[str, Any] | None = None,
    params: Mapping[str, Any] | None = None,
    on_progress: OnProgress | None = None,
    progress: bool = False,
    start: Tree | str | Path | Any = None,
    weight: Any = None,
    untrusted: bool = False,
    cluster: str | None = None,
) -> Result:
    """Find the best tree or forest for a model; the arguments are those of `Model.solve`.

    >>> result = tml.solve(tml.load("heart.tml"), "heart.csv", within=60)
    """
    return model.solve(
        data,
        y,
        backend=backend,
        within=within,
        threads=threads,
        seed=seed,
        gap=gap,
        memory=memory,
        options=options,
        params=params,
        on_progress=on_progress,
        progress=progress,
        start=start,
        weight=weight,
        untrusted=untrusted,
        cluster=cluster,
    )
