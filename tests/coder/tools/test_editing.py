"""edit_file and write_file: shown as a diff, asked about, then made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from accord.client.local import LocalWorkspace
from accord.model.requests import PermissionRequest
from accord.model.tool import Location
from accord.policy.engine import Policy
from accord.policy.rule import Rule
from accord.testing import ScriptedClient
from accord.workspace.overlay import Overlay

from .conftest import ALLOWED, Benches

ONE = [{"old": "two", "new": "2"}]


async def test_an_edit_is_made_and_shown(bench: Benches, lent: dict[str, Any]) -> None:
    async with bench(**lent) as desk:
        desk.write("a.txt", "one\ntwo\nthree\n")
        told = await desk.told("edit_file", path="a.txt", edits=[*ONE, {"old": "three", "new": "3"}])
        assert told == "Edited a.txt: 2 replacements, at lines 2, 3."
        assert desk.text("a.txt") == "one\n2\n3\n"
        shown = desk.shown
        assert (shown.title, shown.kind, shown.status) == ("Edit a.txt", "edit", "completed")
        assert shown.locations == [Location(path=str(desk.project / "a.txt"), line=2)]
        assert "-two\n-three\n+2\n+3\n" in shown.diffs[0].patch


async def test_a_new_file_is_written_with_its_directories(bench: Benches, lent: dict[str, Any]) -> None:
    async with bench(**lent) as desk:
        told = await desk.told("write_file", path="deep/er/new.py", content="x = 1\n")
        assert told == "Created deep/er/new.py (1 line, 6 bytes)."
        assert desk.text("deep/er/new.py") == "x = 1\n"
        assert desk.shown.diffs[0].changes[0].operation == "add"
        assert desk.shown.title == "Write deep/er/new.py"


async def test_a_file_is_replaced_whole(bench: Benches, lent: dict[str, Any]) -> None:
    async with bench(**lent) as desk:
        desk.write("a.txt", "old\r\ntext\r\n")
        assert "Replaced a.txt" in await desk.told("write_file", path="a.txt", content="new\ntext\n")
        assert desk.text("a.txt") == "new\r\ntext\r\n"
        change = desk.shown.diffs[0].changes[0]
        assert change.operation == "modify"


async def test_what_is_there_already_is_not_written_and_not_asked_about(bench: Benches) -> None:
    async with bench(rules=()) as desk:
        file = desk.write("a.txt", "same\n")
        before = file.stat()
        assert "nothing was written" in await desk.told("write_file", path="a.txt", content="same\n")
        assert file.stat().st_ino == before.st_ino
        assert desk.shown.content == []


class Asked:
    """Answers permission requests, and does something before it does."""

    def __init__(self, answer: bool, meanwhile: Any = None) -> None:
        self.requests: list[PermissionRequest] = []
        self._answer = answer
        self._meanwhile = meanwhile

    def __call__(self, request: PermissionRequest) -> bool:
        self.requests.append(request)
        if self._meanwhile is not None:
            self._meanwhile()
        return self._answer


@pytest.mark.parametrize(
    "name, arguments",
    [("edit_file", {"path": "a.txt", "edits": ONE}), ("write_file", {"path": "a.txt", "content": "2\n"})],
)
async def test_the_diff_is_seen_before_the_change_is_allowed(
    bench: Benches, name: str, arguments: dict[str, Any]
) -> None:
    asked = Asked(False)
    async with bench(rules=(), permissions=asked) as desk:
        desk.write("a.txt", "two\n")
        assert "did not allow" in await desk.fault(name, **arguments)
        assert desk.text("a.txt") == "two\n"
        (request,) = asked.requests
        assert request.tool_call is not None
        assert "-two\n+2\n" in request.tool_call.diffs[0].patch
        asked._answer = True
        await desk.told(name, **arguments)
        assert desk.text("a.txt") == "2\n"


async def test_a_file_that_changed_while_the_user_thought_is_not_overwritten(bench: Benches, project: Path) -> None:
    asked = Asked(True, lambda: (project / "a.txt").write_text("two\nmore\n"))
    async with bench(rules=(), permissions=asked) as desk:
        for name, arguments in (
            ("edit_file", {"edits": ONE}),
            ("write_file", {"content": "2\n"}),
        ):
            desk.write("a.txt", "two\n")
            assert "has changed since" in await desk.fault(name, path="a.txt", **arguments)
            assert desk.text("a.txt") == "two\nmore\n"


async def test_a_file_that_appeared_or_went_meanwhile_is_told(bench: Benches, project: Path) -> None:
    asked = Asked(True, lambda: (project / "new.txt").write_text("theirs\n"))
    async with bench(rules=(), permissions=asked) as desk:
        assert "has changed since" in await desk.fault("write_file", path="new.txt", content="ours\n")
        assert desk.text("new.txt") == "theirs\n"
    asked = Asked(True, lambda: (project / "new.txt").unlink())
    async with bench(rules=(), permissions=asked) as desk:
        edits = [{"old": "theirs", "new": "ours"}]
        assert "there is no file" in await desk.fault("edit_file", path="new.txt", edits=edits)


async def test_a_fault_changes_nothing_and_nobody_is_asked(bench: Benches) -> None:
    asked = Asked(True)
    async with bench(rules=(), permissions=asked) as desk:
        desk.write("a.txt", "x\nx\n")
        assert "occurs 2 times" in await desk.fault("edit_file", path="a.txt", edits=[{"old": "x", "new": "y"}])
        await desk.fault("edit_file", path="a.txt", edits=[])
        assert "there is no file" in await desk.fault("edit_file", path="b.txt", edits=ONE)
        desk.write("data", b"\0\1")
        assert "no text" in await desk.fault("edit_file", path="data", edits=ONE)
        assert "no text" in await desk.fault("write_file", path="data", content="x")
        desk.write("src/a.py", "")
        assert "directory" in await desk.fault("write_file", path="src", content="x")
        assert desk.text("a.txt") == "x\nx\n"
    assert asked.requests == []


async def test_a_byte_order_mark_stays(bench: Benches, lent: dict[str, Any]) -> None:
    async with bench(**lent) as desk:
        file = desk.write("a.txt", "\ufeffone two\n")
        await desk.told("edit_file", path="a.txt", edits=ONE)
        assert file.read_bytes() == b"\xef\xbb\xbfone 2\n"


async def test_a_file_that_is_too_large_is_not_edited(bench: Benches) -> None:
    async with bench() as desk:
        desk.write("big", "x" * 10_000_001)
        assert "files up to 10.0 MB" in await desk.fault("edit_file", path="big", edits=ONE)


async def test_a_rule_that_denies_holds_for_writing(bench: Benches) -> None:
    async with bench(rules=(Rule(effect="deny", path=("locked/**",)), *ALLOWED)) as desk:
        desk.write("locked/a.txt", "two\n")
        assert "not allowed" in await desk.fault("edit_file", path="locked/a.txt", edits=ONE)
        assert "not allowed" in await desk.fault("write_file", path="locked/b.txt", content="x")
        assert desk.text("locked/a.txt") == "two\n"


class TestOnScreen:
    """Version 1, whose clients may lend what is on their screens."""

    @pytest.fixture
    def version(self) -> int:
        return 1

    async def test_the_buffer_on_screen_is_what_is_edited(self, bench: Benches, project: Path) -> None:
        overlay = Overlay()
        took: list[str] = []
        workspace = LocalWorkspace(project, policy=Policy(str(project), flags=ALLOWED), overlay=overlay)
        async with bench(workspace=workspace) as desk:
            desk.write("a.txt", "saved\n")
            overlay.show(str(project / "a.txt"), "unsaved two\n", owner=lambda path, text: took.append(text))
            await desk.told("edit_file", path="a.txt", edits=ONE)
            assert took == ["unsaved 2\n"]
            assert desk.text("a.txt") == "saved\n"
            assert "-unsaved two\n+unsaved 2\n" in desk.shown.diffs[0].patch

    async def test_a_client_that_loses_the_last_line_feed_does_not_lose_ours(
        self, bench: Benches, project: Path
    ) -> None:
        path = str(project / "a.txt")
        client = ScriptedClient(files={path: "one\ntwo"})
        async with bench(client) as desk:
            desk.write("a.txt", "one\ntwo\n")
            await desk.told("edit_file", path="a.txt", edits=ONE)
            assert client.files[path] == "one\n2\n"

    async def test_a_client_that_refuses_to_write_is_quoted(self, bench: Benches, project: Path) -> None:
        rules = (Rule(effect="deny", path=("**",), access="write"), *ALLOWED)
        workspace = LocalWorkspace(project, policy=Policy(str(project), flags=rules))
        async with bench(workspace=workspace) as desk:
            desk.write("a.txt", "two\n")
            words = await desk.fault("edit_file", path="a.txt", edits=ONE)
            assert "was not written: refused" in words
            assert desk.text("a.txt") == "two\n"

    async def test_a_client_that_answers_nothing_for_a_missing_file_lets_it_be_created(
        self, bench: Benches, project: Path
    ) -> None:
        path = str(project / "new.txt")
        client = ScriptedClient(files={path: ""})
        async with bench(client) as desk:
            assert "Created new.txt" in await desk.told("write_file", path="new.txt", content="x\n")
            assert client.files[path] == "x\n"


async def test_several_calls_of_one_answer_do_not_get_in_each_others_way(bench: Benches) -> None:
    async with bench() as desk:
        desk.write("a.txt", "one two\n")
        from accord.coder.history import Call

        desk.agent.calls = [
            Call(id="1", name="edit_file", arguments={"path": "a.txt", "edits": [{"old": "one", "new": "1"}]}),
            Call(id="2", name="edit_file", arguments={"path": "a.txt", "edits": ONE}),
        ]
        await desk.session.prompt("go")
        assert [result.failed for result in desk.agent.results] == [False, False]
        assert desk.text("a.txt") == "1 2\n"
