"""What drawings show of rows: the path of one, distributions at the nodes, and leaves against their majority."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ElementTree
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import treeml as tml
from treeml.cli.main import treeml
from treeml.export import export
from treeml.lang.diagnostic import DataError
from treeml.measures.evaluators import outcome_of
from treeml.solving.pipeline import prepare
from treeml.solving.verify import goal_values, is_met
from treeml.trees.distributions import distributions
from treeml.trees.nodes import Branch, Field, TreeLeaf, TreeTest, overruled_class
from treeml.trees.palette import COLORS, FULL_NUMBER, INK, PATH, TINTS, WARNING
from treeml.trees.routing import row_sides
from treeml.trees.tree import Tree

HEART = Path(__file__).parents[2] / "examples" / "plain" / "heart.csv"
SVG = "{http://www.w3.org/2000/svg}"
SPEC = "predict disease maximize accuracy require depth <= 3"


def solved(text: str = SPEC) -> Tree:
    tree = tml.parse(text).solve(HEART).tree
    assert tree is not None
    return tree


def groups(svg: str, kind: str) -> list[ElementTree.Element]:
    return [each for each in ElementTree.fromstring(svg).iter(f"{SVG}g") if each.get("class") == kind]


def test_the_path_of_a_row_is_the_one_it_takes() -> None:
    tree, rows = solved(), pl.read_csv(HEART).to_dicts()
    paths = list(tree.paths())
    for row, leaf in zip(rows, tree.apply(rows).tolist(), strict=True):
        sides = row_sides(tree, row)
        assert [side == 0 for side in sides] == [answer for _, answer in paths[leaf][0]]
    svg = tree.to_svg(row=rows[3])
    length = len(row_sides(tree, rows[3]))
    assert len(groups(svg, "leaf path")) == 1
    assert len(groups(svg, "branch path")) == length
    assert svg.count('<path d="M') == tree.splits * 2
    assert sum(PATH in line and "<path" in line for line in svg.splitlines()) == length
    assert f"= {rows[3][tree.columns[0]]}" in svg  # the value of the row stands in the box
    assert tree.to_text(rows[3]).count("▶") == length
    assert tree.to_dot(rows[3]).count("penwidth=3") == 2 * length + 1


def test_a_row_needs_only_the_columns_on_its_path() -> None:
    tree = solved()
    row = pl.read_csv(HEART).to_dicts()[0]
    tests = [test.column for test, _ in list(tree.paths())[int(tree.apply(row)[0])][0]]
    assert row_sides(tree, {name: row[name] for name in tests}) == row_sides(tree, row)
    with pytest.raises(DataError, match=f"the row has no `{tests[-1]}`"):
        row_sides(tree, {name: row[name] for name in tests if name != tests[-1]})
    with pytest.raises(ValueError, match="one row, not of 2"):
        row_sides(tree, pl.read_csv(HEART).head(2))


def test_distributions_count_every_row_once_and_on_its_side() -> None:
    tree, frame = solved(), pl.read_csv(HEART)
    found = distributions(tree, frame)
    assert found.rows == len(frame)
    for node, spread in zip(tree.nodes(), found.spreads, strict=True):
        if isinstance(node, TreeLeaf):
            assert spread is None
            continue
        assert spread is not None
        below = Tree(node, "classes", classes=tree.classes).leaves
        counts = np.array([bar.counts for bar in spread.bars])
        assert counts.sum(axis=0)[:2].tolist() == np.array([leaf.counts for leaf in below]).sum(axis=0).tolist()
        yes = Tree(node.yes, "classes", classes=tree.classes).leaves
        left = counts[: round(spread.cuts[0])].sum(axis=0)[:2].tolist()
        assert left == np.array([leaf.counts for leaf in yes]).sum(axis=0).tolist()


def one_test(test: TreeTest, field: Field) -> Tree:
    root = Branch(test, TreeLeaf("a", 2, (2, 0)), TreeLeaf("b", 2, (0, 2)))
    return Tree(root, "classes", "y", ("a", "b"), (), (field,), (field.name,))


@pytest.mark.parametrize(
    ("test", "field", "values", "bars"),
    [
        (TreeTest("x", "missing"), Field("x", "number", (), True), [1.0, None, 2.5], 3),
        (TreeTest("x", "is", (2,)), Field("x", "number"), [1, 2, 2, 3], 3),
        (TreeTest("x", "at most", (5.0,)), Field("x", "number"), [5.0], 2),
        (TreeTest("x", "among", ("u", "v"), True), Field("x", "category", ("u", "v", "w"), True), ["u", "w", None], 3),
        (TreeTest("x", "at most", ("v",)), Field("x", "ordered", ("u", "v", "w")), ["u", "w", "z"], 3),
    ],
)
def test_distributions_of_every_kind_of_test(test: TreeTest, field: Field, values: list[Any], bars: int) -> None:
    tree = one_test(test, field)
    spread = distributions(tree, {"x": values, "y": ["a", "b", "c", "a"][: len(values)]}).spreads[0]
    assert spread is not None
    assert len(spread.bars) == bars
    assert sum(sum(bar.counts) for bar in spread.bars) == len(values)
    ElementTree.fromstring(tree.to_svg(data={"x": values}))


@pytest.mark.parametrize("ends", [(0.0, 1e-323), (1e16, 1e16 + 4), (-1.7e308, 1.7e308), (1.0, 1.0000000000000002)])
def test_numbers_at_the_edge_of_floats_have_distributions(ends: tuple[float, float]) -> None:
    low, high = ends
    root = Branch(TreeTest("x", "at most", (low,)), TreeLeaf(low, 2, exact=(low,)), TreeLeaf(high, 2, exact=(high,)))
    tree = Tree(root, "numbers", "y", (), ("y",), (Field("x", "number"),), ("x",))
    columns = {"x": [low, low, high, high], "y": [low, low, high, high]}
    for spread in distributions(tree, columns).spreads:
        assert spread is not None
        assert sum(sum(bar.counts) for bar in spread.bars) == (4 if spread.lines else 2)
        assert all(0 <= share <= 1 for _, share in spread.points)


def test_many_levels_share_a_bar_and_names_do_not_overflow() -> None:
    levels = tuple(f"<level {number}>" for number in range(60))
    tree = one_test(TreeTest("x", "is", (levels[0],)), Field("x", "category", levels))
    spread = distributions(tree, {"x": list(levels)}).spreads[0]
    assert spread is not None
    assert spread.bars[-1].label == "45 more"
    assert spread.sides == ("1 value", "59 values")
    assert "59 values" in tree.to_svg(data={"x": list(levels)})


def test_linear_leaves_show_their_line_over_its_column() -> None:
    fields = (Field("a", "binary", (0, 1)), Field("x", "number"), Field("z", "number"))
    sides = TreeLeaf(1.0, 2, slopes=(("x", 2.0),)), TreeLeaf(0.0, 2, slopes=(("x", 1.0), ("z", -1.0)))
    tree = Tree(Branch(TreeTest("a", "is true", (1,)), *sides), "numbers", "y", (), ("y",), fields, ("a", "x", "z"))
    rows = {"a": [1, 1, 0, 0], "x": [0.0, 2.0, 3.0, 0.0], "z": [9.0, 9.0, 1.0, 0.0], "y": [1.0, 3.0, 2.0, 0.0]}
    found = distributions(tree, rows)
    _, one, several = found.spreads
    assert found.has_lines
    assert one is not None
    assert several is not None
    assert one.points == ((0.0, 1 / 3), (18.0, 1.0))
    assert [text for _, text in one.marks] == ["0", "2"]
    assert one.lines == ((0.0, 9.0, 1 / 3, 1.0),)  # the line leaves the chart at x = 1, where it is 3
    assert several.points == ((18.0, 2 / 3), (0.0, 0.0))
    assert several.lines == ((0.0, 18.0, 0.0, 2 / 3),)
    assert "the line, over its column" in tree.to_svg(data=rows)


def test_distributions_of_numbers_show_points_and_means() -> None:
    rows = {"x": [1.0, 2.0, 3.0, 4.0], "y": [1.0, 1.0, 5.0, 7.0]}
    tree = tml.parse("predict y minimize squared_loss require depth <= 1").solve(pl.DataFrame(rows)).tree
    assert tree is not None
    found = distributions(tree, rows)
    assert found.reach == (1.0, 7.0)
    root, low, high = found.spreads
    assert root is not None
    assert low is not None
    assert high is not None
    assert len(root.points) == 4
    assert [round(share, 6) for *_, share in root.lines] == [0.0, round(5 / 6, 6)]
    assert tree.to_svg(data=rows).count("<circle") == 4
    assert "<circle" not in tree.to_svg(data={"x": rows["x"]})  # the target is not there
    assert export(tree, "png", data=rows)[:4] == b"\x89PNG"


CASES = [
    'predict disease is "yes" maximize accuracy require recall("yes") >= 0.98 require depth <= 1',
    'predict disease is "yes" maximize accuracy require specificity("yes") >= 0.99 require depth <= 2',
    "predict disease cost predict no when yes = 9 cost predict yes when no = 1 "
    "minimize mistake_cost require depth <= 2",
    'predict disease is "yes" maximize accuracy require parity_gap(sex) <= 0.02 require depth <= 2',
    'predict disease is "yes" cost predict no when yes = 9 cost predict yes when no = 1 '
    'minimize mistake_cost require recall("yes") >= 0.9 require depth <= 2',
]


@pytest.mark.parametrize("text", CASES)
def test_a_leaf_against_its_majority_says_why(text: str) -> None:
    """The reason is checked by switching the leaf: the goal is worse then, or the named requirement is violated."""
    tree = solved(text)
    dataset, _ = prepare(text, HEART)
    against = {place: leaf for place, leaf in enumerate(tree.leaves) if overruled_class(leaf, tree.classes) is not None}
    assert all(leaf.because for leaf in against.values())
    assert all(not leaf.because for place, leaf in enumerate(tree.leaves) if place not in against)
    for place, leaf in against.items():
        largest = max(range(2), key=lambda number: leaf.counts[number])
        other = tree.with_leaves({place: TreeLeaf(tree.classes[largest], leaf.rows, leaf.counts, leaf.weights)})
        outcome = outcome_of(other, dataset)
        now, then = goal_values(outcome_of(tree, dataset), dataset)[0], goal_values(outcome, dataset)[0]
        if then.value != now.value and (then.value > now.value) == (now.sense == "minimize"):
            assert leaf.because == now.text
        else:
            broken = [each.text for each in dataset.spec.requirements if not is_met(each, dataset, outcome)]
            assert leaf.because.startswith(broken[0])
    if against:
        leaf = next(iter(against.values()))
        assert f"against its majority {tree.classes[1 - tree.classes.index(leaf.prediction)]}, for {leaf.because}" in (
            str(tree)
        )
        assert "⚠ against its majority" in tree.to_svg()
        assert "stroke-dasharray" in tree.to_svg()
        assert "against its majority" in tree.to_dot()
    assert Tree.from_json(tree.to_json()) == tree


def test_some_leaf_goes_against_its_majority() -> None:
    """So that the test above tests something."""
    assert any(leaf.because for text in CASES[:3] for leaf in solved(text).leaves)


def test_a_leaf_that_predicts_its_majority_is_not_marked() -> None:
    leaf = TreeLeaf("a", 4, (2, 2))
    assert overruled_class(leaf, ("a", "b")) is None
    assert overruled_class(TreeLeaf("a", 4, (1, 3), (3, 1)), ("a", "b")) is None  # by weight it is the majority
    assert overruled_class(TreeLeaf("a", 0, (0, 0)), ("a", "b")) is None
    assert overruled_class(TreeLeaf("a", 4, (1, 3)), ("a", "b")) == 1
    assert "⚠" not in solved().to_svg()


def test_the_forest_says_that_all_trees_vote() -> None:
    text = "predict disease maximize margin require depth <= 1 ensemble by lpboost(penalty = 0.5)"
    forest = tml.parse(text).solve(HEART).forest
    assert forest is not None
    against = [leaf for tree in forest.trees for leaf in tree.leaves if overruled_class(leaf, tree.classes) is not None]
    assert against
    assert {leaf.because for leaf in against} == {"the vote of the whole forest"}


# Colors


def luminance(color: str) -> float:
    channels = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


# What people without one kind of cone see, in linear RGB (Machado, Oliveira and Fernandes 2009, severity 1).
SEEN = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def in_lab(color: str, seen: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    values = np.array([int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    linear = np.clip(seen @ linear, 0, 1)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ linear / np.array([0.9505, 1.0, 1.089])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("kind", SEEN)
def test_color_blind_people_can_tell_the_classes_apart(kind: str) -> None:
    seen = [in_lab(color, SEEN[kind]) for color in COLORS[:8]]
    distances = [float(np.linalg.norm(one - other)) for place, one in enumerate(seen) for other in seen[:place]]
    assert min(distances) > 10  # a just noticeable difference is about 2
    assert float(np.linalg.norm(seen[0] - seen[1])) > 60  # most trees have two classes


def test_text_and_bars_are_readable_on_leaves() -> None:
    for number, tint in enumerate(TINTS):
        assert contrast(INK, tint) >= 7  # WCAG 2, level AAA
        assert contrast(WARNING, tint) >= 4.5
        assert COLORS[number] != tint
        difference = in_lab(COLORS[number], SEEN["all cones"]) - in_lab(tint, SEEN["all cones"])
        assert float(np.linalg.norm(difference)) > 25
    assert contrast(INK, FULL_NUMBER) >= 7
    assert contrast(PATH, "#f4f5f7") >= 4.5


# The command line


def shown(folder: Path, *arguments: str) -> Any:
    return CliRunner().invoke(treeml, ["show", str(folder / "tree.json"), *arguments])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    solved().write(tmp_path / "tree.json")
    return tmp_path


def test_show_marks_the_path_of_a_row(folder: Path) -> None:
    row = ["--row", "chest_pain=typical", "--row", "angina=yes", "--row", "age=41"]
    assert shown(folder, *row).output.count("▶") == 3
    for form in ("svg", "png", "pdf", "html", "dot"):
        assert shown(folder, *row, "-o", str(folder / f"tree.{form}")).exit_code == 0
    assert "leaf path" in (folder / "tree.html").read_text()
    assert "penwidth=3" in (folder / "tree.dot").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--row", "no_such=3"], 2, "columns are age, angina"),
        (["--row", "chest_pain=typical"], 1, "the row has no `angina`"),
        (["--row", "age=1", "--as", "sql"], 1, "the form `sql` does not show rows"),
        (["--data", str(HEART), "--as", "text"], 1, "no room for distributions"),
        (["--data", "no-such.csv", "--as", "svg"], 1, "no-such.csv"),
        (["--sideways"], 1, "the form `text` always grows from left to right"),
        (["--sideways", "--as", "sql"], 1, "the form `sql` is not a drawing"),
    ],
)
def test_show_refuses_what_it_cannot_show(folder: Path, arguments: list[str], code: int, said: str) -> None:
    result = shown(folder, *arguments)
    assert result.exit_code == code
    assert said in result.output


def test_show_draws_distributions(folder: Path) -> None:
    assert shown(folder, "--data", str(HEART), "-o", str(folder / "tree.svg")).exit_code == 0
    svg = (folder / "tree.svg").read_text()
    assert "200 rows by value" in svg
    assert all(len(list(group.iter(f"{SVG}rect"))) > 2 for group in groups(svg, "branch"))


def test_show_draws_sideways(folder: Path) -> None:
    sizes = []
    for layout in ([], ["--sideways"]):
        for form in ("svg", "png", "pdf", "html", "dot"):
            assert shown(folder, *layout, "-o", str(folder / f"tree.{form}")).exit_code == 0
        sizes.append(float(ElementTree.fromstring((folder / "tree.svg").read_text()).attrib["height"]))
    assert sizes[1] > sizes[0]
    assert "rankdir=LR" in (folder / "tree.dot").read_text()


@pytest.mark.parametrize("sideways", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_no_part_of_a_drawing_leaves_its_box(seed: int, sideways: bool) -> None:
    """Random trees with rows: charts stay within their boxes, boxes within the drawing, and boxes do not overlap."""
    chance = random.Random(seed)
    levels = tuple(f"level {'x' * chance.randint(0, 30)}{number}" for number in range(chance.randint(2, 40)))
    fields = (Field("number " * chance.randint(1, 9), "number", (), True), Field("levels", "category", levels, True))
    rows = [
        {
            fields[0].name: chance.choice([None, chance.gauss(0, 10 ** chance.randint(-3, 8))]),
            "levels": chance.choice([None, *levels]),
            "y": chance.choice(["a", "b", "c"]),
        }
        for _ in range(60)
    ]

    def grow(depth: int) -> Branch | TreeLeaf:
        if depth == 0 or chance.random() < 0.2:
            counts = tuple(chance.randint(0, 9) for _ in range(3))
            return TreeLeaf(chance.choice("abc"), sum(counts), counts, because="a requirement " * chance.randint(0, 9))
        if chance.random() < 0.5:
            test = TreeTest(fields[0].name, "at most", (chance.gauss(0, 100),), chance.random() < 0.5)
        else:
            test = TreeTest("levels", "among", tuple(chance.sample(levels, chance.randint(1, len(levels) - 1))))
        return Branch(test, grow(depth - 1), grow(depth - 1))

    tree = Tree(grow(4), "classes", "y", ("a", "b", "c"), (), fields, tuple(field.name for field in fields))
    drawing = ElementTree.fromstring(tree.to_svg(row=rows[0], data=rows, sideways=sideways))
    width, height = float(drawing.attrib["width"]), float(drawing.attrib["height"])
    frames = []
    for group in drawing.iter(f"{SVG}g"):
        frame, *parts = (corners(rect) for rect in group.iter(f"{SVG}rect"))
        frames.append(frame)
        assert all(inside(part, frame) for part in parts)
        assert inside(frame, (0, 0, width, height))
    for text in drawing.iter(f"{SVG}text"):
        if text.get("text-anchor") == "start":
            # In units of the layout, which are generous.
            assert float(text.attrib["x"]) + len(text.text or "") * 6.1 <= width
    for place, one in enumerate(frames):
        for other in frames[:place]:
            apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            assert apart


def corners(rect: ElementTree.Element) -> tuple[float, float, float, float]:
    left, top = float(rect.attrib.get("x", 0)), float(rect.attrib.get("y", 0))
    return left, top, left + float(rect.attrib["width"]), top + float(rect.attrib["height"])


def inside(part: tuple[float, ...], whole: tuple[float, ...]) -> bool:
    begins = all(one >= other - 0.2 for one, other in zip(part[:2], whole[:2], strict=True))
    return begins and all(one <= other + 0.2 for one, other in zip(part[2:], whole[2:], strict=True))


def test_show_does_not_replace_the_file_that_it_shows(folder: Path) -> None:
    before = (folder / "tree.json").read_bytes()
    result = shown(folder, "--as", "json", "-o", str(folder / "tree.json"))
    assert result.exit_code == 2
    assert "would be replaced" in result.output
    assert (folder / "tree.json").read_bytes() == before


def test_the_weight_of_rows_is_named_beside_their_number() -> None:
    leaf = TreeLeaf("a", 3, (2, 1), (Fraction(1, 2), Fraction(4)))
    assert str(Tree(leaf, "classes", "y", ("a", "b"))) == (
        "y = a  [3 rows, weight 4.5: b 88.9%, a 11.1%; against its majority b]"
    )
