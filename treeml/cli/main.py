"""Command line -> pipeline -> text or JSON, and an exit code.

Results go to standard output, mistakes and progress to standard error. Exit codes: 0 answered, 1 the spec is wrong,
2 the command line is wrong, 3 infeasible, 4 a limit was reached with no tree, 5 a back-end failed or its answer did
not verify. Only what a command needs is imported, so that `treeml check` starts at once.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from treeml.lang.display import OBEYED_IN_LINES, json_text, shown_lines, visible_letter

if TYPE_CHECKING:
    from treeml.lang.diagnostic import Diagnostic
    from treeml.model import Model
    from treeml.solving.result import Result

UNVERIFIED = 5
NO_TREE = 4
INFEASIBLE = 3
WHY_CODES = {"feasible": 0, "infeasible": INFEASIBLE, "unknown": NO_TREE}
SUITES = ("cp4im", "numeric", "least-depth", "boosting", "boosting-variance", "improvement")
FORMS = ("text", "dot", "svg", "json", "rules", "sql", "python", "c", "pmml", "onnx")


def run() -> None:
    """The command line, once: `treeml/__main__.py` calls it."""
    try:
        sys.exit(treeml.main(prog_name="treeml", standalone_mode=False))
    except click.Abort:
        raise KeyboardInterrupt from None
    except click.ClickException as error:
        said = StringIO()
        error.show(said)
        _say(said.getvalue().rstrip("\n"), err=True)  # it may quote what was typed
        sys.exit(error.exit_code)


def _version(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        from treeml import __version__

        click.echo(f"treeml {__version__}")
        context.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Show the version.")
def treeml() -> None:
    """Say which decision tree you want; get the provably best one, verified."""


# -- options that several commands share -------------------------------------------

Command = Callable[..., Any]


def _distrust(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    context.meta["untrusted"] = value


def _untrusted() -> bool:
    """Was the command asked to trust no spec?"""
    return bool(click.get_current_context().meta.get("untrusted"))


spec_argument = click.argument("spec", type=click.Path(path_type=Path))
data_option = click.option(
    "--data", metavar="FILE", help="Use this data file instead of the one the spec names.", type=click.Path()
)
set_option = click.option("--set", "settings", metavar="NAME=VALUE", multiple=True, help="Give a param a value.")
format_option = click.option(
    "--format",
    "style",
    type=click.Choice(["full", "concise", "json"]),
    default="full",
    show_default=True,
    help="How mistakes are shown.",
)
untrusted_option = click.option(
    "--untrusted",
    is_flag=True,
    envvar="TREEML_UNTRUSTED",
    expose_value=False,
    callback=_distrust,
    help="SPEC is somebody else's: it reads in its folder only, writes nothing, and its limits are tight.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress, notes or warnings.")


def _solve_options(command: Command) -> Command:
    for option in (
        click.option("--within", metavar="TIME", help="Stop after this long: 60s, 5min."),
        click.option("--gap", metavar="SHARE", help="Stop when within this share of the best: 1%."),
        click.option("--seed", type=click.IntRange(min=0), help="Seed of whatever a back-end does at random."),
        click.option("--threads", type=click.IntRange(min=1), help="How many threads a back-end may use."),
        click.option("--memory", metavar="SIZE", help="How much memory a back-end may use: 500MB, 2GB."),
    ):
        command = option(command)
    return command


# -- commands ------------------------------------------------------------------------


@treeml.command()
@spec_argument
@data_option
@set_option
@click.option("--fix", is_flag=True, help="Make the repairs that are safe, in the file.")
@format_option
@quiet_option
@untrusted_option
def check(spec: Path, data: str | None, settings: tuple[str, ...], fix: bool, style: str, quiet: bool) -> None:
    """Check SPEC: without data, or with --data against them too."""
    from treeml.solving import pipeline

    with _mistakes(style):
        if fix:
            _repair(spec, quiet)
        warnings = pipeline.check(_load(spec, settings), data)
        _show(warnings, style, quiet)
    if not quiet:
        _say(f"{spec}: ok" if not warnings else f"{spec}: ok, with {_number(len(warnings), 'warning')}")


@treeml.command()
@click.argument("specs", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option("--check", "only_check", is_flag=True, help="Change nothing; exit with 1 if something would change.")
@format_option
@untrusted_option
def fmt(specs: tuple[str, ...], only_check: bool, style: str) -> None:
    """Lay out .tml files in the one canonical way, comments kept; `-` reads standard input."""
    from treeml.lang.format import format_source
    from treeml.lang.source import Source
    from treeml.lang.source_file import read

    changed = 0
    with _mistakes(style):
        for name in specs:
            from_input = name == "-"
            source = Source("standard input", sys.stdin.read()) if from_input else read(Path(name), _untrusted())
            text = format_source(source)
            if from_input and not only_check:
                # A pipe gets the text itself; a terminal would obey what a comment may hold.
                click.echo(shown_lines(text) if sys.stdout.isatty() else text, nl=False)
            elif text != source.text:
                changed += 1
                _say(f"{'would change' if only_check else 'changed'} {name}", err=True)
                if not only_check:
                    _replace(Path(name), text)
    if only_check and changed:
        sys.exit(1)


@treeml.command()
@spec_argument
@data_option
@set_option
@click.option("--with", "backend", metavar="BACKEND", help="Solve with this back-end: native, or native(threads = 2).")
@_solve_options
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the result, as JSON, to this file.")
@click.option(
    "--write", "write_model", type=click.Path(path_type=Path), help="Write the solver's own model: x.lp, x.cnf."
)
@click.option(
    "--proof",
    type=click.Path(path_type=Path),
    help="Write the proof that there is no tree (of less depth) to this file, its clauses beside it (.cnf).",
)
@json_option
@format_option
@quiet_option
@untrusted_option
def solve(spec: Path, settings: tuple[str, ...], as_json: bool, style: str, quiet: bool, **asked: Any) -> None:
    """Find the best tree for SPEC, prove it, and verify it."""
    from treeml.solving import pipeline, report
    from treeml.solving.progress import progress_line

    output, data = asked.pop("output"), asked.pop("data")
    if asked["proof"] is not None and not asked["proof"].parent.is_dir():
        raise click.FileError(str(asked["proof"]), "there is no such folder")
    with _mistakes(style):
        model = _load(spec, settings)
        with _infeasible_as_json(as_json), progress_line(quiet or as_json) as on_progress:
            result = pipeline.solve(model, data, on_progress=on_progress, **asked)
        _show(result.warnings, style, quiet)
        if output is not None:
            from treeml.studies.page.about import about

            kept = {**result.to_json(), "about": about(model, data, result, spec)}
            _replace(output, json_text(kept, indent=1) + "\n")
        if as_json:
            _say(json_text(result.to_json()))
        else:
            report.show(result, quiet=quiet)
        _explain_failure(result, style)
    sys.exit(_exit_code(result))


@treeml.command()
@click.argument("specs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--data", metavar="FILE", multiple=True, help="Use these data instead; each file with each spec.")
@set_option
@click.option("--with", "backends", metavar="A,B,C", help="Only these back-ends.")
@_solve_options
@click.option("--parallel", type=click.IntRange(min=1), default=1, help="How many run at once.", show_default=True)
@click.option("--repeat", type=click.IntRange(min=1), default=1, help="Run each so often, with seeds that count up.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Add each result, as a line of JSON, to this file."
)
@click.option("--resume", is_flag=True, help="Go on with the file of -o: what it holds is not run again.")
@click.option("--against", type=click.Path(path_type=Path), help="Compare with the results in this file.")
@click.option(
    "--reproduce",
    type=click.Path(path_type=Path, file_okay=False),
    default=".",
    help="Where a contradiction leaves its folder: spec, data, seeds and versions.",
)
@json_option
@format_option
@quiet_option
@untrusted_option
def compare(
    specs: tuple[Path, ...], settings: tuple[str, ...], as_json: bool, style: str, quiet: bool, **asked: Any
) -> None:
    """Solve each SPEC with every back-end that can, each in its own process, and compare them."""
    from treeml.cli.compare import compare_specs

    with _mistakes(style):
        models = [(str(spec), _load(spec, settings)) for spec in specs]
        finished = compare_specs(models, quiet=quiet or as_json, **asked)
        _say(json_text(finished.comparison.to_json()) if as_json else finished.text)
        for diagnostic in finished.diagnostics:
            _echo(diagnostic, style)
    sys.exit(finished.exit_code)


@treeml.command()
@click.argument("subject")
@data_option
@set_option
@click.option("--with", "backend", metavar="BACKEND", help="Explain the plan for this back-end.")
@click.option("--why", is_flag=True, help="Say which requirements conflict, if no tree meets them all.")
@click.option(
    "--nearest", metavar="NAME", multiple=True, help="With --why: the nearest value that this requirement could have."
)
@click.option("--parameters", is_flag=True, help="Report the parameters of a faultless tree on these data.")
@click.option("--within", metavar="TIME", help="With --why or --parameters: stop after this long: 60s, 5min.")
@json_option
@format_option
@untrusted_option
def explain(subject: str, settings: tuple[str, ...], as_json: bool, style: str, **asked: Any) -> None:
    """Explain how a spec would be solved, `measures`, one measure, or the code of a message (N203)."""
    from treeml.solving import explain as explanation
    from treeml.solving import pipeline

    data, why, nearest = asked.pop("data"), asked.pop("why"), asked.pop("nearest")
    parameters = asked.pop("parameters")
    if (nearest and not why) or (asked["within"] and not (why or parameters)):
        raise click.UsageError("--nearest belongs to --why, and --within to --why and --parameters")
    if why and parameters:
        raise click.UsageError("--why and --parameters are two questions: ask one at a time")
    text = None if why or parameters else explanation.of_word(subject)
    code = 0
    with _mistakes(style):
        if text is not None:
            shown: Any = {"subject": subject, "text": text}
        elif why:
            with _infeasible_as_json(as_json):
                found = pipeline.why(_load(Path(subject), settings), data, nearest=nearest, **asked)
            text, shown, code = str(found), found.to_json(), WHY_CODES[found.to_json()["status"]]
        elif parameters:
            from treeml.solving.parameters import text as parameters_text

            shown = pipeline.parameters(_load(Path(subject), settings), data, **asked)
            text = parameters_text(shown)
        else:
            model = _load(Path(subject), settings)
            shown = pipeline.plan_rows(model, data, **asked)
            text = pipeline.plan_text(shown)
        _say(json_text(shown) if as_json else text)
    sys.exit(code)


@treeml.command()
@click.argument("spec", required=False, type=click.Path(path_type=Path))
@data_option
@set_option
@json_option
@format_option
@untrusted_option
def backends(spec: Path | None, data: str | None, settings: tuple[str, ...], as_json: bool, style: str) -> None:
    """List the back-ends; with SPEC, who can solve it, and why the others cannot."""
    from treeml.solving import explain as explanation
    from treeml.solving import pipeline, report

    with _mistakes(style):
        rows = explanation.backends() if spec is None else pipeline.backends(_load(spec, settings), data)
        if as_json:
            _say(json_text(rows))
        else:
            report.show_rows(rows)


@treeml.command()
@spec_argument
@set_option
@json_option
@format_option
@untrusted_option
def params(spec: Path, settings: tuple[str, ...], as_json: bool, style: str) -> None:
    """List the params of SPEC: value, domain, and where the value comes from."""
    from treeml.solving import pipeline, report

    with _mistakes(style):
        rows = pipeline.params(_load(spec, settings))
        if as_json:
            _say(json_text(rows))
        elif rows:
            report.show_rows(rows)
        else:
            _say(f"{spec} has no params")


@treeml.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--as", "form", type=click.Choice(FORMS), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write to this file.")
@format_option
def show(file: Path, form: str, output: Path | None, style: str) -> None:
    """Show the tree or forest in FILE (or in the result that `treeml solve -o` wrote), or write it for others."""
    from treeml.trees.export import export
    from treeml.trees.forest import Forest, is_forest
    from treeml.trees.tree import Tree

    with _mistakes(style):
        if is_forest(file):
            from treeml.trees.export.forest import export_forest

            written = export_forest(Forest.read(file), form)
        else:
            written = export(Tree.read(file), form)
        if output is not None:
            _replace(output, written if isinstance(written, bytes) else written.rstrip("\n") + "\n")
        elif isinstance(written, bytes):
            raise click.UsageError(f"{form} is not text: name a file with -o")
        else:
            _refuse_obeyed(written, form)
            _say(written.rstrip("\n"))


@treeml.command()
@click.argument("specs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--data", metavar="FILE", multiple=True, help="Use these data instead; each file with each spec.")
@click.option(
    "--set", "settings", metavar="NAME=VALUES", multiple=True, help="Values of a param: 0..20%, 1..4, or 1, 2, 5."
)
@click.option("--steps", type=click.IntRange(min=1), help="How many values a range gives.")
@click.option("--folds", type=click.IntRange(min=2), help="Solve each on so many parts, and test it on the rest.")
@click.option("--with", "backends", metavar="A,B,C", help="With these back-ends.")
@_solve_options
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="How many run at once, here.")
@click.option("--cluster", metavar="ADDRESS", help="Run on the Dask cluster with this address.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Add results to this file, a line each.")
@click.option("--resume", is_flag=True, help="Go on with the file of -o: what it holds is not run again.")
@click.option("--plot", type=click.Path(path_type=Path), help="Draw the trade-off: x.png, x.svg, x.pdf or x.json.")
@click.option("--across", metavar="MEASURE", help="What the picture has across.")
@click.option("--up", metavar="MEASURE", help="What the picture has upwards.")
@json_option
@format_option
@quiet_option
@untrusted_option
def sweep(specs: tuple[Path, ...], as_json: bool, style: str, quiet: bool, **asked: Any) -> None:
    """Solve each SPEC for every combination of values of its params."""
    from treeml.cli.sweep import sweep_specs

    with _mistakes(style):
        models = [(str(spec), _load(spec, ())) for spec in specs]
        finished = sweep_specs(models, quiet=quiet or as_json, **asked)
        _say(json_text(finished.records) if as_json else finished.text)
        for diagnostic in finished.diagnostics:
            _echo(diagnostic, style)
    sys.exit(finished.exit_code)


@treeml.command()
@click.argument("kind", type=click.Choice(["timeline", "cactus", "tradeoff", "margins"]))
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="x.png, x.svg, x.pdf, or x.json for the data.",
)
@click.option("--across", metavar="MEASURE", help="Of a trade-off: what is across.")
@click.option("--up", metavar="MEASURE", help="Of a trade-off: what is upwards.")
@click.option("--data", metavar="FILE", type=click.Path(path_type=Path), help="Of margins: the rows.")
@format_option
def plot(kind: str, results: Path, output: Path, data: Path | None, style: str, **measures: str | None) -> None:
    """Draw RESULTS: a file of `compare -o` or `sweep -o`; for margins, a forest of `solve -o`."""
    from treeml.studies import plots
    from treeml.studies.comparison.journal import read_records

    with _mistakes(style):
        if kind == "margins":
            if data is None:
                raise click.UsageError("margins are those of rows: give them with --data")
            made = plots.margins(plots.forest_margins(results, data), data.name)
        else:
            draw = {"timeline": plots.timeline, "cactus": plots.cactus, "tradeoff": plots.tradeoff}[kind]
            made = draw(read_records(results), **(measures if kind == "tradeoff" else {}))
        plots.draw(made, output)


@treeml.command()
@click.argument("suites", nargs=-1, type=click.Choice(SUITES))
@click.option("--data-dir", type=click.Path(path_type=Path, file_okay=False), help="The data; else sets made by rules.")
@click.option("--only", "sets", metavar="SET", multiple=True, help="Only this set; may be repeated.")
@click.option("--with", "backends", metavar="A,B,C", help="With these back-ends, not the one that would be chosen.")
@_solve_options
@click.option("--parallel", type=click.IntRange(min=1), default=1, help="How many run at once.", show_default=True)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Add results to this file, a line each.")
@click.option("--resume", is_flag=True, help="Go on with the file of -o: what it holds is not run again.")
@json_option
@format_option
@quiet_option
def bench(suites: tuple[str, ...], as_json: bool, style: str, quiet: bool, **asked: Any) -> None:
    """Run the tables of papers, with their figures beside ours: all SUITES, or those named."""
    from treeml.solving import report
    from treeml.studies.bench.run import bench as run_bench

    with _mistakes(style):
        finished = run_bench(suites, quiet=quiet or as_json, **asked)
        if as_json:
            _say(json_text(finished.rows))
        else:
            report.show_rows(finished.rows)
        for diagnostic in finished.diagnostics:
            _echo(diagnostic, style)
    sys.exit(finished.exit_code)


@treeml.command("report")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Write the page to this file.")
@format_option
def report_page(files: tuple[Path, ...], output: Path, style: str) -> None:
    """Write one HTML page of FILES: a result of `solve -o`, results of `compare -o`, or both."""
    from treeml.studies.page.write import read_result, write_page

    with _mistakes(style):
        results, records = [], []
        for file in files:
            result, more = read_result(file)
            results += [] if result is None else [result]
            records += more
        if len(results) > 1:
            raise click.UsageError("a page shows one result: give one, and the files of as many races as you like")
        _replace(output, write_page(results[0] if results else None, records))


@treeml.command("check-proof")
@click.argument("proof", type=click.Path(path_type=Path))
@click.option("--clauses", type=click.Path(path_type=Path), help="The clauses; else those beside the proof: PROOF.cnf.")
@json_option
@quiet_option
def check_proof(proof: Path, clauses: Path | None, as_json: bool, quiet: bool) -> None:
    """Check that PROOF refutes its clauses, step by step, by a checker that shares no code with any solver."""
    from treeml.native.rup import check_proof as fault_of

    clauses = clauses or Path(f"{proof}.cnf")
    for path in (proof, clauses):
        if not path.is_file():
            raise click.FileError(str(path), "there is no such file")
    fault = fault_of(clauses, proof)
    if as_json:
        _say(json_text({"proof": str(proof), "clauses": str(clauses), "holds": fault is None, "fault": fault}))
    elif fault is not None:
        _say(f"{proof}: the proof does not hold: {fault}", err=True)
    elif not quiet:
        _say(f"{proof}: the proof holds: no assignment satisfies {clauses}")
    sys.exit(0 if fault is None else UNVERIFIED)


@treeml.command()
@click.argument("backend")
@click.option("--case", "only", metavar="NAME", multiple=True, help="Only this case; may be repeated.")
@json_option
@format_option
def conformance(backend: str, only: tuple[str, ...], as_json: bool, style: str) -> None:
    """Give BACKEND, a registered name or module:Class, every case of the suite: who solves, who refuses what."""
    from treeml.cli import conformance as conformance_command

    with _mistakes(style):
        finished = conformance_command.conform(backend, only)
        _say(json_text(finished.rows) if as_json else finished.text)
        for line in finished.faults:
            click.echo(line, err=True)
    sys.exit(UNVERIFIED if finished.faults else 0)


@treeml.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a SHELL: eval "$(treeml completion bash)"."""
    from click.shell_completion import get_completion_class

    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(script(treeml, {}, "treeml", "_TREEML_COMPLETE").source())


# -- what the commands share ---------------------------------------------------------


def _load(spec: Path, settings: tuple[str, ...]) -> Model:
    from treeml.lang.source_file import read
    from treeml.model import Model

    bindings = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"write --set NAME=VALUE, not --set {setting}")
        if name.strip() in bindings:
            raise click.BadParameter(f"--set gives `{name.strip()}` twice")
        bindings[name.strip()] = value.strip()
    return Model.parse(read(spec, _untrusted()), untrusted=_untrusted(), params=bindings)


def _repair(spec: Path, quiet: bool) -> None:
    """Apply the safe fixes of the mistakes in the file until none is left: one can hide another."""
    from treeml.lang.diagnostic import SpecError
    from treeml.lang.parse import parse
    from treeml.lang.render import apply_fixes
    from treeml.lang.source import Source
    from treeml.lang.source_file import read

    source, repaired = read(spec, _untrusted()), 0
    while True:
        try:
            parse(source)
            break
        except SpecError as error:
            text = apply_fixes(source, error.diagnostics)
            if text == source.text:
                break
            repaired += sum(bool(diagnostic.fix) for diagnostic in error.diagnostics)
            source = Source(source.name, text, source.path)
    if repaired:
        _replace(spec, source.text)
        if not quiet:
            _say(f"repaired {_number(repaired, 'mistake')} in {spec}", err=True)


def _replace(path: Path, content: str | bytes) -> None:
    from treeml.system.writing import replace_file

    try:
        replace_file(path, content)
    except OSError as error:
        raise click.FileError(str(path), error.strerror or str(error)) from error


def _explain_failure(result: Result, style: str) -> None:
    """Say on standard error why there is no tree."""
    from treeml.solving import explain as explanation

    for diagnostic in explanation.of_failure(result):
        _echo(diagnostic, style)


def _exit_code(result: Result) -> int:
    from treeml.backends.contract import Status

    return {Status.INFEASIBLE: INFEASIBLE, Status.UNKNOWN: NO_TREE}.get(result.status, 0)


def _show(warnings: tuple[Diagnostic, ...] | list[Diagnostic], style: str, quiet: bool) -> None:
    for warning in () if quiet else warnings:
        _echo(warning, style)


def _echo(diagnostic: Diagnostic, style: str) -> None:
    from treeml.lang.render import render

    _say(render(diagnostic, style), err=True)
    if style == "full":
        click.echo(err=True)


@contextmanager
def _mistakes(style: str) -> Iterator[None]:
    """Show what went wrong, and exit with its code."""
    from treeml.lang.diagnostic import SpecError

    try:
        with _watched(style):
            yield
    except SpecError as error:
        for diagnostic in error.diagnostics:
            _echo(diagnostic, style)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()  # the reader has gone: `treeml show tree.json | head`
        sys.exit(0)
    except MemoryError:
        click.echo("out of memory: use fewer rows or tests, or `solve with` a back-end that needs less", err=True)
        sys.exit(5)


@contextmanager
def _watched(style: str) -> Iterator[None]:
    """A spec that is not trusted ends with the process once its limits are passed; jobs of their own have their own."""
    context = click.get_current_context()
    if not _untrusted() or context.info_name in ("compare", "sweep"):
        yield
        return
    from treeml.cli.watchdog import watched
    from treeml.lang import trust

    within, memory = context.params.get("within"), context.params.get("memory")
    with watched(
        trust.SECONDS if within is None else _seconds(within),
        trust.MEMORY if memory is None else _bytes(memory),
        lambda diagnostic: _echo(diagnostic, style),
    ):
        yield


def _seconds(within: str) -> float:
    from treeml.model import Model
    from treeml.solving.checking import checked

    spec, _ = checked(Model.parse("satisfy"), within=within, has_target=True)
    assert spec.within is not None
    return spec.within


def _bytes(memory: str) -> int:
    from treeml.solving.request import amount_of_memory

    return amount_of_memory(memory)


@contextmanager
def _infeasible_as_json(as_json: bool) -> Iterator[None]:
    """A conflict that is seen before any data was read is a result too."""
    from treeml.lang.diagnostic import InfeasibleError

    try:
        yield
    except InfeasibleError as error:
        if as_json:
            _say(json_text({"status": "infeasible", "stop": "proved", "conflict": error.conflict}))
        raise


def _refuse_obeyed(written: str, form: str) -> None:
    """SQL has no escapes for names, and with escapes of ours it would ask for other columns."""
    found = OBEYED_IN_LINES.search(written)
    if found is not None:
        from treeml.lang.diagnostic import DataError, Diagnostic

        raise DataError(
            Diagnostic(
                "D492",
                f"a name in this tree holds `{visible_letter(found[0])}`, which a terminal would obey",
                notes=(f"{form} can only hold such a character as it is",),
                helps=("write it to a file: -o tree." + form,),
            )
        )


def _say(text: str, err: bool = False) -> None:
    """Print text that may hold names, labels and paths of others."""
    click.echo(shown_lines(text), err=err)


def _number(count: int, word: str) -> str:
    return f"{count} {word}" + ("" if count == 1 else "s")
