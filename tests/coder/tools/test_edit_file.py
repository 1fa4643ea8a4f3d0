"""edit_file and write_file: the diff, the permission request, the change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.client.local_workspace import LocalWorkspace
from accord.coder.tools.base import ToolError
from accord.coder.tools.edit_file import Edit, apply_edits
from accord.model.requests import PermissionRequest
from accord.model.tool import Location
from accord.policy.engine import Policy
from accord.policy.rule import Rule
from accord.testing import ScriptedClient
from accord.workspace.overlay import Overlay

from .conftest import ALLOWED, Harness

ONE = [{"old_string": "two", "new_string": "2"}]


async def test_an_edit_is_made_and_shown(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        tools.write("a.txt", "one\ntwo\nthree\n")
        told = await tools.call(
            "edit_file", file_path="a.txt", edits=[*ONE, {"old_string": "three", "new_string": "3"}]
        )
        assert told == "Edited a.txt: 2 replacements, at lines 2, 3."
        assert tools.text("a.txt") == "one\n2\n3\n"
        shown = tools.shown
        assert (shown.title, shown.kind, shown.status) == ("Edit a.txt", "edit", "completed")
        assert shown.locations == [Location(path=str(tools.project / "a.txt"), line=2)]
        assert "-two\n-three\n+2\n+3\n" in shown.diffs[0].patch


async def test_the_result_says_how_an_edit_was_adjusted(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        tools.write("a.py", "class A:\n\tdef f(self):\n\t\treturn 1\n")
        edits = [
            {"old_string": "    def f(self):\n        return 1\n", "new_string": "    def f(self):\n        return 2\n"}
        ]
        told = await tools.call("edit_file", file_path="a.py", edits=edits)
        assert told.startswith("Edited a.py: 1 replacement, at line 2.\nThe old text differs from lines 2 to 3")
        assert tools.text("a.py") == "class A:\n\tdef f(self):\n\t\treturn 2\n"
        assert "-\t\treturn 1\n+\t\treturn 2\n" in tools.shown.diffs[0].patch


@pytest.mark.parametrize(
    ("text", "size"),
    [("", "0 lines, 0 bytes"), ("{}", "1 line, 2 bytes"), ("a\nb", "2 lines, 3 bytes"), ("a\n", "1 line, 2 bytes")],
)
async def test_the_last_line_counts_without_a_line_feed(
    harness: Harness, lent: dict[str, Any], text: str, size: str
) -> None:
    async with harness(**lent) as tools:
        assert await tools.call("write_file", file_path="new.txt", content=text) == f"Created new.txt ({size})."
        if text:
            edits = [{"old_string": "", "new_string": text}]
            created = await tools.call("edit_file", file_path="made.txt", edits=edits)
            assert created == f"Created made.txt ({size})."


async def test_a_new_file_is_written_with_its_directories(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        told = await tools.call("write_file", file_path="deep/er/new.py", content="x = 1\n")
        assert told == "Created deep/er/new.py (1 line, 6 bytes)."
        assert tools.text("deep/er/new.py") == "x = 1\n"
        assert tools.shown.diffs[0].changes[0].operation == "add"
        assert tools.shown.title == "Write deep/er/new.py"


async def test_a_whole_file_is_replaced(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        tools.write("a.txt", "old\r\ntext\r\n")
        await tools.call("read_file", file_path="a.txt")
        assert "Replaced a.txt" in await tools.call("write_file", file_path="a.txt", content="new\ntext\n")
        assert tools.text("a.txt") == "new\r\ntext\r\n"
        change = tools.shown.diffs[0].changes[0]
        assert change.operation == "modify"


async def test_replacing_an_unread_file_is_refused_once_for_each_version(
    harness: Harness, lent: dict[str, Any]
) -> None:
    async with harness(**lent) as tools:
        tools.write("a.txt", "old\n")
        refused = await tools.call_failing("write_file", file_path="a.txt", content="new\n")
        assert refused.startswith("a.txt exists (1 line, 4 bytes), and you haven't read its current version.")
        assert tools.text("a.txt") == "old\n"
        assert tools.shown.diffs == []
        tools.write("a.txt", "other\n")
        assert "haven't read" in await tools.call_failing("write_file", file_path="a.txt", content="new\n")
        assert "Replaced" in await tools.call("write_file", file_path="a.txt", content="new\n")
        assert "Replaced" in await tools.call("write_file", file_path="a.txt", content="newer\n")


async def test_a_file_that_changed_after_it_was_read_is_unread(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        tools.write("a.txt", "old\n")
        await tools.call("read_file", file_path="a.txt")
        tools.write("a.txt", "theirs\n")
        assert "haven't read" in await tools.call_failing("write_file", file_path="a.txt", content="new\n")
        await tools.call("read_file", file_path="a.txt")
        await tools.call("move_or_delete", operation="move", file_path="a.txt", destination="b.txt")
        assert "Replaced" in await tools.call("write_file", file_path="b.txt", content="new\n")


async def test_an_empty_file_can_be_replaced_unread(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("a.txt", "\n")
        assert "Replaced" in await tools.call("write_file", file_path="a.txt", content="new\n")


async def test_identical_content_is_not_written_and_needs_no_permission(harness: Harness) -> None:
    async with harness(rules=()) as tools:
        file = tools.write("a.txt", "same\n")
        before = file.stat()
        assert "nothing was written" in await tools.call("write_file", file_path="a.txt", content="same\n")
        assert file.stat().st_ino == before.st_ino
        assert tools.shown.content == []


class Asked:
    """Answers permission requests after running a callback."""

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
    harness: Harness, name: str, arguments: dict[str, Any]
) -> None:
    asked = Asked(False)
    async with harness(rules=(), permissions=asked) as tools:
        tools.write("a.txt", "two\n")
        await tools.call("read_file", file_path="a.txt")
        assert "didn't allow" in await tools.call_failing(name, **arguments)
        assert tools.text("a.txt") == "two\n"
        (request,) = asked.requests
        assert request.tool_call is not None
        assert "-two\n+2\n" in request.tool_call.diffs[0].patch
        asked._answer = True
        await tools.call(name, **arguments)
        assert tools.text("a.txt") == "2\n"


async def test_a_file_that_changed_during_the_permission_request_is_not_overwritten(
    harness: Harness, project: Path
) -> None:
    asked = Asked(True, lambda: (project / "a.txt").write_text("two\nmore\n"))
    async with harness(rules=(), permissions=asked) as tools:
        for name, arguments in (
            ("edit_file", {"edits": ONE}),
            ("write_file", {"content": "2\n"}),
        ):
            tools.write("a.txt", "two\n")
            await tools.call("read_file", file_path="a.txt")
            assert "has changed since" in await tools.call_failing(name, path="a.txt", **arguments)
            assert tools.text("a.txt") == "two\nmore\n"


async def test_a_file_that_appeared_or_disappeared_meanwhile_is_an_error(harness: Harness, project: Path) -> None:
    asked = Asked(True, lambda: (project / "new.txt").write_text("theirs\n"))
    async with harness(rules=(), permissions=asked) as tools:
        assert "has changed since" in await tools.call_failing("write_file", file_path="new.txt", content="ours\n")
        assert tools.text("new.txt") == "theirs\n"
    asked = Asked(True, lambda: (project / "new.txt").unlink())
    async with harness(rules=(), permissions=asked) as tools:
        edits = [{"old_string": "theirs", "new_string": "ours"}]
        assert "there is no file" in await tools.call_failing("edit_file", file_path="new.txt", edits=edits)


async def test_an_invalid_edit_changes_nothing_and_asks_nothing(harness: Harness) -> None:
    asked = Asked(True)
    async with harness(rules=(), permissions=asked) as tools:
        tools.write("a.txt", "x\nx\n")
        assert "occurs 2 times" in await tools.call_failing(
            "edit_file", file_path="a.txt", edits=[{"old_string": "x", "new_string": "y"}]
        )
        await tools.call_failing("edit_file", file_path="a.txt", edits=[])
        assert "there is no file" in await tools.call_failing("edit_file", file_path="b.txt", edits=ONE)
        tools.write("data", b"\0\1")
        assert "not text" in await tools.call_failing("edit_file", file_path="data", edits=ONE)
        assert "not text" in await tools.call_failing("write_file", file_path="data", content="x")
        tools.write("src/a.py", "")
        assert "directory" in await tools.call_failing("write_file", file_path="src", content="x")
        assert tools.text("a.txt") == "x\nx\n"
    assert asked.requests == []


async def test_a_byte_order_mark_stays(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        file = tools.write("a.txt", "\ufeffone two\n")
        await tools.call("edit_file", file_path="a.txt", edits=ONE)
        assert file.read_bytes() == b"\xef\xbb\xbfone 2\n"


async def test_a_file_that_is_too_large_is_not_edited(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("big", "x" * 10_000_001)
        assert "files up to 10.0 MB" in await tools.call_failing("edit_file", file_path="big", edits=ONE)


async def test_a_rule_that_denies_applies_to_writing(harness: Harness) -> None:
    async with harness(rules=(Rule(effect="deny", path=("locked/**",)), *ALLOWED)) as tools:
        tools.write("locked/a.txt", "two\n")
        assert "not allowed" in await tools.call_failing("edit_file", file_path="locked/a.txt", edits=ONE)
        assert "not allowed" in await tools.call_failing("write_file", file_path="locked/b.txt", content="x")
        assert tools.text("locked/a.txt") == "two\n"


class TestOnScreen:
    """Unsaved buffers, which only clients of version 1 lend."""

    @pytest.fixture
    def version(self) -> int:
        return 1

    async def test_unsaved_changes_in_the_editor_make_a_file_unread(self, harness: Harness, project: Path) -> None:
        overlay = Overlay()
        workspace = LocalWorkspace(project, policy=Policy(str(project), flags=ALLOWED), overlay=overlay)
        async with harness(workspace=workspace) as tools:
            path = tools.write("a.txt", "saved\n")
            await tools.call("read_file", file_path="a.txt")
            overlay.show(str(path), "unsaved\n")
            assert "haven't read" in await tools.call_failing("write_file", file_path="a.txt", content="new\n")

    async def test_the_buffer_on_screen_is_what_is_edited(self, harness: Harness, project: Path) -> None:
        overlay = Overlay()
        took: list[str] = []
        workspace = LocalWorkspace(project, policy=Policy(str(project), flags=ALLOWED), overlay=overlay)
        async with harness(workspace=workspace) as tools:
            tools.write("a.txt", "saved\n")
            overlay.show(str(project / "a.txt"), "unsaved two\n", owner=lambda path, text: took.append(text))
            await tools.call("edit_file", file_path="a.txt", edits=ONE)
            assert took == ["unsaved 2\n"]
            assert tools.text("a.txt") == "saved\n"
            assert "-unsaved two\n+unsaved 2\n" in tools.shown.diffs[0].patch

    async def test_the_last_line_feed_is_kept_although_the_client_drops_it(
        self, harness: Harness, project: Path
    ) -> None:
        path = str(project / "a.txt")
        client = ScriptedClient(files={path: "one\ntwo"})
        async with harness(client) as tools:
            tools.write("a.txt", "one\ntwo\n")
            await tools.call("edit_file", file_path="a.txt", edits=ONE)
            assert client.files[path] == "one\n2\n"

    async def test_a_client_that_refuses_to_write_is_quoted(self, harness: Harness, project: Path) -> None:
        rules = (Rule(effect="deny", path=("**",), access="write"), *ALLOWED)
        workspace = LocalWorkspace(project, policy=Policy(str(project), flags=rules))
        async with harness(workspace=workspace) as tools:
            tools.write("a.txt", "two\n")
            words = await tools.call_failing("edit_file", file_path="a.txt", edits=ONE)
            assert "was not written: refused" in words
            assert tools.text("a.txt") == "two\n"

    async def test_a_file_is_created_although_the_client_returns_empty_text_for_it(
        self, harness: Harness, project: Path
    ) -> None:
        path = str(project / "new.txt")
        client = ScriptedClient(files={path: ""})
        async with harness(client) as tools:
            assert "Created new.txt" in await tools.call("write_file", file_path="new.txt", content="x\n")
            assert client.files[path] == "x\n"


async def test_several_calls_of_one_answer_do_not_interfere(harness: Harness) -> None:
    async with harness() as tools:
        tools.write("a.txt", "one two\n")
        from accord.coder.history import Call

        tools.agent.calls = [
            Call(
                id="1",
                name="edit_file",
                arguments={"file_path": "a.txt", "edits": [{"old_string": "one", "new_string": "1"}]},
            ),
            Call(id="2", name="edit_file", arguments={"file_path": "a.txt", "edits": ONE}),
        ]
        await tools.session.prompt("go")
        assert [result.failed for result in tools.agent.results] == [False, False]
        assert tools.text("a.txt") == "1 2\n"


def edit(old: str, new: str, all: bool = False) -> Edit:
    return Edit(old_string=old, new_string=new, replace_all=all)


def change(text: str, *edits: Edit) -> str:
    return apply_edits(text, edits, "a.txt").text


def fault(text: str, *edits: Edit) -> str:
    with pytest.raises(ToolError) as caught:
        apply_edits(text, edits, "a.txt")
    return str(caught.value)


def test_a_passage_that_occurs_once_is_replaced() -> None:
    assert change("one two three", edit("two", "2")) == "one 2 three"
    assert change("one\ntwo\nthree\n", edit("one\ntwo\n", "")) == "three\n"
    assert change("a.b", edit(".", "\\1")) == "a\\1b"


def test_each_edit_applies_to_the_result_of_the_one_before() -> None:
    assert change("a", edit("a", "b"), edit("b", "c"), edit("c", "d e"), edit("e", "f")) == "d f"


def test_the_result_contains_the_replaced_lines() -> None:
    assert apply_edits("x\ny\nx\ny\n", [edit("x", "z\nz", all=True)], "a").lines == [1, 4]


def test_a_passage_that_occurs_more_than_once_is_refused_with_its_lines() -> None:
    assert "'x' occurs 3 times, at lines 1, 2, 4" in fault("x\nx\ny\nx\n", edit("x", "z"))
    assert "or replace all of them" in fault("xx", edit("x", "z"))
    assert "'x' occurs 20 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and more" in fault(
        "x\n" * 20, edit("x", "z")
    )


def test_overlapping_occurrences_are_counted() -> None:
    assert "occurs 2 times" in fault("aaa", edit("aa", "b"))
    assert change("aaa", edit("aa", "b", all=True)) == "ba"


def test_replace_all_replaces_every_occurrence() -> None:
    assert change("x y x", edit("x", "xx", all=True)) == "xx y xx"


def test_one_failing_edit_cancels_all_edits() -> None:
    words = fault("a b", edit("a", "c"), edit("missing", "d"), edit("b", "e"))
    assert words.startswith("edit 2 of 3: 'missing' was not found")
    assert words.endswith("a.txt was not changed")


def test_an_edit_without_effect_is_an_error() -> None:
    assert "the old and the new text are the same" in fault("a", edit("a", "a"))
    assert "the edits don't change a.txt" in fault("a", edit("a", "b"), edit("b", "a"))
    assert "the old text is empty" in fault("a", edit("", "b"))
    assert "no edits" in fault("a")


def test_each_adjusted_edit_is_named() -> None:
    edits = [edit("a\n", "b\n"), edit("c\n", "d\n"), edit("x\n", "y\n")]
    result = apply_edits("  a\n\tc\nx\n", edits, "a.txt")
    assert result.text == "  b\n\td\ny\n"
    assert result.adjusted == ""  # these are exact: the passages begin within a line
    result = apply_edits("  a \nx\n", [edit("a\n", "b\n"), edit("x\n", "y\n")], "a.txt")
    assert result.text == "  b\ny\n"
    assert result.adjusted.startswith("Edit 1 of 2: The old text differs from line 1 of the file in indentation")


def test_braces_in_a_passage_do_not_break_the_error_message() -> None:
    assert "'{path} {0}'" in fault("a", edit("{path} {0}", "x"))


@pytest.mark.parametrize(
    "text, old, new, expected",
    [
        ("a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", "x\r\ny\r\nz\r\nc\r\n"),
        ("a\r\nb\r\n", "a", "x\ny", "x\r\ny\r\nb\r\n"),
        ("a\r\nb\r\n", "a\r\n", "x\n", "x\nb\r\n"),
        ("a\nb\n", "a\nb", "x\ny", "x\ny\n"),
        ("a\nb\nc\r\nd\r\ne\r\nf\r\n", "a\nb", "x\ny", "x\ny\nc\r\nd\r\ne\r\nf\r\n"),
        ("a\nb\nc\nd\r\ne\r\n", "d\ne", "x\ny", "a\nb\nc\nx\r\ny\r\n"),
        ("a\r\nb", "b", "x\r\ny", "a\r\nx\r\ny"),
    ],
)
def test_line_endings_are_preserved(text: str, old: str, new: str, expected: str) -> None:
    assert change(text, edit(old, new)) == expected


@given(st.text(alphabet="ab \n\r", max_size=30), st.text(alphabet="ab \n\r", max_size=4), st.text(max_size=4))
def test_a_passage_is_replaced_only_if_it_occurs_exactly_once(text: str, old: str, new: str) -> None:
    places = sum(text.startswith(old, at) for at in range(len(text))) if old else 0
    try:
        result = change(text, edit(old, new))
    except ToolError:
        assert places != 1 or "\n" in old or result_is_same(text, old, new)
        return
    if "\r" in old:
        assert places == 1 and result == text.replace(old, new, 1)
    elif "\n" not in old and "\n" not in new:
        assert places == 1 and result == text.replace(old, new)


def result_is_same(text: str, old: str, new: str) -> bool:
    return text.replace(old, new, 1) == text


@pytest.mark.parametrize(
    "line",
    [
        "# ... rest of the code unchanged ...",
        "// ... existing code ...",
        "/* … the remaining methods */",
        "# rest of the file stays the same",
        "... rest of the code",
    ],
)
async def test_a_placeholder_for_code_is_never_written_over_it(harness: Harness, line: str) -> None:
    async with harness() as tools:
        tools.write("a.py", "x = 1\ny = 2\n")
        await tools.call("read_file", file_path="a.py")
        problem = await tools.call_failing("write_file", file_path="a.py", content=f"x = 2\n{line}\n")
        assert "placeholder" in problem and (tools.project / "a.py").read_text() == "x = 1\ny = 2\n"
        await tools.call("write_file", file_path="new.py", content=f"{line}\n")
        await tools.call("write_file", file_path="new.py", content=f"x = 1\n{line}\n")


@pytest.mark.parametrize(
    "line", ["# The rest is history.", "def f(): ...", "# ... and so on", "# other code", "print('...')"]
)
async def test_other_text_is_not_a_placeholder(harness: Harness, line: str) -> None:
    async with harness() as tools:
        tools.write("a.py", "x = 1\n")
        await tools.call("read_file", file_path="a.py")
        await tools.call("write_file", file_path="a.py", content=f"{line}\n")
        assert (tools.project / "a.py").read_text() == f"{line}\n"
