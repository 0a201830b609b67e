"""The Language Server Protocol -> the other modules of this package, by pygls (the extra `editor`).

Diagnostics are published some time after the last change. What needs the data file runs in a thread; an answer that
comes after a newer change is dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from treeml.editor.actions import Action, actions
from treeml.editor.analysis import Analysis
from treeml.editor.completion import complete, warm_up
from treeml.editor.data_facts import DataFiles
from treeml.editor.hover import hover
from treeml.editor.names import renamed, symbol_at
from treeml.editor.positions import offset_of, place_of
from treeml.editor.solve_run import solve_text
from treeml.lang.diagnostic import Diagnostic, Fix, SpecError
from treeml.lang.format import format_source
from treeml.lang.source import Source, Span
from treeml.version import __version__

SECONDS_AFTER_A_CHANGE = 0.15
SOLVE, EXPLAIN = "treeml.solve", "treeml.explain"
KINDS = {
    "keyword": lsp.CompletionItemKind.Keyword,
    "measure": lsp.CompletionItemKind.Function,
    "param": lsp.CompletionItemKind.Variable,
    "column": lsp.CompletionItemKind.Field,
    "value": lsp.CompletionItemKind.EnumMember,
    "backend": lsp.CompletionItemKind.Module,
    "option": lsp.CompletionItemKind.Property,
    "method": lsp.CompletionItemKind.Method,
    "type": lsp.CompletionItemKind.TypeParameter,
    "file": lsp.CompletionItemKind.File,
}


class TreemlServer(LanguageServer):
    """The server with the last analysis of every open text."""

    def __init__(self) -> None:
        super().__init__("treeml", __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Incremental)
        self.files = DataFiles()
        self.analyses: dict[str, tuple[int | None, Analysis]] = {}
        self.waiting: dict[str, asyncio.Task[None]] = {}
        self.solving: dict[str, asyncio.Task[Any]] = {}
        self.shown: dict[str, list[Diagnostic]] = {}
        self.pages = TemporaryDirectory(prefix="treeml-")  # of solved trees, until the server ends

    def analysis(self, uri: str) -> Analysis:
        """The analysis of the present text; one per version."""
        document = self.workspace.get_text_document(uri)
        known = self.analyses.get(uri)
        if known is not None and known[0] == document.version and known[1].source.text == document.source:
            return known[1]
        path = to_fs_path(uri)
        place = None if path is None else Path(path)
        made = Analysis(Source("" if place is None else place.name, document.source, place), self.files)
        self.analyses[uri] = (document.version, made)
        return made

    def publish(self, uri: str, diagnostics: list[Diagnostic]) -> None:
        self.shown[uri] = diagnostics
        version = self.workspace.get_text_document(uri).version
        shown = [_diagnostic(each, self.analysis(uri), uri) for each in diagnostics]
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, shown, version))

    async def check(self, uri: str, wait: float) -> None:
        """Publish the mistakes of the text, then those with its data."""
        await asyncio.sleep(wait)
        analysis = self.analysis(uri)
        _, found = analysis.checked
        if not any(each.is_error for each in found):
            found = [*found, *await asyncio.to_thread(analysis.data_mistakes)]
        if self.analysis(uri) is analysis:
            self.publish(uri, found)

    def changed(self, uri: str, wait: float = SECONDS_AFTER_A_CHANGE) -> None:
        """Check the text soon; a check that still waits is not needed any more."""
        before = self.waiting.pop(uri, None)
        if before is not None:
            before.cancel()
        self.waiting[uri] = asyncio.get_running_loop().create_task(self.check(uri, wait))


server = TreemlServer()


def run() -> None:
    """Serve an editor over standard input and output until it says goodbye."""
    server.start_io()


@server.feature(lsp.INITIALIZED)
async def _initialized(ls: TreemlServer, params: lsp.InitializedParams) -> None:
    await asyncio.to_thread(warm_up)


@server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
async def _opened(ls: TreemlServer, params: lsp.DidOpenTextDocumentParams) -> None:
    ls.changed(params.text_document.uri, 0.0)


@server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
async def _changed(ls: TreemlServer, params: lsp.DidChangeTextDocumentParams) -> None:
    ls.changed(params.text_document.uri)


@server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
async def _saved(ls: TreemlServer, params: lsp.DidSaveTextDocumentParams) -> None:
    ls.changed(params.text_document.uri, 0.0)


@server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
async def _closed(ls: TreemlServer, params: lsp.DidCloseTextDocumentParams) -> None:
    uri = params.text_document.uri
    for tasks in (ls.waiting, ls.solving):
        task = tasks.pop(uri, None)
        if task is not None:
            task.cancel()
    ls.analyses.pop(uri, None)
    ls.shown.pop(uri, None)
    ls.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))


@server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[" ", "(", '"', "`", ",", "="]))
def _complete(ls: TreemlServer, params: lsp.CompletionParams) -> lsp.CompletionList:
    analysis = ls.analysis(params.text_document.uri)
    offset = offset_of(analysis.source, (params.position.line, params.position.character))
    found = complete(analysis, offset)
    place = _range(Span(analysis.source, found.start, offset))
    items = [
        lsp.CompletionItem(
            label=each.label,
            kind=KINDS[each.kind],
            detail=each.detail or None,
            text_edit=lsp.TextEdit(place, each.insert or each.label),
            filter_text=each.insert if each.label.startswith('"') or "`" in each.insert else each.label,
            sort_text=f"{number:04}",
        )
        for number, each in enumerate(found.suggestions)
    ]
    return lsp.CompletionList(is_incomplete=False, items=items)


@server.feature(lsp.TEXT_DOCUMENT_HOVER)
def _hover(ls: TreemlServer, params: lsp.HoverParams) -> lsp.Hover | None:
    analysis = ls.analysis(params.text_document.uri)
    found = hover(analysis, _offset(analysis, params.position))
    if found is None:
        return None
    return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, found.text), _range(found.span))


@server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
def _definition(ls: TreemlServer, params: lsp.DefinitionParams) -> lsp.Location | None:
    analysis = ls.analysis(params.text_document.uri)
    symbol = symbol_at(analysis, _offset(analysis, params.position))
    return None if symbol is None else _location(symbol.definition, analysis, params.text_document.uri)


@server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
def _references(ls: TreemlServer, params: lsp.ReferenceParams) -> list[lsp.Location]:
    analysis = ls.analysis(params.text_document.uri)
    symbol = symbol_at(analysis, _offset(analysis, params.position))
    places = () if symbol is None else symbol.places
    return [_location(place, analysis, params.text_document.uri) for place in places]


@server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
def _prepare_rename(ls: TreemlServer, params: lsp.PrepareRenameParams) -> lsp.Range | None:
    analysis = ls.analysis(params.text_document.uri)
    offset = _offset(analysis, params.position)
    symbol = symbol_at(analysis, offset)
    own = [each for each in symbol.places if each.source == analysis.source] if symbol else []
    place = next((each for each in own if each.start <= offset <= each.end), None)
    return None if place is None else _range(place)


@server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
def _rename(ls: TreemlServer, params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
    analysis = ls.analysis(params.text_document.uri)
    symbol = symbol_at(analysis, _offset(analysis, params.position))
    if symbol is None:
        return None
    places = renamed(symbol, params.new_name)
    if isinstance(places, str):
        ls.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, places))
        return None
    changes: dict[str, list[lsp.TextEdit]] = {}
    for place in places:
        uri = _location(place, analysis, params.text_document.uri).uri
        if ls.workspace.get_text_document(uri).source != place.source.text:
            unsaved = f"{place.source.name} has changes that are not saved: save it first"
            ls.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, unsaved))
            return None
        changes.setdefault(uri, []).append(lsp.TextEdit(_range(place), params.new_name))
    return lsp.WorkspaceEdit(changes=changes)


@server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
def _format(ls: TreemlServer, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
    source = ls.analysis(params.text_document.uri).source
    try:
        text = format_source(source)
    except SpecError:
        return None  # a text that does not parse is left alone; its mistakes are shown
    return [] if text == source.text else [lsp.TextEdit(_range(Span(source, 0, len(source.text))), text)]


@server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix]))
def _code_actions(ls: TreemlServer, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    uri, found = params.text_document.uri, []
    analysis = ls.analysis(uri)
    start, end = (_offset(analysis, place) for place in (params.range.start, params.range.end))
    for each in ls.shown.get(uri, ()):
        span = _own_span(each, analysis)
        if span is not None and not (span.start <= end and start <= span.end):
            continue
        about = [_diagnostic(each, analysis, uri)]
        found += [_code_action(action, about, analysis, uri) for action in actions(each)]
    return found


@server.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
def _code_lens(ls: TreemlServer, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
    top = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
    uri = params.text_document.uri
    return [lsp.CodeLens(top, lsp.Command(title="solve", command=SOLVE, arguments=[uri]))]


@server.command(SOLVE)
async def _solve(ls: TreemlServer, uri: str) -> dict[str, Any]:
    """Solve the text as it is now, saved or not; a run of the same text that still goes on is ended."""
    before = ls.solving.pop(uri, None)
    if before is not None:
        before.cancel()
    analysis = ls.analysis(uri)
    task = asyncio.get_running_loop().create_task(
        solve_text(analysis.source.text, analysis.folder, Path(ls.pages.name))
    )
    ls.solving[uri] = task
    solved = await task
    kind = lsp.MessageType.Info if solved.ok else lsp.MessageType.Warning
    ls.window_show_message(lsp.ShowMessageParams(kind, f"TreeML: {solved.summary}"))
    if solved.page and _shows_documents(ls):
        ls.window_show_document(lsp.ShowDocumentParams(Path(solved.page).as_uri(), external=True))
    return {"ok": solved.ok, "summary": solved.summary, "text": solved.text, "page": solved.page}


@server.command(EXPLAIN)
def _explain(ls: TreemlServer, code: str) -> str:
    """The page of a message's code."""
    from treeml.solving.explain import of_word  # imported here: start-up time

    text = of_word(code) or f"{code} has no page"
    ls.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Info, text))
    return text


def _shows_documents(ls: TreemlServer) -> bool:
    window = ls.client_capabilities.window
    return bool(window and window.show_document and window.show_document.support)


def _offset(analysis: Analysis, position: lsp.Position) -> int:
    return offset_of(analysis.source, (position.line, position.character))


def _range(span: Span) -> lsp.Range:
    (line, character), (end_line, end) = place_of(span.source, span.start), place_of(span.source, span.end)
    return lsp.Range(lsp.Position(line, character), lsp.Position(end_line, end))


def _own_span(diagnostic: Diagnostic, analysis: Analysis) -> Span | None:
    """The first place of a diagnostic in this text; None if it is about something else, such as the data."""
    spans = (label.span for label in diagnostic.labels)
    return next((span for span in spans if span.source.text == analysis.source.text), None)


def _location(span: Span, analysis: Analysis, uri: str) -> lsp.Location:
    """A place in the open text, or in a file that it includes."""
    path = span.source.path
    is_own = span.source == analysis.source or path is None
    return lsp.Location(uri if is_own else from_fs_path(str(path)) or uri, _range(span))


def _diagnostic(found: Diagnostic, analysis: Analysis, uri: str) -> lsp.Diagnostic:
    span = _own_span(found, analysis)
    lines = [found.title, *(f"note: {note}" for note in found.notes), *(f"help: {help}" for help in found.helps)]
    own = [label for label in found.labels if label.span.source.text == analysis.source.text]
    if own and own[0].text:
        lines.insert(1, own[0].text)
    related = [
        lsp.DiagnosticRelatedInformation(lsp.Location(uri, _range(label.span)), label.text or found.title)
        for label in own[1:]
    ]
    return lsp.Diagnostic(
        range=_range(span or Span(analysis.source, 0, 0)),
        message="\n".join(lines),
        severity=lsp.DiagnosticSeverity.Error if found.is_error else lsp.DiagnosticSeverity.Warning,
        code=found.code,
        source="treeml",
        related_information=related or None,
    )


def _code_action(action: Action, about: list[lsp.Diagnostic], analysis: Analysis, uri: str) -> lsp.CodeAction:
    if not action.edits:
        command = lsp.Command(title="Explain", command=EXPLAIN, arguments=[action.code])
        return lsp.CodeAction(f"{action.title} ({action.code})", lsp.CodeActionKind.QuickFix, about, command=command)
    changes: dict[str, list[lsp.TextEdit]] = {}
    for fix in action.edits:  # which may be in a file that this one includes
        changes.setdefault(_location(fix.span, analysis, uri).uri, []).extend(_edits([fix]))
    return lsp.CodeAction(
        action.title,
        lsp.CodeActionKind.QuickFix,
        about,
        is_preferred=action.is_preferred or None,
        edit=lsp.WorkspaceEdit(changes=changes),
    )


def _edits(fixes: Iterable[Fix]) -> list[lsp.TextEdit]:
    return [lsp.TextEdit(_range(fix.span), fix.replacement) for fix in fixes]
