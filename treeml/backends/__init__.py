"""The back-ends, the contract that they share, and the plans that bring a problem within their reach.

Import `contract` (what a back-end is), `registry` (name -> back-end), `planning.plan` (problem, back-end -> plan) and
`run` (plan, limits -> checked answer). Each back-end has a folder of its own: `native`, `solvers` (cpsat, mip, maxsat,
sat), `heuristics` (cart), `oracle`, `parameterized`, `improve`; `race` runs several of them.
"""
