"""The folder that `--data-dir` names -> the folder with the files of one benchmark, or one sentence on what is missing.

Every benchmark takes its own folder, and the parent folder that has it as a sub-folder.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def data_folder(given: Path, kind: str, sets: Iterable[str] | None = ()) -> Path:
    """The sub-folder of this kind, or the given folder, with CSV files, among them those of all sets that are named."""
    folder = _inside(given, kind)
    if not any(folder.glob("*.csv")):
        raise SystemExit(f"{given} has neither CSV files nor a folder `{kind}` with CSV files")
    for name in sets or ():
        if not (folder / f"{name}.csv").is_file():
            raise SystemExit(f"{folder} has no file {name}.csv")
    return folder


def folder_of_folders(given: Path, kind: str, names: Iterable[str] = ()) -> Path:
    """The same for a benchmark whose folder has a folder for every set."""
    folder = _inside(given, kind) if kind else given
    for name in names:
        if not (folder / name).is_dir():
            raise SystemExit(f"{folder} has no folder `{name}`")
    if not folder.is_dir() or not any(path.is_dir() for path in folder.iterdir()):
        raise SystemExit(f"{given} is no folder with a folder for every set")
    return folder


def sets_in(folder: Path, chosen: Iterable[str] | None) -> list[str]:
    """The chosen sets, or else all that have a CSV file in the folder."""
    return list(chosen or ()) or sorted(path.stem for path in folder.glob("*.csv"))


def _inside(given: Path, kind: str) -> Path:
    return given / kind if (given / kind).is_dir() else given
