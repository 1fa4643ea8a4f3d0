"""ask_user and switch_mode: what only the user can say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta

from accord.coder.tools.base import Outcome, Tool, ToolFault, Work
from accord.coder.tools.planning import as_text
from accord.coder.tools.text import one_line
from accord.model.noun import Noun
from accord.model.requests import PermissionOption

MAX_CHOICES = 20
FIELD = "answer"


class AskUserArgs(Noun):
    """The question."""

    question: Annotated[str, Meta(min_length=1, description="The question, complete in itself.")]
    choices: Annotated[
        list[str], Meta(max_length=MAX_CHOICES, description="The answers to choose from; none for a free text.")
    ] = []
    multiple: Annotated[bool, Meta(description="Whether several choices may be taken.")] = False


class AskUser(Tool[AskUserArgs]):
    name = "ask_user"
    description = (
        "Asks the user a question and waits for the answer: a choice among some, or a free text. Ask only what you "
        "cannot find out yourself and what changes what you do next; for permission to run or change something do not "
        "ask: the tools do that. The answer says when the user declined, or could not be asked this way."
    )
    kind = "other"
    arguments = AskUserArgs

    def title(self, args: AskUserArgs) -> str:
        return f"Ask: {one_line(args.question)}"

    async def run(self, args: AskUserArgs, work: Work) -> Outcome:
        choices = list(dict.fromkeys(args.choices))
        if len(choices) == 1 or (args.multiple and not choices):
            raise ToolFault("give at least two choices, or none for a free text")
        reply = await work.turn.ask(args.question, _form(args.question, choices, args.multiple))
        raw: dict[str, Any] = {"action": reply.action}
        if reply.accepted:
            given = (reply.content or {}).get(FIELD)
            raw["answer"] = given
            answer = ", ".join(map(str, given)) if isinstance(given, list) else str(given)
            await work.shown.show(answer)
            return Outcome(text=f"The user answered: {answer}", raw=raw)
        return Outcome(text=_unanswered(str(reply.action)), raw=raw)


def _form(question: str, choices: Sequence[str], multiple: bool) -> dict[str, Any]:
    field: dict[str, Any] = {"type": "string", "title": "Your answer", "minLength": 1}
    if choices and multiple:
        items = {"type": "string", "enum": list(choices)}
        field = {"type": "array", "title": "Your answer", "items": items, "minItems": 1}
    elif choices:
        field = {"type": "string", "title": "Your answer", "enum": list(choices)}
    return {"type": "object", "properties": {FIELD: field}, "required": [FIELD]}


def _unanswered(action: str) -> str:
    match action:
        case "later":
            return (
                "The user has been shown the question, but can answer only with the next message. End your turn now; "
                "do not repeat the question."
            )
        case "decline":
            return "The user does not want to answer this. Go on without an answer, or say what you cannot do without."
        case "invalid":
            return "An answer came that does not fit the question. Ask again in other words, or go on without."
        case _:
            return "The question was closed without an answer. Go on as well as you can, and say what you assumed."


Mode = Literal["ask", "architect", "code"]
_MEANS = {
    "ask": "carry it out, asking before each change",
    "code": "carry it out, editing files without asking",
    "architect": "only plan, changing nothing",
}


class SwitchModeArgs(Noun):
    """Which mode, and why."""

    mode: Annotated[
        Mode,
        Meta(
            description="ask: changes and commands are asked about. code: files are edited without asking. "
            "architect: read and plan only."
        ),
    ]
    reason: Annotated[str, Meta(description="Why, in a sentence for the user.")] = ""


class SwitchMode(Tool[SwitchModeArgs]):
    name = "switch_mode"
    description = (
        "Asks the user to switch to another mode. Use it when the plan is complete and published (set_plan) and should "
        "now be carried out: the user sees the plan and your reason, and decides. Never switch to get around a refusal."
    )
    kind = "switch_mode"
    arguments = SwitchModeArgs

    def title(self, args: SwitchModeArgs) -> str:
        return "Ready to implement?" if args.mode != "architect" else "Back to planning?"

    async def prepare(self, args: SwitchModeArgs, work: Work) -> None:
        if work.desk.mode == args.mode:
            return
        shown = [args.reason, as_text(work.desk.plan), f"Switch to {args.mode} mode: {_MEANS[args.mode]}."]
        await work.shown.show("\n\n".join(part for part in shown if part))

    async def run(self, args: SwitchModeArgs, work: Work) -> Outcome:
        before = work.desk.mode
        if before == args.mode:
            return Outcome(text=f"The mode is {args.mode} already.")
        options = [
            PermissionOption(id="allow_once", name=f"Yes, {_MEANS[args.mode]}", kind="allow_once"),
            PermissionOption(id="reject_once", name=f"No, stay in {before} mode", kind="reject_once"),
        ]
        answer = await work.turn.permit(self.title(args), kind="switch_mode", options=options, tool=work.shown)
        if not answer:
            said = "closed the question" if answer.cancelled else "said no"
            return Outcome(text=f"The user {said}; the mode is still {before}.", raw={"mode": before})
        await work.desk.switch_mode(args.mode)
        return Outcome(text=f"The user agreed; the mode is {args.mode} now. Go on.", raw={"mode": args.mode})
