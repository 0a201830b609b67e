"""Case studies, a gallery, and the options of back-ends -> generated pages of the documentation.

The page of a case shows its text and code cells, its spec, and its figure. The gallery solves specs of the examples and
draws their trees.

`mkdocs.yml` names this file as a hook, so the pages are generated when the site is built. `python examples/pages.py`
runs every case once and regenerates every figure, those of docs/pictures.md included.
"""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CASES = Path(__file__).parent / "cases"
NAMES = ("credit", "medical", "treatment", "recidivism", "demand", "customers", "multiplexer", "messages", "machines")


def page(name: str) -> str:
    """A case as Markdown."""
    script = (CASES / f"{name}.py").read_text(encoding="utf-8")
    parts: list[str] = []
    for cell in script.split("# %%")[1:]:
        head, _, body = cell.partition("\n")
        if "[markdown]" in head:
            parts.append("\n".join(line.removeprefix("#").removeprefix(" ") for line in body.strip().splitlines()))
        else:
            parts.append(f"```python\n{body.strip()}\n```")
    title, _, story = parts[0].partition("\n")
    spec = (CASES / f"{name}.tml").read_text(encoding="utf-8").strip()
    picture = f"![The figure that the last cell produces]({name}.svg)"
    files = f"In a checkout: `python examples/cases/{name}.py`, which uses `{name}.tml` and `{name}.csv`."
    return "\n\n".join((title, story, f"```tml\n{spec}\n```", picture, files, *parts[1:])) + "\n"


GALLERY = (
    "plain/plain", "sparse/sparse", "fair/fair", "costs/costs", "cases/medical", "cases/recidivism", "cases/treatment",
    "cases/demand", "cases/customers", "cases/multiplexer",
)  # fmt: skip


def gallery() -> Iterator[tuple[str, str]]:
    """The names and contents of the files of the gallery: its page, and a picture of every tree."""
    import treeml as tml

    parts = [
        "---\nhide:\n  - toc\n---",  # trees are wide
        "# Gallery",
        "Specs of the examples and the trees that are provably best for them, drawn by `treeml show --as svg` when "
        "this page was built. `treeml example NAME` writes a spec and its data into your folder.",
    ]
    for place in GALLERY:
        path = CASES.parent / f"{place}.tml"
        first, _, spec = path.read_text(encoding="utf-8").strip().partition("\n")
        title = first.partition(": ")[2]
        result = tml.load(path).solve()
        assert result.tree is not None
        yield f"gallery/{path.stem}.svg", result.tree.to_svg()
        parts.append(f"## {title[0].upper()}{title[1:]}")
        parts.append(f"```tml\n{spec}\n```")
        parts.append(f"[![The tree of {path.name}](gallery/{path.stem}.svg)](gallery/{path.stem}.svg)")
        said = "optimal, and proved" if result.is_optimal else "not proved to be the best"
        parts.append(f"Example `{path.stem}`: {said}; {len(result.tree.leaves)} leaves.")
    yield "gallery.md", "\n\n".join(parts) + "\n"


def pictures() -> Iterator[tuple[str, str]]:
    """The names and contents of the pictures on docs/pictures.md."""
    import polars as pl

    import treeml as tml

    heart = pl.read_csv(CASES.parent / "plain" / "heart.csv")
    tree = tml.parse("predict disease maximize accuracy require depth <= 2").solve(heart).tree
    yield "rows.svg", tree.to_svg(row=heart.row(3, named=True), data=heart)
    spec = 'predict disease is "yes" maximize accuracy require recall("yes") >= 0.98 require depth <= 2'
    yield "against.svg", tml.parse(spec).solve(heart).tree.to_svg()
    hours = pl.read_csv(CASES / "demand.csv")
    tree = tml.parse("predict bikes minimize squared_loss require depth <= 2").solve(hours).tree
    yield "numbers.svg", tree.to_svg(data=hours)


def on_files(files: Any, config: Any) -> Any:
    """A hook of mkdocs: adds the pages and figures to the files of the site."""
    from mkdocs.structure.files import File

    from treeml.backends.reference import options_page

    files.append(File.generated(config, "options.md", content=options_page()))
    for name, content in gallery():
        files.append(File.generated(config, name, content=content))
    for name in NAMES:
        files.append(File.generated(config, f"cases/{name}.md", content=page(name)))
        files.append(File.generated(config, f"cases/{name}.svg", abs_src_path=str(CASES / f"{name}.svg")))
    return files


if __name__ == "__main__":
    for each in NAMES:
        runpy.run_path(str(CASES / f"{each}.py"))
    for name, content in pictures():
        (CASES.parents[1] / "docs" / "pictures" / name).write_text(content, encoding="utf-8")
