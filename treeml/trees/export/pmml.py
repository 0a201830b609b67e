"""Tree -> PMML 4.4, a TreeModel.

Each branch has two nodes: the first with the test, the second for all other rows. A comparison with a missing value is
false (`missingValueStrategy` none), so such a row goes to the no side unless the test asks for missing values.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from treeml.data.table import label_text
from treeml.lang.display import shown, xml_text
from treeml.trees.export.contract import Export
from treeml.trees.export.questions import ExportQuestion, asked, level_texts, threshold
from treeml.trees.export.votes import EXACT_DOUBLES, all_columns, whole_weights
from treeml.trees.forest import Forest
from treeml.trees.nodes import Branch, Field, Node, class_shares
from treeml.trees.tree import Tree

NAMESPACE = "http://www.dmg.org/PMML-4_4"
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
Element = ElementTree.Element


def write(tree: Tree) -> str:
    if tree.task == "clusters":
        _refuse("a tree of clusters predicts several numbers, and a TreeModel of PMML one value")
    refuse_odd_names(tree)
    root = document(tree, "a decision tree")
    tree_model(root, tree)
    return text(root)


def write_forest(forest: Forest) -> str:
    """A MiningModel whose segments vote by weight."""
    weights = whole_weights(forest, EXACT_DOUBLES)
    whole = all_columns(forest)
    refuse_odd_names(whole)
    root = document(whole, "trees that vote")
    model = ElementTree.SubElement(root, "MiningModel", {"functionName": "classification"})
    schema(model, whole)
    segments = ElementTree.SubElement(model, "Segmentation", {"multipleModelMethod": "weightedMajorityVote"})
    for number, (tree, weight) in enumerate(zip(forest.trees, weights, strict=True), 1):
        segment = ElementTree.SubElement(segments, "Segment", {"id": str(number), "weight": str(weight)})
        ElementTree.SubElement(segment, "True")
        tree_model(segment, tree)
    return text(root)


def refuse_odd_names(tree: Tree) -> None:
    names = [tree.target, *(field.name for field in tree.fields), *map(str, tree.classes)]
    names += [label_text(level) for field in tree.fields for level in field.levels]
    odd = next((name for name in names if _NOT_XML.search(name)), None)
    if odd is not None:
        _refuse(f"`{shown(odd)}` has a character that XML cannot hold")


def document(tree: Tree, description: str) -> Element:
    """A document with header and dictionary, but without a model."""
    root = Element("PMML", {"xmlns": NAMESPACE, "version": "4.4"})
    header = ElementTree.SubElement(root, "Header", {"description": description})
    ElementTree.SubElement(header, "Application", {"name": "TreeML"})
    _dictionary(root, tree)
    return root


def tree_model(parent: Element, tree: Tree) -> None:
    kind = "classification" if tree.task == "classes" else "regression"
    model = ElementTree.SubElement(
        parent,
        "TreeModel",
        {
            "functionName": kind,
            "splitCharacteristic": "binarySplit",
            "missingValueStrategy": "none",
            "noTrueChildStrategy": "returnNullPrediction",
        },
    )
    schema(model, tree)
    _nodes(model, tree)


def text(root: Element) -> str:
    ElementTree.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml_text(ElementTree.tostring(root, "unicode")) + "\n"


def _dictionary(root: Element, tree: Tree) -> None:
    dictionary = ElementTree.SubElement(root, "DataDictionary", {"numberOfFields": str(len(tree.fields) + 1)})
    for field in tree.fields:
        if field.levels:
            _categorical(dictionary, field.name, [label_text(level) for level in field.levels])
        else:
            _continuous(dictionary, field.name)
    if tree.task == "classes":
        _categorical(dictionary, tree.target, [label_text(label) for label in tree.classes])
    else:
        _continuous(dictionary, tree.target)


def _categorical(dictionary: Element, name: str, values: list[str]) -> None:
    attributes = {"name": name, "optype": "categorical", "dataType": "string"}
    field = ElementTree.SubElement(dictionary, "DataField", attributes)
    for value in values:
        ElementTree.SubElement(field, "Value", {"value": value})


def _continuous(dictionary: Element, name: str) -> None:
    ElementTree.SubElement(dictionary, "DataField", {"name": name, "optype": "continuous", "dataType": "double"})


def schema(model: Element, tree: Tree) -> None:
    schema = ElementTree.SubElement(model, "MiningSchema")
    for field in tree.fields:
        # A level that did not occur in training is not an error: it answers no.
        attributes = {"name": field.name, "usageType": "active", "invalidValueTreatment": "asIs"}
        if field.fill is not None:
            attributes["missingValueReplacement"] = _text(field.fill)
        elif not field.missing:
            attributes["missingValueTreatment"] = "returnInvalid"
        ElementTree.SubElement(schema, "MiningField", attributes)
    ElementTree.SubElement(schema, "MiningField", {"name": tree.target, "usageType": "target"})


def _nodes(model: Element, tree: Tree) -> None:
    todo: list[tuple[Element, Node, ExportQuestion | None]] = [(model, tree.root, None)]
    number = 0
    while todo:
        parent, node, question = todo.pop()
        number += 1
        element = ElementTree.SubElement(parent, "Node", {"id": str(number)})
        _predicate(element, question)
        if isinstance(node, Branch):
            todo += [(element, node.no, None), (element, node.yes, asked(tree, node.test))]
            continue
        element.set("score", _text(node.prediction))
        element.set("recordCount", str(node.rows))
        if tree.task == "classes":
            shares = class_shares(node, tree.classes)
            for label, count, share in zip(tree.classes, node.counts or [0] * len(shares), shares, strict=True):
                attributes = {"value": label_text(label), "recordCount": str(count), "probability": repr(float(share))}
                ElementTree.SubElement(element, "ScoreDistribution", attributes)


def _predicate(element: Element, question: ExportQuestion | None) -> None:
    if question is None:
        ElementTree.SubElement(element, "True")
        return
    name = question.field.name
    if question.kind == "missing":
        ElementTree.SubElement(element, "SimplePredicate", {"field": name, "operator": "isMissing"})
        return
    if question.missing_yes:
        element = ElementTree.SubElement(element, "CompoundPredicate", {"booleanOperator": "or"})
        ElementTree.SubElement(element, "SimplePredicate", {"field": name, "operator": "isMissing"})
    if question.kind == "at most":
        value = _text(threshold(question.values[0]))
        ElementTree.SubElement(element, "SimplePredicate", {"field": name, "operator": "lessOrEqual", "value": value})
        return
    field = question.field
    texts = level_texts(field, question.values) if field.levels else tuple(map(_text, question.values))
    members = ElementTree.SubElement(element, "SimpleSetPredicate", {"field": name, "booleanOperator": "isIn"})
    array = ElementTree.SubElement(members, "Array", {"n": str(len(texts)), "type": _array_type(field)})
    array.text = " ".join('"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in texts)


def _array_type(field: Field) -> str:
    return "string" if field.levels else "real"


def _text(value: Any) -> str:
    return repr(value) if isinstance(value, float) and not value.is_integer() else label_text(value)


def _refuse(title: str) -> None:
    from treeml.lang.diagnostic import DataError, Diagnostic

    raise DataError(Diagnostic("D492", title, place="pmml", helps=("choose another form: `treeml show --as json`",)))


EXPORT = Export("pmml", (".pmml", ".xml"), write, write_forest)
