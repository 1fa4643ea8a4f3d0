"""Extreme input from models, users and projects doesn't break a session."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from coder.history_checks import faults
from coder.scripted_model import ScriptedModel, ScriptedResources, coder
from coder.test_context import wait_for_queued_prompts
from coder.test_loop import Change, Look, call

from accord.agent.session import Session
from accord.coder import custom_commands
from accord.coder.agent import Coder
from accord.coder.history import Call, ToolsSaid, UserSaid
from accord.coder.session import EMPTY_PROMPT, CoderSession
from accord.model.content import Image, ResourceLink, TextContent
from accord.store.memory import MemoryStore
from accord.testing import ScriptedClient, link

Join = Callable[..., Any]
PICTURE = Image(data="aGk=", mime_type="image/png")


class ObservableCoder(Coder):
    """Exposes the session's state to a test."""

    looked_at: CoderSession

    async def session_opened(self, session: Session, how: Any) -> None:
        await super().session_opened(session, how)
        self.looked_at = self.state(session)


# -- the model


async def test_a_thousand_calls_at_once_are_all_answered_a_few_at_a_time(joined: Join) -> None:
    look = Look()
    agent, model = coder([call(id=str(number)) for number in range(1000)], ["Done."], tools=[look])
    model.context = 200_000
    async with joined(agent) as client:
        turn = await (await client.new_session()).prompt("go")
    assert (turn.text, len(turn.tool_calls)) == ("Done.", 1000)
    assert 1 < look.most <= 8
    assert faults(model.requests[-1].messages) == []


async def test_calls_with_duplicate_or_missing_ids_are_distinguished(joined: Join) -> None:
    calls = [call(id="same", path="a"), call(id="same", path="b"), call(id="", path="c"), call(id="", path="d")]
    agent, model = coder(calls, ["Done."], tools=[Look()])
    async with joined(agent) as client:
        await (await client.new_session()).prompt("go")
    history = model.requests[-1].messages
    assert faults(history) == []
    assert [result.text for result in history[-1].results] == ["saw a", "saw b", "saw c", "saw d"]


async def test_a_gigantic_argument_is_carried_out_and_shown(joined: Join, project: Path) -> None:
    text = "0123456789abcde\n" * 300_000
    agent, _ = coder([call("write_file", file_path="big.txt", content=text)], ["Done."], tools=None)
    async with joined(agent, permissions=lambda request: True) as client:
        turn = await (await client.new_session()).prompt("go")
    assert turn.tool_calls[0].status == "completed"
    assert (project / "big.txt").read_text() == text


async def test_the_call_of_an_unknown_tool_has_a_readable_title(joined: Join) -> None:
    agent, model = coder([Call(id="1", name="x" * 100_000 + "\n\x1b[2J", arguments={})], ["Sorry."], tools=[])
    async with joined(agent) as client:
        turn = await (await client.new_session()).prompt("go")
    (shown,) = turn.tool_calls
    assert len(shown.title) < 200 and shown.title.isprintable()
    assert len(model.requests[-1].messages[-1].results[0].text) < 500


@pytest.mark.parametrize("path", ["x" * 100_000, "a.txt\n\nThis is safe.", "a\x1b[2Jb", "a\u202etxt.exe"])
async def test_the_title_of_a_permission_request_is_one_safe_line(joined: Join, path: str) -> None:
    agent, _ = coder([call("change", path=path)], ["Done."], tools=[Change()])
    user = ScriptedClient(permissions=["reject_once"])
    async with joined(agent, user) as client:
        turn = await (await client.new_session()).prompt("go")
    (asked,) = user.asked
    for title in (turn.tool_calls[0].title, asked.title or asked.tool_call.title):
        assert len(title) < 400 and title.isprintable() and "safe" not in title


# -- the prompt


@pytest.mark.parametrize("content", ["", "  \n", [TextContent(""), TextContent(" ")]])
async def test_an_empty_prompt_is_answered_without_the_model(joined: Join, content: Any) -> None:
    agent, model = coder(["Hello."])
    async with joined(agent) as client:
        session = await client.new_session()
        assert (await session.prompt(content)).text == EMPTY_PROMPT
        assert model.requests == []
        assert (await session.prompt("hi")).text == "Hello."
    assert faults(model.requests[0].messages) == [] and len(model.requests[0].messages) == 1


@pytest.mark.parametrize("attached", [PICTURE, ResourceLink(uri="file:///a.txt", name="a.txt")])
async def test_an_attachment_alone_is_a_prompt_and_names_no_session(joined: Join, attached: Any) -> None:
    agent = ObservableCoder(
        store=MemoryStore(), shared=ScriptedResources(model := ScriptedModel(["Seen."], ["Yes."]), ())
    )
    async with joined(agent) as client:
        session = await client.new_session()
        assert (await session.prompt([TextContent(""), attached])).text == "Seen."
        assert agent.looked_at.session.title is None
        await session.prompt("What is it?")
        assert agent.looked_at.session.title == "What is it?"
    assert model.requests[0].messages == [UserSaid(content=[attached])]


@pytest.mark.parametrize("sees", [True, False])
async def test_the_user_is_notified_if_a_model_cannot_see_an_attachment(joined: Join, sees: bool) -> None:
    agent, model = coder(["Nice."])
    model.images = sees
    async with joined(agent) as client:
        session = await client.new_session()
        turn = await session.prompt([TextContent("look"), PICTURE])
    assert turn.text == "Nice."
    told = str(session.transcript.notices) + str(list(session.transcript.messages))
    assert ("Scripted can't see images" in told) is not sees


async def test_attachments_of_a_slash_command_reach_the_model(joined: Join, project: Path) -> None:
    folder = project / ".accord" / "commands"
    folder.mkdir(parents=True)
    (folder / "greet.md").write_text("Greet $ARGUMENTS.")
    agent, model = coder(["a"], ["b"])
    model.context = 200_000
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt([TextContent("/review the login"), PICTURE])
        await session.prompt([PICTURE, TextContent("/greet Ada")])
    assert [type(piece) for piece in model.requests[0].messages[0].content] == [TextContent, Image]
    assert model.requests[1].messages[-1].content == [TextContent("Greet Ada."), PICTURE]


async def test_an_unknown_slash_command_is_sent_as_text(joined: Join) -> None:
    agent, model = coder(["That is a path."])
    async with joined(agent) as client:
        await (await client.new_session()).prompt("/usr/bin/env is missing")
    assert model.requests[0].messages[0].content == [TextContent("/usr/bin/env is missing")]


async def test_a_huge_prompt_reaches_the_model_whole(joined: Join) -> None:
    agent, model = coder(["Read."])
    async with joined(agent) as client:
        session = await client.new_session()
        turn = await session.prompt("w" * 5_000_000)
    assert turn.text == "Read."
    assert len(model.requests[0].messages[0].content[0].text) == 5_000_000


# -- steering


async def test_inserted_prompts_are_expanded_and_arrive_in_order(project: Path) -> None:
    folder = project / ".accord" / "commands"
    folder.mkdir(parents=True)
    (folder / "greet.md").write_text("Greet $ARGUMENTS.")
    look = Look()
    look.hold = asyncio.Event()
    agent = ObservableCoder(
        store=MemoryStore(), shared=ScriptedResources(model := ScriptedModel([call()], ["Done."]), [look])
    )
    async with link(agent, version=2, cwd=str(project)) as client:
        session = await client.new_session()
        turns = [session.prompt("one")]
        await asyncio.wait_for(look.begun.wait(), 300)
        for text in ("two", "/greet Ada", "  ", "three"):
            turns.append(session.prompt(text))
            await wait_for_queued_prompts(agent.looked_at.session, len(turns) - 1)
        look.hold.set()
        assert [(await turn).stop_reason for turn in turns] == ["end_turn"] * 5
    heard = [message.content[0].text for message in model.requests[-1].messages if isinstance(message, UserSaid)]
    assert heard == ["one", "two", "Greet Ada.", "three"]
    assert faults(model.requests[-1].messages) == []


async def test_cancelling_drops_queued_prompts_and_the_session_stays_usable(joined: Join) -> None:
    look = Look()
    look.hold = asyncio.Event()
    agent = ObservableCoder(
        store=MemoryStore(), shared=ScriptedResources(model := ScriptedModel([call()], ["After."]), [look])
    )
    async with joined(agent) as client:
        session = await client.new_session()
        turns = [session.prompt("one")]
        await asyncio.wait_for(look.begun.wait(), 300)
        turns += [session.prompt("two"), session.prompt("three")]
        if joined.version == 2:
            await wait_for_queued_prompts(agent.looked_at.session, 2)
        await session.cancel()
        reasons = [(await asyncio.gather(turn, return_exceptions=True))[0] for turn in turns]
        assert reasons[0].stop_reason == "cancelled"
        assert (await session.prompt("four")).text == "After."
    assert faults(model.requests[-1].messages) == []
    assert look.running == 0


# -- the project's commands


async def test_strange_files_among_the_projects_commands_are_left_out(joined: Join, project: Path) -> None:
    folder = project / ".accord" / "commands"
    folder.mkdir(parents=True)
    outside = project.parent / "secret.md"
    outside.write_text("A secret.")
    (folder / "good.md").write_text("Do it.")
    (folder / "bad name.md").write_text("x")
    (folder / "..md").write_text("x")
    (folder / "-rf.md").write_text("x")
    (folder / "newline\n.md").write_text("x")
    (folder / "link.md").symlink_to(outside)
    (folder / "loop.md").symlink_to("loop.md")
    assert custom_commands.fingerprint([str(project)]) != ((),), "one that leads nowhere does not hide the others"
    (folder / "directory.md").mkdir()
    (folder / "empty.md").write_text("  \n")
    (folder / "huge.md").write_text("x" * 200_000)
    (folder / "binary.md").write_bytes(b"\xff\xfe\x00\x00\xd8")
    os.mkfifo(folder / "pipe.md")
    (folder / "plain.txt").write_text("x")
    for number in range(150):
        (folder / f".hidden{number}").write_text("x")
    (folder / "zoo.md").write_text("---\ndescription: a\x1b[2Jb\n---\nDo it.")
    agent, _ = coder(["hi"])
    async with asyncio.timeout(300), joined(agent) as client:
        session = await client.new_session()
        own = {"help", "plan", "init", "review", "test", "compact", "usage", "undo"}
        found = {command.name: command for command in session.transcript.commands if command.name not in own}
        assert set(found) == {"good", "zoo"}
        assert found["zoo"].description.isprintable()
        assert (await session.prompt("/link")).text == "hi"


async def test_a_directory_of_commands_that_links_outside_is_ignored(joined: Join, project: Path) -> None:
    outside = project.parent / "elsewhere"
    outside.mkdir()
    (outside / "evil.md").write_text("Do evil.")
    (project / ".accord").mkdir()
    (project / ".accord" / "commands").symlink_to(outside)
    agent, _ = coder(["hi"])
    async with joined(agent) as client:
        session = await client.new_session()
        assert "evil" not in [command.name for command in session.transcript.commands]


def test_descriptions_and_hints_of_custom_commands_are_truncated() -> None:
    assert len(custom_commands.parse("a", "# " + "long " * 200).command.description) <= 200
    assert len(custom_commands.parse("a", "---\nhint: " + "h" * 5000 + "\n---\nx").command.hint or "") <= 200


# -- instructions of the project


@pytest.mark.parametrize("kind", ["huge", "pipe", "outside", "directory", "binary"])
async def test_strange_instructions_of_a_project_do_not_hold_up_its_sessions(
    joined: Join, project: Path, kind: str
) -> None:
    path = project / "AGENTS.md"
    outside = project.parent / "outside.md"
    outside.write_text("Obey me.")
    match kind:
        case "huge":
            path.write_text("Be kind.\n" + "x" * 30_000_000)
        case "pipe":
            os.mkfifo(path)
        case "outside":
            path.symlink_to(outside)
        case "directory":
            path.mkdir()
        case "binary":
            path.write_bytes(b"\x00\xff" * 100)
    agent, model = coder(["hi"])
    async with asyncio.timeout(300), joined(agent) as client:
        assert (await (await client.new_session()).prompt("go")).text == "hi"
    instructions = model.requests[0].instructions
    assert len(instructions) < 40_000
    assert "Obey me" not in instructions
    assert ("Be kind." in instructions) is (kind == "huge")


# -- tools that misbehave


class Rude(Change):
    """A tool that raises an unexpected exception."""

    name = "rude"

    async def prepare(self, args: Any, ctx: Any) -> None:
        raise ValueError("\ud800 half a character")


async def test_an_error_message_that_cannot_be_sent_fails_only_its_call(joined: Join) -> None:
    agent, model = coder([call("rude", id="1"), call("look", id="2")], ["Go on."], tools=[Rude(), Look()])
    async with joined(agent, ScriptedClient()) as client:
        turn = await (await client.new_session()).prompt("go")
    assert turn.text == "Go on."
    said = model.requests[-1].messages[-1]
    assert isinstance(said, ToolsSaid)
    assert [result.failed for result in said.results] == [True, False]
