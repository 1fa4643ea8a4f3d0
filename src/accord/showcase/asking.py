"""Questions to a person: permissions of every kind, forms with every field, pages to visit."""

from __future__ import annotations

import json
from typing import Any

from accord.agent.agent import command
from accord.agent.permission import ALLOW_ALWAYS, ALLOW_ONCE, REJECT_ALWAYS, REJECT_ONCE, Permission
from accord.agent.turn import Turn
from accord.model.requests import Reply
from accord.showcase.stage import Stage
from accord.showcase.tools import NEW, OLD

ALL_OPTIONS = (ALLOW_ONCE, ALLOW_ALWAYS, REJECT_ONCE, REJECT_ALWAYS)

FORM: dict[str, Any] = {
    "type": "object",
    "title": "Every kind of field",
    "description": "Only the name must be given.",
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 1, "maxLength": 40, "default": "Ada"},
        "email": {"type": "string", "title": "E-mail", "format": "email"},
        "homepage": {"type": "string", "title": "Home page", "format": "uri"},
        "birthday": {"type": "string", "title": "Birthday", "format": "date"},
        "moment": {"type": "string", "title": "A moment", "format": "date-time"},
        "code": {"type": "string", "title": "Code", "description": "Three capitals", "pattern": "^[A-Z]{3}$"},
        "age": {"type": "integer", "title": "Age", "minimum": 0, "maximum": 150, "default": 36},
        "share": {"type": "number", "title": "Share", "minimum": 0, "maximum": 1, "default": 0.5},
        "subscribe": {"type": "boolean", "title": "Subscribe", "default": True},
        "colour": {"type": "string", "title": "Colour", "enum": ["red", "green", "blue"], "default": "green"},
        "size": {
            "type": "string",
            "title": "Size",
            "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}],
        },
        "toppings": {
            "type": "array",
            "title": "Toppings",
            "items": {"type": "string", "enum": ["cheese", "olives", "basil"]},
            "minItems": 0,
            "maxItems": 2,
            "default": ["cheese"],
        },
        "days": {
            "type": "array",
            "title": "Days",
            "items": {"anyOf": [{"const": "mo", "title": "Monday"}, {"const": "tu", "title": "Tuesday"}]},
        },
    },
    "required": ["name"],
}
CHOICE: dict[str, Any] = {
    "type": "object",
    "properties": {"colour": {"type": "string", "title": "Colour", "enum": ["red", "green", "blue"]}},
    "required": ["colour"],
}


class Asking(Stage):
    """Permissions and elicitation."""

    topic = "Questions"

    @command(
        "permission", "Asks with every kind of option, with a diff, and with a command", hint="options, diff or command"
    )
    async def show_permission(self, turn: Turn) -> None:
        parts = await self.parts(turn, "options", "diff", "command")
        if "options" in parts:
            answer = await turn.permit(
                "Do something harmless", options=ALL_OPTIONS, description="Every kind of option is offered."
            )
            await turn.say(f"Options: {_said(answer)}.\n\n")
        if "diff" in parts:
            async with turn.tool("Change greet.py", kind="edit", locations=["greet.py:1"]) as tool:
                await tool.diff("greet.py", OLD, NEW)
                answer = await tool.permit(always=True)
                if not answer:
                    await tool.update(status="cancelled" if answer.cancelled else "failed")
            await turn.say(f"Diff: {_said(answer)}; no file was changed.\n\n")
        if "command" in parts:
            answer = await turn.permit("Run the tests", command="make test ARGS='-k \"not slow\"'", always=True)
            await turn.say(f"Command: {_said(answer)}; nothing was run.\n\n")

    @command(
        "elicit", "A form with every kind of field, a single choice, and a page to visit", hint="form, choice or url"
    )
    async def show_elicit(self, turn: Turn) -> None:
        parts = await self.parts(turn, "form", "choice", "url")
        if "form" in parts:
            reply = await turn.ask("Please fill in every kind of field.", FORM)
            await turn.say(f"\n\nForm: {_replied(reply)}\n\n")
        if "choice" in parts:
            reply = await turn.ask("Which colour?", CHOICE)
            await turn.say(f"Choice: {_replied(reply)}\n\n")
        if "url" in parts:
            await self._visit(turn)

    async def _visit(self, turn: Turn) -> None:
        if not turn.client.urls:
            await turn.say("Page: this client opens no pages; none was asked for.\n\n")
            return
        id = f"page-{turn.message_id}"
        reply = await turn.ask("Please look at this page.", url="https://example.com/", id=id)
        await turn.say(f"Page: {_replied(reply)}\n\n")
        if reply.accepted:
            await self.pause(5)
            await turn.session.page_done(id)


def _said(answer: Permission) -> str:
    if answer.option is None:
        return "cancelled, or answered with what was not offered"
    return f"“{answer.option.name}” was chosen ({answer.option.kind}), which {'allows' if answer else 'rejects'} it"


def _replied(reply: Reply) -> str:
    if reply.action == "later":
        return "this client has no forms, so the question was said as text; the next prompt may answer it."
    if reply.content is None:
        return f"{reply.action}."
    return f"{reply.action} with\n```json\n{json.dumps(reply.content, ensure_ascii=False, indent=2)}\n```"
