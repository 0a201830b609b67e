"""Trees written by other programs -> a tree over the columns and tests of a problem.

Import `read` (any source -> a tree to start from). One module per format: `weka`, `iti`, `estimator` (scikit-learn).
"""
