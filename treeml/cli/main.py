"""Command line -> the command of that name.

Results go to standard output, mistakes and progress to standard error; `options.py` lists the exit codes. A command's
module is imported when the command runs, so that `treeml check` starts at once.
"""

from __future__ import annotations

import sys
from importlib import import_module
from io import StringIO

import click

from treeml.cli.output import say
from treeml.lang.display import short_lines
from treeml.system.clock import process_began

COMMANDS = {
    "backends": "backends",
    "bench": "bench",
    "certify": "certify",
    "check": "check",
    "check-certificate": "check_certificate",
    "check-proof": "check_proof",
    "compare": "compare",
    "completion": "completion",
    "conformance": "conformance",
    "example": "example",
    "explain": "explain",
    "fmt": "format",
    "language-server": "language_server",
    "list": "list",
    "new": "new",
    "params": "params",
    "plot": "plot",
    "predict": "predict",
    "report": "report",
    "show": "show",
    "solve": "solve",
    "sweep": "sweep",
    "tune": "tune",
}
"""Name of a command -> its module, which defines the function `command`."""


OTHER_NAMES = {
    "fit": "solve",
    "run": "solve",
    "train": "solve",
    "init": "new",
    "lint": "check",
    "format": "fmt",
    "draw": "show",
    "export": "show",
    "frontier": "sweep",
    "cv": "tune",
    "examples": "example",
    "verify": "check-certificate",
}


class CommandGroup(click.Group):
    """A group that imports a command when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = import_module(f"treeml.cli.{COMMANDS[cmd_name]}").command
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with a word about what was probably meant."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from treeml.lang.suggest import nearest  # imported here: start-up time

            meant = f"solve {name}" if name.endswith(".tml") else OTHER_NAMES.get(name) or nearest(name, COMMANDS)
            if meant is not None:
                ctx.fail(f"No such command '{name}'. Did you mean `treeml {meant}`?")
        return super().resolve_command(ctx, args)


def _version(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        from treeml.version import __version__

        click.echo(f"treeml {__version__}")
        context.exit()


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
def treeml() -> None:
    """Say which decision tree you want; get the provably best one, verified."""


def run() -> None:
    """Run the command line once; `treeml/__main__.py` calls it."""
    try:
        # The object of the context is the time from which a limit counts.
        sys.exit(treeml.main(prog_name="treeml", standalone_mode=False, obj=process_began()))
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        message = StringIO()
        error.show(message)
        say(short_lines(message.getvalue().rstrip("\n")), err=True)  # it may quote what was typed
        sys.exit(error.exit_code)
