"""Reading is refused before it takes more memory, time, rows or columns than it may."""

from __future__ import annotations

import io
import os
import random
import struct
import threading
from pathlib import Path
from time import monotonic

import polars as pl
import pytest

import treeml
from treeml.data import delimited, file_bytes, limits, parquet
from treeml.data.limits import ReadingLimits, memory_text
from treeml.data.parquet import decoded_size
from treeml.data.read import load
from treeml.lang.diagnostic import DataError

SPEC = "predict y\nminimize errors\nrequire depth <= 1"


def refusal(path: Path, **allowed: object) -> str:
    with pytest.raises(DataError) as caught:
        load(path, limits=ReadingLimits(**allowed))  # type: ignore[arg-type]
    return str(caught.value)


def written(path: Path, frame: pl.DataFrame, **options: object) -> Path:
    frame.write_parquet(path, **options)  # type: ignore[arg-type]
    return path


def test_a_small_file_of_many_rows(tmp_path: Path) -> None:
    zeros = pl.DataFrame({"a": pl.zeros(3_000_000, pl.Int8, eager=True), "y": pl.zeros(3_000_000, pl.Int8, eager=True)})
    path = written(tmp_path / "bomb.parquet", zeros)
    assert path.stat().st_size < 100_000
    assert refusal(path, memory=50_000_000) == (
        "error[D411]: reading bomb.parquet would take about 168 MB of memory\n"
        " --> bomb.parquet\n"
        "  = note: 50 MB are allowed\n"
        "  = help: allow more: --memory 253MB\n"
        "  = help: keep fewer rows and columns"
    )


def test_memory_of_a_run_limits_reading(tmp_path: Path) -> None:
    rows = pl.DataFrame({"a": pl.zeros(1_000_000, pl.Int8, eager=True), "y": pl.zeros(1_000_000, pl.Int8, eager=True)})
    path = written(tmp_path / "bomb.parquet", rows)
    with pytest.raises(DataError, match="D411"):
        treeml.Model.parse(SPEC).solve(path, memory="10MB")
    (tmp_path / "spec.tml").write_text(f'data "bomb.parquet"\n{SPEC}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"D411(.|\n)*spec\.tml:1:1"):
        treeml.load(tmp_path / "spec.tml").solve(memory="10MB")


def test_without_a_limit_the_machine_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "d.parquet", pl.DataFrame({"a": [1, 2] * 5000, "y": [0, 1] * 5000}))
    monkeypatch.setattr(limits, "_machine", lambda: 100_000)
    assert "= note: 100 kB is all that this machine has" in refusal(path)


@pytest.mark.parametrize("writer", ["polars", "arrow"])
def test_a_footer_is_understood(tmp_path: Path, writer: str) -> None:
    arrow = pytest.importorskip("pyarrow.parquet")
    frame = pl.DataFrame(
        {
            "a": range(1000),
            "b": [float(i) for i in range(1000)],
            "c": [f"text {i % 7}" for i in range(1000)],
            "d": [None if i % 3 else i % 2 == 0 for i in range(1000)],
            "e": [[i, i] for i in range(1000)],
        }
    )
    path = tmp_path / "d.parquet"
    if writer == "polars":
        frame.write_parquet(path, row_group_size=300)
    else:
        arrow.write_table(frame.to_arrow(), path, row_group_size=300, data_page_size=500)
    metadata = arrow.ParquetFile(path).metadata
    expected = 0
    widths = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "DOUBLE": 8, "BYTE_ARRAY": 16}
    for g in range(metadata.num_row_groups):
        for c in range(metadata.num_columns):
            chunk = metadata.row_group(g).column(c)
            expected += chunk.num_values * widths[chunk.physical_type]
            expected += chunk.total_uncompressed_size if chunk.physical_type == "BYTE_ARRAY" else 0
    found = decoded_size(path.read_bytes(), ask_pages=False)
    assert (found.rows, found.columns, found.bytes) == (1000, 5, expected)
    with_pages = decoded_size(path.read_bytes(), ask_pages=True)
    assert found.bytes <= with_pages.bytes <= 1.1 * found.bytes
    assert found.bytes >= frame.estimated_size() * 0.5


def test_a_footer_that_lies_is_found_out(tmp_path: Path) -> None:
    """The pages hold 100,000 values, the footer says 20,000."""
    honest = written(tmp_path / "d.parquet", pl.DataFrame({"a": pl.zeros(100_000, pl.Int64, eager=True)})).read_bytes()
    length = struct.unpack("<I", honest[-8:-4])[0]
    footer = honest[-8 - length : -8]
    lying = footer.replace(_varint(100_000), _varint(20_000))
    assert lying != footer
    assert len(lying) == len(footer)
    content = honest[: -8 - length] + lying + honest[-8:]
    assert decoded_size(content, ask_pages=False).bytes < 200_000
    assert decoded_size(content, ask_pages=True).bytes == 800_000


def _varint(number: int) -> bytes:
    """A whole number as Thrift's compact form has it."""
    value, out = number << 1, bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def test_damage_is_said_in_a_sentence(tmp_path: Path) -> None:
    good = written(tmp_path / "d.parquet", pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]})).read_bytes()
    chance = random.Random(1)
    length = struct.unpack("<I", good[-8:-4])[0]
    path = tmp_path / "damaged.parquet"
    codes = set()
    for _ in range(300):
        content = bytearray(good)
        content[chance.randrange(len(good) - 8 - length, len(good) - 8)] = chance.randrange(256)
        path.write_bytes(content)
        try:
            load(path, limits=ReadingLimits(memory=10**9))
        except DataError as refused:
            codes.add(refused.diagnostics[0].code)
    assert "D403" in codes


def test_a_deadline_ends_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_bytes, "PIECE", 100)
    path = tmp_path / "long.csv"
    path.write_text("a,y\n" + "1,0\n" * 100, encoding="utf-8")
    assert refusal(path, deadline=monotonic() - 1) == (
        "error[D412]: reading long.csv took all the time there was\n"
        " --> long.csv\n"
        "  = note: not read to its end\n"
        "  = help: allow more time: `solve within 10 min`, or --within 10min\n"
        "  = help: or keep fewer rows and columns"
    )


def test_a_deadline_ends_parsing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "long.csv"
    path.write_text("a,y\n" + "1,0\n" * 100, encoding="utf-8")
    monkeypatch.setattr(delimited, "_AT_ONCE", 100)
    assert "D412" in refusal(path, deadline=monotonic() - 1)
    monkeypatch.setattr(parquet, "PIECE", 10)
    assert "D412" in refusal(
        written(tmp_path / "long.parquet", pl.DataFrame({"a": [1] * 100})), deadline=monotonic() - 1
    )


def test_small_files_are_read_whatever_the_time(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("a,y\n1,0\n2,1\n", encoding="utf-8")
    assert load(tmp_path / "d.csv", limits=ReadingLimits(deadline=monotonic() - 1)).rows == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_that_nobody_writes_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    assert "D412" in refusal(tmp_path / "pipe.csv", deadline=monotonic() + 0.05)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    text = "a,y\n" + "1,0\n2,1\n" * 20_000  # more than a pipe holds at once
    writer = threading.Thread(target=(tmp_path / "pipe.csv").write_text, args=[text])  # waits for a reader
    writer.start()
    assert load(tmp_path / "pipe.csv", limits=ReadingLimits(deadline=monotonic() + 600)).rows == 40_000
    writer.join()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no endless file here")
def test_a_file_without_an_end() -> None:
    assert "D411" in refusal(Path("/dev/zero"), memory=50_000_000)


def test_rows_columns_cells_and_names(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("abcdefgh,y\nlevel1,0\nlevel22,1\n", encoding="utf-8")
    assert refusal(path, rows=1) == (
        "error[D413]: d.csv has 2 rows, and at most 1 are allowed\n"
        " --> d.csv\n"
        "  = note: too large\n"
        "  = help: give a smaller table"
    )
    assert "d.csv has 2 columns, and at most 1 are allowed" in refusal(path, columns=1)
    assert "d.csv has 4 cells, and at most 3 are allowed" in refusal(path, cells=3)
    assert refusal(path, name_length=7) == (
        "error[D413]: d.csv has a column name of 8 characters, and at most 7 are allowed\n"
        " --> d.csv\n"
        "  = note: it begins 'abcdefgh'\n"
        "  = help: give it a shorter name"
    )
    path.write_text("a,y\nlevel1,0\nlevel22,1\n", encoding="utf-8")
    assert "d.csv has a value in `a` of 7 characters, and at most 6 are allowed" in refusal(path, name_length=6)
    assert load(path, limits=ReadingLimits(rows=2, columns=2, cells=4, name_length=7)).rows == 2


@pytest.mark.parametrize("name", ["d.libsvm", "d.txt", "d.data"])
def test_other_formats_are_limited_too(tmp_path: Path, name: str) -> None:
    (tmp_path / "d.names").write_text("0, 1.\na: continuous.\n", encoding="utf-8")
    text = {"d.libsvm": "1 1:2\n0 900:3\n", "d.txt": "1 0\n0 1\n", "d.data": "1, 0\n2, 1\n"}[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert load(tmp_path / name).rows == 2
    assert "D413" in refusal(tmp_path / name, rows=1)
    assert "D411" in refusal(tmp_path / name, memory=60)


@pytest.mark.parametrize("size", [20, 37, 64])
def test_pieces_make_the_same_frame(size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["a,b,c,d", *(f'{i},{i / 7},"x\n""{i % 3}, y",{i % 2 == 0}' for i in range(50)), "1,2.5,,True"]
    path = tmp_path / "d.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    whole = load(path)
    monkeypatch.setattr(delimited, "_AT_ONCE", size)
    pieces = load(path, {}, limits=ReadingLimits(deadline=monotonic() + 3600))
    path.write_text("\n".join([*lines, "late text,1,2,True"]) + "\n", encoding="utf-8")
    surprised = load(path, {}, limits=ReadingLimits(deadline=monotonic() + 3600))
    assert (surprised.columns["a"].levels[-1], surprised.rows) == ("late text", 52)
    for name, column in whole.columns.items():
        other = pieces.columns[name]
        assert (column.type, column.levels) == (other.type, other.levels)
        assert (column.values == other.values).all()


def test_pieces_of_parquet_make_the_same_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"a": range(1000), "b": [f"{i}" for i in range(1000)]})
    stored = io.BytesIO()
    frame.write_parquet(stored, row_group_size=130)
    monkeypatch.setattr(parquet, "PIECE", 500)
    patient = ReadingLimits(deadline=monotonic() + 3600)
    assert parquet.read_parquet("d.parquet", stored.getvalue(), None, patient).equals(frame)


def test_amounts_read_well() -> None:
    sizes = (999, 1000, 50_000_000, 9_600_000_000, 168_123_456, 10**12)
    assert [memory_text(size) for size in sizes] == ["999 bytes", "1 kB", "50 MB", "9.6 GB", "168 MB", "1000 GB"]


def test_many_columns_take_time_and_memory(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(",".join(f"c{i}" for i in range(10_000)) + "\n" + ",".join("1" * 10_000) + "\n", encoding="utf-8")
    assert len(load(path).columns) == 10_000
    assert "D412" in refusal(path, deadline=monotonic() - 1)
    assert "reading wide.csv would take about 20 MB" in refusal(path, memory=10_000_000)


def test_repeated_names_are_told_a_few_times(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text(",".join("a" for _ in range(1000)) + "\n" + ",".join("1" * 1000) + "\n", encoding="utf-8")
    found = refusal(path)
    assert found.count("error[D408]") == 8
    assert "= note: and 991 more columns have a name twice" in found
