"""Setting a session's options by id, kind or name, and the errors if that fails."""

from __future__ import annotations

from collections.abc import AsyncIterator

import click
import pytest
import pytest_asyncio
from support.link import Link

from accord import AccordError, Agent, AgentSession, Choice, InvalidParams, Mode, Option, Turn
from accord.cli.support.options import parse_options, set_options
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


async def test_an_option_is_found_by_its_id_kind_or_name(session: Session) -> None:
    await set_options(session, [("mode", "WRITE CODE"), ("Effort", "high"), ("search the web", "on")])
    assert {option.id: option.value for option in session.options} == {"mode": "code", "effort": "high", "web": True}
    for word in ("off", "no", "false", "0"):
        await set_options(session, [("web", "yes"), ("web", word)])
        assert session.option("web").value is False  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("efort", "low", "this agent has no option 'efort'; did you mean effort?"),
        ("zzz", "low", "this agent has no option 'zzz'; available:"),
        ("effort", "hihg", "unknown effort 'hihg'; did you mean high?"),
        ("effort", "zzz", "unknown effort 'zzz'; available: low, high"),
        ("web", "perhaps", "web must be on or off, not 'perhaps'"),
        ("mode", "cod", "unknown mode 'cod'; did you mean code?"),
    ],
)
async def test_an_unknown_option_or_value_is_reported_with_similar_names(
    session: Session, name: str, value: str, words: str
) -> None:
    with pytest.raises(click.UsageError) as caught:
        await set_options(session, [(name, value)])
    assert caught.value.message.startswith(words)


class Models(Agent):
    options = [
        Option(id="model", name="Model", value="small", category="model", choices=[Choice(value="small", name="Small")])
    ]

    async def unlisted_choice(self, session: AgentSession, option: Option, value: str) -> Choice | None:
        if value == "locked":
            raise InvalidParams("it needs a key")
        return Choice(value=value.lower(), name=value) if value != "unknown" else None

    async def prompt(self, turn: Turn) -> None: ...


async def test_a_model_that_is_not_listed_is_passed_to_the_agent(link: Link) -> None:
    async with link(Models()) as client:
        session = await client.new_session()
        await set_options(session, [("model", "Newest")])
        assert session.option("model").value == "newest"  # type: ignore[union-attr]
        with pytest.raises(AccordError, match=r"^couldn't use the model 'locked': it needs a key$"):
            await set_options(session, [("model", "locked")])
        with pytest.raises(AccordError, match=r"^couldn't use the model 'unknown': .* may be newest, small$"):
            await set_options(session, [("model", "unknown")])


async def test_setting_an_option_fails_if_the_agent_has_none(link: Link) -> None:
    class Plain(Agent):
        async def prompt(self, turn: Turn) -> None: ...

    async with link(Plain()) as client:
        with pytest.raises(click.UsageError, match="it has no options"):
            await set_options(await client.new_session(), [("mode", "ask")])


def test_mode_and_model_are_set_before_options_that_may_depend_on_them() -> None:
    assert parse_options("m", "x", ["a = b=c", "d="]) == [("mode", "m"), ("model", "x"), ("a", "b=c"), ("d", "")]
    for text in ("a", "=b"):
        with pytest.raises(click.UsageError, match="--set takes OPTION=VALUE"):
            parse_options(None, None, [text])
