"""`treeml example`: the name of an example -> its specification and its data in the folder."""

from __future__ import annotations

from pathlib import Path

import click

from treeml.cli.options import output_options
from treeml.cli.output import Printer, say

HERE = Path(__file__).resolve()


@click.command("example")
@click.argument("name", required=False)
@click.option("-o", "--output", "folder", type=click.Path(path_type=Path), help="Write into this folder.")
@output_options("style", "quiet")
def command(name: str | None, folder: Path | None, out: Printer) -> None:
    """Write the example NAME, a spec and its data, into this folder; without NAME, list all examples."""
    from treeml.system.writing import create_file  # imported here: start-up time

    known = _examples()
    if name is None:
        width = max(map(len, known))
        say("\n".join(f"{each:{width}}  {_title(known[each])}" for each in known))
        return
    if name not in known:
        raise click.UsageError(f"no example is called {name}: there are {', '.join(known)}")
    into = Path() if folder is None else folder
    spec = known[name]
    files = _files(spec)
    try:
        into.mkdir(parents=True, exist_ok=True)
        missing = [path for path in files if not (into / path.name).exists()]
        other = [
            path.name for path in files if path not in missing and (into / path.name).read_bytes() != path.read_bytes()
        ]
        if other:
            raise click.UsageError(f"{', '.join(other)}: another such file is there; name another folder with -o")
        for path in missing:
            create_file(into / path.name, path.read_text(encoding="utf-8"))
    except OSError as error:
        raise click.FileError(str(into), error.strerror or str(error)) from error
    if not out.quiet:
        say(f"{', '.join(path.name for path in files)} written; next: treeml solve {into / spec.name}", err=True)


def _examples() -> dict[str, Path]:
    """Name -> specification: those of `examples/`, and the case studies."""
    # The checkout comes first: an editable install leaves a copy that does not follow later changes.
    # Beside an installed package, a folder `examples` may belong to another one.
    is_checkout = (HERE.parents[2] / "grammar" / "treeml.lark").exists()
    folder = (HERE.parents[2] if is_checkout else HERE.parents[1]) / "examples"
    found = [folder / path.parent.name / f"{path.parent.name}.tml" for path in sorted(folder.glob("*/*.csv"))]
    specs = [path for path in dict.fromkeys(found) if path.exists()]
    return {path.stem: path for path in (*specs, *sorted((folder / "cases").glob("*.tml")))}


def _files(spec: Path) -> list[Path]:
    """The specification first, then what belongs to it: all of its folder, or what has its name among the cases."""
    pattern = f"{spec.stem}.*" if spec.parent.name == "cases" else "*.*"
    others = [path for path in sorted(spec.parent.glob(pattern)) if path.suffix in (".tml", ".csv")]
    return [spec, *(path for path in others if path != spec)]


def _title(spec: Path) -> str:
    """What the first line of the specification says: `# plain.tml: the most accurate tree`."""
    first = spec.read_text(encoding="utf-8").partition("\n")[0]
    return first.partition(": ")[2]
