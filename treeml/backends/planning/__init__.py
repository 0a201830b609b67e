"""Steps that turn a problem into one that a back-end takes, and the plan that composes them.

Import `plan` (problem, back-end -> plan or refusals). One module per step: `lowerings` (merging rows and tests,
splitting bounds), `lexicographic`, `deepen`, `descend`, `divide`, `count`, `narrow` and `rescale`;
`capabilities` finds what is missing.
"""
