"""The estimators, by the name that users of scikit-learn look for: `from treeml.sklearn import OptimalTreeClassifier`.

scikit-learn is an extra (`pip install treeml[sklearn]`), and nothing else in the package imports it.
"""

import treeml.estimators.needed  # noqa: F401
from treeml.estimators.classifier import OptimalTreeClassifier
from treeml.estimators.clusterer import TreeClusterer
from treeml.estimators.forest import OptimalForestClassifier
from treeml.estimators.regressor import OptimalTreeRegressor
from treeml.estimators.showing import export_text, plot_tree

__all__ = [
    "OptimalForestClassifier",
    "OptimalTreeClassifier",
    "OptimalTreeRegressor",
    "TreeClusterer",
    "export_text",
    "plot_tree",
]
