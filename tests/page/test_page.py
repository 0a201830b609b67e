"""The page, in a real browser: what it shows, what it predicts, how it looks, and that it fetches nothing."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from shutil import copy
from typing import Any

import pytest
from browser import Browser, found
from click.testing import CliRunner

from treeml.cli.main import treeml
from treeml.export import export
from treeml.studies.page.colors import colored
from treeml.studies.page.write import read_result, write_page
from treeml.trees.forest import Forest
from treeml.trees.tree import Tree

SPEC = """# a tree with everything in it
param tallest = 5
data "rows.csv"
predict outcome is "it's <b>ill</b>"
column pulse : number, missing separate
column `blood "type"` : category, missing separate
column age : number, missing median
maximize accuracy
require depth <= tallest
require support >= 2 rows
solve with cart
"""
COLUMNS = ("age", "pulse", 'blood "type"', "smokes", "weight")


def made_rows() -> list[list[Any]]:
    chance = random.Random(7)
    rows = []
    for _ in range(300):
        age = chance.randint(18, 80) if chance.random() > 0.05 else None
        pulse = chance.choice([None, 61.5, 72.25, 80.1, 95.3, 110.7])
        blood = chance.choice([None, "A", "B", "AB", "0"])
        smokes, weight = chance.choice(["no", "yes"]), round(chance.uniform(45, 120), 1)
        ill = (
            ((age or 49) > 50 and (pulse is None or pulse > 75)) or (blood == "AB" and smokes == "yes") or weight > 112
        )
        label = "it's <b>ill</b>" if ill != (chance.random() < 0.08) else "well"
        rows.append([age, pulse, blood, smokes, weight, label])
    return rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result with a deep tree, the results of a race, and the page of both."""
    import csv

    folder = tmp_path_factory.mktemp("page")
    with (folder / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[*COLUMNS, "outcome"], *made_rows()])
    (folder / "spec.tml").write_text(SPEC, encoding="utf-8")
    run("solve", folder / "spec.tml", "-o", folder / "result.json", "-q")
    run("compare", folder / "spec.tml", "--with", "cart,oracle", "-o", folder / "race.jsonl", "-q")
    run("report", folder / "result.json", folder / "race.jsonl", "-o", folder / "page.html")
    return folder


def run(*arguments: object) -> None:
    result = CliRunner().invoke(treeml, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    program = found()
    if program is None:
        # A user's machine may well have no browser; ours must.
        (pytest.fail if os.environ.get("CI") else pytest.skip)("these tests need Chromium: apt-get install chromium")
    opened = Browser(program)
    yield opened
    opened.close()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [400, 1400])
def test_it_opens_and_fits(folder: Path, browser: Browser, width: int, dark: bool) -> None:
    browser.open(folder / "page.html", width, dark=dark)
    # Nothing but tables, pictures and texts that scroll by themselves is wider than the screen.
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    shown = "[...document.querySelectorAll('section')].filter((each) => !each.hidden).map((each) => each.id)"
    assert {"tree-section", "row-section", "race-section", "spec-section", "data-section"} <= set(browser.run(shown))
    picture, outline = (
        f"getComputedStyle(document.getElementById('{name}')).display" for name in ("picture", "outline")
    )
    assert (browser.run(picture) == "none") == (width == 400)
    assert (browser.run(outline) == "none") == (width == 1400)
    background = browser.run("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(20, 23, 27)" if dark else "rgb(255, 255, 255)")
    shot = folder / f"page-{width}.png"
    browser.screenshot(shot)
    assert shot.read_bytes().startswith(b"\x89PNG")
    assert shot.stat().st_size > 20_000
    assert browser.errors == []
    assert set(browser.requests) == {(folder / "page.html").as_uri()}


def test_the_page_is_small(folder: Path) -> None:
    assert (folder / "page.html").stat().st_size < 500_000
    assert Tree.read(folder / "result.json").depth == 5


MODEL = """(() => {
    const { result } = JSON.parse(document.getElementById("content").textContent);
    const trees = result.forest ? result.forest.trees : [result.tree], fields = {};
    for (const tree of trees) for (const field of tree.columns) fields[field.name] ??= field;
    const weights = result.forest ? result.forest.weights.map((text) => text.split("/").map(BigInt)) : [];
    const scale = weights.reduce((product, [, below = 1n]) => product * below, 1n);
    const whole = weights.map(([above, below = 1n]) => above * scale / below);
    return { fields, trees, classes: trees[0].classes, weights: whole };
})()"""
VALUES = "(row) => new Map(Object.entries(row).map(([name, text]) => [name, readValue(model.fields[name], text)]))"
# Answers question after question as a reader does, and returns the columns that were asked for.
ANSWER = """(row) => {
    const byId = (id) => document.getElementById(id), asked = [];
    byId("again").click();
    while (!byId("question").hidden && asked.length < 50) {
        const column = byId("question").dataset.column, text = row[column];
        asked.push(column);
        const levels = [...byId("question").querySelectorAll("[data-level]")];
        const level = levels.find((each) => each.dataset.level === text);
        if (text === "") byId("is-missing").click();
        else if (level) level.click();
        else { byId("answer").value = text; byId("question").requestSubmit(); }
    }
    return [asked, byId("prediction").querySelector("strong").textContent];
}"""


def texts_of(rows: list[dict[str, Any]], columns: tuple[str, ...]) -> list[dict[str, str]]:
    return [{name: "" if row[name] is None else str(row[name]) for name in columns} for row in rows]


def many_rows(tree: Tree) -> list[dict[str, Any]]:
    rows = [dict(zip(COLUMNS, row, strict=False)) for row in made_rows()[:120]]
    rows += [{**rows[0], 'blood "type"': "unknown"}, {**rows[1], "age": None, "pulse": None, 'blood "type"': None}]
    for node in tree.nodes():
        if hasattr(node, "test") and node.test.kind == "at most":
            rows.append({**rows[2], node.test.column: node.test.values[0]})
    return rows


def test_it_predicts_what_the_tree_predicts(folder: Path, browser: Browser) -> None:
    tree = Tree.read(folder / "result.json")
    rows = many_rows(tree)
    browser.open(folder / "page.html", 1400)
    found = browser.run(
        f"""(() => {{ const model = {MODEL}, values = {VALUES};
        return {json.dumps(texts_of(rows, tree.columns))}.map((row) => judge(model, values(row)).leaf.predict); }})()"""
    )
    assert found == tree.predict(rows).tolist()
    assert browser.errors == []


def test_it_asks_only_what_the_path_needs(folder: Path, browser: Browser) -> None:
    tree = Tree.read(folder / "result.json")
    rows = [row for row in many_rows(tree) if row['blood "type"'] != "unknown"][:60]
    browser.open(folder / "page.html", 1400)
    found = browser.run(f"{json.dumps(texts_of(rows, tree.columns))}.map({ANSWER})")
    paths = list(tree.paths())
    for row, leaf, (asked, said) in zip(rows, tree.apply(rows).tolist(), found, strict=True):
        assert asked == list(dict.fromkeys(test.column for test, _ in paths[leaf][0]))
        assert said == tree.predict([row])[0]
    assert any(len(asked) < len(tree.columns) for asked, _ in found)
    assert browser.errors == []


def test_typing_a_row_shows_its_path(folder: Path, browser: Browser) -> None:
    """By keyboard alone: each answer is typed or chosen, and Enter goes on to the next question."""
    tree = Tree.read(folder / "result.json")
    row = {"age": 61, "pulse": 80.1, 'blood "type"': "A", "smokes": "no", "weight": 70.5}
    browser.open(folder / "page.html", 1400)
    browser.run("document.getElementById('answer').focus()")
    for _ in range(20):
        column = browser.run("document.getElementById('question').dataset.column")
        if browser.run("document.getElementById('question').hidden"):
            break
        if browser.run("document.activeElement.id === 'answer' && document.activeElement.tagName === 'INPUT'"):
            browser.call("Input.insertText", text=str(row[column]))
        else:
            for _ in range(10):  # to the button of the level
                if browser.run("document.activeElement.dataset.level") == row[column]:
                    break
                browser.key("Tab", 9)
        browser.key("Enter", 13, "\r")
    assert browser.run("document.querySelector('#prediction strong').textContent") == tree.predict([row])[0]
    facts = browser.run("[...document.querySelectorAll('#path li')].map((each) => each.textContent)")
    assert facts == list(tree.decision_path(row)[:-1])
    assert browser.run("document.querySelectorAll('#picture .node.on').length") == len(facts) + 1
    assert browser.run("document.activeElement.id") == "again"
    assert browser.errors == []


def test_an_answer_that_is_not_a_number_is_refused(folder: Path, browser: Browser) -> None:
    browser.open(folder / "page.html", 1400)
    while not browser.run("document.getElementById('answer').name"):
        browser.run("document.querySelector('#question [data-level]').click()")
    column = browser.run("document.getElementById('answer').name")
    browser.run("document.getElementById('answer').focus()")
    browser.call("Input.insertText", text="not a number")
    browser.key("Enter", 13, "\r")
    assert "is not a number" in browser.run("document.getElementById('question-error').textContent")
    assert browser.run("document.getElementById('question').dataset.column") == column
    assert browser.run("document.getElementById('answer').getAttribute('aria-invalid')") == "true"


def test_changing_an_answer_shows_both_paths(folder: Path, browser: Browser) -> None:
    tree = Tree.read(folder / "result.json")
    row = many_rows(tree)[0]
    for width in (1400, 390):
        browser.open(folder / "page.html", width)
        _, before = browser.run(f"({ANSWER})({json.dumps(texts_of([row], tree.columns)[0])})")
        assert "smallest change" in browser.run("document.getElementById('smallest').textContent")
        browser.run("document.querySelector('#smallest .try').click()")
        if browser.run("document.getElementById('question').hidden"):  # nothing more has to be asked
            after = browser.run("document.querySelector('#prediction strong').textContent")
            assert after != before
            assert f"and was {before} before" in browser.run("document.getElementById('prediction').textContent")
            assert browser.run("document.querySelectorAll('#picture .edge.was').length > 0")
        browser.run("document.querySelector('[data-change]').click()")
        assert browser.run("document.activeElement.closest('#question') !== null")
        assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    assert browser.errors == []


def choices_of(tree: Tree, column: str) -> list[Any]:
    """One value for every set of values that no test of the tree tells apart."""
    field = next(field for field in tree.fields if field.name == column)
    missing = [None] if field.missing and field.fill is None else []
    if field.levels:
        return [*field.levels, *missing]
    cuts = sorted(
        {node.test.values[0] for node in tree.nodes() if hasattr(node, "test") and node.test.column == column} - {()}
    )
    return [*cuts, cuts[-1] + 1, *missing]


def test_the_smallest_change_is_smallest(folder: Path, browser: Browser) -> None:
    """Against all changes of one column, and of two columns where one is not enough."""
    tree = Tree.read(folder / "result.json")
    rows = [row for row in many_rows(tree)[:40] if row['blood "type"'] != "unknown"]
    browser.open(folder / "page.html", 1400)
    found = browser.run(
        f"""(() => {{ const model = {MODEL}, values = {VALUES};
        const plain = (value) => value === MISSING ? null : value;
        return {json.dumps(texts_of(rows, tree.columns))}.map((row) => {{
            const best = smallestChange(model, values(row));
            const alone = Object.keys(row).map((column) => changeOf(model, column, values(row))).filter((each) => each);
            return [best.changes.map(({{column, value}}) => [column, plain(value)]), best.leaf.predict,
                alone.map(({{column, value}}) => [column, plain(value)])];
        }}); }})()"""
    )
    for row, (changes, predicted, alone) in zip(rows, found, strict=True):
        now = tree.predict([row])[0]
        assert predicted != now
        assert tree.predict([{**row, **dict(changes)}])[0] == predicted
        single = {
            column: {value for value in choices_of(tree, column) if tree.predict([{**row, column: value}])[0] != now}
            for column in tree.columns
        }
        if any(single.values()):
            assert len(changes) == 1
        for column, value in alone:
            assert tree.predict([{**row, column: value}])[0] != now
        present = {column for column, values in single.items() if values - {None}}
        assert {column for column, _ in alone} == present


def test_folding_by_mouse_and_by_keyboard(folder: Path, browser: Browser) -> None:
    browser.open(folder / "page.html", 1400)
    nodes = "document.querySelectorAll('#picture .node').length"
    everything = browser.run(nodes)
    browser.click('#picture [data-node="0"] rect')
    assert browser.run(nodes) == 1
    browser.key("Enter", 13, "\r")
    assert browser.run(nodes) == everything
    browser.key("ArrowDown", 40)
    assert browser.run("document.activeElement.dataset.node") == "1"
    browser.key("ArrowRight", 39)
    tree = Tree.read(folder / "result.json")
    second = tree.sides(tree.root)[1].fact
    assert browser.run("document.activeElement.getAttribute('aria-label')").startswith(f"{second}: ")
    browser.key("ArrowUp", 38)
    assert browser.run("document.activeElement.dataset.node") == "0"
    assert "300 rows" in browser.run("document.getElementById('details').textContent")
    browser.click("#fold")
    assert browser.run(nodes) < everything
    browser.click("#unfold")
    assert browser.run(nodes) == everything
    assert browser.errors == []


def test_folding_on_a_phone(folder: Path, browser: Browser) -> None:
    browser.open(folder / "page.html", 400)
    items = "document.querySelectorAll('#outline .item').length"
    everything = browser.run(items)
    browser.click('#outline [data-node="0"]')
    assert browser.run(items) == 1
    browser.click('#outline [data-node="0"]')
    assert browser.run(items) == everything


def test_it_shows_exact_values_and_the_race(folder: Path, browser: Browser) -> None:
    browser.open(folder / "page.html", 1400)
    requirements = browser.run("document.getElementById('requirements').innerText")
    assert "depth <= tallest" in requirements
    race = browser.run("document.getElementById('race').innerText")
    assert "cart" in race
    assert "oracle" in race
    assert "seed" in browser.run("document.getElementById('versions').innerText")
    assert "300 rows" in browser.run("document.getElementById('data-line').textContent")
    assert "it's <b>ill</b>" in browser.run("document.getElementById('legend').textContent")


AGAINST = """data "heart.csv"
predict disease is "yes"
maximize accuracy
require recall("yes") >= 0.98
require depth <= 2
require support >= 30
"""


def test_a_leaf_against_its_majority_and_the_slack_of_requirements(tmp_path: Path, browser: Browser) -> None:
    copy(Path(__file__).parents[2] / "examples" / "plain" / "heart.csv", tmp_path)
    (tmp_path / "spec.tml").write_text(AGAINST)
    run("solve", tmp_path / "spec.tml", "-o", tmp_path / "result.json", "-q")
    run("report", tmp_path / "result.json", "-o", tmp_path / "page.html")
    tree = Tree.read(tmp_path / "result.json")
    against = [leaf for leaf in tree.leaves if leaf.because]
    assert against
    browser.open(tmp_path / "page.html", 1400)
    assert browser.run("document.querySelectorAll('#picture .node.against').length") == len(against)
    drawn = browser.run("document.getElementById('picture').textContent")
    assert 'for recall("yes") >= 0.98' in drawn
    bars = browser.run(
        "[...document.querySelectorAll('#requirements .slack')].map((each) => each.getAttribute('aria-label'))"
    )
    assert len(bars) == 3
    assert bars[1].endswith(f"limit <= 2, slack {2 - tree.depth}")
    assert browser.errors == []


def test_a_certified_bound_is_not_shown_as_a_certified_optimum(tmp_path: Path, browser: Browser) -> None:
    copy(Path(__file__).parents[2] / "examples" / "plain" / "heart.csv", tmp_path)
    (tmp_path / "spec.tml").write_text('data "heart.csv"\npredict disease\nminimize errors\nrequire depth <= 1\n')
    kept = tmp_path / "result.json"
    run("solve", tmp_path / "spec.tml", "-o", kept, "--certificate", tmp_path / "proof.cert.gz", "-q")
    content = json.loads(kept.read_text())
    certified = "[...document.querySelectorAll('.fact')].find((each) => each.textContent.startsWith('certified'))"
    for claim, words, look in (("optimal", "claim, checked in", "good"), ("bound", "claim (a bound), checked in", "")):
        content["certificate"] |= {"claim": claim, "claims": 1}
        kept.write_text(json.dumps(content))
        run("report", kept, "-o", tmp_path / "page.html")
        browser.open(tmp_path / "page.html", 1400)
        assert words in browser.run(f"{certified}.textContent")
        assert browser.run(f"{certified}.lastChild.className") == look
        assert "errors of" in browser.run(f"{certified}.title")


FAN = """data "rows.csv"
predict y
binarize color by branches
minimize errors
require depth <= 1
solve with oracle
"""


def test_a_node_with_one_branch_for_each_level(tmp_path: Path, browser: Browser) -> None:
    rows = [("red", "a"), ("green", "b"), ("blue", "c"), ("white", "a"), ("red", "a"), ("", "b")]
    (tmp_path / "rows.csv").write_text("color,y\n" + "\n".join(",".join(row) for row in rows * 2) + "\n")
    (tmp_path / "spec.tml").write_text(FAN.replace("predict y", "predict y\ncolumn color : category, missing separate"))
    run("solve", tmp_path / "spec.tml", "-o", tmp_path / "result.json", "-q")
    run("report", tmp_path / "result.json", "-o", tmp_path / "page.html")
    tree = Tree.read(tmp_path / "result.json")
    sides = tree.sides(tree.root)
    assert len(sides) == 5
    browser.open(tmp_path / "page.html", 1400)
    assert browser.run("document.querySelectorAll('#picture .node').length") == 6
    drawn = browser.run("[...document.querySelectorAll('#picture .answer')].map((each) => each.textContent)")
    assert drawn == [side.short for side in sides]
    found = browser.run(f"{json.dumps([{'color': color} for color, _ in rows])}.map({ANSWER})")
    assert [said for _, said in found] == [label for _, label in rows]
    assert browser.errors == []


SURVIVAL = """data "rows.csv"
predict months observed event
minimize survival_loss
require depth <= 2
"""


def test_leaves_of_survival_show_their_curves(tmp_path: Path, browser: Browser) -> None:
    chance = random.Random(5)
    rows = [(chance.choice("ab"), chance.randint(1, 9), chance.randint(1, 40), chance.randint(0, 1)) for _ in range(60)]
    (tmp_path / "rows.csv").write_text("kind,dose,months,event\n" + "\n".join(",".join(map(str, row)) for row in rows))
    (tmp_path / "spec.tml").write_text(SURVIVAL)
    run("solve", tmp_path / "spec.tml", "-o", tmp_path / "result.json", "-q")
    run("report", tmp_path / "result.json", "-o", tmp_path / "page.html")
    tree = Tree.read(tmp_path / "result.json")
    browser.open(tmp_path / "page.html", 1400)
    ways = browser.run("[...document.querySelectorAll('.survival .left')].map((each) => each.getAttribute('d'))")
    assert [way.count("V") for way in ways] == [len(leaf.curve) for leaf in tree.leaves]
    labels = browser.run("[...document.querySelectorAll('.survival text')].map((each) => each.textContent)")
    latest = max(time for leaf in tree.leaves for time, _ in leaf.curve)
    assert labels == ["0", f"{latest:g}"] * len(tree.leaves)
    assert "curves: the share" in browser.run("document.getElementById('legend').textContent")
    assert browser.errors == []


def boxes_overlap(browser: Browser) -> bool:
    frames = browser.run(
        "[...document.querySelectorAll('#picture rect.frame')].map((each) => { const r = each.getBoundingClientRect();"
        " return [r.left, r.top, r.right, r.bottom]; })"
    )
    return any(
        one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
        for place, one in enumerate(frames)
        for other in frames[:place]
    )


def test_the_tree_from_left_to_right(folder: Path, browser: Browser) -> None:
    browser.open(folder / "page.html", 1400)
    size = "(({ width, height }) => [width, height])(document.querySelector('#picture svg').viewBox.baseVal)"
    down = browser.run(size)
    browser.click("#sideways")
    right = browser.run(size)
    assert right[0] < down[0]
    assert right[1] > down[1]
    assert not boxes_overlap(browser)
    browser.run("document.querySelector('#picture [data-node=\"0\"]').focus()")
    browser.key("ArrowRight", 39)  # to the first side, which is to the right
    assert browser.run("document.activeElement.dataset.node") == "1"
    browser.key("ArrowLeft", 37)
    assert browser.run("document.activeElement.dataset.node") == "0"
    browser.click("#sideways")
    assert browser.run(size) == down
    assert browser.errors == []


def test_distributions_in_the_nodes_on_demand(folder: Path, tmp_path: Path, browser: Browser) -> None:
    browser.open(folder / "page.html", 1400)
    assert browser.run("document.getElementById('charts').hidden")  # without rows there is nothing to show
    run("report", folder / "result.json", "--data", folder / "rows.csv", "-o", tmp_path / "page.html")
    browser.open(tmp_path / "page.html", 1400, dark=True)
    count = "document.querySelectorAll('#picture .chart').length"
    assert browser.run(count) == 0
    browser.click("#charts")
    tree = Tree.read(folder / "result.json")
    assert browser.run(count) == len(tree.leaves) - 1  # every question of a tree of classes
    assert "300 rows by value" in browser.run("document.getElementById('charts-line').textContent")
    inside = browser.run(
        "[...document.querySelectorAll('#picture .chart')].every((chart) => {"
        " const own = chart.getBoundingClientRect();"
        " const box = chart.parentNode.querySelector('rect.frame').getBoundingClientRect();"
        " return own.left >= box.left && own.right <= box.right && own.top >= box.top && own.bottom <= box.bottom; })"
    )
    assert inside
    for button in ("#sideways", "#charts"):
        assert not boxes_overlap(browser)
        browser.click(button)
    assert browser.run(count) == 0
    assert browser.errors == []


LINEAR = """data "rows.csv"
predict y
minimize squared_loss
require depth <= 1
leaves linear(x)
"""


def test_linear_leaves_ask_for_their_columns(tmp_path: Path, browser: Browser) -> None:
    rows = [(x, z, 3 * x + 1 if z == "a" else 40 - 2 * x) for x in range(1, 9) for z in "ab"]
    (tmp_path / "rows.csv").write_text("x,z,y\n" + "\n".join(f"{x},{z},{y}" for x, z, y in rows) + "\n")
    (tmp_path / "spec.tml").write_text(LINEAR)
    run("solve", tmp_path / "spec.tml", "-o", tmp_path / "result.json", "-q")
    run("report", tmp_path / "result.json", "-o", tmp_path / "page.html")
    tree = Tree.read(tmp_path / "result.json")
    browser.open(tmp_path / "page.html", 1400)
    assert " * x" in browser.run("document.getElementById('picture').textContent")
    found = browser.run(f"{json.dumps([{'x': str(x), 'z': z} for x, z, _ in rows])}.map({ANSWER})")
    predicted = tree.predict([{"x": x, "z": z} for x, z, _ in rows]).tolist()
    assert [float(said) for _, said in found] == pytest.approx(predicted, rel=1e-5)
    assert browser.run("document.getElementById('what-if').hidden")
    assert browser.errors == []
    assert export(tree, "png")[:4] == b"\x89PNG"
    assert "<svg" in export(tree, "html", data=[{"x": x, "z": z, "y": y} for x, z, y in rows])


TEXTS_INSIDE = """[...document.querySelectorAll('.plot')].every((plot) => {
    const frame = plot.getBoundingClientRect();
    return [...plot.querySelectorAll('text')].every((text) => {
        const box = text.getBoundingClientRect();
        return box.left >= frame.left - 1 && box.right <= frame.right + 1
            && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
    });
})"""


@pytest.mark.parametrize(
    ("times", "values"),
    [
        ((0.001, 0.0011), (0.81, 0.82)),
        ((0.5, 0.6, 0.65), (123456789, 123456790, 123456799)),
        ((1e-6, 1.0, 300.0), (-3, 0, 4)),
        ((2.0, 2.5), (0.5, 0.5)),
    ],
)
def test_axes_are_readable(
    folder: Path, tmp_path: Path, browser: Browser, times: tuple[float, ...], values: tuple[float, ...]
) -> None:
    record = json.loads((folder / "race.jsonl").read_text().splitlines()[0])
    trace = [{"seconds": x, "objective": [y], "bound": y + 1} for x, y in zip(times, values, strict=True)]
    (tmp_path / "race.jsonl").write_text(
        json.dumps({**record, "backend": "a back-end with a long name", "trace": trace, "seconds": times[-1]}) + "\n"
    )
    run("report", tmp_path / "race.jsonl", "-o", tmp_path / "page.html")
    for width in (1400, 390):
        browser.open(tmp_path / "page.html", width)
        assert browser.run("document.querySelectorAll('.plot').length") == 1
        assert browser.run(TEXTS_INSIDE)
        ticks = browser.run("[...document.querySelectorAll('.plot .tick')].map((each) => each.textContent)")
        assert len(ticks) >= 4
        assert len(set(ticks)) >= 4
        assert browser.run("document.querySelector('.plot .names').textContent") == "objective"
    assert browser.errors == []


def test_it_prints(folder: Path, browser: Browser) -> None:
    browser.open(folder / "page.html", 1400)
    assert len(browser.call("Page.printToPDF", preferCSSPageSize=True)["data"]) > 10_000
    browser.open(folder / "page.html", 794)  # the width of A4
    browser.call("Emulation.setEmulatedMedia", media="print")
    # No column of a table is cut off, since paper does not scroll.
    assert browser.run("[...document.querySelectorAll('table')].every((each) => each.scrollWidth <= innerWidth - 28)")


def test_a_tree_that_is_a_little_too_wide_is_fitted(folder: Path, browser: Browser) -> None:
    browser.open(folder / "page.html", 1400)
    assert browser.run("document.querySelector('#picture svg').getBoundingClientRect().width <= innerWidth")
    assert browser.run(
        "(() => { const p = document.getElementById('picture'); return p.scrollWidth <= p.clientWidth; })()"
    )


def test_a_page_of_a_race_alone(folder: Path, tmp_path: Path, browser: Browser) -> None:
    page, race = tmp_path / "race.html", tmp_path / "race.jsonl"
    cart, oracle = (folder / "race.jsonl").read_text().splitlines()
    moments = [{"seconds": 0.1 * place, "objective": [place], "bound": 9 - place} for place in (1, 2, 3)]
    for trace, pictures in (([], 0), (moments[:1], 0), (moments, 1)):
        told = {**json.loads(cart), "trace": trace, "seconds": 0.1 * len(trace)}
        race.write_text(json.dumps(told) + "\n" + oracle + "\n")
        run("report", race, "-o", page)
        browser.open(page, 1400)
        assert browser.run("!document.getElementById('race-section').hidden")
        assert browser.run("document.querySelectorAll('#timeline svg').length") == pictures
    assert browser.errors == []


FOREST = """data "rows.csv"
predict outcome is "it's <b>ill</b>"
column pulse : number, missing separate
column `blood "type"` : category, missing separate
column age : number, missing median
features pulse, `blood "type"`, age, smokes
binarize pulse, age by quantiles(4)
ensemble by mdboost(penalty = 4)
maximize margin
require depth <= 2
"""


@pytest.fixture(scope="module")
def forest_page(folder: Path) -> Path:
    (folder / "forest.tml").write_text(FOREST, encoding="utf-8")
    run("solve", folder / "forest.tml", "-o", folder / "forest.json", "-q")
    run("report", folder / "forest.json", "-o", folder / "forest.html")
    return folder / "forest.html"


@pytest.mark.parametrize("width", [400, 1400])
def test_a_forest_votes_as_it_predicts(folder: Path, forest_page: Path, browser: Browser, width: int) -> None:
    forest = Forest.read(folder / "forest.json")
    rows = [dict(zip(COLUMNS, row, strict=False)) for row in made_rows()[:80]]
    rows += [{**rows[0], 'blood "type"': "unknown"}, {**rows[1], "age": None, "pulse": None, 'blood "type"': None}]
    browser.open(forest_page, width)
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    assert browser.run("document.title") == "Forest for outcome"
    texts = texts_of(rows, forest.columns)
    found = browser.run(
        f"""(() => {{ const model = {MODEL}, values = {VALUES};
        return {json.dumps(texts)}.map((row) => labelText(model.classes[judge(model, values(row)).leaf])); }})()"""
    )
    assert found == forest.predict(rows).tolist()
    known = [row for row in rows if row['blood "type"'] != "unknown"][:20]
    asked = browser.run(f"{json.dumps(texts_of(known, forest.columns))}.map({ANSWER})")
    assert [said for _, said in asked] == forest.predict(known).tolist()  # also if not all columns were asked for
    assert "votes: " in browser.run("document.getElementById('prediction').textContent")
    assert browser.errors == []


def test_another_tree_of_the_forest(folder: Path, forest_page: Path, browser: Browser) -> None:
    forest = Forest.read(folder / "forest.json")
    browser.open(forest_page, 1400)
    assert browser.run("document.querySelectorAll('#which option').length") == len(forest.trees)
    browser.run(
        "(() => { const which = document.getElementById('which'); which.value = '1';"
        " which.dispatchEvent(new Event('change')); })()"
    )
    drawn = browser.run("document.querySelectorAll('#picture .node').length")
    assert drawn == len(list(forest.trees[1].nodes()))
    assert browser.run("document.querySelectorAll('#timeline svg').length") == 1
    assert browser.errors == []


def test_colors_change_no_letter() -> None:
    from html import unescape
    from re import sub

    text = SPEC + 'require `a < b` <= 5% # "x" & y\nsolve within 5 min\n'
    assert unescape(sub(r"</?span[^>]*>", "", colored(text))) == text
    assert '<span class="verb">require</span>' in colored(text)
    assert '<span class="number">5 min</span>' in colored(text)


def test_notes_cannot_break_out_of_the_script(folder: Path) -> None:
    result, _ = read_result(folder / "result.json")
    assert result is not None
    result["notes"] = ["</script><script>alert(1)</script>"]
    assert "<script>alert" not in write_page(result)


@pytest.mark.parametrize("text", ["", "[1, 2]", '{"a": 1}', "no json"])
def test_a_file_that_is_not_a_result_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    result = CliRunner().invoke(treeml, ["report", str(path), "-o", str(tmp_path / "page.html")])
    assert result.exit_code == 1
    assert "error[D49" in result.stderr
