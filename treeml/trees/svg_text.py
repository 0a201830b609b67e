"""Numbers and foreign text -> attributes and content of SVG."""

from __future__ import annotations

import re
from html import escape

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def escaped(text: str) -> str:
    """Text escaped for XML, without the characters that XML does not allow."""
    return escape(_NOT_XML.sub("\ufffd", text))


def decimal(value: float) -> str:
    return f"{value:.1f}"
