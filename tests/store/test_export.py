"""A saved session looks as it did to its client, and can be exported in every format."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from store.stored_agents import Filed
from support.link import Link

from accord import Diff, SessionInfo, ToolCall, Turn
from accord.model.statement import Statement
from accord.store.export.html import html
from accord.store.export.json import document
from accord.store.export.markdown import markdown
from accord.store.export.sections import sections
from accord.store.export.text import text
from accord.store.fold import fold
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
    """Convert a transcript to plain data. Of a diff, the client has only the patch; the file has the texts."""
    items: list[Any] = []
    for item in shown.timeline:
        if isinstance(item, ToolCall):
            content = [piece.patch if isinstance(piece, Diff) else piece for piece in item.content]
            items.append((item.id, item.title, item.kind, item.status, content, item.locations, item.raw_input))
        else:
            items.append((item.role, item.id, item.text))  # type: ignore[union-attr]
    return items, shown.plans, shown.usage, shown.title


async def test_a_stored_transcript_equals_the_clients(tmp_path: Path) -> None:
    from accord.testing import link

    agent = Filed(tmp_path / "s.db", [busy], ["Second."])
    async with link(agent, version=2) as client:
        session = await client.new_session("/project")
        await session.prompt("first")
        await session.prompt("second")
        theirs = session.transcript
        ours = await fold(session.id, agent.store.history(session.id), "/project")
    assert plain(ours) == plain(theirs)
    assert {t.id: (t.command, t.output, t.exit) for t in ours.terminals.values()} == {
        t.id: (t.command, t.output, t.exit) for t in theirs.terminals.values()
    }
    await agent.store.close()


async def all_of_it() -> Transcript:
    async def history() -> AsyncIterator[Statement]:
        for statement in EVERYTHING:
            yield statement

    return await fold("everything", history())


FORMATS: dict[str, Any] = {
    "md": lambda entry, shown: "".join(markdown(entry, sections(shown))),
    "html": lambda entry, shown: "".join(html(entry, sections(shown))),
    "json": lambda entry, shown: json.dumps(document(entry, shown, {})),
    "text": lambda entry, shown: "".join(text(sections(shown), thoughts=True, contents=True)),
}


@pytest.mark.parametrize("format", FORMATS)
async def test_every_kind_of_statement_can_be_exported(format: str) -> None:
    entry: SessionInfo = info("everything", title="All")
    written = FORMATS[format](entry, await all_of_it())
    for words in ("do it", "Hm.", "漢字", "noted", "Mind this", "short", "/p/a.py"):
        assert (json.dumps(words)[1:-1] if format == "json" else words) in written, words
    if format != "json":
        assert not set(written) & set("\x00\x1b\xff")


async def test_terminal_output_is_shown_without_escape_codes(link: Link, tmp_path: Path) -> None:
    agent = Filed(tmp_path / "s.db", [busy])
    async with link(agent) as client:
        session = await client.new_session("/project")
        await session.prompt("go")
        shown = await fold(session.id, agent.store.history(session.id))
    written = "".join(markdown(info("x"), sections(shown)))
    assert "```console\n$ make\ngreen\n```" in written
    await agent.store.close()
