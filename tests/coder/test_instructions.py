"""The system prompt: role, environment, and the instruction files of the user and the project."""

from __future__ import annotations

import datetime
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from coder.scripted_model import ScriptedModel, ScriptedResources, coder
from coder.test_loop import Look, call

from accord.coder import agents_md, environment
from accord.coder.agent import Coder
from accord.coder.agents_md import InstructionFile
from accord.coder.history import Reminder, ToolsSaid
from accord.coder.instructions import GEMINI, GPT, ROLE, SMALL, family_notes
from accord.model.requests import SystemPrompt
from accord.policy.protections import PROTECTED
from accord.policy.rule import Rule
from accord.store.memory import MemoryStore

Join = Callable[..., Any]


@pytest.fixture(autouse=True)
def patient_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Git take its time on a busy machine."""
    monkeypatch.setattr(environment, "GIT_SECONDS", 300.0)


def git(directory: Path, *words: str) -> None:
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.com")
    subprocess.run(["git", *identity, *words], cwd=directory, check=True, capture_output=True)


async def prompt_of(joined: Join, **options: Any) -> str:
    """Return the system prompt of a new session's first request."""
    agent, model = coder(["ok"])
    async with joined(agent) as client:
        await (await client.new_session(**options)).prompt("hi")
    return model.requests[0].instructions


def results_of(model: ScriptedModel) -> list[str]:
    """Return the texts of all tool results that the model has seen."""
    messages = model.requests[-1].messages
    return [result.text for message in messages if isinstance(message, ToolsSaid) for result in message.results]


def test_the_role_is_about_a_thousand_tokens() -> None:
    assert 800 < len(ROLE) / 4 < 1_200


@pytest.mark.parametrize(
    ("model", "notes"),
    [
        ("openai:gpt-5.5", GPT),
        ("openrouter:openai/gpt-6.1-sol", GPT),
        ("google:gemini-3-pro", GEMINI),
        ("ollama:gpt-oss:20b", SMALL),
        ("local:/models/tiny.gguf", SMALL),
        ("anthropic:claude-sonnet-4-5", ""),
    ],
)
def test_each_family_of_models_gets_its_own_notes(model: str, notes: str) -> None:
    assert family_notes(model) == notes


async def test_the_environment_is_described(joined: Join, project: Path) -> None:
    (project / "src").mkdir()
    (project / "setup.cfg").write_text("")
    text = await prompt_of(joined)
    assert text.startswith(ROLE)
    for line in (
        f"Working directory: {project}",
        "Git: not a repository",
        "Model: Scripted (test:scripted)",
        "Top-level entries: setup.cfg, src/",
    ):
        assert line in text
    assert any(f"Date: {day}" in text for day in _days())


def _days() -> list[str]:
    today = datetime.date.today()
    return [str(today), str(today - datetime.timedelta(days=1))]  # midnight may have passed meanwhile


async def test_the_environment_names_the_branch_and_the_number_of_changes(joined: Join, project: Path) -> None:
    git(project, "init", "-q", "-b", "feature")
    (project / "a.txt").write_text("1")
    assert f"Git: repository at {project}, branch feature without commits, 1 uncommitted" in await prompt_of(joined)
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "first")
    assert f"Git: repository at {project}, branch feature, no uncommitted changes\n" in await prompt_of(joined)
    git(project, "mv", "a.txt", "b c.txt")
    (project / "new.txt").write_text("new")
    assert "branch feature, 3 uncommitted changes, made before this session\n" in await prompt_of(joined)
    git(project, "checkout", "-q", "--detach")
    assert f"Git: repository at {project}, detached HEAD, 3 uncommitted" in await prompt_of(joined)


async def test_a_hostile_repository_runs_nothing_while_it_is_described(joined: Join, project: Path) -> None:
    git(project, "init", "-q", "-b", "main")
    trap, ran = project.parent / "trap.sh", project.parent / "ran"
    trap.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    trap.chmod(0o755)
    (project / ".gitattributes").write_text("* filter=evil\n")
    (project / "a.txt").write_text("1")
    git(project, "add", ".")
    git(project, "commit", "-q", "-m", "first")
    for name in ("core.fsmonitor", "filter.evil.clean", "filter.evil.process", "core.pager", "diff.external"):
        git(project, "config", name, str(trap))
    (project / "a.txt").write_text("2")
    assert "branch main" in await prompt_of(joined)
    assert not ran.exists()


async def test_the_system_prompt_stays_the_same_for_the_whole_session(joined: Join, project: Path) -> None:
    agent, model = coder([call()], ["One."], ["Two."], tools=[Look()])
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("hi")
        (project / "AGENTS.md").write_text("New rules.")
        (project / "more.txt").write_text("")
        await session.prompt("more")
    assert len({request.instructions for request in model.requests}) == 1


async def test_a_resumed_session_has_the_same_system_prompt_until_its_instructions_change(
    joined: Join, project: Path
) -> None:
    store = MemoryStore()
    prompts: list[str] = []
    opened = ""
    for change in ("", "more.txt", "AGENTS.md"):
        if change:
            (project / change).write_text("New rules.")
        model = ScriptedModel(["ok"])
        async with joined(Coder(store=store, shared=ScriptedResources(model))) as client:
            session = await (client.load_session(opened) if opened else client.new_session())
            opened = session.id
            await session.prompt("hi")
        prompts.append(model.requests[0].instructions)
    assert prompts[0] == prompts[1] != prompts[2]
    assert "New rules." in prompts[2]


async def test_instruction_files_are_quoted_from_the_user_to_the_working_directory(
    joined: Join, project: Path, home: Path
) -> None:
    inner = project / "packages" / "web"
    inner.mkdir(parents=True)
    (project / ".git").mkdir()
    (project.parent / "AGENTS.md").write_text("Above the repository.")
    users = home / "config" / "accord"
    users.mkdir(parents=True)
    for directory, text in ((users, "1 user"), (project, "2 root"), (inner.parent, "3 middle"), (inner, "4 cwd")):
        (directory / "AGENTS.md").write_text(text)
    prompt = await prompt_of(joined, cwd=str(inner))
    places = [prompt.index(text) for text in ("1 user", "2 root", "3 middle", "4 cwd")]
    assert places == sorted(places)
    assert "Above the repository." not in prompt
    assert f'<instructions path="{inner / "AGENTS.md"}">\n4 cwd\n</instructions>' in prompt


@pytest.mark.req("V1-SETUP-18")
async def test_instruction_files_of_all_directories_are_quoted_and_the_first_directory_wins(
    joined: Join, project: Path, home: Path
) -> None:
    second, third = project.parent / "second", project.parent / "third"
    for directory, text in ((project, "Use tabs."), (second, "Use two spaces."), (third, "Use four spaces.")):
        directory.mkdir(exist_ok=True)
        (directory / "AGENTS.md").write_text(text)
    prompt = await prompt_of(joined, additional_directories=[str(second), str(third)])
    places = [prompt.index(text) for text in (agents_md.RANKED, "Use four spaces.", "Use two spaces.", "Use tabs.")]
    assert places == sorted(places), "the model follows the one that is quoted last"
    assert agents_md.RANKED not in await prompt_of(joined)


async def test_a_file_of_two_directories_is_quoted_once(joined: Join, project: Path) -> None:
    inner = project / "packages"
    inner.mkdir()
    (project / ".git").mkdir()
    (project / "AGENTS.md").write_text("Use tabs.")
    prompt = await prompt_of(joined, cwd=str(inner), additional_directories=[str(project)])
    assert prompt.count("Use tabs.") == 1


async def test_a_link_in_an_additional_directory_reveals_no_secret(joined: Join, project: Path) -> None:
    other = project.parent / "other"
    other.mkdir()
    (project.parent / "AGENTS.md").write_text("From outside.")
    (other / "AGENTS.md").symlink_to("../AGENTS.md")
    assert "From outside." not in await prompt_of(joined, additional_directories=[str(other)])


@pytest.mark.req("V1-SETUP-28")
@pytest.mark.parametrize("mode", ["append", "override"])
async def test_the_clients_system_prompt_is_a_part_of_the_models_system_prompt(
    mode: Any, joined: Join, project: Path
) -> None:
    (project / "AGENTS.md").write_text("Use tabs.")
    agent, model = coder(["ok"], ["A summary."], ["ok"])
    async with joined(agent, unstable=True) as client:
        session = await client.new_session(system_prompt=SystemPrompt(text="Answer in Latin.", mode=mode))
        for text in ("hi", "/compact", "hi"):
            await session.prompt(text)
    first, last = model.requests[0], model.requests[-1]
    assert last.instructions.endswith("Answer in Latin."), "after the project's instructions, and after a summary too"
    assert (ROLE in first.instructions) == (mode == "append")
    assert "Latin" not in str([first.messages, last.messages])


@pytest.mark.parametrize("name", agents_md.NAMES)
async def test_other_agents_files_are_used_if_there_is_no_agents_md(joined: Join, project: Path, name: str) -> None:
    path = project / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("Use tabs.")
    assert "Use tabs." in await prompt_of(joined)
    assert f"**/{name.replace(chr(92), '/')}" in PROTECTED, "the agent must not change its own instructions silently"
    (project / "AGENTS.md").write_text("Use spaces.")
    prompt = await prompt_of(joined)
    assert "Use spaces." in prompt and ("Use tabs." not in prompt)


async def test_a_link_may_lead_to_another_instruction_file_but_not_to_a_secret(joined: Join, project: Path) -> None:
    (project / "docs").mkdir()
    (project / "docs" / "AGENTS.md").write_text("Use tabs.")
    (project / "AGENTS.md").symlink_to("docs/AGENTS.md")
    assert "Use tabs." in await prompt_of(joined)
    (project / ".env").write_text("PASSWORD=hunter2")
    (project / "AGENTS.md").unlink()
    (project / "AGENTS.md").symlink_to(".env")
    assert "hunter2" not in await prompt_of(joined)


async def test_a_nested_file_comes_once_with_the_first_call_that_touches_its_directory(
    joined: Join, project: Path
) -> None:
    (project / "src" / "api").mkdir(parents=True)
    (project / "src" / "AGENTS.md").write_text("Outer rules.")
    (project / "src" / "api" / "CLAUDE.md").write_text("Inner rules.")
    agent, model = coder(
        [call(id="1", path="a.txt")],
        [call(id="2", path="src/api/x.py")],
        [call(id="3", path="src/api/y.py")],
        ["Done."],
        tools=[Look()],
    )
    async with joined(agent) as client:
        turn = await (await client.new_session()).prompt("look")
    assert results_of(model) == ["saw a.txt", "saw src/api/x.py", "saw src/api/y.py"], "a result has no instructions"
    (index,) = (index for index, each in enumerate(model.requests[-1].messages) if isinstance(each, Reminder))
    reminder = model.requests[-1].messages[index]
    assert model.requests[2].messages[index:] == [reminder], "it follows the result of the call"
    assert reminder.text.index("Outer rules.") < reminder.text.index("Inner rules.")
    assert [shown.raw_output for shown in turn.tool_calls][1] == "saw src/api/x.py", (
        "the user sees the tool's own output"
    )


async def test_a_nested_file_comes_again_after_a_summary(joined: Join, project: Path) -> None:
    (project / "src").mkdir()
    (project / "src" / "AGENTS.md").write_text("Inner rules.")
    look = call(path="src/x.py")
    agent, model = coder([look], ["Seen."], ["A summary."], [look], ["Seen."], tools=[Look()])
    async with joined(agent) as client:
        session = await client.new_session()
        for text in ("look", "/compact", "look again"):
            await session.prompt(text)
    (reminder,) = (each for each in model.requests[-1].messages if isinstance(each, Reminder))
    assert "Inner rules." in reminder.text


async def test_a_nested_file_that_a_rule_protects_is_not_delivered(joined: Join, project: Path) -> None:
    (project / "src").mkdir()
    (project / "src" / "AGENTS.md").write_text("Inner rules.")
    model = ScriptedModel([call(path="src/x.py")], ["Seen."])
    shared = ScriptedResources(model, [Look()])
    shared._rules = [Rule(effect="deny", path=("src/**",), access="read")]
    async with joined(Coder(shared=shared)) as client:
        await (await client.new_session()).prompt("look")
    assert results_of(model) == ["saw src/x.py"]
    assert not any(isinstance(each, Reminder) for each in model.requests[-1].messages)


def test_the_closest_files_keep_their_text_when_there_is_too_much() -> None:
    files = [InstructionFile(path=f"/{number}/AGENTS.md", text=str(number) * 30_000) for number in range(4)]
    quoted = agents_md.quote(files)
    assert len(quoted) < agents_md.MAX_TOTAL_CHARACTERS + 1_000
    assert [quoted.count(str(number) * 24_000) for number in range(4)] == [0, 0, 1, 1]
