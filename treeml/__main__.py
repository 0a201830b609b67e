"""The `treeml` command and `python -m treeml` -> the command line; Ctrl-C ends it without a traceback."""

from __future__ import annotations

import sys

NO_TREE = 4  # the exit code of a run that ended before there was a tree


def main() -> None:
    """Run the command line."""
    try:
        from treeml.cli.main import run  # imported here: Ctrl-C may come while it loads

        run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted before there was a tree\n")
        sys.exit(NO_TREE)


if __name__ == "__main__":
    main()
