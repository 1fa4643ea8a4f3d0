"""Calls of the agent's side, right and wrong. Checked by type checkers, and never run."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import accord
from accord import Agent, Diff, Image, Location, Mode, Permission, PermissionOption, PlanEntry, StopReason, Turn


class Right(Agent):
    modes = [Mode(id="ask", name="Ask")]

    async def prompt(self, turn: Turn) -> StopReason | None:
        await turn.say("text")
        await turn.say(Image(data="", mime_type="image/png"))
        await turn.think("hm")
        await turn.plan(["one", "two"])
        await turn.plan([PlanEntry(content="one", status="in_progress", priority="high"), "two"])
        await turn.plan(("one", PlanEntry(content="two")))
        await turn.plan(accord.Plan(markdown="# Plan"))
        await turn.notice("Careful", severity="warning")
        await turn.notice("Careful", severity="_my_own")
        async with turn.tool(
            "Read", kind="read", locations=["a.py", Location(path="b.py")], raw_input={"a": 1}
        ) as tool:
            await tool.show("text", Diff.of("a", "b", "c"))
            await tool.update(status="completed", kind="edit")
            assert_type(await tool.permit("Delete it", always=True), Permission)
        await turn.terminals.run("ls", ["-l"])
        turn.tool("Fly", kind="_fly", can_cancel=True, background=True, name="fly", meta={"a": 1})
        assert_type(await turn.permit("Run", command="ls", kind="execute"), Permission)
        await turn.permit("Run", options=[PermissionOption(id="y", name="Yes", kind="allow_once")])
        await turn.say(accord.TextContent("x", annotations=accord.Annotations(audience=["user"], priority=1)))
        await tool.update(title=None, locations=None)
        turn.session.set_message(None, message_id="m")
        async with turn.session.work() as work:
            work.stop_reason = "refusal"
        turn.display_terminal("ls", size=(80, 24))
        await turn.session.set_info(updated_at="2026-01-01T00:00:00Z", meta={"a": 1})
        assert_type(await turn.client.ask("Who?", {}, meta={"a": 1}), accord.Reply)
        return "refusal"

    @accord.command("done", "Remove finished things", hint="word")
    async def remove(self, turn: Turn) -> None: ...

    async def login(self, method_id: str, client: accord.Client) -> None:
        await client.set_auth_status(accord.AuthStatus(state="authenticated"))

    async def auth_status(self) -> accord.AuthStatus:
        return accord.AuthStatus(state="authenticated", accounts=[accord.Account(label="Ada")])


class Wrong(Agent):
    @accord.command("done", "Remove finished things")  # wrong
    async def remove(self) -> None: ...

    async def prompt(self, turn: Turn) -> None:
        await turn.terminals.run(["ls", "-l"])  # wrong
        await turn.terminals.run("ls", "-l")  # wrong
        await turn.plan([PlanEntry("one")])  # wrong
        await turn.plan([PlanEntry(text="one")])  # wrong
        await turn.say(42)  # wrong
        await turn.say(None)  # wrong
        await turn.say(b"bytes")  # wrong
        await turn.think({"a": 1})  # wrong
        await turn.plan("one")  # wrong
        await turn.plan([1, 2])  # wrong
        await turn.session.plan("one")  # wrong
        await turn.notice("Careful", severity=3)  # wrong
        turn.tool("Read", knd="read")  # wrong
        turn.tool("Read", locations="a.py")  # wrong
        turn.tool(Path("a.py"))  # wrong
        turn.tool("Read", kind=3)  # wrong
        with turn.tool("Read"):  # wrong
            pass
        await turn.tool("Read")  # wrong
        async with turn.tool("Read") as tool:
            await tool.show(42)  # wrong
            await tool.permit(alway=True)  # wrong
        await turn.permit("Run", options=["yes"])  # wrong
        await turn.permit("Run", reason="because")  # wrong
        await turn.ask("Who?", "name")  # wrong
        await turn.session.set_options(["fast"])  # wrong
        await turn.say(accord.TextContent("x", annotations={"audience": ["user"]}))  # wrong
        turn.display_terminal("ls", size=80)  # wrong
        with turn.session.work():  # wrong
            pass
        await turn.client.set_auth_status("authenticated")  # wrong
        await turn.client.ask("Who?", shema={})  # wrong
        print(turn.client.forms)  # wrong


class WrongLogin(Agent):
    async def login(self, method_id: str) -> None:  # wrong
        pass


class NotAsync(Agent):
    def prompt(self, turn: Turn) -> None:  # wrong
        turn.say("text")


class WrongModes(Agent):
    modes = ["ask"]  # wrong
