"""Content that isn't text: images, audio, embedded resources and links to files."""

from __future__ import annotations

import base64
import io
import math
import struct
import wave
import zlib

from accord.agent.agent import command
from accord.agent.turn import Turn
from accord.model.content import Annotations, Audio, Icon, Image, Resource, ResourceContents, ResourceLink, TextContent
from accord.showcase.topic import Topic

BINARY = bytes(range(256))


class Media(Topic):
    """Content blocks."""

    title = "Content"

    @command("image", "A PNG with transparency and an SVG, in a message and in a tool call")
    async def show_image(self, turn: Turn) -> None:
        await turn.say("An image: ")
        await turn.say(image())
        await turn.say(" and a drawing: ")
        await turn.say(draw_svg())
        async with turn.tool("Look at the image", kind="read", locations=["image.png"]) as tool:
            await tool.show("The same image in the output of a tool:", image())
        await turn.say("Red grows to the right, green downwards; the lower right corner is transparent.")

    @command("audio", "A short WAV: two notes, the second a fifth higher")
    async def show_audio(self, turn: Turn) -> None:
        await turn.say("Two notes: ")
        await turn.say(sound())
        await turn.say(" half a second in all.")

    @command("resource", "Embedded text, an embedded blob, links, and annotations")
    async def show_resource(self, turn: Turn) -> None:
        notes = self.uri(turn, "notes.md")
        await turn.say("Embedded text: ")
        await turn.say(Resource.of(notes, "# Notes\n\nEmbedded.\n", "text/markdown"))
        await self.pause()
        await turn.say("Embedded bytes: ")
        blob = ResourceContents(
            uri="showcase:///bytes.bin",
            blob=base64.b64encode(BINARY).decode(),
            mime_type="application/octet-stream",
        )
        await turn.say(Resource(resource=blob))
        await self.pause()
        await turn.say("A link: ")
        await turn.say(
            ResourceLink(
                uri="https://example.com/manual.pdf",
                name="manual.pdf",
                title="The manual",
                description="A public page",
                mime_type="application/pdf",
                size=123456,
                icons=[Icon(src="https://example.com/pdf.svg", mime_type="image/svg+xml", sizes=["any"])],
                annotations=Annotations(audience=["user"], priority=0.8, last_modified="2025-01-12T15:00:58Z"),
            )
        )
        await turn.say(ResourceLink(uri=notes, name="notes.md"))
        await turn.say(
            TextContent(
                "Its annotation says that this text is for the assistant only.",
                annotations=Annotations(audience=["assistant"], priority=0.1),
            )
        )


def image(width: int = 96, height: int = 64) -> Image:
    """Create a PNG: red grows to the right, green downwards, and the lower right corner is transparent."""
    rows = bytearray()
    for y in range(height):
        rows.append(0)  # filter type: none
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


def draw_svg() -> Image:
    """Create an SVG, for clients that render it."""
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 96 64" width="96" height="64">'
        '<rect width="96" height="64" fill="#224"/><circle cx="48" cy="32" r="24" fill="#fc3"/></svg>'
    )
    return Image(data=base64.b64encode(svg.encode()).decode(), mime_type="image/svg+xml")


def sound(seconds: float = 0.5, rate: int = 8000) -> Audio:
    """Create a WAV: two notes, the second a fifth higher, fading out to avoid clicks."""
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
