"""Everything that both sides send in a long conversation fits the published schemas, and holds nothing of our own."""

from __future__ import annotations

import asyncio
import json
from functools import cache
from typing import Any

import jsonschema_rs
import pytest
from schema import published_schemas
from support.link import Link
from support.prerequisites import needs
from support.stored_sessions import Kept

from accord import (
    AuthMethod,
    Choice,
    Command,
    Image,
    Mode,
    Option,
    Plan,
    PlanEntry,
    RequestFailed,
    Tokens,
    Turn,
)
from accord.testing import ScriptedClient

pytestmark = needs(published_schemas.missing())


class Everything(Kept):
    """Uses everything that there is to use."""

    content = ("image",)
    additional_directories = True
    auth_methods = (AuthMethod(id="key", name="Key"),)
    modes = (Mode(id="ask", name="Ask"), Mode(id="code", name="Code", description="Writes"))
    options = (
        Option(id="model", name="Model", value="a", choices=[Choice(value="a", name="A"), Choice(value="b", name="B")]),
        Option(id="web", name="Web", value=True, category="_mine"),
    )
    commands = (Command(name="plan", description="Plan", hint="what"), Command(name="help", description="Help"))

    async def logout(self) -> None: ...

    async def prompt(self, turn: Turn) -> str | None:
        if turn.text == "wait":
            await turn.say("waiting")
            await asyncio.Event().wait()
        if turn.text == "fail":
            raise RequestFailed("no", code=-31000, data=[1])
        await turn.think("Hm.")
        await turn.plan(["Look", PlanEntry(content="Write", priority="high", status="in_progress")])
        await turn.plan(Plan(id="second", markdown="- one"))
        await turn.say("Some ")
        await turn.say(Image(data="aGk=", mime_type="image/png"))
        turn.session.set_message("A whole message.")
        async with turn.tool("Edit", kind="edit", locations=["a.py:3"], raw_input={"a": 1}, can_cancel=True) as tool:
            await tool.diff("a.py", "old\n", "new\n")
            await tool.diff("b.py", None, "new\n")
            await tool.show("text")
            await tool.permit("May I edit?", always=True, description="Really.")
            await tool.update(title="Edited", locations=["b.py"])
            await tool.complete(raw_output=["x"])
        await turn.permit("Run it?", command="make")
        if turn.client.version == 1:
            await turn.files.write("a.py", "new\n")
            await turn.files.read("a.py", line=1, limit=2)
            async with turn.tool("Run", kind="execute") as tool, await turn.terminals.create("make") as terminal:
                await tool.show(terminal)
                await terminal.wait()
                await terminal.output()
                await terminal.kill()
        async with turn.tool("Show", kind="execute") as tool:
            shown = turn.display_terminal("make", can_cancel=True)
            await tool.show(shown)
            await shown.write("out")
            await shown.exit(0)
        await turn.ask("Who?", {"properties": {"name": {"type": "string"}}})
        await turn.ask("Log in", url="https://example.com", id="e")
        await turn.session.page_done("e")
        await turn.usage(10, 100, cost=0.5)
        await turn.notice("Careful", "very", severity="warning")
        await turn.session.compaction("c", "in_progress")
        await turn.session.compaction_text("c", "short")
        await turn.session.compaction("c", "completed", summary="short")
        await turn.set_title("Everything")
        await turn.set_mode("code")
        await turn.session.set_commands([Command(name="new", description="New")])
        turn.session.set_background([])
        turn.tokens = Tokens(total=1, input=1, output=0)
        return "max_tokens"


@cache
def validator(version: int, kind: str) -> Any:
    whole = published_schemas.schema(version, unstable=False)
    return jsonschema_rs.validator_for({"$defs": whole["$defs"], "$ref": f"#/$defs/{kind}"})


def types(version: int) -> dict[str, tuple[str, str | None]]:
    """By method: the published type of its params, and of its result."""
    found: dict[str, list[str | None]] = {}
    for name, kind in published_schemas.schema(version, unstable=False)["$defs"].items():
        if "x-method" in kind:
            pair = found.setdefault(kind["x-method"], ["", None])
            pair[1 if name.endswith("Response") else 0] = name
    return {method: (str(pair[0]), pair[1]) for method, pair in found.items()}


def faults(version: int, lines: list[dict[str, Any]]) -> list[str]:
    """List the messages that don't match the published schemas."""
    known, asked, found = types(version), dict[Any, str](), list[str]()
    for message in lines:
        sender = message.pop("sender")
        if "method" in message:
            asked[sender, message.get("id")] = message["method"]
            kind, value = known[message["method"]][0], message["params"]
        elif "result" in message:
            kind = str(known[asked["client" if sender == "agent" else "agent", message["id"]]][1])
            value = message["result"]
        else:
            continue
        found += [
            f"{kind}: {error.message} in {json.dumps(value)[:300]}"
            for error in validator(version, kind).iter_errors(value)
        ]
    return found


@pytest.mark.req("V1-TOOL-02", "V1-PERM-02", "V1-PERM-03", "V1-PERM-04", "V1-PLAN-02", "V1-CONF-02", "V1-CMD-02")
@pytest.mark.req(
    "V1-PROMPT-08", "V1-LIST-03", "V1-USAGE-01", "V1-NOTICE-02", "V1-NOTICE-09", "V1-ELIC-14", "V1-MODE-05"
)
@pytest.mark.req("V2-TOOL-02", "V2-DIFF-01", "V2-PERM-01", "V2-PLAN-03", "V2-CONF-02", "V2-CMD-02", "V2-STATE-01")
@pytest.mark.req("V1-EXT-02", "V2-LIST-03", "V2-TERM-09", "V2-ELIC-02")
async def test_a_conversation_with_everything_in_it_fits_the_published_schemas(link: Link, version: int) -> None:
    lines: list[dict[str, Any]] = []

    def watch(direction: str, block: bytes) -> None:
        sender = "client" if direction == "out" else "agent"
        lines.extend({**json.loads(line), "sender": sender} for line in block.splitlines())

    agent = Everything()
    script = ScriptedClient(replies=[{"name": "Ada"}], commands={"make": ("ok\n", 0)})
    for _ in range(2):
        async with link(agent, script) as client:
            client.connection.watch(watch)
            session = await client.new_session("/project", additional_directories=["/lib"])
            await session.prompt("go", Image(data="aGk=", mime_type="image/png"))
            await session.set_option("model", "b")
            await session.set_option("web", False)
            await session.set_mode("ask")
            with pytest.raises(RequestFailed):
                await session.prompt("fail")
            turn = session.prompt("wait")
            async for event in turn:
                if getattr(event, "text", "") == "waiting":
                    await turn.cancel()
            await client.load_session(session.id, "/project")
            await session.close()
            await client.resume_session(session.id, "/project")
            assert [info async for info in client.list_sessions("/project")]
            await client.delete_session(session.id)
            await client.login("key")
            await client.logout()

    assert len(lines) > 150
    assert faults(version, lines) == []
    assert not any("_meta" in json.dumps(line) for line in lines)
