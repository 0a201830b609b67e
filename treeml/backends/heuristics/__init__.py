"""Greedy trees, without proof: `cart` grows them, `impurity` scores splits, `pruning` cuts back.

Import `cart.Cart`; other back-ends use it for a first tree.
"""
