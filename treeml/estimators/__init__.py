"""Estimators in the manner of scikit-learn, and distillation of fitted models.

Users import them from `treeml.sklearn` and `treeml.dl85`.
"""
