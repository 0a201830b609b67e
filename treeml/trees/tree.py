"""Data of a tree -> Tree: what a user keeps of an answer.

It names the user's own columns and labels, and needs neither a solver nor the training data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeml.data.table import listed
from treeml.lang.display import readable_json, shown
from treeml.system.writing import replace_file
from treeml.trees.drawing import draw_dot, draw_text
from treeml.trees.json_form import read_tree, read_tree_file, write_tree
from treeml.trees.leaf_lines import along_lines
from treeml.trees.nodes import TreeData, class_shares
from treeml.trees.path_facts import answered_facts
from treeml.trees.routing import read_inputs, route, row_sides


@dataclass(frozen=True)
class Tree(TreeData):
    """A decision tree over the user's columns: it predicts, draws itself, and is written to and read from JSON.

    >>> tree = tml.Tree.read("tree.json")
    >>> tree.predict({"age": [30, 60], "sex": ["F", "M"]})
    array(['no', 'yes'], dtype='<U3')
    >>> print(tree)
    predict disease
    ├─ age <= 40: disease = no  [5 rows (50% of all): no 80%, yes 20%]
    └─ age > 40
       ├─ sex is F: disease = no  [2 rows (20% of all): no 100%]
       └─ sex is not F: disease = yes  [3 rows (30% of all): yes 66.7%, no 33.3%]
    """

    def apply(self, data: Any) -> NDArray[np.intp]:
        """The position in `leaves` of the leaf that each row reaches.

        `data` is a frame, a dict, a list of dicts or an array.

        >>> tree.apply([{"age": 30, "sex": "F"}, {"age": 60, "sex": "M"}])
        array([0, 2])
        """
        return route(self, read_inputs(self, data))

    def predict(self, data: Any) -> NDArray[Any]:
        """The prediction for each row: a label as in the training data, or a number.

        >>> tree.predict({"age": [30, 60], "sex": ["F", "M"]})
        array(['no', 'yes'], dtype='<U3')
        """
        predictions = [leaf.prediction for leaf in self.leaves]
        inputs = read_inputs(self, data)
        reached = route(self, inputs)
        predicted = np.array(predictions, dtype=_type_of(self.classes))[reached]
        if any(leaf.slopes for leaf in self.leaves):
            predicted = predicted + along_lines(self.leaves, reached, lambda name: inputs.columns[name].values)
        return predicted

    def predict_proba(self, data: Any) -> NDArray[np.float64]:
        """For each row the share, by weight, of every class in its leaf; columns are in the order of `classes`.

        >>> tree.predict_proba({"age": [30], "sex": ["F"]})
        array([[0.8, 0.2]])
        """
        if self.task != "classes":
            raise ValueError(f"a tree that predicts {self.task} has no shares of classes")
        shares = [class_shares(leaf, self.classes) for leaf in self.leaves]
        return np.array([[float(share) for share in row] for row in shares], dtype=np.float64)[self.apply(data)]

    def decision_path(self, row: Any) -> tuple[str, ...]:
        """Why a row gets its prediction, in words: every test on its path, then the prediction.

        >>> tree.decision_path({"age": 60, "sex": "M"})
        ('age > 40', 'sex is not F', 'predict yes')
        """
        reached = self.apply(row)
        if len(reached) != 1:
            raise ValueError(f"a decision path is that of one row, not of {len(reached)}")
        path, leaf = list(self.paths())[int(reached[0])]
        facts = answered_facts(self, path)
        return (*facts, f"predict {self.prediction_text(leaf)}")

    def to_json(self) -> dict[str, Any]:
        """The tree as plain JSON values; docs/tree-json.md describes them.

        >>> tree.to_json()["target"]
        'disease'
        """
        return write_tree(self)

    @classmethod
    def from_json(cls, value: str | bytes | Mapping[str, Any], place: str = "the tree") -> Tree:
        """The tree that `to_json` wrote, from its values or their text; DataError if it is not such a tree.

        `place` names the source in error messages.

        >>> tml.Tree.from_json(tree.to_json()) == tree
        True
        """
        return read_tree(cls, value, place)

    @classmethod
    def read(cls, path: str | Path) -> Tree:
        """The tree in a file that `write` or `treeml solve -o` wrote, or `treeml solve --json` printed.

        >>> tml.Tree.read("tree.json").depth
        2
        """
        return read_tree_file(cls, Path(path))

    def write(self, path: str | Path) -> None:
        """Write the tree to a file as JSON.

        >>> tree.write("tree.json")
        """
        replace_file(path, readable_json(self.to_json(), indent=1) + "\n")

    def __str__(self) -> str:
        return draw_text(self)

    def __repr__(self) -> str:
        subject = f" for {shown(self.target)}" if self.target else ""
        tests = f", tests {listed([shown(name) for name in self.columns], 4)}" if self.columns else ""
        size = f"{len(self.leaves)} {'leaf' if len(self.leaves) == 1 else 'leaves'}, depth {self.depth}"
        return f"<Tree{subject}: {size}{tests}>"

    def to_text(self, row: Any = None) -> str:
        """The tree as lines of text; the lines on the path of `row` are marked.

        >>> print(tree.to_text({"age": 60, "sex": "M"}))
        predict disease
        ├─ age <= 40: disease = no  [5 rows (50% of all): no 80%, yes 20%]
        └▶ age > 40
           ├─ sex is F: disease = no  [2 rows (20% of all): no 100%]
           └▶ sex is not F: disease = yes  [3 rows (30% of all): yes 66.7%, no 33.3%]
        """
        return draw_text(self, None if row is None else row_sides(self, row))

    def to_dot(self, row: Any = None, *, sideways: bool = False) -> str:
        """The tree in the language of Graphviz; the path of `row` is drawn thick and blue.

        With `sideways` it grows from left to right.

        >>> tree.to_dot().splitlines()[0]
        'digraph tree {'
        """
        return draw_dot(self, None if row is None else row_sides(self, row), sideways)

    def to_svg(self, row: Any = None, data: Any = None, *, sideways: bool = False) -> str:
        """The tree as an SVG drawing that needs no other file.

        The path of `row` is drawn thick and blue. With `data`, every node shows how those rows spread over the tested
        column, by class if `data` has the target. With `sideways` the tree grows from left to right, which suits a tree
        with many leaves.

        >>> tree.to_svg()[:4]
        '<svg'
        >>> tree.to_svg(row={"age": 60, "sex": "M"}).count('class="leaf path"')
        1
        """
        # imported here: start-up time
        from treeml.trees.svg import draw_svg
        from treeml.trees.views import view_of

        return draw_svg(self, view_of(self, row, data, sideways))

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_html_(self) -> str:
        from treeml.trees.html import tree_html  # imported here: start-up time

        return tree_html(self)


def _type_of(classes: Sequence[Any]) -> Any:
    """The numpy type of the labels; labels of mixed types, or of types unknown to numpy, are kept as objects."""
    kinds = {type(label) for label in classes}
    return None if not kinds or (len(kinds) == 1 and kinds <= {str, int, float, bool}) else object
