"""Forests that are provably best: trees weighted by a master problem and grown by pricing until none improves.

Import `boost` (Dataset -> forest with its proof). One module per criterion: `lpboost`, `mdboost`, `hard_margin`.
"""
