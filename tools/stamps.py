"""Stamps: what was done, keyed by a digest of what it was done from; written last, and all at once."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def digest(*parts: str | Path | Iterable[Path]) -> str:
    """A digest of texts and of files, their names included."""
    total = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            total.update(part.encode() + b"\0")
            continue
        for path in [part] if isinstance(part, Path) else sorted(part):
            name = os.path.relpath(path, ROOT).encode()
            total.update(name + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:32]


def matches(stamp: Path, key: str) -> bool:
    try:
        return stamp.read_text(encoding="utf-8").strip() == key
    except OSError:
        return False


def write(stamp: Path, key: str) -> None:
    """Write the whole stamp or nothing."""
    stamp.parent.mkdir(parents=True, exist_ok=True)
    part = stamp.with_name(f"{stamp.name}.{os.getpid()}.part")
    part.write_text(key + "\n", encoding="utf-8")
    os.replace(part, stamp)
