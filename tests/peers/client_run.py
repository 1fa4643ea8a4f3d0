"""The steps that every peer client plays, and what it saw. Used by tests of the peers and of Accord's agent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Step = dict[str, Any]


def prompt_steps(texts: Iterable[str]) -> dict[str, Step]:
    """Return a step for each prompt, named by its text."""
    return {text: {"do": "prompt", "text": text} for text in texts}


FIRST_STEPS: dict[str, Step] = {
    "log in": {"do": "authenticate"},
    "log in wrongly": {"do": "authenticate", "method": "unknown"},
    "new": {"do": "new"},
}
COMMON_STEPS: dict[str, Step] = {
    "allow": {"do": "prompt", "text": "permission", "permission": "allow_once"},
    "reject": {"do": "prompt", "text": "permission", "permission": "reject_once"},
    "answer cancelled": {"do": "prompt", "text": "permission", "permission": "cancelled"},
    "cancel while asked": {"do": "prompt", "text": "permission", "permission": "cancel"},
    "wait": {"do": "prompt", "text": "wait", "cancel": True},
    "after cancel": {"do": "prompt", "text": "still here"},
    "elicit": {"do": "prompt", "text": "elicit", "elicitation": {"name": "Ada"}},
    "decline": {"do": "prompt", "text": "elicit"},
    "list": {"do": "list"},
    "set mode": {"do": "mode", "mode": "careful"},
    "set wrong mode": {"do": "mode", "mode": "unknown"},
    "set option": {"do": "option", "option": "model", "value": "deep"},
}
LAST_STEPS: dict[str, Step] = {
    "close": {"do": "close"},
    "after close": {"do": "prompt", "text": "hello"},
    "new again": {"do": "new"},
    "die": {"do": "prompt", "text": "die"},
}


class ClientRun:
    """The lines that a client printed, by the name of the step."""

    def __init__(self, names: Iterable[str], steps: list[list[dict[str, Any]]]) -> None:
        self.steps = dict(zip(["initialize", *names, "exit"], steps, strict=True))

    def all(self, step: str, what: str) -> list[dict[str, Any]]:
        return [line for line in self.steps[step] if line["saw"] == what]

    def one(self, step: str, what: str) -> dict[str, Any]:
        (line,) = self.all(step, what)
        return line

    def updates(self, step: str, *kinds: str) -> list[dict[str, Any]]:
        updates = [line["update"] for line in self.all(step, "update")]
        return [update for update in updates if update["sessionUpdate"] in kinds]

    def texts(self, step: str) -> list[str]:
        """Return the text of each message chunk."""
        return [update["content"]["text"] for update in self.updates(step, "agent_message_chunk")]

    def stop(self, step: str) -> str:
        reason: str = self.one(step, "stop")["reason"]
        return reason

    def code(self, step: str) -> int | None:
        code: int | None = self.one(step, "error")["code"]
        return code

    def call(self, step: str) -> dict[str, Any]:
        """Return the final state of the only tool call: updates merged, content chunks joined."""
        call: dict[str, Any] = {}
        for update in self.updates(step, "tool_call", "tool_call_update", "tool_call_content_chunk"):
            assert update["toolCallId"] == call.setdefault("toolCallId", update["toolCallId"])
            if update["sessionUpdate"] == "tool_call_content_chunk":
                call["content"] = [*call.get("content", []), update["content"]]
            else:
                call.update(update)
        return call
