"""Small images for tests, valid and invalid."""

from __future__ import annotations

import base64
import io
import struct
import zlib
from typing import Any

from PIL import Image as Pillow


def encode_image(kind: str = "PNG", size: tuple[int, int] = (8, 8), color: Any = "red", **how: Any) -> str:
    file = io.BytesIO()
    Pillow.new("RGBA" if isinstance(color, tuple) and len(color) == 4 else "RGB", size, color).save(file, kind, **how)
    return base64.b64encode(file.getvalue()).decode()


def bomb(width: int, height: int) -> str:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(bytes(1000)))).decode()
