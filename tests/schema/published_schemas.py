"""Finds the published schemas that our types are compared with.

They come with the official TypeScript SDK, which `make peers` installs; `ACCORD_SCHEMAS` may name another copy."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = ROOT / ".cache" / "peers" / "node_modules" / "@agentclientprotocol" / "sdk" / "schema"
MISSING = "the published schemas are not installed (ACCORD_SCHEMAS may name their directory)"


def folder() -> Path | None:
    """Return the directory of `v1/schema.json` and its siblings; None if they are not installed."""
    place = Path(os.environ.get("ACCORD_SCHEMAS") or INSTALLED)
    return place if (place / "v1" / "schema.json").is_file() else None


def missing() -> str | None:
    return MISSING if folder() is None else None


@cache
def _text(version: int, name: str) -> bytes:
    place = folder()
    if place is None:
        raise FileNotFoundError(MISSING)
    return (place / f"v{version}" / name).read_bytes()


def schema(version: int, *, unstable: bool) -> dict[str, Any]:
    """A fresh copy of one published schema."""
    copy: dict[str, Any] = json.loads(_text(version, "schema.unstable.json" if unstable else "schema.json"))
    return copy
