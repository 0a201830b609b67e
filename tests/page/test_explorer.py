"""The page of a set of trees, in a real browser: dots, brushing, differences and columns against the set itself."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, found
from click.testing import CliRunner, Result

import treeml as tml
from treeml.cli.main import treeml
from treeml.studies.tree_sets.explorer import explorer_page
from treeml.studies.tree_sets.tree_set import TreeSet
from treeml.trees.nodes import Branch, Node

SETTLED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
EVIL = "a</script><script>alert(1)</script>"


def rows(columns: int = 4, size: int = 80) -> dict[str, list[Any]]:
    chance = random.Random(5)
    made: dict[str, list[Any]] = {
        "age": [chance.randint(18, 26) for _ in range(size)],
        EVIL: [chance.choice(["<b>x</b>", "y", "z"]) for _ in range(size)],
    }
    made |= {f"flag{place}": [chance.randint(0, 1) for _ in range(size)] for place in range(columns)}
    made["group"] = [chance.choice(["F", "M"]) for _ in range(size)]
    pairs = zip(made["age"], made["flag0"], made[EVIL], strict=True)
    made["ill"] = [
        "<i>yes</i>" if (age > 22) + flag + (kind == "y") + (chance.random() < 0.2) > 1 else "no"
        for age, flag, kind in pairs
    ]
    return made


def listed(slack: str = "60%", columns: int = 4, depth: int = 2) -> TreeSet:
    model = tml.Model().predict("ill", positive="<i>yes</i>").minimize(tml.errors + tml.leaves)
    return model.require(tml.depth <= depth).trees(rows(columns), slack=slack)


@pytest.fixture(scope="module")
def trees() -> TreeSet:
    return listed()


@pytest.fixture(scope="module")
def page(trees: TreeSet, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explorer") / "trees.html"
    trees.page(path, ["parity_gap(group)", 'precision("<i>yes</i>")'])
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = found()
    if program is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("these tests need Chromium: apt-get install chromium")
    opened = Browser(program)
    yield opened
    opened.close()


def opened(browser: Browser, path: Path, width: int = 1400, dark: bool = False) -> None:
    browser.errors.clear()
    browser.requests.clear()
    browser.open(path, width, dark=dark)
    browser.run(SETTLED)


def axes(browser: Browser, across: str, up: str) -> None:
    for name, measure in (("across", across), ("up", up)):
        browser.run(
            f"""(() => {{ const choice = document.getElementById({json.dumps(name)});
            choice.value = [...choice.options].find((each) => each.textContent === {json.dumps(measure)}).value;
            choice.dispatchEvent(new Event("change")); }})()"""
        )
    browser.run(SETTLED)


def drag(browser: Browser, start: tuple[float, float], end: tuple[float, float]) -> None:
    """Drag the mouse over the dots, from one share of width and height to another."""
    left, top, width, height = browser.run(
        "(() => { const c = document.getElementById('dots'); c.scrollIntoView({block: 'center'});"
        " const r = c.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()"
    )

    def mouse(kind: str, place: tuple[float, float]) -> None:
        x, y = left + place[0] * width, top + place[1] * height
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

    mouse("mousePressed", start)
    for part in (0.3, 0.7, 1.0):
        mouse("mouseMoved", (start[0] + part * (end[0] - start[0]), start[1] + part * (end[1] - start[1])))
    mouse("mouseReleased", end)
    browser.run(SETTLED)


def fill(browser: Browser, **values: float | str) -> None:
    for name, value in values.items():
        browser.run(f"document.getElementById({json.dumps(name.replace('_', '-'))}).value = {json.dumps(str(value))}")
    browser.click("#ranges button[type=submit]")
    browser.run(SETTLED)


def selected(browser: Browser) -> int:
    text: str = browser.run("document.getElementById('selected').textContent")
    return int(text.split(" of ")[0].replace(",", ""))


def cards(browser: Browser) -> list[int]:
    found = browser.run("[...document.querySelectorAll('.card')].map((each) => Number(each.dataset.tree))")
    return [int(each) for each in found]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [400, 1400])
def test_it_opens_fits_and_fetches_nothing(page: Path, browser: Browser, width: int, dark: bool) -> None:
    opened(browser, page, width, dark)
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    assert browser.run("document.title") == "Good trees for ill"
    background = browser.run("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(20, 23, 27)" if dark else "rgb(255, 255, 255)")
    drawn = (
        "(() => { const c = document.getElementById('dots');"
        " const p = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        " let n = 0; for (let i = 3; i < p.length; i += 4) n += p[i] > 0; return n; })()"
    )
    assert browser.run(drawn) > 2_000
    assert browser.errors == []
    assert set(browser.requests) == {page.as_uri()}


def test_foreign_text_stays_text(page: Path, browser: Browser) -> None:
    assert "<script>alert" not in page.read_text(encoding="utf-8")
    opened(browser, page)
    assert browser.run("document.querySelectorAll('#cards b, #cards i, #cards script, #legend i').length") == 0
    assert "<i>yes</i>" in browser.run("document.getElementById('legend').textContent")
    names = browser.run("[...document.querySelectorAll('#columns tr[data-column]')].map((each) => each.dataset.column)")
    assert EVIL in names


def test_values_select_the_trees_of_where(trees: TreeSet, page: Path, browser: Browser) -> None:
    opened(browser, page)
    assert selected(browser) == trees.count
    axes(browser, "leaves", "parity_gap(group)")
    fill(browser, across_from=3, across_to=3, up_to=0.25)
    expected = trees.where("leaves = 3").where("parity_gap(group) <= 25%")
    assert 0 < expected.count < trees.count
    assert selected(browser) == expected.count
    numbers = [int(rank) for rank in expected.ranks]
    assert cards(browser) == numbers[:4]
    browser.click("#narrow")
    fill(browser, across_from="", across_to="", up_from=0.1, up_to="")
    narrowed = expected.where("parity_gap(group) >= 10%")
    assert selected(browser) == narrowed.count
    browser.key("Escape", 27)
    browser.run(SETTLED)
    assert selected(browser) == trees.count


def test_brushing_selects_what_is_inside(trees: TreeSet, page: Path, browser: Browser) -> None:
    opened(browser, page)
    axes(browser, "errors + leaves", "leaves")
    drag(browser, (0.01, 0.99), (0.5, 0.01))
    # The left half: the range of values has a margin of 5% on both sides, and the axis begins after 62 points.
    values = [trees.value(rank) for rank in range(trees.count)]
    count = selected(browser)
    assert 0 < count < trees.count
    low, high = (float(browser.run(f"document.getElementById('across-{end}').value")) for end in ("from", "to"))
    assert low == min(values)
    assert count == sum(low <= value <= high for value in values)
    above = min(value for value in values if value > high)
    middle = (min(values) + max(values)) / 2
    assert high <= middle < above + (max(values) - min(values)) * 0.05
    drag(browser, (0.97, 0.02), (0.99, 0.04))
    assert selected(browser) == 0
    assert cards(browser) == []
    assert "Nothing is selected" in browser.run("document.getElementById('compared').textContent")


def test_a_click_selects_one_dot(trees: TreeSet, page: Path, browser: Browser) -> None:
    opened(browser, page)
    axes(browser, "leaves", "depth")
    # Leaves and depth of one tree, found on the picture by its axes as the page draws them.
    leaves, depth = trees.measure("leaves"), trees.measure("depth")
    size = browser.run(
        "(() => { const r = document.getElementById('dots').getBoundingClientRect(); return [r.width, r.height]; })()"
    )
    wanted = (leaves[0], depth[0])

    def share(value: float, values: list[Any]) -> float:
        low, high = min(values), max(values)
        return (value - low + 0.05 * (high - low)) / (1.1 * (high - low))

    x = 62 + share(wanted[0], leaves) * (size[0] - 62 - 18)
    y = size[1] - 44 - share(wanted[1], depth) * (size[1] - 18 - 44)
    drag(browser, (x / size[0], y / size[1]), (x / size[0], y / size[1]))
    assert selected(browser) == Counter(zip(leaves, depth, strict=True))[wanted]


@pytest.mark.parametrize("pair", [("leaves", "error_rate"), ("balanced_accuracy", "parity_gap(group)")])
def test_the_front_is_that_of_the_set(trees: TreeSet, page: Path, browser: Browser, pair: tuple[str, str]) -> None:
    opened(browser, page)
    axes(browser, *pair)
    browser.click("#front")
    browser.run(SETTLED)
    front = trees.pareto(*pair)
    points = set(zip(*(front.measure(measure) for measure in pair), strict=True))
    everything = zip(*(trees.measure(measure) for measure in pair), strict=True)
    assert selected(browser) == sum(point in points for point in everything)
    ends = [float(browser.run(f"document.getElementById('across-{end}').value")) for end in ("from", "to")]
    assert ends == pytest.approx([min(x for x, _ in points), max(x for x, _ in points)])


def places(node: Node, other: Node) -> int:
    """Where a tree differs from another one, counted as docs/listing.md says."""
    if not isinstance(node, Branch) or not isinstance(other, Branch):
        leaves = not isinstance(node, Branch) and not isinstance(other, Branch)
        return int(not leaves or node.prediction != other.prediction)  # type: ignore[union-attr]
    if node.test.column != other.test.column:
        return 1
    return int(node.test != other.test) + places(node.yes, other.yes) + places(node.no, other.no)


def test_trees_stand_side_by_side_with_their_differences(trees: TreeSet, page: Path, browser: Browser) -> None:
    opened(browser, page)
    browser.run(
        "(() => { const c = document.getElementById('at-once'); c.value = '12';"
        " c.dispatchEvent(new Event('change')); })()"
    )
    browser.run(SETTLED)
    seen = 0
    for _ in range(3):
        shown = cards(browser)
        assert shown[0] == 0
        for tree in shown[1:]:
            card = f"document.querySelector('.card[data-tree=\"{tree}\"]')"
            expected = places(trees[tree].root, trees[0].root)
            assert expected > 0
            assert int(browser.run(f"{card}.dataset.places")) == expected
            assert browser.run(f"{card}.querySelectorAll('.changed').length") == expected
            leaves = browser.run(f"[...{card}.querySelectorAll('.says')].map((each) => each.textContent)")
            assert leaves == [leaf.prediction for leaf in trees[tree].leaves]
            text = browser.run(f"{card}.querySelector('.nested').textContent")
            tests = [node.test for node in trees[tree].nodes() if isinstance(node, Branch)]
            assert all(f"{test}?" in text for test in tests)
        seen = max(seen, *shown)
        browser.click("#later")
        browser.run(SETTLED)
    assert seen == min(33, trees.count - 1)
    browser.click("#earlier")
    browser.run(SETTLED)
    other = cards(browser)[2]
    browser.click(f'.card[data-tree="{other}"] button')
    browser.run(SETTLED)
    assert cards(browser)[0] == other
    assert browser.run("document.querySelectorAll('.card.reference .changed').length") == 0
    first = cards(browser)[1]
    found = browser.run(f"document.querySelector('.card[data-tree=\"{first}\"]').dataset.places")
    assert int(found) == places(trees[first].root, trees[other].root)
    assert browser.errors == []


def test_columns_follow_the_selection(trees: TreeSet, page: Path, browser: Browser) -> None:
    opened(browser, page)

    def shares() -> dict[str, str]:
        found: dict[str, str] = dict(
            browser.run(
                "[...document.querySelectorAll('#columns tr[data-column]')]"
                ".map((each) => [each.dataset.column, each.cells[2].textContent])"
            )
        )
        return found

    importance = {column.name: column for column in trees.importance()}
    assert set(shares()) == {name for name, column in importance.items() if column.share}
    line = browser.run(
        "[...document.querySelector('#columns tr[data-column=\"age\"]').cells].map((each) => each.textContent)"
    )
    assert float(line[3]) == pytest.approx(importance["age"].least, rel=1e-5)
    assert float(line[4]) == pytest.approx(importance["age"].most, rel=1e-5)
    browser.click('#columns tr[data-column="age"] button:last-child')
    browser.run(SETTLED)
    without = trees.where("uses(age) = 0")
    assert selected(browser) == without.count > 0
    assert shares()["age"] == "0%"
    expected = {column.name: column.share for column in without.importance()}
    flag = shares()["flag0"].rstrip("%").lstrip("<>")
    assert float(flag) == pytest.approx(100 * expected["flag0"], abs=0.051)


def test_undefined_values_are_said_and_not_drawn(tmp_path: Path, browser: Browser) -> None:
    trees = listed("300%", columns=1)
    measure = 'precision("no")'
    trees.page(tmp_path / "undefined.html", [measure])
    opened(browser, tmp_path / "undefined.html")
    undefined = sum(value is None for value in trees.measure(measure))
    assert undefined > 0
    axes(browser, measure, "leaves")
    assert browser.run("document.getElementById('undefined').textContent").startswith(f"{undefined} tree")
    fill(browser, across_from=0)
    assert selected(browser) == trees.count - undefined
    axes(browser, "errors + leaves", "leaves")
    assert browser.run("document.getElementById('undefined').hidden")


def test_ten_thousand_trees(tmp_path: Path, browser: Browser) -> None:
    many = listed("80%", columns=8, depth=3)
    assert many.count > 10_000
    path = tmp_path / "many.html"
    many.page(path)
    assert path.stat().st_size < 4_000_000
    opened(browser, path)
    assert selected(browser) == 10_000
    assert "the first 10,000" in browser.run("document.getElementById('headline').textContent")
    axes(browser, "error_rate", "balanced_accuracy")
    drag(browser, (0.01, 0.99), (0.7, 0.01))
    low, high = (float(browser.run(f"document.getElementById('across-{end}').value")) for end in ("from", "to"))
    values = many[:10_000].measure("error_rate")
    assert selected(browser) == sum(low <= value <= high for value in values)
    assert browser.errors == []


def test_it_prints(page: Path, browser: Browser) -> None:
    opened(browser, page, dark=True)
    assert len(browser.call("Page.printToPDF", preferCSSPageSize=True)["data"]) > 10_000
    opened(browser, page, 794)
    browser.call("Emulation.setEmulatedMedia", media="print")
    assert browser.run("[...document.querySelectorAll('table')].every((each) => each.scrollWidth <= innerWidth - 28)")
    assert browser.run("getComputedStyle(document.getElementById('ranges')).display") == "none"
    browser.call("Emulation.setEmulatedMedia", media="")


def test_numbers_in_the_leaves(tmp_path: Path, browser: Browser) -> None:
    data = rows()
    data["ill"] = [float(age) + flag for age, flag in zip(data["age"], data["flag0"], strict=True)]
    model = tml.Model().predict("ill").minimize(tml.squared_loss).require(tml.depth <= 1)
    trees = model.trees(data, most=30)
    trees.page(tmp_path / "numbers.html")
    opened(browser, tmp_path / "numbers.html")
    assert selected(browser) == trees.count
    shown = browser.run("[...document.querySelectorAll('.card .says')].map((each) => each.textContent)")
    assert shown[:2] == [trees[0].prediction_text(leaf) for leaf in trees[0].leaves]
    assert browser.errors == []


def test_an_empty_set_has_a_page(trees: TreeSet, tmp_path: Path, browser: Browser) -> None:
    trees.where("leaves >= 50").page(tmp_path / "empty.html")
    opened(browser, tmp_path / "empty.html")
    assert browser.run("document.getElementById('scatter-section').hidden")
    assert browser.errors == []


def test_the_frame_of_a_notebook(trees: TreeSet, tmp_path: Path, browser: Browser) -> None:
    html = trees._repr_html_()
    assert html.startswith('<iframe sandbox="allow-scripts"')
    (tmp_path / "cell.html").write_text(f"<!doctype html><body>{html}</body>", encoding="utf-8")
    opened(browser, tmp_path / "cell.html")
    assert browser.errors == []
    (tmp_path / "framed.html").write_text(browser.run("document.querySelector('iframe').srcdoc"), encoding="utf-8")
    opened(browser, tmp_path / "framed.html", 700)
    assert selected(browser) == min(500, trees.count)
    assert browser.errors == []


def run(*arguments: object) -> Result:
    return CliRunner().invoke(treeml, [str(argument) for argument in arguments])


EXAMPLE = Path(__file__).parents[2] / "examples" / "list"


def test_the_commands_write_pages(tmp_path: Path, browser: Browser) -> None:
    spec, data = EXAMPLE / "list.tml", EXAMPLE / "heart.csv"
    assert run("list", spec, "-o", tmp_path / "a.html", "--measure", "accuracy").exit_code == 0
    assert run("list", spec, "-o", tmp_path / "set.json").exit_code == 0
    assert run("list", spec, "-o", tmp_path / "set.parquet").exit_code == 0
    assert run("report", tmp_path / "set.json", "-o", tmp_path / "b.html").exit_code == 0
    with_data = ("--data", data, "--measure", "accuracy")
    assert run("report", tmp_path / "set.parquet", "-o", tmp_path / "c.html", *with_data).exit_code == 0
    for name, has_accuracy in (("a", True), ("b", False), ("c", True)):
        opened(browser, tmp_path / f"{name}.html")
        assert selected(browser) == 5
        options = browser.run("[...document.querySelectorAll('#up option')].map((each) => each.textContent)")
        assert ("accuracy" in options) == has_accuracy
        assert {"leaves", "depth", "features_used"} <= set(options)
        assert browser.errors == []


def test_wrong_uses_are_refused(trees: TreeSet, tmp_path: Path) -> None:
    spec = EXAMPLE / "list.tml"
    assert "-o trees.html" in run("list", spec, "--measure", "accuracy").output
    assert run("list", spec, "-o", tmp_path / "x.html", "--measure", "no_such").exit_code == 1
    run("list", spec, "-o", tmp_path / "set.json")
    assert run("report", tmp_path / "set.json", "-o", tmp_path / "x.html", "--measure", "accuracy").exit_code == 2
    assert run("report", tmp_path / "set.json", tmp_path / "set.json", "-o", tmp_path / "x.html").exit_code == 2
    with pytest.raises(ValueError, match="at least one tree"):
        explorer_page(trees, most=0)
