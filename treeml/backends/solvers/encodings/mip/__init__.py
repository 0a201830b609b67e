"""Mixed-integer programs over the nodes of a complete tree.

`flow` turns goals and requirements into rows, `binoct` is the published baseline, `aggregated` a variant of it
without bits, `program_builder` collects rows and
columns, and `mip_search` runs the program until the answer meets every requirement.
"""
