"""The bytes of a text file -> UTF-8 without a byte order mark, whatever format it is in."""

from __future__ import annotations

from treeml.data.file_error import file_mistake
from treeml.lang.source import Span

MARK = b"\xef\xbb\xbf"
_OTHERS = ((b"\xff\xfe\0\0", "UTF-32"), (b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))


def decoded(name: str, content: bytes, span: Span | None, notes: list[str]) -> bytes:
    """UTF-8 bytes without a byte order mark, in lines that end in a line feed."""
    for mark, encoding in _OTHERS:
        if content.startswith(mark):
            try:
                text = content.decode(encoding)
            except UnicodeDecodeError:
                raise file_mistake(
                    "D407",
                    f"{name} is cut off or damaged",
                    f"it starts as {encoding} text, but does not stay so",
                    name,
                    span,
                    helps=("save it again as UTF-8",),
                ) from None
            notes.append(f"{name} is {encoding} text and was decoded")
            content = text.encode(errors="replace")
            break
    content = content.removeprefix(MARK)
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise file_mistake(
            "D407",
            f"{name} contains NUL bytes",
            f"the first is in line {line}",
            name,
            span,
            notes=("text has none: this is a binary file, or UTF-16 without its mark",),
            helps=("save it as CSV in UTF-8",),
        )
    if not _is_utf8(content):
        line = _first_bad_line(content)
        notes.append(f"{name} is not UTF-8 (line {line}); it was read as Windows-1252 (Latin-1) text")
        content = content.decode("cp1252", errors="replace").encode()
    if b"\n" not in content and b"\r" in content:
        content = content.replace(b"\r", b"\n")  # the line ends of old Macs
    return content


def _is_utf8(content: bytes) -> bool:
    if content.isascii():
        return True
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _first_bad_line(content: bytes) -> int:
    try:
        content.decode()
    except UnicodeDecodeError as problem:
        return content.count(b"\n", 0, problem.start) + 1
    return 1
