"""The built-in slash commands of the coding agent.

`Coder` declares them and passes them on to the session's `SlashCommands`. `/help`, `/compact`, `/usage` and `/undo` are
answered directly. The others are prompts for the model, so that a language model and the offline model carry them
out with the same tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.coder import modes
from accord.coder.context import compact
from accord.coder.model_choice import to_request_error
from accord.coder.models.base import ModelError
from accord.errors import NotFound
from accord.model.content import Content, TextContent
from accord.model.session import StopReason

if TYPE_CHECKING:
    from accord.agent.turn import Turn
    from accord.coder.session import CoderSession
    from accord.coder.usage import SessionUsage
    from accord.workspace.checkpoints import Restored

PLAN = "Make a plan for this, and change nothing: {}"
INIT = (
    "Write an AGENTS.md from what you find in this project: what it is, how it is laid out, how it is built, tested "
    "and linted, and which conventions its code follows. Look at the files first. If there is one already, improve it."
)
REVIEW = (
    "Review the working tree's changes. Look at them with show_changes, read what is around them, and tell what is "
    "wrong or risky, most important first, with file and line. Change nothing."
)
TEST = "Run the tests, and tell what failed and why."
MAX_LISTED = 50
"""How many restored files `/undo` lists."""


class SlashCommands:
    """Carries out the built-in slash commands of one session."""

    def __init__(self, state: CoderSession) -> None:
        self._state = state

    async def help(self, turn: Turn) -> None:
        lines = ["**Commands**", ""]
        for each in turn.session.commands:
            hint = f" *{each.hint}*" if each.hint else ""
            lines.append(f"- `/{each.name}`{hint}: {each.description}")
        lines += ["", f"**Modes** (current: {self._state.mode})", ""]
        lines += [f"- {mode.name}: {mode.description}" for mode in modes.MODES]
        model = await self._state.models.get()
        lines += ["", f"**Model**: {model.name}"]
        if model.id == "offline":
            from accord.coder.offline.replies import CAPABILITIES

            lines += ["", CAPABILITIES]
        await turn.say("\n".join(lines))

    async def plan(self, turn: Turn) -> StopReason | None:
        if not turn.argument.strip():
            await turn.say("What should the plan be for? Add a few words after `/plan`.")
            return None
        self._state.planning = True
        try:
            return await self._state.run_turn(turn, _with_attachments(turn, PLAN.format(turn.argument)))
        finally:
            self._state.planning = False

    async def init(self, turn: Turn) -> StopReason | None:
        return await self._state.run_turn(turn, _with_attachments(turn, INIT))

    async def review(self, turn: Turn) -> StopReason | None:
        prompt = f"{REVIEW} Look at this in particular: {turn.argument}" if turn.argument.strip() else REVIEW
        return await self._state.run_turn(turn, _with_attachments(turn, prompt))

    async def test(self, turn: Turn) -> StopReason | None:
        prompt = f"{TEST} Only these: {turn.argument}" if turn.argument.strip() else TEST
        return await self._state.run_turn(turn, _with_attachments(turn, prompt))

    async def compact(self, turn: Turn) -> None:
        model = await self._state.models.get()
        usage = self._state.usage
        before = usage.context
        try:
            tools = self._state.tools().values()
            done = await compact(self._state, model, turn, wish=turn.argument, tools=tools)
        except ModelError as error:
            raise to_request_error(error) from error
        await turn.say(
            f"Replaced the conversation so far with a summary: from {before:,} to about {usage.context:,} tokens."
            if done
            else "There is nothing to compact yet."
        )

    async def usage(self, turn: Turn) -> None:
        model = await self._state.models.get()
        usage = self._state.usage
        percent = 100 * usage.context / model.context
        cost = f"${usage.cost:.4f} so far" if usage.cost is not None else "none, or unknown"
        used = f"{usage.context:,} of {model.context:,} tokens ({percent:.0f} %)"
        lines = [f"- Model: {model.name}", f"- Context: {used}", f"- Cost: {cost}"]
        if cache := _describe_cache(usage):
            lines.append(f"- Cache: {cache}")
        await turn.say("\n".join(lines))
        await usage.report(model.context)

    async def undo(self, turn: Turn) -> None:
        try:
            if turn.argument.strip() == "back":
                await self._redo(turn)
            else:
                await self._undo(turn)
        except (OSError, ValueError) as error:
            await turn.say(f"Couldn't do that: {error}")

    async def _undo(self, turn: Turn) -> None:
        done = await self._state.files.undo()
        if done is None:
            await turn.say(
                "\n\n".join(["No turn of this session has changed a file.", self._state.files.uncovered]).strip()
            )
            return
        label, report = done
        text = _describe(f"Restored the files as they were before “{label}”.", report)
        await turn.say(f"{text}\n\n`/undo back` reverts this." if report.restored else text)

    async def _redo(self, turn: Turn) -> None:
        try:
            report = await self._state.files.redo()
        except NotFound:
            await turn.say("There is no undo to revert.")
            return
        await turn.say(_describe("Reverted the last undo.", report))


def _with_attachments(turn: Turn, text: str) -> list[Content]:
    """Return a prompt in place of the user's text, with everything else the user attached."""
    return [TextContent(text), *(piece for piece in turn.content if not isinstance(piece, TextContent))]


def _describe_cache(usage: SessionUsage) -> str:
    """Describe the share of the input that came from the cache, and its value; empty if no tokens were reported."""
    total, read = usage.tokens.input, usage.tokens.cached_read or 0
    if not total:
        return ""
    text = f"{read:,} of {total:,} input tokens read from it ({100 * read / total:.0f} %)"
    if usage.saved is None:
        return text
    if usage.saved < 0:
        return f"{text}; filling it cost ${-usage.saved:.4f} more than it saved"
    return f"{text}, which saved ${usage.saved:.4f}"


def _describe(sentence: str, report: Restored) -> str:
    lines = [sentence] if report.restored else ["Nothing was changed."]
    lines += [f"- restored `{path}`" for path in report.restored[:MAX_LISTED]]
    if len(report.restored) > MAX_LISTED:
        lines.append(f"- and {len(report.restored) - MAX_LISTED} more")
    lines += [f"- skipped, because it has changed since: `{path}`" for path in report.conflicts]
    lines += [f"- can't be restored, because no copy was saved: `{path}`" for path in report.lost]
    lines += [f"- couldn't be written: {reason}" for reason in report.failed.values()]
    if report.commands:
        lines += ["", *report.commands]
    return "\n".join(lines)
