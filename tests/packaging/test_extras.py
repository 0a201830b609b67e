"""Each extra works alone in a fresh virtual environment made from the wheel, without installing the others."""

from __future__ import annotations

import sys
import textwrap
import venv
from pathlib import Path

import pytest
from environments import ROOT, run

CORE = """
import treeml as tml
result = tml.load("plain.tml").solve()
assert result.is_optimal and result.verified
"""
EXTRAS = {
    "sklearn": """
        from treeml.sklearn import OptimalTreeClassifier
        from treeml.dl85 import DL85Classifier
        fitted = OptimalTreeClassifier(max_depth=1).fit([[0], [1], [2]], ["a", "a", "b"])
        assert fitted.score([[0], [2]], ["a", "b"]) == 1
        assert DL85Classifier().fit([[0], [1]], [0, 1]).error_ == 0
        """,
    "plot": """
        import subprocess, sys
        subprocess.run([sys.executable, "-m", "treeml", "compare", "plain.tml", "--with", "native", "-o", "r.jsonl"],
                       check=True)
        subprocess.run([sys.executable, "-m", "treeml", "plot", "timeline", "r.jsonl", "-o", "r.png"], check=True)
        from pathlib import Path
        assert Path("r.png").stat().st_size > 1000
        """,
    "export": """
        from treeml.trees.export.registry import export
        assert export(result.tree, "onnx")
        """,
    "cluster": """
        import subprocess, sys
        subprocess.run([sys.executable, "-m", "treeml", "sweep", "sparse.tml", "--set", "price=0.1,0.2", "--jobs", "2",
                        "-o", "s.jsonl"], check=True)
        assert len(open("s.jsonl").readlines()) == 2
        import distributed
        """,
    "notebook": """
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell.instance()
        shell.run_line_magic("load_ext", "treeml.notebook")
        found = shell.run_cell_magic("treeml", "--quiet", open("plain.tml").read())
        assert found.is_optimal
        """,
    "gurobi": """
        spec = "predict disease\\nfeatures sex, angina\\nmaximize accuracy\\nrequire depth <= 1"
        found = tml.parse(spec).solve("heart.csv", backend="mip", options={"solver": "gurobi"})
        assert found.is_optimal
        """,
    "docs": """
        import subprocess, sys
        open("mkdocs.yml", "w").write("site_name: x\\ntheme: {name: material, font: false}\\n")
        import os; os.mkdir("docs"); open("docs/index.md", "w").write("# x\\n\\n```tml\\npredict a\\n```\\n")
        subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict"], check=True)
        """,
}
HEAVY = ("sklearn", "matplotlib", "onnx", "distributed", "IPython", "mkdocs", "gurobipy")


def environment(wheel: Path, folder: Path, extra: str) -> Path:
    venv.create(folder / "environment", with_pip=True)
    python = folder / "environment" / "bin" / "python"
    wanted = f"treeml[{extra}] @ {wheel.as_uri()}" if extra else str(wheel)
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wanted, cwd=folder)
    for path in (*(ROOT / "examples" / "plain").glob("*.*"), *(ROOT / "examples" / "sparse").glob("*.*")):
        (folder / path.name).write_bytes(path.read_bytes())
    return python


@pytest.mark.slow
@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_works_alone(extra: str, wheel: Path, tmp_path: Path) -> None:
    python = environment(wheel, tmp_path, extra)
    (tmp_path / "used.py").write_text(CORE + textwrap.dedent(EXTRAS[extra]), encoding="utf-8")
    run(python, "used.py", cwd=tmp_path)


@pytest.mark.slow
def test_without_extras_the_message_says_what_is_missing(wheel: Path, tmp_path: Path) -> None:
    python = environment(wheel, tmp_path, "")
    found = run(
        python, "-c", f"import importlib.util as u; print([n for n in {HEAVY} if u.find_spec(n)])", cwd=tmp_path
    )
    assert found.stdout.strip() == "[]"
    (tmp_path / "used.py").write_text(CORE, encoding="utf-8")
    run(python, "used.py", cwd=tmp_path)
    said = run(python, "-c", LACKING, cwd=tmp_path).stdout
    for extra in ("sklearn", "plot", "export", "cluster"):
        assert f"treeml[{extra}]" in said


LACKING = """
import subprocess, sys
try:
    import treeml.sklearn
except ImportError as error:
    print(error)
tml = [sys.executable, "-m", "treeml"]
subprocess.run([*tml, "compare", "plain.tml", "--with", "native", "-o", "r.jsonl"])
subprocess.run([*tml, "solve", "plain.tml", "-q", "-o", "result.json"])
for command in (
    ["plot", "timeline", "r.jsonl", "-o", "r.png"],
    ["show", "result.json", "--as", "onnx", "-o", "x.onnx"],
    ["sweep", "sparse.tml", "--set", "price=0.1,0.2", "--cluster", "tcp://127.0.0.1:1"],
):
    print(subprocess.run([*tml, *command], capture_output=True, text=True).stderr)
"""


def test_importing_costs_nothing() -> None:
    """Neither `import treeml` nor `treeml check` imports a solver or a library that reads data."""
    heavy = (*HEAVY, "ortools", "highspy", "pyscipopt", "pysat", "numpy", "pandas", "polars", "scipy")
    code = "import sys, treeml; print([name for name in sys.argv[1:] if name in sys.modules])"
    assert run(sys.executable, "-c", code, *heavy, cwd=ROOT).stdout.strip() == "[]"
    code = code.replace("print", "treeml.Model, treeml.load, treeml.depth; print")
    assert run(sys.executable, "-c", code, *heavy, cwd=ROOT).stdout.strip() == "[]"
