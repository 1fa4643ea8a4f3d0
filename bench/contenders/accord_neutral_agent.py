"""Accord's neutral API as an agent."""

from __future__ import annotations

import workload

from accord import Agent, Mode, PermissionOption, Turn, run

YES = PermissionOption(id="yes", name="Allow", kind="allow_once")
NO = PermissionOption(id="no", name="Reject", kind="reject_once")


class BenchAgent(Agent):
    """Does what the prompt says; README.md lists the words."""

    modes = (Mode(id="code", name="Code"),)

    async def prompt(self, turn: Turn) -> None:
        word, _, rest = turn.text[:32].partition(" ")
        if word == "stream":
            for number in range(int(rest)):
                await turn.say(workload.token(number))
        elif word == "blob":
            await turn.say(workload.blob(int(rest)))
        elif word == "mixed":
            for kind, value in workload.MIXED:
                await getattr(self, kind)(turn, value)

    async def plan(self, turn: Turn, _: str) -> None:
        await turn.plan(workload.PLAN)

    async def thought(self, turn: Turn, text: str) -> None:
        await turn.think(text)

    async def chunk(self, turn: Turn, text: str) -> None:
        await turn.say(text)

    async def tool(self, turn: Turn, number: str) -> None:
        path = workload.path(number)
        call = turn.tool(f"Edit file {number}", kind="edit", locations=[f"{path}:1"], id=f"call-{number}")
        async with call as tool:
            await tool.diff(path, workload.OLD, workload.NEW)

    async def permission(self, turn: Turn, number: str) -> None:
        allowed = await turn.permit(f"Edit file {number}", kind="edit", options=[YES, NO])
        assert allowed.option is YES

    async def read(self, turn: Turn, number: str) -> None:
        text = await turn.files.read(workload.path(number))
        assert len(text) == len(workload.READ)


if __name__ == "__main__":
    run(BenchAgent())
