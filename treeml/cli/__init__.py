"""The `treeml` command: one module per command, imported when the command runs.

Only `treeml.__main__` imports from here. `main` holds the group, `options` the shared options and the exit codes,
`output` what commands print; `*_run` does the work of the command of that name.
"""
