"""The `treeml` command and `python -m treeml` -> the command line, which Ctrl-C ends without a traceback."""

from __future__ import annotations

import sys

STOPPED = 4  # the exit code of a run that was ended before there was a tree


def main() -> None:
    try:
        from treeml.cli.main import run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted before there was a tree\n")
        sys.exit(STOPPED)


if __name__ == "__main__":
    main()
