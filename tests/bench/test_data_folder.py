"""Benchmarks take their own folder of files or its parent, and say what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.data_folder import data_folder, folder_of_folders, sets_in


def test_the_folder_and_its_parent_are_the_same(tmp_path: Path) -> None:
    own = tmp_path / "fair"
    own.mkdir()
    (own / "adult.csv").write_text("label\n0\n")
    assert data_folder(tmp_path, "fair", ["adult"]) == own
    assert data_folder(own, "fair") == own
    assert sets_in(own, None) == ["adult"]
    assert sets_in(own, ["compas"]) == ["compas"]


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="has neither CSV files nor a folder `fair`"):
        data_folder(tmp_path, "fair")
    (tmp_path / "adult.csv").write_text("label\n0\n")
    with pytest.raises(SystemExit, match=r"has no file compas\.csv"):
        data_folder(tmp_path, "fair", ["adult", "compas"])


def test_a_folder_for_every_set(tmp_path: Path) -> None:
    (tmp_path / "slim" / "heart").mkdir(parents=True)
    assert folder_of_folders(tmp_path, "slim", ["heart"]) == tmp_path / "slim"
    assert folder_of_folders(tmp_path / "slim", "slim") == tmp_path / "slim"
    with pytest.raises(SystemExit, match="has no folder `other`"):
        folder_of_folders(tmp_path, "slim", ["other"])
    with pytest.raises(SystemExit, match="is no folder with a folder for every set"):
        folder_of_folders(tmp_path / "none", "slim")
