""".ci/run, the Makefile, the workflows and the files of other package managers say the same."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from check_distributions import LIGHT
from environments import ROOT

from treeml.version import __version__

WORKFLOWS = {path.stem: path for path in sorted((ROOT / ".github/workflows").glob("*.yml"))}
PYTHONS = ["3.11", "3.12", "3.13", "3.14", "3.14t"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

pytestmark = pytest.mark.skipif(not WORKFLOWS, reason="only a checkout has workflows")


def workflow(name: str) -> dict[str, Any]:
    content = yaml.safe_load(WORKFLOWS[name].read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


def commands(name: str) -> list[str]:
    """The commands of all jobs, once for every value of a matrix that they name."""
    found = []
    for job in workflow(name)["jobs"].values():
        targets = job.get("strategy", {}).get("matrix", {}).get("target", [""])
        lines = [step["run"] for step in job.get("steps", []) if "run" in step]
        found += [line.replace("${{ matrix.target }}", target) for line in lines for target in targets]
    return found


def targets(lines: list[str]) -> set[str]:
    return {match[1] for line in lines if (match := re.match(r"(?:timeout \d+ )?make ([\w-]+)", line))}


def test_a_change_is_tested_by_the_targets_of_ci() -> None:
    ours = targets((ROOT / ".ci/run").read_text(encoding="utf-8").splitlines())
    assert {"test", "lint", "docs", "native-arm", "native-windows", "wheel-check"} <= ours
    assert targets(commands("tests")) == ours | {"demo", "native-alone"}


def test_every_target_exists() -> None:
    known = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for name in WORKFLOWS:
        assert targets(commands(name)) <= known


def test_three_systems_and_five_pythons() -> None:
    matrix = workflow("tests")["jobs"]["tests"]["strategy"]["matrix"]
    assert matrix["os"] == ["ubuntu-latest", "macos-latest", "windows-latest"]
    assert matrix["python"] == PYTHONS
    assert workflow("wheels")["jobs"]["every-python"]["strategy"]["matrix"]["python"] == PYTHONS


def test_a_tag_releases_with_trusted_publishing() -> None:
    release = workflow("release")
    assert release[True] == {"push": {"tags": ["v*"]}}  # YAML reads `on` as true
    publish = release["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert "password" not in WORKFLOWS["release"].read_text(encoding="utf-8")
    assert release["jobs"]["wheels"]["uses"] == "./.github/workflows/wheels.yml"


def test_every_week_the_slow_suite_and_the_fuzzers_run() -> None:
    assert "schedule" in workflow("weekly")[True]
    assert {"slow-share", "fuzz", "native-fuzz", "native-arm"} <= targets(commands("weekly"))


def test_wheels_for_every_platform() -> None:
    wheels = PROJECT["tool"]["cibuildwheel"]
    assert wheels["linux"]["archs"] == ["x86_64", "aarch64"]
    assert {"manylinux-x86_64-image", "musllinux-x86_64-image"} <= set(wheels["linux"])
    assert wheels["macos"]["archs"] == ["universal2"]
    assert wheels["windows"]["archs"] == ["AMD64"]
    assert PROJECT["tool"]["scikit-build"]["wheel"]["py-api"] == "py3"


def test_a_wheel_is_tested_with_what_its_test_imports() -> None:
    """The tutorial needs scikit-learn and pandas; for musl some solvers have no wheels, so `native` is tested alone."""
    wheels = PROJECT["tool"]["cibuildwheel"]
    assert (wheels["test-extras"], wheels["test-requires"]) == (["sklearn"], ["pandas"])
    (musl,) = wheels["overrides"]
    assert musl["before-test"].endswith(f"pip install {' '.join(LIGHT)}")
    for each in (wheels, musl):
        (script,) = re.findall(r"\{project\}/(\S+)", each["test-command"])
        assert (ROOT / script).exists()


def test_a_free_threaded_python_installs_what_native_needs() -> None:
    installed = f"pip install {' '.join(LIGHT)}"
    assert installed in WORKFLOWS["wheels"].read_text(encoding="utf-8")
    assert f"{' '.join(LIGHT)} \\\n" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_conda_recipe_has_our_dependencies_and_version() -> None:
    recipe = (ROOT / "packaging/conda/meta.yaml").read_text(encoding="utf-8")
    assert f'{{% set version = "{__version__}" %}}' in recipe
    listed = re.findall(r"^    - (.*)$", recipe.split("  run:\n")[1].split("\ntest:")[0], re.MULTILINE)
    renamed = {"ortools": "ortools-python"}
    for requirement in PROJECT["project"]["dependencies"]:
        name, limits = re.fullmatch(r"([\w-]+)(.*)", requirement).groups()  # type: ignore[union-attr]
        assert f"{renamed.get(name, name)} {limits}" in listed
    assert len(listed) == len(PROJECT["project"]["dependencies"]) + 1


def test_the_conda_recipe_can_be_rendered() -> None:
    """As conda-build does it, with its own functions played."""
    jinja2 = pytest.importorskip("jinja2")
    text = (ROOT / "packaging/conda/meta.yaml").read_text(encoding="utf-8")
    played = {"compiler": "{}_compiler".format, "environ": {}, "PYTHON": "python"}
    recipe = yaml.safe_load(jinja2.Template(text, undefined=jinja2.StrictUndefined).render(played))
    assert recipe["source"]["url"].endswith(f"treeml-{__version__}.tar.gz")
    assert (ROOT / recipe["about"]["license_file"]).exists()
    assert set(PROJECT["build-system"]["requires"]) <= {
        each.replace(" ", "") for each in recipe["requirements"]["host"]
    }
    for module in recipe["test"]["imports"]:
        assert import_module(module)


def test_the_citation_is_valid_and_names_this_version() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert yaml.safe_load(text)["version"] == __version__
    program = Path(sys.executable).with_name("cffconvert")
    if not program.exists():
        pytest.skip("cffconvert is not installed")
    subprocess.run([program, "--validate", "-i", ROOT / "CITATION.cff"], check=True)


def test_the_container_runs_the_command_as_nobody_special() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    last = [line for line in lines if line and not line.startswith("#")]
    assert 'ENTRYPOINT ["treeml"]' in last
    assert "USER 10001" in last
    if linter := shutil.which("hadolint"):
        subprocess.run([linter, ROOT / "Dockerfile"], check=True)


def test_the_page_installs_what_native_needs() -> None:
    """Its list of packages is the one that `make wheel-check` tries."""
    assert f"pip install {' '.join(LIGHT)}\n" in (ROOT / "docs/installing.md").read_text(encoding="utf-8")
