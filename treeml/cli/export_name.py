"""The value of `--as` -> the name of an export, of the project or of an installed package."""

from __future__ import annotations

import click


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
