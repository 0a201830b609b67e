"""Starting trees for the solvers.

`greedy_start` grows one, `coarse_start` finds the best one over a few cuts per column, `improved_start` improves a tree
node by node.
"""
