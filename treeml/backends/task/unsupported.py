"""What no encoding, or no solver, can express -> the refusal that the user reads."""

from __future__ import annotations

from treeml.backends.contract import Refusal


class Unsupported(Exception):
    """Raised where a problem cannot be expressed; `refusal` says what, why, and what to do instead."""

    def __init__(self, feature: str, because: str, instead: str = "") -> None:
        super().__init__(f"{feature}: {because}")
        self.refusal = Refusal(feature, because, instead)
