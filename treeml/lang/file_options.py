"""Options of a spec that write files -> paths inside the folder of the spec, or refusals.

The command line and Python may write anywhere; the source of an option says whether it came from them or from a file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from treeml.lang.backend_options import options_of
from treeml.lang.display import shown
from treeml.lang.findings import Findings
from treeml.lang.methods import FAMILIES
from treeml.lang.spec import Method
from treeml.system.confinement import Confined, Foreign, Outside, confine, refuse_foreign

LONGEST_NAME = 240  # bytes; common file systems accept 255
LONGEST_PATH = 4000  # bytes; Linux accepts 4095


def confine_writes(fields: Mapping[str, Any], folder: Path, untrusted: bool, findings: Findings) -> dict[str, Any]:
    """The fields of a spec, with every file that its text names for writing confined to its folder."""
    own = _Folder(folder, untrusted, findings)
    found = dict(fields)
    if fields.get("backends"):
        found["backends"] = tuple(map(own.confined, fields["backends"]))
    if fields.get("improve") is not None:
        found["improve"] = own.confined(fields["improve"])
    return found


class _Folder:
    def __init__(self, folder: Path, untrusted: bool, findings: Findings) -> None:
        self.folder, self.untrusted, self.findings = folder, untrusted, findings

    def confined(self, method: Method) -> Method:
        options = {name: self._option(method, name, value) for name, value in method.options.items()}
        return method if options == method.options else replace(method, options=options)

    def _option(self, method: Method, name: str, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self.confined(each) if isinstance(each, Method) else each for each in value)
        if not _writes(method.name, name) or not isinstance(value, str) or not value:
            return value
        if method.span is not None and method.span.source.by_caller:
            return value
        return self._file(method, name, value)

    def _file(self, method: Method, name: str, value: str) -> str:
        if self.untrusted:
            self.findings.error(
                "A804",
                f"a specification that is not trusted writes no files, and `{name}` would write one",
                (method.span, f'"{value}"'),
                help="remove the option",
            )
            return value
        said_in = method.span.source.path if method.span is not None else None
        base = said_in.parent if said_in is not None else self.folder
        if not _can_be_written(os.path.join(base, value)):
            self.findings.error(
                "A808",
                f"`{name}` names no file that could be written",
                (method.span, f'"{shown(value)}"'),
                note="the name is too long, or holds a character that names cannot hold",
                help="give it a shorter name of letters and digits",
            )
            return value
        try:
            path = confine(os.path.join(base, value), self.folder)
            refuse_foreign(path)
            if name == "proof":  # its clauses are written beside it
                refuse_foreign(Confined(f"{path}.cnf", path.folder))
        except Outside:
            self.findings.error(
                "A802",
                f"`{name}` leads out of the folder of the specification",
                (method.span, f'"{value}"'),
                note="what the text of a specification writes stays in its own folder, after all links are followed",
                help=("name a file in this folder", "or ask from the command line, which may write anywhere"),
            )
        except Foreign:
            self.findings.error(
                "A803",
                f"`{name}` would replace a file that TreeML did not write",
                (method.span, f'"{value}"'),
                help=("name a file that does not exist yet", "or remove the one that is there"),
            )
        except (OSError, ValueError):
            return value if isinstance(value, Confined) else Confined(str(base / value), os.path.realpath(self.folder))
        else:
            return path
        return value


def _can_be_written(path: str) -> bool:
    """Do file systems accept the path? Its clauses or a temporary file may stand beside it under a longer name."""
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError:
        return False
    longest = max(map(len, encoded.split(os.fsencode(os.sep))))
    return b"\0" not in encoded and longest <= LONGEST_NAME and len(encoded) <= LONGEST_PATH


def _writes(method: str, option: str) -> bool:
    """Does the option name a file to be written? The method is a way to improve a tree, or a back-end."""
    rules = FAMILIES["improve"].methods.get(method)
    if rules is not None:
        return any(rule.name == option and rule.writes for rule in rules)
    known = options_of(method)
    return known is not None and option in known and known[option].writes
