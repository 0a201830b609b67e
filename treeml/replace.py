"""A path and its new content -> the file, whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace_file(path: Path, content: str | bytes) -> None:
    """A full disk or an interrupt never leaves half of it; raises OSError."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        os.chmod(name, path.stat().st_mode if path.exists() else 0o666 & ~_mask())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _mask() -> int:
    """Which permissions new files do not get; it can be asked only by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
