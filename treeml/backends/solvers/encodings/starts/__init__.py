"""Starting trees for the solvers: grown greedily (`greedy_start`), or optimal on coarser columns (`coarse_start`)."""
