"""The `treeml` command and `python -m treeml` -> the command line; Ctrl-C ends it without a traceback."""

from __future__ import annotations

import sys

NO_TREE = 4  # the exit code of a run that ended before there was a tree


def main() -> None:
    """Run the command line."""
    try:
        # Imported here: Ctrl-C may come while they load.
        from treeml.system.interrupt import press_again_if_dropped

        sys.unraisablehook = press_again_if_dropped
        from treeml.cli.main import run

        run()
    except (KeyboardInterrupt, Exception) as error:
        if not _is_by_interrupt(error):
            raise
        sys.stderr.write("interrupted before there was a tree\n")
        sys.exit(NO_TREE)


def _is_by_interrupt(error: BaseException | None) -> bool:
    """Is the error Ctrl-C, or was it raised from it?

    While a module loads, Python 3.11 and extensions in C++ make another error of an exception.
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


if __name__ == "__main__":
    main()
