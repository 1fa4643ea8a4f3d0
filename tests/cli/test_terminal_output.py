"""accord run on a terminal: rendered Markdown, one line per tool call, colored diffs, narrow and plain terminals."""

from __future__ import annotations

import io

import pytest
from support.cli_runner import without_codes

from accord.cli.support import terminal_output
from accord.cli.support.live_region import LiveRegion, fit, measure
from accord.cli.support.output import describe_decision, describe_notice
from accord.cli.support.output_events import Change, Ended, Permission, Prompt, Terminal, Text, ToolCall
from accord.cli.support.questions import _changes
from accord.cli.support.terminal_output import TerminalOutput
from accord.model.tool import Diff
from accord.policy.action import Action

PATCH = "--- a/foo.py\n+++ b/foo.py\n@@ -1 +1 @@\n-old\n+new\n"
ENDED = Ended(stop_reason="end_turn", text="")


class Paper(io.StringIO):
    """A terminal that remembers what was written."""

    def isatty(self) -> bool:
        return True

    @property
    def rows(self) -> list[str]:
        """Return the lines that a terminal finally shows."""
        shown = [""]
        for text in self.getvalue().replace("\r", "\n\r").split("\n"):
            if not text.startswith("\r"):
                shown.append(text)
                continue
            up = text[1:].partition("A")[0].removeprefix("\x1b[") if "A" in text[:8] else "0"
            for _ in range(int(up) if up.isdigit() else 0):
                shown.pop()
            shown[-1] = text.partition("\x1b[J")[2]
        return [without_codes(row) for row in shown[1:]]


@pytest.fixture
def paper(monkeypatch: pytest.MonkeyPatch) -> Paper:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("LINES", "20")
    return Paper()


async def test_an_answer_is_rendered_as_markdown_block_by_block(paper: Paper) -> None:
    output = TerminalOutput(out=paper)
    output.line(Prompt(text="hi"))
    for piece in ["Some **bold** te", "xt\n\n- one\n- t", "wo\n\n```python\nx = 1\n", "```\n"]:
        output.line(Text(text=piece))
    output.line(ENDED)
    seen = "\n".join(paper.rows)
    assert "Some bold text" in seen and "**" not in seen and "```" not in seen
    assert " • one" in seen and "x = 1" in seen


async def test_the_incomplete_block_is_shown_and_then_replaced(paper: Paper) -> None:
    output = TerminalOutput(out=paper)
    output.line(Prompt(text="hi"))
    output.line(Text(text="first\n\nsecond **half"))
    output._next_frame()
    assert paper.rows[0] == "first" and "second **half" in paper.rows
    output.line(Text(text="** done"))
    output.line(ENDED)
    assert [row for row in paper.rows if row] == ["first", "second half done"]


async def test_an_answer_is_printed_without_a_renderer(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal_output, "is_available", lambda: False)
    output = TerminalOutput(out=paper)
    output.line(Prompt(text="hi"))
    output.line(Text(text="a **b**\nc"))
    output.line(ENDED)
    assert paper.rows == ["a **b**", "c", ""]


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("Edit src/foo.py", ["✓ Edit src/foo.py", "  @@ -1 +1 @@", "  -old", "  +new"]),
        ("Fix it", ["✓ Fix it", "  --- a/foo.py", "  +++ b/foo.py", "  @@ -1 +1 @@", "  -old", "  +new"]),
    ],
)
async def test_a_diff_names_its_file_unless_the_title_does(paper: Paper, title: str, shown: list[str]) -> None:
    output = TerminalOutput(out=paper)
    output.line(Prompt(text="hi"))
    change = Change(paths=["/p/src/foo.py"], patch=PATCH)
    output.line(ToolCall(id="1", title=title, kind="edit", status="completed", changes=[change]))
    output.line(ENDED)
    assert [row for row in paper.rows if row] == shown


async def test_a_refused_change_is_not_shown_as_a_diff(paper: Paper) -> None:
    output = TerminalOutput(out=paper)
    output.line(Prompt(text="hi"))
    output.line(Permission(title="Edit foo.py", decision="refused", why="rejected by you"))
    change = Change(paths=["/p/foo.py"], patch=PATCH)
    output.line(
        ToolCall(id="1", title="Edit foo.py", kind="edit", status="failed", text="not allowed", changes=[change])
    )
    output.line(ENDED)
    assert [row for row in paper.rows if row] == ["refused: Edit foo.py (rejected by you)", "✗ Edit foo.py"]


async def test_a_tool_call_is_one_line_that_is_rewritten(paper: Paper) -> None:
    output = TerminalOutput(out=paper)
    output.line(Prompt(text="hi"))
    for status in ("pending", "in_progress", "completed", "completed"):
        output.line(ToolCall(id="1", title="Read foo.py", kind="read", status=status))
    output.line(ENDED)
    assert [row for row in paper.rows if "Read" in row] == ["✓ Read foo.py"]


async def test_a_finished_call_shows_its_diff_and_the_end_of_its_output(paper: Paper) -> None:
    output = TerminalOutput(out=paper)
    output.line(Prompt(text="hi"))
    output.line(Terminal(id="t", text="".join(f"line {number}\n" for number in range(9))))
    call = ToolCall(id="1", title="Edit", kind="edit", status="completed", terminals=["t"])
    call.changes = [Change(paths=["foo.py"], patch=PATCH)]
    output.line(call)
    output.line(ENDED)
    assert "\x1b[32m+new" in paper.getvalue() and "\x1b[31m-old" in paper.getvalue()
    assert paper.rows[-6:-1] == [f"  │ line {number}" for number in range(4, 9)]


async def test_colors_are_left_out_with_no_color(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    output = TerminalOutput(out=paper)
    output.line(Prompt(text="hi"))
    output.line(Text(text="# Title\n\n`code` and [a](https://example.org)\n\n```python\nx = 1\n```\n"))
    output.line(
        ToolCall(id="1", title="Edit", kind="edit", status="completed", changes=[Change(paths=["f"], patch=PATCH)])
    )
    output.line(ENDED)
    assert not [code for code in range(30, 50) if f"[{code}m" in paper.getvalue() or f";{code}m" in paper.getvalue()]


async def test_untrusted_text_cannot_control_the_terminal(paper: Paper) -> None:
    output = TerminalOutput(out=paper)
    output.line(Prompt(text="hi"))
    output.line(Text(text="a \x1b]0;owned\x07 [click](https://evil.example)\n\n```\n\x1b[2J\n```\n"))
    output.line(ToolCall(id="1", title="x\x1b[2J\ny", kind="read", status="failed", text="\x1b]52;c;eA==\x07"))
    output.line(ENDED)
    assert "\x1b]" not in paper.getvalue() and "\x1b[2J" not in paper.getvalue()
    assert "https://evil.example" in paper.getvalue(), "a link shows where it leads"


@pytest.mark.parametrize("columns", ["4", "20"])
async def test_nothing_is_wider_than_a_narrow_terminal(
    paper: Paper, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    output = TerminalOutput(out=paper)
    output.line(Prompt(text="hi"))
    output.line(ToolCall(id="1", title="Read 日本語 " + "wide " * 30, kind="read", status="in_progress"))
    output.line(ToolCall(id="1", title="Read 日本語 " + "wide " * 30, kind="read", status="completed"))
    output.stop()
    assert max(measure(row) for row in paper.rows) < max(int(columns), 4)


def test_lines_that_a_narrower_terminal_has_wrapped_are_erased(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    region = LiveRegion(paper, color=False)
    region.draw([], [("a" * 50, 50), ("b" * 10, 10)])
    monkeypatch.setenv("COLUMNS", "20")
    region.draw(["done"])
    assert paper.getvalue().endswith("\r\x1b[3A\x1b[Jdone\n")


@pytest.mark.parametrize("cells, fitted", [(10, "日本語"), (5, "日本…"), (1, "…"), (0, "")])
def test_a_text_is_truncated_by_cells(cells: int, fitted: str) -> None:
    assert fit("日本語", cells) == fitted


async def test_the_progress_output_pauses_during_a_question(paper: Paper) -> None:
    output = TerminalOutput(out=paper)
    output.line(Prompt(text="hi"))
    output.line(ToolCall(id="1", title="Edit foo.py", kind="edit", status="in_progress"))
    with output.suspended():
        before = paper.getvalue()
        output._pulse()
        assert paper.getvalue() == before and before.endswith("\x1b[J")
    assert "▸ Edit foo.py" in paper.rows
    output.stop()


async def test_a_refusal_names_the_option_that_would_allow_it(paper: Paper) -> None:
    output = TerminalOutput(out=paper, quiet=True)
    output.line(Permission(title="Edit foo.py", decision="refused", why="nobody", allow=["write:foo.py"]))
    assert paper.rows[:2] == ["refused: Edit foo.py (nobody)", "To allow it: --allow write:foo.py"]


async def test_a_closed_terminal_ends_the_run(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[bool] = []
    output = TerminalOutput(out=paper, on_broken=lambda: ended.append(True))
    output.line(Prompt(text="hi"))
    monkeypatch.setattr(paper, "write", _fail)
    output.line(Text(text="more"))
    output._next_frame()
    assert ended == [True] and output.is_broken


def _fail(text: str) -> int:
    raise BrokenPipeError


def test_a_question_about_a_change_names_its_file_once() -> None:
    diff = Diff.of("/p/foo.py", "old\n", "new\n")
    action = Action(kind="write", title="Edit foo.py", paths=("/p/foo.py",), changes=(diff,))
    assert _changes(action) == ["  @@ -1 +1 @@", "  -old", "  +new"]


@pytest.mark.parametrize(
    ("paths", "diff"),
    [
        (("/p/bar.py",), Diff.of("/p/foo.py", "old\n", "new\n")),
        (("/p/foo.py", "/p/bar.py"), Diff.of("/p/foo.py", "old\n", "new\n")),
        (("/p/foo.py",), Diff.of("/p/foo.py", None, "new\n")),
    ],
    ids=["another file", "several files", "a new file"],
)
def test_the_diff_names_its_file_if_the_request_does_not(paths: tuple[str, ...], diff: Diff) -> None:
    shown = "\n".join(_changes(Action(kind="write", title="Edit", paths=paths, changes=(diff,))))
    assert "+++ /p/foo.py" in shown


def test_a_refusal_does_not_repeat_what_its_title_names() -> None:
    why = "no one to ask: no rule covers this"
    assert describe_decision("refused", "Edit foo.py", f"{why} (/p/foo.py)") == f"refused: Edit foo.py ({why})"
    assert describe_decision("refused", "Run make", f"{why} (make)") == f"refused: Run make ({why})"
    assert describe_decision("refused", "Run it", f"{why} (make)") == f"refused: Run it ({why} (make))"
    assert describe_decision("refused", "Run make", "rejected by you") == "refused: Run make (rejected by you)"
    assert describe_decision("allowed", "Run make", "") == "allowed: Run make"


def test_the_description_of_a_notice_follows_as_a_sentence_or_as_the_rest_of_one() -> None:
    assert describe_notice("info", "No model", None) == "info: No model"
    assert describe_notice("info", "No model is set", "Run accord login.") == "info: No model is set. Run accord login."
    assert describe_notice("warning", "No model", "the key is gone") == "warning: No model: the key is gone"
