"""`treeml language-server`: an editor on standard input and output -> mistakes, completions and more."""

from __future__ import annotations

import click


@click.command("language-server")
@click.option(
    "--stdio", is_flag=True, help="Talk over standard input and output; this is the only way, and the default."
)
def command(stdio: bool) -> None:
    """Serve an editor by the Language Server Protocol; editors start this command themselves."""
    try:
        from treeml.editor.server import run  # imported here: pygls is an extra
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise click.ClickException("the language server needs pygls: pip install 'treeml[editor]'") from error
    run()
