"""A problem as integers: what the encodings, the parameterized search and the greedy start all read.

Import `read_problem` (Problem -> IntegerTask), `integer_task` (the task and its linear forms), `node_questions` (the
questions that a node can ask), `greedy_start` (a first tree without search), `deadline` and `unsupported`.
"""
