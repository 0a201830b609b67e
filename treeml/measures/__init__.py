"""What every measure means: its lowering to the terms of a problem, and its exact value on a finished tree.

Measures are declared in `treeml.lang.measures`. Import `lower_dataset` (Dataset -> Problem), `lower` (a goal or a
requirement -> sums of terms), `lowerings` (a measure -> a sum of terms), `evaluators` (a measure of a finished tree,
straight from its definition) and `binarize` (columns -> yes-or-no tests).
"""
