"""One raw series of values -> one typed column.

Types are inferred unless declared: 0/1, true/false and no/yes are binary, whole numbers integer, decimals number, text
category, and text in which nearly every value is different is text, which cannot be tested. All mistakes are collected,
so that a file with five bad columns is reported once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from treeml.data.dates import CALENDAR, cut_number
from treeml.data.missing_words import MISSING_WORDS, is_missing_word
from treeml.data.table import Column, label_text, quoted
from treeml.lang.diagnostic import DataError, Diagnostic, Label
from treeml.lang.moments import DATE_TEXT, DAY, TIME_TEXT, days_of
from treeml.lang.spec import ColumnSpec

EXACT = 2**53  # beyond this, not every whole number is a float64
_TRUTHS = ({"0", "1"}, {"false", "true"}, {"no", "yes"})
_WHOLE = re.compile(r"-?(0|[1-9]\d*)")


@dataclass(slots=True)
class InferenceNotes:
    """Mistakes found while reading, and notes for the report."""

    source: str
    mistakes: list[Diagnostic] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def mistake(
        self,
        code: str,
        title: str,
        declared: ColumnSpec,
        label: str,
        notes: tuple[str, ...] = (),
        helps: tuple[str, ...] = (),
    ) -> None:
        if declared.span is None:
            self.mistakes.append(Diagnostic(code, title, notes=(label, *notes), helps=helps, place=self.source))
        else:
            self.mistakes.append(Diagnostic(code, title, (Label(declared.span, label),), notes, helps))

    def stop(self) -> None:
        """Raise all mistakes, if there are any."""
        if self.mistakes:
            raise DataError(self.mistakes)


def infer(series: pl.Series, declared: ColumnSpec, findings: InferenceNotes) -> Column:
    """The column of these values; after a mistake, a column of type text in its place."""
    dtype = series.dtype
    if dtype == pl.Boolean:
        return _from_truths(series, declared, findings)
    if dtype.is_integer():
        return _from_whole_numbers(series, declared, findings)
    if dtype.is_decimal():
        return _from_decimals(series, declared, findings)
    if dtype.is_float():
        return _from_numbers(series.cast(pl.Float64), declared, findings)
    if dtype == pl.Null:
        return _from_nothing(series, declared)
    if dtype == pl.String:
        return _from_text(series, declared, findings)
    if dtype in (pl.Categorical, pl.Enum):
        return _from_categories(series, declared, findings)
    kind = str(dtype).split("(")[0].lower()
    if dtype in (pl.Date, pl.Datetime):
        return _from_calendar(series, declared, findings)
    if dtype == pl.Time:
        findings.notes.append(_no_test(series.name, kind))
        return _coded(series.cast(pl.String, strict=False), "text")
    return unusable(series.name, kind, series.is_null().to_numpy(), findings)


def unusable(name: str, kind: str, missing: NDArray[np.bool_], findings: InferenceNotes) -> Column:
    """A column whose values are neither numbers nor text: it exists, but cannot be used."""
    findings.notes.append(_no_test(name, kind))
    codes = np.where(missing, -1, 0).astype(np.int32)
    return Column(name, "text", codes, (f"{kind} values",), missing if missing.any() else None)


def _no_test(name: str, kind: str) -> str:
    return f"`{name}` holds {kind} values, which cannot be tested; turn it into numbers to use it"


def _from_truths(series: pl.Series, declared: ColumnSpec, findings: InferenceNotes) -> Column:
    if declared.type in ("number", "integer"):
        return _from_whole_numbers(series.cast(pl.Int64), declared, findings)
    missing = _mask(series)
    codes = _filled(series.cast(pl.Int32), -1)
    return Column(series.name, declared.type or "binary", codes, (False, True), missing)


def _from_whole_numbers(series: pl.Series, declared: ColumnSpec, findings: InferenceNotes) -> Column:
    low, high = series.min(), series.max()
    if low is None or high is None:
        return _from_nothing(series, declared)
    assert isinstance(low, int)
    assert isinstance(high, int)
    if low < -(2**63) or high >= 2**63:
        row = _first_wide(series)
        findings.mistake(
            "D410",
            f"a number of `{series.name}` is too large",
            declared,
            f"{series[row]} in row {row + 1} of {findings.source} does not fit 64 bits",
            helps=(f"if these are names, declare `column {quoted(series.name)} : text`",),
        )
        return _coded(series.cast(pl.String), "text")
    if declared.type in ("category", "ordered", "text"):
        return _coded(series, declared.type)
    missing = _mask(series)
    if low >= 0 and high <= 1 and declared.type in ("", "binary"):
        return Column(series.name, "binary", _filled(series.cast(pl.Int32), -1), (0, 1), missing)
    if declared.type == "binary":
        return _two_valued(series, declared, findings)
    kind = declared.type or "integer"
    if low < -EXACT or high > EXACT:
        return Column(series.name, kind, _filled(series.cast(pl.Int64), 0), (), missing)
    return Column(series.name, kind, _filled(series.cast(pl.Float64), float("nan")), (), missing)


def _from_decimals(series: pl.Series, declared: ColumnSpec, findings: InferenceNotes) -> Column:
    """Decimals become floats whose shortest text they are; if there is no such float, they have too many digits."""
    numbers = series.cast(pl.Float64)
    known = series.unique().drop_nulls().to_list()
    if not known or max(len(value.as_tuple().digits) for value in known) <= 15:  # every float keeps 15 digits
        return _from_numbers(numbers, declared, findings)
    if all(value == value.to_integral_value() for value in known) and max(map(abs, known)) < 2**126:
        return _from_whole_numbers(series.cast(pl.Int128), declared, findings)
    fine = next((value for value in known if Decimal(repr(float(value))) != value), None)
    if fine is None:
        return _from_numbers(numbers, declared, findings)
    row = next(row for row, value in enumerate(series) if value == fine)
    return too_fine(series.name, fine, row, declared, findings, len(series))


def too_fine(name: str, value: Any, row: int, declared: ColumnSpec, findings: InferenceNotes, rows: int) -> Column:
    """Refuse a number that no float represents, because it would be changed silently."""
    findings.mistake(
        "D410",
        f"a number of `{name}` has more digits than are kept",
        declared,
        f"{value!s} in row {row + 1} of {findings.source} would become {float(value)!r}",
        notes=("numbers are kept as floats of 64 bits, which hold 15 digits and most numbers of 16 and 17",),
        helps=("round the numbers, or subtract what they have in common",),
    )
    return Column(name, "text", np.full(rows, -1, dtype=np.int32))


def _first_wide(series: pl.Series) -> int:
    for row, value in enumerate(series):
        if value is not None and not -(2**63) <= value < 2**63:
            return row
    return 0


def finite_numbers(name: str, values: NDArray[np.float64], declared: ColumnSpec) -> Column | None:
    """The column of finite numbers, or of zeros and ones, that need no second look; None for all others."""
    if declared.type not in ("", "number") or not len(values) or not np.isfinite(values).all():
        return None
    if not declared.type and values.min() >= 0 and values.max() <= 1:
        ones = values == 1
        if (ones | (values == 0)).all():
            return Column(name, "binary", ones.astype(np.int32), (0.0, 1.0))
    # Adding zero turns -0.0 into 0.0, so that equal numbers also look equal.
    return Column(name, "number", values + 0.0, ())


def _from_numbers(series: pl.Series, declared: ColumnSpec, findings: InferenceNotes) -> Column:
    whole = series.fill_null(float("nan")) if series.null_count() else series
    values: NDArray[np.float64] = whole.to_numpy()
    missing: NDArray[np.bool_] | None = None
    finite = np.isfinite(values)
    if not finite.all():
        missing = np.isnan(values)
        if not (finite | missing).all():
            row = int(np.argmin(finite | missing))
            findings.mistake(
                "D410",
                f"`{series.name}` holds a number that is not finite",
                declared,
                f"{_shown(values[row])} in row {row + 1} of {findings.source}",
                notes=("an infinity, or a number beyond 1.8e308, can be neither cut nor averaged",),
                helps=("replace it by a number, or leave the cell empty and declare what missing means",),
            )
            return _coded(series.cast(pl.String), "text")
        if missing.all():
            return _from_nothing(series, declared)
    if declared.type in ("category", "ordered", "text"):
        return _coded(series.fill_nan(None), declared.type)
    known = values if missing is None else values[~missing]
    if declared.type in ("", "binary") and known.size and known.min() >= 0 and known.max() <= 1:
        ones = values == 1
        if (ones | (values == 0) | ~finite).all():
            codes = ones.astype(np.int32)
            if missing is not None:
                codes[missing] = -1
            return Column(series.name, "binary", codes, (0.0, 1.0), missing)
    if declared.type == "binary":
        return _two_valued(series.fill_nan(None), declared, findings)
    if declared.type == "integer" and not (known == np.floor(known)).all():
        row = int(np.argmax(np.isfinite(values) & (values != np.floor(values))))
        findings.mistake(
            "D409",
            f"`{series.name}` is declared an integer, but holds decimals",
            declared,
            f"{_shown(values[row])} in row {row + 1} of {findings.source}",
            helps=(f"declare `column {quoted(series.name)} : number`",),
        )
    # Adding zero turns -0.0 into 0.0, so that equal numbers also look equal.
    return Column(series.name, declared.type or "number", values + 0.0, (), missing)


def _from_calendar(series: pl.Series, declared: ColumnSpec, findings: InferenceNotes) -> Column:
    """Dates as days, and times as microseconds; times that are all midnights are dates."""
    if declared.type in ("category", "ordered", "text"):
        return _coded(series.cast(pl.String), declared.type)
    if declared.type not in ("", *CALENDAR):
        findings.mistake(
            "D409",
            f"`{series.name}` is declared {_article(declared.type)}, but holds dates",
            declared,
            f"{series.drop_nulls()[0]} is one of its values",
            helps=(f"declare `column {quoted(series.name)} : date`, or leave the declaration out",),
        )
        return _coded(series.cast(pl.String), "text")
    if series.null_count() == len(series):
        return _from_nothing(series, declared)
    if isinstance(series.dtype, pl.Datetime) and series.dtype.time_zone is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    moments = series.cast(pl.Datetime("us")).cast(pl.Int64)
    kind = declared.type or ("date" if (moments % DAY == 0).all() else "time")
    numbers = moments // DAY if kind == "date" else moments
    return Column(series.name, kind, _filled(numbers.cast(pl.Float64), float("nan")), (), _mask(series))


def _calendar_from_text(series: pl.Series, declared: ColumnSpec, findings: InferenceNotes) -> Column | None:
    """The column of texts that are all dates or times in ISO form; None if some are not, and none was declared."""
    known = series.drop_nulls()
    form = DATE_TEXT if declared.type == "date" else rf"{DATE_TEXT}|{TIME_TEXT}"
    fits = known.str.contains(form)
    if not declared.type and not fits.all():
        return None
    moments = {text: days_of(text) for text in known.unique()}
    wrong = {text for text, value in moments.items() if value is None}
    bad = next((text for text in known if text in wrong), None) if wrong else None
    if bad is None and not fits.all():
        bad = known.filter(~fits)[0]
    days = {text: value for text, value in moments.items() if value is not None}
    if bad is None:
        kind = declared.type or ("date" if all(value.denominator == 1 for value in days.values()) else "time")
        texts = series.unique().drop_nulls()  # far fewer than rows, usually
        codes = _filled(series.cast(pl.Enum(texts)).to_physical().cast(pl.Int64), -1)
        numbers = np.array([*(float(cut_number(days[text], kind)) for text in texts), np.nan])
        return Column(series.name, kind, numbers[codes], (), _mask(series))
    if not declared.type:
        return None
    row = series.to_list().index(bad)
    example = "2024-03-01" if declared.type == "date" else "2024-03-01 12:30"
    findings.mistake(
        "D409",
        f"`{series.name}` is declared {_article(declared.type)}, but holds something else",
        declared,
        f'"{bad}" in row {row + 1} of {findings.source}',
        helps=(f"write it like {example}, or declare `column {quoted(series.name)} : category`",),
    )
    return _coded(series, "text")


def _from_nothing(series: pl.Series, declared: ColumnSpec) -> Column:
    """A column in which every value is missing (or which has no rows)."""
    rows = len(series)
    missing = np.ones(rows, dtype=bool) if rows else None
    if declared.type in ("number", "integer", *CALENDAR):
        return Column(series.name, declared.type, np.full(rows, np.nan), (), missing)
    levels = (0, 1) if declared.type == "binary" else ()
    return Column(series.name, declared.type or "category", np.full(rows, -1, dtype=np.int32), levels, missing)


def _from_text(series: pl.Series, declared: ColumnSpec, findings: InferenceNotes) -> Column:
    known = series.unique()
    clean = _without_missing_words(known)
    if not clean.equals(known, null_equal=True):  # to look at the different texts first is faster than at every row
        series = _without_missing_words(series)
    if series.null_count() == len(series):
        return _from_nothing(series, declared)
    if declared.type in ("number", "integer"):
        return _numbers_from_text(series, declared, findings)
    if declared.type in ("", *CALENDAR):
        found = _calendar_from_text(series, declared, findings)
        if found is not None:
            return found
    if declared.type:
        if declared.type == "binary":
            return _two_valued(series, declared, findings)
        return _coded(series, declared.type)
    present = len(series) - series.null_count()
    different = (known if clean.equals(known, null_equal=True) else clean.unique()).drop_nulls()
    distinct = len(different)
    if distinct <= 2:
        words = {word.lower() for word in different}
        if any(words <= truth for truth in _TRUTHS[1:]) and len(words) == distinct:
            return _two_valued(series, declared, findings)
    if distinct > 20 and distinct >= 0.9 * present:
        findings.notes.append(
            f"`{series.name}` is text with {distinct} different values in {present} rows, so it is not a feature; "
            f"declare `column {quoted(series.name)} : category` to use it"
        )
        return _coded(series, "text")
    return _coded(series, "category")


def _without_missing_words(series: pl.Series) -> pl.Series:
    stripped = series.str.strip_chars()
    return stripped.set(stripped.is_in(MISSING_WORDS), None)


def _numbers_from_text(series: pl.Series, declared: ColumnSpec, findings: InferenceNotes) -> Column:
    numbers = series.cast(pl.Int64, strict=False)
    if numbers.null_count() != series.null_count():
        numbers = series.cast(pl.Float64, strict=False)
        if numbers.null_count() == series.null_count() and series.str.contains(r"^[+-]?\d+$").all():
            numbers = wide_numbers(series)
    if numbers.null_count() == series.null_count():
        return infer(numbers, declared, findings)
    bad = series.is_not_null() & numbers.is_null()
    row = int(bad.arg_max() or 0)
    findings.mistake(
        "D409",
        f"`{series.name}` is declared {_article(declared.type)}, but holds text",
        declared,
        f'"{series[row]}" in row {row + 1} of {findings.source}'
        + (f", and {bad.sum() - 1} more" if bad.sum() > 1 else ""),
        helps=(f"write it as a number, or declare `column {quoted(series.name)} : category`",),
    )
    return _coded(series, "text")


def wide_numbers(series: pl.Series) -> pl.Series:
    """Texts of integers, some beyond 64 bits, as numbers, which will be refused; beyond 128 bits they stay text."""
    numbers = series.cast(pl.Int128, strict=False)
    return numbers if numbers.null_count() == series.null_count() else series


def _from_categories(series: pl.Series, declared: ColumnSpec, findings: InferenceNotes) -> Column:
    """A categorical column of a frame; the order of an ordered one (an Enum) is kept."""
    text = series.cast(pl.String)
    if isinstance(series.dtype, pl.Enum) and declared.type in ("", "ordered"):
        levels = tuple(series.dtype.categories.to_list())
        codes = _filled(series.to_physical().cast(pl.Int32), -1)
        return Column(series.name, "ordered", codes, levels, _mask(series))
    return _from_text(text, declared if declared.type else ColumnSpec("category"), findings)


def _two_valued(series: pl.Series, declared: ColumnSpec, findings: InferenceNotes) -> Column:
    """A binary column whose values are not the numbers 0 and 1."""
    levels = _in_order(series.unique().drop_nulls().to_list())
    words = {label_text(level).lower() for level in levels}
    for truth in _TRUTHS:
        if words <= truth and len(words) == len(levels):
            if len(levels) == 1:  # the other value does not occur, but is still a level
                other = (truth - words).pop()
                text = label_text(levels[0])
                levels.append(other.upper() if text.isupper() else other.capitalize() if text.istitle() else other)
            levels.sort(key=lambda level: sorted(truth).index(label_text(level).lower()))
    if len(levels) > 2:
        findings.mistake(
            "D409",
            f"`{series.name}` is declared binary, but has {len(levels)} different values",
            declared,
            f"{', '.join(map(label_text, levels[:5]))}{' ...' if len(levels) > 5 else ''} in {findings.source}",
            helps=(f"declare `column {quoted(series.name)} : category`",),
        )
        return _coded(series, "category")
    return _with_levels(series, "binary" if len(levels) == 2 else "category", levels)


def _coded(series: pl.Series, kind: str) -> Column:
    """A column of codes into its sorted distinct values."""
    different = series.unique().drop_nulls()
    if series.dtype == pl.String and kind != "ordered":
        return _with_levels(series, kind, different.sort())  # in the order of Python's texts
    levels = different.to_list()
    return _with_levels(series, kind, sorted(levels, key=_natural) if kind == "ordered" else _in_order(levels))


def _with_levels(series: pl.Series, kind: str, levels: list[Any] | pl.Series) -> Column:
    if series.dtype == pl.String:
        coded = series.cast(pl.Enum(levels)).to_physical().cast(pl.Int32).fill_null(-1)
        levels = levels.to_list() if isinstance(levels, pl.Series) else levels
        if all(_WHOLE.fullmatch(level) and level != "-0" for level in levels) and kind != "text":
            # Whole numbers declared as a category: the labels are numbers, not text.
            numbers = [int(level) for level in levels]
            order = sorted(range(len(numbers)), key=numbers.__getitem__)
            place = np.empty(len(order) + 1, dtype=np.int32)
            place[order] = np.arange(len(order))
            place[-1] = -1
            return Column(series.name, kind, place[coded.to_numpy()], tuple(sorted(numbers)), _mask(series))
        return Column(series.name, kind, coded.to_numpy(), tuple(levels), _mask(series))
    place_of = {level: code for code, level in enumerate(levels)}
    coded = series.replace_strict(list(place_of), list(place_of.values()), default=-1, return_dtype=pl.Int32)
    return Column(series.name, kind, coded.fill_null(-1).to_numpy(), tuple(levels), _mask(series))


def column_of_objects(name: str, values: list[Any], declared: ColumnSpec, findings: InferenceNotes) -> Column:
    """A column of values of several types, such as numbers and text: each distinct text is a level.

    New rows are compared by their text, too, so 1, 1.0 and "1" are one level.
    """
    different = {(type(value), value): value for value in values if not _is_missing(value)}
    text_of = {key: label_text(value).strip() for key, value in different.items()}
    first = {text_of[key]: key for key in reversed(different)}
    known = [value.strip() if isinstance(value, str) else value for _, value in first.values()]
    levels = _in_order(known if len(set(known)) == len(known) else list(first))  # True == 1, but their texts differ
    code_of = {label_text(level): code for code, level in enumerate(levels)}
    place = {key: code_of[text] for key, text in text_of.items()}
    codes = np.array([place.get((type(value), value), -1) for value in values], dtype=np.int32)
    if declared.type in ("number", "integer"):
        row = next(i for i, value in enumerate(values) if isinstance(value, str))
        findings.mistake(
            "D409",
            f"`{name}` is declared {_article(declared.type)}, but holds text",
            declared,
            f'"{values[row]}" in row {row + 1} of {findings.source}',
        )
    missing = codes < 0
    kind = declared.type if declared.type in ("category", "ordered", "text") else "category"
    return Column(name, kind, codes, tuple(levels), missing if missing.any() else None)


def _is_missing(value: Any) -> bool:
    return value is None or value != value or (isinstance(value, str) and is_missing_word(value))


def _filled(series: pl.Series, gap: float) -> NDArray[Any]:
    """The values as an array; missing values are filled only if there are any, because that is slow."""
    return (series.fill_null(gap) if series.null_count() else series).to_numpy()


def _mask(series: pl.Series) -> NDArray[np.bool_] | None:
    return series.is_null().to_numpy() if series.null_count() else None


def _in_order(levels: Any) -> list[Any]:
    """Sorted levels; values of several types are sorted within each type."""
    try:
        return sorted(levels)
    except TypeError:
        return sorted(levels, key=lambda level: (type(level).__name__, label_text(level)))


def _natural(level: Any) -> list[tuple[int, Any]]:
    """A key that sorts text by the numbers in it: `room 9` before `room 10`."""
    if not isinstance(level, str):
        return [(0, level)]
    parts = (part for part in re.split(r"(\d+)", level) if part)
    return [(0, int(part)) if part.isdecimal() and len(part) < 1000 else (1, part) for part in parts]


def _shown(value: float) -> str:
    return label_text(float(value)) if np.isfinite(value) else str(float(value))


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
