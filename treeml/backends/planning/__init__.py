"""Steps that bring a problem within the reach of a back-end, and the plan that composes them.

Import `plan` (problem, back-end -> plan or refusals). One module per step: merging rows, goals in turn, deepening,
descending, rescaling of numbers.
"""
