"""A set of trees -> a page to explore it in a browser: two measures against each other, trees side by side, columns.

The page holds the trees as shared nodes, as a file of the set does, and draws what the reader selects. docs/listing.md
describes it; treeml/studies/page has its parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

from treeml.data.table import label_text
from treeml.lang.display import MOST_OF_A_SENTENCE, json_text, shown, shown_lines, visible
from treeml.solving.result import Number, plain
from treeml.studies.page.colors import colored
from treeml.studies.page.template import asset, filled, in_script
from treeml.studies.tree_sets.stored import content_of
from treeml.trees.palette import TINTS
from treeml.trees.tree import Tree

if TYPE_CHECKING:
    from treeml.studies.tree_sets.rows import ColumnImportance
    from treeml.studies.tree_sets.tree_set import TreeSet

MOST_IN_A_CELL = 500  # trees on the page under a cell of a notebook, which is stored with it
SHAPE = ("leaves", "depth", "features_used")  # measures that need no rows


def explorer_page(trees: TreeSet, measures: Sequence[str] = (), most: int = 10_000) -> str:
    """The page as text. It shows the first `most` trees of the set, by the measures named and some usual ones."""
    if most < 1:
        raise ValueError("a page shows at least one tree")
    kept = trees._apart(trees.ranks[:most])
    content = _content(trees, kept, measures)
    target = content.pop("target")
    spec = content.pop("spec")
    pieces = {
        "title": escape(f"Good trees for {visible(target)}" if target else "Good trees"),
        "style": asset("page.css") + asset("explorer.css"),
        "script": asset("elements.js") + asset("explorer.js"),
        "spec": colored(shown_lines(spec)),
        "text": escape(f"{trees.statement}\n\n{trees[0]}" if trees.count else trees.statement),
        "data": in_script(json_text(content, allow_nan=False)),
    }
    return filled("explorer.html", pieces)


def explorer_frame(trees: TreeSet) -> str:
    """The page of the first trees in a frame of its own, which can neither read nor change the notebook around it."""
    page = explorer_page(trees, most=MOST_IN_A_CELL)
    look = "width:100%;height:820px;border:1px solid #8a93a0;border-radius:8px"
    return f'<iframe sandbox="allow-scripts" style="{look}" title="trees to explore" srcdoc="{escape(page)}"></iframe>'


def _content(trees: TreeSet, kept: TreeSet, measures: Sequence[str]) -> dict[str, Any]:
    known = trees.listed
    stored = content_of(kept) if kept.count else {}
    head = Tree.from_json(stored["head"]) if stored else None
    columns = list(dict.fromkeys(test["column"] for test in stored.get("tests", ())))
    return {
        "count": f"{trees.count:,}",
        "shown_of": f"the first {kept.count:,}" if kept.count < trees.count else "",
        "statement": shown(trees.statement, MOST_OF_A_SENTENCE),
        "complete": known.complete,
        "goal": shown(known.goal),
        "best": trees.best,
        "notes": [shown(note, MOST_OF_A_SENTENCE) for note in known.notes],
        "target": head.target if head is not None else "",
        "classes": [shown(label_text(label)) for label in head.classes] if head is not None else [],
        "colors": TINTS,
        "spec": str(trees._measures.model),
        "measures": _measures(kept, stored["values"], measures) if stored else [],
        "columns": [visible(name) for name in columns],
        "importance": [_column(each, columns) for each in kept.importance()] if stored else [],
        **_trees(stored, head, kept, columns),
    }


def _trees(stored: Mapping[str, Any], head: Tree | None, kept: TreeSet, columns: list[str]) -> dict[str, Any]:
    """Tests, predictions, leaves, shared nodes and roots; equal predictions have one number."""
    nothing: dict[str, list[int]] = {"test": [], "yes": [], "no": []}
    if head is None:
        return {"tests": [], "predictions": [], "leaves": [], "nodes": nothing, "trees": nothing}
    texts = [str(test) for test in kept.source.tests]
    predictions: dict[str, int] = {}
    described, leaves = [], []
    for leaf in stored["leaves"]:
        key = json_text(leaf.get("exact") or leaf["predict"])
        if key not in predictions:
            predictions[key] = len(predictions)
            described.append(_prediction(head, leaf))
        leaves.append([predictions[key], leaf["rows"], leaf.get("counts", [])])
    return {
        "tests": [[columns.index(test["column"]), text] for test, text in zip(stored["tests"], texts, strict=True)],
        "predictions": described,
        "leaves": leaves,
        "nodes": stored["nodes"],
        "trees": stored["trees"],
    }


def _prediction(head: Tree, leaf: Mapping[str, Any]) -> dict[str, Any]:
    read = Tree.from_json({**head.to_json(), "root": leaf}).leaves[0]
    is_number = head.task == "numbers"
    return {
        "text": head.prediction_text(read),
        "label": head.classes.index(read.prediction) if head.classes else -1,
        "number": plain(read.prediction) if is_number else None,
    }


def _column(column: ColumnImportance, columns: list[str]) -> dict[str, Any]:
    number = columns.index(column.name) if column.name in columns else -1
    return {
        "name": visible(column.name),
        "number": number,
        "share": column.share,
        "least": column.least,
        "most": column.most,
    }


def _measures(trees: TreeSet, values: Sequence[Any], asked: Sequence[str]) -> list[dict[str, Any]]:
    """The goal, what was asked for, and usual measures: each with a code per tree and the value of every code."""
    goal = trees.listed.goal.partition(" ")[2] or "goal"
    maximize = trees.listed.sense == "maximize"
    goals = [plain(-Fraction(text) if maximize else Fraction(text)) for text, number in values for _ in range(number)]
    found = {goal: _coded(goal, goals, maximize)}
    if trees.source.dataset is None:
        if asked:
            raise ValueError("measures need the rows of the data: TreeSet.read(path, data=...)")
        shapes = [(len(tree.leaves), tree.depth, len(tree.columns)) for tree in trees]
        for place, name in enumerate(SHAPE):
            found.setdefault(name, _coded(name, [shape[place] for shape in shapes], maximize=False))
        return list(found.values())
    usual = ("error_rate", "balanced_accuracy") if trees.source.dataset.classes else ()
    for name in dict.fromkeys([*asked, *usual, *SHAPE, "support"]):
        if name not in found:
            is_more_better = trees._evaluations.measure(name)[0].maximize
            found[name] = _coded(name, trees.measure(name), is_more_better)
    return list(found.values())


def _coded(name: str, values: Sequence[Number | None], maximize: bool) -> dict[str, Any]:
    known: dict[Number | None, int] = {}
    codes = [known.setdefault(value, len(known)) for value in values]
    return {"name": visible(name), "maximize": maximize, "table": list(known), "codes": codes}
