"""The back-ends on general solvers: `cpsat`, `mip`, `maxsat` and `sat`.

Each back-end class is in the module of its name; `solver_backend` is their common procedure, and `clause_backend` what
`maxsat` and `sat` share. `encodings` turns a problem into constraints (`encodings.encoding_choice` decides which
encoding fits), `engines` runs the solvers and interprets their statuses, and `drat_proof` writes proofs.
"""
