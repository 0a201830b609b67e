"""Clauses over directions and orders, for MaxSAT, SAT and CP-SAT.

`order` turns goals and requirements into clauses and sums, `pseudo_boolean` turns sums into clauses, and `order_search`
is the loop around the SAT solver.
"""
