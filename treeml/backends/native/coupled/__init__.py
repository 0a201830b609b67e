"""Requirements that couple the leaves (fairness, recall, precision, rates, budgets), by the coupled search in C.

Such a requirement limits a sum over the predictions of all rows, so whether a leaf is good depends on the other
leaves. `requirements` says which problems need this search, `task` states them in whole numbers, `run` solves
them, and `thresholds` is the search over columns of numbers.
"""
