"""Setting whatever a session lets be set, by id, kind or name; and what is said when that cannot be."""

from __future__ import annotations

from collections.abc import AsyncIterator

import click
import pytest
import pytest_asyncio
from linked import Link

from accord import Agent, Choice, Mode, Option, Turn
from accord.cli.options import pairs, set_options
from accord.client.session import Session


class Settable(Agent):
    modes = [Mode(id="ask", name="Ask"), Mode(id="code", name="Write code")]
    options = [
        Option(
            id="effort",
            name="Effort",
            value="low",
            choices=[Choice(value="low", name="Low"), Choice(value="high", name="High")],
        ),
        Option(id="web", name="Search the web", value=False),
    ]

    async def prompt(self, turn: Turn) -> None:
        await turn.say("hello")


@pytest_asyncio.fixture
async def session(link: Link) -> AsyncIterator[Session]:
    async with link(Settable()) as client:
        yield await client.new_session()


async def test_an_option_is_found_by_its_id_its_kind_or_its_name(session: Session) -> None:
    await set_options(session, [("mode", "WRITE CODE"), ("Effort", "high"), ("search the web", "on")])
    assert {option.id: option.value for option in session.options} == {"mode": "code", "effort": "high", "web": True}
    for word in ("off", "no", "false", "0"):
        await set_options(session, [("web", "yes"), ("web", word)])
        assert session.option("web").value is False  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("efort", "low", "this agent has no option 'efort': did you mean effort?"),
        ("zzz", "low", "this agent has no option 'zzz': there are"),
        ("effort", "hihg", "effort cannot be 'hihg': did you mean high?"),
        ("effort", "zzz", "effort cannot be 'zzz': there are low, high"),
        ("web", "perhaps", "web is on or off, not 'perhaps'"),
        ("mode", "cod", "mode cannot be 'cod': did you mean code?"),
    ],
)
async def test_what_cannot_be_set_is_said_with_the_nearest_names(
    session: Session, name: str, value: str, words: str
) -> None:
    with pytest.raises(click.UsageError) as caught:
        await set_options(session, [(name, value)])
    assert caught.value.message.startswith(words)


async def test_an_agent_with_nothing_to_set_says_so(link: Link) -> None:
    class Plain(Agent):
        async def prompt(self, turn: Turn) -> None: ...

    async with link(Plain()) as client:
        with pytest.raises(click.UsageError, match="there is nothing to set"):
            await set_options(await client.new_session(), [("mode", "ask")])


def test_mode_and_model_are_set_before_what_they_may_bring() -> None:
    assert pairs("m", "x", ["a = b=c", "d="]) == [("mode", "m"), ("model", "x"), ("a", "b=c"), ("d", "")]
    for text in ("a", "=b"):
        with pytest.raises(click.UsageError, match="--set takes OPTION=VALUE"):
            pairs(None, None, [text])
