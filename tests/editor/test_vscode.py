"""The VS Code extension: its colors come from the grammar, its snippets parse, its client starts the server."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from treeml.lang.check import check_source
from treeml.lang.source import Source
from treeml.lang.words import INNER_WORDS, VERBS
from treeml.version import __version__

EDITORS = Path(__file__).parents[2] / "editors"
EXTENSION = EDITORS / "vscode"


def generator() -> Any:
    spec = importlib.util.spec_from_file_location("textmate", EDITORS / "textmate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_stored_grammar_is_the_one_that_the_lark_grammar_gives() -> None:
    made = generator()
    assert made.WRITTEN.read_text(encoding="utf-8") == made.text(), "run: python editors/textmate.py"


def scopes(text: str) -> dict[str, str]:
    """Every token with its scope, as an editor finds them: the leftmost match, of equal ones the first pattern."""
    grammar = json.loads((EXTENSION / "syntaxes" / "treeml.tmLanguage.json").read_text(encoding="utf-8"))
    patterns = [(re.compile(each["match"]), each) for each in grammar["patterns"]]
    found: dict[str, str] = {}
    position = 0
    while position < len(text):
        matches = [(match.start(), number, match) for number, (pattern, _) in enumerate(patterns)
                   if (match := pattern.search(text, position)) and match[0]]  # fmt: skip
        if not matches:
            break
        _, number, match = min(matches, key=lambda each: each[:2])
        about = patterns[number][1]
        if "name" in about:
            found[match[0]] = about["name"]
        for group, named in about.get("captures", {}).items():
            if match[int(group)]:
                found[match[int(group)]] = named["name"]
        position = match.end()
    return found


def test_colors() -> None:
    found = scopes(
        'predict class is ">50K"  # why\nrequire recall("yes") >= 90% given all\n'
        "column `a b` : number\nsolve within 5 min"
    )
    assert found["predict"] == found["require"] == found["solve"] == "keyword.control.treeml"
    assert found["class"] == "variable.other.treeml"  # a column, although it is a word of the language
    assert found['">50K"'] == "string.quoted.double.treeml"
    assert found["# why"] == "comment.line.number-sign.treeml"
    assert found["recall"] == "support.function.measure.treeml"
    assert found["90"] == found["5"] == "constant.numeric.treeml"
    assert found["%"] == found["min"] == "keyword.other.unit.treeml"
    assert found["`a b`"] == "variable.other.column.treeml"
    assert found["number"] == "storage.type.treeml"
    assert found["within"] == found["all"] == "keyword.other.treeml"


def test_every_word_of_the_language_is_colored() -> None:
    for word in VERBS:
        assert scopes(f"{word} linear").get(word) == "keyword.control.treeml", word
    for word in INNER_WORDS:
        assert scopes(f" {word} ").get(word) == "keyword.other.treeml", word


def test_snippets_parse() -> None:
    snippets = json.loads((EXTENSION / "snippets" / "treeml.json").read_text())
    assert len(snippets) >= 8
    for name, snippet in snippets.items():
        body = snippet["body"] if isinstance(snippet["body"], str) else "\n".join(snippet["body"])
        text = re.sub(r"\$\{\d+\|([^,|}]+)[^}]*\}|\$\{\d+:([^}]*)\}", lambda match: match[1] or match[2], body)
        mistakes = [each for each in check_source(Source(name, text))[1] if each.code.startswith("S")]
        assert not mistakes, mistakes


def test_the_manifest_names_files_that_exist() -> None:
    manifest = json.loads((EXTENSION / "package.json").read_text())
    assert manifest["version"] == __version__
    contributed = manifest["contributes"]
    paths = [manifest["main"], *(each["path"] for kind in ("grammars", "snippets") for each in contributed[kind])]
    paths += [each["configuration"] for each in contributed["languages"]]
    assert all((EXTENSION / path).is_file() for path in paths)
    assert "vsce package" in manifest["scripts"]["package"]


ACTIVATION = """
const Module = require("module");
const calls = [];
const vscode = {
  workspace: { getConfiguration: () => ({ get: () => "some/treeml" }), workspaceFolders: [{ uri: { fsPath: "/spec" } }],
    isTrusted: true, onDidGrantWorkspaceTrust: () => ({}) },
  commands: { registerCommand: (name) => { calls.push(name); return {}; } },
  window: { createWebviewPanel: () => ({ webview: { set html(text) { calls.push(text.slice(0, 5)); } } }) },
  ViewColumn: { Beside: -2 },
};
class LanguageClient {
  constructor(id, name, server, options) {
    calls.push([server.command, ...server.args].join(" "));
    this.options = options;
  }
  async start() {
    const page = process.argv[1];
    await this.options.middleware.executeCommand("treeml.solve", ["uri"], async () => ({ page, text: "" }));
  }
}
const load = Module._load;
Module._load = (name, ...rest) => name === "vscode" ? vscode
  : name === "vscode-languageclient/node" ? { LanguageClient, TransportKind: { stdio: 0 } } : load(name, ...rest);
require(process.argv[2]).activate({ subscriptions: [] }).then(() => console.log(JSON.stringify(calls)));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_client_starts_the_server_and_shows_the_page(tmp_path: Path) -> None:
    page = tmp_path / "tree.html"
    page.write_text("<svg>")
    done = subprocess.run(
        ["node", "-e", ACTIVATION, str(page), str(EXTENSION / "extension.js")],
        capture_output=True,
        text=True,
        check=True,
    )
    calls = json.loads(done.stdout)
    assert calls == ["treeml.solveFile", "treeml.restart", "some/treeml language-server", "<svg>"]
