"""A code -> what it means, an example that is wrong, and what to do about it.

    S  syntax      N  names        T  types and units     D  data
    B  back-ends   F  feasibility  L  lint                A  access

The pages under docs/diagnostics are made from these entries by `python -m treeml.lang.codes.pages`.
"""

from __future__ import annotations

from collections.abc import Mapping

from treeml.lang.codes.access import ACCESS
from treeml.lang.codes.backends import BACKENDS
from treeml.lang.codes.data import DATA
from treeml.lang.codes.entry import CodeEntry
from treeml.lang.codes.feasibility import FEASIBILITY
from treeml.lang.codes.forests import FORESTS
from treeml.lang.codes.lint import LINT
from treeml.lang.codes.names import NAMES
from treeml.lang.codes.syntax import SYNTAX
from treeml.lang.codes.types import TYPES

__all__ = ["CATALOGUE", "CodeEntry"]

CATALOGUE: Mapping[str, CodeEntry] = {
    entry.code: entry for entry in (*SYNTAX, *NAMES, *TYPES, *DATA, *FORESTS, *BACKENDS, *FEASIBILITY, *LINT, *ACCESS)
}
