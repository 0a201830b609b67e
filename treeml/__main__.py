"""`python -m treeml` -> the command line."""

from treeml.cli import main

main()
