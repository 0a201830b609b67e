"""The cover hyperflow: trees as flows through sets of rows, as an integer program for CP-SAT and the MIP solvers.

`cover` defines it, `cover_tables` computes its numbers, `coupling_rows` turns requirements and goals into rows,
`cover_program` writes the program, `relaxation` bounds it exactly, and `cover_search` drives the solver.
"""
