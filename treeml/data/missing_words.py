"""Text -> does it say that there is no value?"""

from __future__ import annotations

MISSING_WORDS = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")


def is_missing_word(text: str) -> bool:
    """Blanks around the text do not count."""
    return text.strip() in MISSING_WORDS
