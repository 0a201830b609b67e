"""The back-end `native`: a problem -> options and arrays of the C solver -> an answer.

Import `backend.NativeBackend`. `kernel_choice` decides between the two kernels, `goals` merges the goals into one
objective in integers, `inputs` fills the solver, and `run` searches and turns the outcome into an answer. The C code
and its ctypes wrappers are in `treeml.native`.
"""
