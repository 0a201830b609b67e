"""The solvers: one module per solver, which takes a model and returns a `SolverOutcome`.

Only `treeml.backends.solvers` imports from here. `statuses` decides, per solver, which statuses are proofs; `running`
calls a solver under limits on time and memory; `program` is the integer program that most of them take.
"""
