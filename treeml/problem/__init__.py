"""The problem that back-ends solve: features, tests, goals and bounds in whole numbers.

Nothing here knows the language, the user's data or a solver. Import `problem` (Problem, Goal, Bound, Feature, Test),
`terms` (what goals and bounds add up), `tree` (trees over tests), `evaluate` (the exact value of a term on a tree) and
`reduce` (a smaller problem with the same answers). `grid` and `magnitudes` hold exact arithmetic, `shapes` says how
large trees can be.
"""
