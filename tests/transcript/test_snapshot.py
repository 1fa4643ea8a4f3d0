from __future__ import annotations

import subprocess
import sys

import msgspec
from transcript.update_builders import Telling, block, message_chunk, text_block, tool, update

from accord.model.content import TextContent
from accord.transcript import Message, Snapshot, Transcript


def session() -> Telling:
    telling = Telling(2)
    telling.tell(
        message_chunk("a", "1"),
        message_chunk("b", "1"),
        tool("t", content=[text_block("x")], rawInput={"deep": [1, {"k": 2}]}, _meta={"m": 1}),
        update("terminal_output_chunk", terminalId="x", data="aGk="),
        update("plan_update", plan={"type": "items", "planId": "p", "entries": []}),
        update("compaction_summary_chunk", compactionId="c", content=block("s")),
        update("notice", severity="info", title="n"),
        update("usage_update", used=1, size=2),
        update("subagent_update", sessionId="child", title="C"),
        update("session_message_chunk", messageId="m", content=block("l")),
        update("state_update", state="running", background=[]),
        update("_x", y=1),
    )
    return telling


def test_a_snapshot_does_not_change_with_the_session() -> None:
    telling = session()
    picture = telling.transcript.snapshot()
    written = msgspec.json.encode(picture)
    telling.tell(
        message_chunk("c", "1"),
        tool("t", status="completed", _meta={"m": 2}),
        update("tool_call_content_chunk", toolCallId="t", content=text_block("y")),
        update("terminal_output_chunk", terminalId="x", data="aGk="),
        update("plan_removed", planId="p"),
        update("compaction_summary_chunk", compactionId="c", content=block("s")),
        update("notice", severity="info", title="n2"),
        update("usage_update", used=2, size=2),
        update("subagent_update", sessionId="child", title="D"),
        update("session_message_chunk", messageId="m", content=block("l")),
        update("state_update", state="idle", stopReason="end_turn"),
        update("_x", y=2),
    )

    assert msgspec.json.encode(picture) == written
    assert telling.transcript.snapshot() != picture


def test_a_session_does_not_change_with_its_snapshot() -> None:
    telling = session()
    before = msgspec.json.encode(telling.transcript.snapshot())
    picture = telling.transcript.snapshot()
    picture.tool_calls["t"].content.clear()
    picture.tool_calls["t"].raw_input["deep"][1]["k"] = "changed"
    picture.messages[0].pieces.clear()
    picture.compactions["c"].summary.clear()
    picture.terminals["x"].chunks.clear()
    picture.unknown[0].data["y"] = "changed"

    assert msgspec.json.encode(telling.transcript.snapshot()) == before


def test_the_timeline_of_a_snapshot_holds_the_same_things_as_its_tables() -> None:
    picture = session().transcript.snapshot()

    assert picture.tool_calls["t"] is picture.timeline[1]
    assert picture.compactions["c"] is picture.timeline[2]
    assert picture.messages == [Message(role="agent", id="1", given_id="1", pieces=[TextContent("ab")])]


def test_a_snapshot_names_everything_a_transcript_holds() -> None:
    transcript = Transcript()
    held = {name for name in dir(transcript) if not name.startswith("_") and not callable(getattr(transcript, name))}

    # Messages and notices are in the timeline; the rest is how the transcript was made.
    apart = {"messages", "notices", "cwd", "additional_directories", "replaying", "owners", "text", "has_messages"}
    assert set(Snapshot.__struct_fields__) == held - apart


def test_a_snapshot_can_be_written_as_json() -> None:
    picture = msgspec.json.decode(msgspec.json.encode(session().transcript.snapshot()))

    assert picture["timeline"][0]["pieces"] == [{"type": "text", "text": "ab"}]
    assert picture["title"] is None and picture["state"] == "running"


def test_data_nested_beyond_reason_does_not_break_a_snapshot() -> None:
    deep: object = 1
    for _ in range(5000):
        deep = [deep]
    transcript = Transcript()
    transcript.patch_tool("t", raw_input=deep)

    assert transcript.snapshot().tool_calls["t"].raw_input is deep


def test_a_transcript_loads_neither_version() -> None:
    program = (
        "import sys, accord.transcript, accord.transcript.events\n"
        "print([name for name in sys.modules if name.startswith(('accord.schema.v1', 'accord.schema.v2'))])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300)

    assert result.stdout.strip() == "[]"
