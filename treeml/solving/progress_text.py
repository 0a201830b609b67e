"""Progress -> one line of text, and the share of the gap that is closed."""

from __future__ import annotations

from treeml.backends.contract import Progress
from treeml.forests.progress import ForestProgress


def closed_share(moment: Progress) -> float | None:
    """The share of the gap that is closed; None while there is no tree or no bound."""
    if not moment.objective or moment.bound is None:
        return None
    value, bound = float(moment.objective[-1]), float(moment.bound)
    return 1.0 if value == bound else max(0.0, min(1.0, 1 - abs(value - bound) / max(abs(value), abs(bound))))


def progress_text(moment: Progress) -> str:
    """`12.3 s   incumbent 41   bound 38   gap 7.3 %`; goals to be maximized are shown negated, as they are solved."""
    if isinstance(moment, ForestProgress):
        return moment.line
    parts = [f"{moment.seconds:.1f} s"]
    value = None if not moment.objective else float(moment.objective[-1])
    parts.append("no tree yet" if value is None else f"incumbent {value:.6g}")
    if moment.bound is not None:
        parts.append(f"bound {float(moment.bound):.6g}")
        if value:
            parts.append(f"gap {100 * abs(value - float(moment.bound)) / abs(value):.1f} %")
    return "   ".join(parts)
