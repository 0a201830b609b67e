"""Tables that are small as files and large once they are read: refused before the memory or the time is gone."""

from __future__ import annotations

import struct
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any

import polars as pl
import pyarrow
import pyarrow.parquet
import pytest

from treeml.data.files import read_file
from treeml.data.limits import ReadingLimits
from treeml.data.parquet import decoded_size
from treeml.lang.diagnostic import DataError

LONG, ROWS = 100_000, 2000  # 200 MB of text in a few kilobytes
LIMIT = 50_000_000


def refusal(path: Path) -> str:
    """The code of the mistake that reading within a small memory gives."""
    with pytest.raises(DataError) as caught:
        read_file(path, {}, None, ReadingLimits(memory=LIMIT, deadline=monotonic() + 600))
    return caught.value.diagnostics[0].code


def written(path: Path, texts: Any, **how: Any) -> Path:
    columns = {"a": texts, "y": pyarrow.array([row % 2 for row in range(len(texts))])}
    pyarrow.parquet.write_table(pyarrow.table(columns), path, compression="zstd", **how)
    assert path.stat().st_size < 20_000
    return path


def footer_only(path: Path, footer: bytes) -> Path:
    path.write_bytes(b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1")
    return path


@pytest.mark.parametrize("text", ["x" * LONG, " " * (LONG // 2) + "x" * (LONG // 2)])
def test_one_text_of_a_dictionary_in_every_row(text: str, tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    pl.DataFrame({"a": [text] * ROWS, "y": [0, 1] * (ROWS // 2)}).write_parquet(path)
    assert path.stat().st_size < 200_000
    assert refusal(path) == "D411"


def test_texts_that_begin_like_the_one_before(tmp_path: Path) -> None:
    how = {"use_dictionary": False, "column_encoding": {"a": "DELTA_BYTE_ARRAY"}}
    path = written(tmp_path / "d.parquet", pyarrow.array(["x" * LONG] * ROWS), **how)
    size = decoded_size(path.read_bytes(), ask_pages=True)
    assert size.widest >= LONG
    assert refusal(path) == "D411"
    few = written(tmp_path / "few.parquet", pyarrow.array([f"name {row % 7}" for row in range(ROWS)]), **how)
    table = read_file(few, {}, None, ReadingLimits(memory=1_000_000))  # some rows at a time
    assert table.columns["a"].levels == tuple(f"name {number}" for number in range(7))


def test_values_of_a_fixed_length_that_only_the_schema_states(tmp_path: Path) -> None:
    path = written(tmp_path / "d.parquet", pyarrow.array([b"x" * LONG] * ROWS, pyarrow.binary(LONG)))
    assert decoded_size(path.read_bytes(), ask_pages=False).bytes > LONG * ROWS
    assert refusal(path) == "D411"


def test_a_map_of_truths_without_end(tmp_path: Path) -> None:
    endless = b"\xff\xff\xff\xff\xff\xff\xff\x7f"
    path = footer_only(tmp_path / "d.parquet", b"\xfb" + endless + b"\x11\x00")
    assert refusal(path) == "D403"


def test_metadata_that_take_more_than_the_table(tmp_path: Path) -> None:
    path = footer_only(tmp_path / "d.parquet", b"\x19\xfc\xff\xff\x7f" + b"\x00" * 2_000_000)
    assert refusal(path) == "D411"


def test_the_deadline_interrupts_the_headers_of_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every column says that all pages of the file are its own: there are more headers to read than bytes.

    The clock goes on by a second whenever it is read, so it must be read again and again between the headers.
    """
    page = bytes.fromhex("15001500150000")
    pages = page * 20_000
    # Of a column: its kind, values, bytes, bytes in the file, and where its pages begin.
    about = b"\x15\x02" + b"\x46\x00" + b"\x16\x00" + b"\x16" + number(2 * len(pages)) + b"\x26\x08\x00"
    chunk = b"\x3c" + about + b"\x00"
    schema = b"\x29\xfc" + number(2000) + b"\x15\x02\x00" * 2000
    footer = schema + b"\x16\x02" + b"\x19\x1c" + b"\x19\xfc" + number(2000) + chunk * 2000 + b"\x00" + b"\x00"
    path = tmp_path / "d.parquet"
    path.write_bytes(b"PAR1" + pages + footer + struct.pack("<I", len(footer)) + b"PAR1")
    now = count()
    monkeypatch.setattr("treeml.data.limits.monotonic", lambda: float(next(now)))
    with pytest.raises(DataError) as caught:
        read_file(path, {}, None, ReadingLimits(memory=LIMIT, deadline=60.0))
    assert caught.value.diagnostics[0].code == "D412"
    assert next(now) == 61


def number(value: int) -> bytes:
    found = b""
    while value > 127:
        found += bytes([value & 127 | 128])
        value >>= 7
    return found + bytes([value])
