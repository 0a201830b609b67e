"""Trees and forests as users keep them: routing of rows, JSON, drawing, export to and import from other programs.

A `Tree` speaks of the user's own columns and classes and needs neither a solver nor the training data. Import `tree`,
`forest`, `export` and `importing`; the other modules serve these.
"""
