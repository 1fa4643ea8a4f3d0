"""A picture and a sound, made here: small, valid, and recognisable when a client shows them rightly."""

from __future__ import annotations

import base64
import io
import math
import struct
import wave
import zlib

from accord.model.content import Audio, Image


def picture(width: int = 96, height: int = 64) -> Image:
    """A PNG: red grows to the right, green downwards, and the lower right corner is transparent."""
    rows = bytearray()
    for y in range(height):
        rows.append(0)  # this row is not filtered
        for x in range(width):
            solid = x < width * 3 // 4 or y < height * 3 // 4
            rows += bytes((255 * x // (width - 1), 255 * y // (height - 1), 96, 255 if solid else 64))
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    data = (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(bytes(rows), 9))
        + _chunk(b"IEND", b"")
    )
    return Image(data=base64.b64encode(data).decode(), mime_type="image/png")


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def drawing() -> Image:
    """An SVG, for clients that draw."""
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 64" width="96" height="64">'
        '<rect width="96" height="64" fill="#224"/><circle cx="48" cy="32" r="24" fill="#fc3"/></svg>'
    )
    return Image(data=base64.b64encode(svg.encode()).decode(), mime_type="image/svg+xml")


def sound(seconds: float = 0.5, rate: int = 8000) -> Audio:
    """A WAV: two notes, the second a fifth higher, fading so that nothing clicks."""
    total = int(seconds * rate)
    samples = bytearray()
    for index in range(total):
        pitch = 440.0 if index < total // 2 else 660.0
        fade = 1 - (index % (total // 2 or 1)) / (total // 2 or 1)
        samples += struct.pack("<h", int(12000 * fade * math.sin(2 * math.pi * pitch * index / rate)))
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(rate)
        writer.writeframes(bytes(samples))
    return Audio(data=base64.b64encode(file.getvalue()).decode(), mime_type="audio/wav")
