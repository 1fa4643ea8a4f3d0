"""A session with the offline model, step by step: the test sees its calls and provides their results."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from typing import Any, NamedTuple

from accord.coder.history import Call, Message, ModelSaid, Result, ToolsSaid, UserSaid
from accord.coder.models.base import CallBegins, CallReady, Ended, Piece, Request, SaidPiece, ToolSpec
from accord.coder.offline.model import OfflineModel
from accord.coder.tools.registry import standard_tools
from accord.model.content import TextContent

TOOLS = frozenset(standard_tools()) | {"fetch_url"}
LOOKING = frozenset(name for name, tool in standard_tools().items() if not tool.changes)


class Outcome(NamedTuple):
    """The result of a tool, as the tools of the coding agent return it."""

    text: str
    data: dict[str, Any] = {}
    failed: bool = False


def file(text: str, line: int = 1, total: int | None = None) -> Outcome:
    """Return the text of a file, or of a part of it."""
    lines = len(text.splitlines())
    whole = total is None or (line, lines) == (1, total)
    return Outcome(text, {"text": text, "line": line, "total": lines if total is None else total, "complete": whole})


def hits(*places: str, complete: bool = True) -> Outcome:
    """Places that were found, each as `path:line:text`."""
    matches = [
        {"name": path, "line": int(line), "text": text} for path, line, text in (each.split(":", 2) for each in places)
    ]
    return Outcome("\n".join(places), {"matches": matches, "complete": complete})


def names(*found: str, ignored: Sequence[str] = ()) -> Outcome:
    """Return the names in a directory, or those that match a pattern."""
    return Outcome("\n".join(found), {"names": list(found), "ignored": list(ignored), "complete": True})


def ran(code: int, output: str) -> Outcome:
    """Return the end of a command."""
    return Outcome(f"[exit {code}]\n{output}", {"exitCode": code, "output": output})


def failure(text: str, problem: str = "") -> Outcome:
    """Return a call that failed."""
    return Outcome(text, {"problem": problem}, True)


class Talk:
    """One session's history, and the model that continues it."""

    def __init__(self, *messages: Message, tools: frozenset[str] = TOOLS, instructions: str = "Be good.") -> None:
        self.messages: list[Message] = list(messages)
        self.tools = tools
        self.instructions = instructions
        self.max_tokens: int | None = None
        self.pieces: list[Piece] = []
        self.model = OfflineModel()

    def request(self) -> Request:
        specs = [ToolSpec(name=name, description="", parameters={}) for name in sorted(self.tools)]
        return Request(
            instructions=self.instructions, messages=list(self.messages), tools=specs, max_tokens=self.max_tokens
        )

    async def answer(self) -> ModelSaid:
        """Return the model's next answer, which joins the history."""
        async with aclosing(self.model.stream(self.request())) as stream:
            self.pieces = [piece async for piece in stream]
        ended = self.pieces[-1]
        assert isinstance(ended, Ended)
        assert "".join(piece.text for piece in self.pieces if isinstance(piece, SaidPiece)) == ended.message.text
        begun = [piece.id for piece in self.pieces if isinstance(piece, CallBegins)]
        ready = [piece.call for piece in self.pieces if isinstance(piece, CallReady)]
        assert ready == ended.message.calls
        assert begun == [call.id for call in ready]
        self.messages.append(ended.message)
        return ended.message

    async def ask(self, text: str, *content: Any) -> ModelSaid:
        """Send a prompt, and return the first answer."""
        self.messages.append(UserSaid(content=[TextContent(text), *content] if text else list(content)))
        return await self.answer()

    async def tools_say(self, *outcomes: str | Outcome) -> ModelSaid:
        """Give the results of the last answer's calls, plans left out, and return the next answer. A string is the
        text of a file that was read, or the text of another successful tool."""
        said = self.messages[-1]
        assert isinstance(said, ModelSaid)
        given = iter(outcomes)
        results = []
        for call in said.calls:
            each = "The plan is now: …" if is_whole_plan(call) else next(given)
            if isinstance(each, str):
                each = file(each) if call.name == "read_file" else Outcome(each)
            results.append(Result(id=call.id, name=call.name, text=each.text, failed=each.failed, data=each.data))
        assert next(given, None) is None, "more was said than called for"
        self.messages.append(ToolsSaid(results=results))
        return await self.answer()


def is_whole_plan(call: Call) -> bool:
    return call.name == "set_plan" and not call.arguments.get("append")


def list_calls(said: ModelSaid, *, plans: bool = False) -> list[tuple[str, dict[str, Any]]]:
    """Return the calls of an answer; plans only if they are the subject."""
    return [(call.name, call.arguments) for call in said.calls if plans or call.name != "set_plan"]


def plan(said: ModelSaid) -> list[tuple[str, str]]:
    """Return the plan that an answer publishes first."""
    call = said.calls[0]
    assert call.name == "set_plan"
    return [(step["content"], step["status"]) for step in call.arguments["steps"]]
