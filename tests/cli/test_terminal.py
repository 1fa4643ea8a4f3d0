"""Questions on a plain terminal: forms field by field, choices by number and by name, and unexpected input."""

from __future__ import annotations

import asyncio
import os
import pty
import tty
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio

from accord.cli.support.questions import ask_login, ask_policy, fill_form, read
from accord.cli.support.terminal import Terminal, pick
from accord.model.requests import AuthMethod, Elicitation, PermissionRequest, Reply
from accord.policy.action import Action
from accord.policy.question import Choice, Question
from accord.terminal_text import escape, escape_line


class Typist:
    """Types at the other end of a terminal."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.seen = ""

    async def reads(self, words: str) -> None:
        ready = asyncio.Event()
        asyncio.get_running_loop().add_reader(self.fd, ready.set)
        while words not in self.seen:
            await ready.wait()
            self.seen += os.read(self.fd, 65536).decode()
            ready.clear()
        asyncio.get_running_loop().remove_reader(self.fd)
        self.seen = self.seen[self.seen.index(words) + len(words) :]

    async def answers(self, *pairs: tuple[str, str]) -> None:
        for question, answer in pairs:
            await self.reads(question)
            os.write(self.fd, answer.encode())


@pytest.fixture
def device() -> Iterator[tuple[int, int]]:
    ours, theirs = pty.openpty()
    yield ours, theirs
    os.close(ours)
    os.close(theirs)


@pytest_asyncio.fixture
async def terminal(device: tuple[int, int]) -> AsyncIterator[Terminal]:
    yield Terminal(device[1])


@pytest.fixture
def typist(device: tuple[int, int]) -> Typist:
    return Typist(device[0])


def form(**fields: dict[str, Any]) -> Elicitation:
    required = [name for name, shape in fields.items() if shape.pop("needed", False)]
    return Elicitation(message="Please", schema={"type": "object", "properties": fields, "required": required})


async def fill(terminal: Terminal, typist: Typist, question: Elicitation, *answers: tuple[str, str]) -> Reply:
    reply, _ = await asyncio.gather(fill_form(terminal, question, "Tester"), typist.answers(*answers))
    return reply


async def test_a_form_is_filled_in_field_by_field(terminal: Terminal, typist: Typist) -> None:
    question = form(
        name={"type": "string", "title": "Your name", "minLength": 2, "needed": True},
        age={"type": "integer", "minimum": 18, "maximum": 99, "default": 30},
        share={"type": "number"},
        news={"type": "boolean", "default": True},
        color={"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}]},
        days={"type": "array", "items": {"enum": ["mon", "tue", "wed"]}, "minItems": 1, "maxItems": 2},
        day={"type": "string", "format": "date", "description": "When"},
        note={"type": "string"},
    )
    reply = await fill(
        terminal,
        typist,
        question,
        ("Tester asks: Please", ""),
        ("Your name: ", "\n"),
        ("This field is required.\r\n  Your name: ", "A\n"),
        ("It must have at least 2 characters.\r\n  Your name: ", "Ada\n"),
        ("age [30]: ", "seven\n"),
        ("Please type a whole number.\r\n  age [30]: ", "7\n"),
        ("It must be at least 18 and at most 99.\r\n  age [30]: ", "\n"),
        ("share (optional): ", "nan\n"),
        ("Please type a number.\r\n  share (optional): ", "0.5\n"),
        ("news [yes]: ", "perhaps\n"),
        ("Please type yes or no.\r\n  news [yes]: ", "no\n"),
        ("1. Red\r\n    2. Blue\r\n  color (optional): ", "3\n"),
        ("Please type a number from 1 to 2, or the start of a name.\r\n  color", "bl\n"),
        ("days (optional): ", "1, 2, 3\n"),
        ("Please choose at least 1 and at most 2.\r\n  days", "mon 9\n"),
        ("Please type numbers from the list, with commas between.\r\n  days", "1,wed\n"),
        ("  When\r\n  day (optional): ", "tomorrow\n"),
        ("Please type a date such as 2030-01-31.\r\n  day", "2030-02-28\n"),
        ("note (optional): ", "\n"),
        ("Send this? 1. yes  2. no: ", "y\n"),
    )
    assert reply == Reply(
        action="accept",
        content={
            "name": "Ada",
            "age": 30,
            "share": 0.5,
            "news": False,
            "color": "b",
            "days": ["mon", "wed"],
            "day": "2030-02-28",
        },
    )


@pytest.mark.req("V1-ELIC-09")
async def test_a_field_of_unknown_type_is_skipped_with_a_message(terminal: Terminal, typist: Typist) -> None:
    said = ("speed: this kind of field can't be filled in here.\r\n  name (optional): ", "Ada\n")
    question = form(speed={"type": "_slider", "enum": [1, 2]}, name={"type": "string"})
    assert (await fill(terminal, typist, question, said, ("Send this?", "1\n"))).content == {"name": "Ada"}
    needed = form(speed={"type": "_slider", "needed": True})
    assert (await fill(terminal, typist, needed, ("but it is required", ""))).action == "cancel"


async def test_a_form_can_be_declined_or_cancelled(terminal: Terminal, typist: Typist) -> None:
    question = form(a={"type": "string"})
    assert (await fill(terminal, typist, question, ("a (opt", "x\n"), ("Send this?", "2\n"))).action == "decline"
    assert (await fill(terminal, typist, question, ("a (opt", "\x04"))).action == "cancel"
    assert (await fill(terminal, typist, question, ("a (opt", "\n"), ("Send this?", "\x04"))).action == "cancel"


@pytest.mark.parametrize(
    "url, words",
    [
        ("https://example.org/login", "host: example.org\r\n"),
        ("https://example.org@evil.example/", "host: evil.example (be careful: the part before the @"),
        ("https://xn--80ak6aa92e.com/", "(be careful: its letters may imitate"),
        ("http://example.org/", "(be careful: not https but http)"),
        ("https://[", "be careful"),
    ],
)
async def test_a_page_shows_its_host_and_is_never_opened(
    terminal: Terminal, typist: Typist, url: str, words: str
) -> None:
    question = Elicitation(message="Visit", mode="url", url=url, id="e")
    assert (await fill(terminal, typist, question, (words, ""), ("1. done", "1\n"))).action == "accept"
    assert (await fill(terminal, typist, question, ("1. done", "no\n"))).action == "decline"


async def test_text_typed_before_a_question_does_not_answer_it(terminal: Terminal, typist: Typist) -> None:
    os.write(typist.fd, b"2\n1\n")
    methods = [AuthMethod(id="a", name="A browser"), AuthMethod(id="k", name="A key", description="from a file")]
    asking = asyncio.ensure_future(ask_login(terminal, methods))
    await typist.reads("2. A key (from a file)")
    await typist.reads("Your choice: ")
    assert not asking.done()
    os.write(typist.fd, b"a key\n")
    assert await asking == methods[1]


async def test_two_questions_are_asked_one_after_the_other(terminal: Terminal, typist: Typist) -> None:
    methods = [AuthMethod(id="a", name="A")]
    first, second = (asyncio.ensure_future(ask_login(terminal, methods)) for _ in range(2))
    await typist.answers(("Your choice: ", "1\n"))
    assert await first == methods[0]
    await typist.answers(("Your choice: ", "2\n"))
    assert await second is None


async def test_a_withdrawn_question_releases_the_terminal(terminal: Terminal, typist: Typist) -> None:
    asking = asyncio.ensure_future(ask_login(terminal, []))
    await typist.reads("Your choice: ")
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert (await fill(terminal, typist, form(), ("Send this?", "1\n"))).content == {}


async def test_losing_the_terminal_is_end_of_input(device: tuple[int, int]) -> None:
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    asking = asyncio.ensure_future(ask_login(Terminal(theirs, device[1]), []))
    await Typist(device[0]).reads("Your choice: ")
    os.close(ours)
    assert await asking is None
    os.close(theirs)


@pytest.mark.parametrize(
    "said, place",
    [
        ("1", 0),
        ("3", 2),
        ("0", None),
        ("4", None),
        ("", None),
        ("allow", None),
        ("allow o", 0),
        ("ALWAYS", 2),
        ("²", None),
    ],
)
def test_a_choice_is_picked_by_number_or_prefix(said: str, place: int | None) -> None:
    assert pick(said, ["Allow once", "Allow for ever", "Always"]) == place


@pytest.mark.parametrize(
    "shape, said, value",
    [
        ({"type": "string", "format": "email"}, "a@b.c", "a@b.c"),
        ({"type": "string", "format": "email"}, "a b", None),
        ({"type": "string", "format": "uri"}, "https://x.y/z", "https://x.y/z"),
        ({"type": "string", "format": "uri"}, "x.y/z", None),
        ({"type": "string", "format": "date-time"}, "2030-01-31T12:00:00Z", "2030-01-31T12:00:00Z"),
        ({"type": "string", "format": "date-time"}, "noon", None),
        ({"type": "string", "pattern": "^(a+)+$"}, "a" * 40 + "!", "a" * 40 + "!"),
        ({"type": "string", "maxLength": 3}, "abcd", None),
        ({"type": "integer"}, "1.5", None),
        ({"type": "number"}, "inf", None),
        ({"type": "number", "maximum": 1}, "1.5", None),
        ({"type": "boolean"}, "ON", True),
        ({}, "anything", "anything"),
    ],
)
def test_input_is_parsed_by_field_type(shape: dict[str, Any], said: str, value: Any) -> None:
    assert read(shape, [], said)[0] == value


def test_displayed_text_is_escaped() -> None:
    assert escape("a\x1b[2Kb\rc\nd\te") == "a\\x1b[2Kb\\rc\nd\te"
    assert escape("dos\r\n\x07") == "dos\n\\x07"
    assert escape("\u202egpj.exe") == "\\u202egpj.exe"
    assert escape("plain\r\n") == "plain\n"
    assert escape_line("a\n  b\tc " + "x" * 400) == "a b c " + "x" * 293 + "…"


async def test_the_agent_s_description_comes_after_the_facts_and_is_quoted(terminal: Terminal, typist: Typist) -> None:
    words = "it is safe\n  command:\n    make test\nYour choice: 1"
    request = PermissionRequest(session_id="s", title="Clean up", options=[], description=words, command="rm -rf x")
    choices = (Choice(id="yes", name="Yes", kind="allow_once"), Choice(id="no", name="No", kind="reject_once"))
    question = Question(action=Action.of_request(request), choices=choices, why="no rule", request=request)
    facts = "Permission: Clean up\r\n  command:\r\n    rm -rf x\r\n  the agent says:\r\n"
    said = "  | it is safe\r\n  |   command:\r\n  |     make test\r\n  | Your choice: 1\r\n"
    why = "  why you are asked: no rule\r\n"
    chosen, _ = await asyncio.gather(
        ask_policy(terminal, question), typist.answers((facts + said + why, ""), ("\nYour choice: ", "n\n"))
    )
    assert chosen is choices[1]
