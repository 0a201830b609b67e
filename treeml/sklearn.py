"""The estimators, by the name that users of scikit-learn look for: `from treeml.sklearn import OptimalTreeClassifier`.

scikit-learn is an extra (`pip install treeml[sklearn]`), and nothing else in the package imports it.
"""

from treeml.estimators.classifier import OptimalTreeClassifier

__all__ = ["OptimalTreeClassifier"]
