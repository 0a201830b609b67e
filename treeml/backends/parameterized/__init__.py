"""The back-end `parameterized`: small trees by fixed-parameter search (Ordyniak and Szeider 2021).

Import `backend.ParameterizedBackend`; `treeml explain --parameters` uses `parameters`.
"""
