"""Forests that are provably best: trees weighted by a master problem, grown by pricing, until none improves."""
