"""The offline model in the real agent: its loop, its tools, its permissions, over a real connection."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from support.link import until

from accord.client.session import Session
from accord.coder.agent import Coder
from accord.coder.shared_resources import SharedResources
from accord.model.requests import PermissionRequest

Join = Callable[..., Any]
Open = Callable[..., AbstractAsyncContextManager["Asked"]]

FILES = {
    "README.md": "# Demo\n\nA small demo of greetings.\n",
    "Makefile": "test:\n\t@echo all good\n",
    "src/app.py": "import helper\n\n\nclass App:\n    def run(self):\n        helper.greet('hello')\n",
    "src/helper.py": "def greet(word):\n    print(word)\n\n\ngreeting = 'hello'\n",
}


class Asked:
    """A session with the offline model."""

    def __init__(self, session: Session, questions: list[PermissionRequest]) -> None:
        self.session = session
        self.questions = questions

    async def __call__(self, text: str) -> str:
        turn = await self.session.prompt(text)
        assert turn.stop_reason == "end_turn"
        return turn.text

    @property
    def plan(self) -> list[tuple[str, str]]:
        plans = self.session.transcript.plans.values()
        return [(entry.content, str(entry.status)) for plan in plans for entry in plan.entries]


@pytest.fixture
def opened(joined: Join, project: Path) -> Open:
    """Open a session in a small project; `allow` answers the permission requests."""
    for name, text in FILES.items():
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)

    @asynccontextmanager
    async def open_session(allow: Callable[[int], bool] = lambda number: True) -> AsyncIterator[Asked]:
        questions: list[PermissionRequest] = []

        def permit(request: PermissionRequest) -> bool:
            questions.append(request)
            return allow(len(questions))

        async with joined(Coder(shared=SharedResources(model="offline")), permissions=permit) as client:
            yield Asked(await client.new_session(str(project)), questions)

    return open_session


async def test_a_request_of_many_steps_is_planned_asked_about_and_carried_out(opened: Open, project: Path) -> None:
    async with opened() as ask:
        text = await ask(
            'search for hello, then replace "hello" with "good day" everywhere, '
            'then append "Done." to README.md, then run the tests'
        )
        assert "`hello` is in 2 lines of 2 files" in text
        assert "(2 places) in `src/app.py` and `src/helper.py`" in text
        assert "all good" in text
        assert text.endswith("All 4 steps are done.")
        assert [status for _, status in ask.plan] == ["completed"] * 4
        assert len(ask.questions) == 4  # two files, one more, a command
    assert (project / "src/helper.py").read_text().endswith("greeting = 'good day'\n")
    assert (project / "README.md").read_text() == FILES["README.md"] + "Done.\n"


async def test_a_refusal_ends_the_request_and_leaves_the_rest_alone(opened: Open, project: Path) -> None:
    async with opened(allow=lambda number: number > 1) as ask:
        text = await ask('replace "hello" with "x" everywhere then delete README.md')
        assert "the permission was declined" in text
        assert text.endswith("0 of 2 steps are done. Not done: Delete README.md.")
        assert len(ask.questions) == 1
        assert "Deleted `README.md`." not in await ask("list files")
    assert {name: (project / name).read_text() for name in FILES} == FILES


async def test_files_are_created_read_moved_and_deleted(opened: Open, project: Path) -> None:
    async with opened() as ask:
        text = await ask("create notes/a.md with\n```\n# One\n```\nthen read it, then rename it to b.md")
        assert "# One" in text
        assert (project / "notes/b.md").read_text() == "# One\n"
        assert "already exists" in await ask('create notes/b.md with "x"')
        assert "Deleted" in await ask("delete notes/b.md")
    assert not (project / "notes/b.md").exists()


async def test_the_project_is_outlined_and_its_names_are_found(opened: Open) -> None:
    async with opened() as ask:
        assert "helper.py" in await ask("what is in this project?")
        assert "class App" in await ask("outline src/app.py")
        assert "`greet` is defined in `src/helper.py`, line 1" in await ask("where is greet defined?")
        assert "`greet` is used in `src/app.py`, line 6" in await ask("who calls greet?")
        assert "`src/helper.py` has 5 lines" in await ask("read helper.py")
        assert "2 files match `*.py`" in await ask("find files named *.py")


async def test_changes_are_shown_and_reviewed(opened: Open, project: Path) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        await asyncio.to_thread(subprocess.run, [*git, *words], cwd=project, check=True)
    async with opened() as ask:
        assert "Nothing has changed" in await ask("what changed?")
        (project / "src/helper.py").write_text("def greet(word):\n    breakpoint()\n    print(word)  # TODO\n")
        (project / "new.txt").write_text("<<<<<<< ours\n")
        assert "- `src/helper.py` +2 −4" in await ask("what changed?")
        text = await ask("/review")
        assert "`src/helper.py:2`: leftover debugger call" in text
        assert "`src/helper.py:3`: open to-do" in text
        assert "`src/helper.py` changed, but no test did." in text
        assert "`new.txt`" in text


async def test_an_agents_file_is_written_and_brought_up_to_date(opened: Open, project: Path) -> None:
    async with opened() as ask:
        assert "Wrote `AGENTS.md`." in await ask("/init")
        text = (project / "AGENTS.md").read_text()
        assert "A small demo of greetings." in text
        assert "- Run the tests: `make test` (from the Makefile)" in text
        assert "- `src/`: the source (2 files)" in text
        (project / "AGENTS.md").write_text(text + "\nOur own words.\n")
        assert "is already up to date" in await ask("/init")
        (project / "docs").mkdir()
        (project / "docs/a.md").write_text("x")
        assert "Updated `AGENTS.md`" in await ask("/init")
        text = (project / "AGENTS.md").read_text()
        assert "- `docs/`: the documentation (1 file)" in text
        assert text.endswith("\nOur own words.\n")


async def test_in_architect_mode_it_plans_and_changes_nothing(opened: Open, project: Path) -> None:
    async with opened() as ask:
        assert "The mode is now architect." in await ask("switch to architect mode")
        assert "`move_or_delete`" in await ask("delete README.md")
        await ask("make a plan for a louder greeting")
        assert ("Run the tests: make test", "pending") in ask.plan
    assert (project / "README.md").exists()


async def test_the_slash_commands_work_without_a_language_model(opened: Open) -> None:
    async with opened() as ask:
        assert "`list files in DIRECTORY`" in await ask("/help")
        assert "all good" in await ask("/test")
        await ask("/plan write it; then test it")
        assert ask.plan == [("Write it", "pending"), ("Test it", "pending")]
        assert "with a summary" in await ask("/compact")
        assert "1. [ ] Write it" in await ask("show todos")


async def test_a_turn_can_be_cancelled_while_a_command_runs_and_continued(opened: Open, project: Path) -> None:
    async with opened() as ask:
        (project / "slow.sh").write_text("if [ -e again ]; then exit 0; fi; touch again; sleep 60\n")
        turn = asyncio.ensure_future(ask.session.prompt("run `sh slow.sh` then list files"))
        await until((project / "again").exists)
        await ask.session.cancel()
        assert (await turn).stop_reason == "cancelled"
        text = await ask("continue")
        assert "slow.sh" in text
        assert text.endswith("Both steps are done.")


async def test_usage_is_reported(opened: Open) -> None:
    async with opened() as ask:
        await ask("hello")
        usage = ask.session.transcript.usage
        assert usage is not None
        assert 0 < (usage.used or 0) < (usage.size or 0) == 200_000
