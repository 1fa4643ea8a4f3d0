"""Turns that end with an error or an unusual stop reason."""

from __future__ import annotations

from accord.agent.agent import command
from accord.agent.turn import Turn
from accord.errors import RequestFailed
from accord.showcase.topic import Topic

CODE = -31050


class Endings(Topic):
    """Stop reasons and errors."""

    title = "Endings"

    @command("error", "A failing tool call, then a JSON-RPC error with data; or one of them", hint="tool, rpc or crash")
    async def show_error(self, turn: Turn) -> None:
        parts = await self.parts(turn, "tool", "rpc", "crash")
        if "tool" in parts:
            async with turn.tool("A tool call that fails", kind="execute", raw_input={"command": "false"}) as tool:
                await self.pause()
                await tool.fail("exit status 1", {"exitCode": 1})
        if parts == ("tool",):
            await turn.say("The tool call failed; the turn did not.")
            return
        if parts == ("crash",):
            raise ZeroDivisionError("an unexpected exception")
        raise RequestFailed("You asked for this error", code=CODE, data={"why": "you asked for it", "retry": False})

    @command("refusal", "Ends with the stop reason refusal")
    async def show_refusal(self, turn: Turn) -> str:
        await turn.say("I would rather not.")
        return "refusal"

    @command("max-tokens", "Ends with the stop reason max_tokens, in the middle of a sentence")
    async def show_max_tokens(self, turn: Turn) -> str:
        await turn.say("There is so much to say about this that")
        return "max_tokens"

    @command("max-turn-requests", "Ends with the stop reason max_turn_requests")
    async def show_max_turn_requests(self, turn: Turn) -> str:
        for number in range(1, 4):
            async with turn.tool(f"Request {number} to a missing model", kind="think"):
                await self.pause()
        await turn.say("That was the last request this turn may make.")
        return "max_turn_requests"
