"""A language client over standard input and output, as an editor would start the server."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

PATIENCE = 120  # seconds, after which something hangs; never a measure of speed


class Editor(LanguageClient):
    """A client that remembers what the server publishes."""

    def __init__(self) -> None:
        super().__init__("test-editor", "1")
        self.diagnostics: dict[str, list[lsp.PublishDiagnosticsParams]] = {}
        self.news = asyncio.Condition()
        self.messages: list[str] = []
        self.documents: list[str] = []
        self.version = 0

    async def open(self, path: Path, text: str | None = None) -> str:
        """Open a file, with its own text or another one, and wait for its first diagnostics."""
        uri = path.as_uri()
        text = path.read_text() if text is None else text
        self.version += 1
        document = lsp.TextDocumentItem(uri, "treeml", self.version, text)
        self.text_document_did_open(lsp.DidOpenTextDocumentParams(document))
        await self.published(uri)
        return uri

    async def change(self, uri: str, text: str) -> list[lsp.Diagnostic]:
        """Replace the text, and wait for the diagnostics of this version."""
        self.type(uri, text)
        return await self.published(uri)

    def type(self, uri: str, text: str) -> None:
        self.version += 1
        document = lsp.VersionedTextDocumentIdentifier(self.version, uri)
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        self.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [whole]))

    async def published(self, uri: str) -> list[lsp.Diagnostic]:
        """The diagnostics of the present version, as soon as they arrive."""
        async with self.news:
            await asyncio.wait_for(self.news.wait_for(lambda: self.current(uri) is not None), PATIENCE)
        found = self.current(uri)
        assert found is not None
        return list(found.diagnostics)

    def current(self, uri: str) -> lsp.PublishDiagnosticsParams | None:
        return next((each for each in self.diagnostics.get(uri, ()) if each.version == self.version), None)


@asynccontextmanager
async def editor(folder: Path) -> AsyncIterator[Editor]:
    """An initialized server in a process of its own, and its client."""
    client = Editor()

    @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    async def published(params: lsp.PublishDiagnosticsParams) -> None:
        async with client.news:
            client.diagnostics.setdefault(params.uri, []).append(params)
            client.news.notify_all()

    @client.feature(lsp.WINDOW_SHOW_MESSAGE)
    def message(params: lsp.ShowMessageParams) -> None:
        client.messages.append(params.message)

    @client.feature(lsp.WINDOW_SHOW_DOCUMENT)
    def document(params: lsp.ShowDocumentParams) -> lsp.ShowDocumentResult:
        client.documents.append(params.uri)
        return lsp.ShowDocumentResult(True)

    await client.start_io(sys.executable, "-m", "treeml", "language-server")
    window = lsp.WindowClientCapabilities(show_document=lsp.ShowDocumentClientCapabilities(support=True))
    capabilities = lsp.ClientCapabilities(window=window)
    await client.initialize_async(lsp.InitializeParams(capabilities, root_uri=folder.as_uri()))
    client.initialized(lsp.InitializedParams())
    try:
        yield client
    finally:
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()


def in_editor(folder: Path, use: Callable[[Editor], Coroutine[Any, Any, None]]) -> None:
    """Run a coroutine with an editor that is open on a folder."""

    async def main() -> None:
        async with editor(folder) as client:
            await asyncio.wait_for(use(client), 3 * PATIENCE)

    asyncio.run(main())
