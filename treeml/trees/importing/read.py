"""A file, an estimator or a Tree -> a tree over the tests of a problem, for a search to start from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from treeml.data.table import label_text, listed
from treeml.lang.diagnostic import DataError, Diagnostic, Label
from treeml.lang.numerals import readable
from treeml.lang.source import Span
from treeml.problem import tree as nodes
from treeml.problem.evaluate import Routed, evaluate_sum, meets
from treeml.problem.evaluate import answers as test_answers
from treeml.problem.problem import Problem
from treeml.system.confinement import Outside, open_within
from treeml.system.reading import MOST_OF_A_TREE, read_opened, read_text
from treeml.trees.importing.contract import Origin
from treeml.trees.importing.registry import importer_of
from treeml.trees.importing.sketch import raise_sketch, unreadable
from treeml.trees.nodes import Branch, Node, TreeTest
from treeml.trees.raising import lower_tree
from treeml.trees.tree import Tree

MOST_QUESTIONS = 20_000  # tests of a problem up to which each of them is compared with those of a starting tree

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from treeml.data.table import Dataset
    from treeml.measures.lower_dataset import Lowered


def read_start(source: Any, dataset: Dataset, folder: Path | None = None, span: Span | None = None) -> Tree:
    """A Tree from a Tree, or from whatever an importer recognizes: a fitted estimator, or the text of a file.

    If `folder` is given, the file must lie in it; `span` is the place where a spec names the file.
    """
    if isinstance(source, Tree):
        return source
    if isinstance(source, (str, Path)):
        name, content = str(source), _file_text(Path(source), folder, span)
    else:
        name, content = "the estimator", source
    importer = importer_of(content)
    if importer is None:
        raise TypeError(
            f"a search starts from a Tree, a fitted estimator or a file, not from a {type(source).__name__}"
        )
    origin = Origin(name, importer.program)
    found = importer.read(content, origin, dataset)
    return found if isinstance(found, Tree) else raise_sketch(found, dataset, origin)


def _file_text(path: Path, folder: Path | None, span: Span | None) -> str:
    try:
        return _text(path, folder)
    except Outside:
        said = f"{path.name or path} leads out of the folder of the specification, which is not trusted"
        refuse_start("A801", said, span)
    except UnicodeDecodeError:
        unreadable(path, "it is not UTF-8 text")
    except (OSError, ValueError) as error:  # a path may contain what no path can, such as NUL
        unreadable(path, getattr(error, "strerror", None) or str(error))


def _text(path: Path, folder: Path | None) -> str:
    if folder is None:
        return read_text(path)
    with open_within(path, folder) as handle:
        return read_opened(handle, path, MOST_OF_A_TREE).decode("utf-8")


def lower_start(tree: Tree, lowered: Lowered, span: Span | None = None) -> nodes.Node:
    """The tree over the tests of the problem, without the parts that no row reaches.

    A test of the tree matches any test of the problem that separates the training rows in the same way, so that a
    threshold of another program may lie anywhere between the same two values.
    """
    import numpy as np

    from treeml.trees.routing import answers, dataset_inputs

    dataset, problem = lowered.dataset, lowered.problem
    if len(lowered.questions) <= MOST_QUESTIONS:
        exact = lower_tree(tree, lowered.questions, dataset.classes)
        if exact is not None:
            return exact
    unknown = [name for name in tree.columns if name not in dataset.features]
    if unknown:
        refuse_start(
            "D444",
            f"the starting tree asks about `{unknown[0]}`, which is not a column that this problem may split on",
            span,
            f"these columns are {listed(dataset.features)}",
            help="start from a tree that was grown on these columns",
        )
    labels = {label_text(label): number for number, label in enumerate(dataset.classes)}
    inputs = dataset_inputs(tree.fields, dataset)

    def fitted(node: Node, rows: NDArray[np.intp]) -> nodes.Node:
        while isinstance(node, Branch):
            yes = answers(node.test, inputs.columns[node.test.column], rows)
            if yes.all():
                node = node.yes
            elif not yes.any():
                node = node.no
            else:
                everywhere = answers(node.test, inputs.columns[node.test.column], np.arange(problem.rows))
                test, exchanged = _matching_test(node.test, everywhere, lowered, span)
                sides = fitted(node.yes, rows[yes]), fitted(node.no, rows[~yes])
                return nodes.Split(test, *(reversed(sides) if exchanged else sides))
        if not dataset.classes:
            return nodes.Leaf()
        label = labels.get(label_text(node.prediction))
        if label is None:
            refuse_start(
                "D465", f"the starting tree predicts `{node.prediction}`, which is not one of the classes", span
            )
        return nodes.Leaf(label)

    return fitted(tree.root, np.arange(problem.rows))


def refuse_broken(node: nodes.Node, problem: Problem, span: Span | None) -> None:
    """Refuse a tree that is to be improved if it violates requirements; the notes list them."""
    routed = Routed(problem, node)
    broken = [bound for bound in problem.bounds if not meets(bound, problem, node, routed)]
    if not broken:
        return
    notes = [
        f"`{bound.name or 'a requirement'}` is {readable(evaluate_sum(bound.sum, problem, node, routed))}, "
        f"and has to be {bound.sense} {readable(bound.limit)}"
        for bound in broken
    ]
    refuse_start(
        "D445",
        "the starting tree does not meet the requirements",
        span,
        *dict.fromkeys(notes),
        help="loosen the requirement, start from another tree, or solve without `improve`",
    )


def refuse_start(code: str, title: str, span: Span | None, *notes: str, help: str = "") -> NoReturn:
    labels = (Label(span, "this tree"),) if span is not None else ()
    raise DataError(Diagnostic(code, title, labels, notes, (help,) if help else ()))


def _matching_test(test: TreeTest, yes: NDArray[np.bool_], lowered: Lowered, span: Span | None) -> tuple[int, bool]:
    """The test of the problem that separates the rows as this one does, and whether yes and no are exchanged."""
    import numpy as np

    problem = lowered.problem
    feature = next((each for each in problem.features if each.name == test.column), None)
    if feature is not None:
        everybody = np.arange(problem.rows)
        numbers = range(feature.first_test, feature.first_test + feature.tests)
        if feature.kind == "ordered" and feature.codes is not None and yes.any() and not feature.has_missing:
            numbers = range(feature.first_test + int(feature.codes[yes].max()), numbers.stop)[:1]
        for number in numbers:
            given = test_answers(problem, number, everybody)
            if np.array_equal(given, yes):
                return number, False
            if np.array_equal(given, ~yes):
                return number, True
    refuse_start(
        "D440",
        f"the starting tree asks whether {test}, which no test of this problem asks",
        span,
        "its columns, thresholds and classes have to be among those of the data and of `binarize`",
        help="start from a tree that was grown with the same `binarize`, or remove `start from`",
    )
