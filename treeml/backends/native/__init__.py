"""The back-end `native`: a problem -> options and arrays of the C solver -> an answer.

Import `backend.NativeBackend`. `kernel_choice` decides among the kernels, `goals` merges the goals into one
objective in integers, `inputs` fills the solver, `coded_columns` holds the columns for kernels that need no tests, and
`run` searches and turns the outcome into an answer. `coupled` is for requirements that couple the leaves. The C code
and its ctypes wrappers are in `treeml.native`.
"""
