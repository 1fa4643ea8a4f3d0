"""Sub-agents: read only, with their own context, visible to the client, paid by and ended with their parent."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any

import pytest
from coder.models.provider_client import their_warnings
from coder.providers.script import Calls, Holds, Says
from coder.providers.server import FakeProvider
from coder.scripted_model import ScriptedModel, ScriptedResources, coder
from coder.test_instructions import results_of
from coder.test_with_providers import MODELS, agent_on
from support.link import until

from accord.coder.agent import Coder
from accord.coder.history import Call, Reminder
from accord.coder.models.base import ModelError, Piece, Request, Spent
from accord.coder.subagents import MAX_CONCURRENT, ROLE, SUM_UP, TOOLS
from accord.coder.tools.explore import MAX_REQUESTS
from accord.config.settings import CoderSettings
from accord.model.requests import PermissionRequest
from accord.policy.rule import Rule
from accord.store.memory import MemoryStore

pytestmark = their_warnings
Join = Callable[..., Any]


def explore(question: str = "Where is the parser?", id: str = "e1", **more: str) -> Call:
    return Call(id=id, name="explore", arguments={"question": question, **more})


def read(path: str, id: str = "r1") -> Call:
    return Call(id=id, name="read_file", arguments={"file_path": path})


def texts(request: Request) -> str:
    return str(list(request.messages))


class KeyedModel(ScriptedModel):
    """Answers by a word in the first prompt of the conversation, because sub-agents run in parallel."""

    def __init__(self, **answers: list[Any]) -> None:
        super().__init__()
        self.keyed = {key: list(each) for key, each in answers.items()}

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        prompt = request.messages[0].content[0].text  # type: ignore[union-attr]
        answers = next(each for key, each in self.keyed.items() if key in prompt)
        one = ScriptedModel(*([answers.pop(0)] if answers else []))
        self.requests.append(request)
        async for piece in one.stream(request):
            yield piece


@pytest.fixture
async def fake(monkeypatch: pytest.MonkeyPatch) -> Any:
    async with FakeProvider() as provider:
        for name, value in provider.environment().items():
            monkeypatch.setenv(name, value)
        yield provider


async def test_a_sub_agent_answers_with_its_own_context(joined: Join, project: Path) -> None:
    (project / "parser.py").write_text("def parse(): ...\n")
    agent, model = coder(
        [explore(), "Let me find out."],
        [read("parser.py")],
        ["It is in `parser.py:1`."],
        ["The parser is in parser.py."],
        tools=None,
    )
    async with joined(agent, unstable=True) as client:
        session = await client.new_session()
        turn = await session.prompt("A secret plan: fix the parser.")
    assert turn.text.endswith("The parser is in parser.py.")
    asked, first, second, last = model.requests
    assert first.instructions.startswith(ROLE)
    assert "# Environment when the session started" in first.instructions
    assert [tool.name for tool in first.tools] == list(TOOLS)
    assert "secret plan" not in texts(first) + texts(second)
    assert "def parse(): ..." in texts(second)
    assert "def parse(): ..." not in texts(last), "only the report"
    assert results_of(model) == ["It is in `parser.py:1`."]
    assert last.instructions == asked.instructions
    assert last.tools == asked.tools


async def test_its_work_is_shown_in_its_own_session(joined: Join, project: Path) -> None:
    (project / "parser.py").write_text("def parse(): ...\n")
    agent, _ = coder([explore()], [read("parser.py"), "Reading."], ["It is in `parser.py:1`."], ["ok"], tools=None)
    async with joined(agent, unstable=True) as client:
        session = await client.new_session()
        await session.prompt("go")
        (reported,) = session.transcript.subagents.values()
        child = client.sessions[reported.session_id]
        await until(lambda: "parser.py:1" in child.transcript.text)
    assert (reported.title, reported.state) == ("Where is the parser?", "idle")
    assert [call.title for call in child.transcript.tool_calls.values()] == ["Read parser.py"]
    assert [call.status for call in child.transcript.tool_calls.values()] == ["completed"]
    (call,) = session.transcript.tool_calls.values()
    assert (call.title, call.status) == ("Explore: Where is the parser?", "completed")
    assert [item.text for item in call.content] == ["It is in `parser.py:1`."]  # type: ignore[union-attr]


async def test_a_client_without_subagents_sees_the_steps_in_the_call(fake: FakeProvider, project: Path) -> None:
    from accord.testing import link

    (project / "parser.py").write_text("def parse(): ...\n")
    fake.says(Calls("explore", {"question": "Where is the parser?"}, id="e1"))
    fake.says(Calls("read_file", {"file_path": "parser.py"}, id="r1"))
    fake.says(Holds(), Says("Found."))
    fake.says(Says("ok"))
    async with link(agent_on("anthropic"), version=1, cwd=str(project)) as client:
        session = await client.new_session()
        turn = session.prompt("go")
        await fake.is_asked(3)
        (call,) = session.transcript.tool_calls.values()
        await until(lambda: bool(call.content))
        assert [item.text for item in call.content] == ["- Read parser.py"]  # type: ignore[union-attr]
        fake.goes_on()
        await turn
        assert list(client.sessions) == [session.id]
        assert [item.text for item in call.content] == ["Found."]  # type: ignore[union-attr]


async def test_it_never_asks_the_user(joined: Join, project: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("a secret\n")
    (project / "asked.txt").write_text("a secret\n")
    (project / "denied.txt").write_text("a secret\n")
    questions: list[Any] = []

    def allow(request: PermissionRequest) -> bool:
        questions.append(request)
        return True

    calls = [read("../outside.txt", "1"), read("asked.txt", "2"), read("denied.txt", "3")]
    model = ScriptedModel([explore()], calls, ["Nothing."], ["ok"], context=100_000)
    rules = [Rule(effect="ask", path=("asked.txt",)), Rule(effect="deny", path=("denied.txt",))]
    async with joined(Coder(shared=ScriptedResources(model, None, rules=rules)), permissions=allow) as client:
        await (await client.new_session()).prompt("go")
    outside, asked, denied = (result.text for result in model.requests[2].messages[-1].results)  # type: ignore[union-attr]
    assert "a secret" not in outside + asked + denied
    assert "a sub-agent can't ask for" in outside and "a sub-agent can't ask for" in asked
    assert questions == []


async def test_it_reads_what_the_session_was_allowed_to_read(joined: Join, project: Path, tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text("allowed\n")
    model = ScriptedModel([explore()], [read("../library.py")], ["Found."], ["ok"])
    agent = Coder(shared=ScriptedResources(model, None))
    async with joined(agent) as client:
        session = await client.new_session()
        state = next(iter(agent._states.values()))
        state.policy.add(Rule(effect="allow", path=(str(tmp_path / "library.py"),), session=session.id))
        await session.prompt("go")
    assert "allowed" in texts(model.requests[2])


async def test_it_cannot_call_tools_that_make_changes_or_another_sub_agent(joined: Join, project: Path) -> None:
    write = Call(id="w", name="write_file", arguments={"file_path": "a", "content": "x"})
    run = Call(id="c", name="run_command", arguments={"command": "touch ran"})
    agent, model = coder([explore()], [write, run, explore(id="again")], ["No."], ["ok"], tools=None)
    async with joined(agent) as client:
        session = await client.new_session()
        await session.set_mode("code")
        await session.prompt("go")
    results = model.requests[2].messages[-1].results  # type: ignore[union-attr]
    assert all(result.failed and "unknown tool" in result.text for result in results)
    assert os.listdir(project) == []


async def test_several_work_at_the_same_time_and_report_in_order(joined: Join) -> None:
    gates = [asyncio.Event() for _ in range(3)]
    model = KeyedModel(
        go=[[explore(f"number {n}", id=f"e{n}") for n in range(3)], ["all done"]],
        **{f"number {n}": [[gates[n], f"report {n}"]] for n in range(3)},
    )
    async with joined(Coder(shared=ScriptedResources(model, None)), unstable=True) as client:
        session = await client.new_session()
        turn = session.prompt("go")
        await until(lambda: len(model.requests) == 4)
        for gate in reversed(gates):
            gate.set()
        assert (await turn).text == "all done"
    assert results_of(model) == ["report 0", "report 1", "report 2"]
    subagents = model.requests[1:4]
    assert len({request.instructions for request in subagents}) == 1
    assert len({request.session for request in subagents}) == 1
    assert subagents[0].session != model.requests[0].session


async def test_more_than_that_wait_for_their_turn(joined: Join) -> None:
    gate = asyncio.Event()
    count = MAX_CONCURRENT + 2
    model = KeyedModel(
        go=[[explore(f"number {n}", id=f"e{n}") for n in range(count)], ["all done"]], number=[[gate, "x"]] * count
    )
    async with joined(Coder(shared=ScriptedResources(model, None)), unstable=True) as client:
        session = await client.new_session()
        turn = session.prompt("go")
        await until(lambda: len(model.requests) == 1 + MAX_CONCURRENT)
        assert len(session.transcript.subagents) <= MAX_CONCURRENT
        gate.set()
        assert (await turn).text == "all done"
    assert len(model.requests) == 2 + count


async def test_it_is_cancelled_with_the_turn(joined: Join) -> None:
    agent, model = coder([explore()], [asyncio.Event(), "never"], ["next turn"], tools=None)
    async with joined(agent, unstable=True) as client:
        session = await client.new_session()
        turn = session.prompt("go")
        await model.waiting.wait()
        await session.cancel()
        assert (await turn).stop_reason == "cancelled"
        (reported,) = session.transcript.subagents.values()
        assert reported.state == "idle"
        assert model.closed_early == 1
        assert (await session.prompt("again")).text == "next turn"


async def test_the_user_stops_one_and_the_turn_continues(joined: Join) -> None:
    agent, model = coder([explore()], [asyncio.Event(), "never"], ["I go on without it."], tools=None)
    async with joined(agent, unstable=True) as client:
        session = await client.new_session()
        turn = session.prompt("go")
        await model.waiting.wait()
        await until(lambda: len(client.sessions) == 2)
        child = next(each for each in client.sessions.values() if each is not session)
        await child.cancel()
        assert (await turn).text == "I go on without it."
    assert results_of(model) == ["the user stopped this sub-agent before it had a report"]


async def test_at_its_limit_it_reports_what_it_has(joined: Join, project: Path) -> None:
    (project / "a").write_text("text\n")
    limit = MAX_REQUESTS["quick"]
    rounds = [[Call(id=f"{n}", name="list_files", arguments={"path": ".", "depth": n + 1})] for n in range(limit)]
    agent, model = coder([explore(thoroughness="quick")], *rounds, ["Not all."], ["ok"], tools=None)
    model.context = 100_000
    async with joined(agent) as client:
        await (await client.new_session()).prompt("go")
    assert results_of(model) == ["Not all."]
    (reminder,) = [said for said in model.requests[-2].messages if isinstance(said, Reminder)]
    assert reminder.text == SUM_UP.format(f"Stopped after {limit} model requests in one turn.")


async def test_its_cost_and_tokens_count_for_the_session(joined: Join) -> None:
    agent, model = coder([explore()], ["Found."], ["ok"], tools=None)
    model.spent = Spent(input=10, output=5, cost=0.5)
    async with joined(agent, unstable=True) as client:
        session = await client.new_session()
        turn = await session.prompt("go")
        assert session.transcript.usage is not None and session.transcript.usage.cost is not None
        assert session.transcript.usage.cost.amount == 1.5
        assert session.transcript.usage.used == 15, "its context is its own"
        assert turn.tokens is not None and turn.tokens.total == 45


async def test_the_cost_limit_of_the_turn_includes_it(joined: Join) -> None:
    steps = [[Call(id=f"{n}", name="list_files", arguments={"depth": n + 1})] for n in range(3)]
    model = ScriptedModel([explore()], *steps, ["Stopped early."], ["Enough."], context=100_000)
    model.spent = Spent(input=10, output=5, cost=0.4)

    class Limited(ScriptedResources):
        def settings(self, cwd: str) -> Any:
            loaded = super().settings(cwd)
            loaded.settings.coder = CoderSettings(max_cost=1.0)
            return loaded

    async with joined(Coder(shared=Limited(model, None))) as client:
        turn = await (await client.new_session()).prompt("go")
    assert turn.stop_reason == "max_turn_requests"
    assert len(model.requests) == 5, "one of the agent, two and a report of the sub-agent, and the agent's summary"


async def test_its_model_can_be_configured(joined: Join) -> None:
    own, other = ScriptedModel([explore()], ["ok"]), ScriptedModel(["From the small one."])
    closed: list[bool] = []

    async def close() -> None:
        closed.append(True)

    other.id, other.close = "test:small", close  # type: ignore[method-assign]

    class Two(ScriptedResources):
        def settings(self, cwd: str) -> Any:
            loaded = super().settings(cwd)
            loaded.settings.coder = CoderSettings(explore_model="test:small")
            return loaded

        async def model(self, cwd: str, id: str) -> Any:
            return other if id == "test:small" else own

    async with joined(Coder(shared=Two(own, None))) as client:
        await (await client.new_session()).prompt("go")
    assert results_of(own) == ["From the small one."]
    assert "Model: Scripted (test:small)" in other.requests[0].instructions
    assert closed == [True]


@pytest.mark.parametrize("answer", [[ModelError("no such model")], [""]])
async def test_if_it_fails_the_agent_is_informed_and_continues(answer: list[Any], joined: Join) -> None:
    agent, model = coder([explore()], answer, *([answer] if answer == [""] else []), ["I look myself."], tools=None)
    async with joined(agent, unstable=True) as client:
        session = await client.new_session()
        assert (await session.prompt("go")).text == "I look myself."
        (reported,) = session.transcript.subagents.values()
        assert reported.state == "idle"
    (result,) = results_of(model)
    assert result in ("no such model", "the sub-agent ended without a report")


async def test_a_report_survives_in_another_process(joined: Join) -> None:
    store = MemoryStore()
    model = ScriptedModel([explore()], ["It is in parser.py."], ["ok"], ["again"])
    async with joined(Coder(store=store, shared=ScriptedResources(model, None)), unstable=True) as client:
        session = await client.new_session()
        await session.prompt("go")
    async with joined(Coder(store=store, shared=ScriptedResources(model, None)), unstable=True) as client:
        await (await client.load_session(session.id)).prompt("And now?")
    assert results_of(model) == ["It is in parser.py."]
    assert len(model.requests[-1].messages) == 5, "prompt, call, report, answer, prompt"


async def test_a_long_report_is_truncated(joined: Join) -> None:
    agent, model = coder([explore()], ["long " * 10_000], ["ok"], tools=None)
    model.context = 1_000_000
    async with joined(agent) as client:
        await (await client.new_session()).prompt("go")
    (result,) = results_of(model)
    assert 20_000 < len(result) < 20_200
    assert "truncated" in result


@pytest.mark.parametrize("wire", list(MODELS))
async def test_it_works_on_a_providers_model(wire: str, fake: FakeProvider, joined: Join, project: Path) -> None:
    (project / "parser.py").write_text("def parse(): ...\n")
    fake.says(Says("I ask."), Calls("explore", {"question": "Where is the parser?", "thoroughness": "quick"}, id="e1"))
    fake.says(Calls("read_file", {"file_path": "parser.py"}, id="r1"))
    fake.says(Says("It is in parser.py:1."))
    fake.says(Says("Found it."))
    async with joined(agent_on(wire), unstable=True) as client:
        session = await client.new_session()
        turn = await session.prompt("Fix the parser.")
        assert turn.text == "I ask.Found it."
        assert len(session.transcript.subagents) == 1
    _, first, second, last = (str(asked.body) for asked in fake.asked)
    assert "You are a sub-agent of Accord" in first and "Fix the parser." not in first
    assert "def parse(): ..." in second
    assert "def parse(): ..." not in last and "It is in parser.py:1." in last
