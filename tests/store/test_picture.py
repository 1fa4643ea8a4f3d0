"""A kept session looks as it did to its client, and can be written down in every format."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from linked import Link
from store.keeping import Filed

from accord import Diff, SessionInfo, ToolCall, Turn
from accord.model.statement import Statement
from accord.store.export.html import html
from accord.store.export.json import document
from accord.store.export.markdown import markdown
from accord.store.export.sections import sections
from accord.store.export.text import text
from accord.store.picture import picture
from accord.testing.stores import EVERYTHING, info
from accord.transcript.transcript import Transcript


async def busy(turn: Turn) -> None:
    await turn.think("Hm.")
    await turn.say("I will ")
    await turn.say("edit.")
    await turn.plan(["Look", "Write"])
    async with turn.tool("Edit notes", kind="edit", locations=["notes.md:3"], raw_input={"a": 1}) as tool:
        await tool.show(Diff.of("/p/notes.md", None, "new\n"))
        await tool.show("and more")
    async with turn.tool("Run") as tool:
        terminal = turn.display_terminal("make")
        await tool.show(terminal)
        await terminal.write("\x1b[32mgreen\x1b[0m\r\n")
        await terminal.exit(1)
    turn.session.set_message("Instead.", message_id="m9")
    await turn.usage(5, 100)
    await turn.set_title("Edited")


def plain(shown: Transcript) -> Any:
    """What a transcript shows. Of a change the client has the patch alone; the file has the texts."""
    items: list[Any] = []
    for item in shown.timeline:
        if isinstance(item, ToolCall):
            content = [piece.patch if isinstance(piece, Diff) else piece for piece in item.content]
            items.append((item.id, item.title, item.kind, item.status, content, item.locations, item.raw_input))
        else:
            items.append((item.role, item.id, item.text))  # type: ignore[union-attr]
    return items, shown.plans, shown.usage, shown.title


async def test_it_is_the_picture_that_a_client_has(tmp_path: Path) -> None:
    from accord.testing import link

    agent = Filed(tmp_path / "s.db", [busy], ["Second."])
    async with link(agent, version=2) as client:
        session = await client.new_session("/project")
        await session.prompt("first")
        await session.prompt("second")
        theirs = session.transcript
        ours = await picture(session.id, agent.store.history(session.id), "/project")
    assert plain(ours) == plain(theirs)
    assert {t.id: (t.command, t.output, t.exit) for t in ours.terminals.values()} == {
        t.id: (t.command, t.output, t.exit) for t in theirs.terminals.values()
    }
    await agent.store.close()


async def all_of_it() -> Transcript:
    async def history() -> AsyncIterator[Statement]:
        for statement in EVERYTHING:
            yield statement

    return await picture("everything", history())


FORMATS: dict[str, Any] = {
    "md": lambda entry, shown: "".join(markdown(entry, sections(shown))),
    "html": lambda entry, shown: "".join(html(entry, sections(shown))),
    "json": lambda entry, shown: json.dumps(document(entry, shown, {})),
    "text": lambda entry, shown: "".join(text(sections(shown), thoughts=True, contents=True)),
}


@pytest.mark.parametrize("format", FORMATS)
async def test_everything_that_can_be_said_can_be_written_down(format: str) -> None:
    entry: SessionInfo = info("everything", title="All")
    written = FORMATS[format](entry, await all_of_it())
    for words in ("do it", "Hm.", "漢字", "noted", "Mind this", "short", "/p/a.py"):
        assert (json.dumps(words)[1:-1] if format == "json" else words) in written, words
    if format != "json":
        assert not set(written) & set("\x00\x1b\xff")


async def test_what_a_terminal_printed_is_shown_without_its_codes(link: Link, tmp_path: Path) -> None:
    agent = Filed(tmp_path / "s.db", [busy])
    async with link(agent) as client:
        session = await client.new_session("/project")
        await session.prompt("go")
        shown = await picture(session.id, agent.store.history(session.id))
    written = "".join(markdown(info("x"), sections(shown)))
    assert "```console\n$ make\ngreen\n```" in written
    await agent.store.close()
