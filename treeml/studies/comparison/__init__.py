"""Specs x data x back-ends -> results side by side, each from its own process.

Import `jobs`, `pool`, `record`, `journal` and `contradictions`; the other modules run inside the workers.
"""
