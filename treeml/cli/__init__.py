"""The `treeml` command: one module per command.

Nothing imports from here but `treeml.__main__`. `main` holds the group of commands and the exit codes.
"""
