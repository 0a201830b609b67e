"""Ways to write a Problem as constraints: one encoding per module.

Only `treeml.backends.solvers` imports from here, plus `greedy_start` and `faultless`, which other back-ends reuse.
"""
