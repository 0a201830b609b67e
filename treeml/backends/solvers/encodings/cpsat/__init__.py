"""CP-SAT models with a literal per group of rows and leaf.

`constraints` turns goals and requirements into CP-SAT constraints; `cpsat_search` runs these models, and those of
`clauses.order`, until the answer meets every requirement.
"""
