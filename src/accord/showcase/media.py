"""Content that is not text: pictures, sounds, files carried along and files pointed at."""

from __future__ import annotations

import base64

from accord.agent.agent import command
from accord.agent.turn import Turn
from accord.model.content import Link, Resource, ResourceContents, TextContent
from accord.showcase.specimens import drawing, picture, sound
from accord.showcase.stage import Stage

BINARY = bytes(range(256))


class Media(Stage):
    """Content blocks."""

    topic = "Content"

    @command("image", "A PNG with transparency and an SVG, in a message and in a tool call")
    async def show_image(self, turn: Turn) -> None:
        await turn.say("A picture: ")
        await turn.say(picture())
        await turn.say(" and a drawing: ")
        await turn.say(drawing())
        async with turn.tool("Look at the picture", kind="read", locations=["picture.png"]) as tool:
            await tool.show("The same picture as what a tool found:", picture())
        await turn.say("Red grows to the right, green downwards; the lower right corner is transparent.")

    @command("audio", "A short WAV: two notes, the second a fifth higher")
    async def show_audio(self, turn: Turn) -> None:
        await turn.say("Two notes: ")
        await turn.say(sound())
        await turn.say(" half a second in all.")

    @command("resource", "Embedded text, an embedded blob, links, and annotations")
    async def show_resource(self, turn: Turn) -> None:
        notes = self.uri(turn, "notes.md")
        await turn.say("Text carried along: ")
        await turn.say(Resource.of(notes, "# Notes\n\nCarried along.\n", "text/markdown"))
        await self.pause()
        await turn.say("Bytes carried along: ")
        blob = ResourceContents(
            uri="showcase:///bytes.bin",
            blob=base64.b64encode(BINARY).decode(),
            mime_type="application/octet-stream",
        )
        await turn.say(Resource(resource=blob))
        await self.pause()
        await turn.say("Pointed at: ")
        await turn.say(
            Link(
                uri="https://example.com/manual.pdf",
                name="manual.pdf",
                title="The manual",
                description="A page that is there for everyone",
                mime_type="application/pdf",
                size=123456,
                annotations={"audience": ["user"], "priority": 0.8, "lastModified": "2025-01-12T15:00:58Z"},
            )
        )
        await turn.say(Link(uri=notes, name="notes.md"))
        await turn.say(
            TextContent(
                "This text is meant for the assistant alone, says its annotation.",
                annotations={"audience": ["assistant"], "priority": 0.1},
            )
        )
