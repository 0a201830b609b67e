"""The back-ends on general solvers: `cpsat`, `mip`, `maxsat` and `sat`.

Import the back-end classes from the module of their name. `encodings` writes a problem as constraints, `engines` runs
the solvers, and `procedure` is the order of work that all four share.
"""
