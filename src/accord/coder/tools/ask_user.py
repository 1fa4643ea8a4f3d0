"""ask_user and switch_mode: questions for the user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from accord.coder.tools.base import Outcome, Tool, ToolContext, ToolError
from accord.coder.tools.plan import as_text
from accord.coder.tools.text import one_line
from accord.model.record import Record
from accord.model.requests import PermissionOption

MAX_CHOICES = 20
FIELD = "answer"


class AskUserArgs(Record):
    """The question."""

    question: Annotated[str, Meta(min_length=1, description="The question, complete in itself.")]
    choices: Annotated[
        list[str], Meta(max_length=MAX_CHOICES, description="The answers to choose from; empty for free text.")
    ] = []
    multiple: Annotated[bool, Meta(description="Whether several choices may be selected.")] = False


class AskUser(Tool[AskUserArgs]):
    name = "ask_user"
    description = (
        "Asks the user a question and waits for the answer: one or more choices, or free text. Ask only what you "
        "can't find out yourself and what affects what you do next. Don't ask for permission to run or change "
        "something: the tools do that. The result says if the user declined or couldn't be asked."
    )
    kind: str = "other"
    arguments = AskUserArgs
    aliases = "ask question ask_question ask_user_question ask_followup_question"

    def adapt(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Translate a list with one question, and choices with a label and a description."""
        match arguments:
            case {"questions": [{"question": _} as question]}:
                arguments = question
            case {"questions": [_, _, *_]}:
                raise ToolError(f"{self.name} asks one question: make a separate call for each")
        return {
            name: [each.get("label", each) if isinstance(each, dict) else each for each in value]
            if isinstance(value, list)
            else value
            for name, value in arguments.items()
            if name != "header"
        }

    def title(self, args: AskUserArgs) -> str:
        return f"Ask: {one_line(args.question)}"

    async def run(self, args: AskUserArgs, ctx: ToolContext) -> Outcome:
        choices = list(dict.fromkeys(args.choices))
        if len(choices) == 1 or (args.multiple and not choices):
            raise ToolError("give at least two choices, or none for free text")
        reply = await ctx.turn.ask(args.question, _form(args.question, choices, args.multiple))
        raw: dict[str, Any] = {"action": reply.action}
        if reply.accepted:
            given = (reply.content or {}).get(FIELD)
            raw["answer"] = given
            answer = ", ".join(map(str, given)) if isinstance(given, list) else str(given)
            await ctx.call.show(answer)
            return Outcome(text=f"The user answered: {answer}", raw=raw)
        return Outcome(text=_explain_no_answer(str(reply.action)), raw=raw)


def _form(question: str, choices: Sequence[str], multiple: bool) -> dict[str, Any]:
    field: dict[str, Any] = {"type": "string", "title": "Your answer", "minLength": 1}
    if choices and multiple:
        items = {"type": "string", "enum": list(choices)}
        field = {"type": "array", "title": "Your answer", "items": items, "minItems": 1}
    elif choices:
        field = {"type": "string", "title": "Your answer", "enum": list(choices)}
    return {"type": "object", "properties": {FIELD: field}, "required": [FIELD]}


def _explain_no_answer(action: str) -> str:
    match action:
        case "later":
            return (
                "The user has been shown the question, but can answer only with the next message. End your turn now; "
                "do not repeat the question."
            )
        case "decline":
            return "The user declined to answer. Continue without an answer, or say what you can't do without it."
        case "invalid":
            return "The answer didn't match the question. Rephrase it, or continue without an answer."
        case _:
            return "The user dismissed the question. Continue as well as you can, and say what you assumed."


Mode = Literal["ask", "architect", "code"]
_MEANING = {
    "ask": "carry it out, asking before each change",
    "code": "carry it out, editing files without asking",
    "architect": "plan only, without changing anything",
}


class SwitchModeArgs(Record):
    """The mode and the reason."""

    mode: Annotated[
        Mode,
        Meta(
            description="ask: the user is asked before changes and commands. code: files are edited without asking. "
            "architect: read and plan only."
        ),
    ]
    reason: Annotated[str, Meta(description="The reason, in one sentence for the user.")] = ""


class SwitchMode(Tool[SwitchModeArgs]):
    name = "switch_mode"
    description = (
        "Asks the user to switch to another mode. Use it when the plan is complete, published (set_plan) and ready to "
        "be carried out: the user sees the plan and your reason, and decides. Never switch to get around a refusal."
    )
    kind: str = "switch_mode"
    arguments = SwitchModeArgs
    aliases = "set_mode"
    implied: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "exit_plan_mode": {"mode": "ask"},
        "plan_exit": {"mode": "ask"},
        "enter_plan_mode": {"mode": "architect"},
    }

    def title(self, args: SwitchModeArgs) -> str:
        return "Ready to implement?" if args.mode != "architect" else "Back to planning?"

    async def prepare(self, args: SwitchModeArgs, ctx: ToolContext) -> None:
        if ctx.state.mode == args.mode:
            return
        shown = [args.reason, as_text(ctx.state.plan), f"Switch to {args.mode} mode: {_MEANING[args.mode]}."]
        await ctx.call.show("\n\n".join(part for part in shown if part))

    async def run(self, args: SwitchModeArgs, ctx: ToolContext) -> Outcome:
        before = ctx.state.mode
        if before == args.mode:
            return Outcome(text=f"The mode is already {args.mode}. Continue.", raw={"mode": before, "before": before})
        options = [
            PermissionOption(id="allow_once", name=f"Yes, {_MEANING[args.mode]}", kind="allow_once"),
            PermissionOption(id="reject_once", name=f"No, stay in {before} mode", kind="reject_once"),
        ]
        answer = await ctx.turn.permit(self.title(args), kind="switch_mode", options=options, tool=ctx.call)
        if not answer:
            said = "closed the question" if answer.cancelled else "said no"
            return Outcome(text=f"The user {said}; the mode is still {before}.", raw={"mode": before, "before": before})
        await ctx.state.switch_mode(args.mode)
        raw = {"mode": args.mode, "before": before}
        return Outcome(text=f"The user agreed; the mode is now {args.mode}. Continue.", raw=raw)
