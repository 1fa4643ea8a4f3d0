"""One statement of every kind, to test stores, dialects and UIs with."""

from __future__ import annotations

from accord.model import content as c
from accord.model import session as m
from accord.model import statement as s
from accord.model.tool import Diff, ExitStatus, Location, TerminalRef, ToolContent

_IMAGE = c.Image(data="aWNvbg==", mime_type="image/png", uri="file:///i.png", annotations=c.Annotations(priority=1))
_SHOWN: list[ToolContent] = [
    c.TextContent("first"),
    Diff.of("/p/a.py", "old\n", "new\n"),
    TerminalRef(terminal_id="t1"),
]

EVERYTHING: list[s.Statement] = [
    s.WholeMessage(role="user", message_id="m1", content=[c.TextContent("do it"), _IMAGE], meta={"a": [1, None]}),
    s.MessageChunk(role="thought", message_id="m2", content=c.TextContent("Hm. ")),
    s.MessageChunk(role="thought", message_id="m2", content=c.TextContent("")),
    s.MessageChunk(role="agent", message_id="m3", content=c.TextContent("One")),
    s.MessageChunk(role="agent", message_id="m3", content=c.TextContent("One")),
    s.MessageChunk(role="agent", message_id="m4", content=c.TextContent("  \n")),
    s.MessageChunk(role="agent", message_id="m3", content=c.TextContent("äöü 漢字 👩‍👩‍👧 \x00 \u2028 end")),
    s.MessageChunk(
        role="agent", message_id="m3", content=c.TextContent("noted", annotations=c.Annotations(audience=["user"]))
    ),
    s.MessageChunk(role="agent", message_id="m3", content=c.TextContent("said"), meta={"k": "v"}),
    s.MessageChunk(role="agent", message_id="m3", content=c.Audio(data="YQ==", mime_type="audio/wav")),
    s.MessageChunk(role="user", message_id="m5", content=c.ResourceLink(uri="file:///x", name="x", size=3)),
    s.MessageChunk(role="user", message_id="m5", content=c.Resource.of("file:///y", "text of y")),
    s.MessageChunk(
        role="agent", message_id="m3", content=c.UnknownContent(type="video", data={"type": "video", "x": {}})
    ),
    s.ToolPatch(
        id="c1",
        first=True,
        title="Edit",
        kind="edit",
        status="pending",
        name="edit_file",
        locations=[Location(path="/p/a.py", line=3)],
        raw_input={"deep": [{"x": 1.5}, True, None]},
        can_cancel=True,
        meta={"m": 1},
    ),
    s.ToolPatch(id="c1", content=_SHOWN[:1], added=_SHOWN[0]),
    s.ToolPatch(id="c1", content=_SHOWN[:2], added=_SHOWN[1]),
    s.ToolPatch(id="c1", content=_SHOWN[:3], added=_SHOWN[2]),
    s.ToolPatch(id="c1", content=[]),
    s.ToolPatch(id="c1", status="completed", raw_output=None),
    s.ToolPatch(id="c2", content=[c.UnknownContent(type="chart", data={"type": "chart"}), _IMAGE]),
    s.TerminalPatch(id="t1", command="ls", cwd="/p", output=b"\xff\x00", can_cancel=False),
    s.TerminalData(id="t1", data=b"caf\xc3"),
    s.TerminalPatch(id="t1", exit=ExitStatus(code=None, signal="KILL")),
    s.SetPlan(plan=m.Plan(id="p", entries=[m.PlanEntry(content="Look", priority="high", status="completed")])),
    s.RemovePlan(id="p"),
    s.SetCommands(commands=[m.Command(name="go", description="Go", hint="where")]),
    s.SetOptions(options=[m.Option(id="fast", name="Fast", value=True)], changed="fast"),
    s.SetInfo(title="A title", updated_at="2026-01-01T00:00:00Z"),
    s.SetInfo(title=None),
    s.SetUsage(usage=m.Usage(used=5, size=100, cost=m.Cost(amount=0.25, currency="EUR"))),
    s.AddNotice(notice=m.Notice(severity="warning", title="Mind this", description="and that")),
    s.SetCompaction(compaction=m.Compaction(id="k", status="completed", summary=[c.TextContent("short"), _IMAGE])),
    s.CompactionText(id="k", content=c.TextContent("er")),
    s.SetState(state="idle", stop_reason="end_turn", tokens=m.Tokens(total=3, input=1, output=2)),
    s.SetSubagent(subagent=m.Subagent(session_id="child", title="Child", additional_directories=["/q"])),
    s.SessionMessage(id="x1", sender="session", recipient="child", content=[c.TextContent("Look")], meta={"n": 1}),
    s.SessionMessageText(id="x1", content=c.TextContent(" for it")),
    s.ToolPatch(id="c2", title=None, content=None, locations=None),
    s.TerminalPatch(id="t1", command=None, columns=80, rows=24, meta={"t": 1}),
    s.WholeMessage(role="agent", message_id="m4", content=None),
    s.Raw(version=2, update={"sessionUpdate": "_mine", "x": [1, {"y": None}]}),
]
"""One statement of every kind, in every form that could be confused with another."""
