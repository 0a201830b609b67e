"""An SVG drawing of this package -> PNG or PDF, by matplotlib.

The drawings of `svg.py` use few elements of SVG, and each is drawn here as the browser draws it. So there is one
layout for all forms, and a picture needs no browser. An element that is not known here raises ValueError.
"""

from __future__ import annotations

import re
from io import BytesIO
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, filterwarnings
from xml.etree import ElementTree

from treeml.lang.diagnostic import DataError, Diagnostic

if TYPE_CHECKING:
    from collections.abc import Mapping

SCALE = 2  # pixels of a PNG per unit of the drawing, for sharp text on dense screens
MOST_PIXELS = 30_000  # of a side, beyond which the picture is drawn smaller
POINTS = 72  # per inch, the unit of fonts
OTHER_SCRIPTS = (
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Source Han Sans",
    "WenQuanYi Zen Hei",
    "Hiragino Sans",
    "Microsoft YaHei",
    "Malgun Gothic",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
    "Arial Unicode MS",
)
_STEP = re.compile(r"([MLHVCZ])([^MLHVCZ]*)")
_INHERITED = ("font-size", "font-weight", "fill", "stroke", "scale")
_SILENT = ("title", "desc", "style")


def draw_picture(svg: str, form: str) -> bytes:
    """The drawing as `png` or `pdf`; DataError if matplotlib is not installed."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise DataError(
            Diagnostic(
                "D495",
                f"a {form} picture needs matplotlib",
                notes=("`--as svg` and `--as html` need nothing",),
                helps=("pip install 'treeml[plot]'",),
            )
        ) from error
    width, height = drawing_size(svg)
    figure = Figure(figsize=(width / POINTS, height / POINTS), facecolor="white")
    made = BytesIO()
    dots = min(POINTS * SCALE, POINTS * MOST_PIXELS / max(width, height))
    with rc_context({"pdf.fonttype": 42, "font.family": _fonts()}), catch_warnings():
        # A letter that no installed font has is drawn as a box; a warning per letter would say it in many lines.
        filterwarnings("ignore", message="Glyph .* missing from font")
        draw_on(figure.add_axes((0, 0, 1, 1)), svg)
        figure.savefig(made, format=form, dpi=dots, metadata={"CreationDate": None} if form == "pdf" else None)
    return made.getvalue()


def _fonts() -> list[str]:
    """matplotlib's own font, then installed ones that have the letters of other scripts."""
    from matplotlib.font_manager import get_font_names

    return ["DejaVu Sans", *(name for name in OTHER_SCRIPTS if name in set(get_font_names()))]


def drawing_size(svg: str) -> tuple[float, float]:
    """Width and height of a drawing, in its own units, which are points."""
    root = ElementTree.fromstring(svg)
    return float(root.attrib["width"]), float(root.attrib["height"])


def draw_on(axes: Any, svg: str) -> None:
    """Draw on axes of matplotlib; letters shrink and grow with the axes."""
    root = ElementTree.fromstring(svg)
    width, height = drawing_size(svg)
    axes.set(xlim=(0, width), ylim=(height, 0), aspect="equal")
    axes.axis("off")
    box = axes.get_window_extent()
    scale = min(box.width / width, box.height / height) * POINTS / axes.figure.dpi
    _draw(axes, root, {"font-size": "13", "scale": str(scale)}, 0.0)


def _draw(axes: Any, element: ElementTree.Element, inherited: Mapping[str, str], top: float) -> None:
    kind = element.tag.rpartition("}")[2]
    if kind in _SILENT:
        return
    look = {**inherited, **element.attrib}
    if kind in ("svg", "g"):
        top += float(element.attrib.get("y", 0))
        passed = {name: value for name, value in look.items() if name in _INHERITED}
        for child in element:
            _draw(axes, child, passed, top)
        return
    draw = _ELEMENTS.get(kind)
    if draw is None:
        raise ValueError(f"a drawing holds the element {kind}, which pictures do not know")
    draw(axes, look, "".join(element.itertext()), top)


def _colors(look: Mapping[str, str]) -> dict[str, Any]:
    return {
        "facecolor": look.get("fill", "black"),
        "edgecolor": look.get("stroke", "none"),
        "linewidth": float(look.get("stroke-width", 1)) * float(look["scale"]),
        "linestyle": (0, tuple(map(float, look["stroke-dasharray"].split()))) if "stroke-dasharray" in look else "-",
        "alpha": float(look["opacity"]) if "opacity" in look else None,
    }


def _rectangle(axes: Any, look: Mapping[str, str], _text: str, top: float) -> None:
    from matplotlib.patches import FancyBboxPatch, Rectangle

    x, y = float(look.get("x", 0)), float(look.get("y", 0)) + top
    width, height = float(look["width"]), float(look["height"])
    radius = min(float(look.get("rx", 0)), width / 2, height / 2)
    if radius:
        style = f"round,pad=0,rounding_size={radius}"
        axes.add_patch(FancyBboxPatch((x, y), width, height, boxstyle=style, **_colors(look)))
    else:
        axes.add_patch(Rectangle((x, y), width, height, **_colors(look)))


def _circle(axes: Any, look: Mapping[str, str], _text: str, top: float) -> None:
    from matplotlib.patches import Circle

    axes.add_patch(Circle((float(look["cx"]), float(look["cy"]) + top), float(look["r"]), **_colors(look)))


def _line(axes: Any, look: Mapping[str, str], _text: str, top: float) -> None:
    ends = f"M {look['x1']} {look['y1']} L {look['x2']} {look['y2']}"
    _path(axes, {**look, "d": ends, "fill": "none"}, "", top)


def _path(axes: Any, look: Mapping[str, str], _text: str, top: float) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    points: list[tuple[float, float]] = []
    codes: list[int] = []
    for step, text in _STEP.findall(look["d"]):
        numbers = [float(number) for number in text.replace(",", " ").split()]
        x, y = points[-1] if points else (0.0, 0.0)
        if step == "Z":
            points.append((0.0, 0.0))
            codes.append(int(Path.CLOSEPOLY))
            continue
        if step in "HV":
            numbers = [numbers[0], y - top] if step == "H" else [x, numbers[0]]
        points += [(numbers[place], numbers[place + 1] + top) for place in range(0, len(numbers), 2)]
        code = {"M": Path.MOVETO, "C": Path.CURVE4}.get(step, Path.LINETO)
        codes += [int(code)] * (len(numbers) // 2)
    axes.add_patch(PathPatch(Path(points, codes), **_colors(look)))


def _text(axes: Any, look: Mapping[str, str], text: str, top: float) -> None:
    side = {"middle": "center", "end": "right"}.get(look.get("text-anchor", "start"), "left")
    axes.text(
        float(look["x"]),
        float(look["y"]) + top,
        text.replace("$", "\\$"),  # dollars would enclose a formula
        ha=side,
        va="baseline",
        color=look.get("fill", "black"),
        # Letters of matplotlib's own font are wider than those that the layout counts on.
        fontsize=0.86 * float(look["font-size"]) * float(look["scale"]),
        fontweight=look.get("font-weight", "normal"),
    )


_ELEMENTS = {"rect": _rectangle, "circle": _circle, "line": _line, "path": _path, "text": _text}
