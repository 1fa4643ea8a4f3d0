"""Tool calls while their arguments arrive: announced, titled, previewed; and always ended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from coder.models.provider_client import their_warnings
from coder.providers.script import Calls, Cuts, Holds, Says, Stops
from coder.providers.server import FakeProvider
from coder.scripted_model import ScriptedModel, ScriptedResources, coder

import accord
from accord.coder.agent import Coder
from accord.coder.history import Call
from accord.coder.models.base import CallArguments, CallBegins, Model, ModelError
from accord.coder.shared_resources import SharedResources
from accord.coder.streamed_calls import MAX_PREVIEW, parse_partial
from accord.store.memory import MemoryStore

Join = Callable[..., Any]


def arrives(arguments: str, name: str = "write_file", id: str = "1") -> list[Any]:
    """Return the pieces of a call that begins, and of a part of its arguments."""
    return [CallBegins(id=id, name=name), CallArguments(id=id, text=arguments)]


def summarize(call: accord.ToolCall) -> tuple[Any, ...]:
    """Return the title, status, files and changed lines of a call. Version 2 has a patch in place of the texts."""
    shown = [
        line
        for diff in call.diffs
        for line in diff.patch.splitlines()
        if line[:1] in ("+", "-") and line[:4] not in ("+++ ", "--- ")
    ]
    return (call.title, call.status, [Path(location.path).name for location in call.locations], shown)


async def watch(session: Any, text: str = "go", *, until: Callable[[accord.ToolCall], bool], then: Any) -> Any:
    """Send a prompt, and call `then` once when `until` accepts a tool call. Return every state that calls had."""
    states: list[tuple[Any, ...]] = []
    waits = True
    async for event in session.prompt(text):
        if isinstance(event, accord.ToolCall):
            states.append(summarize(event))
            if waits and until(event):
                waits = False
                result = then()
                if asyncio.iscoroutine(result):
                    await result
    assert not waits
    return states


async def test_a_call_is_announced_when_it_begins_and_gets_its_title_and_a_growing_preview(
    joined: Join, project: Path
) -> None:
    begun, titled, more = asyncio.Event(), asyncio.Event(), asyncio.Event()
    arguments = {"file_path": "a.py", "content": "one = 1\ntwo = 2\n"}
    steps = [
        CallBegins(id="1", name="write_file"),
        begun,
        CallArguments(id="1", text='{"file_path": "a.py", '),
        titled,
        CallArguments(id="1", text='"content": "one = 1\\ntwo'),
        more,
        CallArguments(id="1", text=' = 2\\n"}'),
        Call(id="1", name="write_file", arguments=arguments),
    ]
    agent, _ = coder(steps, tools=None, preview_seconds=0.0)
    states: list[Any] = []
    async with joined(agent, permissions=lambda request: True) as client:
        session = await client.new_session()
        async for event in session.prompt("go"):
            if not isinstance(event, accord.ToolCall):
                continue
            states.append(summarize(event))
            assert not (project / "a.py").exists() or event.status in ("in_progress", "completed")
            for reached, event_to_set in (
                (("Write file", "pending", [], []), begun),
                (("Write a.py", "pending", ["a.py"], []), titled),
                (("Write a.py", "pending", ["a.py"], ["+one = 1"]), more),
            ):
                if states[-1] == reached:
                    event_to_set.set()
        (call,) = session.last_turn.tool_calls
    assert states[:3] == [
        ("Write file", "pending", [], []),
        ("Write a.py", "pending", ["a.py"], []),
        ("Write a.py", "pending", ["a.py"], ["+one = 1"]),
    ]
    assert summarize(call) == ("Write a.py", "completed", ["a.py"], ["+one = 1", "+two = 2"])
    assert call.raw_input == arguments
    assert (project / "a.py").read_text() == "one = 1\ntwo = 2\n"


async def test_the_diff_of_the_permission_request_replaces_the_preview(joined: Join, project: Path) -> None:
    (project / "a.py").write_text("one = 1\nkeep = 0\n")
    edit = {"old_string": "one = 1\n", "new_string": "two = 2\n"}
    whole = {"file_path": "a.py", "edits": [edit]}
    steps = [*arrives(json.dumps(whole)[:-4], "edit_file"), Call(id="1", name="edit_file", arguments=whole)]
    agent, _ = coder(steps, tools=None, preview_seconds=0.0)
    asked: list[Any] = []
    patches: list[str] = []

    def permit(request: Any) -> bool:
        call = list(session.transcript.tool_calls.values())[-1]
        asked.append(summarize(call))
        patches.extend(diff.patch for diff in call.diffs)
        return False

    async with joined(agent, permissions=permit) as client:
        session = await client.new_session()
        states = await watch(session, until=lambda call: bool(call.diffs), then=lambda: None)
    assert states[2][3] == ["-one = 1", "+two = 2"]
    assert [state[3] for state in asked] == [["-one = 1", "+two = 2"]]
    assert "keep = 0" in patches[0]
    assert states[-1][1] == "failed"
    assert (project / "a.py").read_text() == "one = 1\nkeep = 0\n"


async def test_a_preview_shows_nothing_of_an_existing_file(joined: Join, project: Path) -> None:
    (project / ".env").write_text("TOKEN=do-not-show\n")
    (project / "accord.toml").write_text('[permissions]\ndeny = ["read:.env", "write:.env"]\n')
    whole = {"file_path": ".env", "content": "mine = 1\n", "more": "x"}
    steps = [*arrives(json.dumps(whole)[:-5]), Call(id="1", name="write_file", arguments=whole)]
    agent, _ = coder(steps, tools=None, preview_seconds=0.0)
    async with joined(agent) as client:
        session = await client.new_session()
        states = await watch(session, until=lambda call: bool(call.diffs), then=lambda: None)
        shown = repr(session.transcript.timeline)
        (call,) = session.last_turn.tool_calls
    assert ("Write .env", "pending", [".env"], ["+mine = 1"]) in states
    assert call.status == "failed"
    assert call.diffs == []
    assert "do-not-show" not in shown


async def test_a_mode_that_refuses_a_tool_gets_no_preview_of_it(joined: Join) -> None:
    whole = {"file_path": "a.py", "content": "one = 1\n"}
    steps = [*arrives(json.dumps(whole)), Call(id="1", name="write_file", arguments=whole)]
    agent, _ = coder(steps, tools=None, preview_seconds=0.0)
    async with joined(agent) as client:
        session = await client.new_session()
        await session.set_option("mode", "architect")
        states = await watch(session, until=lambda call: call.status == "pending", then=lambda: None)
    assert all(shown == [] for _, _, _, shown in states)
    assert states[-1][1] == "failed"


async def test_half_a_line_is_not_shown_because_it_may_be_half_of_a_key(
    joined: Join, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-ant-0123456789abcdef"
    monkeypatch.setenv("ANTHROPIC_API_KEY", key)
    text = json.dumps({"file_path": "a.py", "content": f"# keys\nKEY = '{key}'\nnext"})
    pieces = [CallArguments(id="1", text=text[at : at + 5]) for at in range(0, len(text), 5)]
    agent, _ = coder([CallBegins(id="1", name="write_file"), *pieces], tools=None, preview_seconds=0.0)
    async with joined(agent) as client:
        session = await client.new_session()
        states = await watch(session, until=lambda call: bool(call.diffs), then=lambda: None)
    assert "sk-ant-0123" not in repr(states)
    assert any("+KEY = '••••'" in shown for *_, shown in states)


async def test_previews_are_not_saved_with_the_session(joined: Join) -> None:
    store = MemoryStore()
    text = '{"file_path": "a.py", "content": "never written\\nmore'
    model = ScriptedModel([*arrives(text), "done"])
    agent = Coder(store=store, shared=ScriptedResources(model, None, preview_seconds=0.0))
    async with joined(agent) as client:
        session = await client.new_session()
        await watch(session, until=lambda call: bool(call.diffs), then=lambda: None)
        (call,) = session.last_turn.tool_calls
        saved = [repr(statement) async for statement in store.history(session.id)]
    assert (call.status, call.content) == ("failed" if joined.version == 1 else "cancelled", [])  # type: ignore[attr-defined]
    assert any("Write a.py" in statement for statement in saved)
    assert not any("never written" in statement for statement in saved)


async def test_the_number_of_previews_does_not_grow_with_the_number_of_pieces(joined: Join) -> None:
    body = "".join(f"line {number}\n" for number in range(4000))
    text = json.dumps({"file_path": "a.py", "content": body})
    pieces = [CallArguments(id="1", text=text[at : at + 20]) for at in range(0, len(text), 20)]
    agent, _ = coder([CallBegins(id="1", name="write_file"), *pieces], tools=None, preview_seconds=0.0)
    async with joined(agent) as client:
        session = await client.new_session()
        states = await watch(session, until=lambda call: bool(call.diffs), then=lambda: None)
    assert len(pieces) > 2000
    assert len(states) < 50


async def test_a_preview_has_a_limit(joined: Join) -> None:
    line = "x" * 98 + "\\n"
    pieces = [CallArguments(id="1", text=line) for _ in range(2 * MAX_PREVIEW // len(line))]
    start = arrives('{"file_path": "a.py", "content": "')
    agent, _ = coder([*start, *pieces], tools=None, preview_seconds=0.0)
    async with joined(agent) as client:
        session = await client.new_session()
        states = await watch(session, until=lambda call: bool(call.diffs), then=lambda: None)
    assert 0 < max(len(shown) for *_, shown in states) * 99 <= MAX_PREVIEW


WAYS_TO_END: dict[str, tuple[Any, str]] = {
    "truncated": ("<length>", "failed"),
    "refused": ("<refusal>", "cancelled"),
    "failed": (ModelError("broken", retry=True), "failed"),
    "forgotten": ("That's all.", "cancelled"),
}


@pytest.mark.parametrize("way", list(WAYS_TO_END))
async def test_every_announced_call_ends_with_a_status(joined: Join, way: str) -> None:
    step, status = WAYS_TO_END[way]
    calls = [*arrives('{"file_path": "a', id="1"), *arrives('{"command": "ls', "run_command", id="2")]
    agent, _ = coder([*calls, step], ["Done."], tools=None, preview_seconds=0.0)
    async with joined(agent) as client:
        session = await client.new_session()
        turn = await session.prompt("go")
        await session.prompt("go on")
    expected = "failed" if joined.version == 1 else status  # type: ignore[attr-defined]
    assert [(call.title, call.status) for call in turn.tool_calls] == [
        ("Write file", expected),
        ("Run command", expected),
    ]


async def test_cancelling_ends_calls_that_are_still_arriving(joined: Join) -> None:
    agent, _ = coder([*arrives('{"file_path": "a.py"'), asyncio.Event()], tools=None)
    async with joined(agent) as client:
        session = await client.new_session()
        await watch(session, until=lambda call: call.title == "Write a.py", then=session.cancel)
        turn = session.last_turn
    expected = "failed" if joined.version == 1 else "cancelled"  # type: ignore[attr-defined]
    assert (turn.stop_reason, [call.status for call in turn.tool_calls]) == ("cancelled", [expected])


async def test_a_call_with_invalid_arguments_continues_as_the_announced_one_and_fails(joined: Join) -> None:
    steps = [*arrives('{"content": "x"}'), Call(id="1", name="write_file", arguments={"content": "x"})]
    unknown = [CallBegins(id="2", name="paint"), Call(id="2", name="paint", arguments={"color": "red"})]
    agent, _ = coder([*steps, *unknown], ["Done."], tools=None)
    async with joined(agent) as client:
        session = await client.new_session()
        turn = await session.prompt("go")
    assert [(call.title, call.status) for call in turn.tool_calls] == [("Write file", "failed"), ("paint", "failed")]
    assert [call.raw_input for call in turn.tool_calls] == [{"content": "x"}, {"color": "red"}]


async def test_calls_of_an_answer_that_another_model_repeats_are_separate(
    joined: Join, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[coder]\nfallback_model = "test:second"\n')
    monkeypatch.setenv("ACCORD_CONFIG", str(config))
    first = ScriptedModel([*arrives('{"file_path": "a.py"'), ModelError("down", retry=True)])
    second = ScriptedModel([*arrives("{}", "list_files"), Call(id="1", name="list_files", arguments={})], ["Done."])
    second.id = "test:second"

    class Both(ScriptedResources):
        async def model(self, cwd: str, id: str) -> Model:
            return second if id == "test:second" else first

    agent = Coder(shared=Both(first, None, pauses=()))
    async with joined(agent) as client:
        session = await client.new_session()
        turn = await session.prompt("go")
    assert [(call.title, call.status) for call in turn.tool_calls] == [
        ("Write a.py", "failed"),
        ("List .", "completed"),
    ]


def test_the_end_of_partial_arguments_is_cut_to_whole_lines() -> None:
    text = '{"file_path": "a", "edits": [{"old_string": "x", "new_string": "one\\ntw'
    complete, partial = parse_partial(text)
    assert complete == {"file_path": "a", "edits": [{"old_string": "x"}]}
    assert partial == {"file_path": "a", "edits": [{"old_string": "x", "new_string": "one\n"}]}


@pytest.mark.parametrize("text", ["", "[1", "nonsense", "{'a': 1}", '"{\\"a\\"', "\ud800", "[" * 5000, "null"])
def test_partial_arguments_without_an_object_have_no_preview(text: str) -> None:
    assert parse_partial(text) == ({}, {})


# -- with providers

MODELS = {
    "anthropic": "anthropic:claude-haiku-4-5",
    "chat": "openai:gpt-5",
    "responses": "house:gpt-5",
    "google": "google:gemini-2.5-flash",
}


@pytest.fixture
async def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    async with FakeProvider() as provider:
        for name, value in provider.environment().items():
            monkeypatch.setenv(name, value)
        config = tmp_path / "config.toml"
        config.write_text(
            f'[coder.providers.house]\napi = "responses"\nbase_url = "{provider.base_url("responses")}"\n'
        )
        monkeypatch.setenv("ACCORD_CONFIG", str(config))
        yield provider


@their_warnings
@pytest.mark.parametrize("wire", list(MODELS))
async def test_a_providers_call_is_shown_before_its_arguments_are_complete(
    wire: str, fake: FakeProvider, joined: Join, project: Path
) -> None:
    content = "".join(f"line {number}\n" for number in range(20))
    # Google sends arguments whole, so its stream is held after the call.
    holds = None if wire == "google" else Holds()
    call = Calls("write_file", {"file_path": "a.txt", "content": content}, then=holds)
    fake.says(call, *([Holds()] if wire == "google" else []))
    fake.says(Says("Done."))
    agent = Coder(shared=SharedResources(model=MODELS[wire], pauses=(), preview_seconds=0.0))
    async with joined(agent, permissions=lambda request: True) as client:
        session = await client.new_session()
        wanted = "Write file" if wire == "google" else "Write a.txt"
        states = await watch(session, until=lambda call: call.title == wanted, then=fake.goes_on)
        turn = session.last_turn
    assert states[0][:2] == ("Write file", "pending")
    assert [(call.title, call.status) for call in turn.tool_calls] == [("Write a.txt", "completed")]
    assert (project / "a.txt").read_text() == content
    if wire != "google":
        first = next(shown for *_, shown in states if shown)
        assert 0 < len(first) < 20
        assert first == [f"+line {number}" for number in range(len(first))]


@their_warnings
@pytest.mark.parametrize("wire", ["anthropic", "chat", "responses"])
@pytest.mark.parametrize("end", [Cuts(), Stops()], ids=["cut", "stopped"])
async def test_a_call_whose_stream_breaks_fails_and_the_repeated_answer_has_its_own(
    wire: str, end: Any, fake: FakeProvider, joined: Join, project: Path
) -> None:
    arguments = {"file_path": "a.txt", "content": "x\n" * 20}
    fake.says(Calls("write_file", arguments, then=end))
    fake.says(Calls("write_file", arguments))
    fake.says(Says("Done."))
    agent = Coder(shared=SharedResources(model=MODELS[wire], pauses=(0.0,)))
    async with joined(agent, permissions=lambda request: True) as client:
        session = await client.new_session()
        turn = await session.prompt("go")
    assert [(call.title, call.status) for call in turn.tool_calls] == [
        ("Write a.txt", "failed"),
        ("Write a.txt", "completed"),
    ]
    assert (project / "a.txt").read_text() == "x\n" * 20
