"""Tree -> C99 without a library: a struct for a row, and a function that returns its leaf.

Numbers are doubles, with NaN for missing; levels are texts in UTF-8, with NULL for missing. `treeml_leaf` returns the
number of the leaf, or -1 if a value is missing in a column that had no missing values in training. For every leaf,
`treeml_predictions` holds the number of a class in `treeml_classes`, or numbers.
"""

from __future__ import annotations

import re

from treeml.data.table import label_text
from treeml.lang.display import shown
from treeml.trees.export.contract import Export
from treeml.trees.export.questions import ExportQuestion, asked, level_texts, required, threshold
from treeml.trees.export.votes import EXACT_INTEGERS, all_columns, class_number, whole_weights
from treeml.trees.forest import Forest
from treeml.trees.nodes import Branch, Field, Node
from treeml.trees.tree import Tree

MOST_OF_AN_IDENTIFIER = 50  # characters; compilers need not distinguish longer ones
MOST_OF_A_COMMENT = 400

TEXT_HELPER = """
static int treeml_among(const char *value, const char *const *levels, int count) {
  for (int i = 0; i < count; i++)
    if (value && strcmp(value, levels[i]) == 0) return 1;
  return 0;
}
"""


def write(tree: Tree) -> str:
    names = names_of(tree)
    parts = [*opening(tree, names), _tables(tree), leaf_function(tree, names, "treeml_leaf"), _predict(tree)]
    return joined(parts)


def write_forest(forest: Forest) -> str:
    weights = whole_weights(forest, EXACT_INTEGERS)
    whole = all_columns(forest)
    names = names_of(whole)
    labels = ", ".join(string(label_text(label)) for label in forest.classes)
    classes = len(forest.classes)
    parts = [*opening(whole, names), f"const char *const treeml_classes[{classes}] = {{{labels}}};"]
    leaves, calls = [], []
    for number, (tree, weight) in enumerate(zip(forest.trees, weights, strict=True)):
        parts.append(leaf_function(tree, names, f"treeml_leaf_{number}", static=True))
        places = ", ".join(str(class_number(forest, leaf)) for leaf in tree.leaves)
        leaves.append(f"static const int treeml_votes_{number}[{len(tree.leaves)}] = {{{places}}};")
        calls.append(
            f"  leaf = treeml_leaf_{number}(row);\n  if (leaf < 0) return -1;\n"
            f"  votes[treeml_votes_{number}[leaf]] += {weight}LL;"
        )
    parts.append("\n".join(leaves))
    body = "\n".join(calls)
    parts.append(
        "/* Counts the votes for every class; -1 if a value is missing in a column that had none in training. */\n"
        f"int treeml_votes(const struct treeml_row *row, long long votes[{classes}]) {{\n"
        f"  int leaf;\n  for (int i = 0; i < {classes}; i++) votes[i] = 0;\n{body}\n  return 0;\n}}"
    )
    parts.append(
        "/* The label of the class with the most votes, the first of equal ones; NULL without a prediction. */\n"
        "const char *treeml_predict(const struct treeml_row *row) {\n"
        f"  long long votes[{classes}];\n  int best = 0;\n"
        "  if (treeml_votes(row, votes) < 0) return NULL;\n"
        f"  for (int i = 1; i < {classes}; i++)\n    if (votes[i] > votes[best]) best = i;\n"
        "  return treeml_classes[best];\n}"
    )
    return joined(parts)


def joined(parts: list[str]) -> str:
    """The parts as one file, without the helper if no part calls it: compilers warn about unused functions."""
    helper = TEXT_HELPER.strip()
    called = any("treeml_among(" in part for part in parts if part != helper)
    return "\n\n".join(part for part in parts if called or part != helper) + "\n"


def opening(tree: Tree, names: dict[str, str]) -> list[str]:
    """The beginning of the file: the struct of a row, and the helper for tests on levels."""
    members = [f"  {_type(field)}{names[field.name]}; /* {_comment(field.name)} */" for field in tree.fields]
    parts = [
        f"/* A prediction of {_comment(tree.target or ', '.join(tree.outputs))}, written by TreeML. */",
        "#include <math.h>\n#include <string.h>",
        "struct treeml_row {\n" + "\n".join(members or ["  int unused;"]) + "\n};",
    ]
    if any(field.levels for field in tree.fields):
        parts.append(TEXT_HELPER.strip())
    return parts


def leaf_function(tree: Tree, names: dict[str, str], name: str, static: bool = False) -> str:
    lines = [f"{'static ' if static else ''}int {name}(const struct treeml_row *row) {{"]
    if not tree.fields:
        lines.append("  (void)row;")
    for field in tree.fields:
        lines.append(f"  {_type(field)}{names[field.name]} = {_read(field, names[field.name])};")
    for field in required(tree):
        lines.append(f"  if ({_is_missing(field, names[field.name])}) return -1;")
    return "\n".join([*lines, *_lines(tree, names), "}"])


def _tables(tree: Tree) -> str:
    if tree.task == "classes":
        labels = ", ".join(string(label_text(label)) for label in tree.classes)
        places = ", ".join(str(tree.classes.index(leaf.prediction)) for leaf in tree.leaves)
        return (
            f"const char *const treeml_classes[{len(tree.classes)}] = {{{labels}}};\n"
            f"const int treeml_predictions[{len(tree.leaves)}] = {{{places}}};"
        )
    rows = [leaf.prediction if isinstance(leaf.prediction, tuple) else (leaf.prediction,) for leaf in tree.leaves]
    numbers = ",\n  ".join("{" + ", ".join(float(value).hex() for value in row) + "}" for row in rows)
    size = f"[{len(tree.leaves)}][{len(tree.outputs)}]"
    return f"const double treeml_predictions{size} = {{\n  {numbers}}};"


def _predict(tree: Tree) -> str:
    if tree.task == "classes":
        return (
            "/* The label of the class; NULL without a prediction. */\n"
            "const char *treeml_predict(const struct treeml_row *row) {\n"
            "  int leaf = treeml_leaf(row);\n"
            "  return leaf < 0 ? NULL : treeml_classes[treeml_predictions[leaf]];\n}"
        )
    return (
        "/* The first of the numbers; NaN without a prediction. */\n"
        "double treeml_predict(const struct treeml_row *row) {\n"
        "  int leaf = treeml_leaf(row);\n"
        "  return leaf < 0 ? (double)NAN : treeml_predictions[leaf][0];\n}"
    )


def _lines(tree: Tree, names: dict[str, str]) -> list[str]:
    """Tests with jumps: compilers limit the nesting of blocks, but not the distance of a jump."""
    lines: list[str] = []
    leaf = 0
    todo: list[tuple[Node, str]] = [(tree.root, "")]
    label = 0
    while todo:
        node, mark = todo.pop()
        if mark:
            lines.append(f"{mark}:")
        if not isinstance(node, Branch):
            lines.append(f"  return {leaf};")
            leaf += 1
            continue
        question = asked(tree, node.test)
        label += 1
        lines.append(f"  if (!({_condition(question, names[question.field.name])})) goto no{label};")
        todo += [(node.no, f"no{label}"), (node.yes, "")]
    return lines


def _condition(question: ExportQuestion, name: str) -> str:
    field = question.field
    if question.kind == "missing":
        return _is_missing(field, name)
    if question.kind == "at most":
        condition = f"{name} <= {_number(threshold(question.values[0]))}"
    elif field.levels:
        texts = level_texts(field, question.values)
        levels = ", ".join(map(string, texts))
        condition = f"treeml_among({name}, (const char *const[]){{{levels}}}, {len(texts)})"
    else:
        condition = " || ".join(f"{name} == {_number(threshold(value))}" for value in question.values)
    return f"({condition}) || {_is_missing(field, name)}" if question.missing_yes else condition


def _number(value: int | float) -> str:
    return f"{value}.0" if isinstance(value, int) else float(value).hex()


def _is_missing(field: Field, name: str) -> str:
    return f"{name} == NULL" if field.levels else f"isnan({name})"


def _read(field: Field, name: str) -> str:
    if field.fill is None:
        return f"row->{name}"
    fill = string(label_text(field.fill)) if field.levels else _number(threshold(field.fill))
    return f"{_is_missing(field, f'row->{name}')} ? {fill} : row->{name}"


def _type(field: Field) -> str:
    return "const char *" if field.levels else "double "


def names_of(tree: Tree) -> dict[str, str]:
    """A unique C identifier for every column. All begin with `column_`, as no keyword, no macro of a header or compiler
    (`INFINITY`, `linux`, `M_PI`) and no other name in this file does."""
    names: dict[str, str] = {}
    used: set[str] = set()
    for field in tree.fields:
        plain = f"column_{re.sub(r'[^A-Za-z0-9_]', '_', field.name[:MOST_OF_AN_IDENTIFIER])}"
        name, number = plain, 1
        while name in used:
            number += 1
            name = f"{plain}_{number}"
        used.add(name)
        names[field.name] = name
    return names


def string(text: str) -> str:
    """A string literal in ASCII: other bytes, quotes and question marks (because of trigraphs) are escaped."""
    if "\0" in text:
        from treeml.lang.diagnostic import DataError, Diagnostic

        title = f"`{shown(text)}` has a NUL, with which texts of C end"
        raise DataError(Diagnostic("D492", title, place="c", helps=("choose another form: `treeml show --as python`",)))
    letters = []
    for byte in text.encode("utf-8", "surrogatepass"):
        plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
        letters.append(chr(byte) if plain else f"\\{byte:03o}")
    return '"' + "".join(letters) + '"'


def _comment(text: str) -> str:
    """Readable text that neither ends nor begins a comment, and contains no trigraph."""
    return shown(text, MOST_OF_A_COMMENT).replace("*/", "*\\/").replace("/*", "/\\*").replace("??", "?\\?")


EXPORT = Export("c", (".c",), write, write_forest)
