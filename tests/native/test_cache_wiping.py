"""What a bounded cache keeps when it is full, by a program in C over the cache alone."""

from __future__ import annotations

from pathlib import Path

from c_programs import needs_compiler, run_program

pytestmark = needs_compiler


def test_every_wipe_halves_the_counts_of_reuses(tmp_path: Path) -> None:
    run_program("halved_reuses", tmp_path, "solver/cache.c")


def test_every_strategy_wipes_what_it_says_and_never_what_the_search_needs(tmp_path: Path) -> None:
    run_program("wiped_entries", tmp_path)
