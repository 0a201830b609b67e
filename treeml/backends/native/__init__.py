"""The back-end `native`: a problem -> options and arrays of the C solver -> an answer.

Import `backend.Native`. The C code and its ctypes wrappers are in `treeml.native`.
"""
