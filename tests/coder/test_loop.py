"""The loop: model, tools, model again; and every way in which a turn ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from coder.history_checks import faults
from coder.scripted_model import ScriptedModel, ScriptedResources, coder

import accord
from accord.coder import modes
from accord.coder.agent import Coder
from accord.coder.history import Call, ModelSaid, Reminder, Summary, ToolsSaid, UserSaid
from accord.coder.loop import choose_pause
from accord.coder.models.base import Model, ModelError, Spent, ThoughtPiece
from accord.coder.tools.base import Outcome, Tool, ToolContext, ToolError
from accord.errors import RequestFailed
from accord.model.record import Record
from accord.model.tool import ToolKind
from accord.policy.action import Action
from accord.store.memory import MemoryStore
from accord.testing import ScriptedClient

Join = Callable[..., Any]


class Path_(Record):
    path: str = "a.txt"


class Look(Tool[Path_]):
    """A read-only tool."""

    name = "look"
    description = "Looks."
    kind: ToolKind = "read"
    arguments = Path_

    def __init__(self) -> None:
        self.running = 0
        self.most = 0
        self.hold: asyncio.Event | None = None
        self.begun = asyncio.Event()
        self.cancelled = 0

    def title(self, args: Path_) -> str:
        return f"Look at {args.path}"

    def locations(self, args: Path_) -> Sequence[str]:
        return [args.path]

    async def run(self, args: Path_, ctx: ToolContext) -> Outcome:
        self.running += 1
        self.most = max(self.most, self.running)
        self.begun.set()
        try:
            if self.hold is not None:
                await self.hold.wait()
            else:
                await asyncio.sleep(0)
            if args.path == "bad":
                raise ToolError("bad cannot be looked at")
            if args.path == "bug":
                raise KeyError("bug")
            return Outcome(text=f"saw {args.path}")
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.running -= 1


class Change(Look):
    """A tool that claims to change a file."""

    name = "change"
    kind: ToolKind = "edit"
    changes = True

    def title(self, args: Path_) -> str:
        return f"Change {args.path}"

    async def prepare(self, args: Path_, ctx: ToolContext) -> None:
        await ctx.call.diff(args.path, "old\n", "new\n")

    def actions(self, args: Path_, ctx: ToolContext) -> Sequence[Action]:
        return [Action.of_write(ctx.session.absolute(args.path), session=ctx.session.id, project=ctx.session.cwd)]


def call(name: str = "look", id: str = "1", **arguments: Any) -> Call:
    return Call(id=id, name=name, arguments=arguments)


async def test_a_turn_alternates_between_model_and_tools_until_no_calls_are_left(joined: Join) -> None:
    agent, model = coder(["Let me see. ", call(path="a.txt")], ["It says ", "hello."], tools=[Look()])
    async with joined(agent) as client:
        session = await client.new_session()
        turn = await session.prompt("what is in a.txt?")
    assert (turn.text, turn.stop_reason) == ("Let me see. It says hello.", "end_turn")
    (shown,) = turn.tool_calls
    assert (shown.title, shown.kind, shown.status, shown.raw_input, shown.raw_output) == (
        "Look at a.txt",
        "read",
        "completed",
        {"path": "a.txt"},
        "saw a.txt",
    )
    last = model.requests[-1].messages
    assert [type(message) for message in last] == [UserSaid, ModelSaid, ToolsSaid]
    assert last[2].results[0].text == "saw a.txt"


async def test_read_only_calls_run_concurrently_and_changes_alone_in_their_place(joined: Join) -> None:
    look, change = Look(), Change()
    calls = [call(id="1"), call(id="2"), call("change", id="3"), call("change", id="4"), call(id="5", path="e")]
    agent, model = coder(calls, tools=[look, change])
    async with joined(agent, ScriptedClient(permissions=[True])) as client:
        await (await client.new_session()).prompt("go")
    assert (look.most, change.most) == (2, 1)
    results = model.requests[-1].messages[-1].results
    assert [result.id for result in results] == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (call("look", path="bad"), "bad cannot be looked at"),
        (call("look", path="bug"), "look failed: KeyError: 'bug'"),
        (call("nothing"), "unknown tool 'nothing'. The tools are: look."),
        (
            call("look", path=["x", "y"]),
            "look: path must be a string, not an array; make a separate call for each. Its arguments: path",
        ),
        (
            Call(id="1", name="look", arguments={}, fault="the arguments aren't valid JSON"),
            "look: the arguments aren't valid JSON",
        ),
    ],
)
async def test_the_error_of_a_call_goes_to_the_model_and_the_turn_continues(
    joined: Join, bad: Call, words: str
) -> None:
    agent, model = coder([bad], ["I see."], tools=[Look()])
    async with joined(agent) as client:
        turn = await (await client.new_session()).prompt("go")
    (result,) = model.requests[-1].messages[-1].results
    assert (result.text, result.failed) == (words, True)
    assert (turn.text, turn.tool_calls[0].status) == ("I see.", "failed")


async def test_a_change_is_shown_before_the_permission_request_and_made_after_it(joined: Join) -> None:
    change = Change()
    agent, _ = coder([call("change")], tools=[change])
    scripted = ScriptedClient(permissions=["reject_once"])
    async with joined(agent, scripted) as client:
        turn = await (await client.new_session()).prompt("go")
    (asked,) = scripted.asked
    assert asked.tool_call is not None and asked.tool_call.diffs[0].changes[0].new_text in ("new\n", None)
    assert [option.kind for option in asked.options] == ["allow_once", "allow_always", "allow_always", "reject_once"]
    assert change.most == 0, "refused, it was not made"
    assert turn.tool_calls[0].status == "failed"


async def test_permission_for_the_session_is_asked_only_once(joined: Join) -> None:
    agent, _ = coder([call("change")], ["one"], [call("change")], ["two"], tools=[Change()])
    scripted = ScriptedClient(permissions=["allow_session"])
    async with joined(agent, scripted) as client:
        session = await client.new_session()
        await session.prompt("go")
        await session.prompt("again")
    assert len(scripted.asked) == 1


async def test_code_mode_edits_without_asking_and_architect_mode_refuses_changes(joined: Join) -> None:
    agent, model = coder([call("change")], ["done"], [call("change")], ["no"], tools=[Look(), Change()])
    scripted = ScriptedClient()
    async with joined(agent, scripted) as client:
        session = await client.new_session()
        await session.set_mode("code")
        assert (await session.prompt("go")).tool_calls[0].status == "completed"
        await session.set_mode("architect")
        assert (await session.prompt("go")).tool_calls[0].status == "failed"
    assert scripted.asked == []
    assert len({str(request.tools) for request in model.requests}) == 1, "other tools would empty the provider's cache"


@pytest.mark.parametrize(
    ("answer", "reason"), [(["No.", "<refusal>"], "refusal"), (["Well", call(), "<length>"], "max_tokens")]
)
async def test_a_refusal_and_a_truncated_answer_are_stop_reasons(joined: Join, answer: list[Any], reason: str) -> None:
    look = Look()
    agent, _ = coder(*[answer] * 3, tools=[look])
    async with joined(agent) as client:
        turn = await (await client.new_session()).prompt("go")
    assert turn.stop_reason == reason
    assert look.most == 0, "what was cut off is not carried out"


async def test_a_model_that_never_stops_is_stopped(joined: Join) -> None:
    agent, model = coder(*[[call()]] * 3, ["Half of it is done."], tools=[Look()], max_requests=3)
    async with joined(agent) as client:
        turn = await (await client.new_session()).prompt("go")
    assert (turn.stop_reason, turn.text) == ("max_turn_requests", "Half of it is done.")
    assert len(model.requests) == 4
    assert "Stopped after 3 model requests" in model.requests[-1].messages[-1].text


async def test_calls_in_the_last_summary_are_not_run(joined: Join) -> None:
    look = Look()
    agent, model = coder([call(id="1")], [call(id="2")], ["On."], tools=[look], max_requests=1)
    async with joined(agent) as client:
        session = await client.new_session()
        turn = await session.prompt("go")
        assert (turn.stop_reason, len(turn.tool_calls)) == ("max_turn_requests", 1)
        await session.prompt("continue")
    assert faults(model.requests[-1].messages) == []


async def test_a_provider_that_fails_at_the_last_summary_does_not_fail_the_turn(joined: Join) -> None:
    agent, _ = coder([call()], [ModelError("busy", retry=True)], tools=[Look()], max_requests=1)
    async with joined(agent) as client:
        turn = await (await client.new_session()).prompt("go")
    assert turn.stop_reason == "max_turn_requests"


async def test_a_turn_ends_at_the_configured_number_of_requests_and_cost(joined: Join, home: Path) -> None:
    config = home / "config" / "accord" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[coder]\nmax_steps = 4\nmax_cost = 1.5\n")
    answers = [[call()]] * 4 + [["Dear."]] + [[call()]] * 2 + [["Dearer."]]
    agent, model = coder(*answers, tools=[Look()])
    async with joined(agent) as client:
        session = await client.new_session()
        model.spent = Spent(input=10, output=5, cost=0.25)
        steps = await session.prompt("go")
        model.spent = Spent(input=10, output=5, cost=1.0)
        cost = await session.prompt("go")
    assert (steps.stop_reason, steps.text) == ("max_turn_requests", "Dear.")
    assert (cost.stop_reason, cost.text) == ("max_turn_requests", "Dearer.")
    assert "cost limit of $1.5" in model.requests[-1].messages[-1].text


async def test_a_call_that_keeps_failing_is_pointed_out_and_then_ends_the_turn(joined: Join) -> None:
    agent, model = coder(*[[call(path="bad")]] * 5, ["It can't be looked at."], tools=[Look()])
    async with joined(agent) as client:
        turn = await (await client.new_session()).prompt("go")
    assert (turn.stop_reason, turn.text) == ("end_turn", "It can't be looked at.")
    said = [message.text for message in model.requests[-1].messages if isinstance(message, Reminder)]
    assert ["3 times" in said[0], "4 times" in said[1], "same call failed 5 times" in said[2]] == [True] * 3


async def test_other_calls_and_attempts_after_a_change_are_not_repetition(joined: Join) -> None:
    bad = call(path="bad")
    answers = [[bad], [bad], [call("change")], [bad], [bad], [call(path="bug")], [call()], ["Done."]]
    agent, model = coder(*answers, tools=[Look(), Change()])
    async with joined(agent, permissions=lambda request: True) as client:
        turn = await (await client.new_session()).prompt("go")
    assert turn.text == "Done."
    assert not any(isinstance(message, Reminder) for message in model.requests[-1].messages)


async def test_a_call_that_keeps_returning_the_same_is_pointed_out_but_does_not_end_the_turn(joined: Join) -> None:
    agent, model = coder(*[[call()]] * 6, ["Done."], tools=[Look()])
    async with joined(agent) as client:
        turn = await (await client.new_session()).prompt("go")
    assert turn.text == "Done."
    said = [message.text for message in model.requests[-1].messages if isinstance(message, Reminder)]
    assert ["same call 3 times" in said[0], "same call 4 times" in said[1], len(said)] == [True, True, 4]


async def test_a_command_that_keeps_failing_is_pointed_out(joined: Join) -> None:
    command = Call(id="c", name="run_command", arguments={"command": "exit 3"})
    agent, model = coder(*[[command]] * 3, ["Done."], tools=None)
    async with joined(agent, permissions=lambda request: True) as client:
        await (await client.new_session()).prompt("go")
    said = [message.text for message in model.requests[-1].messages if isinstance(message, Reminder)]
    assert len(said) == 1 and "same call 3 times with the same result" in said[0]


async def test_a_truncated_answer_is_continued(joined: Join) -> None:
    agent, model = coder(["One, two", "<length>"], [", three."])
    async with joined(agent) as client:
        turn = await (await client.new_session()).prompt("count")
    assert (turn.text, turn.stop_reason) == ("One, two, three.", "end_turn")
    assert "truncated" in model.requests[-1].messages[-1].text


async def test_an_empty_answer_is_requested_again_once(joined: Join) -> None:
    agent, model = coder([], ["Here."], [], [" "], ["Not reached."])
    async with joined(agent) as client:
        session = await client.new_session()
        assert (await session.prompt("go")).text == "Here."
        assert (await session.prompt("go")).stop_reason == "end_turn"
    assert len(model.requests) == 4
    told = str(session.transcript.notices) + str(list(session.transcript.messages))
    assert "empty answer" in told


async def test_cancelling_closes_the_stream_and_keeps_the_text_so_far(joined: Join) -> None:
    never = asyncio.Event()
    agent, model = coder(["Half", never], ["Whole"])
    async with joined(agent) as client:
        session = await client.new_session()
        turn = session.prompt("go")
        await asyncio.wait_for(model.waiting.wait(), 300)
        await session.cancel()
        done = await turn
        assert (done.stop_reason, model.closed_early) == ("cancelled", 1)
        assert (await session.prompt("go on")).stop_reason == "end_turn"
    assert [message.text for message in model.requests[-1].messages if isinstance(message, ModelSaid)] == ["Half"]


async def test_cancelling_stops_every_running_tool_and_each_call_has_an_answer(joined: Join) -> None:
    look = Look()
    look.hold = asyncio.Event()
    agent, model = coder([call(id="1"), call(id="2")], ["next"], tools=[look])
    async with joined(agent) as client:
        session = await client.new_session()
        turn = session.prompt("go")
        await asyncio.wait_for(look.begun.wait(), 300)
        await session.cancel()
        done = await turn
        assert (done.stop_reason, look.running) == ("cancelled", 0)
        assert {each.status for each in done.tool_calls} <= {"cancelled", "failed"}
        look.hold = None
        await session.prompt("and now?")
    (said,) = [message for message in model.requests[-1].messages if isinstance(message, ToolsSaid)]
    assert [(result.id, result.failed) for result in said.results] == [("1", True), ("2", True)]


async def test_a_provider_that_fails_temporarily_is_asked_again(joined: Join) -> None:
    trouble = ModelError("busy (529)", retry=True)
    agent, model = coder(["Hal", trouble], [trouble], ["Whole."])
    async with joined(agent) as client:
        turn = await (await client.new_session()).prompt("go")
    assert turn.text.endswith("Whole.") and turn.stop_reason == "end_turn"
    assert len(model.requests) == 3
    assert [len(request.messages) for request in model.requests] == [1, 1, 1], "half an answer is not remembered"


@pytest.mark.parametrize("error", [ModelError("busy", retry=True), ModelError("your key is wrong", kind="key")])
async def test_a_provider_that_keeps_failing_fails_the_turn_but_not_the_next_one(
    joined: Join, error: ModelError
) -> None:
    agent, model = coder(*[[error]] * (3 if error.retry else 1), ["Here."])
    async with joined(agent) as client:
        session = await client.new_session()
        with pytest.raises(RequestFailed, match=str(error)):
            await session.prompt("first")
        assert (await session.prompt("second")).text == "Here."
    said = [message.content[0].text for message in model.requests[-1].messages if isinstance(message, UserSaid)]
    assert said == ["first", "second"], "what the user said is not lost"


class TwoModels(ScriptedResources):
    """Shared resources with a fallback model."""

    fallback: ScriptedModel | ModelError

    async def model(self, cwd: str, id: str) -> Model:
        if id != "test:other":
            return self.scripted
        if isinstance(self.fallback, ModelError):
            raise self.fallback
        return self.fallback


BUSY = ModelError("busy (529)", retry=True)


def with_fallback(home: Path, fallback: ScriptedModel | ModelError, *answers: Any) -> Coder:
    config = home / "config" / "accord" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[coder]\nfallback_model = "test:other"\n')
    shared = TwoModels(ScriptedModel(*answers), [Look()])
    shared.fallback = fallback
    if isinstance(fallback, ScriptedModel):
        fallback.id, fallback.name = "test:other", "Other"
    return Coder(shared=shared)


async def test_the_fallback_model_continues_a_turn_whose_provider_stays_unavailable(joined: Join, home: Path) -> None:
    other = ScriptedModel([call(id="2")], ["Done."])
    async with joined(with_fallback(home, other, [call()], [BUSY], [BUSY], [BUSY], ["Back."])) as client:
        session = await client.new_session()
        assert (await session.prompt("go")).text == "Done."
        assert (await session.prompt("and now?")).text == "Back.", "the next turn tries the chosen model again"
    assert [type(message) for message in other.requests[0].messages] == [UserSaid, ModelSaid, ToolsSaid]
    told = str(session.transcript.notices) + str(list(session.transcript.messages))
    assert "Scripted is unavailable. This turn continues with Other." in told


@pytest.mark.parametrize("fallback", ["no key", "busy"])
async def test_a_turn_fails_if_the_fallback_model_does_not_answer_either(
    joined: Join, home: Path, fallback: str
) -> None:
    other = ScriptedModel([BUSY], [BUSY], [BUSY]) if fallback == "busy" else ModelError("no key")
    async with joined(with_fallback(home, other, [BUSY], [BUSY], [BUSY])) as client:
        with pytest.raises(RequestFailed, match="busy"):
            await (await client.new_session()).prompt("go")


async def test_thoughts_are_shown_and_usage_is_added_up(joined: Join) -> None:
    agent, model = coder([ThoughtPiece(text="Hm."), "Yes."], ["More."])
    model.spent = Spent(input=100, output=20, cost=0.25)
    async with joined(agent) as client:
        session = await client.new_session()
        events = [event async for event in session.prompt("go")]
        await session.prompt("go on")
        usage = session.transcript.usage
    assert [event.text for event in events if isinstance(event, accord.Thought)] == ["Hm."]
    assert (usage.used, usage.size, usage.cost.amount) == (120, 1000, 0.5)


async def test_a_full_context_is_shortened_before_the_next_request(joined: Join) -> None:
    agent, model = coder(["Long."], ["The user wanted X."], ["On."])
    model.spent = Spent(input=850, output=50)
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("first")
        model.spent = Spent(input=10, output=5)
        turn = await session.prompt("second")
    assert turn.text == "On."
    assert [type(message) for message in model.requests[-1].messages] == [Summary, UserSaid]
    assert model.requests[-1].messages[0].text == "The user wanted X."


async def test_a_context_that_the_provider_finds_too_long_is_shortened_and_asked_again(joined: Join) -> None:
    agent, model = coder(["One."], [ModelError("too long", kind="context")], ["Short."], ["Two."])
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("first")
        turn = await session.prompt("second")
    assert turn.text == "Two."
    assert model.requests[-1].messages[0].text == "Short."


async def test_a_prompt_sent_during_a_turn_waits_or_is_inserted_depending_on_the_version(joined: Join) -> None:
    look = Look()
    look.hold = asyncio.Event()
    agent, model = coder([call()], ["first"], ["second"], tools=[look])
    async with joined(agent) as client:
        session = await client.new_session()
        first = session.prompt("one")
        await asyncio.wait_for(look.begun.wait(), 300)
        second = session.prompt("two")
        await asyncio.sleep(0.01)
        look.hold.set()
        done = [await first, await second]
    assert all(turn.stop_reason == "end_turn" for turn in done)
    heard = [message.content[0].text for message in model.requests[1].messages if isinstance(message, UserSaid)]
    assert heard == (["one"] if joined.version == 1 else ["one", "two"])


async def test_a_session_continues_in_another_process_with_the_models_history(joined: Join) -> None:
    store = MemoryStore()
    first = ScriptedModel(["Looking.", call()], ["Seen."])
    async with joined(Coder(store=store, shared=ScriptedResources(first, [Look()]))) as client:
        session = await client.new_session()
        await session.prompt("look")
    second = ScriptedModel(["Again."])
    async with joined(Coder(store=store, shared=ScriptedResources(second, [Look()]))) as client:
        loaded = await client.load_session(session.id)
        assert "Seen." in loaded.transcript.text
        await loaded.prompt("what was it?")
    kinds = [type(message) for message in second.requests[0].messages]
    assert kinds == [UserSaid, ModelSaid, ToolsSaid, ModelSaid, UserSaid]


async def test_effort_is_offered_where_the_model_has_it(joined: Join) -> None:
    model = ScriptedModel(["x"], efforts=("low", "high"))
    async with joined(Coder(shared=ScriptedResources(model))) as client:
        session = await client.new_session()
        await session.set_option("effort", "high")
        await session.prompt("go")
    assert model.requests[0].effort == "high"


@pytest.mark.parametrize("where", ["nowhere", "file"])
async def test_a_missing_working_directory_is_rejected_with_a_reason(joined: Join, project: Path, where: str) -> None:
    (project / "file").write_text("")
    agent, _ = coder(["hello"])
    async with joined(agent) as client:
        with pytest.raises(RequestFailed, match="choose an existing directory"):
            await client.new_session(cwd=str(project / where))
        assert (await (await client.new_session()).prompt("go")).text == "hello"


async def test_a_mode_switch_during_a_turn_is_a_reminder_and_changes_nothing_before_it(joined: Join) -> None:
    switch = call("switch_mode", mode="code", reason="the plan is complete")
    agent, model = coder([switch], ["Go."], tools=None)
    async with joined(agent, ScriptedClient()) as client:
        session = await client.new_session()
        await session.set_mode("architect")
        await session.prompt("go")
    first, second = model.requests
    assert (first.instructions, first.tools) == (second.instructions, second.tools)
    assert first.messages[-1] == Reminder(text=modes.PLAN_ONLY, mode="architect")
    assert second.messages[: len(first.messages)] == first.messages
    assert second.messages[-1] == Reminder(text=modes.PLAN_IS_OVER, mode="code")


async def test_a_tool_that_is_added_during_a_turn_can_be_used_in_it(joined: Join) -> None:
    agent, model = coder([call()], [call("change", id="2")], ["Done."], tools=[Look()])
    found = agent.shared.tools
    agent.shared.tools = lambda: {**found(), **({"change": Change()} if model.requests else {})}  # type: ignore[method-assign]
    async with joined(agent, ScriptedClient()) as client:
        turn = await (await client.new_session()).prompt("go")
    assert [each.status for each in turn.tool_calls] == ["completed", "completed"]


async def test_after_a_login_a_session_asks_its_model_with_the_new_key(joined: Join) -> None:
    model = ScriptedModel(["One."], ["Two."], ["Three."])
    made: list[str] = []

    class Counting(ScriptedResources):
        async def model(self, cwd: str, id: str) -> Any:
            made.append(id)
            return self.scripted

        def auth_methods(self) -> list[accord.AuthMethod]:
            return [accord.AuthMethod(id="keys", name="Keys")]

    kit = Counting(model)
    async with joined(Coder(shared=kit)) as client:
        session = await client.new_session()
        await session.prompt("one")
        await session.prompt("two")
        assert len(made) == 1
        await client.login("keys")
        await session.prompt("three")
    assert len(made) == 2


async def test_a_stream_is_read_completely_and_errors_after_the_answer_are_ignored(joined: Join) -> None:
    class Late(ScriptedModel):
        async def stream(self, request: Any) -> Any:
            async for piece in super().stream(request):
                yield piece
            raise ModelError("the line broke after the last word", retry=True)

    model = Late(["Whole."], ["Again."])
    async with joined(Coder(shared=ScriptedResources(model))) as client:
        turn = await (await client.new_session()).prompt("go")
    assert (turn.text, len(model.requests), model.closed_early) == ("Whole.", 1, 0)


async def test_a_problem_that_is_worth_one_retry_is_retried_once(joined: Join) -> None:
    unknown = ModelError("unknown host", retry=True, max_retries=1)
    agent, model = coder([unknown], [unknown], ["Too late."], pauses=(0.0, 0.0, 0.0))
    async with joined(agent) as client:
        session = await client.new_session()
        with pytest.raises(RequestFailed, match="unknown host"):
            await session.prompt("go")
    assert len(model.requests) == 2


async def test_a_single_retry_does_not_use_up_those_of_other_problems(joined: Join) -> None:
    unknown, busy = ModelError("unknown host", retry=True, max_retries=1), ModelError("busy", retry=True)
    agent, model = coder([unknown], [busy], [busy], ["Here."], pauses=(0.0, 0.0, 0.0))
    async with joined(agent) as client:
        assert (await (await client.new_session()).prompt("go")).text == "Here."
    assert len(model.requests) == 4


def test_retries_are_spread_over_time_but_never_come_earlier_than_asked() -> None:
    assert choose_pause(8.0, None, chance=lambda: 0.0) == 8.0
    assert choose_pause(8.0, None, chance=lambda: 1.0) == 10.0
    assert choose_pause(1.0, 20.0, chance=lambda: 0.0) == 20.0
    assert choose_pause(1.0, 5000.0, chance=lambda: 0.0) == 120.0
    assert choose_pause(0.0, None, chance=lambda: 1.0) == 0.0
