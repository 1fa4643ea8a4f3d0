"""Files with odd names: every suggestion after an `@` is attached when sent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.tui_driver import Opened

from accord.agent.agent import Agent
from accord.agent.turn import Turn
from accord.cli.support.attachments import find_mentions, prompt_content
from accord.client.offers import AgentOffers
from accord.tui.prompt.completion import files_for
from accord.tui.prompt.files import Files
from accord.tui.prompt.paste import mention, mentions

ODD = [
    '"quoted".txt',
    "'quoted'.txt",
    "it's.txt",
    "it's a file.txt",
    'a "b" c.txt',
    "~nobody",
    "~",
    "~/a",
    "spaced out.txt",
    "nine\u00a0lives.txt",
    "dotted...",
    "(all).txt",
    "a.txt:12",
    "[bold]x.txt",
]


class Echo(Agent):
    async def prompt(self, turn: Turn) -> None:
        await turn.say(f"You said: {turn.text}")


@pytest.mark.parametrize("name", ODD)
def test_every_suggested_file_is_found_in_the_prompt(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("it")
    offered = files_for("", Files(tmp_path).matching("") or [])[-1]
    assert list(dict.fromkeys(each.path for each in find_mentions(f"look at {offered.text}please", tmp_path))) == [
        tmp_path / name
    ]
    assert mentions([tmp_path / name], tmp_path) == offered.text


@pytest.mark.parametrize(
    "name", ["new\nline.txt", "bad\udcff.txt", "bell\x07.txt", "a\tb", "\u202etxt.exe", "a 'b' \"c\""]
)
def test_a_file_that_cannot_be_mentioned_is_not_suggested(tmp_path: Path, name: str) -> None:
    try:
        (tmp_path / name).write_text("it")
    except (OSError, UnicodeError):
        pytest.skip("no file can have this name here")
    (tmp_path / "good.txt").write_text("it")
    assert Files(tmp_path).matching("") == ["good.txt"]
    assert mention(name) is None
    assert mentions([tmp_path / name, tmp_path / "good.txt"], tmp_path) == ""


def test_files_in_a_directory_that_cannot_be_mentioned_are_not_suggested(tmp_path: Path) -> None:
    (tmp_path / "new\nline").mkdir()
    (tmp_path / "new\nline" / "good.txt").write_text("it")
    assert Files(tmp_path).matching("") == []


def test_a_link_to_a_file_with_an_undecodable_name_can_be_sent(tmp_path: Path) -> None:
    bad = os.path.join(os.fsencode(tmp_path), b"bad\xff.bin")
    try:
        Path(os.fsdecode(bad)).write_bytes(b"\xff")
    except (OSError, UnicodeError):
        pytest.skip("no file can have this name here")
    (tmp_path / "good").symlink_to(os.fsdecode(bad))
    _, link = prompt_content("@good", (), tmp_path, AgentOffers(version=1))
    assert link.name == "bad?.bin"
    assert link.uri.endswith("bad%FF.bin")


async def test_characters_that_no_message_can_contain_are_replaced(opened: Opened) -> None:
    async with opened(Echo()) as chat:
        await chat.send("hello \udcff there")
        await chat.until("You said: hello \N{REPLACEMENT CHARACTER} there")
