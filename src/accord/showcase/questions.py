"""Questions to the user: permission requests of every kind, forms with every field, URLs to visit."""

from __future__ import annotations

import json
from typing import Any

from accord.agent.agent import command
from accord.agent.questions import ALLOW_ALWAYS, ALLOW_ONCE, REJECT_ALWAYS, REJECT_ONCE, Permission
from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.model.requests import Reply
from accord.showcase.tools import NEW, OLD
from accord.showcase.topic import Topic

ALL_OPTIONS = (ALLOW_ONCE, ALLOW_ALWAYS, REJECT_ONCE, REJECT_ALWAYS)

FORM: dict[str, Any] = {
    "type": "object",
    "title": "Every kind of field",
    "description": "Only the name is required.",
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 1, "maxLength": 40, "default": "Ada"},
        "email": {"type": "string", "title": "E-mail", "format": "email"},
        "homepage": {"type": "string", "title": "Home page", "format": "uri"},
        "birthday": {"type": "string", "title": "Birthday", "format": "date"},
        "moment": {"type": "string", "title": "Date and time", "format": "date-time"},
        "code": {"type": "string", "title": "Code", "description": "Three capitals", "pattern": "^[A-Z]{3}$"},
        "age": {"type": "integer", "title": "Age", "minimum": 0, "maximum": 150, "default": 36},
        "share": {"type": "number", "title": "Share", "minimum": 0, "maximum": 1, "default": 0.5},
        "subscribe": {"type": "boolean", "title": "Subscribe", "default": True},
        "color": {"type": "string", "title": "Color", "enum": ["red", "green", "blue"], "default": "green"},
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
    "properties": {"color": {"type": "string", "title": "Color", "enum": ["red", "green", "blue"]}},
    "required": ["color"],
}


class Questions(Topic):
    """Permission requests and elicitation."""

    title = "Questions"

    asks_on_opening: bool = False
    """Whether the next new session asks a question before it opens."""

    @command(
        "permission", "Asks with every kind of option, with a diff, and with a command", hint="options, diff or command"
    )
    async def show_permission(self, turn: Turn) -> None:
        parts = await self.parts(turn, "options", "diff", "command")
        if "options" in parts:
            answer = await turn.permit(
                "Do something harmless", options=ALL_OPTIONS, description="Every kind of option is offered."
            )
            await turn.say(f"Options: {_describe_answer(answer)}.\n\n")
        if "diff" in parts:
            async with turn.tool("Change greet.py", kind="edit", locations=["greet.py:1"]) as tool:
                await tool.diff("greet.py", OLD, NEW)
                answer = await tool.permit(always=True)
                if not answer:
                    await tool.update(status="cancelled" if answer.cancelled else "failed")
            await turn.say(f"Diff: {_describe_answer(answer)}. No file was changed.\n\n")
        if "command" in parts:
            answer = await turn.permit("Run the tests", command="make test ARGS='-k \"not slow\"'", always=True)
            await turn.say(f"Command: {_describe_answer(answer)}. Nothing was run.\n\n")

    @command(
        "elicit", "A form with every kind of field, a single choice, and a URL to visit", hint="form, choice or url"
    )
    async def show_elicit(self, turn: Turn) -> None:
        parts = await self.parts(turn, "form", "choice", "url")
        if "form" in parts:
            reply = await turn.ask("Please fill in every kind of field.", FORM)
            await turn.say(f"\n\nForm: {_describe_reply(reply)}\n\n")
        if "choice" in parts:
            reply = await turn.ask("Which color?", CHOICE)
            await turn.say(f"Choice: {_describe_reply(reply)}\n\n")
        if "url" in parts:
            await self._visit(turn)

    @command("elicit-opening", "Makes the next new session ask a question before it opens")
    async def show_elicit_opening(self, turn: Turn) -> None:
        if not turn.client.offers.forms:
            await turn.say("This client doesn't support forms; new sessions won't ask anything.")
            return
        self.asks_on_opening = True
        await turn.say("Start a new session: it asks for a color before it opens.")

    async def open_session(self, session: Session) -> None:
        """Ask a question if `/elicit-opening` was used. The client doesn't know the session yet, so the question
        carries the id of the `session/new` request instead of a session id."""
        if self.asks_on_opening and session.client.offers.forms:
            self.asks_on_opening = False
            reply = await session.ask("Which color is this session?", CHOICE)
            await session.say(f"Asked while opening: {_describe_reply(reply)}")

    async def _visit(self, turn: Turn) -> None:
        if not turn.client.offers.urls:
            await turn.say("URL: this client can't open URLs; none was sent.\n\n")
            return
        id = f"page-{turn.message_id}"
        reply = await turn.ask("Please look at this page.", url="https://example.com/", id=id)
        await turn.say(f"URL: {_describe_reply(reply)}\n\n")
        if reply.accepted:
            await self.pause(5)
            await turn.session.page_done(id)


def _describe_answer(answer: Permission) -> str:
    if answer.option is None:
        return "cancelled, or answered with an option that wasn't offered"
    return f"“{answer.option.name}” was chosen ({answer.option.kind}), which {'allows' if answer else 'rejects'} it"


def _describe_reply(reply: Reply) -> str:
    if reply.action == "later":
        return "this client doesn't support forms, so the question was sent as text; the next prompt may answer it."
    if reply.content is None:
        return f"{reply.action}."
    return f"{reply.action} with\n```json\n{json.dumps(reply.content, ensure_ascii=False, indent=2)}\n```"
