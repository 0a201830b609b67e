"""Greedy trees, without proofs: `cart` grows them, `impurity` scores splits, `pruning` cuts back.

Import `cart.CartBackend`; other back-ends use it for a starting tree.
"""
