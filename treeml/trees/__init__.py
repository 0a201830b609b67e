"""Trees and forests as users keep them: routing of rows, JSON, drawing, export to and import from other programs.

A `Tree` names the user's own columns and classes and needs neither a solver nor the training data. Import `tree`,
`nodes` (its data), `raising` (from and to trees of a problem), `forest`, `export` and `importing`; the other modules
serve these.
"""
