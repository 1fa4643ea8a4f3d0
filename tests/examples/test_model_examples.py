"""The examples that use a model, as processes, on a provider on this machine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from coder.providers.script import Calls, Holds, Says, Thinks
from coder.providers.server import FakeProvider
from support.example_process import EXAMPLES, command_of, run_python

import accord
from accord.model.content import TextContent

MODELS = {"anthropic": "anthropic:claude-sonnet-4-5", "responses": "openai:gpt-5"}


COUNTS = "Changed files: 1, problems: "
pytestmark = pytest.mark.slow


@pytest.fixture
async def provider() -> AsyncIterator[FakeProvider]:
    async with FakeProvider() as fake:
        yield fake


# -- model_agent.py


@pytest.mark.parametrize("wire, allowed", [("anthropic", True), ("responses", False)], ids=["allowed", "refused"])
async def test_the_model_reads_a_file_and_changes_it_with_permission(
    wire: str, allowed: bool, provider: FakeProvider, tmp_path: Path
) -> None:
    (tmp_path / "hello.py").write_text('print("Helo")\n')
    provider.says(Says("Let me look."), Calls("read_file", {"path": "hello.py"}, id="c1"))
    provider.says(Calls("write_file", {"path": "hello.py", "text": 'print("Hello")\n'}, id="c2"))
    provider.says(Says("That was", " it."))
    answer = accord.allow_all if allowed else accord.reject_all

    environment = {**provider.environment(), "MODEL": MODELS[wire]}
    async with accord.connect(command_of("model_agent.py"), permissions=answer, cwd=tmp_path, env=environment) as agent:
        session = await agent.new_session()
        turn = await session.prompt("Correct the greeting.")
        provider.says(Says("You're welcome."))
        second = await session.prompt("Thanks.")

    assert turn.text == "Let me look.That was it."
    assert [(call.title, call.status) for call in turn.tool_calls] == [
        ("Read hello.py", "completed"),
        ("Write hello.py", "completed" if allowed else "failed"),
    ]
    assert turn.tool_calls[1].diffs[0].patch.splitlines()[-1] == '+print("Hello")'
    assert (tmp_path / "hello.py").read_text() == ('print("Hello")\n' if allowed else 'print("Helo")\n')
    assert second.text == "You're welcome."
    assert {request.wire for request in provider.asked} == {wire}
    assert "Correct the greeting." in str(provider.asked[-1].body), "the model has no memory"
    assert ("The user refused this change." in str(provider.asked[-1].body)) is not allowed


async def test_the_model_gets_errors_and_its_thoughts_are_shown(provider: FakeProvider, tmp_path: Path) -> None:
    provider.says(Calls("read_file", {"path": "new.txt"}))
    provider.says(Calls("write_file", {"path": "../new.txt", "text": "new\n"}))
    provider.says(Thinks("It is new."), Calls("write_file", {"path": "new.txt", "text": "new\n"}))
    provider.says(Says("Created."))
    async with accord.connect(
        command_of("model_agent.py"), cwd=tmp_path, env=provider.environment(), permissions=accord.allow_all
    ) as agent:
        session = await agent.new_session()
        events = [event async for event in session.prompt("Create new.txt.")]
        calls = [(call.title, call.status) for call in session.last_turn.tool_calls]

    assert calls == [("Read new.txt", "failed"), ("Write ../new.txt", "failed"), ("Write new.txt", "completed")]
    assert "Error: " in str(provider.asked[1].body) and "Error: " in str(provider.asked[2].body)
    assert "".join(event.text for event in events if isinstance(event, accord.Thought)) == "It is new."
    assert (tmp_path / "new.txt").read_text() == "new\n"


async def test_an_error_of_the_provider_is_the_error_of_the_turn(provider: FakeProvider, tmp_path: Path) -> None:
    provider.refuses(401, "bad key")
    async with accord.connect(command_of("model_agent.py"), cwd=tmp_path, env=provider.environment()) as agent:
        session = await agent.new_session()
        with pytest.raises(accord.RequestFailed, match=r"answered with status 401.*bad key"):
            await session.prompt("hello")
        assert (await session.prompt("hello")).text == "Hello."


# -- generator_agent.py


async def test_what_a_generator_yields_is_the_answer(provider: FakeProvider, tmp_path: Path) -> None:
    provider.says(Says("One, ", "two."))
    async with accord.connect(command_of("generator_agent.py"), cwd=tmp_path, env=provider.environment()) as agent:
        turn = await (await agent.new_session()).prompt("Count.")

    assert turn.text == "One, two."
    assert provider.asked[0].body["messages"] == [{"role": "user", "content": "Count."}]


async def test_cancelling_the_turn_closes_the_generator(provider: FakeProvider, tmp_path: Path) -> None:
    provider.says(Says("One, "), Holds())
    async with accord.connect(command_of("generator_agent.py"), cwd=tmp_path, env=provider.environment()) as agent:
        session = await agent.new_session()
        turn = session.prompt("Count.")
        async for event in turn:
            if isinstance(event, accord.Text):
                break
        await provider.asked[0].gone.wait()
        await turn

    assert turn.stop_reason == "cancelled"


GRAPH = """
from dataclasses import dataclass

import accord
from generator_agent import GeneratorAgent, graph_stream


@dataclass
class Message:  # the attributes of LangChain's messages that the adapter reads
    type: str
    text: str
    name: str | None = None
    status: str = "success"


class Graph:
    async def astream(self, state, config, *, stream_mode):
        assert stream_mode == "messages" and config["configurable"]["thread_id"]
        yield Message("human", "not for the user"), {}
        yield Message("AIMessageChunk", ""), {}
        yield Message("AIMessageChunk", "Let me "), {}
        yield Message("AIMessageChunk", "count. "), {}
        yield Message("tool", str(len(state["messages"][-1]["content"].split())), "count"), {}
        yield Message("tool", "no such tool", "cuont", "error"), {}
        yield Message("ai", "Done."), {}


accord.run(GeneratorAgent(graph_stream(Graph())))
"""


async def test_a_graph_is_an_agent(tmp_path: Path) -> None:
    program = tmp_path / "graph_agent.py"
    program.write_text(GRAPH)
    async with accord.connect([sys.executable, str(program)], env={"PYTHONPATH": str(EXAMPLES)}) as agent:
        turn = await (await agent.new_session()).prompt("one two three")

    assert turn.text == "Let me count. Done."
    calls = [(call.title, call.status, call.content) for call in turn.tool_calls]
    assert calls == [("count", "completed", [TextContent("3")]), ("cuont", "failed", [TextContent("no such tool")])]


# -- ci_review.py


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with a base and a change."""
    folder = tmp_path / "repository"
    folder.mkdir()
    identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]

    def git(*arguments: str) -> None:
        subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)

    git("init", "--initial-branch", "main")
    (folder / "mean.py").write_text("def mean(values):\n    return sum(values) / len(values)\n")
    git("add", ".")
    git("commit", "--message", "base")
    git("checkout", "-b", "change")
    (folder / "mean.py").write_text("def mean(values):\n    return sum(values) / (len(values) - 1)\n")
    git("commit", "--all", "--message", "change")
    return folder


async def review(
    repository: Path, provider: FakeProvider, agent: str = "generator_agent.py", **environment: str
) -> tuple[int, str, str]:
    environment = {"AGENT": command_of(agent), **provider.environment(), **environment}
    return await run_python(str(EXAMPLES / "ci_review.py"), "main", cwd=repository, **environment)


async def test_a_problem_fails_the_job_at_its_line(provider: FakeProvider, repository: Path) -> None:
    problem = "mean.py:2: 100% wrong: divides by one too few"
    provider.says(Says(f"{problem}\nother.py:1: not part of the change\n"))
    plain = await review(repository, provider)
    provider.says(Says(problem))
    on_github = await review(repository, provider, GITHUB_ACTIONS="true")

    assert plain == (1, f"{problem}\n{COUNTS}1\n", "")
    annotation = "::error file=mean.py,line=2::100%25 wrong: divides by one too few\n"
    assert on_github == (1, f"{annotation}{COUNTS}1\n", "")
    assert "(len(values) - 1)" in str(provider.asked[0].body)


async def test_a_review_without_problems_passes(provider: FakeProvider, repository: Path) -> None:
    provider.says(Says("No problems."))
    assert await review(repository, provider) == (0, f"{COUNTS}0\n", "")


async def test_the_reviewer_changes_nothing(provider: FakeProvider, repository: Path) -> None:
    before = (repository / "mean.py").read_text()
    provider.says(Calls("write_file", {"path": "mean.py", "text": "fixed"}))
    provider.says(Says("No problems."))
    assert (await review(repository, provider, "model_agent.py"))[0] == 0
    assert (repository / "mean.py").read_text() == before
    assert "The user refused this change." in str(provider.asked[1].body)


@pytest.mark.parametrize("answer", ["an error", "another form"])
async def test_a_job_without_a_review_does_not_pass(provider: FakeProvider, repository: Path, answer: str) -> None:
    if answer == "an error":
        provider.refuses(401, "bad key")
    else:
        provider.says(Says("Looks good to me!"))
    status, printed, errors = await review(repository, provider)
    assert (status, printed) == (2, "")
    assert errors.startswith("No review: ")
    assert ("bad key" if answer == "an error" else "'Looks good to me!'") in errors
