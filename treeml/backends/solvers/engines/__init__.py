"""Ways to solve a written model: one solver per module.

Only `treeml.backends.solvers` imports from here. `statuses` says, per solver, which of its answers are proofs.
"""
