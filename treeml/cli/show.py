"""`treeml show`: a stored tree or forest -> text, a drawing, or code for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from treeml.cli.options import output_options
from treeml.cli.output import Printer, say, write_file
from treeml.lang.diagnostic import DataError, Diagnostic
from treeml.lang.display import OBEYED_IN_LINES, visible_letter

if TYPE_CHECKING:
    from treeml.trees.forest import Forest
    from treeml.trees.tree import Tree


class ExportName(click.ParamType):  # type: ignore[type-arg]
    """A choice whose values are looked up when the option is used: listing them needs the installed packages."""

    name = "form"

    def convert(self, value: str, parameter: click.Parameter | None, context: click.Context | None) -> str:
        from treeml.trees.export.registry import names  # imported here: start-up time

        known = names()
        if value not in known:
            self.fail(f"{value!r} is not one of {', '.join(map(repr, known))}.", parameter, context)
        return value

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        from treeml.trees.export.registry import names  # imported here: start-up time

        return f"[{'|'.join(names())}]"


@click.command("show")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--as", "form", type=ExportName(), help="The form; without it, that of the ending of -o, or else text.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write to this file.")
@click.option("--row", "row", multiple=True, metavar="COLUMN=VALUE", help="Mark the path of a row; once per column.")
@click.option("--data", type=click.Path(path_type=Path), help="Show in each node of a picture how these rows spread.")
@click.option("--sideways", is_flag=True, help="Draw from left to right: for a picture of a tree with many leaves.")
@output_options("style")
def command(
    file: Path,
    form: str | None,
    output: Path | None,
    row: tuple[str, ...],
    data: Path | None,
    sideways: bool,
    out: Printer,
) -> None:
    """Show the tree or forest in FILE (or in the result that `treeml solve -o` wrote), or export it."""
    # imported here: start-up time
    from treeml.trees.export.registry import export, get
    from treeml.trees.forest import Forest, is_forest
    from treeml.trees.prediction_table import read_rows
    from treeml.trees.tree import Tree

    form = form or _form_of(output)
    with out.mistakes():
        model = Forest.read(file) if is_forest(file) else Tree.read(file)
        rows = None if data is None else read_rows(model, data)
        written = export(model, form, row=_row(row, model) if row else None, data=rows, sideways=sideways)
        if output is not None:
            _refuse_to_replace(file, output, form)
            write_file(output, written if isinstance(written, bytes) else written.rstrip("\n") + "\n")
        elif isinstance(written, bytes):
            raise click.UsageError(f"{form} is not text: name a file, such as -o tree{get(form).endings[0]}")
        else:
            _refuse_control_characters(written, form)
            say(written.rstrip("\n"))


def _refuse_to_replace(file: Path, output: Path, form: str) -> None:
    """A result holds more than its tree."""
    if output.exists() and file.resolve() == output.resolve():
        raise click.UsageError(
            f"-o {output} is the file that is shown, and would be replaced: name another, such as -o tree.{form}"
        )


def _row(given: tuple[str, ...], model: Tree | Forest) -> dict[str, str | None]:
    """The values of a row; an empty one is missing. The name of a column may contain `=`."""
    from treeml.trees.tree import Tree  # imported here: start-up time

    known = {field.name for tree in ((model,) if isinstance(model, Tree) else model.trees) for field in tree.fields}
    row: dict[str, str | None] = {}
    for each in given:
        name = max((name for name in known if each.startswith(f"{name}=")), key=len, default=None)
        if name is None:
            raise click.BadParameter(
                f"{each!r} does not begin with a column of the tree and `=`; columns are {', '.join(sorted(known))}",
                param_hint="--row",
            )
        row[name] = each[len(name) + 1 :] or None
    return row


def _form_of(output: Path | None) -> str:
    """The form that the ending of a file names; text if it names none."""
    from treeml.trees.export.registry import BUILT_IN, get  # imported here: start-up time

    if output is None:
        return "text"
    return next((name for name in BUILT_IN if output.suffix in get(name).endings), "text")


def _refuse_control_characters(written: str, form: str) -> None:
    """Names in SQL cannot be escaped, and a terminal would obey control characters in them."""
    found = OBEYED_IN_LINES.search(written)
    if found is not None:
        from treeml.trees.export.registry import get  # imported here: start-up time

        raise DataError(
            Diagnostic(
                "D492",
                f"a name in this tree holds `{visible_letter(found[0])}`, which a terminal would obey",
                notes=(f"{form} can only hold such a character as it is",),
                helps=(f"write it to a file: -o tree{get(form).endings[0]}",),
            )
        )
