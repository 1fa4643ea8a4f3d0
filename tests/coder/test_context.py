"""Compaction: what a summary replaces, what stays verbatim, and what happens if there is no summary."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from coder.history_checks import faults
from coder.scripted_model import ScriptedModel, ScriptedResources, coder
from coder.test_loop import Look, call

from accord.agent.session import Session
from accord.coder.agent import Coder
from accord.coder.context import OMITTED, PROMPT, available, fit, size
from accord.coder.history import Call, Message, ModelSaid, Result, Summary, Text, Thought, ToolsSaid, UserSaid
from accord.coder.models.base import ModelError, Spent, ThoughtPiece
from accord.coder.session import CoderSession
from accord.coder.tools.base import Outcome
from accord.errors import RequestFailed
from accord.model.content import Image, TextContent
from accord.model.session import PlanEntry
from accord.store.memory import MemoryStore

Join = Callable[..., Any]
TOO_LONG = ModelError("the context is full", kind="context")
FULL = Spent(input=850, output=50)


class ObservableCoder(Coder):
    """Exposes the session's state to a test."""

    looked_at: CoderSession

    async def session_opened(self, session: Session, how: Any) -> None:
        await super().session_opened(session, how)
        self.looked_at = self.state(session)


def agent_of(model: ScriptedModel, *tools: Any, store: MemoryStore | None = None) -> ObservableCoder:
    return ObservableCoder(store=store or MemoryStore(), shared=ScriptedResources(model, tools))


async def wait_for_queued_prompts(session: Session, count: int = 1) -> None:
    """Wait until this number of prompts is queued."""
    for _ in range(5000):
        if len(session.turns._waiting) >= count:
            return
        await asyncio.sleep(0.001)
    raise TimeoutError("no prompt came")


def texts(messages: list[Message]) -> list[str]:
    return [piece.text for each in messages if isinstance(each, UserSaid) for piece in each.content]


async def test_a_turn_continues_if_the_history_cannot_be_compacted(joined: Join) -> None:
    model = ScriptedModel(["Long."], [ModelError("no summary today")], [call()], ["On."])
    model.spent = FULL
    agent = agent_of(model, Look())
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("first")
        turn = await session.prompt("second")
    assert (turn.text, turn.stop_reason) == ("On.", "end_turn")
    assert len(model.requests) == 4, "it was tried once in the turn, not before each request"
    assert texts(agent.looked_at.history) == ["first", "second"]
    assert [each.status for each in session.transcript.compactions.values()] == ["failed"]


async def test_a_history_that_is_too_long_to_be_summarized_is_truncated_for_the_summary(joined: Join) -> None:
    model = ScriptedModel(["One."], [TOO_LONG], [TOO_LONG], [TOO_LONG], ["Short."], ["Two."])
    async with joined(agent_of(model)) as client:
        session = await client.new_session()
        await session.prompt("x" * 4000)
        turn = await session.prompt("second")
    assert turn.text == "Two."
    asked = [size(request.messages) for request in model.requests[2:5]]
    assert asked[0] > asked[1] > asked[2]
    assert model.requests[-1].messages[0].text == "Short."


async def test_a_request_that_is_too_long_by_itself_is_refused_once_and_the_next_one_is_answered(joined: Join) -> None:
    model = ScriptedModel([TOO_LONG], [TOO_LONG], ["A long text was sent."], ["Yes."])
    async with joined(agent_of(model)) as client:
        session = await client.new_session()
        with pytest.raises(RequestFailed, match=r"the context is full\. There is nothing left to compact"):
            await session.prompt("y" * 9000)
        assert len(model.requests) == 1
        assert (await session.prompt("shorter")).text == "Yes."
    assert texts(model.requests[-1].messages) == ["shorter"]


async def test_a_context_that_stays_full_after_a_summary_fails_clearly(joined: Join) -> None:
    model = ScriptedModel(["One."], [TOO_LONG], ["Short."], [TOO_LONG], ["Two."])
    async with joined(agent_of(model)) as client:
        session = await client.new_session()
        await session.prompt("first")
        with pytest.raises(RequestFailed, match=r"full\. Compacting the conversation didn.t help"):
            await session.prompt("second")
        assert len(model.requests) == 4
        assert (await session.prompt("third")).text == "Two."


@pytest.mark.parametrize("kind", ["", "context"])
async def test_the_error_names_both_the_full_context_and_the_failed_summary(joined: Join, kind: Any) -> None:
    broken = ModelError("no summary today", kind=kind)
    model = ScriptedModel(["One."], [TOO_LONG], *[[broken]] * (4 if kind else 1), ["Two."])
    async with joined(agent_of(model)) as client:
        session = await client.new_session()
        await session.prompt("first")
        with pytest.raises(RequestFailed, match=r"full\. Compacting the conversation failed too: no summary today"):
            await session.prompt("second")
        assert (await session.prompt("third")).text == "Two."


async def test_the_users_prompts_of_the_turn_stay_word_for_word(joined: Join) -> None:
    look = Look()
    look.hold = asyncio.Event()
    model = ScriptedModel(["Hi."], [call()], ["Short."], ["On."], ["Later."])
    agent = agent_of(model, look)
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("before")
        first = session.prompt("do this")
        await asyncio.wait_for(look.begun.wait(), 300)
        more = session.prompt("and that")
        if joined.version == 2:
            await wait_for_queued_prompts(agent.looked_at.session)
        agent.looked_at.usage.context = 900
        look.hold.set()
        await first
        await more
    expected = ["do this", "and that"] if joined.version == 2 else ["do this"]
    assert isinstance(model.requests[3].messages[0], Summary)
    assert texts(model.requests[3].messages) == expected
    assert all(faults(request.messages) == [] for request in model.requests)


async def test_a_short_history_is_not_compacted(joined: Join) -> None:
    model = ScriptedModel(["Hi."], ["S."], *[[call(id=str(number))] for number in range(5)], ["Done."])
    model.spent = FULL
    async with joined(agent_of(model, Look())) as client:
        session = await client.new_session()
        await session.prompt("hello there, this is the beginning of it all")
        await session.prompt("z" * 20_000)
    assert len(session.transcript.compactions) <= 1, "the request alone fills the context: there is nothing to gain"
    assert len(model.requests) <= 8


async def test_a_summary_is_asked_for_with_the_tools_that_were_used(joined: Join) -> None:
    model = ScriptedModel([call()], ["Seen."], ["Short."])
    async with joined(agent_of(model, Look())) as client:
        session = await client.new_session()
        await session.prompt("look")
        await session.prompt("/compact")
    request = model.requests[-1]
    assert any(isinstance(message, ToolsSaid) for message in request.messages)
    assert [tool.name for tool in request.tools] == ["look"], "some providers refuse calls of tools they do not know"


async def test_a_summary_is_asked_for_at_the_end_of_the_last_request(joined: Join) -> None:
    model = ScriptedModel([call()], ["Seen."], ["Short."], efforts=("high",))
    async with joined(agent_of(model, Look())) as client:
        session = await client.new_session()
        await session.set_option("effort", "high")
        await session.prompt("look")
        await session.prompt("/compact")
    before, request = model.requests[-2:]
    assert (request.instructions, request.tools, request.effort) == (before.instructions, before.tools, "high")
    assert request.messages[: len(before.messages)] == before.messages, "the provider has these in its cache"
    assert texts(request.messages)[-1] == PROMPT


async def test_a_model_that_continues_the_work_instead_of_summarizing_is_asked_once_more(joined: Join) -> None:
    model = ScriptedModel([call()], ["Seen."], [call(id="2")], ["Short."])
    look = Look()
    async with joined(agent_of(model, look)) as client:
        session = await client.new_session()
        await session.prompt("look")
        look.begun.clear()
        await session.prompt("/compact")
    assert [each.status for each in session.transcript.compactions.values()] == ["completed"]
    assert not look.begun.is_set(), "calls in place of a summary are not run"


async def test_a_summary_comes_with_the_users_last_messages_and_the_plan(joined: Join) -> None:
    model = ScriptedModel(["One."], ["Two."], ["Short."], ["On."], context=4_000)
    agent = agent_of(model)
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("old " * 1000)
        await session.prompt("Use tabs.")
        await agent.looked_at.set_plan([PlanEntry(content="Indent", status="in_progress")])
        await session.prompt("/compact")
        await session.prompt("go on")
    summary = model.requests[-1].messages[0]
    assert isinstance(summary, Summary)
    first, last = summary.prompts
    assert last == "Use tabs."
    assert len(first) < 1_700 and "characters omitted" in first, "the oldest is truncated"
    assert summary.plan == ["- [in_progress] Indent"]
    assert all(words in summary.render() for words in ("Short.", "<message>\nUse tabs.\n</message>", "Indent"))


class Read(Look):
    """A tool with a long result."""

    async def run(self, args: Any, ctx: Any) -> Any:
        return Outcome(text="line\n" * 2_000)


async def test_old_results_are_omitted_before_anything_is_summarized(joined: Join) -> None:
    store = MemoryStore()
    answers = [[call(id="1")], [call(id="2")], [call(id="3")], [call(id="4")], ["Read."]]
    model = ScriptedModel(*answers, context=10_000)
    async with joined(agent_of(model, Read(), store=store)) as client:
        session = await client.new_session()
        model.spent = Spent()  # counted by size
        turn = await session.prompt("read it four times")
        assert (turn.text, session.transcript.compactions) == ("Read.", {})
        before = model.requests[-1].messages
        kept = [result.text == OMITTED for said in before if isinstance(said, ToolsSaid) for result in said.results]
        assert kept == [True, True, True, False], "the newest result is still needed"
        assert faults(before) == []
    again = ScriptedModel(["Yes."], context=10_000)
    async with joined(agent_of(again, Read(), store=store)) as client:
        await (await client.load_session(session.id)).prompt("still there?")
    assert again.requests[0].messages[: len(before)] == before, "a resumed session continues with the same history"


async def test_results_are_omitted_all_at_once_and_only_if_that_helps(joined: Join) -> None:
    model = ScriptedModel([call(id="1")], ["Seen."], ["Short."], ["On."])
    model.spent = FULL
    async with joined(agent_of(model, Look())) as client:
        session = await client.new_session()
        await session.prompt("look")
        await session.prompt("go on")
    assert {each.status for each in session.transcript.compactions.values()} == {"completed"}
    sent = str([request.messages for request in model.requests])
    assert OMITTED not in sent


async def test_old_results_are_omitted_after_the_provider_found_the_history_too_long(joined: Join) -> None:
    model = ScriptedModel([call(id="1")], [call(id="2")], [TOO_LONG], ["Read."], context=1_000_000)
    async with joined(agent_of(model, Read())) as client:
        session = await client.new_session()
        turn = await session.prompt("read it twice")
    assert (turn.text, session.transcript.compactions) == ("Read.", {})
    results = [each for said in model.requests[-1].messages if isinstance(said, ToolsSaid) for each in said.results]
    assert [result.text == OMITTED for result in results] == [True, False]


async def test_a_history_that_stays_too_long_without_old_results_is_summarized(joined: Join) -> None:
    answers = [[call(id="1")], [call(id="2")], [TOO_LONG], [TOO_LONG], ["Read twice."], ["Done."]]
    model = ScriptedModel(*answers, context=1_000_000)
    async with joined(agent_of(model, Read())) as client:
        session = await client.new_session()
        turn = await session.prompt("read it twice")
    assert turn.text == "Done."
    assert [each.status for each in session.transcript.compactions.values()] == ["completed"]


@pytest.mark.parametrize(
    ("window", "price_step", "compact_at", "expected"),
    [
        (100_000, None, None, 80_000),
        (1_000_000, None, None, 200_000),
        (1_000_000, 100_000, None, 100_000),
        (1_000_000, 272_000, None, 200_000),
        (1_000_000, 100_000, 500_000, 500_000),
        (100_000, None, 500_000, 80_000),
    ],
)
def test_the_history_is_compacted_before_it_gets_expensive_or_too_long(
    window: int, price_step: int | None, compact_at: int | None, expected: int
) -> None:
    model = ScriptedModel(context=window)
    model.price_step = price_step
    assert available(model, compact_at) == expected


async def test_the_configuration_decides_when_to_compact(joined: Join, home: Path) -> None:
    config = home / "config" / "accord" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text("[coder]\ncompact_at = 100\n")
    model = ScriptedModel(["Long. " * 100], ["Short."], ["On."], context=100_000)
    model.spent = Spent(input=150, output=50)
    async with joined(agent_of(model)) as client:
        session = await client.new_session()
        await session.prompt("look")
        await session.prompt("go on")
    assert [each.status for each in session.transcript.compactions.values()] == ["completed"]


async def test_architect_mode_is_announced_again_after_a_summary(joined: Join) -> None:
    model = ScriptedModel(["Plan."], ["Short."], ["On."])
    async with joined(agent_of(model)) as client:
        session = await client.new_session()
        await session.set_mode("architect")
        for text in ("plan", "/compact", "go on"):
            await session.prompt(text)
    assert [type(message).__name__ for message in model.requests[-1].messages] == ["Summary", "UserSaid", "Reminder"]


async def test_a_cancelled_summary_changes_nothing(joined: Join) -> None:
    never = asyncio.Event()
    model = ScriptedModel(["Hi."], ["Half a summ", never], ["Yes."])
    agent = agent_of(model)
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("first")
        before = list(agent.looked_at.history)
        turn = session.prompt("/compact")
        await asyncio.wait_for(model.waiting.wait(), 300)
        await session.cancel()
        assert (await turn).stop_reason == "cancelled"
        assert list(agent.looked_at.history) == before
        assert [each.status for each in session.transcript.compactions.values()] == ["cancelled"]
        assert (await session.prompt("still there?")).text == "Yes."


async def test_one_summary_follows_another(joined: Join) -> None:
    model = ScriptedModel(["a" * 300], ["First."], ["b" * 300], ["Second."], ["c"])
    agent = agent_of(model)
    async with joined(agent) as client:
        session = await client.new_session()
        for text in ("one", "/compact", "two", "/compact", "three"):
            await session.prompt(text)
    assert agent.looked_at.history[0] == Summary(text="Second.", prompts=["one", "two"])
    assert model.requests[3].messages[0] == Summary(text="First.", prompts=["one"]), "the first is part of the second"
    assert texts(agent.looked_at.history) == ["three"]


def test_a_shortened_history_fits_and_is_accepted_by_providers() -> None:
    long = "word " * 50_000
    history: list[Message] = [Summary(text="Before.")]
    for number in range(30):
        history += [
            UserSaid(content=[TextContent(long), Image(data="aGk=", mime_type="image/png")]),
            ModelSaid(
                parts=[
                    Thought(text=long, extra={"signature": "x"}),
                    Text(text=long),
                    Call(
                        id=str(number),
                        name="write_file",
                        arguments={"file_path": "a", "lines": [long] * 3},
                        extra={"r": 1},
                    ),
                ]
            ),
            ToolsSaid(results=[Result(id=str(number), name="write_file", text=long)]),
        ]
    for room in (10_000_000, 1_000_000, 100_000, 10_000):
        cut = fit(history, room)
        assert size(cut) <= room
        assert faults(cut) == []
    assert fit(history, 100_000_000) == history, "what fits is told as it is"
    assert "characters omitted" in str(fit(history, 1_000_000))


async def test_the_cost_of_a_summary_counts_and_the_context_shrinks(joined: Join) -> None:
    agent, model = coder(["Hi."], ["Short."])
    model.spent = Spent(input=500, output=100, cost=0.25)
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("first")
        await session.prompt("/compact")
        usage = session.transcript.usage
    assert usage.cost.amount == 0.5
    assert usage.used < 100


async def test_the_history_is_compacted_in_time_for_a_provider_that_does_not_count_tokens(joined: Join) -> None:
    model = ScriptedModel(["word " * 700], ["Short."], ["On."])
    model.spent = Spent()
    async with joined(agent_of(model)) as client:
        session = await client.new_session()
        await session.prompt("first")
        assert session.transcript.usage.used > 800
        assert (await session.prompt("second")).text == "On."
    assert isinstance(model.requests[-1].messages[0], Summary)


async def test_the_history_is_compacted_after_a_long_result_before_the_next_request(joined: Join) -> None:
    class Long(Look):
        async def run(self, args: Any, ctx: Any) -> Any:
            return Outcome(text="line\n" * 700)

    model = ScriptedModel([call()], ["Short."], ["On."])
    async with joined(agent_of(model, Long())) as client:
        turn = await (await client.new_session()).prompt("go")
    assert turn.text == "On."
    assert [type(message) for message in model.requests[-1].messages] == [Summary, UserSaid]


async def test_an_image_does_not_count_by_the_size_of_its_data(joined: Join) -> None:
    model = ScriptedModel(["Hi."], ["Seen."], context=20_000)
    async with joined(agent_of(model)) as client:
        session = await client.new_session()
        await session.prompt("hello")
        turn = await session.prompt([TextContent("look"), Image(data="aGk=" * 100_000, mime_type="image/png")])
    assert (turn.text, session.transcript.compactions) == ("Seen.", {})


@pytest.mark.req("V1-NOTICE-14")
async def test_only_the_text_of_a_summary_is_shown(joined: Join) -> None:
    agent, _ = coder(["long " * 300], [ThoughtPiece(text="hidden reasoning"), "A summary."])
    async with joined(agent, unstable=True) as client:
        session = await client.new_session()
        await session.prompt("hi")
        await session.prompt("/compact")
        (shown,) = session.transcript.compactions.values()
        text = "".join(piece.text for piece in shown.summary)
    assert (shown.status, text) == ("completed", "A summary.")
