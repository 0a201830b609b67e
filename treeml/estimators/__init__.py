"""Estimators in the manner of scikit-learn; `treeml.sklearn` is where users import them from."""
