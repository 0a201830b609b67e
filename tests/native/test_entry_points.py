"""A few random calls of every C entry point; `make native-fuzz` makes many more, with sanitizers."""

import fuzz_entry_points
import pytest


@pytest.mark.parametrize("kind", fuzz_entry_points.KINDS)
def test_random_calls(kind: str) -> None:
    ended = [fuzz_entry_points.run_case(7, case, kind) for case in range(12)]
    assert set(ended) <= {"run", "refused"}
    assert "run" in ended
