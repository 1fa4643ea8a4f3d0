"""Attachments: images, audio, files and links, shown by name."""

from __future__ import annotations

import re
from urllib.parse import unquote

from textual.strip import Strip

from accord.model.content import Audio, Image, Resource, ResourceLink, UnknownContent
from accord.model.tool import ToolCall
from accord.terminal_text import format_size, one_line
from accord.transcript.message import Message, Piece
from accord.tui.transcript.blocks.base import Block


def render_attachment(piece: Piece, block: Block) -> list[Strip]:
    """Render the name of an attachment, and below it the image, if it can be shown."""
    return [render_name(piece, block), *render_image(piece, block)]


def render_image(piece: Piece, block: Block) -> list[Strip]:
    """Render an image as far as it is decoded. Its block is touched when there is more."""
    gallery = block.context.gallery
    return gallery.lines(piece, block) if gallery is not None and isinstance(piece, Image) else []


def images_of(item: object) -> list[Image]:
    """Return the images in a timeline item."""
    pieces = item.pieces if isinstance(item, Message) else item.content if isinstance(item, ToolCall) else []
    return [piece for piece in pieces if isinstance(piece, Image)]


def render_name(piece: Piece, block: Block) -> Strip:
    """Render one line with the name of an attachment."""
    text_styles = block.text_styles
    icon, name, about = _about(piece)
    parts = [(f"{icon} ", text_styles.dim), (one_line(name, max(block.width - 30, 20)), text_styles.strong)]
    return text_styles.line(*parts, (f"  {one_line(about)}" if about else "", text_styles.dim))


def _about(piece: Piece) -> tuple[str, str, str]:
    match piece:
        case Image():
            return "▣", _last_part(piece.uri) or "image", f"{piece.mime_type}, {format_size(len(piece.data) * 3 / 4)}"
        case Audio():
            return "♪", "sound", f"{piece.mime_type}, {format_size(len(piece.data) * 3 / 4)}"
        case ResourceLink():
            size = "" if piece.size is None else format_size(piece.size)
            return "↗", piece.title or piece.name, ", ".join(filter(None, [one_line(unquote(piece.uri), 120), size]))
        case Resource():
            held = piece.resource
            length = len(held.text) if held.text is not None else len(held.blob or "") * 3 / 4
            return "▤", _last_part(held.uri) or held.uri, ", ".join(filter(None, [held.mime_type, format_size(length)]))
        case _:
            kind = piece.type if isinstance(piece, UnknownContent) else "?"
            return "?", f"unknown content type ({kind})", ""


def _last_part(uri: str | None) -> str:
    return unquote(re.split(r"[/\\]", uri.rstrip("/"))[-1]) if uri else ""
