"""Encodings of a problem as constraints, one folder per family: `cover`, `cpsat`, `mip`, `clauses`, `perfect`.

`read_problem` turns a problem into an `IntegerTask`, which every encoding reads; `encoding_choice` estimates sizes and
decides which encoding fits. Only `treeml.backends.solvers` imports from here, except for `starts.greedy_start`,
`perfect.question` and `node_questions`, which other back-ends use too.
"""
