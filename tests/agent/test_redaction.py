"""Secrets that are split over several updates are redacted in what is sent and in what is saved."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest
from support.link import Link

from accord import Agent, AgentSession, Turn
from accord.agent.redaction import StatementRedaction
from accord.config.redaction import MASK, count_held, redact_known
from accord.model.content import TextContent
from accord.model.statement import MessageChunk, Statement, TerminalData
from accord.store.memory import MemoryStore

KEY = "sk-ant-api03-0123456789abcdef"
LONGER = f"{KEY}-of-the-second-account"
PERIODIC = "abcabcabcabcX"
SECRETS = {KEY, LONGER, PERIODIC}


class Redactor:
    def redact_statement(self, statement: Statement) -> Statement:
        redacted: Statement = redact_known(statement, SECRETS)
        return redacted

    def count_held(self, text: str | bytes) -> int:
        if isinstance(text, str):
            return count_held(text, SECRETS)
        return count_held(text, {secret.encode() for secret in SECRETS})


def say(pieces: Iterable[str]) -> list[str]:
    """Return the texts that are sent for these chunks of one message."""
    redaction = StatementRedaction(Redactor())
    sent: list[Statement] = []
    for piece in pieces:
        sent += redaction.feed(MessageChunk(role="agent", message_id="m", content=TextContent(piece)))
    sent += redaction.release_all()
    return [
        said.content.text for said in sent if isinstance(said, MessageChunk) and isinstance(said.content, TextContent)
    ]


def is_clean(texts: Iterable[str], text: str) -> bool:
    clean: str = redact_known(text, SECRETS)
    return "".join(texts) == clean


@pytest.mark.parametrize("key", sorted(SECRETS))
def test_a_key_is_redacted_wherever_two_chunks_divide_it(key: str) -> None:
    text = f"It is {key}, not {key[:9]} or abcabcabc."
    splits = [[text[:at], text[at:]] for at in range(len(text) + 1)]
    assert [at for at, pieces in enumerate(splits) if not is_clean(say(pieces), text)] == []


@pytest.mark.parametrize("key", sorted(SECRETS))
@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 11])
def test_a_key_is_redacted_in_chunks_of_any_size(key: str, size: int) -> None:
    text = f"{key}{key} and {PERIODIC[:6]}{key}, {key[:-1]}"
    assert is_clean(say(text[at : at + size] for at in range(0, len(text), size)), text)


def test_a_key_that_is_the_start_of_a_longer_one_waits_for_the_rest() -> None:
    assert "".join(say([KEY, LONGER[len(KEY) :]])) == MASK
    assert "".join(say([KEY, " is the first"])) == f"{MASK} is the first"
    assert "".join(say([KEY])) == MASK


def test_no_more_than_the_longest_key_is_held_back() -> None:
    redaction, text = StatementRedaction(Redactor()), "abc" * 1000
    sent = redaction.feed(MessageChunk(role="agent", message_id="m", content=TextContent(text)))
    (said,) = sent
    assert isinstance(said, MessageChunk) and isinstance(said.content, TextContent)
    assert len(text) - len(said.content.text) < max(map(len, SECRETS))


@pytest.mark.parametrize("at", range(1, len(KEY)))
def test_output_of_a_terminal_is_redacted_wherever_two_pieces_divide_a_key(at: int) -> None:
    redaction, output = StatementRedaction(Redactor()), f"before {KEY} after".encode()
    pieces = [output[: 7 + at], output[7 + at :]]
    sent = [each for piece in pieces for each in redaction.feed(TerminalData(id="t", data=piece))]
    assert [each.data for each in sent if isinstance(each, TerminalData)] == [b"before ", f"{MASK} after".encode()]


@pytest.mark.parametrize("at", [1, 2, 12, len(KEY) - 1])
async def test_nothing_that_streams_shows_or_saves_a_divided_key(link: Link, at: int) -> None:
    class Careless(Agent):
        store = MemoryStore()

        async def new_session(self, session: AgentSession) -> None:
            session.redactor = Redactor()

        async def prompt(self, turn: Turn) -> None:
            for send in (turn.say, turn.think):
                await send(f"now {KEY[:at]}")
                await send(f"{KEY[at:]} then")
            async with turn.tool("Print it") as tool:
                terminal = turn.session.display_terminal("cat key")
                await tool.show(terminal)
                await terminal.write(f"now {KEY[:at]}")
                await terminal.write(f"{KEY[at:]} then")
                await terminal.exit()

    agent = Careless()
    async with link(agent) as client:
        session = await client.new_session()
        seen = [repr(event) async for event in session.prompt("go")]
        saved = [msgspec.json.encode(each) async for each in agent.store.history(session.id)]
        shown = repr(session.transcript.timeline) + repr(session.transcript.terminals)

    assert session.transcript.text == f"now {MASK} then"
    for part in (KEY[:9], KEY[-9:]):
        assert not any(part in text for text in [*seen, shown])
        assert not any(part.encode() in text for text in saved)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 11])
def test_a_key_in_colors_is_redacted_however_terminal_data_is_divided(size: int) -> None:
    for at in range(1, len(KEY)):
        data = f"\x1b[1mit is\x1b[0m \x1b[31m{KEY[:at]}\x1b[0m\x1b[K{KEY[at:]}, \x1b[2mnot sk-ant\x1b[0m".encode()
        redaction = StatementRedaction(Redactor())
        sent: list[Statement] = []
        for start in range(0, len(data), size):
            sent += redaction.feed(TerminalData(id="t", data=data[start : start + size]))
        sent += redaction.release_all()
        shown = b"".join(each.data for each in sent if isinstance(each, TerminalData))
        expected = f"\x1b[1mit is\x1b[0m \x1b[31m{MASK}\x1b[0m\x1b[K, \x1b[2mnot sk-ant\x1b[0m"
        assert shown == expected.encode(), at
