"""The name of a suite, a folder with data -> its entries: a spec, a data set and the published figure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.lang.statements import Statements
from treeml.studies.bench.figures import FIGURES, Figure
from treeml.studies.bench.generated import GENERATED, write


@dataclass(frozen=True, slots=True)
class SuiteEntry:
    """One problem of a suite."""

    suite: str
    set: str
    depth: int  # 0 if the suite minimizes the depth or does not limit it
    spec: str
    data: Path
    measure: str  # compared with the figure: "objective", or the name of a measure
    figure: Figure | None


@dataclass(frozen=True, slots=True)
class Suite:
    """Problems that were published together."""

    summary: str
    folder: str  # within the data folder
    generated: tuple[str, ...]  # data sets to use without a data folder
    depths: tuple[int, ...]
    spec: Callable[[int], str]
    measure: str = "objective"
    also: tuple[str, ...] = ()  # single files in other folders


def _errors(depth: int) -> str:
    return f"predict label minimize errors require depth <= {depth}"


def _least_depth(_: int) -> str:
    return "predict label minimize depth then minimize leaves require errors = 0"


def _boosting(depth: int) -> str:
    return f"predict label ensemble by lpboost(penalty = 0.125) maximize margin require depth <= {depth}"


def _variance(depth: int) -> str:
    return f"predict label ensemble by mdboost(penalty = 12) maximize margin require depth <= {depth}"


def _improvement(_: int) -> str:
    return f"{_SHALLOWER} start from cart(criterion = gain_ratio, prune = none)"


_SHALLOWER = "predict label improve by subtrees minimize depth require errors = 0"
_STARTS = ("weka", "iti")  # programs whose trees lie beside the folds, as fold0-weka.txt


SUITES: Mapping[str, Suite] = {
    "cp4im": Suite(
        "the fewest errors on binary sets, depth 2 to 4", "cp4im", ("tic-tac-toe", "car"), (2, 3, 4), _errors
    ),
    "numeric": Suite(
        "the fewest errors at depth 2, numeric columns as they are",
        "numeric",
        ("balance-scale", "car", "tic-tac-toe"),
        (2,),
        _errors,
        also=tuple(f"mixed/monks-{number}-train.csv" for number in (1, 2, 3)),
    ),
    "least-depth": Suite(
        "the shallowest perfect tree, and the smallest of those",
        "boolean",
        ("mux6", "monk1", "monk2", "monk3", "car-ordered"),
        (0,),
        _least_depth,
        also=(
            *(f"numeric/{name}.csv" for name in ("banknote", "cryotherapy", "iris", "wine")),
            "mixed/monks-2-train.csv",
        ),
    ),
    "boosting": Suite("forests with the best soft minimum margin", "cp4im", ("tic-tac-toe", "monk2"), (3,), _boosting),
    "boosting-variance": Suite(
        "forests whose margins are high and vary little", "cp4im", ("tic-tac-toe", "monk2"), (3,), _variance
    ),
    "improvement": Suite(
        "deep trees made shallower by exact subtrees", "slim", ("car", "tic-tac-toe"), (0,), _improvement, "depth"
    ),
}


def entries(name: str, data_dir: Path | None, made: Path) -> Iterator[SuiteEntry]:
    """Every data set of the suite at every depth; generated data sets are written to the folder `made`."""
    suite = SUITES[name]
    for set_name, path in _sets(suite, data_dir, made):
        starts = _start_trees(path) if name == "improvement" else {}
        for program, tree in starts.items():
            own = f"{set_name}-{program}"
            spec = str(Statements.parse(_SHALLOWER).start_from(tree))
            yield SuiteEntry(name, own, 0, spec, path, suite.measure, FIGURES.get((name, own, 0)))
        for depth in suite.depths if not starts else ():
            figure = FIGURES.get((name, set_name, depth))
            yield SuiteEntry(name, set_name, depth, suite.spec(depth), path, suite.measure, figure)


def _start_trees(data: Path) -> dict[str, Path]:
    """The trees of other programs in the folder of a fold."""
    if data.name != "fold0-train.csv":
        return {}
    found = {program: data.with_name(f"fold0-{program}.txt").resolve() for program in _STARTS}
    return {program: path for program, path in found.items() if path.exists()}


def _sets(suite: Suite, data_dir: Path | None, made: Path) -> Iterator[tuple[str, Path]]:
    if data_dir is None:
        for name in suite.generated:
            assert name in GENERATED
            path = made / f"{name}.csv"
            if not path.exists():
                write(name, path)
            yield name, path
        return
    folder = data_dir / suite.folder
    found = sorted(folder.glob("*.csv")) or sorted(folder.glob("*/fold0-train.csv"))
    if not found:
        raise DataError(
            Diagnostic(
                "D496",
                f"there are no data for this suite in {folder}",
                place="--data-dir",
                helps=("give a folder that has them, or leave --data-dir out to use sets made by rules",),
            )
        )
    for path in (*found, *(data_dir / name for name in suite.also if (data_dir / name).exists())):
        yield (path.parent.name if path.name == "fold0-train.csv" else path.stem), path
