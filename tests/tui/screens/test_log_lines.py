"""Log lines on the screen: how many are kept, and how they wrap."""

from __future__ import annotations

from rich.cells import cell_len
from support.tui_driver import Opened

from accord.testing import ScriptedAgent
from accord.tui.agent.log import MAX_LOG_BYTES, Log, LogFilter, LogQuery, title
from accord.tui.screens.log import LogLines
from accord.tui.screens.log_message import LongText


async def test_an_open_log_drops_the_lines_that_the_log_has_dropped(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        log = chat.tab.controller.process.log
        await chat.press("ctrl+l")
        await chat.until("→ initialize")
        view = chat.app.screen.query_one(LogLines)
        line = b"x" * 250_000
        for number in range(4):
            for _ in range(20):
                log.add("stderr", line)
            log.add("stderr", b"round %d" % number)
            await chat.until(lambda number=number: view.rows[-1].entry.line == b"round %d" % number)  # type: ignore[misc]
        assert sum(row.entry.weight for row in view.rows) <= MAX_LOG_BYTES
        assert view.chosen == view.rows[-1], "the newest is still followed"
        log.add("stderr", b"one more")
        await chat.until(lambda: view.rows[-1].entry.line == b"one more")
        assert view.rows[-2].entry.line == b"round 3"


def test_stray_output_is_not_labeled_as_a_response() -> None:
    log = Log()
    log.record("in", b"<html>Please log in</html>\n")
    log.record("in", b' {"id": 1, "result": {}}\n')
    assert [title(each) for each in LogFilter(LogQuery.of("", None)).apply(log.since(0))] == [
        "stray output",
        "response",
    ]


async def test_wide_characters_wrap_at_the_window_edge(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        said = "".join(chr(0x4E00 + number) for number in range(300))
        chat.tab.controller.process.log.add("stderr", said.encode())
        await chat.press("ctrl+l")
        await chat.until(said[0])
        await chat.press("enter")
        await chat.until(lambda: chat.app.screen.query(LongText) and chat.app.screen.query_one(LongText)._rows)
        pages = chat.app.screen.query_one(LongText)
        shown = [pages.render_line(y).text.rstrip() for y in range(pages.size.height)]
        assert "".join(shown) == said
        assert all(cell_len(row) <= pages.size.width for row in pages._rows)
