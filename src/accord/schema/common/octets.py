"""Bytes that are sent as base64."""

from __future__ import annotations

from binascii import a2b_base64


def octets(data: str) -> bytes | None:
    """Decode base64, with or without padding. Returns None if it is invalid."""
    try:
        text = data if data.isalnum() else "".join(data.split())  # some encoders break their lines
        return a2b_base64(text + "=" * (-len(text) % 4), strict_mode=True)
    except ValueError:
        return None
