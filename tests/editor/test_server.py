"""The language server, driven by a client over standard input and output."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from client import Editor, in_editor
from lsprotocol import types as lsp

from treeml.editor.server import EXPLAIN, SOLVE

HEART = Path(__file__).parents[2] / "examples" / "plain" / "heart.csv"
SPEC = """# a small tree
param most = 3 in 1 .. 5
data "heart.csv"
predict disease is "yes"
maximize accuracy
require small: depth <= most
require leaves <= 2 * most
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    (tmp_path / "heart.csv").write_bytes(HEART.read_bytes())
    path = tmp_path / "heart.tml"
    path.write_text(SPEC)
    return path


def at(text: str, mark: str, after: int = 0) -> lsp.Position:
    """The position of the first `mark` in the text, some characters later."""
    offset = text.index(mark) + after
    line = text.count("\n", 0, offset)
    return lsp.Position(line, offset - (text.rfind("\n", 0, offset) + 1))


def edited(text: str, edits: list[lsp.TextEdit]) -> str:
    """The text after edits that do not overlap."""
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:number])) for number in range(len(lines) + 1)]

    def offset(position: lsp.Position) -> int:
        return starts[min(position.line, len(lines))] + position.character

    for edit in sorted(edits, key=lambda edit: -offset(edit.range.start)):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


def test_mistakes_as_you_type_alone_and_with_the_data(spec: Path) -> None:
    async def use(editor: Editor) -> None:
        uri = await editor.open(spec)
        assert await editor.published(uri) == []
        wrong = SPEC.replace("accuracy", "acuracy").replace("leaves <=", "leaves <")
        (found,) = [each for each in await editor.change(uri, wrong) if each.code == "N203"]
        assert found.severity == lsp.DiagnosticSeverity.Error
        assert found.source == "treeml"
        assert found.range.start == at(wrong, "acuracy")
        assert found.range.end == at(wrong, "acuracy", 7)
        assert "did you mean `accuracy`?" in found.message
        (found,) = await editor.change(uri, SPEC.replace("predict disease", "predict diseas"))
        assert found.code == "D402"
        assert found.range.start == at(SPEC, "predict disease", 8)
        (found,) = await editor.change(uri, SPEC.replace('is "yes"', 'is "ill"'))
        assert found.code.startswith("D4")
        (found,) = await editor.change(uri, SPEC.replace("heart.csv", "hart.csv"))
        assert found.code == "D401"
        assert await editor.change(uri, SPEC) == []
        (spec.parent / "heart.csv").write_text("age,disease\n1,yes\n2,no\n")  # the file is read again when it changes
        assert await editor.change(uri, SPEC + "forbid split on sex\n") != []

    in_editor(spec.parent, use)


def test_only_the_last_of_many_changes_is_checked(spec: Path) -> None:
    async def use(editor: Editor) -> None:
        uri = await editor.open(spec)
        for length in range(1, 40):
            editor.type(uri, SPEC + "require leaves >= 2 # and more words"[:length])
        await editor.published(uri)
        versions = [each.version for each in editor.diagnostics[uri]]
        assert versions[-1] == editor.version
        assert len(versions) < 20

    in_editor(spec.parent, use)


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        ("|", {"predict", "maximize", "require"}, {"within", "accuracy"}),
        ('data "heart.csv"\npredict |', {"disease", "age", "chest_pain"}, {"accuracy", "maximize"}),
        ('data "heart.csv"\npredict disease is |', {'"yes"', '"no"'}, {"disease"}),
        ('data "heart.csv"\npredict disease is "y|', {'"yes"'}, {"disease"}),
        ("maximize |", {"accuracy", "recall"}, {"errors", "predict", "age"}),
        ("param price = 0.1\nminimize |", {"errors", "price", "leaves"}, {"accuracy"}),
        ('data "heart.csv"\npredict disease is "yes"\nrequire recall(|', {'"yes"'}, {"age"}),
        ('data "heart.csv"\nrequire parity_gap(|', {"sex", "age"}, {'"yes"', "accuracy"}),
        ('data "heart.csv"\npredict disease\nrequire rate(predicted = |', {'"yes"'}, {"age"}),
        ('data "heart.csv"\npredict disease\nrequire rate(predicted = "yes" given sex = |', {'"F"', '"M"'}, {'"yes"'}),
        ("column age : |", {"number", "category", "sensitive"}, {"quantiles"}),
        ("column age : number, |", {"missing median"}, {"category"}),
        ("column age : number, |", {"sensitive", "missing drop"}, {"number"}),
        ("solve with |", {"native", "cpsat", "mip"}, {"accuracy"}),
        ("solve with cpsat(|", {"encoding"}, {"native"}),
        ("solve with cpsat(encoding = |", {"cover"}, {"native"}),
        ("solve |", {"with", "within", "seed"}, {"by"}),
        ("validate by |", {"folds", "holdout"}, {"native"}),
        ("binarize all by |", {"quantiles", "thresholds"}, {"folds"}),
        ("start from cart(|", {"depth", "criterion"}, {"age"}),
        ("report |", {"tree", "confusion"}, {"folds"}),
        ("data |", {'"heart.csv"'}, {"age"}),
        ("param price = 0.1\nset |", {"price"}, {"age"}),
        ("nonsense here\nmaximize |", {"accuracy"}, {"errors"}),
        ("# predict |", set(), {"predict", "age"}),
    ],
)
def test_completion(spec: Path, text: str, wanted: set[str], unwanted: set[str]) -> None:
    from treeml.editor.analysis import Analysis
    from treeml.editor.completion import complete
    from treeml.editor.data_facts import DataFiles
    from treeml.lang.source import Source

    offset = text.index("|")
    source = Source("x.tml", text.replace("|", ""), spec)
    labels = {each.label for each in complete(Analysis(source, DataFiles()), offset).suggestions}
    assert wanted <= labels
    assert not unwanted & labels


def test_completion_over_the_wire_replaces_the_word_before(spec: Path) -> None:
    async def use(editor: Editor) -> None:
        uri = await editor.open(spec)
        text = SPEC + 'require parity_gap(se\n# "🌳"\n'
        await editor.change(uri, text)
        position = at(text, "parity_gap(se", len("parity_gap(se"))
        found = await editor.text_document_completion_async(
            lsp.CompletionParams(lsp.TextDocumentIdentifier(uri), position)
        )
        assert isinstance(found, lsp.CompletionList)
        (sex,) = [item for item in found.items if item.label == "sex"]
        assert isinstance(sex.text_edit, lsp.TextEdit)
        assert edited(text, [sex.text_edit]) == text.replace("parity_gap(se", "parity_gap(sex")
        assert "category" in (sex.detail or "")

    in_editor(spec.parent, use)


def test_hover_explains_measures_columns_params_and_verbs(spec: Path) -> None:
    async def use(editor: Editor) -> None:
        text = SPEC + 'require recall("yes") >= 50%\nfeatures age, sex\nsolve with native\n'
        uri = await editor.open(spec, text)
        for mark, told in (
            ("recall", "TP / (TP + FN)"),
            ("age, sex", "35 .. 74"),
            ("sex", "F ("),
            ("most", "param most = 3"),
            ("native", "options"),
            ("maximize", "maximize accuracy"),
        ):
            found = await editor.text_document_hover_async(
                lsp.HoverParams(lsp.TextDocumentIdentifier(uri), at(text, mark, 1))
            )
            assert found is not None, mark
            assert isinstance(found.contents, lsp.MarkupContent)
            assert told in found.contents.value
            assert found.range is not None
            assert found.range.start == at(text, mark)
        nothing = lsp.HoverParams(lsp.TextDocumentIdentifier(uri), at(text, "small tree", 2))
        assert await editor.text_document_hover_async(nothing) is None

    in_editor(spec.parent, use)


def test_params_and_requirements_are_found_and_renamed(spec: Path) -> None:
    async def use(editor: Editor) -> None:
        text = SPEC + "set most = 2\n# most trees\n"
        uri = await editor.open(spec, text)
        document = lsp.TextDocumentIdentifier(uri)
        use_place = at(text, "2 * most", 4)
        place = await editor.text_document_definition_async(lsp.DefinitionParams(document, use_place))
        assert isinstance(place, lsp.Location)
        assert place.range.start == at(text, "most = 3")
        edit = await editor.text_document_rename_async(lsp.RenameParams(document, use_place, "deepest"))
        assert edit is not None
        assert edit.changes is not None
        assert edited(text, list(edit.changes[uri])) == (
            text.replace("most", "deepest").replace("# deepest trees", "# most trees")
        )
        named = at(text, "small:", 1)
        edit = await editor.text_document_rename_async(lsp.RenameParams(document, named, "shallow"))
        assert edit is not None
        assert edit.changes is not None
        assert "require shallow: depth" in edited(text, list(edit.changes[uri]))
        for wrong in ("require", "2nd", "with space"):
            assert await editor.text_document_rename_async(lsp.RenameParams(document, named, wrong)) is None
        assert len([message for message in editor.messages if "`" in message]) == 3
        nowhere = lsp.PrepareRenameParams(document, at(text, "accuracy"))
        assert await editor.text_document_prepare_rename_async(nowhere) is None

    in_editor(spec.parent, use)


def test_names_of_included_files_are_found_and_renamed_there(spec: Path) -> None:
    shared = spec.with_name("shared.tml")
    shared.write_text('param price = 0.01 in 0 .. 1\ndata "heart.csv"\npredict disease is "yes"\n')
    text = 'include "shared.tml"\nset price = 0.02\nminimize error_rate + price * leaves\nrequire depth <= 2\n'
    spec.write_text(text)

    async def use(editor: Editor) -> None:
        uri = await editor.open(spec, text)
        document = lsp.TextDocumentIdentifier(uri)
        place = at(text, "price * leaves")
        found = await editor.text_document_definition_async(lsp.DefinitionParams(document, place))
        assert isinstance(found, lsp.Location)
        assert found.uri == shared.as_uri()
        assert found.range.start == lsp.Position(0, len("param "))
        context = lsp.ReferenceContext(include_declaration=True)
        places = await editor.text_document_references_async(lsp.ReferenceParams(context, document, place))
        assert [each.uri for each in places or ()] == [uri, uri, shared.as_uri()]
        edit = await editor.text_document_rename_async(lsp.RenameParams(document, place, "toll"))
        assert edit is not None
        assert edit.changes is not None
        assert edited(text, list(edit.changes[uri])) == text.replace("price", "toll")
        stored = shared.read_text()
        assert edited(stored, list(edit.changes[shared.as_uri()])) == stored.replace("price", "toll")
        await editor.open(shared, stored + "# a change that is not saved\n")
        assert await editor.text_document_rename_async(lsp.RenameParams(document, place, "toll")) is None
        assert any("save it first" in message for message in editor.messages)

    in_editor(spec.parent, use)


def test_formatting(spec: Path) -> None:
    async def use(editor: Editor) -> None:
        text = SPEC.replace("maximize accuracy", "maximize    accuracy").replace("depth <= most", "depth<=most")
        uri = await editor.open(spec, text)
        asked = lsp.DocumentFormattingParams(
            lsp.TextDocumentIdentifier(uri), lsp.FormattingOptions(tab_size=4, insert_spaces=True)
        )
        edits = await editor.text_document_formatting_async(asked)
        assert edits
        tidy = edited(text, list(edits))
        assert "maximize accuracy" in tidy
        assert "depth <= most" in tidy
        assert "# a small tree" in tidy
        await editor.change(uri, tidy)
        assert list(await editor.text_document_formatting_async(asked) or ()) == []
        await editor.change(uri, "maximise accuracy")
        assert await editor.text_document_formatting_async(asked) is None

    in_editor(spec.parent, use)


@pytest.mark.parametrize(
    ("before", "wrong", "after"),
    [
        ("maximize accuracy", "maximise accuracy", "maximize accuracy"),
        ("maximize accuracy", "maximize acuracy", "maximize accuracy"),
        ("maximize accuracy", "maximize recall", 'maximize recall("yes")'),
        ("maximize accuracy", "maximize accuracy > 0.9", "maximize accuracy\nrequire accuracy >= 0.9"),
        ("depth <= most", "depth <= mos", "depth <= most"),
        (
            "maximize accuracy",
            "maximize accuracy\nrequire accuracy >= 90",
            "maximize accuracy\nrequire accuracy >= 90%",
        ),
        ("leaves <= 2 * most", "accuracy > 90%", "accuracy >= 90%"),
        ("require leaves", "subject to leaves", "require leaves"),
        ('"heart.csv"', "heart.csv", '"heart.csv"'),
        ("predict disease", "predict diseas", "predict disease"),
    ],
)
def test_code_actions_repair(spec: Path, before: str, wrong: str, after: str) -> None:
    async def use(editor: Editor) -> None:
        text = SPEC.replace(before, wrong)
        uri = await editor.open(spec, text)
        found = await editor.published(uri)
        assert found
        asked = lsp.CodeActionParams(
            lsp.TextDocumentIdentifier(uri), found[0].range, lsp.CodeActionContext(diagnostics=found)
        )
        repairs = await editor.text_document_code_action_async(asked)
        texts = [
            edited(text, list(action.edit.changes[uri]))
            for action in repairs or ()
            if isinstance(action, lsp.CodeAction) and action.edit is not None and action.edit.changes is not None
        ]
        assert SPEC.replace(before, after) in texts

    in_editor(spec.parent, use)


def test_every_help_of_every_wrong_spec_has_an_action_and_every_edit_repairs() -> None:
    from treeml.editor.actions import actions
    from treeml.lang.check import check_source
    from treeml.lang.diagnostic import Diagnostic
    from treeml.lang.source import Source
    from treeml.lang.source_file import read

    def errors(found: list[Diagnostic]) -> Counter[tuple[str, str]]:
        return Counter((each.code, each.title) for each in found if each.is_error)

    specs = sorted((Path(__file__).parents[1] / "bad").glob("*.tml"))
    helps = edits = 0
    for path in specs:
        try:
            source = read(path)
        except ValueError:
            continue
        found = check_source(source)[1]
        many = any(each.code == "S100" for each in found)  # of which not all are shown
        for diagnostic in found:
            offered = list(actions(diagnostic))
            titles = {action.title for action in offered}
            assert set(diagnostic.helps) <= titles
            assert all(action.edits or action.code for action in offered)
            helps += len(diagnostic.helps)
            for action in offered:
                if not action.edits or action.is_preferred or many:  # fixes have their own tests
                    continue
                edits += 1
                (edit,) = action.edits
                if edit.span.source != source:  # in a file that it includes
                    continue
                text = source.text[: edit.span.start] + edit.replacement + source.text[edit.span.end :]
                after = errors(check_source(Source(source.name, text, source.path))[1])
                assert not after - errors(found), f"{path.name}: {action.title} adds a mistake"
                if diagnostic.is_error:
                    assert after < errors(found), f"{path.name}: {action.title} repairs nothing"
    assert helps > 100
    assert edits > 150


def test_the_lens_solves_the_text_and_shows_the_tree(spec: Path) -> None:
    async def use(editor: Editor) -> None:
        uri = await editor.open(spec, SPEC.replace("param most = 3", "param most = 1"))  # not saved
        (lens,) = await editor.text_document_code_lens_async(lsp.CodeLensParams(lsp.TextDocumentIdentifier(uri))) or ()
        assert lens.command is not None
        assert (lens.command.title, lens.command.command) == ("solve", SOLVE)
        solved = await editor.workspace_execute_command_async(
            lsp.ExecuteCommandParams(SOLVE, arguments=lens.command.arguments)
        )
        assert solved["ok"] is True
        assert "optimal, objective 0.765" in solved["summary"]
        assert "chest_pain is none" in solved["text"]
        page = Path(solved["page"])
        assert "<svg" in page.read_text()
        assert any("optimal" in message for message in editor.messages)
        assert editor.documents == [page.as_uri()]
        await editor.change(uri, SPEC.replace("accuracy", "acuracy"))
        failed = await editor.workspace_execute_command_async(lsp.ExecuteCommandParams(SOLVE, arguments=[uri]))
        assert failed["ok"] is False
        assert "N203" in failed["text"]
        told = await editor.workspace_execute_command_async(lsp.ExecuteCommandParams(EXPLAIN, arguments=["N203"]))
        assert "measure" in told

    in_editor(spec.parent, use)


def test_an_untrusted_specification_is_confined_to_its_folder(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from treeml.editor.analysis import Analysis
    from treeml.editor.data_facts import DataFiles
    from treeml.lang.source import Source

    outside = spec.parent / "inner" / "spec.tml"
    outside.parent.mkdir()
    text = SPEC.replace('"heart.csv"', '"../heart.csv"')
    analysis = Analysis(Source("spec.tml", text, outside), DataFiles())
    assert analysis.data is not None
    monkeypatch.setenv("TREEML_UNTRUSTED", "1")
    again = Analysis(Source("spec.tml", text, outside), DataFiles())
    assert again.data is None
    assert [each.code for each in [*again.checked[1], *again.data_mistakes()]]


def test_the_data_file_is_read_once_per_change(spec: Path) -> None:
    import os

    from treeml.editor.analysis import Analysis
    from treeml.editor.data_facts import DataFiles
    from treeml.lang.source import Source

    files = DataFiles()
    for number in range(3):
        assert Analysis(Source("spec.tml", f"{SPEC}# {number}", spec), files).data is not None
    assert files.reads == 1
    data = spec.parent / "heart.csv"
    data.write_text("age,disease\n1,yes\n2,no\n")
    os.utime(data, ns=(1, 1))
    found = Analysis(Source("spec.tml", SPEC, spec), files).data
    assert found is not None
    assert list(found.columns) == ["age", "disease"]
    assert files.reads == 2
    data.unlink()
    assert Analysis(Source("spec.tml", SPEC, spec), files).data is None


def test_without_pygls_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from click.testing import CliRunner

    from treeml.cli.main import treeml

    for name in [name for name in sys.modules if name.partition(".")[0] in ("pygls", "lsprotocol")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "treeml.editor.server", raising=False)
    done = CliRunner().invoke(treeml, ["language-server"])
    assert done.exit_code == 1
    assert "pip install 'treeml[editor]'" in done.stderr
