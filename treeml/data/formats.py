"""Files in four research formats -> Table: CP4IM text, C4.5 names and data, libsvm, counted rows.

CP4IM: one row per line, values 0 and 1 separated by spaces, the label first. C4.5: `stem.names` declares classes and
attributes, `stem.data` and `stem.test` hold rows, the class last; any of them may be named. libsvm: `label index:value
...`, what is not listed is 0. Counted rows (Shati, Cohen and McIlraith 2021): the numbers of rows, features and
classes, then one row per line, its values separated by blanks, the class last. A file is told by its ending (.names,
.libsvm, .svm) or by what its first lines look like.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from treeml.data.column_names import refuse_repeats
from treeml.data.encoding import decoded
from treeml.data.file_bytes import file_bytes
from treeml.data.file_error import file_mistake
from treeml.data.infer import InferenceNotes, infer
from treeml.data.limits import ReadingLimits
from treeml.data.recognize import header_of, recognized
from treeml.data.table import BitColumns, Column, Table
from treeml.lang.source import Span
from treeml.lang.spec import UNDECLARED, ColumnSpec

Reader = Callable[[Path, bytes, Mapping[str, ColumnSpec], "Span | None", ReadingLimits], Table]

_LINES = 1 << 16  # lines between two checks of the deadline
_EACH = 24  # bytes of memory per byte of text while every value is a Python object
_MOST_CELLS = 400_000_000


def reader_for(path: Path, content: bytes) -> Reader | None:
    """The reader for a file, by its ending or its first lines; None for CSV."""
    readers: dict[str | None, Reader] = {
        "C4.5": _read_c45,
        "libsvm": _read_libsvm,
        "CP4IM": _read_cp4im,
        "counted": _read_counted,
    }
    return readers.get(recognized(path, content))


def _read_cp4im(
    path: Path, content: bytes, types: Mapping[str, ColumnSpec], span: Span | None, limits: ReadingLimits
) -> Table:
    # Every value is a Python object until all have been checked.
    limits.size(path.name, span, _EACH * len(content))
    lines = content.split(b"\n")
    rows = [line for line in lines if line.strip()]
    width = len(rows[0].split())
    limits.admit(path.name, span, len(rows), width, _EACH * len(content))
    flat = b" ".join(rows).split()
    wrong = (
        next((line for line in rows if len(line.split()) != width), None) if len(flat) != width * len(rows) else None
    )
    if wrong is not None:
        number = lines.index(wrong) + 1
        raise file_mistake(
            "D406",
            f"line {number} of {path.name} has {len(wrong.split())} values, but the first has {width}",
            "a table of 0 and 1 with the label first",
            path.name,
            span,
            helps=("give every line the label and one value per column",),
        )
    values = np.array(flat, dtype="S1") == b"1"
    odd = next((i for i, value in enumerate(flat) if value not in (b"0", b"1")), None)
    if odd is not None:
        raise file_mistake(
            "D419",
            f"line {odd // width + 1} of {path.name} holds `{flat[odd].decode(errors='replace')}`, neither 0 nor 1",
            "a table of 0 and 1 with the label first",
            path.name,
            span,
            helps=("give a table with other values as CSV, with a line of column names",),
        )
    table = values.reshape(len(rows), width)
    return _bit_table(
        table[:, 1:], Column("label", "binary", table[:, 0].astype(np.int32), (0, 1)), path.name, 0, types
    )


def _read_counted(
    path: Path, content: bytes, types: Mapping[str, ColumnSpec], span: Span | None, limits: ReadingLimits
) -> Table:
    limits.size(path.name, span, _EACH * len(content))
    lines = [line for line in content.split(b"\n") if line.strip()]
    header = header_of(lines)
    assert header is not None  # that is how the file was recognized
    taken, (rows, features, classes) = header
    limits.admit(path.name, span, rows, features + 1, _EACH * len(content))
    table = [line.decode(errors="replace").split() for line in lines[taken:]]
    wrong = next((number for number, cells in enumerate(table) if len(cells) != features + 1), None)
    said = f"the first numbers promise {rows} rows, {features} features and {classes} classes"
    if wrong is not None:
        title = (
            f"row {wrong + 1} of {path.name} has {len(table[wrong])} values, but {features} and a class are announced"
        )
        raise file_mistake("D406", title, said, path.name, span, helps=("give every row its values and its class",))
    found = len({cells[-1] for cells in table})
    if len(table) != rows or found > classes:
        title = f"{path.name} holds {len(table)} rows and {found} classes"
        raise file_mistake("D419", title, said, path.name, span, helps=("correct the numbers, or complete the rows",))
    findings = InferenceNotes(path.name)
    names = [*(f"x{number}" for number in range(features)), "label"]
    columns: dict[str, Column] = {}
    for place, name in enumerate(names):
        series = _numbers_or_texts(name, [cells[place] for cells in table])
        columns[name] = infer(series, types.get(name, UNDECLARED), findings)
    findings.stop()
    return Table(columns, rows, path.name, "label", None, tuple(findings.notes))


def _numbers_or_texts(name: str, words: list[str]) -> pl.Series:
    """Whole numbers if all words are, else numbers if all are; otherwise the words. `?` is missing."""
    texts = pl.Series(name, [None if word == "?" else word for word in words], dtype=pl.String)
    for kind in (pl.Int64, pl.Float64):
        numbers = texts.cast(kind, strict=False)
        if numbers.null_count() == texts.null_count():
            return numbers
    return texts


def _read_libsvm(
    path: Path, content: bytes, types: Mapping[str, ColumnSpec], span: Span | None, limits: ReadingLimits
) -> Table:
    labels: list[str] = []
    places: list[int] = []
    indices: list[int] = []
    values: list[float] = []
    limits.size(path.name, span, _EACH * len(content))
    for number, raw in enumerate(content.decode(errors="replace").split("\n"), start=1):
        parts = raw.partition("#")[0].split()
        if not parts:
            continue
        if number % _LINES == 0:
            limits.late(path.name, span)
        try:
            if not isfinite(float(parts[0])):
                raise ValueError
            pairs = [part.split(":") for part in parts[1:] if not part.startswith("qid:")]
            found = [int(index) for index, _ in pairs]
            values.extend(float(value) for _, value in pairs)
            if any(index < 0 for index in found):
                raise ValueError
        except ValueError:
            raise file_mistake(
                "D419",
                f"line {number} of {path.name} is not in libsvm form",
                raw.strip()[:60],
                path.name,
                span,
                helps=("a line reads `label index:value index:value ...`, as in `1 3:0.5 7:2`",),
            ) from None
        indices.extend(found)
        places.extend([len(labels)] * len(found))
        labels.append(parts[0])
    if not labels:
        raise file_mistake("D405", f"{path.name} has no rows", "only comments", path.name, span)
    first = 0 if 0 in indices else 1
    width = max(indices, default=first) - first + 1
    if width * max(len(labels), 1) > _MOST_CELLS:
        raise file_mistake(
            "D419",
            f"{path.name} is too large to be held as a table",
            f"{len(labels)} rows and {width} columns",
            path.name,
            span,
            helps=("keep the columns that matter",),
        )
    limits.admit(path.name, span, len(labels), width, 8 * width * len(labels) + _EACH * len(content))
    dense = np.zeros((len(labels), width))
    dense[places, np.array(indices, dtype=np.int64) - first] = values
    return _sparse_table(dense, labels, path.name, first, types)


def _sparse_table(
    dense: NDArray[np.float64], labels: list[str], source: str, first: int, types: Mapping[str, ColumnSpec]
) -> Table:
    """Give every column of a libsvm file its type."""
    again = partial(_sparse_rows, dense, labels, source, first, types)
    findings = InferenceNotes(source)
    label = _from_words("label", labels, types, findings)
    if ((dense == 0) | (dense == 1)).all():
        findings.stop()
        return replace(_bit_table(dense == 1, label, source, first, types), again=again)
    columns: dict[str, Column] = {"label": label}
    for i in range(dense.shape[1]):
        name = f"x{i + first}"
        column = dense[:, i]
        whole = bool((column == np.floor(column)).all()) and bool((np.abs(column) < 2**53).all())
        series = pl.Series(name, column.astype(np.int64) if whole else column)
        columns[name] = infer(series, types.get(name, UNDECLARED), findings)
    findings.stop()
    return Table(columns, len(labels), source, "label", None, tuple(findings.notes), again)


def _sparse_rows(
    dense: NDArray[np.float64],
    labels: list[str],
    source: str,
    first: int,
    types: Mapping[str, ColumnSpec],
    rows: NDArray[Any],
) -> Table:
    return _sparse_table(dense[rows], [labels[row] for row in rows], source, first, types)


def _read_c45(
    path: Path, content: bytes, types: Mapping[str, ColumnSpec], span: Span | None, limits: ReadingLimits
) -> Table:
    names = path.with_suffix(".names")
    data = path.with_suffix(".data") if path == names else path  # or .test, which holds rows too
    other = data if path == names else names
    notes: list[str] = []
    if not other.is_file():
        raise file_mistake(
            "D401",
            f"{path.name} comes without {other.name}",
            f"{other.name} is not beside it",
            path.name,
            span,
            notes=("C4.5 data are two files: the names and the rows",),
        )
    beside = decoded(other.name, file_bytes(other, span, limits), span, notes)
    declared = (content if path == names else beside).decode(errors="replace")
    rows = (beside if path == names else content).decode(errors="replace")
    attributes = _attributes(names.name, declared, span)
    header = [*attributes, "class"]
    refuse_repeats(header, names.name, span)
    limits.size(data.name, span, _EACH * len(rows))
    table: list[list[str]] = []
    for number, raw in enumerate(rows.split("\n"), start=1):
        if number % _LINES == 0:
            limits.late(data.name, span)
        line = raw.partition("|")[0].strip().removesuffix(".")
        if not line:
            continue
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != len(header):
            raise file_mistake(
                "D406",
                f"line {number} of {data.name} has {len(cells)} values, but {names.name} declares {len(header)}",
                line[:60],
                data.name,
                span,
                helps=("give every line one value per attribute, and the class last",),
            )
        table.append(cells)
    if not table:
        raise file_mistake("D405", f"{data.name} has no rows", "nothing in it", data.name, span)
    limits.admit(data.name, span, len(table), len(header), _EACH * len(rows))
    findings = InferenceNotes(data.name, notes=notes)
    columns: dict[str, Column] = {}
    for i, name in enumerate(header):
        spec = types.get(name, UNDECLARED)
        if not spec.type and (name == "class" or attributes[name]):
            kind = "category" if name == "class" else attributes[name]
            spec = ColumnSpec(kind, spec.sensitive, spec.missing, spec.span)
        columns[name] = infer(pl.Series(name, [row[i] for row in table], dtype=pl.String), spec, findings)
    findings.stop()
    return Table(columns, len(table), data.name, "class", None, tuple(findings.notes))


def _attributes(name: str, text: str, span: Span | None) -> dict[str, str]:
    """Attribute -> type, from a .names file: the classes come first, then `attribute: continuous.` or its levels."""
    lines = [line.partition("|")[0].strip() for line in text.split("\n")]
    statements = [line.removesuffix(".").strip() for line in lines if line]
    attributes: dict[str, str] = {}
    for statement in statements[1:]:
        attribute, colon, kind = statement.partition(":")
        if not colon:
            raise file_mistake(
                "D419",
                f"{name} cannot be read",
                f"`{statement[:40]}` declares no attribute",
                name,
                span,
                helps=("first the classes, then lines such as `age: continuous.` or `sex: f, m.`",),
            )
        word = kind.strip().lower()
        if word == "continuous":
            attributes[attribute.strip()] = "number"
        elif word in ("ignore", "label"):
            attributes[attribute.strip()] = "text"
        else:
            attributes[attribute.strip()] = "category"
    if not attributes:
        raise file_mistake(
            "D419",
            f"{name} declares no attributes",
            "",
            name,
            span,
            helps=("first the classes, then lines such as `age: continuous.` or `sex: f, m.`",),
        )
    return attributes


def _bit_table(
    matrix: NDArray[np.bool_], label: Column, source: str, first: int, types: Mapping[str, ColumnSpec]
) -> Table:
    names = tuple(f"x{i + first}" for i in range(matrix.shape[1]))
    bits = np.ascontiguousarray(matrix.T)
    if types.keys().isdisjoint(names):
        return Table(BitColumns(names, bits, (0, 1), {"label": label}), len(matrix), source, "label")
    findings = InferenceNotes(source)
    columns = {"label": label}
    for name, row in zip(names, bits, strict=True):
        columns[name] = infer(pl.Series(name, row.astype(np.int64)), types.get(name, UNDECLARED), findings)
    findings.stop()
    return Table(columns, len(matrix), source, "label")


def _from_words(name: str, words: list[str], types: Mapping[str, ColumnSpec], findings: InferenceNotes) -> Column:
    """Labels of a libsvm file: +1 reads 1; whole numbers if all are whole."""
    texts = [word.removeprefix("+") for word in words]
    known: dict[str, Any] = {text: float(text) for text in dict.fromkeys(texts)}
    whole = all(value.is_integer() for value in known.values())
    values = [int(known[text]) if whole else known[text] for text in texts]
    return infer(pl.Series(name, values), types.get(name, UNDECLARED), findings)
