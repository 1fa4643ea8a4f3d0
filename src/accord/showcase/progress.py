"""A session's state besides its messages: plan, usage, notices, compaction and title."""

from __future__ import annotations

from accord.agent.agent import command
from accord.agent.turn import Turn
from accord.model.session import Plan, PlanEntry, Tokens
from accord.showcase.topic import Topic

STEPS = (("Look around", "high"), ("Decide", "medium"), ("Write it", "high"), ("Polish it", "low"))
CONTEXT = 200_000


class Progress(Topic):
    """Plans, usage, notices, compaction, titles."""

    title = "Progress"

    @command("plan", "A plan in progress, with every priority and status; a second plan in Markdown")
    async def show_plan(self, turn: Turn) -> None:
        for done in range(len(STEPS)):
            await turn.plan([_entry(index, done) for index in range(len(STEPS))])
            await self.pause(3)
        # The last step is cancelled; version 1 lacks that status and shows it as completed.
        last = PlanEntry(content="Polish it", priority="low", status="cancelled")
        await turn.plan([*(_entry(index, len(STEPS)) for index in range(len(STEPS) - 1)), last])
        if turn.client.offers.plans:
            await turn.plan(Plan(id="notes", markdown="## Later\n\n- [ ] a second plan\n- [ ] in *Markdown*"))
            await self.pause(5)
            await turn.plan(Plan(id="file", uri=self.uri(turn, "PLAN.md")))
            await self.pause(5)
            await turn.session.remove_plan("notes")
            await turn.session.remove_plan("file")
        cancelled = (
            "one is cancelled" if turn.client.version > 1 else "one is cancelled (version 1 shows it as completed)"
        )
        await turn.say(f"Three steps are completed, and {cancelled}.")

    @command("usage", "How full the context is, what the session costs, and the tokens of this turn")
    async def show_usage(self, turn: Turn) -> None:
        for step in range(1, 6):
            await turn.usage(step * CONTEXT // 5, CONTEXT, cost=step * 0.0125, currency="USD")
            await self.pause(2)
        await turn.usage(CONTEXT // 10, CONTEXT, cost=3.5, currency="credits")
        turn.tokens = Tokens(total=1500, input=1000, output=300, thought=200, cached_read=800, cached_write=50)
        await turn.say("The context filled up completely and was cleared; the cost is now in credits.")

    @command("notice", "Notices of every severity")
    async def show_notice(self, turn: Turn) -> None:
        await turn.notice("For your information")
        await self.pause()
        await turn.notice("Be careful", "This notice has a description.", severity="warning")
        await self.pause()
        await turn.notice("Something broke", "Nothing really did; this shows how it would look.", severity="error")
        sent = turn.client.offers.notices
        await turn.say("Sent three notices." if sent else "This client doesn't support notices; none was sent.")

    @command("compaction", "A compaction that works, with a streamed summary, and one that fails")
    async def show_compaction(self, turn: Turn) -> None:
        session = turn.session
        await turn.usage(CONTEXT * 19 // 20, CONTEXT)
        name = f"compaction-{turn.message_id}"
        await session.compaction(name, "in_progress")
        for words in ("The user asked ", "to see ", "a compaction."):
            await session.compaction_text(name, words)
            await self.pause()
        await session.compaction(name, "completed", summary="The user asked to see a compaction.")
        await turn.usage(CONTEXT // 20, CONTEXT)
        await self.pause()
        await session.compaction(f"{name}-again", "in_progress")
        await session.compaction(f"{name}-again", "failed", error="nothing left to compact")
        if turn.client.offers.compaction:
            await turn.say("One compaction worked and one failed.")
        else:
            await turn.say("This client doesn't support compaction; only the usage was sent.")

    @command("title", "Sets the title of the session", hint="title")
    async def show_title(self, turn: Turn) -> None:
        title = " ".join(turn.argument.split()) or f"Showcase of {turn.client.info.name if turn.client.info else 'it'}"
        await turn.set_title(title)
        if turn.session.titled_by_user:
            await turn.say(f"You named this session “{turn.session.title}”, so its title stays.")
        else:
            await turn.say(f"The title is now “{title}”.")


def _entry(index: int, done: int) -> PlanEntry:
    content, priority = STEPS[index]
    status = "completed" if index < done else "in_progress" if index == done else "pending"
    return PlanEntry(content=content, priority=priority, status=status)
