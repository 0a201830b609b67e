"""Provably best forests: a master problem weights trees, and pricing grows trees until none improves the forest.

Import `boost` (a dataset and a plan -> a forest with its proof); `treeml.solving.forest_result` makes a Result of it.
One module per criterion: `lpboost`, `mdboost`, `hard_margin`.
"""
