"""How a turn can end other than well."""

from __future__ import annotations

from accord.agent.agent import command
from accord.agent.turn import Turn
from accord.errors import AuthRequired, RequestFailed
from accord.model.requests import AuthMethod
from accord.showcase.stage import Stage

CODE = -32050


class Endings(Stage):
    """Stop reasons, errors, and logging in."""

    topic = "Endings"

    auth_methods = [
        AuthMethod(id="pretend", name="Pretend to log in", description="Needs no account and always works"),
    ]
    logged_in = False

    async def login(self, method_id: str) -> None:
        self.logged_in = True

    async def logout(self) -> None:
        self.logged_in = False

    @command(
        "error", "A tool call that fails, then a JSON-RPC error with data; or one of them", hint="tool, rpc or crash"
    )
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
            raise ZeroDivisionError("an exception that nobody expected")
        raise RequestFailed("this error was asked for", code=CODE, data={"why": "it was asked for", "retry": False})

    @command("auth", "Demands a login first; works once you have logged in")
    async def show_auth(self, turn: Turn) -> None:
        if not self.logged_in:
            raise AuthRequired("log in first; “pretend” always works")
        await turn.say("You are logged in. Log out to see the demand again.")

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
            async with turn.tool(f"Request {number} to a model that is not there", kind="think"):
                await self.pause()
        await turn.say("That was the last request this turn may make.")
        return "max_turn_requests"
