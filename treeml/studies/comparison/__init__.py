"""Specs x data x back-ends -> results side by side, each from a process of its own.

Import `jobs`, `pool`, `record`, `journal` and `contradictions`; the other modules run inside the workers.
"""
