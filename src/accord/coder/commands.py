"""The slash commands of the coding agent.

Some are answered here; the others are requests to the model in other words, so that a language model and the offline
one carry them out by the same tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accord.agent.agent import command
from accord.coder import modes
from accord.errors import NotFound
from accord.model.content import Content, TextContent
from accord.model.session import StopReason

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.agent.turn import Turn
    from accord.coder.desk import Desk
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


class Commands:
    """The part of the agent that answers slash commands."""

    commands_written: dict[str, Any]

    def desk(self, session: Session) -> Desk:
        raise NotImplementedError

    async def model(self, session: Session) -> Any:
        raise NotImplementedError

    def tools(self, desk: Desk) -> dict[str, Any]:
        raise NotImplementedError

    async def work(self, turn: Turn, content: list[Content] | None = None) -> StopReason | None:
        raise NotImplementedError

    @command("help", "What this agent can do")
    async def help(self, turn: Turn) -> None:
        desk = self.desk(turn.session)
        lines = ["**Commands**", ""]
        for each in turn.session.commands:
            hint = f" *{each.hint}*" if each.hint else ""
            lines.append(f"- `/{each.name}`{hint}: {each.description}")
        lines += ["", "**Modes** (now: " + desk.mode + ")", ""]
        lines += [f"- {mode.name}: {mode.description}" for mode in modes.MODES]
        model = await self.model(turn.session)
        lines += ["", f"**Model**: {model.name}"]
        if model.id == "offline":
            from accord.coder.models.offline.answering import CAPABILITIES

            lines += ["", CAPABILITIES]
        await turn.say("\n".join(lines))

    @command("plan", "Make a plan, and change nothing", hint="what for")
    async def plan(self, turn: Turn) -> StopReason | None:
        if not turn.argument.strip():
            await turn.say("What should the plan be for? Send `/plan` with a few words.")
            return None
        desk = self.desk(turn.session)
        desk.planning = True
        try:
            return await self.work(turn, _asked(turn, PLAN.format(turn.argument)))
        finally:
            desk.planning = False

    @command("init", "Write an AGENTS.md from what is in the project")
    async def init(self, turn: Turn) -> StopReason | None:
        return await self.work(turn, _asked(turn, INIT))

    @command("review", "Review the working tree's changes", hint="what to look at")
    async def review(self, turn: Turn) -> StopReason | None:
        wish = f"{REVIEW} Look at this in particular: {turn.argument}" if turn.argument.strip() else REVIEW
        return await self.work(turn, _asked(turn, wish))

    @command("test", "Run the project's tests", hint="which ones")
    async def test(self, turn: Turn) -> StopReason | None:
        wish = f"{TEST} Only these: {turn.argument}" if turn.argument.strip() else TEST
        return await self.work(turn, _asked(turn, wish))

    @command("compact", "Shorten what the model remembers", hint="what to keep")
    async def compact(self, turn: Turn) -> None:
        from accord.coder import compaction
        from accord.coder.desk import failure
        from accord.coder.models.base import ModelError

        desk, model = self.desk(turn.session), await self.model(turn.session)
        before = desk.used
        try:
            tools = [tool.spec() for tool in self.tools(desk).values()]
            done = await compaction.compact(desk, model, turn, wish=turn.argument, tools=tools)
        except ModelError as error:
            raise failure(error) from error
        await turn.say(
            f"What was said so far is now a summary: {before:,} tokens became about {desk.used:,}."
            if done
            else "There is nothing to shorten yet."
        )

    @command("usage", "How full the context is, and what the session has cost")
    async def usage(self, turn: Turn) -> None:
        desk, model = self.desk(turn.session), await self.model(turn.session)
        part = 100 * desk.used / model.context
        cost = f"${desk.cost:.4f} so far" if desk.cost is not None else "nothing, or not known"
        context = f"{desk.used:,} of {model.context:,} tokens ({part:.0f} %)"
        await turn.say(f"- Model: {model.name}\n- Context: {context}\n- Cost: {cost}")
        await turn.usage(min(desk.used, model.context), model.context, cost=desk.cost)

    @command("undo", "Take back the files' changes of the last turn that made any", hint="back: take the undo back")
    async def undo(self, turn: Turn) -> None:
        try:
            await self._undo(turn)
        except (OSError, ValueError) as error:
            await turn.say(f"That cannot be done here: {error}")

    async def _undo(self, turn: Turn) -> None:
        files = self.desk(turn.session).files
        if turn.argument.strip() == "back":
            try:
                report = await files.redo()
            except NotFound:
                await turn.say("There is no undo to take back.")
                return
            await turn.say(_told("The last undo is taken back.", report))
            return
        done = await files.undo()
        if done is None:
            await turn.say("No turn of this session has changed a file with the agent's own tools.")
            return
        label, report = done
        await turn.say(
            _told(f"The files are as they were before “{label}”.", report) + "\n\n`/undo back` takes this back."
        )


def _asked(turn: Turn, text: str) -> list[Content]:
    """A request in other words, with whatever else the user attached."""
    return [TextContent(text), *(piece for piece in turn.content if not isinstance(piece, TextContent))]


def _told(sentence: str, report: Restored) -> str:
    lines = [sentence] if report.restored else ["Nothing was changed."]
    lines += [f"- restored `{path}`" for path in report.restored]
    lines += [f"- left alone, because it was changed since: `{path}`" for path in report.conflicts]
    lines += [f"- not kept, so it cannot be restored: `{path}`" for path in report.lost]
    return "\n".join([*lines, "", "What commands changed is not taken back."])
