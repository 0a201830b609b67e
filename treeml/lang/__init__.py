"""The .tml language: text -> statements -> checked specification, with diagnostics, and back to text.

This package uses no numpy, no data and no solver. Import `parse`, `check`, `format`, `diagnostic`, `spec` and
`measures` (the declarations of all measures) from here; the other modules are the steps between them.
"""
