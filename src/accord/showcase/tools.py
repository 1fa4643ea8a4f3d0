"""Tool calls and the changes they make."""

from __future__ import annotations

import asyncio

from accord.agent.agent import command
from accord.agent.turn import Turn
from accord.model.tool import Diff, FileChange
from accord.showcase.topic import Topic

KINDS = ("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other")
STATUSES = ("pending", "in_progress", "paused", "completed", "failed", "cancelled")
MAX_PARALLEL = 500

OLD = "def greet(name):\n    print('Helo ' + name)\n\n\ngreet('world')\n"
NEW = 'def greet(name: str) -> None:\n    print(f"Hello, {name}!")\n\n\ngreet("world")\n'


class Tools(Topic):
    """Tool calls and diffs."""

    title = "Tools"

    @command(
        "tools", "Tool calls of every kind and status, with raw input and output, and many at once", hint="how many"
    )
    async def show_tools(self, turn: Turn) -> None:
        many = int(await self.number(turn, "parallel tool calls", 12, MAX_PARALLEL)) or 1
        for kind in KINDS:
            await self._one_of_kind(turn, kind)
        for status in STATUSES:
            tool = turn.tool(f"Status: {status}", id=f"{turn.message_id}-{status}")
            await tool.announce()
            await tool.update(status=status)
            await self.pause()
            await tool.update(status=status if status in ("completed", "failed", "cancelled") else "completed")
        await asyncio.gather(*(self._one_of_many(turn, number, many) for number in range(1, many + 1)))
        await turn.say(f"{len(KINDS)} kinds, {len(STATUSES)} statuses, {many} at once.")

    async def _one_of_kind(self, turn: Turn, kind: str) -> None:
        asked = {"path": "src/example.py", "nested": {"list": [1, 2.5, None, True], "text": "ünïcödé"}}
        async with turn.tool(
            f"Kind: {kind}",
            kind=kind,
            name=f"showcase_{kind}",
            locations=["src/example.py:3", "README.md"],
            raw_input=asked,
            meta={"accord.showcase": {"kind": kind}},
        ) as tool:
            await self.pause()
            await tool.update(title=f"Kind: {kind}, under a new title", locations=["src/example.py:7"])
            await tool.show(f"The output of a tool of kind `{kind}`.")
            await tool.complete({"lines": 3, "ok": True})

    async def _one_of_many(self, turn: Turn, number: int, many: int) -> None:
        async with turn.tool(f"Parallel {number} of {many}", kind="search") as tool:
            for step in range(3):
                await self.pause(1 + (number * 7 + step) % 5)
                await tool.show(f"step {step + 1}")

    @command("diff", "A new file, a change, a deletion, a move, and several files in one diff")
    async def show_diff(self, turn: Turn) -> None:
        place = turn.session.absolute
        async with turn.tool("A new file", kind="edit", locations=["greet.py:1"]) as tool:
            await tool.diff("greet.py", None, OLD)
        await self.pause()
        async with turn.tool("A change", kind="edit", locations=["greet.py:2"]) as tool:
            await tool.diff("greet.py", OLD, NEW)
        await self.pause()
        async with turn.tool("A file without a final newline, and one with CRLF line endings", kind="edit") as tool:
            await tool.diff("no_newline.txt", "one\ntwo", "one\ntwo\nthree")
            await tool.diff("windows.txt", "one\r\ntwo\r\n", "one\r\n2\r\n")
        await self.pause()
        async with turn.tool("A deletion", kind="delete", locations=["old.py"]) as tool:
            await tool.diff("old.py", "print('gone')\n", None)
        await self.pause()
        moved = FileChange(
            operation="move", path=place("hello/greet.py"), old_path=place("greet.py"), old_text=NEW, new_text=NEW
        )
        async with turn.tool("A move", kind="move", locations=["hello/greet.py"]) as tool:
            await tool.show(Diff(changes=[moved]))
        await self.pause()
        several = [
            FileChange(operation="add", path=place("a.txt"), new_text="a\n"),
            FileChange(operation="modify", path=place("b ü.txt"), old_text="b\n", new_text="B\n"),
            FileChange(operation="delete", path=place("c.txt"), old_text="c\n"),
            FileChange(operation="copy", path=place("e.txt"), old_path=place("d.txt"), old_text="d\n", new_text="e\n"),
        ]
        async with turn.tool("Several files in one diff", kind="edit") as tool:
            await tool.show("Four files, ", Diff(changes=several), " in one.")
        await turn.say("No file was changed.")
