"""Tool calls: announced, set to work, ended by how their block ends."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Any

import pytest
from support.link import Link, script_agent
from support.wire_client import ask, begin_session, kinds, turn

from accord import Image, Location, ToolCall, Turn
from accord.model.content import TextContent
from accord.model.tool import TerminalRef
from accord.testing import ScriptedAgent, wire_client


async def statuses(link: Link, *steps: Any) -> list[str]:
    """The statuses of the only tool call of a turn, as the client hears them."""
    async with link(script_agent(*steps)) as client:
        session = await client.new_session()
        return [event.status async for event in session.prompt("go") if isinstance(event, ToolCall)]


@pytest.mark.feature("tool calls", "agent", "client")
@pytest.mark.req("V1-TOOL-01", "V1-TOOL-05", "V1-TOOL-09", "V1-TOOL-11", "V1-PROMPT-15", "V2-TOOL-01", "V2-TOOL-08")
async def test_a_call_is_announced_then_runs_then_is_completed(link: Link) -> None:
    async def work(turn: Turn) -> None:
        async with turn.tool("Look", kind="search"):
            pass

    assert await statuses(link, work) == ["pending", "in_progress", "completed"]


@pytest.mark.req("V1-TOOL-11", "V2-TOOL-07")
async def test_a_call_whose_block_fails_is_failed_and_shows_the_reason(link: Link) -> None:
    async def work(turn: Turn) -> None:
        try:
            async with turn.tool("Look"):
                raise FileNotFoundError("no such file")
        except FileNotFoundError:
            await turn.say("Sorry.")

    async with link(script_agent(work)) as client:
        turn = await (await client.new_session()).prompt("go")

    (call,) = turn.tool_calls
    assert call.status == "failed"
    assert call.content == [TextContent("FileNotFoundError: no such file")]
    assert turn.text == "Sorry."


async def test_a_call_that_its_author_ended_is_not_ended_again(link: Link) -> None:
    async def work(turn: Turn) -> None:
        async with turn.tool("Look") as tool:
            await tool.fail("nothing there", raw_output={"found": 0})

    async with link(script_agent(work)) as client:
        turn = await (await client.new_session()).prompt("go")

    (call,) = turn.tool_calls
    assert (call.status, call.raw_output) == ("failed", {"found": 0})


@pytest.mark.req("V1-TOOL-11", "V1-TOOL-03")
async def test_a_call_left_open_is_ended_with_its_turn(link: Link) -> None:
    async def work(turn: Turn) -> None:
        await turn.tool("Forgotten").announce()
        await turn.tool("Running").start()

    async with link(script_agent(work)) as client:
        turn = await (await client.new_session()).prompt("go")

    assert [call.status for call in turn.tool_calls] == ["failed", "failed"]
    assert len({call.id for call in turn.tool_calls}) == 2


@pytest.mark.req("V1-CANCEL-04", "V1-CANCEL-07", "V2-TOOL-07", "V2-CANCEL-02")
async def test_a_cancelled_call_is_reported_before_the_turn_ends(version: int) -> None:
    async def work(turn: Turn) -> None:
        async with turn.tool("Wait"):
            await asyncio.Event().wait()

    async with wire_client(script_agent(work)) as peer:
        session = await begin_session(peer, version)
        id = await ask(peer, session, "go")
        while not any(update.get("status") == "in_progress" for update in peer.updates):
            await peer.receive()
        await peer.tell("session/cancel", {"sessionId": session})
        if version == 1:
            assert (await peer.answer_to(id))["result"]["stopReason"] == "cancelled"
        else:
            while peer.updates[-1].get("state") != "idle":
                await peer.receive()

    calls = [update for update in peer.updates if "toolCallId" in update]
    assert calls[-1]["status"] == {1: "failed", 2: "cancelled"}[version]


@pytest.mark.req("V1-TOOL-02", "V1-TOOL-04", "V1-TOOL-13", "V1-TOOL-14", "V1-TOOL-16", "V1-SETUP-10", "V2-TOOL-13")
async def test_updates_of_a_call_have_absolute_paths(link: Link) -> None:
    async def work(turn: Turn) -> None:
        tool = turn.tool(
            "Edit", kind="edit", locations=["a.py:7", Location(path="/other/b.py")], raw_input=[1], name="edit_file"
        )
        async with tool:
            await tool.update(title="Edit a.py", locations=["c/d.py"])

    async with link(script_agent(work)) as client:
        session = await client.new_session(cwd="/project")
        events = [event async for event in session.prompt("go") if isinstance(event, ToolCall)]

    first, last = events[0], events[-1]
    assert (first.title, first.kind, first.name, first.raw_input) == ("Edit", "edit", "edit_file", [1])
    assert first.locations == [Location(path="/project/a.py", line=7), Location(path="/other/b.py")]
    assert last.title == "Edit a.py"
    assert last.locations == [Location(path="/project/c/d.py")]


@pytest.mark.req("V1-TOOL-21")
@pytest.mark.parametrize("raw", ["text", 7, [1, "a"], {"deep": {"er": None}}, False])
async def test_raw_input_and_output_may_be_anything(link: Link, raw: Any) -> None:
    async def work(turn: Turn) -> None:
        async with turn.tool("Do", raw_input=raw) as tool:
            await tool.complete(raw_output=raw)

    async with link(script_agent(work)) as client:
        (call,) = (await (await client.new_session()).prompt("go")).tool_calls

    assert (call.raw_input, call.raw_output) == (raw, raw)


@pytest.mark.req("V1-TOOL-06", "V1-EXT-02")
async def test_in_version_1_an_update_holds_what_is_new_and_no_nulls() -> None:
    async def work(turn: Turn) -> None:
        async with turn.tool("Do", kind="_custom") as tool:
            await tool.show("text")
            await tool.update(status="paused")

    async with wire_client(script_agent(work)) as peer:
        session = await begin_session(peer, 1)
        await turn(peer, 1, session, "go")

    announced, *updates = peer.updates
    id = announced["toolCallId"]
    assert announced == {
        "sessionUpdate": "tool_call",
        "toolCallId": id,
        "title": "Do",
        "kind": "other",
        "status": "pending",
        "content": [],
        "locations": [],
    }
    content = [{"type": "content", "content": {"type": "text", "text": "text"}}]
    assert updates == [
        {"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "in_progress"},
        {"sessionUpdate": "tool_call_update", "toolCallId": id, "content": content},
        {"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "in_progress"},
        {"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed"},
    ]


@pytest.mark.req("V2-TOOL-01", "V2-TOOL-02", "V2-TOOL-05", "V2-TOOL-06", "V2-TOOL-07")
async def test_in_version_2_new_content_is_added_and_words_of_ones_own_are_allowed() -> None:
    async def work(turn: Turn) -> None:
        async with turn.tool("Do", kind="_custom") as tool:
            await tool.show("one", "two")
            await tool.update(status="paused")
            await tool.start()
            await tool.set_content("three")

    async with wire_client(script_agent(work)) as peer:
        session = await begin_session(peer, 2)
        await turn(peer, 2, session, "go")

    calls = [update for update in peer.updates if "toolCallId" in update]
    assert kinds(calls) == ["tool_call_update"] * 2 + ["tool_call_content_chunk"] * 2 + ["tool_call_update"] * 4
    assert (calls[0]["title"], calls[0]["kind"], calls[0]["status"]) == ("Do", "_custom", "pending")
    assert calls[2]["content"] == {"type": "content", "content": {"type": "text", "text": "one"}}
    assert [call["status"] for call in calls if "status" in call][2:] == ["paused", "in_progress", "completed"]
    assert calls[6]["content"] == [{"type": "content", "content": {"type": "text", "text": "three"}}]


async def test_a_preview_is_replaced_by_other_content_and_goes_when_the_call_ends(link: Link) -> None:
    seen: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def work(turn: Turn) -> None:
        async with turn.tool("Write") as tool:
            await tool.show("before")
            await tool.preview("half")
            await seen["before half"].wait()
            await tool.preview("more")
            await seen["before more"].wait()
            await tool.show("whole")
        async with turn.tool("Stop") as tool:
            await tool.preview("half")
            await seen["half"].wait()

    async with link(script_agent(work)) as client:
        session = await client.new_session()
        async for event in session.prompt("go"):
            if isinstance(event, ToolCall):
                seen[" ".join(item.text for item in event.content if isinstance(item, TextContent))].set()
        calls = session.last_turn.tool_calls

    assert [[item.text for item in call.content] for call in calls] == [["before", "whole"], []]


@pytest.mark.feature("diffs", "agent", "client")
@pytest.mark.req("V1-TOOL-15", "V2-TOOL-12", "V2-DIFF-06")
async def test_content_of_every_kind_reads_the_same(link: Link) -> None:
    async def work(turn: Turn) -> None:
        async with turn.tool("Edit") as tool:
            await tool.diff("notes.md", "old\n", "new\n")
            await tool.show("done", Image(data="aGk=", mime_type="image/png"))

    async with link(script_agent(work)) as client:
        (call,) = (await (await client.new_session(cwd="/project")).prompt("go")).tool_calls

    (diff,) = call.diffs
    assert [(change.operation, change.path) for change in diff.changes] == [("modify", "/project/notes.md")]
    assert "-old\n+new\n" in diff.patch
    assert call.content[1:] == [TextContent("done"), Image(data="aGk=", mime_type="image/png")]


@pytest.mark.req("V1-TOOL-15", "V1-TOOL-16")
@pytest.mark.parametrize(
    ("old", "new", "wire"),
    [
        ("a", "b", {"oldText": "a", "newText": "b"}),
        (None, "b", {"newText": "b"}),
        ("a", None, {"oldText": "a", "newText": ""}),
        ("", "b", {"oldText": "", "newText": "b"}),
    ],
)
async def test_in_version_1_a_diff_is_two_texts(old: str | None, new: str | None, wire: dict[str, str]) -> None:
    async def work(turn: Turn) -> None:
        async with turn.tool("Edit") as tool:
            await tool.diff("f", old, new)

    async with wire_client(script_agent(work)) as peer:
        await turn(peer, 1, await begin_session(peer, 1), "go")

    (shown,) = [update["content"] for update in peer.updates if update.get("content")]
    assert shown == [{"type": "diff", "path": "/project/f", **wire}]


@pytest.mark.req("V2-DIFF-01", "V2-DIFF-02", "V2-DIFF-03", "V2-DIFF-04", "V2-DIFF-05")
@pytest.mark.parametrize(
    ("old", "new", "operation", "head"),
    [
        ("a\n", "b\n", "modify", "--- /project/f\n+++ /project/f\n@@ -1 +1 @@\n-a\n+b\n"),
        (None, "b\n", "add", "new file mode 100644\n--- /dev/null\n+++ /project/f\n@@ -0,0 +1 @@\n+b\n"),
        ("a\n", None, "delete", "deleted file mode 100644\n--- /project/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"),
        ("a", "b\n", "modify", "--- /project/f\n+++ /project/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"),
        ("a\x0cb\n", "c\n", "modify", "--- /project/f\n+++ /project/f\n@@ -1 +1 @@\n-a\x0cb\n+c\n"),
        ("a\r\n", "b\r\n", "modify", "--- /project/f\n+++ /project/f\n@@ -1 +1 @@\n-a\r\n+b\r\n"),
    ],
)
async def test_in_version_2_a_diff_is_changes_and_a_patch(
    old: str | None, new: str | None, operation: str, head: str
) -> None:
    async def work(turn: Turn) -> None:
        async with turn.tool("Edit") as tool:
            await tool.diff("f", old, new)

    async with wire_client(script_agent(work)) as peer:
        await turn(peer, 2, await begin_session(peer, 2), "go")

    (shown,) = [u["content"] for u in peer.updates if u["sessionUpdate"] == "tool_call_content_chunk"]
    assert shown["changes"] == [{"operation": operation, "path": "/project/f", "fileType": "text"}]
    assert shown["patch"] == {"format": "git_patch", "text": "diff --git /project/f /project/f\n" + head}


@pytest.mark.feature("cancelling one tool call", "agent", "client", versions=(2,))
@pytest.mark.req("V2-TOOL-11", "V2-CANCEL-19", "V2-CANCEL-20", "V2-CANCEL-23", "V2-CANCEL-25")
async def test_in_version_2_a_cancellable_call_can_be_cancelled_by_itself() -> None:
    stop = asyncio.Event()

    async def work(turn: Turn) -> None:
        async with turn.tool("Long", can_cancel=True) as tool:
            await stop.wait()
            await tool.update(status="cancelled")
        await turn.say("went on")

    class Stoppable(ScriptedAgent):
        async def cancel_tool_call(self, session: Any, tool_call_id: str) -> None:
            stop.set()

    async with wire_client(Stoppable([work])) as peer:
        session = await begin_session(peer, 2)
        await ask(peer, session, "go")
        while not any(update.get("status") == "in_progress" for update in peer.updates):
            await peer.receive()
        call = next(update for update in peer.updates if "toolCallId" in update)
        params = {"sessionId": session, "toolCallId": call["toolCallId"]}
        accepted = await peer.call("tool_call/cancel", params)
        while peer.updates[-1].get("state") != "idle":
            await peer.receive()
        again = await peer.call("tool_call/cancel", params)

    assert call["capabilities"] == {"cancel": {}}
    assert accepted["result"] == {}
    assert again["error"]["code"] == -32602
    last = [update for update in peer.updates if "toolCallId" in update][-1]
    assert (last["status"], last["capabilities"]) == ("cancelled", None)
    assert peer.updates[-1]["stopReason"] == "end_turn"


@pytest.mark.req("V2-CANCEL-20", "V2-CANCEL-22", "V2-CANCEL-24")
@pytest.mark.parametrize(("method", "name"), [("tool_call/cancel", "toolCallId"), ("terminal/cancel", "terminalId")])
async def test_in_version_2_what_cannot_be_cancelled_is_refused_as_such(method: str, name: str) -> None:
    async with wire_client(ScriptedAgent()) as peer:
        session = await begin_session(peer, 2)
        refused = await peer.call(method, {"sessionId": session, name: "unknown"})
        nowhere = await peer.call(method, {"sessionId": "unknown", name: "unknown"})

    assert refused["error"]["code"] == -32602
    assert nowhere["error"]["code"] == -32002


@pytest.mark.req("V2-TERM-01", "V2-TERM-04", "V2-TERM-10", "V2-CANCEL-21", "V2-CANCEL-22", "V2-TERM-08")
async def test_in_version_2_the_agents_own_terminal_is_shown_and_can_be_stopped() -> None:
    stop = asyncio.Event()

    async def work(turn: Turn) -> None:
        async with turn.tool("Run", kind="execute") as tool:
            terminal = turn.display_terminal("make test", cwd="sub", can_cancel=True)
            await tool.show(terminal)
            await terminal.write("ok\n")
            await terminal.write(b"\xff")
            await stop.wait()
            await terminal.exit(code=None, signal="SIGTERM")

    class Stoppable(ScriptedAgent):
        async def cancel_terminal(self, session: Any, terminal_id: str) -> None:
            stop.set()

    async with wire_client(Stoppable([work])) as peer:
        session = await begin_session(peer, 2)
        await ask(peer, session, "go")
        while len([u for u in peer.updates if u["sessionUpdate"] == "terminal_output_chunk"]) < 2:
            await peer.receive()
        id = next(update["terminalId"] for update in peer.updates if "terminalId" in update)
        assert (await peer.call("terminal/cancel", {"sessionId": session, "terminalId": id}))["result"] == {}
        while peer.updates[-1].get("state") != "idle":
            await peer.receive()
        again = await peer.call("terminal/cancel", {"sessionId": session, "terminalId": id})

    told = [update for update in peer.updates if update["sessionUpdate"].startswith("terminal_")]
    assert (told[0]["command"], told[0]["cwd"], told[0]["capabilities"]) == (
        "make test", "/project/sub", {"cancel": {}}
    )  # fmt: skip
    assert [update["data"] for update in told[1:3]] == ["b2sK", "/w=="]
    assert (told[3]["exitStatus"], told[3]["capabilities"]) == ({"signal": "SIGTERM"}, None)
    assert again["error"]["code"] == -32602
    last = [update for update in peer.updates if "toolCallId" in update][-1]
    assert last["status"] == "completed"


@pytest.mark.req("V1-TERM-01", "V1-TOOL-19")
async def test_in_version_1_the_agents_own_terminal_is_shown_as_text() -> None:
    async def work(turn: Turn) -> None:
        async with turn.tool("Run", kind="execute") as tool:
            terminal = turn.display_terminal("make test")
            await tool.show(terminal)
            await terminal.write("one\n")
            await terminal.write("two\n")
            await terminal.exit(0)

    async with wire_client(script_agent(work)) as peer:
        await turn(peer, 1, await begin_session(peer, 1), "go")

    shown = [update["content"] for update in peer.updates if update.get("content")]
    assert all(item["type"] == "content" for content in shown for item in content)
    assert shown[-1][0]["content"]["text"] == "one\ntwo\n"


async def test_the_agents_own_terminal_is_text_in_version_1_only(link: Link, version: int) -> None:
    async def work(turn: Turn) -> None:
        async with turn.tool("Run") as tool:
            terminal = turn.display_terminal("true")
            await tool.show(terminal)
            await terminal.write("fine")
            await terminal.exit(0)

    async with link(script_agent(work)) as client:
        session = await client.new_session()
        (call,) = (await session.prompt("go")).tool_calls

    (shown,) = call.content
    if version == 1:
        assert shown == TextContent("fine")
    else:
        assert isinstance(shown, TerminalRef)
        terminal = session.transcript.terminals[shown.terminal_id]
        assert (terminal.text, terminal.exit.code if terminal.exit else None) == ("fine", 0)


async def test_a_tool_call_can_continue_between_turns(link: Link) -> None:
    tools: list[Any] = []

    async def begin(turn: Turn) -> None:
        tools.append(turn.session.tool("In the background"))

    async def finish(turn: Turn) -> None:
        await tools[0].complete()

    async with link(ScriptedAgent([begin], [finish])) as client:
        session = await client.new_session()
        await session.prompt("a")
        second = await session.prompt("b")

    assert [call.status for call in second.tool_calls] == ["completed"]


async def test_an_update_announces_a_call_that_was_not(link: Link) -> None:
    async def work(turn: Turn) -> None:
        tool = turn.tool("Quiet")
        await tool.show("text before the announcement")
        await tool.complete()

    async with link(script_agent(work)) as client:
        (call,) = (await (await client.new_session()).prompt("go")).tool_calls

    assert (call.title, call.status) == ("Quiet", "completed")
    assert call.content == [TextContent("text before the announcement")]


async def test_a_location_outside_any_line_is_just_a_path(link: Link) -> None:
    async def work(turn: Turn) -> None:
        async with turn.tool("Look", locations=["a:0", "b:x", "/c:12"]):
            pass

    async with link(script_agent(work)) as client:
        (call,) = (await (await client.new_session(cwd="/p")).prompt("go")).tool_calls

    assert [(place.path, place.line) for place in call.locations] == [("/p/a", None), ("/p/b:x", None), ("/c", 12)]
