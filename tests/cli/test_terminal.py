"""Questions on a terminal: forms field by field, choices by number and by word, and whatever a person may type."""

from __future__ import annotations

import asyncio
import os
import pty
import tty
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio

from accord.cli.asking import ask_login
from accord.cli.forms import fill_form, read
from accord.cli.terminal import Terminal, pick
from accord.cli.words import fit, one_line
from accord.model.requests import AuthMethod, Elicitation, Reply


class Person:
    """Sits at the other end of a terminal."""

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
def person(device: tuple[int, int]) -> Person:
    return Person(device[0])


def form(**fields: dict[str, Any]) -> Elicitation:
    required = [name for name, shape in fields.items() if shape.pop("needed", False)]
    return Elicitation(message="Please", schema={"type": "object", "properties": fields, "required": required})


async def filled(terminal: Terminal, person: Person, question: Elicitation, *answers: tuple[str, str]) -> Reply:
    reply, _ = await asyncio.gather(fill_form(terminal, question, "Tester"), person.answers(*answers))
    return reply


async def test_a_form_is_asked_field_by_field(terminal: Terminal, person: Person) -> None:
    question = form(
        name={"type": "string", "title": "Your name", "minLength": 2, "needed": True},
        age={"type": "integer", "minimum": 18, "maximum": 99, "default": 30},
        share={"type": "number"},
        news={"type": "boolean", "default": True},
        colour={"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}]},
        days={"type": "array", "items": {"enum": ["mon", "tue", "wed"]}, "minItems": 1, "maxItems": 2},
        day={"type": "string", "format": "date", "description": "When"},
        note={"type": "string"},
    )
    reply = await filled(
        terminal,
        person,
        question,
        ("Tester asks: Please", ""),
        ("Your name: ", "\n"),
        ("This one is needed.\r\n  Your name: ", "A\n"),
        ("It must have at least 2 characters.\r\n  Your name: ", "Ada\n"),
        ("age [30]: ", "seven\n"),
        ("Please type a whole number.\r\n  age [30]: ", "7\n"),
        ("It must be at least 18 and at most 99.\r\n  age [30]: ", "\n"),
        ("share (may be left empty): ", "nan\n"),
        ("Please type a number.\r\n  share (may be left empty): ", "0.5\n"),
        ("news [yes]: ", "perhaps\n"),
        ("Please type yes or no.\r\n  news [yes]: ", "no\n"),
        ("1. Red\r\n    2. Blue\r\n  colour (may be left empty): ", "3\n"),
        ("Please type a number from 1 to 2, or the beginning of a name.\r\n  colour", "bl\n"),
        ("days (may be left empty): ", "1, 2, 3\n"),
        ("Please choose at least 1 and at most 2.\r\n  days", "mon 9\n"),
        ("Please type numbers from the list, with commas between.\r\n  days", "1,wed\n"),
        ("  When\r\n  day (may be left empty): ", "tomorrow\n"),
        ("Please type a date such as 2030-01-31.\r\n  day", "2030-02-28\n"),
        ("note (may be left empty): ", "\n"),
        ("Send this? 1. yes  2. no: ", "y\n"),
    )
    assert reply == Reply(
        action="accept",
        content={
            "name": "Ada",
            "age": 30,
            "share": 0.5,
            "news": False,
            "colour": "b",
            "days": ["mon", "wed"],
            "day": "2030-02-28",
        },
    )


async def test_a_form_can_be_declined_or_left(terminal: Terminal, person: Person) -> None:
    question = form(a={"type": "string"})
    assert (await filled(terminal, person, question, ("a (may", "x\n"), ("Send this?", "2\n"))).action == "decline"
    assert (await filled(terminal, person, question, ("a (may", "\x04"))).action == "cancel"
    assert (await filled(terminal, person, question, ("a (may", "\n"), ("Send this?", "\x04"))).action == "cancel"


@pytest.mark.parametrize(
    "url, words",
    [
        ("https://example.org/login", "host: example.org\r\n"),
        ("https://example.org@evil.example/", "host: evil.example (be careful: what stands before the @"),
        ("https://xn--80ak6aa92e.com/", "(be careful: its letters may only look like"),
        ("http://example.org/", "(be careful: not over https but http)"),
        ("https://[", "be careful"),
    ],
)
async def test_a_page_is_named_with_its_host_and_never_opened(
    terminal: Terminal, person: Person, url: str, words: str
) -> None:
    question = Elicitation(message="Visit", mode="url", url=url, id="e")
    assert (await filled(terminal, person, question, (words, ""), ("1. done", "1\n"))).action == "accept"
    assert (await filled(terminal, person, question, ("1. done", "no\n"))).action == "decline"


async def test_what_was_typed_before_a_question_is_no_answer_to_it(terminal: Terminal, person: Person) -> None:
    os.write(person.fd, b"2\n1\n")
    methods = [AuthMethod(id="a", name="A browser"), AuthMethod(id="k", name="A key", description="from a file")]
    asking = asyncio.ensure_future(ask_login(terminal, methods))
    await person.reads("2. A key (from a file)")
    await person.reads("Your choice: ")
    assert not asking.done()
    os.write(person.fd, b"a key\n")
    assert await asking == methods[1]


async def test_two_questions_are_asked_one_after_the_other(terminal: Terminal, person: Person) -> None:
    methods = [AuthMethod(id="a", name="A")]
    first, second = (asyncio.ensure_future(ask_login(terminal, methods)) for _ in range(2))
    await person.answers(("Your choice: ", "1\n"))
    assert await first == methods[0]
    await person.answers(("Your choice: ", "2\n"))
    assert await second is None


async def test_a_question_that_is_withdrawn_leaves_the_terminal_free(terminal: Terminal, person: Person) -> None:
    asking = asyncio.ensure_future(ask_login(terminal, []))
    await person.reads("Your choice: ")
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert (await filled(terminal, person, form(), ("Send this?", "1\n"))).content == {}


async def test_a_terminal_that_goes_away_is_the_end_of_input(device: tuple[int, int]) -> None:
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    asking = asyncio.ensure_future(ask_login(Terminal(theirs, device[1]), []))
    await Person(device[0]).reads("Your choice: ")
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
def test_a_choice_is_meant_by_its_number_or_the_beginning_of_its_name(said: str, place: int | None) -> None:
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
def test_what_is_typed_is_read_as_its_field_wants_it(shape: dict[str, Any], said: str, value: Any) -> None:
    assert read(shape, [], said)[0] == value


def test_nothing_that_is_shown_can_play_tricks() -> None:
    assert fit("a\x1b[2Kb\rc\nd\te") == "a\\x1b[2Kb\\rc\nd\te"
    assert fit("dos\r\n\x07") == "dos\n\\x07"
    assert fit("\u202egpj.exe") == "\\u202egpj.exe"
    assert fit("plain\r\n") == "plain\n"
    assert one_line("a\n  b\tc " + "x" * 400) == "a b c " + "x" * 293 + "…"
