"""Trees and forests as users keep them: routing of rows, JSON, drawing, export to and import from other programs.

A `Tree` names the user's own columns and classes and needs neither a solver nor the training data. Import `tree`,
`nodes` (its data), `raising` (from and to trees of a problem), `forest`, `export` and `importing`; the other modules
serve these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from treeml.trees.shap_form import ShapTree
    from treeml.trees.tree import Tree


def to_shap(tree: Tree) -> ShapTree:
    """The tree as SHAP's TreeExplainer reads it.

    >>> from treeml.trees import to_shap
    >>> model = to_shap(tree)
    >>> model.feature_names
    ['age', 'sex is F']
    >>> model.matrix({"age": [30], "sex": ["M"]})
    array([[30.,  0.]])
    """
    from treeml.trees.shap_form import to_shap as convert  # imported here: numpy costs start-up time

    return convert(tree)
