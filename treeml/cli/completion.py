"""`treeml completion`: a shell -> its completion script."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of a SHELL: eval "$(treeml completion bash)"."""
    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"no completion for {shell}")
    group = click.get_current_context().find_root().command
    click.echo(script(group, {}, "treeml", "_TREEML_COMPLETE").source())
