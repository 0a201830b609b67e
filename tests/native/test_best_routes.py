"""The split that suits two given subtrees best, by a program in C that tries every cut."""

from __future__ import annotations

from pathlib import Path

from c_programs import needs_compiler, run_program

pytestmark = needs_compiler


def test_no_other_cut_suits_the_subtrees_better(tmp_path: Path) -> None:
    run_program("best_routes", tmp_path)
