"""A tree -> a better one, one exact subtree at a time (DT-SLIM, Schidler and Szeider 2021).

growth.py      a tree with the rows of every node, which can be changed in place
instance.py    a subtree -> its local instance: cut leaves as new classes, their heights as weights
support.py     a local instance -> fewer features that still tell its classes apart
inner.py       a local instance, a depth -> a tree for it, by the native search or by any back-end
depth.py       goal depth: climb from the deepest leaf, replace what can be made shallower
pieces.py      every other goal: a subtree as a Problem of its own, with the spec's goals and what is left of its bounds
rounds.py      the loop around both: limits, progress, checkpoints, the answer
"""
