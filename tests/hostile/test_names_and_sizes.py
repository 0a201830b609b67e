"""Names that no file can have, long options, Parquet pages that lie, results beyond every size."""

from __future__ import annotations

import struct
from pathlib import Path

import polars as pl
import pytest
from attacks import SPEC, asked, command, world

import treeml as tml
from treeml.data.limits import ReadingLimits
from treeml.data.read import read_file
from treeml.lang.display import MOST_OF_A_NAME, MOST_OF_A_SENTENCE, short_lines
from treeml.lang.source_file import read
from treeml.studies.comparison.journal import MOST_OF_A_JOURNAL, read_records
from treeml.studies.page.about import about
from treeml.studies.page.write import read_result


@pytest.mark.parametrize("verb", ["check", "solve"])
@pytest.mark.parametrize("name", ["n" * 300 + ".txt", "a\\u{0}b.txt", "x/" * 3000 + "m.txt"])
def test_a_name_that_no_file_can_have(name: str, verb: str, tmp_path: Path) -> None:
    folder = world(tmp_path)
    spec = folder / "spec.tml"
    spec.write_text(f'{SPEC}solve with cpsat(write = "{name}")\n')
    answer = asked(verb, spec)
    assert answer.code == 1
    assert "error[A808]: `write` names no file that could be written" in answer.error
    assert "B515" not in answer.error


def test_the_folder_itself_as_data_is_named(tmp_path: Path) -> None:
    folder = world(tmp_path)
    (folder / "spec.tml").write_text(SPEC.replace("rows.csv", "."))
    answer = command("solve", "spec.tml", "--untrusted", cwd=folder)
    assert answer.code == 1
    assert "error[A801]: . leads out of the folder" in answer.error


@pytest.mark.parametrize("option", ["--threads", "--seed"])
@pytest.mark.parametrize("value", ["9" * 100_000, "-" + "9" * 4000, "9x" * 50_000, "9 " * 50_000])
def test_a_long_value_of_an_option_is_shortened(option: str, value: str, tmp_path: Path) -> None:
    spec = world(tmp_path) / "spec.tml"
    spec.write_text(SPEC)
    answer = command("solve", spec, option, value)
    assert answer.code == 2
    assert f"Invalid value for '{option}'" in answer.error
    assert len(answer.error) < 2 * MOST_OF_A_SENTENCE


def test_short_lines_keep_what_is_short() -> None:
    text = f"one\n{'a' * MOST_OF_A_NAME} b"
    assert short_lines(text) == text
    assert short_lines("a" * 1000 + " b") == short_lines("a" * 2000 + " b")


def test_pages_that_hold_more_than_the_footer_says_without_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a limit of the run, the memory of the machine is the limit: here a machine of half a megabyte."""
    path = tmp_path / "d.parquet"
    pl.DataFrame({"a": pl.zeros(100_000, pl.Int64, eager=True)}).write_parquet(path)
    honest = path.read_bytes()
    length = struct.unpack("<I", honest[-8:-4])[0]
    footer = honest[-8 - length : -8]
    lying = footer.replace(_varint(100_000), _varint(20_000))
    assert lying != footer
    path.write_bytes(honest[: -8 - length] + lying + honest[-8:])
    monkeypatch.setattr("treeml.data.limits._machine", lambda: 1_500_000)
    with pytest.raises(tml.DataError, match="would take about"):
        read_file(path, {}, None, ReadingLimits())


def _varint(number: int) -> bytes:
    """A whole number in Thrift's compact format."""
    value, out = number << 1, bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def test_results_beyond_every_size_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    with path.open("wb") as file:
        file.truncate(MOST_OF_A_JOURNAL + 1)  # without content: it takes no room on the disk
    said = f"it holds more than {MOST_OF_A_JOURNAL:,} bytes"
    with pytest.raises(tml.DataError, match=said):
        read_result(path)
    with pytest.raises(tml.DataError, match=said):
        read_records(path)
    assert said in asked("report", path, "-o", tmp_path / "page.html").error


def test_a_page_reads_an_untrusted_spec_by_the_same_rule(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = world(tmp_path) / "spec.tml"
    spec.write_text(SPEC)
    asked_for = []

    def watched(path: Path, untrusted: bool = False) -> object:
        asked_for.append(untrusted)
        return read(path, untrusted)

    monkeypatch.setattr("treeml.lang.source_file.read", watched)
    for untrusted in (True, False):
        model = tml.Model.parse(read(spec, untrusted), untrusted=untrusted)
        result = model.solve()
        asked_for.clear()
        about(model, None, result, spec)
        assert asked_for == [untrusted]
