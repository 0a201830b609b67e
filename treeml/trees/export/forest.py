"""Forest -> the same forest for other programs: every tree as it is written alone, and a count of the votes.

Votes are counted in whole numbers, so that no form rounds: the weights of the trees over their common denominator. Of
classes with equal votes the first wins, as in `Forest.predict`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import lcm
from typing import Any
from xml.etree import ElementTree

from treeml.data.table import label_text
from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.lang.display import readable_json
from treeml.trees.export import c, onnx, pmml, python, rules, sql
from treeml.trees.forest import Forest
from treeml.trees.nodes import Field, TreeLeaf
from treeml.trees.tree import Tree

EXACT_INTEGERS = 2**62  # of C and SQL
EXACT_DOUBLES = 2**53  # of ONNX and PMML


def export_forest(forest: Forest, form: str) -> str | bytes:
    """The forest in one of the forms of trees; bytes for ONNX."""
    if form in _FORMS:
        return _FORMS[form](forest)
    written = forest.written(form)
    if written is None:
        raise ValueError(f"no form is called {form!r}")
    return written


def whole_weights(forest: Forest, most: int | None = None) -> list[int]:
    """The weights over their common denominator; DataError where they add up to more than a form can count."""
    scale = lcm(*(weight.denominator for weight in forest.weights))
    whole = [int(weight * scale) for weight in forest.weights]
    if most is not None and sum(whole) >= most:
        raise DataError(
            Diagnostic(
                "D492",
                f"the weights of this forest have a common denominator of {scale}, too large to count votes exactly",
                helps=("choose another form: `treeml show --as python`", "or solve with a penalty of fewer digits"),
            )
        )
    return whole


def all_columns(forest: Forest) -> Tree:
    """A tree without questions that has the columns of all trees, for what is said once for the whole forest."""
    fields: dict[str, Field] = {}
    for tree in forest.trees:
        for field in tree.fields:
            fields.setdefault(field.name, field)
    first = forest.trees[0]
    return Tree(TreeLeaf(first.classes[0]), "classes", first.target, first.classes, (), tuple(fields.values()))


def _class_number(forest: Forest, leaf: TreeLeaf) -> int:
    return [label_text(label) for label in forest.classes].index(label_text(leaf.prediction))


def _rules(forest: Forest) -> str:
    labels = readable_json([label_text(label) for label in forest.classes])
    parts = [f"# {len(forest.trees)} trees vote; the class with most weight wins, of equals the first of {labels}"]
    for number, (tree, weight) in enumerate(zip(forest.trees, forest.weights, strict=True), 1):
        parts += [f"# tree {number}, weight {weight}", rules.write(tree).rstrip("\n")]
    return "\n".join(parts) + "\n"


def _sql(forest: Forest) -> str:
    """Two classes are told apart by the sign of one sum; more are counted in an inner SELECT."""
    weights = whole_weights(forest, EXACT_INTEGERS)
    labels = [sql.literal(label) for label in forest.classes]
    if len(labels) == 2:
        votes = _sql_sum(forest, weights, lambda number, weight: weight if number == 0 else -weight)
        found = f"CASE WHEN\n{votes}\n>= 0 THEN {labels[0]} ELSE {labels[1]} END"
    else:
        sums = [
            f"{_sql_sum(forest, weights, lambda number, weight, own=place: weight if number == own else 0)} AS votes{place}"  # type: ignore[misc]  # noqa: E501
            for place in range(len(labels))
        ]
        cases = []
        for place in range(len(labels) - 1):
            others = " AND ".join(f"votes{place} >= votes{other}" for other in range(len(labels)) if other != place)
            cases.append(f"WHEN {others} THEN {labels[place]}")
        inner = ",\n".join(sums)
        found = f"(SELECT CASE {' '.join(cases)} ELSE {labels[-1]} END FROM (SELECT\n{inner}) AS counted)"
    return sql.unless_missing(_required(forest), lambda indent: found) + "\n"


def _sql_sum(forest: Forest, weights: list[int], vote: Callable[[int, int], int]) -> str:
    return "\n+ ".join(
        sql.tree_expression(tree, lambda leaf, weight=weight: str(vote(_class_number(forest, leaf), weight)))  # type: ignore[misc]
        for tree, weight in zip(forest.trees, weights, strict=True)
    )


def _required(forest: Forest) -> tuple[Field, ...]:
    from treeml.trees.export.questions import required

    return required(all_columns(forest))


def _python(forest: Forest) -> str:
    # A tree gives the number of its class, so that labels of any kind are told apart.
    writers = [python.Writer(_numbered(forest, tree), f"_tree_{number}") for number, tree in enumerate(forest.trees)]
    what = f"{len(forest.trees)} decision trees that vote"
    opening = python.opening(all_columns(forest), what, python.imports(forest.trees))
    names = ", ".join(f"({w.name}, {weight})" for w, weight in zip(writers, whole_weights(forest), strict=True))
    labels = ", ".join(python.label(label) for label in forest.classes)
    parts = [part for writer in writers for part in writer.functions()]
    predict = f'''CLASSES = ({labels},)
TREES = ({names},)


def votes(row):
    """For every class the weight of the trees that vote for it, in whole numbers."""
    found = [0] * len(CLASSES)
    for tree, weight in TREES:
        found[tree(row)] += weight
    return found


def predict(row):
    """The prediction for one row, a dict from column to value: of equal votes the first class wins."""
    found = votes(row)
    return CLASSES[found.index(max(found))]'''
    return "\n\n\n".join([opening, *parts, predict]) + "\n"


def _numbered(forest: Forest, tree: Tree) -> Tree:
    """The tree with the number of a class in place of its label."""

    def numbered(node: Any) -> Any:
        if isinstance(node, TreeLeaf):
            return replace(node, prediction=_class_number(forest, node))
        return replace(node, yes=numbered(node.yes), no=numbered(node.no))

    return replace(tree, root=numbered(tree.root), classes=tuple(range(len(tree.classes))))


def _c(forest: Forest) -> str:
    weights = whole_weights(forest, EXACT_INTEGERS)
    whole = all_columns(forest)
    names = c.names_of(whole)
    labels = ", ".join(c.string(label_text(label)) for label in forest.classes)
    classes = len(forest.classes)
    parts = [*c.opening(whole, names), f"const char *const treeml_classes[{classes}] = {{{labels}}};"]
    leaves, calls = [], []
    for number, (tree, weight) in enumerate(zip(forest.trees, weights, strict=True)):
        parts.append(c.leaf_function(tree, names, f"treeml_leaf_{number}", static=True))
        places = ", ".join(str(_class_number(forest, leaf)) for leaf in tree.leaves)
        leaves.append(f"static const int treeml_votes_{number}[{len(tree.leaves)}] = {{{places}}};")
        calls.append(
            f"  leaf = treeml_leaf_{number}(row);\n  if (leaf < 0) return -1;\n"
            f"  votes[treeml_votes_{number}[leaf]] += {weight}LL;"
        )
    parts.append("\n".join(leaves))
    body = "\n".join(calls)
    parts.append(
        "/* The votes for every class, in whole numbers; -1 where a column is missing that never was in training. */\n"
        f"int treeml_votes(const struct treeml_row *row, long long votes[{classes}]) {{\n"
        f"  int leaf;\n  for (int i = 0; i < {classes}; i++) votes[i] = 0;\n{body}\n  return 0;\n}}"
    )
    parts.append(
        "/* The label of the class with most votes, of equals the first; NULL where there is none. */\n"
        "const char *treeml_predict(const struct treeml_row *row) {\n"
        f"  long long votes[{classes}];\n  int best = 0;\n"
        "  if (treeml_votes(row, votes) < 0) return NULL;\n"
        f"  for (int i = 1; i < {classes}; i++)\n    if (votes[i] > votes[best]) best = i;\n"
        "  return treeml_classes[best];\n}"
    )
    return c.joined(parts)


def _pmml(forest: Forest) -> str:
    """A MiningModel whose segments vote by weight."""
    weights = whole_weights(forest, EXACT_DOUBLES)
    whole = all_columns(forest)
    pmml.refuse_odd_names(whole)
    root = pmml.document(whole, "trees that vote")
    model = ElementTree.SubElement(root, "MiningModel", {"functionName": "classification"})
    pmml.schema(model, whole)
    segments = ElementTree.SubElement(model, "Segmentation", {"multipleModelMethod": "weightedMajorityVote"})
    for number, (tree, weight) in enumerate(zip(forest.trees, weights, strict=True), 1):
        segment = ElementTree.SubElement(segments, "Segment", {"id": str(number), "weight": str(weight)})
        ElementTree.SubElement(segment, "True")
        pmml.tree_model(segment, tree)
    return pmml.text(root)


def _onnx(forest: Forest) -> bytes:
    votes = [
        [[float(weight) if _class_number(forest, leaf) == place else 0.0 for place in range(len(forest.classes))]
         for leaf in tree.leaves]
        for tree, weight in zip(forest.trees, whole_weights(forest, EXACT_DOUBLES), strict=True)
    ]  # fmt: skip
    return onnx.write_votes(all_columns(forest), forest.trees, votes)


_FORMS: Mapping[str, Callable[[Forest], str | bytes]] = {
    "rules": _rules, "sql": _sql, "python": _python, "c": _c, "pmml": _pmml, "onnx": _onnx
}  # fmt: skip
