"""The page, in a real browser: what it shows, what it predicts, how it looks, and that it fetches nothing."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, found
from click.testing import CliRunner

from treeml.cli.main import treeml
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


def test_it_predicts_what_the_tree_predicts(folder: Path, browser: Browser) -> None:
    tree = Tree.read(folder / "result.json")
    rows = [dict(zip(COLUMNS, row, strict=False)) for row in made_rows()[:120]]
    rows += [{**rows[0], 'blood "type"': "unknown"}, {**rows[1], "age": None, "pulse": None, 'blood "type"': None}]
    for node in tree.nodes():
        if hasattr(node, "test") and node.test.kind == "at most":
            rows.append({**rows[2], node.test.column: node.test.values[0]})
    browser.open(folder / "page.html", 1400)
    texts = [{name: "" if row[name] is None else str(row[name]) for name in tree.columns} for row in rows]
    found = browser.run(
        f"""{json.dumps(texts)}.map((row) => {{
            const inputs = [...document.querySelectorAll("#row input")];
            for (const input of inputs) input.value = row[input.name];
            inputs[0].dispatchEvent(new Event("input", {{bubbles: true}}));
            const shown = document.getElementById("prediction");
            return (shown.querySelector("strong") ?? shown).textContent;
        }})"""
    )
    assert found == tree.predict(rows).tolist()
    assert browser.errors == []


def test_typing_a_row_shows_its_path(folder: Path, browser: Browser) -> None:
    tree = Tree.read(folder / "result.json")
    row = {"age": 61, "pulse": 80.1, 'blood "type"': "A", "smokes": "no", "weight": 70.5}
    browser.open(folder / "page.html", 1400)
    for place, name in enumerate(tree.columns):
        browser.run(f"document.querySelectorAll('#row input')[{place}].focus()")
        browser.call("Input.insertText", text=str(row[name]))
    assert browser.run("document.querySelector('#prediction strong').textContent") == tree.predict([row])[0]
    facts = browser.run("[...document.querySelectorAll('#path li')].map((each) => each.textContent)")
    # The page knows that a column which is filled is never missing.
    expected = [fact.removesuffix(" or is missing") for fact in tree.decision_path(row)[:-1]]
    assert [fact.removesuffix(" or is missing") for fact in facts] == expected
    assert browser.run("document.querySelectorAll('#picture .node.on').length") == len(facts) + 1
    browser.run("document.querySelectorAll('#row input')[0].focus()")
    browser.run("document.querySelectorAll('#row input')[0].select()")
    browser.call("Input.insertText", text="not a number")
    shown = browser.run("document.getElementById('prediction').textContent")
    assert "is not a number" in shown or shown in tree.classes  # where the first column holds levels


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
    assert browser.run("document.activeElement.getAttribute('aria-label').startsWith('no: ')")
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
    texts = [{name: "" if row[name] is None else str(row[name]) for name in forest.columns} for row in rows]
    found = browser.run(
        f"""{json.dumps(texts)}.map((row) => {{
            const inputs = [...document.querySelectorAll("#row input")];
            for (const input of inputs) input.value = row[input.name];
            inputs[0].dispatchEvent(new Event("input", {{bubbles: true}}));
            const shown = document.getElementById("prediction");
            return (shown.querySelector("strong") ?? shown).textContent;
        }})"""
    )
    assert found == forest.predict(rows).tolist()
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
