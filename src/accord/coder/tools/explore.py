"""explore: a question about the project for a read-only sub-agent."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from accord.coder.tools.base import Outcome, Tool, ToolContext
from accord.coder.tools.text import one_line
from accord.model.record import Record

MAX_REQUESTS = {"quick": 6, "medium": 15, "thorough": 40}
"""The most requests to the model, by thoroughness."""
EFFORTS = {
    "quick": "Be quick: a few searches, the obvious places. Report what you find.",
    "medium": "Look in all likely places.",
    "thorough": "Be thorough: several names and spellings, all directories, tests, configuration and documents. "
    "The report must be complete.",
}


class ExploreArgs(Record):
    """The question."""

    question: Annotated[
        str,
        Meta(min_length=1, description="What to find out, complete in itself: the sub-agent sees nothing else."),
    ]
    thoroughness: Annotated[Literal["quick", "medium", "thorough"], Meta(description="How far to search.")] = "medium"


class Explore(Tool[ExploreArgs]):
    name = "explore"
    description = (
        "Gives a question about the project to a sub-agent, which searches and reads in its own context and "
        "returns a report. Use it if the answer takes many searches and files of which you need only the conclusion. "
        "Send independent questions together: they run in parallel. For one file or symbol, use search and read_file."
    )
    kind: str = "search"
    arguments = ExploreArgs
    aliases = "task agent subagent dispatch_agent explore_agent codebase_investigator"

    def title(self, args: ExploreArgs) -> str:
        return f"Explore: {one_line(args.question)}"

    async def run(self, args: ExploreArgs, ctx: ToolContext) -> Outcome:
        question = f"{args.question}\n\n{EFFORTS[args.thoroughness]}"
        title, limit = one_line(args.question), MAX_REQUESTS[args.thoroughness]
        report = await ctx.state.subagents.explore(question, title, limit, ctx.turn, ctx.call)
        await ctx.call.set_content(report.text)
        raw = {"report": report.text, "session": report.session_id, "requests": report.requests}
        return Outcome(text=report.text, raw=raw)
