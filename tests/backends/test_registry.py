"""Back-ends are found by name, and a broken one is reported."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from treeml.backends import registry
from treeml.lang.diagnostic import BackendError, RefusedError

ROOT = Path(__file__).parents[2]


def test_the_table_is_what_pyproject_lists() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"][registry.GROUP]
    assert declared == dict(registry.BUILT_IN)


def test_every_built_in_loads_under_its_name() -> None:
    assert registry.broken() == ()
    assert tuple(backend.name for backend in registry.all()) == registry.names()


def test_listing_and_loading_import_no_solver() -> None:
    code = (
        "import sys; from treeml.backends import registry; registry.names();"
        "assert not {'treeml.backends.oracle.backend', 'numpy'} & set(sys.modules), 'names';"
        "registry.all();"
        "solvers = {'ortools', 'pyscipopt', 'pysat', 'highspy', 'gurobipy', 'sklearn'} & set(sys.modules);"
        "assert not solvers, solvers"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_options_of_native_are_made_once() -> None:
    """Every solve looks at each of its options, and the table has some sixty."""
    options = registry.get("native").options
    assert options["pairs"] is options["pairs"]


def test_an_unknown_name_gets_a_suggestion() -> None:
    with pytest.raises(RefusedError) as refused:
        registry.get("orcale")
    mistake = refused.value.diagnostics[0]
    assert mistake.code == "B502"
    assert "did you mean `oracle`?" in mistake.helps


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("no_such_module:Thing", "No module named"),
        ("treeml.backends.oracle.backend:Orcale", "has no attribute"),
        ("treeml.backends.contract:Deadline", "which the contract asks for"),
        ("treeml.backends.oracle.backend:OracleBackend", "calls itself `oracle`"),
    ],
)
def test_a_broken_back_end_is_reported_and_the_others_still_work(
    monkeypatch: pytest.MonkeyPatch, target: str, words: str
) -> None:
    entry = EntryPoint("theirs", target, registry.GROUP)
    monkeypatch.setattr(registry, "installed", lambda group: {entry.name: entry})
    assert "theirs" in registry.names()
    assert [mistake.code for mistake in registry.broken()] == ["B504"]
    assert words in registry.broken()[0].notes[0]
    assert "oracle" in [backend.name for backend in registry.all()]
    with pytest.raises(BackendError):
        registry.get("theirs")


def test_no_package_can_replace_a_built_in_back_end(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("oracle", "no_such_module:Thing", registry.GROUP)
    monkeypatch.setattr(registry, "installed", lambda group: {entry.name: entry})
    assert registry.get("oracle").name == "oracle"


def test_installed_packages_are_scanned_again_only_after_a_change(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    looked = []

    def look(group: str) -> list[EntryPoint]:
        looked.append(group)
        return [EntryPoint(name, "no_such_module:Thing", group) for name in sorted(p.name for p in tmp_path.iterdir())]

    monkeypatch.setattr("importlib.metadata.entry_points", look)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert registry.names() == registry.names()
    assert len(looked) == 1
    (tmp_path / "newcomer").mkdir()
    assert "newcomer" in registry.names()
