"""The back-end `improve`: a tree is improved one exact subtree at a time (Schidler and Szeider 2021).

Import `backend.ImproveBackend`. `rounds` is the loop, `instance` cuts out a subtree's problem, `inner` solves it.
"""
