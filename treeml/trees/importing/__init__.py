"""Trees written by other programs -> a tree over the columns and tests of a problem.

Import `read` (any source -> a tree to start from) and `contract` (what an importer is). There is one module per format:
`tree_json`, `weka`, `iti`, `estimator` (scikit-learn); an installed package adds formats through the entry-point group
`treeml.importers`.
"""
