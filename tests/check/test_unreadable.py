"""Files that cannot stand in a folder of wrong specs: gone, a folder, too long."""

from pathlib import Path

import pytest

from treeml.lang.check import check_source
from treeml.lang.diagnostic import SpecError
from treeml.lang.source import Source
from treeml.lang.source_file import read


def test_missing_file_and_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere.tml", tmp_path):
        with pytest.raises(SpecError) as caught:
            read(path)
        assert [diagnostic.code for diagnostic in caught.value.diagnostics] == ["S109"]


def test_ten_megabytes_of_garbage() -> None:
    spec, diagnostics = check_source(Source("garbage.tml", "@?!;\n" * 2_000_000))
    assert spec is None
    assert [diagnostic.code for diagnostic in diagnostics] == ["S119"]
