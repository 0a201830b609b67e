"""The text of a specification -> its statements, its mistakes, and what its data say; mistakes with the data too."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from treeml.editor.data_facts import DataFacts, DataFiles
from treeml.lang.check import check_source
from treeml.lang.diagnostic import Diagnostic, SpecError
from treeml.lang.findings import Findings
from treeml.lang.include import resolve_includes
from treeml.lang.parse import parse_all
from treeml.lang.source import Source
from treeml.lang.spec import ColumnSpec, Spec
from treeml.lang.syntax import ColumnRule, Data, Param, Predict, Statement
from treeml.lang.trust import distrusted
from treeml.system.confinement import lies_in

_PREDICT = re.compile(r"^[ \t]*predict[ \t]+(`[^`\n]+`|\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Analysis:
    """One version of a text. Everything is computed when it is first asked for, and once."""

    source: Source
    files: DataFiles

    @property
    def folder(self) -> Path:
        return self.source.path.parent if self.source.path is not None else Path()

    @cached_property
    def statements(self) -> list[Statement]:
        """The statements that can be parsed."""
        return parse_all(self.source).statements

    @cached_property
    def everything(self) -> list[Statement]:
        """The same with those of included files, as they are stored, in the place of `include`."""
        return resolve_includes(self.statements, self.folder, Findings(), distrusted()).statements

    @cached_property
    def checked(self) -> tuple[Spec | None, list[Diagnostic]]:
        """The spec, if there is no error, and all that `treeml check` says."""
        return check_source(self.source, untrusted=distrusted())

    @cached_property
    def params(self) -> dict[str, Param]:
        return {node.name: node for node in self.everything if isinstance(node, Param)}

    @cached_property
    def target(self) -> str | None:
        """The column to predict, also while the statement that names it is being written."""
        named = next((node.column.text for node in self.everything if isinstance(node, Predict)), None)
        unfinished = _PREDICT.search(self.source.text) if named is None else None
        return unfinished[1].strip("`") if unfinished is not None else named

    @property
    def data(self) -> DataFacts | None:
        """The data file that the text names, if it can be read; its columns as far as the text declares them."""
        path = next((node.path for node in self.everything if isinstance(node, Data)), None)
        if path is None or (distrusted() and not lies_in(self.folder / path, self.folder)):
            return None
        declared = {
            column.text: ColumnSpec(node.type)
            for node in self.everything
            if isinstance(node, ColumnRule)
            for column in node.columns
        }
        return self.files.facts(self.folder / path, declared)

    def data_mistakes(self) -> list[Diagnostic]:
        """What is wrong with the specification and its data together; nothing while the text itself has mistakes."""
        spec, _ = self.checked
        if spec is None or spec.data is None:
            return []
        # imported here: numpy, polars and the back-ends cost start-up time
        from treeml.data.limits import reading_limits
        from treeml.solving.choice import lower
        from treeml.solving.request import Request
        from treeml.solving.rows import bind, load

        request = Request(spec, reading=reading_limits(spec))
        try:
            known = self.data
            table = load(request) if known is None else known.table
            lower(bind(table, request), request).form(numeric=False)
        except SpecError as error:
            return list(error.diagnostics)
        return []
