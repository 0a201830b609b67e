"""Pictures of trees without a browser: the SVG drawing as PNG and PDF, and a page."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import treeml as tml
from treeml.cli.main import treeml
from treeml.export import export
from treeml.lang.diagnostic import DataError
from treeml.trees.palette import TINTS
from treeml.trees.picture import SCALE, draw_picture, drawing_size

HEART = Path(__file__).parents[2] / "examples" / "plain" / "heart.csv"


def solved(text: str = "predict disease maximize accuracy require depth <= 2") -> Any:
    result = tml.parse(text).solve(HEART)
    return result.forest or result.tree


def pixels(png: bytes) -> Any:
    from io import BytesIO

    from matplotlib.image import imread

    return np.round(imread(BytesIO(png))[..., :3] * 255).astype(int)


def test_a_png_has_the_size_and_the_colors_of_the_drawing() -> None:
    tree = solved()
    picture = pixels(export(tree, "png"))
    width = int(tree.to_svg().split('width="')[1].split('"')[0])
    assert abs(picture.shape[1] - SCALE * width) <= 1
    for color in TINTS[:2]:
        wanted = [int(color[place : place + 2], 16) for place in (1, 3, 5)]
        assert (picture == wanted).all(axis=2).sum() > 1000  # leaves of both classes
    assert (picture < 60).all(axis=2).sum() > 200  # letters


def test_a_forest_is_one_picture_of_all_its_trees() -> None:
    forest = solved("predict disease maximize margin require depth <= 1 ensemble by lpboost(penalty = 0.5)")
    high = pixels(export(forest, "png")).shape[0]
    alone = sum(SCALE * drawing_size(drawing)[1] for drawing in forest.to_svg())
    assert abs(high - alone) <= 2 * len(forest.trees)


def test_a_pdf_repeats_and_a_page_is_complete() -> None:
    tree = solved()
    assert export(tree, "pdf")[:5] == b"%PDF-"
    assert export(tree, "pdf") == export(tree, "pdf")
    page = export(tree, "html")
    assert page.startswith("<!DOCTYPE html>")
    assert "<svg" in page
    assert "<script" not in page
    assert "decision tree for disease" in page


def test_hostile_names_stay_text() -> None:
    from treeml.trees.nodes import Branch, Field, TreeLeaf, TreeTest
    from treeml.trees.tree import Tree

    name = "</svg><script>$\\frac$ & _"
    test = TreeTest(name, "at most", (1.0,))
    leaves = TreeLeaf("<b>", 3, (3, 0)), TreeLeaf("$x$", 2, (0, 2))
    tree = Tree(Branch(test, *leaves), "classes", name, ("<b>", "$x$"), fields=(Field(name, "number"),), inputs=(name,))
    assert export(tree, "png")[:4] == b"\x89PNG"
    assert "<script" not in export(tree, "html")


def test_what_pictures_do_not_know_is_refused() -> None:
    with pytest.raises(ValueError, match="polygon"):
        draw_picture('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><polygon/></svg>', "png")


def test_without_matplotlib_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    original = builtins.__import__

    def refuse(name: str, *arguments: Any, **more: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return original(name, *arguments, **more)

    tree = solved()
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(DataError, match=r"pip install 'treeml\[plot\]'"):
        export(tree, "png")


def test_show_takes_the_form_from_the_ending(tmp_path: Path) -> None:
    solved().write(tmp_path / "tree.json")
    for ending, opening in ((".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<svg"), (".html", b"<!DOC")):
        out = tmp_path / f"tree{ending}"
        assert CliRunner().invoke(treeml, ["show", str(tmp_path / "tree.json"), "-o", str(out)]).exit_code == 0
        assert out.read_bytes().startswith(opening)
    refused = CliRunner().invoke(treeml, ["show", str(tmp_path / "tree.json"), "--as", "png"])
    assert refused.exit_code == 2
    assert "-o tree.png" in refused.stderr
