"""Slash commands: the agent's own, and the project's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from coder.scripted_model import ScriptedModel, ScriptedResources, coder
from coder.test_cancellation import Interrupted
from coder.test_loop import Change, Look, call

from accord.client.local_workspace import LocalWorkspace
from accord.coder import custom_commands, modes
from accord.coder.agent import Coder
from accord.coder.history import Reminder, Summary, UserSaid
from accord.coder.models.base import Spent
from accord.coder.tools.base import Outcome, ToolContext
from accord.errors import NotFound, RequestFailed
from accord.model.statement import SetOptions
from accord.policy.engine import Policy
from accord.policy.sources import parse_flags
from accord.store.memory import MemoryStore
from accord.testing import ScriptedClient

Join = Callable[..., Any]


class Write(Change):
    """A tool that writes a file."""

    async def run(self, args: Any, ctx: ToolContext) -> Outcome:
        await ctx.state.files.write(args.path, "new\n")
        return Outcome(text="written")


def names(session: Any) -> list[str]:
    return [command.name for command in session.transcript.commands]


async def wait_for_command(session: Any, name: str, there: bool = True) -> None:
    """Wait until a command is advertised, or no longer is."""
    async with asyncio.timeout(300):
        async for _ in session.events():
            if (name in names(session)) is there:
                return


async def test_help_names_commands_modes_and_the_model(joined: Join) -> None:
    agent, model = coder()
    async with joined(agent) as client:
        turn = await (await client.new_session()).prompt("/help")
    for word in ("/plan", "/init", "/review", "/test", "/compact", "/usage", "/undo", "Architect", "Scripted"):
        assert word in turn.text
    assert model.requests == [], "the model was not asked"


@pytest.mark.parametrize(
    ("typed", "asked"),
    [
        ("/init", "Write an AGENTS.md"),
        ("/review the tests", "Look at this in particular: the tests"),
        ("/test test_loop", "Only these: test_loop"),
    ],
)
async def test_some_commands_are_replaced_by_prompts(joined: Join, typed: str, asked: str) -> None:
    agent, model = coder(["Done."])
    async with joined(agent) as client:
        assert (await (await client.new_session()).prompt(typed)).text == "Done."
    (message,) = model.requests[0].messages
    assert isinstance(message, UserSaid) and asked in message.content[0].text


async def test_a_plan_is_made_without_tools_that_make_changes_and_the_mode_is_restored(joined: Join) -> None:
    change = Change()
    agent, model = coder([call("change")], ["1. Think."], ["On."], tools=[Look(), change])
    async with joined(agent) as client:
        session = await client.new_session()
        (refused,) = (await session.prompt("/plan a garden")).tool_calls
        assert (refused.status, refused.diffs, change.most) == ("failed", [], 0), "not even a diff is shown"
        assert session.option("mode").value == "ask"
        assert "few words" in (await session.prompt("/plan")).text
        await session.prompt("go on")
    said = [message for message in model.requests[-1].messages if isinstance(message, Reminder)]
    assert [each.text for each in said] == [modes.PLAN_ONLY, modes.PLAN_IS_OVER]


async def test_a_cancelled_plan_restores_the_mode_and_an_approved_one_does_not(joined: Join) -> None:
    never = asyncio.Event()
    agree = call("switch_mode", mode="code", reason="it is complete")
    model = ScriptedModel(["Hm", never], [agree], ["Go."])
    agent = Interrupted(shared=ScriptedResources(model, None))
    async with joined(agent, ScriptedClient()) as client:
        session = await client.new_session()
        turn = session.prompt("/plan a garden")
        await asyncio.wait_for(model.waiting.wait(), 300)
        await session.cancel()
        assert (await turn).stop_reason == "cancelled"
        assert session.option("mode").value == agent.state(agent.opened).mode == "ask"
        await session.prompt("/plan a house")
        assert session.option("mode").value == agent.state(agent.opened).mode == "code"


async def test_a_mode_that_the_user_sets_during_a_plan_counts_at_once(joined: Join) -> None:
    look = Look()
    look.hold = asyncio.Event()
    agent, model = coder([call()], ["Go."], tools=[look, Change()])
    async with joined(agent) as client:
        session = await client.new_session()
        turn = session.prompt("/plan a garden")
        await asyncio.wait_for(look.begun.wait(), 300)
        await session.set_mode("code")
        look.hold.set()
        await turn
        assert session.option("mode").value == "code"
    assert model.requests[-1].messages[-1] == Reminder(text=modes.PLAN_IS_OVER, mode="code")


async def test_a_plan_leaves_the_sessions_mode_alone_so_that_a_kill_cannot_change_it(joined: Join) -> None:
    store = MemoryStore()
    kept: list[str] = []
    append = store.append

    def note(id: str, statement: Any) -> None:
        append(id, statement)
        if isinstance(statement, SetOptions):
            kept.extend(str(option.value) for option in statement.options if option.id == "mode")

    store.append = note  # type: ignore[method-assign]
    agent = Coder(store=store, shared=ScriptedResources(ScriptedModel(["1. Dig."]), ()))
    async with joined(agent) as client:
        await (await client.new_session()).prompt("/plan a garden")
    assert set(kept) == {"ask"}


async def test_compact_replaces_everything_with_a_summary(joined: Join) -> None:
    agent, model = coder(["Hello."], ["They said hello."], ["Yes."])
    async with joined(agent) as client:
        session = await client.new_session()
        assert "nothing to compact" in (await session.prompt("/compact")).text
        await session.prompt("hi")
        assert "summary" in (await session.prompt("/compact the greeting")).text
        await session.prompt("still there?")
    assert model.requests[1].messages[-1].content[0].text.endswith("The user adds, for this summary: the greeting")
    assert model.requests[2].messages[0] == Summary(text="They said hello.", prompts=["hi"])
    assert len(model.requests[2].messages) == 2


async def test_usage_shows_context_and_cost(joined: Join) -> None:
    agent, model = coder(["Hello."])
    model.spent = Spent(input=200, output=50, cost=0.5)
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("hi")
        text = (await session.prompt("/usage")).text
    assert "250 of 1,000 tokens (25 %)" in text and "$0.5000" in text


@pytest.mark.parametrize(
    ("saved", "words"),
    [
        (0.02, "300 of 400 input tokens read from it (75 %), which saved $0.0400"),
        (-0.01, "300 of 400 input tokens read from it (75 %); filling it cost $0.0200 more than it saved"),
        (None, "300 of 400 input tokens read from it (75 %)\n"),
    ],
)
async def test_usage_shows_the_savings_of_the_cache(joined: Join, saved: float | None, words: str) -> None:
    agent, model = coder(["Hello."], ["Again."])
    model.spent = Spent(input=200, output=50, cached_read=150, saved=saved)
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("hi")
        await session.prompt("hi again")
        text = (await session.prompt("/usage")).text
    assert f"- Cache: {words}" in f"{text}\n"


@pytest.mark.parametrize("through_client", [False, True], ids=["disk", "client"])
async def test_undo_restores_files_turn_by_turn_and_redo_reverts_it(
    joined: Join, project: Path, through_client: bool
) -> None:
    path = project / "a.txt"
    path.write_text("old\n")
    agent, _ = coder([call("change")], ["done"], [call("change", path="b.txt")], ["done"], tools=[Write()])
    rules = parse_flags(allow=["all"])
    workspace = LocalWorkspace(project, policy=Policy(project, flags=rules)) if through_client else None
    async with joined(agent, workspace=workspace, permissions=lambda request: True) as client:
        session = await client.new_session()
        assert "No turn" in (await session.prompt("/undo")).text
        await session.prompt("change a")
        await session.prompt("change b")
        assert path.read_text() == (project / "b.txt").read_text() == "new\n"
        assert "change b" in (await session.prompt("/undo")).text
        assert not (project / "b.txt").exists() and path.read_text() == "new\n"
        await session.prompt("/undo")
        assert path.read_text() == "old\n"
        await session.prompt("/undo back")
        assert path.read_text() == "new\n"
        path.write_text("mine\n")
        assert "changed since" in (await session.prompt("/undo")).text
        assert path.read_text() == "mine\n", "what the user wrote is left alone"


async def test_the_projects_commands_are_advertised_and_updated_as_they_change(joined: Join, project: Path) -> None:
    folder = project / ".accord" / "commands"
    folder.mkdir(parents=True)
    (folder / "greet.md").write_text("---\ndescription: Say hello\nhint: whom\n---\nGreet $ARGUMENTS warmly.\n")
    (folder / "help.md").write_text("Never: the agent's own commands stay what they are.")
    agent, model = coder(["Hello."])
    agent.watch_seconds = 0.01
    async with joined(agent) as client:
        session = await client.new_session()
        assert "greet" in names(session)
        (greet,) = [each for each in session.transcript.commands if each.name == "greet"]
        assert (greet.description, greet.hint) == ("Say hello", "whom")
        await session.prompt("/greet Ada and Bo")
        assert model.requests[0].messages[0].content[0].text == "Greet Ada and Bo warmly."
        (folder / "bye.md").write_text("Say goodbye.")
        await wait_for_command(session, "bye")
        (folder / "greet.md").unlink()
        await wait_for_command(session, "greet", there=False)
    assert names(session).count("help") == 1


async def test_a_command_that_is_a_link_to_a_protected_file_is_not_offered(joined: Join, project: Path) -> None:
    """Its first line would be published, and the rest sent to the model."""
    folder = project / ".accord" / "commands"
    folder.mkdir(parents=True)
    (project / "accord.toml").write_text('[permissions]\ndeny = ["path:**/secret.txt"]\n')
    (project / "secret.txt").write_text("the secret\n")
    (project / "public.md").write_text("Say hello.\n")
    (folder / "leak.md").symlink_to(project / "secret.txt")
    (folder / "greet.md").symlink_to(project / "public.md")
    agent, _ = coder([])
    async with joined(agent) as client:
        session = await client.new_session()
        assert "greet" in names(session)
        assert "leak" not in names(session)


@pytest.mark.req("V1-SETUP-18")
async def test_commands_of_all_directories_are_found_and_the_first_directory_wins(joined: Join, project: Path) -> None:
    other = project.parent / "other"
    for directory in (project, other):
        (directory / ".accord" / "commands").mkdir(parents=True)
        (directory / ".accord" / "commands" / "greet.md").write_text(f"Greet from {directory.name}.")
    (other / ".accord" / "commands" / "bye.md").write_text("Say goodbye.")
    agent, model = coder(["Hello."], ["Bye."])
    agent.watch_seconds = 0.01
    async with joined(agent) as client:
        session = await client.new_session(additional_directories=[str(other)])
        await session.prompt("/greet")
        await session.prompt("/bye")
        (other / ".accord" / "commands" / "later.md").write_text("Later.")
        await wait_for_command(session, "later")
    prompts = [request.messages[-1].content[0].text for request in model.requests]
    assert prompts == ["Greet from project.", "Say goodbye."]


@pytest.mark.parametrize(
    ("text", "argument", "filled"),
    [
        ("Do it.", "", "Do it."),
        ("Do it.", "now", "Do it.\n\nnow"),
        ("Do $ARGUMENTS, then $ARGUMENTS.", "it", "Do it, then it."),
        ("---\ndescription: x\n---\nBody", "", "Body"),
        ("---\r\ndescription: x\r\n---\r\nBody\r\n", "", "Body"),
        ("---\nnever closed", "", "---\nnever closed"),
    ],
)
def test_a_custom_command_is_filled_with_the_text_after_its_name(text: str, argument: str, filled: str) -> None:
    assert custom_commands.parse("name", text).fill(argument) == filled


async def test_the_projects_instructions_are_given_to_the_model(joined: Join, project: Path) -> None:
    (project / "AGENTS.md").write_text("Always use tabs.")
    agent, model = coder(["ok"])
    async with joined(agent) as client:
        await (await client.new_session()).prompt("hi")
    assert f'<instructions path="{project / "AGENTS.md"}">\nAlways use tabs.\n' in model.requests[0].instructions
    assert str(project) in model.requests[0].instructions


async def test_a_session_is_named_after_its_first_prompt_and_keeps_the_name(joined: Join) -> None:
    store = MemoryStore()
    agent = Coder(store=store, shared=ScriptedResources(ScriptedModel(["ok"], ["ok"]), ()))
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("Fix the login page\nand more")
        await session.prompt("something else")
        listed = [each async for each in client.list_sessions()]
    assert [each.title for each in listed] == ["Fix the login page"]


async def test_a_rule_of_the_user_decides_before_the_mode_and_without_asking(
    joined: Join, home: Path, project: Path
) -> None:
    config = home / "config" / "accord" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[permissions]\ndeny = ["write:*.lock"]\nallow = ["write:docs/**"]\n')
    calls = [call("change", id="1", path="a.lock"), call("change", id="2", path="docs/a.md")]
    agent, model = coder(calls, tools=[Change()])
    client = ScriptedClient(permissions=[True])
    async with joined(agent, client) as connected:
        session = await connected.new_session()
        await session.set_mode("code")
        turn = await session.prompt("go")
    assert [each.status for each in turn.tool_calls] == ["failed", "completed"]
    assert client.asked == []
    assert "deny write:*.lock" in model.requests[1].messages[-1].results[0].text


class Vague(LocalWorkspace):
    """A client that reports missing files with an arbitrary error, as some editors do."""

    async def read(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        try:
            return await super().read(session_id, path, line, limit)
        except NotFound:
            raise RequestFailed("Internal error") from None


async def test_files_are_created_and_undone_in_a_client_with_vague_errors_for_missing_files(
    joined: Join, project: Path
) -> None:
    agent, _ = coder([call("change", path="new.txt")], ["done"], tools=[Write()])
    workspace = Vague(project, policy=Policy(project, flags=parse_flags(allow=["all"])))
    async with joined(agent, workspace=workspace, permissions=lambda request: True) as client:
        session = await client.new_session()
        turn = await session.prompt("make it")
        assert (turn.tool_calls[0].status, (project / "new.txt").read_text()) == ("completed", "new\n")
        await session.prompt("/undo")
        assert not (project / "new.txt").exists()
