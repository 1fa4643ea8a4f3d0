"""Pictures, sounds and files by their names."""

from __future__ import annotations

import re
from urllib.parse import unquote

from textual.strip import Strip

from accord.model.content import Audio, Image, Link, Resource
from accord.model.tool import ToolCall
from accord.transcript.message import Message, Piece
from accord.tui.conversation.block import Block
from accord.tui.plain import one_line, size_of


def shown(piece: Piece, block: Block) -> list[Strip]:
    """The name of a picture, a sound or a file; and below it the picture, where it can be drawn."""
    return [named(piece, block), *picture_of(piece, block)]


def picture_of(piece: Piece, block: Block) -> list[Strip]:
    """The lines of a picture, as far as it is drawn. Its block is touched when it is drawn further."""
    gallery = block.setting.pictures
    return gallery.lines(piece, block) if gallery is not None and isinstance(piece, Image) else []


def images_of(item: object) -> list[Image]:
    """The pictures in an item of the timeline."""
    pieces = item.pieces if isinstance(item, Message) else item.content if isinstance(item, ToolCall) else []
    return [piece for piece in pieces if isinstance(piece, Image)]


def named(piece: Piece, block: Block) -> Strip:
    """A picture, a sound or a file, by its name."""
    look = block.look
    icon, name, about = _about(piece)
    parts = [(f"{icon} ", look.accent), (one_line(name, max(block.width - 30, 20)), look.strong)]
    return look.line(*parts, (f"  {one_line(about)}" if about else "", look.dim))


def _about(piece: Piece) -> tuple[str, str, str]:
    match piece:
        case Image():
            return "▣", _last_part(piece.uri) or "image", f"{piece.mime_type}, {size_of(len(piece.data) * 3 / 4)}"
        case Audio():
            return "♪", "sound", f"{piece.mime_type}, {size_of(len(piece.data) * 3 / 4)}"
        case Link():
            size = "" if piece.size is None else size_of(piece.size)
            return "↗", piece.title or piece.name, ", ".join(filter(None, [one_line(unquote(piece.uri), 120), size]))
        case Resource():
            held = piece.resource
            length = len(held.text) if held.text is not None else len(held.blob or "") * 3 / 4
            return "▤", _last_part(held.uri) or held.uri, ", ".join(filter(None, [held.mime_type, size_of(length)]))
        case _:
            return "?", f"content of a kind that is not known here ({getattr(piece, 'type', '?')})", ""


def _last_part(uri: str | None) -> str:
    return unquote(re.split(r"[/\\]", uri.rstrip("/"))[-1]) if uri else ""
