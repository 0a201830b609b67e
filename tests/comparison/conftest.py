from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

ROWS = "a,b,c,label\n" + "".join(
    f"{n & 1},{n >> 1 & 1},{n >> 2 & 1},{'yes' if n in (3, 5, 7) else 'no'}\n" for n in range(8)
)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """Three yes among eight: at depth 2 the best tree makes one mistake."""
    (tmp_path / "rows.csv").write_text(ROWS)
    path = tmp_path / "spec.tml"
    path.write_text('data "rows.csv"\npredict label\nminimize errors\nrequire depth <= 2\n')
    return path


@pytest.fixture
def bad_backends(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    from bad_backends import install

    folder = tmp_path_factory.mktemp("bad")
    install(folder)
    monkeypatch.syspath_prepend(str(folder))
    return folder
