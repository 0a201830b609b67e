"""Drawings: well formed whatever the names are, and readable."""

from __future__ import annotations

import xml.etree.ElementTree
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from treeml.trees import nodes as trees
from treeml.trees.nodes import Branch, Field, TreeLeaf
from treeml.trees.tree import Tree

SVG = "{http://www.w3.org/2000/svg}"


def tree_with(column: str, label: str) -> Tree:
    yes, no = TreeLeaf(label, 1, (1, 0)), TreeLeaf("other", 2, (0, 2))
    return Tree(Branch(trees.TreeTest(column, "is true", (1,)), yes, no), "classes", "y", (label, "other"))


@given(st.text(), st.text())
@settings(max_examples=100, deadline=None)
def test_any_names_make_well_formed_drawings(column: str, label: str) -> None:
    tree = tree_with(column, label)
    xml.etree.ElementTree.fromstring(tree.to_svg())
    xml.etree.ElementTree.fromstring(tree._repr_html_())
    dot = tree.to_dot()
    assert dot.count("->") >= 2
    assert dot.startswith("digraph tree {")


def test_svg_holds_every_node_and_no_script() -> None:
    tree = tree_with("<script>", "a & b")
    root = xml.etree.ElementTree.fromstring(tree.to_svg())
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert texts[:3] == ["y", "a & b", "other"]  # the target, and what the colors stand for
    assert texts[3:5] == ["is 1", "is not 1"]  # the conditions, on the edges
    assert texts[5:] == ["<script>", "a & b", "1 row (33.3% of all)", "other", "2 rows (66.7% of all)"]
    assert not list(root.iter(f"{SVG}script"))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for box in root.iter(f"{SVG}rect"):
        left, top = float(box.attrib.get("x", 0)), float(box.attrib.get("y", 0))
        assert left >= 0
        assert left + float(box.attrib["width"]) <= width
        assert top + float(box.attrib["height"]) <= height


def test_leaves_do_not_overlap() -> None:
    def grow(depth: int) -> Branch | TreeLeaf:
        test = trees.TreeTest("a column whose name is so long that it needs more room", "at most", (depth + 0.5,))
        return Branch(test, grow(depth - 1), grow(depth - 1)) if depth else TreeLeaf("yes", 1, (1,))

    tree = Tree(
        grow(4),
        "classes",
        "y",
        ("yes",),
        (),
        (Field("a column whose name is so long that it needs more room", "number"),),
    )
    boxes = [
        (float(box.attrib["y"]), float(box.attrib["x"]), float(box.attrib["width"]))
        for box in xml.etree.ElementTree.fromstring(tree.to_svg()).iter(f"{SVG}rect")
        if "rx" in box.attrib
    ]
    for top, left, width in boxes:
        for other_top, other_left, _ in boxes:
            assert top != other_top or other_left <= left or other_left >= left + width


def test_shares_are_never_rounded_to_0_or_100_percent() -> None:
    leaf = TreeLeaf("a", 100_000, (99_999, 1), (Fraction(99_999), Fraction(1)))
    assert str(Tree(leaf, "classes", "y", ("a", "b"))) == "y = a  [100,000 rows: a >99.9%, b <0.1%]"


def test_numbers_and_clusters() -> None:
    numbers = Tree(
        Branch(
            trees.TreeTest("x", "at most", (0.1,)),
            TreeLeaf(1.5, 2, exact=(Fraction(3, 2),)),
            TreeLeaf(1 / 3, 3, exact=(Fraction(1, 3),)),
        ),
        "numbers",
        "y",
        (),
        ("y",),
        (Field("x", "number"),),
    )
    assert str(numbers).splitlines()[1:] == [
        "├─ x <= 0.1: y = 1.5  [2 rows (40% of all)]",
        "└─ x > 0.1: y = 0.333333  [3 rows (60% of all)]",
    ]
    clusters = Tree(TreeLeaf((1.0, 2.5), 4, exact=(Fraction(1), Fraction(5, 2))), "clusters", "", (), ("u", "v"))
    assert str(clusters) == "u 1, v 2.5  [4 rows]"
    for tree in (numbers, clusters):
        xml.etree.ElementTree.fromstring(tree.to_svg())
        assert "fillcolor" in tree.to_dot()


def grown(depth: int, names: str) -> Branch | TreeLeaf:
    """A full tree; its boxes and conditions have many widths."""
    if not depth:
        return TreeLeaf("yes" if names.endswith("a") else "a class with a long name", 3, (2, 1))
    name = "column " * (1 + len(names) % 3) + names
    test = trees.TreeTest(name, "at most", (10.0 ** (depth * 2) + 0.5,))
    return Branch(test, grown(depth - 1, names + "a"), grown(depth - 1, names + "b"))


def rectangles(svg: str, kind: str) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of the boxes (`rx`), or of the white ground of the conditions (`fill`)."""
    found = []
    for box in xml.etree.ElementTree.fromstring(svg).iter(f"{SVG}rect"):
        if ("rx" in box.attrib) if kind == "boxes" else (box.attrib["height"] == "16"):
            left, top, width, height = (float(box.attrib[name]) for name in ("x", "y", "width", "height"))
            found.append((left, top, left + width, top + height))
    return found


def test_a_sideways_drawing_grows_to_the_right_and_nothing_overlaps() -> None:
    tree = Tree(grown(4, ""), "classes", "y", ("yes", "a class with a long name"))
    down, right = tree.to_svg(), tree.to_svg(sideways=True)
    sizes = [xml.etree.ElementTree.fromstring(each).attrib for each in (down, right)]
    assert float(sizes[1]["width"]) < float(sizes[0]["width"]) / 2
    boxes, conditions = rectangles(right, "boxes"), rectangles(right, "conditions")
    assert len(boxes) == 31
    assert len(conditions) == 30
    shown = [*boxes, *conditions]
    for place, (left, top, end, bottom) in enumerate(shown):
        assert 0 <= left <= end <= float(sizes[1]["width"])
        assert 0 <= top <= bottom <= float(sizes[1]["height"])
        for other_left, other_top, other_end, other_bottom in shown[:place]:
            apart = left >= other_end or other_left >= end or top >= other_bottom or other_top >= bottom
            assert apart
    texts = [
        [text.text for text in xml.etree.ElementTree.fromstring(each).iter(f"{SVG}text")] for each in (down, right)
    ]
    assert texts[0] == texts[1]  # the same words in both


def test_dot_from_left_to_right() -> None:
    assert "rankdir=LR" in tree_with("x", "a").to_dot(sideways=True)
    assert "rankdir" not in tree_with("x", "a").to_dot()
